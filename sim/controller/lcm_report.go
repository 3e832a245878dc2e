package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// report writes the state of the Cluster, its LCMCluster and its Machines to these objects.
func (l *lcm) report(ctx context.Context, firing []string) error {
	m := l.management
	machines := m.seen(machinesResource)
	nodes := l.view.nodes()
	ready := 0
	var unready, down []string // unready includes machines being worked on; down are those whose node is not ready
	var errs []error
	for _, machine := range machines {
		state, err := l.reportMachine(ctx, machine, nodes[nodeOf(machine)])
		errs = append(errs, err)
		if state.ready {
			ready++
		} else {
			unready = append(unready, machine.GetName())
		}
		if !state.kubelet {
			down = append(down, machine.GetName())
		}
	}
	stuck := m.stuckMessage()
	current := map[string]any{"name": m.Source, "version": releaseNumber(m.Source)}
	done := false
	if plan := m.last(plansResource, m.planName()); plan != nil && text(plan, "status", "status") == planCompleted {
		current, done = map[string]any{"name": m.Target, "version": m.Version}, true
	}
	if own := m.last(lcmClusters, m.cluster); m.NoPlan && own != nil && text(own, "status", "release") == m.Target {
		current, done = map[string]any{"name": m.Target, "version": m.Version}, true
	}
	fields := map[string]any{"requestedNodes": len(machines), "readyNodes": ready, "lcmOperationStuck": stuck != "",
		"lcmOperationStuckMessage": stuck}
	if done {
		fields["release"] = m.Target
	}
	errs = append(errs, m.tellStatus(ctx, lcmClusters, m.cluster, fields))

	kubernetes, text := len(down) == 0, notReady(down)
	conditions := []any{
		condition("Helm", true, ""), condition("Kubernetes", kubernetes, text), condition("Nodes", ready == len(machines), notReady(unready)),
		condition("LCMOperation", stuck == "", stuck),
	}
	if len(firing) > 0 {
		conditions = append(conditions, condition("UpdateAutoPause", false, "update is paused, firing alerts: "+strings.Join(firing, ", ")))
	}
	available := []any{}
	if !done {
		for _, o := range m.Offers {
			available = append(available, map[string]any{"name": o.Target, "version": o.Version, "rebootRequired": o.Reboot})
		}
		if !slices.ContainsFunc(m.Offers, func(o Offer) bool { return o.Target == m.Target }) {
			available = append(available, map[string]any{"name": m.Target, "version": m.Version, "rebootRequired": true})
		}
	}
	if cluster := m.last(clustersResource, m.cluster); cluster != nil && !kubernetes && conditionReady(cluster, "Kubernetes") {
		errs = append(errs, m.event(ctx, cluster, "ClusterKubernetesNotReady", "Kubernetes of the cluster is not ready: "+text))
	}
	errs = append(errs, m.tellStatus(ctx, clustersResource, m.cluster, map[string]any{"providerStatus": map[string]any{
		"ready": kubernetes && stuck == "", "conditions": conditions,
		"nodes":       map[string]any{"requested": len(machines), "ready": ready},
		"releaseRefs": map[string]any{"current": current, "available": available},
	}}))
	return errors.Join(errs...)
}

// notReady names machines; empty if there are none.
func notReady(machines []string) string {
	if len(machines) == 0 {
		return ""
	}
	return "not ready machines: " + strings.Join(machines, ", ")
}

// machineState is the state of a machine.
type machineState struct {
	ready   bool // no work is in progress on it, and its node is ready
	kubelet bool // its node is ready
}

// condition is a condition in the form of this API: without status and time.
func condition(kind string, ready bool, message string) map[string]any {
	return map[string]any{"type": kind, "ready": ready, "message": message}
}

// conditionReady tells whether a condition of an object was ready when last seen; a missing condition counts as ready.
func conditionReady(object *unstructured.Unstructured, kind string) bool {
	for _, c := range listOf(object, "status", "providerStatus", "conditions") {
		if c["type"] == kind {
			return c["ready"] == true
		}
	}
	return true
}

// reportMachine writes the state of a machine to its Machine.
func (l *lcm) reportMachine(ctx context.Context, machine *unstructured.Unstructured, node *corev1.Node) (machineState, error) {
	m := l.management
	own := m.last(lcmMachines, machine.GetName())
	if own == nil {
		return machineState{}, nil
	}
	state := text(own, "status", "state")
	kubelet, problem := false, "node "+nodeOf(machine)+" is not there"
	if node != nil {
		c := nodeReady(node)
		kubelet, problem = c.Status == corev1.ConditionTrue, ""
		if !kubelet {
			problem = c.Message
		}
	}
	agent := ""
	for _, item := range stateItems {
		status, _, _ := unstructured.NestedMap(own.Object, "status", "stateItemStatuses", item.name)
		if code, _ := status["exitCode"].(int64); code != 0 {
			agent = fmt.Sprintf("state item %s failed, attempt %d: %s", item.name, status["attempt"], status["message"])
		}
	}
	inMaintenance := text(own, "status", "kubernetesCordonDrain") != ""
	ready := kubelet && state == machineReady
	var err error
	if !kubelet && conditionReady(machine, "Kubelet") {
		err = m.event(ctx, machine, "MachineLCMAgentNotReady", "LCM agent has not reported its state since "+m.now())
	}
	return machineState{ready, kubelet}, errors.Join(err, m.tellStatus(ctx, machinesResource, machine.GetName(), map[string]any{
		"phase": state,
		"providerStatus": map[string]any{
			"status": state, "ready": ready, "upgradeIndex": number(machine, providerValue("upgradeIndex")...),
			"conditions": []any{
				condition("Kubelet", kubelet, problem), condition("LCM", agent == "", agent),
				condition("Maintenance", !inMaintenance, ""), condition("Reboot", state != machineReboot, ""),
			},
		},
	}))
}

// event writes an event about an object.
func (m *management) event(ctx context.Context, about *unstructured.Unstructured, reason, message string) error {
	now := metav1.NewTime(m.clock.Now())
	_, err := m.kube.CoreV1().Events(m.Project).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: about.GetName() + "." + hashID(reason, message, now.String())[:8], Namespace: m.Project},
		InvolvedObject: corev1.ObjectReference{APIVersion: about.GetAPIVersion(), Kind: about.GetKind(), Namespace: about.GetNamespace(),
			Name: about.GetName(), UID: about.GetUID()},
		Reason: reason, Message: message, Type: corev1.EventTypeWarning, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: "lcm-controller"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("write an event about %s %s: %w", about.GetKind(), about.GetName(), err)
	}
	return nil
}
