package kubeapi

import rbacv1 "k8s.io/api/rbac/v1"

// ManagementUsers returns the Operator and the Readonly user of a management cluster, for Options.Users. Both may read
// the clusters, their machines and the state of an update. The operator may also commence the steps of plans, change
// update groups and pauses, set maintenance mode, request reboots, and skip a drain.
func ManagementUsers() []User {
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete"}
	rule := func(group string, verbs []string, resources ...string) Rule {
		return Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{group}, Verbs: verbs, Resources: resources}}
	}
	look := []Rule{
		rule("", read, "namespaces", "events"),
		{Namespaces: []string{"kaas"}, PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: []string{"get", "list"},
			Resources: []string{"pods", "pods/log"}}},
		rule("apiextensions.k8s.io", read, "customresourcedefinitions"),
		rule("cluster.k8s.io", read, "*"), rule("kaas.mirantis.com", read, "*"), rule("lcm.mirantis.com", read, "*"),
	}
	change := append(append([]Rule(nil), look...),
		rule("coordination.k8s.io", append(read, write...), "leases"),
		rule("cluster.k8s.io", []string{"update", "patch"}, "clusters", "machines"),
		rule("kaas.mirantis.com", []string{"update", "patch"}, "clusterupdateplans"),
		rule("kaas.mirantis.com", write, "updategroups", "updateautopauses", "gracefulrebootrequests"),
		rule("lcm.mirantis.com", []string{"update", "patch"}, "lcmclusterstates"),
	)
	return []User{{Name: Operator, Rules: change}, {Name: Readonly, Rules: look}}
}
