package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Documents for other programs are encoded by core.EncodeJSON alone: it knows what must not leave. What is encoded otherwise is no such
// document: a file of the state folder that only Lockstep reads, a number, and the journal's own lines, which go the same way.
func TestDocumentsAreEncodedInOnePlace(t *testing.T) {
	t.Chdir("..")
	others := []string{"cli/session/journalplace.go", "core/evacuation/forecast.go"}
	for _, folder := range []string{"cli", "cli/session", "cli/outputfile", "core/checklist", "core/evacuation",
		"core/forecast", "core/handover", "core/news", "core/record"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, path := range files {
			path = filepath.ToSlash(path)
			if strings.HasSuffix(path, "_test.go") || slices.Contains(others, path) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"json.Marshal(", "json.MarshalIndent(", "json.NewEncoder("} {
				if strings.Contains(string(text), call) {
					t.Errorf("%s calls %s…): a document goes through core.EncodeJSON", path, call)
				}
			}
		}
	}
}
