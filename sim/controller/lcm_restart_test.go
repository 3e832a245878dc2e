package controller_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/controller"
	"lockstep/sim/kubeapi"
)

// long is a life of the controllers that a test ends.
var long = death{after: 2 * time.Hour}

// target is the release that LCM gives machines and clusters in these stories.
const target = "mosk-21-0-0-25-2"

// lone is a story of a cluster whose masters are done and that updates one compute. No controller runs.
func lone(t *testing.T) (*world, controller.Options) {
	t.Helper()
	w := begin(t, story(atWorkers+"\nmanagement: {}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}`, " []"), sim.Options{ControllersOff: true}).run()
	return w, w.Controllers()
}

// going tells whether the request of cmp-01 is being deleted.
func (w *world) going() bool {
	request := w.request("cmp-01")
	return request != nil && request.GetDeletionTimestamp() != nil
}

// letGo makes the request of cmp-01 go.
func (w *world) letGo() {
	w.t.Helper()
	w.patch("nodemaintenancerequests", w.request("cmp-01").GetName(), `{"metadata":{"finalizers":null}}`)
}

// told is a field of the LCMMachine of cmp-01.
func (w *world) told(field string) string {
	value, _, _ := unstructured.NestedString(w.managed(resource("lcmmachines"), "cmp-01").Object, "status", field)
	return value
}

// drains are the requests for the drain of a machine.
func (w *world) drains(machine string) (out []unstructured.Unstructured) {
	w.t.Helper()
	list, err := w.manager(resource("lcmclusterstates")).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, state := range list.Items {
		if arg, _, _ := unstructured.NestedString(state.Object, "spec", "arg"); arg == machine {
			out = append(out, state)
		}
	}
	return out
}

// commence commences the steps of the plan that are wanted, and no other one.
func (w *world) commence(wanted func(i int) bool) {
	w.t.Helper()
	steps, _, _ := unstructured.NestedSlice(w.managed(kaasPlans, "mos-21.0.0").Object, "spec", "steps")
	for i, step := range steps {
		step.(map[string]any)["commence"] = wanted(i)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"steps": steps}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ask(kaasPlans, "mos-21.0.0", string(patch))
}

// An LCM may end while it waits for a request to go, the next one after it has begun anew to bring the node back, and
// the request be gone before the third one looks.
func TestAnLCMReportsARequestThatWentWhileNoneRan(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, opts := lone(t)
		if !w.liveUntil(opts, long, w.going) {
			t.Fatal("the request of cmp-01 does not go")
		}
		restore := w.Management.AddFault(kubeapi.Fault{Verb: "patch", Resource: "lcmclusterstates", Subresource: "status", Code: 503})
		if !w.liveUntil(opts, long, func() bool { return w.going() && w.told("kubernetesCordonDrain") == "uncordoning" }) {
			t.Fatal("the second LCM does not bring the node back")
		}
		restore()
		w.letGo()
		if !w.liveUntil(opts, long, func() bool { return w.updated("cmp-01") && w.untold("cmp-01") == "" }) {
			t.Errorf("untold: %s", w.untold("cmp-01"))
		}
	})
}

// The same while the step was paused: no machine begins, but this one was done.
func TestARestartedLCMReportsTheLastMachineOfAPausedStep(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, opts := lone(t)
		if !w.liveUntil(opts, long, w.going) {
			t.Fatal("the request of cmp-01 does not go")
		}
		w.commence(func(int) bool { return false })
		w.letGo()
		if !w.liveUntil(opts, long, func() bool { return w.told("release") == target && w.untold("cmp-01") == "" }) {
			t.Errorf("release %s; untold: %s", w.told("release"), w.untold("cmp-01"))
		}
	})
}

// A machine that is noted as updated is not visited again: who has cordoned it since keeps it cordoned.
func TestARestartedLCMLeavesFinishedMachinesAlone(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nmanagement: {}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}
- {machine: cmp-02, roles: [compute]}`, " []"), sim.Options{ControllersOff: true}).run()
		opts := w.Controllers()
		if !w.liveUntil(opts, long, func() bool { return w.told("release") == target && w.untold("cmp-01") == "" }) {
			t.Fatal("cmp-01 is not updated")
		}
		if _, err := w.kube.CoreV1().Nodes().Patch(t.Context(), w.node("cmp-01"), "application/merge-patch+json",
			[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		w.liveUntil(opts, death{after: 30 * time.Minute}, func() bool { return false })
		node, err := w.kube.CoreV1().Nodes().Get(t.Context(), w.node("cmp-01"), metav1.GetOptions{})
		if err != nil || !node.Spec.Unschedulable {
			t.Errorf("somebody's cordon is gone (%v)", err)
		}
	})
}

// Who stops the drain of a machine does so for good, though LCM is started anew: the pod that a budget holds stays where it is.
func TestARestartedLCMDoesNotDrainAgain(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, opts := lone(t)
		pods := w.podsOn("cmp-01")
		held := pods[slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.OwnerReferences[0].Kind != "DaemonSet" })]
		if _, err := w.kube.PolicyV1().PodDisruptionBudgets(held.Namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "strict"},
			Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{
				MatchLabels: map[string]string{"app.kubernetes.io/name": held.Labels["app.kubernetes.io/name"]}}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if !w.liveUntil(opts, long, func() bool { return w.told("kubernetesCordonDrainError") != "" }) {
			t.Fatal("no budget holds the drain")
		}
		for _, state := range w.drains("cmp-01") {
			w.ask(resource("lcmclusterstates"), state.GetName(), `{"spec":{"value":"false"}}`)
		}
		if !w.liveUntil(opts, long, func() bool { return w.told("state") == "Prepare" }) {
			t.Fatalf("the drain was begun again: %s", w.told("kubernetesCordonDrainError"))
		}
		if !slices.ContainsFunc(w.podsOn("cmp-01"), func(p corev1.Pod) bool { return p.UID == held.UID }) {
			t.Error("the pod that the budget holds is gone")
		}
	})
}

// Somebody deletes the request of a node that LCM works on, and LCM is started anew: the work is not done.
func TestANodeWhoseRequestWasDeletedIsNotTakenForUpdated(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, opts := lone(t)
		if !w.liveUntil(opts, long, func() bool { return w.told("state") == "Prepare" }) {
			t.Fatal("cmp-01 is not worked on")
		}
		w.remove("nodemaintenancerequests", w.request("cmp-01").GetName())
		if !w.liveUntil(opts, long, func() bool { return w.told("release") == target }) {
			t.Fatal("the update of cmp-01 does not end")
		}
		if !w.updated("cmp-01") {
			t.Error("cmp-01 counts as updated, and its kubelet is the old one")
		}
	})
}

// A step that starts sets the Cluster's release. That is not the change of the release that starts every step.
func TestAStepThatStartsCommencesNoOther(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {plan: {commence: []}}", twoNodes, " []"), sim.Options{}).run()
		w.until("the plan is told", func() bool { return planStatus(w.managed(kaasPlans, "mos-21.0.0")) != "" })
		restore := w.Management.AddFault(kubeapi.Fault{Verb: "patch", Resource: "clusterupdateplans", Subresource: "status", Code: 503})
		w.commence(func(i int) bool { return i == 0 })
		w.until("the Cluster has the release", func() bool {
			release, _, _ := unstructured.NestedString(w.managed(mccClusters, "mos").Object, "spec", "providerSpec", "value", "release")
			return release == target
		})
		time.Sleep(time.Minute)
		restore()
		w.untilPlanIs("InProgress")
		steps, _, _ := unstructured.NestedSlice(w.managed(kaasPlans, "mos-21.0.0").Object, "spec", "steps")
		for i, step := range steps {
			if on, _ := step.(map[string]any)["commence"].(bool); on != (i == 0) {
				t.Errorf("step %d: commence is %t", i+1, on)
			}
		}
	})
}

// An LCM that ends between the end of the cluster's maintenance and the note that the update is over begins no second one.
func TestARestartedLCMBeginsNoSecondUpdate(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {plan: {none: true}}", twoNodes, " []"), sim.Options{ControllersOff: true}).run()
		opts := w.Controllers()
		w.ask(mccClusters, "mos", fmt.Sprintf(`{"spec":{"providerSpec":{"value":{"release":%q}}}}`, target))
		requested := func() bool { return len(w.list("clustermaintenancerequests")) > 0 }
		restore := w.Management.AddFault(kubeapi.Fault{Verb: "patch", Resource: "lcmclusters", Subresource: "status", Code: 503})
		if !w.liveUntil(opts, long, requested) || !w.liveUntil(opts, long, func() bool { return !requested() }) {
			t.Fatal("the cluster's maintenance does not begin, or does not end")
		}
		restore()
		if !w.liveUntil(opts, long, func() bool {
			if requested() {
				t.Fatal("the cluster's maintenance is requested again")
			}
			release, _, _ := unstructured.NestedString(w.managed(resource("lcmclusters"), "mos").Object, "status", "release")
			return release == target
		}) {
			t.Error("the update is never over")
		}
	})
}
