package engine

import (
	"reflect"
	"sync"

	"lockstep/core"
	"lockstep/core/recording"
)

// recorded are the journal's records since the last Snapshot. Running operations add theirs, too.
type recorded struct {
	mu   sync.Mutex
	list []any

	history, whole core.History // the last one with newer records of locks, and the same with one table of them; of publish
}

// inOneTable is the History with one table of locks: recordings are read by older versions, too.
func (r *recorded) inOneTable(h core.History) core.History {
	if len(h.LocksLately) == 0 {
		return h
	}
	if !sameTable(h.Locks, r.history.Locks) || !sameTable(h.LocksLately, r.history.LocksLately) {
		r.history, r.whole = h, h.WithLocksInOneTable()
	}
	h.Locks, h.LocksLately = r.whole.Locks, nil
	return h
}

// sameTable tells whether two tables of a History, which are never changed in place, are one.
func sameTable[V any](a, b map[string]V) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// recordAll notes records for the recording, whether a journal keeps them or not.
func (e *Engine) recordAll(records ...Record) {
	if e.cfg.Recorder == nil {
		return
	}
	e.records.mu.Lock()
	defer e.records.mu.Unlock()
	for _, r := range records {
		e.records.list = append(e.records.list, r)
	}
}

// recordFrame gives the recorder what the Snapshot has that the one before had not.
func (e *Engine) recordFrame(s *core.Snapshot) {
	if e.cfg.Recorder == nil {
		return
	}
	e.records.mu.Lock()
	records := e.records.list
	e.records.list = nil
	e.records.mu.Unlock()
	f := recording.Frame{Now: s.Now, Wall: s.Wall, Deltas: e.world.noted, History: e.records.inOneTable(s.History),
		Operations: s.Operations, Write: s.Write, Notes: s.Notes, Identity: s.Identity, Records: records, Sources: s.Sources}
	e.world.noted = nil
	e.cfg.Recorder(f)
}
