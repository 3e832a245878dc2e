package scene

import (
	"time"

	"lockstep/core"
)

// Managed connects a scene to a management cluster: each of its nodes has a Machine and an LCMMachine with the node's name, all at
// rest. A test may change them before it calls Join.
type Managed struct {
	Scene
	Cluster  *core.ManagedCluster
	Lcm      *core.LCMCluster
	Plan     *core.UpdatePlan
	Machines map[string]*core.ManagedMachine
	Agents   map[string]*core.LCMMachine
}

// Managed connects the scene to a management cluster at rest.
func (sc Scene) Managed() *Managed {
	m := &Managed{Scene: sc, Machines: map[string]*core.ManagedMachine{}, Agents: map[string]*core.LCMMachine{}}
	m.Place = core.ManagementPlace{Context: "mgmt"}
	for _, id := range core.ManagementSources() {
		m.Sources[id] = core.Source{ID: id, State: core.SourceLive, Since: Ago(time.Hour), AsOf: Ago(2 * time.Second)}
	}
	meta := func(name string) core.Meta {
		return core.Meta{Name: name, Namespace: "prod", UID: "uid-" + name, Created: Ago(900 * time.Hour)}
	}
	m.Cluster = &core.ManagedCluster{Meta: meta("mos"), Ready: true, ReadyKnown: true, Release: "mosk-17-4-0-25-1", Target: "mosk-17-4-0-25-1",
		Maintenance: new(false)}
	m.Lcm = &core.LCMCluster{Meta: meta("mos")}
	for name, n := range sc.Nodes {
		m.Machines[name] = &core.ManagedMachine{Meta: meta("m-" + name), Cluster: "mos", Node: name, Ready: true, ReadyKnown: true,
			Maintenance: new(false), Control: n.Is(core.RoleMaster)}
		m.Agents[name] = &core.LCMMachine{Meta: meta("m-" + name), Cluster: "mos", Hostname: name, State: core.LCMReady}
	}
	return m
}

// Planned adds an update plan with the documents' steps, of which the first n are complete.
func (m *Managed) Planned(complete int) *core.UpdatePlan {
	m.Plan = &core.UpdatePlan{Meta: core.Meta{Name: "mos-21.0.0", Namespace: "prod", UID: "plan"}, Cluster: "mos", Status: core.PlanInProgress,
		Source: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2", Started: Ago(3 * time.Hour)}
	for i, id := range []string{"openstack", "ceph", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"} {
		st := core.PlanStep{ID: id, Name: "Update of " + id, Status: core.PlanNotStarted, Estimate: "1h30m0s", Granularity: "cluster"}
		if i < complete {
			st.Status, st.Commence, st.Started, st.Duration = core.PlanCompleted, true, Ago(3*time.Hour), "26m36.355605528s"
		}
		m.Plan.Steps = append(m.Plan.Steps, st)
	}
	return m.Plan
}

// Join puts the management cluster that was set up into the Snapshot.
func (m *Managed) Join(others ...core.Object) Scene {
	objects := append([]core.Object{m.Cluster, m.Lcm}, others...)
	for _, o := range m.Machines {
		objects = append(objects, o)
	}
	for _, o := range m.Agents {
		objects = append(objects, o)
	}
	if m.Plan != nil {
		objects = append(objects, m.Plan)
	}
	m.Management = core.JoinManagement(m.Place, m.Nodes, objects...)
	return m.Scene
}

// Handed gives a node to LCM: its locks are released, and it is cordoned.
func (sc Scene) Handed(node string) {
	sc.Maintained(node, "").RawState = core.LockInactive
	sc.Emptied(node)
	sc.Nodes[node].Cordoned = true
	sc.PodsOn(node)
}

// PodsOn lists the pods of a node, as it is now: none, which the caller changes.
func (sc Scene) PodsOn(node string) *core.NodePods {
	p := &core.NodePods{Node: node}
	if n := sc.Nodes[node]; n != nil {
		p.NodeReadySince = n.ReadySince
	}
	sc.Pods[node] = p
	return p
}

// BudgetText is the text of a drain that a disruption budget refuses.
const BudgetText = `error when evicting pods/"exporter-0" -n "stacklight": Cannot evict pod as it would violate the pod's disruption ` +
	`budget. ` +
	`The disruption budget exporter needs 2 healthy pods and has 2 currently`

// Drain is a Kubernetes drain of the machine that is not done.
func Drain(machine, message string, attempt int) *core.DrainState {
	return &core.DrainState{Meta: core.Meta{Name: "cd-" + machine, Namespace: "prod", UID: "drain-" + machine}, Cluster: "mos",
		Type: core.DrainKubernetes, Machine: machine,
		Wanted: "true", Value: "false", Message: message, Attempt: attempt}
}

// Swarm is a Swarm drain of the machine that is not done.
func Swarm(machine, message string, attempt int) *core.DrainState {
	d := Drain(machine, message, attempt)
	d.Name, d.UID, d.Type = "sd-"+machine, "swarm-"+machine, "swarm-drain"
	return d
}

// LocksWaitText and SwarmWaitText are the two texts of the normal course, as the operator's guide prints them: LCM waits for the
// node's locks, and the Swarm drain waits for the Kubernetes drain. Neither means that a drain is refused.
const (
	LocksWaitText = `Error: following    NodeWorkloadLocks are still active - ceph: UpdatingController,openstack: InProgress`
	SwarmWaitText = `Error: waiting for kubernetes node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c to be drained first`
)

// FailedItems are a machine's state items, of which host-packages failed.
func FailedItems(attempt int, begun time.Duration) []core.StateItem {
	return []core.StateItem{
		{Name: "download-images", Phase: "prepare", Attempt: 1, Started: Ago(begun + time.Hour), Finished: Ago(begun + 50*time.Minute)},
		{Name: "host-packages", Phase: "prepare", ExitCode: 100, Message: "E: Failed to fetch linux-image  503", Attempt: attempt,
			Started: Ago(begun), Finished: Ago(begun / 2)},
	}
}

// Resting is a cluster that is connected to its management cluster and has no requests.
func Resting() *Managed { return Healthy().Managed() }

// InMode puts the cluster and the machines of the nodes into maintenance mode.
func (m *Managed) InMode(nodes ...string) *Managed {
	m.Cluster.Maintenance, m.Cluster.InMaintenance = new(true), true
	for _, n := range nodes {
		m.Machines[n].Maintenance, m.Machines[n].InMaintenance = new(true), true
	}
	return m
}
