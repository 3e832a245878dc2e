package progress

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// begun tells whether LCM has asked for one of the nodes in this update. Only a request shows that: a lock can be left over, and a
// node can be about to leave the cluster, be away for a moment, or have had a newer kubelet before.
func (f *phaseFacts) begun(nodes []*core.NodeView) bool { return slices.ContainsFunc(nodes, f.asked) }

// asked tells whether LCM asks for the node in this update, or has asked for it.
func (f *phaseFacts) asked(v *core.NodeView) bool { return askedBy(f.request, v) }

// askedBy tells whether LCM asks for the node in the update of a request, or has asked for it.
func askedBy(update *core.MaintenanceRequest, v *core.NodeView) bool {
	if v.Request != nil && IsFor(v.Request, update) {
		return true
	}
	return v.Round.Update == update.UID && !v.Round.Started.IsZero()
}

func (f *phaseFacts) stage(v *core.NodeView) core.Stage { return stageInUpdate(f.s, f.request, v) }

// stageInUpdate is the node's stage if it belongs to the update of a request, else idle: nothing of the update waits for a lock that is
// left over, or for a node that is to be removed. A node that no lock holds is updated without a request. Where requests are not known, and
// without an update, the node's stage decides.
func stageInUpdate(s *core.Snapshot, update *core.MaintenanceRequest, v *core.NodeView) core.Stage {
	if !v.Active() || update == nil || askedBy(update, v) || v.Request == nil && len(v.Locks) == 0 || !s.Known(core.SourceNodeRequests) {
		return v.Stage
	}
	return core.StageIdle
}

// come tells whether the evidence shows that the update has reached the node.
func (f *phaseFacts) come(v *core.NodeView) bool { return !f.reached(v).IsZero() }

// removed tells whether LCM is done with the nodes and removes its request. A controller that takes its lock back now has released
// it before.
func (f *phaseFacts) removed() bool {
	return !f.request.Deleting.IsZero() && (slices.ContainsFunc(f.masters, f.come) || slices.ContainsFunc(f.workers, f.come))
}

// reached is when the update had reached the node: the time of a request, of a maintenance that was seen, or of a node that became
// Ready again; zero when nothing shows it.
func (f *phaseFacts) reached(v *core.NodeView) time.Time {
	r := &v.Round
	switch {
	case r.Update == f.request.UID && !r.Started.IsZero():
		return r.Started
	case v.Request != nil && IsFor(v.Request, f.request):
		return v.Request.Created
	case v.Stage == core.StageDone && v.Node.ReadySince.After(f.request.Created):
		return v.Node.ReadySince
	}
	return time.Time{}
}

// firstNode is when the update had reached its first node; zero when nothing shows it: a node or request that is not known can be
// older than all the known ones.
func (f *phaseFacts) firstNode() time.Time {
	var first time.Time
	if !f.s.Known(core.SourceNodes) || !f.s.Known(core.SourceNodeRequests) {
		return first
	}
	for _, nodes := range [...][]*core.NodeView{f.masters, f.workers} {
		for _, v := range nodes {
			if at := f.reached(v); !at.Before(f.request.Created) {
				first = core.Earlier(first, at)
			}
		}
	}
	return first
}

func (f *phaseFacts) masterNodes() core.Phase {
	p, ok := f.begin(core.PhaseMasters, "master nodes")
	if !ok {
		return p
	}
	f.nodes(&p, f.masters)
	behind := slices.ContainsFunc(f.masters, func(v *core.NodeView) bool { return f.newest != "" && v.Node.KubeletVersion != f.newest })
	if p.State == core.PhasePending && f.servicesDone && slices.ContainsFunc(f.workers, f.come) && !behind {
		// Masters without collocated roles leave no other trace.
		p.State, p.Done = core.PhaseDone, p.Total
		p.Evidence = append(p.Evidence, "workers are in maintenance, which comes after the masters'")
		var first time.Time
		for _, v := range f.workers {
			first = core.Earlier(first, f.reached(v))
		}
		if f.end(&p, core.Since{At: first}); p.Started.At.IsZero() {
			p.Started = p.Ended
		}
	}
	f.overdue(&p, f.estimate.Masters())
	return p
}

func (f *phaseFacts) workerNodes() core.Phase {
	p, ok := f.begin(core.PhaseWorkers, "worker nodes")
	if !ok {
		return p
	}
	f.nodes(&p, f.workers)
	if p.State != core.PhasePending {
		for _, g := range f.groupsOf(f.workers) {
			p.Lines = append(p.Lines, g.line())
		}
	}
	f.overdue(&p, f.estimate.Workers())
	f.overdueNode(&p)
	return p
}

// overdueNode marks the workers' phase as stuck when one node takes much longer than the documents allow.
func (f *phaseFacts) overdueNode(p *core.Phase) {
	for _, v := range f.workers {
		if p.State != core.PhaseRunning || v.Request == nil || !f.asked(v) || v.Stage == core.StageQueued || f.s.Settings.Overdue <= 0 {
			continue
		}
		if f.s.Longer(v.Request.Created, time.Duration(float64(f.estimate.Worker())*f.s.Settings.Overdue)) {
			took := f.s.Span(v.Request.Created)
			p.State = core.PhaseStuck
			p.Evidence = append(p.Evidence, fmt.Sprintf("overdue: %s is in maintenance for %s, the documents' estimate is %s", v.Label,
				wording.SpanText(took), wording.SpanText(f.estimate.Worker())))
		}
	}
}

// mostRequests is how many nodes' requests a phase's evidence lists. Up to 30 computes are in maintenance at a time.
const mostRequests = 8

// nodes judges a phase by its nodes' stages.
func (f *phaseFacts) nodes(p *core.Phase, nodes []*core.NodeView) {
	s, t := f.s, f.tally(nodes)
	p.Done, p.Total = t.done, len(nodes)
	if !s.Known(core.SourceNodes) {
		p.Evidence = append(p.Evidence, "the nodes are not known: "+s.WhyUnknown(core.SourceNodes))
	}
	if !s.Known(core.SourceNodeRequests) {
		p.Evidence = append(p.Evidence, "the NodeMaintenanceRequests are not known: "+s.WhyUnknown(core.SourceNodeRequests))
	}
	if p.State = t.state(); p.State != core.PhasePending && !f.servicesDone && !f.begun(nodes) {
		// A kubelet can be newer, and a lock left over, from an earlier update: LCM has not reached the nodes yet.
		p.State, p.Done = core.PhasePending, 0
	}
	if len(nodes) == 0 && s.Known(core.SourceNodes) {
		p.State = core.PhaseDone
		p.Evidence = append(p.Evidence, "the cluster has no such nodes")
		return
	}
	if p.State == core.PhasePending {
		p.Started = core.Since{}
		if s.Known(core.SourceNodes) && s.Known(core.SourceNodeRequests) {
			p.Evidence = append(p.Evidence, "none of "+wording.Count(len(nodes), "node")+" is in maintenance or through it")
		}
		return
	}
	through := fmt.Sprintf("%d of %s through", t.done, wording.Count(len(nodes), "node"))
	if t.moving > 0 {
		through += fmt.Sprintf(", %d in maintenance", t.moving)
	}
	if t.queued > 0 {
		through += fmt.Sprintf(", %d queued", t.queued)
	}
	p.Evidence = append(p.Evidence, through)
	listed := &f.listed[p.ID-1]
	listed.at = len(p.Evidence)
	var begin time.Time
	var end, least time.Time   // by the latest that is known, and for certain
	later := false             // of a node is known only what came before its end
	requests, open := 0, false // open: of a node's maintenance nobody has noted the end yet
	for _, v := range nodes {
		if v.Request != nil && f.asked(v) {
			if requests++; requests <= mostRequests {
				listed.nodes = append(listed.nodes, v.Name)
			}
			begin = core.Earlier(begin, v.Request.Created)
		}
		r := &v.Round
		switch {
		case r.Update == f.request.UID:
			begin = core.Earlier(begin, r.Started)
			if end = core.Later(end, r.Ended); !r.EndUnseen {
				least = core.Later(least, r.Ended)
			}
			open = open || r.Ended.IsZero()
		case v.Stage == core.StageDone && v.Node.ReadySince.After(f.request.Created):
			begin = core.Earlier(begin, v.Node.ReadySince)
			later, least = true, core.Later(least, v.Node.ReadySince) // its controllers take it back after that
		}
	}
	if requests > mostRequests {
		p.Evidence = append(p.Evidence, fmt.Sprintf("and %d NMRs more", requests-mostRequests))
	}
	if p.Started.At.IsZero() {
		p.Started = core.Since{At: begin}
	}
	if p.State == core.PhaseDone {
		switch {
		case open:
			f.end(p, core.Since{}) // it ends at this moment
		case later:
			f.end(p, core.NotBefore(least))
		default:
			f.end(p, core.Since{At: end})
		}
	}
}

// requestText returns a text like "NMR cmp-07 (os) since 16:10: waiting for you, 2 live".
func requestText(s *core.Snapshot, v *core.NodeView) string {
	scope := ""
	if sc := ScopeOf(s, v.Request); sc != "" {
		scope = " (" + wording.OneLine(string(sc), 20) + ")"
	}
	text := fmt.Sprintf("NMR %s%s since %s: %s", v.Label, scope, wording.ClockText(v.Request.Created), v.Stage)
	if v.What != "" {
		text += ", " + v.What
	}
	return text
}

// tally counts nodes by what their stages mean for a phase.
type tally struct{ all, done, moving, queued, waiting, failed int }

func (f *phaseFacts) tally(nodes []*core.NodeView) tally {
	var t tally
	for _, v := range nodes {
		t.add(f.stage(v))
	}
	return t
}

// add counts a node in the stage.
func (t *tally) add(stage core.Stage) {
	t.all++
	switch stage {
	case core.StageIdle:
	case core.StageDone:
		t.done++
	case core.StageQueued:
		t.queued++
	case core.StageWaiting:
		t.waiting++
		t.moving++
	case core.StageFailed:
		t.failed++
		t.moving++
	default:
		t.moving++
	}
}

func (t tally) state() core.PhaseState {
	switch {
	case t.failed > 0:
		return core.PhaseStuck
	case t.waiting > 0:
		return core.PhaseWaiting
	case t.all > 0 && t.done == t.all:
		return core.PhaseDone
	case t.done+t.moving+t.queued > 0:
		return core.PhaseRunning
	}
	return core.PhasePending
}

// nodeGroup counts the nodes that have the same first role.
type nodeGroup struct {
	label string
	tally tally
	next  []string // the labels of those that are queued
}

// groupsOf divides nodes by role. A node with several roles counts once, under its role for which the OpenStack controller handles
// the fewest nodes at a time.
func (f *phaseFacts) groupsOf(nodes []*core.NodeView) []nodeGroup {
	groups := []nodeGroup{{label: "controllers"}, {label: "gateways"}, {label: "computes"}, {label: "storage"}, {label: "others"}}
	for _, v := range nodes {
		g, stage := &groups[v.Group-core.GroupControllers], f.stage(v)
		if g.tally.add(stage); stage == core.StageQueued {
			g.next = append(g.next, v.Label)
		}
	}
	return slices.DeleteFunc(groups, func(g nodeGroup) bool { return g.tally.all == 0 })
}

// line is a line with a text like "2/10, 1 moving, next: cmp-08".
func (g nodeGroup) line() core.PhaseLine {
	t := g.tally
	line := core.PhaseLine{Label: g.label, State: t.state(), Text: fmt.Sprintf("%d/%d", t.done, t.all)}
	if t.waiting > 0 {
		line.Text += fmt.Sprintf(", %d %s for you", t.waiting, wording.Verb(t.waiting, "waits", "wait"))
	}
	if n := t.moving - t.waiting - t.failed; n > 0 {
		line.Text += fmt.Sprintf(", %d moving", n)
	}
	if t.failed > 0 {
		line.Text += fmt.Sprintf(", %d failed", t.failed)
	}
	if len(g.next) > 0 {
		line.Text += ", next: " + wording.Some(g.next, 2)
	}
	return line
}
