package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// phaseFacts is what the rules of the five phases look at, gathered once. The phases are those of the documents' cluster update
// flow (docs/mosk.md#phases).
type phaseFacts struct {
	s        *core.Snapshot
	request  *core.MaintenanceRequest // the cluster's; nil when none is known
	known    bool                     // it is known whether there is a request
	over     bool                     // an update was seen, and its request is gone
	records  map[core.PhaseID]core.PhaseRecord
	masters  []*core.NodeView
	workers  []*core.NodeView
	estimate Estimates
	newest   string // the newest kubelet version, when nodes differ

	servicesDone bool // the second phase is done; the nodes come next

	listed [5]requestsListed // by phase
}

// requestsListed are the nodes of which a phase's evidence shows the requests, and the place of the first of them in it.
type requestsListed struct {
	at    int
	nodes []string
}

var (
	phases      core.Derivation[[]core.Phase]
	phaseFrames core.Derivation[phaseFrame]
	phaseNodes  core.Derivation[core.Digest[*core.NodeView]]
)

// Phases returns the five phases of the cluster update, in order.
func Phases(s *core.Snapshot) []core.Phase {
	return phases.Of(s, func(s *core.Snapshot) []core.Phase {
		nodes := phaseNodes.After(s, func(s *core.Snapshot, earlier core.Digest[*core.NodeView]) core.Digest[*core.NodeView] {
			return core.DigestOf(s, earlier, ByNode(s), phaseNodeOf)
		})
		return phaseFrames.OfKeyed(s, phaseKey{nodes.Changed, EstimatesOf(s)}, phaseFrameOf).with(s)
	})
}

// phaseKey is what the phases, without the texts of requests, rest on beside what matters to everything.
type phaseKey struct {
	nodes    uint64    // when a phaseNode changed last
	estimate Estimates // by the number of instances
}

// phaseNode is what the phases, without the texts of requests, rest on at a node. Its roles matter to everything.
type phaseNode struct {
	label   string
	stage   core.Stage
	since   core.Since
	request *core.MaintenanceRequest
	locks   bool
	round   core.Round
	uid     string
	kubelet string
	ready   time.Time
}

func phaseNodeOf(v *core.NodeView) phaseNode {
	n := phaseNode{label: v.Label, stage: v.Stage, since: v.Since, request: v.Request, locks: len(v.Locks) > 0, round: v.Round}
	if v.Node != nil {
		n.uid, n.kubelet, n.ready = v.Node.UID, v.Node.KubeletVersion, v.Node.ReadySince
	}
	return n
}

// phaseFrame is the phases without the texts of requests, which change much more often.
type phaseFrame struct {
	phases []core.Phase
	listed [5]requestsListed
}

// with puts the texts of the requests in.
func (f phaseFrame) with(s *core.Snapshot) []core.Phase {
	phases := slices.Clone(f.phases)
	for i, l := range f.listed {
		if len(l.nodes) == 0 {
			continue
		}
		var texts []string
		for _, name := range l.nodes {
			texts = append(texts, requestText(s, ViewOf(s, name)))
		}
		phases[i].Evidence = slices.Concat(phases[i].Evidence[:l.at], texts, phases[i].Evidence[l.at:])
	}
	return phases
}

func phaseFrameOf(s *core.Snapshot) phaseFrame {
	f := &phaseFacts{s: s, request: UpdateRequest(s), known: s.Known(core.SourceClusterRequests), estimate: EstimatesOf(s),
		newest: NewestKubelet(s)}
	u := s.History.Update
	f.over = f.request == nil && f.known && u.UID != ""
	if f.over || f.request != nil && f.request.UID == u.UID {
		f.records = s.History.Phases
	}
	views := NodeViews(s)
	f.workers = make([]*core.NodeView, 0, len(views))
	for _, v := range views {
		switch {
		case v.Node == nil:
		case v.Group == core.GroupMasters:
			f.masters = append(f.masters, v)
		default:
			f.workers = append(f.workers, v)
		}
	}
	services := f.services()
	f.servicesDone = services.State == core.PhaseDone
	masters, workers := f.masterNodes(), f.workerNodes()
	phases := []core.Phase{f.trigger(), services, masters, workers, f.finish(masters, workers)}
	for i := range phases {
		f.byPlan(&phases[i])
	}
	return phaseFrame{phases, f.listed}
}

// begin makes a phase with the times that were seen; false when all that is known is that no update runs or that it has ended.
func (f *phaseFacts) begin(id core.PhaseID, title string) (core.Phase, bool) {
	p := core.Phase{ID: id, Title: title, State: core.PhasePending}
	r := f.records[id]
	switch {
	case f.request != nil:
		p.Started = r.Started
	case f.over:
		p.State, p.Started, p.Ended = core.PhaseDone, r.Started, r.Ended
		switch id {
		case core.PhaseServices:
			p.Done, p.Total = len(f.s.ClusterLocks), len(f.s.ClusterLocks)
		case core.PhaseMasters:
			p.Done, p.Total = len(f.masters), len(f.masters)
		case core.PhaseWorkers:
			p.Done, p.Total = len(f.workers), len(f.workers)
		}
		u := f.s.History.Update
		ended := u.Ended
		if ended.IsZero() {
			ended = f.s.Second() // this Snapshot is the first that shows its end
		}
		p.Evidence = []string{"the update" + toRelease(u.Release) + " ended " + wording.ClockText(ended) +
			": its ClusterMaintenanceRequest is gone"}
		if p.Ended.At.IsZero() {
			p.Ended = core.Since{At: ended}
		}
		return p, false
	case !f.known:
		p.Evidence = []string{"the ClusterMaintenanceRequests are not known: " + f.s.WhyUnknown(core.SourceClusterRequests)}
		return p, false
	default:
		p.Evidence = []string{"no ClusterMaintenanceRequest: no update runs"}
		if f.s.ClusterRequest() != nil {
			p.Evidence = []string{"the ClusterMaintenanceRequest was made by hand: no update runs"}
			if what := BesideUpdate(f.s); what != "" {
				p.Evidence = []string{"the ClusterMaintenanceRequest is for " + what + ": no update runs"}
			}
		}
		return p, false
	}
	return p, true
}

func toRelease(release string) string {
	if release == "" {
		return ""
	}
	return " to " + wording.OneLine(release, 60)
}

// end closes a finished phase with the time that was seen, or else with the evidence's time.
func (f *phaseFacts) end(p *core.Phase, evidence core.Since) {
	if p.Ended = f.records[p.ID].Ended; p.Ended.At.IsZero() {
		p.Ended = evidence
	}
}

// overdue marks a running phase as stuck when it takes much longer than the documents allow: "If an update phase takes
// significantly longer than expected …, you should consider the update process hung" (docs/mosk.md#when-it-hangs).
func (f *phaseFacts) overdue(p *core.Phase, limit time.Duration) {
	if p.State != core.PhaseRunning || limit <= 0 || f.s.Settings.Overdue <= 0 || !p.Timed() ||
		!f.s.Longer(p.Started.At, time.Duration(float64(limit)*f.s.Settings.Overdue)) {
		return
	}
	elapsed := f.s.Span(p.Started.At)
	p.State, p.Late = core.PhaseStuck, p.Started.Plus(limit)
	p.Overdue = fmt.Sprintf("overdue: runs for %s, the documents' estimate is %s", wording.SpanText(elapsed), wording.SpanText(limit))
	p.Evidence = append(p.Evidence, p.Overdue)
}

func (f *phaseFacts) trigger() core.Phase {
	p, ok := f.begin(core.PhaseTrigger, "operator trigger")
	switch {
	case ok:
		p.State, p.Started = core.PhaseDone, core.Since{At: f.request.Created, Exact: true}
		p.Ended = p.Started
		p.Evidence = []string{fmt.Sprintf("CMR %s since %s%s", wording.OneLine(f.request.Name, 60), wording.ClockText(f.request.Created),
			toRelease(f.request.Release))}
	case f.over:
		p.Started = core.Since{At: f.s.History.Update.Started, Exact: true}
		p.Ended = p.Started
	}
	return p
}

func (f *phaseFacts) services() core.Phase {
	p, ok := f.begin(core.PhaseServices, "OpenStack and Ceph")
	if !ok {
		return p
	}
	s := f.s
	p.Started = core.Since{At: f.request.Created, Exact: true}
	nodesBegun := f.begun(f.masters) || f.begun(f.workers) || f.removed()
	if !s.Known(core.SourceClusterLocks) {
		p.Evidence = []string{"the ClusterWorkloadLocks are not known: " + s.WhyUnknown(core.SourceClusterLocks)}
		p.State = core.PhaseRunning
		if nodesBegun {
			p.State = core.PhaseDone
			f.end(&p, core.Since{})
			p.Evidence = append(p.Evidence, "nodes are in maintenance, which LCM begins when all of them are inactive")
		}
		return p
	}
	p.State, p.Total = core.PhaseDone, len(s.ClusterLocks)
	if ClusterLockMissing(f.s) != "" {
		p.State, p.Total = core.PhaseRunning, p.Total+1
		p.Lines = append(p.Lines, core.PhaseLine{Label: core.ControllerOpenStack, State: core.PhaseStuck, Text: "no ClusterWorkloadLock"})
	}
	waitsForOpenStack := slices.ContainsFunc(s.ClusterLocks, func(l *core.WorkloadLock) bool {
		return l.Controller == core.ControllerOpenStack && l.State() != core.LockInactive
	})
	var last time.Time
	lastSeen := true
	for _, l := range s.ClusterLocks {
		line := f.lockLine(l, waitsForOpenStack)
		p.Lines = append(p.Lines, line)
		switch {
		case line.State == core.PhaseDone:
			p.Done++
			if line.Since.At.After(last) {
				last = line.Since.At
			}
			lastSeen = lastSeen && line.Since.Exact
		case line.State == core.PhaseStuck:
			p.State = core.PhaseStuck
			p.Evidence = append(p.Evidence, fmt.Sprintf("CWL %s: %s", wording.OneLine(l.Controller, 40), line.Text))
		case p.State != core.PhaseStuck:
			p.State = core.PhaseRunning
		}
	}
	p.Evidence = append([]string{f.locksText()}, p.Evidence...)
	if missing := ClusterLockMissing(f.s); missing != "" {
		p.Evidence = append(p.Evidence, missing+": LCM does not wait for it")
	}
	for _, o := range s.OpenStack {
		p.Evidence = append(p.Evidence, osdplText(o))
	}
	if c := s.Controller; c != nil && c.Ready < c.Replicas {
		p.Evidence = append(p.Evidence, fmt.Sprintf("the OpenStack controller: %d of %d replicas ready", c.Ready, c.Replicas))
	}
	if p.State == core.PhaseRunning && nodesBegun {
		// LCM goes to nodes only after every cluster lock was inactive. A lock that is active now was armed again, as a new release
		// of its controller does (docs/mosk.md#locks).
		p.State = core.PhaseDone
		text := "LCM has gone on to the nodes"
		if p.Done < len(s.ClusterLocks) {
			text += ": what is active now was armed again"
		}
		p.Evidence = append(p.Evidence, text)
	}
	f.overdue(&p, f.estimate.Services())
	if p.State == core.PhaseDone {
		if !lastSeen {
			last = f.firstNode() // its end was not seen, but the first node came after it
		}
		f.end(&p, core.Since{At: last})
	}
	return p
}

// ClusterLockMissing says that OpenStack has no cluster lock although there is an OpenStackDeployment, for which its controller
// makes one; empty when the lock is there, or when that is not known.
func ClusterLockMissing(s *core.Snapshot) string {
	if !s.Known(core.SourceClusterLocks) || !s.Known(core.SourceOpenStackStatus) || len(s.OpenStack) == 0 ||
		slices.ContainsFunc(s.ClusterLocks, func(l *core.WorkloadLock) bool { return l.Controller == core.ControllerOpenStack }) {
		return ""
	}
	return "OpenStack has no ClusterWorkloadLock, and there is OpenStackDeployment " + wording.OneLine(s.OpenStack[0].Name, 60)
}

// locksText returns a text like "CWL openstack inactive, ceph active: Ceph is updating".
func (f *phaseFacts) locksText() string {
	if len(f.s.ClusterLocks) == 0 && ClusterLockMissing(f.s) != "" {
		return "no ClusterWorkloadLock"
	}
	if len(f.s.ClusterLocks) == 0 {
		return "no ClusterWorkloadLock: nothing holds LCM up"
	}
	var parts, active []string
	for _, l := range f.s.ClusterLocks {
		parts = append(parts, wording.OneLine(l.Controller, 40)+" "+wording.OneLine(string(l.State()), 20))
		if l.State() == core.LockActive {
			active = append(active, l.Controller)
		}
	}
	text := "CWL " + strings.Join(parts, ", ")
	switch {
	case len(active) == 0:
	case slices.Contains(active, core.ControllerOpenStack):
		text += ": OpenStack is updating"
	case slices.Contains(active, core.ControllerCeph):
		text += ": Ceph is updating"
	default:
		text += ": " + wording.Some(active, 3) + wording.Verb(len(active), " is", " are") + " updating"
	}
	return text
}

func osdplText(o *core.OpenStackStatus) string {
	parts := []string{"osdplst " + wording.OneLine(wording.TextOf(o.State, "without a state"), 20)}
	if o.LCMProgress != "" {
		parts = append(parts, wording.OneLine(o.LCMProgress, 20)+" services")
	}
	if o.Health != "" {
		parts = append(parts, "health "+wording.OneLine(o.Health, 20))
	}
	if o.Release != "" {
		parts = append(parts, "release "+wording.OneLine(o.Release, 60))
	}
	return strings.Join(parts, ", ")
}

// lockLine is one controller's line in the second phase.
func (f *phaseFacts) lockLine(l *core.WorkloadLock, waitsForOpenStack bool) core.PhaseLine {
	line := core.PhaseLine{Label: wording.OneLine(l.Controller, 40), State: core.PhaseRunning, Text: "active",
		Limit: f.estimate.of(l.Controller)}
	if since := f.s.History.StateSince(l); since.At.After(f.request.Created) {
		line.Since = since
	}
	m := ReadLock(f.s, l)
	switch l.State() {
	case core.LockInactive:
		line.State, line.Text = core.PhaseDone, "inactive"
		return line
	case core.LockFailed:
		line.State, line.Text = core.PhaseStuck, "failed"+wording.Because(wording.OneLine(m.Text, wording.MostRead))
		return line
	case core.LockActive:
	default:
		line.Text = "state " + wording.OneLine(string(l.State()), 40)
		return line
	}
	if line.Since.At.IsZero() { // a controller makes its lock active, and holds it until it is asked
		line.Since = exactly(core.Later(f.request.Created, l.Created))
	}
	switch {
	case m.Class == MessageActionable:
		line.State, line.Text = core.PhaseStuck, m.Meaning
	case m.Meaning != "":
		line.Text = m.Meaning
	case m.Text != "":
		line.Text = wording.OneLine(m.Text, wording.MostRead)
	case l.Progress != nil:
		line.Text = strings.TrimSpace(fmt.Sprintf("%d %% %s", l.Progress.Percentage, wording.OneLine(l.Progress.Description, wording.MostRead)))
	case l.Controller == core.ControllerCeph && waitsForOpenStack:
		line.State, line.Text = core.PhasePending, "waits for openstack" // the documents' order (docs/mosk.md#phases)
	}
	return line
}

func (f *phaseFacts) finish(masters, workers core.Phase) core.Phase {
	p, ok := f.begin(core.PhaseFinish, "finish")
	if !ok {
		f.locksBack(&p)
		return p
	}
	switch {
	case !f.request.Deleting.IsZero():
		p.State, p.Started = core.PhaseRunning, core.Since{At: f.request.Deleting, Exact: true}
		if r := f.records[core.PhaseFinish].Started; !r.At.IsZero() {
			p.Started = r
		}
		p.Evidence = []string{"CMR " + wording.OneLine(f.request.Name, 60) + " is being removed since " + wording.ClockText(f.request.Deleting)}
		if f.s.Known(core.SourceClusterLocks) {
			p.Total = len(f.s.ClusterLocks)
			for _, l := range f.s.ClusterLocks {
				line := core.PhaseLine{Label: wording.OneLine(l.Controller, 40), State: core.PhaseRunning, Text: wording.OneLine(string(l.State()), 40)}
				if l.State() == core.LockActive {
					line.State = core.PhaseDone
					p.Done++
				}
				p.Lines = append(p.Lines, line)
			}
		}
	case masters.State == core.PhaseDone && workers.State == core.PhaseDone && masters.Total+workers.Total > 0:
		p.State = core.PhaseRunning
		p.Evidence = []string{"all nodes are through; LCM updates the rest, and then removes CMR " + wording.OneLine(f.request.Name, 60)}
		if p.Started.At.IsZero() {
			var last core.Since
			for _, v := range slices.Concat(f.masters, f.workers) {
				if v.Stage == core.StageDone && v.Since.At.After(last.At) {
					last = v.Since
				}
			}
			if p.Started = (core.Since{At: last.At}); last.Exact || last.Later {
				p.Started = core.NotBefore(last.At)
			}
		}
	default:
		p.Started = core.Since{}
		p.Evidence = []string{"nodes come first"}
	}
	f.overdue(&p, f.estimate.Finish())
	return p
}

// locksBack keeps the last phase open until every cluster lock is active again (docs/mosk.md#phases: the OpenStack controller sets
// its lock active, and the update completes).
func (f *phaseFacts) locksBack(p *core.Phase) {
	if !f.over || !f.s.Known(core.SourceClusterLocks) {
		return
	}
	// Once they were back, they are taken and given for a reboot or a maintenance by hand: not for this update.
	if f.s.ClusterRequest() != nil || !f.records[core.PhaseFinish].Ended.At.IsZero() {
		return
	}
	var left []string
	for _, l := range f.s.ClusterLocks {
		if l.State() == core.LockInactive {
			left = append(left, wording.OneLine(l.Controller, 40))
		}
	}
	if len(left) > 0 {
		p.State, p.Ended = core.PhaseRunning, core.Since{}
		p.Evidence = append(p.Evidence, "CWL "+wording.Some(left, 4)+" not active again yet")
	}
}
