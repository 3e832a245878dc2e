package attention

import (
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// returnedDown finds a node that was taken back though OpenStack does not hear from its nova-compute or its network agents, while LCM goes
// on with other nodes. The OpenStack controller from Rockoon 1.2 on does not wait for them (docs/mosk.md#agents); before, they can fall
// silent afterwards. When the update is over the page of what is left has them.
func (f *facts) returnedDown(n nodeFacts) {
	if f.request == nil || f.leavesForGood(n) {
		return
	}
	compute, agents := progress.ReturnedDown(f.s, n.NodeView)
	if !compute && len(agents) == 0 {
		return
	}
	a := n.entry(core.RuleReturnedDown)
	a.Severity, a.Since = core.SeverityUrgent, returnedSince(f.s, n)
	a.Reason = "taken back with " + progress.DownText(compute, agents)
	a.Detail = "The node counts as done, and LCM goes on: what went wrong here can go wrong on each node that follows. Mode manual holds " +
		"the computes that come next and have instances."
	f.add(a)
}

func atComputeIfDown(f *facts, a core.Attention) []core.Command {
	if compute, _ := returnedDownAt(f, a); compute {
		return atCompute(f, a)
	}
	return nil
}

func atAgentsIfDown(f *facts, a core.Attention) []core.Command {
	if _, agents := returnedDownAt(f, a); len(agents) == 0 {
		return nil
	}
	return []core.Command{procedure.ToLook("what Neutron says of them",
		wording.ShellCommand("openstack", "network", "agent", "list", "--host", f.s.HostOf(a.Node)))}
}

func returnedDownAt(f *facts, a core.Attention) (compute bool, agents []string) {
	if v, ok := progress.NodeView(f.s, a.Node); ok {
		return progress.ReturnedDown(f.s, v)
	}
	return false, nil
}
