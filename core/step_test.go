package core

import (
	"testing"
)

// A step that is blocked only because writing is not armed says so last: it is true of every step.
func TestWhatBlocksAStep(t *testing.T) {
	unarmed, empty := Guard{ID: GuardArmed, Text: "writing is armed", Answer: "read-only"},
		Guard{ID: "empty", Text: "the host is empty", Answer: "1 runs"}
	for name, tt := range map[string]struct {
		guards []Guard
		want   string
		armed  bool
	}{
		"nothing":            {[]Guard{{ID: "fresh", Text: "fresh", Holds: true}}, "", false},
		"not armed":          {[]Guard{unarmed}, "writing is armed: read-only", true},
		"not armed, and not": {[]Guard{unarmed, empty}, "the host is empty: 1 runs", false},
	} {
		step := Step{Guards: tt.guards}
		g, blocked := step.BlockedBy()
		if step.Blocker() != tt.want || blocked != (tt.want != "") || g.SaysUnarmed() != tt.armed {
			t.Errorf("%s: %q, %+v", name, step.Blocker(), g)
		}
	}
}

// A batch may go past failures only when its items are independent: never a restart, which needs the last one to be well.
func TestWhichBatchesMayGoPastFailures(t *testing.T) {
	for kind, want := range map[IntentKind]bool{
		IntentLiveMigrateAll: true, IntentSetMode: true, IntentSetAttempts: true, IntentRestartPods: false, IntentRestartAgents: false,
		IntentReboot: false,
	} {
		step := Step{Intent: Intent{Kind: kind}, Change: Batch{Items: make([]BatchItem, 3)}}
		if got := step.MayGoPast(); got != want {
			t.Errorf("%s may go past failures: %v, want %v", kind, got, want)
		}
	}
	if (Step{Intent: Intent{Kind: IntentLiveMigrateAll}, Change: Batch{Items: make([]BatchItem, 1)}}).MayGoPast() {
		t.Error("a list of one has nothing to go on with")
	}
}
