package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// Times for people, in status and in the journal's texts, are in the operator's zone; times for programs are in UTC.
func TestTimesInTheOperatorsZone(t *testing.T) {
	before := time.Local
	t.Cleanup(func() { time.Local = before })
	look := func(zone *time.Location) (texts, journal string, asOf json.RawMessage) {
		time.Local = zone
		bubble.Alone(t, func(t *testing.T) {
			c := started(t, sim.Options{User: kubeapi.Readonly, Paused: true})
			p := placeOn(t, c)
			_, out, errs := runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
			var s Status
			var raw struct{ AsOf json.RawMessage }
			if json.Unmarshal([]byte(out), &s) != nil || json.Unmarshal([]byte(out), &raw) != nil {
				t.Fatalf("%s%s", out, errs)
			}
			for _, phase := range s.Phases {
				texts += strings.Join(phase.Evidence, "\n") + "\n"
			}
			journal, asOf = filesIn(t, p), raw.AsOf
		})
		return texts, journal, asOf
	}
	here, _, _ := look(time.UTC)
	there, journal, asOf := look(time.FixedZone("EAST", 30*60))
	clock := regexp.MustCompile(`since (\d\d:\d\d)`)
	was, is := clock.FindAllStringSubmatch(here, -1), clock.FindAllStringSubmatch(there, -1)
	if len(was) == 0 || len(was) != len(is) {
		t.Fatalf("times here: %q, there: %q", was, is)
	}
	for i := range was {
		at, err := time.Parse("15:04", was[i][1])
		if err != nil {
			t.Fatal(err)
		}
		if want := at.Add(30 * time.Minute).Format("15:04"); is[i][1] != want {
			t.Errorf("%s is %s there, want %s", was[i][1], is[i][1], want)
		}
	}
	if !strings.HasSuffix(string(asOf), `Z"`) {
		t.Errorf("asOf is %s", asOf)
	}
	if walls := regexp.MustCompile(`"(?:wall|at)":"[^"]*[^Z"]"`).FindString(journal); walls != "" {
		t.Errorf("the journal has %s", walls)
	}
}
