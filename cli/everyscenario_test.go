package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/derivedtest"
	"lockstep/core/procedure"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/scenario"
)

// lookedOn is how long an operator watches and does nothing, in the cloud's time: by then a scenario's trouble has begun.
const lookedOn = 3 * time.Minute

// becomesUrgent is how long in the scenarios where something becomes urgent only later.
var becomesUrgent = map[string]time.Duration{
	"migrations-fail": 6 * time.Minute, "evicted-pods": 6 * time.Minute, "hard-to-move": 6 * time.Minute, "tempest-fails": 7 * time.Minute,
	"tf-vrouters": 8 * time.Minute, "role-taken": 8 * time.Minute, "auto-pause": 9 * time.Minute, "lcm-item-failing": 9 * time.Minute,
	"update-groups": 10 * time.Minute, "plan-stuck": 12 * time.Minute, "compute-silent": 12 * time.Minute, "agents-dead": 12 * time.Minute,
	"gateway-manual": 12 * time.Minute, "back-but-silent": 15 * time.Minute,
}

// lookedOnLonger are the scenarios with troubled nodes: whatever happens to these in a while is looked at.
var lookedOnLonger = map[string]time.Duration{
	"smooth": 20 * time.Minute, "drain-blocked": 20 * time.Minute, "node-not-ready": 20 * time.Minute, "no-valid-host": 20 * time.Minute,
}

// rule is what holds in every scenario while an operator looks on and does nothing.
type rule struct {
	name string
	// begin returns what looks at each Snapshot of a scenario's story: it says what is wrong, and what the story has to go on for.
	begin func(st *story, scenario string) func(*core.Snapshot) (wrong, awaited []string)
}

var everyScenario = []rule{
	{"what is told has a way on", waysOn},
	{"whatever hangs, its cause is told", causesTold},
	{"what a trouble brings with it names it", consequences},
	{"what is urgent of a node is told once", urgentOnce},
	{"no step rests on facts from before its node's return", noOldFacts},
	{"what is kept is the same as deriving everything", keptIsAnew},
}

// Each scenario is played once, and all rules look on.
func TestWhateverAScenarioTells(t *testing.T) {
	for i, name := range scenario.List() {
		if leftOut(name) {
			continue
		}
		if !lane.Chosen(t, i, 16) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				st := newStory(t, sim.Options{Scenario: told(t, name), Timing: brief, Speed: quickly})
				st.place.Management = simManagement(st.Cloud)
				st.begin()
				looks := make([]func(*core.Snapshot) (wrong, awaited []string), len(everyScenario))
				for i, r := range everyScenario {
					looks[i] = r.begin(st, name)
				}
				var left []string
				t.Cleanup(func() {
					for _, text := range left {
						t.Error(text)
					}
				})
				end := time.Now().Add(cmp.Or(lookedOnLonger[name], becomesUrgent[name], lookedOn) / quickly)
				st.until("all is told", func(s *core.Snapshot) bool {
					left = nil
					for i, r := range everyScenario {
						wrong, awaited := looks[i](s)
						for _, text := range wrong {
							t.Errorf("%s: %s", r.name, text)
						}
						for _, text := range awaited {
							left = append(left, fmt.Sprintf("%s: it did not come to be that %s", r.name, text))
						}
					}
					if t.Failed() {
						t.FailNow() // the next Snapshots would say the same
					}
					return len(left) == 0 && time.Now().After(end)
				})
			})
		})
	}
}

// leftOut tells whether a scenario is not played: large clouds, with nothing in them that the others do not have.
func leftOut(name string) bool {
	return strings.HasPrefix(name, "fleet-") || name == "edge-volumes" || name == "parallel-computes"
}

// From every urgent entry of a scenario there is a way on, and an entry that follows from another stands below it.
func waysOn(_ *story, name string) func(*core.Snapshot) (wrong, awaited []string) {
	seen := map[string]bool{}
	return func(s *core.Snapshot) (wrong, _ []string) {
		for i, a := range attention.Of(s) {
			if seen[a.ID+a.Cause] {
				continue
			}
			seen[a.ID+a.Cause] = true
			wrong = append(wrong, lacks(s, i, a)...)
			if d := a.Diagnosis; d != nil && !slices.Contains(d.Scenarios, name) {
				wrong = append(wrong, fmt.Sprintf("%s: its cause is told as %s, which %s does not have", a.ID, d.ID, name))
			}
		}
		return wrong, nil
	}
}

// lacks says what the i-th entry of Attention lacks.
func lacks(s *core.Snapshot, i int, a core.Attention) (wrong []string) {
	lack := func(what string) { wrong = append(wrong, a.ID+": "+a.Reason+": "+what) }
	if len(a.Commands) == 0 {
		lack("it has no command")
	}
	if a.Severity == core.SeverityUrgent && len(a.Evidence) == 0 {
		lack("it rests on nothing")
	}
	if a.Resolve != nil {
		if _, known := procedure.Of(s, *a.Resolve); !known {
			lack("its steps are not known")
		}
	}
	if a.Cause != "" && !slices.ContainsFunc(attention.Of(s)[:i], func(b core.Attention) bool { return b.ID == a.Cause && b.Cause == "" }) {
		lack("its cause " + a.Cause + " does not stand above it")
	}
	return wrong
}

// Each row of the table of causes whose own scenario this is, is told.
func causesTold(st *story, name string) func(*core.Snapshot) (wrong, awaited []string) {
	left, read := map[core.DiagnosisID]bool{}, map[string]bool{}
	for _, d := range attention.Diagnoses() {
		if d.Scenarios[0] == name {
			left[d.ID] = true
		}
	}
	return func(s *core.Snapshot) (wrong, awaited []string) {
		if len(left) == 0 {
			return nil, nil
		}
		for _, a := range attention.Of(s) {
			if a.Diagnosis != nil {
				delete(left, a.Diagnosis.ID)
			}
			for _, suspect := range a.Suspects {
				id := suspect.Diagnosis.ID
				if read[a.ID+string(id)] && !left[id] {
					continue // of what is not awaited, or was found, the log is read once
				}
				read[a.ID+string(id)] = true
				line, found, err := suspect.Find(st.t.Context(), st.s.Looker)
				if err != nil {
					wrong = append(wrong, fmt.Sprintf("%s: %v", a.ID, err))
				}
				if found && !strings.Contains(line.Text, suspect.Words) {
					wrong = append(wrong, fmt.Sprintf("%s: %q does not say %q", a.ID, line.Text, suspect.Words))
				}
				if found {
					delete(left, id)
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(left)) {
			awaited = append(awaited, string(id)+" is told")
		}
		return wrong, awaited
	}
}

// Each row of the table of causes has a scenario that is played until the row is told (TestWhateverAScenarioTells), and names no other that
// there is not.
func TestEveryCauseHasItsScenario(t *testing.T) {
	for _, d := range attention.Diagnoses() {
		for _, name := range d.Scenarios {
			if !slices.Contains(scenario.List(), name) {
				t.Errorf("%s: there is no scenario %s", d.ID, name)
			}
		}
		if leftOut(d.Scenarios[0]) {
			t.Errorf("%s: its scenario %s is not played, so nothing shows that it comes", d.ID, d.Scenarios[0])
		}
	}
}

// The consequences of a scenario's trouble name the trouble.
func consequences(_ *story, name string) func(*core.Snapshot) (wrong, awaited []string) {
	want, ok := map[string]struct{ follows, from string }{
		"controller-down": {"node-slow", "controller-away"},
		"node-not-ready":  {"plan-stuck", "node-slow"},
		"plan-stuck":      {"plan-stuck", "node-waits"},
		"outage-keystone": {"outage", "sources"},
	}[name]
	told := !ok
	return func(s *core.Snapshot) (_, awaited []string) {
		told = told || slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
			cause, _, _ := strings.Cut(a.Cause, "/")
			return string(a.Rule) == want.follows && cause == want.from
		})
		if !told {
			awaited = append(awaited, want.follows+" follows from "+want.from)
		}
		return nil, awaited
	}
}

// Each node has one urgent entry about itself.
func urgentOnce(*story, string) func(*core.Snapshot) (wrong, awaited []string) {
	return each(sessiontest.Urgency)
}

func noOldFacts(*story, string) func(*core.Snapshot) (wrong, awaited []string) {
	return each(sessiontest.OfferedOnOldFacts)
}

// keptIsAnew compares every two seconds until the trouble has begun, and once a minute of the cloud's from then on.
func keptIsAnew(_ *story, name string) func(*core.Snapshot) (wrong, awaited []string) {
	begun := time.Now().Add(cmp.Or(becomesUrgent[name], lookedOn) / quickly)
	var compared time.Time
	return func(s *core.Snapshot) (wrong, _ []string) {
		pause := 2 * time.Second
		if time.Now().After(begun) {
			pause = time.Minute / quickly
		}
		if time.Since(compared) < pause {
			return nil, nil
		}
		compared = time.Now()
		return derivedtest.Differ(s), nil
	}
}

// each looks at every Snapshot with a function that says what is wrong, or nothing.
func each(of func(*core.Snapshot) string) func(*core.Snapshot) (wrong, awaited []string) {
	return func(s *core.Snapshot) (wrong, _ []string) {
		if text := of(s); text != "" {
			wrong = append(wrong, text)
		}
		return wrong, nil
	}
}
