package kube

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// When a lock came into its state at the latest is when the manager of its state wrote to it last, whatever others write. A lock whose
// state nobody has set has no time.
func TestWhenALockCameIntoItsState(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		uid := map[string]string{}
		for _, name := range []string{"a", "b"} {
			made, err := c.admin.Resource(lcm("nodeworkloadlocks")).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeWorkloadLock", "metadata": map[string]any{"name": name},
				"spec": map[string]any{"nodeName": "cmp-" + name, "controllerName": "openstack"}}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			uid[name] = string(made.GetUID())
		}
		patch := func(manager, content string, subresource ...string) {
			if _, err := c.admin.Resource(lcm("nodeworkloadlocks")).Patch(t.Context(), "a", types.MergePatchType, []byte(content),
				metav1.PatchOptions{FieldManager: manager}, subresource...); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		patch("controller", `{"status":{"state":"inactive"}}`, "status")
		set := time.Now()
		time.Sleep(time.Minute)
		patch("somebody", `{"metadata":{"annotations":{"seen":"yes"}}}`)
		times, err := c.client(kubeapi.Readonly).LockTimes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if at, told := times[uid["a"]]; !told || at.Sub(set).Abs() > time.Second {
			t.Errorf("it is told for %s, it was set at %s", at, set)
		}
		if at, told := times[uid["b"]]; told {
			t.Errorf("a lock without a state came into it at %s", at)
		}
	})
}
