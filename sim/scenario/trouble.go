package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// Trouble is a failure on the side of the applications.
type Trouble struct {
	Kind     string   `json:"kind"`     // one of the Trouble constants
	Node     string   `json:"node"`     // machine name, for kinds that affect a node
	Service  string   `json:"service"`  // key of an OpenStack service, such as dns, for osdplApplying
	Workload string   `json:"workload"` // name of a DaemonSet, StatefulSet or Deployment, for podsNotReady, podsEvicted and podsHang
	At       Duration `json:"at"`       // after the scenario's start; default at once
	// OnReturn replaces at: the trouble begins when the node is back from its reboot; for agentsDead, computeDown,
	// podsNotReady and podsEvicted. controllerDown then begins while the node is away.
	OnReturn bool `json:"onReturn"`
	// AfterUpdate replaces at: the trouble begins when an update has ended, so that nothing waits for it; for agentsDead, computeDown
	// and cephSlow.
	AfterUpdate bool `json:"afterUpdate"`

	For   Duration `json:"for"`   // how long; default: until it is repaired
	Event string   `json:"event"` // of the pod, as REASON: MESSAGE, for podsNotReady: its containers are not made
	Log   string   `json:"log"`   // what the container of the pod that fails says in its log; for osdplApplying and podsNotReady
}

// Kinds of trouble, and how an operator ends them early.
const (
	TroubleController = "controllerDown" // the OpenStack controller has no replicas: scale osh-system/rockoon up
	// the new OpenStack controller is not rolled out: change the image and variable of osh-system/rockoon
	TroubleRelease    = "releaseMismatch"
	TroubleInner      = "staleInnerState"  // a lock's inner_state is active without a request: set the annotation to inactive
	TroubleDeployment = "osdplApplying"    // a service of OpenStack cannot be applied: delete the failed pod of its job
	TroubleAgents     = "agentsDead"       // network agents are silent: delete the node's neutron-ovs-agent pod
	TroubleCompute    = "computeDown"      // nova-compute is silent: delete its pod
	TroubleForgotten  = "computeForgotten" // nova-compute runs, but its service was deleted: delete its pod
	TroubleRole       = "roleTaken"        // the node's role labels are removed: put them back, and remove its lock
	TroublePods       = "podsNotReady"     // a workload's pods crash on the node: delete them
	TroubleEvicted    = "podsEvicted"      // an evicted pod of a workload is left on the node: delete it
	TroubleCeph       = "cephDegraded"     // an OSD is down: delete its pod
	TroubleSlow       = "cephSlow"         // OSDs are slow, and Ceph's health says so: only time ends it
	TroubleTempest    = "tempestFails"     // runs of Tempest fail: only time ends it
	TroubleScope      = "withoutScope"     // somebody's request for a node has no scope: give it one, or delete it
	TroubleLeftLock   = "lockLeft"         // a lock is inactive without a request: set its state to active
	TroubleHanging    = "podsHang"         // a workload's pods on the node do not end: delete them by force
	// osh-system/rockoon's variable for the role labels cannot be read, and its pods crash: take the variable out
	TroubleLabels = "roleLabelsUnreadable"
)

var troubleKinds = []string{TroubleController, TroubleRelease, TroubleInner, TroubleDeployment, TroubleAgents, TroubleCompute,
	TroubleForgotten, TroubleRole,
	TroublePods, TroubleEvicted, TroubleCeph, TroubleSlow, TroubleTempest, TroubleScope, TroubleLeftLock, TroubleHanging, TroubleLabels}

// Controller is an application controller that does not belong to MOSK, with locks that the update waits for.
type Controller struct {
	Name     string   `json:"name"`     // controllerName of its locks
	Nodes    []string `json:"nodes"`    // machine names with its lock, in addition to those of its roles
	Roles    []string `json:"roles"`    // of the nodes with its lock
	Cluster  bool     `json:"cluster"`  // whether it has a ClusterWorkloadLock
	Takes    Duration `json:"takes"`    // from a node's request to its release
	Progress []string `json:"progress"` // its messages meanwhile, in this order
	Failing  []string `json:"failing"`  // machine names where it fails
	Error    string   `json:"error"`    // its message then
	Times    int      `json:"times"`    // how often it fails there before it succeeds; negative: always
	Silent   bool     `json:"silent"`   // it never answers
}

func (s *Scenario) checkTroubles(machines map[string]Node, check func(bool, string, ...any)) {
	onNode := []string{TroubleInner, TroubleAgents, TroubleCompute, TroubleForgotten, TroubleRole, TroublePods, TroubleEvicted,
		TroubleScope, TroubleLeftLock, TroubleHanging}
	returning := []string{TroubleAgents, TroubleCompute, TroublePods, TroubleEvicted, TroubleController}
	services := []string{TroubleDeployment}
	workloads := []string{TroublePods, TroubleEvicted, TroubleHanging}
	logs := []string{TroubleDeployment, TroublePods}
	for i, t := range s.Troubles {
		field := fmt.Sprintf("troubles[%d]", i)
		check(slices.Contains(troubleKinds, t.Kind), "%s.kind: is %q: want one of %v%s", field, t.Kind, troubleKinds,
			suggestion{t.Kind, troubleKinds})
		_, known := machines[t.Node]
		check(known || t.Node == "" && !t.OnReturn && !slices.Contains(onNode, t.Kind), "%s.node: there is no node %q", field, t.Node)
		check(t.Service != "" == slices.Contains(services, t.Kind), "%s.service: is for %v, which need one", field, services)
		check(t.Workload != "" == slices.Contains(workloads, t.Kind), "%s.workload: is for %v, which need one", field, workloads)
		check(t.Log == "" || slices.Contains(logs, t.Kind), "%s.log: is for %v", field, logs)
		check(t.Event == "" || t.Kind == TroublePods && strings.Contains(t.Event, ": "), "%s.event: is REASON: MESSAGE, for %s", field,
			TroublePods)
		check(t.At >= 0 && t.For >= 0, "%s: at and for count from the start on", field)
		check(!t.OnReturn || slices.Contains(returning, t.Kind) && t.At == 0, "%s.onReturn: is for %v, instead of at", field, returning)
	}
	for i, t := range s.Troubles {
		late := []string{TroubleAgents, TroubleCompute, TroubleSlow}
		check(!t.AfterUpdate || slices.Contains(late, t.Kind) && t.At == 0 && !t.OnReturn,
			"troubles[%d].afterUpdate: is for %v, instead of at and onReturn", i, late)
	}
	names := []string{"openstack", "ceph", "tungstenfabric"}
	for i, c := range s.Controllers {
		field := fmt.Sprintf("controllers[%d]", i)
		check(c.Name != "", "%s.name: is missing", field)
		check(!slices.Contains(names, c.Name), "%s.name: %s is there already", field, c.Name)
		names = append(names, c.Name)
		for j, role := range c.Roles {
			check(slices.Contains(roles, role), "%s.roles[%d]: role %q: want one of %v%s", field, j, role, roles, suggestion{role, roles})
		}
		for j, machine := range c.Nodes {
			_, known := machines[machine]
			check(known, "%s.nodes[%d]: there is no node %q", field, j, machine)
		}
		on := s.NodesOf(c)
		for j, machine := range c.Failing {
			n, known := machines[machine]
			check(known && slices.Contains(on, n.Name), "%s.failing[%d]: the controller has no lock on %q", field, j, machine)
		}
		check(len(on) > 0 || c.Cluster, "%s: it has a lock on nothing: want nodes, roles or cluster", field)
		check(c.Takes >= 0, "%s.takes: is negative", field)
		check(len(c.Failing) == 0 || c.Error != "" && c.Times != 0, "%s: failing needs error and times", field)
	}
}

// NodesOf returns the Kubernetes names of the nodes with a controller's lock, in the scenario's order.
func (s *Scenario) NodesOf(c Controller) []string {
	var names []string
	for _, n := range s.Nodes {
		if slices.Contains(c.Nodes, n.Machine) || slices.ContainsFunc(c.Roles, n.Has) {
			names = append(names, n.Name)
		}
	}
	return names
}
