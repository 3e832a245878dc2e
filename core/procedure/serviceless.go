package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// ReturnFailsOnService tells whether the OpenStack controller fails to take the node back, as Nova has no nova-compute of it. A node
// that is not Ready yet does not get so far.
func ReturnFailsOnService(s *core.Snapshot, name string) bool {
	r, l, n := s.NodeRequest(name), s.NodeLock(name, core.ControllerOpenStack), s.Nodes[name]
	return progress.Serviceless(s, name) && r != nil && !r.Deleting.IsZero() && l != nil && l.State() == core.LockInactive &&
		n.Ready == "True" &&
		!progress.PlaysOn(s, core.ControllerOpenStack, name)
}

// serviceSteps adds the steps that bring the node's nova-compute into Nova's list: restart its pod, or show where to look.
func (b *nodeSteps) serviceSteps() {
	s, name := b.s, b.v.Name
	if !progress.Serviceless(s, name) || b.v.Request != nil && !b.v.Request.Deleting.IsZero() && !progress.ReturnsOurs(s, name) &&
		!ReturnFailsOnService(s, name) {
		return
	}
	host := s.HostOf(name)
	st := b.other("compute-service", "Nova shows a nova-compute of "+b.v.Label,
		"It announces itself when its pod starts. One that Nova does not show is not running, reports under another name, or had its service "+
			"deleted while it ran. "+
			"Do not take the role label off instead: the lock would be in deletion, and hold the node for ever.", core.StepWaiting,
		"Nova has none of "+wording.OneLine(host, 64))
	st.Commands = []string{wording.ShellCommand("openstack", "compute", "service", "list", "--service", "nova-compute"),
		progress.KubectlOpenStack("get", "pods", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+name, "-o",
			"wide")}
	if restart := b.restartCompute(); len(restart) > 0 {
		b.add(restart...)
	} else {
		st.Commands = append(st.Commands, progress.ComputePodCommand(s, name))
	}
	b.add(st)
}
