package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/e2e/cluster"
	"lockstep/e2e/terminal"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// lockState returns the state and the inner_state of a node's lock.
func (w *world) lockState(t *testing.T, node string) (state, inner string) {
	t.Helper()
	lock := w.get(t, nodeLocks, "openstack-"+node)
	state, _, _ = unstructured.NestedString(lock.Object, "status", "state")
	return state, lock.GetAnnotations()["inner_state"]
}

// The OpenStack controller is switched off, and Lockstep plays it on a real API server, with only the rights of its manifests. It
// takes a node out of scheduling; one instance moves at the first try, one in another way after a failure, one is stopped. It
// releases the lock, LCM updates the node, and a restarted program takes the node back.
func TestLockstepPlaysTheOpenStackController(t *testing.T) {
	t.Parallel()
	w := newWorldHoldingReboots(t, func(s *scenario.Scenario, _ *controller.Timing) {
		s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
	})
	node := w.node(t, "cmp-01")
	first := start{user: cluster.Maintainer, state: t.TempDir(), args: []string{"--act-as", "openstack"}}
	p := w.launch(t, first)
	p.Wants("acts as openstack")
	p.WantsRow("cmp-01", "as openstack: it waits for you to prepare it")
	p.Press("1", "g", "enter")
	p.Wants("Ways on")
	p.Press("esc")
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.Wants("Take cmp-01 through its maintenance")
	p.WantsRow("later", "release the lock on cmp-01")
	p.Arm()

	p.WantsRow("blocked", "begin to prepare cmp-01", "until the request waits for its return")
	p.OpenStep("hold the request of cmp-01")
	p.Wants("lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer")
	p.Confirm()
	p.WantsGone("hold the request of cmp-01")
	p.OpenStep("begin to prepare cmp-01")
	p.Wants("its Deployment is scaled to 0", "inner_state=active")
	p.Confirm()
	p.WantsRow("done", "begin to prepare cmp-01")
	p.WantsRow("ready", "take nova-compute out of scheduling on cmp-01")
	p.OpenStep("take nova-compute out of scheduling on cmp-01")
	p.Wants("OSDPL: Node is under maintenance")
	p.Confirm()
	p.WantsRow("done", "take nova-compute out of scheduling on cmp-01")
	p.WantsRow("blocked", "release the lock on cmp-01", "no running instance")

	p.OpenStep("live-migrate web-1")
	p.Confirm()
	p.WantsGone("live-migrate web-1")
	p.OpenStep("live-migrate db-2")
	p.Confirm()
	p.WantsRow("failed", "live-migrate db-2", "the migration failed")
	p.OpenStep("live-migrate db-2", "cold-migrate db-2")
	p.ConfirmTyped("db-2")
	p.WantsRow("ready", "confirm the migration of db-2")
	p.OpenStep("confirm the migration of db-2")
	p.Confirm()
	p.WantsGone("confirm the migration of db-2")
	p.OpenStep("live-migrate batch-17", "cold-migrate batch-17", "stop batch-17")
	p.ConfirmTyped("batch-17")
	p.WantsRow("ready", "release the lock on cmp-01")
	if state, inner := w.lockState(t, node); state != "active" || inner != core.InnerActive {
		t.Errorf("the lock is %s, inner_state %s", state, inner)
	}
	p.OpenStep("release the lock on cmp-01")
	p.Wants("dry-run on the server: accepted", "--subresource=status")
	p.ConfirmTyped("cmp-01")
	p.WantsRow("done", "release the lock on cmp-01") // leaving asks about what still runs
	p.Press("esc")
	p.Wants("─ 3 Nodes")
	p.WantsRow("cmp-01", "rebooting")
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}

	// LCM goes on meanwhile; the restarted program proposes what comes next.
	w.comeBack(t)
	again := w.launch(t, first)
	again.WantsRow("cmp-01", "as openstack: it waits for you to take it back")
	again.Find("3", "cmp-01")
	again.Press("enter")
	again.Arm()
	again.WantsRow("ready", "put nova-compute back into scheduling on cmp-01")
	again.OpenStep("put nova-compute back into scheduling on cmp-01")
	again.Confirm()
	again.WantsRow("ready", "take the lock back on cmp-01")
	again.OpenStep("take the lock back on cmp-01")
	again.Confirm()
	again.WantsRow("ready", "end the work on cmp-01")
	again.OpenStep("end the work on cmp-01")
	again.Confirm()
	again.WantsRow("ready", "let the request go of cmp-01")
	again.OpenStep("let the request go of cmp-01")
	again.ConfirmTyped("cmp-01")
	again.WantsRow("done", "cmp-01 went through its maintenance")
	again.Press("esc")
	again.Wants("─ 3 Nodes")
	again.WantsRow("cmp-01", "done")
	await(t, "LCM goes on with the next node", func() bool {
		request, err := as(t, w.Cluster, cluster.Admin).Resource(lcm("nodemaintenancerequests")).Get(t.Context(), w.node(t, "cmp-03"),
			metav1.GetOptions{})
		return err == nil && request.GetName() != ""
	})
	again.Want(t, terminal.Hides("let the request go of cmp-01")) // it has seen the end of it, and says so no more
	if code := again.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if state, inner := w.lockState(t, node); state != "active" || inner != core.InnerInactive {
		t.Errorf("in the end the lock is %s, inner_state %s", state, inner)
	}
	var asked []string
	for _, r := range w.done() {
		for action, argument := range decoded[map[string]any](t, []byte(r.Body)) {
			switch {
			case r.Method == http.MethodPost:
				asked = append(asked, action)
			case action == "status":
				asked = append(asked, fmt.Sprintf("service %v", argument))
			}
		}
	}
	if want := "service disabled, os-migrateLive, os-migrateLive, migrate, confirmResize, os-stop, service enabled"; strings.Join(asked,
		", ") != want {
		t.Errorf("Nova received %q, want %q", asked, want)
	}
	got, err := w.Changes(cluster.Maintainer)
	if err != nil {
		t.Fatal(err)
	}
	lock, request := "patch nodeworkloadlocks openstack-"+node, "patch nodemaintenancerequests "+node
	if want := strings.Join([]string{request, lock, lock + " (status)", lock + " (status)", lock, request}, ", "); strings.Join(got,
		", ") != want {
		t.Errorf("the API server received %q, want %q", got, want)
	}
}
