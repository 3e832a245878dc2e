package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"lockstep/e2e/cluster"
)

var (
	nodes       = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	events      = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	leases      = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	nodeLocks   = lcm("nodeworkloadlocks")

	definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// as returns a client of the user.
func as(t *testing.T, c *cluster.Cluster, user cluster.User) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config(user))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// object reads one YAML document.
func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatalf("read a manifest: %v\n%s", err, manifest)
	}
	return &o
}

// create makes the object as Admin and removes it after the test.
func create(t *testing.T, c *cluster.Cluster, resource schema.GroupVersionResource, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, manifest)
	client := as(t, c, cluster.Admin).Resource(resource).Namespace(o.GetNamespace())
	created, err := client.Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s %s: %v", resource.Resource, o.GetName(), err)
	}
	t.Cleanup(func() {
		now := int64(0)
		// The test's own context has ended by now.
		err := client.Delete(context.WithoutCancel(t.Context()), o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
		if err != nil {
			t.Errorf("delete %s %s: %v", resource.Resource, o.GetName(), err)
		}
	})
	return created
}
