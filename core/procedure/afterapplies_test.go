package procedure

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// The list after the update has no point for what a cloud does not have: Tungsten Fabric's databases on a cloud with Open vSwitch,
// volume services on one without Cinder.
func TestWhatDoesNotApplyIsNoPoint(t *testing.T) {
	has := func(sc scene.Scene, id string) bool {
		p, _ := Of(sc.Again().Snapshot, *AfterKey())
		return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/"+id })
	}
	if has(scene.Healthy(), "cassandra") {
		t.Error("a cloud with Open vSwitch is to repair Cassandra")
	}
	if !has(scene.VRouterScene(), "cassandra") {
		t.Error("a cloud with Tungsten Fabric has no word of Cassandra")
	}
	if !has(scene.Healthy(), "volumes") {
		t.Error("a cloud with Cinder has no word of its volume services")
	}
	none := scene.Healthy()
	none.Source(core.SourceVolumeServices, core.SourceAbsent)
	if has(none, "volumes") || has(none, "volumes-up") {
		t.Error("a cloud without Cinder is to look at its volume services")
	}
}

// A volume service that was left disabled is on the list, whoever disabled it, with the step that enables it: Rockoon enables only what it
// disabled itself.
func TestAVolumeServiceThatIsLeftDisabled(t *testing.T) {
	for reason, left := range map[string]bool{core.DisabledReasonMaintenance: true, core.DisabledByLockstep + ", anna": true,
		"a dead disk": false} {
		sc := scene.Over()
		v := sc.VolumeService("cmp-01@lvm")
		v.Enabled, v.DisabledReason = false, reason
		s := sc.Again().Snapshot
		if p := scene.PointOf(AfterUpdate(s), "volumes"); p.Done() == left {
			t.Errorf("%s: %+v", reason, p)
		}
		kinds := scene.KindsOf(Of(s, core.ProcedureKey{Kind: core.ProcedureAfter}))
		if slices.Contains(kinds, core.IntentEnableVolume) != left {
			t.Errorf("%s: steps %v", reason, kinds)
		}
	}
}
