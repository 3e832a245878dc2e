package core

import "time"

// seenAt is when a source was heard last, in the cluster's time; zero when it never was.
func (s *Snapshot) seenAt(id SourceID) time.Time {
	if src := s.Sources[id]; !src.AsOf.IsZero() {
		return s.Now.Add(-s.Wall.Sub(src.AsOf))
	}
	return time.Time{}
}

// seenSinceReturn tells whether a source was heard since the node came back from its last maintenance, and when that was. What was known
// before, the OpenStack controller may have changed on the node's return.
func (s *Snapshot) seenSinceReturn(id SourceID, node string) (back time.Time, seen bool) {
	n := s.Nodes[node]
	if n == nil {
		return back, true
	}
	back = s.History.Rounds[n.UID].Ended
	return back, back.IsZero() || !s.seenAt(id).Before(back)
}

// guardSeenSince holds where what is known of the node's services is no older than its return: until then the step has not come to its
// time, and is not offered.
func (p *planner) guardSeenSince(id SourceID) {
	back, seen := p.s.seenSinceReturn(id, p.i.Node)
	if seen {
		return
	}
	p.guard(Guard{ID: GuardSeenSince, Text: "what is known is no older than the node's return",
		Answer: "the node is back since " + clockText(back) + "; OpenStack is being asked",
		Remedy: "wait for the answer"})
	p.step.State, p.step.Status = StepWaiting, "OpenStack is being asked: what is known is older than the node's return"
}
