package kubernetes

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func statuses(t *testing.T, s *suite) {
	t.Run("is not stored with a new lock, only through its subresource", func(t *testing.T) {
		lock := s.make(t, nodeLocksPath, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeWorkloadLock
metadata: {name: isolated}
spec: {controllerName: openstack, nodeName: n1}
status: {state: inactive}
`)
		if status := lock.Object["status"]; status != nil {
			t.Errorf("the new lock has the status %v", status)
		}
		now := s.patch(t, nodeLocksPath+"/isolated/status", mergePatch, `{"status":{"state":"active"},"spec":{"nodeName":"n2"}}`).object(t,
			http.StatusOK)
		if field(now, "status", "state") != "active" || field(now, "spec", "nodeName") != "n1" {
			t.Errorf("after a patch of the status the lock is %s", asText(t, now))
		}
		now = s.patch(t, nodeLocksPath+"/isolated", mergePatch, `{"status":{"state":"failed"},"spec":{"nodeName":"n3"}}`).object(t, http.StatusOK)
		if field(now, "status", "state") != "active" || field(now, "spec", "nodeName") != "n3" {
			t.Errorf("after a patch of the lock it is %s", asText(t, now))
		}
	})
	t.Run("and the rest are put apart, too", func(t *testing.T) {
		path := nodeLocksPath + "/apart"
		lock := s.make(t, nodeLocksPath, nodeLock("apart", "n1"))
		set := func(o *unstructured.Unstructured, value any, path ...string) {
			if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
				t.Fatal(err)
			}
		}
		set(lock, "active", "status", "state")
		set(lock, "n2", "spec", "nodeName")
		lock = s.put(t, path+"/status", asText(t, lock)).object(t, http.StatusOK)
		if field(lock, "status", "state") != "active" || field(lock, "spec", "nodeName") != "n1" {
			t.Errorf("after a PUT of the status the lock is %s", asText(t, lock))
		}
		set(lock, "inactive", "status", "state")
		set(lock, "n2", "spec", "nodeName")
		lock = s.put(t, path, asText(t, lock)).object(t, http.StatusOK)
		if field(lock, "status", "state") != "active" || field(lock, "spec", "nodeName") != "n2" {
			t.Errorf("after a PUT of the lock it is %s", asText(t, lock))
		}
		// A PUT of the lock without its status does not remove the status.
		unstructured.RemoveNestedField(lock.Object, "status")
		lock = s.put(t, path, asText(t, lock)).object(t, http.StatusOK)
		if field(lock, "status", "state") != "active" {
			t.Errorf("after a PUT without a status it is %s", asText(t, lock))
		}
	})
	t.Run("brings no labels to a lock, but to a node", func(t *testing.T) {
		s.make(t, nodeLocksPath, nodeLock("labelled", "n1"))
		now := s.patch(t, nodeLocksPath+"/labelled/status", mergePatch,
			`{"metadata":{"labels":{"x":"y"},"annotations":{"x":"y"}},"status":{"state":"active"}}`).object(t, http.StatusOK)
		if len(now.GetLabels())+len(now.GetAnnotations()) > 0 {
			t.Errorf("the lock has the metadata %s", asText(t, now.Object["metadata"]))
		}
		s.make(t, nodesPath, node("labelled"))
		now = s.patch(t, nodesPath+"/labelled/status", mergePatch,
			`{"metadata":{"labels":{"x":"y"}},"spec":{"unschedulable":true},"status":{"phase":"Running"}}`).object(t, http.StatusOK)
		if now.GetLabels()["x"] != "y" || field(now, "spec", "unschedulable") != nil || field(now, "status", "phase") != "Running" {
			t.Errorf("the node is %s", asText(t, now))
		}
	})
	t.Run("is no subresource of an OpenStackDeploymentStatus", func(t *testing.T) {
		s.make(t, statusesPath, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: OpenStackDeploymentStatus
metadata: {name: contract}
status: {osdpl: {state: APPLYING}}
`)
		s.patch(t, statusesPath+"/contract/status", mergePatch, `{"status":{"osdpl":{"state":"APPLIED"}}}`).refuses(t, refusal{
			code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
			message: `openstackdeploymentstatus.lcm.mirantis.com "contract" not found`,
			details: &metav1.StatusDetails{Name: "contract", Group: lcm, Kind: "openstackdeploymentstatus"},
		})
		now := s.patch(t, statusesPath+"/contract", mergePatch, `{"status":{"osdpl":{"state":"APPLIED"}}}`).object(t, http.StatusOK)
		if got := field(now, "status", "osdpl", "state"); got != "APPLIED" || now.GetGeneration() != 2 {
			t.Errorf("the state is %v, the generation %d", got, now.GetGeneration())
		}
	})
	t.Run("can be read by itself", func(t *testing.T) {
		s.make(t, nodeLocksPath, nodeLock("read", "n1"))
		if lock := s.get(t, nodeLocksPath+"/read/status").object(t, http.StatusOK); field(lock, "spec", "nodeName") != "n1" {
			t.Errorf("it is %s", asText(t, lock))
		}
		s.remove(t, nodeLocksPath+"/read/status", "").refuses(t, refusal{
			code: http.StatusMethodNotAllowed, reason: metav1.StatusReasonMethodNotAllowed,
			message: "delete is not supported on resources of kind \"nodeworkloadlocks.lcm.mirantis.com\"",
			details: &metav1.StatusDetails{Group: lcm, Kind: "nodeworkloadlocks"},
		})
	})
}

func generations(t *testing.T, s *suite) {
	t.Run("of a custom resource counts the changes of what is wished for", func(t *testing.T) {
		path := nodeLocksPath + "/counted"
		if lock := s.make(t, nodeLocksPath, nodeLock("counted", "n1")); lock.GetGeneration() != 1 {
			t.Errorf("a new one has %d", lock.GetGeneration())
		}
		for _, step := range []struct {
			path, patch string
			want        int64
		}{
			{path, `{"metadata":{"labels":{"x":"y"}}}`, 1},
			{path + "/status", `{"status":{"state":"active"}}`, 1},
			{path, `{"spec":{"nodeName":"n1"}}`, 1},
			{path, `{"spec":{"nodeName":"n2"}}`, 2},
		} {
			if lock := s.patch(t, step.path, mergePatch, step.patch).object(t, http.StatusOK); lock.GetGeneration() != step.want {
				t.Errorf("after %s it is %d, want %d", step.patch, lock.GetGeneration(), step.want)
			}
		}
	})
	t.Run("of a built-in kind depends on the kind", func(t *testing.T) {
		s.namespace(t, "generations")
		if made := s.make(t, nodesPath, node("generation")); made.GetGeneration() != 0 {
			t.Errorf("a node has %d", made.GetGeneration())
		}
		if made := s.make(t, of("v1", "generations", "configmaps"), configMap("generation", "1")); made.GetGeneration() != 0 {
			t.Errorf("a ConfigMap has %d", made.GetGeneration())
		}
		path := of("apps/v1", "generations", "deployments")
		if made := s.make(t, path, deployment("generation", 1)); made.GetGeneration() != 1 {
			t.Errorf("a Deployment has %d", made.GetGeneration())
		}
		now := s.patch(t, path+"/generation", mergePatch, `{"spec":{"replicas":2}}`).object(t, http.StatusOK)
		if now.GetGeneration() != 2 {
			t.Errorf("a changed Deployment has %d", now.GetGeneration())
		}
		now = s.patch(t, path+"/generation/status", mergePatch, `{"status":{"replicas":2}}`).object(t, http.StatusOK)
		if now.GetGeneration() != 2 {
			t.Errorf("a Deployment with another status has %d", now.GetGeneration())
		}
	})
}
