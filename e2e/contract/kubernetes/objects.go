package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The paths of resources.
const (
	nodesPath       = "/api/v1/nodes"
	nodeLocksPath   = "/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks"
	requestsPath    = "/apis/lcm.mirantis.com/v1alpha1/nodemaintenancerequests"
	statusesPath    = "/apis/lcm.mirantis.com/v1alpha1/namespaces/openstack/openstackdeploymentstatus"
	namespacesPath  = "/api/v1/namespaces"
	clusterLockPath = "/apis/lcm.mirantis.com/v1alpha1/clusterworkloadlocks"
)

// of returns the path of a namespaced resource: group and version ("v1", "apps/v1"), namespace, plural.
func of(version, namespace, plural string) string {
	root := "/api/"
	if strings.Contains(version, "/") {
		root = "/apis/"
	}
	return root + version + "/namespaces/" + namespace + "/" + plural
}

// namespace creates a namespace for one test.
func (s *suite) namespace(t *testing.T, name string) {
	t.Helper()
	s.make(t, namespacesPath, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s}}`, name))
}

// make creates an object at a collection's path as Admin. The object goes with the test, finalizers or not.
func (s *suite) make(t *testing.T, path, manifest string) *unstructured.Unstructured {
	t.Helper()
	created := s.post(t, path, manifest).object(t, http.StatusCreated)
	s.clean(t, path, created.GetName())
	return created
}

// clean removes an object after the test, if it still exists. Namespaces stay: the real server alone never finishes their
// deletion.
func (s *suite) clean(t *testing.T, path, name string) {
	if path == namespacesPath {
		return
	}
	group, version, resource, namespace := parts(path)
	client := s.admin.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(namespace)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		now, background := int64(0), metav1.DeletePropagationBackground
		err := client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background})
		if err != nil {
			return // it is already gone
		}
		// An object with finalizers still exists.
		_, _ = client.Patch(ctx, name, mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
}

// parts splits a collection's path.
func parts(path string) (group, version, resource, namespace string) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if segments[0] == "apis" {
		group, segments = segments[1], segments[1:]
	}
	version, segments = segments[1], segments[2:]
	if len(segments) == 3 {
		namespace, segments = segments[1], segments[2:]
	}
	return group, version, segments[0], namespace
}

// configMap is the manifest of a ConfigMap.
func configMap(name, value string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {value: %q}}`, name, value)
}

// node is the manifest of a Node.
func node(name string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s}}`, name)
}

// nodeLock is the manifest of a NodeWorkloadLock of the OpenStack controller.
func nodeLock(name, node string) string {
	return fmt.Sprintf(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: %s}, `+
		`spec: {controllerName: openstack, nodeName: %s}}`, name, node)
}

// request is the manifest of a NodeMaintenanceRequest.
func request(name, scope string) string {
	return fmt.Sprintf(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeMaintenanceRequest, metadata: {name: %s}, `+
		`spec: {nodeName: %s, scope: %s}}`, name, name, scope)
}

// pod is the manifest of a pod on a node, with the label app.
func pod(name, app, node string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: %q}}, `+
		`spec: {nodeName: %q, containers: [{name: c, image: none}]}}`, name, app, node)
}

// field returns a field of an object, nil when it is missing.
func field(o *unstructured.Unstructured, path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return nil
	}
	return value
}
