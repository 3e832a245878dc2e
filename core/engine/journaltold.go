package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/core"
)

// told is what other runs on the same journal have seen and recorded, by what it is about. With it, what two dashboards see is recorded
// once. A run that is behind sees the same values later; one that is ahead has written them first.
type told map[string]toldOf

// toldOf is what other runs have recorded about one object.
type toldOf struct {
	last  string
	queue []toldValue // those that this run has not seen yet
}

type toldValue struct {
	value string
	wall  time.Time
}

// toldFor is how long this run may take to see a value that another run has recorded.
const toldFor = core.MostBehind

// observation returns what a record says was seen: about what, and its new value; false for a record of something done.
func (r Record) observation() (about, value string, ok bool) {
	object := ""
	if r.Object != nil {
		object = r.Object.UID
	}
	switch {
	case r.Kind == RecordStage, r.Kind == RecordLock:
		return string(r.Kind) + " " + object, r.To, true
	case r.Kind == RecordRound && r.Round != nil:
		return string(r.Kind) + " " + object, r.Round.Request + beganOrEnded(r.Round.Ended), true
	case r.Kind == RecordUpdate && r.Update != nil:
		return string(r.Kind), r.Update.UID + beganOrEnded(r.Update.Ended), true
	case r.Kind == RecordPhase && r.Phase != nil:
		return fmt.Sprint(r.Kind, " ", r.Number), r.State + beganOrEnded(r.Phase.Ended.At), true
	case r.Kind == RecordStandstill && r.Stands != nil:
		return fmt.Sprint(r.Kind, " ", r.Number), string(r.Stands.Cause) + beganOrEnded(r.Stands.Until), true
	case r.Kind == RecordEntry && r.Entry != nil && r.Entry.What == EntrySeenTo:
		return "", "", false // it was done
	case r.Kind == RecordEntry && r.Entry != nil && (r.Entry.What == EntryCame || r.Entry.What == EntrySettled):
		// Who does something about it sees it as less severe than who only looks.
		return string(r.Kind) + " " + r.Entry.ID, string(r.Entry.What), true
	case r.Kind == RecordEntry && r.Entry != nil:
		return string(r.Kind) + " " + r.Entry.ID, string(r.Entry.What) + " " + r.Entry.Severity, true
	case r.Kind == RecordMove && r.Move != nil:
		return fmt.Sprint(r.Kind, " ", r.Move.Instance, " ", r.Move.Migration), r.Move.Status, true
	case r.Kind == RecordPlan && r.Plan != nil:
		return string(r.Kind) + " " + r.Plan.Update, r.Plan.fingerprint(), true
	case r.Kind == RecordPlanStep && r.PlanStep != nil:
		return fmt.Sprint(r.Kind, " ", r.PlanStep.Plan, " ", r.PlanStep.ID), r.To, true
	case r.Kind == RecordForecast && r.Forecast != nil:
		return fmt.Sprint(r.Kind, " ", r.Forecast.Update, " ", r.Forecast.Moment), "given", true
	case r.Kind == RecordForetold && r.Foretold != nil:
		return string(r.Kind) + " " + r.Foretold.key(), "came", true
	case r.Kind == RecordMigrated:
		return string(r.Kind) + " " + object, r.From, true
	case r.Kind == RecordUp:
		return fmt.Sprint(r.Kind, " ", object, " ", r.Began.UTC().Format(time.RFC3339)), r.Text, true
	case r.Kind == RecordEnded && r.LookedUp:
		return string(r.Kind) + " " + r.Operation, r.State, true
	case r.Kind == RecordMigrationRefused && r.Refusal != nil:
		return string(r.Kind) + " " + object, r.Refusal.At.UTC().Format(time.RFC3339Nano) + " " + r.Refusal.Text, true
	}
	return "", "", false
}

// telling is what the record tells, as far as another one can tell the same.
func (r Record) telling() core.Telling {
	t := core.Telling{At: r.When(), Run: r.Run, Known: r.known()}
	if about, value, ok := r.observation(); ok {
		t.About, t.Value = about, value
	}
	return t
}

// known tells how what the record tells is known.
func (r Record) known() core.Known {
	switch {
	case r.Reconstructed != "":
		return core.KnownByAPI
	case (r.Kind == RecordStage || r.Kind == RecordLock) && !r.Exact,
		r.Kind == RecordUpdate && r.Update != nil && !r.Update.Ended.IsZero() && !r.Update.EndSeen,
		r.Kind == RecordRound && r.Round != nil && r.Round.EndUnseen,
		r.Kind == RecordPhase && r.Phase != nil && !(r.Phase.Started.Exact && (r.Phase.Ended.At.IsZero() || r.Phase.Ended.Exact)):
		return core.KnownFound
	}
	return core.KnownSeen
}

func beganOrEnded(ended time.Time) string {
	if ended.IsZero() {
		return " began"
	}
	return " ended"
}

// toldAs is observation for the records of runs on one journal: what was reconstructed is told once, beside what was seen.
func (r Record) toldAs() (about, value string, ok bool) {
	about, value, ok = r.observation()
	if r.Reconstructed != "" {
		about, value = about+" reconstructed "+r.At.UTC().Format(time.RFC3339), value+" reconstructed"
	}
	return about, value, ok
}

// comesOnce tells whether what the record is about is told of but once, or a few times, however long the update runs: there are tens of
// thousands of migrations.
func (r Record) comesOnce() bool {
	switch r.Kind {
	case RecordMove, RecordForecast, RecordForetold, RecordMigrated, RecordUp, RecordMigrationRefused:
		return true
	}
	return false
}

// hear notes a record of another run.
func (t told) hear(r Record) {
	about, value, ok := r.toldAs()
	if !ok {
		return
	}
	o := t[about]
	o.last = value
	recent := slices.DeleteFunc(slices.Clone(o.queue), func(v toldValue) bool { return r.Wall.Sub(v.wall) > toldFor })
	o.queue = append(recent, toldValue{value, r.Wall})
	t[about] = o
}

// again tells whether another run has recorded what this one is about to record.
func (t told) again(r Record) bool {
	about, value, ok := r.toldAs()
	if !ok {
		return false
	}
	o, heard := t[about]
	if !heard {
		return false
	}
	if i := slices.IndexFunc(o.queue, func(v toldValue) bool { return v.value == value && r.Wall.Sub(v.wall) <= toldFor }); i >= 0 {
		o.queue = slices.Clone(o.queue[i+1:])
		t[about] = o
		if r.comesOnce() && len(o.queue) == 0 {
			delete(t, about) // both have it
		}
		return true
	}
	if o.last == value {
		o.queue = nil
		t[about] = o
		return true
	}
	delete(t, about)
	return false
}

func (t told) clone() told {
	if len(t) == 0 {
		return told{}
	}
	return maps.Clone(t)
}
