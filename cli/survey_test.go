package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

func TestSurvey(t *testing.T) {
	pairs := map[string]string{}
	for _, e := range scenario.List() {
		if strings.HasPrefix(e, "fleet-2000") || strings.HasPrefix(e, "fleet-500") {
			continue
		}
		t.Run(e, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				st := newStory(t, sim.Options{Scenario: told(t, e)})
				st.begin()
				end := time.Now().Add(90 * time.Minute)
				for time.Now().Before(end) {
					s := <-st.snaps
					by := map[string][]string{}
					for _, a := range s.Attention() {
						if a.Severity == core.SeverityUrgent && a.Node != "" {
							r, _, _ := strings.Cut(a.ID, "/")
							by[a.Node] = append(by[a.Node], r+": "+a.Reason)
						}
					}
					for _, v := range s.NodeViews() {
						list := by[v.Name]
						key := func() string {
							var k []string
							for _, l := range list {
								r, _, _ := strings.Cut(l, ":")
								k = append(k, r)
							}
							slices.Sort(k)
							return strings.Join(k, "+")
						}()
						if len(list) > 1 {
							if pairs["pair "+key] == "" {
								pairs["pair "+key] = e + ": " + v.Label + " " + fmt.Sprintf("%q", list)
							}
						}
						mark := v.Stage == core.StageWaiting || v.Stage == core.StageFailed
						if mark != (len(list) > 0) {
							k := fmt.Sprintf("glyph %s %s", v.Stage, key)
							if pairs[k] == "" {
								pairs[k] = e + ": " + v.Label + " " + v.Reason + fmt.Sprintf(" %q", list)
							}
						}
					}
					time.Sleep(5 * time.Second)
				}
			})
		})
	}
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		t.Log(k, "=>", pairs[k])
	}
}
