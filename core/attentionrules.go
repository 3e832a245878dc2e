package core

import (
	"fmt"
	"slices"
	"time"
)

// How long something may last before it needs a look, where the documents give no number of their own.
const (
	returnLong    = 10 * time.Minute // a node on its way back: the controller's own timeouts are 5 minutes (docs/mosk.md#timers)
	rebootLong    = 30 * time.Minute // a node that is not Ready: the documents' window has 15 to 40 minutes for all of its update
	deferredLong  = 10 * time.Minute // a controller that waits for others
	healthLong    = 20 * time.Minute // one service may take so long to become healthy (docs/mosk.md#timers)
	stageLong     = 60 * time.Minute // any other stage: the documents' 20 and 40 minutes for a worker
	outageLong    = 5 * time.Minute  // an API that does not answer the controller
	migrationLong = 30 * time.Minute // one live migration
	// serviceSettles is how old the newest look at the compute services can be, with room.
	serviceSettles = 5 * time.Minute
	lockMissing    = 2 * time.Minute // a controller makes the lock of a node within a look or two
	innerSettles   = time.Minute     // a request and its lock are two streams: what one tells, the other tells later
)

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
	s        *Snapshot
	request  *MaintenanceRequest // the cluster's
	estimate estimates
	told     []string // what the management cluster says of a machine and has an entry of its own
	found    []Attention

	age map[string]time.Time // of causes, by ID: since when the oldest of what follows from them is so
}

var attention Derivation[[]Attention]

// Attention is what needs a person now, most urgent first. Empty means: nothing needs you.
func (s *Snapshot) Attention() []Attention {
	return attention.Of(s, attentionOf)
}

func attentionOf(s *Snapshot) []Attention {
	f := &attentionFacts{s: s, request: s.ClusterRequest(), estimate: estimatesOf(s)}
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

func (f *attentionFacts) add(a Attention) {
	a.ID = string(a.Rule)
	if a.Key != "" {
		a.ID += "/" + a.Key
	}
	f.found = append(f.found, a)
}

// since turns a wall time of a source or of Lockstep itself into the cluster's time, in which ages are told.
func (f *attentionFacts) since(wall time.Time) Since {
	if wall.IsZero() {
		return Since{}
	}
	return Since{At: f.s.Now.Add(-f.s.Wall.Sub(wall)), Exact: true}
}

// long tells whether something lasts for longer than the limit; a limit that is not known is 0, and never over.
func (f *attentionFacts) long(since time.Time, limit time.Duration) bool {
	return !since.IsZero() && limit > 0 && f.s.Now.Sub(since) > limit
}

// lockSince is since when the lock is in its state, as far as it was seen; else the request's age is the bound.
func (f *attentionFacts) lockSince(l *WorkloadLock, request *MaintenanceRequest) Since {
	begin := time.Time{}
	if request != nil {
		begin = request.Created
	}
	if r, ok := f.s.History.Locks[l.UID]; ok && r.State == l.State() && r.Since.At.After(begin) {
		return r.Since
	}
	return Since{At: begin}
}

func clusterProcedure() *ProcedureKey { return &ProcedureKey{Kind: ProcedureCluster} }

// waitingLimit is how long the texts of class waiting are nothing to worry about.
func (f *attentionFacts) waitingLimit(id MessageID) time.Duration {
	switch {
	case id == SaysNotApplied:
		return time.Duration(float64(f.estimate.openStack()) * max(f.s.Settings.Overdue, 1))
	case id == SaysNotHealthy:
		return healthLong
	case id.AwaitsRelease():
		return f.estimate.modules()
	}
	return deferredLong
}

// waitsSince is since when a cluster lock waits for what its text says. The wait for health (E) comes after the deployment
// was APPLIED (docs/mosk.md#cluster-request), which takes longer by far; its own timestamp is written anew at every look.
func (f *attentionFacts) waitsSince(m LockMessage, held Since) Since {
	if m.ID != SaysNotHealthy {
		return held
	}
	for _, o := range f.s.OpenStack {
		if o.State == "APPLIED" && o.Timestamp.After(held.At) {
			held = Since{At: o.Timestamp}
		}
	}
	return held
}

// clusterLocks are the cluster's locks that say failed, say what nobody knows, ask for a person, or wait for too long.
func (f *attentionFacts) clusterLocks() {
	for _, l := range f.s.ClusterLocks {
		a := Attention{Subject: l.Ref(), Label: oneLine(l.Controller, 40), Since: f.lockSince(l, f.request), Resolve: clusterProcedure()}
		m := f.s.ReadLock(l)
		switch {
		case f.lockState(l, m, a):
		case f.request == nil || l.State() != LockActive || !f.request.Deleting.IsZero():
		case m.Class == MessageActionable:
			a.Rule, a.Key, a.Severity, a.Reason, a.Detail = RuleClusterLock, l.UID, SeverityUrgent, "the cluster lock needs you: "+m.Meaning, m.Remedy
			f.add(a)
		case m.Class == MessageWaiting && f.long(f.waitsSince(m, a.Since).At, f.waitingLimit(m.ID)):
			a.Since = f.waitsSince(m, a.Since).plus(f.waitingLimit(m.ID))
			a.Rule, a.Key, a.Severity, a.Detail = RuleClusterLockWaits, l.UID, SeverityWarning, m.Remedy
			a.Reason = "the cluster lock is held for long: " + m.Meaning
			f.add(a)
		case m.Class == MessageUnknown:
			a.Rule, a.Key, a.Severity = RuleClusterLockSays, l.UID, SeverityNotice
			a.Reason = "says what no document lists: " + oneLine(m.Text, mostRead)
			f.add(a)
		}
	}
	for _, o := range f.s.OpenStack {
		if o.State == "FAILED" {
			f.add(Attention{Rule: RuleOpenStackStatus, Key: o.UID, Severity: SeverityUrgent, Subject: Ref{Kind: KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
				Label: "openstack", Reason: "the OpenStack deployment says FAILED", Since: Since{At: o.Timestamp}, Resolve: clusterProcedure()})
		}
	}
}

// clusterLockGone is an OpenStackDeployment without its ClusterWorkloadLock: LCM goes on to the nodes without waiting for
// OpenStack to be updated. Where Lockstep plays the controller it is told as what the player has to make.
func (f *attentionFacts) clusterLockGone() {
	missing := f.s.clusterLockMissing()
	if _, played := f.s.actAs(ControllerOpenStack); missing == "" || played {
		return
	}
	o := f.s.OpenStack[0]
	if !o.Created.IsZero() && !f.long(o.Created, lockMissing) {
		return // it is being made
	}
	a := Attention{Rule: RuleClusterLockMissing, Key: textOf(o.UID, o.Name), Severity: SeverityWarning, Label: ControllerOpenStack,
		Resolve: clusterProcedure(),
		Subject: Ref{Kind: KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
		Reason:  missing + ": LCM does not wait for it",
		Detail: "The OpenStack controller makes the lock as soon as it sees the deployment. " +
			"Without it LCM goes on to the nodes before OpenStack is updated. " +
			"Look at the controller's log before an update begins."}
	if f.request != nil && f.request.Deleting.IsZero() && !f.request.ByHand() {
		a.Severity = SeverityUrgent
		a.Since = Since{At: f.request.Created}
	}
	f.add(a)
}

// lockState is a lock that says failed, or a state that is not documented.
func (f *attentionFacts) lockState(l *WorkloadLock, m LockMessage, a Attention) bool {
	switch l.State() {
	case LockActive, LockInactive:
		return false
	case LockFailed:
		a.Rule, a.Key, a.Severity, a.Reason = RuleLockFailed, l.UID, SeverityUrgent, "the lock of "+oneLine(l.Controller, 40)+" says failed"+because(oneLine(m.Text, mostRead))
		a.Detail = join("The controller could not shut its workload down in good order; LCM does not go on.", f.s.AskAbout(l))
	default:
		a.Rule, a.Key, a.Severity, a.Reason = RuleLockState, l.UID, SeverityWarning, fmt.Sprintf("the lock of %s has a state that is not documented: %q", oneLine(l.Controller, 40), oneLine(string(l.RawState), 40))
	}
	f.add(a)
	return true
}

// controllerAway is a Rockoon without a ready replica: nothing of OpenStack's part goes on, and requests hang in their
// removal (docs/mosk.md#finalizers).
func (f *attentionFacts) controllerAway() {
	c := f.s.Controller
	if _, played := f.s.actAs(ControllerOpenStack); played {
		return // Lockstep does its part
	}
	asked := f.request != nil || len(f.s.NodeRequests) > 0
	if c == nil || c.Ready > 0 || !f.s.known(SourceOpenStackController) || c.Replicas == 0 && !asked {
		return // scaled to nothing, it holds nobody up as long as nobody asks for anything
	}
	a := Attention{Rule: RuleControllerAway, Severity: SeverityWarning, Subject: Ref{Kind: KindDeployment, Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		Label: oneLine(c.Name, 40), Reason: "the OpenStack controller has no ready replica: no lock of it moves"}
	switch c.Replicas {
	case 0:
		a.Reason = "the OpenStack controller is scaled to 0: no lock of it moves, and requests hang in their removal"
		a.Detail = "Scale it up; or, where it is down on purpose, have Lockstep play it."
	case 1: // of several, one that is missing makes it unavailable long before the last one goes
		a.Since = Since{At: c.AwaySince, Exact: !c.AwaySince.IsZero()}
	}
	if asked {
		a.Severity = SeverityUrgent
	}
	a.Detail = join(a.Detail, f.awayText())
	f.add(a)
}

// outages is one entry for all locks whose text says that an OpenStack API does not answer the controller.
func (f *attentionFacts) outages() {
	var names []string
	var since time.Time
	meaning := ""
	hint := ""
	see := func(l *WorkloadLock, label string) {
		m := f.s.ReadLock(l)
		switch {
		case m.Class == MessageOutage:
			since, meaning = earlier(since, m.At), m.Meaning
		case f.s.silentOutage(l):
			meaning = "no lock says it: " + f.s.ControllerName(l.Node) + " " + f.s.accountLine(f.s.AccountOf(l), l.Node, m)
		default:
			return
		}
		names = add(names, label)
		if r, seen := f.s.History.Outages[l.UID]; seen && f.s.Now.Sub(r.Last) <= outageBetween {
			since = earlier(since, r.First)
		}
		if hint == "" {
			hint = f.retried(l)
		}
	}
	for _, l := range f.s.ClusterLocks {
		if f.request != nil && l.State() == LockActive {
			see(l, oneLine(l.Controller, 40))
		}
	}
	for _, v := range f.s.NodeViews() {
		for _, l := range v.Locks {
			if v.Stage == StageReturning || (v.Request != nil || f.s.Deletions[v.Name] != nil) && l.State() == LockActive {
				see(l, v.Label)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	a := Attention{Rule: RuleOutage, Severity: SeverityWarning, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "openstack", Since: Since{At: since},
		Reason: "the OpenStack controller gets no answer from OpenStack: " + some(names, 4), Detail: sentence(meaning), Hint: hint}
	if f.long(since, outageLong) {
		a.Severity = SeverityUrgent
	}
	f.add(a)
}

// phasesOverdue are phases that take much longer than the documents allow, where no lock says why. A node that does is told
// by the node's own rules.
func (f *attentionFacts) phasesOverdue() {
	for _, p := range f.s.Phases() {
		if p.State != PhaseStuck || p.ID == PhaseServices && slices.ContainsFunc(f.found, func(a Attention) bool {
			return a.Severity >= SeverityWarning && a.Subject.Kind == KindClusterWorkloadLock
		}) {
			continue
		}
		if p.Overdue != "" {
			f.add(Attention{Rule: RulePhase, Key: itoa(int(p.ID)), Phase: p.ID, Severity: SeverityWarning, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "phase " + itoa(int(p.ID)),
				Reason: p.Title + ": " + p.Overdue, Since: p.Late, Resolve: clusterProcedure()})
		}
	}
}

// operations are those that failed and that nobody has acknowledged.
func (f *attentionFacts) operations() {
	for _, op := range f.s.Operations {
		if op.Acknowledged || op.State != OperationFailed && op.State != OperationUnknown && op.State != OperationPaused {
			continue
		}
		a := Attention{Rule: RuleOperation, Key: op.ID, Operation: op.ID, Severity: SeverityWarning, Label: textOf(op.Label, op.Title), Node: op.Node, Instance: op.Instance,
			Since: Since{At: op.Started, Exact: true}, Reason: op.Title + " " + string(op.State) + because(oneLine(op.Text, mostRead)), Hint: "x: acknowledge"}
		if !op.Ended.IsZero() {
			a.Since.At = op.Ended
		}
		switch op.State {
		case OperationUnknown:
			a.Reason = op.Title + ": how it ended is not known" + because(oneLine(op.Text, mostRead))
		case OperationPaused:
			a.Severity, a.Since.At = SeverityUrgent, op.Started
			a.Hint = "l: resume, skip or stop"
		}
		switch {
		case op.Node != "":
			a.Subject, a.Resolve = Ref{Kind: KindNode, Name: op.Node}, &ProcedureKey{Kind: ProcedureNode, Subject: op.Node}
			if n := f.s.Nodes[op.Node]; n != nil {
				a.Subject = n.Ref()
			}
		case op.Instance != "":
			a.Subject, a.Resolve = Ref{Kind: KindInstance, Name: op.Label, UID: op.Instance}, &ProcedureKey{Kind: ProcedureInstance, Subject: op.Instance}
		default:
			a.Subject = Ref{Kind: KindCluster, Name: f.s.Cluster}
			if op.is(IntentRestartPods) || op.is(IntentAddTempest) || op.is(IntentRemoveTempest) {
				a.Resolve = afterProcedureKey()
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
	f.add(Attention{Rule: RuleDisarmed, Severity: SeverityWarning, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "read-only", Since: f.since(f.s.Write.Since),
		Reason: "writing was disarmed: " + oneLine(f.s.Write.Lost, mostRead), Hint: "w: arm it again"})
}
