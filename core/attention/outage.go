package attention

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// outages makes one entry for all locks whose text says that an OpenStack API does not answer the controller.
func (f *facts) outages() {
	var names []string
	var since time.Time
	meaning := ""
	hint := ""
	see := func(l *core.WorkloadLock, label string) {
		m := progress.ReadLock(f.s, l)
		switch {
		case m.Class == progress.MessageOutage:
			since, meaning = core.Earlier(since, m.At), m.Meaning
		case progress.SilentOutage(f.s, l):
			meaning = "no lock says so: " + progress.ControllerName(f.s, l.Node) + " " +
				progress.AccountLine(f.s, progress.AccountOf(f.s, l), l.Node, m)
		default:
			return
		}
		names = wording.AddNew(names, label)
		if r, seen := f.s.History.Outages[l.UID]; seen && !f.s.Longer(r.Last, core.OutageBetween) {
			since = core.Earlier(since, r.First)
		}
		if hint == "" {
			hint = f.retried(l)
		}
	}
	for _, l := range f.s.ClusterLocks {
		if f.request != nil && l.State() == core.LockActive {
			see(l, wording.OneLine(l.Controller, 40))
		}
	}
	for _, v := range progress.NodeViews(f.s) {
		leaves := v.Request != nil || len(f.s.Deletions) > 0 && f.s.Deletions[v.Name] != nil
		if v.Stage != core.StageReturning && !leaves {
			continue // as most nodes are
		}
		for _, l := range v.Locks {
			if v.Stage == core.StageReturning || l.State() == core.LockActive {
				see(l, v.Label)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	a := core.Attention{Rule: core.RuleOutage, Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster},
		Label: "openstack", Since: core.Since{At: since},
		Reason: "the OpenStack controller gets no answer from OpenStack: " + wording.Some(names, 4), Detail: wording.Sentence(meaning),
		Hint: hint}
	if f.long(since, progress.OutageLong) {
		a.Severity = core.SeverityUrgent
	}
	f.add(a)
}
