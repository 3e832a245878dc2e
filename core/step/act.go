package step

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// playedTurn is the turn of the controller on the node when Lockstep plays it there, else TurnNone.
func playedTurn(s *core.Snapshot, controller, node string) progress.ActTurn {
	a, played := progress.ActAs(s, controller)
	if !played || !a.Holds(s.Nodes[node]) {
		return progress.TurnNone
	}
	return progress.TurnOn(s, a, node)
}

// act plans the steps of an application controller that Lockstep plays. Each step is one change of the documented flow.
func (p *planner) act() {
	s := p.s
	a, played := progress.ActAs(s, p.i.Controller)
	who := wording.OneLine(p.i.Controller, 40)
	node := p.i.Node
	label := "the cluster"
	if node != "" {
		label = wording.OneLine(s.Label(node), 64)
	}
	p.step.Node, p.step.Label = node, label
	l := s.ClusterLock(p.i.Controller)
	if node != "" {
		l = s.NodeLock(node, p.i.Controller)
	}
	target := core.Ref{Kind: core.KindClusterWorkloadLock, Name: p.actLockName()}
	if node != "" {
		target.Kind = core.KindNodeWorkloadLock
	}
	if l != nil {
		target = l.Ref()
	}
	p.identify(target)
	if node != "" {
		p.step.ID = string(p.i.Kind) + "/" + p.i.Controller + "/" + node + wording.TextIf(p.i.Object.Name != "", "/"+p.i.Object.Name, "")
	}
	p.step.Title = actTitles[p.i.Kind] + " " + label
	p.common(actSources(s, p.i, a), busyOn(s, node))
	p.guard(core.Guard{ID: core.GuardPlayed, Text: "Lockstep plays " + who, Holds: played, Answer: "as you said at its start",
		Remedy: "start it with --act-as " + who})
	if !played {
		return
	}
	p.guard(progress.GuardNobodyElse(s, a.Controller))
	p.fact("controller", p.i.Controller)
	if l != nil {
		p.fact("uid", l.UID)
		p.fact("state", string(l.RawState))
		p.fact("inner_state", l.InnerState)
	} else {
		p.fact("uid", "")
	}
	r := s.ClusterRequest()
	if node != "" {
		r = s.NodeRequest(node)
		n := s.Nodes[node]
		gone := p.i.Kind == core.IntentActDropLock && l != nil
		held := core.Guard{ID: core.GuardHoldsNode, Text: who + " holds nodes like this one", Holds: a.Holds(n) || n != nil && l != nil || gone,
			Answer: "it does", Remedy: "its selection of nodes does not name it"}
		if !held.Holds {
			held.Answer = "it is none of them"
		}
		p.guard(held)
		if !held.Holds {
			return
		}
		p.fact("node", uidOf(s, node))
		if d := progress.AsksRemoval(s, node); d != nil {
			p.fact(RemovalFactName, d.UID)
		}
	}
	p.requestFact(r)
	turn := progress.TurnOn(s, a, node)
	if p.i.Kind == core.IntentActCreateLock {
		p.actCreate(a, turn, label, who)
		return
	}
	exists := core.Guard{ID: core.GuardExists, Text: "the lock exists", Holds: l != nil, Answer: "it has none", Remedy: "make it first"}
	if l != nil {
		exists.Answer = l.Name
	}
	p.guard(exists)
	if l == nil {
		return
	}
	if turn == progress.TurnPrepare && node != "" && l.InnerState != core.InnerActive && p.i.Kind != core.IntentActBegin {
		p.step.State, p.step.Status = core.StepLater, "once it is begun"
	}
	switch p.i.Kind {
	case core.IntentActBegin:
		p.actBegin(a, l, turn, who)
	case core.IntentActOutOfScheduling:
		p.actOutOfScheduling(l, turn)
	case core.IntentActVolumeOut:
		p.actVolumeOut(l, turn)
	case core.IntentActSay:
		p.actSay(a, l, turn)
	case core.IntentActRelease:
		p.actRelease(a, l, turn, who)
	case core.IntentActIntoScheduling:
		p.actIntoScheduling(turn)
	case core.IntentActVolumeIn:
		p.actVolumeIn(turn)
	case core.IntentActRearm:
		p.actRearm(a, l, turn, who)
	case core.IntentActFinish:
		p.actFinish(l, turn)
	case core.IntentActDropLock:
		p.actDropLock(a, l, turn)
	}
}

// takesBack are the steps of a played controller that take a node back.
var takesBack = map[core.IntentKind]bool{core.IntentActIntoScheduling: true, core.IntentActVolumeIn: true, core.IntentActRearm: true,
	core.IntentActFinish: true}

// actSources are the sources on which a step of a played controller rests: everything that its guards read has to be fresh.
func actSources(s *core.Snapshot, i core.Intent, a core.ActAs) []core.SourceID {
	out := []core.SourceID{core.SourceClusterLocks, core.SourceClusterRequests}
	if i.Node != "" {
		out = []core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests}
	}
	switch {
	case i.Kind == core.IntentActDropLock:
		out = append(out, served(s, core.SourceDisableNotices)...)
	case progress.AsksRemoval(s, i.Node) != nil:
		out = append(out, core.SourceDeletionRequests)
	case takesBack[i.Kind] && s.NodeRequest(i.Node) == nil: // a node that is to be removed stays released
		out = append(out, served(s, core.SourceDeletionRequests)...)
	}
	if i.Node != "" && a.Namespace == podsNamespace && takesBack[i.Kind] {
		out = append(out, core.SourceNodePods)
	}
	if a.Controller != core.ControllerOpenStack {
		return out
	}
	out = append(out, core.SourceOpenStackController) // whether it runs itself
	if restsOnVolumes(s, i) {
		out = append(out, core.SourceVolumeServices)
	}
	if i.Kind == core.IntentActBegin || i.Kind == core.IntentActRelease {
		out = append(out, progress.QuorumSources(s, a.Controller, i.Node)...)
	}
	compute := i.Node != "" && progress.HasGuests(s, a, i.Node)
	if progress.AsksRemoval(s, i.Node) != nil && i.Kind == core.IntentActRelease {
		if !s.NoCinder() {
			out = append(out, core.SourceVolumes)
		}
		out = append(out, core.SourceInstances)
		if compute {
			out = append(out, core.SourceComputeServices, core.SourceMigrations)
		}
		return out
	}
	switch i.Kind {
	case core.IntentActDropLock:
		out = append(out, core.SourceComputeServices, core.SourceInstances, core.SourceNetworkAgents)
		out = append(out, claimSourcesKnown(s)...)
	case core.IntentActSay:
		out = append(out, core.SourceInstances)
	case core.IntentActRelease:
		switch {
		case i.Node == "":
			out = append(out, core.SourceOpenStackStatus)
		case progress.MovesInstances(s, a, i.Node):
			out = append(out, core.SourceComputeServices, core.SourceInstances, core.SourceMigrations)
		case compute:
			out = append(out, core.SourceComputeServices)
		}
		if i.Node != "" && progress.ReleaseMatters(s, a, s.NodeRequest(i.Node)) {
			out = append(out, core.SourceOpenStackStatus)
		}
	case core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentActFinish:
		if i.Kind == core.IntentActBegin && progress.ReleaseMatters(s, a, s.NodeRequest(i.Node)) {
			out = append(out, core.SourceOpenStackStatus)
		}
		if compute {
			out = append(out, core.SourceComputeServices)
		}
		if i.Kind == core.IntentActFinish && i.Node != "" {
			out = append(out, core.SourceNetworkAgents)
		}
	case core.IntentActVolumeOut:
		if compute {
			out = append(out, core.SourceComputeServices)
		}
	case core.IntentActVolumeIn:
		out = append(out, core.SourceNetworkAgents)
	case core.IntentActIntoScheduling, core.IntentActRearm:
		if i.Node == "" {
			out = append(out, core.SourceOpenStackStatus) // which says the release that the lock gets
		}
		if compute {
			out = append(out, core.SourceComputeServices)
		}
		if i.Node != "" {
			out = append(out, core.SourceNetworkAgents)
		}
	}
	return out
}

var actTitles = map[core.IntentKind]string{
	core.IntentActCreateLock:      "make the lock on",
	core.IntentActBegin:           "begin to prepare",
	core.IntentActOutOfScheduling: "take nova-compute out of scheduling on",
	core.IntentActSay:             "say what is waited for on the lock of",
	core.IntentActRelease:         "release the lock on",
	core.IntentActIntoScheduling:  "put nova-compute back into scheduling on",
	core.IntentActRearm:           "take the lock back on",
	core.IntentActFinish:          "end the work on",
	core.IntentActDropLock:        "delete the lock of",
}

// actLockName is the name of a lock that Lockstep makes. LCM reads the spec. Rockoon finds its locks by their names, which hold the
// node's or the OpenStackDeployment's name; beside a lock with another name it makes a second one (docs/mosk.md#locks).
func (p *planner) actLockName() string {
	of := p.s.Cluster
	switch {
	case p.i.Node != "":
		of = p.i.Node
	case p.i.Controller == core.ControllerOpenStack && len(p.s.OpenStack) == 1:
		of = p.s.OpenStack[0].Name // as its OpenStackDeployment
	}
	return progress.ObjectName(p.i.Controller + "-" + of)
}

// turnGuard holds when the turn is one of those in which the step may be done.
func (p *planner) turnGuard(is progress.ActTurn, want ...progress.ActTurn) {
	g := core.Guard{ID: core.GuardTurn, Text: "it is the time for it", Holds: slices.Contains(want, is), Answer: turnTexts[is]}
	p.guard(g)
}

var turnTexts = map[progress.ActTurn]string{
	progress.TurnNone:     "nobody asks for it, and the lock is held",
	progress.TurnCreate:   "it has no lock there",
	progress.TurnPrepare:  "it is asked for, and the lock holds it",
	progress.TurnReleased: "it is asked for, and released: it is LCM's turn",
	progress.TurnReturn:   "nobody asks for it any more, and the node is not taken back yet",
	progress.TurnRemove:   "its removal is asked for, and the lock holds it",
	progress.TurnGone:     "it has left the cluster",
}

func (p *planner) actCreate(a core.ActAs, turn progress.ActTurn, label, who string) {
	p.step.Risk = core.RiskMedium
	p.step.Why = "LCM waits for every lock, and only for locks: without one it goes on without asking " + who + "."
	p.step.Then = "LCM waits for this lock in every maintenance from now on, and somebody has to release it each time."
	l := core.NewLock{Kind: core.KindClusterWorkloadLock, Name: p.actLockName(), Controller: a.Controller,
		Release: progress.ReleaseFor(p.s, a, p.i.Node)}
	if p.i.Node != "" {
		l.Kind, l.Node = core.KindNodeWorkloadLock, p.i.Node
	}
	p.turnGuard(turn, progress.TurnCreate)
	if turn != progress.TurnCreate {
		p.done = "the lock is there"
		return
	}
	p.fact("release", l.Release)
	p.step.Commands = []string{CreateLockCommand(l)}
	if l.Release != "" {
		p.step.Commands = append(p.step.Commands, LockCommand(l.Ref(), core.LockStatus{State: core.LockActive, Release: l.Release}))
	}
	p.step.Undo = "delete it: " + DeleteCommand(l.Ref())
	p.step.Change = core.CreateLock{Lock: l}
}

// setInner plans the change of a lock's inner_state.
func (p *planner) setInner(l *core.WorkloadLock, to string) {
	if l.InnerState == to {
		p.done = "the lock has " + InnerText(to)
		return
	}
	p.step.Commands = []string{InnerCommand(l.Ref(), to)}
	p.step.Undo = "set it back: " + InnerCommand(l.Ref(), l.InnerState)
	p.step.Change = core.SetInnerState{Lock: l.Ref(), Was: l.InnerState, To: to}
}
