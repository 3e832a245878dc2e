package kubernetes

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// known is what the real server's discovery says of the resources that an operator's tools read, by group and version; verbs
// sorted.
var known = map[string][]metav1.APIResource{
	"v1": {
		onlyOneByOne(whole("namespaces", "Namespace", false, "ns")), part("namespaces/status", "Namespace", false),
		whole("nodes", "Node", false, "no"), part("nodes/status", "Node", false),
		whole("pods", "Pod", true, "po", "all"), part("pods/status", "Pod", true),
		{Name: "pods/eviction", Namespaced: true, Group: "policy", Version: "v1", Kind: "Eviction", Verbs: metav1.Verbs{"create"}},
		{Name: "pods/log", Namespaced: true, Kind: "Pod", Verbs: metav1.Verbs{"get"}},
		whole("secrets", "Secret", true), whole("configmaps", "ConfigMap", true, "cm"), whole("events", "Event", true, "ev"),
		whole("services", "Service", true, "svc", "all"), part("services/status", "Service", true),
		whole("serviceaccounts", "ServiceAccount", true, "sa"),
		whole("persistentvolumeclaims", "PersistentVolumeClaim", true, "pvc"),
		part("persistentvolumeclaims/status", "PersistentVolumeClaim", true),
		whole("persistentvolumes", "PersistentVolume", false, "pv"), part("persistentvolumes/status", "PersistentVolume", false),
	},
	"apps/v1": {
		whole("deployments", "Deployment", true, "deploy", "all"), part("deployments/status", "Deployment", true), scale("deployments/scale"),
		whole("daemonsets", "DaemonSet", true, "ds", "all"), part("daemonsets/status", "DaemonSet", true),
		whole("statefulsets", "StatefulSet", true, "sts", "all"), part("statefulsets/status", "StatefulSet", true), scale("statefulsets/scale"),
		whole("replicasets", "ReplicaSet", true, "rs", "all"), part("replicasets/status", "ReplicaSet", true), scale("replicasets/scale"),
		whole("controllerrevisions", "ControllerRevision", true),
	},
	"batch/v1": {
		whole("jobs", "Job", true, "", "all"), part("jobs/status", "Job", true),
		whole("cronjobs", "CronJob", true, "cj", "all"), part("cronjobs/status", "CronJob", true),
	},
	"policy/v1": {whole("poddisruptionbudgets", "PodDisruptionBudget", true, "pdb"),
		part("poddisruptionbudgets/status", "PodDisruptionBudget", true)},
	"coordination.k8s.io/v1": {whole("leases", "Lease", true)},
	"rbac.authorization.k8s.io/v1": {
		whole("roles", "Role", true), whole("rolebindings", "RoleBinding", true),
		whole("clusterroles", "ClusterRole", false), whole("clusterrolebindings", "ClusterRoleBinding", false),
	},
	"authorization.k8s.io/v1": {
		{Name: "selfsubjectaccessreviews", SingularName: "selfsubjectaccessreview", Kind: "SelfSubjectAccessReview",
			Verbs: metav1.Verbs{"create"}},
		{Name: "selfsubjectrulesreviews", SingularName: "selfsubjectrulesreview", Kind: "SelfSubjectRulesReview", Verbs: metav1.Verbs{"create"}},
	},
	"apiextensions.k8s.io/v1": {
		whole("customresourcedefinitions", "CustomResourceDefinition", false, "crd,crds", "api-extensions"),
		part("customresourcedefinitions/status", "CustomResourceDefinition", false),
	},
	"lcm.mirantis.com/v1alpha1": {
		whole("nodeworkloadlocks", "NodeWorkloadLock", false), part("nodeworkloadlocks/status", "NodeWorkloadLock", false),
		whole("nodemaintenancerequests", "NodeMaintenanceRequest", false),
		whole("openstackdeploymentstatus", "OpenStackDeploymentStatus", true, "osdplst"),
	},
}

// whole is a resource with every verb; more are its short names, separated by commas, and its category.
func whole(plural, kind string, namespaced bool, more ...string) metav1.APIResource {
	r := metav1.APIResource{Name: plural, SingularName: strings.ToLower(kind), Namespaced: namespaced, Kind: kind,
		Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}}
	if len(more) > 0 && more[0] != "" {
		r.ShortNames = strings.Split(more[0], ",")
	}
	if len(more) > 1 {
		r.Categories = more[1:]
	}
	return r
}

// onlyOneByOne is a resource without deletecollection.
func onlyOneByOne(r metav1.APIResource) metav1.APIResource {
	r.Verbs = metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}
	return r
}

// part is a subresource that shows the object itself.
func part(name, kind string, namespaced bool) metav1.APIResource {
	return metav1.APIResource{Name: name, Namespaced: namespaced, Kind: kind, Verbs: metav1.Verbs{"get", "patch", "update"}}
}

// scale is the scale of a workload.
func scale(name string) metav1.APIResource {
	r := part(name, "Scale", true)
	r.Group, r.Version = "autoscaling", "v1"
	return r
}
