package attention

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Called is the entry with that ID; false when there is none now.
func Called(s *core.Snapshot, id string) (core.Attention, bool) {
	all := Of(s)
	i := slices.IndexFunc(all, func(a core.Attention) bool { return a.ID == id })
	if i < 0 {
		return core.Attention{}, false
	}
	return all[i], true
}

// FollowFrom are the entries that only follow from the one with that ID, in their order.
func FollowFrom(s *core.Snapshot, id string) []core.Attention {
	var out []core.Attention
	for _, a := range Of(s) {
		if a.Cause == id && id != "" {
			out = append(out, a)
		}
	}
	return out
}

// attentionRules is the table of what needs a person: each rule looks at the whole Snapshot and adds what it finds.
var attentionRules = []func(*attentionFacts){
	(*attentionFacts).clusterLocks,
	(*attentionFacts).clusterLockGone,
	(*attentionFacts).deployments,
	(*attentionFacts).clusterFails,
	(*attentionFacts).overrides,
	(*attentionFacts).acting,
	(*attentionFacts).controllerAway,
	(*attentionFacts).roleLabels,
	(*attentionFacts).outages,
	(*attentionFacts).machines, // before what may only be their consequence
	(*attentionFacts).managementOutdated,
	(*attentionFacts).updatePlan,
	(*attentionFacts).lcmStuck,
	(*attentionFacts).rebootsLeft,
	(*attentionFacts).maintenanceMode,
	(*attentionFacts).betweenReleases,
	(*attentionFacts).phasesOverdue,
	(*attentionFacts).nodes,
	(*attentionFacts).instances,
	(*attentionFacts).ownMigrations, // after what tells of nodes and instances in maintenance
	(*attentionFacts).tagsLeft,
	(*attentionFacts).afterUpdate,
	(*attentionFacts).operations,
	(*attentionFacts).writing,
	(*attentionFacts).sources,
}

// attentionFacts is what the rules share, and what they found.
type attentionFacts struct {
	s        *core.Snapshot
	request  *core.MaintenanceRequest // the cluster's
	estimate progress.Estimates
	told     []string // what the management cluster says of a machine and has an entry of its own
	found    []core.Attention

	age map[string]time.Time // of causes, by ID: since when the oldest of what follows from them is so
}

var attention core.Derivation[[]core.Attention]

// Of is what needs a person now, most urgent first. Empty means: nothing needs you.
func Of(s *core.Snapshot) []core.Attention {
	return attention.Of(s, derive)
}

func derive(s *core.Snapshot) []core.Attention {
	f := &attentionFacts{s: s, request: s.ClusterRequest(), estimate: progress.EstimatesOf(s)}
	for _, rule := range attentionRules {
		rule(f)
	}
	f.oneUrgent()
	f.causes()
	f.oneUrgent() // a cause became as urgent as what follows from it
	f.sort()
	f.complete()
	return f.found
}

// compareAge puts the older one first, and what has no time last.
func compareAge(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

func (f *attentionFacts) add(a core.Attention) {
	a.ID = string(a.Rule)
	if a.Key != "" {
		a.ID += "/" + a.Key
	}
	f.found = append(f.found, a)
}

// since turns a wall time of a source or of Lockstep itself into the cluster's time, in which ages are told.
func (f *attentionFacts) since(wall time.Time) core.Since {
	if wall.IsZero() {
		return core.Since{}
	}
	return core.Since{At: f.s.Now.Add(-f.s.Wall.Sub(wall)), Exact: true}
}

// long tells whether something lasts for longer than the limit; a limit that is not known is 0, and never over.
func (f *attentionFacts) long(since time.Time, limit time.Duration) bool {
	return !since.IsZero() && limit > 0 && f.s.Now.Sub(since) > limit
}

// lockSince is since when the lock is in its state, as far as it was seen; else the request's age is the bound.
func (f *attentionFacts) lockSince(l *core.WorkloadLock, request *core.MaintenanceRequest) core.Since {
	begin := time.Time{}
	if request != nil {
		begin = request.Created
	}
	if r, ok := f.s.History.Locks[l.UID]; ok && r.State == l.State() && r.Since.At.After(begin) {
		return r.Since
	}
	return core.Since{At: begin}
}

func clusterProcedure() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureCluster} }

// waitingLimit is how long the texts of class waiting are nothing to worry about.
func (f *attentionFacts) waitingLimit(id progress.MessageID) time.Duration {
	switch {
	case id == progress.SaysNotApplied:
		return time.Duration(float64(f.estimate.OpenStack()) * max(f.s.Settings.Overdue, 1))
	case id == progress.SaysNotHealthy:
		return progress.HealthLong
	case id.AwaitsRelease():
		return f.estimate.Modules()
	}
	return progress.DeferredLong
}

// waitsSince is since when a cluster lock waits for what its text says. The wait for health (E) comes after the deployment
// was APPLIED (docs/mosk.md#cluster-request), which takes longer by far; its own timestamp is written anew at every look.
func (f *attentionFacts) waitsSince(m progress.LockMessage, held core.Since) core.Since {
	if m.ID != progress.SaysNotHealthy {
		return held
	}
	for _, o := range f.s.OpenStack {
		if o.State == "APPLIED" && o.Timestamp.After(held.At) {
			held = core.Since{At: o.Timestamp}
		}
	}
	return held
}

// clusterLocks are the cluster's locks that say failed, say what nobody knows, ask for a person, or wait for too long.
func (f *attentionFacts) clusterLocks() {
	for _, l := range f.s.ClusterLocks {
		a := core.Attention{Subject: l.Ref(), Label: wording.OneLine(l.Controller, 40), Since: f.lockSince(l, f.request),
			Resolve: clusterProcedure()}
		m := progress.ReadLock(f.s, l)
		switch {
		case f.lockState(l, m, a):
		case f.request == nil || l.State() != core.LockActive || !f.request.Deleting.IsZero():
		case m.Class == progress.MessageActionable:
			a.Rule, a.Key, a.Severity, a.Reason, a.Detail = core.RuleClusterLock, l.UID, core.SeverityUrgent,
				"the cluster lock needs you: "+m.Meaning, m.Remedy
			f.add(a)
		case m.Class == progress.MessageWaiting && f.long(f.waitsSince(m, a.Since).At, f.waitingLimit(m.ID)):
			a.Since = f.waitsSince(m, a.Since).Plus(f.waitingLimit(m.ID))
			a.Rule, a.Key, a.Severity, a.Detail = core.RuleClusterLockWaits, l.UID, core.SeverityWarning, m.Remedy
			a.Reason = "the cluster lock is held for long: " + m.Meaning
			f.add(a)
		case m.Class == progress.MessageUnknown:
			a.Rule, a.Key, a.Severity = core.RuleClusterLockSays, l.UID, core.SeverityNotice
			a.Reason = "says what no document lists: " + wording.OneLine(m.Text, wording.MostRead)
			f.add(a)
		}
	}
	for _, o := range f.s.OpenStack {
		if o.State == "FAILED" {
			f.add(core.Attention{Rule: core.RuleOpenStackStatus, Key: o.UID, Severity: core.SeverityUrgent,
				Subject: core.Ref{Kind: core.KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
				Label:   "openstack", Reason: "the OpenStack deployment says FAILED", Since: core.Since{At: o.Timestamp}, Resolve: clusterProcedure()})
		}
	}
}

// clusterLockGone is an OpenStackDeployment without its ClusterWorkloadLock: LCM goes on to the nodes without waiting for
// OpenStack to be updated. Where Lockstep plays the controller it is told as what the player has to make.
func (f *attentionFacts) clusterLockGone() {
	missing := progress.ClusterLockMissing(f.s)
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); missing == "" || played {
		return
	}
	o := f.s.OpenStack[0]
	if !o.Created.IsZero() && !f.long(o.Created, progress.LockMissing) {
		return // it is being made
	}
	a := core.Attention{Rule: core.RuleClusterLockMissing, Key: wording.TextOf(o.UID, o.Name), Severity: core.SeverityWarning,
		Label:   core.ControllerOpenStack,
		Resolve: clusterProcedure(),
		Subject: core.Ref{Kind: core.KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
		Reason:  missing + ": LCM does not wait for it",
		Detail: "The OpenStack controller makes the lock as soon as it sees the deployment. " +
			"Without it LCM goes on to the nodes before OpenStack is updated. " +
			"Look at the controller's log before an update begins."}
	if f.request != nil && f.request.Deleting.IsZero() && !f.request.ByHand() {
		a.Severity = core.SeverityUrgent
		a.Since = core.Since{At: f.request.Created}
	}
	f.add(a)
}

// lockState is a lock that says failed, or a state that is not documented.
func (f *attentionFacts) lockState(l *core.WorkloadLock, m progress.LockMessage, a core.Attention) bool {
	switch l.State() {
	case core.LockActive, core.LockInactive:
		return false
	case core.LockFailed:
		a.Rule, a.Key, a.Severity, a.Reason = core.RuleLockFailed, l.UID, core.SeverityUrgent,
			"the lock of "+wording.OneLine(l.Controller, 40)+" says failed"+wording.Because(wording.OneLine(m.Text, wording.MostRead))
		a.Detail = wording.Join("The controller could not shut its workload down in good order; LCM does not go on.", progress.AskAbout(f.s, l))
	default:
		a.Rule, a.Key, a.Severity, a.Reason = core.RuleLockState, l.UID, core.SeverityWarning,
			fmt.Sprintf("the lock of %s has a state that is not documented: %q", wording.OneLine(l.Controller, 40),
				wording.OneLine(string(l.RawState), 40))
	}
	f.add(a)
	return true
}

// controllerAway is a Rockoon without a ready replica: nothing of OpenStack's part goes on, and requests hang in their
// removal (docs/mosk.md#finalizers).
func (f *attentionFacts) controllerAway() {
	c := f.s.Controller
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played {
		return // Lockstep does its part
	}
	asked := f.request != nil || len(f.s.NodeRequests) > 0
	if c == nil || c.Ready > 0 || !f.s.Known(core.SourceOpenStackController) || c.Replicas == 0 && !asked {
		return // scaled to nothing, it holds nobody up as long as nobody asks for anything
	}
	a := core.Attention{Rule: core.RuleControllerAway, Severity: core.SeverityWarning,
		Subject: core.Ref{Kind: core.KindDeployment, Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		Label:   wording.OneLine(c.Name, 40), Reason: "the OpenStack controller has no ready replica: no lock of it moves"}
	switch c.Replicas {
	case 0:
		a.Reason = "the OpenStack controller is scaled to 0: no lock of it moves, and requests hang in their removal"
		a.Detail = "Scale it up; or, where it is down on purpose, have Lockstep play it."
	case 1: // of several, one that is missing makes it unavailable long before the last one goes
		a.Since = core.Since{At: c.AwaySince, Exact: !c.AwaySince.IsZero()}
	}
	if asked {
		a.Severity = core.SeverityUrgent
	}
	a.Detail = wording.Join(a.Detail, f.awayText())
	f.add(a)
}

// outages is one entry for all locks whose text says that an OpenStack API does not answer the controller.
func (f *attentionFacts) outages() {
	var names []string
	var since time.Time
	meaning := ""
	hint := ""
	see := func(l *core.WorkloadLock, label string) {
		m := progress.ReadLock(f.s, l)
		switch {
		case m.Class == progress.MessageOutage:
			since, meaning = progress.Earlier(since, m.At), m.Meaning
		case progress.SilentOutage(f.s, l):
			meaning = "no lock says it: " + progress.ControllerName(f.s, l.Node) + " " +
				progress.AccountLine(f.s, progress.AccountOf(f.s, l), l.Node, m)
		default:
			return
		}
		names = wording.Add(names, label)
		if r, seen := f.s.History.Outages[l.UID]; seen && f.s.Now.Sub(r.Last) <= core.OutageBetween {
			since = progress.Earlier(since, r.First)
		}
		if hint == "" {
			hint = f.retried(l)
		}
	}
	for _, l := range f.s.ClusterLocks {
		if f.request != nil && l.State() == core.LockActive {
			see(l, wording.OneLine(l.Controller, 40))
		}
	}
	for _, v := range progress.NodeViews(f.s) {
		for _, l := range v.Locks {
			if v.Stage == core.StageReturning || (v.Request != nil || f.s.Deletions[v.Name] != nil) && l.State() == core.LockActive {
				see(l, v.Label)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	a := core.Attention{Rule: core.RuleOutage, Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster},
		Label: "openstack", Since: core.Since{At: since},
		Reason: "the OpenStack controller gets no answer from OpenStack: " + wording.Some(names, 4), Detail: wording.Sentence(meaning),
		Hint: hint}
	if f.long(since, progress.OutageLong) {
		a.Severity = core.SeverityUrgent
	}
	f.add(a)
}

// phasesOverdue are phases that take much longer than the documents allow, where no lock says why. A node that does is told
// by the node's own rules.
func (f *attentionFacts) phasesOverdue() {
	for _, p := range progress.Phases(f.s) {
		if p.State != core.PhaseStuck || p.ID == core.PhaseServices && slices.ContainsFunc(f.found, func(a core.Attention) bool {
			return a.Severity >= core.SeverityWarning && a.Subject.Kind == core.KindClusterWorkloadLock
		}) {
			continue
		}
		if p.Overdue != "" {
			f.add(core.Attention{Rule: core.RulePhase, Key: wording.Itoa(int(p.ID)), Phase: p.ID, Severity: core.SeverityWarning,
				Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: "phase " + wording.Itoa(int(p.ID)),
				Reason: p.Title + ": " + p.Overdue, Since: p.Late, Resolve: clusterProcedure()})
		}
	}
}

// operations are those that failed and that nobody has acknowledged.
func (f *attentionFacts) operations() {
	for _, op := range f.s.Operations {
		if op.Acknowledged || op.State != core.OperationFailed && op.State != core.OperationUnknown && op.State != core.OperationPaused {
			continue
		}
		a := core.Attention{Rule: core.RuleOperation, Key: op.ID, Operation: op.ID, Severity: core.SeverityWarning,
			Label: wording.TextOf(op.Label, op.Title), Node: op.Node, Instance: op.Instance,
			Since:  core.Since{At: op.Started, Exact: true},
			Reason: op.Title + " " + string(op.State) + wording.Because(wording.OneLine(op.Text, wording.MostRead)), Hint: "x: acknowledge"}
		if !op.Ended.IsZero() {
			a.Since.At = op.Ended
		}
		switch op.State {
		case core.OperationUnknown:
			a.Reason = op.Title + ": how it ended is not known" + wording.Because(wording.OneLine(op.Text, wording.MostRead))
		case core.OperationPaused:
			a.Severity, a.Since.At = core.SeverityUrgent, op.Started
			a.Hint = "l: resume, skip or stop"
		}
		switch {
		case op.Node != "":
			a.Subject, a.Resolve = core.Ref{Kind: core.KindNode, Name: op.Node}, &core.ProcedureKey{Kind: core.ProcedureNode, Subject: op.Node}
			if n := f.s.Nodes[op.Node]; n != nil {
				a.Subject = n.Ref()
			}
		case op.Instance != "":
			a.Subject, a.Resolve = core.Ref{Kind: core.KindInstance, Name: op.Label, UID: op.Instance},
				&core.ProcedureKey{Kind: core.ProcedureInstance, Subject: op.Instance}
		default:
			a.Subject = core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}
			if op.Is(core.IntentRestartPods) || op.Is(core.IntentAddTempest) || op.Is(core.IntentRemoveTempest) {
				a.Resolve = procedure.AfterKey()
			}
		}
		f.add(a)
	}
}

// writing is that Lockstep stopped writing by itself.
func (f *attentionFacts) writing() {
	if f.s.Write.Armed || f.s.Write.Lost == "" {
		return
	}
	f.add(core.Attention{Rule: core.RuleDisarmed, Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster},
		Label: "read-only", Since: f.since(f.s.Write.Since),
		Reason: "writing was disarmed: " + wording.OneLine(f.s.Write.Lost, wording.MostRead), Hint: "w: arm it again"})
}
