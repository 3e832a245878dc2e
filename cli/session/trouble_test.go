package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/core/engine"
)

// Records that still wait for a disk when Lockstep ends are lost. The operator reads on the terminal how many, and why: the log may be on
// the same disk.
func TestTheEndTellsWhatTheJournalLacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mos.jsonl")
	j, err := engine.OpenJournal(path, engine.JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Log: proofLog(t), Journal: j, Troubles: make(chan string, mostTold)}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	if err := j.Keep(true, engine.Record{Kind: engine.RecordVerified}, engine.Record{Kind: engine.RecordEnded}); err == nil {
		t.Fatal("it was written")
	}
	s.closeJournal()
	var out strings.Builder
	want := path + " did not end in good order: it lacks 2 records that could not be written: open the journal"
	if s.TellRest(&out); !strings.Contains(out.String(), want) {
		t.Errorf("%q", out.String())
	}
}
