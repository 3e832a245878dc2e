package attention

import (
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// restartsLong is how long pods of the OpenStack controller's own DaemonSets may be old before they need a look: unless it is played,
// the controller restarts them itself, one after another (docs/mosk.md#restarts).
const restartsLong = 30 * time.Minute

// afterUpdate makes one entry for everything that is left to do after an update. Old pods count even if the end of the update was not
// seen.
func (f *facts) afterUpdate() {
	if f.request != nil || !f.s.Known(core.SourceClusterRequests) {
		return
	}
	a := core.Attention{Rule: core.RuleAfterUpdate, Severity: core.SeverityNotice,
		Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: "after the update", Resolve: procedure.AfterKey()}
	left, over := procedure.AfterUpdateLeft(f.s)
	_, played := progress.ActAs(f.s, core.ControllerOpenStack)
	var old []string
	for _, p := range procedure.AfterUpdate(f.s) {
		v, ok := progress.DaemonView(f.s, p.Pods)
		if !ok || len(v.Old) == 0 || v.Set.Namespace == core.NamespaceOpenStack && !played && !v.Made.IsZero() && !f.long(v.Made, restartsLong) {
			continue // the OpenStack controller restarts its own, and gets the time for it
		}
		old = append(old, v.Short()+" ("+wording.Itoa(len(v.Old))+" of "+wording.Itoa(len(v.Pods))+")")
	}
	switch {
	case len(old) > 0:
		a.Severity = core.SeverityWarning
		a.Reason = "pods run an older revision until you restart them: " + wording.Some(old, 4)
	case over && left > 0:
		var titles []string
		for _, p := range procedure.AfterUpdate(f.s) {
			if !p.Done() && p.Unknown == "" {
				titles = append(titles, "not yet: "+p.Title)
			}
		}
		if len(titles) == 0 {
			return // what is not known needs a source, and the rule for sources says so
		}
		a.Reason = wording.Some(titles, 2)
	default:
		return
	}
	if over {
		a.Since = core.Since{At: f.s.History.Update.Ended, Exact: true}
	}
	f.add(a)
}
