package core

import (
	"slices"
	"strings"
)

// rockoon is the namespace and the name of the OpenStack controller's Deployment (docs/mosk.md#rockoon).
func (f *attentionFacts) rockoon() (namespace, name string) {
	if c := f.s.Controller; c != nil && c.Namespace != "" {
		return c.Namespace, c.Name
	}
	return "osh-system", "rockoon"
}

func (f *attentionFacts) kubectlRockoon(words ...string) string {
	namespace, _ := f.rockoon()
	return shellCommand(append([]string{"kubectl", "-n", namespace}, words...)...)
}

// scaleUp is the way out of a controller that is scaled to nothing.
func scaleUp(f *attentionFacts, _ Attention) []Command {
	c := f.s.Controller
	if c == nil || c.Replicas > 0 {
		return nil
	}
	_, name := f.rockoon()
	return []Command{change("scale it up", f.kubectlRockoon("scale", "deployment", name, "--replicas=1")),
		look("who scaled it down", f.kubectlRockoon("get", "deployment", name, "-o", "yaml", "--show-managed-fields"))}
}

// atController shows the OpenStack controller's pods, what keeps them, and what it says. Without a pod there is no log.
func atController(f *attentionFacts, a Attention) []Command {
	_, name := f.rockoon()
	out := []Command{look("which pods there are", f.kubectlRockoon("get", "pods", "-o", "wide")+" | "+shellCommand("grep", "-e", "^NAME", "-e", "^"+name+"-")),
		look("what keeps it", f.kubectlRockoon("describe", "deployment", name)),
		look("what happened last", f.kubectlRockoon("get", "events", "--sort-by=.lastTimestamp"))}
	if c := f.s.Controller; c != nil && c.Replicas == 0 {
		return out
	}
	return append(out, append(atControllerLog(f, a), look("the log of the run before", f.kubectlRockoon("logs", "deployment/"+name, "-c", "nodemaintenancerequest", "--previous", "--tail=100")))...)
}

// atControllerLog is the log of the container that works on maintenance.
func atControllerLog(f *attentionFacts, _ Attention) []Command {
	_, name := f.rockoon()
	return []Command{look("the controller's log", f.kubectlRockoon("logs", "deployment/"+name, "-c", "nodemaintenancerequest", "--tail=100"))}
}

// atNodeLog is the log of the container that makes the locks of nodes.
func atNodeLog(f *attentionFacts, _ Attention) []Command {
	_, name := f.rockoon()
	return []Command{look("the controller's log on nodes", f.kubectlRockoon("logs", "deployment/"+name, "-c", "node", "--tail=100"))}
}

// playController is for a controller that is down on purpose, or that cannot run for hours.
func playController(f *attentionFacts, _ Attention) []Command {
	return []Command{change("play it, where it cannot run", shellCommand("lockstep", "--act-as", ControllerOpenStack))}
}

func atRoleLabels(f *attentionFacts, _ Attention) []Command {
	_, name := f.rockoon()
	return []Command{look("the setting", f.kubectlRockoon("get", "deployment", name, "-o", "yaml")+" | "+shellCommand("grep", "-A1", "OSCTL_OPENSTACK_NODE_LABELS"))}
}

func atOpenStack(f *attentionFacts, _ Attention) []Command {
	return lookAtOpenStack(f.s, nil, LockMessage{})
}

func atDeployment(f *attentionFacts, _ Attention) []Command {
	_, name := f.rockoon()
	return append(lookAtDeployment(f.s, nil, LockMessage{}), look("the controller's log on it", f.kubectlRockoon("logs", "deployment/"+name, "-c", "osdpl", "--tail=100")))
}

// atSources asks the servers by hand what Lockstep could not learn.
func atSources(f *attentionFacts, a Attention) []Command {
	var out []Command
	for _, src := range f.sourcesOf(a) {
		for _, line := range f.s.sourceCommands(src) {
			if !hasLine(out, line) {
				out = append(out, look("whether it answers", line))
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	switch Source := SourceID(a.Subject.Name); {
	case Source.Server() == ServerOpenStack || a.Subject.Name == string(ServerOpenStack):
		return []Command{look("whether it answers", shellCommand("openstack", "token", "issue"))}
	case Source.Server() == ServerManagement || a.Subject.Name == string(ServerManagement):
		return []Command{look("whether it answers", f.s.Place.kubectl("get", "--raw", "/readyz"))}
	}
	return []Command{look("whether it answers", shellCommand("kubectl", "get", "--raw", "/readyz"))}
}

// getLock shows a lock as it stands.
func getLock(l *WorkloadLock) Command {
	return look("the lock", shellCommand("kubectl", "get", strings.ToLower(string(l.Kind)), l.Name, "-o", "yaml"))
}

// atLock shows what a lock's text is about, the lock, and who holds it.
func atLock(f *attentionFacts, a Attention) []Command {
	l := f.lockOf(a)
	if l == nil {
		return atClusterLocks(f, a)
	}
	return f.lockCommands(l, a)
}

func (f *attentionFacts) lockCommands(l *WorkloadLock, a Attention) []Command {
	out := append(f.s.lookCommands(l, f.message(l)), getLock(l))
	switch l.Controller {
	case ControllerOpenStack:
		out = append(out, atControllerLog(f, a)...)
	case ControllerCeph:
		out = append(out, look("how Ceph is", shellCommand("kubectl", "-n", "rook-ceph", "get", "cephclusters")))
	case ControllerTungstenFabric:
		out = append(out, look("its pods", shellCommand("kubectl", "-n", namespaceFabric, "get", "pods", "-o", "wide")))
	default:
		for i, line := range askCommands(l) {
			out = append(out, look([]string{"who wrote it", "what runs by that name"}[i], line))
		}
	}
	return out
}

// atAnyLock shows the lock of a played controller, or all of the cluster where it has none.
func atAnyLock(f *attentionFacts, a Attention) []Command {
	if l := f.playedLock(a); l != nil {
		return []Command{getLock(l)}
	}
	return atClusterLocks(f, a)
}

func atClusterLocks(*attentionFacts, Attention) []Command {
	return []Command{look("the cluster's locks", shellCommand("kubectl", "get", "clusterworkloadlocks"))}
}

func atNodeLock(f *attentionFacts, a Attention) []Command {
	if l := f.s.NodeLock(a.Node, ControllerOpenStack); l != nil {
		return []Command{getLock(l)}
	}
	return atLocksOfNode(f, a)
}

func atLocksOfNode(_ *attentionFacts, a Attention) []Command {
	list := shellCommand("kubectl", "get", "nodeworkloadlocks", "-o", "wide")
	if a.Node == "" {
		return []Command{look("the locks of nodes", list)}
	}
	return []Command{look("its locks", list+" | "+shellCommand("grep", "-e", a.Node))}
}

// atWhatItSays shows more of what the OpenStack controller says of the node.
func atWhatItSays(f *attentionFacts, a Attention) []Command {
	l := f.s.NodeLock(a.Node, ControllerOpenStack)
	if l == nil {
		return nil
	}
	return f.s.lookCommands(l, f.message(l))
}

func atOthers(f *attentionFacts, _ Attention) []Command {
	return lookAtOthers(f.s, nil, LockMessage{})
}

// holdAgain sets the node's lock active, where it was left inactive, so that LCM waits for it.
func holdAgain(f *attentionFacts, a Attention) []Command {
	l := f.s.NodeLock(a.Node, ControllerOpenStack)
	if l == nil || l.State() != LockInactive || f.s.NodeRequest(a.Node) != nil && !f.s.NodeRequest(a.Node).Deleting.IsZero() {
		return nil
	}
	return []Command{change("hold LCM", lockCommand(l.Ref(), LockStatus{State: LockActive}))}
}

func clearInner(f *attentionFacts, a Attention) []Command {
	if l := f.s.NodeLock(a.Node, ControllerOpenStack); l != nil {
		return []Command{change("clear it, as the last resort", innerCommand(l.Ref(), InnerInactive))}
	}
	return nil
}

func holdByOwnLock(_ *attentionFacts, a Attention) []Command {
	return []Command{change("hold it by your own lock", createLockCommand(ownLock(a.Node)))}
}

func giveLabels(f *attentionFacts, a Attention) []Command {
	if n := f.s.Nodes[a.Node]; n == nil || n.hasOpenStackRole() {
		return nil
	}
	line := labelCommand(a.Node, f.s.lostLabels(a.Node, f.s.NodeLock(a.Node, ControllerOpenStack)))
	if line == "" {
		return nil
	}
	return []Command{change("give it its role back", line)}
}

func atLabels(_ *attentionFacts, a Attention) []Command {
	return []Command{look("its labels", shellCommand("kubectl", "get", "node", a.Node, "--show-labels"))}
}

func atAnnotations(_ *attentionFacts, a Attention) []Command {
	return []Command{look("its annotations", shellCommand("kubectl", "get", "node", a.Node, "-o", "jsonpath={.metadata.annotations}"))}
}

func dropMode(_ *attentionFacts, a Attention) []Command {
	return []Command{change("remove it: live counts then", annotateCommand(a.Node, AnnotationMigrationMode, nil))}
}

func dropAttempts(_ *attentionFacts, a Attention) []Command {
	return []Command{change("remove it", annotateCommand(a.Node, AnnotationMigrationAttempts, nil))}
}

// putModeBack is the annotation as it was before Lockstep set it.
func putModeBack(f *attentionFacts, a Attention) []Command {
	n := f.s.Nodes[a.Node]
	if n == nil {
		return nil
	}
	c, changed := f.s.History.Changes[n.UID]
	if !changed {
		return nil
	}
	return []Command{change("set it back", annotateCommand(a.Node, c.Key, c.Old))}
}

func atNode(_ *attentionFacts, a Attention) []Command {
	if a.Node == "" {
		return nil
	}
	return []Command{look("the node", shellCommand("kubectl", "describe", "node", a.Node))}
}

func atNodes(*attentionFacts, Attention) []Command {
	return []Command{look("the nodes", shellCommand("kubectl", "get", "nodes", "-o", "wide"))}
}

// atRequest shows what is asked of the node, or of the cluster.
func atRequest(f *attentionFacts, a Attention) []Command {
	if a.Node == "" {
		return []Command{look("what is asked for", shellCommand("kubectl", "get", "clustermaintenancerequests", "-o", "yaml"))}
	}
	if r := f.s.NodeRequest(a.Node); r != nil {
		return []Command{look("what is asked of it", shellCommand("kubectl", "get", "nodemaintenancerequest", r.Name, "-o", "yaml"))}
	}
	return atRequests(f, a)
}

func atRequests(*attentionFacts, Attention) []Command {
	return []Command{look("what is asked for", shellCommand("kubectl", "get", "clustermaintenancerequests,nodemaintenancerequests"))}
}

func giveScope(f *attentionFacts, a Attention) []Command {
	if r := f.s.NodeRequest(a.Node); lacksScope(r) {
		return []Command{change("give it its scope", scopeCommand(r))}
	}
	return nil
}

func atRemoval(_ *attentionFacts, a Attention) []Command {
	return []Command{look("what is asked of it", shellCommand("kubectl", "get", "nodedeletionrequests"))}
}

// atPods shows the pods of OpenStack on the node: its return waits until they are ready.
func atPods(_ *attentionFacts, a Attention) []Command {
	return []Command{look("its pods", kubectlOpenStack("get", "pods", "-o", "wide", "--field-selector=spec.nodeName="+a.Node))}
}

func atEndedPods(f *attentionFacts, a Attention) []Command {
	const most = 3
	var out []Command
	for i, e := range f.s.heldByEndedPods(a.Node) {
		if i == most {
			break
		}
		out = append(out, look("why it ended", shellCommand("kubectl", "-n", e.Namespace, "describe", "pod", e.Name)),
			change("delete it", shellCommand("kubectl", "-n", e.Namespace, "delete", "pod", e.Name)))
	}
	return append(out, atPods(f, a)...)
}

func atCompute(f *attentionFacts, a Attention) []Command {
	return []Command{look("what Nova says of it", shellCommand("openstack", "compute", "service", "list", "--service", "nova-compute", "--host", f.s.HostOf(a.Node))),
		look("the pod of nova-compute", kubectlOpenStack("get", "pods", "-o", "wide", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+a.Node))}
}

func newComputePod(f *attentionFacts, a Attention) []Command {
	return []Command{change("let a new pod announce it", f.s.computePodCommand(a.Node))}
}

func enableCompute(f *attentionFacts, a Attention) []Command {
	return []Command{change("enable it", shellCommand("openstack", "compute", "service", "set", "--enable", f.s.HostOf(a.Node), "nova-compute"))}
}

func enableVolumes(f *attentionFacts, a Attention) []Command {
	var out []Command
	for _, v := range f.s.VolumeServicesOn(a.Node) {
		if v.forMaintenance() {
			out = append(out, change("enable it", setVolumeCommand(v.Host, true, "")))
		}
	}
	return out
}

func atVolumeServices(*attentionFacts, Attention) []Command {
	return []Command{look("what Cinder says", shellCommand("openstack", "volume", "service", "list", "--long"))}
}

func atInstances(f *attentionFacts, a Attention) []Command {
	if a.Node == "" { // one for many nodes
		return []Command{look("what will move", shellCommand("lockstep", "plan"))}
	}
	return []Command{look("its instances", shellCommand("openstack", "server", "list", "--all-projects", "--long", "--host", f.s.HostOf(a.Node)))}
}

func atInstance(_ *attentionFacts, a Attention) []Command {
	return []Command{look("the instance", shellCommand("openstack", "server", "show", a.Instance)),
		look("what was done with it", shellCommand("openstack", "server", "event", "list", a.Instance))}
}

func decideMigration(_ *attentionFacts, a Attention) []Command {
	return []Command{change("leave it where it is now", shellCommand("openstack", "server", "resize", "confirm", a.Instance)),
		change("put it back", shellCommand("openstack", "server", "resize", "revert", a.Instance))}
}

func atMigration(_ *attentionFacts, a Attention) []Command {
	return []Command{look("its migrations", shellCommand("openstack", "server", "migration", "list", "--server", a.Instance))}
}

// atRoom shows where an instance could go to.
func atRoom(*attentionFacts, Attention) []Command {
	return []Command{look("where there is room", shellCommand("openstack", "--os-compute-api-version", "2.87", "hypervisor", "list", "--long"))}
}

func atTags(_ *attentionFacts, a Attention) []Command {
	return []Command{look("its tags", shellCommand("openstack", "--os-compute-api-version", tagVersion, "server", "show", "-c", "tags", a.Instance))}
}

func putTagsBack(f *attentionFacts, a Attention) []Command {
	c, tagged := f.s.History.Tags[a.Instance]
	if !tagged {
		return nil
	}
	var out []Command
	for _, line := range tagCommands(a.Instance, c.New, c.Old) {
		out = append(out, change("set them back", line))
	}
	return out
}

// atBlockingPod shows what keeps a drain, and deletes it: its workload makes another one elsewhere.
func atBlockingPod(f *attentionFacts, a Attention) []Command {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	var out []Command
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d == nil || !d.Blocked() {
			continue
		}
		m := ReadDrainMessage(d.Message)
		for i, line := range m.commands() {
			out = append(out, look([]string{"the pod that stays", "what its budget allows"}[i], line))
		}
		if m.Pod != "" {
			out = append(out, change("delete it, if it may go", shellCommand("kubectl", "-n", m.Namespace, "delete", "pod", m.Pod)))
		}
	}
	return out
}

func atDrains(f *attentionFacts, a Attention) []Command {
	v := f.machineOf(a)
	if v == nil {
		return atDrainsAll(f, a)
	}
	var out []Command
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d != nil {
			out = append(out, look("the drain, as LCM sees it", f.s.kubectlManagement("get", "lcmclusterstates", d.Name, "-o", "yaml")))
		}
	}
	if len(out) == 0 {
		return atDrainsAll(f, a)
	}
	return out
}

func atDrainsAll(f *attentionFacts, _ Attention) []Command {
	return []Command{look("the drains, as LCM sees them", f.s.kubectlManagement("get", "lcmclusterstates", "-o", "wide")),
		look("the machines", f.s.kubectlManagement("get", "lcmmachines", "-o", "wide"))}
}

// atLCM shows which pods' log has LCM's words (docs/mosk.md#when-it-hangs).
func atLCM(f *attentionFacts, _ Attention) []Command {
	return []Command{look("whose log has LCM's words", f.s.Place.kubectl("-n", "kaas", "get", "pods")+" | "+shellCommand("grep", "-e", "lcm-controller"))}
}

func atMachine(f *attentionFacts, a Attention) []Command {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	return []Command{look("what LCM does on it", f.s.kubectlManagement("get", "lcmmachines", v.Name, "-o", "yaml"))}
}

func atMachines(f *attentionFacts, _ Attention) []Command {
	return []Command{look("the machines", f.s.kubectlManagement("get", "machines.cluster.k8s.io", "-o", "wide"))}
}

func atLCMCluster(f *attentionFacts, a Attention) []Command {
	return []Command{look("what LCM says", f.s.kubectlManagement("get", "lcmclusters", a.Subject.Name, "-o", "yaml"))}
}

func atPlan(f *attentionFacts, _ Attention) []Command {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	return []Command{look("the plan", f.s.kubectlManagement("get", "clusterupdateplans", p.Name, "-o", "yaml"))}
}

// commenceNext begins the step of the plan that comes next.
func commenceNext(f *attentionFacts, _ Attention) []Command {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	next, waits := p.next()
	i := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.ID == next.ID })
	if !waits || i < 0 {
		return nil
	}
	return []Command{change("commence it", f.s.commenceCommand(p, i))}
}

// commencePaused lets a step go on that an alert has paused, once the alert is over.
func commencePaused(f *attentionFacts, _ Attention) []Command {
	p := f.s.Management.Plan()
	if p == nil || f.s.Management.Pause != nil && len(f.s.Management.Pause.Firing) > 0 {
		return nil
	}
	i := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.Status == PlanAutoPaused })
	if i < 0 {
		return nil
	}
	return []Command{change("commence it again", f.s.commenceCommand(p, i))}
}

func atPause(f *attentionFacts, _ Attention) []Command {
	return []Command{look("what pauses it", f.s.kubectlManagement("get", "updateautopauses", "-o", "yaml"))}
}

func atManagementReleases(f *attentionFacts, _ Attention) []Command {
	return []Command{look("the release that it runs", f.s.Place.kubectl("get", "kaasreleases", "-l", labelReleaseActive)),
		look("its own upgrade", f.s.Place.kubectl("get", "mccupgrades", upgradeName, "-o", "yaml"))}
}

func atDaemonSets(f *attentionFacts, _ Attention) []Command {
	out := []Command{look("the DaemonSets of OpenStack", kubectlOpenStack("get", "daemonsets"))}
	if slices.ContainsFunc(f.s.DaemonSets, func(d *DaemonSet) bool { return d.Namespace == namespaceFabric }) {
		out = append(out, look("those of OpenSDN", shellCommand("kubectl", "-n", namespaceFabric, "get", "daemonsets")))
	}
	return out
}

// atOperation shows what the step was about, and of a batch what did not go well.
func atOperation(f *attentionFacts, a Attention) []Command {
	const most = 3
	op := f.operationOf(a)
	if op == nil {
		return nil
	}
	var out []Command
	if op.Instance != "" {
		out = append(out, atInstance(f, a)...)
	}
	for _, it := range op.Items {
		if it.Instance != "" && (it.State == OperationFailed || it.State == OperationUnknown) && len(out) < most {
			out = append(out, look(oneLine(it.Label, 40), shellCommand("openstack", "server", "show", it.Instance)))
		}
	}
	if op.Node != "" {
		out = append(out, atNode(f, a)...)
	}
	if len(out) == 0 {
		out = append(out, look("how the update is", shellCommand("lockstep", "status")))
	}
	return out
}

// atLease shows who holds the Lease by which operators keep out of each other's way.
func atLease(*attentionFacts, Attention) []Command {
	return []Command{look("who may write now", shellCommand("kubectl", "get", "leases", "--all-namespaces")+" | "+shellCommand("grep", "-e", "lockstep-operator"))}
}
