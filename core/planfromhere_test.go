package core_test

import (
	"testing"

	"lockstep/core"
)

// Of several plans the one that leads on from the Cluster's release comes next: that of a release that was left out does not hide it.
func TestThePlanThatComesNextLeadsOnFromTheCluster(t *testing.T) {
	plan := func(name, source, target, status string) *core.UpdatePlan {
		return &core.UpdatePlan{Meta: core.Meta{Name: name}, Source: source, Target: target, Status: status}
	}
	stale, next := plan("a", "1", "2", core.PlanNotStarted), plan("b", "2", "3", core.PlanNotStarted)
	other, done := plan("c", "2", "4", core.PlanNotStarted), plan("d", "1", "2", core.PlanCompleted)
	runs := plan("e", "1", "2", core.PlanInProgress)
	for _, tt := range []struct {
		name    string
		cluster *core.ManagedCluster
		plans   []*core.UpdatePlan
		want    *core.UpdatePlan
	}{
		{"one of a release that was left out", &core.ManagedCluster{Release: "2", Target: "2"}, []*core.UpdatePlan{stale, next}, next},
		{"it hides no plan that was completed either", &core.ManagedCluster{Release: "2", Target: "2"}, []*core.UpdatePlan{stale, done}, done},
		{"there is no other", &core.ManagedCluster{Release: "2", Target: "2"}, []*core.UpdatePlan{stale}, stale},
		{"the Cluster's own choice", &core.ManagedCluster{Release: "2", Target: "4"}, []*core.UpdatePlan{next, other}, other},
		{"one under way, whatever the Cluster shows", &core.ManagedCluster{Release: "3", Target: "3"}, []*core.UpdatePlan{next, runs}, runs},
		{"the Cluster is not seen", nil, []*core.UpdatePlan{stale, next}, stale},
		{"the Cluster does not say where it is", &core.ManagedCluster{Target: "2"}, []*core.UpdatePlan{stale, next}, stale},
	} {
		m := &core.Management{Cluster: tt.cluster, Plans: tt.plans}
		if got := m.Plan(); got != tt.want {
			t.Errorf("%s: %s comes next, want %s", tt.name, got.Name, tt.want.Name)
		}
	}
}
