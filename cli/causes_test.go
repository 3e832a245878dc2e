package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// causesOf are the rows of the table of causes whose own scenario it is.
func causesOf(name string) map[core.DiagnosisID]bool {
	out := map[core.DiagnosisID]bool{}
	for _, d := range attention.Diagnoses() {
		if d.Scenarios[0] == name {
			out[d.ID] = true
		}
	}
	return out
}

// Each row of the table of causes is told in the scenario that it names, while an operator looks on and does nothing.
func TestWhateverHangsItsScenarioTellsTheCause(t *testing.T) {
	owners := map[string]bool{}
	for _, d := range attention.Diagnoses() {
		if !slices.Contains(scenario.List(), d.Scenarios[0]) {
			t.Errorf("%s: there is no scenario %s", d.ID, d.Scenarios[0])
		}
		owners[d.Scenarios[0]] = true
	}
	for i, name := range slices.Sorted(maps.Keys(owners)) {
		if !bubble.Chosen(t, i, 8) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				st := newStory(t, sim.Options{Scenario: told(t, name), Timing: brief})
				st.place.management = simManagement(st.Cloud)
				st.begin()
				left := causesOf(name)
				t.Cleanup(func() {
					if len(left) > 0 {
						t.Errorf("not told: %q", slices.Sorted(maps.Keys(left)))
					}
				})
				st.until("the causes are told", func(s *core.Snapshot) bool {
					for _, a := range attention.Of(s) {
						for _, suspect := range a.Suspects {
							line, found, err := suspect.Find(t.Context(), st.s.looker)
							if found && !strings.Contains(line.Text, suspect.Words) {
								t.Errorf("%s: %q does not say %q", a.ID, line.Text, suspect.Words)
							}
							if found {
								delete(left, suspect.Diagnosis.ID)
							}
							if err != nil {
								t.Errorf("%s: %v", a.ID, err)
							}
						}
						if a.Diagnosis != nil {
							delete(left, a.Diagnosis.ID)
						}
					}
					return len(left) == 0
				})
			})
		})
	}
}
