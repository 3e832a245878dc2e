package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/sim/bubble/lane"
	"pgregory.net/rapid"
)

func openSmall(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path, JournalOptions{Limit: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// numbered writes numbered records that do not affect any state.
func numbered(t testing.TB, j *Journal, who string, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		if err := j.Write(Record{Kind: RecordAfter, Title: who, Operation: wording.Itoa(i), Text: strings.Repeat("x", 200)}, false); err != nil {
			t.Error(err)
		}
	}
}

// whole fails the test unless the journal has the numbers of each writer, once and in order.
func whole(t testing.TB, path string, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	skipped, err := ReadJournal(path, func(r Record) {
		if r.Operation != wording.Itoa(got[r.Title]) {
			t.Fatalf("after %d records of %s comes %s", got[r.Title], r.Title, r.Operation)
		}
		got[r.Title]++
	})
	if err != nil || skipped > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v; %d lines are torn, %v", got, want, skipped, err)
	}
}

func archives(t testing.TB, path string) []string {
	t.Helper()
	found, err := filepath.Glob(path + ".0*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Two runs write to one journal, and each rotates it when it is full: no record is lost or doubled.
func TestRotationWithTwoRunsLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var writing sync.WaitGroup
	for _, who := range []string{"anna", "bert"} {
		j := openSmall(t, path)
		writing.Go(func() { numbered(t, j, who, 0, 300) })
	}
	writing.Wait()
	whole(t, path, map[string]int{"anna": 300, "bert": 300})
	if n := len(archives(t, path)); n < 10 {
		t.Errorf("there are %d files beside the newest", n)
	}
	for _, name := range append(archives(t, path), path) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 8<<10 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A kill can come between any two steps of a rotation: the next run finds the whole journal, and completes the rotation.
func TestRotationSurvivesAKillInTheMiddle(t *testing.T) {
	move := func(t *testing.T, from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	next := func(t *testing.T, j *Journal) {
		if _, err := j.writeNext(2, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, left := range map[string]func(t *testing.T, j *Journal){
		"the next file is half written": func(t *testing.T, j *Journal) {
			if err := os.WriteFile(nextName(j.path), []byte(`{"kind":"carried","fi`), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the next file is written": next,
		"this one has both names": func(t *testing.T, j *Journal) {
			next(t, j)
			if err := os.Link(j.path, archiveName(j.path, 1)); err != nil {
				t.Fatal(err)
			}
		},
		"this one is away, where there are no links": func(t *testing.T, j *Journal) {
			next(t, j)
			move(t, j.path, archiveName(j.path, 1))
		},
		"it is over": func(t *testing.T, j *Journal) {
			next(t, j)
			move(t, j.path, archiveName(j.path, 1))
			move(t, nextName(j.path), j.path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			first := openSmall(t, path)
			numbered(t, first, "anna", 0, 5)
			left(t, first)
			whole(t, path, map[string]int{"anna": 5}) // for a reader
			first.closeFiles()
			second := openSmall(t, path)
			whole(t, path, map[string]int{"anna": 5})
			numbered(t, second, "anna", 5, 100)
			whole(t, path, map[string]int{"anna": 105})
			if len(archives(t, path)) < 3 {
				t.Errorf("nothing is put away any more: %q", archives(t, path))
			}
		})
	}
}

// When the disk has no room for the next file, the journal goes on in its current file.
func TestRotationOnAFullDiskLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openSmall(t, path)
	whole1 := j.write
	j.write = func(f *os.File, b []byte) (int, error) {
		if f.Name() == nextName(path) {
			n, _ := whole1(f, b[:3])
			return n, syscall.ENOSPC
		}
		return whole1(f, b)
	}
	numbered(t, j, "anna", 0, 100)
	if left := archives(t, path); len(left) > 0 {
		t.Errorf("put away: %q", left)
	}
	if _, err := os.Stat(nextName(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
	j.write = whole1
	numbered(t, j, "anna", 100, 100)
	whole(t, path, map[string]int{"anna": 200})
	if len(archives(t, path)) == 0 {
		t.Error("there is room, and nothing is put away")
	}
}

// A run that was held up finds what another wrote, across several files.
func TestFollowingThroughRotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, other := openSmall(t, path), openSmall(t, path)
	numbered(t, j, "anna", 0, 3)
	for i := range 100 {
		err := other.Keep(false, Record{Kind: RecordVerified, Operation: wording.Itoa(i), Object: &core.Ref{UID: "i"},
			Text: strings.Repeat("x", 200)})
		if err != nil {
			t.Fatal(err)
		}
	}
	others, err := j.Follow()
	var got []string
	for _, r := range others {
		got = append(got, r.Operation)
	}
	want := make([]string, 100)
	for i := range want {
		want[i] = wording.Itoa(i)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v; read %q", err, got)
	}
	if again, err := j.Follow(); err != nil || len(again) > 0 {
		t.Errorf("once more: %d records, %v", len(again), err)
	}
	numbered(t, j, "anna", 3, 3)
}

// pastOf returns what an Engine reads from a journal.
func pastOf(past []Record) (core.History, []core.Operation) {
	o := newOperations()
	o.restore(past)
	return replay(past), o.past
}

// What is read from a journal is the same however often it was rotated: histories, operations that failed or were cut off, and
// what was set and not set back.
func TestWhatCountsOfAJournalIsTheSameAfterRotations(t *testing.T) {
	lane.Fewer(t)
	rapid.Check(t, func(rt *rapid.T) {
		var all []Record
		ended := map[string]string{} // by operation: how
		staged := map[string]bool{}  // by node: a stage of it was seen in this update
		d := newDigest(false)
		for range rapid.IntRange(1, 60).Draw(rt, "records") {
			r := someRecord(rt, len(all))
			id := core.BatchOf(r.Operation)
			was := ended[id]
			told := r.Kind == RecordEnded && (was == string(core.OperationUnknown) ||
				was == string(RecordVerified) && r.State == string(core.OperationDone))
			switch {
			case r.Kind == RecordUpdate:
				clear(staged)
			case r.Kind == RecordStage && r.Reconstructed != "" && !staged[r.Object.UID]:
				continue // only what was before a stage that was seen is found
			case r.Kind == RecordStage:
				staged[r.Object.UID] = true
			}
			if was != "" && !told && r.Kind != RecordControl {
				continue // nothing follows an end, except the look-up of an unseen end and the record of the whole
			}
			if r.Kind == RecordVerified && r.State == string(core.OperationDone) && id == r.Operation {
				ended[id] = string(RecordVerified) // a step that was done is not tried again
			}
			if r.Kind == RecordEnded || r.Kind == RecordControl && r.State == stateAcknowledged {
				ended[id] = r.State
			}
			all = append(all, r)
			d.add(r)
			if rapid.IntRange(0, 7).Draw(rt, "put away") == 0 {
				next := newDigest(false)
				for _, r := range d.records() {
					next.add(r)
				}
				d = next
			}
		}
		wantHistory, wantOps := pastOf(all)
		history, ops := pastOf(d.records())
		if !reflect.DeepEqual(history, wantHistory) {
			rt.Fatalf("the history is\n%+v\nand was\n%+v", history, wantHistory)
		}
		if !reflect.DeepEqual(ops, wantOps) {
			rt.Fatalf("the operations are\n%+v\nand were\n%+v", ops, wantOps)
		}
	})
}

// A run that did not look when an update ended tells that when it finds the next one, long after another run has told its beginning. What
// that one told of the next update counts as before: its phases, its plan, and what failed in it.
func TestTheLateEndOfAnUpdateForgetsNothingOfTheNext(t *testing.T) {
	update := func(uid string, started, ended int, field string) Record {
		u := core.UpdateRecord{UID: uid, Release: "to " + uid, Started: worldTime.Add(time.Duration(started) * time.Minute)}
		if ended > 0 {
			u.Ended = worldTime.Add(time.Duration(ended) * time.Minute)
		}
		return Record{Kind: RecordUpdate, At: core.Later(u.Started, u.Ended), Wall: worldTime, Update: &u, Reconstructed: field}
	}
	node := &core.Ref{Kind: core.KindNode, Name: "a", UID: "uid-a"}
	past := []Record{update("u1", 0, 0, ""), update("u1", 0, 20, ""), update("u2", 40, 0, ""),
		{Kind: RecordPhase, Number: 4, Phase: &core.PhaseRecord{Started: core.Since{At: worldTime}}},
		{Kind: RecordStage, Object: node, Exact: true, Stage: &core.StageRecord{Stage: core.StageUpdating}},
		{Kind: RecordStandstill, Number: 4, Stands: &core.Standstill{Cause: core.StandsByAlert}},
		{Kind: RecordPlanStep, PlanStep: &PlanStepRecord{Plan: "p", ID: "s"}, To: "InProgress"},
		{Kind: RecordBefore, Operation: "1", Object: node, Wall: worldTime}, {Kind: RecordEnded, Operation: "1", Object: node, Wall: worldTime,
			State: string(core.OperationFailed)}}
	late := append(slices.Clone(past), update("u1", 0, 40, ""), update("u2", 40, 0, fieldUpdate))
	d := newDigest(false)
	for _, r := range late {
		d.add(r)
	}
	wantHistory, wantOps := pastOf(past)
	for name, records := range map[string][]Record{"as it was written": late, "as the next file has it": d.records()} {
		history, ops := pastOf(records)
		if !reflect.DeepEqual(history, wantHistory) {
			t.Errorf("%s: the history is\n%+v\nwant\n%+v", name, history, wantHistory)
		}
		if len(ops) != 1 || !reflect.DeepEqual(ops, wantOps) {
			t.Errorf("%s: the operations are\n%+v\nwant\n%+v", name, ops, wantOps)
		}
		var b planBook
		if b.remember(records); b.update != "u2" || b.steps["s"] != "InProgress" {
			t.Errorf("%s: of the plan is known %+v", name, b)
		}
	}
	var f JournalFile
	for _, r := range late[2:] {
		f.add(r)
	}
	if len(f.Updates) != 1 || f.Updates[0].UID != "u2" {
		t.Errorf("the file tells of %+v", f.Updates)
	}
}

// someRecord is a record much like those that Lockstep writes.
func someRecord(rt *rapid.T, n int) Record {
	at := worldTime.Add(time.Duration(n) * time.Minute)
	r := Record{Wall: at, At: at, By: "anna@jump01"}
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "object")
	r.Object = &core.Ref{Name: name, UID: "uid-" + name}
	id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8"}).Draw(rt, "operation")
	value := func(label string) *string {
		return rapid.SampledFrom([]*string{nil, new("live"), new("skip"), new("manual")}).Draw(rt, label)
	}
	r.Kind = rapid.SampledFrom([]RecordKind{RecordStart, RecordUpdate, RecordPhase, RecordStage, RecordStage, RecordStandstill, RecordLock,
		RecordRound,
		RecordMigrationRefused,
		RecordGrant, RecordBefore, RecordBefore, RecordBefore, RecordAfter, RecordVerified, RecordVerified, RecordVerified, RecordEnded,
		RecordEnded, RecordControl}).Draw(rt, "kind")
	switch r.Kind {
	case RecordUpdate:
		r.Update = &core.UpdateRecord{UID: rapid.SampledFrom([]string{"u1", "u2"}).Draw(rt, "update"), Started: at}
		if rapid.Bool().Draw(rt, "ended") {
			r.Update.Ended = at
		}
	case RecordPhase:
		r.Number, r.Phase = core.PhaseID(rapid.IntRange(1, 3).Draw(rt, "phase")), &core.PhaseRecord{Started: core.Since{At: at}}
	case RecordStage:
		stage := rapid.SampledFrom([]core.Stage{core.StageWaiting, core.StageUpdating, core.StageDone}).Draw(rt, "stage")
		r.Exact = rapid.Bool().Draw(rt, "exact")
		r.Stage, r.Text = &core.StageRecord{Stage: stage, Since: core.Since{At: at, Exact: r.Exact}}, "why "+wording.Itoa(n)
		if rapid.IntRange(0, 3).Draw(rt, "reconstructed") == 0 {
			r.Reconstructed = fieldUpdate
		}
	case RecordStandstill:
		began := at.Truncate(4 * time.Minute) // a record of its end has the same beginning
		r.Number, r.Stands = core.PhaseID(rapid.IntRange(1, 2).Draw(rt, "phase")), &core.Standstill{Cause: core.StandsByAlert,
			Since: core.Since{At: began}}
		if rapid.Bool().Draw(rt, "goes on") {
			r.Stands.Until = at
		}
	case RecordLock:
		r.To = rapid.SampledFrom([]string{"active", "inactive"}).Draw(rt, "state")
	case RecordRound:
		r.Round = &core.Round{Request: "r" + wording.Itoa(n), Started: at,
			Update: rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(rt, "its update")}
		if rapid.Bool().Draw(rt, "it ended") {
			r.Round.Ended, r.Round.EndUnseen = at.Add(time.Minute), rapid.Bool().Draw(rt, "nobody saw it")
		}
	case RecordMigrationRefused:
		r.Refusal = &core.RefusalRecord{Text: "no", At: at}
	case RecordGrant, RecordBefore, RecordVerified, RecordEnded, RecordControl:
		r.Operation, r.Step, r.Title, r.Commands = id, "step-"+id, "title "+id, []string{"kubectl"}
		if r.Kind != RecordGrant && r.Kind != RecordEnded && r.Kind != RecordControl && id[0]%2 == 0 { // a batch
			r.Operation += "/" + wording.Itoa(rapid.IntRange(0, 1).Draw(rt, "number"))
		}
		kind := len(r.Operation) + int(id[0]) // all records of one operation, or item, are about one object
		name = []string{"a", "b", "c"}[kind%3]
		r.Object = &core.Ref{Name: name, UID: "uid-" + name}
		states := []core.OperationState{core.OperationDone, core.OperationDone, core.OperationFailed, core.OperationUnknown,
			core.OperationStopped}
		r.State = string(rapid.SampledFrom(states).Draw(rt, "state"))
		if r.Kind == RecordControl {
			r.State = rapid.SampledFrom([]string{stateAcknowledged, string(core.ControlPause)}).Draw(rt, "control")
		}
		r.Intent = &core.Intent{Kind: []core.IntentKind{core.IntentStop, core.IntentStart, core.IntentLiveMigrate}[kind/3%3],
			Instance: r.Object.UID}
		switch rapid.IntRange(0, 4).Draw(rt, "effect") {
		case 0:
			key := rapid.SampledFrom([]string{core.AnnotationMigrationMode, core.AnnotationMigrationAttempts}).Draw(rt, "key")
			r.Change = &core.AnnotationChange{Node: name, Key: key, Old: value("old"), New: value("new"), At: at}
		case 1:
			r.Tags = &core.TagChange{Instance: name, At: at}
		case 2:
			r.Override = &core.Override{Lock: *r.Object, At: at}
		case 3: // an operation of its own: one on silences does nothing else
			r.Kind, r.Operation, r.State = RecordVerified, "silence-"+wording.Itoa(n), string(core.OperationDone)
			matcher := rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "alert")
			r.Silence = &core.Silence{ID: "silence-" + wording.Itoa(n),
				Ends:     at.Add(time.Duration(rapid.IntRange(1, 60).Draw(rt, "lasts")) * time.Minute),
				Matchers: []core.Matcher{{Name: core.LabelAlert, Value: matcher, Equal: true}}}
			r.Intent = &core.Intent{Kind: rapid.SampledFrom([]core.IntentKind{core.IntentMakeSilence, core.IntentExpireSilence}).Draw(rt, "does")}
		}
	}
	return r
}

// Reading a journal of any length takes only the memory of its state, and the same number of allocations for each record.
func TestReadingAJournalIsBounded(t *testing.T) {
	lane.Single(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	kept, allocations := map[int]int{}, map[int]float64{}
	for _, n := range []int{2000, 8000} {
		if err := os.WriteFile(path, longJournal(t, n), 0o600); err != nil {
			t.Fatal(err)
		}
		var past []Record
		allocations[n] = testing.AllocsPerRun(1, func() {
			var err error
			if past, _, err = readPast(path); err != nil {
				t.Fatal(err)
			}
		})
		kept[n] = len(past)
	}
	if kept[2000] != kept[8000] || kept[8000] == 0 {
		t.Errorf("of 2000 records %d are kept, of 8000 %d", kept[2000], kept[8000])
	}
	if each := (allocations[8000] - allocations[2000]) / 6000; each > 40 {
		t.Errorf("each record takes %.1f allocations", each)
	}
}

// longJournal is a journal of n records of a night's work on a hundred nodes.
func longJournal(t testing.TB, n int) []byte {
	t.Helper()
	var out []byte
	for i := range n {
		node := fmt.Sprintf("kaas-node-%03d", i/10%100)
		at := worldTime.Add(time.Duration(i) * time.Second)
		r := Record{Wall: at, At: at, By: "anna@jump01", Node: node, Object: &core.Ref{Kind: core.KindNode, Name: node, UID: "uid-" + node}}
		id, title, command := wording.Itoa(i/10), "live-migrate web-1",
			[]string{"openstack server migrate --live-migration " + strings.Repeat("x", 100)}
		switch i % 10 {
		case 0, 1, 2, 3:
			r.Kind, r.From, r.To, r.Exact = RecordLock, "active", "inactive", true
			r.Text = "Waiting for instances to be migrated: " + strings.Repeat("x", 200)
			r.Object.UID += fmt.Sprint("lock", i%10)
		case 4, 5:
			r.Kind, r.From, r.To, r.Stage = RecordStage, "queued", "evacuating",
				&core.StageRecord{Stage: core.StageEvacuating, Since: core.Since{At: at}}
		case 6:
			r.Kind, r.Operation, r.Title, r.Commands = RecordGrant, id, title, command
			r.Basis = []core.Fact{{Name: "status", Value: "ACTIVE"}, {Name: "host", Value: node}, {Name: "task", Value: "none"}}
		case 7:
			r.Kind, r.Operation, r.Title, r.Commands = RecordBefore, id, title, command
		case 8:
			r.Kind, r.Operation, r.State = RecordVerified, id, string(core.OperationDone)
		case 9:
			r.Kind, r.Operation, r.State = RecordEnded, id, string(core.OperationDone)
		}
		line, err := encodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line...)
	}
	return out
}

// BenchmarkReadJournal starts on a journal of 100,000 records: as one file of an older version, and as this version leaves it.
func BenchmarkReadJournal(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, longJournal(b, 100000), 0o600); err != nil {
		b.Fatal(err)
	}
	read := func(b *testing.B) {
		for b.Loop() {
			past, _, err := readPast(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(past)), "records-kept")
		}
	}
	b.Run("one-file", read)
	j, err := OpenJournal(path, JournalOptions{})
	if err != nil {
		b.Fatal(err)
	}
	j.Close()
	b.Run("put-away", read)
}
