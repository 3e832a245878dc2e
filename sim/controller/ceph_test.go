package controller_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/sim"
	"lockstep/sim/bubble"
)

func TestCephWaitsForNothingOnceNobodyAsks(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\ntroubles: [{kind: cephDegraded, node: cmp-01}]", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute, storage]}
- {machine: cmp-02, roles: [compute], done: 2m}`, " []"), sim.Options{}).run()
		text := func() string {
			lock, err := w.dyn.Resource(resource("nodeworkloadlocks")).Get(t.Context(), "ceph-"+w.node("cmp-01"), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			said, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage")
			return said
		}
		w.until("Ceph says what it waits for", func() bool { return strings.Contains(text(), "HEALTH_WARN") })
		request := w.request("cmp-01")
		if err := w.dyn.Resource(resource("nodemaintenancerequests")).Delete(t.Context(), request.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("Ceph waits no more", func() bool { return text() == "" })
	})
}
