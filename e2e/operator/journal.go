package operator

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockstep/core/engine"
)

// Records returns the lines of the program's journal.
func (o *Operator) Records() []engine.Record {
	o.t.Helper()
	paths, err := filepath.Glob(filepath.Join(o.State, "lockstep", "journal", "*.jsonl"))
	if err != nil {
		o.t.Fatal(err)
	}
	rehearsed, err := filepath.Glob(filepath.Join(o.State, "lockstep", "simulated", "journal", "*.jsonl"))
	if err != nil {
		o.t.Fatal(err)
	}
	var all []engine.Record
	for _, path := range append(paths, rehearsed...) {
		skipped, err := engine.ReadJournal(path, func(r engine.Record) { all = append(all, r) })
		if err != nil || skipped > 0 {
			o.t.Fatalf("read the journal: %d lines are no records, %v", skipped, err)
		}
	}
	return all
}

// Story returns the last n records of the journal, for a test's failure text.
func (o *Operator) Story(n int) string {
	var text strings.Builder
	records := o.Records()
	for _, r := range records[max(0, len(records)-n):] {
		fmt.Fprintf(&text, "%s %s %s %s %s → %s %s %s\n", r.Wall.Format("15:04:05.000"), r.Kind, r.Title, r.Node, r.From, r.To, r.State, r.Error)
	}
	return text.String()
}

// KeepsNoSecret fails the test when a file of the state folder, or the screen, contains one of the secrets.
func (o *Operator) KeepsNoSecret(secrets []string) {
	o.t.Helper()
	files := 0
	err := filepath.WalkDir(o.State, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, secret := range secrets {
			if strings.Contains(string(raw), secret) {
				o.t.Errorf("%s has a secret in it", path)
			}
		}
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	if files < 2 {
		o.t.Errorf("the state folder has %d files; a journal and a log are expected", files)
	}
	for _, secret := range secrets {
		if o.Screen().Contains(secret) {
			o.t.Error("the screen shows a secret")
		}
	}
}
