package core

import (
	"testing"
)

// What is blocked only because writing is not armed says so last: it is true of every step.
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
