package engine

import (
	"strings"
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

// The record of an earlier migration does not count as that of the write, also where one answer lacks it right before.
func TestAnEarlierMigrationIsNotTheWritesOwn(t *testing.T) {
	for name, known := range map[string]bool{"Lockstep knows it": true, "Lockstep does not know it": false} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				cloud.migrating, cloud.lastID = true, 7
				earlier := func() {
					long := worldTime.AddDate(0, -1, 0)
					cloud.migrations["id-web-1"] = []*core.Migration{{ID: 7, InstanceID: "id-web-1", Type: core.MigrationLive, Status: "completed",
						SourceHost: "cmp-3", DestHost: "cmp-1", Created: long, Updated: long}}
				}
				if known {
					earlier()
				}
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				cloud.mu.Lock()
				earlier()
				cloud.blindTo = map[string]int{"id-web-1": 1}
				cloud.mu.Unlock()
				id, err := b.confirm(liveMigrate("web-1"))
				if err != nil {
					t.Fatal(err)
				}
				if known {
					if op := b.awaitEnd(id); !strings.Contains(op.Text, "Nova shows no migrations of web-1 now") || len(cloud.written()) > 0 {
						t.Errorf("it ended as %s: %s; written: %q", op.State, op.Text, cloud.written())
					}
					return
				}
				op := b.await(id, func(op core.Operation) bool { return op.State.Ended() || strings.Contains(op.Text, "running") })
				if op.State.Ended() {
					t.Errorf("while it runs it ended as %s: %s", op.State, op.Text)
				}
			})
		})
	}
}

// An abort whose migration is not shown any more was too late where the instance runs elsewhere.
func TestAnAbortIsJudgedByWhereTheInstanceIs(t *testing.T) {
	cloud := newTestCloud()
	w := &instanceChecker{nova: cloud, now: time.Now, label: func(host string) string { return host },
		change: core.InstanceAction{Do: core.IntentAbortMigration, Instance: cloud.instances["id-web-1"].Ref(), Host: "cmp-1", MigrationID: 7}}
	for host, want := range map[string]core.OperationState{"cmp-1": core.OperationDone, "cmp-2": core.OperationFailed} {
		cloud.instances["id-web-1"].Host = host
		if o := w.outcome(t.Context(), sent{}); o.state != want || o.err != nil {
			t.Errorf("on %s: %s: %s, %v", host, o.state, o.text, o.err)
		}
	}
}
