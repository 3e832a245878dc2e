package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/scene"
)

// The Deployment shows how long the OpenStack controller has been away, in this run of Lockstep as in the next. With several
// replicas it shows when the first one was missing, which is not when the last one went.
func TestControllerIsAwaySinceItsDeploymentSaysSo(t *testing.T) {
	tests := map[string]struct {
		replicas, ready int
		since           time.Time
		told            bool
		want            core.Since
	}{
		"one replica":                  {1, 0, scene.Ago(40 * time.Minute), true, core.Since{At: scene.Ago(40 * time.Minute), Exact: true}},
		"it says nothing":              {1, 0, time.Time{}, true, core.Since{}},
		"three replicas":               {3, 0, scene.Ago(40 * time.Minute), true, core.Since{}},
		"one of three is left":         {3, 1, scene.Ago(40 * time.Minute), false, core.Since{}},
		"scaled to nothing on purpose": {0, 0, time.Time{}, false, core.Since{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: tt.replicas, Ready: tt.ready, AwaySince: tt.since}
			told := false
			for _, a := range Of(sc.Snapshot) {
				if a.ID == "controller-away" {
					told = true
					if a.Since != tt.want {
						t.Errorf("away since %+v, want %+v", a.Since, tt.want)
					}
				}
			}
			if told != tt.told {
				t.Errorf("told of it: %t, want %t", told, tt.told)
			}
		})
	}
}

// A controller that is scaled to 0 holds up maintenance requests, and nothing else: if there are any, it is the first entry, with
// the way out.
func TestAControllerScaledToNothingIsToldWhileSomebodyWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		told  bool
	}{
		"nobody asks":                     {func(scene.Scene) {}, false},
		"an update":                       {func(sc scene.Scene) { sc.Update(time.Hour) }, true},
		"a node's request, being removed": {func(sc scene.Scene) { sc.Returning("cmp-01", time.Minute, "") }, true},
		"Lockstep plays it": {func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}}
			tt.given(sc)
			told := false
			for _, a := range Of(sc.Snapshot) {
				if a.ID != "controller-away" {
					continue
				}
				told = true
				if a.Severity != core.SeverityUrgent || !strings.Contains(a.Reason, "scaled to 0") ||
					a.Commands[0] != (core.Command{For: "scale it up", Line: "kubectl -n osh-system scale deployment rockoon --replicas=1",
						Changes: true}) {
					t.Errorf("told is %v: %q, %+v", a.Severity, a.Reason, a.Commands)
				}
			}
			if told != tt.told {
				t.Errorf("told of it: %t, want %t", told, tt.told)
			}
		})
	}
}

// Each drain of a controller's node evicts the OpenStack controller's pod, and it starts elsewhere: nobody is woken for that minute.
func TestAControllerThatStartsElsewhereIsNotUrgent(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replicas int
		since    time.Time
		want     core.Severity
	}{
		{"its pod was evicted a minute ago", 1, scene.Ago(time.Minute), core.SeverityNotice},
		{"it is not back after four minutes", 1, scene.Ago(4 * time.Minute), core.SeverityUrgent},
		{"since when is not known", 1, time.Time{}, core.SeverityUrgent},
		{"it was scaled to 0", 0, scene.Ago(time.Minute), core.SeverityUrgent},
	} {
		sc := scene.Healthy()
		sc.Update(time.Hour)
		sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: tt.replicas, AwaySince: tt.since}
		found := false
		for _, a := range Of(sc.Snapshot) {
			if a.Rule == core.RuleControllerAway {
				if found = true; a.Severity != tt.want {
					t.Errorf("%s: %s: %s, want %s", tt.name, a.Severity, a.Reason, tt.want)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is told", tt.name)
		}
	}
}

// A Node that was deleted stays until the OpenStack controller has seen it. While it is scaled to 0, somebody has to say so, and where
// Lockstep plays it the way on is its step.
func TestANodeThatWasDeletedWaitsForTheController(t *testing.T) {
	sc := scene.NewScene()
	n := sc.Node("cmp-01", core.RoleCompute)
	n.Finalizers = []string{core.FinalizersOfRockoon + "node-finalizer"}
	sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}}
	if all := Of(sc.Snapshot); len(all) > 0 {
		t.Fatalf("nobody deletes anything, and there is %+v", all)
	}
	sc = sc.Again()
	n = new(*n)
	n.Deleting = scene.Ago(time.Minute)
	sc.Nodes = map[string]*core.Node{"cmp-01": n}
	if a, ok := ByID(sc.Snapshot, "controller-away"); !ok || !strings.Contains(a.Detail, "1 Node that was deleted waits for it: cmp-01.") ||
		a.Severity != core.SeverityWarning || len(a.Commands) == 0 {
		t.Errorf("%+v", a)
	}
	sc = sc.Again()
	sc.Settings = scene.PlaysOpenStack()
	sc.Snapshot.Write.Armed = true
	lock := *sc.Lock("cmp-01", core.ControllerOpenStack, core.LockInactive) // LCM has its request, and withdraws it
	for _, played := range []bool{true, false} {
		if sc.Settings = scene.PlaysOpenStack(); !played {
			sc.Settings.ActAs = nil
		}
		for _, a := range Of(sc.Again().Snapshot) {
			if a.Rule == core.RuleLockLeft || strings.Contains(a.Reason, "take it back") {
				t.Errorf("%s is to be taken back though its Node goes: %s", lock.Node, a.Reason)
			}
		}
	}
	sc = sc.Again()
	sc.Settings = scene.PlaysOpenStack()
	r := sc.Request("cmp-01", time.Hour) // which LCM has withdrawn meanwhile, too
	r.Deleting, r.Finalizers = scene.Ago(time.Minute), []string{core.UsualFinalizer}
	st := step.Plan(sc.Snapshot, core.Intent{Kind: core.IntentActLetGo, Controller: core.ControllerOpenStack, Object: r.Ref()})
	if g, unmet := st.Unmet(core.GuardTakenBack); !unmet || g.Remedy != "let the Node go first" {
		t.Errorf("its request: %+v", g)
	}
	for _, a := range Of(sc.Snapshot) {
		if strings.Contains(a.Reason, "let its request go") {
			t.Errorf("the request is to go before the Node: %s", a.Reason)
		}
		if a.Rule != core.RuleAct || !strings.Contains(a.Reason, "its Node was deleted, and waits for you to let it go") {
			continue
		}
		p, _ := procedure.Of(sc.Snapshot, *a.Resolve)
		for _, st := range p.Steps {
			if c, ok := st.Change.(core.RemoveFinalizer); ok && c.Object == n.Ref() && c.Finalizer == n.Finalizers[0] && st.Doable() {
				return
			}
		}
		t.Fatalf("no step lets it go: %+v", p.Steps)
	}
	t.Errorf("nobody is told: %+v", Of(sc.Snapshot))
}
