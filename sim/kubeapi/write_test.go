package kubeapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/kubeapi"
)

func field(t *testing.T, o *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, _, err := unstructured.NestedString(o.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestACreatedObjectGetsWhatTheServerSets(t *testing.T) {
	w := start(t, kubeapi.Options{})
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	given := nodeLock("", "node-1")
	given.SetGenerateName("openstack-")
	given.Object["status"] = map[string]any{"state": "failed"}
	created, err := locks.Create(w.ctx, given, metav1.CreateOptions{FieldManager: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(created.GetName(), "openstack-") || len(created.GetName()) != len("openstack-")+5 {
		t.Errorf("generated the name %q", created.GetName())
	}
	if created.GetUID() == "" || created.GetResourceVersion() == "" || created.GetGeneration() != 1 {
		t.Errorf("uid %q, resourceVersion %q, generation %d", created.GetUID(), created.GetResourceVersion(), created.GetGeneration())
	}
	if got := created.GetCreationTimestamp(); !got.Time.Equal(birth) {
		t.Errorf("created at %s, the clock shows %s", got, birth)
	}
	if _, found := created.Object["status"]; found {
		t.Error("a status came in through the main endpoint")
	}
	if managers := created.GetManagedFields(); len(managers) != 1 || managers[0].Manager != "tester" {
		t.Errorf("managed by %+v", managers)
	}
	if _, err := locks.Create(w.ctx, nodeLock(created.GetName(), "n"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second one: %v", err)
	}
}

func TestAServerWithoutManagersNotesNoneAndAppliesNothing(t *testing.T) {
	w := start(t, kubeapi.Options{NoManagers: true})
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	created, err := locks.Create(w.ctx, nodeLock("lock", "node-1"), metav1.CreateOptions{FieldManager: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	created.SetLabels(map[string]string{"a": "b"})
	changed, err := locks.Update(w.ctx, created, metav1.UpdateOptions{FieldManager: "tester"})
	if err != nil || len(changed.GetManagedFields()) != 0 {
		t.Errorf("changed: %v, managed by %+v", err, changed.GetManagedFields())
	}
	if _, err := locks.Apply(w.ctx, "lock", nodeLock("lock", "node-1"),
		metav1.ApplyOptions{FieldManager: "tester"}); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("applied: %v", err)
	}
}

func TestAWriteToAnOldVersionIsAConflict(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("lock", "node-1"))
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	first, err := locks.Get(w.ctx, "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed := first.DeepCopy()
	changed.SetLabels(map[string]string{"a": "b"})
	if changed, err = locks.Update(w.ctx, changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if changed.GetGeneration() != first.GetGeneration() {
		t.Error("a label changed the generation")
	}
	first.SetLabels(map[string]string{"a": "c"})
	_, err = locks.Update(w.ctx, first, metav1.UpdateOptions{})
	want := `Operation cannot be fulfilled on nodeworkloadlocks.lcm.mirantis.com "lock": the object has been modified; ` +
		`please apply your changes to the latest version and try again`
	if !apierrors.IsConflict(err) || err.Error() != want {
		t.Errorf("an update of an old version: %v", err)
	}
	patch := `{"metadata":{"resourceVersion":"` + first.GetResourceVersion() + `","labels":{"a":"c"}}}`
	if _, err := locks.Patch(w.ctx, "lock", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a patch of an old version: %v", err)
	}
	other := changed.DeepCopy()
	other.SetUID("another")
	if _, err := locks.Update(w.ctx, other, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of another object: %v", err)
	}
	other = changed.DeepCopy()
	other.SetResourceVersion("")
	if _, err := locks.Update(w.ctx, other, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "Invalid value: 0: must be specified for an update") &&
			!strings.Contains(err.Error(), "Invalid value: 0x0: must be specified for an update") {
		t.Errorf("an update of no version: %v", err)
	}
}

func TestTheStatusHasItsOwnEndpoint(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("lock", "node-1"))
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	both := []byte(`{"spec":{"nodeName":"node-2"},"status":{"state":"active"}}`)

	got, err := locks.Patch(w.ctx, "lock", types.MergePatchType, both, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	if field(t, got, "spec", "nodeName") != "node-1" || field(t, got, "status", "state") != "active" || got.GetGeneration() != 1 {
		t.Errorf("the status endpoint made %v", got.Object)
	}
	both = []byte(`{"spec":{"nodeName":"node-2"},"status":{"state":"failed"}}`)
	if got, err = locks.Patch(w.ctx, "lock", types.MergePatchType, both, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if field(t, got, "spec", "nodeName") != "node-2" || field(t, got, "status", "state") != "active" || got.GetGeneration() != 2 {
		t.Errorf("the main endpoint made %v", got.Object)
	}

	// The OpenStackDeploymentStatus has no such endpoint: its controller writes the object.
	w.load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "openstack"}}},
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "OpenStackDeploymentStatus",
			"metadata": map[string]any{"name": "dev", "namespace": "openstack"}}})
	statuses := w.dynamic(kubeapi.Admin).Resource(osdplst).Namespace("openstack")
	state := []byte(`{"status":{"osdpl":{"state":"APPLIED"}}}`)
	if _, err := statuses.Patch(w.ctx, "dev", types.MergePatchType, state, metav1.PatchOptions{}, "status"); !apierrors.IsNotFound(err) {
		t.Errorf("a status endpoint that is not there: %v", err)
	}
	if got, err = statuses.Patch(w.ctx, "dev", types.MergePatchType, state, metav1.PatchOptions{}); err != nil ||
		field(t, got, "status", "osdpl", "state") != "APPLIED" {
		t.Errorf("the status through the main endpoint: %v, %v", got, err)
	}
}

func TestCustomResourcesAreCheckedByTheirSchema(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("lock", "node-1"))
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	for _, test := range []struct{ name, patch, sub, want, cause string }{
		{"a state that is none", `{"status":{"state":"gone"}}`, "status",
			`NodeWorkloadLock.lcm.mirantis.com "lock" is invalid: status.state: Unsupported value: "gone": supported values: "inactive", ` +
				`"active", "failed"`, "status.state"},
		{"a status without a state", `{"status":{"release":"21"}}`, "status",
			`NodeWorkloadLock.lcm.mirantis.com "lock" is invalid: status.state: Required value`, "status.state"},
		{"a number for a name", `{"spec":{"nodeName":5}}`, "",
			`NodeWorkloadLock.lcm.mirantis.com "lock" is invalid: spec.nodeName: Invalid value: "integer": spec.nodeName in body must be of type ` +
				`string: "integer"`, "spec.nodeName"},
		{"more than all of it", `{"status":{"state":"active","inactivationProgress":{"percentage":101}}}`, "status",
			`NodeWorkloadLock.lcm.mirantis.com "lock" is invalid: status.inactivationProgress.percentage: Invalid value: 101: ` +
				`inactivationProgress.percentage in body should be less than or equal to 100`, "status.inactivationProgress.percentage"},
		{"another kind", `{"kind":"Other"}`, "",
			`Other.lcm.mirantis.com "lock" is invalid: kind: Invalid value: "Other": must be NodeWorkloadLock`, "kind"},
		{"a label that is none", `{"metadata":{"labels":{"a b":"c"}}}`, "", `metadata.labels: Invalid value: "a b"`, "metadata.labels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var subs []string
			if test.sub != "" {
				subs = append(subs, test.sub)
			}
			_, err := locks.Patch(w.ctx, "lock", types.MergePatchType, []byte(test.patch), metav1.PatchOptions{}, subs...)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v", err)
			}
			details := err.(apierrors.APIStatus).Status().Details
			if details == nil || details.Name != "lock" || len(details.Causes) == 0 || details.Causes[0].Field != test.cause {
				t.Errorf("details %+v", details)
			}
		})
	}
}

func TestUnknownFieldsArePruned(t *testing.T) {
	w := start(t, kubeapi.Options{})
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	lock := nodeLock("lock", "node-1")
	lock.Object["spec"].(map[string]any)["colour"] = "red"
	_, err := locks.Create(w.ctx, lock, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	want := `NodeWorkloadLock in version "v1alpha1" cannot be handled as a NodeWorkloadLock: strict decoding error: unknown field ` +
		`"spec.colour"`
	if !apierrors.IsBadRequest(err) || err.Error() != want {
		t.Errorf("strictly: %v", err)
	}
	created, err := locks.Create(w.ctx, lock, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	if err != nil {
		t.Fatal(err)
	}
	if field(t, created, "spec", "colour") != "" {
		t.Error("the field was stored")
	}
}

func TestAJSONPatchTestThatFailsIsInvalid(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("lock", "node-1"))
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	before, err := locks.Get(w.ctx, "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(uid string) []byte {
		raw, err := json.Marshal([]map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": uid},
			{"op": "add", "path": "/metadata/annotations", "value": map[string]string{"a": "b"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	_, err = locks.Patch(w.ctx, "lock", types.JSONPatchType, patch("another"), metav1.PatchOptions{})
	if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != 422 || status.Status().Reason != metav1.StatusReasonInvalid {
		t.Errorf("another uid: %v", err)
	}
	after, err := locks.Patch(w.ctx, "lock", types.JSONPatchType, patch(string(before.GetUID())), metav1.PatchOptions{})
	if err != nil || after.GetAnnotations()["a"] != "b" {
		t.Errorf("the right uid: %v", err)
	}
	if _, err := locks.Patch(w.ctx, "lock", types.StrategicMergePatchType, []byte(`{}`),
		metav1.PatchOptions{}); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("a strategic merge patch of a custom resource: %v", err)
	}
	if _, err := locks.Patch(w.ctx, "missing", types.JSONPatchType, patch("x"), metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a patch of nothing: %v", err)
	}
	if _, err := locks.Patch(w.ctx, "lock", types.JSONPatchType, []byte(`{`), metav1.PatchOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("a patch that is none: %v", err)
	}
}

func TestAStrategicMergePatchMergesConditionsByTheirType(t *testing.T) {
	w := start(t, kubeapi.Options{})
	one := node("node-1")
	one.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "DiskPressure", "status": "False"}}}
	w.load(one)
	changed, err := w.typed(kubeapi.Admin).CoreV1().Nodes().Patch(w.ctx, "node-1", types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	if len(changed.Status.Conditions) != 2 {
		t.Fatalf("conditions %+v", changed.Status.Conditions)
	}
	for _, c := range changed.Status.Conditions {
		if want := map[string]string{"Ready": "Unknown", "DiskPressure": "False"}[string(c.Type)]; string(c.Status) != want {
			t.Errorf("%s is %s", c.Type, c.Status)
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("node-1"))
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	before, err := client.Get(w.ctx, "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dry := []string{metav1.DryRunAll}
	patched, err := client.Patch(w.ctx, "node-1", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`),
		metav1.PatchOptions{DryRun: dry})
	if err != nil || patched.GetAnnotations()["a"] != "b" || patched.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the answer to the patch: %v, %v", patched, err)
	}
	if _, err := client.Create(w.ctx, node("node-2"), metav1.CreateOptions{DryRun: dry}); err != nil {
		t.Error(err)
	}
	if err := client.Delete(w.ctx, "node-1", metav1.DeleteOptions{DryRun: dry}); err != nil {
		t.Error(err)
	}
	list, err := client.List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("afterwards: %v", list.Items)
	}
	for _, request := range w.Requests() {
		if !request.DryRun {
			t.Errorf("%s %s is not logged as a dry run", request.Verb, request.Path)
		}
	}
}

func TestAWriteThatChangesNothingIsNoEvent(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("node-1"), nodeLock("lock", "node-1"))
	client := w.dynamic(kubeapi.Admin)
	for _, test := range []struct {
		name   string
		object dynamicObject
	}{{"a node", dynamicObject{client.Resource(nodes), "node-1"}}, {"a lock", dynamicObject{client.Resource(nodeLocks), "lock"}}} {
		patch := []byte(`{"metadata":{"annotations":{"a":"b"}}}`)
		first, err := test.object.Patch(w.ctx, test.object.name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Minute)
		second, err := test.object.Patch(w.ctx, test.object.name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if first.GetResourceVersion() != second.GetResourceVersion() {
			t.Errorf("%s: the same patch again went from %s to %s", test.name, first.GetResourceVersion(), second.GetResourceVersion())
		}
		third, err := test.object.Update(w.ctx, second, metav1.UpdateOptions{})
		if err != nil || third.GetResourceVersion() != second.GetResourceVersion() {
			t.Errorf("%s: the same object again: %s, %v", test.name, third.GetResourceVersion(), err)
		}
	}
}
