package core

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// instances are those that hold a node in maintenance one by one, and those that will hold a node whose turn has not come.
func (f *attentionFacts) instances() {
	if !f.s.known(SourceInstances) {
		return
	}
	var held []holder
	for _, v := range f.s.NodeViews() {
		if v.Node == nil || !v.Node.Is(RoleCompute) || v.Stage == StageDone {
			continue
		}
		m := f.s.maintenanceOf(v.Name)
		switch {
		case v.Request != nil && v.Request.Deleting.IsZero() && f.held(v):
			waits := f.waits(v)
			for _, in := range f.s.ByHost[m.host] {
				f.instance(f.s.viewInstance(in, m), v, waits)
			}
		case v.Stage == StageIdle && v.Request == nil && f.request != nil && f.request.Deleting.IsZero():
			if names := f.willHold(v, m); len(names) > 0 {
				held = append(held, holder{view: v, names: names})
			}
		}
	}
	f.holders(held)
}

// held tells whether the OpenStack controller still holds the node: after that nothing on it needs a decision.
func (f *attentionFacts) held(v NodeView) bool {
	l := f.s.NodeLock(v.Name, ControllerOpenStack)
	return l == nil || l.State() != LockInactive
}

func (f *attentionFacts) entryOf(rule AttentionRule, v InstanceView, node NodeView) Attention {
	return Attention{Rule: rule, Key: v.Instance.ID, Severity: SeverityWarning, Subject: v.Instance.Ref(), Node: node.Name, Instance: v.Instance.ID,
		Label: node.Label, Since: node.Since, Resolve: &ProcedureKey{Kind: ProcedureInstance, Subject: v.Instance.ID}}
}

// failuresTold is how often an instance's migration fails until it is told by itself.
const failuresTold = 2

// instance is what one instance on a node in maintenance needs. One entry at most: the most telling. The node's own entry,
// where it waits, names them all with what is special about each; only what it does not say is told again.
func (f *attentionFacts) instance(v InstanceView, node NodeView, waits bool) {
	in, name := v.Instance, instanceLabel(v.Instance)
	if !v.Blocks {
		return
	}
	switch {
	case f.s.moving(in) && v.Failures < failuresTold:
		m := v.Migration
		if m == nil || !m.Running() || !f.long(m.Created, migrationLong) {
			return
		}
		a := f.entryOf(RuleMigrationLong, v, node)
		a.Since = Since{At: m.Created, Exact: true}.plus(migrationLong)
		a.Reason = fmt.Sprintf("the migration of %s does not come to an end: %s, since %s", name, f.s.movingText(in), clockText(m.Created))
		a.Detail = "A guest that writes its memory faster than it can be copied has to be aborted or forced."
		f.add(a)
	case v.Failures >= failuresTold:
		a := f.entryOf(RuleMigrationFailed, v, node)
		a.Reason = fmt.Sprintf("%s failed to migrate %s%s", name, times(v.Failures), because(oneLine(v.Failure, mostRead)))
		a.Since = f.failedSince(v)
		if noRoom(v) {
			a.Detail = "No further try helps until there is room for it."
		}
		if waits {
			a.Severity = SeverityUrgent
		}
		switch {
		case f.s.moving(in):
			a.Reason += "; the next try is under way"
		case v.Migrates && waits && !f.s.playsOn(ControllerOpenStack, node.Name):
			a.Reason += "; the OpenStack controller tries again every minute" // docs/mosk.md#migration-loop
		}
		f.add(a)
	case waits:
	case v.Action == ActionNotify && v.Origin == OriginTag:
		a := f.entryOf(RuleInstanceNotify, v, node)
		a.Reason = fmt.Sprintf("%s holds the node: its owner asked to be told first (project %s)", name, oneLine(f.s.Project(in.ProjectID), 60))
		f.add(a)
	case stranded(v):
		a := f.entryOf(RuleInstanceStranded, v, node)
		a.Reason = fmt.Sprintf("%s holds the node: %s", name, v.Why)
		a.Detail = oneLine(in.Fault, mostRead)
		f.add(a)
	case v.Origin == OriginConflicting:
		a := f.entryOf(RuleInstanceTags, v, node)
		a.Severity = SeverityNotice
		a.Reason = fmt.Sprintf("%s has several maintenance_action tags, which cancel each other: the node's mode counts (%s)", name, v.Action)
		f.add(a)
	}
}

// failedSince is since when the instance's migrations have failed often enough to be told: a further try that fails makes
// that no younger.
func (f *attentionFacts) failedSince(v InstanceView) Since {
	left := v.Failures - failuresTold
	begin := time.Time{}
	if r := f.s.NodeRequest(v.nodeName(f.s)); r != nil {
		begin = r.Created
	}
	for _, r := range f.s.Migrations[v.Instance.ID] { // newest first
		if r.SourceHost != v.Instance.Host || !r.Failed() || r.Created.Before(begin) {
			continue
		}
		if left == 0 {
			return Since{At: later(r.Created, r.Updated), Exact: true}
		}
		left--
	}
	return Since{}
}

// nodeName is the name of the node that the instance is on; empty when there is none.
func (v InstanceView) nodeName(s *Snapshot) string {
	if n := s.NodeOfHost(v.Instance.Host); n != nil {
		return n.Name
	}
	return ""
}

// stranded tells whether the instance runs in a status in which nothing moves it.
func stranded(v InstanceView) bool {
	in := v.Instance
	return v.Blocks && in.Status != "ACTIVE" && in.Status != "PAUSED" && in.TaskState == ""
}

// heldFew is how many nodes that will wait when their turn comes are told one by one; more are one entry.
const heldFew = 8

// holder is a node whose instances will hold it when its turn comes.
type holder struct {
	view  NodeView
	names []string // of the instances, with what holds
}

// willHold are the instances of a node that will hold it when its turn in this update comes, and that can be settled before.
func (f *attentionFacts) willHold(v NodeView, m hostMaintenance) []string {
	var names []string
	for _, in := range f.s.ByHost[m.host] { // makes no views: a fleet has 100,000 instances
		action, origin := EffectiveAction(in.Tags, m.mode)
		if !blocks(in, action) {
			continue
		}
		switch {
		case in.Status != "ACTIVE" && in.Status != "PAUSED" && in.TaskState == "":
			names = append(names, fmt.Sprintf("%s (%s)", instanceLabel(in), oneLine(in.Status, 30)))
		case action == ActionNotify && origin == OriginNode:
			names = append(names, instanceLabel(in)) // manual: the operator moves it
		case action == ActionNotify && origin == OriginTag:
			names = append(names, instanceLabel(in)+" (notify)")
		case origin == OriginConflicting:
			names = append(names, instanceLabel(in)+" (two tags)")
		}
	}
	slices.Sort(names)
	return names
}

// manualText is said before what holds a node of which nobody but the operator moves anything.
func manualText(v NodeView) string {
	if v.Mode == ModeManual {
		return "manual mode: "
	}
	return ""
}

// holders is an entry for each node that will be held; in a large fleet, where these would bury everything else, one for all,
// which leads to the first of them.
func (f *attentionFacts) holders(all []holder) {
	if len(all) == 0 {
		return
	}
	if len(all) <= heldFew {
		for _, h := range all {
			a := nodeAttention{NodeView: h.view}.entry(RuleWillHold)
			a.Severity, a.Since = SeverityNotice, Since{}
			a.Reason = fmt.Sprintf("%s%s will hold it when its turn comes: %s", manualText(h.view), count(len(h.names), "instance"), some(h.names, 4))
			f.add(a)
		}
		return
	}
	slices.SortFunc(all, func(a, b holder) int { return cmp.Compare(a.view.Label, b.view.Label) })
	instances := 0
	labels := make([]string, len(all))
	for i, h := range all {
		instances += len(h.names)
		labels[i] = fmt.Sprintf("%s (%d)", h.view.Label, len(h.names))
	}
	a := nodeAttention{NodeView: all[0].view}.entry(RuleWillHold)
	a.Key, a.Subject, a.Node, a.Label = "", Ref{Kind: KindCluster, Name: f.s.Cluster}, "", count(len(all), "node")
	a.Severity, a.Since = SeverityNotice, Since{}
	a.Reason = fmt.Sprintf("%s will hold them when their turn comes: %s", count(instances, "instance"), some(labels, 4))
	f.add(a)
}
