package controller

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources of the maintenance API (docs/mosk.md#where-things-live), all cluster-wide except the last two.
var (
	clusterLocks    = lcmResource("clusterworkloadlocks")
	nodeLocks       = lcmResource("nodeworkloadlocks")
	clusterRequests = lcmResource("clustermaintenancerequests")
	nodeRequests    = lcmResource("nodemaintenancerequests")
	nodeDeletions   = lcmResource("nodedeletionrequests")
	nodeNotices     = lcmResource("nodedisablenotifications")
	deployments     = lcmResource("openstackdeploymentstatus") // of the OpenStackDeployment, in openstackNamespace
	osdplResource   = lcmResource("openstackdeployments")      // the desired OpenStack, in openstackNamespace
)

const (
	lcmGroup   = "lcm.mirantis.com"
	lcmVersion = "v1alpha1"
)

func lcmResource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: lcmGroup, Version: lcmVersion, Resource: plural}
}

func lcmObject(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(lcmGroup + "/" + lcmVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// Namespaces, names, labels and annotations of a MOSK cluster (docs/mosk.md#locks, #roles, #rockoon).
const (
	openstackNamespace = "openstack"
	cephNamespace      = "rook-ceph"
	rockoonNamespace   = "osh-system"
	rockoonDeployment  = "rockoon"
	// releaseVariable is the variable that tells the OpenStack controller its cluster release.
	releaseVariable = "OSCTL_CLUSTER_RELEASE"

	labelController = "openstack-control-plane"
	labelCompute    = "openstack-compute-node"
	labelGateway    = "openstack-gateway"
	labelSwitch     = "openvswitch"
	labelVRouter    = "tfvrouter"
	labelMaster     = "node-role.kubernetes.io/control-plane"
	labelStorage    = "role"
	storageValue    = "ceph-osd-node"
	enabled         = "enabled"

	annotationMode     = "openstack.lcm.mirantis.com/instance_migration_mode"
	annotationAttempts = "openstack.lcm.mirantis.com/instance_migration_attempts"
	annotationInner    = "inner_state"
	annotationOriginal = "openstack.lcm.mirantis.com/original-node"

	rockoonFinalizer = "lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"
	nodeFinalizer    = "lcm.mirantis.com/rockoon.node-finalizer" // of the container node, on each Node
)

// Lock states and request scopes.
const (
	stateActive   = "active"
	stateInactive = "inactive"
	stateFailed   = "failed" // the workload could not be shut down; MOSK's own controllers never set it

	// ScopeDrain is a maintenance without reboot, ScopeOS one that may reboot the host and so evacuates it.
	ScopeDrain = "drain"
	ScopeOS    = "os"
)
