package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// rockoonFinalizer is the OpenStack controller's finalizer on maintenance requests (docs/mosk.md#finalizers). A request
// that was being deleted had at least this one, otherwise it would have been gone.
const rockoonFinalizer = "lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"

// nodeFinalizer is the controller's finalizer on each Node: its container node has seen all of them (docs/mosk.md#while-it-is-away).
const nodeFinalizer = "lcm.mirantis.com/rockoon.node-finalizer"

// moment is one event in a cluster before it was found.
type moment struct {
	ago  scenario.Duration
	what string
	do   func(context.Context) error
}

// asFound creates the cluster as it was found: every object with its age and state.
func (s *seeder) asFound(ctx context.Context) error {
	if s.story.Found == nil {
		return nil
	}
	var past []moment
	for i, n := range s.story.Nodes {
		past = append(past, moment{s.story.Ago(n.Created), "node " + n.Machine, func(ctx context.Context) error {
			_, err := s.kube.CoreV1().Nodes().Create(ctx, s.foundNode(n, i), metav1.CreateOptions{})
			return err
		}})
	}
	f := s.story.Found
	past = append(past, s.foundLocks(clusterLocks, "ClusterWorkloadLock", f.ClusterLocks)...)
	past = append(past, s.foundLocks(nodeLocks, "NodeWorkloadLock", f.NodeLocks)...)
	past = append(past, s.foundRequests(clusterRequests, "ClusterMaintenanceRequest", f.ClusterRequests)...)
	past = append(past, s.foundRequests(nodeRequests, "NodeMaintenanceRequest", f.NodeRequests)...)
	past = append(past, s.foundNotices(maintenance("nodedeletionrequests"), "NodeDeletionRequest", f.Deletions)...)
	past = append(past, s.foundNotices(maintenance("nodedisablenotifications"), "NodeDisableNotification", f.Disablings)...)
	slices.SortStableFunc(past, func(a, b moment) int { return cmp.Compare(b.ago, a.ago) })
	for _, m := range past {
		s.moveTo(m.ago.Of())
		if err := m.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
	}
	return nil
}

// when is the time in the simulated cluster of a moment before the look.
func (s *seeder) when(m scenario.Moment) time.Time { return s.start.Add(-s.story.Ago(m).Of()) }

// foundNode is a node with its found state.
func (s *seeder) foundNode(n scenario.Node, i int) *corev1.Node {
	node := newNode(s.story, n, i, s.start)
	node.Status.NodeInfo.KubeletVersion = cmp.Or(n.Kubelet, s.story.Kubelet.From)
	if n.Cordoned {
		added := metav1.NewTime(s.start)
		node.Spec.Unschedulable = true
		node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &added}}
	}
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type != corev1.NodeReady {
			continue
		}
		c.LastTransitionTime = metav1.NewTime(s.when(n.ReadySince))
		if n.Ready != "" {
			c.Status, c.Reason, c.Message = corev1.ConditionStatus(n.Ready), cmp.Or(n.ReadyReason, "KubeletNotReady"), ""
		}
	}
	return node
}

func (s *seeder) foundLocks(resource schema.GroupVersionResource, kind string, locks []scenario.FoundLock) []moment {
	var past []moment
	for _, l := range locks {
		past = append(past, moment{s.story.Ago(l.Created), kind + " " + l.Name, func(ctx context.Context) error {
			spec := map[string]any{"controllerName": l.Controller}
			if l.Node != "" {
				spec["nodeName"] = s.nodeName(l.Node)
			}
			if l.Deletion {
				spec["nodeDeletionRequestSupported"] = true
			}
			object := newObject(kind, l.Name, spec)
			if l.Inner != "" {
				object.SetAnnotations(map[string]string{"inner_state": l.Inner})
			}
			created, err := s.dyn.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
			if err != nil || l.State == "" {
				return err
			}
			created.Object["status"] = s.lockStatus(l)
			_, err = s.dyn.Resource(resource).UpdateStatus(ctx, created, metav1.UpdateOptions{})
			return err
		}})
	}
	return past
}

func (s *seeder) lockStatus(l scenario.FoundLock) map[string]any {
	status := map[string]any{"state": l.State}
	if l.Release != "" {
		status["release"] = l.Release
	}
	if l.Message != "" {
		status["errorMessage"] = l.Message
		if !l.Said.IsZero() {
			status["errorMessage"] = pythonTime(s.when(l.Said)) + " " + l.Message
		}
	}
	if l.Progress != "" || l.Percentage > 0 {
		status["inactivationProgress"] = map[string]any{"description": l.Progress, "percentage": int64(l.Percentage)}
	}
	return status
}

// nodeName is the Kubernetes name of a machine; a name that is not a machine is a node that was already gone.
func (s *seeder) nodeName(machine string) string {
	if n, ok := s.story.Node(machine); ok {
		return n.Name
	}
	return machine
}

func (s *seeder) foundRequests(resource schema.GroupVersionResource, kind string, requests []scenario.FoundRequest) []moment {
	var past []moment
	for _, r := range requests {
		past = append(past, moment{s.story.Ago(r.Created), kind + " " + r.Name, func(ctx context.Context) error {
			spec := map[string]any{}
			for key, value := range map[string]string{"release": r.Release, "scope": r.Scope} {
				if value != "" {
					spec[key] = value
				}
			}
			if r.Node != "" {
				spec["nodeName"] = s.nodeName(r.Node)
			}
			object := newObject(kind, r.Name, spec)
			object.SetFinalizers(r.Finalizers)
			if !r.Deleted.IsZero() && len(r.Finalizers) == 0 {
				object.SetFinalizers([]string{rockoonFinalizer})
			}
			_, err := s.dyn.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
			return err
		}})
		if !r.Deleted.IsZero() {
			past = append(past, moment{s.story.Ago(r.Deleted), "deletion of " + kind + " " + r.Name, func(ctx context.Context) error {
				return s.dyn.Resource(resource).Delete(ctx, r.Name, metav1.DeleteOptions{})
			}})
		}
	}
	return past
}

func (s *seeder) foundNotices(resource schema.GroupVersionResource, kind string, notices []scenario.FoundNotice) []moment {
	var past []moment
	for _, n := range notices {
		past = append(past, moment{s.story.Ago(n.Created), kind + " " + n.Name, func(ctx context.Context) error {
			_, err := s.dyn.Resource(resource).Create(ctx, newObject(kind, n.Name, map[string]any{"nodeName": s.nodeName(n.Node)}),
				metav1.CreateOptions{})
			return err
		}})
	}
	return past
}

// foundController leaves the OpenStack controller's Deployment as it was found, for example scaled down or not ready.
func (s *seeder) foundController(ctx context.Context) error {
	f := s.story.Found.Controller
	if f.Release == "" {
		return nil // unknown
	}
	deployments := s.kube.AppsV1().Deployments("osh-system")
	current, err := deployments.Get(ctx, "rockoon", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	if replicas := int32(f.Replicas); current.Spec.Replicas == nil || *current.Spec.Replicas != replicas {
		current.Spec.Replicas = &replicas
		if current, err = deployments.Update(ctx, current, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("deployment rockoon: %w", err)
		}
	}
	current.Status.Replicas, current.Status.ReadyReplicas = int32(f.Replicas), int32(f.Ready)
	current.Status.AvailableReplicas, current.Status.UnavailableReplicas = int32(f.Ready), int32(max(f.Replicas-f.Ready, 0))
	if _, err := deployments.UpdateStatus(ctx, current, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	return nil
}

// foundReleases returns the cluster release and the version of the OpenStack controller that were found.
func (s *seeder) foundReleases() (release, version string) {
	f := s.story.Found
	if f == nil {
		return s.story.Release.From, s.story.Rockoon.From
	}
	return cmp.Or(f.Controller.Release, s.story.Release.From), cmp.Or(f.Controller.Version, s.story.Rockoon.From)
}

// foundStatus is the OpenStackDeploymentStatus as it was found, on top of one that is fully applied.
func (s *seeder) foundStatus() *unstructured.Unstructured {
	release, version := s.foundReleases()
	status := controller.NewDeploymentStatus(*s.run.OpenStack, release, version, pythonTime(s.clock.Now()))
	if s.story.Found == nil || s.story.Found.Deployment == nil {
		return status
	}
	d := s.story.Found.Deployment
	osdpl, _, _ := unstructured.NestedMap(status.Object, "status", "osdpl")
	maps.Copy(osdpl, known(map[string]string{
		"state": d.State, "release": d.Release, "controller_version": d.Version, "health": d.Health, "lcm_progress": d.Progress, "cause": d.Cause,
		"timestamp": pythonTime(s.when(d.Since)),
	}))
	setNested(status, osdpl, "status", "osdpl")
	for _, one := range d.Services {
		service, _, _ := unstructured.NestedMap(status.Object, "status", "services", one.Name)
		if service == nil {
			service = map[string]any{}
		}
		maps.Copy(service, known(map[string]string{"state": one.State, "release": one.Release, "timestamp": pythonTime(s.when(one.Since))}))
		setNested(status, service, "status", "services", one.Name)
	}
	for _, place := range d.Unhealthy {
		if application, component, ok := strings.Cut(place, "/"); ok {
			setNested(status, map[string]any{"generation": int64(1), "status": "Unhealthy"}, "status", "health", application, component)
		}
	}
	return status
}

// setNested sets a map within an object; it cannot fail, because the maps on the path belong to the object.
func setNested(object *unstructured.Unstructured, value map[string]any, path ...string) {
	_ = unstructured.SetNestedMap(object.Object, value, path...)
}

// known returns the values that are set.
func known(values map[string]string) map[string]any {
	there := map[string]any{}
	for key, value := range values {
		if value != "" {
			there[key] = value
		}
	}
	return there
}

// couldNotRead tells whether a list of the found cloud is missing because it could not be read.
func couldNotRead(s *scenario.Scenario, what string) bool {
	return s.Found != nil && slices.ContainsFunc(s.Found.Missing, func(m scenario.Missing) bool { return m.What == what })
}

// populateOptions returns the options for Populate: a found cluster keeps its locks. Locks that could not be read are
// armed.
func (s *seeder) populateOptions() controller.Options {
	run := s.run
	run.LocksKept = s.story.Found != nil && !couldNotRead(s.story, "nodeworkloadlocks") && !couldNotRead(s.story, "clusterworkloadlocks")
	return run
}
