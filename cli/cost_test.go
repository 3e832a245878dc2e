package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/scenario"
)

// What Lockstep costs the servers: docs/cost.md. A session runs on the demo's fleets in virtual time, and each request is counted on its
// way. The smallest fleet is counted in every run of the tests; "make cost" counts all three.

var costOf = flag.String("fleets", "fleet-50", "count the requests to these fleets of the demo, separated by commas")

const (
	costPage    = "../docs/cost.md"
	costFigures = "testdata/cost.json"

	restFor  = 10 * time.Minute  // as long as the longest interval of a poll
	movesFor = 128 * time.Second // four times the time after which a watch is opened again
)

// The APIs, in the order of the page.
const (
	apiKubernetes = "Kubernetes"
	apiManagement = "management cluster"
	apiKeystone   = "Keystone"
	apiNova       = "Nova"
	apiNeutron    = "Neutron"
	apiCinder     = "Cinder"
	apiPlacement  = "Placement"
)

var costAPIs = []string{apiKubernetes, apiManagement, apiKeystone, apiNova, apiNeutron, apiCinder, apiPlacement}

// openStackAPIs are the APIs by the first part of their paths at the simulated cloud's one address.
var openStackAPIs = map[string]string{"identity": apiKeystone, "compute": apiNova, "network": apiNeutron, "volume": apiCinder,
	"placement": apiPlacement}

// sentRequest is a request as a session sent it, or a bookmark that it got.
type sentRequest struct {
	at        time.Time
	api, kind string
}

const bookmark = "bookmark"

// counter is the way of a session to its servers. It counts each request as it is sent, also one that is tried again.
type counter struct {
	base       http.RoundTripper
	management string // address of the management cluster's API server

	mu   sync.Mutex
	sent []sentRequest
	open map[string]int // watches by API
}

// RoundTrip implements http.RoundTripper.
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	api := apiKubernetes
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if of := openStackAPIs[first]; of != "" {
		api = of
	} else if r.URL.Host == c.management {
		api = apiManagement
	}
	watch := r.URL.Query().Get("watch") != ""
	c.mu.Lock()
	c.sent = append(c.sent, sentRequest{time.Now(), api, kindOf(api, rest, r)})
	if watch {
		c.open[api]++
	}
	c.mu.Unlock()
	resp, err := c.base.RoundTrip(r)
	if !watch {
		return resp, err
	}
	if err != nil {
		c.ended(api)
		return nil, err
	}
	resp.Body = &watchBody{ReadCloser: resp.Body, c: c, api: api, once: sync.OnceFunc(func() { c.ended(api) })}
	return resp, nil
}

// begun is when the first request was sent.
func (c *counter) begun() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[0].at
}

func (c *counter) ended(api string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[api]--
}

// between returns what was sent in a time.
func (c *counter) between(from, to time.Time) []sentRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.sent), func(s sentRequest) bool { return s.at.Before(from) || !s.at.Before(to) })
}

func (c *counter) watches() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.open)
}

// watchBody counts the bookmarks of a watch.
type watchBody struct {
	io.ReadCloser
	c    *counter
	api  string
	once func()
}

func (b *watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for range bytes.Count(p[:n], []byte(`"type":"BOOKMARK"`)) {
		b.c.mu.Lock()
		b.c.sent = append(b.c.sent, sentRequest{time.Now(), b.api, bookmark})
		b.c.mu.Unlock()
	}
	return n, err
}

func (b *watchBody) Close() error {
	b.once()
	return b.ReadCloser.Close()
}

var anID = regexp.MustCompile(`/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)

// kindOf says what a request asks for.
func kindOf(api, path string, r *http.Request) string {
	q := r.URL.Query()
	switch api {
	case apiKubernetes, apiManagement:
		switch {
		case q.Get("watch") != "":
			return "open a watch, or open it again"
		case path == "readyz" || strings.HasSuffix(r.URL.Path, "/readyz"):
			return "`/readyz`: does it answer"
		case strings.Contains(path, "/leases"):
			return "who holds the operator lease, here and in other namespaces"
		case strings.Contains(r.URL.Path, "/proxy/api/v2/"):
			return "alerts and silences of Alertmanager"
		}
		return "a page of a list"
	}
	_, path, _ = strings.Cut(path, "/") // without the version
	if api == apiPlacement {
		_, path, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	}
	path = "`" + strings.TrimSuffix(anID.ReplaceAllString("/"+path, "/{id}"), "/") + "`"
	switch {
	case path == "``":
		return "its versions"
	case q.Has("host") || q.Has("binding:host_id"):
		path += " of a host, or of some"
	case q.Has("changes-since"):
		path += " that changed"
	case q.Has("status"):
		path += " with a status"
	case q.Get("limit") == "1":
		path += ", one"
	}
	if r.Method != http.MethodGet {
		path = r.Method + " " + path
	}
	return path
}

// cost is what was counted on one fleet.
type cost struct {
	Live    float64        `json:"secondsToLive"`
	Watches map[string]int `json:"watches"` // open at rest, by API
	Start   figures        `json:"firstMinute"`
	Rest    figures        `json:"atRest"`    // per minute
	Moving  figures        `json:"moving"`    // per minute
	Plan    figures        `json:"plan"`      // in all
	Planned float64        `json:"planTakes"` // seconds
}

// figures are requests by API and kind.
type figures map[string]map[string]float64

func figuresOf(sent []sentRequest, minutes float64) figures {
	f := figures{}
	for _, s := range sent {
		if f[s.api] == nil {
			f[s.api] = map[string]float64{}
		}
		f[s.api][s.kind]++
	}
	for _, kinds := range f {
		for kind, n := range kinds {
			kinds[kind] = math.Round(n/minutes*10) / 10
		}
	}
	return f
}

// requests are those to an API, of all kinds.
func (f figures) requests(api string) (n float64) {
	for kind, of := range f[api] {
		if kind != bookmark {
			n += of
		}
	}
	return n
}

// countedOn starts a fleet with as many nodes in maintenance, with a management cluster, and a session whose requests are counted.
func countedOn(t *testing.T, fleet string, o sim.Options, began int) (*story, *counter) {
	t.Helper()
	raw, err := os.ReadFile("../sim/scenario/" + fleet + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw) + "\nmanagement: {}\n"
	for field, value := range map[string]int{"began": began, "concurrency": 4} {
		text = regexp.MustCompile(field+`: \d+([\n}])`).ReplaceAllString(text, field+": "+strconv.Itoa(value)+"$1")
	}
	if o.Scenario, err = scenario.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	st := newStory(t, o)
	st.place.Management = simManagement(st.Cloud)
	address, err := url.Parse(st.Management.RESTConfig("").Host)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{base: st.place.Line.Transport, management: address.Host, open: map[string]int{}}
	st.place.Line.Transport = c
	st.begin()
	st.until("all is live", func(s *core.Snapshot) bool {
		for _, src := range s.Sources {
			if src.State != core.SourceLive {
				return false
			}
		}
		return true
	})
	return st, c
}

// atRest counts a start, some time in which nothing happens, and a plan of the whole update.
func atRest(t *testing.T, fleet string, c *cost) {
	st, count := countedOn(t, fleet, sim.Options{ControllersOff: true}, 0)
	began := count.begun()
	c.Live = math.Round(time.Since(began).Seconds()*10) / 10
	time.Sleep(time.Until(began.Add(time.Minute)))
	c.Start = figuresOf(count.between(began, time.Now()), 1)
	from := time.Now()
	time.Sleep(restFor)
	c.Rest, c.Watches = figuresOf(count.between(from, time.Now()), restFor.Minutes()), count.watches()
	if hosts, moving := progress.HostsToWatch(st.s.Engine.Snapshot()); len(hosts) > 0 || moving {
		t.Fatalf("it is not at rest: %q", hosts)
	}
	st.stop()
	from = time.Now()
	p := st.place
	p.Management = session.Management{}
	code, _, errs := runIn(t, p, "plan", "-o", "json", "--kubeconfig", st.KubeconfigPath, "--os-cloud", st.CloudName)
	if code != exitAttention && code != exitFine {
		t.Fatalf("exit %d: %s", code, errs)
	}
	c.Planned = math.Round(time.Since(from).Seconds()*10) / 10
	c.Plan = figuresOf(count.between(from, time.Now()), 1)
}

// whileNodesMove counts some time in which four nodes evacuate.
func whileNodesMove(t *testing.T, fleet string, c *cost) {
	const nodes = 4
	st, count := countedOn(t, fleet, sim.Options{}, nodes)
	evacuating := func(when string) {
		if hosts, moving := progress.HostsToWatch(st.s.Engine.Snapshot()); len(hosts) != nodes || !moving {
			t.Fatalf("%s %d nodes move, want %d", when, len(hosts), nodes)
		}
	}
	time.Sleep(time.Minute)
	evacuating("before,")
	from := time.Now()
	time.Sleep(movesFor)
	c.Moving = figuresOf(count.between(from, time.Now()), movesFor.Minutes())
	evacuating("after,")
}

var costFleets = []string{"fleet-50", "fleet-500", "fleet-2000"}

// The page has what was counted: of the smallest fleet now, to a tenth, and of all fleets when somebody last asked for them.
func TestThePageOfCosts(t *testing.T) {
	t.Parallel()
	lane.OnlyAStory(t)
	told := map[string]*cost{}
	raw, err := os.ReadFile(costFigures)
	if err == nil {
		err = json.Unmarshal(raw, &told)
	}
	if err != nil && !*updateGoldens {
		t.Fatal(err)
	}
	fleets := strings.Split(*costOf, ",")
	counted := make([]cost, len(fleets))
	t.Run("count", func(t *testing.T) {
		for i, fleet := range fleets {
			t.Run(fleet, func(t *testing.T) {
				t.Parallel()
				t.Run("at rest", func(t *testing.T) { bubble.Run(t, func(t *testing.T) { atRest(t, fleet, &counted[i]) }) })
				t.Run("while nodes move", func(t *testing.T) { bubble.Run(t, func(t *testing.T) { whileNodesMove(t, fleet, &counted[i]) }) })
			})
		}
	})
	if t.Failed() {
		return
	}
	for i, fleet := range fleets {
		if *updateGoldens {
			told[fleet] = &counted[i]
			continue
		}
		was, is := told[fleet], &counted[i]
		if was == nil {
			t.Fatalf("%s has no %s", costFigures, fleet)
		}
		if !maps.Equal(was.Watches, is.Watches) {
			t.Errorf("%s: open watches %v, and the page has %v; if that is meant, run make cost", fleet, is.Watches, was.Watches)
		}
		for _, phase := range []struct {
			name    string
			was, is figures
		}{{"in the first minute", was.Start, is.Start}, {"at rest", was.Rest, is.Rest}, {"while nodes move", was.Moving, is.Moving},
			{"for a plan", was.Plan, is.Plan}} {
			for _, api := range costAPIs {
				if a, b := phase.was.requests(api), phase.is.requests(api); math.Abs(a-b) > max(0.1, a/100) {
					t.Errorf("%s, %s: %.1f requests to %s, and the page has %.1f: %v; if that is meant, run make cost", fleet, phase.name, b, api, a,
						phase.is[api])
				}
			}
		}
	}
	page := costText(told)
	if *updateGoldens {
		figures, err := json.MarshalIndent(told, "", "  ")
		if err == nil {
			err = os.WriteFile(costFigures, append(figures, '\n'), 0o644)
		}
		if err == nil {
			err = os.WriteFile(costPage, []byte(page), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if now, err := os.ReadFile(costPage); err != nil || string(now) != page {
		t.Errorf("%s is not what %s says (%v): run the test with -update", filepath.Base(costPage), costFigures, err)
	}
}

// costText is the page.
func costText(told map[string]*cost) string {
	var b strings.Builder
	head := func(first string) {
		fmt.Fprintf(&b, "\n| %s | %s |\n|---|%s\n", first, strings.Join(costFleets, " | "), strings.Repeat("---|", len(costFleets)))
	}
	row := func(first string, of func(*cost) string) {
		fmt.Fprintf(&b, "| %s |", first)
		for _, fleet := range costFleets {
			text := "–"
			if c := told[fleet]; c != nil {
				text = of(c)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	b.WriteString(costIntro)
	b.WriteString("\n## At rest\n\nRequests per minute while nobody moves: an update is under way, and no node is in maintenance.\n")
	head("API")
	for _, api := range costAPIs {
		row(api, func(c *cost) string { return figure(c.Rest.requests(api)) })
	}
	for _, api := range costAPIs[:2] {
		row(api+": open watches", func(c *cost) string { return strconv.Itoa(c.Watches[api]) })
		row(api+": bookmarks that come by them", func(c *cost) string { return figure(c.Rest[api][bookmark]) })
	}
	b.WriteString("\n## While nodes move\n\nRequests per minute while four nodes evacuate at the same time.\n")
	head("API")
	for _, api := range costAPIs {
		row(api, func(c *cost) string { return figure(c.Moving.requests(api)) })
	}
	b.WriteString("\n## At start\n\nRequests in the first minute. Everything is on the screen after the seconds of the first row.\n")
	head("API")
	row("*seconds until all is live*", func(c *cost) string { return figure(c.Live) })
	for _, api := range costAPIs {
		row(api, func(c *cost) string { return figure(c.Start.requests(api)) })
	}
	b.WriteString("\n## A plan of the whole update\n\nRequests of one `lockstep plan`, in all.\n")
	head("API")
	row("*seconds*, by no more than ten requests a second", func(c *cost) string { return figure(c.Planned) })
	for _, api := range costAPIs {
		row(api, func(c *cost) string { return figure(c.Plan.requests(api)) })
	}
	b.WriteString(costPlan)
	b.WriteString("\n## What is asked\n\nOf fleet-500, per minute; a plan in all.\n\n" +
		"| API | asks for | at rest | while nodes move | a plan |\n|---|---|---|---|---|\n")
	if c := told[costFleets[1]]; c != nil {
		for _, api := range costAPIs {
			kinds := map[string]bool{}
			for _, f := range []figures{c.Rest, c.Moving, c.Plan} {
				for kind := range f[api] {
					kinds[kind] = kind != bookmark
				}
			}
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				if kinds[kind] {
					fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", api, kind, figure(c.Rest[api][kind]),
						figure(c.Moving[api][kind]), figure(c.Plan[api][kind]))
				}
			}
		}
	}
	b.WriteString(costWhy)
	return b.String()
}

// figure is a number with one decimal where it has one.
func figure(n float64) string {
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
}

const costIntro = `# What Lockstep costs the servers

How many requests Lockstep sends to whom. **This page is written by a test** (cli/cost_test.go), in virtual time: the session of the
dashboard runs on the demo's fleets, and each request is counted on its way, also one that is tried again. Every run of the tests counts
the requests to fleet-50, and fails when they differ from this page by more than a tenth. ` + "`make cost`" + ` counts those to all three
fleets, and writes the page anew.

The fleets have 50, 500 and 2,000 nodes, and 1,000, 15,000 and 100,000 instances. Each has a management cluster here. At rest no
controller runs, and ten minutes are counted: some lists are read every ten minutes only, so there are tenths. Evacuations are counted
for about two minutes, with all controllers, and 2 (fleet-50) or 4 live migrations at a time from each node. No screen is open, so no
node is selected; a selected one counts as one more that moves.
`

const costPlan = `
Lists are read page by page, of at most 1,000 each. The requests grow with the pages of instances, ports and volumes, and not with hosts:

- **What is taken of a host** is in Placement's allocation candidates: one answer has all hosts with a CPU left; up to three more, by
  pinned CPUs, memory and disk, find hosts without one.
- **Who takes it** Placement tells only host by host. What an instance takes follows from its flavor, and what is held twice from the
  migrations under way. Where these add up to what Placement has for the host, in every resource class, the host is not asked.
- **Asked by itself** is only a host of the plan where they do not add up (CPUs pinned by an image, a device of a port, a resize to another
  flavor, a place that nobody holds any more, an instance that has moved between the two answers), and a host that has nothing left of
  anything. In the fleets there are none.
- **The zones that users asked for** (Nova 2.96 and newer) are read from the pages of all instances, or host by host when the plan names
  few nodes. The fleets have an older Nova.
- Nodes that the update is through with are not asked about.

When Placement refuses the candidates, each host is asked as before them, and the plan says so. A page whose marker has been deleted is
read again. What cannot be read counts as not known.
`

const costWhy = `
Why so often:

- **Watches are opened again every half minute.** A watch whose line is dead is silent, as is one of a quiet list. The server ends each
  with a bookmark, so one that does not end is noticed within 50 seconds, and Lockstep writes nothing on stale facts.
- **Instances**: a list of what changed, every 30 seconds, and every 5 while something moves, sees the whole cloud in one request. Hosts
  stamp their own changes: the list reaches back five minutes, for clocks that differ, and half a minute where it comes every 5 seconds. The
  list of a host in maintenance (every 15 seconds while something moves, at most six in a turn) is the proof that it is empty: it shows what
  Nova did not report as a change. All instances are listed every ten minutes.
- **Migrations**: a list of what changed shows what runs and what ended. A record that was not changed since it was made is not in it, so
  the newest records are read as well, every half minute and after a write.
- **Progress** Nova tells of one instance at a time: at most 4 in a turn of 3 seconds, however many migrations run. They take turns.
- **Pods** of a node are watched while it is in maintenance, by a watch for each node. A pod that changes is one event.
- **Volumes** on hosts' own disks are listed host by host, every 30 seconds: of up to 32 such hosts, else of those in maintenance. Without
  any, one volume is asked for, which shows that Cinder answers. What L3 and DHCP agents serve Neutron tells agent by agent: asked on
  gateways that have a migration mode.
- **On demand**: ` + "`lockstep owners`" + ` and its page ask Keystone for the members of each project concerned, and for each of
  their users (at most 500): a list would be of all users of the domain. Before a write the server is asked about the object concerned.
- At most ten requests a second are read from OpenStack, after a burst of five; a server that answers 429 or is slow is asked less. The
  pages of a list do not count: each is asked for when the one before it has been answered, so the server sets their pace.
`
