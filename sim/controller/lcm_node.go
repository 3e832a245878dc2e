package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Why a node is in maintenance, as in an LCMClusterState.
const (
	reasonUpgrade     = "upgrade"
	reasonMaintenance = "maintenance"
)

// job is the work on a node in maintenance.
type job struct {
	release string // of the request: the application controllers' release
	scope   string // of the request
	reason  string
	done    func(*corev1.Node) bool                      // whether the work is done
	work    func(ctx context.Context, name string) error // on a drained node
}

// updating returns the job of an update.
func (l *lcm) updating(scope string) job {
	return job{release: l.Release, scope: scope, reason: reasonUpgrade, done: l.updated, work: func(ctx context.Context, name string) error {
		return l.update(ctx, name, scope)
	}}
}

// maintain takes one node through its maintenance; it returns when the node or ctx is done.
func (l *lcm) maintain(ctx context.Context, node string, do job) {
	l.persist(ctx, node, func(ctx context.Context) error { return l.maintainOnce(ctx, node, do) })
}

// persist calls do for a node until it succeeds or ctx is done.
func (l *lcm) persist(ctx context.Context, node string, do func(context.Context) error) {
	for ctx.Err() == nil {
		err := do(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			l.log.Warn("will try again", "controller", "lcm", "node", node, "error", err)
		}
		if l.clock.Sleep(ctx, max(l.timing.Backoff, time.Millisecond)) != nil {
			return
		}
	}
}

// maintainOnce does the rest of a node's maintenance: request, wait for all locks, cordon, drain, the work itself,
// uncordon, end the request and wait until it is gone. It does nothing if the node is gone or done.
func (l *lcm) maintainOnce(ctx context.Context, name string, do job) error {
	node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	request, err := l.requestFor(ctx, name)
	if err != nil {
		return err
	}
	if !do.done(node) && (request == nil || !deleting(request)) {
		if err := l.enter(ctx, name, do); err != nil {
			return err
		}
		if err := do.work(ctx, name); err != nil {
			return err
		}
	} else if do.done(node) {
		if err := l.endReboot(ctx, name); err != nil {
			return err
		}
	}
	if err := l.leave(ctx, name, do); err != nil {
		return err
	}
	// If somebody deleted the request of a node that an earlier run of LCM had begun with, its work is not done.
	if node, err = l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{}); err == nil && !do.done(node) {
		return fmt.Errorf("node %s came back before its work was done", name)
	}
	return err
}

// enter takes a node out of service: its applications release it, then it is cordoned and drained.
func (l *lcm) enter(ctx context.Context, name string, do job) error {
	request, err := l.requestFor(ctx, name)
	if err != nil {
		return err
	}
	locks, err := l.locksOfNode(ctx, name)
	if err != nil {
		return err
	}
	m := l.management
	// A node without locks, a master without other roles, needs no request.
	if request == nil && len(locks) > 0 {
		if err := l.createRequest(ctx, name, do); err != nil {
			return err
		}
	}
	if request != nil || len(locks) > 0 {
		if err := m.machineStage(ctx, machineDrains, name, stageRequested); err != nil {
			return err
		}
	}
	if err := l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		locks, err := l.locksOfNode(ctx, name)
		return err == nil && allInactive(locks), err
	}, nodeLocks); err != nil {
		return err
	}
	if err := m.machineStage(ctx, machineDrains, name, stageLocks); err != nil {
		return err
	}
	state, err := m.cordonDrain(ctx, name)
	if err != nil {
		return err
	}
	if state != cordonDraining && state != cordonDrained { // an operator may have stopped a drain that has begun
		if err := m.wantDrain(ctx, name, "true", do.reason); err != nil {
			return err
		}
	}
	if err := m.setDrain(ctx, name, cordonDraining, ""); err != nil {
		return err
	}
	if err := l.cordon(ctx, name, true); err != nil {
		return err
	}
	if err := l.drain(ctx, name); err != nil {
		return err
	}
	if err := m.setDrain(ctx, name, cordonDrained, ""); err != nil {
		return err
	}
	for _, stage := range []string{stageDrained, stageSwarmDrained} {
		if err := m.machineStage(ctx, machineDrains, name, stage); err != nil {
			return err
		}
	}
	return nil
}

// leave brings a node back into service and waits until its applications have taken it.
func (l *lcm) leave(ctx context.Context, name string, do job) error {
	m := l.management
	node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	// Without a request, an LCM that ended while it waited for it to go has not written its last stage.
	request, err := l.requestFor(ctx, name)
	if err != nil {
		return err
	}
	state, err := m.cordonDrain(ctx, name)
	if err != nil {
		return err
	}
	if request == nil && !node.Spec.Unschedulable && state == "" {
		if err := m.setMachine(ctx, name, map[string]any{"state": machineReady, "kubernetesCordonDrain": "",
			"swarmCordonDrain": ""}); err != nil {
			return err
		}
		return m.machineStageAfter(ctx, machineDrains, name, stageRequested, stageRequestRemoved)
	}
	if err := l.waitReady(ctx, name, ""); err != nil { // a restarted LCM may find it rebooting
		return err
	}
	if err := m.wantDrain(ctx, name, "false", do.reason); err != nil {
		return err
	}
	if err := m.setDrain(ctx, name, uncordoning, ""); err != nil {
		return err
	}
	if err := l.cordon(ctx, name, false); err != nil {
		return err
	}
	if err := m.tellDrain(ctx, name, "false", 1, ""); err != nil {
		return err
	}
	for _, stage := range []string{stageSwarmUncordon, stageUncordoned} {
		if err := m.machineStage(ctx, machineDrains, name, stage); err != nil {
			return err
		}
	}
	if err := m.setMachine(ctx, name, map[string]any{
		"state": machineReady, "kubernetesCordonDrain": "", "kubernetesCordonDrainError": "", "swarmCordonDrain": "",
	}); err != nil {
		return err
	}
	if request == nil {
		return m.machineStageAfter(ctx, machineDrains, name, stageRequested, stageRequestRemoved)
	}
	if err := l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		request, err := l.requestFor(ctx, name)
		if err != nil || request == nil {
			return err == nil, err
		}
		if deleting(request) {
			return false, nil
		}
		return false, l.requestDeletion(ctx, nodeRequests, request.GetName(), request.GetUID())
	}, nodeRequests); err != nil {
		return err
	}
	return m.machineStage(ctx, machineDrains, name, stageRequestRemoved)
}

func (l *lcm) createRequest(ctx context.Context, node string, do job) error {
	object := lcmObject("NodeMaintenanceRequest", node)
	object.Object["spec"] = map[string]any{"nodeName": node, "release": do.release, "scope": do.scope}
	if _, err := l.dyn.Resource(nodeRequests).Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create NodeMaintenanceRequest %s: %w", node, err)
	}
	return nil
}

func (l *lcm) locksOfNode(ctx context.Context, node string) ([]unstructured.Unstructured, error) {
	var mine []unstructured.Unstructured
	for _, seen := range l.view.locksOn(node) {
		object, err := l.nodeLock(seen.GetName()).get(ctx)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get the lock %s: %w", seen.GetName(), err)
		}
		mine = append(mine, *object)
	}
	return mine, nil
}

func allInactive(locks []unstructured.Unstructured) bool {
	for i := range locks {
		if lockState(&locks[i]) != stateInactive {
			return false
		}
	}
	return true
}

// update runs the states of the LCM agent and, where the scope allows it, reboots the machine. The node runs the target
// when it is over.
func (l *lcm) update(ctx context.Context, name, scope string) error {
	if err := l.agentStates(ctx, name); err != nil {
		return err
	}
	l.hosts.install(name, l.KubeletVersion)
	if scope == ScopeOS {
		return l.reboot(ctx, name)
	}
	l.hosts.restartKubelet(name)
	return l.waitReady(ctx, name, "")
}

// agentStates runs the LCM agent's work on a node. Without a management cluster nothing shows its progress: a node that
// was cordoned before this run of LCM then counts as worked on since.
func (l *lcm) agentStates(ctx context.Context, name string) error {
	if l.management != nil {
		return l.runAgent(ctx, name)
	}
	node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	begun := l.clock.Now()
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeUnschedulable && taint.TimeAdded != nil && taint.TimeAdded.Time.Before(l.started) {
			begun = taint.TimeAdded.Time
		}
	}
	return l.clock.SleepUntil(ctx, begun.Add(l.timing.Update))
}

// waitReady waits until the node is ready, runs the target if a kubelet of the target was installed, and has the
// bootID, if that is not empty. It reports a node that takes too long.
func (l *lcm) waitReady(ctx context.Context, name, bootID string) error {
	m := l.management
	blocked := "ready/" + name
	defer m.block(blocked, "")
	begun := l.clock.Now()
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready := nodeReady(node)
		if ready.Status == corev1.ConditionTrue && l.hosts.runs(node) && (bootID == "" || node.Status.NodeInfo.BootID == bootID) {
			return true, nil
		}
		if waited := l.clock.Now().Sub(begun); waited >= l.timing.StuckAfter {
			m.block(blocked, fmt.Sprintf("machine %s: node %s is not Ready for %s: %s", m.machineOf(name), name,
				waited.Truncate(time.Minute), ready.Message))
		}
		return false, nil
	}, nodesResource)
}
