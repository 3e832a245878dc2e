package progress

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// An update that is over has finished all its nodes, whatever their stages show without a request to compare with.
func TestDoneOfAnUpdate(t *testing.T) {
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		want  int // of 7 nodes
	}{
		{"no update was ever seen", func(sc scene.Scene) {}, 0},
		{"an update begins", func(sc scene.Scene) { sc.Update(time.Minute) }, 0},
		{"two are through", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			for _, node := range []string{"ctl-01", "cmp-02"} {
				sc.History.Rounds["uid-"+node] = core.Round{Update: "cmr", Started: scene.Ago(2 * time.Hour), Ended: scene.Ago(time.Hour)}
			}
		}, 2},
		{"the update is over", func(sc scene.Scene) {
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(6 * time.Hour), Ended: scene.Ago(time.Hour)}
		}, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			if u := Update(sc.Snapshot); u.Done != tt.want || u.Nodes != 7 {
				t.Errorf("%d of %d nodes done, want %d of 7", u.Done, u.Nodes, tt.want)
			}
		})
	}
}

// The nodes that go on and those that wait are the update's: a lock that was left inactive is not (docs/mosk.md#left-over-locks).
func TestNodesOfAnUpdateThatWait(t *testing.T) {
	sc := scene.Left()
	sc.Update(5 * time.Hour)
	sc.Mode("cmp-02", core.ModeManual)
	sc.Maintained("cmp-02", scene.StillPresent)
	sc.Instance("cmp-02", "web-1")
	sc.Maintained("cmp-03", "")
	if u := Update(sc.Snapshot); u.Waiting != 1 || u.Moving != 1 {
		t.Errorf("%d wait and %d go on, want 1 and 1", u.Waiting, u.Moving)
	}
}

func TestReleasesOfAnUpdate(t *testing.T) {
	const old, target = "17.4.0+25.1", "21.0.0+25.2"
	at := func(sc scene.Scene, release string) {
		for _, l := range sc.ClusterLocks {
			l.Release = release
		}
		for _, locks := range sc.NodeLocks.All() {
			for _, l := range locks {
				l.Release = release
			}
		}
	}
	tests := []struct {
		name     string
		given    func(sc scene.Scene)
		from, to string
	}{
		{"no update", func(sc scene.Scene) {}, "", ""},
		{"locks are at the old release", func(sc scene.Scene) { sc.Update(time.Minute) }, old, target},
		{"one lock of a node still is", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			sc.NodeLocks.At("cmp-03")[0].Release = old
		}, old, target},
		{"all locks are at the target, and nothing was seen", func(sc scene.Scene) { sc.Update(time.Hour); at(sc, target) }, "", target},
		{"all locks are at the target, and the beginning was seen", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			sc.History.Update = core.UpdateRecord{UID: "cmr", From: old, Release: target}
		}, old, target},
		{"what was seen of another update does not count", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			sc.History.Update = core.UpdateRecord{UID: "another", From: "16.0.0", Release: old}
		}, "", target},
		{"the request leaves away what comes after the plus", func(sc scene.Scene) {
			sc.Update(time.Hour).Release = "21.0.0"
			at(sc, target)
		}, "", "21.0.0"},
		{"what another controller writes there is its own matter", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			sc.ClusterLocks[1].Release = "v19.2.3"
		}, "", target},
		{"only the nodes' requests say the target", func(sc scene.Scene) {
			sc.Update(time.Hour).Release = ""
			sc.Request("cmp-01", time.Minute)
		}, old, target},
		{"nothing says the target", func(sc scene.Scene) { sc.Update(time.Hour).Release = "" }, "", ""},
		{"all locks are at the target, and the update plan says it", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			m := sc.Managed()
			m.Planned(2)
			m.Join()
		}, old, target},
		{"all locks are at the target, and the Cluster says it", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			m := sc.Managed()
			m.Cluster.Target = "mosk-21-0-0-25-2"
			m.Join()
		}, old, target},
		{"a plan that leads to another release says nothing", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			m := sc.Managed()
			m.Planned(2).Target = "mosk-21-1-0-26-1"
			m.Join()
		}, "", target},
		{"a plan that has not begun says nothing", func(sc scene.Scene) {
			sc.Update(time.Hour)
			at(sc, target)
			m := sc.Managed()
			plan := m.Planned(0)
			plan.Status, plan.Started = core.PlanNotStarted, time.Time{}
			m.Join()
		}, "", target},
		{"over", func(sc scene.Scene) {
			at(sc, target)
			sc.History.Update = core.UpdateRecord{UID: "cmr", From: old, Release: target, Started: scene.Ago(5 * time.Hour),
				Ended: scene.Ago(time.Minute)}
		}, old, target},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			if u := Update(sc.Snapshot); u.From != tt.from || u.To != tt.to {
				t.Errorf("%q → %q, want %q → %q", u.From, u.To, tt.from, tt.to)
			}
		})
	}
}

func TestAClusterReleaseAsLocksNameIt(t *testing.T) {
	for name, want := range map[string]string{"mosk-21-0-0-25-2": "21.0.0+25.2", "mosk-17-4-0-25-1-2": "17.4.0+25.1.2", "": "",
		"mosk-8-5-0-rc-22-1": "mosk-8-5-0-rc-22-1", "mke-16-0-0": "mke-16-0-0", "21.0.0+25.2": "21.0.0+25.2"} {
		if got := ReleaseOf(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// The header shows the first phase that is not done, and the last phase when all are done.
func TestPhaseOfAnUpdate(t *testing.T) {
	tests := []struct {
		name    string
		given   func(sc scene.Scene)
		want    core.PhaseID
		running bool
	}{
		{"no update", func(sc scene.Scene) {}, core.PhaseTrigger, false},
		{"services", func(sc scene.Scene) { sc.Update(time.Minute) }, core.PhaseServices, true},
		{"between services and nodes", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = core.LockInactive, core.LockInactive
		}, core.PhaseServices, true},
		{"workers, and Lockstep came late", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = core.LockInactive, core.LockInactive
			sc.Maintained("cmp-01", "")
		}, core.PhaseWorkers, true},
		{"over", func(sc scene.Scene) {
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(5 * time.Hour), Ended: scene.Ago(time.Minute)}
		}, core.PhaseFinish, false},
		{"not known", func(sc scene.Scene) { sc.Source(core.SourceClusterRequests, core.SourceAbsent) }, core.PhaseTrigger, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			if u := Update(sc.Snapshot); u.Known != (tt.name != "not known") {
				t.Errorf("known %v", u.Known)
			}
			if u := Update(sc.Snapshot); u.Phase.ID != tt.want || u.Running != tt.running {
				t.Errorf("phase %d, running %v; want %d, %v", u.Phase.ID, u.Running, tt.want, tt.running)
			}
		})
	}
}

// The last phase is open until every cluster lock is active again, and then over for good: later locks are given for a reboot, or by hand.
func TestTheLastPhaseIsOverForGood(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		want  core.PhaseState
	}{
		"its locks are not back": {func(scene.Scene) {}, core.PhaseRunning},
		"they were back": {func(sc scene.Scene) {
			sc.History.Phases = map[core.PhaseID]core.PhaseRecord{
				core.PhaseFinish: {Ended: core.Since{At: scene.Ago(time.Hour), Exact: true}}}
		}, core.PhaseDone},
		"the cluster is asked for by hand": {func(sc scene.Scene) {
			sc.ClusterRequests = append(sc.ClusterRequests, &core.MaintenanceRequest{Kind: core.KindClusterMaintenanceRequest,
				MadeBy: core.MadeByLockstep, Meta: core.Meta{Name: "mos", UID: "by-hand", Created: scene.Ago(time.Minute)}})
		}, core.PhaseDone},
	} {
		sc := scene.Over()
		sc.Lock("", core.ControllerOpenStack, core.LockInactive)
		tt.given(sc)
		for _, p := range Phases(sc.Again().Snapshot) {
			if p.ID == core.PhaseFinish && p.State != tt.want {
				t.Errorf("%s: it is %s, %v", name, p.State, p.Evidence)
			}
		}
	}
}
