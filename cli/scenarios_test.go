package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/sim/scenario"
)

func TestListOfScenarios(t *testing.T) {
	code, out, errs := run(t, "demo", "--list")
	if code != exitFine || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(scenario.List()) {
		t.Errorf("%d lines for %d scenarios:\n%s", len(lines), len(scenario.List()), out)
	}
	for _, line := range lines {
		if fields := strings.Split(line, "\t"); len(fields) != 4 || fields[3] == "" {
			t.Errorf("not a name, a group, a title and a text: %q", line)
		}
	}
	var all scenariosDocument
	if code, out, _ := run(t, "demo", "--list", "-o", "json"); code != exitFine || json.Unmarshal([]byte(out), &all) != nil ||
		len(all.Scenarios) != len(lines) {
		t.Errorf("exit %d, as JSON: %s", code, out)
	}
	for _, wrong := range [][]string{{"demo", "--list", "-o", "xml"}, {"demo", "-o", "json"}} {
		if code, _, errs := run(t, wrong...); code == exitFine || !strings.Contains(errs, "--output") {
			t.Errorf("%v: exit %d: %s", wrong, code, errs)
		}
	}
}

// However wide the terminal is, no line is longer, unless a single word is, and the words are the same.
func TestListOfScenariosFitsTheTerminal(t *testing.T) {
	all, err := scenario.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{50, 59, 60, 80, 120, 300} {
		page := scenarioPages(all, width)
		for line := range strings.Lines(page) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > min(width, readable) && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("at %d columns a line has %d: %q", width, n, line)
			}
		}
		words := " " + strings.Join(strings.Fields(page), " ") + " "
		for _, e := range all {
			if !strings.Contains(words, " "+e.Title+" ") || !strings.Contains(words, " "+e.Teaches+" ") {
				t.Errorf("at %d columns, %s is not told whole", width, e.Name)
			}
		}
		for _, g := range []string{"The basics", "Instances", "Fleets"} {
			if !strings.Contains(page, g+"\n") {
				t.Errorf("the group %s is missing", g)
			}
		}
	}
}
