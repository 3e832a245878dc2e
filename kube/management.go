package kube

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

func kaas(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// watchedManagement are the resources that are watched on the management cluster in a namespace, the project of a cluster;
// empty for all namespaces.
func watchedManagement(namespace string) []resource {
	return []resource{
		{source: core.SourceClusters, gvr: gvrClusters, namespace: namespace, translate: managedClusterFrom},
		{source: core.SourceMachines, gvr: gvrMachines, namespace: namespace, translate: managedMachineFrom},
		{source: core.SourceLCMClusters, gvr: lcm("lcmclusters"), namespace: namespace, translate: lcmClusterFrom},
		{source: core.SourceLCMMachines, gvr: lcm("lcmmachines"), namespace: namespace, translate: lcmMachineFrom},
		{source: core.SourceDrains, gvr: lcm("lcmclusterstates"), namespace: namespace, translate: drainStateFrom},
		{source: core.SourcePlans, gvr: gvrUpdatePlans, namespace: namespace, translate: updatePlanFrom},
		{source: core.SourceGroups, gvr: gvrUpdateGroups, namespace: namespace, translate: machineGroupFrom},
		{source: core.SourceAutoPauses, gvr: gvrAutoPauses, namespace: namespace, translate: autoPauseFrom},
		{source: core.SourceReboots, gvr: gvrReboots, namespace: namespace, translate: rebootRequestFrom},
		{source: core.SourceReleases, gvr: kaas("kaasreleases"), translate: managementReleaseFrom},
		{source: core.SourceManagementUpgrades, gvr: kaas("mccupgrades"), translate: managementUpgradeFrom},
	}
}

var (
	gvrReboots    = kaas("gracefulrebootrequests")
	gvrAutoPauses = kaas("updateautopauses")
)

const labelControlPlane = "cluster.sigs.k8s.io/control-plane"

// annotationGraceful marks an LCMMachine for which a graceful reboot is requested; annotationDrainReason says what an
// LCMClusterState is for (docs/mosk.md#lcmmachine, #lcmclusterstate).
const (
	annotationGraceful    = "lcm.mirantis.com/graceful-reboot"
	annotationDrainReason = "lcm.mirantis.com/cluster-state-reason"
)

// managementMeta is an object's metadata without the resourceVersion: that changes with every report of an agent, and every write
// reads it again first.
func managementMeta(u *unstructured.Unstructured) core.Meta {
	m := metaFrom(u)
	m.ResourceVersion = ""
	return m
}

// flag is a truth value; nil when there is none.
func (f fields) flag(key string) *bool {
	if b, ok := f[key].(bool); ok {
		return &b
	}
	return nil
}

// texts are the elements of a list that are texts.
func (f fields) texts(key string) []string {
	var out []string
	for _, v := range f.list(key) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// managementTime reads a time of LCM's own. LCM's Go types write the zero time for none.
func (f fields) managementTime(key string) time.Time {
	t := f.time(key)
	if t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

// conditionsOf reads conditions that have type, ready and message. One in Kubernetes' own form has a status instead.
func conditionsOf(status fields) []core.Condition {
	var out []core.Condition
	for _, c := range status.objects("conditions") {
		one := core.Condition{Type: c.text("type"), Ready: c.truth("ready"), Message: c.text("message")}
		if _, own := c["ready"]; !own {
			one.Ready = c.text("status") == "True"
		}
		out = append(out, one)
	}
	return out
}

func managedClusterFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	spec, status := o.at("spec", "providerSpec", "value"), o.at("status", "providerStatus")
	c := &core.ManagedCluster{
		Meta: managementMeta(u), Target: spec.text("release"), Maintenance: spec.flag("maintenance"),
		InMaintenance: status.truth("maintenance"), Ready: status.truth("ready"), ReadyKnown: status.flag("ready") != nil,
		Conditions: conditionsOf(status), Release: status.at("releaseRefs", "current").text("name"),
		Manages: spec.at("kaas").text("release"),
	}
	for _, r := range status.at("releaseRefs").objects("available") {
		c.Available = append(c.Available, core.OfferedRelease{Name: r.text("name"), Version: r.text("version"),
			Reboot: r.truth("rebootRequired")})
	}
	c.Requested, _ = status.at("nodes").number("requested")
	c.ReadyNodes, _ = status.at("nodes").number("ready")
	return c
}

func managedMachineFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	spec, status := o.at("spec", "providerSpec", "value"), o.at("status", "providerStatus")
	labels := o.at("metadata", "labels")
	inventory := machineFrom(u)
	_, control := labels[labelControlPlane]
	m := &core.ManagedMachine{
		Meta: managementMeta(u), Cluster: labels.text(labelClusterName), Node: inventory.Node, Control: control, Group: inventory.Group,
		UpgradeIndex: inventory.Index, IndexAsked: indexAsked(spec), Status: status.text("status"),
		Ready: status.truth("ready"), ReadyKnown: status.flag("ready") != nil,
		Maintenance: spec.flag("maintenance"), InMaintenance: status.truth("maintenance"), Reboot: status.at("reboot").truth("required"),
		RebootReason: status.at("reboot").text("reason"), Conditions: conditionsOf(status),
	}
	if m.Status == "" {
		m.Status = o.at("status").text("phase")
	}
	return m
}

// indexAsked is the upgrade index in a Machine's spec; nil when there is none.
func indexAsked(spec fields) *int {
	if n, ok := spec.number("upgradeIndex"); ok {
		return &n
	}
	return nil
}

func lcmClusterFrom(u *unstructured.Unstructured) core.Object {
	status := fields(u.Object).at("status")
	c := &core.LCMCluster{Meta: managementMeta(u), StuckMessage: status.text("lcmOperationStuckMessage")}
	if stuck := status.flag("lcmOperationStuck"); stuck != nil {
		c.Stuck = *stuck
	} else {
		c.Stuck = c.StuckMessage != ""
	}
	c.Requested, _ = status.number("requestedNodes")
	c.ReadyNodes, _ = status.number("readyNodes")
	return c
}

func lcmMachineFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	spec, status := o.at("spec"), o.at("status")
	reboot, agent := status.at("reboot"), status.at("lcmAgentUpgradeStatus")
	m := &core.LCMMachine{
		Meta: managementMeta(u), Cluster: spec.text("clusterName"), Kind: spec.text("type"), State: status.text("state"),
		Release: status.text("release"), AgentVersion: status.text("agentVersion"), AgentError: agent.text("error"),
		Drain: status.text("kubernetesCordonDrain"), DrainError: status.text("kubernetesCordonDrainError"),
		SwarmDrain: status.text("swarmCordonDrain"), SwarmError: status.text("swarmCordonDrainError"),
		Maintenance: status.truth("maintenance"), Graceful: o.at("metadata", "annotations").text(annotationGraceful) == "true",
		RebootAsked: reboot.managementTime("requestedAt"), RebootDone: reboot.truth("completed"), RebootError: reboot.text("errorMessage"),
		HostReboot: status.at("hostInfo").truth("rebootRequired"),
	}
	for _, a := range status.objects("addresses") {
		if a.text("type") == "Hostname" {
			m.Hostname = a.text("address")
		}
	}
	m.Items = stateItems(spec.objects("stateItems"), status.at("stateItemStatuses"))
	return m
}

// stateItems are the items that an agent was given, with what it says of them; after them those that only the agent names.
func stateItems(specs []fields, statuses fields) []core.StateItem {
	var out []core.StateItem
	known := map[string]bool{}
	read := func(item core.StateItem) core.StateItem {
		st := statuses.at(item.Name)
		item.ExitCode, _ = st.number("exitCode")
		item.Attempt, _ = st.number("attempt")
		item.Message, item.Started, item.Finished = st.text("message"), st.managementTime("startedAt"), st.managementTime("finishedAt")
		return item
	}
	for _, s := range specs {
		item := core.StateItem{Name: s.text("name"), Phase: s.text("phase"), Runner: s.text("runner")}
		if item.Name != "" && !known[item.Name] {
			known[item.Name] = true
			out = append(out, read(item))
		}
	}
	var others []core.StateItem
	for name := range statuses {
		if !known[name] {
			others = append(others, read(core.StateItem{Name: name}))
		}
	}
	slices.SortFunc(others, func(a, b core.StateItem) int { return strings.Compare(a.Name, b.Name) })
	return append(out, others...)
}

func drainStateFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	spec, status := o.at("spec"), o.at("status")
	d := &core.DrainState{
		Meta: managementMeta(u), Cluster: spec.text("clusterName"), Type: spec.text("type"), Machine: spec.text("arg"),
		Wanted: spec.text("value"),
		Value:  status.text("value"), Message: status.text("message"), Reason: o.at("metadata", "annotations").text(annotationDrainReason),
	}
	d.Attempt, _ = status.number("attempt")
	return d
}

func updatePlanFrom(u *unstructured.Unstructured) core.Object {
	p := planFrom(u)
	return &core.UpdatePlan{Meta: managementMeta(u), Cluster: fields(u.Object).at("spec").text("cluster"), Source: p.Source, Target: p.Target,
		Status: p.Status, Started: p.Started, Completed: p.Completed, Steps: p.Steps}
}

func machineGroupFrom(u *unstructured.Unstructured) core.Object {
	g := groupFrom(u)
	return &core.MachineGroup{Meta: managementMeta(u), Cluster: u.GetLabels()[labelClusterName], Index: g.Index, Concurrent: g.Concurrency,
		Reboot: g.Reboot}
}

func autoPauseFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	return &core.AutoPause{Meta: managementMeta(u), Alerts: o.at("spec").texts("alerts"), Firing: o.at("status").texts("firingAlerts"),
		Error: o.at("status").text("error")}
}

func rebootRequestFrom(u *unstructured.Unstructured) core.Object {
	return &core.RebootRequest{Meta: managementMeta(u), Machines: fields(u.Object).at("spec").texts("machines")}
}
