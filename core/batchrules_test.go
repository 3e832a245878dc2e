package core

import (
	"testing"
)

// Only what has nothing to do with one another can be gone on with: never a restart, which rests on the last one being well.
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
