package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// phaseFacts is what the rules of the five phases look at, gathered once. The phases are those of the documents' cluster
// update flow (docs/mosk.md#phases).
type phaseFacts struct {
	s        *Snapshot
	request  *MaintenanceRequest // the cluster's; nil when none is known
	known    bool                // whether there is a request is known
	over     bool                // an update was seen, and its request is gone
	records  map[PhaseID]PhaseRecord
	masters  []NodeView
	workers  []NodeView
	estimate estimates
	newest   string // the newest kubelet version, when nodes differ

	servicesDone bool // the second phase is through; nodes come after it
}

var phases Derivation[[]Phase]

// Phases are the five phases of the cluster update, in order.
func (s *Snapshot) Phases() []Phase {
	return phases.Of(s, phasesOf)
}

func phasesOf(s *Snapshot) []Phase {
	f := &phaseFacts{s: s, request: s.updateRequest(), known: s.known(SourceClusterRequests), estimate: estimatesOf(s), newest: newestKubelet(s.Nodes)}
	u := s.History.Update
	f.over = f.request == nil && f.known && u.UID != ""
	if f.over || f.request != nil && f.request.UID == u.UID {
		f.records = s.History.Phases
	}
	for _, v := range s.NodeViews() {
		switch {
		case v.Node == nil:
		case v.Node.Is(RoleMaster):
			f.masters = append(f.masters, v)
		default:
			f.workers = append(f.workers, v)
		}
	}
	services := f.services()
	f.servicesDone = services.State == PhaseDone
	masters, workers := f.masterNodes(), f.workerNodes()
	phases := []Phase{f.trigger(), services, masters, workers, f.finish(masters, workers)}
	for i := range phases {
		f.byPlan(&phases[i])
	}
	return phases
}

// begin makes a phase with the times that were seen; false when nothing but the update's absence or end can be said of it.
func (f *phaseFacts) begin(id PhaseID, title string) (Phase, bool) {
	p := Phase{ID: id, Title: title, State: PhasePending}
	r := f.records[id]
	switch {
	case f.request != nil:
		p.Started = r.Started
	case f.over:
		p.State, p.Started, p.Ended = PhaseDone, r.Started, r.Ended
		switch id {
		case PhaseServices:
			p.Done, p.Total = len(f.s.ClusterLocks), len(f.s.ClusterLocks)
		case PhaseMasters:
			p.Done, p.Total = len(f.masters), len(f.masters)
		case PhaseWorkers:
			p.Done, p.Total = len(f.workers), len(f.workers)
		}
		u := f.s.History.Update
		ended := u.Ended
		if ended.IsZero() {
			ended = f.s.Now // its end is being seen right now
		}
		p.Evidence = []string{"the update" + toRelease(u.Release) + " ended " + clockText(ended) + ": its ClusterMaintenanceRequest is gone"}
		if p.Ended.At.IsZero() {
			p.Ended = Since{At: ended}
		}
		return p, false
	case !f.known:
		p.Evidence = []string{"the ClusterMaintenanceRequests are not known: " + f.s.whyUnknown(SourceClusterRequests)}
		return p, false
	default:
		p.Evidence = []string{"no ClusterMaintenanceRequest: no update runs"}
		if f.s.ClusterRequest() != nil {
			p.Evidence = []string{"the ClusterMaintenanceRequest was made by hand: no update runs"}
			if what := f.s.besideUpdate(); what != "" {
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
	return " to " + oneLine(release, 60)
}

// end closes a phase that is done with the time that was seen, or with the evidence's.
func (f *phaseFacts) end(p *Phase, evidence time.Time) {
	if p.Ended = f.records[p.ID].Ended; p.Ended.At.IsZero() {
		p.Ended = Since{At: evidence}
	}
}

// overdue turns a phase that runs into one that is stuck when it takes much longer than the documents allow for it: "If an
// update phase takes significantly longer than expected …, you should consider the update process hung" (docs/mosk.md#when-it-hangs).
func (f *phaseFacts) overdue(p *Phase, limit time.Duration) {
	elapsed := p.Elapsed(f.s.Now)
	if p.State != PhaseRunning || limit <= 0 || f.s.Settings.Overdue <= 0 || float64(elapsed) <= float64(limit)*f.s.Settings.Overdue {
		return
	}
	p.State, p.Late = PhaseStuck, p.Started.plus(limit)
	p.Overdue = fmt.Sprintf("overdue: runs for %s, the documents' estimate is %s", spanText(elapsed), spanText(limit))
	p.Evidence = append(p.Evidence, p.Overdue)
}

func (f *phaseFacts) trigger() Phase {
	p, ok := f.begin(PhaseTrigger, "operator trigger")
	switch {
	case ok:
		p.State, p.Started = PhaseDone, Since{At: f.request.Created, Exact: true}
		p.Ended = p.Started
		p.Evidence = []string{fmt.Sprintf("CMR %s since %s%s", oneLine(f.request.Name, 60), clockText(f.request.Created), toRelease(f.request.Release))}
	case f.over:
		p.Started = Since{At: f.s.History.Update.Started, Exact: true}
		p.Ended = p.Started
	}
	return p
}

func (f *phaseFacts) services() Phase {
	p, ok := f.begin(PhaseServices, "OpenStack and Ceph")
	if !ok {
		return p
	}
	s := f.s
	p.Started = Since{At: f.request.Created, Exact: true}
	nodesBegun := f.begun(f.masters) || f.begun(f.workers) || f.removed()
	if !s.known(SourceClusterLocks) {
		p.Evidence = []string{"the ClusterWorkloadLocks are not known: " + s.whyUnknown(SourceClusterLocks)}
		p.State = PhaseRunning
		if nodesBegun {
			p.State = PhaseDone
			f.end(&p, time.Time{})
			p.Evidence = append(p.Evidence, "nodes are in maintenance, which LCM begins when all of them are inactive")
		}
		return p
	}
	p.State, p.Total = PhaseDone, len(s.ClusterLocks)
	if f.s.clusterLockMissing() != "" {
		p.State, p.Total = PhaseRunning, p.Total+1
		p.Lines = append(p.Lines, PhaseLine{Label: ControllerOpenStack, State: PhaseStuck, Text: "no ClusterWorkloadLock"})
	}
	waitsForOpenStack := slices.ContainsFunc(s.ClusterLocks, func(l *WorkloadLock) bool { return l.Controller == ControllerOpenStack && l.State() != LockInactive })
	var last time.Time
	lastSeen := true
	for _, l := range s.ClusterLocks {
		line := f.lockLine(l, waitsForOpenStack)
		p.Lines = append(p.Lines, line)
		switch {
		case line.State == PhaseDone:
			p.Done++
			if line.Since.At.After(last) {
				last = line.Since.At
			}
			lastSeen = lastSeen && line.Since.Exact
		case line.State == PhaseStuck:
			p.State = PhaseStuck
			p.Evidence = append(p.Evidence, fmt.Sprintf("CWL %s: %s", oneLine(l.Controller, 40), line.Text))
		case p.State != PhaseStuck:
			p.State = PhaseRunning
		}
	}
	p.Evidence = append([]string{f.locksText()}, p.Evidence...)
	if missing := f.s.clusterLockMissing(); missing != "" {
		p.Evidence = append(p.Evidence, missing+": LCM does not wait for it")
	}
	for _, o := range s.OpenStack {
		p.Evidence = append(p.Evidence, osdplText(o))
	}
	if c := s.Controller; c != nil && c.Ready < c.Replicas {
		p.Evidence = append(p.Evidence, fmt.Sprintf("the OpenStack controller: %d of %d replicas ready", c.Ready, c.Replicas))
	}
	if p.State == PhaseRunning && nodesBegun {
		// LCM goes to nodes only when every cluster lock has let it: one that is active now was armed again, which a new
		// release of its controller does (docs/mosk.md#locks).
		p.State = PhaseDone
		text := "LCM has gone on to the nodes"
		if p.Done < len(s.ClusterLocks) {
			text += ": what is active now was armed again"
		}
		p.Evidence = append(p.Evidence, text)
	}
	f.overdue(&p, f.estimate.services())
	if p.State == PhaseDone {
		if !lastSeen {
			last = f.firstNode() // nobody saw its end; the first node came after it
		}
		f.end(&p, last)
	}
	return p
}

// clusterLockMissing says that OpenStack has no lock of the cluster although there is an OpenStackDeployment, for which its
// controller makes one; empty where it has one, or where that is not known.
func (s *Snapshot) clusterLockMissing() string {
	if !s.known(SourceClusterLocks) || !s.known(SourceOpenStackStatus) || len(s.OpenStack) == 0 ||
		slices.ContainsFunc(s.ClusterLocks, func(l *WorkloadLock) bool { return l.Controller == ControllerOpenStack }) {
		return ""
	}
	return "OpenStack has no ClusterWorkloadLock, and there is OpenStackDeployment " + oneLine(s.OpenStack[0].Name, 60)
}

// locksText is "CWL openstack inactive, ceph active: Ceph is updating".
func (f *phaseFacts) locksText() string {
	if len(f.s.ClusterLocks) == 0 && f.s.clusterLockMissing() != "" {
		return "no ClusterWorkloadLock"
	}
	if len(f.s.ClusterLocks) == 0 {
		return "no ClusterWorkloadLock: nothing holds LCM up"
	}
	var parts, active []string
	for _, l := range f.s.ClusterLocks {
		parts = append(parts, oneLine(l.Controller, 40)+" "+oneLine(string(l.State()), 20))
		if l.State() == LockActive {
			active = append(active, l.Controller)
		}
	}
	text := "CWL " + strings.Join(parts, ", ")
	switch {
	case len(active) == 0:
	case slices.Contains(active, ControllerOpenStack):
		text += ": OpenStack is updating"
	case slices.Contains(active, ControllerCeph):
		text += ": Ceph is updating"
	default:
		text += ": " + some(active, 3) + verb(len(active), " is", " are") + " updating"
	}
	return text
}

func osdplText(o *OpenStackStatus) string {
	parts := []string{"osdplst " + oneLine(textOf(o.State, "without a state"), 20)}
	if o.LCMProgress != "" {
		parts = append(parts, oneLine(o.LCMProgress, 20)+" services")
	}
	if o.Health != "" {
		parts = append(parts, "health "+oneLine(o.Health, 20))
	}
	if o.Release != "" {
		parts = append(parts, "release "+oneLine(o.Release, 60))
	}
	return strings.Join(parts, ", ")
}

// lockLine is one controller's part of the second phase.
func (f *phaseFacts) lockLine(l *WorkloadLock, waitsForOpenStack bool) PhaseLine {
	line := PhaseLine{Label: oneLine(l.Controller, 40), State: PhaseRunning, Text: "active", Limit: f.estimate.of(l.Controller)}
	if r, ok := f.s.History.Locks[l.UID]; ok && r.State == l.State() && r.Since.At.After(f.request.Created) {
		line.Since = r.Since
	}
	m := f.s.ReadLock(l)
	switch l.State() {
	case LockInactive:
		line.State, line.Text = PhaseDone, "inactive"
		return line
	case LockFailed:
		line.State, line.Text = PhaseStuck, "failed"+because(oneLine(m.Text, mostRead))
		return line
	case LockActive:
	default:
		line.Text = "state " + oneLine(string(l.State()), 40)
		return line
	}
	if line.Since.At.IsZero() {
		line.Since = Since{At: f.request.Created}
	}
	switch {
	case m.Class == MessageActionable:
		line.State, line.Text = PhaseStuck, m.Meaning
	case m.Meaning != "":
		line.Text = m.Meaning
	case m.Text != "":
		line.Text = oneLine(m.Text, mostRead)
	case l.Progress != nil:
		line.Text = strings.TrimSpace(fmt.Sprintf("%d %% %s", l.Progress.Percentage, oneLine(l.Progress.Description, mostRead)))
	case l.Controller == ControllerCeph && waitsForOpenStack:
		line.State, line.Text = PhasePending, "waits for openstack" // the documents' order (docs/mosk.md#phases)
	}
	return line
}

func (f *phaseFacts) finish(masters, workers Phase) Phase {
	p, ok := f.begin(PhaseFinish, "finish")
	if !ok {
		f.locksBack(&p)
		return p
	}
	switch {
	case !f.request.Deleting.IsZero():
		p.State, p.Started = PhaseRunning, Since{At: f.request.Deleting, Exact: true}
		if r := f.records[PhaseFinish].Started; !r.At.IsZero() {
			p.Started = r
		}
		p.Evidence = []string{"CMR " + oneLine(f.request.Name, 60) + " is being removed since " + clockText(f.request.Deleting)}
		if f.s.known(SourceClusterLocks) {
			p.Total = len(f.s.ClusterLocks)
			for _, l := range f.s.ClusterLocks {
				line := PhaseLine{Label: oneLine(l.Controller, 40), State: PhaseRunning, Text: oneLine(string(l.State()), 40)}
				if l.State() == LockActive {
					line.State = PhaseDone
					p.Done++
				}
				p.Lines = append(p.Lines, line)
			}
		}
	case masters.State == PhaseDone && workers.State == PhaseDone && masters.Total+workers.Total > 0:
		p.State = PhaseRunning
		p.Evidence = []string{"all nodes are through; LCM updates the rest, and then removes CMR " + oneLine(f.request.Name, 60)}
		if p.Started.At.IsZero() {
			var end time.Time
			for _, v := range slices.Concat(f.masters, f.workers) {
				if v.Stage == StageDone {
					end = later(end, v.Since.At)
				}
			}
			p.Started = Since{At: end}
		}
	default:
		p.Started = Since{}
		p.Evidence = []string{"nodes come first"}
	}
	f.overdue(&p, f.estimate.finish())
	return p
}

// locksBack keeps the last phase open until every cluster lock is active again (docs/mosk.md#phases: the OpenStack controller sets its
// lock active, and the update completes).
func (f *phaseFacts) locksBack(p *Phase) {
	if !f.over || !f.s.known(SourceClusterLocks) {
		return
	}
	var left []string
	for _, l := range f.s.ClusterLocks {
		if l.State() == LockInactive {
			left = append(left, oneLine(l.Controller, 40))
		}
	}
	if len(left) > 0 {
		p.State, p.Ended = PhaseRunning, Since{}
		p.Evidence = append(p.Evidence, "CWL "+some(left, 4)+" not active again yet")
	}
}
