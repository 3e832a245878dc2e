package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
	"pgregory.net/rapid"
)

// written makes a journal of records, as a run writes it.
func written(t *testing.T, path, run string, records []Record) {
	t.Helper()
	j, err := OpenJournal(path, JournalOptions{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, r := range records {
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
}

func merge(t *testing.T, paths ...string) []JournalLine {
	t.Helper()
	var out []JournalLine
	skipped, err := ReadOnce(paths, func(l JournalLine) { out = append(out, l) })
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	return out
}

// What two operators' Lockstep saw is one record without doubles, and what each of them did is all there.
func TestWhatTwoOperatorsSawIsOneRecord(tt *testing.T) {
	lane.Fewer(tt)
	rapid.Check(tt, func(t *rapid.T) {
		type transition struct {
			object, value string
			at            time.Time
		}
		var truth []transition
		now := worldTime
		values := map[string]int{}
		for range rapid.IntRange(1, 40).Draw(t, "transitions") {
			now = now.Add(time.Duration(rapid.IntRange(6, 1200).Draw(t, "after")) * time.Second)
			object := rapid.SampledFrom([]string{"cmp-1", "cmp-2", "cmp-3"}).Draw(t, "object")
			values[object] = 1 - values[object]
			truth = append(truth, transition{object, fmt.Sprint("stage ", values[object]), now})
		}
		dir := tt.TempDir()
		var paths, want, got, did []string
		for who := range rapid.IntRange(1, 3).Draw(t, "operators") {
			// The first one looks all the time; the others come and go, and each is behind by a time of its own, which may be longer
			// than a state lasts.
			from, to := truth[0].at, now
			if who > 0 {
				from = from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(t, "from")))
				to = from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(t, "to")))
			}
			behind := time.Duration(rapid.IntRange(0, 60_000).Draw(t, "behind")) * time.Millisecond
			records := []Record{{Kind: RecordStart, At: from, Wall: from}}
			see := func(tr transition, at time.Time) {
				records = append(records, Record{Kind: RecordStage, At: at, Wall: at.Add(time.Duration(who) * time.Hour),
					Object: &core.Ref{Name: tr.object, UID: "uid-" + tr.object}, Node: tr.object, To: tr.value, Stage: &core.StageRecord{}})
			}
			first := map[string]transition{}
			for _, tr := range truth {
				if who > 0 && !tr.at.After(from) { // who comes sees how it stands
					first[tr.object] = tr
				}
			}
			for _, object := range []string{"cmp-1", "cmp-2", "cmp-3"} {
				if tr, ok := first[object]; ok {
					see(tr, from)
				}
			}
			for i, tr := range truth {
				if tr.at.Before(from) || tr.at.After(to) || who > 0 && tr.at.Equal(from) {
					continue
				}
				see(tr, tr.at.Add(behind))
				if rapid.Bool().Draw(t, "acts") {
					id := fmt.Sprint(who, ".", i)
					records = append(records, Record{Kind: RecordGrant, Operation: id, At: tr.at.Add(behind), Wall: tr.at})
					did = append(did, id)
				}
			}
			if rapid.Bool().Draw(t, "ends in good order") || who == 0 {
				records = append(records, Record{Kind: RecordStop, At: to.Add(behind), Wall: to})
			}
			path := filepath.Join(dir, fmt.Sprint(who, ".jsonl"))
			written(tt, path, fmt.Sprint("run", who), records)
			paths = append(paths, path)
		}
		if rapid.Bool().Draw(t, "one of them twice") {
			paths = append(paths, paths[0])
		}
		for _, tr := range truth {
			want = append(want, tr.object+" "+tr.value)
		}
		var acts []string
		last := map[string]time.Time{}
		for _, l := range merge(tt, paths...) {
			switch l.Kind {
			case RecordStage:
				got = append(got, l.Node+" "+l.To)
			case RecordGrant:
				acts = append(acts, l.Operation)
			}
			if l.At.Before(last[l.File]) {
				t.Fatalf("the order of %s is lost", l.File)
			}
			last[l.File] = l.At
		}
		// What one of two objects did at nearly the same time may come in another order, as the one who saw it first was behind.
		for _, object := range []string{"cmp-1", "cmp-2", "cmp-3"} {
			of := func(all []string) []string {
				return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, object) })
			}
			if !slices.Equal(of(got), of(want)) {
				t.Fatalf("of %s it tells\n%q\nwant\n%q", object, of(got), of(want))
			}
		}
		slices.Sort(acts)
		slices.Sort(did)
		if !slices.Equal(acts, did) {
			t.Fatalf("what was done: %q, want %q", acts, did)
		}
	})
}

// People read a journal in the order of the times that it tells: what is written once it has lasted, or found later, stands where it
// happened. What happened at the same time stays in the order in which it was written, and the journal itself as it is.
func TestAJournalIsReadInTheOrderOfItsTimes(t *testing.T) {
	dir := t.TempDir()
	record := func(what string, second int) Record {
		return Record{Kind: RecordEntry, Text: what, At: worldTime.Add(time.Duration(second) * time.Second),
			Entry: &EntryRecord{ID: what, What: EntryCame}}
	}
	first, second := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	written(t, first, "a", []Record{record("came", 16), record("with it", 16), record("settled", 11)})
	written(t, second, "b", []Record{record("another's", 12), record("before", 1)})
	for want, paths := range map[string][]string{"settled came with it": {first}, "before settled another's came with it": {first, second}} {
		var got []string
		if _, err := ReadInOrder(paths, func(l JournalLine) { got = append(got, l.Text) }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("it is read as %q, want %q", got, want)
		}
	}
	if records, _ := readAll(t, first); records[0].Text != "came" {
		t.Errorf("the journal itself begins with %q", records[0].Text)
	}
}

// What one run did is read in the order in which it was done, though the clock was set back meanwhile: a step does not end before it
// begins. What was seen, and what another run did, stands where its time is; and each record has the time that it was written with.
func TestAClockThatIsSetBackDoesNotTurnAStepAround(t *testing.T) {
	dir := t.TempDir()
	record := func(kind RecordKind, second int) Record {
		return Record{Kind: kind, Operation: "1", Text: fmt.Sprint(kind, second), At: worldTime.Add(time.Duration(second) * time.Second)}
	}
	stage := Record{Kind: RecordStage, Text: "stage", Object: &core.Ref{UID: "n"}, At: worldTime.Add(-20 * time.Second)}
	first, second := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	written(t, first, "a", []Record{record(RecordGrant, 29), record(RecordBefore, 30), record(RecordAfter, -30), record(RecordVerified, -29),
		stage, record(RecordEnded, -28), record(RecordGrant, 40)})
	written(t, second, "b", []Record{record(RecordGrant, 5)})
	for _, paths := range [][]string{{first, second}, {second, first}} {
		var got []string
		if _, err := ReadInOrder(paths, func(l JournalLine) {
			if got = append(got, l.Text); l.Text == "ended-28" && !l.When().Equal(worldTime.Add(-28*time.Second)) {
				t.Errorf("it ended at %v", l.When())
			}
		}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, " "); text != "stage grant5 grant29 before30 after-30 verified-29 ended-28 grant40" {
			t.Errorf("%s", text)
		}
	}
}

// Each update has a file of its own. A line is found again by its file and number, and the chain goes through.
func TestEachUpdateHasAFileOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	update := func(uid, to string, ended time.Time) Record {
		return Record{Kind: RecordUpdate, Wall: worldTime, Update: &core.UpdateRecord{UID: uid, Release: to, Ended: ended}}
	}
	grant := func(id string) Record { return Record{Kind: RecordGrant, Operation: id, Wall: worldTime} }
	written(t, path, "a", []Record{{Kind: RecordStart, Wall: worldTime}, update("1", "21.0.1", time.Time{}), grant("in the first"),
		update("1", "21.0.1", worldTime), grant("after the first")})
	written(t, path, "b", []Record{update("1", "21.0.1", worldTime), update("2", "21.0.2", time.Time{}), grant("in the second")})
	files, err := JournalFiles(path)
	if err != nil || len(files) != 2 {
		t.Fatalf("%+v, %v", files, err)
	}
	for i, want := range []struct {
		lines   int
		updates string
	}{{6, "21.0.1"}, {2, "21.0.2"}} {
		var updates []string
		for _, u := range files[i].Updates {
			updates = append(updates, u.Release)
		}
		if files[i].Lines != want.lines || strings.Join(updates, " ") != want.updates || files[i].Number != i+1 {
			t.Errorf("file %d: %+v, want %+v", i+1, files[i], want)
		}
	}
	if one, err := JournalFiles(archiveName(path, 1)); err != nil || len(one) != 1 || one[0].Lines != 6 {
		t.Errorf("the first alone: %+v, %v", one, err)
	}
	var places []string
	if _, err := ReadJournalLines(path, func(l JournalLine) {
		if l.Kind == RecordGrant {
			places = append(places, fmt.Sprint(filepath.Base(l.File), ":", l.Line, " ", l.Seq, " ", l.Operation))
		}
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"journal.jsonl.0001:3 3 in the first", "journal.jsonl.0001:5 5 after the first", "journal.jsonl:7 13 in the second"}
	if !slices.Equal(places, want) {
		t.Errorf("%q, want %q", places, want)
	}
	verified(t, path)
}

// A merged journal is a journal: its lines are tied to one another.
func TestAMergedJournalIsAJournal(t *testing.T) {
	dir := t.TempDir()
	written(t, filepath.Join(dir, "a.jsonl"), "a", []Record{{Kind: RecordGrant, Operation: "1", At: worldTime}})
	written(t, filepath.Join(dir, "b.jsonl"), "b", []Record{{Kind: RecordGrant, Operation: "2", At: worldTime.Add(-time.Second)}})
	out := filepath.Join(dir, "merged.jsonl")
	var lines []byte
	encode := EncodeJournal(func(line []byte) error { lines = append(lines, line...); return nil })
	for _, l := range merge(t, filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")) {
		if err := encode(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(out, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if v := verified(t, out); v.Lines != 2 || v.Seq != 2 {
		t.Errorf("%+v", v)
	}
	if records, _ := readAll(t, out); len(records) != 2 || records[0].Operation != "2" || records[0].Run != "b" {
		t.Errorf("%+v", records)
	}
}

// An older Lockstep that merges the journals of a newer one keeps what it does not understand, once, and without secrets.
func TestAMergedJournalKeepsWhatANewerVersionWrote(t *testing.T) {
	line := func(operation, more string) string {
		return `{"kind":"grant","at":"2030-01-01T00:00:00Z","run":"a","operation":"` + operation + `"` + more + "}\n"
	}
	dir := t.TempDir()
	write := func(name string, lines ...string) string {
		var end tail
		var content []byte
		for _, l := range lines {
			linked, next, err := end.linked([]byte(l))
			if err != nil {
				t.Fatal(err)
			}
			content, end = append(content, linked...), next
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nested := `,"object":{"kind":"Node","name":"n1","zone":"z1"}`
	a := write("a.jsonl", line("1", `,"approved":"carol"`), line("2", nested), line("3", `,"reason":"password=hunter2hunter2","mood":{"v":2}`),
		line("5", `,"approved":"carol","change":{"key":"k","old":"password=hunter2hunter2","new":"x"}`))
	unlinked := filepath.Join(dir, "old.jsonl")
	if err := os.WriteFile(unlinked, []byte(strings.TrimSpace(line("1", `,"approved":"carol"`))+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := write("b.jsonl", line("1", `,"approved":"carol"`), line("1", `,"approved":"dave"`), line("4", ""))
	first := []string{`"approved":"carol"`, `"zone":"z1"`, `"mood":{"v":2}`, "is not kept: it is not offered back"}
	for _, tt := range []struct {
		name  string
		paths []string
		want  []string // parts of the lines
	}{
		{"a line without a link, edited elsewhere", []string{unlinked}, []string{`"approved":"carol"`}},
		{"one journal", []string{a}, first},
		{"two, of which one has a line of the other", []string{a, b}, append(slices.Clone(first), `"approved":"dave"`, `"operation":"4"`)},
	} {
		var lines [][]byte
		encode := EncodeJournal(func(line []byte) error { lines = append(lines, line); return nil })
		if _, err := ReadOnce(tt.paths, func(l JournalLine) {
			if err := encode(l); err != nil {
				t.Fatal(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(tt.want) {
			t.Fatalf("%s: %d lines, want %d:\n%s", tt.name, len(lines), len(tt.want), bytes.Join(lines, nil))
		}
		for i, want := range tt.want {
			if got := string(lines[i]); !strings.Contains(got, want) || strings.Count(got, `"seq"`) != 1 || strings.Contains(got, "hunter2") {
				t.Errorf("%s: line %d has no %s, or two links, or a secret: %s", tt.name, i+1, want, got)
			}
		}
		out := filepath.Join(t.TempDir(), "merged.jsonl")
		if err := os.WriteFile(out, bytes.Join(lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := verified(t, out); v.Lines != len(tt.want) || v.Seq != int64(len(tt.want)) {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

// Who is behind by longer than a state lasts, or looks only for a while, doubles nothing; and what only one of two saw is not lost.
func TestWhoIsBehindDoublesNothing(t *testing.T) {
	type seen struct {
		at    int // in seconds
		value string
	}
	for _, tt := range []struct {
		name string
		a, b []seen // no value: a run begins
		want string
	}{
		{"behind by more than a state lasts", []seen{{0, "x"}, {6, "y"}, {12, "x"}}, []seen{{0, ""}, {30, "x"}, {36, "y"}, {42, "x"}}, "x y x"},
		{"the other began to look between", []seen{{0, ""}, {10, "x"}, {16, "y"}}, []seen{{7, "y"}}, "x y"},
		{"the other began to look between, in the middle", []seen{{0, "u"}, {70, "x"}, {76, "y"}, {300, "z"}}, []seen{{47, "y"}, {301, "z"}},
			"u x y z"},
		{"one ended before the other began", []seen{{0, "x"}, {60, "y"}}, []seen{{70, "y"}, {100, "x"}, {130, "y"}}, "x y x y"},
		{"it is so still", []seen{{0, "x"}, {60, "y"}}, []seen{{7200, "y"}, {7300, "z"}}, "x y z"},
		{"found to be over when the next came", []seen{{0, "x"}, {60, "y"}, {7200, "z"}}, []seen{{0, "x"}, {7200, "y"}, {7200, "z"}}, "x y z"},
		{"one missed a state", []seen{{0, "x"}, {60, "y"}, {61, "z"}}, []seen{{1, "x"}, {62, "z"}}, "x y z"},
	} {
		dir := t.TempDir()
		var paths []string
		for i, all := range [][]seen{tt.a, tt.b} {
			var records []Record
			for _, s := range all {
				at := worldTime.Add(time.Duration(s.at) * time.Second)
				r := Record{Kind: RecordStage, At: at, Wall: at, Object: &core.Ref{UID: "n"}, To: s.value}
				if s.value == "" {
					r = Record{Kind: RecordStart, At: at, Wall: at}
				}
				records = append(records, r)
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprint(i, ".jsonl")))
			written(t, paths[i], fmt.Sprint("run", i), records)
		}
		for range 2 { // in either order
			var got []string
			for _, l := range merge(t, paths...) {
				if l.Kind == RecordStage {
					got = append(got, l.To)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
			slices.Reverse(paths)
		}
	}
}

// Long histories are divided, and what both saw is still told once.
func TestLongHistoriesAreAligned(t *testing.T) {
	lane.Single(t)
	var a, b []core.Telling
	for i := range 5000 {
		one := core.Telling{About: "n", Value: fmt.Sprint("v", i%3), At: worldTime.Add(time.Duration(i*30+i/100*900) * time.Second), Run: "a"}
		other := one
		other.At, other.Run = one.At.Add(40*time.Second), "b"
		a, b = append(a, one), append(b, other)
	}
	for i, again := range core.Retold(a, b) {
		n := 0
		for _, is := range again {
			if is {
				n++
			}
		}
		if want := i * len(b); n != want {
			t.Errorf("of journal %d, %d lines tell what the other tells, want %d", i+1, n, want)
		}
	}
}
