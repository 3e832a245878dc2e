package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/sim/bubble/lane"
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
	j, err := OpenJournal(filepath.Join(t.TempDir(), "state", "journal.jsonl"), JournalOptions{})
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
		{Kind: RecordBefore, Wall: at, Operation: "1", Intent: &core.Intent{Kind: core.IntentLiveMigrate, Instance: "i"},
			Object: &core.Ref{Kind: core.KindInstance, Name: "web-1", UID: "i"}},
	} {
		if err := j.Write(r, true); err != nil {
			t.Fatal(err)
		}
	}
	records, skipped := readAll(t, j.Path())
	if skipped != 0 || len(records) != 2 || records[1].Object.UID != "i" || records[1].Intent.Kind != core.IntentLiveMigrate ||
		!records[0].Wall.Equal(at) {
		t.Fatalf("read back %d skipped, %+v", skipped, records)
	}
	for name, mode := range map[string]os.FileMode{j.Path(): 0o600, filepath.Dir(j.Path()): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v (%v); it is the operator's alone: %v", filepath.Base(name), info.Mode(), err, mode)
		}
	}
}

// fullDisk makes a journal's writes fail after some bytes; room ends it.
func fullDisk(j *Journal, most int) (room func()) {
	whole := j.write
	j.write = func(f *os.File, b []byte) (int, error) {
		n := min(most, len(b))
		if n == len(b) {
			return whole(f, b)
		}
		if n > 0 {
			if _, err := whole(f, b[:n]); err != nil {
				return 0, err
			}
		}
		return n, syscall.ENOSPC
	}
	return func() { j.write = whole }
}

// A disk that is full for a while cuts a line off in the middle. Nothing of that line stays, the next line is a record, and what
// happened meanwhile is written then, in order. A record that a write depends on is not written later: the write was not made.
func TestJournalGoesOnAfterAFullDisk(t *testing.T) {
	for _, most := range []int{0, 5, 60} {
		j := openJournal(t)
		if err := j.Keep(false, Record{Kind: RecordStart}); err != nil {
			t.Fatal(err)
		}
		room := fullDisk(j, most)
		if err := j.Write(Record{Kind: RecordGrant, Operation: "not done"}, true); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("the disk is full, and it was written: %v", err)
		}
		for _, id := range []string{"1", "2"} {
			if err := j.Keep(true, Record{Kind: RecordVerified, Operation: id}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("the disk is full, and it was written: %v", err)
			}
		}
		if records, skipped := readAll(t, j.Path()); len(records) != 1 || skipped != 0 {
			t.Errorf("with %d bytes left there are %d records and %d torn lines", most, len(records), skipped)
		}
		room()
		if err := j.Write(Record{Kind: RecordBefore, Operation: "3"}, true); err != nil {
			t.Fatal(err)
		}
		if got := operationsIn(t, j.Path()); !slices.Equal(got, []string{"", "1", "2", "3"}) {
			t.Errorf("with %d bytes left: %q", most, got)
		}
	}
}

// A disk, or a server of files, can tell only at the sync that it has no room. What must last, and was not synced, is written again as soon
// as the disk takes it, in order; until then it is not written over and over, and whoever ends learns what is missing. A record that a
// write depends on is not written later. Where the file system has no sync at all, what was written stays as it is.
func TestWhatCouldNotBeSyncedIsWrittenAgain(t *testing.T) {
	j := openJournal(t)
	var fails error
	j.sync = func(*os.File) error { return fails }
	size := func() int64 {
		info, err := os.Stat(j.Path())
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	lose := func(to int64) { // as the server does with what it has no room for
		if err := os.Truncate(j.Path(), to); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Keep(true, Record{Kind: RecordVerified, Operation: "1"}); err != nil {
		t.Fatal(err)
	}
	first := size()
	fails = syscall.ENOSPC
	for _, id := range []string{"2", "3"} {
		if err := j.Keep(true, Record{Kind: RecordVerified, Operation: id}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("it was not synced: %v", err)
		}
	}
	lose(first)
	for range 3 {
		if _, err := j.Follow(); !errors.Is(err, syscall.ENOSPC) || size() != first {
			t.Errorf("%v; the file has grown by %d bytes", err, size()-first)
		}
	}
	fails = nil
	if _, err := j.Follow(); err != nil || !slices.Equal(operationsIn(t, j.Path()), []string{"1", "2", "3"}) {
		t.Errorf("%v, %q", err, operationsIn(t, j.Path()))
	}
	first, fails = size(), syscall.ENOSPC
	if err := j.Write(Record{Kind: RecordBefore, Operation: "not done"}, true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("it was not synced: %v", err)
	}
	lose(first)
	fails = errors.ErrUnsupported
	if err := j.Keep(true, Record{Kind: RecordVerified, Operation: "4"}); err == nil {
		t.Error("it was synced")
	}
	if _, err := j.Follow(); err != nil || !slices.Equal(operationsIn(t, j.Path()), []string{"1", "2", "3", "4"}) {
		t.Errorf("%v, %q", err, operationsIn(t, j.Path()))
	}
	fails = syscall.EIO
	if err := j.Keep(true, Record{Kind: RecordVerified, Operation: "5"}); err == nil {
		t.Error("it was synced")
	}
	if err := j.Close(); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "lacks 1 record ") {
		t.Errorf("%v", err)
	}
}

// The sync that fails may be that of a file that is to be put away: the system tells of it only once.
func TestWhatCouldNotBeSyncedAtARotationIsWrittenAgain(t *testing.T) {
	j := openSmall(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	synced := j.sync
	j.sync = func(f *os.File) error { j.sync = synced; return syscall.EIO }
	j.limit = 1
	if err := j.Keep(true, Record{Kind: RecordVerified, Operation: "1"}); !errors.Is(err, syscall.EIO) {
		t.Errorf("it was not synced: %v", err)
	}
	if err := j.Close(); err != nil || len(j.waiting) > 0 {
		t.Errorf("%v, %d wait", err, len(j.waiting))
	}
}

// Records that wait for room on the disk are written even if nothing more happens, and at the latest when Lockstep leaves.
func TestJournalWritesWhatWaits(t *testing.T) {
	j := openJournal(t)
	room := fullDisk(j, 0)
	if err := j.Keep(false, Record{Kind: RecordVerified, Operation: "1"}); err == nil {
		t.Fatal("the disk is full")
	}
	if _, err := j.Follow(); err == nil {
		t.Error("what waits is forgotten")
	}
	room()
	if _, err := j.Follow(); err != nil || !slices.Equal(operationsIn(t, j.Path()), []string{"1"}) {
		t.Errorf("%v, %q", err, operationsIn(t, j.Path()))
	}
	room = fullDisk(j, 0)
	if err := j.Keep(false, Record{Kind: RecordVerified, Operation: "2"}); err == nil {
		t.Fatal("the disk is full")
	}
	room()
	if err := j.Close(); err != nil || !slices.Equal(operationsIn(t, j.Path()), []string{"1", "2"}) {
		t.Errorf("%v, %q", err, operationsIn(t, j.Path()))
	}
}

// Who ends while the disk is full learns how many records the journal lacks.
func TestAJournalThatClosesSaysWhatItLacks(t *testing.T) {
	j := openJournal(t)
	fullDisk(j, 0)
	for _, id := range []string{"1", "2", "3"} {
		if err := j.Keep(true, Record{Kind: RecordVerified, Operation: id}); err == nil {
			t.Fatal("the disk is full")
		}
	}
	if err := j.Close(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "lacks 3 records that could not be written: ") {
		t.Errorf("%v", err)
	}
}

// The number of waiting records is bounded, and those that find no room are counted.
func TestJournalSaysHowMuchIsLost(t *testing.T) {
	lane.Single(t)
	j := openJournal(t)
	room := fullDisk(j, 0)
	for range maxWaiting + 7 {
		_ = j.Keep(false, Record{Kind: RecordVerified})
	}
	if err := j.Keep(false, Record{Kind: RecordStop}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	room()
	if _, err := j.Follow(); err != nil {
		t.Fatal(err)
	}
	records, _ := readAll(t, j.Path())
	last := records[len(records)-1]
	if len(records) != maxWaiting+1 || last.Kind != RecordLost || !strings.HasPrefix(last.Text, "8 more records") {
		t.Errorf("%d records, the last one %+v", len(records), last)
	}
}

func operationsIn(t *testing.T, path string) (ids []string) {
	t.Helper()
	records, skipped := readAll(t, path)
	if skipped > 0 {
		t.Errorf("%d lines are torn", skipped)
	}
	for _, r := range records {
		ids = append(ids, r.Operation)
	}
	return ids
}

// A crash can cut off the last line, and a newer version can write fields that this one does not know. Neither may cost a record.
func TestJournalSurvivesATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	torn := `{"kind":"start","wall":"2026-01-16T15:25:37Z"}` + "\n" + `{"kind":"before","operat`
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path, JournalOptions{})
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
	if got := records[0].Error; len(got) > wording.MaxRecordText+20 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…(cut)") {
		t.Fatalf("the error was kept with %d bytes", len(got))
	}
}

// Two programs on one journal, or many goroutines of one program, never mix their lines.
func TestJournalLinesStayWhole(t *testing.T) {
	first := openJournal(t)
	second, err := OpenJournal(first.Path(), JournalOptions{})
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

// A run that waits for the lock gives up when nobody else gets on. While others write, they only came first.
func TestAWriterWaitsWhileOthersWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := openJournal(t)
		second, err := OpenJournal(first.Path(), JournalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		for _, others := range []bool{true, false} {
			release, err := second.exclusive()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for range 6 {
					time.Sleep(500 * time.Millisecond)
					if others {
						if err := second.append([]Record{{Kind: RecordStage, Text: "x"}}); err != nil {
							t.Error(err)
						}
					}
				}
				release()
			}()
			began := time.Now()
			err = first.Write(Record{Kind: RecordStage, Text: "y"}, false)
			if told := err != nil && strings.Contains(err.Error(), "does not release it"); told == others {
				t.Errorf("others write: %v; after %s: %v", others, time.Since(began), err)
			}
			time.Sleep(5 * time.Second)
		}
	})
}
