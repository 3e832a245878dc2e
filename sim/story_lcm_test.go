//go:build !race

package sim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

func kaas(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: plural}
}

var (
	clusters        = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "clusters"}
	clusterMachines = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "machines"}
)

// project returns a client of the scenario's project on the management cluster.
func (s *told) project(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return s.manage.Resource(resource).Namespace(s.Scenario.Management.Project)
}

// managed returns an object of the management cluster, or nil.
func (s *told) managed(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	s.t.Helper()
	return s.above.At(resource, s.Scenario.Management.Project).Named(name)
}

// plan returns the scenario's ClusterUpdatePlan.
func (s *told) plan() *unstructured.Unstructured {
	s.t.Helper()
	all := s.above.At(kaas("clusterupdateplans"), s.Scenario.Management.Project).All()
	if len(all) != 1 {
		s.t.Fatalf("there are %d update plans", len(all))
	}
	return all[0]
}

// stepStatus is what the plan says about a step.
func stepStatus(plan *unstructured.Unstructured, id string) (state, message string) {
	steps, _, _ := unstructured.NestedSlice(plan.Object, "status", "steps")
	for _, step := range steps {
		if fields, _ := step.(map[string]any); fields["id"] == id {
			state, _ = fields["status"].(string)
			message, _ = fields["message"].(string)
		}
	}
	return state, message
}

// stages are the names of the stages in an object.
func stages(object *unstructured.Unstructured) []string {
	if object == nil {
		return nil
	}
	var names []string
	list, _, _ := unstructured.NestedSlice(object.Object, "stages")
	for _, one := range list {
		fields, _ := one.(map[string]any)
		name, _ := fields["name"].(string)
		names = append(names, name)
	}
	return names
}

// brisk limits LCM's work on a node to some minutes.
var brisk = controller.Timing{
	RockoonRollout: 20 * time.Second, RockoonStart: 10 * time.Second, ServiceUpdate: 2 * time.Second, CephUpdate: 3 * time.Minute,
	Update: 4 * time.Minute, Reboot: 2 * time.Minute, Finalize: 2 * time.Minute, PodStart: 15 * time.Second, PodGrace: 5 * time.Second,
	ItemRetry: 15 * time.Minute, HealthPeriod: 20 * time.Second, // a failure is to be seen before the next try
}

// tellBriskly plays a scenario about LCM, with less time for everything else.
func tellBriskly(t *testing.T, name string) *told {
	t.Helper()
	s := prepareBriskly(t, name)
	s.Clock.Resume()
	return s
}

// prepareBriskly prepares tellBriskly; the clock's Resume starts it.
func prepareBriskly(t *testing.T, name string) *told {
	t.Helper()
	story, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return prepare(t, sim.Options{Scenario: story, Timing: brisk})
}

// commence sets commence of a step of the plan, as an operator does.
func (s *told) commence(id string) {
	s.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		plan, err := s.project(kaas("clusterupdateplans")).Get(s.t.Context(), s.plan().GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		steps, _, _ := unstructured.NestedSlice(plan.Object, "spec", "steps")
		for _, step := range steps {
			if fields := step.(map[string]any); fields["id"] == id {
				fields["commence"] = true
			}
		}
		if err := unstructured.SetNestedSlice(plan.Object, steps, "spec", "steps"); err != nil {
			return err
		}
		_, err = s.project(kaas("clusterupdateplans")).Update(s.t.Context(), plan, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// commenced tells whether commence of a step is true.
func commenced(plan *unstructured.Unstructured, id string) bool {
	steps, _, _ := unstructured.NestedSlice(plan.Object, "spec", "steps")
	for _, step := range steps {
		if fields := step.(map[string]any); fields["id"] == id {
			return fields["commence"] == true
		}
	}
	return false
}

// stuckMessage returns LCM's reason for being stuck; empty if it is not.
func (s *told) stuckMessage() string {
	s.t.Helper()
	cluster := s.managed(lcm("lcmclusters"), "mos")
	if cluster == nil {
		return ""
	}
	if stuck, _, _ := unstructured.NestedBool(cluster.Object, "status", "lcmOperationStuck"); !stuck {
		return ""
	}
	return field(cluster, "status", "lcmOperationStuckMessage")
}

// moveAll asks Nova to migrate all instances of a machine to hosts of its choice.
func (s *told) moveAll(machine string) {
	s.t.Helper()
	for _, server := range s.OpenStack.ServersOn(s.name(machine)) {
		if err := servers.LiveMigrate(s.t.Context(), s.compute, server.ID, anywhere{}).ExtractErr(); err != nil {
			s.t.Fatal(err)
		}
	}
}

type anywhere struct{}

func (anywhere) ToLiveMigrateMap() (map[string]any, error) {
	return map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}, nil
}

// untilComplete waits until the whole plan is complete and none of the update's requests is left.
func (s *told) untilComplete() {
	s.t.Helper()
	s.until("the plan is complete", func() bool { return field(s.plan(), "status", "status") == "Completed" })
	if requests := s.list(lcm("clustermaintenancerequests")); len(requests) > 0 {
		s.t.Errorf("the plan is complete, and the cluster's maintenance is requested")
	}
	if why := s.stuckMessage(); why != "" {
		s.t.Errorf("the plan is complete, and LCM is stuck: %s", why)
	}
	for _, n := range s.Scenario.Nodes {
		if !s.updated(n.Machine) || s.node(n.Machine).Spec.Unschedulable {
			s.t.Errorf("the plan is complete, and %s is not updated", n.Machine)
		}
	}
}

func TestSmoothGoesThroughAllStepsOfThePlan(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := prepareBriskly(t, "smooth")
		plan := s.record(s.project(kaas("clusterupdateplans")), func(plan *unstructured.Unstructured) string {
			first, _ := stepStatus(plan, "openstack")
			second, _ := stepStatus(plan, "ceph")
			return first + ", " + second
		})
		release := s.record(s.project(clusters), func(cluster *unstructured.Unstructured) string {
			return field(cluster, "spec", "providerSpec", "value", "release")
		})
		s.Clock.Resume()
		s.untilComplete()
		begun := slices.IndexFunc(plan(), func(m moment) bool { return strings.HasPrefix(m.is, "InProgress, ") })
		atTarget := slices.IndexFunc(release(), func(m moment) bool { return m.is == "mosk-21-0-0-25-2" })
		if begun < 0 || atTarget < 0 || release()[atTarget].version > plan()[begun].version {
			t.Errorf("when the first step began the Cluster was not at the target: %v, %v", plan(), release())
		} else if plan()[begun].is != "InProgress, NotStarted" {
			t.Errorf("when the first step began the first two were %s", plan()[begun].is)
		}
		for _, id := range s.Scenario.Steps() {
			if state, message := stepStatus(s.plan(), id); state != "Completed" || message != "Ready" {
				t.Errorf("step %s: %s, %q", id, state, message)
			}
		}
		want := "Node maintenance requested, Node workload locks inactive, Kubernetes drained, Swarm drained, Swarm uncordoned, Kubernetes " +
			"uncordoned, Node maintenance request removed"
		if got := strings.Join(stages(s.managed(lcm("lcmmachineupgradedrainstatuses"), "cmp-01")), ", "); got != want {
			t.Errorf("the stages of the drain of cmp-01: %s", got)
		}
		want = "Prepare phase done, Deploy phase done, Reboot done"
		if got := strings.Join(stages(s.managed(kaas("machineupgradestatuses"), "cmp-01")), ", "); got != want {
			t.Errorf("the stages of the update of cmp-01: %s", got)
		}
		want = "Requested cluster maintenance, Cluster workload locks are inactive, Control plane nodes MKE upgraded, Worker nodes MKE " +
			"upgraded, Cluster maintenance request removed"
		if got := strings.Join(stages(s.managed(lcm("lcmclusterupgradestatuses"), "mos")), ", "); got != want {
			t.Errorf("the stages of the cluster's update: %s", got)
		}
		machine := s.managed(lcm("lcmmachines"), "cmp-01")
		items, _, _ := unstructured.NestedMap(machine.Object, "status", "stateItemStatuses")
		if len(items) != len(scenario.StateItems) || field(machine, "status", "state") != "Ready" ||
			field(machine, "status", "release") != "mosk-21-0-0-25-2" {
			t.Errorf("LCMMachine cmp-01: %v", machine.Object["status"])
		}
		s.until("the Cluster is at the target", func() bool {
			return field(s.managed(clusters, "mos"), "status", "providerStatus", "releaseRefs", "current", "name") == "mosk-21-0-0-25-2"
		})
	})
}

func TestAStateItemFailsUntilItDoesNot(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tellBriskly(t, "lcm-item-failing")
		item := func() map[string]any {
			fields, _, _ := unstructured.NestedMap(s.managed(lcm("lcmmachines"), "cmp-01").Object, "status", "stateItemStatuses", "host-packages")
			return fields
		}
		s.until("it failed for the third time, and says why", func() bool {
			is := item()
			n, _ := is["attempt"].(int64)
			message, _ := is["message"].(string)
			return n >= 4 && strings.Contains(message, "503  Service Unavailable")
		})
		s.until("LCM says that it is stuck", func() bool {
			return strings.Contains(s.stuckMessage(), "machine cmp-01: state item host-packages of phase prepare failed")
		})
		s.until("the step is Stuck", func() bool {
			state, message := stepStatus(s.plan(), "k8s-workers-mos-default")
			return state == "Stuck" && strings.Contains(message, "exit code 100")
		})
		s.until("the sixth attempt succeeds", func() bool { is := item(); return is["attempt"] == int64(6) && is["exitCode"] == int64(0) })
		s.untilComplete()
	})
}

func TestAStuckStepSaysWhoseLockHoldsIt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tellBriskly(t, "plan-stuck")
		s.until("the step is Stuck", func() bool {
			state, message := stepStatus(s.plan(), "k8s-workers-mos-default")
			return state == "Stuck" && strings.Contains(message,
				"takes longer than the estimated 1h30m0s: NodeWorkloadLock openstack-"+s.name("cmp-01")+" is active") &&
				strings.Contains(message, "Some servers are still present on the host.")
		})
		s.until("the LCMCluster says the same", func() bool {
			return strings.Contains(s.stuckMessage(), "Some servers are still present on the host.")
		})
		patch := []byte(`{"metadata":{"annotations":{"openstack.lcm.mirantis.com/instance_migration_mode":"skip"}}}`)
		if _, err := s.kube.CoreV1().Nodes().Patch(t.Context(), s.name("cmp-01"), types.MergePatchType, patch,
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		s.untilComplete()
	})
}

func TestAnAlertPausesTheUpdate(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := prepareBriskly(t, "auto-pause")
		workers := "k8s-workers-mos-default"
		fired := s.record(s.project(kaas("updateautopauses")), func(pause *unstructured.Unstructured) string {
			alerts, _, _ := unstructured.NestedStringSlice(pause.Object, "status", "firingAlerts")
			return strings.Join(alerts, " ")
		})
		s.Clock.Resume()
		s.until("the plan is AutoPaused", func() bool {
			state, _ := stepStatus(s.plan(), workers)
			return state == "AutoPaused" && field(s.plan(), "status", "status") == "AutoPaused"
		})
		if plan := s.plan(); commenced(plan, workers) || commenced(plan, "mcc-components") {
			t.Error("commence is still there")
		}
		s.until("the alert has fired and is over", func() bool {
			var all []string
			for _, m := range fired() {
				all = append(all, m.is)
			}
			return strings.Join(all, ",") == ",OpenstackAPI5xxCritical,"
		})
		s.until("the node in flight is finished", func() bool { return s.updated("cmp-01") })
		if s.requested("cmp-02") {
			t.Error("another node was begun")
		}
		if state, _ := stepStatus(s.plan(), workers); state != "AutoPaused" {
			t.Errorf("the end of the alert alone made the step %s", state)
		}
		s.commence(workers)
		s.commence("mcc-components")
		s.untilComplete()
	})
}

func TestABudgetBlocksADrain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tellBriskly(t, "drain-blocked")
		blocked := func() *unstructured.Unstructured {
			state := s.managed(lcm("lcmclusterstates"), "cd-cmp-01")
			if state == nil || !strings.Contains(field(state, "status", "message"),
				"Cannot evict pod as it would violate the pod's disruption budget.") {
				return nil
			}
			return state
		}
		var state *unstructured.Unstructured
		s.until("the drain was refused for the fourth time", func() bool {
			if state = blocked(); state == nil {
				return false
			}
			n, _, _ := unstructured.NestedInt64(state.Object, "status", "attempt")
			return n >= 4
		})
		if field(state, "spec", "value") != "true" || field(state, "status", "value") == "true" {
			t.Errorf("wanted %q, is %q", field(state, "spec", "value"), field(state, "status", "value"))
		}
		s.until("LCM says that it is stuck", func() bool { return strings.Contains(s.stuckMessage(), "machine cmp-01: drain failed") })
		if draining := field(s.managed(lcm("lcmmachines"), "cmp-01"), "status", "kubernetesCordonDrain"); draining != "cordondraining" {
			t.Errorf("the LCMMachine is %q", draining)
		}
		pods, err := s.kube.CoreV1().Pods("stacklight").List(t.Context(), metav1.ListOptions{
			FieldSelector: "spec.nodeName=" + s.name("cmp-01"), LabelSelector: "app.kubernetes.io/name=prometheus-es-exporter"})
		if err != nil || len(pods.Items) == 0 {
			t.Fatalf("the blocking pods: %v, %d", err, len(pods.Items))
		}
		for _, pod := range pods.Items {
			if err := s.kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s.until("cmp-01 is updated", func() bool { return s.updated("cmp-01") })
	})
}

func TestANodeThatIsNotReadyHoldsTheUpdate(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tellBriskly(t, "node-not-ready")
		s.until("LCM says that the node is not Ready", func() bool {
			return strings.Contains(s.stuckMessage(), "machine cmp-01: node "+s.name("cmp-01")+" is not Ready for") &&
				strings.Contains(s.stuckMessage(), "cni plugin not initialized")
		})
		if !s.node("cmp-01").Spec.Unschedulable || !s.requested("cmp-01") || s.requested("cmp-02") {
			t.Error("the node is back in service, or another one was begun")
		}
		if state := field(s.managed(lcm("lcmmachines"), "cmp-01"), "status", "state"); state != "Reboot" {
			t.Errorf("the LCMMachine is %s", state)
		}
		client, err := kubernetes.NewForConfig(s.ManagementConfig())
		if err != nil {
			t.Fatal(err)
		}
		s.until("there is an event about the machine", func() bool {
			events, err := client.CoreV1().Events("mosk").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=MachineLCMAgentNotReady"})
			if err != nil {
				t.Fatal(err)
			}
			return len(events.Items) > 0 && strings.HasPrefix(events.Items[0].Message, "LCM agent has not reported its state since ")
		})
		s.untilComplete()
	})
}

func TestUpdateGroupsFollowTheirIndexes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := prepareBriskly(t, "update-groups")
		boot := s.node("cmp-05").Status.NodeInfo.BootID
		requests := s.record(s.dyn.Resource(lcm("nodemaintenancerequests")), func(request *unstructured.Unstructured) string {
			return field(request, "spec", "nodeName")
		})
		s.Clock.Resume()
		s.until("the canary is updated", func() bool { state, _ := stepStatus(s.plan(), "k8s-workers-canary"); return state == "Completed" })
		s.until("both racks are updated", func() bool {
			a, _ := stepStatus(s.plan(), "k8s-workers-rack-a")
			b, _ := stepStatus(s.plan(), "k8s-workers-rack-b")
			return a == "Completed" && b == "Completed"
		})
		machines := map[string]string{} // by the name of its node
		for _, machine := range []string{"cmp-02", "cmp-03", "cmp-04", "cmp-05", "cmp-06"} {
			machines[s.name(machine)] = machine
		}
		order := []string{}
		both, most := false, 0
		inA, inB := map[string]bool{}, map[string]bool{} // requests for nodes of the racks
		for _, m := range requests() {
			machine, ours := machines[m.is]
			switch {
			case m.is == "gone":
				delete(inA, m.name)
				delete(inB, m.name)
			case !ours:
			case machine < "cmp-05":
				inA[m.name], order = true, append(order, machine)
			default:
				inB[m.name], order = true, append(order, machine)
			}
			both, most = both || len(inA) > 0 && len(inB) > 0, max(most, len(inA))
		}
		if !both || most != 2 {
			t.Errorf("both racks at a time: %v; nodes of rack-a at a time: %d", both, most)
		}
		if slices.Index(order, "cmp-06") > slices.Index(order, "cmp-05") || slices.Index(order, "cmp-04") < slices.Index(order, "cmp-02") {
			t.Errorf("begun in the order %v", order)
		}
		if on := s.OpenStack.ServersOn(s.name("cmp-05")); len(on) == 0 || s.node("cmp-05").Status.NodeInfo.BootID != boot {
			t.Errorf("rack-b was rebooted, or its instance moved: %v", on)
		}
		for machine, want := range map[string]bool{"cmp-02": false, "cmp-05": true, "cmp-06": true} {
			if is, _, _ := unstructured.NestedBool(s.managed(clusterMachines, machine).Object, "status", "providerStatus", "reboot",
				"required"); is != want {
				t.Errorf("%s has to be rebooted: %v, want %v", machine, is, want)
			}
		}
		s.untilComplete()
	})
}

func TestANodeThatIsDeletedWaitsForItsInstances(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tellBriskly(t, "node-deletion")
		s.until("the deletion is requested", func() bool { return len(s.list(lcm("nodedeletionrequests"))) == 1 })
		s.until("OpenStack says what is still there", func() bool {
			return says(s.nodeLock("openstack", "cmp-03"),
				"are still present on host "+s.name("cmp-03")+". Blocking node removal unless they removed or migrated.")
		})
		if phase := field(s.managed(clusterMachines, "cmp-03"), "status", "providerStatus", "prepareDeletionPhase"); phase != "started" {
			t.Errorf("the deletion is %q", phase)
		}
		if n, err := s.OpenStack.MoveVolumes(s.name("cmp-03"), s.name("cmp-01")); n != 2 || err != nil {
			t.Fatalf("%d volumes were moved: %v", n, err)
		}
		s.until("its volumes do not hold it up any more", func() bool { return says(s.nodeLock("openstack", "cmp-03"), "Some servers") })
		s.moveAll("cmp-03")
		s.until("the Machine is gone", func() bool { return s.managed(clusterMachines, "cmp-03") == nil })
		s.until("the node is gone", func() bool {
			nodes, err := s.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + s.name("cmp-03")})
			if err != nil {
				t.Fatal(err)
			}
			return len(nodes.Items) == 0
		})
		s.until("OpenStack has forgotten the host", func() bool {
			return s.nodeLock("openstack", "cmp-03") == nil && len(s.list(lcm("nodedeletionrequests"))) == 0
		})
		if s.managed(lcm("lcmmachines"), "cmp-03") != nil {
			t.Error("its LCMMachine is still there")
		}
	})
}
