package cli

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/record"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// toReconstruct is an update by a plan that goes through by itself.
const toReconstruct = `
name: to-reconstruct
title: A whole update by its plan
teaches: Nothing
seed: 78
cluster: mos
release: {from: 17.4.0+25.1, to: 21.0.0+25.2}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: 1.0.7, to: 1.1.5}
history: {startAt: workers, begun: 90m, released: 40m}
management:
  plan: {commence: [k8s-workers-mos-default, mcc-components]}
nodes:
  - {machine: ctl-01, roles: [master, controller], done: 20m}
  - {machine: cmp-01, roles: [compute]}
  - {machine: cmp-02, roles: [compute]}
  - {machine: cmp-03, roles: [compute]}
  - {machine: cmp-04, roles: [compute]}
flavors: [{name: m1.small, vcpus: 2, memoryGiB: 4, diskGiB: 20}]
projects: [shop]
instances:
  - {name: web-1, project: shop, flavor: m1.small, host: cmp-01}
  - {name: web-2, project: shop, flavor: m1.small, host: cmp-02}
  - {name: web-3, project: shop, flavor: m1.small, host: cmp-03}
`

// recordedNode is what the cloud itself has of the maintenance of a node.
type recordedNode struct{ began, released, ended time.Time }

// recorder follows what happens to the nodes of a cloud.
type recorder struct {
	mu    sync.Mutex
	nodes map[string]*recordedNode
	over  time.Time                  // the update
	held  map[string]map[string]bool // by node: its locks that are not inactive
}

func recorderOf(st *story) *recorder {
	r := &recorder{nodes: map[string]*recordedNode{}, held: map[string]map[string]bool{}}
	st.Kube.Follow(func(c kubeapi.Change) {
		r.mu.Lock()
		defer r.mu.Unlock()
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		if c.Now.GetKind() == "NodeMaintenanceRequest" {
			switch c.Kind {
			case watch.Added:
				r.nodes[node] = &recordedNode{began: c.Now.GetCreationTimestamp().Time}
			case watch.Deleted:
				r.nodes[node].ended = st.Clock.Now()
			}
			return
		}
		if c.Now.GetKind() == "ClusterMaintenanceRequest" {
			if c.Kind == watch.Deleted {
				r.over = st.Clock.Now()
			}
			return
		}
		if r.held[node] == nil {
			r.held[node] = map[string]bool{}
		}
		state, _, _ := unstructured.NestedString(c.Now.Object, "status", "state")
		r.held[node][c.Now.GetName()] = state != "inactive"
		free := true
		for _, held := range r.held[node] {
			free = free && !held
		}
		if q := r.nodes[node]; free && q != nil && q.released.IsZero() {
			q.released = st.Clock.Now()
		}
	}, "nodemaintenancerequests", "nodeworkloadlocks", "clustermaintenancerequests")
	return r
}

// Lockstep is killed in the middle of an update and started again, at any moments. What happened meanwhile is told with the API's own
// times, once, and as the cloud itself has it; what some run saw stays as it was seen. Each run asks LCM once for what it did not see; one
// that begins when the update is over, and was seen to be, asks for nothing.
func TestWhatNobodySawIsReconstructed(t *testing.T) {
	histories := [][]time.Duration{{3 * time.Minute, 40 * time.Minute}} // it looks, and does not look; here the update is over meanwhile
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 1))
		var history []time.Duration
		for range 1 + random.IntN(2) {
			history = append(history, time.Duration(random.IntN(8*60))*time.Second, time.Duration(random.IntN(16*60))*time.Second)
		}
		histories = append(histories, history)
	}
	for _, history := range histories {
		t.Run(fmt.Sprint(history), func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) { reconstructs(t, history, true) })
		})
	}
	t.Run("without a management cluster", func(t *testing.T) { // only Kubernetes and Nova tell
		bubble.Run(t, func(t *testing.T) {
			reconstructs(t, []time.Duration{30 * time.Second, 5 * time.Minute, 90 * time.Second, 4 * time.Minute}, false)
		})
	})
}

// reconstructs plays the update: Lockstep looks, and does not look, by turns.
func reconstructs(t *testing.T, history []time.Duration, management bool) {
	what, err := scenario.Parse([]byte(toReconstruct))
	if err != nil {
		t.Fatal(err)
	}
	st := newStory(t, sim.Options{Scenario: what, Timing: paced, Paused: true, Speed: quickly})
	if management {
		st.place.Management = simManagement(st.Cloud)
	}
	cloud := recorderOf(st)
	var asked atomic.Int64 // for LCM's stages
	if management {
		st.Management.AddFault(kubeapi.Fault{Verb: "list", Resource: "lcmmachineupgradedrainstatuses", Match: func(r *http.Request) bool {
			if !strings.Contains(r.UserAgent(), "lockstep-sim") {
				asked.Add(1)
			}
			return false
		}})
	}
	st.begin()
	st.until("everything is live", sessiontest.AllKnown)
	st.Clock.Resume()
	wait := func(d time.Duration) { // while Snapshots are taken
		end := time.Now().Add(d)
		st.until("the time is over", func(*core.Snapshot) bool { return !time.Now().Before(end) })
	}
	type stretch struct{ from, to time.Time }
	var away []stretch
	for i := 0; i < len(history); i += 2 {
		wait(history[i] / quickly)
		st.s.Journal.Close() // as a kill does: nothing is written any more
		st.stop()
		from := st.Clock.Now()
		time.Sleep(history[i+1] / quickly)
		st.begin()
		st.until("everything is live again", sessiontest.AllKnown)
		away = append(away, stretch{from, st.Clock.Now()})
	}
	over := func(s *core.Snapshot) bool {
		return sessiontest.AllKnown(s) && s.History.Update.UID != "" && !s.History.Update.Ended.IsZero()
	}
	st.until("the update is over", over)
	wait(time.Minute)
	st.stop()
	if management {
		runs, before := int64(1+len(away)), asked.Load()
		if before != runs {
			t.Errorf("%d runs have asked for LCM's stages %d times", runs, before)
		}
		st.begin()
		st.until("everything is live again", over)
		wait(time.Minute)
		st.until("it is at rest", sessiontest.AllKnown)
		if again := asked.Load() - before; again != 0 {
			t.Errorf("when the update was over LCM's stages were asked for %d times", again)
		}
		st.stop()
	}

	a := accountOf(t, st)
	if a.Plan == nil || a.Plan.Whole.Ended.IsZero() || len(a.Plan.Whole.Forecasts) == 0 {
		t.Fatalf("the plan: %+v", a.Plan)
	}
	for _, f := range a.Plan.Whole.Forecasts { // it is the forecast of a beginning only if somebody saw that
		for _, p := range a.Plan.Parts {
			if f.Moment == p.ID && f.Given.Sub(p.Began.Time) > 10*time.Second {
				t.Errorf("the forecast for the beginning of %s at %s was given at %s", p.ID, p.Began, f.Given)
			}
		}
	}
	cloud.mu.Lock()
	defer cloud.mu.Unlock()
	if late := a.Ended.Sub(cloud.over); cloud.over.IsZero() || late < -6*time.Second || late > time.Minute {
		t.Errorf("it ended at %s, in the cloud at %s", a.Ended, cloud.over)
	}
	told, phases := map[string]record.Node{}, 0
	for _, n := range a.Nodes {
		told[n.Name] = n
	}
	for name, q := range cloud.nodes {
		n := told[name]
		if len(n.Maintenance) == 0 && !management {
			continue // nobody saw it, and nothing tells of it
		}
		if len(n.Maintenance) != 1 {
			t.Errorf("%s: %d times in maintenance: %+v", n.Label, len(n.Maintenance), n.Maintenance)
			continue
		}
		agrees(t, n, q, management)
		for _, a := range away {
			if !management || q.began.Before(a.from) || q.ended.After(a.to) {
				continue
			}
			var stages []string // nobody saw anything of it
			for _, s := range n.Stages {
				if s.Reconstructed != "" {
					stages = append(stages, s.Stage)
				}
			}
			for _, want := range []core.Stage{core.StageQueued, core.StageReleased, core.StageUpdating, core.StageRebooting, core.StageDone} {
				if !slices.Contains(stages, string(want)) {
					t.Errorf("%s went through while nobody looked, and that it was %s is not told: %q", n.Label, want, stages)
				}
			}
		}
	}
	for _, p := range a.Phases {
		var began, ended record.Time
		for _, st := range a.Plan.Parts {
			if st.Phase == p.Number {
				began, ended = st.Began, st.Ended
			}
		}
		if !p.Reconstructed {
			continue
		}
		if p.Ended.Sub(ended.Time).Abs() > 6*time.Second || p.Began.Sub(began.Time).Abs() > time.Minute || !p.Exact {
			t.Errorf("phase %d is told from %s to %s, the plan has %s to %s", p.Number, p.Began, p.Ended, began, ended)
		}
		phases++
	}
	if history[1] > 20*time.Minute && phases == 0 {
		t.Error("no phase was reconstructed, and nobody saw the last two")
	}
	seen := map[string]int{}
	if _, err := engine.ReadJournalLines(st.s.Journal.Path(), func(l engine.JournalLine) {
		var is time.Time // by an API
		switch {
		case l.Kind == engine.RecordRound && l.Round.Ended.IsZero():
			is = l.Round.Started
		case l.Kind == engine.RecordMove:
			is = l.Move.Ended
		}
		if late := l.At.Sub(is); !is.IsZero() && late > time.Minute {
			t.Errorf("line %d is told %s after what it tells: %s", l.Line, late, l.Says())
		}
		if l.Reconstructed != "" {
			seen[fmt.Sprint(l.Kind, " ", l.Node, " ", l.PlanStep, " ", l.To, " ", l.At)]++
		}
	}); err != nil {
		t.Fatal(err)
	}
	for line, n := range seen {
		if n > 1 {
			t.Errorf("told %d times: %s", n, line)
		}
	}
}

// agrees compares what is told of a node with what the cloud has.
func agrees(t *testing.T, n record.Node, q *recordedNode, management bool) {
	t.Helper()
	const lag = 6 * time.Second // from the server to the journal; the API's times are in whole seconds
	near := func(what string, told record.Time, is time.Time) {
		t.Helper()
		if d := told.Sub(is); d < -time.Second || d > lag {
			t.Errorf("%s: %s at %s, the cloud has %s; stages %+v", n.Label, what, told, is, n.Stages)
		}
	}
	m := n.Maintenance[0]
	if !m.Began.Equal(q.began) && !m.Reconstructed {
		t.Errorf("%s began at %s, the cloud has %s", n.Label, m.Began, q.began)
	}
	near("it began", m.Began, q.began)
	switch {
	case m.EndSeen || m.Reconstructed:
		near("it ended", m.Ended, q.ended)
	case !management: // it is an upper bound
		if m.Ended.Before(q.ended) {
			t.Errorf("%s ended by %s, the cloud has %s", n.Label, m.Ended, q.ended)
		}
	default:
		t.Errorf("%s: its end is not known, and LCM tells it: %+v", n.Label, m)
	}
	order := []core.Stage{core.StageIdle, core.StageQueued, core.StagePreparing, core.StageEvacuating, core.StageReleased, core.StageDraining,
		core.StageUpdating, core.StageRebooting, core.StageReturning, core.StageDone}
	last := record.Stage{}
	for i, s := range n.Stages {
		if i+1 == len(n.Stages) && s.Stage == string(core.StageIdle) && last.Stage == string(core.StageDone) {
			break // the update is over
		}
		was, is := slices.Index(order, core.Stage(last.Stage)), slices.Index(order, core.Stage(s.Stage))
		toAndFro := last.Stage == string(core.StageRebooting) && s.Stage == string(core.StageUpdating)
		seen := s.Reconstructed == "" && last.Reconstructed == "" // other controllers can still prepare what the first one has left
		if s.Began.Before(last.Began.Time) || is == was || is < was && !toAndFro && !seen {
			t.Errorf("%s: %s at %s comes after %s at %s", n.Label, s.Stage, s.Began, last.Stage, last.Began)
		}
		last = s
		if s.Reconstructed == "" {
			continue
		}
		switch core.Stage(s.Stage) {
		case core.StageQueued:
			near("queued", s.Began, q.began)
		case core.StageReleased:
			near("released", s.Began, q.released)
		case core.StageDone:
			near("done", s.Began, q.ended)
		}
		if s.Began.Before(q.began) || s.Began.Sub(q.ended) > lag {
			t.Errorf("%s: %s at %s is not in its maintenance, %s to %s", n.Label, s.Stage, s.Began, q.began, q.ended)
		}
	}
	if last.Stage != string(core.StageDone) {
		t.Errorf("%s is %s at last: %+v", n.Label, last.Stage, n.Stages)
	}
}
