package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rawTimes are the files that read a Snapshot's Now or Wall themselves, and why that is right there.
var rawTimes = map[string]string{
	"core/clock.go":               "it answers the questions about times",
	"core/derivation.go":          "it compares two Snapshots",
	"core/progress/refusal.go":    "it makes a record",
	"core/progress/updateplan.go": "it asks for the span, too",
	"core/procedure/source.go":    "it is made each time anew",
}

var rawTime = regexp.MustCompile(`\b(s|f\.s|b\.s|p\.s|snap|own|later)\.(Now|Wall)\b`)

// What is derived is kept until the time changes it, so whoever derives asks the Snapshot about times: it notes when the answer turns.
func TestTimesAreAskedFor(t *testing.T) {
	t.Chdir("..")
	for _, folder := range []string{"core", "core/progress", "core/procedure", "core/attention", "core/forecast"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", folder, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || rawTimes[path] != "" {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if rawTime.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "//") {
					t.Errorf("%s:%d reads the time itself: %s", path, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
