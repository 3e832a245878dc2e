package controller_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim"
	"lockstep/sim/bubble"
)

const (
	handledKey    = "kopf.zalando.org/last-handled-configuration"
	nodeChanged   = "node_maintenance_request_change_handler"
	nodeDeleted   = "node_maintenance_request_delete_handler"
	lockDeleted   = "node_workloadlock_request_delete_handler"
	nodeRequested = "node_deletion_request_change_handler"
)

// kept is what kopf stores about a handler.
type kept struct {
	Started, Delayed, Purpose, Message string
	Retries                            int
	Success, Failure                   bool
}

// keptOf returns what kopf has stored about a handler on an object, or nil.
func (w *world) keptOf(plural, name, handler string) *kept {
	w.t.Helper()
	raw := w.annotations(plural, name)["kopf.zalando.org/"+handler]
	if raw == "" {
		return nil
	}
	k := &kept{}
	if err := json.Unmarshal([]byte(raw), k); err != nil {
		w.t.Fatalf("%s: %v", raw, err)
	}
	return k
}

// named returns an object of the maintenance API, or nil.
func (w *world) named(plural, name string) *unstructured.Unstructured {
	w.t.Helper()
	return w.seen.At(resource(plural), "").Named(name)
}

func (w *world) annotations(plural, name string) map[string]string {
	w.t.Helper()
	if o := w.named(plural, name); o != nil {
		return o.GetAnnotations()
	}
	return nil
}

// scale sets the replicas of the OpenStack controller.
func (w *world) scale(replicas string) {
	w.t.Helper()
	if _, err := w.kube.AppsV1().Deployments("osh-system").Patch(w.t.Context(), "rockoon", types.MergePatchType,
		[]byte(`{"spec":{"replicas":`+replicas+`}}`), metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// patch merges a patch into an object of the maintenance API.
func (w *world) patch(plural, name, patch string, subresources ...string) {
	w.t.Helper()
	_, err := w.dyn.Resource(resource(plural)).Patch(w.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{},
		subresources...)
	if err != nil {
		w.t.Fatal(err)
	}
}

// stands returns what a lock says now.
func (w *world) stands(lock string) string {
	said := w.said(lock)
	return said[len(said)-1]
}

func (w *world) setService(machine string, opts services.UpdateOpts) {
	w.t.Helper()
	if err := services.Update(w.t.Context(), w.nova.Compute, w.computeService(machine).ID, opts).Err; err != nil {
		w.t.Fatal(err)
	}
}

const maintenanceReason = "OSDPL: Node is under maintenance"

func TestRequestThatComesAndGoesWithoutTheControllerIsNeverSeen(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.scale("0")
		w.maintain("cmp-01", "os")
		// The test plays the controller, and does not finish.
		w.setService("cmp-01", services.UpdateOpts{Status: services.ServiceDisabled, DisabledReason: maintenanceReason})
		w.patch("nodeworkloadlocks", lock, `{"metadata":{"annotations":{"inner_state":"active"}}}`)
		w.patch("nodeworkloadlocks", lock, `{"status":{"state":"inactive"}}`, "status")
		time.Sleep(time.Minute)
		if o := w.named("nodemaintenancerequests", host); len(o.GetFinalizers())+len(o.GetAnnotations()) > 0 {
			t.Errorf("somebody has seen the request: %v %v", o.GetFinalizers(), o.GetAnnotations())
		}
		w.remove("nodemaintenancerequests", host)
		time.Sleep(time.Second)
		if w.named("nodemaintenancerequests", host) != nil {
			t.Fatal("the request stays, held by nobody")
		}
		w.scale("1")
		time.Sleep(10 * time.Minute)
		if s := w.computeService("cmp-01"); w.stands(lock) != "inactive/active" || s.Status != "disabled" {
			t.Errorf("the lock says %s, nova-compute is %s", w.stands(lock), s.Status)
		}
	})
}

func TestRequestThatTheControllerHasSeenWaitsForItsReturn(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.maintain("cmp-01", "drain")
		w.untilSaid(lock, "^inactive/active$")
		w.scale("0")
		w.remove("nodemaintenancerequests", host)
		time.Sleep(10 * time.Minute)
		if o := w.named("nodemaintenancerequests", host); o == nil || !slices.Contains(o.GetFinalizers(), finalizer) {
			t.Fatal("the request went without the controller")
		}
		w.scale("1")
		w.until("the request is gone", func() bool { return w.named("nodemaintenancerequests", host) == nil })
		if s := w.computeService("cmp-01"); w.stands(lock) != "active/inactive" || s.Status != "enabled" {
			t.Errorf("the lock says %s, nova-compute is %s", w.stands(lock), s.Status)
		}
	})
}

func TestFailedHandlerIsKeptOnItsObject(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", withModeAlone("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`)
		host, lock, id := w.node("cmp-01"), w.openstackLock("cmp-01"), w.on("cmp-01")["a"].ID
		w.maintain("cmp-01", "os")
		failed := func(n int) func() bool {
			return func() bool {
				k := w.keptOf("nodemaintenancerequests", host, nodeChanged)
				return k != nil && k.Retries == n
			}
		}
		w.until("it has failed twice", failed(2))
		words := "Some servers are still present on the host. Notify owners of the following server: ['" + id + "']"
		stamp := `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00`
		form := `^{"started":"` + stamp + `","delayed":"` + stamp + `","purpose":"create","retries":2,"success":false,"failure":false,` +
			`"message":"` + regexp.QuoteMeta(words) + `"}$`
		before := w.annotations("nodemaintenancerequests", host)
		if raw := before["kopf.zalando.org/"+nodeChanged]; !regexp.MustCompile(form).MatchString(raw) {
			t.Errorf("kept is %s", raw)
		}
		if before[handledKey] != "" {
			t.Errorf("it counts as handled: %s", before[handledKey])
		}
		first := w.keptOf("nodemaintenancerequests", host, nodeChanged)
		stamps := w.stamps(lock)
		due, err := time.Parse(time.RFC3339Nano, first.Delayed)
		if gap := due.Sub(stamps[len(stamps)-1]); err != nil || gap < time.Minute || gap > time.Minute+time.Second {
			t.Errorf("it failed at %s and is tried again at %s", stamps[len(stamps)-1], first.Delayed)
		}

		// The next run of the controller continues where the last one stopped.
		w.scale("0")
		time.Sleep(5 * time.Minute)
		if k := w.keptOf("nodemaintenancerequests", host, nodeChanged); k == nil || k.Retries > 3 {
			t.Errorf("without the controller it is %+v", k)
		}
		n := w.keptOf("nodemaintenancerequests", host, nodeChanged).Retries
		w.scale("1")
		w.until("it has failed once more", failed(n+1))
		if k := w.keptOf("nodemaintenancerequests", host, nodeChanged); k.Started != first.Started || k.Purpose != "create" {
			t.Errorf("it began at %s for %s, before that at %s", k.Started, k.Purpose, first.Started)
		}

		w.annotate("cmp-01", "skip")
		w.untilSaid(lock, "^inactive/active$")
		w.until("nothing is kept of what has succeeded", func() bool {
			all := w.annotations("nodemaintenancerequests", host)
			return all["kopf.zalando.org/"+nodeChanged] == "" && all[handledKey] != ""
		})
		want := `{"spec":{"nodeName":"` + host + `","release":"17.4.0+25.1","scope":"os"}}` + "\n"
		if got := w.annotations("nodemaintenancerequests", host)[handledKey]; got != want {
			t.Errorf("handled is %q, want %q", got, want)
		}

		clear := w.fault(http.MethodGet, "/compute/v2.1/os-services", unavailable, "away")
		w.remove("nodemaintenancerequests", host)
		w.until("the return has failed", func() bool { return w.keptOf("nodemaintenancerequests", host, nodeDeleted) != nil })
		words = "Got error while waiting services to be UP on the host."
		if k := w.keptOf("nodemaintenancerequests", host, nodeDeleted); k.Purpose != "delete" || !strings.HasPrefix(k.Message, words) {
			t.Errorf("kept of the return: %+v", k)
		}
		clear()
		w.until("the node is back", func() bool { return w.named("nodemaintenancerequests", host) == nil })
	})
}

// A deletion ends earlier tries: kopf forgets them once the deletion has failed for the first time.
func TestDeletionForgetsWhatWasTriedBefore(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", withModeAlone("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`)
		host := w.node("cmp-01")
		w.maintain("cmp-01", "os")
		kept := func(handler string) bool { return w.keptOf("nodemaintenancerequests", host, handler) != nil }
		w.until("it has failed", func() bool { return kept(nodeChanged) })
		clear := w.fault(http.MethodGet, "/compute/v2.1/os-services", unavailable, "away")
		w.remove("nodemaintenancerequests", host)
		w.until("the return has failed", func() bool { return kept(nodeDeleted) })
		if kept(nodeChanged) {
			t.Error("the request still says how its preparation went")
		}
		clear()
		w.until("the node is back", func() bool { return w.named("nodemaintenancerequests", host) == nil })
	})
}

func TestHandlerIsCalledAgainForWhatChanges(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, log := alone(t, "", small3, " []")
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "mos", map[string]any{"release": "17.4.0+25.1"})
		w.untilSaid(clusterLockName, "^inactive/inactive$")
		handled := func() string { return w.annotations("clustermaintenancerequests", "mos")[handledKey] }
		w.until("it was handled", func() bool { return handled() == `{"spec":{"release":"17.4.0+25.1"}}`+"\n" })

		w.patch("clustermaintenancerequests", "mos", `{"metadata":{"annotations":{"note":"mine"},"labels":{"a":"b"}}}`)
		w.until("it was handled as it is now", func() bool {
			return handled() == `{"spec":{"release":"17.4.0+25.1"},"metadata":{"labels":{"a":"b"},"annotations":{"note":"mine"}}}`+"\n"
		})
		w.patch("clustermaintenancerequests", "mos", `{"spec":{"release":"18.0.0+26.0"}}`)
		w.untilTold("A", clusterLockName, "Current maintenancerequest 18.0.0+26.0 release does not match ours 17.4.0+25.1. Skipping handling.")
		k := func() *kept {
			return w.keptOf("clustermaintenancerequests", "mos", "cluster_maintenance_request_change_handler")
		}
		w.until("the update has failed", func() bool { return k() != nil })
		if k().Purpose != "update" {
			t.Errorf("kept: %+v", k())
		}
		w.patch("clustermaintenancerequests", "mos", `{"spec":{"release":"17.4.0+25.1"}}`)
		w.until("it was handled again", func() bool { return k() == nil })

		// A new run of the controller looks at everything again.
		w.scale("0")
		w.patch("clusterworkloadlocks", clusterLockName, `{"status":{"state":"active"}}`, "status")
		w.scale("1")
		w.until("the lock is released again", func() bool { return w.stands(clusterLockName) == "inactive/inactive" })
		if log.has("panic") {
			t.Error("a handler panicked")
		}
	})
}

func TestWhatKopfKeepsWakesNobody(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", withModeAlone("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`)
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.maintain("cmp-01", "os")
		w.until("it has failed", func() bool { return w.keptOf("nodemaintenancerequests", host, nodeChanged) != nil })
		var mu sync.Mutex
		writes := map[string]int{}
		for _, plural := range []string{"nodemaintenancerequests", "nodeworkloadlocks"} {
			bubble.Follow(t, w.dyn.Resource(resource(plural)), func(_ watch.EventType, o *unstructured.Unstructured) {
				mu.Lock()
				defer mu.Unlock()
				writes[o.GetName()]++
			})
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		mu.Lock()
		defer mu.Unlock()
		// The initial object, and one write for each of the ten tries.
		for _, name := range []string{host, lock} {
			if writes[name] < 10 || writes[name] > 12 {
				t.Errorf("%s was written %d times", name, writes[name])
			}
		}
		if idle := w.openstackLock("cmp-02"); writes[idle] != 1 {
			t.Errorf("%s, with which nothing happens, was written %d times", idle, writes[idle]-1)
		}
	})
}

func TestLockKeepsItsNodeAndWhatKopfHasSeenOfIt(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		check := func(inner string) {
			t.Helper()
			all := w.annotations("nodeworkloadlocks", lock)
			original := all["openstack.lcm.mirantis.com/original-node"]
			if !strings.HasPrefix(original, `{"apiVersion": "v1", "kind": "Node", "spec": {`) ||
				!strings.Contains(original, `"metadata": {"name": "`+host+`", "labels": {`) ||
				!strings.Contains(original, `"openstack-compute-node": "enabled"`) {
				t.Errorf("original-node is %s", original)
			}
			quoted, _ := json.Marshal(original)
			want := `{"spec":{"controllerName":"openstack","nodeDeletionRequestSupported":true,"nodeName":"` + host +
				`"},"metadata":{"annotations":{"inner_state":"` + inner +
				`","openstack.lcm.mirantis.com/original-node":` + string(quoted) + `}}}` + "\n"
			w.until("kopf has seen the lock with "+inner, func() bool { return w.annotations("nodeworkloadlocks", lock)[handledKey] == want })
		}
		check("inactive")
		w.maintain("cmp-01", "drain")
		w.untilSaid(lock, "^inactive/active$")
		check("active")
		if !slices.Contains(w.named("nodeworkloadlocks", lock).GetFinalizers(), finalizer) {
			t.Error("the lock is not held")
		}
	})
}

func TestWithdrawnDeletionLeavesANodeThatNextTimeIsNotPrepared(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, log := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.object("nodedeletionrequests", "NodeDeletionRequest", host, map[string]any{"nodeName": host})
		w.untilSaid(lock, "^inactive/inactive$")
		w.until("it was handled", func() bool { return w.annotations("nodedeletionrequests", host)[handledKey] != "" })
		if o := w.named("nodedeletionrequests", host); len(o.GetFinalizers()) > 0 {
			t.Errorf("the request is held: %v", o.GetFinalizers())
		}
		w.remove("nodedeletionrequests", host)
		time.Sleep(10 * time.Minute)
		w.scale("0")
		w.scale("1") // which changes nothing
		time.Sleep(10 * time.Minute)
		s := w.computeService("cmp-01")
		if w.stands(lock) != "inactive/inactive" || s.Status != "disabled" || s.DisabledReason != maintenanceReason {
			t.Errorf("the lock says %s, nova-compute is %s (%s)", w.stands(lock), s.Status, s.DisabledReason)
		}
		// An operator enables it again, and an instance arrives.
		w.setService("cmp-01", services.UpdateOpts{Status: services.ServiceEnabled})
		w.maintain("cmp-01", "os")
		w.untilSaid(lock, "^inactive/active$")
		time.Sleep(5 * time.Minute)
		if s := w.computeService("cmp-01"); s.Status != "enabled" || log.has("Got moving node "+host+" into maintenance") {
			t.Errorf("the node was prepared: nova-compute is %s", s.Status)
		}
		w.remove("nodemaintenancerequests", host)
		w.until("the lock is armed", func() bool { return w.stands(lock) == "active/inactive" })
	})
}

func TestClusterLockIsCheckedInTheControllersOrder(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		time.Sleep(time.Minute)
		w.deployController("21.0.0+25.2", "1.1.5") // which applies nothing for four minutes
		time.Sleep(time.Second)
		w.patch("clusterworkloadlocks", clusterLockName, `{"status":{"release":"17.4.0+25.1"}}`, "status")
		status := func(patch string) {
			t.Helper()
			statuses := w.dyn.Resource(resource("openstackdeploymentstatus")).Namespace("openstack")
			body := []byte(`{"status":{"osdpl":{` + patch + `}}}`)
			if _, err := statuses.Patch(t.Context(), "osh-dev", types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		status(`"controller_version":"1.0.0","state":"APPLYING"`)
		w.setHealth("barbican", "api", "Unhealthy")
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "mos", map[string]any{"release": "17.4.0+25.1"})
		time.Sleep(time.Second)
		for _, c := range []struct {
			told string
			mend func()
		}{
			{"Current maintenancerequest 17.4.0+25.1 release does not match ours 21.0.0+25.2. Skipping handling.",
				func() { w.patch("clustermaintenancerequests", "mos", `{"spec":{"release":"21.0.0+25.2"}}`) }},
			{"Waitinging for cwl release is 21.0.0+25.2.",
				func() {
					w.patch("clusterworkloadlocks", clusterLockName, `{"status":{"release":"21.0.0+25.2"}}`, "status")
				}},
			{"OpenStackDeploymentStatus controller version is not updated yet.", func() { status(`"controller_version":"1.1.5"`) }},
			{"Waiting osdpl status APPLIED, current state is APPLYING", func() { status(`"state":"APPLIED"`) }},
		} {
			if want := "active/inactive: " + c.told; w.stands(clusterLockName) != want {
				t.Errorf("the lock says %q, want %q", w.stands(clusterLockName), want)
			}
			c.mend()
			time.Sleep(61 * time.Second)
		}
	})
}

func TestModeOfANodeThatIsNoComputeHoldsNothing(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", `
- {machine: ctl-01, roles: [master, controller]}
- {machine: gtw-01, roles: [gateway], annotations: {openstack.lcm.mirantis.com/instance_migration_mode: manual}}
- {machine: cmp-01, roles: [compute]}`, " []")
		lock := w.openstackLock("gtw-01")
		w.maintain("gtw-01", "os")
		w.untilSaid(lock, "^inactive/active$")
		for _, said := range w.said(lock) {
			if strings.Contains(said, ":") {
				t.Errorf("the lock said %q", said)
			}
		}
	})
}

func TestPodsThatHaveEndedHoldTheReturnWithoutAWord(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		pod := func(name string, phase corev1.PodPhase, labels map[string]string, owners ...metav1.OwnerReference) {
			t.Helper()
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "openstack", Labels: labels, OwnerReferences: owners},
				Spec: corev1.PodSpec{NodeName: host, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			made, err := w.kube.CoreV1().Pods("openstack").Create(t.Context(), p, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			made.Status.Phase = phase
			if _, err := w.kube.CoreV1().Pods("openstack").UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "a-job", UID: "x"}
		pod("of-a-job", corev1.PodFailed, nil, owner)
		pod("labelled", corev1.PodSucceeded, map[string]string{"job-name": "gone"})
		pod("labelled-anew", corev1.PodFailed, map[string]string{"batch.kubernetes.io/job-name": "gone"})
		pod("labelled-and-owned", corev1.PodFailed, map[string]string{"job-name": "gone"},
			metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a-set", UID: "y"})
		w.maintain("cmp-01", "drain")
		w.untilSaid(lock, "^inactive/active$")
		w.remove("nodemaintenancerequests", host)
		w.until("the node is back", func() bool { return w.request("cmp-01") == nil })

		for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded} {
			pod("evicted", phase, nil)
			w.maintain("cmp-01", "drain")
			w.until("the node is released", func() bool { return w.stands(lock) == "inactive/active" })
			w.remove("nodemaintenancerequests", host)
			time.Sleep(30 * time.Minute)
			k := w.keptOf("nodemaintenancerequests", host, nodeDeleted)
			if w.request("cmp-01") == nil || w.stands(lock) != "inactive/active" || k != nil {
				t.Errorf("with a pod that is %s the lock says %s, and kopf keeps %+v", phase, w.stands(lock), k)
			}
			now := int64(0)
			if err := w.kube.CoreV1().Pods("openstack").Delete(t.Context(), "evicted", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
				t.Fatal(err)
			}
			w.until("the node is back", func() bool { return w.request("cmp-01") == nil })
		}
	})
}

func TestAgentThatIsSwitchedOffCountsAsWell(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.maintain("cmp-01", "drain")
		w.untilSaid(lock, "^inactive/active$")
		if err := w.OpenStack.StopAgents(host); err != nil {
			t.Fatal(err)
		}
		for _, agent := range w.networkAgents("cmp-01") {
			body := map[string]any{"agent": map[string]any{"admin_state_up": false}}
			ok := &gophercloud.RequestOpts{OkCodes: []int{200}}
			if _, err := w.nova.Network.Put(t.Context(), w.nova.Network.ServiceURL("agents", agent), body, nil, ok); err != nil {
				t.Fatal(err)
			}
		}
		w.remove("nodemaintenancerequests", host)
		w.untilTold("P", lock, "Timeout waiting for network agents on the host "+host+".")
	})
}

// networkAgents returns the IDs of a machine's network agents.
func (w *world) networkAgents(machine string) []string {
	w.t.Helper()
	var body struct{ Agents []struct{ ID string } }
	if _, err := w.nova.Network.Get(w.t.Context(), w.nova.Network.ServiceURL("agents")+"?host="+w.node(machine), &body, nil); err != nil {
		w.t.Fatal(err)
	}
	if len(body.Agents) == 0 {
		w.t.Fatalf("%s has no agents", machine)
	}
	var all []string
	for _, a := range body.Agents {
		all = append(all, a.ID)
	}
	return all
}

func TestRequestWithoutAScopeFailsWithoutAWord(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "mos", map[string]any{"release": "17.4.0+25.1", "scope": "drain"})
		w.object("nodemaintenancerequests", "NodeMaintenanceRequest", host, map[string]any{"nodeName": host, "release": "17.4.0+25.1"})
		w.until("it has failed three times", func() bool {
			k := w.keptOf("nodemaintenancerequests", host, nodeChanged)
			return k != nil && k.Retries >= 3
		})
		if k := w.keptOf("nodemaintenancerequests", host, nodeChanged); k.Message != "'scope'" {
			t.Errorf("kept: %+v", k)
		}
		if s := w.computeService("cmp-01"); w.stands(lock) != "active/active" || s.Status != "disabled" {
			t.Errorf("the lock says %s, nova-compute is %s", w.stands(lock), s.Status)
		}
		w.patch("nodemaintenancerequests", host, `{"spec":{"scope":"os"}}`)
		w.untilSaid(lock, "^inactive/active$")
	})
}

func TestRequestWithoutAScopeFailsOnANodeOfAnyRole(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("ctl-01"), w.openstackLock("ctl-01")
		w.object("nodemaintenancerequests", "NodeMaintenanceRequest", host, map[string]any{"nodeName": host, "release": "17.4.0+25.1"})
		w.until("it has failed twice", func() bool {
			k := w.keptOf("nodemaintenancerequests", host, nodeChanged)
			return k != nil && k.Retries >= 2
		})
		if k := w.keptOf("nodemaintenancerequests", host, nodeChanged); k.Message != "'scope'" || w.stands(lock) != "active/active" {
			t.Errorf("the lock says %s, kept: %+v", w.stands(lock), k)
		}
	})
}

func TestRoleThatIsTakenOffALiveNodeLeavesItsLockInDeletion(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		if _, err := w.kube.CoreV1().Nodes().Patch(t.Context(), host, types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"openstack-compute-node":null}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("the clean-up has failed twice", func() bool {
			k := w.keptOf("nodeworkloadlocks", lock, lockDeleted)
			return k != nil && k.Retries >= 2
		})
		if k := w.keptOf("nodeworkloadlocks", lock, lockDeleted); k.Purpose != "delete" ||
			k.Message != "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal." {
			t.Errorf("kept: %+v", k)
		}
		w.maintain("cmp-01", "os")
		time.Sleep(10 * time.Minute)
		if o := w.named("nodeworkloadlocks", lock); o == nil || o.GetDeletionTimestamp() == nil || w.stands(lock) != "active/inactive" {
			t.Errorf("the lock is %v and says %s", o, w.stands(lock))
		}
		if s := w.computeService("cmp-01"); s.Status != "enabled" {
			t.Errorf("nova-compute is %s", s.Status)
		}
	})
}

func TestComputeWithoutItsServiceFailsWithoutAWord(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		if err := w.OpenStack.StopCompute(host); err != nil {
			t.Fatal(err)
		}
		if err := services.Delete(t.Context(), w.nova.Compute, w.computeService("cmp-01").ID).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		w.maintain("cmp-01", "os")
		w.until("it has failed twice", func() bool {
			k := w.keptOf("nodemaintenancerequests", host, nodeChanged)
			return k != nil && k.Retries >= 2
		})
		k := w.keptOf("nodemaintenancerequests", host, nodeChanged)
		if k.Message != "list index out of range" || w.stands(lock) != "active/active" {
			t.Errorf("the lock says %s, kept: %+v", w.stands(lock), k)
		}
	})
}

func TestTextLMeansAnyAnswerOfNovaThatIsNone(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "openstack: {ignoreZones: true}", small3, " []")
		lock := w.openstackLock("cmp-01")
		clear := w.fault(http.MethodGet, "/compute/v2.1/os-services", unavailable, "away")
		w.maintain("cmp-01", "os")
		w.untilTold("L", lock, "Can not disable compute service on a host to be deleted")
		clear()
		w.untilSaid(lock, "^inactive/active$")
	})
}

func TestExceptionIsKeptAlsoWhereTheLockDoesNotTellIt(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		clear := w.fault(http.MethodGet, "/compute/v2.1/servers/detail", unavailable, "away")
		w.object("nodedeletionrequests", "NodeDeletionRequest", host, map[string]any{"nodeName": host})
		w.until("it has failed", func() bool { return w.keptOf("nodedeletionrequests", host, nodeRequested) != nil })
		k := w.keptOf("nodedeletionrequests", host, nodeRequested)
		if !strings.HasPrefix(k.Message, "HttpException: 503: Server Error for url: http://") || w.stands(lock) != "active/inactive" {
			t.Errorf("the lock says %s, kept: %+v", w.stands(lock), k)
		}
		clear()
		w.untilSaid(lock, "^inactive/inactive$")
	})
}

func TestUpdateThatBeganBeforeTheStartWasSeenByTheController(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w := begin(t, story(atWorkers+"\ntroubles: [{kind: controllerDown}]", `
- {machine: ctl-01, roles: [master, controller], done: 10m}
- {machine: cmp-01, roles: [compute], began: 1m}`, " []"), sim.Options{}).run()
		time.Sleep(10 * time.Minute)
		const ofCluster, ofNode = "clustermaintenancerequests", "nodemaintenancerequests"
		for plural, name := range map[string]string{ofCluster: w.Scenario.Cluster, ofNode: w.node("cmp-01")} {
			if o := w.named(plural, name); o == nil || !slices.Contains(o.GetFinalizers(), finalizer) {
				t.Errorf("%s: held by nobody: %v", plural, o)
			}
		}
		if w.annotations(ofCluster, w.Scenario.Cluster)[handledKey] == "" || w.annotations(ofNode, w.node("cmp-01"))[handledKey] != "" {
			t.Error("of the two requests only the cluster's has been handled")
		}
	})
}
