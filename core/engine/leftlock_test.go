package engine

import (
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// The step sets the lock whether or not Lockstep plays the controller. Where Lockstep plays it and the controller runs all the
// same, nobody else would.
func TestALockThatWasLeftIsSetActiveAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		settings core.Settings
		replicas int
		doable   bool
	}{
		"beside the controller":           {core.DefaultSettings(), 1, true},
		"while the controller is away":    {core.DefaultSettings(), 0, true},
		"played, and the controller runs": {scene.PlaysOpenStack(), 1, true},
		"played alone":                    {scene.PlaysOpenStack(), 0, false}, // by the steps of the controller's flow
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				c.locks["cmp-1"].RawState = core.LockInactive
				c.rockoon.Replicas, c.rockoon.Ready = tt.replicas, tt.replicas
				b := newBenchWith(t, t.TempDir(), c, tt.settings)
				defer b.end()
				b.arm()
				rearm := core.Intent{Kind: core.IntentRearmLock, Object: c.locks["cmp-1"].Ref()}
				if st := step.Plan(b.engine.Snapshot(), rearm); st.Doable() != tt.doable {
					t.Fatalf("it is %s, blocked by %q", st.State, st.Blocker())
				}
				if !tt.doable {
					return
				}
				id, err := b.confirm(rearm)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationDone || c.locks["cmp-1"].State() != core.LockActive {
					t.Errorf("it ended as %s: %s; the lock is %s", op.State, op.Text, c.locks["cmp-1"].State())
				}
			})
		})
	}
}
