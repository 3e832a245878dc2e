package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/sim/controller"
)

// fillers is how many requests fill the API server at a time. More are not faster: two cores are then busy.
const fillers = 32

// The resources of the maintenance API.
var (
	clusterLocks    = lcm("clusterworkloadlocks")
	nodeLocks       = lcm("nodeworkloadlocks")
	clusterRequests = lcm("clustermaintenancerequests")
	nodeRequests    = lcm("nodemaintenancerequests")
	deployments     = lcm("openstackdeployments")
	statuses        = lcm("openstackdeploymentstatus")
)

func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

const (
	// deployment is the OpenStackDeployment, and the first part of its locks' names.
	deployment = "osh-dev"

	namespaceOpenStack = "openstack"

	modeAnnotation = "openstack.lcm.mirantis.com/instance_migration_mode"

	stateActive, stateInactive = "active", "inactive"
)

// kubernetesAPI are the clients that fill and change the cluster, as its controllers would.
type kubernetesAPI struct {
	core kubernetes.Interface
	dyn  dynamic.Interface
}

func newKubernetesAPI(config *rest.Config) (kubernetesAPI, error) {
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return kubernetesAPI{}, fmt.Errorf("make a client: %w", err)
	}
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	core, err := kubernetes.NewForConfig(binary)
	if err != nil {
		return kubernetesAPI{}, fmt.Errorf("make a client: %w", err)
	}
	return kubernetesAPI{core, dyn}, nil
}

// fill puts the fleet into an API server that has the definitions and namespaces of a MOSK cluster: an update is under way, OpenStack
// is done, some computes are in maintenance.
func (k kubernetesAPI) fill(ctx context.Context, f Fleet) error {
	if err := k.fillCluster(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillers)
	for i, m := range f.machines() {
		group.Go(func() error { return k.fillNode(ctx, i, m) })
		for c := range controllers {
			group.Go(func() error { return k.fillLock(ctx, m, c) })
		}
	}
	return group.Wait()
}

// fillCluster makes what there is once: the cluster's request and locks, and what the OpenStack controller says of its deployment.
func (k kubernetesAPI) fillCluster(ctx context.Context) error {
	request := object("ClusterMaintenanceRequest", "mos", map[string]any{"release": releaseTo})
	if _, err := k.dyn.Resource(clusterRequests).Create(ctx, request, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the cluster's request: %w", err)
	}
	for _, c := range controllers {
		lock := object("ClusterWorkloadLock", c.prefix+"mos", map[string]any{"controllerName": c.name})
		if _, err := k.dyn.Resource(clusterLocks).Create(ctx, lock, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("make a lock of the cluster: %w", err)
		}
		if err := k.setLock(ctx, clusterLocks, lock.GetName(), map[string]any{"state": stateInactive, "release": releaseTo}); err != nil {
			return err
		}
	}
	spec := object("OpenStackDeployment", deployment, map[string]any{"openstack_version": "caracal", "preset": "compute", "size": "small"})
	if _, err := k.dyn.Resource(deployments).Namespace(namespaceOpenStack).Create(ctx, spec, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the OpenStackDeployment: %w", err)
	}
	status := controller.NewDeploymentStatus(controller.OpenStack{Deployment: deployment, Version: "caracal"}, releaseTo, "1.1.5",
		pythonTime(time.Now().Add(-time.Hour)))
	if _, err := k.dyn.Resource(statuses).Namespace(namespaceOpenStack).Create(ctx, status, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the OpenStackDeploymentStatus: %w", err)
	}
	return nil
}

// pythonTime is the OpenStack controller's time format.
func pythonTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion("lcm.mirantis.com/v1alpha1")
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// fillNode makes the i-th node, and LCM's request for it where it is in maintenance.
func (k kubernetesAPI) fillNode(ctx context.Context, i int, m machine) error {
	if _, err := k.core.CoreV1().Nodes().Create(ctx, node(i, m), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make node %s: %w", m.Short, err)
	}
	if !m.Maintained {
		return nil
	}
	request := object("NodeMaintenanceRequest", m.Node, map[string]any{"nodeName": m.Node, "release": releaseTo, "scope": "os"})
	if _, err := k.dyn.Resource(nodeRequests).Create(ctx, request, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the request for node %s: %w", m.Short, err)
	}
	return nil
}

// node is the i-th node as its kubelet keeps it.
func node(i int, m machine) *corev1.Node {
	labels := map[string]string{"kubernetes.io/hostname": m.Node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"kaas.mirantis.com/machine-name": m.Short}
	if m.Master {
		labels["node-role.kubernetes.io/control-plane"], labels["openstack-control-plane"] = "", "enabled"
	} else {
		labels["openstack-compute-node"], labels["openvswitch"], labels["rack"] = "enabled", "enabled", m.Rack
	}
	annotations := map[string]string{"node.alpha.kubernetes.io/ttl": "0"}
	if m.Mode != modeLive {
		annotations[modeAnnotation] = m.Mode
	}
	kubelet := kubeletFrom
	if m.Done {
		kubelet = kubeletTo
	}
	now := metav1.NewTime(time.Now())
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now,
			LastTransitionTime: now}
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("128"), corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods: resource.MustParse("110"),
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: m.Node, Labels: labels, Annotations: annotations},
		Spec:       corev1.NodeSpec{ProviderID: "kaas://mos/" + m.Short},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.20.%d.%d", i/200, 11+i%200)},
				{Type: corev1.NodeHostName, Address: m.Node}},
			NodeInfo: corev1.NodeSystemInfo{MachineID: identifier("machine", i), SystemUUID: identifier("system", i),
				BootID: identifier("boot", i), KernelVersion: "5.15.0-143-generic", OSImage: "Ubuntu 22.04.5 LTS", OperatingSystem: "linux",
				Architecture: "amd64", ContainerRuntimeVersion: "containerd://1.7.27", KubeletVersion: kubelet},
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
				condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
				condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
				condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
			},
		},
	}
	for j := range 20 { // kubelets list the largest images
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: int64(400-j) << 20,
			Names: []string{fmt.Sprintf("registry.local/openstack/image-%02d:caracal-jammy-20260801", j)}})
	}
	return n
}

// fillLock makes the lock that a controller holds on a node.
func (k kubernetesAPI) fillLock(ctx context.Context, m machine, c int) error {
	lock := object("NodeWorkloadLock", m.lock(c), map[string]any{"controllerName": controllers[c].name, "nodeName": m.Node,
		"nodeDeletionRequestSupported": c == 0})
	status := map[string]any{"state": m.state(c), "release": releaseTo}
	if m.Maintained && c == 0 {
		lock.SetAnnotations(map[string]string{"inner_state": stateActive})
		status["errorMessage"] = pythonTime(time.Now()) + " " + movingText(guestID(0))
	}
	made, err := k.dyn.Resource(nodeLocks).Create(ctx, lock, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("make lock %s: %w", lock.GetName(), err)
	}
	made.Object["status"] = status // the server drops the status of a new object
	if _, err := k.dyn.Resource(nodeLocks).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("make the status of lock %s: %w", lock.GetName(), err)
	}
	return nil
}

// movingText is what the OpenStack controller writes while it moves instances off a node, after the time.
func movingText(id string) string { return "Waiting servers migration is completed: ['" + id + "']" }

// startingText is what it writes when it begins with the next instance.
func startingText(id string) string { return "Starting migration for " + id }

// setLock merges fields into a lock's status.
func (k kubernetesAPI) setLock(ctx context.Context, locks schema.GroupVersionResource, name string, status map[string]any) error {
	return k.patch(ctx, locks, name, map[string]any{"status": status}, "status")
}

// patch merges a body into an object of the cluster, or into a subresource of it.
func (k kubernetesAPI) patch(ctx context.Context, resource schema.GroupVersionResource, name string, body map[string]any,
	subresources ...string) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a change of %s: %w", name, err)
	}
	_, err = k.dyn.Resource(resource).Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return fmt.Errorf("change %s %s: %w", resource.Resource, name, err)
	}
	return nil
}

// patchNode merges a body into a node, or into a subresource of it, as kubelets and kubectl do.
func (k kubernetesAPI) patchNode(ctx context.Context, name string, body map[string]any, subresources ...string) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a change of node %s: %w", name, err)
	}
	_, err = k.core.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, raw, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return fmt.Errorf("change node %s: %w", name, err)
	}
	return nil
}
