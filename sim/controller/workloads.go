package controller

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// workload is one DaemonSet, Deployment or StatefulSet of the cluster.
type workload struct {
	kind, namespace, name  string
	application, component string            // the labels that OpenStack's charts give their pods
	nodes                  map[string]string // labels a node needs; nil: every node
	replicas               int               // of a Deployment or StatefulSet
	onDelete               bool              // the DaemonSet's pods are replaced only when they are deleted (docs/mosk.md#restarts)
	places                 map[string]string // of a StatefulSet that was found: the nodes of its pods, by pod name; an empty node: none
	volume                 string            // the volume's name, for a StatefulSet whose pods store data on their nodes' disks
	// the OpenStack service, or serviceOVN or serviceCeph, that it belongs to; empty: always deployed
	service string
}

// serviceOVN stands for OVN as the network back end.
const serviceOVN = "ovn"

// serviceCeph stands for storage nodes.
const serviceCeph = "ceph"

const (
	daemonSet   = "DaemonSet"
	deployment  = "Deployment"
	statefulSet = "StatefulSet"
)

// workloads lists what runs on a cluster: the agents that stay on a node in maintenance, and enough other pods for a
// drain to evict.
var workloads = []workload{
	{kind: daemonSet, namespace: "kube-system", name: "calico-node"},
	{kind: daemonSet, namespace: openstackNamespace, name: "libvirt-libvirt-default", application: "libvirt", component: "libvirt",
		nodes: on(labelCompute)},
	{kind: daemonSet, namespace: openstackNamespace, name: "nova-compute-default", application: "nova", component: "compute",
		nodes: on(labelCompute)},
	{kind: daemonSet, namespace: openstackNamespace, name: "openvswitch-openvswitch-vswitchd-default", application: "openvswitch",
		component: "openvswitch-vswitchd", nodes: on(labelSwitch), onDelete: true},
	{kind: daemonSet, namespace: openstackNamespace, name: "neutron-ovs-agent-default", application: "neutron", component: "neutron-ovs-agent",
		nodes: on(labelSwitch)},
	{kind: daemonSet, namespace: openstackNamespace, name: "neutron-l3-agent-default", application: "neutron", component: "l3-agent",
		nodes: on(labelGateway), onDelete: true},
	{kind: daemonSet, namespace: openstackNamespace, name: "neutron-dhcp-agent-default", application: "neutron", component: "dhcp-agent",
		nodes: on(labelGateway)},
	{kind: daemonSet, namespace: fabricNamespace, name: vRouters, application: "tf", component: "vrouter", nodes: on(labelVRouter),
		onDelete: true},
	{kind: daemonSet, namespace: "rook-ceph", name: "csi-rbdplugin", nodes: map[string]string{labelStorage: storageValue}},

	{kind: statefulSet, namespace: openstackNamespace, name: "mariadb-server", application: "mariadb", component: "server",
		nodes: on(labelController), replicas: 3, volume: "mysql-data"},
	{kind: statefulSet, namespace: openstackNamespace, name: "etcd-etcd", application: "etcd", component: "etcd", nodes: on(labelController),
		replicas: 3, volume: "etcd-data"},
	{kind: statefulSet, namespace: redisNamespace, name: "rfr-openstack-redis", application: "redis", component: "redis",
		nodes: on(labelController), replicas: 3, volume: "redis-data", service: "redis"},
	{kind: statefulSet, namespace: openstackNamespace, name: "openstack-prometheus-server", application: "prometheus", component: "server",
		nodes: on(labelController), replicas: 3, volume: "prometheus-data", service: "metric-storage"},
	{kind: statefulSet, namespace: openstackNamespace, name: "openvswitch-ovn-db", application: "openvswitch", component: "ovn-db",
		nodes: on(labelController), replicas: 3, volume: "ovn-data", service: serviceOVN},
	{kind: daemonSet, namespace: openstackNamespace, name: "openvswitch-ovn-controller-default", application: "openvswitch",
		component: "ovn-controller", nodes: on(labelSwitch), onDelete: true, service: serviceOVN},

	{kind: deployment, namespace: openstackNamespace, name: "keystone-api", application: "keystone", component: "api",
		nodes: on(labelController), replicas: 2},
	{kind: deployment, namespace: openstackNamespace, name: "nova-api-osapi", application: "nova", component: "os-api",
		nodes: on(labelController), replicas: 2},
	{kind: deployment, namespace: openstackNamespace, name: "neutron-server", application: "neutron", component: "server",
		nodes: on(labelController), replicas: 2},
	{kind: deployment, namespace: openstackNamespace, name: "designate-worker", application: "designate", component: "worker",
		nodes: on(labelGateway), replicas: 1},
	{kind: deployment, namespace: rockoonNamespace, name: rockoonDeployment, nodes: on(labelController), replicas: 1},
	{kind: deployment, namespace: cephNamespace, name: rookOperator, nodes: map[string]string{labelStorage: storageValue}, replicas: 1,
		service: serviceCeph},
	{kind: deployment, namespace: "kube-system", name: "coredns", replicas: 2},
	{kind: deployment, namespace: "stacklight", name: "grafana", nodes: on(labelCompute), replicas: 1},
	{kind: deployment, namespace: "stacklight", name: "opensearch-dashboards", nodes: on(labelCompute), replicas: 2},
	{kind: deployment, namespace: "stacklight", name: "prometheus-es-exporter", nodes: on(labelCompute), replicas: 2},
}

// on returns the labels of a node with a role.
func on(label string) map[string]string { return map[string]string{label: enabled} }

// runsOn tells whether the workload runs on a node.
func (w workload) runsOn(node *corev1.Node) bool {
	for key, value := range w.nodes {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}

// labels returns the labels of the workload's pods.
func (w workload) labels() map[string]string {
	labels := map[string]string{"app.kubernetes.io/name": w.name}
	if w.application != "" {
		labels["application"], labels["component"] = w.application, w.component
	}
	return labels
}

// sortedKeys returns the keys of a map in order, so that results do not depend on the random order of maps.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// container is the only container of the workload's pods.
func (w workload) container() corev1.Container {
	name := w.name
	if w.component != "" {
		name = w.application + "-" + w.component
	}
	return corev1.Container{Name: name, Image: "registry.local/" + w.name + ":sim"}
}
