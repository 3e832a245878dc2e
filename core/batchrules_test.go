package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// movesHeld is a batch of three moves whose first is under way until finish is called.
func movesHeld(t *testing.T) (b *bench, id string, finish func()) {
	t.Helper()
	b = newBench(t, t.TempDir(), newTestCloud())
	b.cloud.migrating = true
	b.arm()
	id, err := b.confirm(Intent{Kind: IntentLiveMigrateAll, Node: "cmp-1"})
	if err != nil {
		t.Fatal(err)
	}
	b.await(id, func(op Operation) bool { return op.Items[0].State == OperationVerifying })
	return b, id, func() {
		b.cloud.mu.Lock()
		defer b.cloud.mu.Unlock()
		b.cloud.migrating = false
		b.cloud.finish("id-web-1")
	}
}

func itemStates(op Operation) []OperationState {
	var out []OperationState
	for _, item := range op.Items {
		out = append(out, item.State)
	}
	return out
}

// A batch begins nothing on facts that are stale: it pauses, says which, stays so when it is told to go on too early, and goes
// on where it was, with nothing lost, once they are seen again.
func TestBatchPausesOnStaleFacts(t *testing.T) {
	b, id, finish := movesHeld(t)
	defer b.end()
	b.engine.Apply(Delta{Source: SourceInstances, State: SourceStale, Err: &APIError{Kind: ErrUnreachable, Call: "list instances"}, At: time.Now()})
	b.engine.call(b.engine.drain)
	finish()
	pausedStale := func(op Operation) bool {
		return op.State == OperationPaused && strings.Contains(op.Text, "not fresh") && strings.Contains(op.Text, "instances")
	}
	op := b.await(id, pausedStale)
	if want := []OperationState{OperationDone, OperationQueued, OperationQueued}; !slices.Equal(itemStates(op), want) {
		t.Fatalf("it paused with %v, want %v", itemStates(op), want)
	}
	resume(b, id)
	b.await(id, pausedStale)
	b.sync()
	resume(b, id)
	if op := b.awaitEnd(id); op.State != OperationDone {
		t.Errorf("it ended as %s: %s", op.State, op.Text)
	}
	if got := b.cloud.written(); len(got) != 3 {
		t.Errorf("the cloud received %q", got)
	}
}

// What is still to be done changes: the batch pauses before it begins anything more, not only when that one's turn comes, and
// says it once. What has changed is not done without a grant of its own.
func TestBatchPausesWhenWhatIsStillToBeDoneChanges(t *testing.T) {
	b, id, finish := movesHeld(t)
	defer b.end()
	b.cloud.mu.Lock()
	b.cloud.instances["id-web-3"].Tags = []string{TagMaintenanceAction + "notify"}
	b.cloud.mu.Unlock()
	b.sync()
	finish()
	op := b.await(id, func(op Operation) bool { return op.State == OperationPaused })
	if want := []OperationState{OperationDone, OperationQueued, OperationQueued}; !slices.Equal(itemStates(op), want) || !strings.Contains(op.Text, "web-3, which is still to be done") || !strings.Contains(op.Text, "notify") {
		t.Fatalf("it paused as %q with %v, want %v", op.Text, itemStates(op), want)
	}
	resume(b, id)
	op = b.await(id, func(op Operation) bool { return op.Items[2].State.Ended() })
	if want := []OperationState{OperationDone, OperationDone, OperationFailed}; !slices.Equal(itemStates(op), want) || !strings.Contains(op.Items[2].Text, "notify") {
		t.Errorf("it went on to %v, %q; want %v", itemStates(op), op.Items[2].Text, want)
	}
	if got := b.cloud.written(); len(got) != 2 {
		t.Errorf("the cloud received %q", got)
	}
}

// What has left the host by itself is no change that stops a batch: there is nothing left to do.
func TestBatchPassesOverWhatIsGone(t *testing.T) {
	b, id, finish := movesHeld(t)
	defer b.end()
	b.cloud.mu.Lock()
	delete(b.cloud.instances, "id-web-3")
	b.cloud.mu.Unlock()
	b.sync()
	finish()
	op := b.awaitEnd(id)
	if want := []OperationState{OperationDone, OperationDone, OperationSkipped}; !slices.Equal(itemStates(op), want) || op.State != OperationDone {
		t.Errorf("it ended as %s with %v, want %v", op.State, itemStates(op), want)
	}
}

// Told otherwise, a batch goes on past a failure, which stays on its item; but not past the gate.
func TestBatchGoesOnPastFailuresWhenToldTo(t *testing.T) {
	t.Run("a refusal", func(t *testing.T) {
		cloud := newTestCloud()
		cloud.fail["live-migrate"] = &APIError{Kind: ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentLiveMigrateAll, Node: "cmp-1", PastFailures: true})
		if err != nil {
			t.Fatal(err)
		}
		op := b.awaitEnd(id)
		if want := []OperationState{OperationFailed, OperationDone, OperationDone}; !slices.Equal(itemStates(op), want) || op.State != OperationFailed || !strings.Contains(op.Items[0].Text, failText) {
			t.Errorf("it ended as %s with %v (%s), want failed with %v", op.State, itemStates(op), op.Items[0].Text, want)
		}
	})
	t.Run("writing is disarmed", func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		b.cloud.migrating = true
		id, err := b.confirm(Intent{Kind: IntentLiveMigrateAll, Node: "cmp-1", PastFailures: true})
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op Operation) bool { return op.Items[0].State == OperationVerifying })
		b.engine.Disarm()
		b.cloud.mu.Lock()
		b.cloud.finish("id-web-1")
		b.cloud.mu.Unlock()
		op := b.await(id, func(op Operation) bool { return op.State == OperationPaused })
		if want := []OperationState{OperationDone, OperationQueued, OperationQueued}; !slices.Equal(itemStates(op), want) {
			t.Errorf("it paused with %v, want %v", itemStates(op), want)
		}
	})
}

// Only what has nothing to do with one another can be gone on with: never a restart, which rests on the last one being well.
func TestWhichBatchesMayGoPastFailures(t *testing.T) {
	for kind, want := range map[IntentKind]bool{
		IntentLiveMigrateAll: true, IntentSetMode: true, IntentSetAttempts: true, IntentRestartPods: false, IntentRestartAgents: false, IntentReboot: false,
	} {
		step := Step{Intent: Intent{Kind: kind}, Change: Batch{Items: make([]BatchItem, 3)}}
		if got := step.MayGoPast(); got != want {
			t.Errorf("%s may go past failures: %v, want %v", kind, got, want)
		}
	}
	if (Step{Intent: Intent{Kind: IntentLiveMigrateAll}, Change: Batch{Items: make([]BatchItem, 1)}}).MayGoPast() {
		t.Error("a list of one has nothing to go on with")
	}
}
