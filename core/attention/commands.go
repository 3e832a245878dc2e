package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// rockoon is the namespace and name of the OpenStack controller's Deployment (docs/mosk.md#rockoon).
func (f *facts) rockoon() (namespace, name string) {
	if c := f.s.Controller; c != nil && c.Namespace != "" {
		return c.Namespace, c.Name
	}
	return "osh-system", "rockoon"
}

func (f *facts) kubectlRockoon(words ...string) string {
	namespace, _ := f.rockoon()
	return wording.ShellCommand(append([]string{"kubectl", "-n", namespace}, words...)...)
}

// rockoonObject is the OpenStack controller's Deployment, and rockoonEvents what happened in its namespace.
func (f *facts) rockoonObject() core.ObjectTarget {
	namespace, name := f.rockoon()
	return core.ObjectTarget{Server: core.ServerKubernetes, Kind: string(core.KindDeployment), Namespace: namespace, Name: name}
}

func (f *facts) rockoonEvents() core.Look {
	namespace, _ := f.rockoon()
	label := "namespace " + namespace
	return core.Look{Kind: core.LookEvents, What: label,
		Events: []core.EventTarget{{Server: core.ServerKubernetes, Namespace: namespace, Label: label}}}
}

// scaleUp is the way out when the controller is scaled to 0.
func scaleUp(f *facts, _ core.Attention) []core.Command {
	c := f.s.Controller
	if c == nil || c.Replicas > 0 {
		return nil
	}
	_, name := f.rockoon()
	return []core.Command{procedure.ToChange("scale it up", f.kubectlRockoon("scale", "deployment", name, "--replicas=1")),
		procedure.ToLook("who scaled it down", f.kubectlRockoon("get", "deployment", name, "-o", "yaml", "--show-managed-fields"))}
}

// atController shows the OpenStack controller's pods, what keeps them from running, and its log, if it can have a pod.
func atController(f *facts, a core.Attention) []core.Command {
	_, name := f.rockoon()
	out := []core.Command{procedure.ToLook("which pods there are",
		f.kubectlRockoon("get", "pods", "-o", "wide")+" | "+wording.ShellCommand("grep", "-e", "^NAME", "-e", "^"+name+"-")),
		procedure.ToLook("what keeps it", f.kubectlRockoon("describe", "deployment", name)).Showing(f.rockoonObject().As(core.LookDescribe)),
		procedure.ToLook("what happened last", f.kubectlRockoon("get", "events", "--sort-by=.lastTimestamp")).Showing(f.rockoonEvents())}
	if c := f.s.Controller; c != nil && c.Replicas == 0 {
		return out
	}
	return append(out, append(atControllerLog(f, a),
		procedure.ToLook("the log of the run before",
			f.kubectlRockoon("logs", "deployment/"+name, "-c", "nodemaintenancerequest", "--previous", "--tail=100")).
			Showing(core.Look{Kind: core.LookLog, What: "its previous run", Log: progress.RockoonLog(f.s, progress.ContainerMaintenance),
				Before: true}))...)
}

// atControllerLog is the log of the container that works on maintenance.
func atControllerLog(f *facts, _ core.Attention) []core.Command {
	_, name := f.rockoon()
	return []core.Command{procedure.ToLook("the controller's log",
		f.kubectlRockoon("logs", "deployment/"+name, "-c", "nodemaintenancerequest", "--tail=100")).
		Showing(progress.RockoonLog(f.s, progress.ContainerMaintenance).IsLog())}
}

// atNodeLog is the log of the container that makes the locks of nodes.
func atNodeLog(f *facts, _ core.Attention) []core.Command {
	_, name := f.rockoon()
	return []core.Command{procedure.ToLook("the controller's log on nodes",
		f.kubectlRockoon("logs", "deployment/"+name, "-c", "node", "--tail=100")).
		Showing(progress.RockoonLog(f.s, progress.ContainerNode).IsLog())}
}

// playController is for a controller that is down on purpose, or cannot run for hours.
func playController(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("play it, where it cannot run",
		wording.ShellCommand("lockstep", "--act-as", core.ControllerOpenStack))}
}

func atRoleLabels(f *facts, _ core.Attention) []core.Command {
	_, name := f.rockoon()
	return []core.Command{procedure.ToLook("the setting",
		f.kubectlRockoon("get", "deployment", name, "-o", "yaml")+" | "+wording.ShellCommand("grep", "-A1", "OSCTL_OPENSTACK_NODE_LABELS"))}
}

func atOpenStack(f *facts, _ core.Attention) []core.Command {
	return procedure.LookAtOpenStack(f.s, nil, progress.LockMessage{})
}

func atDeployment(f *facts, _ core.Attention) []core.Command {
	_, name := f.rockoon()
	return append(procedure.LookAtDeployment(f.s, nil, progress.LockMessage{}),
		procedure.ToLook("the controller's log on it", f.kubectlRockoon("logs", "deployment/"+name, "-c", "osdpl", "--tail=100")).
			Showing(progress.RockoonLog(f.s, progress.ContainerDeployment).IsLog()))
}

// atSources asks the servers by hand for what Lockstep could not read.
func atSources(f *facts, a core.Attention) []core.Command {
	var out []core.Command
	for _, src := range f.sourcesOf(a) {
		for _, line := range procedure.SourceCommands(f.s, src) {
			if !hasLine(out, line) {
				out = append(out, procedure.ToLook("whether it answers", line))
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	switch source := core.SourceID(a.Subject.Name); {
	case source.Server() == core.ServerOpenStack || a.Subject.Name == string(core.ServerOpenStack):
		return []core.Command{procedure.ToLook("whether it answers", wording.ShellCommand("openstack", "token", "issue"))}
	case source.Server() == core.ServerManagement || a.Subject.Name == string(core.ServerManagement):
		return []core.Command{procedure.ToLook("whether it answers", f.s.Place.Kubectl("get", "--raw", "/readyz"))}
	}
	return []core.Command{procedure.ToLook("whether it answers", wording.ShellCommand("kubectl", "get", "--raw", "/readyz"))}
}

func giveLabels(f *facts, a core.Attention) []core.Command {
	if n := f.s.Nodes[a.Node]; n == nil || n.HasOpenStackRole() {
		return nil
	}
	line := progress.LabelCommand(a.Node, progress.LostLabels(f.s, a.Node, f.s.NodeLock(a.Node, core.ControllerOpenStack)))
	if line == "" {
		return nil
	}
	return []core.Command{procedure.ToChange("give it its role back", line)}
}

func atLabels(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("its labels", wording.ShellCommand("kubectl", "get", "node", a.Node, "--show-labels"))}
}

func atAnnotations(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("its annotations",
		wording.ShellCommand("kubectl", "get", "node", a.Node, "-o", "jsonpath={.metadata.annotations}"))}
}

func dropMode(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("remove it: live counts then",
		wording.AnnotateCommand(a.Node, core.AnnotationMigrationMode, nil))}
}

func dropAttempts(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("remove it", wording.AnnotateCommand(a.Node, core.AnnotationMigrationAttempts, nil))}
}

// putModeBack sets the annotation back to what it was before Lockstep changed it.
func putModeBack(f *facts, a core.Attention) []core.Command {
	n := f.s.Nodes[a.Node]
	if n == nil {
		return nil
	}
	c, changed := f.s.History.Changes[n.UID]
	if !changed {
		return nil
	}
	return []core.Command{procedure.ToChange("set it back", wording.AnnotateCommand(a.Node, c.Key, c.Old))}
}

func atNode(_ *facts, a core.Attention) []core.Command {
	if a.Node == "" {
		return nil
	}
	return []core.Command{procedure.ToLook("the node", wording.ShellCommand("kubectl", "describe", "node", a.Node)).
		Showing(core.ObjectTarget{Server: core.ServerKubernetes, Kind: string(core.KindNode), Name: a.Node}.As(core.LookDescribe))}
}

func atNodes(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the nodes", wording.ShellCommand("kubectl", "get", "nodes", "-o", "wide"))}
}

// atRequest shows the request of the node, or of the cluster.
func atRequest(f *facts, a core.Attention) []core.Command {
	if a.Node == "" {
		return []core.Command{procedure.ToLook("what is asked for",
			wording.ShellCommand("kubectl", "get", "clustermaintenancerequests", "-o", "yaml"))}
	}
	if r := f.s.NodeRequest(a.Node); r != nil {
		return []core.Command{procedure.ToLook("what is asked of it",
			wording.ShellCommand("kubectl", "get", "nodemaintenancerequest", r.Name, "-o", "yaml")).
			Showing(core.TargetOf(core.ServerKubernetes, r.Ref()).As(core.LookYAML))}
	}
	return atRequests(f, a)
}

func atRequests(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what is asked for",
		wording.ShellCommand("kubectl", "get", "clustermaintenancerequests,nodemaintenancerequests"))}
}

func giveScope(f *facts, a core.Attention) []core.Command {
	if r := f.s.NodeRequest(a.Node); progress.LacksScope(r) {
		return []core.Command{procedure.ToChange("give it its scope", step.ScopeCommand(r))}
	}
	return nil
}

func atRemoval(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what is asked of it", wording.ShellCommand("kubectl", "get", "nodedeletionrequests"))}
}

// atPods shows the pods of OpenStack on the node: its return waits until they are ready.
func atPods(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("its pods",
		progress.KubectlOpenStack("get", "pods", "-o", "wide", "--field-selector=spec.nodeName="+a.Node))}
}

func atEndedPods(f *facts, a core.Attention) []core.Command {
	const most = 3
	var out []core.Command
	for i, e := range progress.HeldByEndedPods(f.s, a.Node) {
		if i == most {
			break
		}
		out = append(out, procedure.ToLook("why it ended", wording.ShellCommand("kubectl", "-n", e.Namespace, "describe", "pod", e.Name)).
			Showing(core.TargetOf(core.ServerKubernetes, e.Ref()).As(core.LookDescribe)),
			procedure.ToChange("delete it", wording.ShellCommand("kubectl", "-n", e.Namespace, "delete", "pod", e.Name)))
	}
	return append(out, atPods(f, a)...)
}

func atCompute(f *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what Nova says of it",
		wording.ShellCommand("openstack", "compute", "service", "list", "--service", "nova-compute", "--host", f.s.HostOf(a.Node))),
		procedure.ToLook("the pod of nova-compute",
			progress.KubectlOpenStack("get", "pods", "-o", "wide", "-l", "application=nova,component=compute",
				"--field-selector=spec.nodeName="+a.Node)).Showing(progress.ComputeLog(f.s, a.Node).IsLog())}
}

func newComputePod(f *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("let a new pod announce it", progress.ComputePodCommand(f.s, a.Node))}
}

func enableCompute(f *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("enable it",
		wording.ShellCommand("openstack", "compute", "service", "set", "--enable", f.s.HostOf(a.Node), "nova-compute"))}
}

func enableVolumes(f *facts, a core.Attention) []core.Command {
	var out []core.Command
	for _, v := range f.s.VolumeServicesOn(a.Node) {
		if v.LeftDisabled() {
			out = append(out, procedure.ToChange("enable it", step.SetVolumeCommand(v.Host, true, "")))
		}
	}
	return out
}

func atVolumeServices(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what Cinder says", wording.ShellCommand("openstack", "volume", "service", "list", "--long"))}
}

func atInstances(f *facts, a core.Attention) []core.Command {
	if a.Node == "" { // the entry is about many nodes
		return []core.Command{procedure.ToLook("what will move", wording.ShellCommand("lockstep", "plan"))}
	}
	return []core.Command{procedure.ToLook("its instances",
		wording.ShellCommand("openstack", "server", "list", "--all-projects", "--long", "--host", f.s.HostOf(a.Node)))}
}

func atInstance(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the instance", wording.ShellCommand("openstack", "server", "show", a.Instance)),
		procedure.ToLook("what was done with it", wording.ShellCommand("openstack", "server", "event", "list", a.Instance))}
}

func decideMigration(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToChange("leave it where it is now",
		wording.ShellCommand("openstack", "server", "resize", "confirm", a.Instance)),
		procedure.ToChange("put it back", wording.ShellCommand("openstack", "server", "resize", "revert", a.Instance))}
}

func atMigration(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("its migrations",
		wording.ShellCommand("openstack", "server", "migration", "list", "--server", a.Instance))}
}

// atRoom shows where there is room for an instance.
func atRoom(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("where there is room",
		wording.ShellCommand("openstack", "--os-compute-api-version", "2.87", "hypervisor", "list", "--long"))}
}

func atTags(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("its tags",
		wording.ShellCommand("openstack", "--os-compute-api-version", step.TagVersion, "server", "show", "-c", "tags", a.Instance))}
}

func putTagsBack(f *facts, a core.Attention) []core.Command {
	c, tagged := f.s.History.Tags[a.Instance]
	if !tagged {
		return nil
	}
	var out []core.Command
	for _, line := range step.TagCommands(a.Instance, c.New, c.Old) {
		out = append(out, procedure.ToChange("set them back", line))
	}
	return out
}

// atBlockingPod shows the pod that blocks a drain, and deletes it: its workload creates another one elsewhere.
func atBlockingPod(f *facts, a core.Attention) []core.Command {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	var out []core.Command
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d == nil || !progress.DrainBlocked(d) {
			continue
		}
		m := progress.ReadDrainMessage(d.Message)
		for i, line := range m.Commands() {
			look := procedure.ToLook([]string{"the pod that stays", "what its budget allows"}[i], line)
			if i == 0 && m.Pod != "" {
				look = look.Showing(progress.PodLog(m.Namespace, m.Pod).IsLog())
			}
			out = append(out, look)
		}
		switch {
		case m.Ending:
			about := core.EventTarget{Server: core.ServerKubernetes, Namespace: m.Namespace, Kind: "Pod", Name: m.Pod, Label: m.Pod}
			out = append(out, procedure.ToLook("what keeps it", wording.ShellCommand("kubectl", "-n", m.Namespace, "get", "events",
				"--field-selector=involvedObject.name="+m.Pod)).
				Showing(core.Look{Kind: core.LookEvents, What: "Pod " + m.Pod, Events: []core.EventTarget{about}}))
		case m.Pod != "":
			out = append(out, procedure.ToChange("delete it, if it may go",
				wording.ShellCommand("kubectl", "-n", m.Namespace, "delete", "pod", m.Pod)))
		}
	}
	return out
}

func atDaemonSets(f *facts, _ core.Attention) []core.Command {
	out := []core.Command{procedure.ToLook("the DaemonSets of OpenStack", progress.KubectlOpenStack("get", "daemonsets"))}
	if slices.ContainsFunc(f.s.DaemonSets, func(d *core.DaemonSet) bool { return d.Namespace == core.NamespaceFabric }) {
		out = append(out, procedure.ToLook("those of OpenSDN", wording.ShellCommand("kubectl", "-n", core.NamespaceFabric, "get", "daemonsets")))
	}
	return out
}

// atOperation shows what the step was about, and the items of a batch that failed.
func atOperation(f *facts, a core.Attention) []core.Command {
	const most = 3
	op := f.operationOf(a)
	if op == nil {
		return nil
	}
	var out []core.Command
	if op.Instance != "" {
		out = append(out, atInstance(f, a)...)
	}
	for _, it := range op.Items {
		if it.Instance != "" && (it.State == core.OperationFailed || it.State == core.OperationUnknown) && len(out) < most {
			out = append(out, procedure.ToLook(wording.OneLine(it.Label, 40), wording.ShellCommand("openstack", "server", "show", it.Instance)))
		}
	}
	if op.Node != "" {
		out = append(out, atNode(f, a)...)
	}
	if len(out) == 0 {
		out = append(out, procedure.ToLook("how the update is", wording.ShellCommand("lockstep", "status")))
	}
	return out
}

// atLease shows who holds the operator lease.
func atLease(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("who may write now",
		wording.ShellCommand("kubectl", "get", "leases", "--all-namespaces")+" | "+wording.ShellCommand("grep", "-e", "lockstep-operator"))}
}

func atDeployments(*facts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("how many there are", progress.KubectlOpenStack("get", "openstackdeployments", "-o", "wide")),
		procedure.ToLook("their statuses", progress.KubectlOpenStack("get", "osdplst"))}
}
