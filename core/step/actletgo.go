package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// HeldByRockoon is the finalizer that holds a request in deletion, set by Rockoon or by Lockstep in its place; empty when there is
// none.
func HeldByRockoon(s *core.Snapshot, r *core.MaintenanceRequest) string {
	if r == nil {
		return ""
	}
	return RockoonFinalizer(s, r.Meta)
}

// RockoonFinalizer is Rockoon's finalizer on an object in deletion; empty when there is none.
func RockoonFinalizer(s *core.Snapshot, m core.Meta) string {
	if m.Deleting.IsZero() {
		return ""
	}
	return progress.FinalizerOn(s, m)
}

// Unheld tells whether the request stands without Rockoon's finalizer: once LCM withdraws it, nobody would take the node back.
func Unheld(s *core.Snapshot, r *core.MaintenanceRequest) bool {
	return r != nil && r.Deleting.IsZero() && progress.FinalizerOn(s, r.Meta) == ""
}

// playedRequest begins a step of the played OpenStack controller on a request, and adds its guards; nil when the request is gone. The
// step rests on the given sources too.
func (p *planner) playedRequest(sources ...core.SourceID) *core.MaintenanceRequest {
	s := p.s
	sources = append(sources, core.SourceNodeRequests, core.SourceClusterRequests)
	r := requestByUID(s, p.i.Object.UID)
	if r == nil {
		p.identify(p.i.Object)
		p.common(sources, busyOn(s))
		p.unknown("the request exists", "it is gone")
		return nil
	}
	p.identify(r.Ref())
	p.step.Node, p.step.Label = r.Node, wording.OneLine(wording.TextOf(s.Label(r.Node), s.Cluster), 64)
	p.step.Title += " of " + p.step.Label
	p.common(append(sources, core.SourceOpenStackController), busyOn(s, r.Node))
	_, played := progress.ActAs(s, core.ControllerOpenStack)
	p.guard(core.Guard{ID: core.GuardPlayed, Text: "Lockstep plays the OpenStack controller", Holds: played,
		Answer: "as you said at its start",
		Remedy: "start it with --act-as openstack"})
	p.guard(progress.GuardNobodyElse(s, core.ControllerOpenStack))
	p.requestFact(r)
	return r
}

// actHold plans the finalizer that makes a request wait until the node is taken back, by Lockstep or by Rockoon.
func (p *planner) actHold() {
	s := p.s
	p.step.Title, p.step.Risk = "hold the request", core.RiskMedium
	r := p.playedRequest(core.SourceNodeLocks)
	if r == nil {
		return
	}
	p.guard(core.Guard{ID: core.GuardRequestStands, Text: "the request stands", Holds: r.Deleting.IsZero(),
		Answer: wording.TextIf(!r.Deleting.IsZero(), "it is being removed: nothing new can hold it", "it does")})
	name, source := progress.Finalizer(s)
	p.fact("finalizer", name)
	p.step.Why = "The OpenStack controller takes a node, or the cluster, back from a request that bears its finalizer, and from no other. " +
		"With it LCM's request waits for whoever finishes: you, or the controller."
	p.step.Then = "When LCM withdraws the request it stays, in its removal, until what was taken out is back. The finalizer is " + name +
		", " + source + "."
	if had := progress.FinalizerOn(s, r.Meta); had != "" {
		p.done = "it is held by " + had
		return
	}
	p.step.Commands = []string{"kubectl get " + strings.ToLower(string(r.Kind)) + " " + wording.ShellQuote(r.Name) +
		" -o json | jq '.metadata.finalizers += [" + wording.JSONText(name) + "]' | kubectl replace -f -"}
	p.step.Undo = "take it off: kubectl edit " + strings.ToLower(string(r.Kind)) + " " + wording.ShellQuote(r.Name)
	p.step.Change = core.AddFinalizer{Object: r.Ref(), Finalizer: name}
}

// guardHeld holds when the request bears the finalizer that keeps it until the node is taken back.
func (p *planner) guardHeld(r *core.MaintenanceRequest) {
	if r == nil {
		return
	}
	had := progress.FinalizerOn(p.s, r.Meta)
	p.guard(core.Guard{ID: core.GuardHeldRequest, Text: "the request waits for its return", Holds: had != "",
		Answer: wording.TextOf(wording.TextIf(had != "", "it bears "+had, ""), "it bears no finalizer of the controller's"),
		Remedy: "hold the request first"})
}

// actLetGo plans the removal of Rockoon's finalizer from a request, from the lock of a node that is gone, or from a Node that was deleted,
// while Rockoon does not run.
func (p *planner) actLetGo() {
	s := p.s
	switch p.i.Object.Kind {
	case core.KindNodeWorkloadLock:
		p.actLetLockGo()
		return
	case core.KindNode:
		p.actLetNodeGo()
		return
	}
	p.step.Title, p.step.Risk = "let the request go", core.RiskHigh
	a, played := progress.ActAs(s, core.ControllerOpenStack)
	r := p.playedRequest(core.SourceNodes, core.SourceNodeLocks, core.SourceClusterLocks)
	if r == nil {
		return
	}
	p.step.Type = typable(p.step.Label, r.UID)
	finalizer := HeldByRockoon(s, r)
	p.guard(core.Guard{ID: core.GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "",
		Answer: wording.TextOf(finalizer, "it does not")})
	p.guard(takenBack(s, a, played, r))
	p.step.Why = "The OpenStack controller has seen the request and keeps it until it has taken the node back. It does not run, and " +
		"Lockstep has done its part."
	p.step.Then = "The request is gone, and LCM goes on."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(r.Ref(), finalizer)
}

// takenBack holds when nothing is left of the request to take back. The node of a machine that is only disabled comes back with the
// lock it left with; nothing but this finalizer would tell anybody to arm it (docs/mosk.md#left-over-locks).
func takenBack(s *core.Snapshot, a core.ActAs, played bool, r *core.MaintenanceRequest) core.Guard {
	turn := progress.TurnNone
	if played {
		turn = progress.TurnOn(s, a, r.Node)
	}
	g := core.Guard{ID: core.GuardTakenBack, Text: "its lock is taken back", Holds: turn == progress.TurnNone || turn == progress.TurnGone,
		Answer: turnTexts[turn], Remedy: "take it back first: this is what the finalizer is for"}
	l, n := s.NodeLock(r.Node, a.Controller), s.Nodes[r.Node]
	if turn != progress.TurnNone || r.Node == "" || l == nil {
		return g
	}
	if n != nil && !n.Deleting.IsZero() {
		g.Holds, g.Answer, g.Remedy = false, "its Node was deleted, and is there still", "let the Node go first"
		return g
	}
	disabled := s.Sources[core.SourceDisableNotices].State != core.SourceAbsent // else a node that is not there has left for good
	if disabled && (l.State() != core.LockActive || l.InnerState == core.InnerActive) {
		g.Holds = false
		g.Answer = "the node is away, and its lock is " + wording.OneLine(string(l.State()), 40) + ", with " + InnerText(l.InnerState)
		g.Remedy = "wait until its machine is enabled, and take it back then; or scale the OpenStack controller up"
	}
	return g
}

// actLetNodeGo plans the removal of Rockoon's finalizer from a Node that was deleted. Rockoon deletes the node's lock then; Lockstep does
// so, and cleans up, by the steps that come once the Node is gone.
func (p *planner) actLetNodeGo() {
	s := p.s
	p.step.Title, p.step.Risk = "let the Node go", core.RiskMedium
	n := s.Nodes[p.i.Object.Name]
	if n == nil || n.UID != p.i.Object.UID {
		p.identify(p.i.Object)
		p.common([]core.SourceID{core.SourceNodes}, busyOn(s))
		p.unknown("the Node exists", "it is gone")
		return
	}
	p.identify(n.Ref())
	p.step.Node, p.step.Label = n.Name, wording.OneLine(s.Label(n.Name), 64)
	p.step.Title = "let the Node " + p.step.Label + " go"
	p.common([]core.SourceID{core.SourceNodes, core.SourceOpenStackController}, busyOn(s, n.Name))
	_, played := progress.ActAs(s, core.ControllerOpenStack)
	p.guard(core.Guard{ID: core.GuardPlayed, Text: "Lockstep plays the OpenStack controller", Holds: played,
		Answer: "as you said at its start",
		Remedy: "start it with --act-as openstack"})
	p.guard(progress.GuardNobodyElse(s, core.ControllerOpenStack))
	finalizer := progress.HeldNode(s, n)
	p.fact("uid", n.UID)
	p.guard(core.Guard{ID: core.GuardHeldBy, Text: "it was deleted, and the OpenStack controller's finalizer keeps it", Holds: finalizer != "",
		Answer: wording.TextOf(finalizer, "it does not")})
	p.step.Why = "The Node was deleted. The OpenStack controller's finalizer keeps it until the controller has seen that; it does not run."
	switch others := len(n.Finalizers) - 1; {
	case others > 0:
		p.step.Then = "The OpenStack controller keeps it no more; " + wording.Count(others, "other finalizer") +
			wording.Verb(others, " does", " do") + " still."
	case s.Disablings[n.Name] != nil:
		p.step.Then = "The Node is gone. Its machine is only disabled: its lock, and what OpenStack has of the host, stay."
	default:
		p.step.Then = "The Node is gone. What OpenStack has of the host, and its lock, are cleaned up by the steps that come then."
	}
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(n.Ref(), finalizer)
}

func (p *planner) removeFinalizer(ref core.Ref, finalizer string) {
	p.step.Commands = []string{"kubectl get " + strings.ToLower(string(ref.Kind)) + " " + wording.ShellQuote(ref.Name) +
		" -o json | jq 'del(.metadata.finalizers[] | select(. == " + wording.JSONText(finalizer) + "))' | kubectl replace -f -"}
	p.step.Change = core.RemoveFinalizer{Object: ref, Finalizer: finalizer}
}

// actLetLockGo plans the removal of Rockoon's finalizer from the lock of a node that is gone: Rockoon does not run, and cannot clean
// up.
func (p *planner) actLetLockGo() {
	s := p.s
	p.step.Title, p.step.Risk = "let the lock go", core.RiskHigh
	sources := append(served(s, core.SourceDisableNotices), core.SourceNodes, core.SourceComputeServices, core.SourceInstances,
		core.SourceNetworkAgents, core.SourceOpenStackController)
	if !s.NoCinder() {
		sources = append(sources, core.SourceVolumeServices)
	}
	sources = append(sources, claimSourcesKnown(s)...)
	l := p.lock(sources...)
	if l == nil {
		return
	}
	a, played := progress.ActAs(s, l.Controller)
	p.step.Title += " of " + wording.OneLine(s.Label(l.Node), 64)
	p.step.Type = typable(l.Name, l.UID)
	p.guard(core.Guard{ID: core.GuardPlayed, Text: "Lockstep plays the OpenStack controller",
		Holds: played && l.Controller == core.ControllerOpenStack, Answer: "as you said at its start",
		Remedy: "start it with --act-as openstack"})
	p.guard(progress.GuardNobodyElse(s, core.ControllerOpenStack))
	turn := progress.TurnOn(s, a, l.Node)
	p.turnGuard(turn, progress.TurnGone)
	finalizer := RockoonFinalizer(s, l.Meta)
	p.guard(core.Guard{ID: core.GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "",
		Answer: wording.TextOf(finalizer, "it does not")})
	left := leftOfHost(s, l.Node)
	p.guard(core.Guard{ID: core.GuardHostForgotten, Text: "OpenStack knows nothing of the host any more", Holds: len(left) == 0,
		Answer: wording.TextOf(wording.Some(left, 6), "no service, no agent, no instance"), Remedy: "delete what is left first"})
	p.claimsGone(l.Node)
	p.step.Why = "The OpenStack controller made the lock and keeps it until it has cleaned up behind the node. It does not run, and "
	if bound, unknown := progress.ClaimsOn(s, l.Node); len(left)+len(bound)+len(unknown) > 0 {
		p.step.Why += "that is not done yet."
	} else {
		p.step.Why += "that is done."
	}
	p.step.Then = "The lock is gone, and nothing is left that tells anybody to clean up."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(l.Ref(), finalizer)
}
