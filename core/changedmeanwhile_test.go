package core

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// pausedBatch is a confirmed batch that has paused after the failure of its first item.
func pausedBatch(b *bench, i Intent) string {
	b.t.Helper()
	id, err := b.confirm(i)
	if err != nil {
		b.t.Fatal(err)
	}
	b.await(id, func(op Operation) bool { return op.State == OperationPaused })
	return id
}

func resume(b *bench, id string) {
	b.t.Helper()
	if err := b.engine.Control(id, ControlResume); err != nil {
		b.t.Fatal(err)
	}
}

// An item of a batch is done on what the operator confirmed, or not at all: an owner who asks to be told is not passed over
// because the list was confirmed before.
func TestBatchHearsAnOwnerWhoSpeaksMeanwhile(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.fail["live-migrate"] = &APIError{Kind: ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id := pausedBatch(b, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-1"})
		cloud.mu.Lock()
		cloud.instances["id-web-2"].Tags = []string{TagMaintenanceAction + "notify"}
		cloud.mu.Unlock()
		b.sync()
		resume(b, id)
		op := b.await(id, func(op Operation) bool { return op.Items[1].State.Ended() })
		if item := op.Items[1]; item.State != OperationFailed || !strings.Contains(item.Text, "notify") {
			t.Errorf("the tagged instance: %+v", item)
		}
		if got := cloud.written(); len(got) != 1 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// Nor is a node let go that LCM has asked for since the list of nodes was confirmed: skip means that its instances go down.
func TestBatchLetsNoNodeGoThatIsInMaintenanceByNow(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		delete(cloud.requests, "cmp-1")
		cloud.locks["cmp-1"].InnerState = InnerInactive
		cloud.fail["annotate"] = &APIError{Kind: ErrServer, Call: "annotate", Message: "out of order", Status: 500}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id := pausedBatch(b, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-1", "cmp-3"}, Mode: ModeSkip})
		cloud.mu.Lock()
		cloud.requests["cmp-3"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-3", UID: "nmr-3", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest,
			Node: "cmp-3", Scope: ScopeOS, Release: "21.0.0+25.2"}
		cloud.mu.Unlock()
		b.sync()
		resume(b, id)
		op := b.await(id, func(op Operation) bool { return op.Items[1].State.Ended() })
		if item := op.Items[1]; item.State != OperationFailed || !strings.Contains(item.Text, "request") {
			t.Errorf("the node that is in maintenance by now: %+v", item)
		}
		if got := cloud.annotations["cmp-3"][AnnotationMigrationMode]; got != "manual" {
			t.Errorf("its mode is %q", got)
		}
	})
}

// What is gone while its result is awaited ends the operation, so that its node is free for the next step.
func TestResultOfWhatIsGone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.migrating = true
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op Operation) bool { return strings.Contains(op.Text, "running") })
		cloud.mu.Lock()
		delete(cloud.instances, "id-web-1")
		cloud.mu.Unlock()
		if op := b.awaitEnd(id); op.State != OperationUnknown || !strings.Contains(op.Text, "not seen") {
			t.Errorf("ended as %s: %s", op.State, op.Text)
		}
	})
}

// An instance that Nova is starting counts as running in the last look, too.
func TestDeclareSafeSeesWhatComesUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		for _, in := range cloud.instances {
			in.Host = "cmp-2"
		}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		cloud.mu.Lock()
		in := cloud.instances["id-web-3"]
		in.Host, in.Status, in.VMState, in.Power, in.TaskState = "cmp-1", "SHUTOFF", "stopped", PowerShutdown, "powering-on"
		cloud.mu.Unlock()
		id, err := b.confirm(Intent{Kind: IntentDeclareSafe, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, "web-3") {
			t.Errorf("ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) != 0 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A confirmation of a cold migration is under way as long as its record says so, though the instance shows nothing of it.
func TestSlowConfirmationIsNoFailure(t *testing.T) {
	cloud := newTestCloud()
	in := cloud.instances["id-web-1"]
	in.Status, in.VMState, in.Host = "VERIFY_RESIZE", "resized", "cmp-2"
	record := &Migration{ID: 1, InstanceID: in.ID, Type: MigrationCold, Status: "finished", SourceHost: "cmp-1", DestHost: "cmp-2", Created: worldTime}
	cloud.migrations[in.ID] = []*Migration{record}
	slow := &slowConfirm{testCloud: cloud, record: record}
	w := &instanceChecker{nova: slow, change: InstanceAction{Do: IntentConfirmResize, Instance: Ref{UID: in.ID}, Host: "cmp-2",
		Status: "VERIFY_RESIZE"},
		now: func() time.Time { return slow.time }, label: func(host string) string { return host }}
	for _, step := range []struct {
		after  time.Duration
		status string
		moving bool
	}{{0, "finished", false}, {time.Second, "confirming", true}, {time.Minute, "confirming", true}, {time.Hour, "confirming", false}} {
		slow.time, record.Status = worldTime.Add(step.after), step.status
		if o := w.outcome(t.Context(), sent{began: worldTime}); o.err != nil || o.state != OperationVerifying || o.moving != step.moving {
			t.Errorf("%s after %v: %+v", step.status, step.after, o)
		}
	}
	in.Status = "ACTIVE"
	if o := w.outcome(t.Context(), sent{began: worldTime}); o.state != OperationDone {
		t.Errorf("once it is ACTIVE: %+v", o)
	}
}

type slowConfirm struct {
	*testCloud
	record *Migration
	time   time.Time
}

// A batch that was acknowledged does not come back piece by piece.
func TestAcknowledgedBatchStaysAway(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.fail["live-migrate"] = &APIError{Kind: ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, dir, cloud)
		b.arm()
		id := pausedBatch(b, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-1"})
		if err := b.engine.Control(id, ControlStop); err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		b.end()

		b = newBench(t, dir, cloud)
		if ops := b.engine.Snapshot().Operations; len(ops) != 1 {
			t.Fatalf("before it is acknowledged: %+v", ops)
		}
		b.engine.record(Record{Kind: RecordControl, Operation: id, State: "acknowledged"}, true)
		b.end()

		b = newBench(t, dir, cloud)
		defer b.end()
		if ops := b.engine.Snapshot().Operations; len(ops) != 0 {
			t.Errorf("acknowledged, and back: %+v", ops)
		}
	})
}

// To give a node skip back is to let it go: it asks for as much care as setting skip does.
func TestRestoringSkipIsAsCarefulAsSettingIt(t *testing.T) {
	scene := func() scene {
		sc := healthy()
		sc.update(time.Hour)
		sc.maintained("cmp-01", "")
		sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockActive
		sc.instance("cmp-01", "web-1")
		sc.mode("cmp-01", ModeManual)
		sc.changed("cmp-01", "skip", "manual")
		return sc
	}
	sc := scene()
	back, set := Plan(sc.Snapshot, Intent{Kind: IntentRestoreMode, Node: "cmp-01"}), Plan(sc.Snapshot, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01"}, Mode: ModeSkip})
	if set.Risk != RiskHigh || set.Type == "" {
		t.Fatalf("setting skip: risk %v, typed %q", set.Risk, set.Type)
	}
	if back.Risk != set.Risk || back.Type != set.Type || len(ChangedFacts(set.Basis, back.Basis)) > 0 {
		t.Errorf("restoring: risk %v, typed %q, basis %v; setting: risk %v, typed %q, basis %v", back.Risk, back.Type, back.Basis, set.Risk, set.Type, set.Basis)
	}
	low := scene()
	low.changed("cmp-01", "live", "manual")
	if back := Plan(low.Snapshot, Intent{Kind: IntentRestoreMode, Node: "cmp-01"}); back.Risk != RiskLow || back.Type != "" {
		t.Errorf("restoring live: risk %v, typed %q", back.Risk, back.Type)
	}
}

// An owner who asked to be told between the last look and the write is heard: the instance is read once more, tags and all.
func TestTheOwnerIsHeardRightBeforeTheWrite(t *testing.T) {
	for name, change := range map[string]func(in *Instance){
		"a tag":      func(in *Instance) { in.Tags = []string{TagMaintenanceAction + "notify"} },
		"the guest":  func(in *Instance) { in.Power = PowerShutdown },
		"its status": func(in *Instance) { in.Status = "PAUSED" },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				cloud.mu.Lock()
				change(cloud.instances["id-web-1"])
				cloud.mu.Unlock()
				id, err := b.confirm(liveMigrate("web-1"))
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != OperationFailed {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the cloud received %q", got)
				}
			})
		})
	}
}

// A mode that the server refused is nobody's: neither now nor after a restart is it offered to be taken back.
func TestARefusedModeIsNotRememberedAsOurs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.fail["annotate"] = &APIError{Kind: ErrServer, Call: "annotate", Message: "out of order", Status: 500}
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentSetMode, Nodes: []string{"cmp-1"}, Mode: ModeLive})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if got := b.engine.Snapshot().History.Changes; len(got) > 0 {
			t.Errorf("after a restart it has %+v", got)
		}
	})
}

// The end of a run is the last record of it, whatever is seen in its last moment.
func TestTheEndIsTheLastRecord(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for range 20 {
			dir, cloud := t.TempDir(), newTestCloud()
			b := newBench(t, dir, cloud)
			cloud.mu.Lock()
			cloud.locks["cmp-2"].RawState = LockInactive
			cloud.requests["cmp-2"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-2", UID: "nmr-2", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-2", Scope: ScopeOS}
			cloud.mu.Unlock()
			for _, d := range cloud.deltas(time.Now()) {
				b.engine.Apply(d) // and no Snapshot has shown it yet
			}
			b.end()
			records := b.journal()
			if last := records[len(records)-1]; last.Kind != RecordStop {
				t.Fatalf("the last record is %s", last.Kind)
			}
		}
	})
}
