package core

import (
	"fmt"
	"maps"
	"time"
)

// remembered is what is kept of an override that ended so; nil when nothing came of it, or there was none.
func (o *Override) remembered(state OperationState) *Override {
	if o == nil || !state.mayHaveBeenDone() {
		return nil
	}
	kept := *o
	kept.Unsure = state == OperationUnknown
	return &kept
}

// requestFor is the request that the lock answers to; nil when nobody asks.
func (s *Snapshot) requestFor(l *WorkloadLock) *MaintenanceRequest {
	if l.Node != "" {
		return s.NodeRequest(l.Node)
	}
	return s.ClusterRequest()
}

// withOverride adds an override to those that were handed out.
func withOverride(all map[string]Override, o Override) map[string]Override {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]Override{}
	}
	all[o.Lock.UID] = o
	return all
}

// overrideWatched is for how long an override is watched for which there was no request.
const overrideWatched = 24 * time.Hour

// watched tells whether an override still counts: the maintenance for which it was done has not ended; or where nobody asked,
// none has gone over it since, after which its controller takes the lock back, as it should.
func (s *Snapshot) watched(o Override, l *WorkloadLock) bool {
	r := s.requestFor(l)
	switch {
	case r != nil && !r.Deleting.IsZero():
		return false
	case o.Request != "":
		return r != nil && r.UID == o.Request
	}
	ended := s.History.Update.Ended
	if l.Node != "" {
		ended = time.Time{}
		if n := s.Nodes[l.Node]; n != nil {
			ended = s.History.Rounds[n.UID].Ended
		}
	}
	return !ended.After(o.At) && (r != nil || s.Now.Sub(o.At) < overrideWatched)
}

// undone says what of an override the lock does not say any more; empty when it says all of it. A text counts only where one
// was set: what its controller writes into a lock without one is its own.
func (o Override) undone(l *WorkloadLock) string {
	switch {
	case l.State() != o.To:
		return "the lock says " + oneLine(string(l.State()), 40) + " again"
	case o.Text != "" && l.Message == "":
		return "its text is gone"
	case o.Text != "" && l.Message != o.Text:
		return "its text is another: " + oneLine(l.Message, 200)
	}
	return ""
}

// overrides are locks that Lockstep set and that do not say it any more: their controllers have set them back.
func (f *attentionFacts) overrides() {
	for uid, o := range f.s.History.Overrides {
		l := f.s.lockByUID(uid)
		if l == nil || !f.s.watched(o, l) {
			continue
		}
		undone := o.undone(l)
		if undone == "" {
			continue
		}
		r := f.s.requestFor(l)
		a := Attention{Rule: RuleOverride, Key: uid, Severity: SeverityUrgent, Subject: l.Ref(), Node: l.Node, Label: f.s.lockLabel(l), Since: f.lockSince(l, r), Resolve: clusterProcedure(),
			Reason: fmt.Sprintf("what was set by hand is undone: %s; %s at %s it was set to %s", undone, textOf(oneLine(o.By, 60), "by hand"), clockText(o.At), o.To),
			Detail: sentence(f.s.ownerOf(l) + " has set it back. Find out why it holds before you set it again")}
		if o.Unsure {
			a.Reason = fmt.Sprintf("what was set by hand is not there: %s; %s at %s it was to be set to %s, and the answer was lost", undone, textOf(oneLine(o.By, 60), "by hand"), clockText(o.At), o.To)
			a.Detail = "Either it was never set, or " + f.s.ownerOf(l) + " has set it back. Look before you set it again."
		}
		if r == nil {
			a.Severity = SeverityWarning // nothing waits for it now
		}
		if l.Node != "" {
			a.Resolve = &ProcedureKey{Kind: ProcedureNode, Subject: l.Node}
		}
		f.add(a)
	}
}
