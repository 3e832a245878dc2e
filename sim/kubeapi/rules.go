package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Rule is a permission of a user: a rule of a ClusterRole, or of a Role if Namespaces is not empty.
type Rule struct {
	rbacv1.PolicyRule
	Namespaces []string // where the rule applies; empty for all namespaces and the cluster scope
}

// AdminRules allow everything.
func AdminRules() []Rule {
	return []Rule{
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
		{PolicyRule: rbacv1.PolicyRule{NonResourceURLs: []string{"*"}, Verbs: []string{"*"}}},
	}
}

// ReadonlyRules allow reading a MOSK cluster's maintenance, but not its Secrets.
func ReadonlyRules() []Rule {
	read := []string{"get", "list", "watch"}
	return []Rule{
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: read,
			Resources: []string{"nodes", "namespaces", "pods", "events", "configmaps"}}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: []string{"get"}, Resources: []string{"pods/log"}}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"apps"}, Verbs: read,
			Resources: []string{"deployments", "daemonsets", "statefulsets", "controllerrevisions"}}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: read}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: read}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: read}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"},
			Verbs: read}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"lcm.mirantis.com"}, Resources: []string{"*"}, Verbs: read}},
		{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"ceph.rook.io"}, Resources: []string{"cephclusters"}, Verbs: read}},
		alerts("get", "services", "prometheus-alertmanager"),
		alerts("get", "services/proxy", "prometheus-alertmanager:80", "prometheus-alertmanager:9093"),
	}
}

// alerts is a right of deploy/rbac-alerts.yaml.
func alerts(verb, resource string, names ...string) Rule {
	return Rule{Namespaces: []string{"stacklight"}, PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource},
		ResourceNames: names, Verbs: []string{verb}}}
}

// OperatorRules allow everything in ReadonlyRules, and the changes of an operator in a maintenance: annotations and
// cordon of nodes, locks and requests, evictions, volume claims, the operator's lease, the services of OpenStack, silences of
// alerts. They also allow reading the OpenStack credentials.
func OperatorRules() []Rule {
	return append(ReadonlyRules(),
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch", "update"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"delete"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}}},
		Rule{Namespaces: []string{"openstack", "openstack-redis"}, PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""},
			Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"list", "watch", "delete"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: []string{"list", "watch"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
			Verbs: []string{"create", "update", "patch", "delete"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"lcm.mirantis.com"}, Verbs: []string{"create", "patch", "update", "delete"},
			Resources: []string{"nodeworkloadlocks", "nodeworkloadlocks/status", "clusterworkloadlocks", "clusterworkloadlocks/status"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"lcm.mirantis.com"}, Verbs: []string{"create", "patch", "delete"},
			Resources: []string{"nodemaintenancerequests", "clustermaintenancerequests"}}},
		Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"lcm.mirantis.com"}, Verbs: []string{"patch"},
			Resources: []string{"openstackdeployments"}}},
		Rule{Namespaces: []string{"openstack-external"}, PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""},
			Resources: []string{"secrets"}, ResourceNames: []string{"openstack-identity-credentials"}, Verbs: []string{"get"}}},
		alerts("create", "services/proxy", "prometheus-alertmanager:80", "prometheus-alertmanager:9093"),
		alerts("delete", "services/proxy", "prometheus-alertmanager:80", "prometheus-alertmanager:9093"),
	)
}

// everyone holds the rules of the roles system:basic-user and system:discovery, which every authenticated user has.
var everyone = []Rule{
	{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"authorization.k8s.io"}, Verbs: []string{"create"},
		Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}}},
	{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"authentication.k8s.io"}, Verbs: []string{"create"},
		Resources: []string{"selfsubjectreviews"}}},
	{PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{ClockPath,
		"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/"}}},
}

// public are the paths that need no user, as in the role system:public-info-viewer.
var public = []Rule{{PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"},
	NonResourceURLs: []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}}}}

// attributes are the properties of a request that rules judge.
type attributes struct {
	verb, group, resource, sub, namespace, name string
	path                                        string // of a non-resource request
}

func (r requestInfo) attributes() attributes {
	if !r.isResource {
		return attributes{verb: r.verb, path: r.path}
	}
	return attributes{verb: r.verb, group: r.gvr.Group, resource: r.gvr.Resource, sub: r.sub, namespace: r.namespace, name: r.name}
}

// allows tells whether one of the rules covers a.
func allows(rules []Rule, a attributes) bool {
	return slices.ContainsFunc(rules, func(rule Rule) bool { return rule.covers(a) })
}

func (r Rule) covers(a attributes) bool {
	if !matches(r.Verbs, a.verb) {
		return false
	}
	if a.path != "" {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			prefix, wild := strings.CutSuffix(url, "*")
			return url == a.path || wild && strings.HasPrefix(a.path, prefix)
		})
	}
	resource := a.resource
	if a.sub != "" {
		resource += "/" + a.sub
	}
	anySub := a.sub != "" && slices.Contains(r.Resources, "*/"+a.sub)
	switch {
	case !matches(r.APIGroups, a.group):
		return false
	case !matches(r.Resources, resource) && !anySub:
		return false
	case len(r.ResourceNames) > 0 && !slices.Contains(r.ResourceNames, a.name):
		return false
	}
	return len(r.Namespaces) == 0 || slices.Contains(r.Namespaces, a.namespace)
}

func matches(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// markup lists what the real server escapes in its quotes from a request.
var markup = strings.NewReplacer(`&`, "&amp;", `<`, "&lt;", `>`, "&gt;")

// forbidden is the real server's answer to a user without a right.
func forbidden(user string, a attributes) *apierrors.StatusError {
	var text string
	resource := a.resource
	if a.sub != "" {
		resource += "/" + a.sub
	}
	switch {
	case a.path != "":
		text = fmt.Sprintf("User %q cannot %s path %q", user, a.verb, a.path)
	case a.namespace != "":
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q", user, a.verb, resource, a.group, a.namespace)
	default:
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q at the cluster scope", user, a.verb, resource, a.group)
	}
	return apierrors.NewForbidden(groupResource(a.group, a.resource), a.name, fmt.Errorf("%s", markup.Replace(text)))
}

// unauthorized is the answer to a token that is unknown or expired.
func unauthorized() *apierrors.StatusError {
	err := apierrors.NewUnauthorized("Unauthorized")
	err.ErrStatus.Code = http.StatusUnauthorized
	return err
}
