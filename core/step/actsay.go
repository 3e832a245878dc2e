package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// actSay plans the lock's text: the instances that it waits for, in Rockoon's own words (docs/mosk.md#texts, text J), for LCM's
// consoles and other operators. The text goes when the lock is released or taken back.
func (p *planner) actSay(a core.ActAs, l *core.WorkloadLock, turn progress.ActTurn) {
	s, node := p.s, p.i.Node
	p.step.Risk = core.RiskLow
	p.turnGuard(turn, progress.TurnPrepare)
	p.guard(core.Guard{ID: core.GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == core.InnerActive,
		Answer: InnerText(l.InnerState), Remedy: "begin it first"})
	text, known := SaysLeft(s, a, node)
	g := core.Guard{ID: core.GuardSomethingLeft, Text: "instances hold the node", Holds: text != "", Answer: "none does"}
	switch {
	case !known:
		g.Answer = "not known: " + s.WhyUnknown(core.SourceInstances)
	case text != "":
		g.Answer = wording.Count(len(InTheWay(s, node)), "instance")
	}
	p.guard(g)
	p.fact("text", text)
	p.step.Why = "LCM's consoles and other operators read on the lock what the node waits for, in the OpenStack controller's own words."
	p.step.Then = "Nothing is done by it: the lock stays as it is. The text goes when the lock is released."
	switch {
	case text == "":
		return
	case sameLeft(progress.ReadLockMessage(l.Message), progress.ReadLockMessage(text)):
		p.done = "the lock says so"
		return
	}
	to := core.LockStatus{State: l.State(), Message: text}
	p.step.Commands = []string{LockCommand(l.Ref(), to)}
	p.step.Undo = "take it away: " + LockCommand(l.Ref(), core.LockStatus{State: l.State()})
	p.step.Change = core.SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}

// SaysLeft is text J for the instances left on the node, by ID; empty when none is. It has no time, unlike Rockoon's: what is written
// is what was confirmed.
func SaysLeft(s *core.Snapshot, a core.ActAs, node string) (text string, known bool) {
	if !s.Known(core.SourceInstances) {
		return "", false
	}
	if !progress.MovesInstances(s, a, node) {
		return "", true
	}
	var notify, unset []string
	for _, v := range progress.InstanceViews(s, node) {
		switch {
		case !v.Blocks:
		case v.Action == core.ActionNotify:
			notify = append(notify, v.Instance.ID)
		default:
			unset = append(unset, v.Instance.ID)
		}
	}
	if len(notify)+len(unset) == 0 {
		return "", true
	}
	text = "Some servers are still present on the host."
	if len(notify) > 0 {
		text += " Notify owners of the following server: " + pythonReprs(notify)
	}
	if len(unset) > 0 {
		text += " Servers with unset maintenance action: " + pythonReprs(unset)
	}
	return text, true
}

// pythonReprs is a list of IDs as Python writes it.
func pythonReprs(ids []string) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return "['" + strings.Join(ids, "', '") + "']"
}

// sameLeft tells whether two texts name the same instances.
func sameLeft(a, b progress.LockMessage) bool {
	return a.ID == b.ID && sameIDs(a.Notify, b.Notify) && sameIDs(a.Unset, b.Unset)
}

func sameIDs(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
