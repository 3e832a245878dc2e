package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// zoneFile names the file for what a test process in another zone has seen. The zone belongs to the whole process, and is set before
// anything reads it: goroutines of a cloud that has ended have read it, too.
const zoneFile = "LOCKSTEP_TEST_ZONE_FILE"

// inAnotherZone is the zone of such a process.
var inAnotherZone = time.FixedZone("EAST", 30*60)

// zoned is what the program prints and writes in a zone.
type zoned struct {
	Texts, Journal string
	AsOf           json.RawMessage
}

func lookInZone(t *testing.T) (out zoned) {
	bubble.Alone(t, func(t *testing.T) {
		c := started(t, sim.Options{User: kubeapi.Readonly, Paused: true})
		p := placeOn(t, c)
		_, printed, errs := runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
		var s Status
		var raw struct{ AsOf json.RawMessage }
		if json.Unmarshal([]byte(printed), &s) != nil || json.Unmarshal([]byte(printed), &raw) != nil {
			t.Fatalf("%s%s", printed, errs)
		}
		for _, phase := range s.Phases {
			out.Texts += strings.Join(phase.Evidence, "\n") + "\n"
		}
		out.Journal, out.AsOf = filesIn(t, p), raw.AsOf
	})
	return out
}

// lookElsewhere is lookInZone in a process in another zone.
func lookElsewhere(t *testing.T) (out zoned) {
	path := filepath.Join(t.TempDir(), "seen.json")
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count", "1")
	cmd.Env = append(os.Environ(), zoneFile+"="+path)
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	seen, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(seen, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Times for people, in status and in the journal's texts, are in the operator's zone; times for programs are in UTC.
func TestTimesInTheOperatorsZone(t *testing.T) {
	here := lookInZone(t)
	if path := os.Getenv(zoneFile); path != "" {
		seen, err := json.Marshal(here)
		if err == nil {
			err = os.WriteFile(path, seen, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	there := lookElsewhere(t)
	asOf, journal := there.AsOf, there.Journal
	clock := regexp.MustCompile(`since (\d\d:\d\d)`)
	was, is := clock.FindAllStringSubmatch(here.Texts, -1), clock.FindAllStringSubmatch(there.Texts, -1)
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
