package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// States of a ClusterUpdatePlan and of its steps (docs/mosk.md#update-plans).
const (
	planNotStarted = "NotStarted"
	planScheduled  = "Scheduled"  // commenced, but an earlier step is not complete
	planInProgress = "InProgress" // started
	planAutoPaused = "AutoPaused" // an alert cleared the operator's commence
	planStuck      = "Stuck"      // takes longer than estimated, or is blocked
	planCompleted  = "Completed"
)

// stepsOf are the steps in a plan's spec.
func stepsOf(plan *unstructured.Unstructured) []map[string]any { return listOf(plan, "spec", "steps") }

// listOf are the objects in a list of an object.
func listOf(object *unstructured.Unstructured, fields ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(object.Object, fields...)
	var all []map[string]any
	for _, one := range list {
		if fields, ok := one.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

func field(object map[string]any, name string) string {
	value, _ := object[name].(string)
	return value
}

// stepStatuses are the states of a plan's steps, each with its ID and name; steps without a status are NotStarted.
func (m *management) stepStatuses(plan *unstructured.Unstructured) []any {
	old := map[string]map[string]any{}
	for _, status := range listOf(plan, "status", "steps") {
		old[field(status, "id")] = status
	}
	var all []any
	for _, step := range stepsOf(plan) {
		status := old[field(step, "id")]
		if status == nil {
			status = map[string]any{"id": step["id"], "name": step["name"], "status": planNotStarted}
		}
		all = append(all, status)
	}
	return all
}

// manage is LCM with a management cluster: whenever something changes there, it looks at what is requested, does it,
// and reports.
func (l *lcm) manage(ctx context.Context) {
	m := l.management
	l.tasks.Go(func() { m.relay(ctx, l.env) })
	m.loop(ctx, "lcm", l.lookAtPlan, watched()...)
	l.tasks.Wait()
}

// relay triggers a look at the plan when something changes on the MOSK cluster.
func (m *management) relay(ctx context.Context, mosk *env) {
	changed, stop := mosk.view.subscribe(nodesResource, clusterLocks, nodeRequests, deployments)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			m.view.changed(plansResource)
		}
		if m.clock.Sleep(ctx, m.timing.PlanLook/3) != nil { // progress may be reported a little late
			return
		}
	}
}

// lookAtPlan moves everything on one step: the provider's objects, requests beside an update, the plan, and the
// reports.
func (l *lcm) lookAtPlan(ctx context.Context) (time.Duration, error) {
	m := l.management
	if err := m.provide(ctx); err != nil {
		return 0, err
	}
	err := errors.Join(l.lookAtDeletions(ctx), l.lookAtMaintenance(ctx), l.lookAtReboots(ctx))
	plan, getErr := m.objects(plansResource).Get(ctx, m.planName(), metav1.GetOptions{})
	if apierrors.IsNotFound(getErr) {
		return m.timing.PlanLook, errors.Join(err, l.wholeUpdate(ctx), l.report(ctx, nil))
	}
	if getErr != nil {
		return 0, errors.Join(err, fmt.Errorf("read ClusterUpdatePlan %s: %w", m.planName(), getErr))
	}
	firing, pauseErr := m.autoPause(ctx, plan)
	err = errors.Join(err, pauseErr, m.commence(ctx, plan, firing), l.advance(ctx, plan, firing), l.report(ctx, firing))
	return m.timing.PlanLook, err
}

// choose makes the offered release that the Cluster was given the target. Nothing of an update runs before it.
func (l *lcm) choose() {
	m := l.management
	cluster := m.last(clustersResource, m.cluster)
	if !m.NoPlan || cluster == nil {
		return
	}
	given := text(cluster, providerValue("release")...)
	for _, o := range m.Offers {
		if o.Target == given && m.Target != given {
			m.Target, m.Version = o.Target, o.Version
			l.Release, l.KubeletVersion, l.ControllerVersion = o.Update.Release, o.Update.KubeletVersion, o.Update.ControllerVersion
		}
	}
}

// wholeUpdate updates a cluster without a plan once somebody has set its release: one step after the other, without a stop.
func (l *lcm) wholeUpdate(ctx context.Context) error {
	m := l.management
	l.choose()
	cluster, own := m.last(clustersResource, m.cluster), m.last(lcmClusters, m.cluster)
	if !m.NoPlan || cluster == nil || own == nil || text(cluster, providerValue("release")...) != m.Target ||
		text(own, "status", "release") == m.Target || text(own, "spec", "release") != m.Target && m.inMaintenance() {
		return nil
	}
	if err := m.toTarget(ctx, nil); err != nil {
		return err
	}
	over, err := l.isClosed(ctx)
	if err != nil {
		return err
	}
	ids := m.stepIDs()
	for i, id := range ids {
		if !over && !m.ended(id) {
			l.startStep(ctx, id, i+1 == len(ids))
			return nil
		}
	}
	return m.tellStatus(ctx, lcmClusters, m.cluster, map[string]any{"release": m.Target})
}

// isClosed tells whether the cluster's maintenance ended at the end of the update. It reports that, as the run of LCM that ended it may not
// have come to it.
func (l *lcm) isClosed(ctx context.Context) (bool, error) {
	m := l.management
	object, err := m.objects(clusterUpgrades).Get(ctx, m.cluster, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (object.GetAnnotations()[annotationTarget] != m.Target || !hasStage(object, stageWorkers)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read LCMClusterUpgradeStatus %s: %w", m.cluster, err)
	}
	if requests, err := l.requests(ctx, clusterRequests); err != nil || len(requests) > 0 {
		return false, err
	}
	return true, m.clusterStage(ctx, stageClusterRemoved)
}

// runsTarget tells whether a node was last seen to run the target.
func (l *lcm) runsTarget(name string) bool {
	node := l.view.nodes()[name]
	return node != nil && l.updated(node)
}

// commence commences steps whose start does not come from the plan itself: a change of the Cluster's release starts all
// steps, and a colleague starts each step some time after the one before.
func (m *management) commence(ctx context.Context, plan *unstructured.Unstructured, firing []string) error {
	steps, statuses := stepsOf(plan), m.stepStatuses(plan)
	cluster := m.last(clustersResource, m.cluster)
	whole := cluster != nil && text(cluster, providerValue("release")...) == m.Target && text(plan, "status", "startedAt") == ""
	if whole { // unless a step that starts has set it, which sets the LCMCluster's first
		own, err := m.objects(lcmClusters).Get(ctx, m.cluster, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("read LCMCluster %s: %w", m.cluster, err)
		}
		whole = err != nil || text(own, "spec", "release") != m.Target
	}
	var changed bool
	for i, step := range steps {
		if !whole && (m.Colleague <= 0 || len(firing) > 0) {
			break
		}
		status := statuses[i].(map[string]any)
		if field(status, "status") == planCompleted || step["commence"] == true {
			continue
		}
		if whole {
			step["commence"], changed = true, true
			continue
		}
		since := m.Start
		for _, before := range statuses[:i] {
			if done, ok := m.finished(before.(map[string]any)); ok && done.After(since) {
				since = done
			} else if !ok {
				return nil
			}
		}
		if m.clock.Now().Before(since.Add(m.Colleague)) {
			break
		}
		step["commence"], changed = true, true
		break
	}
	if !changed {
		return nil
	}
	return m.writeSteps(ctx, plan, steps)
}

// finished is when a step was complete.
func (m *management) finished(status map[string]any) (time.Time, bool) {
	took, err := time.ParseDuration(field(status, "duration"))
	return timeOf(status["startedAt"]).Add(took), err == nil && field(status, "status") == planCompleted
}

// writeSteps replaces a plan's steps, unless the plan was written by others in the meantime, and updates the caller's
// copy.
func (m *management) writeSteps(ctx context.Context, plan *unstructured.Unstructured, steps []map[string]any) error {
	list := make([]any, 0, len(steps))
	for _, step := range steps {
		list = append(list, step)
	}
	err := m.patch(ctx, plansResource, plan.GetName(), map[string]any{
		"metadata": map[string]any{"resourceVersion": plan.GetResourceVersion()}, "spec": map[string]any{"steps": list}})
	if err != nil {
		return err
	}
	return unstructured.SetNestedSlice(plan.Object, list, "spec", "steps")
}

// advance starts the steps whose turn it is and writes the plan's progress.
func (l *lcm) advance(ctx context.Context, plan *unstructured.Unstructured, firing []string) error {
	m := l.management
	if text(plan, "status", "status") == planCompleted {
		return nil
	}
	steps, statuses := stepsOf(plan), m.stepStatuses(plan)
	for i, step := range steps {
		id, status := field(step, "id"), statuses[i].(map[string]any)
		state := field(status, "status")
		begun := field(status, "startedAt") != ""
		commenced := step["commence"] == true
		switch {
		case state == planCompleted:
		case m.ended(id):
			m.onTime(id)
			status["status"], status["message"] = planCompleted, "Ready"
			status["duration"] = m.clock.Now().Sub(timeOf(status["startedAt"])).String()
		case commenced && m.turn(steps, statuses, i) && (begun || !m.inMaintenance()):
			if !begun {
				status["startedAt"] = m.now()
			}
			if err := m.toTarget(ctx, plan); err != nil {
				return err
			}
			l.startStep(ctx, id, i+1 == len(steps))
			status["status"], status["message"] = l.progress(ctx, id, step, status)
		case begun && strings.HasPrefix(id, stepWorkers) && !commenced: // no new step starts
			l.startStep(ctx, id, i+1 == len(steps))
			_, status["message"] = l.progress(ctx, id, step, status)
			if len(firing) > 0 || state == planAutoPaused {
				status["status"] = planAutoPaused
			}
		case begun: // a step that has started cannot be cancelled
			l.startStep(ctx, id, i+1 == len(steps))
			status["status"], status["message"] = l.progress(ctx, id, step, status)
		case commenced:
			status["status"] = planScheduled
		default:
			status["status"] = planNotStarted
		}
	}
	return m.writePlan(ctx, plan, statuses, firing)
}

// inMaintenance tells whether the cluster is in maintenance mode or about to enter it, or machines are being rebooted:
// no update starts then.
func (m *management) inMaintenance() bool {
	cluster := m.last(clustersResource, m.cluster)
	return m.busy("maintenance") || m.busy("reboot") || cluster != nil && flag(cluster, "status", "providerStatus", "maintenance")
}

// turn tells whether all steps before the i-th are complete; groups with the same index are updated at the same time.
func (m *management) turn(steps []map[string]any, statuses []any, i int) bool {
	group := m.groupOfStep(field(steps[i], "id"))
	for j := range i {
		if field(statuses[j].(map[string]any), "status") == planCompleted {
			continue
		}
		other := m.groupOfStep(field(steps[j], "id"))
		if group == nil || other == nil || groupIndex(group) != groupIndex(other) {
			return false
		}
	}
	return true
}

// groupOfStep is the UpdateGroup of a worker step, nil for other steps and if the group is gone.
func (m *management) groupOfStep(id string) *unstructured.Unstructured {
	name, ok := strings.CutPrefix(id, stepWorkers)
	if !ok {
		return nil
	}
	return m.last(groupsResource, name)
}

// toTarget sets the release of the Cluster and of its LCMCluster when the first step starts, each unless it is set
// already: an operator who updates the whole cluster at once has set the Cluster's, and an earlier LCM may have ended
// between the two.
func (m *management) toTarget(ctx context.Context, plan *unstructured.Unstructured) error {
	cluster := m.last(clustersResource, m.cluster)
	if cluster == nil {
		return nil
	}
	if own := m.last(lcmClusters, m.cluster); own == nil || text(own, "spec", "release") != m.Target {
		if err := m.patch(ctx, lcmClusters, m.cluster, map[string]any{"spec": map[string]any{"release": m.Target}}); err != nil {
			return err
		}
	}
	if text(cluster, providerValue("release")...) == m.Target {
		return nil
	}
	body := map[string]any{"spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{"release": text(plan, "spec",
		"target")}}}}
	return m.patch(ctx, clustersResource, m.cluster, body)
}

// writePlan writes the states of the steps and the resulting state of the plan.
func (m *management) writePlan(ctx context.Context, plan *unstructured.Unstructured, statuses []any, firing []string) error {
	count := map[string]int{}
	started := text(plan, "status", "startedAt")
	for _, one := range statuses {
		status := one.(map[string]any)
		count[field(status, "status")]++
		if at := field(status, "startedAt"); at != "" && (started == "" || timeOf(at).Before(timeOf(started))) {
			started = at
		}
	}
	fields := map[string]any{"status": planNotStarted, "steps": statuses}
	if started != "" {
		fields["startedAt"] = started
	}
	switch {
	case count[planCompleted] == len(statuses):
		fields["status"], fields["completedAt"] = planCompleted, m.now()
	case len(firing) > 0 || count[planAutoPaused] > 0:
		fields["status"] = planAutoPaused
	case count[planStuck] > 0:
		fields["status"] = planStuck
	case started != "":
		fields["status"] = planInProgress
	case count[planScheduled] > 0:
		fields["status"] = planScheduled
	}
	if status, _ := plan.Object["status"].(map[string]any); says(status, fields) {
		return nil
	}
	return m.patchStatus(ctx, plansResource, plan.GetName(), fields)
}
