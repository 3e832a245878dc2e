package cli

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/derivedtest"
	"lockstep/core/procedure"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// lookedOn is how long an operator watches and does nothing: by then a scenario's trouble has begun.
const lookedOn = 3 * time.Minute

// lookedOnLonger is how long in the scenarios where something becomes urgent only later.
var lookedOnLonger = map[string]time.Duration{
	"migrations-fail": 6 * time.Minute, "evicted-pods": 6 * time.Minute, "hard-to-move": 6 * time.Minute, "tempest-fails": 7 * time.Minute,
	"tf-vrouters": 8 * time.Minute, "role-taken": 8 * time.Minute, "auto-pause": 9 * time.Minute, "lcm-item-failing": 9 * time.Minute,
	"update-groups": 10 * time.Minute, "plan-stuck": 12 * time.Minute, "compute-silent": 12 * time.Minute, "agents-dead": 12 * time.Minute,
	"gateway-manual": 12 * time.Minute,
}

// From every urgent entry of a scenario there is a way on, and an entry that follows from another stands below it.
func TestWhateverAScenarioTellsHasAWayOn(t *testing.T) {
	for i, name := range scenario.List() {
		if !bubble.Chosen(t, i, 10) || strings.HasPrefix(name, "fleet-") || name == "edge-volumes" || name == "parallel-computes" {
			continue // large clouds, with nothing in them that the others do not have
		}
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				st := newStory(t, sim.Options{Scenario: told(t, name), Timing: brief})
				st.place.management = simManagement(st.Cloud)
				st.begin()
				seen, end := map[string]bool{}, time.Now().Add(cmp.Or(lookedOnLonger[name], lookedOn))
				st.until("the time is over", func(s *core.Snapshot) bool {
					for i, a := range attention.Of(s) {
						if !seen[a.ID+a.Cause] {
							seen[a.ID+a.Cause] = true
							hasAWayOn(t, s, i, a)
							if d := a.Diagnosis; d != nil && !slices.Contains(d.Scenarios, name) {
								t.Errorf("%s: its cause is told as %s, which %s does not have", a.ID, d.ID, name)
							}
						}
					}
					if differ := derivedtest.Differ(s); len(differ) > 0 {
						t.Fatal(strings.Join(differ, "\n"))
					}
					return time.Now().After(end)
				})
			})
		})
	}
}

// hasAWayOn checks the i-th entry of Attention.
func hasAWayOn(t *testing.T, s *core.Snapshot, i int, a core.Attention) {
	t.Helper()
	where := a.ID + ": " + a.Reason
	if len(a.Commands) == 0 {
		t.Errorf("%s: it has no command", where)
	}
	if a.Severity == core.SeverityUrgent && len(a.Evidence) == 0 {
		t.Errorf("%s: it rests on nothing", where)
	}
	if a.Resolve != nil {
		if _, known := procedure.Of(s, *a.Resolve); !known {
			t.Errorf("%s: its steps are not known", where)
		}
	}
	if a.Cause != "" && !slices.ContainsFunc(attention.Of(s)[:i], func(b core.Attention) bool { return b.ID == a.Cause && b.Cause == "" }) {
		t.Errorf("%s: its cause %s does not stand above it", where, a.Cause)
	}
}

// The consequences of a scenario's trouble name the trouble.
func TestWhatAScenariosTroubleBringsWithItNamesIt(t *testing.T) {
	for i, want := range []struct{ in, follows, from string }{
		{"controller-down", "node-slow", "controller-away"},
		{"node-not-ready", "plan-stuck", "node-slow"},
		{"plan-stuck", "plan-stuck", "node-waits"},
		{"outage-keystone", "outage", "sources"},
	} {
		if !bubble.Chosen(t, i, 4) {
			continue
		}
		t.Run(want.in, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				st := newStory(t, sim.Options{Scenario: told(t, want.in), Timing: brief})
				st.place.management = simManagement(st.Cloud)
				st.begin()
				st.until(want.follows+" follows from "+want.from, func(s *core.Snapshot) bool {
					return slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
						cause, _, _ := strings.Cut(a.Cause, "/")
						return string(a.Rule) == want.follows && cause == want.from
					})
				})
			})
		})
	}
}
