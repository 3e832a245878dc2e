package core

import (
	"strings"
	"testing"
	"time"
)

// What takes a running guest away from its users is no less a risk than stopping it, and is confirmed as carefully. Of one that is down
// already nothing is taken.
func TestWhatCutsAnInstanceOffIsNoLessARiskThanStoppingIt(t *testing.T) {
	stop := instanceRules[IntentStop]
	for kind, rule := range instanceRules {
		cuts := strings.Contains(rule.why+rule.then, "is down while") || strings.Contains(rule.then, "is stopped if") ||
			strings.Contains(rule.then, "shut down") ||
			strings.Contains(rule.then, "down until")
		if cuts && !rule.cuts && (riskRank[rule.risk] < riskRank[stop.risk] || !rule.typed) {
			t.Errorf("%s: %q, and its risk is %s", kind, rule.then, rule.risk)
		}
	}
	for name, tt := range map[string]struct {
		kind       IntentKind
		status, vm string
		power      PowerState
		risk       Risk
		typed      bool
	}{
		"a cold migration":                  {IntentColdMigrate, "ACTIVE", "active", PowerRunning, stop.risk, true},
		"a cold migration of one down":      {IntentColdMigrate, "SHUTOFF", "stopped", PowerShutdown, RiskMedium, false},
		"a revert":                          {IntentRevertResize, "VERIFY_RESIZE", "resized", PowerRunning, stop.risk, true},
		"a revert of one that was down":     {IntentRevertResize, "VERIFY_RESIZE", "resized", PowerShutdown, RiskMedium, false},
		"a confirmation, which cuts none":   {IntentConfirmResize, "VERIFY_RESIZE", "resized", PowerRunning, RiskMedium, false},
		"a live migration, which cuts none": {IntentLiveMigrate, "ACTIVE", "active", PowerRunning, RiskMedium, false},
	} {
		sc := healthy()
		in := sc.instance("cmp-01", "db-1")
		in.Status, in.VMState, in.Power = tt.status, tt.vm, tt.power
		st := Plan(sc.again().Snapshot, Intent{Kind: tt.kind, Instance: in.ID})
		if st.Risk != tt.risk || (st.Type == "db-1") != tt.typed {
			t.Errorf("%s: risk %s, to be typed %q", name, st.Risk, st.Type)
		}
	}
}

var riskRank = map[Risk]int{RiskLow: 1, RiskMedium: 2, RiskHigh: 3, RiskHighest: 4}

// Of an instance that has left while a step on its host was being read, it is said where it is.
func TestAnInstanceThatHasLeftIsToldWhereItIs(t *testing.T) {
	sc := healthy()
	sc.mode("cmp-01", ModeManual)
	sc.maintained("cmp-01", "")
	in := sc.ByHost["cmp-01"][0]
	in.Status, in.TaskState = "MIGRATING", "migrating"
	declare := Intent{Kind: IntentDeclareSafe, Node: "cmp-01"}
	shown := Plan(sc.again().Snapshot, declare).Basis
	for name, tt := range map[string]struct {
		to   string
		gone bool
		want string
	}{
		"moved":      {"cmp-03", false, "→ on cmp-03 now"},
		"on its way": {"", false, "→ on no host now"},
		"deleted":    {"", true, "→ does not exist any more"},
	} {
		after := sc.next(sc.NodeViews(), time.Second)
		moved := *in
		moved.Host, moved.Status, moved.TaskState = tt.to, "ACTIVE", ""
		after.ByHost = map[string][]*Instance{tt.to: {&moved}}
		after.Instances = map[string]*Instance{in.ID: &moved}
		if tt.gone {
			after.Instances = map[string]*Instance{}
		}
		changed := after.ChangedFacts(shown, Plan(after.Snapshot, declare).Basis)
		if text := strings.Join(changed, "; "); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}
