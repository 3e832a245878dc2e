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

// Where the configuration wants it, what a confirmed operation came to is an Event of its object, or of its node.
func TestColleaguesSeeEventsOfWhatWasDone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "migrations-fail"), Paused: true})
		st.place.config.Events = true
		if err := st.Kube.SetRules(kubeapi.Operator, append(kubeapi.OperatorRules(), kubeapi.Rule{Namespaces: []string{"default"},
			PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}}})); err != nil {
			t.Fatal(err)
		}
		st.begin()
		st.arm()
		node := ""
		for name, n := range st.last.Nodes {
			if n.Is(core.RoleCompute) && (node == "" || name < node) {
				node = name
			}
		}
		st.confirm(core.Intent{Kind: core.IntentSetMode, Node: node, Nodes: []string{node}, Mode: core.ModeSkip})
		until(t, "there is an Event", func() bool { return len(eventsOf(st, "Node", node)) == 1 })
		e := eventsOf(st, "Node", node)[0]
		uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid")
		message, _, _ := unstructured.NestedString(e.Object, "message")
		reason, _, _ := unstructured.NestedString(e.Object, "reason")
		if uid != st.last.Nodes[node].UID || reason != "LockstepDone" || !strings.Contains(message, "skip") ||
			!strings.Contains(message, "@") {
			t.Errorf("the Event: %v", e.Object)
		}
	})
}

// A step of the update plan that an operator commenced is an Event of the plan, on the management cluster.
func TestColleaguesSeeEventsOnTheManagementCluster(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "drive-it"), Paused: true})
		st.place.management = simManagement(st.Cloud)
		st.place.config.Events = true
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

// Without the right to make Events, that is told once, and the operation is done all the same. By default none are made.
func TestWithoutTheRightNoEventsAreMade(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		for _, wanted := range []bool{true, false} {
			st := newStory(t, sim.Options{Scenario: told(t, "migrations-fail"), Paused: true})
			st.place.config.Events = wanted
			st.begin()
			st.arm()
			var nodes []string
			for name, n := range st.last.Nodes {
				if n.Is(core.RoleCompute) {
					nodes = append(nodes, name)
				}
			}
			slices.Sort(nodes)
			for _, mode := range []core.MigrationMode{core.ModeSkip, core.ModeManual} {
				st.confirm(core.Intent{Kind: core.IntentSetMode, Node: nodes[0], Nodes: nodes[:1], Mode: mode})
			}
			time.Sleep(time.Minute)
			told := 0
			for range len(st.s.recordTrouble) {
				if text := <-st.s.recordTrouble; strings.Contains(text, "deploy/rbac-events.yaml") {
					told++
				}
			}
			if want := map[bool]int{true: 1}[wanted]; told != want || len(eventsOf(st, "Node", nodes[0])) > 0 {
				t.Errorf("wanted %t: told %d times, %d Events", wanted, told, len(eventsOf(st, "Node", nodes[0])))
			}
			st.stop()
		}
	})
}
