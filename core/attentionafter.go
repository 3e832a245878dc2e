package core

import "time"

// restartsLong is for how long pods of the OpenStack controller's own DaemonSets may be old before that needs a look: it
// restarts them itself, one after the other (docs/mosk.md#restarts), unless it is played.
const restartsLong = 30 * time.Minute

// afterUpdate is one entry for all that an update left over. Old pods count also where the end of the update was not seen.
func (f *attentionFacts) afterUpdate() {
	if f.request != nil || !f.s.known(SourceClusterRequests) {
		return
	}
	a := Attention{Rule: RuleAfterUpdate, Severity: SeverityNotice, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "after the update", Resolve: afterProcedureKey()}
	left, over := f.s.AfterUpdateLeft()
	_, played := f.s.actAs(ControllerOpenStack)
	var old []string
	for _, p := range f.s.AfterUpdate() {
		v, ok := f.s.DaemonView(p.Pods)
		if !ok || len(v.Old) == 0 || v.Set.Namespace == namespaceOpenStack && !played && !v.Made.IsZero() && !f.long(v.Made, restartsLong) {
			continue // the OpenStack controller restarts its own, and is given the time
		}
		old = append(old, v.Short()+" ("+itoa(len(v.Old))+" of "+itoa(len(v.Pods))+")")
	}
	switch {
	case len(old) > 0:
		a.Severity = SeverityWarning
		a.Reason = "pods run an older revision until you restart them: " + some(old, 4)
	case over && left > 0:
		var titles []string
		for _, p := range f.s.AfterUpdate() {
			if !p.Done() && p.Unknown == "" {
				titles = append(titles, "not yet: "+p.Title)
			}
		}
		if len(titles) == 0 {
			return // what cannot be seen needs a source, and the sources tell that themselves
		}
		a.Reason = some(titles, 2)
	default:
		return
	}
	if over {
		a.Since = Since{At: f.s.History.Update.Ended, Exact: true}
	}
	f.add(a)
}
