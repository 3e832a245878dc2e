package engine

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
	"lockstep/core/progress"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// largeEngine is an Engine that has taken in 2,000 nodes, twenty of them in maintenance, and 100,000 instances. Its time goes on with next,
// which makes a Snapshot and all that a screen shows of it.
func largeEngine(t *testing.T) (sc scene.Scene, take func(core.SourceID, core.Object), next func() *core.Snapshot) {
	t.Helper()
	sc = scene.Fleet(2000, 50)
	now := scene.Noon
	e := New(Config{Cluster: sc.Cluster, Operator: sc.Operator, Wall: func() time.Time { return now }, Settings: sc.Settings,
		Barred: "a test of costs"})
	facts := sc.Objects()
	for id := range sc.Sources {
		e.take(core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: facts[id]})
	}
	next = func() *core.Snapshot {
		now = now.Add(publishEvery)
		e.publish()
		s := e.Snapshot()
		attention.Of(s)
		progress.Update(s)
		forecast.Of(s)
		return s
	}
	for range 3 { // what History has to note of the first sight is noted
		next()
	}
	return sc, func(id core.SourceID, o core.Object) {
		e.take(core.Delta{Source: id, At: now, Upserts: []core.Object{o}})
	}, next
}

// What a change costs is what depends on it, whatever the size of the cluster. Time depends on the machine; bytes do not.
func TestAChangeCostsWhatDependsOnIt(t *testing.T) {
	bubble.Single(t)
	sc, take, next := largeEngine(t)
	names := sc.NodeNames()
	quiet, tagged := *sc.Nodes[names[len(names)-1]], *sc.ByHost[names[len(names)-1]][0]
	lock, ceph := *sc.NodeLock(scene.Maintained, core.ControllerOpenStack), *sc.NodeLock(scene.Maintained, core.ControllerCeph)
	for _, tt := range []struct {
		change  string
		kilo    uint64 // bytes that are allowed, in thousands: what was measured and a third more
		changed func(i int)
	}{
		{"nothing", 40, func(int) {}},
		{"the text of a lock", 1700, func(i int) {
			l := lock
			l.Message = "Starting migration for " + strconv.Itoa(i)
			take(core.SourceNodeLocks, &l)
		}},
		{"the state of a lock", 2000, func(i int) {
			l := ceph
			l.RawState = []core.LockState{core.LockActive, core.LockInactive}[i%2]
			take(core.SourceNodeLocks, &l)
		}},
		{"the mode of a node", 1650, func(i int) {
			n := quiet
			n.Annotations = map[string]string{core.AnnotationMigrationMode: []string{"manual", "skip"}[i%2]}
			take(core.SourceNodes, &n)
		}},
		{"the tags of an instance", 1750, func(i int) {
			in := tagged
			in.Tags = []string{core.TagMaintenanceAction + []string{"notify", "poweroff"}[i%2]}
			take(core.SourceInstances, &in)
		}},
	} {
		var used []uint64
		for i := range 15 {
			tt.changed(i)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			next()
			runtime.ReadMemStats(&after)
			used = append(used, (after.TotalAlloc-before.TotalAlloc)/1000)
		}
		slices.Sort(used)
		typical := used[len(used)/2] // now and then a map grows, or a time is reached
		t.Logf("%s: %d kB", tt.change, typical)
		if typical > tt.kilo {
			t.Errorf("%s costs %d kB, and %d are allowed", tt.change, typical, tt.kilo)
		}
	}
}
