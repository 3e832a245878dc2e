package core

import (
	"slices"
	"testing"
)

// What a cloud does not have is no point of the list after its update: Tungsten Fabric's databases on a cloud with Open vSwitch, volume
// services on one without Cinder.
func TestWhatDoesNotApplyIsNoPoint(t *testing.T) {
	has := func(sc scene, id string) bool {
		p, _ := sc.again().Procedure(*afterProcedureKey())
		return slices.ContainsFunc(p.Steps, func(st Step) bool { return st.ID == "after/"+id })
	}
	if has(healthy(), "cassandra") {
		t.Error("a cloud with Open vSwitch is to repair Cassandra")
	}
	if !has(vRouterScene(), "cassandra") {
		t.Error("a cloud with Tungsten Fabric has no word of Cassandra")
	}
	if !has(healthy(), "volumes") {
		t.Error("a cloud with Cinder has no word of its volume services")
	}
	none := healthy()
	none.source(SourceVolumeServices, SourceAbsent)
	if has(none, "volumes") || has(none, "volumes-up") {
		t.Error("a cloud without Cinder is to look at its volume services")
	}
}
