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
	"lockstep/sim/bubble/lane"
)

// large is an Engine that has taken in 2,000 nodes with their machines, twenty of them in maintenance, and 100,000 instances.
type large struct {
	scene  *scene.Managed
	engine *Engine
	now    time.Time // only next and pass move it on
}

func newLarge(t testing.TB) *large {
	t.Helper()
	l := &large{scene: scene.Fleet(2000, 50).Managed(), now: scene.Noon}
	l.engine = New(Config{Cluster: l.scene.Scene.Cluster, Operator: l.scene.Operator, Wall: func() time.Time { return l.now },
		Settings: l.scene.Settings, Barred: "a test of costs"})
	facts := l.scene.Objects()
	for _, name := range l.scene.NodeNames() {
		facts[core.SourceMachines] = append(facts[core.SourceMachines], l.scene.Machines[name])
		facts[core.SourceLCMMachines] = append(facts[core.SourceLCMMachines], l.scene.Agents[name])
	}
	facts[core.SourceClusters] = []core.Object{l.scene.Cluster}
	facts[core.SourceLCMClusters] = []core.Object{l.scene.Lcm}
	for id := range l.scene.Sources {
		l.engine.take(core.Delta{Source: id, At: l.now, State: core.SourceLive, Replace: true, Upserts: facts[id]})
	}
	for range 3 { // what History has to note of the first sight is noted
		l.next()
	}
	return l
}

func (l *large) take(id core.SourceID, o core.Object) {
	l.engine.take(core.Delta{Source: id, At: l.now, Upserts: []core.Object{o}})
}

// next makes a Snapshot and all that a screen shows of it.
func (l *large) next() *core.Snapshot {
	l.now = l.now.Add(core.Beat)
	return l.shown()
}

// pass lets time pass in which nothing comes. A Snapshot is made each second.
func (l *large) pass(d time.Duration) {
	for ; d > 0; d -= tickEvery {
		l.now = l.now.Add(tickEvery)
		l.shown()
	}
}

func (l *large) shown() *core.Snapshot {
	l.engine.publish()
	s := l.engine.Snapshot()
	attention.List(s)
	progress.Update(s)
	forecast.Of(s)
	return s
}

// What a change costs is what depends on it, whatever the size of the cluster. Time depends on the machine; bytes do not.
func TestAChangeCostsWhatDependsOnIt(t *testing.T) {
	lane.Single(t)
	l := newLarge(t)
	sc := l.scene
	names := sc.NodeNames()
	quiet, tagged := *sc.Nodes[names[len(names)-1]], *sc.ByHost[names[len(names)-1]][0]
	lock, ceph := *sc.NodeLock(scene.Maintained, core.ControllerOpenStack), *sc.NodeLock(scene.Maintained, core.ControllerCeph)
	for _, tt := range []struct {
		change  string
		kilo    uint64 // bytes that are allowed, in thousands: what was measured and a third more
		changed func(i int)
	}{
		{"nothing", 40, func(int) {}},
		{"nothing, for a second", 40, func(int) { l.now = l.now.Add(tickEvery - core.Beat) }},
		{"the text of a lock", 470, func(i int) {
			moving := lock
			moving.Message = "Starting migration for " + strconv.Itoa(i)
			l.take(core.SourceNodeLocks, &moving)
		}},
		{"the state of a lock", 390, func(i int) {
			moving := ceph
			moving.RawState = []core.LockState{core.LockActive, core.LockInactive}[i%2]
			l.take(core.SourceNodeLocks, &moving)
		}},
		{"the mode of a node", 590, func(i int) {
			n := quiet
			n.Annotations = map[string]string{core.AnnotationMigrationMode: []string{"manual", "skip"}[i%2]}
			l.take(core.SourceNodes, &n)
		}},
		{"the tags of an instance", 745, func(i int) {
			in := tagged
			in.Tags = []string{core.TagMaintenanceAction + []string{"notify", "poweroff"}[i%2]}
			l.take(core.SourceInstances, &in)
		}},
		{"the state of a machine", 2750, func(i int) {
			m := *sc.Agents[scene.Maintained]
			m.State = []string{core.LCMDeploy, core.LCMReboot}[i%2]
			l.take(core.SourceLCMMachines, &m)
		}},
		{"each compute service has reported", 40, func(i int) {
			services := make([]core.Object, 0, len(sc.Services))
			for _, svc := range sc.Services {
				s := *svc
				s.Updated = scene.Noon.Add(time.Duration(i) * 10 * time.Second)
				services = append(services, &s)
			}
			l.engine.take(core.Delta{Source: core.SourceComputeServices, At: l.now, State: core.SourceLive, Replace: true, Upserts: services})
		}},
		{"a source is heard again, as a watch is that is opened anew", 40, func(int) {
			l.pass(50 * time.Second)
			l.engine.take(core.Delta{Source: core.SourceVolumes, At: l.now, Touch: true})
		}},
		{"a source is heard again after it was old", 430, func(int) {
			l.pass(70 * time.Second)
			l.engine.take(core.Delta{Source: core.SourceVolumes, At: l.now, Touch: true})
		}},
	} {
		var used []uint64
		for i := range 15 {
			tt.changed(i)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			l.next()
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
