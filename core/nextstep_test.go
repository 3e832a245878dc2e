package core

import (
	"slices"
	"testing"
	"time"
)

// through is a node that has gone through its maintenance in the update that still runs.
func through(change func(sc scene)) scene {
	sc := healthy()
	sc.update(2 * time.Hour)
	n := sc.Nodes["cmp-01"]
	sc.History.Update = UpdateRecord{UID: "cmr", Started: ago(2 * time.Hour)}
	sc.History.Rounds[n.UID] = Round{Request: "was", Update: "cmr", Started: ago(time.Hour), Ended: ago(20 * time.Minute)}
	change(sc)
	return sc.again()
}

// comesNext is the kind of what comes next on a page; empty when nothing does.
func comesNext(t *testing.T, s *Snapshot, key ProcedureKey) IntentKind {
	t.Helper()
	p, ok := s.Procedure(key)
	if !ok {
		t.Fatalf("there is no procedure %v", key)
	}
	st, _ := p.Next()
	return st.Intent.Kind
}

// What nobody asked for, and what would take back what was done, is offered, and never comes next.
func TestWhatNobodyAskedForIsNeverNext(t *testing.T) {
	node := ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"}
	cluster, after := ProcedureKey{Kind: ProcedureCluster}, ProcedureKey{Kind: ProcedureAfter}
	for _, tt := range []struct {
		name    string
		scene   scene
		key     ProcedureKey
		offered IntentKind // and ready
		next    IntentKind
	}{
		{"a node that is through is not taken out again", through(func(scene) {}), node, IntentDisableCompute, ""},
		{"what the maintenance left disabled is put back", through(func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
		}), node, IntentEnableCompute, IntentEnableCompute},
		{"what somebody disabled for a reason of their own is not", through(func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken disk"
		}), node, IntentEnableCompute, ""},
		{"the mode of a node that is through is given back", through(func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.changed("cmp-01", "", "manual")
		}), node, IntentRestoreMode, IntentRestoreMode},
		{"the mode of a node whose turn comes is not", func() scene {
			sc := healthy()
			sc.update(time.Hour)
			sc.mode("cmp-01", ModeManual)
			sc.changed("cmp-01", "", "manual")
			return sc.again()
		}(), node, IntentRestoreMode, ""},
		{"before its turn no mode comes next", healthy().again(), node, IntentSetMode, ""},
		{"nobody asks for the cluster", healthy().again(), cluster, IntentAskCluster, ""},
		{"what was asked by hand is not taken back at once", func() scene {
			sc := healthy()
			sc.update(time.Minute).MadeBy = MadeByLockstep
			return sc.again()
		}(), cluster, IntentWithdraw, ""},
		{"after the update Tempest is offered", func() scene {
			sc := over()
			sc.Deployments = []*OpenStackDeployment{{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev", UID: "osdpl"}, Services: []string{"compute"}}}
			return sc.again()
		}(), after, IntentAddTempest, ""},
		{"a machine is neither rebooted nor put into maintenance mode", resting().join(), node, IntentReboot, ""},
		{"in the cluster's maintenance mode machines follow", resting().inMode().join(), node, IntentEnterMachine, IntentEnterMachine},
		{"a machine that is in maintenance mode is taken out", resting().inMode("cmp-01").join(), node, IntentLeaveMachine, IntentLeaveMachine},
		{"the cluster does not leave maintenance mode before a machine was worked on", resting().inMode().join(), ProcedureKey{Kind: ProcedureMaintenance}, IntentLeaveCluster, ""},
		{"while an update runs nothing of what is left comes next", through(func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.changed("cmp-01", "", "manual")
		}), after, IntentRestoreMode, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := tt.scene.Procedure(tt.key)
			if !ok {
				t.Fatal("there is no such procedure")
			}
			if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Intent.Kind == tt.offered && s.State == StepReady }) {
				t.Errorf("%s is not ready:\n%v", tt.offered, outline(p))
			}
			if got := comesNext(t, tt.scene.Snapshot, tt.key); got != tt.next {
				t.Errorf("%q comes next, want %q:\n%v", got, tt.next, outline(p))
			}
		})
	}
}

// Of an instance that is in nobody's way nothing comes next, whatever could be done with it; of one that holds its node, the best way.
func TestNothingIsToBeDoneWithAnInstanceInNobodysWay(t *testing.T) {
	calm, held := healthy().again(), inMaintenance().again()
	for name, tt := range map[string]struct {
		scene scene
		next  IntentKind
	}{"calm": {calm, ""}, "it holds its node": {held, IntentLiveMigrate}} {
		key := ProcedureKey{Kind: ProcedureInstance, Subject: tt.scene.named("web-1").ID}
		if got := comesNext(t, tt.scene.Snapshot, key); got != tt.next {
			t.Errorf("%s: %q comes next, want %q", name, got, tt.next)
		}
	}
	moving := inMaintenance()
	moving.migrates("web-1")
	if got := comesNext(t, moving.again().Snapshot, ProcedureKey{Kind: ProcedureInstance, Subject: moving.named("web-1").ID}); got != "" {
		t.Errorf("it moves, and %q comes next", got)
	}
}
