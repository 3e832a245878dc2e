package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A step that takes a running guest away from its users has at least the risk of stopping it, and is confirmed as carefully. For
// an instance that is already down there is no such risk.
func TestWhatCutsAnInstanceOffIsNoLessARiskThanStoppingIt(t *testing.T) {
	stop := InstanceRules[core.IntentStop]
	for kind, rule := range InstanceRules {
		cuts := strings.Contains(rule.why+rule.then, "is down while") || strings.Contains(rule.then, "is stopped if") ||
			strings.Contains(rule.then, "shut down") ||
			strings.Contains(rule.then, "down until")
		if cuts && !rule.cuts && (riskRank[rule.risk] < riskRank[stop.risk] || !rule.typed) {
			t.Errorf("%s: %q, and its risk is %s", kind, rule.then, rule.risk)
		}
	}
	for name, tt := range map[string]struct {
		kind       core.IntentKind
		status, vm string
		power      core.PowerState
		risk       core.Risk
		typed      bool
	}{
		"a cold migration":                  {core.IntentColdMigrate, "ACTIVE", "active", core.PowerRunning, stop.risk, true},
		"a cold migration of one down":      {core.IntentColdMigrate, "SHUTOFF", "stopped", core.PowerShutdown, core.RiskMedium, false},
		"a revert":                          {core.IntentRevertResize, "VERIFY_RESIZE", "resized", core.PowerRunning, stop.risk, true},
		"a revert of one that was down":     {core.IntentRevertResize, "VERIFY_RESIZE", "resized", core.PowerShutdown, core.RiskMedium, false},
		"a confirmation, which cuts none":   {core.IntentConfirmResize, "VERIFY_RESIZE", "resized", core.PowerRunning, core.RiskMedium, false},
		"a live migration, which cuts none": {core.IntentLiveMigrate, "ACTIVE", "active", core.PowerRunning, core.RiskMedium, false},
	} {
		sc := scene.Healthy()
		in := sc.Instance("cmp-01", "db-1")
		in.Status, in.VMState, in.Power = tt.status, tt.vm, tt.power
		st := Plan(sc.Again().Snapshot, core.Intent{Kind: tt.kind, Instance: in.ID})
		if st.Risk != tt.risk || (st.Type == "db-1") != tt.typed {
			t.Errorf("%s: risk %s, to be typed %q", name, st.Risk, st.Type)
		}
	}
}

var riskRank = map[core.Risk]int{core.RiskLow: 1, core.RiskMedium: 2, core.RiskHigh: 3, core.RiskHighest: 4}

// When an instance has left while the operator read a step on its host, its new host is shown.
func TestAnInstanceThatHasLeftIsToldWhereItIs(t *testing.T) {
	sc := scene.Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", "")
	in := sc.ByHost["cmp-01"][0]
	in.Status, in.TaskState = "MIGRATING", "migrating"
	declare := core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"}
	shown := Plan(sc.Again().Snapshot, declare).Basis
	for name, tt := range map[string]struct {
		to   string
		gone bool
		want string
	}{
		"moved":      {"cmp-03", false, "→ on cmp-03 now"},
		"on its way": {"", false, "→ on no host now"},
		"deleted":    {"", true, "→ does not exist any more"},
	} {
		after := sc.Next(progress.NodeViews(sc.Snapshot), time.Second)
		moved := *in
		moved.Host, moved.Status, moved.TaskState = tt.to, "ACTIVE", ""
		after.ByHost = map[string][]*core.Instance{tt.to: {&moved}}
		after.Instances = core.Instances{}.With([]*core.Instance{&moved}, nil)
		if tt.gone {
			after.Instances = core.Instances{}
		}
		changed := ChangedFactsIn(after.Snapshot, shown, Plan(after.Snapshot, declare).Basis)
		if text := strings.Join(changed, "; "); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}
