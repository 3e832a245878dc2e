package attention

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// causes names for each entry the entry from which it only follows. A cause has no cause itself, so that it leads to where the trouble
// begins. It is as urgent as the most urgent entry that follows from it, so that it stands above them.
func (f *facts) causes() {
	f.sort() // of several possible causes the most urgent counts, then the oldest
	direct := map[string]string{}
	for _, a := range f.found {
		for _, find := range rows[a.Rule].causes {
			if id := find(f, a); id != "" && id != a.ID {
				direct[a.ID] = id
				break
			}
		}
	}
	place := make(map[string]int, len(f.found))
	for i, a := range f.found {
		place[a.ID] = i
	}
	for i := range f.found {
		a := &f.found[i]
		root, seen := direct[a.ID], map[string]bool{a.ID: true}
		for root != "" && direct[root] != "" && !seen[root] {
			seen[root] = true
			root = direct[root]
		}
		if root == "" || seen[root] {
			continue // two entries name each other: neither is the cause
		}
		a.Cause = root
		cause := &f.found[place[root]]
		cause.Severity = max(cause.Severity, a.Severity)
		if f.age == nil {
			f.age = map[string]time.Time{}
		}
		f.age[root] = core.Earlier(f.age[root], a.Since.At)
	}
	f.sort()
}

// firstOf is the ID of the first entry of one of the rules that fits; empty when there is none. A nil fits takes any.
func (f *facts) firstOf(fits func(core.Attention) bool, rules ...core.AttentionRule) string {
	for _, a := range f.found {
		if slices.Contains(rules, a.Rule) && (fits == nil || fits(a)) {
			return a.ID
		}
	}
	return ""
}

// badRoleLabels names the setting with which the OpenStack controller cannot start. A controller scaled to 0 does not even try.
func badRoleLabels(f *facts, _ core.Attention) string {
	if c := f.s.Controller; c == nil || c.Replicas == 0 {
		return ""
	}
	return f.firstOf(nil, core.RuleRoleLabels)
}

// controllerIsAway names an OpenStack controller without a ready replica: nothing of its part is done.
func controllerIsAway(f *facts, a core.Attention) string {
	if l := f.lockOf(a); l != nil && l.Controller != core.ControllerOpenStack {
		return ""
	}
	return f.firstOf(nil, core.RuleControllerAway)
}

// controllerHolds names what keeps the OpenStack controller from working on a node when it is its turn: it is away, or gets no answer.
func controllerHolds(f *facts, a core.Attention) string {
	v, ok := progress.NodeView(f.s, a.Node)
	if !ok {
		return ""
	}
	switch v.Stage {
	case core.StageQueued, core.StagePreparing, core.StageEvacuating, core.StageReturning:
	default:
		return "" // LCM's turn
	}
	l := f.s.NodeLock(a.Node, core.ControllerOpenStack)
	if l != nil && (f.message(l).Class == progress.MessageOutage || progress.SilentOutage(f.s, l)) {
		if id := f.firstOf(nil, core.RuleOutage); id != "" {
			return id
		}
	}
	return f.firstOf(nil, core.RuleControllerAway)
}

// waitsForPlace names a left-over lock that takes the place of a node which waits for others (text F).
func waitsForPlace(f *facts, a core.Attention) string {
	v, ok := progress.NodeView(f.s, a.Node)
	if !ok || !f.waitsForOthers(v) {
		return ""
	}
	if id := f.firstOf(nil, core.RuleStaleInner); id != "" {
		return id
	}
	return f.firstOf(func(b core.Attention) bool {
		l := f.s.NodeLock(b.Node, core.ControllerOpenStack)
		return l != nil && l.InnerState == core.InnerActive
	}, core.RuleLockLeft)
}

// clusterOutage names an OpenStack that does not answer, for a cluster lock of the OpenStack controller.
func clusterOutage(f *facts, a core.Attention) string {
	if l := f.lockOf(a); l == nil || l.Controller != core.ControllerOpenStack {
		return ""
	}
	return f.firstOf(nil, core.RuleOutage)
}

// ownTrouble names an entry about the node's own machine, pods or services.
func ownTrouble(f *facts, a core.Attention) string {
	return f.firstOf(func(b core.Attention) bool { return b.Node == a.Node && a.Node != "" },
		core.RuleNoComputeService, core.RuleEndedPods, core.RuleLockFailed, core.RuleLockStuck, core.RuleDrainBlocked, core.RuleStateItem,
		core.RuleRebootError, core.RuleAgentError, core.RuleDrainError, core.RuleSwarmError, core.RuleControllerFails, core.RuleCephHolds)
}

// ownLockHolds names what keeps a lock of the node active that LCM waits for.
func ownLockHolds(f *facts, a core.Attention) string {
	v := f.machineOf(a)
	if _, inactive := progress.LocksInactive(f.s, a.Node, progress.DrainMessage{}); v == nil || a.Node == "" || inactive {
		return ""
	}
	own := f.firstOf(func(b core.Attention) bool { return b.Node == a.Node }, core.RuleLockFailed, core.RuleLockStuck, core.RuleNodeWaits,
		core.RuleNoComputeService, core.RuleMigrationFailed, core.RuleAct)
	if own != "" {
		return own
	}
	if l := f.s.NodeLock(a.Node, core.ControllerOpenStack); l == nil || l.State() != core.LockActive {
		return ""
	}
	return controllerHolds(f, a)
}

// sourceEntry is the ID of the entry about a source, alone or with others of its server; empty when the source is live.
func (f *facts) sourceEntry(id core.SourceID) string {
	return f.firstOf(func(a core.Attention) bool {
		return a.Subject.Name == string(id) || a.Subject.Name == string(id.Server()) && f.s.Sources[id].State != core.SourceLive
	},
		core.RuleSource, core.RuleSources)
}

// openStackUnseen names an OpenStack that does not answer Lockstep either.
func openStackUnseen(f *facts, _ core.Attention) string {
	for _, id := range []core.SourceID{core.SourceInstances, core.SourceComputeServices, core.SourceNetworkAgents} {
		if src := f.s.Sources[id]; src.State != core.SourceLive && src.Err != nil && src.Err.Uncertain() {
			if entry := f.sourceEntry(id); entry != "" {
				return entry
			}
		}
	}
	return ""
}

// instancesUnseen names the source of instances, where a node waits for instances that are not known.
func instancesUnseen(f *facts, a core.Attention) string {
	if v, ok := progress.NodeView(f.s, a.Node); !ok || v.Blocking >= 0 {
		return ""
	}
	return f.sourceEntry(core.SourceInstances)
}

// holdingRules are the rules about what holds LCM up at one node.
var holdingRules = []core.AttentionRule{core.RuleNodeWaits, core.RuleNodeReturns, core.RuleNodeSlow, core.RuleEndedPods,
	core.RuleNoComputeService, core.RuleLockFailed, core.RuleLockStuck, core.RuleMigrationFailed, core.RuleAct, core.RuleOverride,
	core.RuleDrainBlocked, core.RuleDrainWaits, core.RuleStateItem, core.RuleRebootError, core.RuleDrainError, core.RuleSwarmError,
	core.RuleAgentError, core.RuleNodeDeferred, core.RuleCephHolds, core.RuleStaleInner}

// holdingClusterRules are the rules about what holds LCM up before the nodes. RuleAct, RuleOverride and RuleLockFailed are about the
// cluster when they name no node.
var holdingClusterRules = []core.AttentionRule{core.RuleControllerAway, core.RuleOutage, core.RuleClusterLock, core.RuleClusterLockWaits,
	core.RuleOpenStackStatus, core.RuleLockFailed, core.RuleAct, core.RuleOverride}

// holds is the ID of the most urgent entry that holds LCM up at one of the nodes, or of the one about the controller that holds all of
// them up. A notice holds nothing up.
func (f *facts) holds(at func(node string) bool) string {
	if id := f.firstOf(nil, core.RuleControllerAway); id != "" && f.anyAsked() {
		return id
	}
	return f.firstOf(func(a core.Attention) bool {
		others := a.Rule == core.RuleStaleInner && a.Severity == core.SeverityUrgent
		return a.Severity >= core.SeverityWarning && a.Node != "" && at(a.Node) && (others || f.inMaintenance(a.Node))
	}, holdingRules...)
}

// anyAsked tells whether a request waits for the OpenStack controller: it has not released the node, or has to take it back.
func (f *facts) anyAsked() bool {
	return slices.ContainsFunc(progress.NodeViews(f.s), func(v *core.NodeView) bool {
		l := f.s.NodeLock(v.Name, core.ControllerOpenStack)
		return v.Request != nil && (!v.Request.Deleting.IsZero() || l == nil || l.State() == core.LockActive)
	})
}

// inMaintenance tells whether the node has a request, or LCM works on it.
func (f *facts) inMaintenance(node string) bool {
	v, ok := progress.NodeView(f.s, node)
	return ok && (v.Request != nil || v.Active())
}

// holdsCluster names what holds LCM up at the cluster's locks: at those of one controller, or of any when controller is empty.
func (f *facts) holdsCluster(controller string) string {
	return f.firstOf(func(a core.Attention) bool {
		if a.Severity < core.SeverityWarning || a.Node != "" {
			return false
		}
		l := f.lockOf(a)
		return controller == "" || l != nil && l.Controller == controller || l == nil && controller == core.ControllerOpenStack
	}, holdingClusterRules...)
}

// holdsPhase names what holds a phase up.
func holdsPhase(f *facts, a core.Attention) string {
	switch a.Phase {
	case core.PhaseServices:
		return f.holdsCluster("")
	case core.PhaseMasters:
		return f.holds(f.isMaster)
	case core.PhaseWorkers:
		return f.holds(func(node string) bool { return !f.isMaster(node) })
	}
	return ""
}

func (f *facts) isMaster(node string) bool {
	n := f.s.Nodes[node]
	return n != nil && n.Is(core.RoleMaster)
}

// holdsPlanStep names what holds the Stuck step of the update plan up: something on a node that the step is about.
func holdsPlanStep(f *facts, a core.Attention) string {
	p := f.s.Management.Plan()
	if p == nil {
		return ""
	}
	i := slices.IndexFunc(p.Steps, func(st core.PlanStep) bool { return st.ID == a.PlanStep })
	if i < 0 {
		return ""
	}
	st := p.Steps[i]
	switch group := st.Group(); {
	case group != "":
		return f.holds(f.named(st.Message, func(node string) bool { return f.groupHas(group, node) }))
	case st.ID == "openstack":
		return f.holdsCluster(core.ControllerOpenStack)
	case st.ID == "ceph":
		return f.holdsCluster(core.ControllerCeph)
	case strings.HasPrefix(st.ID, "k8s-controllers"):
		return f.holds(f.named(st.Message, f.isMaster))
	}
	return ""
}

// groupHas tells whether a node is in an update group. A machine without a group is in the default one, whose name is not known.
func (f *facts) groupHas(group, node string) bool {
	v := progress.MachineOf(f.s, node)
	if v == nil || v.Machine == nil {
		return false
	}
	if v.Machine.Group == "" {
		return !v.Machine.Control && !f.s.Management.HasMachines(group)
	}
	return v.Machine.Group == group
}

// holdsLCM names what holds a stuck operation of LCM up.
func holdsLCM(f *facts, _ core.Attention) string {
	c := f.s.Management.LCM
	if c == nil {
		return ""
	}
	id := f.holds(f.named(c.StuckMessage, func(string) bool { return !strings.Contains(c.StuckMessage, "machine ") }))
	if id != "" || len(f.namesIn(c.StuckMessage)) > 0 {
		return id
	}
	return f.holdsCluster("")
}

// named narrows nodes down to those that a text names, if it names any.
func (f *facts) named(text string, at func(node string) bool) func(node string) bool {
	names := f.namesIn(text)
	if len(names) == 0 {
		return at
	}
	return func(node string) bool { return slices.Contains(names, node) && at(node) }
}

// namesIn are the nodes that a text names by the node's name, its label, or its machine's name.
func (f *facts) namesIn(text string) []string {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !(r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		words[strings.Trim(w, ".-")] = true
	}
	var out []string
	for _, v := range progress.NodeViews(f.s) {
		machine := ""
		if m := progress.MachineOf(f.s, v.Name); m != nil {
			machine = m.Name
		}
		if words[v.Name] || words[v.Label] || machine != "" && words[machine] {
			out = append(out, v.Name)
		}
	}
	return out
}

// holdsBetween names what keeps a cluster between two releases, if the update plan or LCM says that it does not go on.
func holdsBetween(f *facts, _ core.Attention) string {
	return f.firstOf(nil, core.RuleAutoPause, core.RulePlanStuck, core.RulePlanWaits, core.RuleLCMStuck)
}
