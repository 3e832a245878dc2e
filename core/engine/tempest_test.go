package engine

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// The list of services is changed as a compare-and-swap, after a dry-run, and verified.
func TestTempestIsAddedAndRemoved(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud().withVRouters()
		cloud.daemons.services = []string{"compute"}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.engine.call(func() { b.engine.world.remove(core.SourceClusterRequests, "mos") })
		b.arm()
		for _, kind := range []core.IntentKind{core.IntentAddTempest, core.IntentRemoveTempest} {
			if p := b.engine.Preview(t.Context(), core.Intent{Kind: kind}); p.Err != nil || p.DryRun == "" {
				t.Fatalf("%+v", p)
			}
			id, err := b.confirm(core.Intent{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != core.OperationDone {
				t.Fatalf("%s: %s", op.State, op.Text)
			}
			b.sync()
			b.engine.call(func() { b.engine.world.remove(core.SourceClusterRequests, "mos") })
		}
		if got := cloud.written(); !slices.Equal(got, []string{"services tempest true", "services tempest false"}) {
			t.Errorf("%q", got)
		}
	})
}
