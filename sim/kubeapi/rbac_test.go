package kubeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"lockstep/sim/kubeapi"
)

func TestRightsComeFromBindingsAndGoWithThem(t *testing.T) {
	w := start(t, kubeapi.Options{Users: []kubeapi.User{{Name: "anna", Groups: []string{"watchers"}}}})
	may := func(path string) bool {
		t.Helper()
		return w.raw("anna", http.MethodGet, path, "").code == http.StatusOK
	}
	create := func(path, object string) {
		t.Helper()
		object = strings.Replace(object, "{", `{"apiVersion":"rbac.authorization.k8s.io/v1",`, 1)
		if made := w.raw(kubeapi.Admin, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/"+path, object); made.code != http.StatusCreated {
			t.Fatalf("%s", made.body)
		}
	}
	const nodes, pods, others = "/api/v1/nodes", "/api/v1/namespaces/default/pods", "/api/v1/namespaces/kube-system/pods"
	if may(nodes) || may(pods) {
		t.Error("without a binding there are rights")
	}
	create("clusterrolebindings",
		`{"kind":"ClusterRoleBinding","metadata":{"name":"system:watch"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",`+
			`"kind":"ClusterRole","name":"watch"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"watchers"}]}`)
	if may(nodes) {
		t.Error("a role that is not there gives rights")
	}
	create("clusterroles",
		`{"kind":"ClusterRole","metadata":{"name":"watch"},"rules":[{"apiGroups":[""],"resources":["nodes"],"verbs":["list"]}]}`)
	create("namespaces/default/roles",
		`{"kind":"Role","metadata":{"name":"pods"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}]}`)
	create("namespaces/default/rolebindings",
		`{"kind":"RoleBinding","metadata":{"name":"pods"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"pods"},`+
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"anna"}]}`)
	if !may(nodes) || !may(pods) {
		t.Error("a binding gives no right")
	}
	if may(others) {
		t.Error("the binding of a namespace holds in another")
	}
	w.raw(kubeapi.Admin, http.MethodDelete, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:watch", "")
	if may(nodes) || !may(pods) {
		t.Error("the right has not gone with its binding, or another one has")
	}
}
