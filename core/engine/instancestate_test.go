package engine

import (
	"testing"
	"time"

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

// An instance that is in ERROR when it is stopped stays so until Nova is done: only its task tells that its guest is being shut down. ERROR
// is a failure where the action did not begin there.
func TestAnActionOnAnInstanceInErrorIsJudgedByItsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			do           core.IntentKind
			began        string // the status
			status, task string
			want         core.OperationState
			moving       bool
		}{
			"it shuts down":             {core.IntentStop, "ERROR", "ERROR", "powering-off", core.OperationVerifying, true},
			"nothing is seen of it":     {core.IntentStop, "ERROR", "ERROR", "", core.OperationVerifying, false},
			"it is down":                {core.IntentStop, "ERROR", "SHUTOFF", "", core.OperationDone, false},
			"it could not be shut down": {core.IntentStop, "ACTIVE", "ERROR", "", core.OperationFailed, false},
			"it could not be started":   {core.IntentStart, "SHUTOFF", "ERROR", "", core.OperationFailed, false},
			"nothing is reset yet":      {core.IntentResetState, "ERROR", "ERROR", "", core.OperationVerifying, false},
			"it is reset":               {core.IntentResetState, "ERROR", "ACTIVE", "", core.OperationDone, false},
		} {
			cloud := newTestCloud()
			in := cloud.instances["id-web-1"]
			in.Status, in.TaskState = tc.status, tc.task
			w := &instanceChecker{nova: cloud, now: time.Now, label: func(host string) string { return host },
				dead:   func(string) bool { return false },
				change: core.InstanceAction{Do: tc.do, Instance: in.Ref(), Host: in.Host, Status: tc.began}}
			if o := w.outcome(t.Context(), sent{}); o.state != tc.want || o.moving != tc.moving || o.err != nil {
				t.Errorf("%s: %s, moving %v: %s, %v", name, o.state, o.moving, o.text, o.err)
			}
		}
	})
}
