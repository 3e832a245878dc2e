package core

import (
	"slices"
	"strings"
	"time"
)

// AfterPoint is one point of the list of what there is to see to once an update is over: derived from what is known, and
// done when the cluster says so.
type AfterPoint struct {
	ID      string
	Title   string // as a sentence that is true when nothing is left: "no node is cordoned"
	Why     string
	Open    []string // what is left, by name; none when the point is done
	Note    string   // what is worth knowing though nothing is left; may be empty
	Unknown string   // why it cannot be told; empty when it can

	// Pods is the DaemonSet's UID of a point about old pods.
	Pods string
}

// Done tells whether nothing is left of the point.
func (p AfterPoint) Done() bool { return p.Unknown == "" && len(p.Open) == 0 }

// afterRows is the list (mosk-facts 8): each row says by its sources when it can be told, and what is left.
var afterRows = []struct {
	id, title, why string
	sources        []SourceID
	open           func(*Snapshot) []string
}{
	{"request", "the cluster's maintenance request is gone", "LCM removes it when every application has been updated.",
		[]SourceID{SourceClusterRequests}, (*Snapshot).openRequests},
	{"node-requests", "no node has a maintenance request", "LCM removes each when its node is back.",
		[]SourceID{SourceNodeRequests}, (*Snapshot).openNodeRequests},
	{"cluster-locks", "every cluster lock is active again", "Its controller takes it back when the request is gone.",
		[]SourceID{SourceClusterLocks}, (*Snapshot).openClusterLocks},
	{"node-locks", "every node's locks are active again", "The controllers take them back when the node serves again.",
		[]SourceID{SourceNodeLocks}, (*Snapshot).openNodeLocks},
	{"nodes", "every node is Ready", "", []SourceID{SourceNodes}, (*Snapshot).openNodes},
	{"cordons", "no node is cordoned", "LCM uncordons what it cordoned; another cordon is somebody's own.",
		[]SourceID{SourceNodes}, (*Snapshot).openCordons},
	{"versions", "every node runs the same Kubernetes", "A node with an older kubelet was left out, or its turn has not come.",
		[]SourceID{SourceNodes}, (*Snapshot).openVersions},
	{"compute", "no compute service was left disabled", "The maintenance disables it, and the OpenStack controller enables only what it disabled itself.",
		[]SourceID{SourceComputeServices}, (*Snapshot).openDisabled},
	{"compute-up", "every enabled compute service is up", "", []SourceID{SourceComputeServices}, (*Snapshot).openDown},
	{"volumes", "no volume service was left disabled", "The maintenance disables those on nodes' own disks, and the OpenStack controller enables only what it disabled itself.",
		[]SourceID{SourceVolumeServices}, (*Snapshot).openVolumesOut},
	{"volumes-up", "every enabled volume service is up", "", []SourceID{SourceVolumeServices}, (*Snapshot).openVolumesDown},
	{"agents", "every network agent is alive", "Neutron marks an agent dead when it has not reported for 75 s.",
		[]SourceID{SourceNetworkAgents}, (*Snapshot).openAgents},
	{"openstack", "OpenStack is APPLIED", "", []SourceID{SourceOpenStackStatus}, (*Snapshot).openDeployments},
	{"health", "every component of OpenStack is Ready", "", []SourceID{SourceOpenStackStatus}, (*Snapshot).openHealth},
	{"daemonsets", "the DaemonSets are up to date and ready", "Those that replace their pods themselves; those with OnDelete have points of their own.",
		[]SourceID{SourceDaemonSets, SourceFabricSets}, (*Snapshot).openDaemonSets},
}

// AfterUpdate are the points to see to once an update is over.
func (s *Snapshot) AfterUpdate() []AfterPoint {
	return s.derived.after.get(s.afterPoints)
}

// AfterUpdateLeft is how many points of a finished update are not done; over tells whether an update was seen to end and
// none runs now.
func (s *Snapshot) AfterUpdateLeft() (left int, over bool) {
	if s.ClusterRequest() != nil || s.History.Update.Ended.IsZero() || !s.known(SourceClusterRequests) {
		return 0, false
	}
	for _, p := range s.AfterUpdate() {
		if !p.Done() {
			left++
		}
	}
	return left, true
}

func (s *Snapshot) afterPoints() []AfterPoint {
	points := make([]AfterPoint, 0, len(afterRows)+8)
	for _, row := range afterRows {
		if s.noCinder() && slices.Contains(row.sources, SourceVolumeServices) {
			continue
		}
		p := AfterPoint{ID: row.id, Title: row.title, Why: row.why}
		for _, id := range row.sources {
			if !s.known(id) {
				p.Unknown = string(id) + ": " + s.whyUnknown(id)
			}
		}
		if p.Unknown == "" {
			p.Open = row.open(s)
		}
		if row.id == "compute" {
			p.Note = s.ownReasons()
		}
		points = append(points, p)
	}
	for _, v := range s.DaemonViews() {
		if !v.Set.OnDelete || v.Set.Desired == 0 && len(v.Pods) == 0 { // no node has its role
			continue
		}
		p := AfterPoint{ID: "old/" + v.Set.UID, Title: "no old pod of " + v.Short(), Pods: v.Set.UID,
			Why: "Its update strategy is OnDelete: an update changes the template and leaves the pods alone.", Unknown: v.Unknown}
		for _, pod := range v.Old {
			p.Open = append(p.Open, oneLine(s.Label(pod.Node), 64))
		}
		points = append(points, p)
	}
	own := []AfterPoint{
		{ID: "annotations", Title: "Lockstep's migration modes are set back", Open: s.openChanges(),
			Why: "Those that Lockstep set: a mode that was meant for this update counts in the next one too."},
		{ID: "tags", Title: "Lockstep's maintenance tags are set back", Open: instanceLabels(s.taggedInstances()),
			Why: "Those that Lockstep set: a tag that was meant for this update counts in the next one too."},
		{ID: "stopped", Title: "what Lockstep stopped or shelved is back", Open: instanceLabels(s.stoppedInstances()),
			Why: "An instance that was stopped or shelved stays down until somebody brings it back."},
	}
	if !s.known(SourceInstances) {
		why := string(SourceInstances) + ": " + s.whyUnknown(SourceInstances)
		if len(s.History.Tags) > 0 {
			own[1].Unknown = why
		}
		if len(s.History.Stopped) > 0 {
			own[2].Unknown = why
		}
	}
	return append(points, own...)
}

func (s *Snapshot) openRequests() []string {
	var out []string
	for _, r := range s.ClusterRequests {
		out = append(out, oneLine(r.Name, 64)+textIf(r.Deleting.IsZero(), "", " (being removed)"))
	}
	return out
}

func (s *Snapshot) openNodeRequests() []string {
	var out []string
	for name, requests := range s.NodeRequests {
		for _, r := range requests {
			out = append(out, oneLine(s.Label(name), 64)+textIf(r.Deleting.IsZero(), "", " (being removed)"))
		}
	}
	slices.Sort(out)
	return out
}

func (s *Snapshot) openClusterLocks() []string {
	var out []string
	for _, l := range s.ClusterLocks {
		if l.State() != LockActive {
			out = append(out, oneLine(l.Controller, 40)+" ("+oneLine(string(l.State()), 20)+")")
		}
	}
	return out
}

func (s *Snapshot) openNodeLocks() []string {
	var out []string
	for name, locks := range s.NodeLocks {
		for _, l := range locks {
			if l.State() != LockActive {
				out = append(out, oneLine(s.Label(name), 64)+": "+oneLine(l.Controller, 40)+" ("+oneLine(string(l.State()), 20)+")")
			}
		}
	}
	slices.Sort(out)
	return out
}

// nodesThat are the labels of the nodes of which open says something.
func (s *Snapshot) nodesThat(open func(*Node) string) []string {
	var out []string
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if text := open(n); text != "" {
			out = append(out, oneLine(n.Label(), 64)+text)
		}
	}
	return out
}

func (s *Snapshot) openNodes() []string {
	return s.nodesThat(func(n *Node) string {
		if n.Ready == "True" {
			return ""
		}
		return " (" + textOf(oneLine(n.ReadyReason, 60), "not Ready") + ")"
	})
}

func (s *Snapshot) openCordons() []string {
	return s.nodesThat(func(n *Node) string { return textIf(n.Cordoned, " is", "") })
}

func (s *Snapshot) openVersions() []string {
	newest := newestKubelet(s.Nodes)
	return s.nodesThat(func(n *Node) string {
		if newest == "" || n.KubeletVersion == newest || n.KubeletVersion == "" { // all run the same, or that is not told
			return ""
		}
		return " (" + oneLine(n.KubeletVersion, 30) + ")"
	})
}

// servicesThat are the labels of the hosts whose compute services are open.
func (s *Snapshot) servicesThat(open func(*ComputeService) bool) []string {
	var out []string
	for host, svc := range s.Services {
		if open(svc) {
			out = append(out, oneLine(s.hostLabel(host), 64))
		}
	}
	slices.Sort(out)
	return out
}

func (s *Snapshot) openDisabled() []string {
	return s.servicesThat(func(c *ComputeService) bool { return !c.Enabled && c.DisabledReason == DisabledReasonMaintenance })
}

func (s *Snapshot) openDown() []string {
	return s.servicesThat(func(c *ComputeService) bool { return c.Enabled && !c.Up })
}

// ownReasons names the compute services that somebody has disabled for a reason of their own.
func (s *Snapshot) ownReasons() string {
	own := s.servicesThat(func(c *ComputeService) bool { return !c.Enabled && c.DisabledReason != DisabledReasonMaintenance })
	if len(own) == 0 {
		return ""
	}
	return "disabled for another reason: " + some(own, 8)
}

func (s *Snapshot) openAgents() []string {
	var out []string
	for host, agents := range s.Agents {
		for _, a := range agents {
			if !a.Alive && a.AdminUp {
				out = append(out, oneLine(s.hostLabel(host), 64)+": "+oneLine(a.Type, 40))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *Snapshot) openDeployments() []string {
	var out []string
	for _, o := range s.OpenStack {
		if o.State != "APPLIED" {
			out = append(out, oneLine(o.Name, 64)+" is "+textOf(oneLine(o.State, 20), "in no state")+dashed(oneLine(o.LCMProgress, 20)))
		}
	}
	return out
}

func (s *Snapshot) openHealth() []string {
	var out []string
	for _, o := range s.OpenStack {
		for _, name := range o.Unhealthy {
			out = append(out, oneLine(name, 100))
		}
	}
	return out
}

func (s *Snapshot) openDaemonSets() []string {
	var out []string
	for _, v := range s.DaemonViews() {
		if text := v.behind(); text != "" {
			out = append(out, v.Short()+" ("+text+")")
		}
	}
	return out
}

// changedNodes are the names of the nodes whose migration mode is still what Lockstep set, in the order of their labels.
func (s *Snapshot) changedNodes() []string {
	var out []string
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if c, ok := s.History.Changes[n.UID]; ok && equalText(n.annotation(c.Key), c.New) && !equalText(c.Old, c.New) {
			out = append(out, name)
		}
	}
	return out
}

func (s *Snapshot) openChanges() []string {
	var out []string
	for _, name := range s.changedNodes() {
		n := s.Nodes[name]
		c := s.History.Changes[n.UID]
		out = append(out, oneLine(n.Label(), 64)+" ("+oneLine(textOr(c.New, "not set"), 20)+")")
	}
	return out
}

// otherModes are the names of the nodes that have a migration mode which Lockstep did not set: it may be there for good.
func (s *Snapshot) otherModes() []string {
	changed := s.changedNodes()
	var out []string
	for _, name := range s.NodeNames() {
		if s.Nodes[name].annotation(AnnotationMigrationMode) != nil && !slices.Contains(changed, name) {
			out = append(out, name)
		}
	}
	return out
}

// stoppedAhead is how long before an update an instance may have been stopped for it.
const stoppedAhead = 24 * time.Hour

// taggedInstances are the instances whose maintenance tags are still what Lockstep set, by name, then ID.
func (s *Snapshot) taggedInstances() []*Instance {
	var out []*Instance
	for id, c := range s.History.Tags {
		if in := s.Instances[id]; in != nil && sameActions(recognisedTags(in.Tags), c.New) && !sameActions(c.Old, c.New) {
			out = append(out, in)
		}
	}
	return byName(out)
}

// broughtBackBy is the step that brings back an instance that was stopped or shelved; empty when it is neither.
func (in *Instance) broughtBackBy() IntentKind {
	switch in.Status {
	case "SHUTOFF":
		return IntentStart
	case "SHELVED", "SHELVED_OFFLOADED":
		return IntentUnshelve
	}
	return ""
}

// stoppedInstances are the instances that Lockstep stopped or shelved for the update and that are still down, by name, then
// ID.
func (s *Snapshot) stoppedInstances() []*Instance {
	var out []*Instance
	for id, r := range s.History.Stopped {
		if in := s.Instances[id]; in != nil && in.broughtBackBy() != "" && !r.At.Before(s.History.Update.Started.Add(-stoppedAhead)) {
			out = append(out, in)
		}
	}
	return byName(out)
}

func byName(list []*Instance) []*Instance {
	slices.SortFunc(list, func(a, b *Instance) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	return list
}

func instanceLabels(list []*Instance) []string {
	var out []string
	for _, in := range list {
		out = append(out, instanceLabel(in))
	}
	return out
}

// afterProcedure is what is left to do once the update is over, each point with the steps that see to it.
func (s *Snapshot) afterProcedure() (Procedure, bool) {
	p := Procedure{Title: "After the update", Goal: "Nothing that the update began or asked for is left over, and the cloud is seen to work."}
	if left, over := s.AfterUpdateLeft(); over {
		p.Summary = append(p.Summary, "the update ended at "+clockText(s.History.Update.Ended), textIf(left == 0, "every point is done", count(left, "point")+verb(left, " is", " are")+" left"))
	} else if s.ClusterRequest() != nil {
		p.Summary = append(p.Summary, "an update runs: this is what will be left once it is over")
	}
	for _, point := range s.AfterUpdate() {
		p.Steps = append(p.Steps, s.afterStep(point))
		p.Steps = append(p.Steps, s.afterWays(point)...)
	}
	p.Steps = append(p.Steps, s.afterOptions()...)
	return p, true
}

// afterStep is a point as a line of the procedure. It is nobody's to confirm: it is done when the facts say so.
func (s *Snapshot) afterStep(p AfterPoint) Step {
	st := Step{ID: "after/" + p.ID, Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, Title: p.Title, Why: p.Why, State: StepDone, Status: p.Note}
	switch {
	case p.Unknown != "":
		st.State, st.Status = StepWaiting, "not known: "+p.Unknown
	case len(p.Open) > 0:
		st.State, st.Status = StepWaiting, some(p.Open, 8)
	}
	return st
}

// singlyAtMost is how many of a kind are offered one by one beside the batch of them all.
const singlyAtMost = 30

// afterWays are the operator's steps that see to a point.
func (s *Snapshot) afterWays(p AfterPoint) []Step {
	var out []Step
	if p.Done() {
		return nil
	}
	switch p.ID {
	case "compute":
		for _, name := range s.NodeNames() {
			if svc := s.Services[s.HostOf(name)]; svc != nil && !svc.Enabled && svc.DisabledReason == DisabledReasonMaintenance {
				out = append(out, Plan(s, Intent{Kind: IntentEnableCompute, Node: name}))
			}
		}
	case "agents":
		for _, name := range s.NodeNames() {
			if slices.ContainsFunc(s.Agents[s.HostOf(name)], func(a *NetworkAgent) bool { return !a.Alive && a.AdminUp }) {
				out = append(out, Plan(s, Intent{Kind: IntentRestartAgents, Node: name}))
			}
		}
	case "annotations":
		for _, name := range s.changedNodes() {
			out = append(out, Plan(s, Intent{Kind: IntentRestoreMode, Node: name}))
		}
	case "stopped":
		for _, in := range s.stoppedInstances() {
			out = append(out, Plan(s, Intent{Kind: in.broughtBackBy(), Instance: in.ID}))
		}
	case "tags":
		for _, in := range s.taggedInstances() {
			out = append(out, Plan(s, Intent{Kind: IntentRestoreTags, Instance: in.ID}))
		}
	}
	if v, ok := s.DaemonView(p.Pods); ok && len(v.Old) > 0 {
		workload := v.Set.Namespace + "/" + v.Set.Name
		all := Plan(s, Intent{Kind: IntentRestartPods, Workload: workload})
		if len(v.Old) > 1 || all.State == StepRunning || all.State == StepFailed {
			out = append(out, all)
		}
		for _, pod := range v.Old[:min(len(v.Old), singlyAtMost)] {
			out = append(out, Plan(s, Intent{Kind: IntentRestartPod, Workload: workload, Node: pod.Node}))
		}
	}
	return out
}

// afterOptions is what does not count as left over: modes that are somebody's own, what Lockstep cannot see, and the test
// of the cloud.
func (s *Snapshot) afterOptions() []Step {
	var out []Step
	others := s.otherModes()
	var modes [][]string
	if len(others) > 1 {
		modes = append(modes, others)
	}
	for _, name := range others[:min(len(others), singlyAtMost)] {
		modes = append(modes, []string{name})
	}
	for _, names := range modes {
		st := Plan(s, Intent{Kind: IntentSetMode, Nodes: names})
		st.Why = join("Lockstep did not set it: where it was meant for this update only, remove it.", st.Why)
		out = append(out, st)
	}
	if slices.ContainsFunc(s.DaemonSets, func(d *DaemonSet) bool { return d.Namespace == namespaceFabric }) {
		out = append(out, Step{ID: "after/cassandra", Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, State: StepLater,
			Title: "Cassandra is repaired", Status: "Lockstep does not see it: look by hand",
			Why: "Tungsten Fabric's databases want a repair after an update: by the job tf-dbrepair-job, where the TFOperator's spec.features.dbRepair is on.",
			Commands: []string{shellCommand("kubectl", "-n", namespaceFabric, "get", "cronjobs,jobs"),
				shellCommand("kubectl", "-n", namespaceFabric, "get", "tfoperators.tf.mirantis.com", "-o", "yaml")}})
	}
	asked := s.tempestAsked()
	if !asked || s.TempestJob == nil || s.tempestIsOld() {
		out = append(out, Plan(s, Intent{Kind: IntentAddTempest}))
	}
	out = append(out, s.tempestStep())
	if asked {
		out = append(out, Plan(s, Intent{Kind: IntentRemoveTempest}))
	}
	return out
}

func afterProcedureKey() *ProcedureKey { return &ProcedureKey{Kind: ProcedureAfter} }

// restartsLong is for how long pods of the OpenStack controller's own DaemonSets may be old before that needs a look: it
// restarts them itself, one after the other (mosk-facts 4.1).
const restartsLong = 30 * time.Minute

// afterUpdate is one entry for all that an update left over. Old pods count also where the end of the update was not seen.
func (f *attentionFacts) afterUpdate() {
	if f.request != nil || !f.s.known(SourceClusterRequests) {
		return
	}
	a := Attention{ID: "after-update", Severity: SeverityNotice, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "after the update", Resolve: afterProcedureKey()}
	left, over := f.s.AfterUpdateLeft()
	var old []string
	for _, p := range f.s.AfterUpdate() {
		v, ok := f.s.DaemonView(p.Pods)
		if !ok || len(v.Old) == 0 || v.Set.Namespace == namespaceOpenStack && !v.Made.IsZero() && !f.long(v.Made, restartsLong) {
			continue // the OpenStack controller restarts its own, and is given the time
		}
		old = append(old, v.Short()+" ("+itoa(len(v.Old))+" of "+itoa(len(v.Pods))+")")
	}
	switch {
	case len(old) > 0:
		a.Severity = SeverityWarning
		a.Reason = "pods run an older revision until you restart them: " + some(old, 4)
	case over && left > 0:
		var titles []string
		for _, p := range f.s.AfterUpdate() {
			if !p.Done() && p.Unknown == "" {
				titles = append(titles, "not yet: "+p.Title)
			}
		}
		if len(titles) == 0 {
			return // what cannot be seen needs a source, and the sources tell that themselves
		}
		a.Reason = some(titles, 2)
	default:
		return
	}
	if over {
		a.Since = Since{At: f.s.History.Update.Ended, Exact: true}
	}
	f.add(a)
}
