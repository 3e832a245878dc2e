package core

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func readAll(t *testing.T, path string) (records []Record, skipped int) {
	t.Helper()
	skipped, err := ReadJournal(path, func(r Record) { records = append(records, r) })
	if err != nil {
		t.Fatal(err)
	}
	return records, skipped
}

func openJournal(t *testing.T) *Journal {
	t.Helper()
	j, err := OpenJournal(filepath.Join(t.TempDir(), "state", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func TestJournalKeepsWhatWasWritten(t *testing.T) {
	j := openJournal(t)
	at := time.Date(2026, 1, 16, 15, 25, 37, 0, time.UTC)
	for _, r := range []Record{
		{Kind: RecordStart, Wall: at, Cluster: "mos"},
		{Kind: RecordBefore, Wall: at, Operation: "1", Intent: &Intent{Kind: IntentLiveMigrate, Instance: "i"}, Object: &Ref{Kind: KindInstance, Name: "web-1", UID: "i"}},
	} {
		if err := j.Write(r, true); err != nil {
			t.Fatal(err)
		}
	}
	records, skipped := readAll(t, j.Path())
	if skipped != 0 || len(records) != 2 || records[1].Object.UID != "i" || records[1].Intent.Kind != IntentLiveMigrate || !records[0].Wall.Equal(at) {
		t.Fatalf("read back %d skipped, %+v", skipped, records)
	}
	for name, mode := range map[string]os.FileMode{j.Path(): 0o600, filepath.Dir(j.Path()): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v (%v); it is the operator's alone: %v", filepath.Base(name), info.Mode(), err, mode)
		}
	}
}

// A disk that was full for a while cuts a line off in the middle: what is written next is a record all the same.
func TestJournalGoesOnAfterALineThatWasCutOff(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j := &Journal{file: w, path: "a pipe"}
	begin, begun := make([]byte, 16), make(chan struct{})
	go func() {
		defer close(begun)
		io.ReadFull(r, begin) // it is being written: a pipe takes some 64 KiB, and no more
		w.SetWriteDeadline(time.Now())
	}()
	if err := j.Write(Record{Kind: RecordGrant, Commands: []string{strings.Repeat("x", 1<<20)}}, false); err == nil {
		t.Fatal("all of it was written")
	}
	<-begun
	w.SetWriteDeadline(time.Time{})
	got := make(chan []byte)
	go func() { rest, _ := io.ReadAll(r); got <- append(begin, rest...) }()
	if err := j.Write(Record{Kind: RecordBefore, Operation: "7"}, false); err != nil {
		t.Fatal(err)
	}
	j.Close()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, <-got, 0o600); err != nil {
		t.Fatal(err)
	}
	if records, skipped := readAll(t, path); len(records) != 1 || records[0].Operation != "7" || skipped != 1 {
		t.Errorf("%d skipped, %d records", skipped, len(records))
	}
}

// A crash can cut the last line off, and a newer version can write what this one does not know. Neither may cost a record.
func TestJournalSurvivesATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	torn := `{"kind":"start","wall":"2026-01-16T15:25:37Z"}` + "\n" + `{"kind":"before","operat`
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Write(Record{Kind: RecordStop}, true); err != nil {
		t.Fatal(err)
	}
	records, skipped := readAll(t, path)
	if skipped != 1 || len(records) != 2 || records[1].Kind != RecordStop {
		t.Fatalf("read %d records, %d skipped: %+v", len(records), skipped, records)
	}
}

func TestJournalOfNobodyIsEmpty(t *testing.T) {
	records, skipped := readAll(t, filepath.Join(t.TempDir(), "none.jsonl"))
	if len(records)+skipped != 0 {
		t.Fatalf("a missing journal gave %v", records)
	}
}

func TestJournalCutsEndlessTexts(t *testing.T) {
	j := openJournal(t)
	if err := j.Write(Record{Kind: RecordAfter, Error: strings.Repeat("ä", 1<<20)}, false); err != nil {
		t.Fatal(err)
	}
	records, _ := readAll(t, j.Path())
	if got := records[0].Error; len(got) > maxRecordText+20 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…(cut)") {
		t.Fatalf("the error was kept with %d bytes", len(got))
	}
}

// Two programs on one journal, or many goroutines of one, never mix their lines.
func TestJournalLinesStayWhole(t *testing.T) {
	first := openJournal(t)
	second, err := OpenJournal(first.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	var wg sync.WaitGroup
	const each = 200
	for _, j := range []*Journal{first, second, first, second} {
		wg.Go(func() {
			for range each {
				if err := j.Write(Record{Kind: RecordStage, Text: strings.Repeat("x", 3000)}, false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	records, skipped := readAll(t, first.Path())
	if len(records) != 4*each || skipped != 0 {
		t.Fatalf("%d records, %d torn", len(records), skipped)
	}
}
