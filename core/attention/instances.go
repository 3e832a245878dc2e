package attention

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// instances adds those that hold a node in maintenance, one by one, and those that will hold a node whose turn has not come.
func (f *facts) instances() {
	for _, at := range f.some {
		f.take(at.instances)
	}
	f.willBeHeld()
}

// instancesOn finds the instances that hold a node in maintenance, and returns those that will hold it when its turn comes.
func (f *facts) instancesOn(v *core.NodeView) (willHold []string) {
	if !f.s.Known(core.SourceInstances) || v.Node == nil || !v.Node.Is(core.RoleCompute) || v.Stage == core.StageDone {
		return nil
	}
	switch {
	case v.Request != nil && v.Request.Deleting.IsZero() && f.held(v):
		waits := f.waits(v)
		for _, in := range f.blocking(v.Name) {
			f.instance(in, v, waits)
		}
	case v.Stage == core.StageIdle && v.Request == nil && f.request != nil && f.request.Deleting.IsZero():
		return progress.WillHold(f.s, v.Name)
	}
	return nil
}

// held tells whether the OpenStack controller still holds the node. Once it is released, nothing on it needs a decision.
func (f *facts) held(v *core.NodeView) bool {
	l := f.s.NodeLock(v.Name, core.ControllerOpenStack)
	return l == nil || l.State() != core.LockInactive
}

func (f *facts) entryOf(rule core.AttentionRule, v core.InstanceView, node *core.NodeView) core.Attention {
	return core.Attention{Rule: rule, Key: v.Instance.ID, Severity: core.SeverityWarning, Subject: v.Instance.Ref(), Node: node.Name,
		Instance: v.Instance.ID,
		Label:    node.Label, Since: node.Since, Resolve: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: v.Instance.ID}}
}

// failuresTold is how often an instance's migration has to fail before it has an entry of its own.
const failuresTold = 2

// instance finds what one instance that blocks a node in maintenance needs. It makes one entry at most, the most important one. A
// waiting node has an entry that names all its instances and what is special about each; what that entry says is not repeated.
func (f *facts) instance(v core.InstanceView, node *core.NodeView, waits bool) {
	in, name := v.Instance, progress.InstanceLabel(v.Instance)
	switch {
	case progress.Moving(f.s, in) && v.Failures < failuresTold:
		m := v.Migration
		if m == nil || !m.Running() || !f.long(m.Created, progress.MigrationLong) {
			return
		}
		a := f.entryOf(core.RuleMigrationLong, v, node)
		a.Since = core.Since{At: m.Created, Exact: true}.Plus(progress.MigrationLong)
		a.Reason = fmt.Sprintf("the migration of %s does not end: %s, since %s", name, progress.MovingText(f.s, in),
			wording.ClockText(m.Created))
		a.Detail = "A guest that writes its memory faster than it can be copied has to be aborted or forced."
		f.add(a)
	case v.Failures >= failuresTold:
		a := f.entryOf(core.RuleMigrationFailed, v, node)
		a.Reason = fmt.Sprintf("%s failed to migrate %s%s", name, wording.Times(v.Failures),
			wording.Because(wording.OneLine(v.Failure, wording.MostRead)))
		a.Since = f.failedSince(v)
		if step.NoRoom(v) {
			a.Detail = "No further try helps until there is room for it."
		}
		if waits {
			a.Severity = core.SeverityUrgent
		}
		switch {
		case progress.Moving(f.s, in):
			a.Reason += "; the next try is under way"
		case v.Migrates && waits && !progress.PlaysOn(f.s, core.ControllerOpenStack, node.Name):
			a.Reason += "; the OpenStack controller tries again every minute" // docs/mosk.md#migration-loop
		}
		f.add(a)
	case waits:
	case v.Action == core.ActionNotify && v.Origin == core.OriginTag:
		a := f.entryOf(core.RuleInstanceNotify, v, node)
		a.Reason = fmt.Sprintf("%s holds the node: its owner asked to be told first (project %s)", name,
			wording.OneLine(f.s.Project(in.ProjectID), 60))
		f.add(a)
	case progress.Stranded(v):
		a := f.entryOf(core.RuleInstanceStranded, v, node)
		a.Reason = fmt.Sprintf("%s holds the node: %s", name, v.Why)
		a.Detail = wording.OneLine(in.Fault, wording.MostRead)
		f.add(a)
	case v.Origin == core.OriginConflicting:
		a := f.entryOf(core.RuleInstanceTags, v, node)
		a.Severity = core.SeverityNotice
		a.Reason = fmt.Sprintf("%s has several maintenance_action tags, which cancel each other: the node's mode counts (%s)", name, v.Action)
		f.add(a)
	}
}

// failedSince is since when the instance's migrations have failed often enough for an entry. A further failed try does not change it.
func (f *facts) failedSince(v core.InstanceView) core.Since {
	left := v.Failures - failuresTold
	begin := time.Time{}
	if r := f.s.NodeRequest(v.NodeName(f.s)); r != nil {
		begin = r.Created
	}
	for _, r := range f.s.Migrations[v.Instance.ID] { // newest first
		if r.SourceHost != v.Instance.Host || !r.Failed() || r.Created.Before(begin) {
			continue
		}
		if left == 0 {
			return core.Since{At: core.Later(r.Created, r.Updated), Exact: true}
		}
		left--
	}
	return core.Since{}
}

// heldFew is up to how many nodes that will be held have an entry each; more share one entry.
const heldFew = 8

// holder is a node whose instances will hold it when its turn comes.
type holder struct {
	at    int // its place in NodeNames
	label string
	names []string // of the instances, with what holds
}

// holders are the nodes whose instances will hold them.
type holders struct {
	first            []holder // by their labels, heldFew at most; the others' number is told
	nodes, instances int
}

// holdersAt are the nodes whose instances will hold them, and what they were in an earlier Snapshot where that is still so: most changes of
// a node change nothing of that.
func holdersAt(now, earlier core.ByNode[nodeFinds], before holders) (h holders) {
	was, is, known := now.ChangedSince(earlier)
	same := known
	for i := range is {
		same = same && was[i].label == is[i].label && slices.Equal(was[i].willHold, is[i].willHold)
	}
	if same {
		return before
	}
	at := 0
	for found := range now.All() {
		if len(found.willHold) > 0 {
			h.add(holder{at, found.label, found.willHold})
		}
		at++
	}
	return h
}

// add adds a node, which comes after all others in the order of NodeNames.
func (h *holders) add(one holder) {
	h.nodes, h.instances = h.nodes+1, h.instances+len(one.names)
	at, _ := slices.BinarySearchFunc(h.first, one, func(a, b holder) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.at, b.at))
	})
	if at < heldFew {
		h.first = slices.Insert(h.first, at, one)
		h.first = h.first[:min(len(h.first), heldFew)]
	}
}

// manualText introduces what holds a node in manual mode, where only the operator moves instances.
func manualText(v *core.NodeView) string {
	if v.Mode == core.ModeManual {
		return "manual mode: "
	}
	return ""
}

// willBeHeld makes an entry for each node that will be held. In a large fleet these would bury everything else: then it makes one for all,
// which leads to the first of them.
func (f *facts) willBeHeld() {
	h := f.holders
	if h.nodes == 0 {
		return
	}
	views := progress.ByNode(f.s)
	if h.nodes <= heldFew {
		shown := slices.SortedFunc(slices.Values(h.first), func(a, b holder) int { return progress.AsShown(views.At(a.at), views.At(b.at)) })
		for _, one := range shown {
			view := views.At(one.at)
			a := nodeFacts{NodeView: view}.entry(core.RuleWillHold)
			a.Severity, a.Since = core.SeverityNotice, core.Since{}
			a.Reason = fmt.Sprintf("%s%s will hold it when its turn comes: %s", manualText(view), wording.Count(len(one.names), "instance"),
				wording.Some(one.names, 4))
			f.add(a)
		}
		return
	}
	var labels []string
	for _, one := range h.first {
		labels = append(labels, fmt.Sprintf("%s (%d)", one.label, len(one.names)))
	}
	a := nodeFacts{NodeView: views.At(h.first[0].at)}.entry(core.RuleWillHold)
	a.Key, a.Subject, a.Node, a.Label = "", core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, "", wording.Count(h.nodes, "node")
	a.Severity, a.Since = core.SeverityNotice, core.Since{}
	a.Reason = fmt.Sprintf("%s will hold them when their turn comes: %s", wording.Count(h.instances, "instance"),
		wording.SomeOf(labels, h.nodes, 4))
	f.add(a)
}
