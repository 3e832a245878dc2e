package controller_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim"
	"lockstep/sim/bubble"
)

// computeService returns the nova-compute of a machine.
func (w *world) computeService(machine string) services.Service {
	w.t.Helper()
	pages, err := services.List(w.nova.Compute, services.ListOpts{Host: w.node(machine), Binary: "nova-compute"}).AllPages(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("nova-compute of %s: %v %v", machine, all, err)
	}
	return all[0]
}

const finalizer = "lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"

func TestLiveNodeIsEvacuatedUpdatedAndBroughtBack(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		// The instances are large, so that the controller sees each of them migrate.
		w := begin(t, story(atWorkers+"\nupdate: {order: [cmp-01, cmp-02]}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute]}
- {machine: cmp-02, roles: [compute], done: 5m}`, `
- {name: a, project: p, flavor: large, host: cmp-01}
- {name: b, project: p, flavor: large, host: cmp-01}
- {name: halted, project: p, flavor: small, host: cmp-01, status: SHUTOFF}`), sim.Options{})
		before := w.get("cmp-01")
		a, b := w.on("cmp-01")["a"].ID, w.on("cmp-01")["b"].ID
		lock := w.openstackLock("cmp-01")
		moments := &transitions{all: map[string][]string{}} // from watches: some last only seconds
		w.watch(moments, w.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}), "cordon", of("spec", "unschedulable"))
		var mu sync.Mutex
		ended := map[string]uint64{} // request → the version at which its deletion was requested
		w.watch(moments, w.dyn.Resource(resource("nodemaintenancerequests")), "request",
			func(request *unstructured.Unstructured) map[string]string {
				mu.Lock()
				defer mu.Unlock()
				if _, known := ended[request.GetName()]; !known && request.GetDeletionTimestamp() != nil {
					ended[request.GetName()] = versionOf(t, request)
				}
				return nil
			})
		w.run()

		w.untilSaid(lock, `^active/active: Starting migration for`)
		if service := w.computeService("cmp-01"); service.Status != "disabled" || service.DisabledReason != "OSDPL: Node is under maintenance" {
			t.Errorf("during the evacuation nova-compute is %s (%s)", service.Status, service.DisabledReason)
		}
		if request := w.request("cmp-01"); request == nil || !slices.Contains(request.GetFinalizers(), finalizer) {
			t.Errorf("the request has no finalizer: %v", request)
		}
		w.untilSaid(lock, `^inactive/active$`)
		if left := w.on("cmp-01"); len(left) != 1 || left["halted"].Status != "SHUTOFF" {
			t.Errorf("on the released node: %v", left)
		}
		w.until("cmp-01 was cordoned", func() bool {
			moments.mu.Lock()
			defer moments.mu.Unlock()
			return slices.Contains(moments.all["cordon "+w.node("cmp-01")], "true")
		})
		w.until("the end of the request was asked for", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return ended[w.node("cmp-01")] > 0
		})
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		w.untilSaid(lock, `^active/inactive$`)
		mu.Lock()
		defer mu.Unlock()
		if said := w.saidAt(lock, ended[w.node("cmp-01")]); said != "inactive/active" {
			t.Errorf("when the request ended the lock said %q", said)
		}

		after := w.get("cmp-01")
		if after.Status.NodeInfo.BootID == before.Status.NodeInfo.BootID {
			t.Error("the node was not rebooted")
		}
		if len(after.Spec.Taints) != 0 {
			t.Errorf("taints are left: %v", after.Spec.Taints)
		}
		if service := w.computeService("cmp-01"); service.Status != "enabled" || service.State != "up" {
			t.Errorf("after the return nova-compute is %s and %s", service.Status, service.State)
		}
		said := w.said(lock)
		if missing := inOrder(said, `^active/active$`, `^active/active: Starting migration for (`+a+`|`+b+`)$`,
			`^active/active: Waiting servers migration is completed: \['(`+a+`|`+b+`)'\]$`,
			`^active/active: Starting migration for (`+a+`|`+b+`)$`, `^inactive/active$`, `^active/inactive$`); missing != "" {
			t.Errorf("the lock never said %s, in order:\n%s", missing, strings.Join(said, "\n"))
		}
		// The loop stops when nothing is left to start; an instance that still migrates is named like one that blocks.
		for _, s := range said {
			if strings.Contains(s, "still present") && !strings.HasSuffix(s, "Servers with unset maintenance action: ['"+a+"']") &&
				!strings.HasSuffix(s, "Servers with unset maintenance action: ['"+b+"']") {
				t.Errorf("the lock said %q", s)
			}
		}
	})
}

const manualNode = `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute], annotations: {openstack.lcm.mirantis.com/instance_migration_mode: %MODE%}}
- {machine: cmp-02, roles: [compute], done: 5m}`

func withMode(mode string) string { return strings.Replace(manualNode, "%MODE%", mode, 1) }

func TestManualNodeWaitsUntilItIsEmpty(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}
- {name: tagged, project: p, flavor: small, host: cmp-01, actions: [live_migrate]}
- {name: safe, project: p, flavor: small, host: cmp-01, actions: [poweroff]}`), sim.Options{}).run()
		a := w.on("cmp-01")["a"].ID
		lock := w.openstackLock("cmp-01")
		waiting := `^active/active: Some servers are still present on the host\. Notify owners of the following server: \['` + a + `'\]$`
		w.untilSaid(lock, waiting)
		if on := w.on("cmp-01"); len(on) != 2 {
			t.Errorf("the tagged instance should have left, the others not: %v", on)
		}
		time.Sleep(3 * time.Minute) // three more looks
		if state := w.said(lock); state[len(state)-1] == "inactive/active" {
			t.Fatalf("the lock was released with the instance on the host: %v", state)
		}
		if err := servers.LiveMigrate(t.Context(), w.nova.Compute, a, anyHost{}).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		w.untilSaid(lock, `^inactive/active$`)
		if on := w.on("cmp-01"); len(on) != 1 {
			t.Errorf("on the released node: %v", on)
		}
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		w.until("what went down with the host runs again", func() bool { return w.on("cmp-01")["safe"].Status == "ACTIVE" })
	})
}

// Two OpenStackDeployments count as none (docs/mosk.md#node-request): the node is let go without preparation.
func TestWithTwoDeploymentsANodeIsLetGoUnprepared(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`), sim.Options{})
		deployments := w.dyn.Resource(resource("openstackdeployments")).Namespace("openstack")
		list, err := deployments.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%d OpenStackDeployments, %v", len(list.Items), err)
		}
		second := &unstructured.Unstructured{Object: map[string]any{"apiVersion": list.Items[0].GetAPIVersion(),
			"kind": list.Items[0].GetKind(), "metadata": map[string]any{"name": "second"}, "spec": list.Items[0].Object["spec"]}}
		if _, err := deployments.Create(t.Context(), second, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.run()
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, `^inactive/active$`)
		if on := w.on("cmp-01"); len(on) != 1 || on["a"].Status != "ACTIVE" {
			t.Errorf("on the released node: %v", on)
		}
		if s := w.computeService("cmp-01"); s.Status != "enabled" {
			t.Errorf("nova-compute is %s", s.Status)
		}
		for _, said := range w.said(lock) {
			if strings.Contains(said, ":") {
				t.Errorf("the lock said %q", said)
			}
		}
	})
}

// anyHost requests a live migration to a host of the scheduler's choice.
type anyHost struct{}

func (anyHost) ToLiveMigrateMap() (map[string]any, error) {
	return map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}, nil
}

func TestManualNodeIsReleasedWhenDeclaredSafe(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}
- {name: broken, project: p, flavor: small, host: cmp-01, status: ERROR, power: running}`), sim.Options{}).run()
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, `Some servers are still present on the host\. Notify owners`)
		w.annotate("cmp-01", "skip")
		w.untilSaid(lock, `^inactive/active$`)
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		w.until("the instances are back", func() bool { return w.on("cmp-01")["a"].Status == "ACTIVE" })
	})
}

func TestSkippedNodeIsHeldByAnInstanceThatNotifies(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("skip"), `
- {name: a, project: p, flavor: small, host: cmp-01}
- {name: tell, project: p, flavor: small, host: cmp-01, actions: [notify]}
- {name: both, project: p, flavor: small, host: cmp-01, actions: [notify, live_migrate]}`), sim.Options{}).run()
		lock := w.openstackLock("cmp-01")
		tell := w.on("cmp-01")["tell"].ID
		w.untilSaid(lock, `^active/active: Some servers are still present on the host\. Notify owners of the following server: \['`+tell+`'\]$`)
		if err := servers.Stop(t.Context(), w.nova.Compute, tell).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		w.untilSaid(lock, `^inactive/active$`)
	})
}

func TestInstanceInErrorHoldsALiveNodeThatCannotMoveIt(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("live"), `
- {name: broken, project: p, flavor: small, host: cmp-01, status: ERROR, power: running}`), sim.Options{}).run()
		id := w.on("cmp-01")["broken"].ID
		w.untilSaid(w.openstackLock("cmp-01"), `Some servers are still present on the host\. Servers with unset maintenance action: \['`+id+
			`'\]$`)
	})
}

func TestMigrationThatFailsTwiceIsTriedAgain(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("live"), `
- {name: a, project: p, flavor: small, host: cmp-01, failLive: {times: 2, text: broken, at: 0.5}}`), sim.Options{}).run()
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, `^inactive/active$`)
		if _, left := w.on("cmp-01")["a"]; left {
			t.Error("the instance is still there")
		}
		tries := 0
		for _, s := range w.said(lock) {
			if strings.Contains(s, "Starting migration for") {
				tries++
			}
		}
		if tries != 3 {
			t.Errorf("%d tries: %v", tries, w.said(lock))
		}
	})
}

func TestExhaustedAttemptsLeaveTheInstanceToTheOperator(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("live"), `
- {name: a, project: p, flavor: small, host: cmp-01, noValidHost: true}`), sim.Options{}).run()
		id := w.on("cmp-01")["a"].ID
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, `Servers with unset maintenance action: \['`+id+`'\]$`)
		w.annotate("cmp-01", "skip")
		w.untilSaid(lock, `^inactive/active$`)
	})
}

func TestUnknownModeIsAFailureThatTheLockDoesNotTell(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("cold"), `
- {name: a, project: p, flavor: small, host: cmp-01}`), sim.Options{}).run()
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, `^active/active$`)
		time.Sleep(2 * time.Minute) // two more looks
		for _, s := range w.said(lock) {
			if s != "active/active" && s != "active/inactive" {
				t.Errorf("the lock said %q", s)
			}
		}
		if w.computeService("cmp-01").Status != "disabled" {
			t.Error("the host was not taken out of scheduling first")
		}
		w.annotate("cmp-01", "live")
		w.untilSaid(lock, `^inactive/active$`)
	})
}

func TestGatewayInMaintenanceDefersAComputeToo(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nupdate: {concurrency: 2, order: [gtw-01, cmp-01]}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: gtw-01, roles: [gateway], began: 1m}
- {machine: cmp-01, roles: [compute]}`, " []"), sim.Options{}).run()
		w.until("both are back", func() bool { return w.updated("gtw-01") && w.updated("cmp-01") })
		deferred := "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node "
		if missing := inOrder(w.said(w.openstackLock("cmp-01")), "^active/inactive: "+deferred+w.node("cmp-01")+"$",
			"^inactive/active$"); missing != "" {
			t.Errorf("the compute never said %s: %v", missing, w.said(w.openstackLock("cmp-01")))
		}
	})
}

func TestControllersAndGatewaysComeOneByOne(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nupdate: {concurrency: 2, order: [gtw-01, gtw-02]}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: gtw-01, roles: [gateway]}
- {machine: gtw-02, roles: [gateway]}`, " []"), sim.Options{}).run()
		deferred := "^active/inactive: Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node kaas-node-"
		w.until("both gateways are back", func() bool { return w.updated("gtw-01") && w.updated("gtw-02") })
		one, two := inOrder(w.said(w.openstackLock("gtw-01")), deferred), inOrder(w.said(w.openstackLock("gtw-02")), deferred)
		if (one == "") == (two == "") {
			t.Errorf("exactly one gateway should have been deferred:\n%v\n%v", w.said(w.openstackLock("gtw-01")), w.said(w.openstackLock("gtw-02")))
		}
	})
}

func TestComputesOfAnotherZoneWait(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nupdate: {concurrency: 2, order: [cmp-01, cmp-02]}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute], zone: east, name: node-a, began: 1m}
- {machine: cmp-02, roles: [compute], zone: west, name: node-b}`, " []"), sim.Options{}).run()
		w.until("both are back", func() bool { return w.updated("cmp-01") && w.updated("cmp-02") })
		if missing := inOrder(w.said("openstack-node-b"),
			`^active/active: Some services blocks nmr handling \{'compute': False, 'networking': True, `+
				`'block-storage': True, 'database': True, 'coordination': True, 'redis': True\}\. Deferring processing for node node-b$`,
			"^inactive/active$"); missing != "" {
			t.Errorf("the compute in the other zone never said %s: %v", missing, w.said("openstack-node-b"))
		}
	})
}

func TestZonesMayBeIgnored(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\nupdate: {concurrency: 2, order: [cmp-01, cmp-02]}\nopenstack: {ignoreZones: true}", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute], zone: east, name: node-a, began: 1m}
- {machine: cmp-02, roles: [compute], zone: west, name: node-b}`, " []"), sim.Options{})
		cordoned := w.atOnce(w.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}),
			func(node *unstructured.Unstructured) bool {
				on, _, _ := unstructured.NestedBool(node.Object, "spec", "unschedulable")
				return on
			})
		w.run()
		w.until("both are away at a time", func() bool { return cordoned() == 2 })
	})
}

func TestServiceThatTheOperatorDisabledStaysDisabled(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers, withMode("live"), " []"), sim.Options{})
		err := services.Update(t.Context(), w.nova.Compute, w.computeService("cmp-01").ID,
			services.UpdateOpts{Status: services.ServiceDisabled, DisabledReason: "bad memory"}).Err
		if err != nil {
			t.Fatal(err)
		}
		w.run()
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
		if service := w.computeService("cmp-01"); service.Status != "disabled" || service.DisabledReason != "bad memory" {
			t.Errorf("nova-compute is %s (%s)", service.Status, service.DisabledReason)
		}
	})
}

func TestNovaOutageIsToldAndOutlived(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		// If the zones must be looked up first, an outage is an exception that no lock shows.
		w := begin(t, story(atWorkers+"\nopenstack: {ignoreZones: true}", withMode("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`), sim.Options{}).run()
		lock := w.openstackLock("cmp-01")
		w.untilSaid(lock, "still present")
		w.OpenStack.Outage(true)
		w.untilSaid(lock,
			"^active/active: (Can not disable compute service|Retrying migrate instances from host. Cannot execute openstack commands, error: )")
		w.OpenStack.Outage(false)
		w.annotate("cmp-01", "skip")
		w.until("cmp-01 is updated", func() bool { return w.updated("cmp-01") })
	})
}

func TestLocksFollowTheRolesOfTheNodes(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story("", `
- {machine: ctl-01, roles: [master]}
- {machine: cmp-01, roles: [compute]}`, " []"), sim.Options{}).run()
		lock, err := w.dyn.Resource(resource("nodeworkloadlocks")).Get(t.Context(), w.openstackLock("cmp-01"), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(lock.GetAnnotations()["openstack.lcm.mirantis.com/original-node"], `"kind": "Node"`) ||
			lock.GetAnnotations()["inner_state"] != "inactive" {
			t.Errorf("annotations: %v", lock.GetAnnotations())
		}
		if got := len(w.list("nodeworkloadlocks")); got != 1 {
			t.Errorf("%d locks; the master has no role and needs none", got)
		}
		// A patch, as kubectl label sends it: the kubelet writes the same node all the time.
		label := func(value string) {
			t.Helper()
			patch := `{"metadata":{"labels":{"openstack-compute-node":` + value + `}}}`
			if _, err := w.kube.CoreV1().Nodes().Patch(t.Context(), w.get("cmp-01").Name, types.MergePatchType, []byte(patch),
				metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		label("null")
		w.until("the lock is to go with the role", func() bool {
			locks := w.list("nodeworkloadlocks")
			return len(locks) == 1 && locks[0].GetDeletionTimestamp() != nil
		})
		// But the controller forgets a node only when the node is gone.
		time.Sleep(3 * time.Minute) // two more looks
		if len(w.list("nodeworkloadlocks")) != 1 {
			t.Error("the lock is gone while the node is there")
		}
		if err := w.kube.CoreV1().Nodes().Delete(t.Context(), w.node("cmp-01"), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := w.OpenStack.PowerOffHost(w.node("cmp-01")); err != nil {
			t.Fatal(err)
		}
		w.until("the lock is gone with the node", func() bool { return len(w.list("nodeworkloadlocks")) == 0 })
	})
}
