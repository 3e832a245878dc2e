package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// roleLabels finds a setting that the controller cannot read, and with which it does not start.
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
		Detail:  "The OpenStack controller does not start with it. Until it is fixed, Lockstep uses " + f.s.RoleLabels.Text() + "."})
}

// roleless finds a node on which nova-compute runs and that has no role label: nothing holds it when LCM drains and reboots it.
func (f *facts) roleless(n nodeFacts) {
	s := f.s
	if n.Node == nil || n.own != nil || n.Node.HasOpenStackRole() || n.Service == nil || !s.Known(core.SourceNodeLocks) ||
		!s.Known(core.SourceComputeServices) ||
		!n.Node.Deleting.IsZero() || s.Deletions[n.Name] != nil || progress.PlaysOn(s, core.ControllerOpenStack, n.Name) {
		return
	}
	a := n.entry(core.RuleRoleless)
	a.Severity, a.Since = core.SeverityWarning, core.Since{}
	a.Reason = "nova-compute runs on it, and it has no role label: LCM does not wait for its instances"
	if n.leaving() {
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created, Exact: true}
		a.Reason = "LCM takes it without waiting for its instances: nova-compute runs on it, and it has no role label"
	}
	a.Detail = "Give it its role label: the OpenStack controller then makes its lock."
	f.add(a)
}
