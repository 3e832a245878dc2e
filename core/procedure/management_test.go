package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The cluster's procedure shows the plan's steps, and commences the waiting one.
func TestTheProcedureOfTheClusterShowsThePlan(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Update(3 * time.Hour)
	m.Planned(3)
	p, _ := Of(m.Join().Snapshot, core.ProcedureKey{Kind: core.ProcedureCluster})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Title == "commence group mos-default" })
	if i < 0 {
		t.Fatalf("%+v", p.Steps)
	}
	want := `kubectl --context mgmt -n prod patch clusterupdateplans mos-21.0.0 --type=json -p '[{"op":"test","path":"/spec/steps/3/id",` +
		`"value":"k8s-workers-mos-default"},{"op":"add","path":"/spec/steps/3/commence","value":true}]'`
	if st := p.Steps[i]; st.State != core.StepReady || !strings.HasPrefix(st.Status, "to be commenced") || !st.Doable() ||
		!slices.Equal(st.Commands, []string{want}) {
		t.Errorf("%s %q %q", st.State, st.Status, st.Commands)
	}
}

// The steps of a node with a blocked drain name the pod and the budget, and show how to look at them.
func TestTheStepsOfANodeSayWhatBlocksItsDrain(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Handed("cmp-01")
	m.Agents["cmp-01"].Drain = core.CordonDraining
	p, _ := Of(m.Join(scene.Drain("m-cmp-01", scene.BudgetText, 2)).Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return strings.HasPrefix(st.ID, "drain/") })
	want := []string{"kubectl -n stacklight get pod exporter-0 -o wide", "kubectl -n stacklight describe pdb exporter",
		"kubectl --context mgmt -n prod get lcmclusterstates cd-m-cmp-01 -o wide"}
	if i < 0 || p.Steps[i].State != core.StepWaiting ||
		!strings.Contains(p.Steps[i].Status, "budget exporter keeps pod stacklight/exporter-0") || !slices.Equal(p.Steps[i].Commands, want) {
		t.Errorf("%+v", p.Steps)
	}
}

// LCM's wait is joined with the locks: the drain, which comes later, shows it, and so does each lock that LCM waits for.
func TestWhatLCMWaitsForIsJoinedWithTheLocks(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Maintained("cmp-01", "")
	m.Lock("cmp-01", core.ControllerCeph, core.LockActive)
	sc := m.Join(scene.Drain("m-cmp-01", scene.LocksWaitText, 0), scene.Swarm("m-cmp-01", scene.SwarmWaitText, 0))
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	said := map[string]string{}
	for _, st := range p.Steps {
		id, _, _ := strings.Cut(st.ID, "/")
		if id == "lock" {
			id += " " + st.Label
			if st.Target.Name == sc.NodeLock("cmp-01", core.ControllerOpenStack).Name {
				id = "lock openstack"
			}
		}
		said[id] = st.Status + " | " + st.Why
	}
	for id, want := range map[string]string{
		"drain":          "LCM waits for: ceph UpdatingController, openstack InProgress |",
		"lock openstack": "LCM waits for it, and shows it as InProgress.",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("step %s says %q, not %q", id, said[id], want)
		}
	}
	all := false
	for _, text := range said {
		all = all || strings.Contains(text, "shows it as UpdatingController")
	}
	if !all {
		t.Errorf("no step of Ceph's lock: %v", said)
	}
	if text := strings.Join(p.Summary, "\n"); !strings.Contains(text, "swarm-drain: LCM waits until node") ||
		strings.Contains(text, "blocked") {
		t.Errorf("summary: %s", text)
	}
}
