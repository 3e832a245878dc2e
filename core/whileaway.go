package core

import "time"

// nodeIsDown is how long a node is not Ready before the OpenStack controller counts it as down (docs/mosk.md#node-down).
const nodeIsDown = 120 * time.Second

// playsAway tells whether Lockstep plays the OpenStack controller, and that is away: what it does beside maintenance nobody does.
func (s *Snapshot) playsAway() bool {
	a, played := s.actAs(ControllerOpenStack)
	return played && s.guardNobodyElse(a).Holds
}

// awaySteps is what nobody does while the OpenStack controller is away and Lockstep plays it: Lockstep does its part of maintenance, and
// no more (docs/mosk.md#while-it-is-away).
func (s *Snapshot) awaySteps() []Step {
	if !s.playsAway() {
		return nil
	}
	return []Step{{ID: "cluster/away", Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, Title: "nobody does the OpenStack controller's other work",
		State: StepWaiting, Status: "while it is away",
		Why: "You do its part of the maintenance. Of a node that goes down, nobody deletes the pods, and nobody tells Masakari: its instances stay down. " +
			"Nobody applies what changes in the OpenStackDeployment and its secrets, or keeps its status (osdplst) true. " +
			"Nobody makes locks for new nodes, lets a deleted Node object go, or restarts old pods under OnDelete."}}
}

// awaySteps are the same for a node that is down now.
func (b *nodeSteps) awaySteps() []Step {
	s, n := b.s, b.v.Node
	if n == nil || n.Ready == "True" || !s.playsAway() || n.ReadySince.IsZero() || s.Now.Sub(n.ReadySince) <= nodeIsDown {
		return nil
	}
	st := b.other("away", "nobody deletes the pods of "+b.v.Label+", which is down",
		"It is not Ready since "+clockText(n.ReadySince)+". The OpenStack controller, which is away, would delete all pods of OpenStack on it without waiting for their end. "+
			"Do it only when the host is off for certain: else one of them may run twice.", StepWaiting, "the OpenStack controller is away")
	st.Commands = []string{kubectlOpenStack("delete", "pods", "--field-selector=spec.nodeName="+n.Name, "--grace-period=0")}
	held := b.lock != nil && b.lock.State() == LockActive && !n.Cordoned // else the controller would not tell it either
	if left := len(s.InstancesOn(n.Name)); n.Is(RoleCompute) && held && left > 0 {
		st.Why = join(st.Why, "Nor does anybody tell Masakari: "+count(left, "instance")+" on it "+verb(left, "is", "are")+" not evacuated.")
	}
	return []Step{st}
}
