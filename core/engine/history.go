package engine

import (
	"maps"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// replay makes a History from records of the journal.
func replay(past []Record) core.History {
	h := core.History{Changes: map[string]core.AnnotationChange{}, Tries: map[string]core.AnnotationChange{},
		Tags: map[string]core.TagChange{}, Stopped: map[string]core.StopRecord{},
		Cold: map[string]core.ColdMigration{}, Silences: map[string]core.SilenceRecord{}}
	stages, locks := map[string]core.StageRecord{}, map[string]*core.LockRecord{}
	rounds, earlier := map[string]core.Round{}, map[string]core.Round{}
	courses, stands := map[string]core.Course{}, map[core.PhaseID][]core.Standstill{}
	phases, refused := map[core.PhaseID]core.PhaseRecord{}, map[string]core.RefusalRecord{}
	unseen := unseenEnds(past)
	var last time.Time
	for i, r := range past {
		last = core.Later(last, r.At)
		if unseen[i] {
			r = r.unseen()
		}
		switch r.Kind {
		case RecordUpdate:
			if r.Update != nil && !r.endsEarlier(h.Update.UID) {
				if r.Update.UID != h.Update.UID {
					clear(phases)
					clear(courses)
					clear(stands)
				}
				h.Update = *r.Update
			}
		case RecordPhase:
			if r.Phase != nil {
				phases[r.Number] = *r.Phase
			}
		case RecordStage:
			if r.Stage != nil && r.Object != nil {
				if now := stages[r.Object.UID]; r.Reconstructed == "" || now.Stage == r.Stage.Stage && !now.Since.Exact {
					st := *r.Stage
					st.Since.Exact = st.Since.Exact && r.Exact // an older Lockstep said so of what it had found later
					stages[r.Object.UID] = st
				}
				courses[r.Object.UID] = r.course(courses[r.Object.UID])
			}
		case RecordStandstill:
			if r.Stands != nil {
				stands[r.Number] = core.WithStandstill(stands[r.Number], *r.Stands)
			}
		case RecordRound:
			if r.Round != nil && r.Object != nil {
				if old := rounds[r.Object.UID]; old.Earlier(*r.Round) {
					earlier[r.Object.UID] = old
				}
				if earlier[r.Object.UID].SameUpdate(*r.Round) {
					delete(earlier, r.Object.UID)
				}
				rounds[r.Object.UID] = *r.Round
			}
		case RecordMigrationRefused:
			if r.Refusal != nil && r.Object != nil {
				refused[r.Object.UID] = *r.Refusal
			}
		case RecordLock:
			if r.Object != nil {
				locks[r.Object.UID] = &core.LockRecord{State: core.LockState(r.To), Since: core.Since{At: r.At, Exact: r.Exact}}
			}
		case RecordForetold:
			if r.Foretold != nil {
				h.Foretold = core.WithForetold(h.Foretold, r.Foretold.key(), r.Foretold.kept())
			}
		case RecordVerified, RecordMigrated, RecordUp:
			noteRecord(&h, r)
		}
	}
	h.Stages, h.Locks, h.Rounds, h.Phases, h.Refused = stages, locks, rounds, phases, refused
	h.Courses, h.Stands, h.Earlier = courses, stands, earlier
	maps.DeleteFunc(h.Silences, func(_ string, r core.SilenceRecord) bool { return !r.Silence.Ends.After(last) })
	if len(phases) == 0 {
		h.Phases = nil
	}
	return h
}

// endsEarlier tells whether the record is the end of another update than the one that a journal has come to, by its UID. A run that did
// not look when an update ended tells that when it finds the next one, which another run may have told long before. It changes nothing.
func (r Record) endsEarlier(current string) bool {
	return r.Update != nil && current != "" && r.Update.UID != current && !r.Update.Ended.IsZero()
}

// course is a node's course with the stage that the record tells about.
func (r Record) course(before core.Course) core.Course {
	if len(r.Course) > 0 {
		return r.Course
	}
	if r.Reconstructed != "" {
		return before.Insert(core.CourseStage{Stage: r.Stage.Stage, Since: core.Since{At: r.Stage.Since.At}, Reconstructed: true},
			core.Stage(r.From))
	}
	return before.With(courseStage(*r.Stage, r.Exact, r.Text))
}

// courseStage is a stage as a part of its node's course. The reason of a stage is kept where the node stands still.
func courseStage(r core.StageRecord, seen bool, why string) core.CourseStage {
	p := core.CourseStage{Stage: r.Stage, Since: core.Since{At: r.Since.At, Exact: seen, Later: !seen && r.Since.Later}}
	if r.Stage == core.StageWaiting || r.Stage == core.StageFailed {
		p.Why = wording.OneLine(why, core.MostWhy)
	}
	return p
}

// noteRecord takes in how a write ended. The History must own its maps of what was done.
func noteRecord(h *core.History, r Record) {
	switch {
	case r.Object == nil:
	case r.Kind == RecordMigrated:
		delete(h.Cold, r.Object.UID)
	case r.Kind == RecordUp:
		delete(h.Stopped, r.Object.UID)
	}
	if r.Kind == RecordMigrated || r.Kind == RecordUp {
		return
	}
	if r.Change != nil && r.Object != nil && (r.State == string(core.OperationDone) || r.State == string(core.OperationUnknown)) {
		if m := h.ChangesOf(r.Change.Key); m != nil {
			noteChange(*m, r.Object.UID, *r.Change)
		}
	}
	if r.Override != nil {
		h.Overrides = progress.WithOverride(h.Overrides, *r.Override)
	}
	if r.Tags != nil && r.Object != nil {
		step.NoteTags(h.Tags, r.Object.UID, *r.Tags)
	}
	if r.Intent != nil && r.Object != nil {
		noteStop(h.Stopped, *r.Intent, core.OperationState(r.State), core.StopRecord{Name: r.Object.Name, At: r.At, By: r.By})
		core.NoteCold(h.Cold, *r.Intent, core.OperationState(r.State), r.cold())
	}
	if r.Silence != nil && r.Intent != nil && core.OperationState(r.State).MayHaveBeenDone() {
		noteSilence(&h.Silences, r.Intent.Kind, core.SilenceRecord{Silence: *r.Silence, At: r.At, By: r.By})
	}
}

// own clones the History's maps of what was done, so that they can be changed.
func own(h core.History) core.History {
	h.Changes, h.Tries, h.Tags, h.Stopped, h.Cold = ownMap(h.Changes), ownMap(h.Tries), ownMap(h.Tags), ownMap(h.Stopped), ownMap(h.Cold)
	h.Silences = ownMap(h.Silences)
	return h
}

// ownMap is a clone of m that is never nil.
func ownMap[K comparable, V any](m map[K]V) map[K]V {
	if m = maps.Clone(m); m == nil {
		m = map[K]V{}
	}
	return m
}

// unseenEnds are the indexes of the writes that were begun and whose end was not recorded, because Lockstep was killed.
func unseenEnds(past []Record) map[int]bool {
	last := map[string]int{} // by operation: its newest write
	for i, r := range past {
		switch r.Kind {
		case RecordBefore:
			last[r.Operation] = i
		case RecordVerified:
			delete(last, r.Operation)
		}
	}
	unseen := map[int]bool{}
	for _, i := range last {
		unseen[i] = true
	}
	return unseen
}

// cold is the cold migration that the record of a write tells about. Its source is the host on which the instance was when the write
// began.
func (r Record) cold() core.ColdMigration {
	c := core.ColdMigration{At: r.At, By: r.By}
	if r.Object != nil {
		c.Name = r.Object.Name
	}
	if r.Begun != nil {
		c.From, c.Known, c.At = r.Begun.Host, r.Begun.Known, r.Begun.At
	}
	return c
}

// noteChange remembers that Lockstep changed an annotation of a node. The old value is the one before the first of Lockstep's changes that
// followed one another: where somebody else has changed it since, theirs is the old one. A change back to it is forgotten.
func noteChange(changes map[string]core.AnnotationChange, uid string, c core.AnnotationChange) {
	if before, ok := changes[uid]; ok && step.EqualText(before.New, c.Old) {
		c.Old = before.Old
	}
	if step.EqualText(c.Old, c.New) {
		delete(changes, uid)
		return
	}
	changes[uid] = c
}

// noteStop remembers that Lockstep stopped or shelved an instance, or may have done so, until it is up again.
func noteStop(stopped map[string]core.StopRecord, i core.Intent, ended core.OperationState, r core.StopRecord) {
	switch i.Kind {
	case core.IntentStop, core.IntentShelve:
		if ended == core.OperationDone || ended == core.OperationUnknown {
			stopped[i.Instance] = r
		}
	case core.IntentStart, core.IntentUnshelve:
		if ended == core.OperationDone {
			delete(stopped, i.Instance)
		}
	}
}

// HistoryOf makes a History from records, as a run of Lockstep that begins after them has it.
func HistoryOf(records []Record) core.History { return replay(records) }
