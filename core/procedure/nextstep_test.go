package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// through is a cluster with a node that has finished its maintenance in the update that still runs.
func through(change func(sc scene.Scene)) scene.Scene {
	sc := scene.Healthy()
	sc.Update(2 * time.Hour)
	n := sc.Nodes["cmp-01"]
	sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(2 * time.Hour)}
	sc.History.Rounds[n.UID] = core.Round{Request: "was", Update: "cmr", Started: scene.Ago(time.Hour), Ended: scene.Ago(20 * time.Minute)}
	change(sc)
	return sc.Again()
}

// comesNext is the kind of the next step on a page; empty when there is none.
func comesNext(t *testing.T, s *core.Snapshot, key core.ProcedureKey) core.IntentKind {
	t.Helper()
	p, ok := Of(s, key)
	if !ok {
		t.Fatalf("there is no procedure %v", key)
	}
	st, _ := p.Next()
	return st.Intent.Kind
}

// Steps that nobody asked for, and steps that undo what was done, are offered but never come next.
func TestWhatNobodyAskedForIsNeverNext(t *testing.T) {
	node := core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"}
	cluster, after := core.ProcedureKey{Kind: core.ProcedureCluster}, core.ProcedureKey{Kind: core.ProcedureAfter}
	for _, tt := range []struct {
		name    string
		scene   scene.Scene
		key     core.ProcedureKey
		offered core.IntentKind // and it is ready
		next    core.IntentKind
	}{
		{"a node that is through is not taken out again", through(func(scene.Scene) {}), node, core.IntentDisableCompute, ""},
		{"what the maintenance left disabled is put back", through(func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
		}), node, core.IntentEnableCompute, core.IntentEnableCompute},
		{"what somebody disabled for a reason of their own is not", through(func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken disk"
		}), node, core.IntentEnableCompute, ""},
		{"the mode of a node that is through is given back", through(func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Changed("cmp-01", "", "manual")
		}), node, core.IntentRestoreMode, core.IntentRestoreMode},
		{"the mode of a node whose turn comes is not", func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(time.Hour)
			sc.Mode("cmp-01", core.ModeManual)
			sc.Changed("cmp-01", "", "manual")
			return sc.Again()
		}(), node, core.IntentRestoreMode, ""},
		{"before its turn no mode comes next", scene.Healthy().Again(), node, core.IntentSetMode, ""},
		{"nobody asks for the cluster", scene.Healthy().Again(), cluster, core.IntentAskCluster, ""},
		{"what was asked by hand is not taken back at once", func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(time.Minute).MadeBy = core.MadeByLockstep
			return sc.Again()
		}(), cluster, core.IntentWithdraw, ""},
		{"after the update Tempest is offered", func() scene.Scene {
			sc := scene.Over()
			sc.Deployments = []*core.OpenStackDeployment{{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh-dev", UID: "osdpl"},
				Services: []string{"compute"}}}
			return sc.Again()
		}(), after, core.IntentAddTempest, ""},
		{"a machine is neither rebooted nor put into maintenance mode", scene.Resting().Join(), node, core.IntentReboot, ""},
		{"in the cluster's maintenance mode machines follow", scene.Resting().InMode().Join(), node, core.IntentEnterMachine,
			core.IntentEnterMachine},
		{"a machine that is in maintenance mode is taken out", scene.Resting().InMode("cmp-01").Join(), node, core.IntentLeaveMachine,
			core.IntentLeaveMachine},
		{"the cluster does not leave maintenance mode before a machine was worked on", scene.Resting().InMode().Join(),
			core.ProcedureKey{Kind: core.ProcedureMaintenance}, core.IntentLeaveCluster, ""},
		{"while an update runs nothing of what is left comes next", through(func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Changed("cmp-01", "", "manual")
		}), after, core.IntentRestoreMode, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := Of(tt.scene.Snapshot, tt.key)
			if !ok {
				t.Fatal("there is no such procedure")
			}
			if !slices.ContainsFunc(p.Steps, func(s core.Step) bool { return s.Intent.Kind == tt.offered && s.State == core.StepReady }) {
				t.Errorf("%s is not ready:\n%v", tt.offered, scene.Outline(p))
			}
			if got := comesNext(t, tt.scene.Snapshot, tt.key); got != tt.next {
				t.Errorf("%q comes next, want %q:\n%v", got, tt.next, scene.Outline(p))
			}
		})
	}
}

// An instance that is in nobody's way has no next step, whatever is possible with it; for one that holds its node, the best way
// comes next.
func TestNothingIsToBeDoneWithAnInstanceInNobodysWay(t *testing.T) {
	calm, held := scene.Healthy().Again(), scene.InMaintenance().Again()
	for name, tt := range map[string]struct {
		scene scene.Scene
		next  core.IntentKind
	}{"calm": {calm, ""}, "it holds its node": {held, core.IntentLiveMigrate}} {
		key := core.ProcedureKey{Kind: core.ProcedureInstance, Subject: tt.scene.Named("web-1").ID}
		if got := comesNext(t, tt.scene.Snapshot, key); got != tt.next {
			t.Errorf("%s: %q comes next, want %q", name, got, tt.next)
		}
	}
	moving := scene.InMaintenance()
	moving.Migrates("web-1")
	if got := comesNext(t, moving.Again().Snapshot,
		core.ProcedureKey{Kind: core.ProcedureInstance, Subject: moving.Named("web-1").ID}); got != "" {
		t.Errorf("it moves, and %q comes next", got)
	}
}

// The controller fails on a request without a scope before it looks at any instance: to move one mends nothing, and nobody is going to move
// it. The step that is left is the scope.
func TestARequestWithoutAScopeIsMendedFirst(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "").InnerState = core.InnerActive
	sc.NodeRequest("cmp-01").Scope = ""
	s := sc.Again().Snapshot
	p, _ := Of(s, scene.OfNode("cmp-01"))
	scoped := false
	for _, st := range p.Steps {
		scoped = scoped || strings.HasPrefix(st.ID, "scope/") && len(st.Commands) == 1
		if st.Target.Kind == core.KindInstance && st.State != core.StepLater {
			t.Errorf("a step on an instance is offered: %s", st.Title)
		}
	}
	if !scoped {
		t.Errorf("the scope is no step: %+v", p.Steps)
	}
	for _, v := range progress.InstanceViews(s, "cmp-01") {
		if !strings.Contains(v.Why, "nothing moves it: the request of its node has no scope") {
			t.Errorf("%s: %s", v.Instance.Name, v.Why)
		}
	}
}
