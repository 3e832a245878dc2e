package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/news"
)

// Nothing that is printed for other programs, and no line of the log, has a secret or a character with an effect on a terminal.
func TestWhatIsPrintedForProgramsIsDiscreetAndPlain(t *testing.T) {
	const text = "nova said password=hunter2 and --token hunter2 then\u009b2J\x7f\u202e \U000f0001"
	journal := filepath.Join(t.TempDir(), "mos.jsonl")
	line := `{"at":"2026-03-14T20:00:00Z","wall":"2026-03-14T20:00:00Z","kind":"lock","text":"` + text + `"}` + "\n"
	if err := os.WriteFile(journal, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, print := range map[string]func(w *bytes.Buffer) error{
		"a document":    func(w *bytes.Buffer) error { return printJSON(w, notesDocument{2, text, []core.Note{{Text: text}}}) },
		"a status":      func(w *bytes.Buffer) error { return statusPrinters["json"](w, Status{Cluster: text}) },
		"one as YAML":   func(w *bytes.Buffer) error { return statusPrinters["yaml"](w, Status{Cluster: text}) },
		"a watch":       func(w *bytes.Buffer) error { return watchPrinters[formatJSON](w, news.Line{Text: text}) },
		"journal lines": func(w *bytes.Buffer) error { return showJournals(w, w, []string{journal}, journalFilter{}, formatJSON) },
	} {
		var out bytes.Buffer
		if err := print(&out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), "password="+core.Hidden) {
			t.Errorf("%s gives a secret away: %s", name, &out)
		}
		if i := strings.IndexFunc(out.String(), func(c rune) bool { return c != '\n' && core.Invisible(c) }); i >= 0 {
			t.Errorf("%s has a character with an effect: %q", name, &out)
		}
	}
}
