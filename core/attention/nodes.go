package attention

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// nodeRules is the table of what can need a person at one node.
var nodeRules = []func(*facts, nodeFacts){
	(*facts).nodeLocks,
	(*facts).nodeWaits,
	(*facts).endedPods,
	(*facts).nodeReturns,
	(*facts).nodeReboots,
	(*facts).nodeSlow,
	(*facts).nodeDeferred,
	(*facts).cephHolds,
	(*facts).nodeSays,
	(*facts).controllerFails,
	(*facts).requestUnseen,
	(*facts).releasedFull,
	(*facts).lockLeft,
	(*facts).lockStuck,
	(*facts).roleless,
	(*facts).serviceMissing,
	(*facts).modeElsewhere,
	(*facts).staleInner,
	(*facts).nodeConfiguration,
	(*facts).nodeWithoutLock,
	(*facts).nodeRemoval,
	(*facts).lockWithoutNode,
	(*facts).requestsTwice,
	(*facts).annotationLeft,
	(*facts).returnedDown,
	(*facts).nodeDown,
	(*facts).computeLeft,
	(*facts).volumesLeftOut,
	(*facts).volumesElsewhere,
}

// nodeFacts is what the rules for nodes share about one node.
type nodeFacts struct {
	*core.NodeView
	own     *core.WorkloadLock   // of the OpenStack controller
	message progress.LockMessage // of own
	waiting []string             // labels of the nodes with text F: they wait for others
}

// entry makes an entry about the node, to be filled in.
func (n nodeFacts) entry(rule core.AttentionRule) core.Attention {
	a := core.Attention{Subject: core.Ref{Kind: core.KindNode, Name: n.Name}, Node: n.Name, Label: n.Label, Since: n.Since,
		Resolve: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: n.Name}}
	key := n.Name
	if n.Node != nil {
		a.Subject, key = n.Node.Ref(), n.Node.UID
	}
	a.Rule, a.Key = rule, key
	return a
}

func (n nodeFacts) leaving() bool { return n.Request != nil && n.Request.Deleting.IsZero() }

// nodeFinds is what was found at a node: by the rules for nodes, by those for its instances, and which instances will hold it when its turn
// comes.
type nodeFinds struct {
	found, instances []core.Attention
	willHold         []string
	label            string // the node's, where willHold has any
}

// lookAtNodes looks at all nodes. Most of them are as they were, and need no second look; those with an entry, or in maintenance, get one
// from each Snapshot in which any fact has changed, as their rules look at other nodes, too.
func (f *facts) lookAtNodes(earlier core.ByNode[nodeFinds]) core.ByNode[nodeFinds] {
	var waiting []string
	for _, v := range progress.NodeViews(f.s) {
		if v.Request != nil {
			if n := f.nodeFacts(v); n.message.ID == progress.SaysOthersFirst && n.leaving() {
				waiting = append(waiting, v.Label)
			}
		}
	}
	common := struct {
		estimate progress.Estimates
		waiting  string
	}{f.estimate, strings.Join(waiting, "\n")}
	// of one node after the other; of what it finds at one, it is not known before how much that is
	at := &facts{request: f.request, estimate: f.estimate, maintained: f.maintained, blockers: f.blockers}
	return core.DeriveByNode(f.s, earlier, common, progress.NodeNames(f.s), progress.ByNode(f.s),
		func(s *core.Snapshot, name string) (nodeFinds, bool) {
			v := progress.ViewOf(f.s, name) // of f.s: it is noted in the basis
			at.s, at.found = s, at.found[:0]
			n := at.nodeFacts(v)
			n.waiting = waiting
			for _, rule := range nodeRules {
				rule(at, n)
			}
			out := nodeFinds{found: kept(at.found)}
			at.found = at.found[:0]
			if out.willHold = at.instancesOn(v); len(out.willHold) > 0 {
				out.label = v.Label
			}
			out.instances = kept(at.found)
			return out, v.Request != nil || v.Active() || len(out.found)+len(out.instances) > 0
		})
}

// kept is a copy of what was found; of nothing nil, as an empty slice would keep the whole room for it.
func kept(found []core.Attention) []core.Attention {
	if len(found) == 0 {
		return nil
	}
	return slices.Clone(found)
}

func (f *facts) nodeFacts(v *core.NodeView) nodeFacts {
	n := nodeFacts{NodeView: v, own: f.s.NodeLock(v.Name, core.ControllerOpenStack)}
	if n.own != nil && n.own.Message != "" {
		n.message = progress.ReadLock(f.s, n.own)
	}
	return n
}

// take adds entries that later Snapshots may take, too: what is appended to their lists must not be written into theirs.
func (f *facts) take(found []core.Attention) {
	for _, a := range found {
		a.Evidence, a.Commands = slices.Clip(a.Evidence), slices.Clip(a.Commands)
		f.found = append(f.found, a)
	}
}

// foundAt is what was found at one node.
type foundAt struct {
	view             *core.NodeView
	found, instances []core.Attention
}

// gather collects what was found at the nodes, once for all rules. Whatever is found at a node may rest on other nodes: the thousands that
// rest on none need not be looked through.
func (f *facts) gather() {
	views := progress.ByNode(f.s)
	for i, at := range f.at.Others() { // both are in the order of NodeNames
		if len(at.found)+len(at.instances) > 0 {
			f.some = append(f.some, foundAt{views.At(i), at.found, at.instances})
		}
	}
	slices.SortFunc(f.some, func(a, b foundAt) int { return progress.AsShown(a.view, b.view) })
}

func (f *facts) nodes() {
	for _, at := range f.some {
		f.take(at.found)
	}
}

// nodeReturns finds a node that does not get back into service: with a text of the controller, or silently
// (docs/mosk.md#return-of-a-node: the controller sets no text while it waits for the node and its pods).
func (f *facts) nodeReturns(n nodeFacts) {
	if n.Stage != core.StageReturning || n.message.Class == progress.MessageOutage || f.leavesForGood(n) ||
		progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return // acting says what a played controller has to take back
	}
	if len(progress.HeldByEndedPods(f.s, n.Name)) > 0 && n.message.Class != progress.MessageActionable && n.own != nil &&
		n.own.InnerState == core.InnerActive {
		return // the rule endedPods names them
	}
	a := n.entry(core.RuleNodeReturns)
	switch {
	case n.message.Class == progress.MessageActionable && !f.fromBefore(n):
		a.Severity, a.Reason, a.Detail = core.SeverityUrgent, n.message.Meaning, wording.Sentence(n.message.Remedy)
		if !n.message.At.IsZero() && !a.Since.Exact {
			a.Since = core.Since{At: n.message.At}
		}
		if n.message.ID == progress.SaysAgentsStayDown {
			if down := progress.AgentsDown(f.s, f.s.HostOf(n.Name)); len(down) > 0 {
				a.Reason = "network agents down: " + wording.Some(down, 4)
			}
		}
	case f.long(n.Since.Certain().At, progress.ReturnLong):
		a = n.entry(core.RuleNodeSlow)
		a.Severity = core.SeverityWarning
		a.Since = n.Since.Certain().Plus(progress.ReturnLong)
		a.Reason = "does not get back into service: " + wording.TextOf(n.What, "the controller does not say what it waits for")
		a.Detail = progress.AccountSentence(f.s, progress.NodeAccount(f.s, n.Name), n.Name, n.message)
		if n.Node != nil && n.Node.Ready != "True" {
			a.Severity = core.SeverityUrgent
		}
	default:
		return
	}
	f.add(a)
}

// fromBefore tells whether the controller's text is about the node's leaving rather than its return: text J stays when somebody else
// released the lock.
func (f *facts) fromBefore(n nodeFacts) bool {
	return n.message.ID == progress.SaysLeftToOperator || n.Request != nil && !n.message.At.IsZero() && n.message.At.Before(n.Request.Deleting)
}

func (f *facts) nodeReboots(n nodeFacts) {
	since := n.Since.Certain()
	if n.Stage != core.StageRebooting || !f.long(since.At, progress.RebootLong) {
		return
	}
	a := n.entry(core.RuleNodeSlow)
	a.Severity, a.Since = core.SeverityUrgent, since.Plus(progress.RebootLong)
	switch {
	case n.Node == nil:
		a.Reason = "does not come back: the cluster has no node of it any more"
	case n.Node.Ready != "True":
		a.Reason = "does not come back: not Ready since " + wording.ClockText(n.Node.ReadySince) + wording.InBrackets(n.Node.ReadyReason)
	default:
		a.Reason = "is Ready, and LCM does not count it as rebooted: " + n.Reason
	}
	if n.Node != nil && n.Node.Ready != "True" {
		if text := f.wentDown(n); text != "" {
			a.Reason += "; " + text
			a.Impact = core.ImpactInstances
		}
	}
	f.add(a)
}

// wentDown names the instances that went down with the node's host and were running; empty where there are none.
func (f *facts) wentDown(n nodeFacts) string {
	if !f.s.Known(core.SourceInstances) || !n.Node.Is(core.RoleCompute) {
		return ""
	}
	var names []string
	for _, in := range f.s.InstancesOn(n.Name) {
		if _, safe := core.SafeAsItStands(in); !safe { // else it did not run
			names = append(names, progress.InstanceLabel(in))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return wording.Count(len(names), "instance") + " went down with it: " + wording.Some(names, 4)
}

// nodeSlow finds a node that stays longer than the documents allow in a stage in which somebody else works, or whose whole maintenance
// takes much longer than they allow.
func (f *facts) nodeSlow(n nodeFacts) {
	if v := progress.MachineOf(f.s, n.Name); v != nil && v.Machine != nil && v.Machine.InMaintenance {
		return // somebody holds it there, for as long as they want
	}
	var own time.Duration // how long this stage may take; for some stages another rule speaks from then on
	switch n.Stage {
	case core.StageEvacuating:
		if f.waits(n.NodeView) {
			return
		}
		own = progress.StageLong
	case core.StagePreparing:
		if n.message.Class == progress.MessageWaiting {
			return
		}
		own = progress.StageLong
	case core.StageReleased, core.StageDraining, core.StageUpdating:
		own = progress.StageLong
	case core.StageRebooting:
		own = progress.RebootLong
	case core.StageReturning:
		own = progress.ReturnLong
		if n.message.Class == progress.MessageActionable || n.message.Class == progress.MessageOutage {
			return
		}
	default:
		return
	}
	since := n.Since.Certain()
	long := f.long(since.At, own)
	if long && own != progress.StageLong {
		return
	}
	a := n.entry(core.RuleNodeSlow)
	a.Severity = core.SeverityWarning
	switch whole := time.Duration(float64(f.estimate.Worker()) * f.s.Settings.Overdue); {
	case long:
		a.Since = since.Plus(own)
		a.Reason = string(n.Stage) + " for a long time, since " + wording.ClockText(since.At) + wording.TextIf(n.Since.Later, " or before", "") +
			": " + n.Reason
	case n.Request != nil && whole > 0 && f.long(n.Request.Created, whole):
		a.Since = core.Since{At: n.Request.Created, Exact: true}.Plus(f.estimate.Worker())
		a.Reason = fmt.Sprintf("in maintenance for a long time, since %s, now %s: %s", wording.ClockText(n.Request.Created), n.Stage, n.Reason)
	case n.Request == nil && n.Since.Later && f.long(n.Since.At, own): // of a removal it is the only time that is known
		a.Since = n.Since.Plus(own)
		a.Reason = string(n.Stage) + ", since " + wording.ClockText(n.Since.At) + " or later: " + n.Reason
	default:
		return
	}
	f.add(a)
}

// nodeSays finds a text of the OpenStack controller that no document lists.
func (f *facts) nodeSays(n nodeFacts) {
	if n.Request == nil || n.message.Class != progress.MessageUnknown || n.own.State() == core.LockInactive && n.Stage != core.StageReturning {
		return
	}
	a := n.entry(core.RuleNodeSays)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: n.message.At, Exact: !n.message.At.IsZero()}
	a.Reason = "the OpenStack controller says something that no document lists: " + wording.OneLine(n.message.Text, wording.MostRead)
	f.add(a)
}

// nodeDeferred finds a node that waits for others: texts F and G, and A when it lasts.
func (f *facts) nodeDeferred(n nodeFacts) {
	if !n.leaving() || n.message.Class != progress.MessageWaiting || n.own.State() != core.LockActive {
		return
	}
	a := n.entry(core.RuleNodeDeferred)
	if a.Since = n.Since; a.Since.At.Before(n.Request.Created) {
		a.Since = core.Since{At: n.Request.Created, Exact: true}
	}
	limit := f.waitingLimit(n.message.ID)
	long := f.long(a.Since.At, limit)
	lasts := wording.TextIf(a.Since.Later, "", " for a long time")
	seen := procedure.Seen(f.s, n.own, n.message)
	switch {
	case n.message.ID == progress.SaysOthersFirst: // the others are under way, or staleInner has an entry
		return
	case !long && !progress.QuorumBroken(f.s, n.message.Blockers):
		return // what F, G and A wait for comes by itself
	case n.message.ID == progress.SaysServicesNeedNode:
		a.Reason = "deferred: "
		if long {
			a.Reason = "deferred" + lasts + ": "
		}
		if seen != "" { // the pod says more than the service
			a.Reason += seen + "; "
		}
		a.Reason += n.message.Meaning
	default:
		a.Reason = "waits" + lasts + ": " + n.message.Meaning
	}
	a.Severity = core.SeverityWarning
	if long && !progress.QuorumBroken(f.s, n.message.Blockers) {
		a.Since = a.Since.Plus(limit)
	}
	a.Detail = wording.Sentence(n.message.Remedy)
	if seen != "" && n.message.ID != progress.SaysServicesNeedNode {
		a.Detail = wording.Join(wording.Sentence("Seen: "+seen), a.Detail)
	}
	f.add(a)
}

func (f *facts) requestsTwice(n nodeFacts) {
	if len(f.s.NodeRequests[n.Name]) < 2 {
		return
	}
	a := n.entry(core.RuleRequests)
	a.Severity, a.Since = core.SeverityNotice, core.Since{}
	a.Reason = fmt.Sprintf("has %d maintenance requests", len(f.s.NodeRequests[n.Name]))
	f.add(a)
}
