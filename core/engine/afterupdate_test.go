package engine

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// stopsWeb1 is a run that has stopped web-1.
func stopsWeb1(t *testing.T, dir string, cloud *testCloud) *bench {
	t.Helper()
	b := newBench(t, dir, cloud)
	b.arm()
	id, err := b.confirm(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"})
	if err != nil {
		t.Fatal(err)
	}
	b.awaitEnd(id)
	return b
}

// An instance counts as stopped for the update until it is up again, even after a restart of Lockstep.
func TestStoppedInstancesAreRemembered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := stopsWeb1(t, dir, cloud)
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" || r.By != "anna@jump01" {
			t.Errorf("%+v", r)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" {
			t.Errorf("after a restart: %+v", r)
		}
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentStart, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if stopped := b.engine.Snapshot().History.Stopped; len(stopped) != 0 {
			t.Errorf("after its start: %v", stopped)
		}
	})
}

// Once somebody else has started it, it is theirs: when it is stopped the next time, nobody offers to start it.
func TestWhatItsOwnerHasStartedIsNotStoppedForTheUpdate(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.since = time.Now()
		b := stopsWeb1(t, dir, cloud)
		becomes := func(status string) {
			cloud.mu.Lock()
			cloud.instances["id-web-1"].Status = status
			cloud.mu.Unlock()
			time.Sleep(2 * upAfter)
			b.sync()
		}
		becomes("SHUTOFF")
		if len(b.engine.Snapshot().History.Stopped) != 1 {
			t.Error("it is forgotten while it is down")
		}
		becomes("ACTIVE")
		b.engine.changed() // a Snapshot has what was seen to change in the one before
		becomes("SHUTOFF")
		if stopped := b.engine.Snapshot().History.Stopped; len(stopped) != 0 {
			t.Errorf("its owner has stopped it: %v", stopped)
		}
		b.end()
		told := 0
		if _, err := ReadJournal(b.path, func(r Record) {
			if r.Kind == RecordUp && r.Object.UID == "id-web-1" && r.Text == "is ACTIVE on cmp-1" && !r.Began.IsZero() {
				told++
			}
		}); err != nil || told != 1 {
			t.Errorf("the journal tells %d times that it is up: %v", told, err)
		}
		b = newBench(t, dir, cloud)
		defer b.end()
		if stopped := b.engine.Snapshot().History.Stopped; len(stopped) != 0 {
			t.Errorf("after a restart: %v", stopped)
		}
	})
}
