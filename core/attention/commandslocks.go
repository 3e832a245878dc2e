package attention

import (
	"strings"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// getLock shows a lock as it stands.
func getLock(l *core.WorkloadLock) core.Command {
	return procedure.ToLook("the lock", wording.ShellCommand("kubectl", "get", strings.ToLower(string(l.Kind)), l.Name, "-o", "yaml")).
		Showing(core.TargetOf(core.ServerKubernetes, l.Ref()).As(core.LookYAML))
}

// atLock shows what a lock's text is about, the lock, and its owner.
func atLock(f *facts, a core.Attention) []core.Command {
	l := f.lockOf(a)
	if l == nil {
		return atClusterLocks(f, a)
	}
	return f.lockCommands(l, a)
}

func (f *facts) lockCommands(l *core.WorkloadLock, a core.Attention) []core.Command {
	out := append(procedure.SituationCommands(f.s, l, f.message(l)), getLock(l))
	switch l.Controller {
	case core.ControllerOpenStack:
		out = append(out, atControllerLog(f, a)...)
	case core.ControllerCeph:
		out = append(out, procedure.ToLook("how Ceph is", wording.ShellCommand("kubectl", "-n", core.NamespaceCeph, "get", "cephclusters")),
			procedure.ToLook("the log of its operator", wording.ShellCommand("kubectl", "-n", core.NamespaceCeph, "logs", "-l",
				"app=rook-ceph-operator", "--tail=100")).Showing(progress.CephOperatorLog().IsLog()))
	case core.ControllerTungstenFabric:
		out = append(out, procedure.ToLook("its pods", wording.ShellCommand("kubectl", "-n", core.NamespaceFabric, "get", "pods", "-o", "wide")).
			Showing(progress.PodsOf(core.NamespaceFabric).IsPods()))
	default:
		for i, line := range progress.AskCommands(l) {
			out = append(out, procedure.ToLook([]string{"who wrote it", "what runs by that name"}[i], line))
		}
	}
	return out
}

// atAnyLock shows the lock of a played controller, or all cluster locks if it has none.
func atAnyLock(f *facts, a core.Attention) []core.Command {
	if l := f.playedLock(a); l != nil {
		return []core.Command{getLock(l)}
	}
	return atClusterLocks(f, a)
}

func atClusterLocks(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the cluster's locks", wording.ShellCommand("kubectl", "get", "clusterworkloadlocks"))}
}

func atNodeLock(f *facts, a core.Attention) []core.Command {
	if l := f.s.NodeLock(a.Node, core.ControllerOpenStack); l != nil {
		return []core.Command{getLock(l)}
	}
	return atLocksOfNode(f, a)
}

func atLocksOfNode(_ *facts, a core.Attention) []core.Command {
	list := procedure.ListNodeLocks // kubectl's own columns are names and ages (docs/mosk.md#locks)
	if a.Node == "" {
		return []core.Command{procedure.ToLook("the locks of nodes", list)}
	}
	return []core.Command{procedure.ToLook("its locks", list+" | "+wording.ShellCommand("grep", "-w", "-e", "^NODE", "-e", a.Node))}
}

// atWhatItSays shows more about the OpenStack controller's text on the node's lock.
func atWhatItSays(f *facts, a core.Attention) []core.Command {
	l := f.s.NodeLock(a.Node, core.ControllerOpenStack)
	if l == nil {
		return nil
	}
	return procedure.SituationCommands(f.s, l, f.message(l))
}

func atOthers(f *facts, _ core.Attention) []core.Command {
	return procedure.LookAtOthers(f.s, nil, progress.LockMessage{})
}

// holdAgain sets a lock active that was left inactive, so that LCM waits for the node.
func holdAgain(f *facts, a core.Attention) []core.Command {
	l := f.s.NodeLock(a.Node, core.ControllerOpenStack)
	if l == nil || l.State() != core.LockInactive || f.s.NodeRequest(a.Node) != nil && !f.s.NodeRequest(a.Node).Deleting.IsZero() {
		return nil
	}
	return []core.Command{procedure.ToChange("hold LCM", step.LockCommand(l.Ref(), core.LockStatus{State: core.LockActive}))}
}

func clearInner(f *facts, a core.Attention) []core.Command {
	if l := f.s.NodeLock(a.Node, core.ControllerOpenStack); l != nil {
		return []core.Command{procedure.ToChange("clear it, as the last resort", step.InnerCommand(l.Ref(), core.InnerInactive))}
	}
	return nil
}

func holdByOwnLock(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("hold it by your own lock", step.CreateLockCommand(progress.OwnLock(a.Node)))}
}
