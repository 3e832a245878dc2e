package engine

import (
	"sync"
	"time"
)

// leaveTimeout is how long leaving waits for the last records: a disk that hangs must not keep the program.
const leaveTimeout = 10 * time.Second

// scribe keeps the journal in a goroutine of its own, in the order in which it is told. A disk can take as long as a network: while it
// works for another, or a folder on NFS is away, an fsync takes seconds, or does not come back. Whoever takes in what the cluster does,
// and shows it, must not wait for that; whoever is about to write to a cluster must.
//
// What waits is not bounded: it is what the operator did, and transitions, of which a cluster of thousands of nodes has some a second.
type scribe struct {
	journal book

	mu      sync.Mutex
	waiting []entry
	writing bool
}

// book is what a scribe writes in: a Journal.
type book interface {
	Write(r Record, durable bool) error
	Keep(durable bool, records ...Record) error
}

// entry are records that are to be written together, or only a mark between them.
type entry struct {
	records []Record
	durable bool
	must    bool        // a write depends on it: what cannot be written now is refused, and not written later
	done    func(error) // may be nil
}

// put hands records over and returns at once. done, if there is one, is called when they are written, or when that has failed.
func (s *scribe) put(durable bool, done func(error), records ...Record) {
	for i := range records {
		records[i] = records[i].detached()
	}
	s.add(entry{records: records, durable: durable, done: done})
}

// demand hands a record over on which a write depends, and returns at once. done is called when it is on the disk, or when that has failed.
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

// written is closed when everything that was handed over so far is written.
func (s *scribe) written() <-chan struct{} {
	all := make(chan struct{})
	s.put(false, func(error) { close(all) })
	return all
}

// detached is the record without anything in it that its maker may still change: it is written down later.
func (r Record) detached() Record {
	r.Intent, r.Object, r.Stage, r.Round, r.Phase = copied(r.Intent), copied(r.Object), copied(r.Stage), copied(r.Round), copied(r.Phase)
	r.Update, r.Change, r.Tags, r.Override, r.Refusal = copied(r.Update), copied(r.Change), copied(r.Tags), copied(r.Override),
		copied(r.Refusal)
	r.Begun = copied(r.Begun)
	return r
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
