package procedure

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// Plans and procedures are total: without any facts they say that nothing is known.
func TestNothingIsKnown(t *testing.T) {
	for _, kind := range append(slices.Clone(scene.AllKinds), "", "odd") {
		for _, i := range []core.Intent{{Kind: kind}, {Kind: kind, Node: "n", Instance: "i"},
			{Kind: kind, Nodes: []string{"a", "b"}, Mode: "odd", Attempts: -9, AtOnce: -9}} {
			if st := step.Plan(&core.Snapshot{}, i); st.Doable() || st.Change != nil || st.Blocker() == "" {
				t.Errorf("%+v on nothing: %+v", i, st)
			}
		}
	}
	for _, kind := range []core.ProcedureKind{core.ProcedureNode, core.ProcedureInstance, core.ProcedureSource, "odd"} {
		if p, ok := Of((&core.Snapshot{}), core.ProcedureKey{Kind: kind, Subject: "x"}); ok {
			t.Errorf("a procedure %s of nothing: %+v", kind, p)
		}
	}
}
