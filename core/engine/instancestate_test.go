package engine

import (
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// How the cloud shows that the new instance actions were done, in the engine.
func TestStateActionsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tc := range []struct {
			kind    core.IntentKind
			prepare func(in *core.Instance)
			text    string
		}{
			{core.IntentResetState, func(in *core.Instance) { in.Status, in.VMState = "ERROR", "error" }, "is ACTIVE on cmp-1"},
			{core.IntentResume, func(in *core.Instance) {
				in.Status, in.VMState, in.Power = "SUSPENDED", "suspended", core.PowerSuspended
			}, "is ACTIVE on cmp-1"},
			{core.IntentShelve, func(*core.Instance) {}, "is SHELVED_OFFLOADED, on no host"},
			{core.IntentUnshelve, func(in *core.Instance) {
				in.Status, in.VMState, in.Power, in.Host = "SHELVED_OFFLOADED", "shelved_offloaded", core.PowerShutdown, ""
			}, "is ACTIVE on cmp-2"},
		} {
			cloud := newTestCloud()
			tc.prepare(cloud.instances["id-web-1"])
			b := newBench(t, t.TempDir(), cloud)
			b.arm()
			id, err := b.confirm(core.Intent{Kind: tc.kind, Instance: "id-web-1"})
			if err != nil {
				t.Errorf("%s: %v", tc.kind, err)
				b.end()
				continue
			}
			if op := b.awaitEnd(id); op.State != core.OperationDone || op.Text != tc.text {
				t.Errorf("%s ended as %s: %q, want %q", tc.kind, op.State, op.Text, tc.text)
			}
			b.end()
		}
	})
}
