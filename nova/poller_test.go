package nova

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// board keeps what a Poller said, as the engine would.
type board struct {
	t       testing.TB
	mu      sync.Mutex
	changed chan struct{}
	states  map[core.SourceID]core.Delta // the last one with a state
	objects map[core.SourceID]map[string]core.Object
	deltas  []core.Delta
	broken  string
	nowhere []string // instances that were on no host at some moment
}

func newBoard(t testing.TB) *board {
	return &board{t: t, changed: make(chan struct{}), states: map[core.SourceID]core.Delta{},
		objects: map[core.SourceID]map[string]core.Object{}}
}

func (b *board) sink(d core.Delta) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.At.IsZero() {
		b.broken = fmt.Sprintf("a delta of %s without a time", d.Source)
	}
	if d.State != "" {
		b.states[d.Source] = d
	}
	objects := b.objects[d.Source]
	if objects == nil {
		objects = map[string]core.Object{}
		b.objects[d.Source] = objects
	}
	keep := map[string]bool{}
	for _, o := range d.Upserts {
		keep[o.Key()] = true
	}
	if d.Replace {
		for key, o := range objects {
			i, _ := o.(*core.Instance)
			if d.Host == "" && !keep[key] {
				delete(objects, key)
			} else if d.Host != "" && i.Host == d.Host && !keep[key] {
				moved := *i
				moved.Host = ""
				objects[key] = &moved
				b.nowhere = append(b.nowhere, key)
			}
		}
	}
	for _, o := range d.Upserts {
		objects[o.Key()] = o
	}
	for _, key := range d.Deletes {
		delete(objects, key)
	}
	b.deltas = append(b.deltas, d)
	close(b.changed)
	b.changed = make(chan struct{})
}

// patience is how long a test waits for anything.
const patience = 30 * time.Minute

// await waits until the board satisfies the condition.
func (b *board) await(what string, ok func() bool) {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		done, changed := ok(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("never saw: %s\nstates %+v", what, b.states)
		}
	}
}

func (b *board) state(id core.SourceID) core.SourceState { return b.states[id].State }

func (b *board) instance(id string) *core.Instance {
	i, _ := b.objects[core.SourceInstances][id].(*core.Instance)
	if i == nil {
		return &core.Instance{}
	}
	return i
}

// told is how many times instances were told of.
func (b *board) told() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, d := range b.deltas {
		if d.Source == core.SourceInstances && len(d.Upserts) > 0 {
			n++
		}
	}
	return n
}

func (b *board) migrationOf(instanceID string) *core.Migration {
	newest := &core.Migration{}
	for _, o := range b.objects[core.SourceMigrations] {
		if m := o.(*core.Migration); m.InstanceID == instanceID && (newest.InstanceID == "" || m.ID > newest.ID) {
			newest = m
		}
	}
	return newest
}

// wasMigration tells whether a migration of the instance was so at any time: what lasts only a moment may be over when the test
// looks.
func (b *board) wasMigration(instanceID string, so func(*core.Migration) bool) bool {
	for _, d := range b.deltas {
		for _, o := range d.Upserts {
			if m, ok := o.(*core.Migration); ok && m.InstanceID == instanceID && so(m) {
				return true
			}
		}
	}
	return false
}

// target is the host that the newest migration of an instance goes to.
func (b *board) target(instanceID string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.migrationOf(instanceID).DestHost
}

// migrationID is the number of the newest migration of an instance.
func (b *board) migrationID(instanceID string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.migrationOf(instanceID).ID
}

// poll starts a poller, which ends with the test.
func poll(t testing.TB, c *Client, focus ...string) (*Poller, *board) {
	t.Helper()
	return pollAt(t, c, 1, focus...)
}

func pollAt(t testing.TB, c *Client, pace float64, focus ...string) (*Poller, *board) {
	t.Helper()
	b := newBoard(t)
	p := NewPoller(c, b.sink, PollOptions{Pace: pace})
	if len(focus) > 0 {
		p.SetHosts(focus, true)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		if b.broken != "" {
			t.Error(b.broken)
		}
	})
	return p, b
}

// smallNova answers every list; its instances are what the test sets.
type smallNova struct {
	*fakeCloud
	servers map[string]serverState // by ID, guarded by the fakeCloud's mu
}

type serverState struct {
	host, status string
	updated      int // seconds
}

func newSmallNova(t testing.TB) *smallNova {
	n := &smallNova{fakeCloud: newFakeCloud(t), servers: map[string]serverState{}}
	n.cinder = "block-storage"
	n.answer("GET /volume/v3/os-services", 200,
		`{"services": [{"binary": "cinder-volume", "host": "h1@lvm", "status": "enabled", "state": "up", "disabled_reason": null}]}`)
	n.answer("GET /volume/v3/volumes", 200, `{"volumes": []}`)
	n.answer("GET /compute/v2.1/os-services", 200,
		`{"services": [{"id": "u1", "binary": "nova-compute", "host": "h1", "status": "enabled", "state": "up"}]}`)
	n.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": []}`)
	n.answer("GET /network/v2.0/agents", 200,
		`{"agents": [{"id": "g1", "host": "h1", "agent_type": "L3 agent", "alive": true, "admin_state_up": true, "heartbeat_timestamp": `+
			`"2026-01-16 15:25:37"}]}`)
	n.answer("GET /identity/v3/projects", 200, `{"projects": [{"id": "p1", "name": "admin"}], "links": {"next": null}}`)
	n.on("GET /compute/v2.1/servers/detail", n.list)
	return n
}

func (n *smallNova) list(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := r.URL.Query()
	since := parseTime(q.Get("changes-since"))
	var out []string
	for id, s := range n.servers {
		updated := parseTime("2026-01-16T15:00:00Z").Add(time.Duration(s.updated) * time.Second)
		if q.Get("host") != "" && (s.host != q.Get("host") || s.status == "DELETED") || since.IsZero() && s.status == "DELETED" ||
			updated.Before(since) {
			continue
		}
		out = append(out, fmt.Sprintf(`{"id": %q, "name": %q, "OS-EXT-SRV-ATTR:host": %q, "status": %q, "updated": %q}`, id, id, s.host, s.status,
			formatTime(updated)))
	}
	reply(w, 200, `{"servers": [`+strings.Join(out, ",")+`]}`)
}

func (n *smallNova) put(id, host, status string, updated int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.servers[id] = serverState{host, status, updated}
}

func TestThePollerShowsTheCloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		n.put("b", "h2", "ACTIVE", 0)
		_, b := poll(t, n.client())
		b.await("all sources live", func() bool {
			for _, id := range sources {
				if b.state(id) != core.SourceLive {
					return false
				}
			}
			return b.instance("a").Host == "h1" && b.instance("b").Host == "h2" && len(b.objects[core.SourceComputeServices]) == 1 &&
				len(b.objects[core.SourceNetworkAgents]) == 1 && len(b.objects[core.SourceProjects]) == 1
		})
	})
}

// Nova is read at the pace of the cloud's clock, within limits.
func TestListsAreReadAtTheirPace(t *testing.T) {
	for _, tt := range []struct {
		pace float64
		want int // of the services, in two minutes
	}{{1, 8}, {10, 80}, {600, 400}} {
		t.Run(fmt.Sprint(tt.pace), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				_, b := pollAt(t, n.clientAt(tt.pace), tt.pace)
				time.Sleep(2 * time.Minute)
				if got := len(n.seen("GET /compute/v2.1/os-services")); got > tt.want || got < tt.want*9/10 {
					t.Errorf("they were read %d times in two minutes, want some %d", got, tt.want)
				}
				b.await("live", func() bool { return b.state(core.SourceComputeServices) == core.SourceLive })
			})
		})
	}
}

func TestChangesOfTheWholeCloudArrive(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		n.put("b", "h2", "ACTIVE", 0)
		_, b := poll(t, n.client())
		b.await("both", func() bool { return b.instance("a").ID == "a" && b.instance("b").ID == "b" })
		n.put("b", "h3", "ACTIVE", 10)
		n.put("c", "h3", "BUILD", 11)
		n.put("a", "h1", "DELETED", 12)
		b.await("b moved, c new, a deleted", func() bool {
			return b.instance("b").Host == "h3" && b.instance("c").Status == "BUILD" && b.instance("a").ID == ""
		})
		if len(n.seen("changes-since")) == 0 {
			t.Error("nobody asked for changes")
		}
	})
}

// While something moves, the changes are looked at every few seconds, and most of these looks reach back a little only. The others see a
// change that a host with a slow clock has stamped minutes ago.
func TestMostLooksAtTheChangesReachBackALittle(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 600)
		n.put("b", "h2", "ACTIVE", 600)
		p, b := poll(t, n.client(), "h1")
		b.await("both", func() bool {
			return b.instance("a").ID == "a" && b.instance("b").ID == "b" && b.state(core.SourceInstances) == core.SourceLive
		})
		p.setMigrating(true)
		time.Sleep(changesEvery + changesMoving)
		before := len(n.seen("changes-since"))
		n.put("b", "h3", "ACTIVE", 600-200) // by a clock that is 200 s slow
		began := time.Now()
		b.await("b on h3", func() bool { return b.instance("b").Host == "h3" })
		if took := time.Since(began); took > changesEvery+changesMoving {
			t.Errorf("the change was seen after %s", took)
		}
		time.Sleep(4*changesEvery - time.Since(began))
		far, near := 0, 0
		for _, r := range n.seen("changes-since")[before:] {
			switch {
			case strings.Contains(r.query, "15%3A05%3A00Z"): // five minutes before the newest
				far++
			case strings.Contains(r.query, "15%3A09%3A30Z"):
				near++
			default:
				t.Errorf("a look reaches back otherwise: %s", r.query)
			}
		}
		if far < 3 || far > 5 || near < 3*far {
			t.Errorf("in two minutes %d looks reached far back, and %d a little", far, near)
		}
	})
}

func TestAnInstanceThatMovesIsNeverNowhere(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		p, b := poll(t, n.client(), "h1")
		b.await("a on h1", func() bool { return b.instance("a").Host == "h1" && b.state(core.SourceInstances) == core.SourceLive })
		n.put("a", "h2", "ACTIVE", 30)
		p.Nudge()
		b.await("a on h2", func() bool { return b.instance("a").Host == "h2" })
		b.await("h1 empty", func() bool {
			return slices.ContainsFunc(b.deltas, func(d core.Delta) bool { return d.Host == "h1" && d.Replace && len(d.Upserts) == 0 })
		})
		if len(b.nowhere) > 0 {
			t.Errorf("%v were on no host for a moment", b.nowhere)
		}
	})
}

func TestAnInstanceGoneFromItsHostIsOnNoHost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		n.put("b", "h1", "ACTIVE", 0)
		p, b := poll(t, n.client(), "h1")
		b.await("both", func() bool { return b.instance("a").Host == "h1" && b.state(core.SourceInstances) == core.SourceLive })
		n.set(func() { delete(n.servers, "a") }) // purged: no change shows it
		p.Nudge()
		b.await("a on no host", func() bool { return b.instance("a").Host == "" })
		n.put("a", "h1", "DELETED", 40)
		p.Nudge()
		b.await("a deleted", func() bool { return b.instance("a").ID == "" && b.instance("b").Host == "h1" })
	})
}

// Nobody looks at a node, and none is in maintenance, as at night or in a watch: each list is confirmed before what is known of it
// counts as old, and the network agents are asked in turn. Once a host matters, its agents are asked each time, and the others in turn.
func TestAtRestEachListIsConfirmedInTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		var agents []string
		var mu sync.Mutex
		asked := map[string]int{}
		for i := range 2*hostsPerQuery + 10 {
			host := fmt.Sprintf("h%02d", i)
			agents = append(agents, fmt.Sprintf(`{"id": "a-%s", "host": %q, "agent_type": "Open vSwitch agent", "alive": true, `+
				`"admin_state_up": true}`, host, host))
		}
		n.on("GET /network/v2.0/agents", func(w http.ResponseWriter, r *http.Request) {
			list := agents
			mu.Lock()
			defer mu.Unlock()
			if hosts := r.URL.Query()["host"]; len(hosts) > 0 {
				list = nil
				for _, host := range hosts {
					asked[host]++
					var i int
					if _, err := fmt.Sscanf(host, "h%d", &i); err == nil {
						list = append(list, agents[i])
					}
				}
			}
			fmt.Fprintf(w, `{"agents": [%s]}`, strings.Join(list, ","))
		})
		p, b := poll(t, n.client())
		b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive })
		time.Sleep(9 * time.Minute)
		b.mu.Lock()
		mu.Lock()
		last := map[core.SourceID]time.Time{}
		for _, d := range b.deltas {
			within := core.DefaultSettings().StaleAfterOf(d.Source)
			if at, seen := last[d.Source]; seen && d.At.Sub(at) > within {
				t.Errorf("%s was not confirmed from %s to %s", d.Source, at.Format(time.TimeOnly), d.At.Format(time.TimeOnly))
			}
			last[d.Source] = d.At
		}
		for id, at := range last {
			if old := wallClock().Sub(at); old > core.DefaultSettings().StaleAfterOf(id) {
				t.Errorf("%s was not confirmed for %s", id, old)
			}
		}
		if all := len(b.objects[core.SourceNetworkAgents]); all != len(agents) || len(asked) != len(agents) {
			t.Errorf("%d agents are known, and those of %d hosts were asked, of %d", all, len(asked), len(agents))
		}
		clear(asked)
		mu.Unlock()
		b.mu.Unlock()
		p.SetHosts([]string{"h07"}, false)
		time.Sleep(time.Minute)
		mu.Lock()
		each := len(asked) == len(agents)
		for host, times := range asked {
			each = each && times > 0 && (host == "h07" || times < asked["h07"])
		}
		if !each || asked["h07"] < 3 {
			t.Errorf("asked are %v", asked)
		}
		agents[30] = strings.Replace(agents[30], `"alive": true`, `"alive": false`, 1)
		mu.Unlock()
		time.Sleep(time.Minute) // until it is its turn
		b.mu.Lock()
		if agent, _ := b.objects[core.SourceNetworkAgents]["a-h30"].(*core.NetworkAgent); agent == nil || agent.Alive {
			t.Errorf("what is known of the silent agent: %+v", agent)
		}
		b.mu.Unlock()
		mu.Lock()
		clear(asked)
		mu.Unlock()
		time.Sleep(time.Minute)
		mu.Lock()
		if asked["h07"] < 3 || asked["h30"] != asked["h07"] {
			t.Errorf("while one is silent, asked are %v", asked)
		}
		agents[30] = strings.Replace(agents[30], `"alive": false`, `"alive": true`, 1)
		mu.Unlock()
		p.SetHosts(nil, false)
		time.Sleep(2 * agentsAtRest)
		mu.Lock()
		clear(asked)
		mu.Unlock()
		time.Sleep(5 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(asked) != len(agents) {
			t.Errorf("of %d hosts those of %d were asked in turn", len(agents), len(asked))
		}
	})
}

func TestAQuietCloudSaysOnlyThatItIsQuiet(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		p, b := poll(t, n.client(), "h1")
		b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive && b.instance("a").ID == "a" })
		for range 5 {
			b.mu.Lock()
			from := len(b.deltas)
			b.mu.Unlock()
			p.Nudge()
			b.await("a touch", func() bool {
				for _, d := range b.deltas[from:] {
					if d.Source == core.SourceInstances {
						return d.Touch && len(d.Upserts) == 0 && !d.Replace
					}
				}
				return false
			})
		}
	})
}

func TestOneFailingListStopsNoOther(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.answer("GET /compute/v2.1/os-migrations", 500, `{"computeFault": {"code": 500, "message": "Unexpected API Error."}}`)
		n.answer("GET /identity/v3/projects", 403,
			`{"error": {"code": 403, "message": "You are not authorized to perform the requested action: identity:list_projects.", "title": `+
				`"Forbidden"}}`)
		hang := make(chan struct{})
		n.on("GET /network/v2.0/agents", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		})
		_, b := poll(t, n.client())
		b.await("each as it is", func() bool {
			m := b.states[core.SourceMigrations]
			return b.state(core.SourceComputeServices) == core.SourceLive && b.state(core.SourceInstances) == core.SourceLive &&
				b.state(core.SourceProjects) == core.SourceForbidden && b.state(core.SourceNetworkAgents) == core.SourceConnecting &&
				m.State == core.SourceFailed && m.Err.Message == "Unexpected API Error." && m.Next.After(m.At)
		})
		close(hang)
	})
}

// A list that was known gets stale when there is no answer, and also when it has nothing any more: Nova leaves out a cell that does not
// answer.
func TestAKnownListGetsStaleAndComesBack(t *testing.T) {
	for name, away := range map[string]struct {
		status int
		body   string
	}{"no answer": {503, "<html></html>"}, "an empty one": {200, `{"services": []}`}} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				_, b := poll(t, n.client())
				b.await("live", func() bool { return b.state(core.SourceComputeServices) == core.SourceLive })
				n.answer("GET /compute/v2.1/os-services", away.status, away.body)
				b.await("stale", func() bool {
					d := b.states[core.SourceComputeServices]
					return d.State == core.SourceStale && d.Err.Kind == core.ErrServer && len(b.objects[core.SourceComputeServices]) == 1
				})
				n.answer("GET /compute/v2.1/os-services", 200,
					`{"services": [{"id": "u2", "binary": "nova-compute", "host": "h2", "status": "enabled", "state": "up"}]}`)
				b.await("live again", func() bool {
					d := b.states[core.SourceComputeServices]
					return d.State == core.SourceLive && d.Err == nil && len(b.objects[core.SourceComputeServices]) == 1 &&
						b.objects[core.SourceComputeServices]["u2"] != nil
				})
			})
		})
	}
}

func TestKeystoneIsAwayAtTheStart(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.away = true
		c := n.client()
		_, b := poll(t, c)
		b.await("why", func() bool {
			for _, id := range sources {
				if d := b.states[id]; d.State != core.SourceFailed || d.Err.Kind != core.ErrServer || d.Next.IsZero() {
					return false
				}
			}
			return true
		})
		n.set(func() { n.away = false })
		b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive })
	})
}

func TestACloudWithoutNeutron(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		c := n.client()
		s, err := c.session(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		_, lacking := s.find("load-balancer")
		s.network, s.networkErr = nil, lacking
		_, b := poll(t, c)
		b.await("absent", func() bool { return b.state(core.SourceNetworkAgents) == core.SourceAbsent })
	})
}

func TestPagesOfTheWholeCloudArriveOneByOne(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		held := make(chan struct{})
		var deletedMarker sync.Once
		n.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			switch marker := r.URL.Query().Get("marker"); marker {
			case "":
				reply(w, 200, `{"servers": [{"id": "a", "OS-EXT-SRV-ATTR:host": "h1"}], "servers_links": [{"rel": "next", "href": "x"}]}`)
			case "a":
				<-held
				gone := false
				deletedMarker.Do(func() { gone = true })
				if gone {
					reply(w, 400, `{"badRequest": {"code": 400, "message": "marker [a] not found"}}`)
					return
				}
				reply(w, 200, `{"servers": [{"id": "b", "OS-EXT-SRV-ATTR:host": "h2"}]}`)
			}
		})
		_, b := poll(t, n.client())
		b.await("the first page, before the source is live", func() bool {
			return b.instance("a").ID == "a" && b.state(core.SourceInstances) == core.SourceConnecting
		})
		close(held)
		b.await("both pages, although the marker was deleted meanwhile", func() bool {
			return b.instance("b").ID == "b" && b.state(core.SourceInstances) == core.SourceLive
		})
	})
}

// The pages of a large cloud's first list come one right after another, and each has instances of a thousand hosts.
func TestThePagesOfTheFirstListAreGathered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const pages = 40
		n := newSmallNova(t)
		var asked atomic.Int64
		hangs := make(chan struct{})
		n.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			page, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("marker"), "i"))
			asked.Add(1)
			time.Sleep(100 * time.Millisecond)
			if page+1 == pages {
				<-hangs
				reply(w, 200, fmt.Sprintf(`{"servers": [{"id": "i%d", "OS-EXT-SRV-ATTR:host": "h1"}]}`, page+1))
				return
			}
			reply(w, 200, fmt.Sprintf(`{"servers": [{"id": "i%d", "OS-EXT-SRV-ATTR:host": "h1"}], "servers_links": [{"rel": "next", "href": "x"}]}`,
				page+1))
		})
		_, b := poll(t, n.client())
		began := time.Now()
		b.await("the first page", func() bool { return b.instance("i1").ID != "" })
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("the first page is told after %v", took)
		}
		b.await("what came before a page that hangs", func() bool { return b.instance(fmt.Sprint("i", pages-1)).ID != "" })
		if took := time.Since(began); took > pages*100*time.Millisecond+gatherFor+100*time.Millisecond {
			t.Errorf("the last page that came is told after %v", took)
		}
		told := b.told()
		if most := 2 + int(pages*100*time.Millisecond/gatherFor); told > most {
			t.Errorf("%d pages were told in %d lumps, want %d at most", pages, told, most)
		}
		close(hangs)
		b.await("the whole list", func() bool {
			return b.instance(fmt.Sprint("i", pages)).ID != "" && b.state(core.SourceInstances) == core.SourceLive
		})
		if asked.Load() != pages {
			t.Errorf("%d requests for %d pages", asked.Load(), pages)
		}
	})
}

// What came of an instance while its page was gathered is newer, and stays.
func TestAGatheredPageDoesNotHideANewerAnswer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		b := newBoard(t)
		l := newInstancePoll(NewPoller(n.client(), b.sink, PollOptions{}))
		page := func(k *look, updated, status string) []core.Object {
			l.step++
			upserts, _ := l.learnAll(k, answer{look: k, step: l.step - 1, servers: []*listedServer{(&serverRecord{ID: "a",
				Host: hostField{"h1", true}, Status: status, Updated: updated}).listed()}})
			return upserts
		}
		l.told = wallClock()
		l.gather(page(l.listing, "2026-01-01T00:00:00Z", "ACTIVE"))
		host := &look{query: serverQuery{host: "h1"}, present: map[string]bool{}}
		l.tell(core.Delta{Upserts: page(host, "2026-01-01T00:00:01Z", "SHUTOFF")}, wallClock())
		time.Sleep(gatherFor)
		l.tellGathered()
		if got := b.instance("a").Status; got != "SHUTOFF" {
			t.Errorf("the instance is %s, want what the newer answer said", got)
		}
	})
}

// A change of tags moves no time stamp. So of two answers the one that was asked for later is the newer, in whatever order they come.
func TestOfTwoAnswersTheOneAskedForLaterCounts(t *testing.T) {
	n := newSmallNova(t)
	for _, laterFirst := range []bool{false, true} {
		l := newInstancePoll(NewPoller(n.client(), newBoard(t).sink, PollOptions{}))
		takes := func(asked uint32, tag string) {
			l.step++
			l.learnAll(&look{present: map[string]bool{}}, answer{step: asked, servers: []*listedServer{(&serverRecord{ID: "a",
				Host: hostField{"h1", true}, Status: "ACTIVE", Updated: "2026-01-01T00:00:00Z", Tags: &[]string{tag}}).listed()}})
		}
		l.step = 2
		if laterFirst {
			takes(2, "new")
			takes(1, "old")
		} else {
			takes(1, "old")
			takes(2, "new")
		}
		if got := l.known.At("a").Tags; !slices.Equal(got, []string{"new"}) {
			t.Errorf("the later answer first: %t: the tags are %q", laterFirst, got)
		}
	}
}

func TestFocusDecidesTheCadence(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		p := NewPoller(Connect(&Config{}), func(core.Delta) {}, PollOptions{Pace: 10})
		l := newInstancePoll(p)
		for _, tt := range []struct {
			every, want time.Duration
		}{{servicesEvery, 1500 * time.Millisecond}, {migrationsMoving, floor}, {relistEvery, time.Minute}} {
			if got := p.scaled(tt.every); got != tt.want {
				t.Errorf("%v at pace 10 is %v, want %v", tt.every, got, tt.want)
			}
		}
		m := newMigrationPoll(p)
		p.pace = 1
		if got := m.next(); got != migrationsQuiet {
			t.Errorf("migrations every %v while nothing moves", got)
		}
		p.SetHosts([]string{"h1", "", "h1"}, true)
		if focus, _ := p.hosts(); len(focus) != 1 {
			t.Errorf("focus %q", focus)
		}
		if got := m.next(); got != migrationsMoving {
			t.Errorf("migrations every %v while something moves", got)
		}
		p.SetHosts(nil, false)
		m.known["x"] = &core.Migration{InstanceID: "x", Status: "running"}
		if got := m.next(); got != migrationsMoving {
			t.Errorf("migrations every %v while one runs", got)
		}
		now := wallClock()
		p.SetHosts([]string{"h1"}, false)
		l.synced, l.changes.due, l.listing.due = true, now.Add(20*time.Second), now.Add(time.Hour)
		l.hosts["h1"] = &look{query: serverQuery{host: "h1"}, due: now.Add(4 * time.Second)}
		if got := l.next(); got != 4*time.Second {
			t.Errorf("next look at instances in %v, want that of the host in 4s", got)
		}
	})
}

// A record that has not changed since it was made is not among Nova's changes, for as long as no host is found.
func TestAMigrationIsSeenBeforeItsRecordChanges(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		const head = `"instance_uuid": "a", "migration_type": "live-migration", "source_compute": "h1", "created_at": "2026-01-16T15:25:`
		first := `{"id": 1, "uuid": "m1", "status": "completed", ` + head + `00.000000", "updated_at": "2026-01-16T15:25:30.000000"}`
		second := `{"id": 2, "uuid": "m2", "status": "accepted", ` + head + `40.000000", "updated_at": null}`
		var asked atomic.Bool
		n.on("GET /compute/v2.1/os-migrations", func(w http.ResponseWriter, r *http.Request) {
			all := []string{first}
			q := r.URL.Query()
			if asked.Load() && !q.Has("changes-since") {
				all = []string{second, first}
			}
			if q.Has("status") {
				all = nil
			}
			reply(w, 200, `{"migrations": [`+strings.Join(all, ",")+`]}`)
		})
		p, b := poll(t, n.client())
		b.await("the first", func() bool { return b.migrationOf("a").ID == 1 && b.state(core.SourceInstances) == core.SourceLive })
		time.Sleep(time.Minute)
		asked.Store(true)
		began := time.Now()
		b.await("the second", func() bool { return b.migrationOf("a").ID == 2 })
		if took := time.Since(began); took > changesEvery+migrationsQuiet {
			t.Errorf("it was seen after %s", took)
		}
		if m := b.migrationOf("a"); !m.Running() || m.SourceHost != "h1" {
			t.Errorf("it is %+v", m)
		}
		n.mu.Lock()
		n.requests = nil
		n.mu.Unlock()
		p.Nudge()
		time.Sleep(2 * time.Second)
		if list := n.seen("GET /compute/v2.1/os-migrations"); len(list) != 2 {
			t.Errorf("after a write there were %d requests, want the changes and the newest: %v", len(list), list)
		}
	})
}

// However many migrations run, a turn asks for the progress of a few, and all have their turn.
func TestProgressIsAskedForInTurns(t *testing.T) {
	l := newMigrationPoll(NewPoller(Connect(&Config{}), func(core.Delta) {}, PollOptions{}))
	for i := range 9 {
		m := &core.Migration{ID: i, InstanceID: fmt.Sprint("i", i), Type: core.MigrationLive, Status: "running"}
		l.known[m.Key()] = m
	}
	l.known["cold/1"] = &core.Migration{ID: 1, InstanceID: "cold", Type: core.MigrationCold, Status: "running"}
	asked := map[string]int{}
	for range 9 {
		next := l.askNext()
		if len(next) != progressPerPoll {
			t.Fatalf("one turn asks %d times", len(next))
		}
		for _, m := range next {
			asked[m.InstanceID]++
		}
	}
	for i := range 9 {
		if n := asked[fmt.Sprint("i", i)]; n != progressPerPoll {
			t.Errorf("i%d was asked about %d times in nine turns", i, n)
		}
	}
	if asked["cold"] > 0 {
		t.Error("a cold migration has no progress")
	}
	clear(l.known)
	if l.askNext(); len(l.asked) > 0 {
		t.Errorf("%d that have ended are remembered", len(l.asked))
	}
}

func TestAReasonMayComeAMomentLater(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": [`+migrationBody+`]}`)
		n.answer("GET /compute/v2.1/servers/a", 200, `{"server": {"id": "a", "status": "ACTIVE"}}`)
		n.answer("GET /compute/v2.1/servers/a/os-instance-actions", 200,
			`{"instanceActions": [{"action": "live-migration", "request_id": "req-it", "start_time": "2026-01-16T15:25:36.000000"}]}`)
		var asked sync.Once
		n.on("GET /compute/v2.1/servers/a/os-instance-actions/req-it", func(w http.ResponseWriter, _ *http.Request) {
			events := `{"event": "x", "result": "Error", "finish_time": "2026-01-16T15:25:40.000000", "details": "No valid host was found."}`
			asked.Do(func() { events = "" })
			reply(w, 200, `{"instanceAction": {"action": "live-migration", "events": [`+events+`]}}`)
		})
		_, b := poll(t, n.client())
		b.await("the record without its reason", func() bool {
			return b.wasMigration("a", func(m *core.Migration) bool { return m.Failed() && m.Failure == "" })
		})
		b.await("its reason", func() bool { return b.migrationOf("a").Failure == "No valid host was found." })
		n.answer("GET /compute/v2.1/servers/a/os-instance-actions/req-it", 500, "")
		from := len(n.seen("req-it"))
		n.answer("GET /compute/v2.1/os-migrations", 200,
			`{"migrations": [`+strings.Replace(migrationBody, "null}", `"2026-01-16T15:26:00.000000"}`, 1)+`]}`)
		b.await("the record changed, and its reason kept", func() bool {
			m := b.migrationOf("a")
			return m.Updated.Equal(parseTime("2026-01-16T15:26:00")) && m.Failure == "No valid host was found."
		})
		if got := len(n.seen("req-it")); got != from {
			t.Error("a reason that was found was asked for again")
		}
	})
}

func TestProgressThatCannotBeReadFailsNoSource(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": [`+strings.Replace(migrationBody, `"error"`, `"running"`, 1)+`]}`)
		n.answer("GET /compute/v2.1/servers/a/migrations", 403, `{"forbidden": {"message": "no"}}`)
		_, b := poll(t, n.client())
		b.await("several rounds", func() bool { return len(n.seen("/servers/a/migrations")) > 3 })
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, d := range b.deltas {
			if d.Source == core.SourceMigrations && d.Err != nil {
				t.Errorf("the source failed: %v", d.Err)
			}
		}
	})
}
