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
