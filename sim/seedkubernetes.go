package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/sim/clock"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// cephUpdate is how long Ceph's update took in a scenario's past; OpenStack's was done before it.
const cephUpdate = 36 * time.Minute

// seeder fills an API server with a scenario.
type seeder struct {
	story *scenario.Scenario
	start time.Time
	clock *clock.Clock
	kube  kubernetes.Interface
	dyn   dynamic.Interface
	run   controller.Options

	openStack func() error // waits until OpenStack is as the scenario begins
}

// SeedKubernetes fills an API server that has the definitions of sim/crds with a scenario's cluster: nodes, pods,
// locks, OpenStack's status and credentials, and the part of the update before the scenario starts. The clock must be
// paused; it is advanced through that past until it shows start. An API server with another clock, such as a real one,
// shows the same cluster with younger objects.
func SeedKubernetes(ctx context.Context, config *rest.Config, clk *clock.Clock, s *scenario.Scenario, start time.Time,
	cloudsYAML []byte) error {
	return seedKubernetes(ctx, config, nil, clk, s, start, cloudsYAML, func() error { return nil })
}

// seedKubernetes is SeedKubernetes with a faster way to fill the API server; nil: by requests. openStack waits until OpenStack is as the
// scenario begins: before that the clock must not move.
func seedKubernetes(ctx context.Context, config *rest.Config, load controller.Load, clk *clock.Clock, s *scenario.Scenario, start time.Time,
	cloudsYAML []byte, openStack func() error) error {
	seed, err := newSeeder(config, load, clk, s, start, openStack)
	if err != nil {
		return fmt.Errorf("seed the cluster: %w", err)
	}
	return seed.fill(ctx, cloudsYAML)
}

func newSeeder(config *rest.Config, load controller.Load, clk *clock.Clock, s *scenario.Scenario, start time.Time,
	openStack func() error) (*seeder, error) {
	kube, dyn, err := controller.Clients(config)
	if err != nil {
		return nil, err
	}
	seed := &seeder{story: s, start: start, clock: clk, kube: kube, dyn: dyn, run: ControllerOptions(s),
		openStack: openStack}
	seed.run.Config, seed.run.Clock, seed.run.Load, seed.run.Loaded = config, clk, load, &controller.Loaded{}
	return seed, nil
}

func (s *seeder) fill(ctx context.Context, cloudsYAML []byte) error {
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"create its namespaces and nodes", s.cluster},
		{"store the OpenStack credentials", func(ctx context.Context) error { return s.credentials(ctx, cloudsYAML) }},
		{"deploy OpenStack", s.openstack},
		{"make it as it was found", s.asFound},
		{"bring it to rest", func(ctx context.Context) error { return controller.Populate(ctx, s.populateOptions()) }},
		{"play its past", s.past},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("seed the cluster: %s: %w", step.what, err)
		}
	}
	s.moveTo(0)
	return nil
}

// moveTo advances the clock to a time before the start; it never moves it back. Whether OpenStack is as it should be asks the caller of
// seedKubernetes.
func (s *seeder) moveTo(ago time.Duration) {
	_ = s.openStack()
	if d := s.start.Add(-ago).Sub(s.clock.Now()); d > 0 {
		s.clock.Advance(d)
	}
}

func (s *seeder) cluster(ctx context.Context) error {
	for _, name := range []string{"openstack", "osh-system", "openstack-external", "stacklight", "rook-ceph", "ceph-lcm-mirantis",
		"openstack-redis", "tf", metav1.NamespaceSystem} {
		namespace := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
		var err error
		if s.run.Load != nil {
			err = s.run.Load(namespace)
		} else {
			_, err = s.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	if s.story.Found != nil {
		return nil // its nodes are created with the rest of its past
	}
	for i, n := range s.story.Nodes {
		node := newNode(s.story, n, i, s.clock.Now())
		for i := range node.Status.Conditions { // kubelets have kept posting since then
			node.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(s.start)
		}
		if err := s.putNode(ctx, node); err != nil {
			return fmt.Errorf("node %s: %w", n.Machine, err)
		}
	}
	return nil
}

func (s *seeder) putNode(ctx context.Context, node *corev1.Node) error {
	if s.run.Load != nil {
		node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		return s.run.Load(node)
	}
	_, err := s.kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	return err
}

func (s *seeder) credentials(ctx context.Context, cloudsYAML []byte) error {
	_, err := s.kube.CoreV1().Secrets("openstack-external").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "openstack-identity-credentials", Namespace: "openstack-external"},
		Data:       map[string][]byte{"clouds.yaml": cloudsYAML},
	}, metav1.CreateOptions{})
	return err
}

// Resources of the maintenance API that the past writes.
var (
	clusterLocks    = maintenance("clusterworkloadlocks")
	nodeLocks       = maintenance("nodeworkloadlocks")
	clusterRequests = maintenance("clustermaintenancerequests")
	nodeRequests    = maintenance("nodemaintenancerequests")
)

func maintenance(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

func newObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion("lcm.mirantis.com/v1alpha1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}

func (s *seeder) openstack(ctx context.Context) error {
	release, version := s.foundReleases()
	if _, err := s.kube.AppsV1().Deployments("osh-system").Create(ctx, rockoon(release, version, s.story.Cloud.NodeLabels),
		metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	if err := s.rockoonIsUp(ctx); err != nil {
		return err
	}
	deployment := newObject("OpenStackDeployment", s.story.Cloud.Deployment, map[string]any{
		"openstack_version": s.story.Cloud.Version, "preset": "compute", "size": "small",
		"features": map[string]any{"services": []any{"instance-ha", "stepler", "cloudprober"}},
	})
	deployment.SetNamespace("openstack")
	if _, err := s.dyn.Resource(maintenance("openstackdeployments")).Namespace("openstack").Create(ctx, deployment,
		metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("OpenStackDeployment %s: %w", deployment.GetName(), err)
	}
	status := s.foundStatus()
	if _, err := s.statuses().Create(ctx, status, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("OpenStackDeploymentStatus %s: %w", status.GetName(), err)
	}
	return nil
}

func (s *seeder) statuses() dynamic.ResourceInterface {
	return s.dyn.Resource(maintenance("openstackdeploymentstatus")).Namespace("openstack")
}

// pythonTime is the OpenStack controller's time format.
func pythonTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// past plays the part of the update before the start.
func (s *seeder) past(ctx context.Context) error {
	h := s.story.History
	if s.story.Found != nil {
		return s.foundController(ctx)
	}
	if h.StartAt == scenario.StartOperator {
		return nil
	}
	s.moveTo(h.Begun.Of())
	request := newObject("ClusterMaintenanceRequest", s.story.Cluster, map[string]any{"release": s.story.Release.To})
	request.SetFinalizers([]string{rockoonFinalizer}) // the controller has handled it
	if h.StartAt != scenario.StartOpenStack {
		controller.Handled(request)
	}
	if _, err := s.dyn.Resource(clusterRequests).Create(ctx, request, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("the cluster's request: %w", err)
	}
	if h.StartAt == scenario.StartOpenStack {
		return nil
	}
	if err := s.openstackUpdated(ctx); err != nil {
		return err
	}
	s.moveTo(h.Released.Of())
	if _, err := s.patchLocks(ctx, clusterLocks, map[string]any{"status": map[string]any{"state": "inactive",
		"release": s.story.Release.To}}, "status"); err != nil {
		return err
	}
	locks, err := s.patchLocks(ctx, nodeLocks, map[string]any{"status": map[string]any{"release": s.story.Release.To}}, "status")
	if err != nil {
		return err
	}
	if err := s.fabricBehind(ctx); err != nil {
		return err
	}
	if err := s.nodesUpdated(ctx); err != nil {
		return err
	}
	if err := controller.Populate(ctx, s.run); err != nil { // with the pods of updated nodes
		return err
	}
	return s.nodesBegun(ctx, byNode(locks))
}

// fabricBehind leaves the fabric's locks of nodes that are not done at the old release: OpenStack and Ceph move all
// their locks to the target at once, the fabric moves each lock with its node.
func (s *seeder) fabricBehind(ctx context.Context) error {
	for _, n := range s.story.Nodes {
		if s.story.Cloud.Fabric == "" || !n.Has(scenario.RoleVRouter) || n.Done > 0 {
			continue
		}
		body := map[string]any{"status": map[string]any{"release": s.story.Release.From}}
		if err := s.patchLock(ctx, nodeLocks, "tf-"+n.Name, body, "status"); err != nil {
			return err
		}
	}
	return nil
}

// openstackUpdated is the end of OpenStack's own update: its controller and all services are at the target.
func (s *seeder) openstackUpdated(ctx context.Context) error {
	released, begun := s.story.History.Released.Of(), s.story.History.Begun.Of()
	s.moveTo(min(released+cephUpdate, begun-time.Minute))
	current, err := s.kube.AppsV1().Deployments("osh-system").Get(ctx, "rockoon", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	current.Spec = rockoon(s.story.Release.To, s.story.Rockoon.To, s.story.Cloud.NodeLabels).Spec
	if _, err := s.kube.AppsV1().Deployments("osh-system").Update(ctx, current, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	if err := s.rockoonIsUp(ctx); err != nil {
		return err
	}
	old, err := s.statuses().Get(ctx, s.story.Cloud.Deployment, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("OpenStackDeploymentStatus %s: %w", s.story.Cloud.Deployment, err)
	}
	status := controller.NewDeploymentStatus(*s.run.OpenStack, s.story.Release.To, s.story.Rockoon.To, pythonTime(s.clock.Now()))
	status.SetResourceVersion(old.GetResourceVersion())
	if _, err := s.statuses().Update(ctx, status, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("OpenStackDeploymentStatus %s: %w", s.story.Cloud.Deployment, err)
	}
	return nil
}

// nodesUpdated brings back the nodes that are done, the oldest first.
func (s *seeder) nodesUpdated(ctx context.Context) error {
	var done []scenario.Node
	for _, n := range s.story.Nodes {
		if n.Done > 0 {
			done = append(done, n)
		}
	}
	slices.SortStableFunc(done, func(a, b scenario.Node) int { return int((b.Done - a.Done) / scenario.Duration(time.Second)) })
	for _, n := range done {
		s.moveTo(n.Done.Of())
		node, err := s.kube.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Machine, err)
		}
		node.Status.NodeInfo.KubeletVersion = s.story.Kubelet.To
		node.Status.NodeInfo.BootID = bootID(n, "updated")
		for i := range node.Status.Conditions {
			node.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(s.clock.Now())
			if node.Status.Conditions[i].Type == corev1.NodeReady {
				node.Status.Conditions[i].LastTransitionTime = metav1.NewTime(s.clock.Now().Add(-2 * time.Minute))
			}
		}
		if _, err := s.kube.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("node %s: %w", n.Machine, err)
		}
	}
	return nil
}

// nodesBegun requests the maintenance of the nodes in progress: all controllers except OpenStack have released them.
func (s *seeder) nodesBegun(ctx context.Context, locks map[string][]unstructured.Unstructured) error {
	inactive := map[string]any{"status": map[string]any{"state": "inactive"}}
	handled := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"inner_state": "active"}}}
	for _, n := range s.story.Nodes {
		if n.Began == 0 {
			continue
		}
		s.moveTo(n.Began.Of())
		request := newObject("NodeMaintenanceRequest", n.Name, map[string]any{
			"nodeName": n.Name, "release": s.story.Release.To, "scope": s.story.Update.Scope,
		})
		request.SetFinalizers([]string{rockoonFinalizer})
		if _, err := s.dyn.Resource(nodeRequests).Create(ctx, request, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("the request for node %s: %w", n.Machine, err)
		}
		for _, lock := range locks[n.Name] {
			var err error
			if controllerName, _, _ := unstructured.NestedString(lock.Object, "spec", "controllerName"); controllerName == "openstack" {
				err = s.patchLock(ctx, nodeLocks, lock.GetName(), handled)
			} else {
				err = s.patchLock(ctx, nodeLocks, lock.GetName(), inactive, "status")
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// byNode sorts NodeWorkloadLocks by their nodes.
func byNode(all []unstructured.Unstructured) map[string][]unstructured.Unstructured {
	locks := map[string][]unstructured.Unstructured{}
	for _, lock := range all {
		node, _, _ := unstructured.NestedString(lock.Object, "spec", "nodeName")
		locks[node] = append(locks[node], lock)
	}
	return locks
}

// patchLock merges a body into a lock, or into a subresource of it.
func (s *seeder) patchLock(ctx context.Context, resource schema.GroupVersionResource, name string, body map[string]any,
	subresources ...string) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a patch of %s %s: %w", resource.Resource, name, err)
	}
	if _, err := s.dyn.Resource(resource).Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{}, subresources...); err != nil {
		return fmt.Errorf("%s %s: %w", resource.Resource, name, err)
	}
	return nil
}

// patchLocks merges a body into all locks of a kind, or into a subresource of each, and returns them as they were.
func (s *seeder) patchLocks(ctx context.Context, resource schema.GroupVersionResource, body map[string]any,
	subresources ...string) ([]unstructured.Unstructured, error) {
	list, err := s.dyn.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	for i := range list.Items {
		if err := s.patchLock(ctx, resource, list.Items[i].GetName(), body, subresources...); err != nil {
			return nil, err
		}
	}
	return list.Items, nil
}
