package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// eventsOf are the Events that Lockstep made about an object.
func eventsOf(st *story, kind, name string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, e := range st.Kube.Objects("events") {
		component, _, _ := unstructured.NestedString(e.Object, "source", "component")
		of, _, _ := unstructured.NestedString(e.Object, "involvedObject", "kind")
		called, _, _ := unstructured.NestedString(e.Object, "involvedObject", "name")
		if component == "lockstep" && of == kind && called == name {
			out = append(out, e)
		}
	}
	return out
}

// Three sessions on one cloud: two without the right to make Events, of which one wants them, and one with it.
func TestEventsAreMadeWhereTheyAreWantedAndAllowed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "migrations-fail"), Paused: true})
		withoutTheRightNoEventsAreMade(st, true)
		withoutTheRightNoEventsAreMade(st, false)
		if err := st.Kube.SetRules(kubeapi.Operator, append(kubeapi.OperatorRules(), kubeapi.Rule{Namespaces: []string{"default"},
			PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}}})); err != nil {
			t.Fatal(err)
		}
		colleaguesSeeWhatWasDone(st)
	})
}

// armedAnew begins a session with a journal of its own, and arms it. It returns the compute nodes.
func (st *story) armedAnew(events bool) (computes []string) {
	st.t.Helper()
	st.place.Journal, st.place.Events = st.t.TempDir(), events
	st.begin()
	st.arm()
	for name, n := range st.last.Nodes {
		if n.Is(core.RoleCompute) {
			computes = append(computes, name)
		}
	}
	slices.Sort(computes)
	return computes
}

// Without the right to make Events, that is told once, and the operation is done all the same. By default none are made.
func withoutTheRightNoEventsAreMade(st *story, wanted bool) {
	st.t.Helper()
	nodes := st.armedAnew(wanted)[:1]
	for _, mode := range []core.MigrationMode{core.ModeSkip, core.ModeManual} {
		st.confirm(core.Intent{Kind: core.IntentSetMode, Node: nodes[0], Nodes: nodes, Mode: mode})
	}
	time.Sleep(time.Minute)
	told := 0
	for range len(st.s.Troubles) {
		if text := <-st.s.Troubles; strings.Contains(text, "deploy/rbac-events.yaml") {
			told++
		}
	}
	if want := map[bool]int{true: 1}[wanted]; told != want || len(eventsOf(st, "Node", nodes[0])) > 0 {
		st.t.Errorf("wanted %t: told %d times, %d Events", wanted, told, len(eventsOf(st, "Node", nodes[0])))
	}
	st.stop()
}

// Where the configuration wants it, what a confirmed operation came to is an Event of its object, or of its node.
func colleaguesSeeWhatWasDone(st *story) {
	st.t.Helper()
	node := st.armedAnew(true)[1] // nothing was done at it before
	st.confirm(core.Intent{Kind: core.IntentSetMode, Node: node, Nodes: []string{node}, Mode: core.ModeSkip})
	until(st.t, "there is an Event", func() bool { return len(eventsOf(st, "Node", node)) == 1 })
	e := eventsOf(st, "Node", node)[0]
	uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid")
	message, _, _ := unstructured.NestedString(e.Object, "message")
	reason, _, _ := unstructured.NestedString(e.Object, "reason")
	if uid != st.last.Nodes[node].UID || reason != "LockstepDone" || !strings.Contains(message, "skip") || !strings.Contains(message, "@") {
		st.t.Errorf("the Event: %v", e.Object)
	}
}

// A step of the update plan that an operator commenced is an Event of the plan, on the management cluster.
func TestColleaguesSeeEventsOnTheManagementCluster(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "drive-it"), Paused: true})
		st.place.Management = simManagement(st.Cloud)
		st.place.Events = true
		if err := st.Management.SetRules(kubeapi.Operator, kubeapi.AdminRules()); err != nil {
			t.Fatal(err)
		}
		st.begin()
		st.arm()
		st.Clock.Resume()
		st.confirm(core.Intent{Kind: core.IntentCommence, PlanStep: "openstack"})
		plan := st.last.Management.Plan()
		var found []string
		until(t, "there is an Event", func() bool {
			for _, e := range st.Management.Objects("events") {
				if uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid"); uid == plan.UID {
					message, _, _ := unstructured.NestedString(e.Object, "message")
					found = append(found, e.GetNamespace()+" "+message)
				}
			}
			return len(found) > 0
		})
		if !strings.HasPrefix(found[0], plan.Namespace+" ") || !strings.Contains(found[0], "commence step openstack") {
			t.Errorf("the Event: %q", found)
		}
	})
}
