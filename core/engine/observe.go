package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// observe compares a Snapshot with the History before it, journals every transition, and returns the History for the next Snapshot. It
// never changes a map of a History that was handed out, but clones it.
func (e *Engine) observe(s *core.Snapshot) core.History {
	h := s.History
	if !settled(s) {
		e.settled = false
		// A missing request means nothing before every list of Kubernetes has arrived once.
		return h
	}
	watched := e.settled
	if !watched || !e.glance.Same(s) { // at rest there is nothing to observe
		e.glance = core.GlanceAt(s, func(s *core.Snapshot) {
			h = e.observeUpdate(s, h, watched)
			look := e.lookAt(s)
			h = e.observeRounds(s, h, look, watched)
			h = e.observeStages(s, h, watched)
			h = e.observeLocks(s, h, look, watched)
			h = e.observePhases(s, h, watched)
			h = e.observeStandstills(s, h, watched)
			h = e.observeCold(s, h)
			h = e.observeUp(s, h)
		})
	}
	e.lookedAt = s.Now
	return e.observePast(s, h, watched)
}

// see notes a transition, for the journal.
func (e *Engine) see(r Record) { e.seen = append(e.seen, e.stamped(r)) }

// looksEvery is how long a look can be away from the one before while somebody watches: Nova is asked every half minute.
const looksEvery = time.Minute

// when is the time of a record of something that has a time of its own in an API: that time where nobody looked then, else that of the look
// (zero: now), so that it stands among what was seen with it.
func (e *Engine) when(s *core.Snapshot, was time.Time) time.Time {
	if was.IsZero() || s.Now.Sub(was) <= looksEvery {
		return time.Time{}
	}
	return was.UTC()
}

// labelOf is what people call a node; empty where that is its name.
func labelOf(n *core.Node) string {
	if label := n.Label(); label != n.Name {
		return wording.OneLine(label, 64)
	}
	return ""
}

// looks are the nodes at which something can have happened since the Snapshot before.
type looks struct {
	all   bool
	names []string // sorted, where not all: a few of thousands, and hosts
}

// byName are the names of the nodes that are looked at.
func (l looks) byName(s *core.Snapshot) []string {
	if l.all {
		return progress.NodeNames(s)
	}
	return l.names
}

// byLabel are the names of the nodes that are looked at and exist.
func (l looks) byLabel(s *core.Snapshot) []string {
	if l.all {
		return s.NodeNames()
	}
	names := slices.DeleteFunc(slices.Clone(l.names), func(name string) bool { return s.Nodes[name] == nil })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(strings.Compare(s.Label(a), s.Label(b)), strings.Compare(a, b)) })
	return names
}

// lookAt tells at which nodes something can have happened since the Snapshot before: those of which a fact has changed, and those at
// which the time matters, as somebody works there. A lock of such a node can say that an API does not answer, which lasts.
func (e *Engine) lookAt(s *core.Snapshot) looks {
	if s.Stamps.All == s.Revision || !e.settled {
		e.settled = true
		return looks{all: true}
	}
	var look []string
	for _, node := range s.Stamps.Lately {
		if s.Stamps.Nodes.At(node) == s.Revision {
			look = append(look, node)
		}
	}
	for node, requests := range s.NodeRequests {
		if len(requests) > 0 {
			look = append(look, node)
		}
	}
	for _, v := range progress.NodeViews(s) { // the active ones come first
		if v.Active() {
			look = append(look, v.Name)
		}
	}
	slices.Sort(look)
	return looks{names: slices.Compact(look)}
}

// settled tells whether all sources that stages and phases rest on are live.
func settled(s *core.Snapshot) bool {
	for _, id := range []core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests, core.SourceClusterLocks,
		core.SourceClusterRequests} {
		src, ok := s.Sources[id]
		if !ok || src.AsOf.IsZero() || src.State != core.SourceLive {
			return false
		}
	}
	return true
}

func (e *Engine) observeUpdate(s *core.Snapshot, h core.History, watched bool) core.History {
	cmr := progress.UpdateRequest(s)
	if cmr != nil {
		e.updateSeen = cmr.UID
	}
	switch {
	case cmr != nil && cmr.UID != h.Update.UID && step.PurposePending(s, cmr):
		return h // whether it is an update is not known yet
	case cmr != nil && cmr.UID != h.Update.UID:
		if old := h.Update; old.UID != "" && old.Ended.IsZero() { // nobody saw it end: by then it was over
			old.Ended = core.Later(cmr.Created, old.Started)
			e.see(Record{Kind: RecordUpdate, Update: &old, At: cmr.Created.UTC()})
		}
		h.Update = core.UpdateRecord{UID: cmr.UID, Release: cmr.Release, From: lockRelease(s), Started: cmr.Created}
		if h.Update.From == h.Update.Release {
			h.Update.From = progress.ReleaseBefore(s, cmr.Release) // the locks are at the target already
		}
		h.Phases, h.Courses, h.Stands = nil, nil, nil
		r := Record{Kind: RecordUpdate, Update: &h.Update, Object: new(cmr.Ref()), At: cmr.Created.UTC()}
		if !watched {
			r.Reconstructed = fieldUpdate
		}
		e.see(r)
	case cmr == nil && h.Update.UID != "" && h.Update.Ended.IsZero():
		h.Update.EndSeen = watched && e.updateSeen == h.Update.UID
		h.Update.Ended = s.Now
		e.see(Record{Kind: RecordUpdate, Update: &h.Update})
	}
	return h
}

// lockRelease is the release in the cluster's locks: the old one, until they are armed for the target.
func lockRelease(s *core.Snapshot) string {
	for _, l := range s.ClusterLocks {
		if l.Release != "" {
			return l.Release
		}
	}
	return ""
}

// observeRounds notes when the maintenance of nodes begins and ends. When nobody watched it end, its length is not known.
func (e *Engine) observeRounds(s *core.Snapshot, h core.History, look looks, watched bool) core.History {
	rounds, earlier := core.CloneOnWrite[string, core.Round]{M: h.Rounds}, core.CloneOnWrite[string, core.Round]{M: h.Earlier}
	for _, name := range look.byLabel(s) { // in a fixed order, so that the same history makes the same journal
		node, req := s.Nodes[name], s.NodeRequest(name)
		old, had := h.Rounds[node.UID]
		unseen := progress.RequestAccount(s, req).State == progress.AccountUnseen
		switch {
		case req != nil && old.Request != req.UID:
			r := core.Round{Request: req.UID, Started: req.Created, Instances: countInstances(s, name), Unseen: unseen}
			if cmr := s.ClusterRequest(); cmr != nil && progress.IsFor(req, cmr) {
				r.Update, r.Beside = cmr.UID, progress.UpdateRequest(s) == nil
			}
			if old.Earlier(r) {
				earlier.Set(node.UID, old)
			}
			if earlier.M[node.UID].SameUpdate(r) {
				earlier.Delete(node.UID)
			}
			rounds.Set(node.UID, r)
			e.world.touched.node(name)
			e.see(Record{Kind: RecordRound, At: e.when(s, req.Created), Node: name, Label: labelOf(node), Object: new(node.Ref()), Round: &r})
		case req != nil && old.Instances < 0 && countInstances(s, name) >= 0:
			old.Instances = countInstances(s, name)
			rounds.Set(node.UID, old)
			e.world.touched.node(name)
		case req != nil && old.Unseen != unseen && s.Sources[core.SourceNodeRequests].State == core.SourceLive:
			old.Unseen = unseen
			rounds.Set(node.UID, old)
			e.world.touched.node(name)
		case req == nil && had && old.Ended.IsZero():
			old.Ended, old.EndUnseen = s.Now, !watched
			e.plan.rounds++
			rounds.Set(node.UID, old)
			e.world.touched.node(name)
			e.see(Record{Kind: RecordRound, Node: name, Label: labelOf(node), Object: new(node.Ref()), Round: &old})
		}
	}
	h.Rounds, h.Earlier = rounds.M, earlier.M
	return h
}

// countInstances is the number of instances on the node; -1 when that is not known.
func countInstances(s *core.Snapshot, node string) int {
	if s.Sources[core.SourceInstances].AsOf.IsZero() {
		return -1
	}
	return len(s.InstancesOn(node))
}

// observeStages notes the stages of nodes. watched says that the Snapshot before was looked at, too: what is another stage now began
// since then.
func (e *Engine) observeStages(s *core.Snapshot, h core.History, watched bool) core.History {
	stages, changed := core.CloneOnWrite[string, core.StageRecord]{M: h.Stages}, false
	courses := core.CloneOnWrite[string, core.Course]{M: h.Courses}
	views := progress.ByNode(s)
	anew := progress.NodeViews(s)
	// A view that is the same one was looked at already.
	if _, now, known := views.ChangedSince(e.staged); known && watched {
		anew = now
		slices.SortFunc(anew, progress.AsShown)
	}
	e.staged = views
	for _, v := range anew {
		if v.Node == nil {
			continue
		}
		old, had := h.Stages[v.Node.UID]
		if had && old.Stage == v.Stage || v.Open {
			continue
		}
		r := core.StageRecord{Stage: v.Stage, Since: v.Since}
		if r.Since.At.IsZero() {
			r.Since = core.Since{At: s.Now, Exact: watched && had}
		}
		if now := s.Now.Truncate(time.Second); r.Since.Later && watched && had {
			r.Since = core.Since{At: now, Exact: true}
		} else if r.Since.Later {
			r.Since.Seen = now
		}
		// It came since the look before this one, or its evidence has the time; else the time is this look's.
		seen := watched && had || r.Since.Exact && r.Since.At.Before(s.Now.Truncate(time.Second))
		r.Since.Exact = r.Since.Exact && seen
		stages.Set(v.Node.UID, r)
		courses.Set(v.Node.UID, courses.M[v.Node.UID].With(courseStage(r, seen, v.Reason)))
		e.world.touched.node(v.Name)
		changed = changed || had
		if !watched {
			e.past.miss(v.Node.UID, r.Since.At, s.Now)
		}
		e.see(Record{Kind: RecordStage, Node: v.Name, Label: labelOf(v.Node), Object: new(v.Node.Ref()), From: string(old.Stage),
			To: string(v.Stage), Exact: seen, Stage: &r, Text: v.Reason})
	}
	h.Stages, h.Courses = stages.M, courses.M
	if changed && e.cfg.OnStage != nil {
		e.cfg.OnStage()
	}
	return h
}

// phaseSeen is how much older than the look before what the beginning or the end of a phase rests on may be when that is seen.
const phaseSeen = time.Minute

// phaseTime is when a phase began or ended that had not at the look before this one, by what that rests on.
func (e *Engine) phaseTime(s *core.Snapshot, is core.Since, seen bool) core.Since {
	switch {
	case is.At.IsZero():
		return core.Since{At: s.Now, Exact: seen}
	case seen && is.Later:
		return core.Since{At: s.Now, Exact: true}
	case seen && e.lookedAt.Sub(is.At) < phaseSeen:
		return core.Since{At: is.At, Exact: true} // what it rests on came since
	}
	if is.Later {
		is.Seen = s.Now.Truncate(time.Second)
	}
	return is
}

func (e *Engine) observePhases(s *core.Snapshot, h core.History, watched bool) core.History {
	if r := progress.UpdateRequest(s); r != nil && r.UID != h.Update.UID {
		return h // whether it is an update is not known yet
	}
	phases := core.CloneOnWrite[core.PhaseID, core.PhaseRecord]{M: h.Phases}
	seen := watched && h.Phases != nil
	for _, p := range progress.Phases(s) {
		r := phases.M[p.ID]
		before := r
		if p.State != core.PhasePending && r.Started.At.IsZero() {
			r.Started = e.phaseTime(s, p.Started, seen) // the plan may know it better
		}
		switch {
		case p.State == core.PhaseDone && r.Ended.At.IsZero():
			r.Ended = e.phaseTime(s, p.Ended, seen)
		case p.State != core.PhaseDone:
			r.Ended = core.Since{} // the phase goes on again, so it has not ended
		}
		if r != before {
			phases.Set(p.ID, r)
			if !watched {
				e.past.missPhase(p.ID)
			}
			e.see(Record{Kind: RecordPhase, Number: p.ID, State: string(p.State), Title: p.Title, Phase: &r})
		}
	}
	h.Phases = phases.M
	return h
}

// observeStandstills notes when the phases of the update begin to stand still, and when they go on.
func (e *Engine) observeStandstills(s *core.Snapshot, h core.History, watched bool) core.History {
	r := progress.UpdateRequest(s)
	if r != nil && r.UID != h.Update.UID || r == nil && len(h.Stands) == 0 {
		return h
	}
	stands := core.CloneOnWrite[core.PhaseID, []core.Standstill]{M: h.Stands}
	for _, p := range progress.Phases(s) {
		list := h.Stands[p.ID]
		var open core.Standstill
		if n := len(list); n > 0 && list[n-1].Until.IsZero() {
			open = list[n-1]
		}
		now := progress.StandsStill(s, p)
		if now.Cause == open.Cause && (open.Subject == "" || slices.Contains(now.Subjects, open.Subject)) {
			continue
		}
		note := func(st core.Standstill) {
			list = core.WithStandstill(list, st)
			stands.Set(p.ID, list)
			e.see(Record{Kind: RecordStandstill, Number: p.ID, Title: p.Title, State: string(st.Cause), Stands: &st, Text: st.Why})
		}
		if open.Cause != "" {
			open.Until, open.UntilUnseen = s.Now, !watched
			note(open)
		}
		if now.Cause != "" {
			st := core.Standstill{Cause: now.Cause, Since: core.Since{At: s.Now, Exact: watched}, Why: wording.OneLine(now.Why, mostOfReason)}
			if len(now.Subjects) > 0 {
				st.Subject = now.Subjects[0]
			}
			note(st)
		}
	}
	h.Stands = stands.M
	return h
}

// upAfter is how long after Lockstep has stopped an instance the facts must be that show it up again: none of them is from before.
const upAfter = time.Minute

// observeUp forgets that Lockstep stopped or shelved an instance once it is seen up again, and records that. Whoever stops it the next time
// has reasons of their own.
func (e *Engine) observeUp(s *core.Snapshot, h core.History) core.History {
	stopped := h.Stopped
	for _, id := range slices.Sorted(maps.Keys(h.Stopped)) {
		in, r := s.Instances.At(id), h.Stopped[id]
		if in == nil || in.Status != "ACTIVE" || !s.HeardSince(core.SourceInstances, r.At.Add(upAfter)) {
			continue
		}
		stopped = maps.Clone(stopped)
		delete(stopped, id)
		e.see(Record{Kind: RecordUp, Object: &core.Ref{Kind: core.KindInstance, Name: r.Name, UID: id}, Began: r.At.UTC(),
			Text: "is " + in.Status + " on " + progress.HostLabel(s, in.Host)})
	}
	h.Stopped = stopped
	return h
}

// observeCold forgets Lockstep's own cold migrations that are over now, and records their end.
func (e *Engine) observeCold(s *core.Snapshot, h core.History) core.History {
	if len(h.Cold) == 0 {
		return h
	}
	cold := h.Cold
	for _, id := range slices.Sorted(maps.Keys(h.Cold)) {
		c := h.Cold[id]
		if progress.ColdOf(s, id, c) != progress.ColdOver {
			continue
		}
		text := "the instance does not exist any more"
		if in := s.Instances.At(id); in != nil {
			text = "is " + in.Status + " on " + progress.HostLabel(s, in.Host)
		}
		cold = maps.Clone(cold)
		delete(cold, id)
		e.see(Record{Kind: RecordMigrated, Object: &core.Ref{Kind: core.KindInstance, Name: c.Name, UID: id}, From: c.From, Text: text})
	}
	h.Cold = cold
	return h
}
