package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// A failed migration of an instance is tried again by itself, as often as its node says (docs/mosk.md#migration-loop); the batch
// pauses only after the last try. A write that was refused, or whose end nobody knows, is not sent twice.
func TestABatchTriesAFailedMigrationAgain(t *testing.T) {
	unreachable := &core.APIError{Kind: core.ErrTimeout, Call: "live-migrate"}
	for name, tt := range map[string]struct {
		cloud  func(c *testCloud)
		writes int // of the first instance
		state  core.OperationState
		text   string
	}{
		"two fail, the third does not": {func(c *testCloud) { c.failFirst = 2 }, 3, core.OperationDone, "(try 3 of 3)"},
		"all fail":                     {func(c *testCloud) { c.failMoves = true }, 3, core.OperationFailed, "try 3 of 3: the migration failed"},
		"as often as the node says": {func(c *testCloud) {
			c.annotations["cmp-1"][core.AnnotationMigrationAttempts], c.failMoves = "5", true
		}, 5, core.OperationFailed, "try 5 of 5: the migration failed"},
		"once": {func(c *testCloud) {
			c.annotations["cmp-1"][core.AnnotationMigrationAttempts], c.failMoves = "1", true
		}, 1, core.OperationFailed, "the migration failed"},
		"it is refused": {func(c *testCloud) {
			c.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: "no"}
		}, 1, core.OperationFailed, "no"},
		"its answer is lost, and nothing came of it": {func(c *testCloud) { c.fail["live-migrate"] = unreachable }, 1, core.OperationFailed,
			"it was not done"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newTestCloud()
				tt.cloud(c)
				b := newBench(t, t.TempDir(), c)
				defer b.end()
				b.arm()
				id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused || op.State.Ended() })
				if got := op.Items[0]; got.State != tt.state || !strings.Contains(got.Text, tt.text) {
					t.Errorf("it ended as %s: %q; want %s, %q", got.State, got.Text, tt.state, tt.text)
				}
				n := 0
				for _, w := range c.written() {
					if w == "live-migrate id-web-1" {
						n++
					}
				}
				if n != tt.writes {
					t.Errorf("the cloud received %q; want %d of the first", c.written(), tt.writes)
				}
				if want := tt.state == core.OperationFailed; (op.State == core.OperationPaused) != want {
					t.Errorf("the batch is %s", op.State)
				}
			})
		})
	}
}

// The dialog says how often, the grant rests on that number, and an instance that is moved on its own is tried once.
func TestHowOftenIsPartOfWhatIsConfirmed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newTestCloud()
		b := newBench(t, t.TempDir(), c)
		defer b.end()
		all := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		if !strings.Contains(all.Why, "up to the node's 3 attempts") || all.Change.(core.Batch).Items[0].Tries != 3 ||
			!slices.Contains(all.Basis, core.Fact{Name: "attempts", Value: "3"}) {
			t.Errorf("%q, basis %v", all.Why, all.Basis)
		}
		c.failMoves = true
		b.arm()
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || len(c.written()) != 1 {
			t.Errorf("it ended as %s after %q", op.State, c.written())
		}
	})
}

// A batch can be stopped between two tries, and says so.
func TestABatchThatIsStoppedDoesNotTryAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := failsAfter(t, core.ControlStop)
		defer b.end()
		op := b.await(id, func(op core.Operation) bool { return op.Items[0].State.Ended() })
		if got := op.Items[0]; got.State != core.OperationFailed || !strings.Contains(got.Text, "not tried again: the batch is stopped") ||
			len(b.cloud.written()) != 1 {
			t.Errorf("it ended as %s: %q, after %q", got.State, got.Text, b.cloud.written())
		}
	})
}

// failsAfter controls a batch while its first item is under way. Then the item's first try fails, as all later ones will.
func failsAfter(t *testing.T, control core.Control) (b *bench, id string) {
	t.Helper()
	b, id, _ = movesHeld(t)
	c := b.cloud
	c.mu.Lock()
	c.failMoves = true
	c.mu.Unlock()
	b.engine.Control(id, control)
	c.mu.Lock()
	c.migrating = false // the next ones end at once
	c.finish("id-web-1")
	c.mu.Unlock()
	return b, id
}

// A batch that is held keeps an item that waits for another try. When it goes on, the item has the tries that are left.
func TestABatchThatIsHeldTriesAgainWhenItGoesOn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := failsAfter(t, core.ControlPause)
		defer b.end()
		paused := func(op core.Operation) bool { return op.State == core.OperationPaused }
		op := b.await(id, paused)
		if got := op.Items[0]; got.State != core.OperationQueued || len(b.cloud.written()) != 1 ||
			!strings.Contains(got.Text, "try 1 of 3: the migration failed") || !strings.Contains(got.Text, "when the batch goes on") {
			t.Errorf("while it is held, the item is %s: %q, after %q", got.State, got.Text, b.cloud.written())
		}
		b.engine.Control(id, core.ControlResume)
		op = b.await(id, func(op core.Operation) bool { return op.Items[0].State.Ended() })
		if got := op.Items[0]; got.State != core.OperationFailed || !strings.Contains(got.Text, "try 3 of 3: the migration failed") ||
			len(b.cloud.written()) != 3 {
			t.Errorf("it ended as %s: %q, after %q", got.State, got.Text, b.cloud.written())
		}
	})
}

// A try that was not sent, as a server was away, is still to come, and no other one again: nothing is tried more often than was
// confirmed.
func TestNothingIsTriedMoreOftenThanConfirmed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, _ := movesHeld(t)
		defer b.end()
		c := b.cloud
		c.mu.Lock()
		c.failMoves, c.migrating = true, false
		c.unsure = &core.APIError{Kind: core.ErrServer, Call: "get the operator lease", Message: "etcd leader changed", Status: 500}
		c.finish("id-web-1")
		c.mu.Unlock()
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if got := op.Items[0]; got.State != core.OperationQueued || !strings.Contains(got.Text, "try 2 of 3") || len(c.written()) != 1 {
			t.Errorf("while the server is away, the item is %s: %q, after %q", got.State, got.Text, c.written())
		}
		c.mu.Lock()
		c.unsure = nil
		c.mu.Unlock()
		b.engine.Control(id, core.ControlResume)
		op = b.await(id, func(op core.Operation) bool { return op.Items[0].State.Ended() })
		if got := op.Items[0]; got.State != core.OperationFailed || !strings.Contains(got.Text, "try 3 of 3: the migration failed") ||
			len(c.written()) != 3 {
			t.Errorf("it ended as %s: %q, after %q", got.State, got.Text, c.written())
		}
	})
}

// An item that is left out while it waits for another try says what failed.
func TestAnItemThatIsLeftOutSaysWhatFailed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := failsAfter(t, core.ControlPause)
		defer b.end()
		b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		b.engine.Control(id, core.ControlSkip)
		op := b.await(id, func(op core.Operation) bool { return op.Items[0].State.Ended() })
		if got := op.Items[0]; got.State != core.OperationSkipped || strings.Contains(got.Text, "when the batch goes on") ||
			!strings.HasPrefix(got.Text, "left out by the operator; try 1 of 3: the migration failed") {
			t.Errorf("it ended as %s: %q", got.State, got.Text)
		}
	})
}

// An item that waits for another try while its batch is held has failed when the batch is stopped: it was begun.
func TestAHeldBatchThatIsStoppedSaysWhatFailed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := failsAfter(t, core.ControlPause)
		defer b.end()
		b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		b.engine.Control(id, core.ControlStop)
		op := b.await(id, func(op core.Operation) bool { return op.State.Ended() })
		if got := op.Items[0]; got.State != core.OperationFailed || len(b.cloud.written()) != 1 ||
			!strings.Contains(got.Text, "try 1 of 3: the migration failed") || !strings.Contains(got.Text, "not tried again: the batch is stopped") {
			t.Errorf("it ended as %s: %q, after %q", got.State, got.Text, b.cloud.written())
		}
	})
}

// Nothing is tried again when the maintenance was given up meanwhile.
func TestABatchTriesNothingAgainForAMaintenanceThatIsOver(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, _ := movesHeld(t)
		defer b.end()
		c := b.cloud
		c.mu.Lock()
		c.failMoves = true
		c.mu.Unlock()
		c.mu.Lock()
		delete(c.requests, "cmp-1")
		c.mu.Unlock()
		b.sync()
		c.mu.Lock()
		c.finish("id-web-1")
		c.mu.Unlock()
		op := b.await(id, func(op core.Operation) bool { return op.Items[0].State.Ended() })
		if got := op.Items[0]; got.State != core.OperationFailed || !strings.Contains(got.Text, "not tried again") || len(c.written()) != 1 {
			t.Errorf("it ended as %s: %q, after %q", got.State, got.Text, c.written())
		}
	})
}

// A batch that is held ends when the operator has left out all that was left of it: there is nothing for it to go on with.
func TestAHeldBatchEndsWhenNothingIsLeftOfIt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		b.engine.Control(id, core.ControlPause)
		finish()
		b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		b.engine.Control(id, core.ControlSkip)
		synctest.Wait()
		if op := b.await(id, func(op core.Operation) bool { return op.Items[1].State.Ended() }); op.State != core.OperationPaused {
			t.Errorf("with one item left it is %s", op.State)
		}
		b.engine.Control(id, core.ControlSkip)
		want := []core.OperationState{core.OperationDone, core.OperationSkipped, core.OperationSkipped}
		if op := b.awaitEnd(id); op.State != core.OperationDone || !slices.Equal(itemStates(op), want) {
			t.Errorf("it ended as %s: %v, want %v", op.State, itemStates(op), want)
		}
	})
}

// It does not end while an item runs that may have to wait for another try.
func TestAHeldBatchKeepsTheLastItemThatFails(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := twoMove(t, 0)
		defer b.end()
		b.engine.Control(id, core.ControlPause)
		b.engine.Control(id, core.ControlSkip)
		for i, name := range []string{"id-web-2", "id-web-1"} {
			b.cloud.mu.Lock()
			b.cloud.failFirst = i
			b.cloud.finish(name)
			b.cloud.mu.Unlock()
			b.await(id, func(op core.Operation) bool { return op.Items[1].State == core.OperationDone })
		}
		b.await(id, func(op core.Operation) bool {
			return op.State == core.OperationPaused && op.Items[0].State == core.OperationQueued
		})
		b.cloud.mu.Lock()
		b.cloud.migrating = false
		b.cloud.mu.Unlock()
		b.engine.Control(id, core.ControlResume)
		if op := b.awaitEnd(id); op.Items[0].State != core.OperationDone || len(b.cloud.written()) != 3 {
			t.Errorf("it ended with %v, after %q", itemStates(op), b.cloud.written())
		}
	})
}

// twoMove is a batch whose first two items are under way at the same time. As many migrations fail as fail says, those that end first.
func twoMove(t *testing.T, fail int) (b *bench, id string) {
	t.Helper()
	cloud := newTestCloud()
	cloud.migrating, cloud.failFirst = true, fail
	b = newBench(t, t.TempDir(), cloud)
	b.arm()
	id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1", AtOnce: 2})
	if err != nil {
		t.Fatal(err)
	}
	b.await(id, firstTwoRun)
	return b, id
}

func firstTwoRun(op core.Operation) bool {
	return op.Items[0].State == core.OperationVerifying && op.Items[1].State == core.OperationVerifying
}

// A held batch of which nothing is left but what runs is not held any more when the operator lets it go on, and can be held again.
func TestABatchThatOnlyRunsGoesOn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := twoMove(t, 0)
		defer b.end()
		b.engine.Control(id, core.ControlPause)
		b.cloud.mu.Lock()
		b.cloud.finish("id-web-2")
		b.cloud.mu.Unlock()
		paused := func(op core.Operation) bool { return op.State == core.OperationPaused }
		b.await(id, paused)
		b.engine.Control(id, core.ControlSkip)
		synctest.Wait() // the batch waits for what runs
		if op := b.await(id, paused); op.Items[2].State != core.OperationSkipped {
			t.Errorf("it waits with %v", itemStates(op))
		}
		resume(b, id)
		b.await(id, func(op core.Operation) bool { return op.State == core.OperationRunning && op.Text == "" })
		b.engine.Control(id, core.ControlPause)
		b.cloud.mu.Lock()
		b.cloud.failFirst = 1
		b.cloud.finish("id-web-1")
		b.cloud.mu.Unlock()
		if op := b.await(id, paused); op.Items[0].State != core.OperationQueued || len(b.cloud.written()) != 2 {
			t.Errorf("held again: %v, after %q", itemStates(op), b.cloud.written())
		}
	})
}

// An item that waited for another try while the batch was held goes on at once, beside others that run.
func TestAnItemGoesOnBesideOthers(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id := twoMove(t, 1)
		defer b.end()
		cloud := b.cloud
		b.engine.Control(id, core.ControlPause)
		cloud.mu.Lock()
		cloud.finish("id-web-1")
		cloud.mu.Unlock()
		b.await(id, func(op core.Operation) bool {
			return op.State == core.OperationPaused && op.Items[0].State == core.OperationQueued
		})
		resume(b, id)
		if op := b.await(id, firstTwoRun); op.Items[2].State != core.OperationQueued {
			t.Errorf("beside both, %v", itemStates(op))
		}
		want := []string{"live-migrate id-web-1", "live-migrate id-web-1", "live-migrate id-web-2"}
		if got := slices.Sorted(slices.Values(cloud.written())); !slices.Equal(got, want) {
			t.Errorf("the cloud received %q, want %q", got, want)
		}
	})
}
