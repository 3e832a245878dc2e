package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// roleLabels are the labels that a role gives a node.
var roleLabels = map[string]map[string]string{
	scenario.RoleMaster:     {"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/master": ""},
	scenario.RoleController: {"openstack-control-plane": "enabled"},
	scenario.RoleCompute:    {"openstack-compute-node": "enabled"},
	scenario.RoleGateway:    {"openstack-gateway": "enabled"},
	scenario.RoleStorage:    {"role": "ceph-osd-node"},
	scenario.RoleVRouter:    {"tfvrouter": "enabled"},
}

// newNode is the i-th node of a scenario before the update.
func newNode(s *scenario.Scenario, n scenario.Node, i int, now time.Time) *corev1.Node {
	labels := map[string]string{
		"kubernetes.io/hostname": n.Name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"kaas.mirantis.com/machine-name": n.Machine,
	}
	for _, role := range n.Roles {
		if key, value, other := strings.Cut(s.Cloud.NodeLabels[role], "="); other {
			labels[key] = value
			continue
		}
		maps.Copy(labels, roleLabels[role])
	}
	if n.Rack != "" {
		labels["rack"] = n.Rack
	}
	if s.Cloud.Fabric == "" && (n.Has(scenario.RoleCompute) || n.Has(scenario.RoleGateway)) {
		labels["openvswitch"] = "enabled"
	}
	stamp := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: stamp,
			LastTransitionTime: stamp}
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(max(n.VCPUs, 32)), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(max(n.MemoryGiB, 128))<<30, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels, Annotations: maps.Clone(n.Annotations),
			Finalizers: []string{nodeFinalizer}},
		Spec: corev1.NodeSpec{ProviderID: "kaas://" + s.Cluster + "/" + n.Machine},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: nodeAddress(i)},
				{Type: corev1.NodeHostName, Address: n.Name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: bootID(n, "machine"), SystemUUID: bootID(n, "system"), BootID: bootID(n, "first"),
				KernelVersion: "5.15.0-143-generic", OSImage: "Ubuntu 22.04.5 LTS", OperatingSystem: "linux", Architecture: "amd64",
				ContainerRuntimeVersion: "containerd://1.7.27", KubeletVersion: s.Kubelet.From,
			},
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
				condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
				condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
				condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
			},
		},
	}
}

// nodeAddress is the address of the i-th node.
func nodeAddress(i int) string { return fmt.Sprintf("10.20.%d.%d", i/200, 11+i%200) }

// bootID is an identifier that belongs to a node.
func bootID(n scenario.Node, what string) string {
	sum := sha256.Sum256([]byte(what + "/" + n.Name))
	x := hex.EncodeToString(sum[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// rockoon is the OpenStack controller's Deployment with its containers (docs/mosk.md#rockoon). The release is the
// cluster's, the version the controller's; the labels are the role labels that differ from the usual ones.
func rockoon(release, version string, nodeLabels map[string]string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "rockoon"}
	one := int32(1)
	env := []corev1.EnvVar{{Name: "OSCTL_CLUSTER_RELEASE", Value: release}}
	if len(nodeLabels) > 0 {
		env = append(env, controller.NodeLabelsVariable(nodeLabels))
	}
	var containers []corev1.Container
	for _, name := range []string{"osdpl", "secrets", "health", "node", "nodemaintenancerequest", "ceph-secrets", "osdplstatus",
		"tf-secrets"} {
		containers = append(containers, corev1.Container{
			Name: name, Image: "registry.local/openstack/rockoon:" + version,
			Env: env,
		})
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "rockoon", Namespace: "osh-system", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: containers}},
		},
	}
}

// rockoonIsUp marks the controller as ready in the Deployment's status.
func (s *seeder) rockoonIsUp(ctx context.Context) error {
	current, err := s.kube.AppsV1().Deployments("osh-system").Get(ctx, "rockoon", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	stamp := metav1.NewTime(s.clock.Now())
	current.Status = appsv1.DeploymentStatus{
		ObservedGeneration: current.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
			Message: "Deployment has minimum availability.", LastUpdateTime: stamp, LastTransitionTime: stamp,
		}},
	}
	if _, err := s.kube.AppsV1().Deployments("osh-system").UpdateStatus(ctx, current, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("deployment rockoon: %w", err)
	}
	return nil
}
