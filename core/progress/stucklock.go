package progress

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// When the OpenStack controller's lock of a live node is deleted, it stays in deletion: its finalizer waits for the clean-up after
// the node, which does not run while the node exists. This happens when a node loses its last role label
// (docs/mosk.md#role-taken-off).

// StuckLock is such a lock; nil when there is none. A node that leaves the cluster has one for a moment, or until it is gone.
func StuckLock(s *core.Snapshot, name string) *core.WorkloadLock {
	n, l := s.Nodes[name], s.NodeLock(name, core.ControllerOpenStack)
	switch {
	case n == nil || l == nil || l.Deleting.IsZero() || !n.Deleting.IsZero():
		return nil
	case FinalizerOn(s, l.Meta) == "":
		return nil
	case s.Deletions[name] != nil || s.Disablings[name] != nil:
		return nil
	case !s.Reached(l.Deleting.Add(InnerSettles)):
		return nil
	case !s.Known(core.SourceNodes) || !s.Known(core.SourceNodeLocks) || !RemovalsKnown(s):
		return nil
	}
	return l
}

// LostLabels are the role labels that the node had when the controller last saw its lock. When nothing shows them and Nova knows
// its host, they are those of a compute.
func LostLabels(s *core.Snapshot, name string, l *core.WorkloadLock) []string {
	var out []string
	if l != nil {
		for _, role := range roleLabels(s).Of(l.Original) {
			out = append(out, s.LabelOf(role).String())
		}
	}
	if len(out) == 0 && s.Services[s.HostOf(name)] != nil {
		out = []string{s.LabelOf(core.RoleCompute).String()}
	}
	return out
}

func roleLabels(s *core.Snapshot) core.RoleLabels {
	if len(s.RoleLabels) == 0 {
		return core.DefaultRoleLabels()
	}
	return s.RoleLabels
}

// LabelCommand gives the node its role labels back; empty when none is known.
func LabelCommand(node string, labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return wording.ShellCommand(append([]string{"kubectl", "label", "node", node}, labels...)...)
}

// LookAgain is a command that makes the controller look at an object again: the controller looks at each change, and an annotation
// is one.
func LookAgain(kind core.Kind, name string) string {
	return wording.ShellCommand("kubectl", "annotate", strings.ToLower(string(kind)), name, "lockstep/look-again=now", "--overwrite")
}

// OwnController is the controllerName of a lock with which operators hold a node themselves.
const OwnController = "operator"

// OwnLock is an operator's own lock for a node: LCM waits for every lock (docs/mosk.md#modes-elsewhere).
func OwnLock(node string) core.NewLock {
	return core.NewLock{Kind: core.KindNodeWorkloadLock, Name: ObjectName(OwnController + "-" + node), Controller: OwnController, Node: node}
}

// HeldOtherwise is an active lock on the node that does not belong to MOSK's own controllers, so that none of them releases it;
// nil when there is none.
func HeldOtherwise(s *core.Snapshot, node string) *core.WorkloadLock {
	known := []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric, core.ControllerStackLight}
	for _, l := range s.NodeLocks.At(node) {
		if l.State() == core.LockActive && l.Deleting.IsZero() && !slices.Contains(known, l.Controller) {
			return l
		}
	}
	return nil
}

// StuckText says what it means that a lock stays in deletion.
func StuckText(s *core.Snapshot, name string, l *core.WorkloadLock) string {
	text := "its lock is in deletion, which does not end while the node exists"
	if n := s.Nodes[name]; !n.HasOpenStackRole() {
		text = "its role label was taken off: " + text
	}
	if l.State() == core.LockActive {
		text += ", and LCM waits for it"
	}
	return text
}

// PlaysStuck tells whether Lockstep alone plays the OpenStack controller of a node that has a lock but no role.
func PlaysStuck(s *core.Snapshot, node string) bool {
	a, played := ActAs(s, core.ControllerOpenStack)
	return played && StuckLock(s, node) != nil && GuardNobodyElse(s, a.Controller).Holds
}

// lockInDeletion finds a node that goes no further because its lock stays in deletion.
func lockInDeletion(f *stageFacts) (verdict, bool) {
	l := StuckLock(f.s, f.name)
	if l == nil || l.State() != core.LockActive {
		return verdict{}, false
	}
	what := "lock in deletion"
	if !f.node.HasOpenStackRole() {
		what = "role label taken off"
	}
	return verdict{reason: StuckText(f.s, f.name, l), what: what, since: exactly(l.Deleting)}, true
}

// LCMMayTake tells whether LCM asks for the node, or may do so at any moment.
func LCMMayTake(s *core.Snapshot, node string) bool {
	r := s.NodeRequest(node)
	return r != nil && r.Deleting.IsZero() || s.ClusterRequest() != nil
}
