package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reboot switches the machine under a node off and on, and waits until the node returns.
func (l *lcm) reboot(ctx context.Context, name string) error {
	m := l.management
	if err := m.setMachine(ctx, name, map[string]any{"state": machineReboot, "reboot": map[string]any{
		"requestedAt": l.clock.Now().Format(time.RFC3339), "completed": false, "errorMessage": ""}}); err != nil {
		return err
	}
	l.hosts.powerOff(name)
	err := l.clock.Sleep(ctx, l.timing.Reboot+behind(ctx))
	if m != nil {
		for _, late := range m.NotReady {
			if late.Node == name {
				l.hosts.ail(name, l.clock.Now().Add(late.For), late.Message)
			}
		}
	}
	bootID := l.hosts.powerOn(name) // also at the end: a stopped simulation must not leave hosts off
	if err != nil {
		return err
	}
	if err := l.waitReady(ctx, name, bootID); err != nil {
		return err
	}
	return l.endReboot(ctx, name)
}

// endReboot reports that the machine of a node is back if it was rebooting: an LCM that was restarted meanwhile finds
// the node at the target and has only this left to do.
func (l *lcm) endReboot(ctx context.Context, name string) error {
	m := l.management
	if m == nil {
		return nil
	}
	machine, err := m.objects(lcmMachines).Get(ctx, m.machineOf(name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // a node without a Machine
	}
	if err != nil {
		return fmt.Errorf("read LCMMachine %s: %w", m.machineOf(name), err)
	}
	if text(machine, "status", "reboot", "requestedAt") == "" || flag(machine, "status", "reboot", "completed") {
		return nil
	}
	if err := l.waitReady(ctx, name, ""); err != nil {
		return err
	}
	if err := m.wantReboot(ctx, name, false); err != nil {
		return err
	}
	if err := m.machineStage(ctx, providerMachineUps, name, stageReboot); err != nil {
		return err
	}
	// Last, because it marks the reboot as over.
	return m.setMachine(ctx, name, map[string]any{"reboot": map[string]any{"completed": true}})
}

// wantReboot notes in the Machine of a node whether it must be rebooted to run what was installed.
func (m *management) wantReboot(ctx context.Context, node string, required bool) error {
	if m == nil {
		return nil
	}
	machine := m.last(machinesResource, m.machineOf(node))
	if machine == nil || flag(machine, "status", "providerStatus", "reboot", "required") == required {
		return nil
	}
	reason := ""
	if required {
		reason = "a new kernel was installed"
	}
	err := m.patchStatus(ctx, machinesResource, machine.GetName(), map[string]any{"providerStatus": map[string]any{
		"reboot": map[string]any{"required": required, "reason": reason}}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// rebooted tells whether the machine of a node has been rebooted since a request was made.
func (m *management) rebooted(node string, request *unstructured.Unstructured) bool {
	machine := m.last(lcmMachines, m.machineOf(node))
	if machine == nil {
		return true // there is nothing for LCM to reboot
	}
	asked, _, _ := unstructured.NestedString(machine.Object, "status", "reboot", "requestedAt")
	return flag(machine, "status", "reboot", "completed") && !timeOf(asked).Before(request.GetCreationTimestamp().Time)
}

// rebootRequested reboots the machines of a GracefulRebootRequest one after another, in the order of an update, and
// removes the request when all are done.
func (l *lcm) rebootRequested(ctx context.Context, request *unstructured.Unstructured) error {
	m := l.management
	now, err := m.objects(rebootsResource).Get(ctx, request.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && now.GetUID() != request.GetUID() {
		return nil // the view lags behind our own writes
	}
	if err != nil {
		return fmt.Errorf("read GracefulRebootRequest %s: %w", request.GetName(), err)
	}
	wanted := map[string]bool{}
	names, _, _ := unstructured.NestedStringSlice(request.Object, "spec", "machines")
	for _, name := range names {
		wanted[name] = true
	}
	meant := func(machine *unstructured.Unstructured) bool { return len(wanted) == 0 || wanted[machine.GetName()] }
	masters := m.inOrder(func(machine *unstructured.Unstructured) bool { return isMaster(machine) && meant(machine) })
	workers := m.inOrder(func(machine *unstructured.Unstructured) bool { return !isMaster(machine) && meant(machine) })
	release, err := l.currentRelease(ctx)
	if err != nil {
		return err
	}
	if err := l.openCluster(ctx, release); err != nil {
		return err
	}
	all := append(masters, workers...)
	for _, machine := range all {
		if err := m.markReboot(ctx, machine.GetName(), "true"); err != nil {
			return err
		}
	}
	for _, machine := range all {
		node := nodeOf(machine)
		done := func(*corev1.Node) bool { return m.rebooted(node, request) }
		l.maintain(ctx, node, job{release: release, scope: ScopeOS, reason: reasonMaintenance, done: done, work: l.reboot})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.markReboot(ctx, machine.GetName(), nil); err != nil {
			return err
		}
	}
	if err := l.closeCluster(ctx); err != nil {
		return err
	}
	uid := request.GetUID()
	err = m.objects(rebootsResource).Delete(ctx, request.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// markReboot sets or removes the mark of a machine that must be rebooted.
func (m *management) markReboot(ctx context.Context, machine string, value any) error {
	err := m.patch(ctx, lcmMachines, machine,
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotationGraceful: value}}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
