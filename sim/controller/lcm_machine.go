package controller

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// providerValue are the fields of spec.providerSpec.value.
func providerValue(field string) []string { return []string{"spec", "providerSpec", "value", field} }

// nodeOf is the Kubernetes name of a Machine's node.
func nodeOf(machine *unstructured.Unstructured) string {
	return text(machine, "status", "nodeRef", "name")
}

func isMaster(machine *unstructured.Unstructured) bool {
	_, master := machine.GetLabels()[labelControlPlane]
	return master
}

// machineOf is the name of the Machine of a node, or the node's own name if it has none.
func (m *management) machineOf(node string) string {
	if m == nil {
		return node
	}
	for _, machine := range m.seen(machinesResource) {
		if nodeOf(machine) == node {
			return machine.GetName()
		}
	}
	return node
}

// inOrder returns the selected Machines in the order of their update: by upgradeIndex, then by name
// (docs/mosk.md#update-groups, #order-of-machines).
func (m *management) inOrder(meant func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, machine := range m.seen(machinesResource) {
		if meant(machine) {
			all = append(all, machine)
		}
	}
	index := func(machine *unstructured.Unstructured) int64 { // machines without one come last
		if n := number(machine, providerValue("upgradeIndex")...); n != 0 {
			return n
		}
		return math.MaxInt64
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(index(a), index(b)),
			strings.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// setMachine writes fields of the LCMMachine of a node.
func (m *management) setMachine(ctx context.Context, node string, fields map[string]any) error {
	if m == nil {
		return nil
	}
	err := m.patchStatus(ctx, lcmMachines, m.machineOf(node), fields)
	if apierrors.IsNotFound(err) {
		return nil // a node without a Machine
	}
	return err
}

// Values of kubernetesCordonDrain.
const (
	cordonDraining = "cordondraining"
	cordonDrained  = "cordondrained"
	uncordoning    = "uncordoning"
)

// setDrain writes the progress of a machine's drain, with what blocks it.
func (m *management) setDrain(ctx context.Context, node, value, problem string) error {
	switch {
	case m == nil:
	case problem != "":
		m.log.Warn(fmt.Sprintf("LCMMachine %s/%s: %s, and it is tried again: %s", m.Project, m.machineOf(node), value, problem))
	default:
		m.log.Info(fmt.Sprintf("LCMMachine %s/%s: node %s: %s", m.Project, m.machineOf(node), node, value))
	}
	return m.setMachine(ctx, node, map[string]any{
		"kubernetesCordonDrain": value, "kubernetesCordonDrainError": problem, "swarmCordonDrain": value,
	})
}

// cordonDrain is what the LCMMachine of a node says of its drain; empty outside of it.
func (m *management) cordonDrain(ctx context.Context, node string) (string, error) {
	if m == nil {
		return "", nil
	}
	machine, err := m.objects(lcmMachines).Get(ctx, m.machineOf(node), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil // a node without a Machine
	}
	if err != nil {
		return "", fmt.Errorf("read LCMMachine %s: %w", m.machineOf(node), err)
	}
	return text(machine, "status", "kubernetesCordonDrain"), nil
}

// stateName is the name of an LCMClusterState: lower case, at most 63 characters, cut from the left (docs/mosk.md#lcmclusterstate).
func stateName(prefix, machine string) string {
	machine = strings.ToLower(machine)
	if over := len(prefix) + len(machine) - 63; over > 0 {
		machine = machine[over:]
	}
	return prefix + machine
}

// wantDrain writes the LCMClusterStates that request the drain of a machine, or its opposite.
func (m *management) wantDrain(ctx context.Context, node, value, reason string) error {
	if m == nil {
		return nil
	}
	machine := m.machineOf(node)
	for _, state := range []struct{ prefix, kind string }{{"cd-", "cordon-drain"}, {"sd-", "swarm-drain"}} {
		name := stateName(state.prefix, machine)
		object := m.newObject(lcmClusterStates, "LCMClusterState", name)
		object.SetAnnotations(map[string]string{annotationReason: reason})
		object.Object["spec"] = map[string]any{"clusterName": m.cluster, "type": state.kind, "arg": machine, "value": value}
		made, err := m.ensure(ctx, lcmClusterStates, object, map[string]any{"value": "false", "attempt": 0})
		if err != nil {
			return err
		}
		if made {
			continue
		}
		body := map[string]any{"spec": map[string]any{"value": value},
			"metadata": map[string]any{"annotations": map[string]any{annotationReason: reason}}}
		if err := m.patch(ctx, lcmClusterStates, name, body); err != nil {
			return err
		}
	}
	return nil
}

// wantsDrain tells whether a machine must still be drained: an operator may skip a drain by setting the value of its
// LCMClusterState to false.
func (m *management) wantsDrain(ctx context.Context, node string) (bool, error) {
	if m == nil {
		return true, nil
	}
	name := stateName("cd-", m.machineOf(node))
	state, err := m.objects(lcmClusterStates).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read LCMClusterState %s: %w", name, err)
	}
	return text(state, "spec", "value") != "false", nil
}

// tellDrain writes the result of an attempt to drain a machine, or to undo the drain.
func (m *management) tellDrain(ctx context.Context, node, value string, attempt int, message string) error {
	if m == nil {
		return nil
	}
	machine := m.machineOf(node)
	fields := map[string]any{"value": value, "attempt": attempt, "message": message}
	if err := m.patchStatus(ctx, lcmClusterStates, stateName("cd-", machine), fields); err != nil {
		return err
	}
	if message != "" {
		return nil // Swarm has nothing to wait for
	}
	return m.patchStatus(ctx, lcmClusterStates, stateName("sd-", machine), map[string]any{"value": value, "attempt": 1, "message": ""})
}
