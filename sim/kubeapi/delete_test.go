package kubeapi_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/kubeapi"
)

// dynamicObject is one object and the client for its resource.
type dynamicObject struct {
	dynamic.ResourceInterface
	name string
}

func TestADeletionIsForTheObjectThatWasMeant(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("lock", "node-1"))
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	lock, err := locks.Get(w.ctx, "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other, version := types.UID("other"), "1"
	for _, wrong := range []*metav1.Preconditions{{UID: &other}, {ResourceVersion: &version}} {
		err := locks.Delete(w.ctx, "lock", metav1.DeleteOptions{Preconditions: wrong})
		if !apierrors.IsConflict(err) || !strings.HasPrefix(err.Error(),
			`Operation cannot be fulfilled on NodeWorkloadLock.lcm.mirantis.com "lock": the `) {
			t.Errorf("with %+v: %v", wrong, err)
		}
	}
	uid := lock.GetUID()
	if err := locks.Delete(w.ctx, "lock", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); err != nil {
		t.Error(err)
	}
	if err := locks.Delete(w.ctx, "lock", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("again: %v", err)
	}
}

func TestFinalizersKeepADeletedObject(t *testing.T) {
	w := start(t, kubeapi.Options{})
	lock := nodeLock("lock", "node-1")
	lock.SetFinalizers([]string{"lcm.mirantis.com/finalizer"})
	w.load(lock)
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	events, err := locks.Watch(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	expect := func(want watch.EventType) {
		t.Helper()
		if kind, name, _ := nextObject(t, events); kind != want || name != "lock" {
			t.Fatalf("event %s %s, want %s", kind, name, want)
		}
	}
	expect(watch.Added)
	for range 2 { // the second deletion changes nothing
		if err := locks.Delete(w.ctx, "lock", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	expect(watch.Modified)
	kept, err := locks.Get(w.ctx, "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if at := kept.GetDeletionTimestamp(); at == nil || !at.Time.Equal(birth) {
		t.Errorf("deleted at %v", at)
	}
	if _, err := locks.Patch(w.ctx, "lock", types.MergePatchType, []byte(`{"metadata":{"deletionTimestamp":null}}`),
		metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if kept, err = locks.Get(w.ctx, "lock", metav1.GetOptions{}); err != nil || kept.GetDeletionTimestamp() == nil {
		t.Errorf("the deletion was taken back: %v, %v", kept, err)
	}
	if _, err := locks.Patch(w.ctx, "lock", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(watch.Deleted)
	if _, err := locks.Get(w.ctx, "lock", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: %v", err)
	}
}

func TestAPodOnANodeWaitsForItsKubelet(t *testing.T) {
	pod := func(name, node string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{},
			"status": map[string]any{"phase": "Running"}}}
		if node != "" {
			o.Object["spec"] = map[string]any{"nodeName": node}
		}
		return o
	}
	w := start(t, kubeapi.Options{})
	w.load(pod("placed", "node-1"), pod("waiting", ""))
	client := w.dynamic(kubeapi.Admin).Resource(pods).Namespace("default")
	for _, name := range []string{"placed", "waiting"} {
		if err := client.Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Get(w.ctx, "waiting", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod on no node: %v", err)
	}
	placed, err := client.Get(w.ctx, "placed", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if seconds := placed.GetDeletionGracePeriodSeconds(); seconds == nil || *seconds != 30 ||
		placed.GetDeletionTimestamp().Sub(birth).Seconds() != 30 {
		t.Errorf("grace %v, until %s", seconds, placed.GetDeletionTimestamp())
	}
	now := int64(0)
	if err := client.Delete(w.ctx, "placed", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(w.ctx, "placed", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the kubelet: %v", err)
	}

	w = start(t, kubeapi.Options{InstantPodDeletion: true})
	w.load(pod("placed", "node-1"))
	client = w.dynamic(kubeapi.Admin).Resource(pods).Namespace("default")
	if err := client.Delete(w.ctx, "placed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(w.ctx, "placed", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("with instant deletion: %v", err)
	}
}

func TestANamespaceTakesItsContentWithIt(t *testing.T) {
	w := start(t, kubeapi.Options{})
	client := w.dynamic(kubeapi.Admin)
	inside := client.Resource(maps).Namespace("shop")
	if _, err := inside.Create(w.ctx, configMap("shop", "a"), metav1.CreateOptions{}); !apierrors.IsNotFound(err) ||
		err.Error() != `namespaces "shop" not found` {
		t.Errorf("before the namespace: %v", err)
	}
	w.load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "shop"}}})
	w.load(configMap("shop", "a"), configMap("default", "a"))
	if err := w.typed(kubeapi.Admin).CoreV1().Namespaces().Delete(w.ctx, "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(maps).List(w.ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetNamespace() != "default" {
		t.Errorf("left: %v, %v", list, err)
	}
}

func TestACollectionIsDeletedByItsSelector(t *testing.T) {
	w := start(t, kubeapi.Options{})
	for _, name := range []string{"a", "b", "c"} {
		lock := nodeLock(name, "node-1")
		if name != "b" {
			lock.SetLabels(map[string]string{"old": "yes"})
		}
		w.load(lock)
	}
	locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
	if err := locks.DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "old=yes"}); err != nil {
		t.Fatal(err)
	}
	list, err := locks.List(w.ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "b" {
		t.Errorf("left: %v, %v", list, err)
	}
}
