package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Values of Machine.status.providerStatus.prepareDeletionPhase.
const (
	deletionStarted   = "started"
	deletionCompleted = "completed"
)

// Policies of a Machine's deletion.
const (
	deletionUnsafe = "unsafe" // without asking the applications
	deletionForced = "forced" // like unsafe, and without draining
)

// lookAtDeletions removes machines that are being deleted from the cluster, and follows those that are disabled.
func (l *lcm) lookAtDeletions(ctx context.Context) error {
	m := l.management
	for _, machine := range m.seen(machinesResource) {
		if !deleting(machine) {
			if at, ok := m.Deletions[machine.GetName()]; ok && !m.clock.Now().Before(at) {
				if err := m.objects(machinesResource).Delete(ctx, machine.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
					return fmt.Errorf("delete machine %s: %w", machine.GetName(), err)
				}
				continue
			}
			if err := l.lookAtDisabled(ctx, machine); err != nil {
				return err
			}
			continue
		}
		if !slices.Contains(machine.GetFinalizers(), machineFinalizer) || !m.begin("deletion/"+machine.GetName()) {
			continue
		}
		l.tasks.Go(func() {
			l.persist(ctx, nodeOf(machine), func(ctx context.Context) error { return l.removeMachine(ctx, machine) })
			m.forget("deletion/" + machine.GetName())
		})
	}
	return nil
}

// lookAtDisabled keeps a NodeDisableNotification for a disabled machine: while it exists, applications keep their data
// about the node (docs/mosk.md#deletion-requests).
func (l *lcm) lookAtDisabled(ctx context.Context, machine *unstructured.Unstructured) error {
	node, disabled := nodeOf(machine), flag(machine, providerValue("disable")...)
	if there := l.view.object(nodeNotices, node) != nil; there == disabled || node == "" {
		return nil
	}
	if !disabled {
		return l.removeObject(ctx, nodeNotices, node)
	}
	return l.makeNotice(ctx, nodeNotices, "NodeDisableNotification", node)
}

// removeMachine removes a machine from its cluster. With a graceful policy the applications first give the node up on a
// NodeDeletionRequest, and the node is drained.
func (l *lcm) removeMachine(ctx context.Context, machine *unstructured.Unstructured) error {
	m := l.management
	name, node := machine.GetName(), nodeOf(machine)
	policy := text(machine, providerValue("deletionPolicy")...)
	// A restarted LCM does not request the deletion of a node again that was given up before.
	if text(machine, "status", "providerStatus", "prepareDeletionPhase") != deletionCompleted {
		if err := m.setDeletion(ctx, name, deletionStarted); err != nil {
			return err
		}
		if policy != deletionUnsafe && policy != deletionForced {
			if err := l.surrenderNode(ctx, node); err != nil {
				return err
			}
		}
		if policy != deletionForced {
			if err := l.emptyNode(ctx, node); err != nil {
				return err
			}
		}
		if err := m.setDeletion(ctx, name, deletionCompleted); err != nil {
			return err
		}
	}
	l.hosts.powerOff(node)
	if err := l.kube.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete node %s: %w", node, err)
	}
	if err := l.endPods(ctx, node); err != nil {
		return err
	}
	for _, resource := range []schema.GroupVersionResource{nodeDeletions, nodeNotices} {
		if err := l.removeObject(ctx, resource, node); err != nil {
			return err
		}
	}
	for _, resource := range []schema.GroupVersionResource{lcmMachines, lcmClusterStates, machineDrains, machineAgents, providerMachineUps} {
		names := []string{name}
		if resource == lcmClusterStates {
			names = []string{stateName("cd-", name), stateName("sd-", name)}
		}
		for _, n := range names {
			if err := m.objects(resource).Delete(ctx, n, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete %s %s: %w", resource.Resource, n, err)
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(machine.GetFinalizers()), func(f string) bool { return f == machineFinalizer })
	err := m.patch(ctx, machinesResource, name, map[string]any{"metadata": map[string]any{"finalizers": left}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (m *management) setDeletion(ctx context.Context, machine, phase string) error {
	return m.patchStatus(ctx, machinesResource, machine,
		map[string]any{"providerStatus": map[string]any{"delete": true, "prepareDeletionPhase": phase}})
}

// surrenderNode requests the deletion of a node from the applications that support such requests, and waits until all
// locks are released.
func (l *lcm) surrenderNode(ctx context.Context, node string) error {
	locks, err := l.locksOfNode(ctx, node)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(locks, func(lock unstructured.Unstructured) bool { return flag(&lock, "spec", "nodeDeletionRequestSupported") }) {
		return nil
	}
	if err := l.makeNotice(ctx, nodeDeletions, "NodeDeletionRequest", node); err != nil {
		return err
	}
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		locks, err := l.locksOfNode(ctx, node)
		locks = slices.DeleteFunc(locks, func(lock unstructured.Unstructured) bool {
			return !flag(&lock, "spec",
				"nodeDeletionRequestSupported")
		})
		return err == nil && allInactive(locks), err
	}, nodeLocks)
}

// emptyNode cordons and drains a node, if it exists.
func (l *lcm) emptyNode(ctx context.Context, node string) error {
	if _, err := l.kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return nil
	}
	if err := l.management.wantDrain(ctx, node, "true", reasonMaintenance); err != nil {
		return err
	}
	if err := l.cordon(ctx, node, true); err != nil {
		return err
	}
	return l.drain(ctx, node)
}

// endPods removes the pods of a node that is gone, as the pod garbage collector does.
func (l *lcm) endPods(ctx context.Context, node string) error {
	list, err := l.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return fmt.Errorf("list the pods of node %s: %w", node, err)
	}
	now := int64(0)
	for _, pod := range list.Items {
		err := l.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("end pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// makeNotice creates an object on the MOSK cluster that names a node.
func (l *lcm) makeNotice(ctx context.Context, resource schema.GroupVersionResource, kind, node string) error {
	object := lcmObject(kind, node)
	object.Object["spec"] = map[string]any{"nodeName": node}
	_, err := l.dyn.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %s: %w", kind, node, err)
	}
	return nil
}

func (l *lcm) removeObject(ctx context.Context, resource schema.GroupVersionResource, name string) error {
	err := l.dyn.Resource(resource).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", resource.Resource, name, err)
	}
	return nil
}
