package core

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// attentionRules are what can need a person, one rule a row. Every rule looks at the whole Snapshot and adds what it finds.
var attentionRules = []func(*attentionFinder){
	(*attentionFinder).operations,
	(*attentionFinder).writing,
	(*attentionFinder).sources,
	(*attentionFinder).clusterLocks,
	(*attentionFinder).nodes,
	(*attentionFinder).strayLocks,
}

// The waits that are no trouble yet: the controllers' own times (mosk-facts 4.1), with room.
const (
	slowWait      = 30 * time.Minute // A to D, F and G
	slowReturn    = 5 * time.Minute  // the silent waits when a node returns
	slowReboot    = 15 * time.Minute
	slowStage     = 60 * time.Minute // the documents' 20 and 40 minutes for a worker
	manyFailures  = 2
	longestReason = 400 // bytes of a server's text in one reason
)

// attentionFinder gathers what needs a person.
type attentionFinder struct {
	s     *Snapshot
	found []Attention
	seen  map[string]bool
}

func attentionOf(s *Snapshot) []Attention {
	f := &attentionFinder{s: s, seen: map[string]bool{}}
	for _, rule := range attentionRules {
		rule(f)
	}
	sort.SliceStable(f.found, func(i, j int) bool {
		a, b := f.found[i], f.found[j]
		switch {
		case a.Severity != b.Severity:
			return a.Severity > b.Severity
		case !a.Since.At.Equal(b.Since.At):
			return older(a.Since.At, b.Since.At)
		}
		return a.ID < b.ID
	})
	return f.found
}

// older sorts what has no time last.
func older(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return !a.IsZero()
	}
	return a.Before(b)
}

func (f *attentionFinder) add(a Attention) {
	if f.seen[a.ID] {
		return
	}
	f.seen[a.ID] = true
	if a.Hint == "" && a.Resolve != nil {
		a.Hint = "enter: steps"
	}
	f.found = append(f.found, a)
}

// operations: what Lockstep did and could not do stays until somebody has seen it.
func (f *attentionFinder) operations() {
	for _, op := range f.s.Operations {
		if op.Acknowledged || op.State != OperationFailed && op.State != OperationUnknown && op.State != OperationPaused {
			continue
		}
		a := Attention{ID: "operation/" + op.ID, Severity: SeverityWarning, Label: op.Label, Node: op.Node, Instance: op.Instance,
			Since: Since{At: op.Ended, Exact: true}, Hint: "x: acknowledge"}
		text := op.Text
		if text == "" {
			text = string(op.State)
		}
		a.Reason = op.Title + ": " + oneLine(text, longestReason)
		switch {
		case op.State == OperationPaused:
			a.Severity, a.Since, a.Hint = SeverityUrgent, Since{At: op.Started, Exact: true}, "l: resume, skip or stop"
		case op.Instance != "":
			a.Subject = Ref{Kind: KindInstance, Name: op.Label, UID: op.Instance}
			a.Resolve = &ProcedureKey{Kind: ProcedureInstance, Subject: op.Instance}
		}
		if a.Resolve == nil && op.Node != "" {
			a.Resolve = &ProcedureKey{Kind: ProcedureNode, Subject: op.Node}
		}
		if a.Subject == (Ref{}) {
			a.Subject = Ref{Kind: KindNode, Name: op.Node}
		}
		f.add(a)
	}
}

// writing: armed by the operator, and off without their asking.
func (f *attentionFinder) writing() {
	if w := f.s.Write; w.Lost != "" && !w.Armed {
		f.add(Attention{ID: "write-lost", Severity: SeverityWarning, Label: "writing", Subject: Ref{Kind: KindCluster, Name: f.s.Cluster},
			Reason: "writing went off by itself: " + w.Lost, Hint: "w: arm it again"})
	}
}

// rareSources are kinds that older releases do not have: their absence is nothing to worry about.
var rareSources = []SourceID{SourceDeletionRequests, SourceDisableNotices, SourceProjects, SourceNetworkAgents}

// sources: what cannot be seen, one item for all sources of a server that fail for the same reason.
func (f *attentionFinder) sources() {
	type cause struct {
		server Server
		kind   ErrorKind
		state  SourceState
	}
	groups := map[cause][]Source{}
	for _, src := range f.s.Sources {
		late := src.State == SourceLive && !src.AsOf.IsZero() && f.s.Wall.Sub(src.AsOf) > 2*f.s.Settings.StaleAfter && f.s.Settings.StaleAfter > 0
		switch {
		case src.State == SourceConnecting, src.State == SourceLive && !late:
			continue
		case src.State == SourceAbsent && slices.Contains(rareSources, src.ID):
			continue
		}
		c := cause{server: src.ID.Server(), state: src.State}
		if src.Err != nil {
			c.kind = src.Err.Kind
		}
		if src.State == SourceStale { // the same trouble, for those that had facts and those that had none
			c.state = SourceFailed
		}
		groups[c] = append(groups[c], src)
	}
	for c, list := range groups {
		sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
		first := list[0]
		names := make([]string, len(list))
		essential := false
		for i, src := range list {
			names[i] = string(src.ID)
			essential = essential || !slices.Contains(rareSources, src.ID)
		}
		a := Attention{ID: "source/" + string(c.server) + "/" + string(c.state) + "/" + string(c.kind), Severity: SeverityWarning,
			Label: string(c.server), Subject: Ref{Kind: KindSource, Name: string(first.ID)},
			Resolve: &ProcedureKey{Kind: ProcedureSource, Subject: string(first.ID)}, Hint: "enter: what to do"}
		if !essential || c.state == SourceOff {
			a.Severity = SeverityNotice
		}
		a.Since = f.clusterTime(first.Since)
		a.Reason = fmt.Sprintf("%s: %s", some(names, 3), c.state)
		if first.Err != nil {
			a.Reason = oneLine(first.Err.Error(), longestReason)
			if len(list) > 1 {
				a.Reason += fmt.Sprintf(" (and %s)", count(len(list)-1, "other source"))
			}
			a.Detail = first.Err.Remedy
		}
		f.add(a)
	}
}

// clusterTime turns a moment of the wall clock into one of the cluster's, so that ages compare.
func (f *attentionFinder) clusterTime(wall time.Time) Since {
	if wall.IsZero() {
		return Since{}
	}
	return Since{At: f.s.Now.Add(-f.s.Wall.Sub(wall)), Exact: true}
}

// clusterLocks: phase 2 waits for a person, or for longer than the documents allow.
func (f *attentionFinder) clusterLocks() {
	for _, l := range f.s.ClusterLocks {
		m := ReadLockMessage(l.Message)
		a := Attention{ID: "cwl/" + l.UID, Subject: l.Ref(), Label: l.Controller, Resolve: &ProcedureKey{Kind: ProcedureCluster}}
		a.Since = f.lockSince(l, m)
		long := age(f.s.Now, a.Since.At)
		update := f.s.ClusterRequest() != nil
		switch {
		case l.State() == LockFailed:
			a.Severity, a.Reason = SeverityUrgent, "its ClusterWorkloadLock says failed: "+oneLine(m.Text, longestReason)
		case l.State() != LockActive && l.State() != LockInactive:
			a.Severity, a.Reason = SeverityWarning, fmt.Sprintf("its ClusterWorkloadLock has a state that is not documented: %q", oneLine(string(l.RawState), 40))
		case l.State() == LockInactive || !update || m.Class == MessageNone:
			continue
		case m.Class == MessageActionable:
			a.Severity, a.Reason, a.Detail = SeverityUrgent, m.Meaning, m.Remedy
		case m.Class == MessageOutage:
			a.Severity, a.Reason, a.Detail = SeverityWarning, m.Meaning, m.Remedy
		case m.Class == MessageWaiting && long > slowWait:
			a.Severity, a.Reason, a.Detail = SeverityWarning, fmt.Sprintf("%s (for %s)", m.Meaning, spanText(long)), m.Remedy
		case m.Class == MessageUnknown:
			a.Severity, a.Reason = SeverityWarning, "says: "+oneLine(m.Text, longestReason)
		default:
			continue
		}
		f.add(a)
	}
}

func (f *attentionFinder) lockSince(l *WorkloadLock, m LockMessage) Since {
	if r, ok := f.s.History.Locks[l.UID]; ok && !r.Since.At.IsZero() {
		return r.Since
	}
	return Since{At: m.At}
}

// strayLocks: a lock whose node is gone holds LCM up for nothing.
func (f *attentionFinder) strayLocks() {
	if !f.s.known(SourceNodes) {
		return
	}
	for node, locks := range f.s.NodeLocks {
		if f.s.Nodes[node] != nil || f.s.Disablings[node] != nil {
			continue // a disabled machine's lock is kept on purpose
		}
		for _, l := range locks {
			f.add(Attention{ID: "stray/" + l.UID, Severity: SeverityNotice, Subject: l.Ref(), Label: node, Node: node,
				Reason: fmt.Sprintf("the NodeWorkloadLock of %s is for a node that the cluster does not have", l.Controller)})
		}
	}
}

// nodes: everything that is about one node and the instances on it.
func (f *attentionFinder) nodes() {
	for _, v := range f.s.NodeViews() {
		if v.Node == nil {
			continue
		}
		n := nodeAttention{f: f, v: v}
		n.stage()
		n.messages()
		n.problems()
		n.instances()
		n.leftovers()
	}
}

// nodeAttention is what one node needs.
type nodeAttention struct {
	f *attentionFinder
	v NodeView
}

func (n nodeAttention) add(kind string, severity Severity, since Since, reason, detail string) {
	n.f.add(Attention{ID: "node/" + n.v.Node.UID + "/" + kind, Severity: severity, Subject: n.v.Node.Ref(), Node: n.v.Name, Label: n.v.Label,
		Reason: reason, Detail: detail, Since: since, Resolve: &ProcedureKey{Kind: ProcedureNode, Subject: n.v.Name}})
}

// stage: it stands still, or stays in a stage for longer than the documents allow.
func (n nodeAttention) stage() {
	v, now := n.v, n.f.s.Now
	long := age(now, v.Since.At)
	switch v.Stage {
	case StageWaiting:
		n.add("waits", SeverityUrgent, v.Since, n.waits(), v.Reason)
	case StageFailed:
		n.add("failed", SeverityUrgent, v.Since, v.Reason, "the controller could not shut its workload down gracefully; read its log")
	case StageRebooting:
		if long > slowReboot {
			n.add("reboot", SeverityWarning, v.Since, fmt.Sprintf("not Ready for %s after its reboot", spanText(long)), "look at the machine's console and its kubelet")
		}
	case StageReturning:
		if long > slowReturn {
			what := v.What
			if what == "" {
				what = v.Reason
			}
			n.add("return", SeverityWarning, v.Since, fmt.Sprintf("does not come back for %s: %s", spanText(long), what), "the OpenStack controller waits here without a word until the node, its pods and its agents are well")
		}
	case StagePreparing, StageEvacuating, StageDraining, StageUpdating, StageReleased:
		if long > slowStage {
			n.add("slow", SeverityWarning, v.Since, fmt.Sprintf("%s for %s: %s", v.Stage, spanText(long), v.Reason), "")
		}
	}
}

// waits is what the operator is asked for.
func (n nodeAttention) waits() string {
	var names []string
	for _, i := range n.f.s.InstanceViews(n.v.Name) {
		if !i.Blocks || n.v.Mode == ModeManual && i.Action == ActionLiveMigrate {
			continue // on a manual node the controller moves only what is tagged so
		}
		name := i.Instance.Name
		if i.Action == ActionNotify && i.Origin == OriginTag {
			name += " (notify)"
		}
		names = append(names, name)
	}
	mode := ""
	if n.v.Mode == ModeManual {
		mode = "manual mode: "
	}
	if len(names) == 0 {
		return mode + n.v.Reason
	}
	return fmt.Sprintf("%s%s must leave or stop before the update goes on: %s", mode, count(len(names), "instance"), some(names, 4))
}

// messages: what the controllers say of the node's locks.
func (n nodeAttention) messages() {
	s := n.f.s
	for _, l := range n.v.Locks {
		m := ReadLockMessage(l.Message)
		since := n.f.lockSince(l, m)
		if !m.At.IsZero() {
			since = Since{At: m.At, Exact: true}
		}
		if n.v.Request == nil {
			continue
		}
		waited := age(s.Now, n.v.Request.Created)
		switch {
		case l.State() == LockInactive || l.State() == LockFailed:
		case m.Class == MessageOutage:
			n.add("outage/"+l.Controller, SeverityWarning, since, m.Meaning, m.Remedy)
		case m.Class == MessageActionable && m.ID != "J":
			n.add("says/"+l.Controller, SeverityUrgent, since, m.Meaning, m.Remedy)
		case m.Class == MessageWaiting && m.ID == "F" && waited > slowReturn:
			if stale := n.staleInner(); stale != "" {
				n.add("stale-inner", SeverityUrgent, Since{At: n.v.Request.Created, Exact: true},
					"it waits its turn because of "+stale+", whose lock says inner_state=active although nothing is asked of it", m.Remedy)
			} else if waited > slowWait {
				n.add("queued", SeverityNotice, Since{At: n.v.Request.Created, Exact: true}, fmt.Sprintf("waits its turn for %s", spanText(waited)), m.Remedy)
			}
		case m.Class == MessageWaiting && waited > slowWait:
			reason := m.Meaning
			if len(m.Blockers) > 0 {
				reason += " (" + some(m.Blockers, 4) + ")"
			}
			n.add("waiting/"+l.Controller, SeverityWarning, Since{At: n.v.Request.Created, Exact: true}, fmt.Sprintf("%s, for %s", reason, spanText(waited)), m.Remedy)
		case m.Class == MessageUnknown && l.Controller == ControllerOpenStack:
			n.add("unknown/"+l.Controller, SeverityWarning, since, l.Controller+" says: "+oneLine(m.Text, longestReason), m.Remedy)
		}
	}
}

// staleInner names a node whose lock counts against Rockoon's concurrency although nothing is asked of the node
// (mosk-facts 7.1): the classic reason why a whole fleet waits.
func (n nodeAttention) staleInner() string {
	var names []string
	for _, v := range n.f.s.NodeViews() {
		if v.Request != nil || v.Name == n.v.Name {
			continue
		}
		for _, l := range v.Locks {
			if l.Controller == ControllerOpenStack && l.InnerState == InnerActive {
				names = append(names, v.Label)
			}
		}
	}
	return some(names, 3)
}

// problems: inconsistencies. They are urgent where the node is in maintenance already, and a notice before.
func (n nodeAttention) problems() {
	severity := SeverityNotice
	if n.v.Request != nil {
		severity = SeverityWarning
	}
	for i, p := range n.v.Problems {
		n.add("problem/"+itoa(i), severity, Since{}, p, "")
	}
}

// instances: what will hold the node, or holds it, and does not go away by itself.
func (n nodeAttention) instances() {
	s := n.f.s
	if s.ClusterRequest() == nil || n.v.Stage == StageDone || !n.v.Node.Is(RoleCompute) || n.v.Request != nil && !n.v.Request.Deleting.IsZero() {
		return
	}
	var stuck, twice []string
	for _, in := range s.InstancesOn(n.v.Name) {
		if !n.worthALook(in) {
			continue
		}
		i := s.viewInstance(in, s.maintenanceOf(n.v.Name))
		if i.Origin == OriginConflicting {
			twice = append(twice, in.Name)
		}
		if !i.Blocks {
			continue
		}
		if n.v.Request == nil {
			if !i.Migrates && (in.Status == "ERROR" || in.Status == "VERIFY_RESIZE" || in.Status == "RESCUE") {
				stuck = append(stuck, in.Name+" ("+in.Status+")")
			}
			continue
		}
		switch {
		case i.Failures >= manyFailures && in.TaskState == "":
			reason := fmt.Sprintf("%s failed to migrate %d times", in.Name, i.Failures)
			if i.Failure != "" {
				reason += ": " + oneLine(i.Failure, longestReason)
			}
			n.instance(i, "failures", SeverityWarning, reason)
		case in.Status == "VERIFY_RESIZE":
			n.instance(i, "verify", SeverityUrgent, in.Name+" waits for its resize to be confirmed or reverted; it holds the node")
		case in.Status == "ERROR":
			n.instance(i, "error", SeverityUrgent, in.Name+" is in ERROR with its power on, and holds the node"+because(oneLine(in.Fault, longestReason)))
		case i.Action == ActionNotify && i.Origin == OriginTag && n.v.Mode != ModeManual:
			n.instance(i, "notify", SeverityUrgent, fmt.Sprintf("%s holds the node: its owner is to be told first (project %s)", in.Name, s.Project(in.ProjectID)))
		}
	}
	if len(stuck) > 0 {
		n.add("will-block", SeverityNotice, Since{}, "will be held by "+some(stuck, 4)+": nothing moves "+verb(len(stuck), "it", "them"), "mend them before the node's turn comes")
	}
	if len(twice) > 0 {
		n.add("two-tags", SeverityNotice, Since{}, some(twice, 4)+" "+verb(len(twice), "has", "have")+" more than one maintenance_action tag: the node's mode counts", "")
	}
}

// worthALook leaves the many instances out of which nothing needs to be said, before anything is computed of them.
func (n nodeAttention) worthALook(in *Instance) bool {
	if n.v.Request != nil {
		return true
	}
	tags := 0
	for _, t := range in.Tags {
		if strings.HasPrefix(t, TagMaintenanceAction) {
			tags++
		}
	}
	return tags > 1 || in.Status != "ACTIVE" && in.Status != "SHUTOFF"
}

func (n nodeAttention) instance(i InstanceView, kind string, severity Severity, reason string) {
	in := i.Instance
	since := Since{At: in.Updated}
	if i.Migration != nil {
		since = Since{At: i.Migration.Updated, Exact: true}
	}
	n.f.add(Attention{ID: "instance/" + in.ID + "/" + kind, Severity: severity, Subject: in.Ref(), Node: n.v.Name, Instance: in.ID, Label: n.v.Label,
		Reason: reason, Since: since, Resolve: &ProcedureKey{Kind: ProcedureInstance, Subject: in.ID}})
}

// leftovers: what was set for the update and is to be set back after the node is through.
func (n nodeAttention) leftovers() {
	if n.v.Stage != StageDone && n.v.Stage != StageIdle || n.v.Request != nil {
		return
	}
	if c, ok := n.f.s.History.Changes[n.v.Node.UID]; ok && n.v.Stage == StageDone {
		if v, set := n.v.Node.Annotations[c.Key]; set && c.New != nil && v == *c.New {
			n.add("restore", SeverityNotice, Since{At: c.At, Exact: true},
				fmt.Sprintf("its migration mode is still %s; it was %s before Lockstep changed it", v, textOr(c.Old, "not set")), "")
		}
	}
	if svc := n.v.Service; svc != nil && !svc.Enabled && n.v.Stage == StageDone && svc.DisabledReason != DisabledReasonMaintenance {
		n.add("disabled", SeverityNotice, Since{}, "nova-compute is disabled, and stays so: "+oneLine(serviceText(svc), 120), "the OpenStack controller enables only what it disabled itself")
	}
}
