package kubernetes

import (
	"context"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"lockstep/e2e/cluster"
	"lockstep/kube"
)

// grantRights applies the manifests of deploy/ with their example bindings.
func grantRights(ctx context.Context, config *rest.Config) error {
	return cluster.GrantRights(ctx, config)
}

const lcm = "lcm.mirantis.com"

// never returns rights that no manifest of the program gives.
func never() []kube.Permission {
	var all []kube.Permission
	for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
		for _, resource := range []string{"clusterworkloadlocks", "nodeworkloadlocks", "nodemaintenancerequests", "clustermaintenancerequests"} {
			all = append(all, kube.Permission{Verb: verb, Group: lcm, Resource: resource})
		}
		all = append(all,
			kube.Permission{Verb: verb, Group: lcm, Resource: "openstackdeploymentstatus", Namespace: "openstack"},
			kube.Permission{Verb: verb, Resource: "pods", Namespace: "kube-system"},
			kube.Permission{Verb: verb, Group: "apps", Resource: "deployments", Namespace: "osh-system", Name: "rockoon"})
	}
	for _, verb := range []string{"get", "list", "watch"} {
		all = append(all,
			kube.Permission{Verb: verb, Resource: "secrets", Namespace: "openstack"},
			kube.Permission{Verb: verb, Resource: "secrets", Namespace: "openstack-external"},
			kube.Permission{Verb: verb, Resource: "configmaps", Namespace: "osh-system"},
			kube.Permission{Verb: verb, Group: lcm, Resource: "openstackdeploymentstatus", Namespace: "default"},
			kube.Permission{Verb: verb, Group: "apps", Resource: "deployments", Namespace: "osh-system"},
			kube.Permission{Verb: verb, Group: "apps", Resource: "deployments", Namespace: "openstack", Name: "rockoon"})
	}
	return append(all,
		kube.Permission{Verb: "update", Resource: "nodes"},
		kube.Permission{Verb: "delete", Resource: "nodes"},
		kube.Permission{Verb: "delete", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: "lockstep-operator"},
		kube.Permission{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: "another"},
		kube.Permission{Verb: "get", Resource: "secrets", Namespace: "openstack-external", Name: "another"},
		kube.Permission{Verb: "impersonate", Resource: "users"},
		kube.Permission{Verb: "escalate", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
	)
}

func rights(t *testing.T, s *suite) {
	s.grant(t)
	reads, writes, never := kube.WatchPermissions(),
		slices.Concat(kube.WritePermissions(""), kube.WorkloadPermissions(), []kube.Permission{kube.CredentialsPermission()}), never()
	// A user who only watches has to see who holds the lease.
	writes = slices.DeleteFunc(writes, func(p kube.Permission) bool { return p.Verb == "get" && p.Resource == "leases" })
	reads = append(reads, kube.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default",
		Name: "lockstep-operator"})
	for _, test := range []struct {
		name        string
		user        User
		may, mayNot []kube.Permission
	}{
		{"of the read-only manifest is to read", ReadOnly, reads, slices.Concat(writes, never)},
		{"of the operator's manifest is to write what the program writes, too", Operator, slices.Concat(reads, writes), never},
		{"is not had without a manifest", Nobody, nil, slices.Concat(reads, writes, never)},
		{"of an administrator is everything", Admin, slices.Concat(reads, writes, never), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			access := kube.NewAccess(s.adapter(t, test.user))
			if err := access.Review(t.Context(), slices.Concat(test.may, test.mayNot)...); err != nil {
				t.Fatal(err)
			}
			for _, p := range test.may {
				if allowed, known := access.Knows(p); !allowed || !known {
					t.Errorf("may not %s (known: %v)", p, known)
				}
			}
			for _, p := range test.mayNot {
				if allowed, known := access.Knows(p); allowed || !known {
					t.Errorf("may %s (known: %v)", p, known)
				}
			}
		})
	}
	for _, test := range []struct {
		name, method, path string
		user               User
		want               refusal
	}{
		{"that is missing is named: to list", http.MethodGet, nodesPath, Nobody, refusal{
			message: `nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope`,
			details: &metav1.StatusDetails{Kind: "nodes"}}},
		{"that is missing is named: to get", http.MethodGet, of("v1", "openstack", "secrets") + "/keys", Operator, refusal{
			message: `secrets "keys" is forbidden: User "operator" cannot get resource "secrets" in API group "" in the namespace "openstack"`,
			details: &metav1.StatusDetails{Kind: "secrets", Name: "keys"}}},
		{"that is missing is named: to change a lock", http.MethodPut, nodeLocksPath + "/some/status", Operator, refusal{
			message: `nodeworkloadlocks.lcm.mirantis.com "some" is forbidden: User "operator" cannot update resource "nodeworkloadlocks/status" ` +
				`in API group "lcm.mirantis.com" at the cluster scope`,
			details: &metav1.StatusDetails{Kind: "nodeworkloadlocks", Group: lcm, Name: "some"}}},
		{"that is missing is named: to a path", http.MethodGet, "/metrics", Operator, refusal{
			message: `forbidden: User "operator" cannot get path "/metrics"`}},
		{"that is missing is named, of a resource that is not there as well", http.MethodGet, "/apis/lcm.mirantis.com/v1alpha1/wishes", Operator,
			refusal{
				message: `wishes.lcm.mirantis.com is forbidden: User "operator" cannot list resource "wishes" in API group "lcm.mirantis.com" at ` +
					`the cluster scope`,
				details: &metav1.StatusDetails{Kind: "wishes", Group: lcm}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.code, test.want.reason = http.StatusForbidden, metav1.StatusReasonForbidden
			s.send(t, test.user, test.method, test.path, "").refuses(t, test.want)
		})
	}
	t.Run("is asked of the server as kubectl auth can-i does", func(t *testing.T) {
		review := s.send(t, ReadOnly, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"verb":"list",`+
				`"resource":"nodes"}}}`).object(t, http.StatusCreated)
		if got, want := field(review, "status", "reason"),
			`RBAC: allowed by ClusterRoleBinding "lockstep-readonly" of ClusterRole "lockstep-readonly" to Group `+
				`"mosk-update-watchers"`; got != want {
			t.Errorf("the reason is %q, want %q", got, want)
		}
		rules := s.send(t, ReadOnly, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
			`{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","spec":{"namespace":"openstack"}}`).object(t,
			http.StatusCreated)
		found := false
		all, _ := field(rules, "status", "resourceRules").([]any)
		for _, one := range all {
			found = found ||
				asText(t, one) == `{"apiGroups":["lcm.mirantis.com"],"resources":["openstackdeploymentstatus"],"verbs":["list","watch"]}`
		}
		if !found {
			t.Errorf("the rules lack the one of the role in the namespace: %s", asText(t, rules.Object["status"]))
		}
	})
	t.Run("is another's who is impersonated, for who may", func(t *testing.T) {
		whoami := func(user User, headers ...string) answer {
			return s.send(t, user, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews",
				`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`, headers...)
		}
		me := whoami(Admin, "Impersonate-User", "anna", "Impersonate-Group", "mosk-update-watchers").object(t, http.StatusCreated)
		if got := asText(t,
			field(me, "status", "userInfo")); got != `{"groups":["mosk-update-watchers","system:authenticated"],"username":"anna"}` {
			t.Errorf("the user is %s", got)
		}
		if a := s.get(t, nodesPath, "Impersonate-User", "anna", "Impersonate-Group", "mosk-update-watchers"); a.code != http.StatusOK {
			t.Errorf("the group's right is answered %s", a.body)
		}
		s.get(t, nodesPath, "Impersonate-User", "anna").refuses(t, refusal{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden,
			message: `nodes is forbidden: User "anna" cannot list resource "nodes" in API group "" at the cluster scope`,
			details: &metav1.StatusDetails{Kind: "nodes"}})
		whoami(Operator, "Impersonate-User", "anna").refuses(t, refusal{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden,
			message: `selfsubjectreviews.authentication.k8s.io is forbidden: User "operator" cannot impersonate-on:user-info:create resource ` +
				`"selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`,
			details: &metav1.StatusDetails{Group: "authentication.k8s.io", Kind: "selfsubjectreviews"}})
	})
	t.Run("is no matter for a token that is not good", func(t *testing.T) {
		s.send(t, Expired, http.MethodGet, nodesPath, "").refuses(t, refusal{
			code: http.StatusUnauthorized, reason: metav1.StatusReasonUnauthorized, message: "Unauthorized"})
	})
}
