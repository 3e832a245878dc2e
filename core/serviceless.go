package core

// A compute for which Nova has no nova-compute service makes the OpenStack controller fail on its request: with an IndexError, again and
// again, and without a text (docs/mosk.md#no-compute-service).

// serviceless tells whether Nova has no nova-compute service of a compute node.
func (s *Snapshot) serviceless(name string) bool {
	n := s.Nodes[name]
	return n != nil && n.Is(RoleCompute) && s.known(SourceComputeServices) && s.Services[s.HostOf(name)] == nil
}

const servicelessCause = "Nova has no nova-compute service of it"

// fails tells whether the controller fails on the node's request now, and does so in silence: its text of another time does not count.
func (s *Snapshot) failsOnService(name string) bool {
	r, l := s.NodeRequest(name), s.NodeLock(name, ControllerOpenStack)
	return s.serviceless(name) && r != nil && r.Deleting.IsZero() && l != nil && l.State() == LockActive
}

// returnFailsOnService tells whether the controller fails on taking the node back: a node that is not back yet does not get so far.
func (s *Snapshot) returnFailsOnService(name string) bool {
	r, l, n := s.NodeRequest(name), s.NodeLock(name, ControllerOpenStack), s.Nodes[name]
	return s.serviceless(name) && r != nil && !r.Deleting.IsZero() && l != nil && l.State() == LockInactive && n.Ready == "True" &&
		!s.playsOn(ControllerOpenStack, name)
}

// serviceMissing is such a compute: urgent when it is asked for, told before that while there is time to mend it.
func (f *attentionFacts) serviceMissing(n nodeAttention) {
	s := f.s
	if !s.serviceless(n.Name) || s.playsOn(ControllerOpenStack, n.Name) && n.leaving() || f.leavesForGood(n) {
		return // the entry of the turn says it
	}
	a := n.entry(RuleNoComputeService)
	a.Detail = "Its nova-compute was never heard from, or somebody has deleted the service while it ran. A new pod of it announces itself anew."
	switch {
	case s.failsOnService(n.Name):
		a.Severity, a.Since = SeverityUrgent, Since{At: n.Request.Created, Exact: true}
		a.Reason = servicelessCause + ": the OpenStack controller fails on its request without a word"
		if n.own.InnerState == InnerActive {
			a.Detail = join(a.Detail, "Meanwhile the node counts as worked on: requests for other computes can fail in the same way.")
		}
	case s.returnFailsOnService(n.Name):
		a.Severity, a.Since = SeverityUrgent, Since{At: n.Request.Deleting, Exact: true}
		a.Reason = servicelessCause + ": the OpenStack controller fails on its return without a word"
		a.Detail = join(a.Detail, "The node stays in maintenance until then, and counts as worked on.")
	case n.Request != nil:
		return
	case f.request != nil:
		a.Severity, a.Since = SeverityWarning, Since{}
		a.Reason = servicelessCause + ": the OpenStack controller will fail on its maintenance without a word"
	case f.long(n.Node.Created, healthLong):
		a.Severity, a.Since = SeverityNotice, Since{}
		a.Reason = servicelessCause + ": the OpenStack controller would fail on its maintenance without a word"
	default:
		return // it is being set up
	}
	f.add(a)
}

// noComputeService is a node on whose request the controller fails.
func noComputeService(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.working() || !f.s.failsOnService(f.name) {
		return verdict{}, false
	}
	return verdict{reason: servicelessCause + ": the OpenStack controller fails on it without a word" + f.tries("; it "), what: "no compute service",
		at: f.requestAt()}, true
}

// computePodCommand deletes the pod of nova-compute on the node, so that its DaemonSet makes a new one.
func (s *Snapshot) computePodCommand(node string) string {
	return kubectlOpenStack("delete", "pods", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+node)
}

// serviceSteps bring the node's nova-compute into Nova's list: they restart its pod, or show where to look.
func (b *nodeSteps) serviceSteps() {
	s, name := b.s, b.v.Name
	if !s.serviceless(name) || b.v.Request != nil && !b.v.Request.Deleting.IsZero() && !s.returnsOurs(name) && !s.returnFailsOnService(name) {
		return
	}
	host := s.HostOf(name)
	st := b.other("compute-service", "Nova shows a nova-compute of "+b.v.Label,
		"It announces itself when its pod starts. One that Nova does not show is not running, reports under another name, or had its service deleted while it ran. "+
			"Do not take the role label off instead: the lock would be in deletion, and hold the node for ever.", StepWaiting, "Nova has none of "+oneLine(host, 64))
	st.Commands = []string{shellCommand("openstack", "compute", "service", "list", "--service", "nova-compute"),
		kubectlOpenStack("get", "pods", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+name, "-o", "wide")}
	if restart := b.restartCompute(); len(restart) > 0 {
		b.add(restart...)
	} else {
		st.Commands = append(st.Commands, s.computePodCommand(name))
	}
	b.add(st)
}
