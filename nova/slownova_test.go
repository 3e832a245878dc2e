package nova

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
)

// slowNova lists its servers as Nova does: those created last first, by pages, those that were deleted among the changes. It takes
// time for each, and fails as the test wants.
type slowNova struct {
	*smallNova

	// Guarded by the fakeCloud's mu.
	all    []*slowServer // in the order of the list
	made   int
	limit  int                                               // max_limit
	record time.Duration                                     // for each server of an answer
	fault  func(w http.ResponseWriter, r *http.Request) bool // whether it has answered
	read   int
}

type slowServer struct {
	id, host, status string
	updated          time.Time
	deleted          bool
}

func newSlowNova(t testing.TB) *slowNova {
	n := &slowNova{smallNova: newSmallNova(t), limit: pageSize, fault: func(http.ResponseWriter, *http.Request) bool { return false }}
	n.on("GET /compute/v2.1/servers/detail", n.serve)
	return n
}

// create makes instances on hosts h0 to h9. The caller holds mu.
func (n *slowNova) create(many int) {
	for range many {
		s := &slowServer{id: fmt.Sprintf("i-%04d", n.made), host: fmt.Sprintf("h%d", n.made%10), status: "ACTIVE", updated: time.Now()}
		n.made++
		n.all = slices.Insert(n.all, 0, s)
	}
}

func (n *slowNova) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	fault := n.fault
	n.mu.Unlock()
	if fault(w, r) {
		return
	}
	q := r.URL.Query()
	n.mu.Lock()
	since, host, marker := parseTime(q.Get("changes-since")), q.Get("host"), q.Get("marker")
	limit, _ := strconv.Atoi(q.Get("limit"))
	limit = min(limit, n.limit)
	from := 0
	if marker != "" {
		from = slices.IndexFunc(n.all, func(s *slowServer) bool { return s.id == marker && !s.deleted }) + 1
		if from == 0 {
			n.mu.Unlock()
			reply(w, 400, `{"badRequest": {"code": 400, "message": "marker [`+marker+`] not found"}}`)
			return
		}
	}
	var out []string
	more := false
	for _, s := range n.all[from:] {
		switch {
		case since.IsZero() && s.deleted, s.deleted && host != "", !since.IsZero() && s.updated.Before(since), host != "" && s.host != host:
			continue
		case len(out) == limit:
			more = true
		}
		if more {
			break
		}
		status := s.status
		if s.deleted {
			status = "DELETED"
		}
		out = append(out, fmt.Sprintf(`{"id": %q, "name": %q, "OS-EXT-SRV-ATTR:host": %q, "status": %q, "updated": %q}`, s.id, s.id, s.host,
			status,
			formatTime(s.updated)))
	}
	n.read += len(out)
	takes := time.Duration(len(out)) * n.record
	n.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return
	}
	links := "[]"
	if more {
		links = `[{"rel": "next", "href": "http://elsewhere/"}]`
	}
	reply(w, 200, `{"servers": [`+strings.Join(out, ",")+`], "servers_links": `+links+`}`)
}

// differences are where the known instances are not as in the cloud.
func (n *slowNova) differences(b *board) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	there := map[string]bool{}
	for _, s := range n.all {
		if s.deleted {
			continue
		}
		there[s.id] = true
		if i := b.instance(s.id); i.ID == "" {
			out = append(out, s.id+" is not known")
		} else if i.Host != s.host || i.Status != s.status {
			out = append(out, fmt.Sprintf("%s is %s on %s, not %s on %s", s.id, s.status, s.host, i.Status, i.Host))
		}
	}
	for id := range b.objects[core.SourceInstances] {
		if !there[id] {
			out = append(out, id+" is not there")
		}
	}
	slices.Sort(out)
	return out
}

func hangs(r *http.Request) bool { <-r.Context().Done(); return true }

// The changes are seen however many pages they have, and however long these take together.
func TestChangesOfManySlowPagesAreSeen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSlowNova(t)
		n.set(func() { n.create(3000) })
		_, b := poll(t, n.client())
		b.await("all", func() bool { return len(b.objects[core.SourceInstances]) == 3000 })
		n.set(func() {
			n.record = 50 * time.Millisecond // a page of 1,000 takes 50 s: longer than a page may take
			for _, s := range n.all {
				s.status, s.updated = "SHUTOFF", time.Now()
			}
		})
		time.Sleep(changesEvery + answerPatience + 2*usualTimes.try + 4*time.Second + 3000*50*time.Millisecond*3/2)
		if d := n.differences(b); len(d) > 0 {
			t.Errorf("%d differences: %s", len(d), strings.Join(d[:min(len(d), 5)], "; "))
		}
	})
}

// A focus host that hangs delays the other hosts, the changes and the list by a moment at most.
func TestAHostThatHangsHoldsUpNobody(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSlowNova(t)
		n.set(func() {
			n.create(500)
			n.fault = func(_ http.ResponseWriter, r *http.Request) bool {
				return r.URL.Query().Get("host") == "h1" && hangs(r)
			}
		})
		_, b := poll(t, n.client(), "h1", "h2", "h3")
		b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive })
		if took := time.Since(bubbleBegan(b)); took > 3*answerPatience {
			t.Errorf("the list took %s", took)
		}
		for range 20 {
			time.Sleep(time.Minute)
			n.set(func() {
				for _, s := range n.all[:20] {
					s.status, s.updated = map[string]string{"ACTIVE": "PAUSED", "PAUSED": "ACTIVE"}[s.status], time.Now()
				}
			})
			time.Sleep(changesMoving + 2*answerPatience)
			if d := n.differences(b); len(d) > 0 {
				t.Fatalf("%d differences: %s", len(d), strings.Join(d[:min(len(d), 5)], "; "))
			}
			b.mu.Lock()
			s := b.states[core.SourceInstances]
			b.mu.Unlock()
			if s.State != core.SourceLive || s.Err != nil {
				t.Fatalf("the source is %s: %v", s.State, s.Err)
			}
		}
		if asked := n.asked("h1"); asked > 40 {
			t.Errorf("it was asked %d times in 20 minutes", asked)
		}
		if asked := n.asked("h2"); asked < 80 {
			t.Errorf("another was asked %d times in 20 minutes", asked)
		}
	})
}

// asked is how often the list of a host was requested.
func (n *slowNova) asked(host string) (times int) {
	for _, r := range n.seen("servers/detail") {
		if strings.Contains("&"+r.query+"&", "&host="+host+"&") {
			times++
		}
	}
	return times
}

func bubbleBegan(b *board) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deltas[0].At
}

// However many markers are refused, the list is read again at its time: what no change shows is seen then.
func TestRefusedMarkersDoNotEndThePoll(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSlowNova(t)
		n.set(func() {
			n.limit = 100
			n.create(500)
		})
		_, b := poll(t, n.client())
		b.await("all", func() bool { return len(b.objects[core.SourceInstances]) == 500 })
		refused := 0
		n.set(func() {
			n.fault = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Query().Get("marker") == "" || refused == 50 {
					return false
				}
				refused++
				reply(w, 400, `{"badRequest": {"code": 400, "message": "marker not found"}}`)
				return true
			}
			n.all = slices.Delete(n.all, 200, 300) // purged: no change shows it
		})
		time.Sleep(relistEvery + 5*time.Minute)
		if d := n.differences(b); len(d) > 0 || refused != 50 {
			t.Errorf("%d refused; %d differences: %s", refused, len(d), strings.Join(d[:min(len(d), 5)], "; "))
		}
	})
}

// When the instances before the marker are deleted with it, the list goes on before them, and does not begin again.
func TestAListGoesOnBeforeADeletedMarker(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSlowNova(t)
		n.set(func() {
			n.limit, n.record = 100, 10*time.Millisecond
			n.create(1000)
		})
		_, b := poll(t, n.client())
		b.await("half of them", func() bool { return len(b.objects[core.SourceInstances]) >= 500 })
		n.set(func() {
			for _, s := range n.all[420:] {
				if s.id >= "i-0490" {
					s.deleted, s.updated = true, time.Now()
				}
			}
		})
		b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive })
		time.Sleep(changesEvery + time.Minute)
		if d := n.differences(b); len(d) > 0 {
			t.Errorf("%d differences: %s", len(d), strings.Join(d[:min(len(d), 5)], "; "))
		}
		first := 0
		for _, r := range n.seen("servers/detail") {
			if !strings.Contains(r.query, "marker") && !strings.Contains(r.query, "changes-since") {
				first++
			}
		}
		if first != 1 {
			t.Errorf("the list began %d times", first)
		}
	})
}

// The longest delays with servers that are slow, hang, fail and refuse: a change is seen after changesSeen, as long as one page of
// the smallest size arrives in time between two failures; what Nova reports as no change is seen after allSeen, with the next whole
// list.
const (
	changesSeen = changesEvery + // until it is requested
		hostsPerPoll*answerPatience + // and the hosts before it have been read
		5*(30*time.Second+4*time.Second) + // pages that hang or fail, until they are small enough
		4*time.Minute // the pages themselves, and those that fail now and then
	allSeen = relistEvery + 10*time.Minute
)

// Whatever a cloud's servers do, each change is seen in time, no instance is lost, and none is kept for ever.
func TestEachChangeIsSeenInTime(t *testing.T) {
	for seed := range uint64(6) {
		if !lane.Chosen(t, int(seed), 6) {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) { changesInTime(t, rand.New(rand.NewPCG(seed, 13))) })
		})
	}
}

func changesInTime(t *testing.T, chance *rand.Rand) {
	n := newSlowNova(t)
	// Each host in focus may hang for good. Other requests hang or fail now and then, but no two in a row of one kind.
	hanging := map[string]bool{}
	var focus []string
	for i := range 8 {
		h := fmt.Sprintf("h%d", i)
		focus = append(focus, h)
		hanging[h] = chance.IntN(3) == 0
	}
	failed := map[string]bool{}
	rate := chance.IntN(4) // in ten
	n.set(func() {
		n.limit = []int{20, 70, 1000}[chance.IntN(3)]
		n.record = time.Duration(chance.IntN(150)) * time.Millisecond
		n.create(100 + chance.IntN(100))
		n.fault = func(w http.ResponseWriter, r *http.Request) bool {
			q := r.URL.Query()
			n.mu.Lock()
			kind := "list"
			if q.Has("changes-since") {
				kind = "changes"
			}
			host := q.Get("host")
			hang := hanging[host]
			fail := host == "" && !failed[kind] && chance.IntN(10) < rate
			what := chance.IntN(4)
			failed[kind] = host == "" && fail
			n.mu.Unlock()
			switch {
			case hang:
				return hangs(r)
			case !fail:
				return false
			case what == 0:
				return hangs(r)
			case what == 1:
				reply(w, 503, "<html></html>")
			case what == 2 && q.Has("marker"):
				reply(w, 400, `{"badRequest": {"code": 400, "message": "marker not found"}}`)
			default:
				panic(http.ErrAbortHandler)
			}
			return true
		}
	})
	_, b := poll(t, n.client(), focus...)
	time.Sleep(allSeen)
	if d := n.differences(b); len(d) > 0 {
		t.Fatalf("after the first list %d differences: %s", len(d), strings.Join(d[:min(len(d), 5)], "; "))
	}
	for round := range 4 {
		purged := false
		n.set(func() {
			for range 1 + chance.IntN(40) {
				s := n.all[chance.IntN(len(n.all))]
				switch chance.IntN(8) {
				case 0:
					s.deleted, s.updated = true, time.Now()
				case 1:
					n.create(1)
				case 2:
					s.status, s.updated = "SHUTOFF", time.Now()
				case 3: // no change shows it
					if chance.IntN(4) == 0 {
						n.all = slices.DeleteFunc(n.all, func(o *slowServer) bool { return o == s })
						purged = true
					}
				default:
					s.host, s.updated = fmt.Sprintf("h%d", chance.IntN(10)), time.Now()
				}
			}
		})
		time.Sleep(changesSeen)
		if purged {
			time.Sleep(allSeen)
		}
		if d := n.differences(b); len(d) > 0 {
			t.Fatalf("in round %d %d differences: %s", round, len(d), strings.Join(d[:min(len(d), 5)], "; "))
		}
	}
}

// A page that makes no progress is reported: a list whose links lead back to where it was ends with an error, and is tried again.
func TestAListWithoutEndIsAFailure(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		turn := 0
		n.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, _ *http.Request) {
			n.mu.Lock()
			turn++
			id, _ := json.Marshal(fmt.Sprintf("i%d", turn%3))
			n.mu.Unlock()
			reply(w, 200, `{"servers": [{"id": `+string(id)+`, `+somewhere+`}], "servers_links": [{"rel": "next"}]}`)
		})
		_, b := poll(t, n.client())
		b.await("that it has no end", func() bool {
			s := b.states[core.SourceInstances]
			return s.State == core.SourceFailed && strings.Contains(s.Err.Message, "no end")
		})
		if asked := len(n.seen("servers/detail")); asked > 10 {
			t.Errorf("it was asked %d times before", asked)
		}
	})
}

// A host whose migrations cannot be read delays no other, and the known ones stay.
func TestAHostWhoseMigrationsHangHoldsUpNobody(t *testing.T) {
	for name, version := range map[string]string{"a cloud with pages": "2.93", "an old one": "2.40"} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				n.max = version
				record := func(host string, id int) string {
					return fmt.Sprintf(`{"id": %d, "uuid": "u%d", "instance_uuid": "of-%s", "source_compute": %q, "dest_compute": "far",
					  "status": "completed", "migration_type": "live-migration", "created_at": "2026-01-16T15:00:00.000000",
					  "updated_at": "2026-01-16T15:00:00.000000"}`, id, id, host, host)
				}
				hang := false
				n.on("GET /compute/v2.1/os-migrations", func(w http.ResponseWriter, r *http.Request) {
					host := r.URL.Query().Get("host")
					n.mu.Lock()
					hanging := hang && host == "h1"
					n.mu.Unlock()
					switch {
					case hanging:
						<-r.Context().Done()
					case host != "":
						id, _ := strconv.Atoi(host[1:])
						reply(w, 200, `{"migrations": [`+record(host, id)+`]}`)
					default:
						reply(w, 200, `{"migrations": []}`)
					}
				})
				_, b := poll(t, n.client(), "h1", "h2", "h3")
				known := func() bool {
					return b.state(core.SourceMigrations) == core.SourceLive && b.migrationOf("of-h1").ID == 1 && b.migrationOf("of-h2").ID == 2 &&
						b.migrationOf("of-h3").ID == 3
				}
				b.await("all", known)
				n.set(func() { hang = true })
				for range 15 {
					time.Sleep(time.Minute)
					b.mu.Lock()
					s, all := b.states[core.SourceMigrations], known()
					b.mu.Unlock()
					if !all || time.Since(s.At) > migrationsMoving+hostRecordsLimit+time.Second {
						t.Fatalf("the source is %s as of %s, at %s", s.State, s.At, time.Now())
					}
				}
			})
		})
	}
}
