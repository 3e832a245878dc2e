package engine

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// pausedBatch is a confirmed batch that has paused after the failure of its first item.
func pausedBatch(b *bench, i core.Intent) string {
	b.t.Helper()
	id, err := b.confirm(i)
	if err != nil {
		b.t.Fatal(err)
	}
	b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
	return id
}

func resume(b *bench, id string) {
	b.t.Helper()
	if err := b.engine.Control(id, core.ControlResume); err != nil {
		b.t.Fatal(err)
	}
}

// An item of a batch is done on what the operator confirmed, or not at all: the earlier confirmation of the list does not
// override an owner who asks to be told.
func TestBatchHearsAnOwnerWhoSpeaksMeanwhile(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id := pausedBatch(b, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		cloud.mu.Lock()
		cloud.instances["id-web-2"].Tags = []string{core.TagMaintenanceAction + "notify"}
		cloud.mu.Unlock()
		b.sync()
		resume(b, id)
		op := b.await(id, func(op core.Operation) bool { return op.Items[1].State.Ended() })
		if item := op.Items[1]; item.State != core.OperationFailed || !strings.Contains(item.Text, "notify") {
			t.Errorf("the tagged instance: %+v", item)
		}
		if got := cloud.written(); len(got) != 1 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A node that LCM has requested since the list was confirmed is not let go: skip means that its instances go down.
func TestBatchLetsNoNodeGoThatIsInMaintenanceByNow(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		delete(cloud.requests, "cmp-1")
		cloud.locks["cmp-1"].InnerState = core.InnerInactive
		cloud.fail["annotate"] = &core.APIError{Kind: core.ErrServer, Call: "annotate", Message: "out of order", Status: 500}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id := pausedBatch(b, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1", "cmp-3"}, Mode: core.ModeSkip})
		cloud.mu.Lock()
		cloud.requests["cmp-3"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-3", UID: "nmr-3", Created: worldTime,
			Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest,
			Node: "cmp-3", Scope: core.ScopeOS, Release: "21.0.0+25.2"}
		cloud.mu.Unlock()
		b.sync()
		resume(b, id)
		op := b.await(id, func(op core.Operation) bool { return op.Items[1].State.Ended() })
		if item := op.Items[1]; item.State != core.OperationFailed || !strings.Contains(item.Text, "request") {
			t.Errorf("the node that is in maintenance by now: %+v", item)
		}
		if got := cloud.annotations["cmp-3"][core.AnnotationMigrationMode]; got != "manual" {
			t.Errorf("its mode is %q", got)
		}
	})
}

// When an object is gone while its result is awaited, or nobody is left who brings it about, as a host has died or a message was lost, the
// operation ends, so that its node is free for the next step. How it ended is not known.
func TestAResultThatNobodyBringsAboutIsNotAwaited(t *testing.T) {
	dies := func(host string) func(c *testCloud) {
		return func(c *testCloud) {
			c.services[host].Up = false
			if c.dead == nil {
				c.dead = map[string]bool{}
			}
			c.dead[host] = true
		}
	}
	evacuate := core.Intent{Kind: core.IntentEvacuate, Instance: "id-web-1"}
	for name, tt := range map[string]struct {
		intent  core.Intent
		before  func(c *testCloud) // may be nil
		shows   string             // while it goes on
		happens func(c *testCloud)
		after   time.Duration
		want    string // empty: it is still awaited
	}{
		"the instance is gone": {liveMigrate("web-1"), nil, "running", func(c *testCloud) { delete(c.instances, "id-web-1") }, time.Minute,
			"not seen"},
		"its host dies":        {liveMigrate("web-1"), nil, "running", dies("cmp-1"), time.Minute, "cmp-1 does not report any more"},
		"its destination dies": {liveMigrate("web-1"), nil, "running", dies("cmp-2"), time.Minute, "cmp-2 does not report any more"},
		"it takes long":        {liveMigrate("web-1"), nil, "running", func(*testCloud) {}, 31 * time.Minute, ""},
		"where it is rebuilt dies": {evacuate, dies("cmp-1"), "rebuilding", dies("cmp-2"), time.Minute,
			"cmp-2 does not report any more, and was to rebuild it"},
		"it is rebuilt": {evacuate, dies("cmp-1"), "rebuilding", func(*testCloud) {}, 29 * time.Minute, ""},
		"nobody hears of the rebuild": {evacuate, dies("cmp-1"), "rebuilding", func(*testCloud) {}, 31 * time.Minute,
			"still rebuilding after 30 m"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				cloud.migrating = true
				if tt.before != nil {
					tt.before(cloud)
				}
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				id, err := b.confirm(tt.intent)
				if err != nil {
					t.Fatal(err)
				}
				b.await(id, func(op core.Operation) bool { return strings.Contains(op.Text, tt.shows) })
				cloud.mu.Lock()
				tt.happens(cloud)
				cloud.mu.Unlock()
				b.sync()
				time.Sleep(tt.after)
				op := b.operation(id)
				if op.State.Ended() != (tt.want != "") || op.State.Ended() && op.State != core.OperationUnknown || !strings.Contains(op.Text, tt.want) {
					t.Errorf("it is %s: %s", op.State, op.Text)
				}
			})
		})
	}
}

// An instance that Nova is starting also counts as running in the last look.
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
		in.Host, in.Status, in.VMState, in.Power, in.TaskState = "cmp-1", "SHUTOFF", "stopped", core.PowerShutdown, "powering-on"
		cloud.mu.Unlock()
		id, err := b.confirm(core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "web-3") {
			t.Errorf("ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) != 0 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// The confirmation of a cold migration is under way as long as its record says so, even if the instance does not show it.
func TestSlowConfirmationIsNoFailure(t *testing.T) {
	cloud := newTestCloud()
	in := cloud.instances["id-web-1"]
	in.Status, in.VMState, in.Host = "VERIFY_RESIZE", "resized", "cmp-2"
	record := &core.Migration{ID: 1, InstanceID: in.ID, Type: core.MigrationCold, Status: "finished", SourceHost: "cmp-1", DestHost: "cmp-2",
		Created: worldTime}
	cloud.migrations[in.ID] = []*core.Migration{record}
	slow := &slowConfirm{testCloud: cloud, record: record}
	w := &instanceChecker{nova: slow, change: core.InstanceAction{Do: core.IntentConfirmResize, Instance: core.Ref{UID: in.ID}, Host: "cmp-2",
		Status: "VERIFY_RESIZE"},
		now: func() time.Time { return slow.time }, label: func(host string) string { return host }}
	for _, step := range []struct {
		after  time.Duration
		status string
		moving bool
	}{{0, "finished", false}, {time.Second, "confirming", true}, {time.Minute, "confirming", true}, {time.Hour, "confirming", false}} {
		slow.time, record.Status = worldTime.Add(step.after), step.status
		if o := w.outcome(t.Context(), sent{began: worldTime}); o.err != nil || o.state != core.OperationVerifying || o.moving != step.moving {
			t.Errorf("%s after %v: %+v", step.status, step.after, o)
		}
	}
	in.Status = "ACTIVE"
	if o := w.outcome(t.Context(), sent{began: worldTime}); o.state != core.OperationDone {
		t.Errorf("once it is ACTIVE: %+v", o)
	}
}

type slowConfirm struct {
	*testCloud
	record *core.Migration
	time   time.Time
}

// A batch that was acknowledged does not come back item by item.
func TestAcknowledgedBatchStaysAway(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, dir, cloud)
		b.arm()
		id := pausedBatch(b, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		if err := b.engine.Control(id, core.ControlStop); err != nil {
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

// An owner who asks to be told between the last look and the write is heard: the instance is read once more, with its tags.
func TestTheOwnerIsHeardRightBeforeTheWrite(t *testing.T) {
	for name, change := range map[string]func(in *core.Instance){
		"a tag":      func(in *core.Instance) { in.Tags = []string{core.TagMaintenanceAction + "notify"} },
		"the guest":  func(in *core.Instance) { in.Power = core.PowerShutdown },
		"its status": func(in *core.Instance) { in.Status = "PAUSED" },
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
				if op := b.awaitEnd(id); op.State != core.OperationFailed {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the cloud received %q", got)
				}
			})
		})
	}
}

// A migration is decided only while its source takes part: right before, Nova is asked for the record that names it, and for its
// nova-compute.
func TestAMigrationIsDecidedWithItsSourceOnly(t *testing.T) {
	for _, kind := range []core.IntentKind{core.IntentConfirmResize, core.IntentRevertResize} {
		for name, tt := range map[string]struct {
			happens func(c *testCloud) // after the last look
			want    string
		}{
			"it was decided elsewhere": {func(c *testCloud) { c.decided("id-half", "confirming") }, "no migration of half that waits"},
			"its record is not shown":  {func(c *testCloud) { c.blindTo = map[string]int{"id-half": 1} }, "no migrations of half now"},
			"it came from elsewhere": {func(c *testCloud) {
				c.migrations["id-half"] = append(c.migrations["id-half"], &core.Migration{ID: 8, InstanceID: "id-half",
					Type: core.MigrationCold, Status: "finished", SourceHost: "cmp-3", DestHost: "cmp-2", Created: worldTime})
			}, "half came from cmp-3"},
			"the nova-compute of its source is down": {func(c *testCloud) { c.services["cmp-1"].Up = false },
				"nova-compute of cmp-1, from where half came, is down now"},
		} {
			t.Run(string(kind)+", "+name, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					c := newTestCloud()
					onlyHalfAway(c)
					why := confirmedBefore(t, c, core.Intent{Kind: kind, Instance: "id-half"}, tt.happens)
					if !strings.Contains(why, tt.want) || len(c.written()) > 0 {
						t.Errorf("%q; written: %q", why, c.written())
					}
				})
			})
		}
	}
}

// A mode that the server refused is not remembered: Lockstep does not offer to set it back, neither now nor after a restart.
func TestARefusedModeIsNotRememberedAsOurs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.fail["annotate"] = &core.APIError{Kind: core.ErrServer, Call: "annotate", Message: "out of order", Status: 500}
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1"}, Mode: core.ModeLive})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed {
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

// The end of a run is its last record, whatever is seen in its last moment.
func TestTheEndIsTheLastRecord(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for range 20 {
			dir, cloud := t.TempDir(), newTestCloud()
			b := newBench(t, dir, cloud)
			cloud.mu.Lock()
			cloud.locks["cmp-2"].RawState = core.LockInactive
			cloud.requests["cmp-2"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-2", UID: "nmr-2", Created: worldTime,
				Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-2", Scope: core.ScopeOS}
			cloud.mu.Unlock()
			for _, d := range cloud.deltas(time.Now()) {
				b.engine.Apply(d) // no Snapshot has shown it yet
			}
			b.end()
			records := b.journal()
			if last := records[len(records)-1]; last.Kind != RecordStop {
				t.Fatalf("the last record is %s", last.Kind)
			}
		}
	})
}
