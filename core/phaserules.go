package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// phaseFacts is what the phases are judged by, gathered once.
type phaseFacts struct {
	s       *Snapshot
	cmr     *MaintenanceRequest
	known   bool // whether there is a ClusterMaintenanceRequest is known
	ended   bool // the update that was seen last has ended
	masters []NodeView
	workers []NodeView
}

func phasesOf(s *Snapshot) []Phase {
	f := &phaseFacts{s: s, cmr: s.ClusterRequest(), known: s.known(SourceClusterRequests)}
	f.ended = f.cmr == nil && f.known && s.History.Update.UID != "" && !s.History.Update.Ended.IsZero()
	for _, v := range s.NodeViews() {
		switch {
		case v.Node == nil:
		case v.Node.Is(RoleMaster):
			f.masters = append(f.masters, v)
		default:
			f.workers = append(f.workers, v)
		}
	}
	phases := []Phase{f.trigger(), f.services(), f.nodes(PhaseMasters, f.masters), f.nodes(PhaseWorkers, f.workers), f.finish()}
	for i := range phases {
		f.settle(&phases[i])
	}
	return phases
}

// phaseTitles are the documents' phases in few words.
var phaseTitles = map[PhaseID]string{
	PhaseTrigger:  "operator trigger",
	PhaseServices: "OpenStack and Ceph",
	PhaseMasters:  "master nodes",
	PhaseWorkers:  "worker nodes",
	PhaseFinish:   "finish",
}

func (f *phaseFacts) phase(id PhaseID) Phase {
	p := Phase{ID: id, Title: phaseTitles[id], State: PhasePending}
	if r, ok := f.s.History.Phases[id]; ok && (f.cmr != nil || f.ended) {
		p.Started, p.Ended = r.Started, r.Ended
	}
	return p
}

// settle makes the times agree with the state: only what is done has ended, only what has begun has a beginning.
func (f *phaseFacts) settle(p *Phase) {
	if p.State != PhaseDone {
		p.Ended = Since{}
	}
	if p.State == PhasePending {
		p.Started = Since{}
	}
}

func (p *Phase) evidence(format string, args ...any) {
	p.Evidence = append(p.Evidence, fmt.Sprintf(format, args...))
}

// begin sets the beginning where it was not seen; what is inferred is at least so long ago.
func (p *Phase) begin(at time.Time, exact bool) {
	if p.Started.At.IsZero() && !at.IsZero() {
		p.Started = Since{At: at, Exact: exact}
	}
}

func (p *Phase) end(at time.Time) {
	if p.Ended.At.IsZero() && !at.IsZero() {
		p.Ended = Since{At: at}
	}
}

// idle fills in a phase of an update that does not run, and tells whether that is the case.
func (f *phaseFacts) idle(p *Phase) bool {
	switch {
	case f.cmr != nil:
		return false
	case f.ended:
		p.State = PhaseDone
		p.evidence("the update to %s ended %s", cmp.Or(f.s.History.Update.Release, "an unknown release"), clockText(f.s.History.Update.Ended))
	case f.known:
		p.evidence("no ClusterMaintenanceRequest: no update runs")
	default:
		p.evidence("whether an update runs is not known: %s: %s", SourceClusterRequests, f.s.whyUnknown(SourceClusterRequests))
	}
	return true
}

// Phase 1: the operator triggers the update, and LCM creates the ClusterMaintenanceRequest.
func (f *phaseFacts) trigger() Phase {
	p := f.phase(PhaseTrigger)
	if f.idle(&p) {
		return p
	}
	p.State = PhaseDone
	p.Started, p.Ended = Since{At: f.cmr.Created, Exact: true}, Since{At: f.cmr.Created, Exact: true}
	p.evidence("CMR %s since %s%s", f.cmr.Name, clockText(f.cmr.Created), forRelease(f.cmr.Release))
	return p
}

func forRelease(release string) string {
	if release == "" {
		return ""
	}
	return ", for release " + release
}

// Phase 2: OpenStack is updated, then Ceph; each sets its ClusterWorkloadLock inactive when it is done.
func (f *phaseFacts) services() Phase {
	p := f.phase(PhaseServices)
	if f.idle(&p) {
		return p
	}
	p.begin(f.cmr.Created, true)
	if !f.s.known(SourceClusterLocks) {
		p.State = PhaseRunning
		p.evidence("the cluster's locks are not known: %s", f.s.whyUnknown(SourceClusterLocks))
		return p
	}
	p.Total = len(f.s.ClusterLocks)
	var said []string
	var actives []string
	for _, l := range f.s.ClusterLocks {
		line := f.lockLine(l)
		p.Lines = append(p.Lines, line)
		said = append(said, l.Controller+" "+string(l.State()))
		switch {
		case l.State() == LockInactive:
			p.Done++
			if r := f.s.History.Locks[l.UID]; r.State == LockInactive && r.Since.Exact && r.Since.At.After(p.Ended.At) {
				p.Ended = r.Since
			}
		default:
			actives = append(actives, l.Controller)
		}
		p.State = worse(p.State, line.State)
	}
	if len(said) > 0 {
		p.evidence("CWL %s%s", strings.Join(said, ", "), f.who(actives))
	}
	for _, o := range f.s.OpenStack {
		p.evidence("osdplst %s %s, %s of its services done, health %s", o.Name, orNone(o.State), orNone(o.LCMProgress), orNone(o.Health))
	}
	if begun, why := f.nodesBegun(); len(actives) > 0 && begun {
		// LCM goes to nodes only when every cluster lock let it: a lock that is active now was armed again.
		p.State = PhaseDone
		p.evidence("%s: LCM has gone on to the nodes", why)
		return p
	}
	if p.Total == 0 {
		p.State = PhaseRunning
		p.evidence("there is no ClusterWorkloadLock to wait for")
		if begun, _ := f.nodesBegun(); begun {
			p.State = PhaseDone
		}
		return p
	}
	if p.Done == p.Total {
		p.State = PhaseDone
		return p
	}
	if p.State == PhasePending || p.State == PhaseDone {
		p.State = PhaseRunning
	}
	f.overdue(&p, f.servicesLimit())
	return p
}

func (f *phaseFacts) who(actives []string) string {
	switch {
	case len(actives) == 0:
		return ""
	case slices.Contains(actives, ControllerOpenStack):
		return ": OpenStack is updating"
	case slices.Contains(actives, ControllerCeph):
		return ": Ceph is updating"
	}
	return ": " + some(actives, 3) + " " + verb(len(actives), "is", "are") + " not through yet"
}

// lockLine is one controller's part of phase 2.
func (f *phaseFacts) lockLine(l *WorkloadLock) PhaseLine {
	line := PhaseLine{Label: l.Controller, State: PhaseRunning, Text: string(l.State())}
	if r, ok := f.s.History.Locks[l.UID]; ok && r.State == l.State() {
		line.Since = r.Since
	}
	m := ReadLockMessage(l.Message)
	switch {
	case l.State() == LockInactive:
		line.State = PhaseDone
		return line
	case l.State() == LockFailed:
		line.State, line.Text = PhaseStuck, "failed: "+oneLine(m.Text, 200)
		return line
	case l.Progress != nil:
		line.Text = fmt.Sprintf("%d %%: %s", l.Progress.Percentage, oneLine(l.Progress.Description, 120))
		return line
	case m.Class == MessageActionable:
		line.State = PhaseStuck
	}
	if m.Class == MessageUnknown {
		line.Text = oneLine(m.Text, 200)
	} else if m.Meaning != "" {
		line.Text = m.Meaning
	}
	if l.Controller == ControllerOpenStack {
		line.Limit = f.openStackLimit()
	}
	if l.Controller == ControllerCeph {
		line.Limit = cephLimit
	}
	return line
}

// nodesBegun tells whether LCM has gone on from the cluster's locks to the nodes in this update.
func (f *phaseFacts) nodesBegun() (bool, string) {
	for _, v := range slices.Concat(f.masters, f.workers) {
		switch {
		case v.Request != nil:
			return true, "NMR " + v.Label
		case v.Stage == StageDone:
			return true, v.Label + " is done"
		}
	}
	return false, ""
}

// Phases 3 and 4: the nodes, one after the other or some at a time.
func (f *phaseFacts) nodes(id PhaseID, views []NodeView) Phase {
	p := f.phase(id)
	p.Total = len(views)
	for _, v := range views {
		if v.Stage == StageDone {
			p.Done++
		}
	}
	if f.idle(&p) {
		if !f.ended {
			p.Done = 0
		}
		return p
	}
	if !f.s.known(SourceNodes) {
		p.evidence("the nodes are not known: %s", f.s.whyUnknown(SourceNodes))
		return p
	}
	var moving, waiting, failed, next []string
	var first, last time.Time
	for _, v := range views {
		switch v.Stage {
		case StageWaiting:
			waiting = append(waiting, v.Label)
		case StageFailed:
			failed = append(failed, v.Label)
		case StageQueued:
			next = append(next, v.Label)
		case StageIdle, StageDone:
		default:
			moving = append(moving, v.Label)
		}
		if v.Request != nil {
			first = earliest(first, v.Request.Created)
			p.evidence("NMR %s%s %s%s", v.Label, inScope(v.Request.Scope), spanText(age(f.s.Now, v.Request.Created)), leaving(v.Request))
		}
		if r, ok := f.s.History.Rounds[v.Node.UID]; ok && r.Update == f.cmr.UID {
			first = earliest(first, r.Started)
			last = latest(last, r.Ended)
		} else if v.Stage == StageDone {
			// Nobody saw its maintenance; when it came back is all that is known of it.
			first, last = earliest(first, v.Since.At), latest(last, v.Since.At)
		}
	}
	text := fmt.Sprintf("%d/%d", p.Done, p.Total)
	if len(next) > 0 {
		text += ", next: " + next[0]
	}
	p.Lines = append(p.Lines, PhaseLine{Label: "done", State: PhaseRunning, Text: text})
	if len(moving) > 0 {
		p.Lines = append(p.Lines, PhaseLine{Label: "moving", State: PhaseRunning, Text: some(moving, 4)})
	}
	busy := len(moving)+len(waiting)+len(failed)+len(next) > 0
	if p.Done > 0 || busy {
		p.begin(first, false)
	}
	switch {
	case len(failed) > 0:
		p.State = PhaseStuck
		p.evidence("a lock of %s says failed", some(failed, 3))
	case len(waiting) > 0:
		p.State = PhaseWaiting
		p.evidence("%s %s for the operator", some(waiting, 3), verb(len(waiting), "waits", "wait"))
	case busy:
		p.State = PhaseRunning
	case p.Done == p.Total && p.Total > 0:
		p.State = PhaseDone
		p.end(last)
	case p.Done > 0:
		p.State = PhaseRunning
	case p.Total == 0 && f.s.known(SourceNodes):
		p.State = PhaseDone
		p.evidence("the cluster has no such nodes")
	}
	if id == PhaseMasters && p.State != PhaseDone && !busy && f.workersBegun() {
		// Masters get a request only when they have collocated roles, and LCM begins with workers after them.
		p.State = PhaseDone
		p.evidence("the worker nodes have begun: masters without roles of their own get no request")
	}
	if p.Done > 0 {
		p.evidence("%d of %d done", p.Done, p.Total)
	}
	if p.State == PhaseRunning && id == PhaseWorkers {
		f.overdueNodes(&p, views)
	}
	return p
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func inScope(s Scope) string {
	if s == "" {
		return ""
	}
	return " (" + string(s) + ")"
}

func leaving(r *MaintenanceRequest) string {
	if r.Deleting.IsZero() {
		return ""
	}
	return ", being removed"
}

func (f *phaseFacts) workersBegun() bool {
	for _, v := range f.workers {
		if v.Request != nil || v.Stage == StageDone {
			return true
		}
	}
	return false
}

// Phase 5: the rest is updated, the ClusterMaintenanceRequest is removed, and the cluster's locks become active again.
func (f *phaseFacts) finish() Phase {
	p := f.phase(PhaseFinish)
	if f.cmr == nil && f.ended {
		var left []string
		for _, l := range f.s.ClusterLocks {
			if l.State() != LockActive {
				left = append(left, l.Controller)
			}
		}
		p.evidence("the ClusterMaintenanceRequest was removed %s", clockText(f.s.History.Update.Ended))
		if len(left) > 0 {
			p.State = PhaseRunning
			p.evidence("CWL %s not active again yet", some(left, 4))
			return p
		}
		p.State = PhaseDone
		p.end(f.s.History.Update.Ended)
		p.evidence("all ClusterWorkloadLocks are active")
		return p
	}
	if f.idle(&p) {
		return p
	}
	all := len(f.workers)+len(f.masters) > 0
	for _, v := range f.workers {
		all = all && v.Stage == StageDone
	}
	switch {
	case !f.cmr.Deleting.IsZero():
		p.State = PhaseRunning
		p.begin(f.cmr.Deleting, true)
		p.evidence("CMR %s is being removed since %s", f.cmr.Name, clockText(f.cmr.Deleting))
	case all:
		p.State = PhaseRunning
		p.evidence("all worker nodes are done; CMR %s is still there", f.cmr.Name)
	default:
		p.evidence("CMR %s is there, and nodes are left", f.cmr.Name)
	}
	return p
}

// worse is the state that counts when two parts differ.
func worse(a, b PhaseState) PhaseState {
	rank := map[PhaseState]int{PhaseDone: 0, PhasePending: 1, PhaseRunning: 2, PhaseWaiting: 3, PhaseStuck: 4}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// The documents' estimates (mosk-facts 6.1), in minutes: LCM modules 45; OpenStack (0.78 D + 359)(NC + NG)/60; Ceph 35 and
// 15 for a minor version; a worker 20 to migrate its instances and 40 to update and restart.
const (
	lcmModulesLimit = 45 * time.Minute
	cephLimit       = 50 * time.Minute
	workerLimit     = 60 * time.Minute
)

// openStackLimit is the estimate for OpenStack by the number of computes and gateways and the instances on a compute.
func (f *phaseFacts) openStackLimit() time.Duration {
	var computes, hosts int
	for _, v := range slices.Concat(f.masters, f.workers) {
		if v.Node.Is(RoleCompute) {
			computes++
		}
		if v.Node.Is(RoleCompute) || v.Node.Is(RoleGateway) {
			hosts++
		}
	}
	density := 0.0
	if computes > 0 {
		density = float64(len(f.s.Instances)) / float64(computes)
	}
	return time.Duration((0.78*density + 359) * float64(hosts) * float64(time.Second))
}

func (f *phaseFacts) servicesLimit() time.Duration {
	return lcmModulesLimit + f.openStackLimit() + cephLimit
}

// overdue calls a running phase stuck that takes much longer than the documents allow for it: "if an update phase takes
// significantly longer than expected, consider the update process hung".
func (f *phaseFacts) overdue(p *Phase, limit time.Duration) {
	took := p.Elapsed(f.s.Now)
	if p.State != PhaseRunning || limit <= 0 || f.s.Settings.Overdue <= 0 || float64(took) <= f.s.Settings.Overdue*float64(limit) {
		return
	}
	p.State = PhaseStuck
	p.evidence("it takes %s; the documents allow for %s", spanText(took), spanText(limit))
}

// overdueNodes calls the workers' phase stuck when one node takes much longer than the documents allow for one.
func (f *phaseFacts) overdueNodes(p *Phase, views []NodeView) {
	for _, v := range views {
		if v.Request == nil || !v.Active() || v.Stage == StageQueued {
			continue
		}
		if took := age(f.s.Now, v.Request.Created); float64(took) > f.s.Settings.Overdue*float64(workerLimit) && f.s.Settings.Overdue > 0 {
			p.State = PhaseStuck
			p.evidence("%s is in maintenance for %s; the documents allow for %s", v.Label, spanText(took), spanText(workerLimit))
			return
		}
	}
}
