package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// HeldFactName names the fact of which lock holds a node otherwise: its UID.
const HeldFactName = "held by"

// freeLock plans the removal of the finalizer from a lock whose clean-up would wait for ever.
func (p *planner) freeLock() {
	s := p.s
	p.step.Title, p.step.Risk = "let the lock go", core.RiskHigh
	l := p.lock(append(served(s, core.SourceDeletionRequests, core.SourceDisableNotices), core.SourceNodes, core.SourceClusterRequests)...)
	if l == nil {
		return
	}
	node, label := l.Node, wording.OneLine(s.Label(l.Node), 64)
	n := s.Nodes[node]
	p.step.Title = "let the lock of " + LockLabel(s, l) + " go"
	p.step.Type = typable(l.Name, l.UID)
	p.guard(core.Guard{ID: core.GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller",
		Holds: l.Controller == core.ControllerOpenStack && node != "", Answer: LockLabel(s, l)})
	deleting := core.Guard{ID: core.GuardInDeletion, Text: "the lock is in deletion", Holds: !l.Deleting.IsZero(), Answer: "it is not",
		Remedy: "leave it alone: it holds the node"}
	if deleting.Holds {
		deleting.Answer = "since " + wording.ClockText(l.Deleting)
	}
	p.guard(deleting)
	finalizer := progress.FinalizerOn(s, l.Meta)
	p.guard(core.Guard{ID: core.GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it there", Holds: finalizer != "",
		Answer: wording.TextOf(finalizer, "it does not")})
	p.fact("finalizer", finalizer)
	there := core.Guard{ID: core.GuardNodeStays, Text: "the node exists and stays",
		Holds: n != nil && n.Deleting.IsZero() && s.Deletions[node] == nil && s.Disablings[node] == nil, Answer: "it does",
		Remedy: "the controller cleans up once the node is gone"}
	if !there.Holds {
		there.Answer = "it leaves the cluster, or has left it"
	}
	p.guard(there)
	settled := core.Guard{ID: core.GuardSettled, Text: "it does not end by itself",
		Holds: progress.StuckLock(s, node) != nil || !deleting.Holds || !there.Holds, Answer: "the clean-up waits until the node is gone",
		Remedy: "wait a minute"}
	if !settled.Holds {
		settled.Answer = "it was deleted just now"
	}
	p.guard(settled)
	held := progress.HeldOtherwise(s, node)
	alone := core.Guard{ID: core.GuardNotTaken, Text: "LCM does not take the node once the lock is gone",
		Holds:  !progress.LCMMayTake(s, node) || held != nil,
		Answer: "nobody asks for it, and no update runs",
		Remedy: "hold it by a lock of your own first"}
	switch r := s.NodeRequest(node); {
	case held != nil:
		alone.Answer = wording.OneLine(held.Name, 80) + " holds it"
		p.fact(HeldFactName, held.UID)
	case r != nil && r.Deleting.IsZero():
		alone.Answer = "LCM asks for it since " + wording.ClockText(r.Created)
	case !alone.Holds:
		alone.Answer = "an update runs: it may ask for it at any moment"
	}
	p.guard(alone)
	p.step.Why = "The controller wants to clean up behind " + label +
		", which it does only when the node is gone. So the lock stays in deletion, and LCM waits for it."
	p.step.Then = "The lock is gone, and nothing holds " + label +
		" for OpenStack until a new one is there. What OpenStack knows of the host stays as it is."
	if finalizer == "" || !deleting.Holds {
		return
	}
	p.removeFinalizer(l.Ref(), finalizer)
}
