package engine

import (
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
	known map[string]string // the status of each migration, as this run saw it
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
			key := m.Key()
			was, seen := b.known[key]
			if b.known[key] = m.Status; m.Running() || m.Status == "reverting" || seen && was == m.Status || !seen && !m.Updated.After(b.from) {
				continue
			}
			e.see(Record{Kind: RecordMove, At: e.when(s, m.Updated), Node: nodeName(s, m.SourceHost), Move: moveRecord(s, m)})
		}
	}
}

// mostMovesKnown is how many migrations are known at a time, some 10 MB. One that Nova does not list any more stays known below that: it is
// listed again when somebody looks at its host.
const mostMovesKnown = 100000

// forget drops what Nova does not list.
func (b *moveBook) forget(s *core.Snapshot) {
	known := map[string]string{}
	for _, all := range s.Migrations {
		for _, m := range all {
			if status, ok := b.known[m.Key()]; ok {
				known[m.Key()] = status
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
