package core

import (
	"maps"
	"reflect"
	"time"
)

// History is what was seen and done before now, replayed from the journal and continued while Lockstep runs. It adds times and
// changes that the objects themselves do not keep. No decision to write rests on it.
type History struct {
	Stages  map[string]StageRecord  // by node UID: the stage it is in
	Courses map[string]Course       // by node UID: the stages it went through in the update that runs or ran last
	Locks   map[string]*LockRecord  // by lock UID: the state it is in; see LockRecord and LocksLately
	Outages map[string]OutageRecord // by lock UID: its last outage, as this run of Lockstep saw it
	// by instance ID: the last migration that Nova refused the OpenStack controller (text I), if Lockstep saw it
	Refused map[string]RefusalRecord
	Rounds  map[string]Round            // by node UID: its last maintenance
	Earlier map[string]Round            // by node UID: its last maintenance in an update before that of Rounds
	Phases  map[PhaseID]PhaseRecord     // of the update that runs or ran last
	Stands  map[PhaseID][]Standstill    // of the same update: when a phase did not go on, oldest first
	Update  UpdateRecord                // the update that runs or ran last
	Changes map[string]AnnotationChange // by node UID: annotations that Lockstep set and did not set back
	Tries   map[string]AnnotationChange // by node UID: numbers of migration attempts that Lockstep set and did not set back
	Tags    map[string]TagChange        // by instance ID: maintenance_action tags that Lockstep set and did not set back
	Stopped map[string]StopRecord       // by instance ID: instances that Lockstep stopped or shelved and did not bring back
	Cold    map[string]ColdMigration    // by instance ID: cold migrations that Lockstep began, until their end is seen

	Overrides map[string]Override // by lock UID: locks that Lockstep set instead of their controller

	Silences map[string]SilenceRecord // by ID: silences that Lockstep made and did not expire, also when somebody else did

	// LocksLately are newer than Locks, a few beside thousands: a Snapshot in which a lock has come into another state has a table of its own.
	LocksLately map[string]*LockRecord

	Foretold map[string]Foretold // by what it was of: forecasts of steps, phases and whole updates, and what came; the newest
}

// ForetoldKind is of what an end was forecast.
type ForetoldKind string

// The kinds.
const (
	ForetoldStep  ForetoldKind = "step"  // of an update plan
	ForetoldPhase ForetoldKind = "phase" // where no plan drove the update
	ForetoldNodes ForetoldKind = "nodes" // all nodes are through
	ForetoldWhole ForetoldKind = "whole" // the update is over
)

// Foretold is an end that was forecast, and when it came.
type Foretold struct {
	Update    string // the ClusterMaintenanceRequest's UID
	Kind      ForetoldKind
	ID        string    // of the part, as in the forecast; empty for the others, and in what older versions recorded
	Title     string    // of the step or the phase; empty for the others
	Began     time.Time // the part; zero where nobody knows, for the others, and in what older versions recorded
	Given     time.Time // when it was forecast
	End       time.Time // for when
	Spread    time.Duration
	Unlearned time.Duration // how much of it rested on the documents' or the plan's numbers
	Came      time.Time
}

// Took is how long the part took; 0 where that is not known.
func (f Foretold) Took() time.Duration {
	if f.Began.IsZero() || !f.Came.After(f.Began) {
		return 0
	}
	return f.Came.Sub(f.Began)
}

// Off is by how much it came later than forecast; negative when it came earlier.
func (f Foretold) Off() time.Duration { return f.Came.Sub(f.End) }

// MostForetold is how many forecasts that came true or did not are kept, the newest.
const MostForetold = 64

// WithForetold is a table with one more; the table itself is not changed.
func WithForetold(table map[string]Foretold, key string, f Foretold) map[string]Foretold {
	out := maps.Clone(table)
	if out == nil {
		out = map[string]Foretold{}
	}
	for out[key] = f; len(out) > MostForetold; {
		oldest := ""
		for k, o := range out {
			if c := o.Came.Compare(out[oldest].Came); oldest == "" || c < 0 || c == 0 && k < oldest {
				oldest = k
			}
		}
		delete(out, oldest)
	}
	return out
}

// Lock is the record of a lock; the zero value when there is none.
func (h *History) Lock(uid string) LockRecord {
	if r := h.lockRecord(uid); r != nil {
		return *r
	}
	return LockRecord{}
}

// HasLock tells whether there is a record of a lock.
func (h *History) HasLock(uid string) bool { return h.lockRecord(uid) != nil }

func (h *History) lockRecord(uid string) *LockRecord {
	if r := h.LocksLately[uid]; r != nil {
		return r
	}
	return h.Locks[uid]
}

// mostLately is how many records LocksLately has at most.
const mostLately = 256

// WithLocks is the History with these records of locks, by UID, which never change. The tables of the one before are left as they are.
func (h History) WithLocks(set map[string]*LockRecord) History {
	if len(set) == 0 {
		return h
	}
	lately := make(map[string]*LockRecord, len(h.LocksLately)+len(set))
	maps.Copy(lately, h.LocksLately)
	maps.Copy(lately, set)
	if h.LocksLately = lately; len(lately) > mostLately {
		return h.WithLocksInOneTable()
	}
	return h
}

// WithLocksInOneTable is the History with all records of locks in Locks.
func (h History) WithLocksInOneTable() History {
	if len(h.LocksLately) == 0 {
		return h
	}
	all := make(map[string]*LockRecord, len(h.Locks)+len(h.LocksLately))
	maps.Copy(all, h.Locks)
	maps.Copy(all, h.LocksLately)
	h.Locks, h.LocksLately = all, nil
	return h
}

// StageRecord is since when a node is in its stage.
type StageRecord struct {
	Stage Stage
	Since Since
}

// LockRecord is since when a lock is in its state.
type LockRecord struct {
	State   LockState
	Release string // the lock's release when this run saw it last; empty when it did not
	Since   Since
}

// PassedBy tells whether the lock was released and taken back unseen: it is active at another release, and a controller writes its
// release only when it takes a lock back.
func (r LockRecord) PassedBy(l *WorkloadLock) bool {
	return r.State == LockActive && l.State() == LockActive && r.Release != "" && l.Release != "" && r.Release != l.Release
}

// StateSince is since when a lock is in its state; without a time where that was not seen.
func (h History) StateSince(l *WorkloadLock) Since {
	if r := h.Lock(l.UID); r.State == l.State() {
		return r.Since
	}
	return Since{}
}

// OutageRecord is a time in which a lock's text said repeatedly that an API does not answer the controller. Every try writes the
// text again with a new timestamp, so that the text alone does not show how long it lasts.
type OutageRecord struct {
	First time.Time
	Last  time.Time
}

// OutageBetween is how long other texts may stand between two texts of one outage: the controller tries again every 60 s, and each
// try first writes what it is about to do (docs/mosk.md#retries).
const OutageBetween = 2 * time.Minute

// RefusalRecord is what Nova said when it refused to migrate an instance for the OpenStack controller. Such a try leaves no
// migration record, and the next text on the lock replaces the one that says it (I).
type RefusalRecord struct {
	Text string
	At   time.Time // the text's timestamp, or when it was seen
}

// Round is one maintenance of a node: from its NodeMaintenanceRequest to that request's removal.
type Round struct {
	Request   string // the request's UID
	Update    string // the ClusterMaintenanceRequest's UID; empty outside an update
	Started   time.Time
	Ended     time.Time // zero while it goes on
	Instances int       // on the host when it began; -1 when not known
	Unseen    bool      `json:",omitempty"` // the OpenStack controller had not seen the request when Lockstep saw it last
	EndUnseen bool      `json:",omitempty"` // nobody watched when it ended: Ended is when Lockstep looked again, and it ended before

	Reconstructed bool `json:",omitempty"` // nobody watched when it ended: Ended is LCM's own time of it

	// The ClusterMaintenanceRequest is of no update: of a graceful reboot, of maintenance mode, or made by hand. How long that takes says
	// nothing of an update's nodes.
	Beside bool `json:",omitempty"`
}

// OfUpdate tells whether it was one of an update.
func (r Round) OfUpdate() bool { return r.Update != "" && !r.Beside }

// Earlier tells whether the maintenance is kept when the node's next one begins: it was one of an update, its length is known, and the
// next one is not of the same update.
func (r Round) Earlier(next Round) bool {
	_, known := r.Took()
	return known && r.OfUpdate() && r.Update != next.Update
}

// SameUpdate tells whether both are of one update: then neither is of an earlier one.
func (r Round) SameUpdate(other Round) bool { return r.Update != "" && r.Update == other.Update }

// Took is how long the maintenance took; false while it goes on, and when nobody watched it end.
func (r Round) Took() (time.Duration, bool) {
	return r.Ended.Sub(r.Started), r.Ended.After(r.Started) && !r.EndUnseen
}

// PhaseRecord is when a phase began and ended.
type PhaseRecord struct {
	Started Since
	Ended   Since
}

// UpdateRecord is a cluster update, as seen.
type UpdateRecord struct {
	UID     string // of its ClusterMaintenanceRequest; empty when none was ever seen
	Release string // the target
	From    string // the release of the locks when it was first seen; may be empty
	Started time.Time
	Ended   time.Time // zero while it runs
	EndSeen bool      `json:",omitempty"` // Lockstep saw its request go; otherwise the request was gone when it looked again

	Reconstructed bool `json:",omitempty"` // nobody saw it end: Ended is when its plan was complete, by the plan's own times
}

// StopRecord is an instance that Lockstep stopped or shelved.
type StopRecord struct {
	Name string // as it was called then
	At   time.Time
	By   string
}

// SilenceRecord is a silence as Lockstep made it.
type SilenceRecord struct {
	Silence Silence
	At      time.Time
	By      string
}

// AnnotationChange is an annotation that Lockstep set on a node.
type AnnotationChange struct {
	Node string
	Key  string
	Old  *string // nil: was not set
	New  *string
	At   time.Time
	By   string
}

// TagChange is the maintenance_action tags that Lockstep replaced on an instance.
type TagChange struct {
	Instance string // its name
	Old      []MaintenanceAction
	New      []MaintenanceAction
	At       time.Time
	By       string
}

// NothingDone tells whether nothing was done that History remembers: all its maps are empty.
func (h History) NothingDone() bool {
	v := reflect.ValueOf(h)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Map && f.Len() > 0 {
			return false
		}
	}
	return true
}

// ChangesOf are the remembered changes of an annotation, for setting it back: of the migration mode, or of the number of attempts.
// Nil for any other key.
func (h *History) ChangesOf(key string) *map[string]AnnotationChange {
	switch key {
	case AnnotationMigrationMode:
		return &h.Changes
	case AnnotationMigrationAttempts:
		return &h.Tries
	}
	return nil
}
