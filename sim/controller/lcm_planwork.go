package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// startStep does the work of a step of the plan, once in a run of LCM. The last step also ends the cluster's
// maintenance.
func (l *lcm) startStep(ctx context.Context, id string, last bool) {
	m := l.management
	if !m.begin(id) {
		return
	}
	l.tasks.Go(func() {
		err := l.insist(ctx, "step "+id, func(ctx context.Context) error {
			if err := l.doStep(ctx, id); err != nil || !last {
				return err
			}
			return l.closeCluster(ctx)
		})
		if err == nil {
			m.end(id)
		}
	})
}

func (l *lcm) doStep(ctx context.Context, id string) error {
	m := l.management
	if id != stepAuxiliary { // it ends the cluster's maintenance, and a restarted LCM must not begin another
		if err := l.openCluster(ctx, l.Release); err != nil {
			return err
		}
	}
	switch {
	case id == stepOpenStack:
		if err := l.rollOut(ctx); err != nil {
			return err
		}
		if !m.Ceph {
			return l.clusterReleased(ctx)
		}
		return l.waitLocks(ctx, func(controllerName string) bool { return controllerName != cephController })
	case id == stepCeph:
		return l.clusterReleased(ctx)
	case id == stepControllers:
		masters := func() []*unstructured.Unstructured { return m.inOrder(isMaster) }
		if err := l.roll(ctx, masters, m.controlGroup(), func(context.Context) (bool, error) { return true, nil }); err != nil {
			return err
		}
		return m.clusterStage(ctx, stageControlPlane)
	case strings.HasPrefix(id, stepWorkers):
		return l.roll(ctx, func() []*unstructured.Unstructured { return m.groupMembers(strings.TrimPrefix(id, stepWorkers)) },
			strings.TrimPrefix(id, stepWorkers), func(ctx context.Context) (bool, error) { return m.commenced(ctx, id) })
	default:
		if err := m.clusterStage(ctx, stageWorkers); err != nil {
			return err
		}
		begun := m.clock.Now()
		var steps []map[string]any
		if plan := m.last(plansResource, m.planName()); plan != nil {
			steps = listOf(plan, "status", "steps")
		}
		for _, status := range steps {
			if at := timeOf(status["startedAt"]); field(status, "id") == id && !at.IsZero() {
				begun = at
			}
		}
		return m.clock.SleepUntil(ctx, begun.Add(l.timing.Finalize))
	}
}

// openCluster requests the cluster's maintenance, unless it was requested before.
func (l *lcm) openCluster(ctx context.Context, release string) error {
	if err := l.request(ctx, release, 0); err != nil {
		return err
	}
	return l.management.clusterStage(ctx, stageCluster)
}

// closeCluster ends the cluster's maintenance.
func (l *lcm) closeCluster(ctx context.Context) error {
	if err := l.endRequest(ctx); err != nil {
		return err
	}
	return l.management.clusterStage(ctx, stageClusterRemoved)
}

// clusterReleased waits until all cluster locks are released.
func (l *lcm) clusterReleased(ctx context.Context) error {
	if err := l.waitClusterLocks(ctx); err != nil {
		return err
	}
	return l.management.clusterStage(ctx, stageClusterLocks)
}

// groupMembers returns the workers of an UpdateGroup, in order; machines without a group belong to the cluster's
// default group.
func (m *management) groupMembers(group string) []*unstructured.Unstructured {
	return m.inOrder(func(machine *unstructured.Unstructured) bool {
		own := machine.GetLabels()[labelGroup]
		if own == "" {
			own = m.cluster + "-default"
		}
		return !isMaster(machine) && own == group && !deleting(machine)
	})
}

// commenced tells whether a step may start another machine.
func (m *management) commenced(ctx context.Context, id string) (bool, error) {
	if m.NoPlan {
		return true, nil
	}
	plan, err := m.objects(plansResource).Get(ctx, m.planName(), metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read ClusterUpdatePlan %s: %w", m.planName(), err)
	}
	for _, step := range stepsOf(plan) {
		if field(step, "id") == id {
			return step["commence"] == true, nil
		}
	}
	return false, nil
}

// roll updates machines in order, as many at a time as their UpdateGroup allows at the moment. Machines that an earlier
// run of LCM began go first; others start only while more returns true. It returns when all are done.
func (l *lcm) roll(ctx context.Context, machines func() []*unstructured.Unstructured, group string,
	more func(context.Context) (bool, error)) error {
	m := l.management
	changed, stop := m.view.subscribe(plansResource, groupsResource, machinesResource)
	defer stop()
	var busy sync.WaitGroup
	defer busy.Wait()
	finished := make(chan struct{}, 1)
	var mu sync.Mutex
	underWay, done := map[string]bool{}, map[string]bool{}
	for {
		concurrent, scope := m.groupSettings(group, l.Scope)
		all := machines()
		left, waiting := 0, 0
		mu.Lock()
		for _, machine := range all {
			node := nodeOf(machine)
			if !underWay[node] && m.isUpdated(machine.GetName()) {
				done[node] = true // by an earlier run of LCM
			}
			if !done[node] {
				left++
				if !underWay[node] {
					waiting++
				}
			}
		}
		room := waiting > 0 && len(underWay) < concurrent
		mu.Unlock()
		var mayBegin bool
		var requests []unstructured.Unstructured
		if room { // each report of a machine comes here, and mostly there is no room for another one
			var err error
			if mayBegin, err = more(ctx); err != nil {
				return err
			}
			if requests, err = l.requests(ctx, nodeRequests); err != nil {
				return err
			}
		}
		for _, begun := range []bool{true, false} {
			if !room {
				break
			}
			for _, machine := range all {
				node := nodeOf(machine)
				mu.Lock()
				running, over, n := underWay[node], done[node], len(underWay)
				mu.Unlock()
				has := slices.ContainsFunc(requests, func(r unstructured.Unstructured) bool { return requestNode(&r) == node })
				has = has || m.drained(machine.GetName()) || l.runsTarget(node)
				if over || begun != has || running || n >= concurrent || !begun && !mayBegin {
					continue
				}
				mu.Lock()
				underWay[node] = true
				mu.Unlock()
				busy.Go(func() {
					l.maintain(named(ctx, node), node, l.updating(scope))
					if ctx.Err() == nil {
						l.persist(ctx, node, func(ctx context.Context) error { return m.machineUpdated(ctx, node, scope) })
					}
					mu.Lock()
					delete(underWay, node)
					done[node] = true
					mu.Unlock()
					select {
					case finished <- struct{}{}:
					default:
					}
				})
				if m.clock.Sleep(ctx, betweenNodes) != nil {
					return ctx.Err()
				}
			}
		}
		if left == 0 {
			return ctx.Err()
		}
		wait, cancel := context.WithCancel(ctx)
		go func() {
			select {
			case <-finished:
			case <-changed:
			case <-wait.Done():
			}
			cancel()
		}()
		_ = m.clock.Sleep(wait, m.timing.PlanLook)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// drained tells whether a machine's maintenance has begun.
func (m *management) drained(machine string) bool {
	object := m.last(lcmMachines, machine)
	return object != nil && text(object, "status", "kubernetesCordonDrain") != ""
}

// groupSettings returns how many machines of a group may be updated at a time, and the scope of their requests. A group
// that is gone continues one by one.
func (m *management) groupSettings(name, scope string) (int, string) {
	group := m.last(groupsResource, name)
	if group == nil {
		return 1, scope
	}
	if flag(group, "spec", "rebootIfUpdateRequires") {
		scope = ScopeOS
	} else {
		scope = ScopeDrain
	}
	return max(int(number(group, "spec", "concurrentUpdates")), 1), scope
}

// machineUpdated notes that a machine is at the target. A machine that was not rebooted needs a reboot for its new
// kernel.
func (m *management) machineUpdated(ctx context.Context, node, scope string) error {
	if scope == ScopeDrain {
		if err := m.wantReboot(ctx, node, true); err != nil {
			return err
		}
	}
	return m.setMachine(ctx, node, map[string]any{"release": m.Target})
}

// isUpdated tells whether machineUpdated has noted that a machine is at the target.
func (m *management) isUpdated(machine string) bool {
	object := m.last(lcmMachines, machine)
	return object != nil && text(object, "status", "release") == m.Target
}

// progress is the state and the message of a step in progress.
func (l *lcm) progress(ctx context.Context, id string, step, status map[string]any) (state, message string) {
	m := l.management
	switch {
	case id == stepOpenStack:
		for _, object := range l.view.objects(deployments) {
			if progress := text(object, "status", "osdpl", "lcm_progress"); progress != "" {
				message = "LCM progress: " + progress
			}
		}
	case id == stepControllers:
		message = l.machineProgress(m.inOrder(isMaster))
	case strings.HasPrefix(id, stepWorkers):
		message = l.machineProgress(m.groupMembers(strings.TrimPrefix(id, stepWorkers)))
	}
	if why := m.blocked(); why != "" && id != stepOpenStack && id != stepCeph {
		return planStuck, why
	}
	duration, _ := step["duration"].(map[string]any)
	estimated, err := time.ParseDuration(field(duration, "estimated"))
	over := m.clock.Now().Sub(timeOf(status["startedAt"]))
	if err != nil || over <= estimated {
		m.onTime(id)
		return planInProgress, message
	}
	why := fmt.Sprintf("step %s takes longer than the estimated %s", id, estimated)
	if holds := l.holders(id); holds != "" {
		why += ": " + holds
	}
	m.late(id, why)
	return planStuck, why
}

func (l *lcm) machineProgress(machines []*unstructured.Unstructured) string {
	done := 0
	for _, machine := range machines {
		if l.runsTarget(nodeOf(machine)) {
			done++
		}
	}
	return fmt.Sprintf("%d of %d machines updated", done, len(machines))
}

// holders lists the locks that a step waits for, with their messages.
func (l *lcm) holders(id string) string {
	resource, ours := clusterLocks, func(*unstructured.Unstructured) bool { return true }
	if id == stepControllers || strings.HasPrefix(id, stepWorkers) {
		resource = nodeLocks
		ours = func(lock *unstructured.Unstructured) bool {
			return slices.ContainsFunc(l.view.objects(nodeRequests), func(r *unstructured.Unstructured) bool {
				return requestNode(r) == lockNode(lock) && !deleting(r)
			})
		}
	} else if id == stepAuxiliary {
		return ""
	}
	var holds []string
	for _, lock := range l.view.objects(resource) {
		if lockState(lock) == stateInactive || !ours(lock) {
			continue
		}
		text := lock.GetKind() + " " + lock.GetName() + " is " + lockState(lock) + " " + text(lock, "status", "errorMessage")
		holds = append(holds, strings.TrimSpace(text))
	}
	slices.Sort(holds)
	return strings.Join(holds, "; ")
}
