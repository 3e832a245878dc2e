package kubernetes

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func deletions(t *testing.T, s *suite) {
	s.namespace(t, "deletions")
	maps, pods := of("v1", "deletions", "configmaps"), of("v1", "deletions", "pods")

	t.Run("is answered with a success that names what is gone", func(t *testing.T) {
		for _, test := range []struct{ path, manifest, group, kind string }{
			{maps, configMap("gone", "1"), "", "configmaps"},
			{nodeLocksPath, nodeLock("gone", "n1"), lcm, "nodeworkloadlocks"},
		} {
			made := s.make(t, test.path, test.manifest)
			a := s.remove(t, test.path+"/gone", "")
			var status metav1.Status
			a.decode(t, &status)
			want := metav1.StatusDetails{Name: "gone", Group: test.group, Kind: test.kind, UID: made.GetUID()}
			if a.code != http.StatusOK || status.Status != metav1.StatusSuccess || asText(t, status.Details) != asText(t, want) {
				t.Errorf("the answer is %s", a.body)
			}
			s.remove(t, test.path+"/gone", "").refuses(t, refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
				message: fmt.Sprintf("%s %q not found", resourceName(test.kind, test.group), "gone"),
				details: &metav1.StatusDetails{Name: "gone", Group: test.group, Kind: test.kind}})
		}
	})
	t.Run("of another object than was meant is refused", func(t *testing.T) {
		made := s.make(t, maps, configMap("meant", "1"))
		const other = "00000000-0000-0000-0000-000000000000"
		s.remove(t, maps+"/meant", `{"preconditions":{"uid":"`+other+`"}}`).refuses(t, refusal{
			code: http.StatusConflict, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{Name: "meant", Kind: "ConfigMap"},
			message: fmt.Sprintf(
				`Operation cannot be fulfilled on ConfigMap "meant": the UID in the precondition (%s) does not match the UID in record (%s). `+
					`The object might have been deleted and then recreated`, other, made.GetUID())})
		s.remove(t, maps+"/meant", `{"preconditions":{"resourceVersion":"1"}}`).refuses(t, refusal{
			code: http.StatusConflict, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{Name: "meant", Kind: "ConfigMap"},
			message: fmt.Sprintf(
				`Operation cannot be fulfilled on ConfigMap "meant": the ResourceVersion in the precondition (1) does not match the `+
					`ResourceVersion in record (%s). The object might have been modified`, made.GetResourceVersion())})
		if a := s.remove(t, maps+"/meant", fmt.Sprintf(`{"preconditions":{"uid":%q,"resourceVersion":%q}}`, made.GetUID(),
			made.GetResourceVersion())); a.code != http.StatusOK {
			t.Errorf("the one that was meant: %s", a.body)
		}
	})
	t.Run("waits for the last finalizer", func(t *testing.T) {
		path := nodeLocksPath + "/held"
		s.make(t, nodeLocksPath, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeWorkloadLock
metadata: {name: held, finalizers: [contract.example/a, contract.example/b]}
spec: {controllerName: openstack, nodeName: n1}
`)
		held := s.remove(t, path, "").object(t, http.StatusOK)
		if held.GetKind() != "NodeWorkloadLock" || held.GetDeletionTimestamp() == nil || held.GetGeneration() != 2 ||
			field(held, "metadata", "deletionGracePeriodSeconds") != int64(0) {
			t.Errorf("the answer is %s", asText(t, held))
		}
		again := s.remove(t, path, "").object(t, http.StatusOK)
		if again.GetResourceVersion() != held.GetResourceVersion() {
			t.Errorf("a second deletion has changed it: %s", asText(t, again))
		}
		// Metadata can be edited, and so can the spec.
		if now := s.patch(t, path, mergePatch, `{"metadata":{"annotations":{"x":"y"}}}`).object(t,
			http.StatusOK); now.GetAnnotations()["x"] != "y" {
			t.Errorf("it is %s", asText(t, now))
		}
		s.patch(t, path, jsonPatch, `[{"op":"add","path":"/metadata/finalizers/-","value":"contract.example/c"}]`).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `NodeWorkloadLock.lcm.mirantis.com "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the ` +
				`object is being deleted, found new finalizers []string{"contract.example/c"}`,
			details: &metav1.StatusDetails{Name: "held", Group: lcm, Kind: "NodeWorkloadLock",
				Causes: []metav1.StatusCause{noNewFinalizers, noNewFinalizers}}})
		st := s.watch(t, nodeLocksPath, "fieldSelector=metadata.name%3Dheld&resourceVersion="+held.GetResourceVersion())
		s.patch(t, path, jsonPatch, `[{"op":"remove","path":"/metadata/finalizers/0"}]`).object(t, http.StatusOK)
		s.get(t, path).object(t, http.StatusOK)
		last := s.patch(t, path, mergePatch, `{"metadata":{"finalizers":null}}`).object(t, http.StatusOK)
		if last.GetDeletionTimestamp() == nil || len(last.GetFinalizers()) > 0 {
			t.Errorf("the last answer is %s", asText(t, last))
		}
		st.wants("MODIFIED held", "MODIFIED held", "DELETED held")
		s.get(t, path).refuses(t, refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
			message: `nodeworkloadlocks.lcm.mirantis.com "held" not found`,
			details: &metav1.StatusDetails{Name: "held", Group: lcm, Kind: "nodeworkloadlocks"}})
	})
	t.Run("in the foreground, or that leaves orphans, waits for the garbage collector", func(t *testing.T) {
		for policy, finalizer := range map[string]string{"Foreground": "foregroundDeletion", "Orphan": "orphan"} {
			s.make(t, nodeLocksPath, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeWorkloadLock
metadata: {name: policy, finalizers: [contract.example/a]}
spec: {controllerName: openstack, nodeName: n1}
`)
			held := s.remove(t, nodeLocksPath+"/policy", `{"propagationPolicy":"`+policy+`"}`).object(t, http.StatusOK)
			if got := asText(t, held.GetFinalizers()); got != `["contract.example/a","`+finalizer+`"]` {
				t.Errorf("with %s the finalizers are %s", policy, got)
			}
			s.patch(t, nodeLocksPath+"/policy", mergePatch, `{"metadata":{"finalizers":null}}`).object(t, http.StatusOK)
		}
		s.make(t, maps, configMap("policy", "1"))
		a := s.remove(t, maps+"/policy", `{"propagationPolicy":"Sometimes"}`)
		a.refuses(t, refusal{code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sometimes": supported values: "Foreground",` +
				` "Background", "Orphan", "nil"`,
			details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "DeleteOptions",
				Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueNotSupported,
					Field:   "propagationPolicy",
					Message: `Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"`}}}})
	})
	t.Run("of a pod on a node waits for its kubelet", func(t *testing.T) {
		made := s.make(t, pods, pod("graceful", "x", "n1"))
		begun := time.Now()
		going := s.remove(t, pods+"/graceful", "").object(t, http.StatusOK)
		if going.GetKind() != "Pod" || going.GetDeletionTimestamp() == nil || *going.GetDeletionGracePeriodSeconds() != 30 {
			t.Fatalf("the answer is %s", asText(t, going.Object["metadata"]))
		}
		if made.GetGeneration() != 1 || going.GetGeneration() != 2 {
			t.Errorf("the generation was %d and is %d", made.GetGeneration(), going.GetGeneration())
		}
		if left := going.GetDeletionTimestamp().Sub(begun); left < 20*time.Second || left > 40*time.Second {
			t.Errorf("it is to be gone in %s", left)
		}
		shorter := s.remove(t, pods+"/graceful", `{"gracePeriodSeconds":5}`).object(t, http.StatusOK)
		if *shorter.GetDeletionGracePeriodSeconds() != 5 {
			t.Errorf("a shorter grace is %s", asText(t, shorter.Object["metadata"]))
		}
		longer := s.remove(t, pods+"/graceful", `{"gracePeriodSeconds":50}`).object(t, http.StatusOK)
		if *longer.GetDeletionGracePeriodSeconds() != 5 {
			t.Errorf("a longer grace is %s", asText(t, longer.Object["metadata"]))
		}
		s.remove(t, pods+"/graceful", `{"gracePeriodSeconds":0}`).object(t, http.StatusOK)
		if a := s.get(t, pods+"/graceful"); a.code != http.StatusNotFound {
			t.Errorf("after a grace of 0 the answer is %s", a.body)
		}
	})
	t.Run("of a pod on no node is done at once", func(t *testing.T) {
		s.make(t, pods, pod("unbound", "x", ""))
		if last := s.remove(t, pods+"/unbound", "").object(t, http.StatusOK); last.GetKind() != "Pod" {
			t.Errorf("the answer is %s", asText(t, last))
		}
		if a := s.get(t, pods+"/unbound"); a.code != http.StatusNotFound {
			t.Errorf("the answer is %s", a.body)
		}
	})
	t.Run("of a collection deletes what is selected and lists it", func(t *testing.T) {
		path := s.fiveMaps(t, "collections")
		if gone := s.remove(t, path+"?labelSelector=odd%3Dtrue", "").list(t); names(gone) != "m1 m3" {
			t.Errorf("deleted are %s", names(gone))
		}
		if left := s.get(t, path).list(t); names(left) != "m0 m2 m4" {
			t.Errorf("left are %s", names(left))
		}
	})
}

// resourceName is how messages name a resource.
func resourceName(plural, group string) string {
	if group == "" {
		return plural
	}
	return plural + "." + group
}

// noNewFinalizers is reported twice: it is checked for every object, and again for custom resources.
var noNewFinalizers = metav1.StatusCause{Type: "FieldValueForbidden", Field: "metadata.finalizers",
	Message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"contract.example/c"}`}
