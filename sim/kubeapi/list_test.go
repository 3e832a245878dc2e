package kubeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/kubeapi"
)

func names(list *unstructured.UnstructuredList) []string {
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}

func TestChunksAreOfOneMoment(t *testing.T) {
	w := start(t, kubeapi.Options{})
	for i := range 5 {
		w.load(node(fmt.Sprintf("node-%d", i)))
	}
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	first, err := client.List(w.ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if left := first.GetRemainingItemCount(); left == nil || *left != 3 || first.GetContinue() == "" {
		t.Fatalf("%v left, continue %q", left, first.GetContinue())
	}
	if err := client.Delete(w.ctx, "node-3", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.load(node("node-2a"))
	if _, err := client.Patch(w.ctx, "node-4", types.MergePatchType, []byte(`{"metadata":{"labels":{"new":"yes"}}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	second, err := client.List(w.ctx, metav1.ListOptions{Limit: 5, Continue: first.GetContinue()})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(second); !slices.Equal(got, []string{"node-2", "node-3", "node-4"}) || len(second.Items[2].GetLabels()) > 0 {
		t.Errorf("the second chunk is %v", got)
	}
	if second.GetContinue() != "" || second.GetResourceVersion() != first.GetResourceVersion() {
		t.Errorf("continue %q, version %s after %s", second.GetContinue(), second.GetResourceVersion(), first.GetResourceVersion())
	}

	w.Compact()
	_, err = client.List(w.ctx, metav1.ListOptions{Continue: first.GetContinue()})
	if !apierrors.IsResourceExpired(err) || !strings.HasPrefix(err.Error(), "The provided continue parameter is too old") {
		t.Fatalf("a chunk of a list that is gone: %v", err)
	}
	onward := err.(apierrors.APIStatus).Status().Continue
	rest, err := client.List(w.ctx, metav1.ListOptions{Continue: onward})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(rest); !slices.Equal(got, []string{"node-2", "node-2a", "node-4"}) {
		t.Errorf("the inconsistent rest is %v", got)
	}
}

func TestAListAtAVersion(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("a"))
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	before, err := client.List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.load(node("b"))
	exact := metav1.ListOptions{ResourceVersion: before.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	if list, err := client.List(w.ctx, exact); err != nil || !slices.Equal(names(list), []string{"a"}) {
		t.Errorf("exactly then: %v, %v", list, err)
	}
	if list, err := client.List(w.ctx, metav1.ListOptions{ResourceVersion: before.GetResourceVersion()}); err != nil || len(list.Items) != 2 {
		t.Errorf("not older than then: %v, %v", list, err)
	}
	w.Compact()
	if _, err := client.List(w.ctx, exact); !apierrors.IsResourceExpired(err) {
		t.Errorf("exactly then, after a compaction: %v", err)
	}
	future := w.raw(kubeapi.Admin, "GET", "/api/v1/nodes?resourceVersion=99999999", "")
	status := future.status()
	if future.code != 504 || status.Reason != metav1.StatusReasonTimeout || len(status.Details.Causes) != 1 ||
		status.Details.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge || future.header.Get("Retry-After") != "1" {
		t.Errorf("of the future: %d %+v", future.code, status)
	}
	if _, err := client.List(w.ctx, metav1.ListOptions{ResourceVersion: "x"}); !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) {
		t.Errorf("of no version: %v", err)
	}
}

func TestSelectors(t *testing.T) {
	w := start(t, kubeapi.Options{})
	for _, p := range []struct{ name, node, phase, app string }{
		{"a", "node-1", "Running", "ovs"}, {"b", "node-2", "Running", "ovs"}, {"c", "node-1", "Succeeded", "job"}} {
		w.load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": p.name, "namespace": "default", "labels": map[string]any{"app": p.app}},
			"spec":     map[string]any{"nodeName": p.node}, "status": map[string]any{"phase": p.phase}}})
	}
	client := w.dynamic(kubeapi.Admin).Resource(pods)
	for _, test := range []struct {
		labels, fields string
		want           []string
	}{
		{"", "spec.nodeName=node-1", []string{"a", "c"}},
		{"", "spec.nodeName=node-1,status.phase!=Succeeded", []string{"a"}},
		{"", "metadata.name=b", []string{"b"}},
		{"", "metadata.namespace=kube-system", nil},
		{"app in (ovs,other)", "", []string{"a", "b"}},
		{"!app", "", nil},
		{"app=ovs", "spec.nodeName!=node-1", []string{"b"}},
	} {
		list, err := client.List(w.ctx, metav1.ListOptions{LabelSelector: test.labels, FieldSelector: test.fields})
		if err != nil || !slices.Equal(names(list), test.want) {
			t.Errorf("labels %q, fields %q: %v, %v; want %v", test.labels, test.fields, list, err, test.want)
		}
	}
	if _, err := client.List(w.ctx, metav1.ListOptions{FieldSelector: "spec.colour=red"}); !apierrors.IsBadRequest(err) ||
		err.Error() != "field label not supported: spec.colour" {
		t.Errorf("a field that cannot be selected by: %v", err)
	}
	if _, err := client.List(w.ctx, metav1.ListOptions{LabelSelector: "a=="}); err != nil {
		t.Errorf("an empty value: %v", err)
	}
	if _, err := client.List(w.ctx, metav1.ListOptions{LabelSelector: "a in"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a selector that is none: %v", err)
	}
}

func pod(name, node string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"nodeName": node,
			"containers": []any{map[string]any{"name": "main", "image": "registry.local/main:1"}}}}}
}

// The pods of a node are the same in one list, in pages, and after a change.
func TestThePodsOfANodeAreListedAlone(t *testing.T) {
	w := start(t, kubeapi.Options{InstantPodDeletion: true})
	w.load(node("node-1"), node("node-2"))
	for i := range 6 {
		w.load(pod(fmt.Sprintf("pod-%d", i), fmt.Sprintf("node-%d", 1+i%2)))
	}
	client := w.dynamic(kubeapi.Admin).Resource(pods)
	listed := func(limit int64) []string {
		t.Helper()
		var all []string
		options := metav1.ListOptions{FieldSelector: "spec.nodeName=node-2", Limit: limit}
		for {
			page, err := client.List(w.ctx, options)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, names(page)...)
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return all
			}
		}
	}
	for _, limit := range []int64{0, 1, 2, 3, 4} {
		if got := listed(limit); !slices.Equal(got, []string{"pod-1", "pod-3", "pod-5"}) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	if err := client.Namespace("default").Delete(w.ctx, "pod-3", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.load(pod("pod-7", "node-2"))
	for _, limit := range []int64{0, 2} {
		if got := listed(limit); !slices.Equal(got, []string{"pod-1", "pod-5", "pod-7"}) {
			t.Errorf("after a change, in pages of %d: %v", limit, got)
		}
	}
}
