package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockstep/core"
)

// verified fails the test unless the journal's chain holds, and returns what is known of it.
func verified(t *testing.T, path string) JournalVerification {
	t.Helper()
	v, err := VerifyJournal(path)
	if err != nil || len(v.Findings) > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	return v
}

// chained writes n records, and returns the journal's lines.
func chained(t *testing.T, path string, n int) [][]byte {
	t.Helper()
	j, err := OpenJournal(path, JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	numbered(t, j, "anna", 0, n)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// The chain goes through all runs and all files of a journal, also where two runs write by turns.
func TestTheChainGoesThroughAllFilesAndRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var writing sync.WaitGroup
	for _, who := range []string{"anna", "bert"} {
		j := openSmall(t, path)
		writing.Go(func() { numbered(t, j, who, 0, 100) })
	}
	writing.Wait()
	v := verified(t, path)
	if len(v.Files) < 5 || v.Unlinked > 0 || v.Seq != int64(v.Lines) || len(v.Notes) > 0 {
		t.Errorf("%+v", v)
	}
	// A file that was taken away is said to be, and the rest still holds together.
	if err := os.Remove(v.Files[1]); err != nil {
		t.Fatal(err)
	}
	if less := verified(t, path); len(less.Notes) != 1 || !strings.Contains(less.Notes[0], v.Files[1]) {
		t.Errorf("%q", less.Notes)
	}
	if one := verified(t, v.Files[2]); len(one.Notes) != 1 || !strings.Contains(one.Notes[0], "continues another file") {
		t.Errorf("a file by itself: %q", one.Notes)
	}
}

// Whoever verifies a journal again reads what was written since, and the files before only when they are others.
func TestAFileThatWasPutAwayIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	write := func(n int) {
		j := openSmall(t, path)
		numbered(t, j, "anna", 0, n)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(200)
	again := NewJournalVerifier(path)
	// verify returns what is found and how many files were read, and wants the same of one that verifies for the first time.
	verify := func() (JournalVerification, int) {
		t.Helper()
		before := again.read
		v, err := again.Verify()
		if fresh, freshErr := VerifyJournal(path); err != nil || freshErr != nil || !reflect.DeepEqual(v, fresh) {
			t.Fatalf("%+v, %v\nthe first time:\n%+v, %v", v, err, fresh, freshErr)
		}
		return v, again.read - before
	}
	v, read := verify()
	if len(v.Files) < 5 || read != len(v.Files) || len(v.Findings) > 0 {
		t.Fatalf("%d files read: %+v", read, v)
	}
	first, files := v, len(v.Files)
	write(3)
	if v, read = verify(); v.Lines <= first.Lines || read > 1+len(v.Files)-files || len(v.Findings) > 0 {
		t.Errorf("%d of %d files read, %d before, %+v", read, len(v.Files), files, v.Findings)
	}
	files = len(v.Files)
	second, err := os.ReadFile(v.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(second, []byte("anna"), []byte("hannah"), 1)
	if err := os.WriteFile(v.Files[1], changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, read = verify(); len(v.Findings) != 1 || read != files-1 {
		t.Errorf("one file was changed: %d files read, %+v", read, v.Findings)
	}
	if v, read = verify(); len(v.Findings) != 1 || read != 1 {
		t.Errorf("once more: %d files read, %+v", read, v.Findings)
	}
	if err := os.Remove(v.Files[1]); err != nil {
		t.Fatal(err)
	}
	if v, _ = verify(); len(v.Findings) > 0 || len(v.Notes) != 1 {
		t.Errorf("it was taken away: %+v", v)
	}
	if v, read = verify(); read != 1 || len(v.Notes) != 1 {
		t.Errorf("once more: %d files read: %+v", read, v)
	}
	if err := os.WriteFile(first.Files[1], second, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, _ = verify(); len(v.Findings)+len(v.Notes) > 0 {
		t.Errorf("it is back: %+v", v)
	}
}

// Whatever is done to a line that others follow is found, and where.
func TestWhatWasDoneToAJournalIsFound(t *testing.T) {
	type lines = [][]byte
	for name, c := range map[string]struct {
		do   func(lines) lines
		want string
	}{
		"changed":               {func(l lines) lines { l[4] = bytes.Replace(l[4], []byte("anna"), []byte("otto"), 1); return l }, "5 changed"},
		"missing":               {func(l lines) lines { return slices.Delete(l, 4, 6) }, "5 missing"},
		"the first is missing":  {func(l lines) lines { return l[1:] }, "1 missing"},
		"doubled":               {func(l lines) lines { return slices.Insert(l, 5, l[4]) }, "6 doubled"},
		"doubled further down":  {func(l lines) lines { return slices.Insert(l, 8, l[2]) }, "9 doubled"},
		"cut off in the middle": {func(l lines) lines { l[4] = append(l[4][:30:30], '\n'); return l }, "5 cut"},
		"cut off at the end":    {func(l lines) lines { l[9] = l[9][:30]; return l }, "10 cut"},
		"put in":                {func(l lines) lines { return slices.Insert(l, 5, []byte(`{"kind":"stop"}`+"\n")) }, "6 inserted"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			text := bytes.Join(c.do(chained(t, path, 10)), nil)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := VerifyJournal(path)
			if err != nil || len(v.Findings) == 0 {
				t.Fatalf("nothing is found: %+v, %v", v, err)
			}
			if f := v.Findings[0]; fmt.Sprint(f.Line, " ", f.Damage) != c.want || f.File != path {
				t.Errorf("found %+v, want %s", v.Findings, c.want)
			}
		})
	}
}

// After a crash in the middle of a line the next run notes it, and the chain goes on.
func TestTheChainGoesOnAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	lines := chained(t, path, 5)
	if err := os.WriteFile(path, append(bytes.Join(lines[:4], nil), lines[4][:30]...), 0o600); err != nil {
		t.Fatal(err)
	}
	chained(t, path, 3)
	if v := verified(t, path); v.Seq != 7 || len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "line 5 was cut off") {
		t.Errorf("%+v", v)
	}
}

// A journal of an older version has no chain. It is read as before, goes on with a chain, and is said to have lines without.
func TestAnOlderJournalGoesOnWithAChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, []byte(`{"kind":"start","cluster":"mos"}`+"\n"+`{"kind":"stop"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := chained(t, path, 3)
	if v := verified(t, path); v.Unlinked != 2 || v.Seq != 3 {
		t.Errorf("%+v", v)
	}
	if records, skipped := readAll(t, path); len(records) != 5 || skipped > 0 {
		t.Errorf("%d records, %d skipped", len(records), skipped)
	}
	lines[1] = []byte(`{"kind":"start"}` + "\n")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := VerifyJournal(path); err != nil || len(v.Findings) != 1 || v.Findings[0].Line != 2 {
		t.Errorf("the last line without a link was changed: %+v, %v", v, err)
	}
}

func TestVerifyOfNoJournal(t *testing.T) {
	if _, err := VerifyJournal(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A journal that version 2 of the form wrote is read by every later version: the file is kept as it was written.
func TestAJournalOfVersion2IsRead(t *testing.T) {
	path := filepath.Join("testdata", "journal-v2.jsonl")
	if v := verified(t, path); v.Seq != 33 || v.Unlinked > 0 ||
		v.Last != "e3e98b7847e9b01dfd7f467fee05985517ed383917756db6e59c5529bc6577d8" {
		t.Errorf("%+v", v)
	}
	records, skipped := readAll(t, path)
	kinds := map[RecordKind]int{}
	for _, r := range records {
		kinds[r.Kind]++
		if r.By != "Anna (root@vm from 10.0.0.7)" || r.Wall.IsZero() || r.Run != "4487eca8" {
			t.Errorf("%+v", r)
		}
	}
	want := map[RecordKind]int{RecordStart: 1, RecordUpdate: 1, RecordPhase: 4, RecordRound: 3, RecordStage: 20, RecordLock: 3,
		RecordStandstill: 1}
	if skipped > 0 || !maps.Equal(kinds, want) || records[0].Cluster != "mos" {
		t.Errorf("%v, %d skipped", kinds, skipped)
	}
	if past, skipped, err := readPast(path); err != nil || skipped > 0 || len(past) == 0 {
		t.Errorf("what still counts: %d records, %d skipped, %v", len(past), skipped, err)
	}
}

// A journal of a whole update is kept as it was written, too: with writes, entries, a note, migrations, identities, the plan, forecasts,
// and what was reconstructed after a kill. Every later version reads it.
func TestAJournalOfAWholeUpdateIsRead(t *testing.T) {
	path := filepath.Join("testdata", "journal-v2-whole.jsonl")
	if v := verified(t, path); v.Seq != 136 || v.Unlinked > 0 ||
		v.Last != "49284010b4edfcebb0f30d337cab65e8cfff882431f4abbca0131681801c66a7" {
		t.Errorf("%+v", v)
	}
	records, skipped := readAll(t, path)
	kinds, made := map[RecordKind]int{}, 0
	for _, r := range records {
		if kinds[r.Kind]++; r.Reconstructed != "" {
			made++
		}
		if r.Says() == "" {
			t.Errorf("it says nothing: %+v", r)
		}
	}
	want := map[RecordKind]int{RecordStage: 28, RecordEntry: 22, RecordLock: 16, RecordPhase: 9, RecordPlanStep: 8, RecordRound: 7,
		RecordStandstill: 6, RecordArm: 4, RecordGrant: 4, RecordBefore: 4, RecordAfter: 4, RecordVerified: 4, RecordEnded: 4,
		RecordForecast: 4, RecordStart: 2, RecordIdentity: 2, RecordUpdate: 2, RecordMove: 2, RecordPlan: 1, RecordNote: 1,
		RecordDisarm: 1, RecordStop: 1}
	if skipped > 0 || !maps.Equal(kinds, want) || made != 5 {
		t.Errorf("%v, %d reconstructed, %d skipped", kinds, made, skipped)
	}
	past, _, err := readPast(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string][]Record{"all of it": records, "what still counts": past} {
		h, b := HistoryOf(all), planBook{}
		b.remember(all)
		if len(h.Stages) != 3 || len(h.Rounds) != 3 || h.Update.Release != "21.0.0+25.2" || len(notesOf(all)) != 1 {
			t.Errorf("%s: %+v", name, h)
		}
		if b.update != h.Update.UID || b.plan == "" || b.told == "" || b.steps["mcc-components"] != core.PlanCompleted ||
			!b.given[ForecastFirst] {
			t.Errorf("%s: of the plan it remembers %+v", name, b)
		}
	}
}

// The kinds of lines that the whole update above does not have, as tests of them wrote them, stand in a file that follows another.
func TestEveryKindOfLineIsRead(t *testing.T) {
	path := filepath.Join("testdata", "journal-v2-kinds.jsonl")
	if v := verified(t, path); v.Seq != 20 || v.Unlinked > 0 || len(v.Notes) != 2 ||
		v.Last != "43cd43948c630c5691376fac1637d338451cc859acc72592ba257d17fe142c88" {
		t.Errorf("%+v", v)
	}
	records, skipped := readAll(t, path)
	whole, skippedThere := readAll(t, filepath.Join("testdata", "journal-v2-whole.jsonl"))
	if skipped+skippedThere > 0 {
		t.Errorf("%d and %d skipped", skipped, skippedThere)
	}
	kept := map[RecordKind][]Record{}
	for _, r := range slices.Concat(whole, records) {
		kept[r.Kind] = append(kept[r.Kind], r)
	}
	source, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`RecordKind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 29 {
		t.Errorf("only %d kinds are found in record.go", len(kinds))
	}
	for _, kind := range kinds {
		if !slices.Contains(RecordKinds(), RecordKind(kind[1])) {
			t.Errorf("RecordKinds lacks %s", kind[1])
		}
		if k := RecordKind(kind[1]); len(kept[k]) == 0 && k != RecordCarried { // that is the first line, which only joins files
			t.Errorf("no line of the kind %s is kept", kind[1])
		}
	}

	states := map[string]bool{}
	for _, r := range kept[RecordControl] {
		states[r.State] = true
	}
	if want := map[string]bool{"acknowledged": true, "stop": true, "resume": true, "pause": true, "skip": true}; !maps.Equal(states, want) {
		t.Errorf("controls: %v", states)
	}
	for _, r := range kept[RecordRefused] {
		if !strings.HasPrefix(r.Error, "refused: ") || r.Intent == nil || r.Title == "" || r.Object == nil {
			t.Errorf("refused: %+v", r)
		}
	}
	if r := kept[RecordMigrationRefused][0]; r.Refusal == nil || r.Refusal.Text != "No valid host was found." || r.Object.UID != "id-web-1" {
		t.Errorf("a refusal: %+v", r)
	}
	if r := kept[RecordMigrated][0]; r.From != "cmp-1" || r.Text != "is ACTIVE on cmp-2" || r.Object.Name != "web-1" {
		t.Errorf("a migration's end: %+v", r)
	}
	foretold := map[core.ForetoldKind]bool{}
	for _, r := range kept[RecordForetold] {
		if foretold[r.Foretold.Kind] = true; r.Foretold.Came.IsZero() || r.Foretold.End.IsZero() || !r.Foretold.Given.Before(r.Foretold.Came) {
			t.Errorf("foretold: %+v", r.Foretold)
		}
	}
	if len(foretold) != 4 {
		t.Errorf("foretold: %v", foretold)
	}
	if len(records) != 19 || len(kept[RecordCarried]) > 0 {
		t.Errorf("%d records, and of the first line %+v", len(records), kept[RecordCarried])
	}
	if r := kept[RecordLost][0]; !strings.HasPrefix(r.Text, "8 more records") {
		t.Errorf("lost: %+v", r)
	}
	if past, _, err := readPast(path); err != nil || HistoryOf(past).Refused["id-web-1"].Text == "" {
		t.Errorf("what still counts: %+v, %v", past, err)
	}
}
