package attention

import (
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/wording"
)

// operations finds those that failed or are paused, and that nobody has acknowledged.
func (f *facts) operations() {
	for _, op := range f.s.Operations {
		if op.Acknowledged || op.State != core.OperationFailed && op.State != core.OperationUnknown && op.State != core.OperationPaused {
			continue
		}
		a := core.Attention{Rule: core.RuleOperation, Key: op.ID, Operation: op.ID, Severity: core.SeverityWarning,
			Label: wording.TextOf(op.Label, op.Title), Node: op.Node, Instance: op.Instance,
			Since:  core.Since{At: op.Started, Exact: true},
			Reason: op.Title + " " + string(op.State) + wording.Because(wording.OneLine(op.Text, wording.MostRead)), Hint: "acknowledge it"}
		if !op.Ended.IsZero() {
			a.Since.At = op.Ended
		}
		switch op.State {
		case core.OperationUnknown:
			a.Reason = op.Title + ": how it ended is not known" + wording.Because(wording.OneLine(op.Text, wording.MostRead))
		case core.OperationPaused:
			a.Severity, a.Since.At = core.SeverityUrgent, op.Started
			a.Hint = "let it go on, or stop it"
		}
		switch {
		case op.Node != "":
			a.Subject, a.Resolve = core.Ref{Kind: core.KindNode, Name: op.Node}, &core.ProcedureKey{Kind: core.ProcedureNode, Subject: op.Node}
			if n := f.s.Nodes[op.Node]; n != nil {
				a.Subject = n.Ref()
			}
		case op.Instance != "":
			a.Subject, a.Resolve = core.Ref{Kind: core.KindInstance, Name: op.Label, UID: op.Instance},
				&core.ProcedureKey{Kind: core.ProcedureInstance, Subject: op.Instance}
		default:
			a.Subject = core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}
			if op.Is(core.IntentRestartPods) || op.Is(core.IntentAddTempest) || op.Is(core.IntentRemoveTempest) {
				a.Resolve = procedure.AfterKey()
			}
		}
		f.add(a)
	}
}

// writing finds that Lockstep has disarmed itself.
func (f *facts) writing() {
	if f.s.Write.Armed || f.s.Write.Lost == "" {
		return
	}
	f.add(core.Attention{Rule: core.RuleDisarmed, Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster},
		Label: "read-only", Since: f.since(f.s.Write.Since),
		Reason: "writing was disarmed: " + wording.OneLine(f.s.Write.Lost, wording.MostRead), Hint: "arm it again"})
}
