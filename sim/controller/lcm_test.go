package controller_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// withColleague is a plan that continues by itself.
const withColleague = "management: {plan: {colleague: 10s}}"

// twoNodes are a master and a compute.
const twoNodes = `
- {machine: ctl-01, roles: [master, controller]}
- {machine: cmp-01, roles: [compute, storage]}`

// threeNodes are a master and two computes.
const threeNodes = twoNodes + `
- {machine: cmp-02, roles: [compute]}`

var (
	kaasPlans     = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "clusterupdateplans"}
	kaasUpgrades  = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "machineupgradestatuses"}
	kaasReboots   = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "gracefulrebootrequests"}
	mccClusters   = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "clusters"}
	mccMachines   = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "machines"}
	requestsOfAll = []schema.GroupVersionResource{resource("clustermaintenancerequests"), resource("nodemaintenancerequests")}
)

// manager returns a client of the management cluster's project.
func (w *world) manager(r schema.GroupVersionResource) dynamic.ResourceInterface {
	return w.manage.Resource(r).Namespace(w.Scenario.Management.Project)
}

// managed returns an object of the management cluster and fails the test if it is missing.
func (w *world) managed(r schema.GroupVersionResource, name string) *unstructured.Unstructured {
	w.t.Helper()
	object := w.above.At(r, w.Scenario.Management.Project).Named(name)
	if object == nil {
		w.t.Fatalf("there is no %s %s", r.Resource, name)
	}
	return object
}

// ask merges a patch into an object of the management cluster.
func (w *world) ask(r schema.GroupVersionResource, name, patch string) {
	w.t.Helper()
	if _, err := w.manager(r).Patch(w.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) planIs(state string) bool {
	w.t.Helper()
	return planStatus(w.managed(kaasPlans, "mos-21.0.0")) == state
}

func planStatus(plan *unstructured.Unstructured) string {
	status, _, _ := unstructured.NestedString(plan.Object, "status", "status")
	return status
}

// untilPlanIs waits for a status of the plan.
func (w *world) untilPlanIs(state string) {
	w.t.Helper()
	w.until("the plan is "+state, func() bool { return w.planIs(state) })
}

// transitions records the states that objects go through, at each change.
type transitions struct {
	mu  sync.Mutex
	all map[string][]string
}

func (tr *transitions) add(object, state string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if said := tr.all[object]; len(said) == 0 || said[len(said)-1] != state {
		tr.all[object] = append(said, state)
	}
}

// watch makes transitions follow the objects of a resource; state returns the recorded part.
func (w *world) watch(tr *transitions, objects dynamic.ResourceInterface, kind string,
	state func(*unstructured.Unstructured) map[string]string) {
	w.t.Helper()
	bubble.Follow(w.t, objects, func(event watch.EventType, object *unstructured.Unstructured) {
		if event == watch.Deleted {
			tr.add(kind+" "+object.GetName(), "gone")
			return
		}
		for of, is := range state(object) {
			tr.add(kind+" "+object.GetName()+of, is)
		}
	})
}

// of returns a function that reads one field.
func of(fields ...string) func(*unstructured.Unstructured) map[string]string {
	return func(object *unstructured.Unstructured) map[string]string {
		value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields...)
		return map[string]string{"": fmt.Sprint(value)}
	}
}

// sequence plays a small update and returns the states of every object.
func sequence(t *testing.T, seed uint64) map[string][]string {
	w := begin(t, story(withColleague, threeNodes, `
- {name: a, project: p, flavor: small, host: cmp-01}`), sim.Options{Seed: seed})
	tr := &transitions{all: map[string][]string{}}
	w.watch(tr, w.manager(kaasPlans), "plan", func(plan *unstructured.Unstructured) map[string]string {
		states := map[string]string{}
		steps, _, _ := unstructured.NestedSlice(plan.Object, "status", "steps")
		for _, step := range steps {
			fields := step.(map[string]any)
			states[" "+fmt.Sprint(fields["id"])] = fmt.Sprint(fields["status"])
		}
		return states
	})
	w.watch(tr, w.manager(resource("lcmmachines")), "machine", of("status", "state"))
	w.watch(tr, w.manager(resource("lcmmachines")), "drain", of("status", "kubernetesCordonDrain"))
	for _, r := range requestsOfAll {
		w.watch(tr, w.dyn.Resource(r), "request", of("spec", "release"))
	}
	for _, plural := range []string{"clusterworkloadlocks", "nodeworkloadlocks"} {
		w.watch(tr, w.dyn.Resource(resource(plural)), "lock", of("status", "state"))
	}
	nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	w.watch(tr, w.dyn.Resource(nodes), "kubelet", of("status", "nodeInfo", "kubeletVersion"))
	w.watch(tr, w.dyn.Resource(nodes), "cordon", of("spec", "unschedulable"))
	w.run()
	w.untilPlanIs("Completed")
	w.until("all locks are armed", w.over)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return maps.Clone(tr.all)
}

func TestTheSameSeedIsTheSameSequenceOfStates(t *testing.T) {
	t.Parallel()
	lane.OnlyAStory(t)
	var plays [2]map[string][]string
	t.Run("play", func(t *testing.T) {
		for i := range plays {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				bubble.Story(t, func(t *testing.T) { plays[i] = sequence(t, 7) })
			})
		}
	})
	first, second := plays[0], plays[1]
	if len(first) < 15 {
		t.Fatalf("only %d objects were seen: %v", len(first), first)
	}
	for _, object := range slices.Sorted(maps.Keys(first)) {
		if a, b := strings.Join(first[object], " → "), strings.Join(second[object], " → "); a != b {
			t.Errorf("%s\nfirst:  %s\nsecond: %s", object, a, b)
		}
	}
	if len(first) != len(second) {
		t.Errorf("%d objects, then %d", len(first), len(second))
	}
	if got := strings.Join(first["machine cmp-01"], " → "); got != "Ready → Prepare → Deploy → Upgrade → Reboot → Ready" {
		t.Errorf("cmp-01 went %s", got)
	}
}

func TestAChangedReleaseOfTheClusterRunsTheWholePlan(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {}", strings.Replace(twoNodes, ", storage", "", 1), " []"), sim.Options{}).run()
		w.ask(mccClusters, "mos", `{"spec":{"providerSpec":{"value":{"release":"mosk-21-0-0-25-2"}}}}`)
		w.untilPlanIs("Completed")
		for _, machine := range []string{"ctl-01", "cmp-01"} {
			if !w.updated(machine) {
				t.Errorf("%s is not updated", machine)
			}
		}
	})
}

func TestARestartedLCMDoesNotRepeatWhatIsDone(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nmanagement: {}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}`, " []"), sim.Options{ControllersOff: true}).run()
		begun := map[string][]string{} // item → when it was started, each time
		over, seed := false, rand.Uint64()
		t.Logf("the controllers' lives are drawn from seed %d", seed)
		when := rand.New(rand.NewPCG(seed, 0))
		for lives := 0; !over; lives++ {
			if lives > 60 {
				t.Fatalf("the update is not over after %d lives of the controllers (seed %d): %v; untold: %s", lives, seed, begun, w.untold("cmp-01"))
			}
			opts := w.Controllers()
			opts.Timing.Update = 8 * time.Minute
			// Shorter than the work on the node, most longer than its reboot.
			over = w.live(opts, when, 5*time.Minute, func() bool {
				items, _, _ := unstructured.NestedMap(w.managed(resource("lcmmachines"), "cmp-01").Object, "status", "stateItemStatuses")
				for name, item := range items {
					at := fmt.Sprint(item.(map[string]any)["startedAt"])
					if !slices.Contains(begun[name], at) {
						begun[name] = append(begun[name], at)
					}
				}
				// Its reports must be complete, too, wherever it was interrupted.
				return w.updated("cmp-01") && w.planIs("InProgress") && w.request("cmp-01") == nil && w.untold("cmp-01") == ""
			})
		}
		if len(begun) != len(controller.StateItems()) {
			t.Errorf("items: %v", begun)
		}
		for name, times := range begun {
			if len(times) != 1 {
				t.Errorf("%s was begun at %v", name, times)
			}
		}
	})
}

// untold returns what LCM has not reported about a machine's finished maintenance; empty if it has reported all.
func (w *world) untold(machine string) string {
	w.t.Helper()
	for r, want := range map[schema.GroupVersionResource]string{
		resource("lcmmachineupgradedrainstatuses"): "Node maintenance requested, Node workload locks inactive, Kubernetes drained, Swarm " +
			"drained, Swarm uncordoned, Kubernetes uncordoned, Node maintenance request removed",
		resource("lcmmachineagentupgradestatuses"): "Agent upgraded",
		kaasUpgrades: "Prepare phase done, Deploy phase done, Reboot done",
	} {
		object := w.above.At(r, w.Scenario.Management.Project).Named(machine)
		if object == nil {
			return r.Resource + ": none"
		}
		var names []string
		all, _, _ := unstructured.NestedSlice(object.Object, "stages")
		for _, one := range all {
			names = append(names, fmt.Sprint(one.(map[string]any)["name"]))
		}
		if got := strings.Join(names, ", "); got != want {
			return r.Resource + ": " + got
		}
	}
	if completed, _, _ := unstructured.NestedBool(w.managed(resource("lcmmachines"), machine).Object, "status", "reboot",
		"completed"); !completed {
		return "the reboot is not complete"
	}
	return ""
}

func TestAGracefulRebootRequestRebootsOneAfterAnother(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {}", threeNodes, " []"), sim.Options{}).run()
		requested := w.atOnce(w.dyn.Resource(resource("nodemaintenancerequests")), func(*unstructured.Unstructured) bool { return true })
		marked := w.atOnce(w.manager(resource("lcmmachines")), func(machine *unstructured.Unstructured) bool {
			return machine.GetAnnotations()["lcm.mirantis.com/graceful-reboot"] == "true"
		})
		before := map[string]string{}
		for _, machine := range []string{"ctl-01", "cmp-01", "cmp-02"} {
			before[machine] = w.get(machine).Status.NodeInfo.BootID
		}
		request := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"machines": []any{"cmp-02", "cmp-01"}}}}
		request.SetAPIVersion("kaas.mirantis.com/v1alpha1")
		request.SetKind("GracefulRebootRequest")
		request.SetName("mos")
		if _, err := w.manager(kaasReboots).Create(t.Context(), request, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("the request is gone", func() bool {
			return w.above.At(kaasReboots, w.Scenario.Management.Project).Named("mos") == nil
		})
		for machine, id := range before {
			if rebooted := w.get(machine).Status.NodeInfo.BootID != id; rebooted != (machine != "ctl-01") {
				t.Errorf("%s was rebooted: %v", machine, rebooted)
			}
		}
		if marked() != 2 || requested() != 1 || len(w.list("clustermaintenancerequests")) != 0 {
			t.Errorf("%d marked, %d at a time, %d cluster requests left", marked(), requested(), len(w.list("clustermaintenancerequests")))
		}
	})
}

func TestMaintenanceModeIsEnteredAndLeft(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {}", threeNodes, " []"), sim.Options{}).run()
		mode := func(r schema.GroupVersionResource, name string) func() bool {
			return func() bool {
				on, _, _ := unstructured.NestedBool(w.managed(r, name).Object, "status", "providerStatus", "maintenance")
				return on
			}
		}
		not := func(f func() bool) func() bool { return func() bool { return !f() } }
		set := func(r schema.GroupVersionResource, name string, on bool) {
			w.ask(r, name, fmt.Sprintf(`{"spec":{"providerSpec":{"value":{"maintenance":%v}}}}`, on))
		}
		set(mccClusters, "mos", true)
		w.until("the cluster is in maintenance", mode(mccClusters, "mos"))
		set(mccMachines, "cmp-01", true)
		w.until("the machine is in maintenance", mode(mccMachines, "cmp-01"))
		if !w.get("cmp-01").Spec.Unschedulable || w.request("cmp-01") == nil {
			t.Error("the node takes work, or is not requested")
		}
		set(mccMachines, "cmp-01", false)
		w.until("the machine is back", not(mode(mccMachines, "cmp-01")))
		set(mccClusters, "mos", false)
		w.until("the cluster is back", not(mode(mccClusters, "mos")))
		if w.get("cmp-01").Spec.Unschedulable || w.request("cmp-01") != nil || len(w.list("clustermaintenancerequests")) != 0 {
			t.Error("something of the maintenance is left")
		}
	})
}

func TestThePlanFollowsTheUpdateGroups(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("management: {}", twoNodes, " []"), sim.Options{}).run()
		w.ask(kaasPlans, "mos-21.0.0", `{"metadata":{"annotations":{"operator":"was here"}}}`)
		group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"index": int64(5), "concurrentUpdates": int64(2)}}}
		group.SetAPIVersion("kaas.mirantis.com/v1alpha1")
		group.SetKind("UpdateGroup")
		group.SetName("late")
		group.SetLabels(map[string]string{"cluster.sigs.k8s.io/cluster-name": "mos"})
		groups := schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "updategroups"}
		if _, err := w.manager(groups).Create(t.Context(), group, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		want := "openstack ceph k8s-controllers k8s-workers-mos-default k8s-workers-late mcc-components"
		w.until("the plan is "+want, func() bool {
			var ids []string
			steps, _, _ := unstructured.NestedSlice(w.managed(kaasPlans, "mos-21.0.0").Object, "spec", "steps")
			for _, step := range steps {
				ids = append(ids, fmt.Sprint(step.(map[string]any)["id"]))
			}
			return strings.Join(ids, " ") == want
		})
		if w.managed(kaasPlans, "mos-21.0.0").GetAnnotations()["operator"] != "was here" {
			t.Error("the plan was made anew")
		}
	})
}

func TestStateItemsOfScenariosAreThoseOfTheAgent(t *testing.T) {
	if !slices.Equal(controller.StateItems(), scenario.StateItems) {
		t.Errorf("the agent runs %v, scenarios know %v", controller.StateItems(), scenario.StateItems)
	}
}
