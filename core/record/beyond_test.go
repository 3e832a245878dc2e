package record

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// setMode is the record of an operator's change of a node's migration mode. Empty: the annotation is not set.
func setMode(minute int, old, now string) engine.Record {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	when := at(minute).Time
	return engine.Record{Kind: engine.RecordVerified, At: when, Operation: "op-" + when.Format(time.Kitchen),
		State: string(core.OperationDone), Intent: &core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1"}},
		Object: &core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "uid-1"},
		Change: &core.AnnotationChange{Node: "cmp-1", Key: core.AnnotationMigrationMode, Old: text(old), New: text(now), At: when}}
}

// A change is left to be set back in the report of the update in which it was made, up to when it is set back, whichever update that is in.
func TestWhatIsSetBackLaterIsNotLeft(t *testing.T) {
	r := &Reader{}
	add := func(rec engine.Record) { r.Add(engine.JournalLine{Record: rec}) }
	update := func(uid, release string, minute int, ended bool) {
		u := core.UpdateRecord{UID: uid, Release: release, Started: at(minute).Time}
		if ended {
			u.Started, u.Ended, u.EndSeen = at(minute-9).Time, at(minute).Time, true
		}
		add(engine.Record{Kind: engine.RecordUpdate, At: at(minute).Time, Update: &u})
	}
	left := func(a *Account, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return len(a.Left)
	}
	update("A", "21.0.1", 0, false)
	add(setMode(5, "", "manual"))
	update("A", "21.0.1", 9, true)
	if n := left(r.Account("")); n != 1 {
		t.Errorf("%d changes are left of A, want 1", n)
	}
	add(setMode(12, "manual", ""))
	add(engine.Record{Kind: engine.RecordRound, At: at(14).Time, Node: "cmp-1", Label: "cmp-1",
		Round: &core.Round{Request: "r", Started: at(13).Time, Ended: at(14).Time}})
	if n := left(r.Account("")); n != 0 {
		t.Errorf("%d changes are left of A, though they are set back", n)
	}
	if n := left(r.AccountOutside()); n != 0 {
		t.Errorf("%d changes are left of what was after A: it was the setting back", n)
	}
	update("B", "21.0.2", 20, false)
	add(setMode(22, "", "skip"))
	if n := left(r.Account("21.0.1")); n != 0 {
		t.Errorf("%d changes of B's are left of A", n)
	}
	if n := left(r.Account("21.0.2")); n != 1 {
		t.Errorf("%d changes are left of B, want 1", n)
	}
}

// The time for which an instance was down is told where the record of its arrival is there. One that was only seen to be confirmed may have
// waited for that for hours.
func TestDownIsNotTheWaitForAConfirmation(t *testing.T) {
	update := engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}
	move := func(instance, kind, status string, began, ended int) engine.Record {
		return engine.Record{Kind: engine.RecordMove, At: at(ended).Time, Move: &engine.MoveRecord{Instance: instance, Type: kind, Status: status,
			From: "cmp-1", To: "cmp-2", Began: at(began).Time, Ended: at(ended).Time}}
	}
	a := written(t, update, move("confirmed", "migration", "confirmed", 1, 59), move("both", "migration", "finished", 2, 6),
		move("both", "migration", "confirmed", 2, 58), move("evacuated", "evacuation", "completed", 3, 57),
		move("done", "evacuation", "done", 4, 7))
	want := map[string]float64{"confirmed": 0, "both": 240, "evacuated": 0, "done": 180}
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			if in.Down != want[in.ID] {
				t.Errorf("%s: down for %v s, want %v", in.ID, in.Down, want[in.ID])
			}
			delete(want, in.ID)
		}
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}

// A run that began in one update and is there in the next belongs to both, and so does the cluster's name.
func TestARunThatBeganBeforeIsToldWithItsUpdate(t *testing.T) {
	r := &Reader{}
	line := 0
	add := func(rec engine.Record) {
		line++
		rec.Run = "run-1"
		r.Add(engine.JournalLine{Record: rec, Line: line})
	}
	add(engine.Record{Kind: engine.RecordUpdate, At: at(0).Time, Update: &core.UpdateRecord{UID: "A", Release: "21.0.1", Started: at(0).Time}})
	add(engine.Record{Kind: engine.RecordStart, At: at(1).Time, Cluster: "mos", Version: "1.2", By: "anna"})
	add(engine.Record{Kind: engine.RecordUpdate, At: at(9).Time, Update: &core.UpdateRecord{UID: "B", Release: "21.0.2", Started: at(9).Time}})
	a, err := r.Account("21.0.2")
	if err != nil {
		t.Fatal(err)
	}
	if a.Cluster != "mos" || len(a.Runs) != 1 || a.Runs[0].Version != "1.2" || len(a.Runs[0].Lines) != 1 {
		t.Errorf("of %q, with %+v", a.Cluster, a.Runs)
	}
}
