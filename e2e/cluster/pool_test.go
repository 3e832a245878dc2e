package cluster

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// A server that comes back is lent again with the objects that it had at first, whatever became of them and whatever came to them,
// and without the records of what was asked of it. One whose rights were changed, or which was killed, is not lent again.
func TestAServerThatComesBackIsLikeANewOne(t *testing.T) {
	var pool Pool
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	take := func() (*Cluster, dynamic.Interface) {
		t.Helper()
		c, err := pool.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client, err := dynamic.NewForConfig(c.Config(Admin))
		if err != nil {
			t.Fatal(err)
		}
		return c, client
	}
	give := func(c *Cluster) {
		t.Helper()
		if err := pool.Give(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	requests := schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodemaintenancerequests"}

	first, client := take()
	// What holds an object, or has nobody in this cluster to remove it, does not hold it here.
	if err := first.Apply(t.Context(), []byte(`
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeMaintenanceRequest
metadata: {name: n1, finalizers: [lcm.mirantis.com/held]}
spec: {nodeName: n1, scope: os}
---
apiVersion: v1
kind: Namespace
metadata: {name: more}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: of-more, namespace: more}
`)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(namespaces).Patch(t.Context(), "stacklight", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"changed":"yes"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Resource(namespaces).Delete(t.Context(), "tf", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	give(first)

	again, client := take()
	if again != first {
		t.Fatal("it is another server")
	}
	if writes, err := again.Writes(Admin); err != nil || len(writes) > 0 {
		t.Errorf("its records are %v, %v", writes, err)
	}
	// A list of any age, as an informer's first: also the server's cache has forgotten.
	list, err := client.Resource(requests).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("its requests are %v, %v", list, err)
	}
	if list, err = client.Resource(namespaces).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, namespace := range list.Items {
		names = append(names, namespace.GetName())
		if _, changed := namespace.GetLabels()["changed"]; changed || namespace.GetDeletionTimestamp() != nil {
			t.Errorf("namespace %s is still changed: %v", namespace.GetName(), namespace.Object)
		}
	}
	for _, name := range Namespaces {
		if !slices.Contains(names, name) {
			t.Errorf("namespace %s is gone", name)
		}
	}
	if slices.Contains(names, "more") {
		t.Error("the namespace that was made is still there")
	}
	if err := again.Apply(t.Context(), []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: of-tf, namespace: tf}}`)); err != nil {
		t.Errorf("nothing can be made in a namespace that was deleted: %v", err)
	}
	roles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	if _, err := client.Resource(roles).Patch(t.Context(), "lockstep-readonly", types.MergePatchType, []byte(`{"rules":[]}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	give(again)

	killed, client := take()
	if killed == again {
		t.Fatal("a server whose rights were changed is lent again")
	}
	if err := killed.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(roles).Get(t.Context(), "lockstep-readonly", metav1.GetOptions{}); apierrors.IsNotFound(err) {
		t.Errorf("it has no rights: %v", err)
	}
	give(killed)
	if len(pool.free) > 0 {
		t.Error("a server that was killed is lent again")
	}
}
