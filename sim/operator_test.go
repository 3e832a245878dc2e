//go:build !race

// A whole update, as in the stories.

package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/sim/bubble"
	"lockstep/sim/controller"
	"lockstep/sim/lan"
)

// operator does by script what the demo leaves to a person. On a node whose lock waits for instances it migrates those
// that can be migrated, notifies owners (by stopping their instances), and declares the node safe when the rest may
// stop with it.
type operator struct {
	t     *testing.T
	cloud *Cloud
	nova  *controller.Connection
	kube  kubernetes.Interface
	locks *bubble.Seen

	tried  map[string]int
	waited map[string]bool // machines that waited for the operator
}

func (o *operator) turn() {
	for _, lock := range o.locks.All() {
		message, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage")
		if !strings.Contains(message, "Some servers are still present on the host.") {
			continue
		}
		node, _, _ := unstructured.NestedString(lock.Object, "spec", "nodeName")
		o.empty(node, message)
	}
}

func (o *operator) empty(node, message string) {
	for _, s := range o.cloud.OpenStack.ServersOn(node) {
		switch {
		case !strings.Contains(message, s.ID) || s.Status == "MIGRATING":
			continue
		case (s.Status == "ACTIVE" || s.Status == "PAUSED") && o.tried[s.ID] == 0:
			o.waited[node] = true
			o.tried[s.ID]++
			if err := servers.LiveMigrate(o.t.Context(), o.nova.Compute, s.ID, anyHost{}).ExtractErr(); err != nil {
				o.t.Logf("migrate %s: %v", s.Name, err)
			}
			return // one at a time
		case s.Status == "ACTIVE" && o.tried[s.ID] == 1:
			o.tried[s.ID]++
			if err := servers.Stop(o.t.Context(), o.nova.Compute, s.ID).ExtractErr(); err != nil {
				o.t.Logf("stop %s: %v", s.Name, err)
			}
			return
		case s.Status == "ERROR" && o.tried[s.ID] == 0:
			o.tried[s.ID]++
			o.annotate(node)
			return
		}
	}
}

func (o *operator) annotate(node string) {
	patch := `{"metadata":{"annotations":{"openstack.lcm.mirantis.com/instance_migration_mode":"skip"}}}`
	if _, err := o.kube.CoreV1().Nodes().Patch(o.t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

type anyHost struct{}

func (anyHost) ToLiveMigrateMap() (map[string]any, error) {
	return map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}, nil
}

func TestDemoRunsThroughWithAnOperator(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := launch(t, Options{Network: lan.New(1)})
		o := &operator{t: t, cloud: cloud, tried: map[string]int{}, waited: map[string]bool{}}
		var err error
		if o.nova, err = cloud.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer o.nova.Close()
		if o.kube, err = kubernetes.NewForConfig(cloud.AdminConfig()); err != nil {
			t.Fatal(err)
		}
		dyn, err := dynamic.NewForConfig(cloud.AdminConfig())
		if err != nil {
			t.Fatal(err)
		}
		o.locks = bubble.See(t, dyn.Resource(nodeLocks))
		clusterLocks, requests := bubble.See(t, dyn.Resource(maintenance("clusterworkloadlocks"))), bubble.See(t, dyn.Resource(clusterRequests))
		begun := cloud.Clock.Now()
		firstWait := time.Duration(0)
		bubble.Until(t, "the cluster's request is gone", func() bool {
			o.turn()
			if cmp04, _ := cloud.Scenario.Node("cmp-04"); firstWait == 0 && o.waited[cmp04.Name] {
				firstWait = cloud.Clock.Now().Sub(begun)
			}
			return len(requests.All()) == 0
		})
		if firstWait < 20*time.Minute || firstWait > 40*time.Minute { // at speed 60 a newcomer should see it within 20 to 40 s
			t.Errorf("the first manual node waited after %s", firstWait)
		}
		nodes, err := o.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range nodes.Items {
			if node.Status.NodeInfo.KubeletVersion != cloud.Scenario.Kubelet.To || node.Spec.Unschedulable {
				t.Errorf("%s is not updated", node.Labels["kaas.mirantis.com/machine-name"])
			}
		}
		bubble.Until(t, "all locks are armed at the target", func() bool {
			for _, lock := range slices.Concat(o.locks.All(), clusterLocks.All()) {
				state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
				release, _, _ := unstructured.NestedString(lock.Object, "status", "release")
				if state != "active" || release != cloud.Scenario.Release.To {
					return false
				}
			}
			return true
		})
		// The two manual nodes, and the skipped one for the instance that notifies.
		for _, machine := range []string{"cmp-04", "cmp-06", "cmp-07"} {
			if n, _ := cloud.Scenario.Node(machine); !o.waited[n.Name] {
				t.Errorf("%s did not wait for the operator", machine)
			}
		}
	})
}
