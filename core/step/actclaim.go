package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// actDeleteClaim plans the deletion of a claim whose volume was on the disks of a node that is gone, so that its pod can start
// elsewhere.
func (p *planner) actDeleteClaim() {
	s, node, ref := p.s, p.i.Node, p.i.Object
	label := wording.OneLine(s.Label(node), 64)
	p.step.Title, p.step.Risk, p.step.Node = "delete claim "+wording.OneLine(ref.Name, 100), core.RiskHigh, node
	p.step.Label = wording.OneLine(ref.Name, 100)
	p.identify(ref)
	sources := append(served(s, core.SourceNodes, core.SourceDisableNotices, core.SourceNodeLocks, core.SourceNodeRequests,
		core.SourceOpenStackController), claimSourcesKnown(s)...)
	p.common(sources, busyOn(s, node))
	a, played := progress.ActAs(s, core.ControllerOpenStack)
	p.guard(core.Guard{ID: core.GuardPlayed, Text: "Lockstep plays the OpenStack controller",
		Holds:  played && p.i.Controller == core.ControllerOpenStack,
		Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(progress.GuardNobodyElse(s, core.ControllerOpenStack))
	turn := progress.TurnNone
	if played {
		turn = progress.TurnOn(s, a, node)
	}
	p.turnGuard(turn, progress.TurnGone)
	claim := s.Claims[ref.Namespace+"/"+ref.Name]
	if claim == nil || claim.UID != ref.UID {
		p.unknown("the claim exists", wording.TextIf(claim == nil, "it is gone", "it was made anew: this is another one"))
		return
	}
	p.step.Type = typable(claim.Name, claim.UID)
	var found *progress.BoundClaim
	bound, _ := progress.ClaimsOn(s, node)
	for i := range bound {
		if bound[i].Claim.UID == ref.UID {
			found = &bound[i]
		}
	}
	g := core.Guard{ID: core.GuardClaimBound, Text: "its volume is bound to the node, and a member of its StatefulSet claims it",
		Holds:  found != nil && found.Volume != nil,
		Answer: "no member that needs it is known", Remedy: "leave it: it is not what keeps a member from starting"}
	if found == nil {
		p.guard(g)
		return
	}
	v, pod := found.Set, found.Pod
	g.Answer = wording.OneLine(pod.Name, 64) + " claims it: " + found.Where(s)
	if found.Volume == nil {
		g.Remedy = "look at it, and where it was this node's delete it by hand: " +
			wording.ShellCommand("kubectl", "-n", claim.Namespace, "get", "pvc", claim.Name, "-o", "yaml")
	}
	p.guard(g)
	away := core.Guard{ID: core.GuardPodAway, Text: "no pod is on the node any more that uses it", Holds: pod.Node != node,
		Answer: wording.OneLine(pod.Name, 64) + " is on no node",
		Remedy: "wait: Kubernetes removes the pods of a node that is gone within a minute or two"}
	if !away.Holds {
		away.Answer = wording.OneLine(pod.Name, 64) + " is still said to be there"
	}
	p.guard(away)
	p.guard(guardHardLock(s, v, node))
	p.fact("claim", claim.UID)
	p.fact("volume", claim.Volume)
	p.fact("pod", pod.Namespace+"/"+pod.Name)
	p.step.Status = wording.OneLine(pod.Name, 64) +
		wording.TextIf(found.Volume != nil, ", volume "+wording.OneLine(claim.Volume, 64), ": "+found.Where(s))
	p.step.Why = wording.OneLine(pod.Name, 64) + " cannot start anywhere else while its claim is bound to a disk of " + label +
		", which is gone. Its data there is given up; the other members have it."
	p.step.Then = v.Name +
		" gets a new claim, and the member starts on another node with an empty disk that the others fill. The step is done when it is ready; " +
		"with no node to go to it stays Pending. The UID is a condition of the deletion, also in the command: a claim that was made anew " +
		"under the name stays."
	if !claim.Deleting.IsZero() {
		p.step.State, p.step.Status = core.StepWaiting,
			"it is being deleted since "+wording.ClockText(claim.Deleting)+
				wording.TextIf(len(claim.Finalizers) > 0, ", held by "+wording.Some(claim.Finalizers, 3), "")+": "+away.Answer
		return
	}
	p.step.Commands = []string{deleteClaimCommand(claim)}
	p.step.Change = core.DeleteClaim{Claim: claim.Ref(), Node: node, Set: v.Name, Pod: pod.Name}
}

// guardHardLock holds when the set can do without the node, which is gone (text U).
func guardHardLock(s *core.Snapshot, v progress.QuorumView, node string) core.Guard {
	g := core.Guard{ID: core.GuardHardLock, Text: v.Name + " does not hold the node", Holds: v.Holds(node) == progress.QuorumFree,
		Answer: progress.QuorumText(s, v, node)}
	if !g.Holds {
		g.Remedy = "mend it, or wait for it: with a member less its data may be lost; " + v.Look()[1]
	}
	return g
}

// deleteClaimCommand deletes the claim only if it has this UID; `kubectl delete pvc` cannot do that.
func deleteClaimCommand(c *core.VolumeClaim) string {
	options := `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":` + wording.JSONText(c.UID) + `}}`
	return wording.ShellCommand("echo", options) + " | " +
		wording.ShellCommand("kubectl", "delete", "--raw", "/api/v1/namespaces/"+c.Namespace+"/persistentvolumeclaims/"+c.Name, "-f", "-")
}
