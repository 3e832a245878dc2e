package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Management is the management cluster: how the update is cut into groups and steps, what starts them, and what goes
// wrong with LCM's own part. A scenario without it has no management cluster; LCM then runs the whole update by itself.
type Management struct {
	Project  string `json:"project"`  // namespace of the cluster's objects; default mosk
	Releases Change `json:"releases"` // ClusterReleases; default from release, such as mosk-21-0-0-25-2
	Plan     Plan   `json:"plan"`
	// releases that are offered beside the target; only for a cluster without a plan, which is at none of them before it is given one
	Offers []Offer `json:"offers"`
	// version of the management cluster that is available but not installed, such as 2.31.0; empty: it has the latest
	Waits string `json:"waits"`

	Groups       []UpdateGroup  `json:"groups"`       // of workers; default one, <cluster>-default, with all of them
	UpgradeIndex map[string]int `json:"upgradeIndex"` // by machine; default: the order of update.order, from 1

	AutoPause []string `json:"autoPause"` // alerts that pause the update; none: no UpdateAutoPause
	Alerts    []Alert  `json:"alerts"`    // alerts of StackLight

	Items     []ItemFailure `json:"items"`     // state items of the LCM agent that fail
	NotReady  []NotReady    `json:"notReady"`  // nodes that return late
	Budgets   []Budget      `json:"budgets"`   // disruption budgets that allow no eviction
	Deletions []Deletion    `json:"deletions"` // machines that a colleague deletes

	Others []Other `json:"others"` // further clusters of this management cluster, as records only
}

// Plan says who starts the steps of the ClusterUpdatePlan. A step's ID is openstack, ceph, k8s-controllers,
// k8s-workers-<group> or mcc-components. Steps before the scenario's start are commenced in any case.
type Plan struct {
	None      bool                `json:"none"`      // there is no plan: the update begins when somebody sets the Cluster's release
	Commence  []string            `json:"commence"`  // steps that are commenced when the scenario starts
	Colleague Duration            `json:"colleague"` // delay after a step until a colleague commences the next one; 0: no colleague
	Estimated map[string]Duration `json:"estimated"` // by step; default as in MOSK's own plans
}

// Offer is a release that is offered beside the scenario's target, with what the cluster then runs.
type Offer struct {
	Release string `json:"release"` // such as 17.4.6+25.1.1
	Kubelet string `json:"kubelet"`
	Rockoon string `json:"rockoon"`
	Reboot  bool   `json:"reboot"` // the release says that hosts are to be rebooted
}

// UpdateGroup is a group of workers that are updated together.
type UpdateGroup struct {
	Name       string   `json:"name"`
	Index      int      `json:"index"`      // lower ones first, equal ones at the same time; default 1
	Concurrent int      `json:"concurrent"` // machines at a time at most; default update.concurrency
	Reboot     *bool    `json:"reboot"`     // whether hosts are rebooted; default: true if update.scope is os
	Machines   []string `json:"machines"`
}

// Alert is an alert of StackLight that fires for a while.
type Alert struct {
	Name  string   `json:"name"`
	After Duration `json:"after"` // from the scenario's start
	For   Duration `json:"for"`   // 0: for ever
}

// ItemFailure is a state item of a machine's LCM agent that fails.
type ItemFailure struct {
	Machine  string `json:"machine"`
	Item     string `json:"item"`     // one of StateItems
	Times    int    `json:"times"`    // how often; negative: always
	ExitCode int    `json:"exitCode"` // default 1
	Message  string `json:"message"`
}

// NotReady is a node whose kubelet stays not ready for some time after the host's reboot.
type NotReady struct {
	Machine string   `json:"machine"`
	For     Duration `json:"for"`
	Message string   `json:"message"` // of the node's Ready condition; default: the network plugin is not ready
}

// Budget is a PodDisruptionBudget that allows no disruption.
type Budget struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Workload  string `json:"workload"` // name of the Deployment or StatefulSet whose pods it guards
}

// Deletion is a Machine that is deleted, gracefully.
type Deletion struct {
	Machine string   `json:"machine"`
	After   Duration `json:"after"` // from the scenario's start; 0: a moment after it
}

// StateItems are the items that a machine's LCM agent runs in an update, in order.
var StateItems = []string{"download-images", "host-packages", "host-os", "container-runtime", "kubernetes"}

// Steps returns the IDs of the plan's steps, in order.
func (s *Scenario) Steps() []string {
	steps := []string{"openstack"}
	if slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Has(RoleStorage) }) {
		steps = append(steps, "ceph")
	}
	steps = append(steps, "k8s-controllers")
	if s.Management != nil {
		for _, g := range s.Management.byIndex() {
			steps = append(steps, "k8s-workers-"+g.Name)
		}
	}
	return append(steps, "mcc-components")
}

// byIndex returns the groups in the order of their update; groups with the same index by name.
func (m *Management) byIndex() []UpdateGroup {
	return slices.SortedFunc(slices.Values(m.Groups), func(a, b UpdateGroup) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
}

// clusterRelease is the name of the ClusterRelease of a release: mosk-21-0-0-25-2 of 21.0.0+25.2.
func clusterRelease(release string) string {
	return "mosk-" + strings.NewReplacer(".", "-", "+", "-").Replace(release)
}

func (s *Scenario) setManagementDefaults() {
	m := s.Management
	if m == nil {
		return
	}
	m.Project = cmp.Or(m.Project, "mosk")
	m.Releases.From = cmp.Or(m.Releases.From, clusterRelease(s.Release.From))
	m.Releases.To = cmp.Or(m.Releases.To, clusterRelease(s.Release.To))
	if len(m.Groups) == 0 {
		m.Groups = []UpdateGroup{{Name: s.Cluster + "-default", Machines: slices.Clone(s.Update.Order)}}
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		g.Index = cmp.Or(g.Index, 1)
		g.Concurrent = cmp.Or(g.Concurrent, s.Update.Concurrency)
		if g.Reboot == nil {
			reboot := s.Update.Scope == "os"
			g.Reboot = &reboot
		}
	}
	given := m.UpgradeIndex
	m.UpgradeIndex = map[string]int{}
	for i, machine := range s.Update.Order {
		m.UpgradeIndex[machine] = i + 1
	}
	maps.Copy(m.UpgradeIndex, given)
	s.setOthersDefaults()
	for i := range m.Items {
		m.Items[i].ExitCode = cmp.Or(m.Items[i].ExitCode, 1)
	}
	for i := range m.NotReady {
		m.NotReady[i].Message = cmp.Or(m.NotReady[i].Message,
			"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni "+
				"plugin not initialized")
	}
}

func (s *Scenario) checkManagement(machines map[string]Node, check func(bool, string, ...any)) {
	m := s.Management
	if m == nil {
		return
	}
	known := func(field, machine string) {
		_, ok := machines[machine]
		check(ok, "%s: there is no node %q", field, machine)
	}
	steps := s.Steps()
	for i, id := range m.Plan.Commence {
		check(slices.Contains(steps, id), "management.plan.commence[%d] is %q: want one of %v", i, id, steps)
	}
	for _, id := range slices.Sorted(maps.Keys(m.Plan.Estimated)) {
		check(slices.Contains(steps, id), "management.plan.estimated names the step %q: want one of %v", id, steps)
		check(m.Plan.Estimated[id] > 0, "management.plan.estimated.%s: want a duration", id)
	}
	check(!m.Plan.None || len(m.Plan.Commence) == 0 && m.Plan.Colleague == 0 && s.History.StartAt == StartOperator,
		"management.plan.none: without a plan nothing is commenced, and no update has begun")
	check(m.Plan.Colleague >= 0, "management.plan.colleague lies in the past")
	for _, machine := range slices.Sorted(maps.Keys(m.UpgradeIndex)) {
		known("management.upgradeIndex", machine)
	}
	s.checkGroups(machines, check)
	s.checkOthers(check)
	for i, a := range m.Alerts {
		field := fmt.Sprintf("management.alerts[%d]", i)
		check(a.Name != "", "%s.name is missing", field)
		check(a.After >= 0 && a.For >= 0, "%s: after and for lie in the past", field)
	}
	for i, f := range m.Items {
		field := fmt.Sprintf("management.items[%d]", i)
		known(field+".machine", f.Machine)
		check(slices.Contains(StateItems, f.Item), "%s.item is %q: want one of %v", field, f.Item, StateItems)
		check(f.Times != 0, "%s.times is 0: want how often, or a negative number for always", field)
	}
	for i, n := range m.NotReady {
		field := fmt.Sprintf("management.notReady[%d]", i)
		known(field+".machine", n.Machine)
		check(n.For > 0, "%s.for is missing", field)
	}
	for i, b := range m.Budgets {
		check(b.Namespace != "" && b.Name != "" && b.Workload != "", "management.budgets[%d]: namespace, name and workload must be there", i)
	}
	for i, d := range m.Deletions {
		field := fmt.Sprintf("management.deletions[%d]", i)
		known(field+".machine", d.Machine)
		check(d.After >= 0, "%s.after lies in the past", field)
	}
}

func (s *Scenario) checkGroups(machines map[string]Node, check func(bool, string, ...any)) {
	in, names := map[string]string{}, map[string]bool{}
	for i, g := range s.Management.Groups {
		field := fmt.Sprintf("management.groups[%d]", i)
		check(g.Name != "" && !names[g.Name], "%s.name %q is missing or there twice", field, g.Name)
		check(g.Name != s.Cluster+"-control", "%s.name %q is the group of the masters, which is there by itself", field, g.Name)
		names[g.Name] = true
		check(g.Concurrent > 0, "%s.concurrent is %d: want 1 or more", field, g.Concurrent)
		for _, machine := range g.Machines {
			n, ok := machines[machine]
			check(ok, "%s.machines: there is no node %q", field, machine)
			check(!n.Has(RoleMaster), "%s.machines: %s is a master, which has a group of its own", field, machine)
			check(in[machine] == "", "%s.machines: %s is in group %s already", field, machine, in[machine])
			in[machine] = g.Name
		}
	}
	for _, machine := range s.Update.Order {
		check(in[machine] != "", "management.groups leave out the worker %s", machine)
	}
}
