package procedure

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// nodeIsDown is how long a node must be not Ready before the OpenStack controller counts it as down (docs/mosk.md#node-down).
const nodeIsDown = 120 * time.Second

// playsAway tells whether Lockstep plays the OpenStack controller while that is away: nobody does its work beside maintenance then.
func playsAway(s *core.Snapshot) bool {
	a, played := progress.ActAs(s, core.ControllerOpenStack)
	return played && progress.GuardNobodyElse(s, a.Controller).Holds
}

// awaySteps says what nobody does while Lockstep plays the absent OpenStack controller: Lockstep does only its part of the maintenance
// (docs/mosk.md#while-it-is-away).
func awaySteps(s *core.Snapshot) []core.Step {
	if !playsAway(s) {
		return nil
	}
	return []core.Step{{ID: "cluster/away", Target: core.Ref{Kind: core.KindCluster, Name: s.Cluster}, Label: s.Cluster,
		Title: "nobody does the OpenStack controller's other work",
		State: core.StepWaiting, Status: "while it is away",
		Why: "You do its part of the maintenance. Of a node that goes down, nobody deletes the pods, and nobody tells Masakari: its instances " +
			"stay down. Nobody applies what changes in the OpenStackDeployment and its secrets, or keeps its status (osdplst) true. Nobody makes " +
			"locks for new nodes, lets a deleted Node object go, or restarts old pods under OnDelete."}}
}

// awaySteps says the same for a node that is down now.
func (b *nodeSteps) awaySteps() []core.Step {
	s, n := b.s, b.v.Node
	if n == nil || n.Ready == "True" || !playsAway(s) || n.ReadySince.IsZero() || !s.Longer(n.ReadySince, nodeIsDown) {
		return nil
	}
	st := b.other("away", "nobody deletes the pods of "+b.v.Label+", which is down",
		"It is not Ready since "+wording.ClockText(n.ReadySince)+
			". The OpenStack controller, which is away, would delete all pods of OpenStack on it without waiting for their end. "+
			"Do it only when the host is off for certain: else one of them may run twice.", core.StepWaiting, "the OpenStack controller is away")
	st.Commands = []string{progress.KubectlOpenStack("delete", "pods", "--field-selector=spec.nodeName="+n.Name, "--grace-period=0",
		"--force")} // without it kubectl waits for a kubelet that is dead
	held := b.lock != nil && b.lock.State() == core.LockActive && !n.Cordoned // else the controller would not tell it either
	if left := len(s.InstancesOn(n.Name)); n.Is(core.RoleCompute) && held && left > 0 {
		st.Why = wording.Join(st.Why, "Nor does anybody tell Masakari: "+wording.Count(left, "instance")+" on it "+
			wording.Verb(left, "is", "are")+" not evacuated.")
	}
	return []core.Step{st}
}
