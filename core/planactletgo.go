package core

import (
	"strings"
)

// finalizersOfRockoon are those by which Rockoon keeps a request until it is through with it (docs/mosk.md#finalizers).
const finalizersOfRockoon = "lcm.mirantis.com/rockoon."

// heldByRockoon is the finalizer with which Rockoon holds a request that is being removed; empty when it does not.
func heldByRockoon(r *MaintenanceRequest) string {
	if r == nil {
		return ""
	}
	return rockoonFinalizer(r.Meta)
}

// rockoonFinalizer is the finalizer of Rockoon's on an object that is being removed; empty when there is none.
func rockoonFinalizer(m Meta) string {
	if m.Deleting.IsZero() {
		return ""
	}
	for _, f := range m.Finalizers {
		if strings.HasPrefix(f, finalizersOfRockoon) {
			return f
		}
	}
	return ""
}

// actLetGo plans that a request, or the lock of a node that is gone, goes which Rockoon has seen, and is not there to let go.
func (p *planner) actLetGo() {
	s := p.s
	if p.i.Object.Kind == KindNodeWorkloadLock {
		p.actLetLockGo()
		return
	}
	p.step.Title, p.step.Risk = "let the request go", RiskHigh
	a, played := s.actAs(ControllerOpenStack)
	r := s.requestByUID(p.i.Object.UID)
	if r == nil {
		p.identify(p.i.Object)
		p.common([]SourceID{SourceNodeRequests, SourceClusterRequests}, s.busyOn())
		p.unknown("the request exists", "it is gone")
		return
	}
	p.identify(r.Ref())
	p.step.Node, p.step.Label = r.Node, oneLine(textOf(s.Label(r.Node), s.Cluster), 64)
	p.step.Title += " of " + p.step.Label
	p.step.Type = typable(p.step.Label, r.UID)
	p.common([]SourceID{SourceNodes, SourceNodeRequests, SourceClusterRequests, SourceNodeLocks, SourceClusterLocks, SourceOpenStackController}, s.busyOn(r.Node))
	p.guard(Guard{ID: "played", Text: "Lockstep plays the OpenStack controller", Holds: played, Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
	p.requestFact(r)
	finalizer := heldByRockoon(r)
	p.guard(Guard{ID: "held-by", Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "", Answer: textOf(finalizer, "it does not")})
	turn := turnNone
	if played {
		turn = s.actTurn(a, r.Node)
	}
	p.guard(Guard{ID: "taken-back", Text: "its lock is taken back", Holds: turn == turnNone || turn == turnGone, Answer: turnTexts[turn], Remedy: "take it back first: this is what the finalizer is for"})
	p.step.Why = "The OpenStack controller has seen the request and keeps it until it has taken the node back. It does not run, and Lockstep has done its part."
	p.step.Then = "The request is gone, and LCM goes on."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(r.Ref(), finalizer)
}

func (p *planner) removeFinalizer(ref Ref, finalizer string) {
	p.step.Commands = []string{"kubectl get " + strings.ToLower(string(ref.Kind)) + " " + shellQuote(ref.Name) + " -o json | jq 'del(.metadata.finalizers[] | select(. == " + jsonText(finalizer) + "))' | kubectl replace -f -"}
	p.step.Change = RemoveFinalizer{Object: ref, Finalizer: finalizer}
}

// actLetLockGo plans that the lock of a node that is gone goes: Rockoon made it, and is not there to clean up behind it.
func (p *planner) actLetLockGo() {
	s := p.s
	p.step.Title, p.step.Risk = "let the lock go", RiskHigh
	sources := []SourceID{SourceNodes, SourceDisableNotices, SourceComputeServices, SourceInstances, SourceNetworkAgents, SourceOpenStackController}
	if !s.noCinder() {
		sources = append(sources, SourceVolumeServices)
	}
	l := p.lock(sources...)
	if l == nil {
		return
	}
	a, played := s.actAs(l.Controller)
	p.step.Title += " of " + oneLine(s.Label(l.Node), 64)
	p.step.Type = typable(l.Name, l.UID)
	p.guard(Guard{ID: "played", Text: "Lockstep plays the OpenStack controller", Holds: played && l.Controller == ControllerOpenStack, Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
	turn := s.actTurn(a, l.Node)
	p.turnGuard(turn, turnGone)
	finalizer := rockoonFinalizer(l.Meta)
	p.guard(Guard{ID: "held-by", Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "", Answer: textOf(finalizer, "it does not")})
	left := s.leftOfHost(l.Node)
	p.guard(Guard{ID: "forgotten", Text: "OpenStack knows nothing of the host any more", Holds: len(left) == 0, Answer: textOf(some(left, 6), "no service, no agent, no instance"), Remedy: "delete what is left first"})
	p.step.Why = "The OpenStack controller made the lock and keeps it until it has cleaned up behind the node. It does not run, and that is done."
	p.step.Then = "The lock is gone."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(l.Ref(), finalizer)
}
