package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A cluster without a plan is given a release that is offered, and nothing else: which guard does not hold.
func TestGuardsOfSettingTheRelease(t *testing.T) {
	const to = "mosk-21-0-0-25-2"
	for _, tt := range []struct {
		name  string
		to    string
		past  bool
		given func(*scene.Managed)
		fails string
	}{
		{"offered", to, false, func(*scene.Managed) {}, ""},
		{"not offered", "mosk-22-0-0-26-1", false, func(*scene.Managed) {}, "offered"},
		{"none is named", "", false, func(*scene.Managed) {}, "offered"},
		{"a plan leads there", to, false, func(m *scene.Managed) {
			p := m.Planned(0)
			p.Target, p.Status, p.Started = to, core.PlanNotStarted, time.Time{}
		}, "no-plan"},
		{"an update to another release is under way", to, false, func(m *scene.Managed) { m.Cluster.Target = "mosk-17-5-0" }, "no-update"},
		{"in maintenance mode", to, false, func(m *scene.Managed) { m.InMode() }, "no-maintenance"},
		{"somebody has asked for the cluster", to, false, func(m *scene.Managed) { m.Update(time.Minute) }, "no-request"},
		{"a node is out", to, false, func(m *scene.Managed) { m.Nodes["cmp-01"].Cordoned = true }, "no-stops"},
		{"a node is out, past it", to, true, func(m *scene.Managed) { m.Nodes["cmp-01"].Cordoned = true }, ""},
	} {
		m := scene.Resting()
		m.Cluster.Available = []core.OfferedRelease{{Name: to, Version: "21.0.0", Reboot: true}, {Version: "22.0.0"}}
		tt.given(m)
		st := Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentSetRelease, Release: tt.to, PastStops: tt.past})
		var fails []string
		for _, g := range st.Guards {
			if !g.Holds {
				fails = append(fails, string(g.ID))
			}
		}
		if !slices.Equal(fails, strings.Fields(tt.fails)) || st.Doable() != (tt.fails == "") {
			t.Errorf("%s: the guards %v do not hold, want %s", tt.name, fails, tt.fails)
		}
		want := `kubectl --context mgmt -n prod patch clusters.cluster.k8s.io mos --type=json -p '[{"op":"test",` +
			`"path":"/spec/providerSpec/value/release","value":"mosk-17-4-0-25-1"},{"op":"replace","path":"/spec/providerSpec/value/release",` +
			`"value":"` + to + `"}]'`
		if st.Doable() && (!slices.Equal(st.Commands, []string{want}) || st.Undo != "" ||
			!strings.Contains(st.Then, "no way back to mosk-17-4") ||
			st.Type != map[bool]string{false: to, true: "mos/" + to}[tt.past] ||
			(st.Risk == core.RiskHighest) != tt.past) {
			t.Errorf("%s: %q, typed %q, risk %s, then %q", tt.name, st.Commands, st.Type, st.Risk, st.Then)
		}
	}
}

// Where several releases are offered, which one is taken is typed, and an offer that comes meanwhile makes the confirmation stale. Where
// one is offered, the cluster's name is typed.
func TestOneOfSeveralReleasesIsTyped(t *testing.T) {
	const to, other = "mosk-21-0-0-25-2", "mosk-17-5-0-25-1-1"
	plan := func(to string, offers ...core.OfferedRelease) core.Step {
		m := scene.Resting()
		m.Cluster.Available = offers
		return Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentSetRelease, Release: to})
	}
	a, b := core.OfferedRelease{Name: to, Version: "21.0.0", Reboot: true}, core.OfferedRelease{Name: other, Version: "17.5.0"}
	one, first, second := plan(to, a), plan(to, b, a), plan(other, b, a)
	if one.Type != "mos" || strings.Contains(one.Why, "Others") {
		t.Errorf("the only one: typed %q, %s", one.Type, one.Why)
	}
	if first.Type != to || !strings.Contains(first.Why, "not taken: "+other+".") || !strings.Contains(first.Then, "hosts are to be rebooted") {
		t.Errorf("one of two: typed %q, %s %s", first.Type, first.Why, first.Then)
	}
	if second.Type != other || !strings.Contains(second.Why, "not taken: "+to+".") || strings.Contains(second.Then, "hosts") {
		t.Errorf("the other: typed %q, %s %s", second.Type, second.Why, second.Then)
	}
	if slices.Equal(one.Basis, first.Basis) {
		t.Error("another offer does not change what the confirmation rests on")
	}
}
