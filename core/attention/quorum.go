package attention

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// quorumGoes finds a node that is asked for, and with which a StatefulSet loses its quorum. The OpenStack controller compares only how many
// pods are ready, and lets such a node go while one of the other members is down (docs/mosk.md#quorum). While the nodes' turn lasts, it is
// told ahead of the next such node.
func (f *facts) quorumGoes() {
	for _, q := range progress.QuorumSets {
		v, there := progress.Quorum(f.s, q)
		if !there || !q.AskedFirst() || progress.QuorumUnknown(f.s, q) != "" || !slices.ContainsFunc(v.Pods, isDown) {
			continue
		}
		told, ahead := false, ""
		for _, name := range f.s.NodeNames() {
			switch {
			case !v.GoesWith(f.s.Nodes[name]):
			case f.nodeGoes(name):
				told = f.quorumGoesNow(v, name) || told
			case ahead == "" && f.comesYet(name):
				ahead = name
			}
		}
		if ahead != "" && !told {
			f.quorumGoesAhead(v, ahead)
		}
	}
}

func isDown(p *core.DaemonPod) bool { return !progress.Serves(p) }

// nodeGoes tells whether LCM asks for the node, for its maintenance or its removal.
func (f *facts) nodeGoes(name string) bool {
	if r := f.s.NodeRequest(name); r != nil {
		return r.Deleting.IsZero()
	}
	return f.s.Deletions[name] != nil
}

// comesYet tells whether the update, which has come to the nodes, has still to go through this one.
func (f *facts) comesYet(name string) bool {
	u := progress.Update(f.s)
	v := progress.ViewOf(f.s, name)
	return u.Running && u.Phase.ID >= core.PhaseMasters && v != nil && v.Stage != core.StageDone && f.s.NodeRequest(name) == nil
}

// quorumGoesNow tells of a node that is asked for, unless the controller or Lockstep in its place holds it; false when it does not.
func (f *facts) quorumGoesNow(v progress.QuorumView, name string) bool {
	l := f.s.NodeLock(name, core.ControllerOpenStack)
	released := l != nil && l.State() == core.LockInactive
	if !released && (progress.PlaysOn(f.s, core.ControllerOpenStack, name) || v.Holds(name) != progress.QuorumOthersDown) {
		return false
	}
	a := f.quorumEntry(v, name, name, core.SeverityUrgent)
	a.Reason = "with it " + v.Name + " loses its quorum: " + core.Tidy(progress.QuorumText(f.s, v, name))
	if r := f.s.NodeRequest(name); r != nil {
		a.Since = core.Since{At: r.Created, Exact: true}
	} else {
		a.Since = core.Since{At: f.s.Deletions[name].Created, Exact: true}
	}
	a.Detail = "The OpenStack controller only counts the pods, and lets it go all the same. Mend the member that is not ready first, or " +
		"hold the node by a lock of your own until it is."
	if released {
		a.Detail = "Its lock is released: LCM takes it down. Mend the member that is not ready now."
	}
	f.add(a)
	return true
}

// quorumGoesAhead tells of a set whose next node takes its quorum with it, before LCM asks for that.
func (f *facts) quorumGoesAhead(v progress.QuorumView, name string) {
	if progress.PlaysOn(f.s, core.ControllerOpenStack, name) || v.Holds(name) != progress.QuorumOthersDown {
		return
	}
	for _, p := range v.Pods {
		if !progress.Serves(p) && f.s.NodeRequest(p.Node) != nil {
			return // it is down for its node's maintenance, and the next node waits for that
		}
	}
	a := f.quorumEntry(v, name, "ahead", core.SeverityWarning)
	a.Reason = "once LCM asks for it, " + v.Name + " loses its quorum: " + core.Tidy(progress.QuorumText(f.s, v, name))
	a.Detail = "The OpenStack controller only counts the pods, and lets the node go all the same. Mend the member that is not ready before."
	f.add(a)
}

func (f *facts) quorumEntry(v progress.QuorumView, node, key string, severity core.Severity) core.Attention {
	n := f.s.Nodes[node]
	return core.Attention{Rule: core.RuleQuorumGoes, Key: key + "/" + v.Name, Node: node, Subject: n.Ref(), Label: n.Label(),
		Severity: severity, Resolve: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: node}}
}

// atQuorum are the commands that show the set of the entry, and its pods.
func atQuorum(_ *facts, a core.Attention) (out []core.Command) {
	for _, q := range progress.QuorumSets {
		if strings.HasSuffix(a.Key, "/"+q.Name) {
			for _, line := range q.Look() {
				out = append(out, core.Command{For: wording.OneLine(q.Name, 40), Line: line})
			}
		}
	}
	return out
}

// holdUnreleased is holdByOwnLock as long as the node is not released.
func holdUnreleased(f *facts, a core.Attention) []core.Command {
	if l := f.s.NodeLock(a.Node, core.ControllerOpenStack); l != nil && l.State() == core.LockInactive {
		return nil
	}
	return holdByOwnLock(f, a)
}
