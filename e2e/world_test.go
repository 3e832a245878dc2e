package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
	"lockstep/sim"
	"lockstep/sim/controller"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// The clouds in a world's clouds.yaml.
const (
	cloudOperator      = "sim"            // the operator's login, an administrator
	cloudMember        = "member"         // a login without an administrator's rights
	cloudWrongPassword = "wrong-password" // the operator's login with another password
)

// operatorInNova is the user of cloudOperator. The controllers log in as another user, so that the cloud's records tell who sent
// a request.
const (
	operatorInNova    = "anna"
	controllersInNova = "admin"
)

// fast is the controllers' pace in the tests: what takes minutes on a real cluster is over in a second.
var fast = controller.Timing{
	Backoff: 500 * time.Millisecond, StartDelay: time.Second, RockoonRollout: time.Second,
	Drain: 300 * time.Millisecond, PodGrace: 200 * time.Millisecond, Update: 2 * time.Second, Reboot: 3 * time.Second,
	Finalize: time.Hour, Heartbeat: time.Minute, NodeGrace: 500 * time.Millisecond, PodStart: time.Second,
	Retry: 2 * time.Second, MigrateStart: 500 * time.Millisecond, MigrateWait: time.Second, MigrateLoop: 500 * time.Millisecond,
	ReturnPoll: 300 * time.Millisecond, ServicesUp: time.Minute, ServiceUpdate: time.Second, CephUpdate: time.Second,
	CephNode: time.Second, FabricReact: time.Second,
}

// world is a cluster in which an update runs: a real kube-apiserver, a simulated OpenStack, and the controllers that move both.
type world struct {
	*cluster.Cluster
	sim        *sim.Cloud
	cloudsYAML string // path of the operators' clouds.yaml
	secrets    []string
	back       chan struct{} // a machine that is off takes from it before it comes back; closed: none has to
}

// newWorld starts the scenario testdata/manual-node.yaml on an API server of its own. The function change may first alter the scenario
// and the controllers' pace.
func newWorld(t testing.TB, change func(*scenario.Scenario, *controller.Timing)) *world {
	t.Helper()
	return startWorld(t, change, false)
}

// newWorldHoldingReboots is newWorld for a test that has to see a reboot: each one lasts until comeBack.
func newWorldHoldingReboots(t testing.TB, change func(*scenario.Scenario, *controller.Timing)) *world {
	t.Helper()
	return startWorld(t, change, true)
}

func startWorld(t testing.TB, change func(*scenario.Scenario, *controller.Timing), holds bool) *world {
	t.Helper()
	story, err := scenario.Load(filepath.Join("testdata", "manual-node.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	timing := fast
	if change != nil {
		change(story, &timing)
	}
	w := &world{Cluster: ownCluster(t), back: make(chan struct{})}
	if holds {
		timing.Reboot = -1 // nothing but what holds it
	} else {
		close(w.back)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "controllers.log"))
	if err != nil {
		t.Fatal(err)
	}
	w.sim, err = sim.Start(context.WithoutCancel(t.Context()), sim.Options{Scenario: story, Dir: t.TempDir(), Timing: timing,
		Kube: w.Config(cluster.Controllers), Log: slog.New(slog.NewTextHandler(log, nil)), WhileOff: func(string) { <-w.back }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if holds {
			close(w.back)
		}
		if err := w.sim.Close(); err != nil {
			t.Errorf("stop the controllers: %v", err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the end of the controllers' log:\n%s", operator.Tail(log.Name(), 1000))
		}
	})
	w.writeCloudsYAML(t)
	return w
}

// writeCloudsYAML creates the operator's user and writes the operator's clouds.
func (w *world) writeCloudsYAML(t testing.TB) {
	t.Helper()
	password, memberPassword := rand.Text(), rand.Text()
	for _, user := range []openstack.UserSpec{
		{Name: operatorInNova, Password: password, Project: "admin", Roles: []string{"admin"}},
		{Name: "bert", Password: memberPassword, Project: "demo", Roles: []string{"member"}},
	} {
		if _, err := w.sim.OpenStack.AddUser(user); err != nil {
			t.Fatal(err)
		}
	}
	w.secrets = []string{password, memberPassword}
	login := func(user, password, project string) map[string]any {
		return map[string]any{"region_name": "RegionOne", "auth": map[string]any{"auth_url": w.sim.OpenStack.AuthURL(), "username": user,
			"password": password, "project_name": project, "user_domain_name": "Default", "project_domain_name": "Default"}}
	}
	raw, err := yaml.Marshal(map[string]any{"clouds": map[string]any{
		cloudOperator:      login(operatorInNova, password, "admin"),
		cloudMember:        login("bert", memberPassword, "demo"),
		cloudWrongPassword: login(operatorInNova, "not-"+password, "admin"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.cloudsYAML = filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(w.cloudsYAML, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// comeBack lets the machine come back that is off.
func (w *world) comeBack(t testing.TB) {
	t.Helper()
	select {
	case w.back <- struct{}{}:
	case <-time.After(patience):
		t.Fatal("no machine is off")
	}
}

// node returns the Kubernetes name of a machine.
func (w *world) node(t testing.TB, machine string) string {
	t.Helper()
	n, ok := w.sim.Scenario.Node(machine)
	if !ok {
		t.Fatalf("the scenario has no machine %s", machine)
	}
	return n.Name
}

// instance returns the state of the named instance in Nova.
func (w *world) instance(t testing.TB, name string) openstack.ServerState {
	t.Helper()
	s, ok := w.sim.OpenStack.ServerNamed(name)
	if !ok {
		t.Fatalf("there is no instance %s", name)
	}
	return s
}

// get reads an object as Admin.
func (w *world) get(t *testing.T, resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := as(t, w.Cluster, cluster.Admin).Resource(resource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read %s %s: %v", resource.Resource, name, err)
	}
	return object
}

// annotate sets an annotation of a node as Admin, like somebody other than the operator.
func (w *world) annotate(t *testing.T, node, key, value string) {
	t.Helper()
	manifest := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	_, err := as(t, w.Cluster, cluster.Admin).Resource(nodes).Patch(t.Context(), node, "application/merge-patch+json", []byte(manifest),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("annotate node %s: %v", node, err)
	}
}

// await polls until the condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("it did not come to be that %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// neverConverges makes the live migration of an instance last until forceComplete.
func neverConverges(s *scenario.Scenario, instance string) {
	for i := range s.Instances {
		if s.Instances[i].Name == instance {
			s.Instances[i].NeverConverges = true
		}
	}
}

// forceComplete ends the live migration of an instance on its target, as another administrator.
func (w *world) forceComplete(t *testing.T, instance string) {
	t.Helper()
	nova := w.administrator(t)
	id := w.instance(t, instance).ID
	var running struct {
		Migrations []struct{ ID int }
	}
	if _, err := nova.Get(t.Context(), nova.ServiceURL("servers", id, "migrations"), &running, nil); err != nil {
		t.Fatal(err)
	}
	if len(running.Migrations) != 1 {
		t.Fatalf("the migrations of %s are %+v", instance, running.Migrations)
	}
	url := nova.ServiceURL("servers", id, "migrations", strconv.Itoa(running.Migrations[0].ID), "action")
	accepted := &gophercloud.RequestOpts{OkCodes: []int{http.StatusAccepted}}
	if _, err := nova.Post(t.Context(), url, map[string]any{"force_complete": nil}, nil, accepted); err != nil {
		t.Fatalf("complete the migration of %s: %v", instance, err)
	}
}

// written returns the changes that the operator asked Kubernetes for, without those of the lease.
func (w *world) written(t *testing.T) []cluster.Request {
	t.Helper()
	all, err := w.Writes(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(r cluster.Request) bool { return r.Resource == "leases" })
}

// done returns the changes that the operator asked Nova for, in order.
func (w *world) done() []openstack.Request {
	return slices.DeleteFunc(w.sim.OpenStack.Writes(), func(r openstack.Request) bool { return r.User != operatorInNova })
}
