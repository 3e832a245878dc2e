package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lookAtReboots starts the reboots of a GracefulRebootRequest while nothing else is in progress.
func (l *lcm) lookAtReboots(ctx context.Context) error {
	m := l.management
	request := m.last(rebootsResource, m.cluster)
	if request == nil || deleting(request) || l.updateUnderWay() || m.busy("maintenance") || !m.begin("reboot") {
		return nil
	}
	l.tasks.Go(func() {
		if err := l.rebootRequested(ctx, request); err != nil && ctx.Err() == nil {
			l.log.Warn("will try again", "controller", "lcm", "what", "graceful reboot", "error", err)
		}
		m.forget("reboot")
	})
	return nil
}

// updateUnderWay tells whether an update has started and is not complete.
func (l *lcm) updateUnderWay() bool {
	if m := l.management; m.NoPlan {
		own := m.last(lcmClusters, m.cluster)
		return own != nil && text(own, "spec", "release") == m.Target && text(own, "status", "release") != m.Target
	}
	plan := l.management.last(plansResource, l.management.planName())
	return plan != nil && text(plan, "status", "startedAt") != "" && text(plan, "status", "status") != planCompleted
}

// lookAtMaintenance follows the maintenance mode of the cluster and of its machines: the cluster enters first and
// leaves last (docs/mosk.md#maintenance-mode). Neither enters during an update.
func (l *lcm) lookAtMaintenance(ctx context.Context) error {
	m := l.management
	cluster := m.last(clustersResource, m.cluster)
	if cluster == nil {
		return nil
	}
	wanted := flag(cluster, providerValue("maintenance")...)
	is := flag(cluster, "status", "providerStatus", "maintenance")
	machinesIn := false
	for _, machine := range m.seen(machinesResource) {
		in := flag(machine, "status", "providerStatus", "maintenance")
		machinesIn = machinesIn || in
		if want := flag(machine, providerValue("maintenance")...); is && want != in {
			l.machineMaintenance(ctx, machine, want)
		}
	}
	if wanted == is || l.updateUnderWay() || m.busy("reboot") || !wanted && (machinesIn || m.busy("maintenance/")) || !m.begin("maintenance") {
		return nil
	}
	l.tasks.Go(func() {
		if err := l.clusterMaintenance(ctx, wanted); err != nil && ctx.Err() == nil {
			l.log.Warn("will try again", "controller", "lcm", "what", "maintenance mode", "error", err)
		}
		m.forget("maintenance")
	})
	return nil
}

func (l *lcm) clusterMaintenance(ctx context.Context, enter bool) error {
	m := l.management
	if enter {
		release, err := l.currentRelease(ctx)
		if err != nil {
			return err
		}
		if err := l.request(ctx, release, 0); err != nil {
			return err
		}
		if err := l.waitClusterLocks(ctx); err != nil {
			return err
		}
	} else if err := l.endRequest(ctx); err != nil {
		return err
	}
	if err := m.patchStatus(ctx, lcmClusters, m.cluster, map[string]any{"maintenance": enter}); err != nil {
		return err
	}
	return m.patchStatus(ctx, clustersResource, m.cluster, map[string]any{"providerStatus": map[string]any{"maintenance": enter}})
}

// machineMaintenance moves a machine into maintenance mode, where it stays drained, or out of it.
func (l *lcm) machineMaintenance(ctx context.Context, machine *unstructured.Unstructured, enter bool) {
	m := l.management
	what := "maintenance/" + machine.GetName()
	if !m.begin(what) {
		return
	}
	l.tasks.Go(func() {
		defer m.forget(what)
		node := nodeOf(machine)
		l.persist(ctx, node, func(ctx context.Context) error {
			release, err := l.currentRelease(ctx)
			if err != nil {
				return err
			}
			do := job{release: release, scope: ScopeOS, reason: reasonMaintenance, done: func(*corev1.Node) bool { return !enter }}
			if enter {
				err = l.enter(ctx, node, do)
			} else {
				err = l.leave(ctx, node, do)
			}
			if err != nil {
				return err
			}
			if err := m.setMachine(ctx, node, map[string]any{"maintenance": enter}); err != nil {
				return err
			}
			if err := m.patchStatus(ctx, machinesResource, machine.GetName(),
				map[string]any{"providerStatus": map[string]any{"maintenance": enter}}); err != nil {
				return fmt.Errorf("maintenance mode of machine %s: %w", machine.GetName(), err)
			}
			return nil
		})
	})
}
