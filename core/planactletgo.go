package core

import (
	"strings"
)

// Rockoon keeps every object that it has a handler of the deletion for, requests and locks, until it is through with it: by a finalizer
// that it puts on what it sees alive. It takes a node back by that handler only, so a request that comes and goes while it does not
// run is never returned from (docs/mosk.md#finalizers). Who plays it keeps to the same protocol.
const (
	finalizersOfRockoon = "lcm.mirantis.com/rockoon."
	usualFinalizer      = finalizersOfRockoon + "nodemaintenancerequest-finalizer"
)

// finalizer is the one by which Rockoon holds what it works on, and how that is known: as configured, else as its own objects bear
// it, for releases differ, else the usual one.
func (s *Snapshot) finalizer() (name, source string) {
	if a, _ := s.actAs(ControllerOpenStack); a.Finalizer != "" {
		return a.Finalizer, "as configured"
	}
	seen := map[string]int{}
	note := func(m Meta, own bool) {
		for _, f := range m.Finalizers {
			if strings.HasPrefix(f, finalizersOfRockoon) || own && strings.HasPrefix(f, "lcm.mirantis.com/") && strings.HasSuffix(f, "-finalizer") {
				seen[f]++
			}
		}
	}
	for _, list := range s.NodeRequests {
		for _, r := range list {
			note(r.Meta, false)
		}
	}
	for _, r := range s.ClusterRequests {
		note(r.Meta, false)
	}
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			note(l.Meta, l.Controller == ControllerOpenStack)
		}
	}
	for f, n := range seen {
		if n > seen[name] || n == seen[name] && f < name {
			name = f
		}
	}
	if name != "" {
		return name, "as its own objects bear it"
	}
	return usualFinalizer, "the usual one: no object bears one"
}

// finalizerOn is the finalizer of Rockoon's on an object; empty when there is none.
func (s *Snapshot) finalizerOn(m Meta) string {
	own, _ := s.finalizer()
	for _, f := range m.Finalizers {
		if f == own || strings.HasPrefix(f, finalizersOfRockoon) {
			return f
		}
	}
	return ""
}

// heldByRockoon is the finalizer with which Rockoon, or who plays it, holds a request that is being removed; empty when none does.
func (s *Snapshot) heldByRockoon(r *MaintenanceRequest) string {
	if r == nil {
		return ""
	}
	return s.rockoonFinalizer(r.Meta)
}

// rockoonFinalizer is the finalizer of Rockoon's on an object that is being removed; empty when there is none.
func (s *Snapshot) rockoonFinalizer(m Meta) string {
	if m.Deleting.IsZero() {
		return ""
	}
	return s.finalizerOn(m)
}

// unheld tells whether a request stands that nobody would return from, once LCM withdraws it.
func (s *Snapshot) unheld(r *MaintenanceRequest) bool {
	return r != nil && r.Deleting.IsZero() && s.finalizerOn(r.Meta) == ""
}

// playedRequest is the request that a step of a played OpenStack controller is about, with its guards; nil when it is gone. The step
// rests on the sources, too.
func (p *planner) playedRequest(sources ...SourceID) *MaintenanceRequest {
	s := p.s
	sources = append(sources, SourceNodeRequests, SourceClusterRequests)
	r := s.requestByUID(p.i.Object.UID)
	if r == nil {
		p.identify(p.i.Object)
		p.common(sources, s.busyOn())
		p.unknown("the request exists", "it is gone")
		return nil
	}
	p.identify(r.Ref())
	p.step.Node, p.step.Label = r.Node, oneLine(textOf(s.Label(r.Node), s.Cluster), 64)
	p.step.Title += " of " + p.step.Label
	p.common(append(sources, SourceOpenStackController), s.busyOn(r.Node))
	_, played := s.actAs(ControllerOpenStack)
	p.guard(Guard{ID: GuardPlayed, Text: "Lockstep plays the OpenStack controller", Holds: played, Answer: "as you said at its start",
		Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
	p.requestFact(r)
	return r
}

// actHold plans that a request waits for its return, whoever is there to see to it then.
func (p *planner) actHold() {
	s := p.s
	p.step.Title, p.step.Risk = "hold the request", RiskMedium
	r := p.playedRequest(SourceNodeLocks)
	if r == nil {
		return
	}
	p.guard(Guard{ID: GuardRequestStands, Text: "the request stands", Holds: r.Deleting.IsZero(), Answer: textIf(!r.Deleting.IsZero(), "it is being removed: nothing new can hold it", "it does")})
	name, source := s.finalizer()
	p.fact("finalizer", name)
	p.step.Why = "The OpenStack controller takes a node, or the cluster, back from a request that bears its finalizer, and from no other. With it LCM's request waits for whoever finishes: you, or the controller."
	p.step.Then = "When LCM withdraws the request it stays, in its removal, until what was taken out is back. The finalizer is " + name + ", " + source + "."
	if had := s.finalizerOn(r.Meta); had != "" {
		p.done = "it is held by " + had
		return
	}
	p.step.Commands = []string{"kubectl get " + strings.ToLower(string(r.Kind)) + " " + shellQuote(r.Name) + " -o json | jq '.metadata.finalizers += [" + jsonText(name) + "]' | kubectl replace -f -"}
	p.step.Undo = "take it off: kubectl edit " + strings.ToLower(string(r.Kind)) + " " + shellQuote(r.Name)
	p.step.Change = AddFinalizer{Object: r.Ref(), Finalizer: name}
}

// guardHeld holds when the request on which is worked waits for its return.
func (p *planner) guardHeld(r *MaintenanceRequest) {
	if r == nil {
		return
	}
	had := p.s.finalizerOn(r.Meta)
	p.guard(Guard{ID: GuardHeldRequest, Text: "the request waits for its return", Holds: had != "", Answer: textOf(textIf(had != "", "it bears "+had, ""), "it bears no finalizer of the controller's"),
		Remedy: "hold the request first"})
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
	r := p.playedRequest(SourceNodes, SourceNodeLocks, SourceClusterLocks)
	if r == nil {
		return
	}
	p.step.Type = typable(p.step.Label, r.UID)
	finalizer := s.heldByRockoon(r)
	p.guard(Guard{ID: GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "", Answer: textOf(finalizer, "it does not")})
	turn := turnNone
	if played {
		turn = s.actTurn(a, r.Node)
	}
	p.guard(Guard{ID: GuardTakenBack, Text: "its lock is taken back", Holds: turn == turnNone || turn == turnGone, Answer: turnTexts[turn], Remedy: "take it back first: this is what the finalizer is for"})
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
	sources = append(sources, s.claimSourcesKnown()...)
	l := p.lock(sources...)
	if l == nil {
		return
	}
	a, played := s.actAs(l.Controller)
	p.step.Title += " of " + oneLine(s.Label(l.Node), 64)
	p.step.Type = typable(l.Name, l.UID)
	p.guard(Guard{ID: GuardPlayed, Text: "Lockstep plays the OpenStack controller", Holds: played && l.Controller == ControllerOpenStack, Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
	turn := s.actTurn(a, l.Node)
	p.turnGuard(turn, turnGone)
	finalizer := s.rockoonFinalizer(l.Meta)
	p.guard(Guard{ID: GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "", Answer: textOf(finalizer, "it does not")})
	left := s.leftOfHost(l.Node)
	p.guard(Guard{ID: GuardHostForgotten, Text: "OpenStack knows nothing of the host any more", Holds: len(left) == 0, Answer: textOf(some(left, 6), "no service, no agent, no instance"), Remedy: "delete what is left first"})
	p.claimsGone(l.Node)
	p.step.Why = "The OpenStack controller made the lock and keeps it until it has cleaned up behind the node. It does not run, and "
	if bound, unknown := s.claimsOn(l.Node); len(left)+len(bound)+len(unknown) > 0 {
		p.step.Why += "that is not done yet."
	} else {
		p.step.Why += "that is done."
	}
	p.step.Then = "The lock is gone, and with it the last that tells anybody to clean up."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.removeFinalizer(l.Ref(), finalizer)
}
