package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/sim/bubble"
)

func liveMigrate(name string) core.Intent {
	return core.Intent{Kind: core.IntentLiveMigrate, Instance: "id-" + name}
}

func refused(t *testing.T, err error, why string) {
	t.Helper()
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v; want a refusal that says %q", err, why)
	}
}

// A confirmed step is done, verified from the cloud, and recorded before the write, after it, and when it is verified.
func TestConfirmedStepIsDoneVerifiedAndRecorded(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		op := b.awaitEnd(id)
		if op.State != core.OperationDone || !strings.Contains(op.Text, "cmp-2") {
			t.Fatalf("the operation ended as %s: %s", op.State, op.Text)
		}
		if got := b.cloud.written(); !slices.Equal(got, []string{"live-migrate id-web-1"}) {
			t.Errorf("the cloud received %q", got)
		}
		var kinds []string
		for _, r := range b.journal() {
			if r.Operation == id {
				kinds = append(kinds, string(r.Kind))
				if r.Object == nil || r.Object.UID != "id-web-1" || r.By != "anna@jump01" {
					t.Errorf("the record %q names %v by %q", r.Kind, r.Object, r.By)
				}
			}
		}
		if want := []string{"grant", "before", "after", "verified", "ended"}; !slices.Equal(kinds, want) {
			t.Errorf("the journal has %v, want %v", kinds, want)
		}
	})
}

// The record of a write is on the disk before the write is made: a power cut right after the write leaves the record.
func TestTheRecordIsOnTheDiskBeforeTheWrite(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		found := false
		b.cloud.onWrite = func(string) {
			raw, err := os.ReadFile(b.path)
			if err != nil {
				t.Error(err)
				return
			}
			found = strings.Contains(string(raw[:b.durable.Load()]), `"kind":"before"`)
		}
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		if b.awaitEnd(id); !found {
			t.Error("the write was not on record")
		}
	})
}

// Nothing is written unless writing is armed, the lease is ours, there is a grant, the facts are unchanged, and all guards hold.
func TestGateRefuses(t *testing.T) {
	cases := []struct {
		name string
		why  string
		do   func(b *bench) error
	}{
		{"not armed at the grant", "armed", func(b *bench) error {
			b.engine.Disarm()
			_, err := b.confirm(liveMigrate("web-1"))
			return err
		}},
		{"disarmed after the grant", "armed", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			b.engine.Disarm()
			return b.execute(g)
		}},
		{"a grant that nobody gave", "no grant", func(b *bench) error {
			step := step.Plan(b.engine.Snapshot(), liveMigrate("web-1"))
			return b.execute(core.Grant{Intent: step.Intent, Target: step.Target, Basis: step.Basis, Expires: time.Now().Add(time.Minute)})
		}},
		{"a grant used twice", "used already", func(b *bench) error {
			b.cloud.migrating = true
			g := b.grant(core.Intent{Kind: core.IntentSetMode, Node: "cmp-3", Nodes: []string{"cmp-3"}, Mode: core.ModeLive})
			if err := b.execute(g); err != nil {
				return err
			}
			b.awaitEnd(g.ID)
			// The facts are restored, so that only the use itself can be the reason for a refusal.
			b.cloud.mu.Lock()
			b.cloud.annotations["cmp-3"][core.AnnotationMigrationMode] = "manual"
			b.cloud.mu.Unlock()
			b.sync()
			return b.execute(g)
		}},
		{"a grant of an earlier run", "not of this run", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			g.ID = "of another run"
			return b.execute(g)
		}},
		{"a grant that is not as it was given", "not as it was given", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			g.Expires = g.Expires.Add(time.Hour)
			return b.execute(g)
		}},
		{"a grant that is too old", "is older than", func(b *bench) error {
			b.engine.cfg.GrantFor = -time.Second // only Grant reads it
			return b.execute(b.grant(liveMigrate("web-1")))
		}},
		{"the instance has moved since", "changed", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			b.cloud.instances["id-web-1"].Host = "cmp-3"
			b.sync()
			return b.execute(g)
		}},
		{"the node was made anew under its name", "uid", func(b *bench) error {
			g := b.grant(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-3"}, Mode: core.ModeLive})
			b.cloud.uids["cmp-3"] = "uid-another"
			b.sync()
			return b.execute(g)
		}},
		{"the annotation was changed by another", "changed", func(b *bench) error {
			g := b.grant(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-3"}, Mode: core.ModeLive})
			b.cloud.annotations["cmp-3"][core.AnnotationMigrationMode] = "skip"
			b.sync()
			return b.execute(g)
		}},
		{"the lease was lost", "lease", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			b.cloud.mu.Lock()
			b.cloud.held, b.cloud.holder = false, "bob@jump02"
			b.cloud.mu.Unlock()
			return b.execute(g)
		}},
		{"the instances have not been confirmed for long", "", func(b *bench) error {
			g := b.grant(liveMigrate("web-1"))
			b.engine.call(func() {
				src := b.engine.world.sources[core.SourceInstances]
				src.AsOf = time.Now().Add(-time.Hour)
				b.engine.world.sources[core.SourceInstances] = src
			})
			return b.execute(g)
		}},
		{"what is to be typed was not", "type", func(b *bench) error {
			step := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
			if step.Type == "" {
				b.t.Fatal("a batch is confirmed without typing")
			}
			_, err := b.engine.Grant(step, "yes")
			return err
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.arm()
				before := 0
				err := tc.do(b)
				refused(t, err, tc.why)
				if tc.name == "a grant used twice" {
					before = 1
				}
				if got := b.cloud.written(); len(got) != before {
					t.Errorf("the cloud received %q", got)
				}
			})
		})
	}
}

func (b *bench) grant(i core.Intent) core.Grant {
	b.t.Helper()
	step := step.Plan(b.engine.Snapshot(), i)
	g, err := b.engine.Grant(step, step.Type)
	if err != nil {
		b.t.Fatalf("grant %s: %v", i.Kind, err)
	}
	return g
}

func (b *bench) execute(g core.Grant) error {
	_, err := b.engine.Execute(context.Background(), g)
	return err
}

// Between the last snapshot and the write, the server itself is asked: its answer counts.
func TestServerIsAskedRightBeforeTheWrite(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		b.cloud.instances["id-web-1"].Host = "cmp-3" // the engine has not heard of it
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "cmp-3") {
			t.Errorf("ended as %s: %s", op.State, op.Text)
		}
		if got := b.cloud.written(); len(got) != 0 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// Nothing is written when somebody has taken over the operator lease, even if Lockstep has not seen it yet.
func TestServerIsAskedWhoseTheLeaseIs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		b.cloud.mu.Lock()
		b.cloud.takenBy = "bob@jump02"
		b.cloud.mu.Unlock()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "bob@jump02 holds it") {
			t.Errorf("ended as %s: %s", op.State, op.Text)
		}
		if got := b.cloud.written(); len(got) != 0 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A node is declared safe on what Nova itself shows of its host right before the write.
func TestDeclareSafeAsksNovaItself(t *testing.T) {
	comes := func(c *testCloud) {
		c.add("late-1", "cmp-2")
		c.migrations["id-late-1"] = []*core.Migration{{ID: 9, InstanceID: "id-late-1", Type: core.MigrationLive, Status: "running",
			SourceHost: "cmp-2", DestHost: "cmp-1", Created: worldTime, Updated: worldTime}}
	}
	for name, tt := range map[string]struct {
		then func(c *testCloud) // after the last look
		says string
	}{
		"an instance has come": {func(c *testCloud) { c.add("late-1", "cmp-1") }, "late-1"},
		"Nova does not see its cell for a moment": {func(c *testCloud) {
			c.add("late-1", "cmp-1")
			c.blind = 1
		}, "late-1"},
		"an instance is on its way": {comes, "late-1 (running)"},
		"Nova does not see its cell for a moment, and an instance is on its way": {func(c *testCloud) {
			comes(c)
			c.blindTo = map[string]int{"cmp-1": 1}
		}, "late-1 (running)"},
		"Nova shows that an instance is on its way, and does not see its cell in the next moment": {func(c *testCloud) {
			comes(c)
			c.blindTo = map[string]int{"id-late-1": 1}
		}, "late-1 (running)"},
		"Nova does not see its cell": {func(c *testCloud) { delete(c.services, "cmp-1") }, "not even its nova-compute"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.arm()
				for _, in := range b.cloud.instances {
					in.Host = "cmp-2"
				}
				b.sync()
				b.cloud.mu.Lock()
				tt.then(b.cloud)
				b.cloud.mu.Unlock()
				id, err := b.confirm(core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) {
					t.Errorf("ended as %s: %s", op.State, op.Text)
				}
				if got := b.cloud.written(); len(got) != 0 {
					t.Errorf("the cloud received %q", got)
				}
			})
		})
	}
}

// The annotation that Lockstep changed is remembered over a restart, and Lockstep offers to set it back.
func TestDeclaredNodeIsOfferedItsOldMode(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		for _, in := range cloud.instances {
			in.Host = "cmp-2"
		}
		b.sync()
		id, err := b.confirm(core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("ended as %s: %s", op.State, op.Text)
		}
		b.end()
		// LCM goes on, and the node comes back.
		delete(cloud.requests, "cmp-1")
		cloud.locks["cmp-1"].InnerState = core.InnerInactive

		b = newBench(t, dir, cloud)
		defer b.end()
		change, ok := b.engine.Snapshot().History.Changes["uid-cmp-1"]
		if !ok || wording.TextOr(change.Old, "-") != "manual" || wording.TextOr(change.New, "-") != "skip" {
			t.Fatalf("after a restart the change is %+v", change)
		}
		b.arm()
		id, err = b.confirm(core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if got := cloud.annotations["cmp-1"][core.AnnotationMigrationMode]; got != "manual" {
			t.Errorf("the mode is %q", got)
		}
		if changes := b.engine.Snapshot().History.Changes; len(changes) != 0 {
			t.Errorf("set back, and still offered: %v", changes)
		}
	})
}

// How a write ends is read from the cloud: not from the answer to the call, nor from the migration's record alone.
func TestOutcomeComesFromTheCloud(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(*testCloud)
		intent  core.Intent
		state   core.OperationState
		text    string
	}{
		{"Nova refuses", func(c *testCloud) {
			c.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		}, liveMigrate("web-1"), core.OperationFailed, failText},
		{"Nova takes it, and it fails", func(c *testCloud) { c.failMoves = true }, liveMigrate("web-1"), core.OperationFailed,
			"No valid host was found"},
		{"it is over, and another has followed it", func(c *testCloud) { c.follows = true }, liveMigrate("web-1"), core.OperationDone,
			"was moved to cmp-2; another migration of it has begun since"},
		{"it failed, and another has followed it", func(c *testCloud) { c.follows, c.failMoves = true, true }, liveMigrate("web-1"),
			core.OperationFailed, "ended as error: " + strings.TrimSuffix(failText, ".") + "; another migration of it has begun since"},
		{"the answer is lost, but it was done", func(c *testCloud) { c.lose["live-migrate"] = true }, liveMigrate("web-1"), core.OperationDone,
			"cmp-2"},
		{"the answer is lost, and it was not done", func(c *testCloud) {
			c.fail["live-migrate"] = &core.APIError{Kind: core.ErrTimeout, Call: "live-migrate", Message: "no answer"}
		}, liveMigrate("web-1"), core.OperationFailed, "not done"},
		{"a cold migration waits for its confirmation", func(*testCloud) {}, core.Intent{Kind: core.IntentColdMigrate, Instance: "id-web-1"},
			core.OperationDone, "confirm"},
		{"a cold migration that Nova confirms by itself", func(c *testCloud) { c.confirms = true },
			core.Intent{Kind: core.IntentColdMigrate, Instance: "id-web-1"}, core.OperationDone,
			"is ACTIVE on cmp-2; the migration is confirmed already"},
		{"a stop", func(*testCloud) {}, core.Intent{Kind: core.IntentStop, Instance: "id-web-1"}, core.OperationDone, "SHUTOFF"},
		{"disabling a service", func(*testCloud) {}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-2", Reason: "a dead fan"},
			core.OperationDone, "a dead fan"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				tc.prepare(cloud)
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				id, err := b.confirm(tc.intent)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != tc.state || !strings.Contains(op.Text, tc.text) {
					t.Errorf("ended as %s: %q; want %s and %q", op.State, op.Text, tc.state, tc.text)
				}
				if got := b.cloud.written(); len(got) != 1 {
					t.Errorf("the cloud received %q; nothing is ever sent twice", got)
				}
			})
		})
	}
}

// A failure stays until somebody has acknowledged it, even over a restart.
func TestFailureStaysUntilAcknowledged(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.failMoves = true
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		b.end()
		b = newBench(t, dir, cloud)
		if op := b.operation(id); op.State != core.OperationFailed || op.Acknowledged || !strings.Contains(op.Text, "No valid host") {
			t.Fatalf("after a restart the failure is %+v", op)
		}
		b.engine.Acknowledge(id)
		if op := b.operation(id); !op.Acknowledged {
			t.Errorf("acknowledged, and still %+v", op)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if op := b.operation(id); op.ID != "" {
			t.Errorf("acknowledged before the restart, and back: %+v", op)
		}
	})
}

// After it was stopped in the middle of a migration, Lockstep says at its next start how the migration goes, and does nothing by
// itself.
func TestKilledInTheMiddle(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.migrating = true
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op core.Operation) bool { return strings.Contains(op.Text, "running") })
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if op := b.operation(id); op.State != core.OperationVerifying || !op.Past {
			t.Errorf("after the restart it is %+v", op)
		}
		if got := cloud.written(); len(got) != 1 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A batch runs in order, one item at a time, under one grant for the list that was shown.
func TestBatchMovesOneAfterTheOther(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		b.cloud.migrating = true
		id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"id-web-1", "id-web-2", "id-web-3"} {
			b.watched(id, func(op core.Operation) bool {
				return len(op.Items) == 3 && op.Items[i].State == core.OperationVerifying
			})
			time.Sleep(time.Minute) // time enough for another one to begin
			b.sync()
			for j, item := range b.operation(id).Items {
				want := core.OperationQueued
				switch {
				case j < i:
					want = core.OperationDone
				case j == i:
					want = core.OperationVerifying
				}
				if item.State != want {
					t.Errorf("while %s moves, item %d is %s, want %s", name, j, item.State, want)
				}
			}
			if got := len(b.cloud.written()); got != i+1 {
				t.Errorf("while %s moves, %d migrations were begun, want %d", name, got, i+1)
			}
			b.locked(func(c *testCloud) { c.finish(name) })
		}
		op := b.live(id)
		if op.State != core.OperationDone || len(op.Items) != 3 {
			t.Fatalf("ended as %s: %s, %d items", op.State, op.Text, len(op.Items))
		}
		if got := b.cloud.written(); !slices.Equal(got, []string{"live-migrate id-web-1", "live-migrate id-web-2", "live-migrate id-web-3"}) {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A batch pauses by itself at the first failure, goes on when told to, and skips the items it is told to skip.
func TestBatchPausesAtAFailure(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if !strings.Contains(op.Text, failText) || op.Items[0].State != core.OperationFailed || op.Items[1].State != core.OperationQueued {
			t.Fatalf("paused as %q with %+v", op.Text, op.Items)
		}
		if err := b.engine.LeaveOut(id, 1); err != nil {
			t.Fatal(err)
		}
		if err := b.engine.LeaveOut(id, 1); err == nil || !strings.Contains(err.Error(), "web-2 is left out already") {
			t.Errorf("a second time says %v", err)
		}
		if err := b.engine.LeaveOut(id, 0); err == nil || !strings.Contains(err.Error(), "web-1 has begun") {
			t.Errorf("of what has begun it says %v", err)
		}
		if op := b.operation(id); op.Items[1].State != core.OperationSkipped || op.Items[2].State != core.OperationQueued {
			t.Errorf("while it is paused, its items are %+v", op.Items)
		}
		if err := b.engine.Control(id, core.ControlResume); err != nil {
			t.Fatal(err)
		}
		op = b.awaitEnd(id)
		var states []core.OperationState
		for _, item := range op.Items {
			states = append(states, item.State)
		}
		if want := []core.OperationState{core.OperationFailed, core.OperationSkipped, core.OperationDone}; !slices.Equal(states, want) ||
			op.State != core.OperationFailed {
			t.Errorf("ended as %s with %v, want failed with %v", op.State, states, want)
		}
	})
}

// A batch begins nothing more when it is stopped, when writing is disarmed, or when the lease is lost.
func TestBatchStopsWhenTheGateCloses(t *testing.T) {
	for name, shut := range map[string]func(*bench, string) error{
		"stopped":  func(b *bench, id string) error { return b.engine.Control(id, core.ControlStop) },
		"disarmed": func(b *bench, _ string) error { b.engine.Disarm(); return nil },
		"lease lost": func(b *bench, _ string) error {
			b.cloud.mu.Lock()
			b.cloud.held = false
			b.cloud.mu.Unlock()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				b.cloud.migrating = true
				b.arm()
				id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				b.await(id, func(op core.Operation) bool { return op.Items[0].State == core.OperationVerifying })
				if err := shut(b, id); err != nil {
					t.Fatal(err)
				}
				b.cloud.mu.Lock()
				b.cloud.finish("id-web-1")
				b.cloud.mu.Unlock()
				op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused || op.State.Ended() })
				if op.Items[0].State != core.OperationDone {
					t.Errorf("the item that ran ended as %+v; it is watched to its end", op.Items[0])
				}
				b.end()
				if got := b.cloud.written(); len(got) != 1 {
					t.Errorf("the cloud received %q", got)
				}
			})
		})
	}
}

// While Nova does not show the instance, for whatever reason but that it has none, nothing says how its migration ended: it is looked on.
func TestAMigrationIsLookedAtUntilNovaShowsIt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.cloud.migrating = true
		b.cloud.add("web-4", "cmp-1")
		b.arm()
		for i, kind := range []core.ErrorKind{core.ErrConflict, core.ErrServer, core.ErrForbidden, core.ErrUnreachable} {
			name := "web-" + wording.Itoa(i+1)
			id := b.migrating(name)
			b.locked(func(c *testCloud) {
				c.unseen = &core.APIError{Kind: kind, Server: core.ServerOpenStack, Call: "show instance"}
			})
			time.Sleep(15 * time.Minute)
			b.locked(func(c *testCloud) {
				c.unseen = nil
				c.finish("id-" + name)
			})
			if op := b.awaitEnd(id); op.State != core.OperationDone {
				t.Errorf("while Nova answered %s, it ended as %s: %s", kind, op.State, op.Text)
			}
			b.sync() // what is known is fresh for the next one
		}
	})
}

// A result that cannot be asked for in half an hour is not known: the step ends, and what needs no answer of Nova's can be done on the
// node.
func TestAResultThatCannotBeAskedForDoesNotHoldTheNodeForEver(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.cloud.migrating = true
		b.arm()
		id := b.migrating("web-1")
		b.locked(func(c *testCloud) {
			c.unseen = &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerOpenStack, Call: "show instance"}
		})
		time.Sleep(blindFor - time.Minute)
		if op := b.operation(id); op.State != core.OperationVerifying {
			t.Errorf("after %s it is %s: %s", blindFor-time.Minute, op.State, op.Text)
		}
		if op := b.awaitEnd(id); op.State != core.OperationUnknown || !strings.Contains(op.Text, "could not be seen for 30 m") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentOverrideLock, State: core.LockFailed,
			Object: b.engine.Snapshot().NodeLock("cmp-1", core.ControllerOpenStack).Ref()})
		if g, unmet := st.Unmet(core.GuardAlone); unmet {
			t.Errorf("the lock cannot be set: %s", g.Answer)
		}
	})
}

// migrating begins a live migration and waits until it is under way.
func (b *bench) migrating(name string) (id string) {
	b.t.Helper()
	id, err := b.confirm(liveMigrate(name))
	if err != nil {
		b.t.Fatal(err)
	}
	b.await(id, func(op core.Operation) bool { return op.State == core.OperationVerifying })
	b.sync()
	return id
}

// A second step on a node waits for the end of the running one; an abort does not.
func TestOneWritingStepOnANode(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.cloud.migrating = true
		b.arm()
		id := b.migrating("web-1")
		if _, err := b.confirm(liveMigrate("web-2")); err == nil {
			t.Error("a second migration from the node was let through")
		}
		abort, err := b.confirm(core.Intent{Kind: core.IntentAbortMigration, Instance: "id-web-1"})
		if err != nil {
			t.Fatalf("the abort was refused: %v", err)
		}
		if op := b.awaitEnd(abort); op.State != core.OperationDone {
			t.Errorf("the abort ended as %s: %s", op.State, op.Text)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "aborted") {
			t.Errorf("the migration ended as %s: %s", op.State, op.Text)
		}
	})
}

// A migration that follows an aborted or completed one does not belong to it: the OpenStack controller tries again at once.
func TestAMigrationIsOverThoughAnotherFollows(t *testing.T) {
	for name, tc := range map[string]struct {
		control     core.IntentKind
		late        bool // the migration ends before it is aborted
		want, first string
	}{
		"aborted":        {core.IntentAbortMigration, false, "done: the migration was aborted", "failed: the migration was aborted"},
		"forced through": {core.IntentForceComplete, false, "done: was moved to cmp-2", "done: was moved to cmp-2"},
		"aborted late": {core.IntentAbortMigration, true, "failed: too late: the migration was completed, to cmp-2",
			"done: was moved to cmp-2"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.cloud.migrating, b.cloud.follows, b.cloud.lateAborts = true, true, tc.late
				b.arm()
				id := b.migrating("web-1")
				control, err := b.confirm(core.Intent{Kind: tc.control, Instance: "id-web-1"})
				if err != nil {
					t.Fatal(err)
				}
				for id, want := range map[string]string{control: tc.want, id: tc.first} {
					op := b.awaitEnd(id)
					if got := string(op.State) + ": " + op.Text; got != want+"; another migration of it has begun since" {
						t.Errorf("ended as %q, want %q", got, want)
					}
				}
			})
		})
	}
}

// Nothing can be armed without a journal, and a lease that another operator holds is not taken without asking.
func TestArming(t *testing.T) {
	t.Run("without a journal", func(t *testing.T) {
		e := New(Config{Kubernetes: newTestCloud()})
		refused(t, e.Arm(context.Background(), ""), "journal")
		if e.Snapshot().Write.Barred == "" {
			t.Error("the snapshot does not say why")
		}
	})
	t.Run("another operator", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), newTestCloud())
			defer b.end()
			b.cloud.holder = "bob@jump02"
			err := b.engine.Arm(context.Background(), "")
			if err == nil || !strings.Contains(err.Error(), "bob@jump02") || b.engine.Snapshot().Write.Armed {
				t.Errorf("armed against %v", err)
			}
			time.Sleep(2 * tickEvery) // until the holder is known
			if err := b.engine.Arm(context.Background(), "eve@jump02"); err == nil || b.engine.Snapshot().Write.Armed {
				t.Error("taken over from bob, who was not asked for")
			}
			if err := b.engine.Arm(context.Background(), "bob@jump02"); err != nil || !b.engine.Snapshot().Write.Armed {
				t.Errorf("the explicit take-over: %v", err)
			}
			time.Sleep(tickEvery)
			lines, err := b.engine.Lines(context.Background(), 0, 100)
			if err != nil || !slices.ContainsFunc(lines, func(l core.JournalLine) bool {
				return l.What == "writing: armed, the lease was taken over from bob@jump02"
			}) {
				t.Errorf("the journal does not say from whom: %+v, %v", lines, err)
			}
		})
	})
	t.Run("the lease goes back on the way out", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), newTestCloud())
			b.arm()
			b.end()
			if b.cloud.Held() {
				t.Error("the lease is still held")
			}
			records := b.journal()
			if last := records[len(records)-1]; last.Kind != RecordStop {
				t.Errorf("the journal's last line is %q", last.Kind)
			}
		})
	})
}
