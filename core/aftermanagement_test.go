package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// kindsOf are what the steps of a procedure are about, where they are the operator's.
func kindsOf(p Procedure, _ bool) (out []IntentKind) {
	for _, st := range p.Steps {
		if st.Intent.Kind != "" {
			out = append(out, st.Intent.Kind)
		}
	}
	return out
}

// What the management cluster tells of what an update left is a point each where it is connected, and none where it is not.
func TestPointsOfTheManagementClusterAfterAnUpdate(t *testing.T) {
	m := over().managed()
	if left, ended := m.join().AfterUpdateLeft(); left != 0 || !ended {
		t.Fatalf("%d points are left, ended %v", left, ended)
	}
	if p := pointOf(over().AfterUpdate(), "reboots"); p.ID != "" {
		t.Errorf("without a management cluster: %+v", p)
	}
	for _, tc := range []struct {
		id, says string
		source   SourceID
		leave    func(m *managed) []Object
		steps    []IntentKind
	}{
		{"reboots", "m-cmp-01 (a kernel)", SourceMachines, func(m *managed) []Object {
			m.machines["cmp-01"].Reboot, m.machines["cmp-01"].RebootReason = true, "a kernel"
			return nil
		}, []IntentKind{IntentReboot}},
		{"auto-pause", "mos (OSDDown)", SourceAutoPauses, func(*managed) []Object {
			return []Object{&AutoPause{Meta: Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"OSDDown"}}}
		}, nil},
		{"maintenance-mode", "m-cmp-02", SourceClusters, func(m *managed) []Object { m.machines["cmp-02"].InMaintenance = true; return nil }, []IntentKind{IntentLeaveMachine}},
		{"maintenance-mode", "the cluster", SourceClusters, func(m *managed) []Object { m.inMode(); return nil }, []IntentKind{IntentLeaveCluster}},
	} {
		m := over().managed()
		sc := m.join(tc.leave(m)...)
		if p := pointOf(sc.AfterUpdate(), tc.id); !slices.Equal(p.Open, []string{tc.says}) {
			t.Errorf("%s: %+v, want %q", tc.id, p, tc.says)
		}
		if left, _ := sc.AfterUpdateLeft(); left != 1 {
			t.Errorf("%s: %d points are left, want this one", tc.id, left)
		}
		if got := kindsOf(sc.Procedure(ProcedureKey{Kind: ProcedureAfter})); !slices.Equal(got, append(slices.Clone(tc.steps), IntentAddTempest)) {
			t.Errorf("%s: steps %v, want %v", tc.id, got, tc.steps)
		}
	}
	m = over().managed()
	m.source(SourceAutoPauses, SourceForbidden)
	if p := pointOf(m.join().AfterUpdate(), "auto-pause"); p.Done() || p.Unknown == "" {
		t.Errorf("forbidden: %+v", p)
	}
	m = over().managed()
	m.source(SourceAutoPauses, SourceAbsent)
	if p := pointOf(m.join().AfterUpdate(), "auto-pause"); !p.Done() {
		t.Errorf("a release that has no such kind: %+v", p)
	}
	m = over().managed()
	sc := m.join(&AutoPause{Meta: Meta{Name: "mos", Namespace: "prod"}})
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureAfter})
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "after/auto-pause" })
	if i < 0 || !slices.Equal(p.Steps[i].Commands, []string{"kubectl --context mgmt -n prod delete updateautopauses mos"}) {
		t.Errorf("commands %q", p.Steps[max(i, 0)].Commands)
	}
}

// A request that was made by hand and forgotten is a point of its own, with its withdrawal.
func TestARequestByHandThatIsLeft(t *testing.T) {
	sc := over()
	sc.request("cmp-01", 10*time.Hour).MadeBy = MadeByLockstep
	if p := pointOf(sc.AfterUpdate(), "by-hand"); !slices.Equal(p.Open, []string{"cmp-01"}) || !pointOf(sc.AfterUpdate(), "node-requests").Done() {
		t.Errorf("%+v, %+v", p, pointOf(sc.AfterUpdate(), "node-requests"))
	}
	if got := kindsOf(sc.Procedure(ProcedureKey{Kind: ProcedureAfter})); !slices.Contains(got, IntentWithdraw) {
		t.Errorf("steps %v", got)
	}
}

// A number of attempts that Lockstep set is remembered over a restart, and offered back as it was.
func TestAttemptsAreOfferedBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		set := func(n int) {
			t.Helper()
			id, err := b.confirm(Intent{Kind: IntentSetAttempts, Nodes: []string{"cmp-1"}, Attempts: n})
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != OperationDone {
				t.Fatalf("%d: %s, %s", n, op.State, op.Text)
			}
			b.sync()
		}
		set(5)
		set(7)
		if n := len(b.engine.Snapshot().History.Changes); n != 0 {
			t.Errorf("%d migration modes are remembered", n)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		b.arm()
		b.sync()
		s := b.engine.Snapshot()
		st, ok := s.restoreTries("cmp-1")
		if !ok || st.Intent.Attempts != 0 || st.Change.(SetNodeAnnotation).New != nil || !strings.Contains(st.Why, "before, it was not set") {
			t.Fatalf("%v, %+v: %s", ok, st.Intent, st.Why)
		}
		if got := s.openTries(); len(got) != 1 {
			t.Errorf("open %q", got)
		}
		set(0)
		if tries := b.engine.Snapshot().History.Tries; len(tries) != 0 {
			t.Errorf("once it is set back: %v", tries)
		}
	})
}

// A number that was there before comes back, in the node's own steps and after the update.
func TestTheFormerNumberOfAttemptsComesBack(t *testing.T) {
	sc := over()
	sc.Nodes["cmp-01"].Annotations[AnnotationMigrationAttempts] = "7"
	sc.History.Tries = map[string]AnnotationChange{"uid-cmp-01": {Node: "cmp-01", Key: AnnotationMigrationAttempts, Old: new("4"), New: new("7"), At: ago(2 * time.Hour)}}
	if p := pointOf(sc.AfterUpdate(), "attempts"); !slices.Equal(p.Open, []string{"cmp-01 (7)"}) {
		t.Errorf("%+v", p)
	}
	for _, key := range []ProcedureKey{{Kind: ProcedureAfter}, {Kind: ProcedureNode, Subject: "cmp-01"}} {
		p, _ := sc.Procedure(key)
		if !slices.ContainsFunc(p.Steps, func(st Step) bool {
			return st.Intent.Kind == IntentSetAttempts && st.Intent.Attempts == 4 && st.Doable()
		}) {
			t.Errorf("%v: not offered back: %q", key, outline(p))
		}
	}
	sc.Nodes["cmp-01"].Annotations[AnnotationMigrationAttempts] = "9" // somebody else's by now
	if p := pointOf(sc.again().AfterUpdate(), "attempts"); !p.Done() {
		t.Errorf("%+v", p)
	}
}

// What was taken out of scheduling with Lockstep is put back with it, and told of.
func TestAComputeThatLockstepTookOutOfScheduling(t *testing.T) {
	sc := over()
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, sc.outOfScheduling()
	if p := pointOf(sc.AfterUpdate(), "compute"); !slices.Equal(p.Open, []string{"cmp-01"}) || p.Note != "" {
		t.Errorf("%+v", p)
	}
	if got := kindsOf(sc.Procedure(ProcedureKey{Kind: ProcedureAfter})); !slices.Contains(got, IntentEnableCompute) {
		t.Errorf("steps %v", got)
	}
	told := func(sc scene) bool {
		return slices.ContainsFunc(sc.Attention(), func(a Attention) bool {
			return strings.HasPrefix(a.ID, "compute-left/") && a.Severity == SeverityWarning && strings.Contains(a.Reason, "not put back")
		})
	}
	if !told(sc) {
		t.Errorf("nobody is told: %+v", sc.Attention())
	}
	sc.History.Update.Ended = time.Time{}
	if told(sc.again()) {
		t.Error("told of before an update, for which it may have been done")
	}
}
