package procedure_test

import (
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
	"lockstep/scene/live"
)

// The steps of a node in maintenance, each of them planned, as its page shows them.
func BenchmarkDeriveProcedure(b *testing.B) {
	live.Derive(b, 10, func(b *testing.B, s *core.Snapshot) {
		p, ok := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: scene.Maintained})
		if !ok || len(p.Steps) == 0 {
			b.Fatal("there are no steps")
		}
	})
}
