package core

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// observe compares a Snapshot with what was recorded before it, journals every transition, and returns the History that
// the next Snapshot carries. The maps of a History that was handed out are never changed: one that changes is cloned.
func (e *Engine) observe(s *Snapshot) History {
	h := s.History
	if !s.settled() {
		// Before every list of Kubernetes has arrived once, a missing request means nothing.
		return h
	}
	h = e.observeUpdate(s, h)
	h = e.observeRounds(s, h)
	h = e.observeStages(s, h)
	h = e.observeLocks(s, h)
	h = e.observePhases(s, h)
	h = e.observeCold(s, h)
	e.keep(false, e.seen...)
	e.seen = nil
	return h
}

// see notes a transition, for the journal.
func (e *Engine) see(r Record) { e.seen = append(e.seen, e.stamped(r)) }

// settled tells whether the sources that stages and phases rest on have been heard, and are not known to be away.
func (s *Snapshot) settled() bool {
	for _, id := range []SourceID{SourceNodes, SourceNodeLocks, SourceNodeRequests, SourceClusterLocks, SourceClusterRequests} {
		src, ok := s.Sources[id]
		if !ok || src.AsOf.IsZero() || src.State != SourceLive {
			return false
		}
	}
	return true
}

func (e *Engine) observeUpdate(s *Snapshot, h History) History {
	cmr := s.updateRequest()
	if cmr != nil {
		e.updateSeen = cmr.UID
	}
	switch {
	case cmr != nil && cmr.UID != h.Update.UID && s.toBeTold(cmr):
		return h // whether it is an update has not been told yet
	case cmr != nil && cmr.UID != h.Update.UID:
		h.Update = UpdateRecord{UID: cmr.UID, Release: cmr.Release, From: lockRelease(s), Started: cmr.Created}
		if h.Update.From == h.Update.Release {
			h.Update.From = "" // the locks are at the target already: where the update came from was not seen
		}
		h.Phases = nil
		e.see(Record{Kind: RecordUpdate, Update: &h.Update, Object: new(cmr.Ref())})
	case cmr == nil && h.Update.UID != "" && h.Update.Ended.IsZero():
		h.Update.EndSeen = e.updateSeen == h.Update.UID
		h.Update.Ended = s.Now
		e.see(Record{Kind: RecordUpdate, Update: &h.Update})
	}
	return h
}

// lockRelease is the release that the cluster's locks carry, the one seen before they are armed anew for the target.
func lockRelease(s *Snapshot) string {
	for _, l := range s.ClusterLocks {
		if l.Release != "" {
			return l.Release
		}
	}
	return ""
}

func (e *Engine) observeRounds(s *Snapshot, h History) History {
	rounds := cloneOnWrite[string, Round]{m: h.Rounds}
	for _, name := range s.NodeNames() { // in one order, so that the same history makes the same journal
		node, req := s.Nodes[name], s.NodeRequest(name)
		old, had := h.Rounds[node.UID]
		unseen := s.requestAccount(req).State == AccountUnseen
		switch {
		case req != nil && old.Request != req.UID:
			r := Round{Request: req.UID, Started: req.Created, Instances: s.countInstances(name), Unseen: unseen}
			if cmr := s.ClusterRequest(); cmr != nil && req.isFor(cmr) {
				r.Update = cmr.UID
			}
			rounds.set(node.UID, r)
			e.see(Record{Kind: RecordRound, Node: name, Object: new(node.Ref()), Round: &r})
		case req != nil && old.Instances < 0 && s.countInstances(name) >= 0:
			old.Instances = s.countInstances(name)
			rounds.set(node.UID, old)
		case req != nil && old.Unseen != unseen && s.Sources[SourceNodeRequests].State == SourceLive:
			old.Unseen = unseen
			rounds.set(node.UID, old)
		case req == nil && had && old.Ended.IsZero():
			old.Ended = s.Now
			rounds.set(node.UID, old)
			e.see(Record{Kind: RecordRound, Node: name, Object: new(node.Ref()), Round: &old})
		}
	}
	h.Rounds = rounds.m
	return h
}

// countInstances is how many instances are on the node; -1 when that is not known.
func (s *Snapshot) countInstances(node string) int {
	if s.Sources[SourceInstances].AsOf.IsZero() {
		return -1
	}
	return len(s.InstancesOn(node))
}

func (e *Engine) observeStages(s *Snapshot, h History) History {
	stages, changed := cloneOnWrite[string, StageRecord]{m: h.Stages}, false
	for _, v := range s.NodeViews() {
		if v.Node == nil {
			continue
		}
		old, had := h.Stages[v.Node.UID]
		if had && old.Stage == v.Stage {
			continue
		}
		r := StageRecord{Stage: v.Stage, Since: v.Since}
		if r.Since.At.IsZero() {
			r.Since = Since{At: s.Now, Exact: had}
		}
		stages.set(v.Node.UID, r)
		changed = changed || had
		e.see(Record{Kind: RecordStage, Node: v.Name, Object: new(v.Node.Ref()), From: string(old.Stage), To: string(v.Stage), Exact: r.Since.Exact,
			Stage: &r, Text: v.Reason})
	}
	h.Stages = stages.m
	if changed && e.cfg.OnStage != nil {
		e.cfg.OnStage()
	}
	return h
}

func (e *Engine) observeLocks(s *Snapshot, h History) History {
	locks := cloneOnWrite[string, LockRecord]{m: h.Locks}
	outages := cloneOnWrite[string, OutageRecord]{m: h.Outages}
	refused := cloneOnWrite[string, RefusalRecord]{m: h.Refused}
	see := func(l *WorkloadLock) {
		s.observeOutage(l, &outages)
		if in, r, anew := s.observeRefusal(l, &refused); anew {
			e.see(Record{Kind: RecordMigrationRefused, Node: l.Node, Object: &in, Refusal: &r})
		}
		old, had := h.Locks[l.UID]
		unseen := had && old.passedBy(l)
		if had && old.State == l.State() && !unseen {
			if old.Release != l.Release {
				old.Release = l.Release
				locks.set(l.UID, old)
			}
			return
		}
		r := LockRecord{State: l.State(), Release: l.Release, Since: Since{At: s.Now, Exact: !unseen}}
		if !had {
			r.Since = s.lockSince(l)
		}
		locks.set(l.UID, r)
		switch {
		case unseen:
			why := fmt.Sprintf("it was let go and taken back while Lockstep could not see it: its release was %s and is %s", oneLine(old.Release, 60), oneLine(l.Release, 60))
			e.see(Record{Kind: RecordLock, Node: l.Node, Object: new(l.Ref()), From: string(old.State), To: string(LockInactive), Text: why})
			e.see(Record{Kind: RecordLock, Node: l.Node, Object: new(l.Ref()), From: string(LockInactive), To: string(r.State), Text: why})
		case had: // the first sight of a lock is no transition
			e.see(Record{Kind: RecordLock, Node: l.Node, Object: new(l.Ref()), From: string(old.State), To: string(r.State), Exact: true,
				Text: l.Message})
		}
	}
	for _, l := range s.ClusterLocks {
		see(l)
	}
	for _, name := range slices.Sorted(maps.Keys(s.NodeLocks)) {
		for _, l := range s.NodeLocks[name] {
			see(l)
		}
	}
	h.Locks, h.Outages, h.Refused = locks.m, outages.m, refused.m
	return h
}

// outageBetween is how long other texts may stand between two that say that an API is away: the controller tries again every
// 60 s, and each try begins with what it is about to do (docs/mosk.md#retries).
const outageBetween = 2 * time.Minute

// observeOutage notes since when a lock's text, or the controller's bookkeeping, has said that an API is away.
func (s *Snapshot) observeOutage(l *WorkloadLock, outages *cloneOnWrite[string, OutageRecord]) {
	if l.Message == "" && l.Controller != ControllerOpenStack {
		return
	}
	m := s.ReadLock(l)
	if m.Class != MessageOutage {
		if !s.silentOutage(l) {
			return
		}
		m.At = time.Time{} // what the lock says is of something else
	}
	r, had := outages.m[l.UID]
	if !had || s.Now.Sub(r.Last) > outageBetween {
		if r.First = m.At; m.At.IsZero() || m.At.After(s.Now) {
			r.First = s.Now
		}
	}
	r.Last = s.Now
	outages.set(l.UID, r)
}

// lockSince is what the objects say of since when a lock is in its state: an inactive one not for longer than it was asked
// for. Of an active one they say nothing.
func (s *Snapshot) lockSince(l *WorkloadLock) Since {
	if l.State() != LockInactive {
		return Since{}
	}
	if l.Node == "" {
		if cmr := s.ClusterRequest(); cmr != nil {
			return Since{At: cmr.Created}
		}
	} else if req := s.NodeRequest(l.Node); req != nil {
		return Since{At: req.Created}
	}
	return Since{}
}

func (e *Engine) observePhases(s *Snapshot, h History) History {
	if r := s.updateRequest(); r != nil && r.UID != h.Update.UID {
		return h // it is not known yet to be an update
	}
	phases := cloneOnWrite[PhaseID, PhaseRecord]{m: h.Phases}
	first := h.Phases == nil
	for _, p := range s.Phases() {
		r := phases.m[p.ID]
		before := r
		if p.State != PhasePending && r.Started.At.IsZero() {
			if r.Started = p.Started; r.Started.At.IsZero() {
				r.Started = Since{At: s.Now, Exact: !first}
			}
		}
		switch {
		case p.State == PhaseDone && r.Ended.At.IsZero():
			if r.Ended = p.Ended; r.Ended.At.IsZero() {
				r.Ended = Since{At: s.Now, Exact: !first}
			}
		case p.State != PhaseDone:
			r.Ended = Since{} // a phase that goes on again has not ended
		}
		if r != before {
			phases.set(p.ID, r)
			e.see(Record{Kind: RecordPhase, Number: p.ID, State: string(p.State), Title: p.Title, Phase: &r})
		}
	}
	h.Phases = phases.m
	return h
}

// replay makes a History of what the journal held.
func replay(past []Record) History {
	h := History{Changes: map[string]AnnotationChange{}, Tries: map[string]AnnotationChange{}, Tags: map[string]TagChange{}, Stopped: map[string]StopRecord{},
		Cold: map[string]ColdMigration{}}
	stages, locks, rounds := map[string]StageRecord{}, map[string]LockRecord{}, map[string]Round{}
	phases, refused := map[PhaseID]PhaseRecord{}, map[string]RefusalRecord{}
	unseen := unseenEnds(past)
	for i, r := range past {
		if unseen[i] {
			r = r.unseen()
		}
		switch r.Kind {
		case RecordUpdate:
			if r.Update != nil {
				if r.Update.UID != h.Update.UID {
					clear(phases)
				}
				h.Update = *r.Update
			}
		case RecordPhase:
			if r.Phase != nil {
				phases[r.Number] = *r.Phase
			}
		case RecordStage:
			if r.Stage != nil && r.Object != nil {
				stages[r.Object.UID] = *r.Stage
			}
		case RecordRound:
			if r.Round != nil && r.Object != nil {
				rounds[r.Object.UID] = *r.Round
			}
		case RecordMigrationRefused:
			if r.Refusal != nil && r.Object != nil {
				refused[r.Object.UID] = *r.Refusal
			}
		case RecordLock:
			if r.Object != nil {
				locks[r.Object.UID] = LockRecord{State: LockState(r.To), Since: Since{At: r.At, Exact: r.Exact}}
			}
		case RecordVerified, RecordMigrated:
			h.did(r)
		}
	}
	h.Stages, h.Locks, h.Rounds, h.Phases, h.Refused = stages, locks, rounds, phases, refused
	if len(phases) == 0 {
		h.Phases = nil
	}
	return h
}

// did takes in how a write ended. The maps of what was done are the History's own.
func (h *History) did(r Record) {
	if r.Kind == RecordMigrated {
		if r.Object != nil {
			delete(h.Cold, r.Object.UID)
		}
		return
	}
	if r.Change != nil && r.Object != nil && (r.State == string(OperationDone) || r.State == string(OperationUnknown)) {
		if m := h.changesOf(r.Change.Key); m != nil {
			noteChange(*m, r.Object.UID, *r.Change)
		}
	}
	if r.Override != nil {
		h.Overrides = withOverride(h.Overrides, *r.Override)
	}
	if r.Tags != nil && r.Object != nil {
		noteTags(h.Tags, r.Object.UID, *r.Tags)
	}
	if r.Intent != nil && r.Object != nil {
		noteStop(h.Stopped, *r.Intent, OperationState(r.State), StopRecord{Name: r.Object.Name, At: r.At, By: r.By})
		noteCold(h.Cold, *r.Intent, OperationState(r.State), r.cold())
	}
}

// own is the History with maps of its own for what was done.
func (h History) own() History {
	h.Changes, h.Tries, h.Tags, h.Stopped, h.Cold = ownMap(h.Changes), ownMap(h.Tries), ownMap(h.Tags), ownMap(h.Stopped), ownMap(h.Cold)
	return h
}

// ownMap is a map that can be changed.
func ownMap[K comparable, V any](m map[K]V) map[K]V {
	if m = maps.Clone(m); m == nil {
		m = map[K]V{}
	}
	return m
}

// unseenEnds are the writes, by their places, that were begun and of whose end there is no record: Lockstep was killed meanwhile.
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

// changesOf are the changes of an annotation that are remembered to be set back: those of a node's migration mode, and of its
// number of attempts; nil for any other.
func (h *History) changesOf(key string) *map[string]AnnotationChange {
	switch key {
	case AnnotationMigrationMode:
		return &h.Changes
	case AnnotationMigrationAttempts:
		return &h.Tries
	}
	return nil
}

// noteChange remembers that Lockstep changed an annotation of a node. What counts as the old value is what stood there
// before Lockstep's first change; a change back to it is the end of the matter.
func noteChange(changes map[string]AnnotationChange, uid string, c AnnotationChange) {
	if first, ok := changes[uid]; ok {
		c.Old = first.Old
	}
	if equalText(c.Old, c.New) {
		delete(changes, uid)
		return
	}
	changes[uid] = c
}

// noteStop remembers that Lockstep stopped or shelved an instance, or that this may have come of what it sent, until it is seen to
// have started or unshelved it again.
func noteStop(stopped map[string]StopRecord, i Intent, ended OperationState, r StopRecord) {
	switch i.Kind {
	case IntentStop, IntentShelve:
		if ended == OperationDone || ended == OperationUnknown {
			stopped[i.Instance] = r
		}
	case IntentStart, IntentUnshelve:
		if ended == OperationDone {
			delete(stopped, i.Instance)
		}
	}
}

func equalText(a, b *string) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return *a == *b
}

// cloneOnWrite is a map that was handed out and is copied before its first change.
type cloneOnWrite[K comparable, V any] struct {
	m     map[K]V
	owned bool
}

func (c *cloneOnWrite[K, V]) set(k K, v V) {
	if !c.owned {
		if c.m = maps.Clone(c.m); c.m == nil {
			c.m = map[K]V{}
		}
		c.owned = true
	}
	c.m[k] = v
}
