package engine

import (
	"maps"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// pastBook is what is needed to tell, from the API's own times, what happened while nobody looked. It is owned by the goroutine of Run.
type pastBook struct {
	due    bool                // this run has not looked yet at what may have happened meanwhile
	missed map[string][]missed // by node UID: its stage at each first look after a time in which this run did not look, if it is another one
	looked time.Time           // when the last such look was (the cluster's time)
	first  time.Time           // when the first such look was of which nothing is told yet

	phases map[core.PhaseID]bool // those that were found in another state at such a look

	locks map[string]missedLock // by UID: locks of which it is not known at such a look since when they are in their state

	asking bool // LCM's stages of machines, and the times of locks, are being read
	anew   bool // there was another such time since that was asked: the answer tells nothing of it, and it is asked again
	read   bool // they were, or could not be
	stages map[string][]core.MachineStage
	states map[string]time.Time // by UID of a lock: when it came into its state at the latest
}

// missed is a stage in which a node was found.
type missed struct{ since, found time.Time }

// missedLock is how a lock was found.
type missedLock struct {
	found Record          // without a state before where it may be another time in the state in which it was seen last, or was never seen
	was   core.LockRecord // in the first of these cases: what is known of that time
}

// stagesWithin is how long LCM's stages of machines may take to be read.
const stagesWithin = 30 * time.Second

// mark is a moment of which the API has the time: then a node came into a stage.
type mark struct {
	stage core.Stage
	at    time.Time
	field string     // which has the time
	from  core.Stage // the stage before it, in a gap
}

// The fields that marks are from (docs/mosk.md#stages, #lcmmachine, #requests).
const (
	fieldStages   = "LCMMachineUpgradeDrainStatus stages.timestamp"
	fieldItem     = "LCMMachine status.stateItemStatuses.startedAt"
	fieldReboot   = "LCMMachine status.reboot.requestedAt"
	fieldReady    = "Node status.conditions.lastTransitionTime of Ready"
	fieldCordon   = "Node spec.taints.timeAdded of node.kubernetes.io/unschedulable"
	fieldMigrated = "Nova migration created_at"
	fieldRequest  = "NodeMaintenanceRequest metadata.creationTimestamp"
	fieldLock     = "NodeWorkloadLock metadata.managedFields.time of status.state, or before"
	fieldCluster  = "ClusterWorkloadLock metadata.managedFields.time of status.state, or before"
	fieldUpdate   = "ClusterMaintenanceRequest metadata.creationTimestamp"
)

// stageRank is how far a node is in its maintenance; 0 outside. A node that is updated and rebooted goes to and fro between the two.
var stageRank = map[core.Stage]int{core.StageQueued: 1, core.StagePreparing: 2, core.StageEvacuating: 3, core.StageWaiting: 3,
	core.StageFailed: 3, core.StageReleased: 4, core.StageDraining: 5, core.StageUpdating: 6, core.StageRebooting: 6,
	core.StageReturning: 7, core.StageDone: 8}

// observePast journals what happened while nobody looked, with the API's own times, as far as there are any. It tells nothing twice, and
// nothing that goes against what some run saw: what it tells lies between two stages that are known, and after the one, before the other.
func (e *Engine) observePast(s *core.Snapshot, h core.History, watched bool) core.History {
	b := &e.past
	if !watched {
		if !b.due {
			b.first = s.Now
		}
		b.due, b.read, b.looked, b.anew = true, false, s.Now, b.asking
	}
	if !b.due || connecting(s) || b.asking {
		return h
	}
	if r := progress.UpdateRequest(s); e.cfg.Journal != nil && (h.Update.UID == "" || r != nil && r.UID != h.Update.UID) {
		return h // whether that is an update is not known yet
	}
	if e.cfg.Journal == nil || !h.Update.Ended.IsZero() && h.Update.Ended.Before(b.first) { // an update that was over before needs nothing
		b.due = false
		b.forget()
		return h
	}
	if !b.read && e.askStages(s) {
		return h
	}
	b.due = false
	courses, stages := core.CloneOnWrite[string, core.Course]{M: h.Courses}, core.CloneOnWrite[string, core.StageRecord]{M: h.Stages}
	rounds, earlier := core.CloneOnWrite[string, core.Round]{M: h.Rounds}, core.CloneOnWrite[string, core.Round]{M: h.Earlier}
	moved := movedBySource(s)
	for _, name := range s.NodeNames() {
		node := s.Nodes[name]
		marks := e.marksOf(s, h, node, moved)
		if len(marks) == 0 {
			continue
		}
		if r, ok := roundOf(marks, h.Rounds[node.UID], h.Update, h.Stages[node.UID].Stage); ok && s.NodeRequest(name) == nil {
			if old := h.Rounds[node.UID]; old.Earlier(r) {
				earlier.Set(node.UID, old)
			}
			if earlier.M[node.UID].SameUpdate(r) {
				earlier.Delete(node.UID)
			}
			rounds.Set(node.UID, r)
			e.plan.rounds++
			e.see(Record{Kind: RecordRound, At: r.Ended.UTC(), Node: name, Label: labelOf(node), Object: new(node.Ref()), Round: &r,
				Reconstructed: fieldStages})
		}
		course := h.Courses[node.UID]
		for _, g := range gaps(course, h.Update, b.missed[node.UID], b.looked) {
			for _, m := range g.fill(marks) {
				since := core.Since{At: m.at}
				course = course.Insert(core.CourseStage{Stage: m.stage, Since: since, Reconstructed: true}, m.from)
				if now := h.Stages[node.UID]; now.Stage == m.stage && !now.Since.Exact {
					stages.Set(node.UID, core.StageRecord{Stage: m.stage, Since: since})
				}
				e.see(Record{Kind: RecordStage, At: m.at.UTC(), Node: name, Label: labelOf(node), Object: new(node.Ref()), From: string(m.from),
					To: string(m.stage), Stage: &core.StageRecord{Stage: m.stage, Since: since}, Reconstructed: m.field})
				courses.Set(node.UID, course)
			}
		}
		e.world.touched.node(name)
	}
	h.Phases = e.pastPhases(s, h.Update, h.Phases)
	h.Update = e.pastEnd(s, h)
	h = e.pastLocks(h)
	b.forget()
	h.Courses, h.Stages, h.Rounds, h.Earlier = courses.M, stages.M, rounds.M, earlier.M
	return h
}

// forget ends what such a first look has found.
func (b *pastBook) forget() {
	b.missed, b.phases, b.locks, b.stages, b.states = nil, nil, nil, nil, nil
}

// miss notes a stage that a node was in at such a first look.
func (b *pastBook) miss(node string, since, found time.Time) {
	if b.missed == nil {
		b.missed = map[string][]missed{}
	}
	b.missed[node] = append(b.missed[node], missed{since, found})
}

// missPhase is miss for a phase.
func (b *pastBook) missPhase(id core.PhaseID) {
	if b.phases == nil {
		b.phases = map[core.PhaseID]bool{}
	}
	b.phases[id] = true
}

// pastPhases are the phases with the plan's own times, where nobody looked when they began or ended.
func (e *Engine) pastPhases(s *core.Snapshot, u core.UpdateRecord,
	phases map[core.PhaseID]core.PhaseRecord) map[core.PhaseID]core.PhaseRecord {
	out := core.CloneOnWrite[core.PhaseID, core.PhaseRecord]{M: phases}
	plan := planOf(s, e.plan.plan)
	if plan == nil {
		plan = s.Management.Plan()
	}
	for _, p := range progress.Phases(s) {
		began, ended := phaseByPlan(plan, p.ID)
		r := phases[p.ID]
		before, at := r, began
		if !e.past.phases[p.ID] || began.Before(u.Started) || began.After(s.Now) {
			continue
		}
		if !r.Started.At.IsZero() && (!r.Started.Exact || began.Before(r.Started.At)) { // a step begins before its first node
			r.Started = core.Since{At: began, Exact: true}
		}
		if !r.Ended.At.IsZero() && !r.Ended.Exact && !ended.IsZero() && !ended.After(s.Now) {
			r.Ended, at = core.Since{At: ended, Exact: true}, ended
		}
		if r == before {
			continue
		}
		out.Set(p.ID, r)
		e.world.touched.everything()
		e.see(Record{Kind: RecordPhase, At: at.UTC(), Number: p.ID, State: string(p.State), Title: p.Title, Phase: &r,
			Reconstructed: fieldStepDuration})
	}
	return out.M
}

// pastEnd is the update with the time of its end, where nobody looked when it ended: its plan's last step was complete then. Without a plan
// it ended when the first controller set its lock of the cluster active again, or before: they do that once the request is gone.
func (e *Engine) pastEnd(s *core.Snapshot, h core.History) core.UpdateRecord {
	u, plan := h.Update, planOf(s, e.plan.plan)
	if u.Ended.IsZero() || u.EndSeen || u.Reconstructed {
		return u
	}
	if plan == nil {
		return e.pastEndByLocks(h)
	}
	var ended time.Time
	for _, st := range plan.Steps {
		end := stepEnded(st)
		if end.IsZero() {
			return u // what has not ended, or not by the plan, tells nothing of the end
		}
		ended = core.Later(ended, end)
	}
	if !ended.After(u.Started) || ended.After(u.Ended) {
		return u
	}
	u.Ended, u.Reconstructed = ended, true
	e.world.touched.everything()
	e.see(Record{Kind: RecordUpdate, At: ended, Update: &u, Reconstructed: fieldStepDuration})
	return u
}

// pastEndByLocks is the update with an earlier time by which it had ended.
func (e *Engine) pastEndByLocks(h core.History) core.UpdateRecord {
	u := h.Update
	var ended time.Time
	for uid, l := range e.past.locks {
		found, at := l.found, e.past.states[uid]
		if found.Object.Kind != core.KindClusterWorkloadLock || found.To != string(core.LockActive) || at.IsZero() ||
			at.Before(u.Started) || at.Before(found.Began) {
			continue
		}
		if ended.IsZero() || at.Before(ended) {
			ended = at
		}
	}
	for _, r := range h.Rounds {
		if r.Update == u.UID && r.Started.After(ended) {
			return u // somebody set the lock while a node was still to come
		}
	}
	if ended.IsZero() || !ended.Before(u.Ended) {
		return u
	}
	u.Ended = ended
	e.world.touched.everything()
	e.see(Record{Kind: RecordUpdate, At: ended, Update: &u, Reconstructed: fieldCluster})
	return u
}

// missLock notes how a lock was found at such a first look, and what was known of it, where that may have been another time.
func (b *pastBook) missLock(found Record, was core.LockRecord) {
	if b.locks == nil {
		b.locks = map[string]missedLock{}
	}
	b.locks[found.Object.UID] = missedLock{found, was}
}

// wroteWithin is how much later than Lockstep's time of a lock's state the server's time of that write may be: the clocks differ.
const wroteWithin = 5 * time.Second

// pastLocks is the History in which locks that were found in a state have the time at which they came into it, at the latest: before
// Lockstep looked, and after they were seen in another one.
func (e *Engine) pastLocks(h core.History) core.History {
	out := map[string]*core.LockRecord{}
	for _, uid := range slices.Sorted(maps.Keys(e.past.locks)) {
		was, found, at := e.past.locks[uid].was, e.past.locks[uid].found, e.past.states[uid]
		r := h.Lock(uid)
		switch {
		case at.IsZero(), string(r.State) != found.To:
			continue
		case was.State != "":
			// Nobody has written to it since; or a text, which goes when it is released: the write of that is the last one only of a lock
			// without a text. A write after the look says nothing of the time before.
			if r.Since != was.Since || !at.After(was.Since.At.Add(wroteWithin)) || found.Text != "" || at.After(e.past.looked) {
				continue
			}
		case r.Since.Exact, !at.Before(r.Since.At), found.From != "" && (at.Before(h.Update.Started) || at.Before(found.Began)):
			continue
		}
		out[uid] = &core.LockRecord{State: r.State, Release: r.Release, Since: core.Since{At: at}}
		found.At, found.Began, found.Wall, found.Text, found.Reconstructed = at.UTC(), time.Time{}, time.Time{}, "", fieldLock
		if found.Object.Kind == core.KindClusterWorkloadLock {
			found.Reconstructed = fieldCluster
		}
		e.world.touched.everything()
		e.see(found)
	}
	return h.WithLocks(out)
}

// phaseByPlan is when the steps of a phase began, and when the last one ended; zero where the plan does not tell.
func phaseByPlan(plan *core.UpdatePlan, phase core.PhaseID) (began, ended time.Time) {
	if plan == nil {
		return began, ended
	}
	over := true
	for _, st := range plan.Steps {
		if st.Phase() != phase || st.Started.IsZero() {
			over = over && st.Phase() != phase
			continue
		}
		if began.IsZero() || st.Started.Before(began) {
			began = st.Started
		}
		end := stepEnded(st)
		over = over && !end.IsZero()
		ended = core.Later(ended, end)
	}
	if !over {
		ended = time.Time{}
	}
	return began, ended
}

// gap is a time in a node's course in which nobody looked.
type gap struct {
	from, to core.Stage // before and after it
	since    time.Time  // of from
	until    time.Time  // of to: when it began, or at the latest
	found    time.Time  // when to was found, where nobody saw it begin
}
