package core

import "slices"

// actClaims are the claims that are bound to a node that is gone, and what is to be said of them: as Rockoon, Lockstep has them
// deleted before the lock goes (docs/mosk.md#after-a-node-is-gone).
func (b *nodeSteps) actClaims(a ActAs) {
	s, node := b.s, b.v.Name
	bound, unknown := s.claimsOn(node)
	for _, op := range s.Operations { // the claim of one that is under way can be gone already
		known := func(c boundClaim) bool { return op.Intent.Object.UID == c.claim.UID }
		if op.Node == node && op.is(IntentActDeleteClaim) && !op.State.Ended() && !op.Past && !slices.ContainsFunc(bound, known) {
			st := b.other("claim-goes", op.Title, "The step ends when the new member is ready, or when no node can have it.", StepRunning, op.Text)
			st.ID += "/" + op.Step
			b.add(st)
		}
	}
	waits := map[string]bool{} // pods that are spoken of
	for _, c := range bound {
		waits[c.pod.UID] = true
		b.add(Plan(s, Intent{Kind: IntentActDeleteClaim, Controller: a.Controller, Node: node, Object: c.claim.Ref()}))
	}
	for _, why := range unknown {
		st := b.other("claims", "see the volume claims that are bound to "+b.v.Label,
			"The data of MariaDB, etcd, Redis, Prometheus and OVN is on disks of their nodes: a member whose claim is bound to one that is gone never starts again.",
			StepWaiting, "not known: "+why)
		st.ID += "/" + why
		b.add(st)
	}
	placed := true
	for _, q := range releaseOrder() {
		v, there := s.quorum(q)
		if !there || s.quorumUnknown(q) != "" {
			continue
		}
		for _, pod := range v.pods {
			if pod.Node != "" || waits[pod.UID] {
				continue
			}
			placed = false
			st := b.other("member", oneLine(pod.Name, 64)+" finds a node",
				"No volume of its is in the way. A new member needs a node of its role that has none of the others.", StepWaiting, s.quorumText(v, node))
			st.ID += "/" + pod.Namespace + "/" + pod.Name
			st.Commands = []string{shellCommand("kubectl", "-n", pod.Namespace, "describe", "pod", pod.Name)}
			b.add(st)
		}
	}
	if len(bound) == 0 && len(unknown) == 0 {
		status := "none is"
		if !placed {
			status = "none is any more"
		}
		b.add(b.other("claims", "no volume claim is bound to the disks of "+b.v.Label,
			"A member of MariaDB, etcd, Redis, Prometheus or OVN whose claim is left there never starts again.", StepDone, status))
	}
}

// actDeleteClaim plans that a claim goes whose volume was on the disks of a node that is gone, so that its pod can start elsewhere.
func (p *planner) actDeleteClaim() {
	s, node, ref := p.s, p.i.Node, p.i.Object
	label := oneLine(s.Label(node), 64)
	p.step.Title, p.step.Risk, p.step.Node = "delete claim "+oneLine(ref.Name, 100), RiskHigh, node
	p.step.Label = oneLine(ref.Name, 100)
	p.identify(ref)
	sources := append([]SourceID{SourceNodes, SourceDisableNotices, SourceNodeLocks, SourceNodeRequests, SourceOpenStackController}, s.claimSourcesKnown()...)
	p.common(sources, s.busyOn(node))
	a, played := s.actAs(ControllerOpenStack)
	p.guard(Guard{ID: GuardPlayed, Text: "Lockstep plays the OpenStack controller", Holds: played && p.i.Controller == ControllerOpenStack,
		Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack, Absent: a.Absent}))
	turn := turnNone
	if played {
		turn = s.actTurn(a, node)
	}
	p.turnGuard(turn, turnGone)
	claim := s.Claims[ref.Namespace+"/"+ref.Name]
	if claim == nil || claim.UID != ref.UID {
		p.unknown("the claim exists", textIf(claim == nil, "it is gone", "it was made anew: that one is another"))
		return
	}
	p.step.Type = typable(claim.Name, claim.UID)
	var found *boundClaim
	bound, _ := s.claimsOn(node)
	for i := range bound {
		if bound[i].claim.UID == ref.UID {
			found = &bound[i]
		}
	}
	g := Guard{ID: GuardClaimBound, Text: "its volume is bound to the node, and a member of its StatefulSet claims it", Holds: found != nil && found.volume != nil,
		Answer: "no member that needs it is known", Remedy: "leave it: it is not what keeps a member from starting"}
	if found == nil {
		p.guard(g)
		return
	}
	v, pod := found.set, found.pod
	g.Answer = oneLine(pod.Name, 64) + " claims it: " + found.where(s)
	if found.volume == nil {
		g.Remedy = "look at it, and where it was this node's delete it by hand: " + shellCommand("kubectl", "-n", claim.Namespace, "get", "pvc", claim.Name, "-o", "yaml")
	}
	p.guard(g)
	away := Guard{ID: GuardPodAway, Text: "no pod is on the node any more that uses it", Holds: pod.Node != node, Answer: oneLine(pod.Name, 64) + " is on no node",
		Remedy: "wait: Kubernetes removes the pods of a node that is gone within a minute or two"}
	if !away.Holds {
		away.Answer = oneLine(pod.Name, 64) + " is still said to be there"
	}
	p.guard(away)
	p.guard(s.guardHardLock(v, node))
	p.fact("claim", claim.UID)
	p.fact("volume", claim.Volume)
	p.fact("pod", pod.Namespace+"/"+pod.Name)
	p.step.Status = oneLine(pod.Name, 64) + textIf(found.volume != nil, ", volume "+oneLine(claim.Volume, 64), ": "+found.where(s))
	p.step.Why = oneLine(pod.Name, 64) + " cannot start anywhere else while its claim is bound to a disk of " + label + ", which is gone. Its data there is given up; the other members have it."
	p.step.Then = v.name + " gets a new claim, and the member starts on another node with an empty disk that the others fill. The step is done when it is ready; with no node to go to it stays Pending. The UID is a condition of the deletion, also in the command: a claim that was made anew under the name stays."
	if !claim.Deleting.IsZero() {
		p.step.State, p.step.Status = StepWaiting, "it is being deleted since "+clockText(claim.Deleting)+textIf(len(claim.Finalizers) > 0, ", held by "+some(claim.Finalizers, 3), "")+": "+away.Answer
		return
	}
	p.step.Commands = []string{deleteClaimCommand(claim)}
	p.step.Change = DeleteClaim{Claim: claim.Ref(), Node: node, Set: v.name, Pod: pod.Name}
}

// guardHardLock holds when a set can do without a node that is gone (text U).
func (s *Snapshot) guardHardLock(v quorumView, node string) Guard {
	g := Guard{ID: GuardHardLock, Text: v.name + " does not hold the node", Holds: v.holds(node) == quorumFree,
		Answer: s.quorumText(v, node)}
	if !g.Holds {
		g.Remedy = "mend it, or wait for it: with a member less its data may be lost; " + v.look()[1]
	}
	return g
}

// deleteClaimCommand deletes exactly the claim of the UID: `kubectl delete pvc` has no such condition.
func deleteClaimCommand(c *VolumeClaim) string {
	options := `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":` + jsonText(c.UID) + `}}`
	return shellCommand("echo", options) + " | " +
		shellCommand("kubectl", "delete", "--raw", "/api/v1/namespaces/"+c.Namespace+"/persistentvolumeclaims/"+c.Name, "-f", "-")
}
