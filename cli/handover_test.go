package cli

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// twoComputes is a cluster at rest, in which only the test makes requests. One instance moves back and forth.
const twoComputes = `
name: handover
title: One takes over from the other
teaches: Nothing
seed: 77
release: {from: 17.4.0+25.1, to: 21.0.0+25.2}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: 1.0.7, to: 1.1.5}
history: {startAt: operator}
management: {}
nodes:
  - {machine: ctl-01, roles: [master, controller]}
  - {machine: cmp-01, roles: [compute], volumeBackends: [lvm]}
  - {machine: cmp-02, roles: [compute], volumeBackends: [lvm]}
flavors: [{name: m1.small, vcpus: 2, memoryGiB: 4, diskGiB: 20}]
projects: [shop]
instances:
  - {name: web-1, project: shop, flavor: m1.small, host: cmp-01}
`

// Lockstep and the OpenStack controller take over from one another in any state of a node's maintenance, and of the cluster's,
// both ways. At the end every lock, inner_state, service, finalizer, request and claim is as it was, just as when one of the two
// does everything alone (docs/mosk.md#node-request).
func TestWhoeverTakesOverWheneverNothingIsLeftBehind(t *testing.T) {
	bubble.Story(t, takesOver)
}

// takeTurns is Lockstep beside a controller that is scaled up and down.
type takeTurns struct {
	*player
	admin dynamic.Interface
	kube  kubernetes.Interface
	seen  map[string]int // the states in which one took over from the other

	refused string // the step that was refused last, and was not done since
	times   int    // how often, one after another
}

func takesOver(t *testing.T) {
	scene, err := scenario.Parse([]byte(twoComputes))
	if err != nil {
		t.Fatal(err)
	}
	h := &takeTurns{player: play(t, scene, "openstack"), seen: map[string]int{}}
	h.kube = kubernetesOf(t, h.Cloud)
	if h.admin, err = dynamic.NewForConfig(h.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	before := h.state()
	through := func(how string) {
		t.Helper()
		if after := h.state(); !maps.Equal(before, after) {
			t.Fatalf("%s left behind: %s", how, differing(before, after))
		}
	}

	for _, subject := range []string{"node", "cluster"} {
		h.controller(true)
		h.ask(subject)
		h.finish(subject)
		through("the controller alone, the " + subject)

		h.controller(false)
		h.ask(subject)
		steps := 0
		for ; h.step(subject); steps++ {
		}
		through("Lockstep alone, the " + subject)
		if least := map[string]int{"node": 10, "cluster": 4}[subject]; steps < least {
			t.Errorf("Lockstep has done %d steps for the %s, less than %d", steps, subject, least)
		}

		for after := range steps {
			h.controller(false)
			h.ask(subject)
			for range after {
				h.step(subject)
			}
			state := h.where(subject)
			h.seen["to the controller, "+state]++
			h.controller(true)
			h.finish(subject)
			through(fmt.Sprintf("the controller, after %d steps of Lockstep's for the %s (%s),", after, subject, state))
		}

		for changes := 1; ; changes++ {
			h.controller(true)
			h.ask(subject)
			state, cut := h.serve(subject, changes)
			if !cut {
				break // it had finished before
			}
			h.seen["to Lockstep, "+state]++
			for h.step(subject) {
			}
			through(fmt.Sprintf("Lockstep, after %d changes of the controller's for the %s (%s),", changes, subject, state))
		}
	}
	for _, state := range wantedStates {
		if h.seen[state] == 0 {
			t.Errorf("nobody has taken over in the state %q; they have in\n%s", state, strings.Join(slices.Sorted(maps.Keys(h.seen)), "\n"))
		}
	}
}

// wantedStates are some of the states that a passing test must have gone through.
var wantedStates = []string{
	"to the controller, node: asked, lock active, with its instance",
	"to the controller, node: asked, held, lock active, begun, nova-compute out, cinder-volume out, with its instance",
	"to the controller, node: asked, held, lock inactive, begun, nova-compute out, cinder-volume out",
	"to the controller, node: withdrawn, held, lock active, begun",
	"to the controller, cluster: asked, held, lock inactive",
	"to the controller, cluster: withdrawn, held, lock active",
	"to Lockstep, node: asked, held, lock active, begun, nova-compute out, with its instance",
	"to Lockstep, node: withdrawn, held, lock inactive, begun, nova-compute out, cinder-volume out",
	"to Lockstep, cluster: withdrawn, held, lock inactive",
}

// node returns the compute with the instance, or the one that a request is for.
func (h *takeTurns) node() string {
	for node := range h.last.NodeRequests {
		return node
	}
	for _, in := range h.last.Instances.All() {
		for _, n := range h.last.Nodes {
			if h.last.HostOf(n.Name) == in.Host {
				return n.Name
			}
		}
	}
	h.t.Fatal("there is no instance")
	return ""
}

// ask makes the request, as LCM does.
func (h *takeTurns) ask(subject string) {
	h.t.Helper()
	resource, kind, name := sessiontest.NodeRequests, "NodeMaintenanceRequest", ""
	spec := map[string]any{"release": h.Scenario.Release.From, "scope": "os"}
	if subject == "cluster" {
		resource, kind, name = sessiontest.ClusterRequests, "ClusterMaintenanceRequest", "mos"
		delete(spec, "scope")
	} else {
		h.until("the instance is at rest", func(s *core.Snapshot) bool {
			for _, in := range s.Instances.All() {
				if in.Status != "ACTIVE" {
					return false
				}
			}
			return sessiontest.AllKnown(s) && len(s.NodeRequests) == 0
		})
		name = h.node()
		spec["nodeName"] = name
	}
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec}}
	if _, err := h.admin.Resource(resource).Create(h.t.Context(), request, metav1.CreateOptions{}); err != nil {
		h.t.Fatal(err)
	}
	h.until("the request is seen", func(s *core.Snapshot) bool { return h.request(s, subject) != nil })
}

func (h *takeTurns) request(s *core.Snapshot, subject string) *core.MaintenanceRequest {
	if subject == "cluster" {
		return s.ClusterRequest()
	}
	for node := range s.NodeRequests {
		return s.NodeRequest(node)
	}
	return nil
}

// lcm deletes the request once the lock allows it: LCM's own work on a node takes no time here.
func (h *takeTurns) lcm(subject string) {
	h.t.Helper()
	s := h.last
	r := h.request(s, subject)
	if r == nil || !r.Deleting.IsZero() {
		return
	}
	resource, lock := sessiontest.ClusterRequests, (*core.WorkloadLock)(nil)
	if subject == "node" {
		resource, lock = sessiontest.NodeRequests, s.NodeLock(r.Node, core.ControllerOpenStack)
	} else {
		for _, l := range s.ClusterLocks {
			if l.Controller == core.ControllerOpenStack {
				lock = l
			}
		}
	}
	if lock == nil || lock.State() != core.LockInactive {
		return
	}
	if err := h.admin.Resource(resource).Delete(h.t.Context(), r.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		h.t.Fatal(err)
	}
}

// serve lets the controller work until the lock or the request has changed this many times, and scales it down at that moment, in
// the middle of its work. It returns the state in which the controller left them; false if it had finished before.
func (h *takeTurns) serve(subject string, changes int) (state string, cut bool) {
	h.t.Helper()
	gone := make(chan error, 1)
	request := h.request(h.last, subject)
	stop := h.Kube.Follow(func(c kubeapi.Change) {
		controller, _, _ := unstructured.NestedString(c.Now.Object, "spec", "controllerName")
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		if node != request.Node || controller != "" && controller != core.ControllerOpenStack {
			return
		}
		if changes--; changes == 0 {
			go func() { gone <- h.scale(0) }()
		}
	}, subject+"workloadlocks", subject+"maintenancerequests")
	defer stop()
	h.until("the controller has worked", func(s *core.Snapshot) bool {
		h.lcm(subject)
		select {
		case err := <-gone:
			if err != nil {
				h.t.Fatal(err)
			}
			cut = true
		default:
		}
		return cut || h.request(s, subject) == nil
	})
	if cut {
		h.controller(false)
		state = h.where(subject)
	}
	return state, cut
}

// scale gives the controller this many replicas.
func (h *takeTurns) scale(replicas int) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := h.kube.AppsV1().Deployments("osh-system").Patch(h.t.Context(), "rockoon", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// finish lets the controller work until the request is gone.
func (h *takeTurns) finish(subject string) {
	h.t.Helper()
	h.until("the controller is through with the "+subject, func(s *core.Snapshot) bool {
		h.lcm(subject)
		return sessiontest.AllKnown(s) && h.request(s, subject) == nil
	})
}

// controller scales the controller, and waits until Lockstep sees it.
func (h *takeTurns) controller(on bool) {
	h.t.Helper()
	replicas := 0
	if on {
		replicas = 1
	}
	if err := h.scale(replicas); err != nil {
		h.t.Fatal(err)
	}
	h.until("the controller is scaled", func(s *core.Snapshot) bool {
		return s.Controller != nil && s.Controller.Replicas == replicas && s.Controller.Existing == replicas && s.Controller.Ready == replicas
	})
}

// step does Lockstep's next step; false when the request is gone and there is no step.
func (h *takeTurns) step(subject string) bool {
	h.t.Helper()
	var st core.Step
	found := false
	h.until("there is something to do, or all is done", func(s *core.Snapshot) bool {
		h.lcm(subject)
		st, found = h.next(s, core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentLiveMigrateAll, core.IntentLiveMigrate,
			core.IntentActRelease,
			core.IntentActIntoScheduling, core.IntentActRearm, core.IntentActFinish, core.IntentActHold, core.IntentActLetGo,
			core.IntentActVolumeOut, core.IntentActVolumeIn)
		return found || sessiontest.AllKnown(s) && h.request(s, subject) == nil
	})
	if found && !h.doNow(st) {
		return h.step(subject)
	}
	return found
}

// mostRefusals is the refusal of one step at which a test fails: ten seconds after the first one, what Lockstep knows is no older.
const mostRefusals = 3

// doNow does a step; false when the servers answered right before it that the facts had changed: what Lockstep knew was older.
func (h *takeTurns) doNow(st core.Step) bool {
	h.t.Helper()
	op := h.execute(st)
	if op.State == core.OperationFailed && strings.HasPrefix(op.Text, "refused: ") {
		if h.refused != st.ID {
			h.refused, h.times = st.ID, 0
		}
		h.t.Logf("%s was %s", st.Title, op.Text)
		if h.times++; h.times == mostRefusals {
			h.t.Fatalf("%s was refused %d times, one after another: %s", st.Title, h.times, op.Text)
		}
		time.Sleep(10 * time.Second)
		return false
	}
	if op.State != core.OperationDone {
		h.t.Fatalf("%s ended as %s: %s", st.Title, op.State, op.Text)
	}
	h.refused, h.times = "", 0
	h.until(st.Title+" shows", func(s *core.Snapshot) bool {
		now := step.Plan(s, st.Intent)
		return !now.Doable() || !reflect.DeepEqual(now.Change, st.Change)
	})
	return true
}

// where is the state in which one takes over from the other.
func (h *takeTurns) where(subject string) string {
	s := h.last
	r := h.request(s, subject)
	state := subject + ": no request"
	if r != nil {
		state = subject + ": asked"
		if !r.Deleting.IsZero() {
			state = subject + ": withdrawn"
		}
		if len(r.Finalizers) > 0 {
			state += ", held"
		}
	}
	if subject == "cluster" {
		for _, l := range s.ClusterLocks {
			if l.Controller == core.ControllerOpenStack {
				state += ", lock " + string(l.State())
			}
		}
		return state
	}
	if r == nil {
		return state
	}
	l := s.NodeLock(r.Node, core.ControllerOpenStack)
	state += ", lock " + string(l.State())
	if l.InnerState == core.InnerActive {
		state += ", begun"
	}
	if svc := s.Services[s.HostOf(r.Node)]; svc != nil && !svc.Enabled {
		state += ", nova-compute out"
	}
	for _, svc := range s.VolumeServices[s.HostOf(r.Node)] {
		if !svc.Enabled {
			state += ", cinder-volume out"
		}
	}
	if len(s.InstancesOn(r.Node)) > 0 {
		state += ", with its instance"
	}
	return state
}

// state returns, by name, what the flow may leave behind.
func (h *takeTurns) state() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	ctx := h.t.Context()
	for _, resource := range []schema.GroupVersionResource{sessiontest.NodeLocks, sessiontest.ClusterLocks, sessiontest.NodeRequests,
		sessiontest.ClusterRequests} {
		list, err := h.admin.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, o := range list.Items {
			inner := o.GetAnnotations()["inner_state"]
			if inner == "inactive" {
				inner = "" // like one that never existed
			}
			status, _, _ := unstructured.NestedMap(o.Object, "status")
			out[resource.Resource+" "+o.GetName()] = fmt.Sprintf("%v %v, text %q, inner_state %q, finalizers %q", status["state"], status["release"],
				fmt.Sprint(status["errorMessage"]), inner, o.GetFinalizers())
		}
	}
	claims, err := h.kube.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range claims.Items {
		out["claim "+c.Namespace+"/"+c.Name] = fmt.Sprintf("%s %s", c.UID, c.Status.Phase)
	}
	services, err := sessiontest.Services(ctx, h.Cloud)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, svc := range services {
		out[svc.Binary+" of "+svc.Host] = svc.Status + svc.Reason
	}
	var found struct {
		Agents []struct{ Binary, Host string }
	}
	network := h.Controllers().Network
	if _, err := network.Get(ctx, network.ServiceURL("agents"), &found, nil); err != nil {
		h.t.Fatal(err)
	}
	for _, a := range found.Agents {
		out[a.Binary+" of "+a.Host] = "there"
	}
	return out
}

// differing returns the differences between two states.
func differing(a, b map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("%s: %s → %s", name, a[name], b[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, was := a[name]; !was {
			out = append(out, fmt.Sprintf("%s: new: %s", name, b[name]))
		}
	}
	return "\n" + strings.Join(out, "\n")
}
