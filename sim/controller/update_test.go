package controller_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/controller"
	"lockstep/sim/kubeapi"
)

func TestWholeUpdateOfASmallCloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story("update: {concurrency: 2}", `
- {machine: ctl-01, roles: [master, controller]}
- {machine: ctl-02, roles: [master]}
- {machine: cmp-01, roles: [compute, storage]}
- {machine: cmp-02, roles: [compute]}
- {machine: gtw-01, roles: [gateway]}`, `
- {name: a, project: p, flavor: small, host: cmp-01}
- {name: b, project: p, flavor: small, host: cmp-02, actions: [poweroff]}`), sim.Options{}).run()
		w.until("the cluster's request is there", func() bool { return len(w.list("clustermaintenancerequests")) == 1 })
		w.until("the cluster's request is gone and all locks are armed at the target", func() bool {
			return w.updated("gtw-01") && w.over()
		})
		for _, n := range w.Scenario.Nodes {
			if !w.updated(n.Machine) {
				t.Errorf("%s is not updated", n.Machine)
			}
		}
		cluster := w.said("openstack-osh-dev")
		if missing := inOrder(cluster,
			`^active/inactive: Current maintenancerequest 21\.0\.0\+25\.2 release does not match ours 17\.4\.0\+25\.1\. Skipping handling\.$`,
			`^active/inactive: Waiting osdpl status APPLIED, current state is APPLYING$`,
			`^active/inactive: Waiting for all OpenStack services are healthy\.$`, `^inactive/inactive$`, `^active/inactive$`); missing != "" {
			t.Errorf("the cluster lock never said %s, in order:\n%s", missing, strings.Join(cluster, "\n"))
		}
		if missing := inOrder(w.said("ceph-clusterworkloadlock"), `^inactive/$`, `^active/$`); missing != "" {
			t.Errorf("Ceph's cluster lock never said %s: %v", missing, w.said("ceph-clusterworkloadlock"))
		}
		if missing := inOrder(w.said("ceph-"+w.node("cmp-01")), `^inactive/$`, `^active/$`); missing != "" {
			t.Errorf("Ceph's node lock never said %s: %v", missing, w.said("ceph-"+w.node("cmp-01")))
		}
		status, err := w.dyn.Resource(resource("openstackdeploymentstatus")).Namespace("openstack").Get(t.Context(), "osh-dev",
			metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		osdpl, _, _ := unstructured.NestedStringMap(status.Object, "status", "osdpl")
		if osdpl["state"] != "APPLIED" || osdpl["release"] != "21.0.0+25.2" || osdpl["controller_version"] != "1.1.5" ||
			osdpl["lcm_progress"] != "20/20" {
			t.Errorf("OpenStackDeploymentStatus: %v", osdpl)
		}
		if id := w.on("cmp-01")["b"].ID; id != "" {
			t.Error("the instance that may go down with its host was moved")
		}
	})
}

func TestAgentsOfAnUpdatedNodeAreNew(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}
- {machine: cmp-02, roles: [compute], done: 2m}`, " []"), sim.Options{})
		generation := func(machine string) string {
			list, err := w.kube.CoreV1().Pods("openstack").List(t.Context(), metav1.ListOptions{
				LabelSelector: "component=openvswitch-vswitchd", FieldSelector: "spec.nodeName=" + w.node(machine)})
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 1 {
				return ""
			}
			return list.Items[0].Labels["pod-template-generation"]
		}
		if before, done := generation("cmp-01"), generation("cmp-02"); before != "1" || done != "2" {
			t.Errorf("at the start the switch of cmp-01 is of generation %q, that of cmp-02 of %q", before, done)
		}
		// Another strategy makes the DaemonSet another generation, and its template none: no pod is old by that.
		sets := w.kube.AppsV1().DaemonSets("openstack")
		list, err := sets.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list.Items, func(s appsv1.DaemonSet) bool { return s.Spec.Template.Labels["component"] == "openvswitch-vswitchd" })
		if _, err := sets.Patch(t.Context(), list.Items[i].Name, types.MergePatchType, []byte(`{"spec":{"minReadySeconds":5}}`),
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		if after := generation("cmp-01"); after != "2" {
			t.Errorf("after its maintenance the switch of cmp-01 is of generation %q", after)
		}
	})
}

func TestDrainLeavesDaemonSetsAndWaitsForBudgets(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}
- {machine: cmp-02, roles: [compute], done: 2m}`, " []"), sim.Options{})
		pods := func() (daemons, others []corev1.Pod) {
			list, err := w.kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + w.node("cmp-01")})
			if err != nil {
				t.Fatal(err)
			}
			for _, pod := range list.Items {
				if pod.OwnerReferences[0].Kind == "DaemonSet" {
					daemons = append(daemons, pod)
				} else {
					others = append(others, pod)
				}
			}
			return daemons, others
		}
		daemons, others := pods()
		if len(daemons) == 0 || len(others) == 0 {
			t.Fatalf("%d DaemonSet pods and %d others to begin with", len(daemons), len(others))
		}
		none := intstr.FromInt32(0)
		budget, err := w.kube.PolicyV1().PodDisruptionBudgets(others[0].Namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "strict"},
			Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{
				MatchLabels: map[string]string{"app.kubernetes.io/name": others[0].Labels["app.kubernetes.io/name"]}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.run()
		w.until("only what the budget holds is left", func() bool {
			_, left := pods()
			return w.get("cmp-01").Spec.Unschedulable && len(left) == 1 && left[0].UID == others[0].UID
		})
		time.Sleep(time.Minute) // some more looks
		if _, left := pods(); len(left) != 1 {
			t.Fatalf("the budget was not respected: %d pods left", len(left))
		}
		if err := w.kube.PolicyV1().PodDisruptionBudgets(budget.Namespace).Delete(t.Context(), "strict", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		after, _ := pods()
		if len(after) != len(daemons) {
			t.Errorf("%d DaemonSet pods before, %d after", len(daemons), len(after))
		}
	})
}

func TestTungstenFabricTellsItsProgress(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nopenstack: {fabric: openstack-tf}\nupdate: {concurrency: 2}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute, vrouter]}
- {machine: cmp-02, roles: [compute, vrouter]}`, " []"), sim.Options{})
		progress := &transitions{all: map[string][]string{}} // from a watch: each text lasts only seconds
		w.watch(progress, w.dyn.Resource(resource("clusterworkloadlocks")), "lock", of("status", "inactivationProgress", "description"))
		away := w.atOnce(w.dyn.Resource(resource("nodeworkloadlocks")), func(lock *unstructured.Unstructured) bool {
			state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
			return state == "inactive" && strings.HasPrefix(lock.GetName(), "tf-")
		})
		w.run()
		w.until("the update is over", func() bool { return w.updated("cmp-01") && w.updated("cmp-02") && w.over() })
		if most := away(); most != 1 {
			t.Errorf("%d vRouters were away at a time", most)
		}
		set, err := w.kube.AppsV1().DaemonSets("tf").Get(t.Context(), "tf-vrouter-agent", metav1.GetOptions{})
		if err != nil || set.Generation != 2 {
			t.Errorf("the update is over, and the vRouters' template is of generation %d: %v", set.Generation, err)
		}
		progress.mu.Lock()
		defer progress.mu.Unlock()
		// Whether the fabric still says "2 out of 2" is a race with LCM, which removes the request after the last node.
		told := slices.DeleteFunc(slices.Clone(progress.all["lock tf-openstack-tf"]), func(text string) bool {
			return strings.HasPrefix(text, "2 out of 2")
		})
		if want := []string{"<nil>", "0 out of 2 nodes updated", "1 out of 2 nodes updated", "<nil>"}; !slices.Equal(told, want) {
			t.Errorf("progress: %q, want %q", told, want)
		}
	})
}

func TestUpdateOutlivesRestartsOfItsControllers(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story("", `
- {machine: ctl-01, roles: [master, controller]}
- {machine: cmp-01, roles: [compute, storage]}
- {machine: cmp-02, roles: [compute]}`, `
- {name: a, project: p, flavor: small, host: cmp-01}
- {name: b, project: p, flavor: small, host: cmp-02}`), sim.Options{ControllersOff: true}).run()
		over, seed := false, rand.Uint64()
		t.Logf("the controllers' lives are drawn from seed %d", seed)
		when := rand.New(rand.NewPCG(seed, 0))
		for lives := 0; !over; lives++ {
			if lives > 100 {
				t.Fatalf("the update is not over after %d lives of the controllers (seed %d):\n%s", lives, seed, pretty(once(w.locks)))
			}
			opts := sim.ControllerOptions(w.Scenario)
			opts.Config, opts.Clock, opts.Timing = w.AdminConfig(), w.Clock, quick
			opts.Compute, opts.Network = w.nova.Compute, w.nova.Network
			opts.Seed = uint64(lives)
			over = w.live(opts, when, 6*time.Minute, func() bool { return w.updated("cmp-01") && w.updated("cmp-02") && w.over() })
		}
	})
}

// live runs the controllers until over returns true or their life ends: at any time by the clock, mostly between two
// steps, or in the middle of one of their writes, which may then succeed without an answer. It returns whether over was
// true.
func (w *world) live(opts controller.Options, when *rand.Rand, longest time.Duration, over func() bool) bool {
	w.t.Helper()
	end := death{after: time.Duration(when.Int64N(int64(longest)))}
	if when.IntN(2) == 0 {
		end.write, end.late = when.Int64N(40), time.Duration(when.Int64N(int64(2*time.Millisecond)))
	}
	return w.liveUntil(opts, end, over)
}

// death is when a life of the controllers ends.
type death struct {
	after time.Duration
	write int64         // which of their writes ends it, if it comes earlier; 0 for none
	late  time.Duration // how long after the write was asked for
}

// liveUntil runs the controllers until over returns true or their life ends. It returns whether over was true.
func (w *world) liveUntil(opts controller.Options, end death, over func() bool) bool {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), end.after)
	defer stop()
	if end.write > 0 {
		var writes atomic.Int64
		count := kubeapi.Fault{Match: func(r *http.Request) bool {
			if r.Method != http.MethodGet && strings.HasPrefix(r.UserAgent(), "lockstep-sim-") && writes.Add(1) == end.write {
				time.AfterFunc(end.late, stop)
			}
			return false
		}}
		defer w.Kube.AddFault(count)()
		if w.Management != nil {
			defer w.Management.AddFault(count)()
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx, opts) }()
	is := false
	w.until("it is over, or a life is", func() bool {
		is = over()
		return is || ctx.Err() != nil
	})
	stop()
	if err := <-ended; err != nil {
		w.t.Fatalf("the controllers ended: %v", err)
	}
	return is
}

func TestUpdateOutlivesOutagesOfTheAPIServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute, storage]}
- {machine: cmp-02, roles: [compute], done: 2m}`, `
- {name: a, project: p, flavor: small, host: cmp-01}`), sim.Options{})
		// Every write of a lock or a request fails once, and many reads fail.
		for _, plural := range []string{"nodeworkloadlocks", "clusterworkloadlocks", "nodemaintenancerequests", "clustermaintenancerequests",
			"nodes", "pods"} {
			for _, verb := range []string{"create", "patch", "update", "delete", "get"} {
				defer w.Kube.AddFault(kubeapi.Fault{Verb: verb, Resource: plural, Times: 2, Code: 503})()
			}
		}
		w.run()
		w.until("cmp-01 is updated", func() bool {
			node, err := w.kube.CoreV1().Nodes().Get(t.Context(), w.node("cmp-01"), metav1.GetOptions{})
			return err == nil && node.Status.NodeInfo.KubeletVersion == w.Scenario.Kubelet.To
		})
		w.until("the update is over", w.over)
	})
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		if err := controller.Run(t.Context(), controller.Options{}); err == nil {
			t.Error("no configuration and no clock are accepted")
		}
		w := begin(t, story("", "- {machine: ctl-01, roles: [master]}", " []"), sim.Options{ControllersOff: true})
		opts := controller.Options{Config: w.AdminConfig(), Clock: w.Clock, OpenStack: &controller.OpenStack{}}
		if err := controller.Run(t.Context(), opts); err == nil || !regexp.MustCompile("Nova").MatchString(err.Error()) {
			t.Errorf("an OpenStack controller without Nova: %v", err)
		}
	})
}
