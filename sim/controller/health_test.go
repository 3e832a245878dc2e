package controller_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/sim/bubble"
)

func TestHealthFollowsTheWorkloads(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "troubles: [{kind: podsNotReady, node: cmp-01, workload: nova-compute-default}]", small3, " []")
		health := func(fields ...string) string {
			status, err := w.dyn.Resource(resource("openstackdeploymentstatus")).Namespace("openstack").Get(t.Context(), "osh-dev",
				metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			value, _, _ := unstructured.NestedString(status.Object, append([]string{"status"}, fields...)...)
			return value
		}
		allWell := func() bool {
			ready, total, ok := strings.Cut(health("osdpl", "health"), "/")
			return ok && ready == total
		}
		w.until("the crashing pod shows", func() bool { return health("health", "nova", "compute-default", "status") == "Unhealthy" })
		if allWell() {
			t.Errorf("the summary is %s", health("osdpl", "health"))
		}
		if other := health("health", "libvirt", "libvirt-default", "status"); other != "Ready" {
			t.Errorf("libvirt is %s", other)
		}
		set, err := w.kube.AppsV1().DaemonSets("openstack").Get(t.Context(), "nova-compute-default", metav1.GetOptions{})
		if err != nil || set.Status.DesiredNumberScheduled != 2 || set.Status.NumberReady != 1 {
			t.Errorf("the DaemonSet's status: %+v, %v", set.Status, err)
		}
		for _, pod := range w.podsOn("cmp-01") {
			if pod.Labels["app.kubernetes.io/name"] != "nova-compute-default" {
				continue
			}
			if waiting := pod.Status.ContainerStatuses[0].State.Waiting; waiting == nil || waiting.Reason != "CrashLoopBackOff" {
				t.Errorf("the pod's state: %+v", pod.Status.ContainerStatuses[0].State)
			}
			if err := w.kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		w.until("a new pod is well", func() bool {
			return health("health", "nova", "compute-default", "status") == "Ready" && allWell()
		})
	})
}

func TestSilentWaitOfANodeThatReturns(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, log := alone(t, "troubles: [{kind: podsNotReady, node: cmp-01, workload: libvirt-libvirt-default, at: 10m}]", small3, " []")
		w.maintain("cmp-01", "drain")
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, "^inactive/active$")
		libvirt := func() *corev1.Pod {
			for _, pod := range w.podsOn("cmp-01") {
				if pod.Labels["app.kubernetes.io/name"] == "libvirt-libvirt-default" {
					return &pod
				}
			}
			return nil
		}
		w.until("libvirt crashes", func() bool { pod := libvirt(); return pod != nil && !podIsReady(pod) })
		pod := libvirt()
		w.remove("nodemaintenancerequests", w.node("cmp-01"))
		w.until("the log tells of the pod", func() bool { return log.has("The pods ['" + pod.Name + "'] are not ready.") })
		if said := w.said(lock); said[len(said)-1] != "inactive/active" {
			t.Errorf("the lock tells of the wait, or does not wait: %v", said)
		}
		if err := w.kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.untilSaid(lock, "^active/inactive$")
		w.until("the request is gone", func() bool { return w.request("cmp-01") == nil })
	})
}

// A volume that cannot be mounted is tried again and again, and the kubelet's event of it counts: it does not vanish from a server that
// keeps events for an hour.
func TestTheEventOfAVolumeThatIsNotMountedCounts(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, `troubles: [{kind: podsNotReady, node: cmp-01, workload: nova-compute-default, event: "FailedMount: no"}]`, small3,
			" []")
		failed := func() (out []corev1.Event) {
			list, err := w.kube.CoreV1().Events("openstack").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list.Items {
				if e.Reason == "FailedMount" {
					out = append(out, e)
				}
			}
			return out
		}
		w.until("it was tried some times", func() bool { all := failed(); return len(all) > 0 && all[0].Count >= 4 })
		all := failed()
		if took := all[0].LastTimestamp.Sub(all[0].FirstTimestamp.Time); len(all) != 1 || took < 6*time.Minute || took > 12*time.Minute {
			t.Errorf("%d events, the first tried again for %s", len(all), took)
		}
	})
}
