package engine

import (
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// moveBook follows Nova's migrations for the journal. It is owned by the goroutine of Run.
type moveBook struct {
	asOf  time.Time         // of the list that was looked at last
	first time.Time         // when this run looked first
	from  time.Time         // what ended up to then is in the journal, or was before it
	known map[uint64]uint32 // the status of each migration, as this run saw it; both as sums: tens of thousands are known after some hours
	seed  maphash.Seed
}

// sums stand for a migration and for its status. Two of a hundred thousand migrations have one sum only by a chance of some 1 in 10^9.
func (b *moveBook) sums(m *core.Migration) (key uint64, status uint32) {
	var h maphash.Hash
	h.SetSeed(b.seed)
	_, _ = h.WriteString(m.InstanceID) // which never fails
	maphash.WriteComparable(&h, m.ID)
	return h.Sum64(), uint32(maphash.String(b.seed, m.Status))
}

// remember takes in how far an earlier run has come.
func (b *moveBook) remember(past []Record) {
	for _, r := range past {
		if r.Kind == RecordMove && r.Move != nil && r.Move.Ended.After(b.from) {
			b.from = r.Move.Ended
		}
	}
}

// observeMoves journals the migrations that have ended since, whoever began them.
func (e *Engine) observeMoves(s *core.Snapshot) {
	b, src := &e.moves, s.Sources[core.SourceMigrations]
	if e.cfg.Journal == nil || src.AsOf.IsZero() || src.AsOf.Equal(b.asOf) || !s.Known(core.SourceInstances) {
		return
	}
	if b.first.IsZero() {
		b.first = s.Now
	}
	requests := s.Sources[core.SourceClusterRequests]
	if b.from.IsZero() && (connecting(s) || requests.AsOf.IsZero() && requests.State == core.SourceFailed) {
		return // whether an update runs, whose migrations are all told, is not known yet
	}
	b.asOf = src.AsOf
	if b.from.IsZero() {
		if b.from = b.first; e.history.Update.UID != "" && e.history.Update.Ended.IsZero() {
			b.from = e.history.Update.Started
		}
	}
	if b.known == nil || len(b.known) > mostMovesKnown {
		b.forget(s)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Migrations)) {
		for _, m := range slices.Backward(s.Migrations[id]) {
			key, status := b.sums(m)
			was, seen := b.known[key]
			if !seen || was != status {
				b.known[key] = status
			}
			if m.Running() || m.Status == "reverting" || seen && was == status || !seen && !m.Updated.After(b.from) {
				continue
			}
			e.see(Record{Kind: RecordMove, At: e.when(s, m.Updated), Node: nodeName(s, m.SourceHost), Move: moveRecord(s, m)})
		}
	}
}

// mostMovesKnown is how many migrations are known at a time, some 3 MB. One that Nova does not list any more stays known below that: it is
// listed again when somebody looks at its host.
const mostMovesKnown = 100000

// forget drops what Nova does not list.
func (b *moveBook) forget(s *core.Snapshot) {
	known := map[uint64]uint32{}
	if b.known == nil {
		b.seed = maphash.MakeSeed()
	}
	for _, all := range s.Migrations {
		for _, m := range all {
			key, _ := b.sums(m)
			if status, ok := b.known[key]; ok {
				known[key] = status
			}
		}
	}
	b.known = known
}

func nodeName(s *core.Snapshot, host string) string {
	if n := s.NodeOfHost(host); n != nil {
		return n.Name
	}
	return ""
}

func moveRecord(s *core.Snapshot, m *core.Migration) *MoveRecord {
	out := &MoveRecord{Migration: m.ID, Instance: m.InstanceID, Type: m.Type, Status: m.Status, From: progress.HostLabel(s, m.SourceHost),
		To: progress.HostLabel(s, m.DestHost), Began: m.Created.UTC(), Ended: m.Updated.UTC(), Text: wording.OneLine(m.Failure, mostOfReason)}
	if in := s.Instances.At(m.InstanceID); in != nil {
		out.Name, out.Project = wording.OneLine(progress.InstanceLabel(in), 100), wording.OneLine(s.Project(in.ProjectID), 100)
	}
	return out
}
