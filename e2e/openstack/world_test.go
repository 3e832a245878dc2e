//go:build openstack

package openstack

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
	"lockstep/sim"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// The computes by their names in Kubernetes and Nova, as the script run sets them up.
var (
	// hosts are those of testdata/manual-node.yaml.
	hosts = []string{"kaas-node-001", "kaas-node-002", "kaas-node-003"}
	// contractHosts are those that the contract has for its cases.
	contractHosts = []string{"kaas-node-004", "kaas-node-005", "kaas-node-006", "kaas-node-007", "kaas-node-008", "kaas-node-009"}
	// actHosts are those of testdata/act-as.yaml.
	actHosts = []string{"kaas-node-010", "kaas-node-011"}
)

func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// timing is the controllers' pace: what takes minutes on a real cluster is over in a second. Only Retry is the real one: between
// two looks of the controller there is time to pause it.
var timing = controller.Timing{
	Backoff: 500 * time.Millisecond, StartDelay: time.Second, RockoonRollout: time.Second,
	Drain: 300 * time.Millisecond, PodGrace: 200 * time.Millisecond, Update: 2 * time.Second, Reboot: 3 * time.Second,
	Finalize: time.Hour, Heartbeat: time.Minute, NodeGrace: 500 * time.Millisecond, PodStart: time.Second,
	Retry: time.Minute, MigrateStart: 500 * time.Millisecond, MigrateWait: time.Second, MigrateLoop: 500 * time.Millisecond,
	ReturnPoll: 300 * time.Millisecond, ServicesUp: time.Minute, ServiceUpdate: time.Second, CephUpdate: time.Second,
	CephNode: time.Second, FabricReact: time.Second,
}

// world is a cluster in which an update runs: a real kube-apiserver, a real OpenStack, and the controllers that move both.
type world struct {
	*cluster.Cluster
	admin       dynamic.Interface
	cloud       *cloud
	controllers *sim.Cloud
}

// newWorld starts a scenario of testdata on the cloud. Its controllers wait until begin.
func newWorld(t *testing.T, c *cloud, file string, timing controller.Timing) *world {
	t.Helper()
	story, err := scenario.Load(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	kubernetes, err := pool.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Give(context.WithoutCancel(t.Context()), kubernetes); err != nil {
			t.Errorf("give the cluster back: %v", err)
		}
	})
	w := &world{Cluster: kubernetes, cloud: c}
	if w.admin, err = dynamic.NewForConfig(kubernetes.Config(cluster.Admin)); err != nil {
		t.Fatal(err)
	}

	log, err := os.Create(filepath.Join(t.TempDir(), "controllers.log"))
	if err != nil {
		t.Fatal(err)
	}
	w.controllers, err = sim.Start(context.WithoutCancel(t.Context()), sim.Options{
		Scenario: story, Dir: t.TempDir(), Timing: timing, Log: slog.New(slog.NewTextHandler(log, nil)),
		Kube: kubernetes.Config(cluster.Controllers), CloudsYAML: c.cloudsYAML(), ExternalCloud: cloudControllers, Paused: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.controllers.Close(), log.Close()); err != nil {
			t.Errorf("stop the controllers: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of the controllers' log:\n%s", operator.Tail(log.Name(), 2000))
		}
	})
	return w
}

// begin lets the controllers go on.
func (w *world) begin() { w.controllers.Clock.Resume() }

// pause stops the controllers' clock: what they wait for does not come before the next begin.
func (w *world) pause() { w.controllers.Clock.Pause() }

// sitDown starts the program against the world.
func (w *world) sitDown(t *testing.T) *operator.Operator {
	t.Helper()
	return w.launch(t, operator.Desk{}, cluster.Operator, cloudOperator)
}

// launch starts the program against the world at a desk, as a user and with a login.
func (w *world) launch(t *testing.T, d operator.Desk, user cluster.User, login string, args ...string) *operator.Operator {
	t.Helper()
	kubeconfig, err := w.WriteKubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	d.Program, d.CloudsYAML, d.Patience = program(t), w.cloud.cloudsYAML(), patience
	d.Kubeconfig, d.Cloud = kubeconfig, login
	return operator.SitDown(t, d, args...)
}

// lockText is what the OpenStack controller says about the node, with the time at which it said so.
func (w *world) lockText(t *testing.T, node string) string {
	t.Helper()
	lock, err := w.admin.Resource(lcm("nodeworkloadlocks")).Get(t.Context(), "openstack-"+node, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the lock of node %s: %v", node, err)
	}
	text, _, err := unstructured.NestedString(lock.Object, "status", "errorMessage")
	if err != nil {
		t.Fatal(err)
	}
	return text
}
