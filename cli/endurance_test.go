//go:build soak

package cli

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/cli/sessiontest"
	"lockstep/core/engine"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// endurance is a cluster of 500 nodes whose update needs nobody, and finishes within the watch.
const endurance = `
name: endurance
title: 500 nodes in eight hours
teaches: Nothing
seed: 500
release: {from: 17.4.0+25.1, to: 21.0.0+25.2}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: 1.0.7, to: 1.1.5}
update: {concurrency: 30}
openstack: {maxCompute: 30, migrations: 4}
history: {startAt: workers, begun: 2h, released: 1h30m}
fleet:
  nodes: {master: 3, controller: 3, compute: 480, gateway: 5, storage: 9}
  zones: {az-1: 3, az-2: 3, az-3: 2}
  racks: 24
  modes: {live: 95, skip: 5}
  memoryGiB: 512
  projects: 60
  instances: 5000
  flavors: {m1.small: 5, m1.medium: 4, m1.large: 1}
  statuses: {ACTIVE: 900, SHUTOFF: 100}
  actions: {none: 95, poweroff: 5}
  troubles: {failsTwice: 60}
flavors:
  - {name: m1.small, vcpus: 2, memoryGiB: 4, diskGiB: 20}
  - {name: m1.medium, vcpus: 4, memoryGiB: 8, diskGiB: 40}
  - {name: m1.large, vcpus: 8, memoryGiB: 16, diskGiB: 80}
`

// An operator watches the update of 500 nodes for eight hours, in which some server has a fault most of the time. Lockstep's
// memory does not grow with the hours. Every transition of the cloud's locks and requests is in the journal, once and in order,
// even those that Lockstep could not see when they happened.
func TestAWatchOfEightHoursOverFiveHundredNodes(t *testing.T) {
	bubble.Alone(t, func(t *testing.T) {
		told, err := scenario.Parse([]byte(endurance))
		if err != nil {
			t.Fatal(err)
		}
		st := newStory(t, sim.Options{Scenario: told, Paused: true})
		ledger := follow(st.Kube)
		st.begin()
		st.until("all is live", sessiontest.AllKnown) // earlier states are not transitions
		st.Clock.Resume()
		began := time.Now()
		var sizes []size
		for i := 0; time.Since(began) < long(t); i++ {
			trouble := along[i%len(along)]
			if err := st.Faults.On(trouble); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Second)
			st.Faults.Clear()
			time.Sleep(50 * time.Second)
			synctest.Wait()
			if i%24 == 23 { // an hour
				sizes = append(sizes, measured())
				t.Logf("after %s: %s; updated %d of %d", time.Since(began).Round(time.Minute), sizes[len(sizes)-1], ledger.updated(told),
					len(told.Nodes))
			}
		}
		st.until("all is live again", sessiontest.AllKnown)
		time.Sleep(time.Minute)
		synctest.Wait()
		ledger.compare(t, recordsOf(t, st.s.Journal.Path()))
		// The cloud remembers all of its migrations, as a real one does. A session that has watched for hours holds no more than a
		// new one that sees the same.
		synctest.Wait()
		watched := measured()
		st.stop()
		st.s, st.snaps, st.last = nil, nil, nil
		synctest.Wait()
		nobody := measured()
		st.begin()
		st.until("all is live to another session", sessiontest.AllKnown)
		synctest.Wait()
		begun := measured()
		t.Logf("with the session: %s; without: %s; with a new one: %s", watched, nobody, begun)
		if held, new := int64(watched.heap)-int64(nobody.heap), int64(begun.heap)-int64(nobody.heap); held > new*3/2+8<<20 {
			t.Errorf("the heap grows: the session holds %d MiB, a new one %d MiB", held>>20, new>>20)
		}
		first, last := sizes[1], sizes[len(sizes)-1] // in the first hour everything is new
		if last.goroutines > first.goroutines*11/10 || last.descriptors > first.descriptors {
			t.Errorf("goroutines or descriptors grow: from %s to %s", first, last)
		}
	})
}

func recordsOf(t *testing.T, journal string) (records []engine.Record) {
	t.Helper()
	if _, err := engine.ReadJournal(journal, func(r engine.Record) { records = append(records, r) }); err != nil {
		t.Fatal(err)
	}
	return records
}

// long is the length of the watch: $WATCH, or eight hours. Growth shows from the second hour on.
func long(t *testing.T) time.Duration {
	asked := os.Getenv("WATCH")
	if asked == "" {
		return 8 * time.Hour
	}
	d, err := time.ParseDuration(asked)
	if err != nil || d < 2*time.Hour {
		t.Fatalf("WATCH=%s: want two hours or more, as 2h", asked)
	}
	return d
}

// along are the faults of the watch, one after another.
var along = []fault.Setting{
	{Server: fault.Kubernetes, Kind: "watches-cut"},
	{Server: fault.Compute, Kind: "500", Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "refused"},
	{Server: fault.OpenStack, Kind: "refused"},
	{Server: fault.Kubernetes, Kind: "reset", Rate: 0.5},
	{Server: fault.Compute, Kind: "short", Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "503"},
	{Server: fault.Identity, Kind: "503"},
	{Server: fault.Kubernetes, Kind: "latency", Latency: 2 * time.Second},
	{Server: fault.Compute, Kind: "page-502", Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "watches-end", Every: 5 * time.Second},
	{Server: fault.Kubernetes, Kind: "429", RetryAfter: time.Second, Rate: 0.5},
}

// size is what the process holds.
type size struct {
	heap                    uint64 // bytes that are reachable
	goroutines, descriptors int
}

func (s size) String() string {
	return fmt.Sprintf("%d MiB, %d goroutines, %d descriptors", s.heap>>20, s.goroutines, s.descriptors)
}

func measured() size {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := size{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // where the folder exists
		s.descriptors = len(open)
	}
	return s
}

// ledger is the history of each lock and request, as the cloud's own server stored it.
type ledger struct {
	mu     sync.Mutex
	locks  map[string][]string // by UID: "active → inactive"
	rounds map[string][]string // by node: "begins UID", "ends UID"
	at     map[string]string   // the release of each node's lock of the OpenStack controller
}

func follow(server *kubeapi.Server) *ledger {
	l := &ledger{locks: map[string][]string{}, rounds: map[string][]string{}, at: map[string]string{}}
	server.Follow(l.note, "nodeworkloadlocks", "clusterworkloadlocks", "nodemaintenancerequests")
	return l
}

func (l *ledger) note(c kubeapi.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Resource == "nodemaintenancerequests" {
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		switch c.Kind {
		case watch.Added:
			l.rounds[node] = append(l.rounds[node], "begins "+string(c.Now.GetUID()))
		case watch.Deleted:
			l.rounds[node] = append(l.rounds[node], "ends "+string(c.Now.GetUID()))
		}
		return
	}
	if c.Kind == watch.Deleted || c.Before == nil {
		return
	}
	before, _, _ := unstructured.NestedString(c.Before.Object, "status", "state")
	now, _, _ := unstructured.NestedString(c.Now.Object, "status", "state")
	if before != now && before != "" {
		uid := string(c.Now.GetUID())
		l.locks[uid] = append(l.locks[uid], before+" → "+now)
	}
	if node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName"); node != "" {
		l.at[c.Now.GetName()], _, _ = unstructured.NestedString(c.Now.Object, "status", "release")
	}
}

// updated returns how many nodes' locks are at the scenario's target.
func (l *ledger) updated(told *scenario.Scenario) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, node := range told.Nodes {
		if l.at["openstack-"+node.Name] == told.Release.To {
			n++
		}
	}
	return n
}

// compare compares the journal with what happened.
func (l *ledger) compare(t *testing.T, records []engine.Record) {
	locks, rounds := map[string][]string{}, map[string][]string{}
	for _, r := range records {
		switch {
		case r.Kind == engine.RecordLock:
			locks[r.Object.UID] = append(locks[r.Object.UID], r.From+" → "+r.To)
		case r.Kind == engine.RecordRound && r.Round.Ended.IsZero():
			rounds[r.Node] = append(rounds[r.Node], "begins "+r.Round.Request)
		case r.Kind == engine.RecordRound:
			rounds[r.Node] = append(rounds[r.Node], "ends "+r.Round.Request)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	held := func(what string, happened, told map[string][]string) {
		n, wrong := 0, 0
		for key, all := range happened {
			n += len(all)
			if !slices.Equal(all, told[key]) {
				if wrong++; wrong <= 10 {
					t.Errorf("%s %s: it happened that %q, and the journal tells %q", what, key, all, told[key])
				}
			}
		}
		for key, all := range told {
			if happened[key] == nil {
				t.Errorf("%s %s: the journal tells %q, and nothing happened", what, key, all)
			}
		}
		t.Logf("%d transitions of %d: %s", n, len(happened), what)
		if n == 0 {
			t.Errorf("nothing happened to any %s", what)
		}
	}
	held("lock", l.locks, locks)
	held("request of node", l.rounds, rounds)
}
