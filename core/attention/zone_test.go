package attention

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// timesOfDay matches the times in a text.
var timesOfDay = regexp.MustCompile(`\b([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\b`)

// All times that a person reads are in the operator's zone: half an hour to the east, each time is half an hour later. The times
// that the documents give as UTC stay UTC.
func TestTimesAreToldInTheOperatorsZone(t *testing.T) {
	scenes := map[string]func() scene.Scene{
		"bookkept": func() scene.Scene { sc := scene.Bookkept(); sc.Tried(scene.Failed(2, "x")); return sc },
		"under way": func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(90 * time.Minute)
			sc.NodeRequest("cmp-01")
			sc.Nodes["cmp-02"].Ready, sc.Nodes["cmp-02"].ReadySince = "False", scene.Ago(40*time.Minute)
			return sc
		},
	}
	told := func(zone *time.Location, sc scene.Scene) []string {
		scene.LivingIn(t, zone)
		s := sc.Again().Snapshot
		var text strings.Builder
		for _, a := range Of(s) {
			fmt.Fprintln(&text, a.Reason, a.Detail, a.Hint)
		}
		for _, p := range progress.Phases(s) {
			fmt.Fprintln(&text, p.Evidence)
		}
		keys := []core.ProcedureKey{{Kind: core.ProcedureCluster}}
		for _, v := range progress.NodeViews(s) {
			fmt.Fprintln(&text, v.Reason, v.What, progress.AccountText(s, progress.NodeAccount(s, v.Name), true))
			keys = append(keys, core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name})
		}
		for _, key := range keys {
			if p, ok := procedure.Of(s, key); ok {
				fmt.Fprintln(&text, p.Summary)
				for _, step := range p.Steps {
					fmt.Fprintln(&text, step.Status, step.Why, step.Guards)
				}
			}
		}
		return timesOfDay.FindAllString(text.String(), -1)
	}
	for name, make := range scenes {
		t.Run(name, func(t *testing.T) {
			here, there := told(time.UTC, make()), told(time.FixedZone("EAST", 30*60), make())
			if len(here) < 2 || len(here) != len(there) {
				t.Fatalf("%d times here, %d there", len(here), len(there))
			}
			for i := range here {
				layout := "15:04:05"[:len(here[i])]
				was, err := time.Parse(layout, here[i])
				if err != nil {
					t.Fatal(err)
				}
				if want := was.Add(30 * time.Minute).Format(layout); there[i] != want {
					t.Errorf("%s is %s there, want %s", here[i], there[i], want)
				}
			}
		})
	}
}
