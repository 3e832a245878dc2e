package attention

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// nodeConfiguration finds annotations that the controller cannot read.
func (f *facts) nodeConfiguration(n nodeFacts) {
	if !n.Mode.Known() && n.Stage != core.StageWaiting && progress.ModeCounts(f.s, n.Name) {
		a := n.entry(core.RuleMode)
		a.Severity, a.Since = core.SeverityWarning, core.Since{}
		a.Reason = fmt.Sprintf("the OpenStack controller does not know migration mode %q: it will fail on it",
			wording.OneLine(string(n.Mode), 40))
		f.add(a)
	}
	if n.BadAttempts != "" {
		a := n.entry(core.RuleAttempts)
		a.Severity, a.Since, a.Reason = core.SeverityWarning, core.Since{}, n.BadAttempts
		f.add(a)
	}
}

// annotationLeft finds a migration mode that Lockstep set for a maintenance that is over.
func (f *facts) annotationLeft(n nodeFacts) {
	if n.Node == nil || n.Request != nil || n.Stage != core.StageDone && n.Stage != core.StageIdle || !f.s.Known(core.SourceNodeRequests) {
		return
	}
	c, changed := f.s.History.Changes[n.Node.UID]
	if !changed || !step.EqualText(n.Node.Annotation(c.Key), c.New) || step.EqualText(c.Old, c.New) {
		return
	}
	if n.Stage == core.StageIdle && !f.s.History.Rounds[n.Node.UID].Ended.After(c.At) {
		return // set before the maintenance, for the maintenance
	}
	a := n.entry(core.RuleAnnotationLeft)
	a.Severity, a.Since = core.SeverityNotice, core.Since{At: c.At, Exact: true}
	a.Reason = step.AnnotationText(c.Key, c.New) + " was set by Lockstep; before, it was " + wording.TextOr(c.Old, "not set")
	if wording.TextOr(c.New, "") == string(core.ModeSkip) {
		a.Severity = core.SeverityWarning
		a.Detail = "In its next maintenance its instances would go down with it."
	}
	f.add(a)
}
