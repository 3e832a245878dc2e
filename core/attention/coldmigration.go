package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
)

// ownMigrations finds the cold migrations that Lockstep began and that wait for a decision, wherever the instances are now. What
// another entry says already is not repeated.
func (f *facts) ownMigrations() {
	for _, in := range progress.OwnCold(f.s, progress.ColdUndecided) {
		c, node := f.s.History.Cold[in.ID], ""
		if n := f.s.NodeOfHost(in.Host); n != nil {
			node = n.Name
		}
		if f.tellsOf(in, node) {
			continue
		}
		a := core.Attention{Rule: core.RuleOwnMigration, Key: in.ID, Severity: core.SeverityWarning, Subject: in.Ref(),
			Node: node, Instance: in.ID, Label: progress.InstanceLabel(in),
			Since: core.Since{At: c.At, Exact: true}, Resolve: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: in.ID}}
		if m := f.s.LatestMigration(in.ID); m != nil && m.Type == core.MigrationCold && m.Updated.After(c.At) && m.Status == "finished" {
			a.Since.At = m.Updated
		}
		a.Reason = "confirm or revert its migration: Lockstep moved it from " + progress.HostLabel(f.s, c.From) + " to " +
			progress.HostLabel(f.s, in.Host)
		a.Detail = "In VERIFY_RESIZE nothing migrates or stops it, so it will hold " + progress.HostLabel(f.s, in.Host) + "; " +
			progress.HostLabel(f.s, c.From) +
			" keeps its files and its place until somebody decides."
		f.add(a)
	}
}

// tellsOf tells whether an entry says already that the instance needs a decision.
func (f *facts) tellsOf(in *core.Instance, node string) bool {
	view, _ := progress.InstanceView(f.s, in.ID)
	return slices.ContainsFunc(f.found, func(a core.Attention) bool {
		return a.Instance == in.ID || node != "" && view.Blocks && a.Rule == core.RuleNodeWaits && a.Node == node
	})
}
