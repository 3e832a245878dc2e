//go:build openstack

package openstack

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/e2e/cluster"
	contract "lockstep/e2e/contract/openstack"
	"lockstep/e2e/operator"
	"lockstep/e2e/terminal"
)

// clusterLock is OpenStack's lock on the cluster. clusterName is the program's name for the cluster, from the kubeconfig.
const (
	clusterLock = "openstack-osh-dev"
	clusterName = "e2e"
)

// The OpenStack controller is switched off, and Lockstep plays it with only the rights of its manifests, on a real API server and
// a real Nova, from the cluster's request to its end. The cluster lock is released, a node is taken out of scheduling, and its
// instances move: one at the first try; one cold, after its target has refused it; one at the second try, after its first
// migration was aborted, and the program is killed in the middle of it; and one while Nova's API is away. The lock is released
// when Nova shows the host empty, and the way back is the same.
func TestLockstepPlaysTheOpenStackController(t *testing.T) {
	t.Parallel()
	c := newPart(t, actHosts)
	c.ownZone(t, "acted", actHosts)
	c.ownAPI(t)
	node, target := actHosts[0], actHosts[1]
	instances := []string{"app-1", "db-2", "etl-3", "web-4"} // in the order in which they move
	ordinary := func() {
		for _, name := range instances {
			c.steer(t, name, contract.Behaviour{})
		}
	}
	ordinary()
	t.Cleanup(ordinary) // a migration without an end would block all later ones, even when its server is gone
	for _, name := range instances {
		c.boot(t, name, node, "m1.tiny")
	}
	fast := timing
	fast.Finalize = 10 * time.Second
	w := newWorld(t, c, "act-as.yaml", fast)
	w.heldByTheCluster(t)
	c.awaitRunning(t, instances...)
	w.begin()
	start := func(state string) *operator.Operator {
		p := w.launch(t, operator.Desk{Columns: 149, State: state}, cluster.Maintainer, cloudSpare, "--act-as", core.ControllerOpenStack)
		p.Wants("acts as openstack", "READ-ONLY")
		return p
	}
	p := start("")
	p.Arm()

	// LCM asks for the cluster, and does not go on to the nodes before it has the cluster.
	p.WantsRow("as openstack: LCM waits for your cluster lock")
	if asked := w.requests(t); len(asked) > 0 {
		t.Errorf("LCM asks for %v already", asked)
	}
	p.Find("1", "LCM waits for your cluster lock")
	p.Press("enter")
	p.Wants("Ways on")
	p.Press("enter")
	p.OpenStep("release the lock on the cluster")
	p.Wants("OpenStack is applied and healthy")
	p.ConfirmTyped(clusterName)
	p.WantsRow("● done", "release the lock on the cluster")
	p.Press("esc")

	// LCM asks for the node, which is out of scheduling before anything moves.
	p.WantsRow("cmp-01", "as openstack: it waits for you to prepare it")
	if asked := w.requests(t); !maps.Equal(asked, map[string]string{node: "os"}) {
		t.Errorf("LCM asks for %v", asked)
	}
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.OpenStep("hold the request of cmp-01")
	p.Confirm()
	p.WantsGone("hold the request of")
	p.OpenStep("begin to prepare cmp-01")
	p.Confirm()
	p.WantsRow("● done", "begin to prepare cmp-01")
	p.OpenStep("take nova-compute out of scheduling on cmp-01")
	p.Confirm()
	p.WantsRow("● done", "take nova-compute out of scheduling on cmp-01")
	if s := c.service(t, node); s.Status != "disabled" || s.DisabledReason != "OSDPL: Node is under maintenance" {
		t.Errorf("Nova says of nova-compute of %s: %s, %q", node, s.Status, s.DisabledReason)
	}
	if state, inner := w.lock(t, node); state != "active" || inner != core.InnerActive {
		t.Errorf("the lock is %s, inner_state %s", state, inner)
	}

	// All instances are to move, one at a time. A failed one is tried as often as the node's attempts say, three times without the
	// annotation; then the batch stops and begins no other.
	const tries = core.DefaultMigrationAttempts
	failed := []string{"live-migration " + node + " " + target + " failed"}
	c.steer(t, "db-2", contract.Behaviour{FailBefore: otherCPU})
	c.steer(t, "etl-3", contract.Behaviour{Endless: true})
	c.steer(t, "web-4", contract.Behaviour{Endless: true})
	p.WantsRow("blocked", "release the lock on cmp-01", "4 left: app-1")
	p.OpenStep("live-migrate 4 instances from cmp-01")
	p.ConfirmTyped("cmp-01")
	p.WantsRow("paused", "live-migrate 4 instances from cmp-01", "2 of 4", "db-2")
	p.Wants(otherCPU)
	c.says(t, "app-1", target, "ACTIVE", []string{"live-migration"}, "live-migration "+node+" "+target+" completed")
	c.says(t, "db-2", node, "ACTIVE", slices.Repeat([]string{"live-migration failed"}, tries), slices.Repeat(failed, tries)...)
	c.says(t, "etl-3", node, "ACTIVE", nil)
	c.says(t, "web-4", node, "ACTIVE", nil)

	// The batch goes on when the operator says so. One migration does not finish, is aborted, and its instance stays on its host.
	p.Press("h")
	p.WantsRow("running", "live-migrate etl-3", " %, to cmp-02")
	p.OpenStep("live-migrate etl-3", "abort the live migration of etl-3")
	p.Confirm()
	p.WantsRow("paused", "live-migrate 4 instances from cmp-01", "3 of 4", "etl-3")
	c.rests(t, "etl-3", node)
	aborted := "live-migration " + node + " " + target + " cancelled"
	c.says(t, "etl-3", node, "ACTIVE", []string{"live-migration", "live_migration_cancel"}, aborted)
	c.says(t, "web-4", node, "ACTIVE", nil)
	p.Press("t")
	p.WantsRow("failed", "from cmp-01", "1 of 4 done, 2 failed, 1 not begun")

	// Nova's API goes away in the middle of a migration. The last facts stay, with their age, and nothing that rests on them can be
	// confirmed. The migration goes on.
	p.OpenStep("live-migrate web-4")
	p.Confirm()
	p.WantsRow("running", "live-migrate web-4", " %, to cmp-02")
	if err := process(t.Context(), "kill", spareAPI); err != nil {
		t.Fatal(err)
	}
	p.Want(t, terminal.All(terminal.Hides("● openstack"), terminal.Shows("x openstack")))
	p.WantsRow("verifying", "live-migrate web-4", "cannot see the result: unreachable: ")
	p.OpenStep("live-migrate db-2", "cold-migrate db-2")
	p.Wants("Not yet: ", "○ what is known is fresh")
	p.Press("tab", "enter")
	p.Wants("Not yet: ")
	p.Press("esc")
	c.steer(t, "web-4", contract.Behaviour{})
	await(t, "web-4 has moved", func() bool { s := c.server(t, "web-4"); return s.Host == target && s.Status == "ACTIVE" })
	p.WantsRow("blocked", "release the lock on cmp-01", "what is known is fresh")
	c.says(t, "db-2", node, "ACTIVE", slices.Repeat([]string{"live-migration failed"}, tries), slices.Repeat(failed, tries)...)
	if state, _ := w.lock(t, node); state != "active" {
		t.Errorf("during the outage the lock is %s", state)
	}

	// When the API is back, the program sees what has happened, and the remaining steps are next.
	if err := process(t.Context(), "start", spareAPI); err != nil {
		t.Fatal(err)
	}
	p.Wants("● openstack")
	p.WantsGone("live-migrate web-4")
	p.WantsRow("failed", "live-migrate etl-3", "the migration was aborted; it is still on cmp-01")
	p.WantsRow("blocked", "release the lock on cmp-01", "2 left: db-2 (live_migrate), etl-3")
	c.says(t, "web-4", target, "ACTIVE", []string{"live-migration"}, "live-migration "+node+" "+target+" completed")

	// The program is killed in the middle of a migration, and started again: it proposes the same.
	p.Press("x") // the batch has been seen: the restarted program has none
	p.WantsGone("1 of 4 done, 2 failed")
	p.OpenStep("live-migrate etl-3")
	p.Confirm()
	p.WantsRow("running", "live-migrate etl-3", " %, to cmp-02")
	p.Press("esc") // a chosen other way ends with its page
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.WantsRow("running", "live-migrate etl-3", " %, to cmp-02")
	before := proposal(p)
	if !slices.Contains(before, "blocked release the lock on cmp-01") {
		t.Errorf("it proposes %q", before)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.ExitCode()
	p = start(p.State)
	p.TakeOver()
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.WantsRow("migrat", "etl-3", " %, to cmp-02") // the new run follows what the killed one began to its end
	p.Want(t, terminal.That(fmt.Sprintf("the proposal %q", before), func(terminal.Screen) bool { return slices.Equal(proposal(p), before) }))
	c.steer(t, "etl-3", contract.Behaviour{})
	p.WantsGone(" %, to cmp-02")
	c.says(t, "etl-3", target, "ACTIVE", []string{"live-migration", "live_migration_cancel", "live-migration"},
		aborted, "live-migration "+node+" "+target+" completed")

	// The last one moves cold.
	p.OpenStep("live-migrate db-2", "cold-migrate db-2")
	p.ConfirmTyped("db-2")
	p.WantsRow("ready", "confirm the migration of db-2")
	if s := c.server(t, "db-2"); s.Host != target || s.Status != "VERIFY_RESIZE" {
		t.Errorf("db-2 is %s on %s", s.Status, s.Host)
	}
	p.OpenStep("confirm the migration of db-2")
	p.Confirm()
	p.WantsGone("confirm the migration of db-2")
	c.says(t, "db-2", target, "ACTIVE", append(slices.Repeat([]string{"live-migration failed"}, tries), "migrate", "confirmResize"),
		append(slices.Repeat(failed, tries), "migration "+node+" "+target+" confirmed")...)

	// When the lock is released, Nova shows the host empty and out of scheduling.
	p.WantsRow("done", "no running instance is left")
	released := w.watchRelease(t, node)
	p.OpenStep("release the lock on cmp-01")
	p.Wants("dry-run on the server: accepted", "--subresource=status")
	if state, _ := w.lock(t, node); state != "active" {
		t.Errorf("before it is released the lock is %s", state)
	}
	p.ConfirmTyped("cmp-01")
	if found := released(); found != "" {
		t.Errorf("when the lock was released: %s", found)
	}

	// LCM drains and updates the node, and withdraws its request. The way back is the reverse.
	p.Press("esc")
	p.WantsRow("cmp-01", "as openstack: it waits for you to take it back")
	if s := c.service(t, node); s.Status != "disabled" {
		t.Errorf("nova-compute of %s is %s before the node was taken back", node, s.Status)
	}
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.OpenStep("put nova-compute back into scheduling on cmp-01")
	p.Confirm()
	p.WantsRow("ready", "take the lock back on cmp-01")
	if s := c.service(t, node); s.Status != "enabled" || s.DisabledReason != "" {
		t.Errorf("Nova says of nova-compute of %s: %s, %q", node, s.Status, s.DisabledReason)
	}
	p.OpenStep("take the lock back on cmp-01")
	p.Confirm()
	p.WantsRow("ready", "end the work on cmp-01")
	p.OpenStep("end the work on cmp-01")
	p.Confirm()
	p.WantsRow("ready", "let the request go of cmp-01")
	p.OpenStep("let the request go of cmp-01")
	p.ConfirmTyped("cmp-01")
	p.WantsGone("let the request go of cmp-01")
	if state, inner := w.lock(t, node); state != "active" || inner != core.InnerInactive {
		t.Errorf("in the end the lock is %s, inner_state %s", state, inner)
	}

	// The update is over, and so is LCM's request for the cluster.
	p.Press("esc")
	p.WantsRow("as openstack: the update is over, and your cluster lock is not taken back")
	p.Find("1", "your cluster lock is not taken back")
	p.Press("enter")
	p.Wants("Ways on")
	p.Press("enter")
	p.OpenStep("take the lock back on the cluster")
	p.Confirm()
	await(t, "the cluster lock is taken back", func() bool { return w.clusterLock(t) == "active" })
	p.WantsGone("take the lock back on the cluster")
	p.WantsRow("ready", "let the request go of "+clusterName)
	p.OpenStep("let the request go of " + clusterName)
	p.ConfirmTyped(clusterName)
	p.WantsGone("let the request go of")
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}

	w.received(t, node)
	tellsTheStory(t, p)
	p.KeepsNoSecret([]string{w.Config(cluster.Maintainer).BearerToken, c.password(t)})
}

// steer sets how the migrations of the server go from now on.
func (c *cloud) steer(t *testing.T, name string, b contract.Behaviour) {
	t.Helper()
	if err := steer(c.orders(t), contract.Server{Name: name}, b); err != nil {
		t.Fatal(err)
	}
}

// ownAPI starts the Nova API of cloudSpare for as long as the test runs.
func (c *cloud) ownAPI(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if err := process(context.Background(), "stop", spareAPI); err != nil {
			t.Error(err)
		}
	})
	if err := process(t.Context(), "start", spareAPI); err != nil {
		t.Fatal(err)
	}
}

// rests waits until the server is ACTIVE on the host and has no task.
func (c *cloud) rests(t *testing.T, name, host string) {
	t.Helper()
	await(t, name+" is at rest on "+host, func() bool {
		s := c.server(t, name)
		return s.Status == "ACTIVE" && s.TaskState == "" && s.Host == host
	})
}

// heldByTheCluster leaves the update at the point where the controller was switched off before it released the cluster.
func (w *world) heldByTheCluster(t *testing.T) {
	t.Helper()
	_, err := w.admin.Resource(lcm("clusterworkloadlocks")).Patch(t.Context(), clusterLock, types.MergePatchType,
		[]byte(`{"status":{"state":"active"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

// requests are the scopes of the NodeMaintenanceRequests, by node.
func (w *world) requests(t *testing.T) map[string]string {
	t.Helper()
	list, err := w.admin.Resource(lcm("nodemaintenancerequests")).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]string{}
	for _, r := range list.Items {
		name, _, _ := unstructured.NestedString(r.Object, "spec", "nodeName")
		scopes[name], _, _ = unstructured.NestedString(r.Object, "spec", "scope")
	}
	return scopes
}

// lock returns the state of OpenStack's lock on the node, and its inner_state.
func (w *world) lock(t *testing.T, node string) (state, inner string) {
	t.Helper()
	lock, err := w.admin.Resource(lcm("nodeworkloadlocks")).Get(t.Context(), "openstack-"+node, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the lock of node %s: %v", node, err)
	}
	state, _, _ = unstructured.NestedString(lock.Object, "status", "state")
	return state, lock.GetAnnotations()["inner_state"]
}

// clusterLock returns the state of OpenStack's lock on the cluster.
func (w *world) clusterLock(t *testing.T) string {
	t.Helper()
	lock, err := w.admin.Resource(lcm("clusterworkloadlocks")).Get(t.Context(), clusterLock, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the cluster lock: %v", err)
	}
	state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
	return state
}

// watchRelease watches the node's lock from now on. The returned function waits until the lock is inactive, and returns what Nova
// showed at that moment that must not be so: an instance on the host, a migration from it, or a host in scheduling; nothing when
// all is well.
func (w *world) watchRelease(t *testing.T, node string) func() string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	events, err := w.admin.Resource(lcm("nodeworkloadlocks")).Watch(ctx,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "openstack-"+node).String()})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	var found string
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel()
		for event := range events.ResultChan() {
			lock, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				found = fmt.Sprintf("the watch of the lock ended with %v", event.Object)
				return
			}
			if state, _, _ := unstructured.NestedString(lock.Object, "status", "state"); state == "inactive" {
				found = w.cloud.against(ctx, node)
				return
			}
		}
		found = "it never was"
	})
	return func() string { watching.Wait(); return found }
}

// against returns Nova's reasons not to switch the host off.
func (c *cloud) against(ctx context.Context, host string) string {
	var found []string
	all, err := c.list(ctx)
	if err != nil {
		return err.Error()
	}
	for _, s := range all {
		if s.Host == host {
			found = append(found, fmt.Sprintf("%s is %s on the host", s.Name, s.Status))
		}
	}
	records, err := c.records(ctx, "source_compute="+host)
	if err != nil {
		return err.Error()
	}
	for _, m := range records {
		if !slices.Contains([]string{"completed", "confirmed", "failed", "cancelled", "error"}, m.Status) {
			found = append(found, "there is a "+m.Type+" that is "+m.Status)
		}
	}
	service, err := c.computeOf(ctx, host)
	if err != nil {
		return err.Error()
	}
	if service.Status != "disabled" {
		found = append(found, "nova-compute is "+service.Status)
	}
	return strings.Join(found, "; ")
}

// offered finds the rows of the page of steps, each with its state and its title.
var offered = regexp.MustCompile(`(?m)^[▌ ] . (done|ready|failed|waiting|blocked|running|later) +(\S.*?)(?:  .*)?$`)

// proposal returns what the page of steps proposes, each step with its state, except what is under way with etl-3: while this
// program itself moves it, only the lock's text has to wait.
func proposal(p *operator.Operator) []string {
	var all []string
	for _, row := range offered.FindAllStringSubmatch(p.Screen().String(), -1) {
		if !strings.Contains(row[2], "etl-3") && !strings.Contains(row[2], "say what is waited for") {
			all = append(all, row[1]+" "+row[2])
		}
	}
	return all
}

// received fails the test unless the API server received exactly the changes of the documented flow from the operator, each once.
func (w *world) received(t *testing.T, node string) {
	t.Helper()
	got, err := w.Changes(cluster.Maintainer)
	if err != nil {
		t.Fatal(err)
	}
	ofCluster, ofNode := "patch clusterworkloadlocks "+clusterLock+" (status)", "patch nodeworkloadlocks openstack-"+node
	asksCluster, asksNode := "patch clustermaintenancerequests mos", "patch nodemaintenancerequests "+node
	want := []string{ofCluster, asksNode, ofNode, ofNode + " (status)", ofNode + " (status)", ofNode, asksNode, ofCluster, asksCluster}
	if !slices.Equal(got, want) {
		t.Errorf("the API server received %q, want %q", got, want)
	}
}

// tellsTheStory fails the test unless the journal has what was done, in order, with its end.
func tellsTheStory(t *testing.T, p *operator.Operator) {
	t.Helper()
	var got []string
	before := map[string]bool{}
	for _, r := range p.Records() {
		switch r.Kind {
		case engine.RecordBefore:
			before[r.Operation] = true
		case engine.RecordVerified:
			got = append(got, r.Title+": "+r.State)
			if !before[r.Operation] {
				t.Errorf("%s was not journalled before it was done", r.Title)
			}
			delete(before, r.Operation)
		}
	}
	want := []string{
		"release the lock on the cluster: done",
		"hold the request of cmp-01: done",
		"begin to prepare cmp-01: done",
		"take nova-compute out of scheduling on cmp-01: done",
		"live-migrate app-1: done",
		"live-migrate db-2: failed",
		"live-migrate db-2 (try 2 of 3): failed",
		"live-migrate db-2 (try 3 of 3): failed",
		"abort the live migration of etl-3: done",
		"live-migrate etl-3: failed",
		"live-migrate web-4: done",
		"cold-migrate db-2: done",
		"confirm the migration of db-2: done",
		"release the lock on cmp-01: done",
		"put nova-compute back into scheduling on cmp-01: done",
		"take the lock back on cmp-01: done",
		"end the work on cmp-01: done",
		"let the request go of cmp-01: done",
		"take the lock back on the cluster: done",
		"let the request go of " + clusterName + ": done",
	}
	slices.Sort(got) // an abort and what it aborts end at the same time
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the journal tells of %q, want %q", got, want)
	}
	if len(before) != 1 {
		t.Errorf("%d writes have no end in the journal, want that in which the program was killed", len(before))
	}
}

// password returns the password of the logins.
func (c *cloud) password(t *testing.T) string {
	t.Helper()
	auth, _, _, err := clouds.Parse(clouds.WithLocations(c.cloudsYAML()), clouds.WithCloudName(cloudSpare))
	if err != nil {
		t.Fatal(err)
	}
	return auth.Password
}
