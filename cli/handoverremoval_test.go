package cli

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

var nodeDeletions = sessiontest.LCM("nodedeletionrequests")

// Lockstep and the OpenStack controller take over from one another in any state of the removal of a compute, both ways. At the
// end nothing is left of it, and nothing else has changed, just as when one of the two does everything alone
// (docs/mosk.md#after-a-node-is-gone).
func TestWhoeverTakesOverARemovalNothingIsLeftBehind(t *testing.T) {
	bubble.Story(t, takesOverRemovals)
}

// removal is a handover in which nodes are taken out of the cluster, one after another.
type removal struct {
	*takeTurns
	node string // the one being taken out
}

func takesOverRemovals(t *testing.T) {
	const most = 16 // computes, each of which is removed in another way
	scene := "nodes:\n  - {machine: ctl-01, roles: [master, controller]}\n"
	for i := 1; i <= most; i++ {
		scene += fmt.Sprintf("  - {machine: cmp-%02d, roles: [compute], volumeBackends: [lvm]}\n", i)
	}
	head, rest, _ := strings.Cut(twoComputes, "nodes:\n")
	_, tail, _ := strings.Cut(rest, "flavors:")
	told, err := scenario.Parse([]byte(head + scene + "flavors:" +
		strings.Replace(tail, "host: cmp-01", fmt.Sprintf("host: cmp-%02d", most), 1)))
	if err != nil {
		t.Fatal(err)
	}
	r := &removal{takeTurns: &takeTurns{player: play(t, told, "openstack"), seen: map[string]int{}}}
	r.kube = kubernetesOf(t, r.Cloud)
	if r.admin, err = dynamic.NewForConfig(r.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	next := 0
	// take makes the request for another compute; the returned function compares what is left with the state before.
	take := func() (through func(how string)) {
		next++
		if next == most {
			t.Fatal("there is no compute left to be removed")
		}
		before := r.state()
		r.node = r.named(fmt.Sprintf("cmp-%02d", next))
		r.remove()
		return func(how string) {
			t.Helper()
			maps.DeleteFunc(before, func(name, _ string) bool { return strings.Contains(name, r.node) })
			if after := r.state(); !maps.Equal(before, after) {
				t.Fatalf("%s left behind: %s", how, differing(before, after))
			}
		}
	}

	r.controller(true)
	through := take()
	r.finishRemoval()
	through("the controller alone")

	r.controller(false)
	through = take()
	steps := 0
	for ; r.stepRemoval(); steps++ {
	}
	through("Lockstep alone")
	if steps < 5 {
		t.Errorf("Lockstep has done %d steps only", steps)
	}

	for after := range steps {
		r.controller(false)
		through := take()
		for range after {
			r.stepRemoval()
		}
		state := r.stateOfRemoval()
		r.seen["to the controller, "+state]++
		r.controller(true)
		r.finishRemoval()
		through(fmt.Sprintf("the controller, after %d steps of Lockstep's (%s),", after, state))
	}

	for changes := 1; ; changes++ {
		r.controller(true)
		through := take()
		state, cut := r.serveRemoval(changes)
		if !cut {
			break // it had finished before
		}
		r.seen["to Lockstep, "+state]++
		for r.stepRemoval() {
		}
		through(fmt.Sprintf("Lockstep, after %d changes of the controller's (%s),", changes, state))
	}
	for _, state := range []string{"to the controller, asked, lock active", "to the controller, asked, lock active, nova-compute out",
		"to the controller, asked, lock inactive, nova-compute out", "to the controller, gone, lock inactive, being deleted, no nova-compute",
		"to Lockstep, gone, lock inactive, being deleted, nova-compute out"} {
		if r.seen[state] == 0 {
			t.Errorf("nobody has taken over in the state %q; they have in\n%s", state, strings.Join(slices.Sorted(maps.Keys(r.seen)), "\n"))
		}
	}
}

func (r *removal) named(label string) string {
	for _, n := range r.last.Nodes {
		if n.Label() == label {
			return n.Name
		}
	}
	r.t.Fatalf("there is no %s", label)
	return ""
}

// remove asks for the node's removal, as LCM does.
func (r *removal) remove() {
	r.t.Helper()
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeDeletionRequest",
		"metadata": map[string]any{"name": r.node}, "spec": map[string]any{"nodeName": r.node}}}
	if _, err := r.admin.Resource(nodeDeletions).Create(r.t.Context(), request, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.until("the request is seen", func(s *core.Snapshot) bool { return s.Deletions[r.node] != nil })
}

// takeOut is LCM's part: once the lock allows it, the host goes down, and its Node and the request are deleted.
func (r *removal) takeOut() {
	r.t.Helper()
	s := r.last
	l := s.NodeLock(r.node, core.ControllerOpenStack)
	if l == nil || l.State() != core.LockInactive || s.Nodes[r.node] == nil || !s.Nodes[r.node].Deleting.IsZero() {
		return
	}
	ctx := r.t.Context()
	if err := r.OpenStack.PowerOffHost(s.HostOf(r.node)); err != nil {
		r.t.Fatal(err)
	}
	if err := r.kube.CoreV1().Nodes().Delete(ctx, r.node, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		r.t.Fatal(err)
	}
	if err := r.admin.Resource(nodeDeletions).Delete(ctx, r.node, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		r.t.Fatal(err)
	}
	r.until("the node is seen to go", func(s *core.Snapshot) bool {
		return (s.Nodes[r.node] == nil || !s.Nodes[r.node].Deleting.IsZero()) && s.Deletions[r.node] == nil
	})
}

func (r *removal) over(s *core.Snapshot) bool {
	return sessiontest.AllKnown(s) && s.Nodes[r.node] == nil && s.NodeLock(r.node, core.ControllerOpenStack) == nil
}

// finishRemoval lets the controller work until nothing is left to do.
func (r *removal) finishRemoval() {
	r.t.Helper()
	r.until("the controller is through with the removal", func(s *core.Snapshot) bool {
		r.takeOut()
		return r.over(s)
	})
}

// stepRemoval does Lockstep's next step; false when there is no more.
func (r *removal) stepRemoval() bool {
	r.t.Helper()
	var st core.Step
	found := false
	kinds := []core.IntentKind{core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentActRelease, core.IntentActVolumeOut,
		core.IntentActDeleteClaim,
		core.IntentActDropLock, core.IntentActLetGo}
	r.until("there is something to do, or all is done", func(s *core.Snapshot) bool {
		r.takeOut()
		proc, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: r.node})
		r.forget(s)
		for _, step := range proc.Steps {
			if step.Doable() && (step.State == core.StepReady || step.State == core.StepFailed) && slices.Contains(kinds, step.Intent.Kind) {
				st, found = step, true
				return true
			}
		}
		return r.over(s)
	})
	if found && !r.doNow(st) {
		return r.stepRemoval()
	}
	return found
}

// forget plays the operator, who deletes what OpenStack knows about the host once it is down.
func (r *removal) forget(s *core.Snapshot) {
	r.t.Helper()
	if s.Nodes[r.node] != nil || s.NodeLock(r.node, core.ControllerOpenStack) == nil {
		return
	}
	ctx, options := r.t.Context(), r.Controllers()
	missing := func(err error) bool { return gophercloud.ResponseCodeIs(err, http.StatusNotFound) }
	if svc := s.Services[r.node]; svc != nil && !svc.Up {
		if _, err := options.Compute.Delete(ctx, options.Compute.ServiceURL("os-services", svc.ID), nil); err != nil && !missing(err) {
			r.t.Fatal(err)
		}
	}
	for _, a := range s.Agents[r.node] {
		if a.Alive {
			continue
		}
		if _, err := options.Network.Delete(ctx, options.Network.ServiceURL("agents", a.ID), nil); err != nil && !missing(err) {
			r.t.Fatal(err)
		}
	}
	for _, v := range s.VolumeServicesOn(r.node) {
		if !v.Up {
			_ = r.OpenStack.RemoveVolumeService(v.Host) // it may be removed already
		}
	}
}

// serveRemoval lets the controller work until the lock has changed this many times, and scales it down at that moment. It returns
// the state in which the controller left it; false if it had finished before.
func (r *removal) serveRemoval(changes int) (state string, cut bool) {
	r.t.Helper()
	gone := make(chan error, 1)
	stop := r.Kube.Follow(func(c kubeapi.Change) {
		controller, _, _ := unstructured.NestedString(c.Now.Object, "spec", "controllerName")
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		if node != r.node || controller != "" && controller != core.ControllerOpenStack {
			return
		}
		if changes--; changes == 0 {
			go func() { gone <- r.scale(0) }()
		}
	}, sessiontest.NodeLocks.Resource, nodeDeletions.Resource)
	defer stop()
	r.until("the controller has worked", func(s *core.Snapshot) bool {
		r.takeOut()
		select {
		case err := <-gone:
			if err != nil {
				r.t.Fatal(err)
			}
			cut = true
		default:
		}
		return cut || r.over(s)
	})
	if cut {
		r.controller(false)
		state = r.stateOfRemoval()
	}
	return state, cut
}

func (r *removal) stateOfRemoval() string {
	s := r.last
	state := "asked"
	if s.Nodes[r.node] == nil {
		state = "gone"
	}
	if l := s.NodeLock(r.node, core.ControllerOpenStack); l == nil {
		state += ", no lock"
	} else {
		state += ", lock " + string(l.State())
		if !l.Deleting.IsZero() {
			state += ", being deleted"
		}
	}
	if svc := s.Services[s.HostOf(r.node)]; svc == nil {
		state += ", no nova-compute"
	} else if !svc.Enabled {
		state += ", nova-compute out"
	}
	return state
}

// The same in the middle of the claims of a controller that is gone: the one that takes over deletes the others, and the lock
// goes last.
func TestWhoeverTakesOverTheClaimsOfAGoneNodeNothingIsLeftBehind(t *testing.T) {
	bubble.Story(t, takesOverClaims)
}

func takesOverClaims(t *testing.T) {
	scene := "openstack: {services: [compute, networking, block-storage, database, coordination, redis, metric-storage], ovn: true}\nnodes:\n"
	for i := 1; i <= 6; i++ {
		scene += fmt.Sprintf("  - {machine: ctl-%02d, roles: [master, controller]}\n", i)
	}
	told, err := scenario.Parse([]byte(strings.Replace(twoComputes, "nodes:\n  - {machine: ctl-01, roles: [master, controller]}\n", scene, 1)))
	if err != nil {
		t.Fatal(err)
	}
	r := &removal{takeTurns: &takeTurns{player: play(t, told, "openstack"), seen: map[string]int{}}}
	r.kube = kubernetesOf(t, r.Cloud)
	if r.admin, err = dynamic.NewForConfig(r.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	at := func() map[string]int { // how many claims are bound to a node
		out := map[string]int{}
		for _, claim := range r.Kube.Objects("persistentvolumeclaims") {
			out[claim.GetAnnotations()["volume.kubernetes.io/selected-node"]]++
		}
		return out
	}
	total := len(r.Kube.Objects("persistentvolumeclaims"))
	for _, way := range []struct {
		lockstepFirst bool
		claims        int // the least number that the first of the two deletes
	}{{true, 2}, {false, 2}} {
		for node, n := range at() {
			if most := at()[r.node]; n > most || n == most && node < r.node || r.last.Nodes[r.node] == nil {
				r.node = node
			}
		}
		bound := at()[r.node]
		how := fmt.Sprintf("%s, of %d claims of %s: Lockstep first: %t, %d", r.node, bound, r.last.Label(r.node), way.lockstepFirst, way.claims)
		if bound <= way.claims {
			t.Fatal(how)
		}
		r.controller(!way.lockstepFirst)
		deleted, gone := make(chan struct{}), make(chan error, 1)
		left := way.claims
		stop := r.Kube.Follow(func(c kubeapi.Change) {
			if c.Now.GetDeletionTimestamp() == nil || c.Before != nil && c.Before.GetDeletionTimestamp() != nil {
				return
			}
			if left--; left == 0 {
				close(deleted)
				if !way.lockstepFirst {
					go func() { gone <- r.scale(0) }()
				}
			}
		}, "persistentvolumeclaims")
		if err := r.OpenStack.PowerOffHost(r.last.HostOf(r.node)); err != nil {
			t.Fatal(err)
		}
		if err := r.kube.CoreV1().Nodes().Delete(t.Context(), r.node, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if way.lockstepFirst {
			for range 1 + way.claims { // the Node goes first
				r.stepRemoval()
			}
		}
		r.until(how+" are deleted", func(*core.Snapshot) bool {
			select {
			case <-deleted:
				return true
			default:
				return false
			}
		})
		stop()
		if !way.lockstepFirst {
			if err := <-gone; err != nil {
				t.Fatal(err)
			}
			r.controller(false)
			for r.stepRemoval() {
			}
		} else {
			r.controller(true)
			r.finishRemoval()
		}
		r.until(how+": the members are back", func(*core.Snapshot) bool {
			return at()[r.node] == 0 && len(r.Kube.Objects("persistentvolumeclaims")) == total &&
				!slices.ContainsFunc(r.Kube.Objects("persistentvolumeclaims"), func(c *unstructured.Unstructured) bool {
					phase, _, _ := unstructured.NestedString(c.Object, "status", "phase")
					return phase != "Bound"
				})
		})
	}
}
