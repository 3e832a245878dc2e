package engine

import (
	"sync"

	"lockstep/core"
	"lockstep/core/recording"
)

// recorded are the journal's records since the last Snapshot. Running operations add theirs, too.
type recorded struct {
	mu   sync.Mutex
	list []any
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
	f := recording.Frame{Now: s.Now, Wall: s.Wall, Deltas: e.world.noted, History: s.History, Operations: s.Operations, Write: s.Write,
		Notes: s.Notes, Identity: s.Identity, Records: records, Sources: s.Sources}
	e.world.noted = nil
	e.cfg.Recorder(f)
}
