package attention

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// roleLabels is a setting of the controller's that cannot be read: with it the controller does not start.
func (f *facts) roleLabels() {
	c := f.s.Controller
	if c == nil || c.RoleLabels == "" || !f.s.Known(core.SourceOpenStackController) {
		return
	}
	_, err := core.ReadRoleLabels(c.RoleLabels)
	if err == nil {
		return
	}
	f.add(core.Attention{Rule: core.RuleRoleLabels, Severity: core.SeverityWarning, Label: wording.OneLine(c.Name, 40),
		Resolve: clusterProcedure(),
		Subject: core.Ref{Kind: core.KindDeployment, Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		Reason:  "its OSCTL_OPENSTACK_NODE_LABELS cannot be read: " + err.Error(),
		Detail:  "With it the OpenStack controller does not start. Until it is mended Lockstep goes by " + f.s.RoleLabels.Text() + "."})
}
