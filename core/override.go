package core

import (
	"fmt"
	"maps"
)

// overrideOf is what is remembered of a step that overrides a lock; nil for all others.
func (e *Engine) overrideOf(step Step, c Change) *Override {
	set, ok := c.(SetLock)
	if !ok || step.Intent.Kind != IntentOverrideLock {
		return nil
	}
	o := &Override{Lock: set.Lock, Was: set.Was, To: set.To.State, At: e.cfg.Clock(), By: e.cfg.Operator}
	s := e.Snapshot()
	if l := s.lockByUID(set.Lock.UID); l != nil {
		if r := s.requestFor(l); r != nil {
			o.Request = r.UID
		}
	}
	return o
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

// overrides are locks that Lockstep set and that do not say it any more, though the request for which it was done is still
// there: their controllers have set them back.
func (f *attentionFacts) overrides() {
	for uid, o := range f.s.History.Overrides {
		l := f.s.lockByUID(uid)
		if l == nil || l.State() == o.To {
			continue
		}
		r := f.s.requestFor(l)
		if r == nil || r.UID != o.Request || !r.Deleting.IsZero() {
			continue // the maintenance is over: its controller takes the lock back, as it should
		}
		a := Attention{ID: "override/" + uid, Severity: SeverityUrgent, Subject: l.Ref(), Node: l.Node, Label: f.s.lockLabel(l), Since: f.lockSince(l, r), Resolve: clusterProcedure(),
			Reason: fmt.Sprintf("what was set by hand is undone: the lock says %s again; %s at %s it was set to %s", oneLine(string(l.State()), 40), textOf(oneLine(o.By, 60), "by hand"), clockText(o.At), o.To),
			Detail: sentence(f.s.ownerOf(l) + " has set it back. Find out why it holds before you set it again")}
		if l.Node != "" {
			a.Resolve = &ProcedureKey{Kind: ProcedureNode, Subject: l.Node}
		}
		f.add(a)
	}
}
