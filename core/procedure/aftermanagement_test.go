package procedure

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// What the management cluster reports as left over from an update is a point each when it is connected, and none otherwise.
func TestPointsOfTheManagementClusterAfterAnUpdate(t *testing.T) {
	m := scene.Over().Managed()
	if left, ended := AfterUpdateLeft(m.Join().Snapshot); left != 0 || !ended {
		t.Fatalf("%d points are left, ended %v", left, ended)
	}
	if p := scene.PointOf(AfterUpdate(scene.Over().Snapshot), "reboots"); p.ID != "" {
		t.Errorf("without a management cluster: %+v", p)
	}
	for _, tc := range []struct {
		id, says string
		source   core.SourceID
		leave    func(m *scene.Managed) []core.Object
		steps    []core.IntentKind
	}{
		{"reboots", "m-cmp-01 (a kernel)", core.SourceMachines, func(m *scene.Managed) []core.Object {
			m.Machines["cmp-01"].Reboot, m.Machines["cmp-01"].RebootReason = true, "a kernel"
			return nil
		}, []core.IntentKind{core.IntentReboot}},
		{"auto-pause", "mos (OSDDown)", core.SourceAutoPauses, func(*scene.Managed) []core.Object {
			return []core.Object{&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}, Alerts: []string{"OSDDown"}}}
		}, []core.IntentKind{core.IntentSetAutoPause}},
		{"maintenance-mode", "m-cmp-02", core.SourceClusters,
			func(m *scene.Managed) []core.Object { m.Machines["cmp-02"].InMaintenance = true; return nil },
			[]core.IntentKind{core.IntentLeaveMachine}},
		{"maintenance-mode", "the cluster", core.SourceClusters, func(m *scene.Managed) []core.Object { m.InMode(); return nil },
			[]core.IntentKind{core.IntentLeaveCluster}},
	} {
		m := scene.Over().Managed()
		sc := m.Join(tc.leave(m)...)
		if p := scene.PointOf(AfterUpdate(sc.Snapshot), tc.id); !slices.Equal(p.OpenTexts(), []string{tc.says}) {
			t.Errorf("%s: %+v, want %q", tc.id, p, tc.says)
		}
		if left, _ := AfterUpdateLeft(sc.Snapshot); left != 1 {
			t.Errorf("%s: %d points are left, want this one", tc.id, left)
		}
		if got := scene.KindsOf(Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter})); !slices.Equal(got,
			append(slices.Clone(tc.steps), core.IntentAddTempest)) {
			t.Errorf("%s: steps %v, want %v", tc.id, got, tc.steps)
		}
	}
	// One that is configured and does not answer, or may not be read, is not one that has nothing left.
	for _, state := range []core.SourceState{core.SourceForbidden, core.SourceFailed, core.SourceConnecting} {
		sc := scene.Over()
		for _, id := range core.ManagementSources() {
			sc.Sources[id] = core.Source{ID: id, State: state}
		}
		for _, id := range []string{"reboots", "auto-pause", "maintenance-mode"} {
			if p := scene.PointOf(AfterUpdate(sc.Snapshot), id); p.ID == "" || p.Done() || p.Unknown == "" {
				t.Errorf("%s while it is %s: %+v", id, state, p)
			}
		}
		if left, _ := AfterUpdateLeft(sc.Snapshot); left != 3 {
			t.Errorf("while it is %s, %d points are left", state, left)
		}
		if _, known := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter}); !known {
			t.Error("the list cannot be made")
		}
	}
	m = scene.Over().Managed()
	m.Source(core.SourceAutoPauses, core.SourceForbidden)
	if p := scene.PointOf(AfterUpdate(m.Join().Snapshot), "auto-pause"); p.Done() || p.Unknown == "" {
		t.Errorf("forbidden: %+v", p)
	}
	m = scene.Over().Managed()
	m.Source(core.SourceAutoPauses, core.SourceAbsent)
	if p := scene.PointOf(AfterUpdate(m.Join().Snapshot), "auto-pause"); !p.Done() {
		t.Errorf("a release that has no such kind: %+v", p)
	}
	m = scene.Over().Managed()
	sc := m.Join(&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}})
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/auto-pause" }) + 1 // the step that settles it
	if i < 1 || !p.Steps[i].Optional || p.Steps[i].Intent.Kind != core.IntentSetAutoPause ||
		!slices.Equal(p.Steps[i].Commands, []string{"kubectl --context mgmt -n prod delete updateautopauses mos"}) {
		t.Errorf("commands %q", p.Steps[max(i, 0)].Commands)
	}
}

// A request that was made by hand and forgotten is a point of its own, with the step that withdraws it.
func TestARequestByHandThatIsLeft(t *testing.T) {
	sc := scene.Over()
	sc.Request("cmp-01", 10*time.Hour).MadeBy = core.MadeByLockstep
	if p := scene.PointOf(AfterUpdate(sc.Snapshot), "by-hand"); !slices.Equal(p.OpenTexts(), []string{"cmp-01"}) ||
		!scene.PointOf(AfterUpdate(sc.Snapshot), "node-requests").Done() {
		t.Errorf("%+v, %+v", p, scene.PointOf(AfterUpdate(sc.Snapshot), "node-requests"))
	}
	if got := scene.KindsOf(Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter})); !slices.Contains(got, core.IntentWithdraw) {
		t.Errorf("steps %v", got)
	}
}

// The former number comes back, in the node's own steps and after the update.
func TestTheFormerNumberOfAttemptsComesBack(t *testing.T) {
	sc := scene.Over()
	sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationAttempts] = "7"
	sc.History.Tries = map[string]core.AnnotationChange{"uid-cmp-01": {Node: "cmp-01", Key: core.AnnotationMigrationAttempts, Old: new("4"),
		New: new("7"), At: scene.Ago(2 * time.Hour)}}
	if p := scene.PointOf(AfterUpdate(sc.Snapshot), "attempts"); !slices.Equal(p.OpenTexts(), []string{"cmp-01 (7)"}) {
		t.Errorf("%+v", p)
	}
	for _, key := range []core.ProcedureKey{{Kind: core.ProcedureAfter}, {Kind: core.ProcedureNode, Subject: "cmp-01"}} {
		p, _ := Of(sc.Snapshot, key)
		if !slices.ContainsFunc(p.Steps, func(st core.Step) bool {
			return st.Intent.Kind == core.IntentSetAttempts && st.Intent.Attempts == 4 && st.Doable()
		}) {
			t.Errorf("%v: not offered back: %q", key, scene.Outline(p))
		}
	}
	sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationAttempts] = "9" // somebody else has changed it since
	if p := scene.PointOf(AfterUpdate(sc.Again().Snapshot), "attempts"); !p.Done() {
		t.Errorf("%+v", p)
	}
}
