package forecast

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
)

// The pace is that of the rounds that were seen, with the time that passed between them: ten minutes once, and none
// (docs/mosk.md#timers: an estimate by history).
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
		held  string        // a part of what it is held up by
	}{
		{"a maintenance that nobody saw end is no pace", func(sc scene.Scene) {
			masters(sc)
			for uid, r := range sc.History.Rounds {
				r.EndUnseen = true
				sc.History.Rounds[uid] = r
			}
		}, 0, ""},
		{"six hours without Lockstep are not learned", func(sc scene.Scene) {
			masters(sc)
			round(sc, "cmp-01", 400*time.Minute, 360*time.Minute)
			r := sc.History.Rounds["uid-cmp-01"]
			r.EndUnseen = true
			sc.History.Rounds["uid-cmp-01"] = r
		}, (3*30 + 2*5) * time.Minute, ""},
		{"a node waits for the operator", func(sc scene.Scene) {
			masters(sc)
			sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Instance("cmp-01", "web-1")
		}, (4*30 - 20 + 3*5) * time.Minute, "cmp-01: "},
		{"an alert holds the plan", func(sc scene.Scene) {
			masters(sc)
			sc.Management = &core.Management{Found: true, Pause: &core.AutoPause{Firing: []string{"KubeletDown"}},
				Plans: []*core.UpdatePlan{{Status: core.PlanInProgress, Started: scene.Ago(time.Hour),
					Steps: []core.PlanStep{{ID: core.PlanStepWorkers + "default", Status: core.PlanAutoPaused, Started: scene.Ago(time.Hour)}}}}}
		}, (4*30 + 3*5) * time.Minute, "auto-pause: KubeletDown"},
		{"an earlier update's pace stays as this one's nodes are through", func(sc scene.Scene) {
			masters(sc)
			for _, name := range []string{"cmp-01", "cmp-02", "cmp-03"} {
				sc.History.Earlier["uid-"+name] = core.Round{Update: "last", Started: scene.Ago(240 * time.Hour),
					Ended: scene.Ago(240*time.Hour - 50*time.Minute)}
			}
			round(sc, "gtw-01", 60*time.Minute, 25*time.Minute) // the only worker that is through
		}, (3*50 + 2*10) * time.Minute, ""},
		{"one round is no pace", func(sc scene.Scene) { round(sc, "ctl-01", 180*time.Minute, 20*time.Minute) }, 0, ""},
		{"rounds so far apart that the end says nothing", func(sc scene.Scene) {
			masters(sc)
			round(sc, "ctl-01", 180*time.Minute, 5*time.Minute)
			round(sc, "ctl-03", 120*time.Minute, 100*time.Minute)
		}, 0, ""},
		{"rounds of another update", func(sc scene.Scene) {
			masters(sc)
			sc.ClusterRequests[0].UID = "another"
		}, 0, ""},
		{"workers at the masters' pace, while there is none of their own", masters, (4*30 + 3*5) * time.Minute, ""},
		{"what the node in maintenance has behind it", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "") // for 20 minutes
		}, (4*30 - 20 + 3*5) * time.Minute, ""},
		{"a node that takes longer than the others takes a whole round at most", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "")
			sc.NodeRequests["cmp-01"][0].Created = scene.Ago(5 * time.Hour)
		}, (3*30 + 2*5) * time.Minute, "overdue: cmp-01"},
		{"a node that is queued has nothing behind it", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "").InnerState = core.InnerInactive
		}, (4*30 + 3*5) * time.Minute, ""},
		{"workers at their own pace, a gateway by the documents' 40 of 60", func(sc scene.Scene) {
			masters(sc)
			round(sc, "cmp-01", 80*time.Minute, 40*time.Minute)
			round(sc, "cmp-02", 40*time.Minute, 40*time.Minute-time.Second)
		}, 40*time.Minute + 40*time.Minute*2/3, ""},
		{"two at a time", func(sc scene.Scene) {
			masters(sc)
			round(sc, "cmp-01", 80*time.Minute, 40*time.Minute)
			round(sc, "cmp-02", 80*time.Minute, 40*time.Minute)
		}, 2 * 40 * time.Minute / 2, ""},
		{"one at a time until now, and two at a time from now on", func(sc scene.Scene) {
			masters(sc)
			sc.Maintained("cmp-01", "")
			sc.Maintained("cmp-02", "")
		}, (4*30-2*20)*time.Minute/2 + 5*time.Minute, ""},
		{"nodes that were through before Lockstep came", func(sc scene.Scene) {
			for _, name := range []string{"ctl-01", "ctl-02", "ctl-03", "cmp-01"} {
				sc.Nodes[name].KubeletVersion, sc.Nodes[name].ReadySince = "v1.31.9", scene.Ago(time.Hour)
			}
			round(sc, "cmp-02", 60*time.Minute, 30*time.Minute)
			round(sc, "cmp-03", 30*time.Minute, 30*time.Minute-time.Second)
		}, 30 * time.Minute * 2 / 3, ""},
		{"no node is left", func(sc scene.Scene) {
			masters(sc)
			for _, name := range []string{"cmp-01", "cmp-02", "cmp-03", "gtw-01"} {
				round(sc, name, 60*time.Minute, 40*time.Minute)
			}
		}, 0, ""},
		{"the update is over", func(sc scene.Scene) {
			masters(sc)
			sc.ClusterRequests = nil
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(5 * time.Hour), Ended: scene.Ago(time.Minute)}
		}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Update(5 * time.Hour)
			tt.given(sc)
			end := Finish(sc.Snapshot)
			toldInWords(t, sc.Snapshot, end)
			if tt.want == 0 {
				if end.Held = ""; end != (End{}) { // why it is held up needs no forecast
					t.Errorf("%+v, want none", end)
				}
				return
			}
			if off := end.At.Sub(scene.Noon.Add(tt.want)); off.Abs() > 2*time.Second || (end.Spread > 0) != (end.Held == "") {
				t.Errorf("%+v, want %v", end, scene.Noon.Add(tt.want))
			}
			if !strings.Contains(end.Held, tt.held) || tt.held == "" && end.Held != "" {
				t.Errorf("it is held up by %q, want %q", end.Held, tt.held)
			}
		})
	}
}

// In words the end is that of Finish; where there is none, it is said why, and what the documents' numbers come to stands beside it.
func toldInWords(t *testing.T, s *core.Snapshot, end End) {
	t.Helper()
	text := EndText(s)
	want := "nodes done about "
	switch {
	case Of(s).Whole.At.IsZero():
		want = ""
	case end.At.IsZero():
		want = "not known"
	case end.Held != "":
		want = "nodes done at best "
	}
	if want == "" && text != "" || !strings.HasPrefix(text, want) || !strings.Contains(text, end.Held) {
		t.Errorf("the end is told as %q, want %q, %q", text, want, end.Held)
	}
}

// Without a pace the reader learns that there is none, and how much of the end rests on the documents alone.
func TestTheEndWithoutAPaceIsTold(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(5 * time.Hour)
	sc.History.Rounds["uid-ctl-01"] = core.Round{Update: "cmr", Started: scene.Ago(60 * time.Minute), Ended: scene.Ago(40 * time.Minute)}
	text := EndText(sc.Snapshot)
	for _, want := range []string{"not known yet: two nodes that are through make a pace; by what is known now about ",
		" by documents or plan"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
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
		a, b := Of(sc.Snapshot), Of(sc.Again().Snapshot)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v, and %+v", a, b)
		}
		if end := Finish(sc.Snapshot); !end.At.IsZero() && (end.At.Before(scene.Noon) || (end.Spread > 0) != (end.Held == "")) {
			t.Fatalf("%+v", end)
		}
	})
}

// Computes tell little of a gateway or a storage node, which has no instances to move: its length is scaled by the documents, and its
// spread is wide until two of its own are through.
func TestAKindThatWasNotSeenHasAWideSpread(t *testing.T) {
	sc := scene.NewScene()
	sc.Update(10 * time.Hour).UID = "cmr"
	for _, name := range []string{"cmp-01", "cmp-02", "cmp-03", "gtw-01", "gtw-02"} {
		sc.Node(name, map[bool]core.Role{true: core.RoleGateway, false: core.RoleCompute}[strings.HasPrefix(name, "gtw")])
	}
	sc.History.Rounds = map[string]core.Round{}
	round := func(node string, begun time.Duration, took time.Duration) {
		sc.History.Rounds[sc.Nodes[node].UID] = core.Round{Request: "was-" + node, Update: "cmr", Started: scene.Ago(begun),
			Ended: scene.Ago(begun - took)}
	}
	round("cmp-01", 5*time.Hour, 30*time.Minute)
	round("cmp-02", 4*time.Hour, 30*time.Minute)
	gateway, compute := sc.Nodes["gtw-01"], sc.Nodes["cmp-03"]
	p := paceOf(sc.CopyFacts())
	if l := p.length(compute); l.Usual != 30*time.Minute || l.Spread != 3*time.Minute {
		t.Errorf("a compute by computes takes %v ± %v", l.Usual, l.Spread)
	}
	if l := p.length(gateway); l.Usual != 20*time.Minute || l.Spread != 20*time.Minute/3 {
		t.Errorf("a gateway by computes takes %v ± %v", l.Usual, l.Spread)
	}
	round("gtw-01", 3*time.Hour, 10*time.Minute)
	if l := paceOf(sc.CopyFacts()).length(gateway); l.Usual != 10*time.Minute || l.Spread < 10*time.Minute/3 {
		t.Errorf("a gateway by the only one that is through takes %v ± %v", l.Usual, l.Spread)
	}
	round("gtw-02", 2*time.Hour, 10*time.Minute)
	if l := paceOf(sc.CopyFacts()).length(gateway); l.Usual != 10*time.Minute || l.Spread != time.Minute {
		t.Errorf("a gateway by gateways takes %v ± %v", l.Usual, l.Spread)
	}
}

// A gateway in maintenance keeps the OpenStack controller from beginning any other node. A node with storage alone has no lock of it, and
// waits for a place only. What a part says of "each node" is what most of its nodes take.
func TestANodeWithoutALockOfOpenStackWaitsForNoLimitOfIt(t *testing.T) {
	sc := scene.NewScene()
	sc.Update(10 * time.Hour).UID = "cmr"
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	sc.Node("cmp-01", core.RoleCompute)
	sc.Node("cmp-02", core.RoleCompute)
	sc.Node("cmp-03", core.RoleCompute)
	sc.Node("cmp-04", core.RoleCompute)
	sc.Node("cmp-05", core.RoleCompute)
	sc.Node("gtw-01", core.RoleGateway)
	sc.Node("bak-01", core.RoleStorage)
	sc.History.Update.UID, sc.History.Rounds = "cmr", map[string]core.Round{}
	for i, name := range []string{"cmp-01", "cmp-02"} { // two at a time
		at := time.Duration(60+i) * time.Minute
		sc.History.Rounds[sc.Nodes[name].UID] = core.Round{Request: "was-" + name, Update: "cmr", Started: scene.Ago(at),
			Ended: scene.Ago(at - 30*time.Minute)}
	}
	sc.Settings.MaxParallelNodes = map[core.Role]int{core.RoleGateway: 1}
	sc.Maintained("gtw-01", "") // for 20 minutes
	sc.NodeRequests["gtw-01"][0].Created = scene.Ago(time.Minute)
	sc.Maintained("cmp-03", "")
	sc.NodeRequests["cmp-03"][0].Created = scene.Ago(29 * time.Minute)
	start := map[string]time.Duration{}
	for _, n := range Nodes(sc.Snapshot) {
		start[n.Node] = n.Start.At.Sub(sc.Now)
	}
	if start["bak-01"] >= 15*time.Minute || start["cmp-04"] < 15*time.Minute {
		t.Errorf("the gateway goes on for about 19 minutes; bak-01 begins in %v, cmp-04 in %v", start["bak-01"], start["cmp-04"])
	}
	for _, p := range Of(sc.Snapshot).Parts {
		if p.Phase == core.PhaseWorkers && p.Length.Usual != 30*time.Minute {
			t.Errorf("each node takes %v", p.Length.Usual)
		}
	}
}

// A node goes on only with the operator where an instance on it will hold it and nobody else may move that, in whatever mode the node is.
func TestWhatWaitsForTheOperatorNowOrWhenItsTurnComes(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		waits bool
	}{
		"in mode live":             {func(scene.Scene) {}, false},
		"in mode manual":           {func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeManual) }, true},
		"its owner is to be asked": {func(sc scene.Scene) { sc.Instance("cmp-01", "batch-17", "notify") }, true},
		"in ERROR":                 {func(sc scene.Scene) { sc.Instance("cmp-01", "broken").Status = "ERROR" }, true},
		"in mode skip":             {func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeSkip) }, false},
		"released": {func(sc scene.Scene) {
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
		}, false},
	} {
		sc := scene.Healthy()
		sc.Update(time.Hour)
		tt.given(sc)
		if got := Waits(sc.Again().Snapshot, "cmp-01"); got != tt.waits {
			t.Errorf("%s: it waits %t", name, got)
		}
	}
}
