package kube

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// labelMachineName is the node label with the name of its Machine.
const labelMachineName = "kaas.mirantis.com/machine-name"

// annotationDomain is the prefix of the node annotations that are kept.
const annotationDomain = "openstack.lcm.mirantis.com/"

// nodeRoles is how a node's roles are read from its labels (docs/mosk.md#roles). An empty value means any. The labels of
// OpenStack's roles are the defaults; core.Node.WithRoles reads the roles by others.
var nodeRoles = []struct {
	label, value string
	role         core.Role
}{
	{"node-role.kubernetes.io/control-plane", "", core.RoleMaster},
	{"node-role.kubernetes.io/master", "", core.RoleMaster},
	{"openstack-control-plane", "enabled", core.RoleController},
	{"openstack-compute-node", "enabled", core.RoleCompute},
	{"openstack-gateway", "enabled", core.RoleGateway},
	{"role", "ceph-osd-node", core.RoleStorage},
}

// taintCordoned is the taint that Kubernetes gives a cordoned node.
const taintCordoned = "node.kubernetes.io/unschedulable"

// nodeFrom translates a Node of the core API.
func nodeFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	labels := o.at("metadata", "labels")
	info := o.at("status", "nodeInfo")
	n := &core.Node{
		Meta:           metaFrom(u),
		ShortName:      labels.text(labelMachineName),
		Cordoned:       o.at("spec").truth("unschedulable"),
		KubeletVersion: info.text("kubeletVersion"),
		BootID:         info.text("bootID"),
	}
	for _, r := range nodeRoles {
		if _, ok := labels[r.label]; !ok || slices.Contains(n.Roles, r.role) {
			continue
		}
		if r.value == "" || labels.text(r.label) == r.value {
			n.Roles = append(n.Roles, r.role)
		}
	}
	slices.Sort(n.Roles)
	n.Labels = ownLabels(labels)
	for _, taint := range o.at("spec").objects("taints") {
		if n.Cordoned && taint.text("key") == taintCordoned {
			n.CordonedSince = taint.time("timeAdded")
		}
	}
	for _, c := range o.at("status").objects("conditions") {
		if c.text("type") == "Ready" {
			n.Ready, n.ReadyReason, n.ReadySince = c.text("status"), c.text("reason"), c.time("lastTransitionTime")
		}
		if strings.HasSuffix(c.text("type"), "Pressure") && c.text("status") == "True" {
			n.Pressure = append(n.Pressure, c.text("type"))
		}
	}
	slices.Sort(n.Pressure)
	annotations := o.at("metadata", "annotations")
	for key := range annotations {
		if !strings.HasPrefix(key, annotationDomain) {
			continue
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[key] = annotations.text(key)
	}
	return n
}

// ownLabels are a node's labels that are neither Kubernetes' nor Container Cloud's own; nil when there are none.
func ownLabels(labels fields) map[string]string {
	var own map[string]string
	for key := range labels {
		domain, _, prefixed := strings.Cut(key, "/")
		if prefixed && (domain == "kaas.mirantis.com" || strings.HasSuffix(domain, "kubernetes.io") || strings.HasSuffix(domain, "k8s.io")) {
			continue
		}
		if own == nil {
			own = map[string]string{}
		}
		own[key] = labels.text(key)
	}
	return own
}
