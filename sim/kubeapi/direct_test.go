package kubeapi_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

// A client without a connection has the same rights, answers, errors and watches as one with a connection. When it gets its answer,
// every watch has seen what it changed.
func TestADirectClientIsAClient(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		client, err := dynamic.NewForConfig(w.DirectConfig(kubeapi.Admin))
		if err != nil {
			t.Fatal(err)
		}
		locks := client.Resource(nodeLocks)
		events, err := locks.Watch(w.ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := locks.Create(w.ctx, nodeLock("lock", "node-1"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-events.ResultChan():
			if lock, ok := e.Object.(metav1.Object); !ok || e.Type != watch.Added || lock.GetName() != "lock" {
				t.Errorf("the watch shows %s of %v", e.Type, e.Object)
			}
		default:
			t.Error("the watch shows nothing yet")
		}
		byNetwork, err := w.dynamic(kubeapi.Admin).Resource(nodeLocks).Get(w.ctx, "lock", metav1.GetOptions{})
		if err != nil || byNetwork.GetResourceVersion() != made.GetResourceVersion() {
			t.Errorf("by the network it is %v, %v", byNetwork, err)
		}
		if _, err := locks.Get(w.ctx, "other", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a lock that is not there: %v", err)
		}
		w.watches("nodeworkloadlocks", 1)
		events.Stop()
		w.watches("nodeworkloadlocks", 0)

		reader, err := dynamic.NewForConfig(w.DirectConfig(kubeapi.Readonly))
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Resource(nodeLocks).Delete(w.ctx, "lock", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a reader's deletion: %v", err)
		}
	})
}
