package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

// translate makes a core object from an API object. No object makes it fail.
type translate func(*unstructured.Unstructured) core.Object

// resource is one watched resource of the API.
type resource struct {
	source    core.SourceID
	gvr       schema.GroupVersionResource
	namespace string // empty for cluster-scoped resources
	name      string // when not empty, only the object of this name
	node      string // when not empty, only the pods on this node
	labels    string // when not empty, only objects that this label selector fits
	optional  bool   // not everybody has the right: forbidden is not a failure
	rights    string // the manifest that gives the right, where it is not everybody's
	anywhere  bool   // the right is for all namespaces: not every cluster has the resource's own
	translate translate
}

// Where things live on a MOSK cluster (docs/mosk.md#where-things-live).
const (
	namespaceOpenStack = "openstack"
	namespaceFabric    = "tf"
	namespaceRedis     = "openstack-redis" // Rockoon's OSCTL_REDIS_NAMESPACE
	namespaceRockoon   = "osh-system"
	deploymentRockoon  = "rockoon"
)

// The resources that Lockstep reads or writes.
var (
	gvrNodes        = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	gvrPods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	gvrSecrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	gvrDaemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	gvrStatefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	gvrRevisions    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
	gvrJobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	gvrDeployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	gvrLeases       = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	gvrReviews      = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	gvrSelf         = schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
)

func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// watched are the resources of the maintenance itself. The Watcher watches them, and those of workloads.
var watched = []resource{
	{source: core.SourceNodes, gvr: gvrNodes, translate: nodeFrom},
	{source: core.SourceClusterLocks, gvr: lcm("clusterworkloadlocks"), translate: lockFrom(core.KindClusterWorkloadLock)},
	{source: core.SourceNodeLocks, gvr: lcm("nodeworkloadlocks"), translate: lockFrom(core.KindNodeWorkloadLock)},
	{source: core.SourceClusterRequests, gvr: lcm("clustermaintenancerequests"), translate: requestFrom(core.KindClusterMaintenanceRequest)},
	{source: core.SourceNodeRequests, gvr: lcm("nodemaintenancerequests"), translate: requestFrom(core.KindNodeMaintenanceRequest)},
	{source: core.SourceDeletionRequests, gvr: lcm("nodedeletionrequests"), translate: noticeFrom(core.KindNodeDeletionRequest)},
	{source: core.SourceDisableNotices, gvr: lcm("nodedisablenotifications"), translate: noticeFrom(core.KindNodeDisableNotification)},
	{source: core.SourceOpenStackStatus, gvr: lcm("openstackdeploymentstatus"), namespace: namespaceOpenStack, translate: openStackStatusFrom},
	{source: core.SourceOpenStackController, gvr: gvrDeployments, namespace: namespaceRockoon, name: deploymentRockoon,
		translate: deploymentFrom},
}

// Sources are the sources that a Watcher feeds, those of the watched resources first.
func Sources() []core.SourceID {
	ids := make([]core.SourceID, 0, len(watched)+len(workloads)+1)
	for _, r := range slices.Concat(watched, workloads) {
		ids = append(ids, r.source)
	}
	return append(ids, core.SourceNodePods)
}

// builtIn tells whether every API server has the resource: it cannot be unknown, as a custom resource can.
func (r resource) builtIn() bool {
	return r.gvr.Group == "" || r.gvr.Group == "apps" || r.gvr.Group == "batch"
}

// call is what is being done to the resource, in words: "list nodes", "watch deployments.apps rockoon in osh-system".
func (r resource) call(verb string) string {
	text := verb + " " + r.gvr.GroupResource().String()
	if r.name != "" {
		text += " " + r.name
	}
	if r.namespace != "" {
		text += " in namespace " + r.namespace
	}
	if r.node != "" {
		text += " of node " + r.node
	}
	return text
}

// key tells the resource from all others that are watched.
func (r resource) key() string {
	if r.node != "" {
		return string(r.source) + " of " + r.node
	}
	return string(r.source)
}

// permission is the right to a verb on the resource, as the manifests give it.
func (r resource) permission(verb string) Permission {
	if r.anywhere {
		return Permission{verb, r.gvr.Group, r.gvr.Resource, "", r.name}
	}
	return Permission{verb, r.gvr.Group, r.gvr.Resource, r.namespace, r.name}
}
