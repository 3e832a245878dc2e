//go:build !race

package sim_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/bubble"
)

// Texts of the OpenStack controller, literally (docs/mosk.md#texts).
const (
	exceeds  = "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node "
	mismatch = "Current maintenancerequest 21.0.0+25.2 release does not match ours 17.4.0+25.1. Skipping handling."
)

// patch merges a body into an object, or into a subresource of it.
func (s *told) patch(resource schema.GroupVersionResource, name, body string, subresources ...string) {
	s.t.Helper()
	if _, err := s.dyn.Resource(resource).Patch(s.t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{},
		subresources...); err != nil {
		s.t.Fatal(err)
	}
}

// state returns a controller's lock of a machine in short: its state and its inner_state.
func (s *told) state(controllerName, machine string) string {
	s.t.Helper()
	lock := s.nodeLock(controllerName, machine)
	if lock == nil {
		return ""
	}
	return field(lock, "status", "state") + "/" + lock.GetAnnotations()["inner_state"]
}

// request returns a machine's NodeMaintenanceRequest, or nil.
func (s *told) request(machine string) *unstructured.Unstructured {
	s.t.Helper()
	for _, request := range s.list(lcm("nodemaintenancerequests")) {
		if field(request, "spec", "nodeName") == s.name(machine) {
			return request
		}
	}
	return nil
}

// terminating tells whether the end of a machine's maintenance was requested but is not reached.
func (s *told) terminating(machine string) bool {
	request := s.request(machine)
	return request != nil && request.GetDeletionTimestamp() != nil
}

// pods returns the pods of a namespace with a name prefix, on a machine or, if that is empty, on all machines.
func (s *told) pods(namespace, prefix, machine string) []corev1.Pod {
	s.t.Helper()
	list, err := s.kube.CoreV1().Pods(namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var found []corev1.Pod
	for _, pod := range list.Items {
		if strings.HasPrefix(pod.Name, prefix) && (machine == "" || pod.Spec.NodeName == s.name(machine)) {
			found = append(found, pod)
		}
	}
	return found
}

// restart deletes the pods, as an operator does with kubectl.
func (s *told) restart(pods []corev1.Pod) {
	s.t.Helper()
	if len(pods) == 0 {
		s.t.Fatal("there is no pod to restart")
	}
	for _, pod := range pods {
		if err := s.kube.CoreV1().Pods(pod.Namespace).Delete(s.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// inNamespace is one object of a namespaced kind.
func (s *told) inNamespace(resource schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	s.t.Helper()
	object := s.seen.At(resource, namespace).Named(name)
	if object == nil {
		s.t.Fatalf("there is no %s %s/%s", resource.Resource, namespace, name)
	}
	return object
}

func TestStoryOfAStaleInnerState(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "stale-inner-state")
		s.until("cmp-01 is deferred", func() bool { return says(s.nodeLock("openstack", "cmp-01"), exceeds+s.name("cmp-01")) })
		s.until("the controller's pod says which lock is counted", func() bool {
			for _, pod := range s.pods("osh-system", "rockoon-", "") {
				raw, err := s.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
					&corev1.PodLogOptions{Container: "nodemaintenancerequest"}).DoRaw(t.Context())
				if err == nil && strings.Contains(string(raw), "Already handling [openstack-"+s.name("gtw-01")+"] for role: gateway") {
					return true
				}
			}
			return false
		})
		if got := s.state("openstack", "gtw-01"); got != "active/active" || s.requested("gtw-01") {
			t.Errorf("the gateway's lock is %s, its request is there: %v", got, s.requested("gtw-01"))
		}
		if got := s.state("openstack", "cmp-01"); got != "active/inactive" {
			t.Errorf("the deferred lock is %s", got)
		}
		s.patch(lcm("nodeworkloadlocks"), "openstack-"+s.name("gtw-01"), `{"metadata":{"annotations":{"inner_state":"inactive"}}}`)
		s.until("cmp-01 is released", func() bool {
			return s.state("openstack", "cmp-01") == "inactive/active" || s.updated("cmp-01")
		})
	})
}

func TestStoryOfAControllerThatIsDown(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "controller-down")
		s.until("cmp-01's request hangs", func() bool { return s.terminating("cmp-01") })
		time.Sleep(10 * time.Minute)
		if request := s.request("cmp-01"); request == nil || len(request.GetFinalizers()) == 0 {
			t.Error("the request is gone without the controller")
		}
		if got := s.state("openstack", "cmp-01"); got != "inactive/active" {
			t.Errorf("the lock is %s", got)
		}
		if pods := s.pods("osh-system", "rockoon-", ""); len(pods) != 0 {
			t.Errorf("the controller has %d pods", len(pods))
		}
		_, err := s.kube.AppsV1().Deployments("osh-system").Patch(t.Context(), "rockoon", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`),
			metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.until("cmp-01 is back", func() bool { return s.updated("cmp-01") && s.state("openstack", "cmp-01") == "active/inactive" })
	})
}

func TestStoryOfDeadAgents(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "agents-dead")
		s.until("the lock tells of the agents", func() bool {
			return says(s.nodeLock("openstack", "cmp-01"), "Timeout waiting for network agents on the host "+s.name("cmp-01")+".")
		})
		if !s.terminating("cmp-01") || s.state("openstack", "cmp-01") != "inactive/active" {
			t.Errorf("the request is terminating: %v, the lock is %s", s.terminating("cmp-01"), s.state("openstack", "cmp-01"))
		}
		s.restart(s.pods("openstack", "neutron-ovs-agent", "cmp-01"))
		s.until("cmp-01 is back", func() bool { return s.updated("cmp-01") && s.state("openstack", "cmp-01") == "active/inactive" })
	})
}

func TestStoryOfASilentCompute(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "compute-silent")
		s.until("the lock tells of nova-compute", func() bool {
			return says(s.nodeLock("openstack", "cmp-01"), "Timeout waiting for compute services up on the host.")
		})
		if !s.terminating("cmp-01") || s.state("openstack", "cmp-01") != "inactive/active" {
			t.Errorf("the request is terminating: %v, the lock is %s", s.terminating("cmp-01"), s.state("openstack", "cmp-01"))
		}
		s.restart(s.pods("openstack", "nova-compute-default", "cmp-01"))
		s.until("cmp-01 is back", func() bool { return s.updated("cmp-01") && s.state("openstack", "cmp-01") == "active/inactive" })
	})
}

// From Rockoon 1.2 on the controller looks once whether a returning node's services report, and takes the node back in any case.
func TestStoryOfANodeThatIsTakenBackSilent(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "back-but-silent")
		s.until("cmp-01 is taken back", func() bool { return s.updated("cmp-01") && s.state("openstack", "cmp-01") == "active/inactive" })
		if text := field(s.nodeLock("openstack", "cmp-01"), "status", "errorMessage"); text != "" {
			t.Errorf("the lock says %q", text)
		}
		s.until("LCM asks for another node", func() bool { return s.requested("cmp-02") || s.requested("cmp-03") })
		var found struct {
			Services []struct{ Status, State string }
			Agents   []struct{ Alive bool }
		}
		compute, network := s.Controllers().Compute, s.Controllers().Network
		if _, err := compute.Get(t.Context(), compute.ServiceURL("os-services")+"?host="+s.name("cmp-01"), &found, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := network.Get(t.Context(), network.ServiceURL("agents")+"?alive=false&host="+s.name("cmp-01"), &found, nil); err != nil {
			t.Fatal(err)
		}
		if len(found.Services) != 1 || found.Services[0].Status != "enabled" || found.Services[0].State != "down" || len(found.Agents) == 0 {
			t.Errorf("Nova and Neutron have %+v", found)
		}
	})
}

func TestStoryOfAReleaseThatDoesNotMatch(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "release-mismatch")
		s.until("the cluster lock names both releases", func() bool { return says(s.clusterLock("openstack"), mismatch) })
		time.Sleep(10 * time.Minute)
		if lock := s.clusterLock("openstack"); !says(lock, mismatch) || field(lock, "status", "state") != "active" {
			t.Errorf("the lock is %s and says %s", field(lock, "status", "state"), field(lock, "status", "errorMessage"))
		}
		s.until("the new controller comes and applies OpenStack", func() bool {
			return says(s.clusterLock("openstack"), "Waiting osdpl status APPLIED, current state is APPLYING")
		})
	})
}

var halfWay = regexp.MustCompile(`^(1[0-9])/20$`)

func TestStoryOfAnOpenStackThatIsNotApplied(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "osdpl-not-applied")
		status := func() *unstructured.Unstructured {
			return s.inNamespace(lcm("openstackdeploymentstatus"), "openstack", "osh-dev")
		}
		s.until("dns is stuck in the new release", func() bool {
			now := status()
			return field(now, "status", "osdpl", "release") == "21.0.0+25.2" && field(now, "status", "services", "dns", "state") == "APPLYING" &&
				halfWay.MatchString(field(now, "status", "osdpl", "lcm_progress"))
		})
		s.until("the cluster lock waits", func() bool {
			return says(s.clusterLock("openstack"), "Waiting osdpl status APPLIED, current state is APPLYING")
		})
		time.Sleep(30 * time.Minute)
		if state := field(status(), "status", "services", "dns", "state"); state != "APPLYING" {
			t.Errorf("dns is %s", state)
		}
		s.restart(s.pods("openstack", "designate-zone-setup", ""))
		s.until("OpenStack releases the cluster", func() bool { return field(s.clusterLock("openstack"), "status", "state") == "inactive" })
		if now := status(); field(now, "status", "osdpl", "lcm_progress") != "20/20" || field(now, "status", "osdpl", "state") != "APPLIED" {
			t.Errorf("OpenStack is %s at %s", field(now, "status", "osdpl", "state"), field(now, "status", "osdpl", "lcm_progress"))
		}
	})
}

func TestStoryOfDegradedCeph(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "ceph-degraded")
		s.until("Ceph waits for its data", func() bool {
			return says(s.nodeLock("ceph", "cmp-01"), "HEALTH_WARN 1 osds down") && s.state("openstack", "cmp-01") == "inactive/active"
		})
		if s.node("cmp-01").Spec.Unschedulable {
			t.Error("LCM does not wait for Ceph")
		}
		s.until("Ceph's maintenance fails", func() bool {
			return field(s.inNamespace(lcm("cephdeploymentmaintenances"), "ceph-lcm-mirantis", "pelagia-ceph"), "status", "state") == "Failing"
		})
		deployment := s.inNamespace(lcm("cephdeployments"), "ceph-lcm-mirantis", "pelagia-ceph")
		if phase, message := field(deployment, "status", "phase"), field(deployment, "status", "message"); phase != "Maintenance" ||
			message != "Cluster maintenance (upgrade) detected, reconcile is paused" {
			t.Errorf("the CephDeployment is in %s: %s", phase, message)
		}
		operator, err := s.kube.AppsV1().Deployments("rook-ceph").Get(t.Context(), "rook-ceph-operator", metav1.GetOptions{})
		if err != nil || *operator.Spec.Replicas != 0 {
			t.Errorf("Rook's operator runs: %v", err)
		}
		cluster := schema.GroupVersionResource{Group: "ceph.rook.io", Version: "v1", Resource: "cephclusters"}
		if health := field(s.inNamespace(cluster, "rook-ceph", "rook-ceph"), "status", "ceph", "health"); health != "HEALTH_WARN" {
			t.Errorf("Ceph's health is %s", health)
		}
		s.restart(s.pods("rook-ceph", "rook-ceph-osd-3", ""))
		s.until("LCM goes on with cmp-01", func() bool { return s.node("cmp-01").Spec.Unschedulable || s.updated("cmp-01") })
	})
}

func TestStoryOfTheFabricsProgress(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "tf-progress")
		updated := func() (nodes int) {
			lock := s.clusterLock("tungstenfabric")
			if lock == nil {
				return 0
			}
			description := field(lock, "status", "inactivationProgress", "description")
			percent, _, _ := unstructured.NestedInt64(lock.Object, "status", "inactivationProgress", "percentage")
			if _, err := fmt.Sscanf(description, "%d out of 5 nodes updated", &nodes); err == nil && percent != int64(20*nodes) {
				t.Errorf("%s are said to be %d %%", description, percent)
			}
			return nodes
		}
		away := func() (nodes int) {
			for _, lock := range s.list(lcm("nodeworkloadlocks")) {
				if field(lock, "spec", "controllerName") == "tungstenfabric" && field(lock, "status", "state") == "inactive" {
					nodes++
				}
			}
			if nodes > 1 {
				t.Errorf("the fabric let %d nodes go", nodes)
			}
			return nodes
		}
		s.until("the node that was done is counted", func() bool { return updated() >= 1 })
		s.until("the fabric lets one go", func() bool { return away() == 1 })
		s.until("another is counted", func() bool { away(); return updated() >= 2 })
		operators := schema.GroupVersionResource{Group: "tf.mirantis.com", Version: "v2", Resource: "tfoperators"}
		if status := field(s.inNamespace(operators, "tf", "openstack-tf"), "status", "status"); status != "Maintenance" &&
			len(s.list(lcm("clustermaintenancerequests"))) > 0 {
			t.Errorf("the TFOperator's status is %s", status)
		}
	})
}

func TestStoryOfOldVRouters(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "tf-vrouters")
		upToDate := func() (updated, current int32) {
			set, err := s.kube.AppsV1().DaemonSets("tf").Get(t.Context(), "tf-vrouter-agent", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if set.Status.ObservedGeneration != set.Generation || set.Generation < 2 {
				return -1, -1
			}
			return set.Status.UpdatedNumberScheduled, set.Status.CurrentNumberScheduled
		}
		s.until("the update is over", func() bool { return len(s.list(lcm("clustermaintenancerequests"))) == 0 })
		s.until("the pods are of an old generation", func() bool {
			updated, current := upToDate()
			return updated == 0 && current == 2
		})
		s.restart(s.pods("tf", "tf-vrouter-agent", "cmp-01"))
		s.until("one is new", func() bool {
			updated, current := upToDate()
			return updated == 1 && current == 2
		})
		s.restart(s.pods("tf", "tf-vrouter-agent", "cmp-02"))
		s.until("both are new", func() bool {
			updated, current := upToDate()
			return updated == 2 && current == 2
		})
	})
}

func TestStoryOfParallelComputesWithAGateway(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "parallel-computes")
		active := func() (computes, gateways int, deferred []string) {
			for _, lock := range s.list(lcm("nodeworkloadlocks")) {
				node := field(lock, "spec", "nodeName")
				switch {
				case strings.Contains(field(lock, "status", "errorMessage"), exceeds+node):
					deferred = append(deferred, node)
				case lock.GetAnnotations()["inner_state"] == "active" && node == s.name("gtw-01"):
					gateways++
				case lock.GetAnnotations()["inner_state"] == "active":
					computes++
				}
			}
			return computes, gateways, deferred
		}
		most, held := 0, ""
		s.until("the gateway is in, and computes are held", func() bool {
			computes, gateways, deferred := active()
			most = max(most, computes)
			if gateways == 1 && len(deferred) > 0 {
				held = deferred[0]
				return true
			}
			return false
		})
		s.until("a compute that was held gets in after the gateway", func() bool {
			computes, _, _ := active()
			most = max(most, computes)
			for _, lock := range s.list(lcm("nodeworkloadlocks")) {
				if field(lock, "spec", "nodeName") == held {
					return s.updated("gtw-01") && (lock.GetAnnotations()["inner_state"] == "active" || s.updatedNode(held))
				}
			}
			return false
		})
		if most > 30 {
			t.Errorf("%d computes were in maintenance at a time", most)
		}
	})
}

func TestStoryOfControllersThatNobodyKnows(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "third-party")
		seen := map[string]bool{}
		s.until("cmp-01 is let go, with progress", func() bool {
			if lock := s.nodeLock("backup-agent", "cmp-01"); lock != nil {
				seen[field(lock, "status", "inactivationProgress", "description")] = true
			}
			return s.state("backup-agent", "cmp-01") == "inactive/" || s.updated("cmp-01")
		})
		if !seen["Waiting for the running backup"] && !seen["Flushing the local cache"] && !seen["Detaching the backup volume"] {
			t.Errorf("the lock said %v", seen)
		}
		s.until("cmp-02 fails", func() bool {
			return says(s.nodeLock("backup-agent", "cmp-02"), "Detach of volume backup-cmp-02 failed: device is busy") &&
				s.state("backup-agent", "cmp-02") == "failed/"
		})
		s.patch(lcm("nodeworkloadlocks"), s.nodeLock("backup-agent", "cmp-02").GetName(), `{"status":{"state":"active"}}`, "status")
		s.until("cmp-02 is let go at the second time",
			func() bool { return s.state("backup-agent", "cmp-02") == "inactive/" || s.updated("cmp-02") })
		s.until("cmp-03 waits for who never answers", func() bool {
			return s.state("backup-agent", "cmp-03") == "inactive/" && s.state("openstack", "cmp-03") == "inactive/active"
		})
		if got := s.state("license-guard", "cmp-03"); got != "active/" || s.node("cmp-03").Spec.Unschedulable {
			t.Errorf("the silent lock is %s", got)
		}
		s.patch(lcm("nodeworkloadlocks"), s.nodeLock("license-guard", "cmp-03").GetName(), `{"status":{"state":"inactive"}}`, "status")
		s.until("LCM goes on", func() bool { return s.node("cmp-03").Spec.Unschedulable || s.updated("cmp-03") })
	})
}

// kept returns what kopf stores about a handler on an object.
func (s *told) kept(object *unstructured.Unstructured, handler string) string {
	return object.GetAnnotations()["kopf.zalando.org/"+handler]
}

func TestStoryOfARoleThatIsTakenOff(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "role-taken")
		deleting := func() bool {
			l := s.nodeLock("openstack", "cmp-02")
			return l != nil && l.GetDeletionTimestamp() != nil
		}
		s.until("the lock of cmp-02 is in deletion", deleting)
		s.until("LCM asks for cmp-02", func() bool { return s.requested("cmp-02") })
		time.Sleep(20 * time.Minute)
		lock := s.nodeLock("openstack", "cmp-02")
		if !deleting() || s.state("openstack", "cmp-02") != "active/inactive" || field(lock, "status", "errorMessage") != "" {
			t.Errorf("the lock is %s and says %q", s.state("openstack", "cmp-02"), field(lock, "status", "errorMessage"))
		}
		if text := s.kept(lock, "node_workloadlock_request_delete_handler"); !strings.Contains(text,
			"still exists. Deffer OpenStack service metadata removal.") {
			t.Errorf("kept is %q", text)
		}
		// The label alone repairs nothing; without the finalizer the lock goes, and a change of the node creates a new
		// one.
		node := func(body string) {
			if _, err := s.kube.CoreV1().Nodes().Patch(t.Context(), s.name("cmp-02"), types.MergePatchType, []byte(body),
				metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		node(`{"metadata": {"labels": {"openstack-compute-node": "enabled"}}}`)
		time.Sleep(10 * time.Minute)
		if !deleting() {
			t.Error("the label mends the lock")
		}
		own := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeWorkloadLock",
			"metadata": map[string]any{"name": "operator-cmp-02"},
			"spec":     map[string]any{"controllerName": "operator", "nodeName": s.name("cmp-02")}}}
		if _, err := s.dyn.Resource(lcm("nodeworkloadlocks")).Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.patch(lcm("nodeworkloadlocks"), lock.GetName(), `{"metadata": {"finalizers": null}}`)
		time.Sleep(10 * time.Minute)
		if s.nodeLock("openstack", "cmp-02") != nil || s.node("cmp-02").Spec.Unschedulable {
			t.Error("there is a lock again, or LCM goes on")
		}
		node(`{"metadata": {"annotations": {"lockstep/look-again": "now"}}}`)
		s.until("there is a new lock", func() bool { return s.state("openstack", "cmp-02") == "active/inactive" && !deleting() })
		s.patch(lcm("nodemaintenancerequests"), s.request("cmp-02").GetName(), `{"metadata": {"annotations": {"lockstep/look-again": "now"}}}`)
		s.until("the controller releases it", func() bool { return s.state("openstack", "cmp-02") == "inactive/active" })
		if err := s.dyn.Resource(lcm("nodeworkloadlocks")).Delete(t.Context(), "operator-cmp-02", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("cmp-02 is updated", func() bool { return s.updated("cmp-02") })
	})
}

func TestStoryOfAComputeThatNovaHasForgotten(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "compute-forgotten")
		s.until("LCM asks for cmp-01", func() bool { return s.requested("cmp-01") })
		time.Sleep(10 * time.Minute)
		if lock := s.nodeLock("openstack", "cmp-01"); s.state("openstack", "cmp-01") != "active/active" ||
			field(lock, "status", "errorMessage") != "" {
			t.Errorf("the lock is %s and says %q", s.state("openstack", "cmp-01"), field(lock, "status", "errorMessage"))
		}
		if text := s.kept(s.request("cmp-01"), "node_maintenance_request_change_handler"); !strings.Contains(text, "list index out of range") {
			t.Errorf("kept is %q", text)
		}
		s.restart(s.pods("openstack", "nova-compute-default", "cmp-01"))
		s.until("cmp-01 is back", func() bool { return s.updated("cmp-01") && s.state("openstack", "cmp-01") == "active/inactive" })
	})
}

func TestStoryOfAGatewayInManualMode(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "gateway-manual")
		s.until("LCM asks for ctl-02", func() bool { return s.requested("ctl-02") })
		s.until("its lock is released all the same", func() bool { return s.state("openstack", "ctl-02") == "inactive/active" })
	})
}
