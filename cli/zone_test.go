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

	"lockstep/core/engine"
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
	Heads          map[string]string // by command, how what it prints for people begins
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
		if code, _, errs := runIn(t, p, "note", "the window ends at six", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName); code !=
			exitFine {
			t.Fatal(errs)
		}
		out.Journal, out.AsOf = filesIn(t, p), raw.AsOf
		out.Heads = map[string]string{}
		for _, command := range []string{"status", "check", "handover", "handover -o md", "plan cmp-01", "plan cmp-01 -o markdown",
			"plan --window 22:00-06:00", "plan --window 22:00-06:00 -o markdown"} {
			args := append(strings.Fields(command), "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
			_, printed, errs := runIn(t, p, args...)
			lines := strings.SplitN(printed, "\n", 7)
			if len(lines) < 7 {
				t.Errorf("%s: %s%s", command, printed, errs)
				continue
			}
			out.Heads[command] = strings.Join(lines[:6], "\n")
		}
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
	// What is sent to somebody, who may be elsewhere, says in which zone it is, and when by the cluster's clock.
	when := regexp.MustCompile(`(?:as of|As of|made|,) (?:\d{4}-\d\d-\d\d|\d+ \w+) (\d\d:\d\d) (EAST \(UTC\+00:30\)|UTC)`)
	for command, head := range here.Heads {
		a, b := when.FindStringSubmatch(head), when.FindStringSubmatch(there.Heads[command])
		if a == nil || b == nil || a[2] != "UTC" || b[2] == "UTC" {
			t.Errorf("%s does not say in which zone it is: here %q, there %q", command, head, there.Heads[command])
			continue
		}
		if at, err := time.Parse("15:04", a[1]); err != nil || at.Add(30*time.Minute).Format("15:04") != b[1] {
			t.Errorf("%s: it is %s here and %s there", command, a[1], b[1])
		}
	}
	if !strings.HasSuffix(string(asOf), `Z"`) {
		t.Errorf("asOf is %s", asOf)
	}
	if !strings.Contains(journal, `"kind":"note"`) {
		t.Errorf("the journal has no note:\n%s", journal)
	}
	if walls := regexp.MustCompile(`"(?:wall|at)":"[^"]*[^Z"]"`).FindString(journal); walls != "" {
		t.Errorf("the journal has %s", walls)
	}
}

// The list of journals has the times of what they tell, as `journal show` has them, and not when the lines were written: a cluster's
// clock may be another one than the machine's.
func TestTheListOfJournalsHasTheClustersTimes(t *testing.T) {
	wall, path := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC), filepath.Join(t.TempDir(), "mos.jsonl")
	var text strings.Builder
	for i, at := range []int{60, 30, 90} { // the second was reconstructed
		raw, err := json.Marshal(engine.Record{Kind: engine.RecordStage, Wall: wall.Add(time.Duration(i) * time.Minute),
			At: wall.Add(time.Duration(at) * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(raw, '\n'))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := engine.JournalFiles(path)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if got, want := holds(files[0]), "no update, 2026-11-27 14:00 to 2026-11-30 02:00 UTC, 3 lines, "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
