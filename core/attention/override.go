package attention

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// overrides finds locks that Lockstep set and that their controllers have set back.
func (f *facts) overrides() {
	for uid, o := range f.s.History.Overrides {
		l := step.LockByUID(f.s, uid)
		if l == nil || !progress.OverrideCounts(f.s, o, l) {
			continue
		}
		undone := o.Undone(l)
		if undone == "" {
			continue
		}
		r, since := progress.RequestFor(f.s, l), f.s.History.StateSince(l)
		if l.State() == o.To || !since.At.After(o.At) { // of its text that is not known
			since = core.NotBefore(o.At)
		}
		a := core.Attention{Rule: core.RuleOverride, Key: uid, Severity: core.SeverityUrgent, Subject: l.Ref(), Node: l.Node,
			Label: step.LockLabel(f.s, l), Since: since, Resolve: clusterProcedure(),
			Reason: fmt.Sprintf("what was set by hand is undone: %s; %s set it to %s at %s", undone,
				wording.TextOf(wording.OneLine(o.By, 60), "somebody"), o.To, wording.ClockText(o.At)),
			Detail: wording.Sentence(step.OwnerOf(f.s, l) + " has set it back. Find out why it holds before you set it again")}
		if o.Unsure {
			a.Reason = fmt.Sprintf("what was set by hand is not there: %s; %s tried to set it to %s at %s, and the answer was lost", undone,
				wording.TextOf(wording.OneLine(o.By, 60), "somebody"), o.To, wording.ClockText(o.At))
			a.Detail = "Either it was never set, or " + step.OwnerOf(f.s, l) + " has set it back. Look before you set it again."
		}
		if r == nil {
			a.Severity = core.SeverityWarning // nothing waits for the lock now
		}
		if l.Node != "" {
			a.Resolve = &core.ProcedureKey{Kind: core.ProcedureNode, Subject: l.Node}
		}
		f.add(a)
	}
}
