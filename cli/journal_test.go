package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"lockstep/core/engine"
)

// The command finds the journals by itself, says which line is damaged, and tells scripts by its exit code.
func TestJournalVerifyFindsADamagedLine(t *testing.T) {
	p := place{journal: t.TempDir()}
	run := func(args ...string) (code int, out, trouble string) {
		var stdout, stderr bytes.Buffer
		code = execute(t.Context(), p, append([]string{"journal"}, args...), nil, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	if code, _, trouble := run("verify"); code != exitError || !strings.Contains(trouble, "there is no journal in "+p.journal) {
		t.Errorf("without a journal: %d, %s", code, trouble)
	}
	path := journalPath(p.journal, "mos", "https://mos")
	j, err := engine.OpenJournal(path, engine.JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"one", "two", "three"} {
		if err := j.Write(engine.Record{Kind: engine.RecordAfter, Title: title}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run(); code != exitFine || out != path+"\n" {
		t.Errorf("the list: %d, %q", code, out)
	}
	code, out, _ := run("verify")
	if code != exitFine || !strings.HasPrefix(out, path+": intact, 3 lines in 1 file\n  the last line is number 3, sha256 ") {
		t.Errorf("intact: %d, %s", code, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("two"), []byte("2wo"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run("verify", path); code != exitAttention || !strings.Contains(out, ": DAMAGED, 3 lines") ||
		!strings.Contains(out, path+", line 2: changed: it is not as it was written") {
		t.Errorf("changed: %d, %s", code, out)
	}
	code, out, _ = run("verify", "-o", "json")
	var document struct {
		Version  int
		Journals []struct {
			Journal  string
			Intact   bool
			Findings []engine.JournalFinding
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || code != exitAttention || document.Version != 1 {
		t.Fatalf("%d, %v: %s", code, err, out)
	}
	if d := document.Journals; len(d) != 1 || d[0].Intact || len(d[0].Findings) != 1 || d[0].Findings[0].Damage != engine.DamageChanged {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{"verify", "-o", "yaml"}, {"verify", p.journal}, {"verify", path + ".gone"}} {
		if code, _, trouble := run(args...); code != exitError || trouble == "" {
			t.Errorf("%q: %d, %s", args, code, trouble)
		}
	}
}
