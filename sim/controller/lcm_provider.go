package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// IDs of the plan's steps (docs/mosk.md#plan-steps).
const (
	stepOpenStack   = "openstack"
	stepCeph        = "ceph"
	stepControllers = "k8s-controllers"
	stepWorkers     = "k8s-workers-" // with the name of an UpdateGroup
	stepAuxiliary   = "mcc-components"
)

// planStep is what MOSK's plans say about a step. The figures are those of a documented example.
type planStep struct {
	name, granularity, users, workloads string
	estimated                           time.Duration
	description                         []string
}

var planSteps = map[string]planStep{
	stepOpenStack: {"Update OpenStack and Tungsten Fabric", "cluster", "minor", "minor", 90 * time.Minute, []string{
		"new LCM modules", "images cached on all nodes", "control plane restarted, in parallel"}},
	stepCeph: {"Update Ceph", "cluster", "minor", "minor", 8*time.Minute + 30*time.Second, []string{
		"monitors and gateways restarted", "OSDs restarted node by node"}},
	stepControllers: {"Update host OS and Kubernetes components on master nodes", "cluster", "none", "none", 100 * time.Minute, []string{
		"host OS of the masters, one by one", "Kubernetes of the masters"}},
	stepWorkers: {"Update host OS and Kubernetes components on worker nodes, group ", "machine", "major", "major", 8 * time.Hour, []string{
		"host OS", "Kubernetes", "instances are moved off, or go down with their host"}},
	stepAuxiliary: {"Auxiliary components update", "cluster", "minor", "none", 90 * time.Minute, []string{
		"StackLight", "MetalLB", "auxiliary controllers"}},
}

// stepOf returns what is known about a step by its ID.
func stepOf(id string) planStep {
	if group, ok := strings.CutPrefix(id, stepWorkers); ok {
		step := planSteps[stepWorkers]
		step.name += group
		return step
	}
	return planSteps[id]
}

// planName is the name of the plan that leads to the target.
func (m *management) planName() string { return m.cluster + "-" + m.Version }

// controlGroup is the UpdateGroup of the masters, which is always processed first.
func (m *management) controlGroup() string { return m.cluster + "-control" }

// provide creates the provider's objects: the cluster's LCMCluster, an LCMMachine for every Machine, and the plan for
// the newer release, whose worker steps follow the UpdateGroups.
func (m *management) provide(ctx context.Context) error {
	cluster := m.newObject(lcmClusters, "LCMCluster", m.cluster)
	cluster.Object["spec"] = map[string]any{"release": m.Source, "maxWorkerUpgradeCount": 1, "maxWorkerPrepareCount": 50, "lcmType": "ucp"}
	errs := []error{}
	_, err := m.ensure(ctx, lcmClusters, cluster,
		map[string]any{"release": m.Source, "helmControllerDeployed": true, "requestedNodes": 0, "readyNodes": 0})
	errs = append(errs, err)
	for _, machine := range m.seen(machinesResource) {
		if !deleting(machine) {
			errs = append(errs, m.provideMachine(ctx, machine))
		}
	}
	return errors.Join(append(errs, m.providePlan(ctx))...)
}

func (m *management) provideMachine(ctx context.Context, machine *unstructured.Unstructured) error {
	object := m.newObject(lcmMachines, "LCMMachine", machine.GetName())
	kind := "worker"
	if isMaster(machine) {
		kind = "control"
	}
	status := map[string]any{
		"state": machineReady, "agentVersion": agentVersion(releaseNumber(m.Source)),
		"addresses": []any{map[string]any{"type": "Hostname", "address": nodeOf(machine)}},
	}
	if ip := text(machine, "status", "providerStatus", "privateIp"); ip != "" {
		status["addresses"] = append(status["addresses"].([]any), map[string]any{"type": "InternalIP", "address": ip})
	}
	status["release"] = m.Source
	object.Object["spec"] = map[string]any{"clusterName": m.cluster, "type": kind, "release": m.Source,
		"stateItems": itemSpecs(releaseNumber(m.Source))}
	_, err := m.ensure(ctx, lcmMachines, object, status)
	return err
}

// releaseNumber is the version in the name of a ClusterRelease: 21.0.0 of mosk-21-0-0-25-2.
func releaseNumber(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "mosk-"), "-")
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// groups returns the cluster's UpdateGroups of workers in the order of their update.
func (m *management) groups() []*unstructured.Unstructured {
	var groups []*unstructured.Unstructured
	for _, group := range m.seen(groupsResource) {
		if group.GetName() != m.controlGroup() {
			groups = append(groups, group)
		}
	}
	slices.SortStableFunc(groups, func(a, b *unstructured.Unstructured) int { return int(groupIndex(a) - groupIndex(b)) })
	return groups
}

func groupIndex(group *unstructured.Unstructured) int64 { return number(group, "spec", "index") }

// stepIDs returns the IDs of the steps that a plan has now.
func (m *management) stepIDs() []string {
	ids := []string{stepOpenStack}
	if m.Ceph {
		ids = append(ids, stepCeph)
	}
	ids = append(ids, stepControllers)
	for _, group := range m.groups() {
		ids = append(ids, stepWorkers+group.GetName())
	}
	return append(ids, stepAuxiliary)
}

// providePlan creates the plan, or adapts the steps of an incomplete plan to the groups; a commenced step stays.
func (m *management) providePlan(ctx context.Context) error {
	if m.NoPlan {
		return nil
	}
	if seen := m.last(plansResource, m.planName()); seen != nil && m.provided(seen) {
		return nil
	}
	plan, err := m.objects(plansResource).Get(ctx, m.planName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		plan = m.newObject(plansResource, "ClusterUpdatePlan", m.planName())
		plan.Object["spec"] = map[string]any{
			"cluster": m.cluster, "source": m.Source, "target": m.Target, "steps": m.planSteps(nil),
			"releaseNotes": "https://docs.mirantis.com/mosk/latest/release-notes/",
		}
		status := map[string]any{"status": planNotStarted, "steps": m.stepStatuses(plan)}
		_, err = m.ensure(ctx, plansResource, plan, status)
		return err
	}
	if err != nil {
		return fmt.Errorf("read ClusterUpdatePlan %s: %w", m.planName(), err)
	}
	if m.provided(plan) {
		return nil
	}
	return m.patch(ctx, plansResource, plan.GetName(), map[string]any{
		"metadata": map[string]any{"resourceVersion": plan.GetResourceVersion()}, // the operator writes here, too
		"spec":     map[string]any{"steps": m.planSteps(stepsOf(plan))},
	})
}

// provided tells whether a plan has the right steps, or is complete.
func (m *management) provided(plan *unstructured.Unstructured) bool {
	old := stepsOf(plan)
	return text(plan, "status", "status") == planCompleted ||
		slices.EqualFunc(old, m.planSteps(old), func(a map[string]any, b any) bool { return a["id"] == b.(map[string]any)["id"] })
}

// planSteps returns the steps in a plan's form; old steps that are still needed stay unchanged.
func (m *management) planSteps(old []map[string]any) []any {
	var steps []any
	for _, id := range m.stepIDs() {
		i := slices.IndexFunc(old, func(step map[string]any) bool { return step["id"] == id })
		if i >= 0 {
			steps = append(steps, old[i])
			continue
		}
		about := stepOf(id)
		if e, ok := m.Estimated[id]; ok {
			about.estimated = e
		}
		description := make([]any, 0, len(about.description))
		for _, line := range about.description {
			description = append(description, line)
		}
		steps = append(steps, map[string]any{
			"id": id, "name": about.name, "granularity": about.granularity, "commence": false, "description": description,
			"impact":   map[string]any{"users": about.users, "workloads": about.workloads},
			"duration": map[string]any{"estimated": about.estimated.String()},
		})
	}
	return steps
}
