package kubeapi_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/kubeapi"
)

func TestForbiddenSaysWhoMayNotDoWhat(t *testing.T) {
	w := start(t, kubeapi.Options{Users: []kubeapi.User{{Name: "anna"}}})
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/api/v1/nodes", `nodes is forbidden: User "anna" cannot list resource "nodes" in API group "" at the cluster scope`},
		{"GET", "/api/v1/nodes?watch=true", `nodes is forbidden: User "anna" cannot watch resource "nodes" in API group "" at the cluster scope`},
		{"GET", "/api/v1/nodes/n", `nodes "n" is forbidden: User "anna" cannot get resource "nodes" in API group "" at the cluster scope`},
		{"GET", "/api/v1/namespaces/shop/pods",
			`pods is forbidden: User "anna" cannot list resource "pods" in API group "" in the namespace "shop"`},
		{"POST", "/api/v1/namespaces/shop/pods/p/eviction",
			`pods "p" is forbidden: User "anna" cannot create resource "pods/eviction" in API group "" in the namespace "shop"`},
		{"PATCH", "/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks/l/status",
			`nodeworkloadlocks.lcm.mirantis.com "l" is forbidden: User "anna" cannot patch resource "nodeworkloadlocks/status" in API group ` +
				`"lcm.mirantis.com" at the cluster scope`},
		{"DELETE", "/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks",
			`nodeworkloadlocks.lcm.mirantis.com is forbidden: User "anna" cannot deletecollection resource "nodeworkloadlocks" in API group ` +
				`"lcm.mirantis.com" at the cluster scope`},
		{"GET", "/apis/example.org/v1/nothings",
			`nothings.example.org is forbidden: User "anna" cannot list resource "nothings" in API group "example.org" at the cluster scope`},
		{"GET", "/metrics", `forbidden: User "anna" cannot get path "/metrics"`},
	} {
		answer := w.raw("anna", test.method, test.path, "")
		if status := answer.status(); answer.code != 403 || status.Reason != metav1.StatusReasonForbidden || status.Message != test.want {
			t.Errorf("%s %s: %d %q", test.method, test.path, answer.code, status.Message)
		}
	}
	if answer := w.raw("nobody", "GET", "/api/v1/nodes",
		""); answer.status().Message != `nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the `+
		`cluster scope` {
		t.Errorf("without a token: %s", answer.body)
	}
	if answer := w.raw("nobody", "GET", "/readyz", ""); answer.code != 200 || string(answer.body) != "ok" {
		t.Errorf("readyz without a token: %d %s", answer.code, answer.body)
	}
}

func TestRulesAreThoseOfRBAC(t *testing.T) {
	rule := func(group, resource, verb string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
	}
	w := start(t, kubeapi.Options{})
	for _, test := range []struct {
		name    string
		rule    kubeapi.Rule
		asked   authorizationv1.ResourceAttributes
		allowed bool
	}{
		{"the resource", kubeapi.Rule{PolicyRule: rule("", "nodes", "get")}, authorizationv1.ResourceAttributes{Resource: "nodes", Verb: "get"},
			true},
		{"another verb", kubeapi.Rule{PolicyRule: rule("", "nodes", "get")}, authorizationv1.ResourceAttributes{Resource: "nodes", Verb: "list"},
			false},
		{"another group", kubeapi.Rule{PolicyRule: rule("", "nodes", "get")},
			authorizationv1.ResourceAttributes{Group: "x", Resource: "nodes", Verb: "get"}, false},
		{"its status", kubeapi.Rule{PolicyRule: rule("", "nodes", "get")},
			authorizationv1.ResourceAttributes{Resource: "nodes", Subresource: "status", Verb: "get"}, false},
		{"the status", kubeapi.Rule{PolicyRule: rule("", "nodes/status", "get")},
			authorizationv1.ResourceAttributes{Resource: "nodes", Subresource: "status", Verb: "get"}, true},
		{"any status", kubeapi.Rule{PolicyRule: rule("", "*/status", "get")},
			authorizationv1.ResourceAttributes{Resource: "nodes", Subresource: "status", Verb: "get"}, true},
		{"everything", kubeapi.Rule{PolicyRule: rule("*", "*", "*")},
			authorizationv1.ResourceAttributes{Group: "g", Resource: "r", Subresource: "s", Verb: "v"}, true},
		{"the name", kubeapi.Rule{PolicyRule: rule("", "secrets", "get", "one")},
			authorizationv1.ResourceAttributes{Resource: "secrets", Name: "one", Verb: "get"}, true},
		{"another name", kubeapi.Rule{PolicyRule: rule("", "secrets", "get", "one")},
			authorizationv1.ResourceAttributes{Resource: "secrets", Name: "two", Verb: "get"}, false},
		{"no name", kubeapi.Rule{PolicyRule: rule("", "secrets", "get", "one")},
			authorizationv1.ResourceAttributes{Resource: "secrets", Verb: "get"}, false},
		{"the namespace", kubeapi.Rule{Namespaces: []string{"a"}, PolicyRule: rule("", "pods", "list")},
			authorizationv1.ResourceAttributes{Namespace: "a", Resource: "pods", Verb: "list"}, true},
		{"another namespace", kubeapi.Rule{Namespaces: []string{"a"}, PolicyRule: rule("", "pods", "list")},
			authorizationv1.ResourceAttributes{Namespace: "b", Resource: "pods", Verb: "list"}, false},
		{"all namespaces", kubeapi.Rule{Namespaces: []string{"a"}, PolicyRule: rule("", "pods", "list")},
			authorizationv1.ResourceAttributes{Resource: "pods", Verb: "list"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := w.SetUser(kubeapi.User{Name: "anna", Rules: []kubeapi.Rule{test.rule}}); err != nil {
				t.Fatal(err)
			}
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &test.asked}}
			answer, err := w.typed("anna").AuthorizationV1().SelfSubjectAccessReviews().Create(w.ctx, review, metav1.CreateOptions{})
			if err != nil || answer.Status.Allowed != test.allowed {
				t.Errorf("%+v, %v", answer, err)
			}
		})
	}
}

func TestAListOfOneNameNeedsTheRightToThatName(t *testing.T) {
	w := start(t, kubeapi.Options{Users: []kubeapi.User{{Name: "anna", Rules: []kubeapi.Rule{{PolicyRule: rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{"n"}, Verbs: []string{"list"}}}}}}})
	w.load(node("n"), node("m"))
	client := w.dynamic("anna").Resource(nodes)
	if list, err := client.List(w.ctx, metav1.ListOptions{FieldSelector: "metadata.name=n"}); err != nil || len(list.Items) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := client.List(w.ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("all of them: %v", err)
	}
}

func TestAUserAsksAboutThemselves(t *testing.T) {
	w := start(t, kubeapi.Options{})
	rules, err := w.typed(kubeapi.Operator).AuthorizationV1().SelfSubjectRulesReviews().Create(w.ctx,
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "openstack-external"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret := false
	for _, rule := range rules.Status.ResourceRules {
		secret = secret || len(rule.ResourceNames) == 1 && rule.ResourceNames[0] == "openstack-identity-credentials"
	}
	if !secret {
		t.Errorf("the operator's rules %+v", rules.Status.ResourceRules)
	}
	self, err := w.typed(kubeapi.Operator).AuthenticationV1().SelfSubjectReviews().Create(w.ctx, &authenticationv1.SelfSubjectReview{},
		metav1.CreateOptions{})
	if err != nil || self.Status.UserInfo.Username != kubeapi.Operator {
		t.Errorf("%+v, %v", self, err)
	}
	if len(w.Requests()) != 0 {
		t.Errorf("questions are logged as writes: %+v", w.Requests())
	}
}

func TestTheStandardUsersDoTheirJobAndNoMore(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("n"), nodeLock("l", "n"))
	patch := []byte(`{"metadata":{"annotations":{"openstack.lcm.mirantis.com/instance_migration_mode":"skip"}}}`)
	if _, err := w.dynamic(kubeapi.Operator).Resource(nodes).Patch(w.ctx, "n", types.MergePatchType, patch,
		metav1.PatchOptions{}); err != nil {
		t.Errorf("the operator annotates a node: %v", err)
	}
	if _, err := w.dynamic(kubeapi.Operator).Resource(nodeLocks).Create(w.ctx, nodeLock("m", "n"), metav1.CreateOptions{}); err != nil {
		t.Errorf("the operator creates a lock: %v", err)
	}
	if _, err := w.dynamic(kubeapi.Operator).Resource(nodes).Create(w.ctx, node("m"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the operator creates a node: %v", err)
	}
	if _, err := w.dynamic(kubeapi.Readonly).Resource(nodeLocks).List(w.ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("readonly lists locks: %v", err)
	}
	if _, err := w.dynamic(kubeapi.Readonly).Resource(nodes).Patch(w.ctx, "n", types.MergePatchType, patch,
		metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("readonly annotates a node: %v", err)
	}
	if err := w.SetRules(kubeapi.Readonly, kubeapi.AdminRules()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.dynamic(kubeapi.Readonly).Resource(nodes).Create(w.ctx, &unstructured.Unstructured{Object: node("o").Object},
		metav1.CreateOptions{}); err != nil {
		t.Errorf("readonly with an administrator's rules: %v", err)
	}
}

func TestATokenExpires(t *testing.T) {
	w := start(t, kubeapi.Options{})
	before := w.RESTConfig(kubeapi.Operator)
	if err := w.ExpireToken(kubeapi.Operator); err != nil {
		t.Fatal(err)
	}
	answer := w.raw(kubeapi.Operator, "GET", "/api/v1/nodes", "")
	if status := answer.status(); answer.code != 401 || status.Reason != metav1.StatusReasonUnauthorized || status.Message != "Unauthorized" {
		t.Errorf("%d %+v", answer.code, status)
	}
	if _, err := w.RenewToken(kubeapi.Operator); err != nil {
		t.Fatal(err)
	}
	if answer := w.raw(kubeapi.Operator, "GET", "/api/v1/nodes", ""); answer.code != 200 {
		t.Errorf("with another token: %d", answer.code)
	}
	if w.RESTConfig(kubeapi.Operator).BearerToken == before.BearerToken {
		t.Error("the token is the same")
	}
	if err := w.ExpireToken("nobody"); err == nil {
		t.Error("the token of a user who is not there expired")
	}
}
