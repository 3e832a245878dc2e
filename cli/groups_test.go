package cli

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A group is made, two nodes are moved into it, it is put first and allowed two at a time: LCM makes its step, takes both nodes at once and
// before the others. What is commenced cannot be changed until the commence is withdrawn.
func TestTheOrderOfNodesIsDrivenByItsSteps(t *testing.T) {
	bubble.Story(t, orderedUpdate)
}

func orderedUpdate(t *testing.T) {
	const fresh, usual = "k8s-workers-fresh", "k8s-workers-mos-default"
	st := newStory(t, sim.Options{Scenario: told(t, "order-it"), Timing: brief, Speed: quickly})
	st.place.Management = simManagement(st.Cloud)
	st.begin()
	st.arm()
	st.until("the plan and the groups are there", func(s *core.Snapshot) bool {
		return live(s, core.ServerManagement) && s.Management.Plan() != nil && len(s.Management.Groups) == 2
	})
	commence := func(key string) core.Intent { return core.Intent{Kind: core.IntentCommence, PlanStep: key} }
	settings := func(kind core.IntentKind, group string, to core.GroupSettings) core.Intent {
		return core.Intent{Kind: kind, Group: group, GroupSettings: to}
	}
	order := func(s *core.Snapshot) string {
		var keys []string
		for _, ps := range s.Management.Plan().Steps {
			keys = append(keys, strings.TrimPrefix(ps.Key(), "k8s-workers-"))
		}
		return strings.Join(keys, " ")
	}
	node := func(label string) string {
		for name := range st.last.Nodes {
			if st.last.Label(name) == label {
				return name
			}
		}
		t.Fatalf("no node is %s", label)
		return ""
	}
	st.confirm(settings(core.IntentMakeGroup, "fresh", core.GroupSettings{Index: 3, Concurrent: 1, Reboot: true}))
	st.until("the plan has its step, last", func(s *core.Snapshot) bool {
		return order(s) == "openstack k8s-controllers mos-default fresh mcc-components"
	})
	st.confirm(core.Intent{Kind: core.IntentMoveMachines, Nodes: []string{node("cmp-03"), node("cmp-04")}, Group: "fresh"})
	st.until("they are in it", func(s *core.Snapshot) bool { return len(s.Management.InGroup("fresh")) == 2 })
	if stp := step.Plan(st.last, core.Intent{Kind: core.IntentDeleteGroup, Group: "fresh"}); stp.Doable() {
		t.Error("a group with machines could be removed")
	}
	st.confirm(settings(core.IntentSetGroupIndex, "mos-default", core.GroupSettings{Index: 5}))
	st.until("the plan has it first", func(s *core.Snapshot) bool {
		return order(s) == "openstack k8s-controllers fresh mos-default mcc-components"
	})
	st.confirm(core.Intent{Kind: core.IntentSetUpgradeIndex, Node: node("cmp-02"), UpgradeIndex: 1})
	st.confirm(core.Intent{Kind: core.IntentSetUpgradeIndex, Node: node("cmp-01"), UpgradeIndex: 2})

	for _, key := range []string{"openstack", "k8s-controllers", fresh} {
		st.confirm(commence(key))
	}
	wider := settings(core.IntentSetGroupConcurrency, "fresh", core.GroupSettings{Concurrent: 2})
	st.until("its step is commenced", func(s *core.Snapshot) bool { return planStepSays(s, fresh) == core.PlanScheduled })
	if stp := step.Plan(st.last, wider); stp.Doable() || !strings.Contains(stp.Blocker(), "group fresh is Scheduled") {
		t.Errorf("a group that is commenced could be changed: %q", stp.Blocker())
	}
	st.confirm(core.Intent{Kind: core.IntentUncommence, PlanStep: fresh})
	st.until("it is withdrawn", func(s *core.Snapshot) bool { return planStepSays(s, fresh) == core.PlanNotStarted })
	st.confirm(wider)
	st.confirm(commence(fresh))

	var begun []string
	most := 0
	watch := func(s *core.Snapshot) {
		now := 0
		for name := range s.NodeRequests {
			label := s.Label(name)
			if s.NodeRequest(name) == nil || !strings.HasPrefix(label, "cmp-") {
				continue
			}
			now++
			if !slices.Contains(begun, label) {
				begun = append(begun, label)
			}
		}
		if len(begun) <= 2 {
			most = max(most, now)
		}
	}
	st.until("its nodes are updated", func(s *core.Snapshot) bool { watch(s); return planStepSays(s, fresh) == core.PlanCompleted })
	slices.Sort(begun)
	if got := strings.Join(begun, " "); got != "cmp-03 cmp-04" || most != 2 {
		t.Errorf("LCM has taken %s, %d at a time", got, most)
	}
	begun = nil
	if stp := step.Plan(st.last, core.Intent{Kind: core.IntentMoveMachines, Node: node("cmp-01"), Group: "fresh"}); stp.Doable() {
		t.Error("a machine could be moved into a group that is through, and would never be updated")
	}
	st.confirm(commence(usual))
	st.until("the others are updated", func(s *core.Snapshot) bool { watch(s); return planStepSays(s, usual) == core.PlanCompleted })
	if got := strings.Join(begun, " "); got != "cmp-02 cmp-01" {
		t.Errorf("the others went as %s", got)
	}
	st.confirm(commence("mcc-components"))
	st.until("the update is over", func(s *core.Snapshot) bool {
		return s.Management.Plan().Status == core.PlanCompleted && s.ClusterRequest() == nil
	})
	for _, name := range []string{"cmp-03", "cmp-04"} {
		st.confirm(core.Intent{Kind: core.IntentMoveMachines, Node: node(name), Group: "mos-default"})
	}
	st.until("the group is empty", func(s *core.Snapshot) bool { return len(s.Management.InGroup("fresh")) == 0 })
	st.confirm(core.Intent{Kind: core.IntentDeleteGroup, Group: "fresh"})
	st.until("it is removed", func(s *core.Snapshot) bool { return s.Management.GroupOf("fresh") == nil })
}
