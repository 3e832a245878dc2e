package engine

import (
	"sync"
	"time"
)

// leaveTimeout is how long leaving waits for the last records: a disk that hangs must not keep the program from ending.
const leaveTimeout = 10 * time.Second

// scribe writes the journal in a goroutine of its own, in the order in which it is given records. A disk can be as slow as a network:
// under load, or when a folder on NFS is away, an fsync takes seconds or does not return. The Engine must not wait for that; a write to
// a cluster must.
//
// The number of waiting records is not bounded. They are what the operator did, and transitions; a cluster of thousands of nodes has a
// few of those a second.
type scribe struct {
	journal book

	mu      sync.Mutex
	waiting []entry
	writing bool
}

// book is what a scribe writes to: a Journal.
type book interface {
	Write(r Record, durable bool) error
	Keep(durable bool, records ...Record) error
}

// entry is a group of records to write together, or, without records, a mark in the order.
type entry struct {
	records []Record
	durable bool
	must    bool        // a write depends on it: if it cannot be written now it fails, and is not written later
	done    func(error) // may be nil
}

// put hands records over and returns at once. done may be nil; it is called when they are written, or when that has failed.
func (s *scribe) put(durable bool, done func(error), records ...Record) {
	for i := range records {
		records[i] = records[i].detached()
	}
	s.add(entry{records: records, durable: durable, done: done})
}

// demand hands over a record that a write depends on, and returns at once. done is called when it is on the disk, or when that has
// failed.
func (s *scribe) demand(r Record, done func(error)) {
	s.add(entry{records: []Record{r.detached()}, durable: true, must: true, done: done})
}

func (s *scribe) add(e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, e)
	if !s.writing {
		s.writing = true
		go s.write()
	}
}

func (s *scribe) write() {
	for {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			s.waiting, s.writing = nil, false
			s.mu.Unlock()
			return
		}
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		var err error
		if len(next.records) > 0 {
			err = s.keep(next)
		}
		if next.done != nil {
			next.done(err)
		}
	}
}

func (s *scribe) keep(e entry) error {
	if e.must {
		return s.journal.Write(e.records[0], e.durable)
	}
	return s.journal.Keep(e.durable, e.records...)
}

// written returns a channel that is closed when everything handed over so far is written.
func (s *scribe) written() <-chan struct{} {
	all := make(chan struct{})
	s.put(false, func(error) { close(all) })
	return all
}

// detached copies everything in the record that its maker could still change, because it is written later.
func (r Record) detached() Record {
	r.Intent, r.Object, r.Stage, r.Round, r.Phase = copied(r.Intent), copied(r.Object), copied(r.Stage), copied(r.Round), copied(r.Phase)
	r.Update, r.Change, r.Tags, r.Override, r.Refusal = copied(r.Update), copied(r.Change), copied(r.Tags), copied(r.Override),
		copied(r.Refusal)
	r.As, r.Entry, r.Note = copied(r.As), copied(r.Entry), copied(r.Note)
	r.Move, r.Plan, r.PlanStep, r.Forecast = copied(r.Move), copied(r.Plan), copied(r.PlanStep), copied(r.Forecast)
	r.Foretold = copied(r.Foretold)
	r.Begun, r.Stands, r.Silence = copied(r.Begun), copied(r.Stands), copied(r.Silence)
	return r
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
