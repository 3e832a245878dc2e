package progress

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
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

// The pace is that of the rounds that were seen (docs/mosk.md#timers: an estimate by history).
func TestFinishByTheClustersOwnPace(t *testing.T) {
	round := func(sc scene.Scene, node string, begun, took time.Duration) {
		sc.History.Rounds["uid-"+node] = core.Round{Request: "was-" + node, Update: "cmr", Started: scene.Ago(begun),
			Ended: scene.Ago(begun - took)}
	}
	masters := func(sc scene.Scene) {
		round(sc, "ctl-01", 180*time.Minute, 20*time.Minute)
		round(sc, "ctl-02", 150*time.Minute, 30*time.Minute)
		round(sc, "ctl-03", 120*time.Minute, 40*time.Minute)
	}
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		want  time.Duration // from now; 0 when it is unknown
	}{
		{"one round is no pace", func(sc scene.Scene) { round(sc, "ctl-01", 180*time.Minute, 20*time.Minute) }, 0},
		{"rounds so far apart that the end says nothing", func(sc scene.Scene) {
			masters(sc)
			round(sc, "ctl-01", 180*time.Minute, 5*time.Minute)
			round(sc, "ctl-03", 120*time.Minute, 100*time.Minute)
		}, 0},
		{"rounds of another update", func(sc scene.Scene) {
			masters(sc)
			sc.ClusterRequests[0].UID = "another"
		}, 0},
		{"workers at the masters' pace, while there is none of their own", masters, 4 * 30 * time.Minute},
		{"what the node in maintenance has behind it", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "") // for 20 minutes
		}, 4*30*time.Minute - 20*time.Minute},
		{"a node that takes longer than the others takes a whole round at most", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "")
			sc.NodeRequests["cmp-01"][0].Created = scene.Ago(5 * time.Hour)
		}, 3 * 30 * time.Minute},
		{"a node that is queued has nothing behind it", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "").InnerState = core.InnerInactive
		}, 4 * 30 * time.Minute},
		{"workers at their own pace", func(sc scene.Scene) {
			masters(sc)
			round(sc, "cmp-01", 80*time.Minute, 40*time.Minute)
			round(sc, "cmp-02", 40*time.Minute, 40*time.Minute-time.Second)
		}, 2 * 40 * time.Minute},
		{"two at a time", func(sc scene.Scene) {
			masters(sc)
			round(sc, "cmp-01", 80*time.Minute, 40*time.Minute)
			round(sc, "cmp-02", 80*time.Minute, 40*time.Minute)
		}, 2 * 40 * time.Minute / 2},
		{"one at a time until now, and two at a time from now on", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "")
			sc.Maintained("cmp-02", "")
		}, (4*30 - 2*20) * time.Minute / 2},
		{"nodes that were through before Lockstep came", func(sc scene.Scene) {
			for _, name := range []string{"ctl-01", "ctl-02", "ctl-03", "cmp-01"} {
				sc.Nodes[name].KubeletVersion, sc.Nodes[name].ReadySince = "v1.31.9", scene.Ago(time.Hour)
			}
			round(sc, "cmp-02", 60*time.Minute, 30*time.Minute)
			round(sc, "cmp-03", 30*time.Minute, 30*time.Minute-time.Second)
		}, 30 * time.Minute},
		{"no node is left", func(sc scene.Scene) {
			masters(sc)
			for _, name := range []string{"cmp-01", "cmp-02", "cmp-03", "gtw-01"} {
				round(sc, name, 60*time.Minute, 40*time.Minute)
			}
		}, 0},
		{"the update is over", func(sc scene.Scene) {
			masters(sc)
			sc.ClusterRequests = nil
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(5 * time.Hour), Ended: scene.Ago(time.Minute)}
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Update(5 * time.Hour)
			tt.given(sc)
			u := Update(sc.Snapshot)
			if tt.want == 0 {
				if !u.Finish.IsZero() || u.Spread != 0 {
					t.Errorf("finish %v ± %v, want none", u.Finish, u.Spread)
				}
				return
			}
			if off := u.Finish.Sub(scene.Noon.Add(tt.want)); off.Abs() > 2*time.Second || u.Spread <= 0 {
				t.Errorf("finish %v ± %v, want %v", u.Finish, u.Spread, scene.Noon.Add(tt.want))
			}
		})
	}
}

func TestReleasesOfAnUpdate(t *testing.T) {
	const old, target = "17.4.0+25.1", "21.0.0+25.2"
	at := func(sc scene.Scene, release string) {
		for _, l := range sc.ClusterLocks {
			l.Release = release
		}
		for _, locks := range sc.NodeLocks {
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
			sc.NodeLocks["cmp-03"][0].Release = old
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

// The header does not depend on the order in which maps are read.
func TestFinishIsTheSameTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.Healthy()
		sc.Update(10 * time.Hour)
		for name := range sc.Nodes {
			if rapid.Bool().Draw(t, name) {
				begun := rapid.IntRange(61, 500).Draw(t, "begun")
				took := rapid.IntRange(1, 60).Draw(t, "took")
				sc.History.Rounds["uid-"+name] = core.Round{Update: "cmr", Started: scene.Ago(time.Duration(begun) * time.Minute),
					Ended: scene.Ago(time.Duration(begun-took) * time.Minute)}
			}
		}
		a, b := Update(sc.Snapshot), Update(sc.Again().Snapshot)
		if a.Finish != b.Finish || a.Spread != b.Spread {
			t.Fatalf("%v ± %v, and %v ± %v", a.Finish, a.Spread, b.Finish, b.Spread)
		}
		if !a.Finish.IsZero() && (a.Finish.Before(scene.Noon) || a.Spread <= 0) {
			t.Fatalf("%v ± %v", a.Finish, a.Spread)
		}
	})
}
