package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// The node's steps offer to delete ended pods: a single one directly, more of them as a list with a step for each.
func TestPodsThatHaveEndedAreOfferedForDeletion(t *testing.T) {
	sc := scene.Returning()
	scene.EndedOn(sc, "cmp-01", "octavia-1")
	stp := func(s *core.Snapshot, kind core.IntentKind) (core.Step, core.Procedure) {
		p, _ := Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		for _, st := range p.Steps {
			if st.Intent.Kind == kind {
				return st, p
			}
		}
		return core.Step{}, p
	}
	one, p := stp(sc.Again().Snapshot, core.IntentDeletePod)
	if !one.Doable() || one.Target != (core.Ref{Kind: core.KindPod, Namespace: "openstack", Name: "octavia-1", UID: "pod-octavia-1"}) ||
		!slices.Equal(one.Commands, []string{"kubectl -n openstack delete pod octavia-1"}) || one.Risk != core.RiskMedium ||
		!strings.Contains(one.Then, "its logs") || !strings.Contains(one.Then, "ReplicaSet") {
		t.Errorf("%+v", one)
	}
	if !slices.ContainsFunc(p.Summary, func(line string) bool {
		return strings.Contains(line, "pod ended, and is waited for: openstack/octavia-1, Failed (Evicted), since 2026-03-13 06:00")
	}) {
		t.Errorf("the page says %q", p.Summary)
	}
	scene.EndedOn(sc, "cmp-01", "octavia-1", "octavia-2")
	all, _ := stp(sc.Again().Snapshot, core.IntentDeletePods)
	if b, ok := all.Change.(core.Batch); !ok || len(b.Items) != 2 || len(all.Alternatives) != 2 || len(all.Commands) != 2 ||
		all.Type != "cmp-01" || !all.Doable() {
		t.Errorf("%+v", all)
	}
	// A pod of the same name with another UID is another pod.
	ref := one.Target
	ref.UID = "another"
	if st := step.Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentDeletePod, Node: "cmp-01", Object: ref}); st.Doable() {
		t.Errorf("%+v", st)
	}
	sc.Pods["cmp-01"] = &core.NodePods{Node: "cmp-01"}
	if st := step.Plan(sc.Again().Snapshot, one.Intent); st.Doable() || st.State != core.StepDone {
		t.Errorf("once it is gone: %s, %q", st.State, st.Blocker())
	}
}
