package kubeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/sim/kubeapi"
)

// ownedMap is a ConfigMap of the owners.
func ownedMap(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	o := configMap("default", name)
	var refs []metav1.OwnerReference
	for _, owner := range owners {
		refs = append(refs, metav1.OwnerReference{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(),
			UID: owner.GetUID()})
	}
	o.SetOwnerReferences(refs)
	return o
}

func TestWhatAnObjectOwnsGoesWithItAsTheDeletionWishes(t *testing.T) {
	background, foreground, orphan := metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan
	for _, test := range []struct {
		name   string
		policy *metav1.DeletionPropagation
		held   bool // the first child has a finalizer of its own
		left   string
		last   string // after the child's finalizer has gone
	}{
		{"without a wish", nil, false, "other shared", ""},
		{"in the background", &background, false, "other shared", ""},
		{"in the foreground", &foreground, false, "other shared", ""},
		{"leaving orphans", &orphan, false, "child grandchild other shared", ""},
		{"in the background, with a child that is held", &background, true, "child grandchild other shared", "other shared"},
		{"in the foreground, with a child that is held", &foreground, true, "child other owner shared", "other shared"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := start(t, kubeapi.Options{})
			client := w.dynamic(kubeapi.Admin).Resource(maps).Namespace("default")
			create := func(o *unstructured.Unstructured) *unstructured.Unstructured {
				t.Helper()
				made, err := client.Create(w.ctx, o, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			names := func() string {
				t.Helper()
				list, err := client.List(w.ctx, metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, o := range list.Items {
					all = append(all, o.GetName())
				}
				slices.Sort(all)
				return strings.Join(all, " ")
			}
			owner, other := create(ownedMap("owner")), create(ownedMap("other"))
			child := ownedMap("child", owner)
			if test.held {
				child.SetFinalizers([]string{"test.example/held"})
			}
			child = create(child)
			create(ownedMap("grandchild", child))
			create(ownedMap("shared", owner, other))

			if err := client.Delete(w.ctx, "owner", metav1.DeleteOptions{PropagationPolicy: test.policy}); err != nil {
				t.Fatal(err)
			}
			if got := names(); got != test.left {
				t.Errorf("left are %s, want %s", got, test.left)
			}
			shared, err := client.Get(w.ctx, "shared", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if refs := shared.GetOwnerReferences(); len(refs) != 1 || refs[0].Name != "other" {
				t.Errorf("what two owned is owned by %v", refs)
			}
			if !test.held {
				return
			}
			patch := fmt.Sprintf(`{"metadata":{"finalizers":null,"uid":%q}}`, child.GetUID())
			if _, err := client.Patch(w.ctx, "child", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := names(); got != test.last {
				t.Errorf("in the end left are %s, want %s", got, test.last)
			}
		})
	}
}
