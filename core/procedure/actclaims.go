package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// actClaims adds the steps on the claims that are bound to a node that is gone: like Rockoon, Lockstep deletes them before the lock
// (docs/mosk.md#after-a-node-is-gone).
func (b *nodeSteps) actClaims(a core.ActAs) {
	s, node := b.s, b.v.Name
	bound, unknown := progress.ClaimsOn(s, node)
	for _, op := range s.Operations { // the claim of one that is under way can be gone already
		known := func(c progress.BoundClaim) bool { return op.Intent.Object.UID == c.Claim.UID }
		if op.Node == node && op.Is(core.IntentActDeleteClaim) && !op.State.Ended() && !op.Past && !slices.ContainsFunc(bound, known) {
			st := b.other("claim-goes", op.Title, "The step ends when the new member is ready, or when no node can have it.", core.StepRunning,
				op.Text)
			st.ID += "/" + op.Step
			b.add(st)
		}
	}
	waits := map[string]bool{} // pods that are spoken of
	for _, c := range bound {
		waits[c.Pod.UID] = true
		b.add(step.Plan(s, core.Intent{Kind: core.IntentActDeleteClaim, Controller: a.Controller, Node: node, Object: c.Claim.Ref()}))
	}
	for _, why := range unknown {
		st := b.other("claims", "see the volume claims that are bound to "+b.v.Label,
			"The data of MariaDB, etcd, Redis, Prometheus and OVN is on disks of their nodes: a member whose claim is bound to one that is gone "+
				"never starts again.",
			core.StepWaiting, "not known: "+why)
		st.ID += "/" + why
		b.add(st)
	}
	placed := true
	for _, q := range progress.ReleaseOrder() {
		v, there := progress.Quorum(s, q)
		if !there || progress.QuorumUnknown(s, q) != "" {
			continue
		}
		for _, pod := range v.Pods {
			if pod.Node != "" || waits[pod.UID] {
				continue
			}
			placed = false
			st := b.other("member", wording.OneLine(pod.Name, 64)+" finds a node",
				"No volume of its is in the way. A new member needs a node of its role that has none of the others.", core.StepWaiting,
				progress.QuorumText(s, v, node))
			st.ID += "/" + pod.Namespace + "/" + pod.Name
			st.Commands = []string{wording.ShellCommand("kubectl", "-n", pod.Namespace, "describe", "pod", pod.Name)}
			b.add(st)
		}
	}
	if len(bound) == 0 && len(unknown) == 0 {
		status := "none is"
		if !placed {
			status = "none is any more"
		}
		b.add(b.other("claims", "no volume claim is bound to the disks of "+b.v.Label,
			"A member of MariaDB, etcd, Redis, Prometheus or OVN whose claim is left there never starts again.", core.StepDone, status))
	}
}
