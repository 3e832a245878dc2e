package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// The lines of a journal come newest first, through all its files, and each record once; those after a number are all that is new.
func TestTheLinesOfAJournal(t *testing.T) {
	lane.Single(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path, JournalOptions{Limit: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	const all = 2000
	write := func(i int) {
		t.Helper()
		r := Record{Kind: RecordStage, Wall: worldTime.Add(time.Duration(i) * time.Second), By: "anna", Node: fmt.Sprintf("cmp-%d", i),
			Object: &core.Ref{Kind: core.KindNode, Name: "n", UID: fmt.Sprint(i % 7)}, From: "idle", To: "draining",
			Text: strings.Repeat("why ", i%90), Stage: &core.StageRecord{Stage: core.StageDraining}, Exact: true}
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	for i := range all {
		write(i)
	}
	if j.number < 3 {
		t.Fatalf("the journal has %d files", j.number)
	}
	read := func(after int64, most int) []core.JournalLine {
		t.Helper()
		lines, err := ReadLines(context.Background(), path, after, most)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	lines := read(0, core.MostLines)
	if len(lines) != all {
		t.Fatalf("%d lines, want %d", len(lines), all)
	}
	for i, l := range lines {
		if want := fmt.Sprintf("cmp-%d", all-1-i); l.Node != want || l.What != "idle → draining" || i > 0 && l.Seq >= lines[i-1].Seq {
			t.Fatalf("line %d is %+v, want that of %s", i, l, want)
		}
	}
	if few := read(0, 700); len(few) != 700 || few[699].Node != lines[699].Node {
		t.Errorf("%d lines, the last %+v", len(few), few[len(few)-1])
	}
	if nothing := read(lines[0].Seq, core.MostLines); len(nothing) > 0 {
		t.Errorf("new is %+v", nothing)
	}
	write(all)
	if news := read(lines[0].Seq, core.MostLines); len(news) != 1 || news[0].Node != fmt.Sprintf("cmp-%d", all) {
		t.Errorf("new is %+v", news)
	}
	if err := os.Remove(archiveName(path, j.number-1)); err != nil {
		t.Fatal(err)
	}
	if rest := read(0, core.MostLines); len(rest) == 0 || len(rest) >= all || rest[len(rest)-1].Node != "cmp-0" {
		t.Errorf("without a file there are %d lines", len(rest))
	}
	if none, err := ReadLines(context.Background(), path+"x", 0, 10); err != nil || len(none) > 0 {
		t.Errorf("a journal that is not there has %d lines, %v", len(none), err)
	}
}

// Each kind of record is told in a line, or is told by another one.
func TestEachKindOfRecordIsALine(t *testing.T) {
	at := worldTime
	intent := &core.Intent{Kind: core.IntentLiveMigrate, Instance: "i"}
	instance := &core.Ref{Kind: core.KindInstance, Name: "web-1", UID: "i"}
	for _, tt := range []struct {
		r    Record
		want string // kind, who, label, what, why
	}{
		{Record{Kind: RecordStart, Version: "1"}, "run|anna||Lockstep 1 began|"},
		{Record{Kind: RecordStop}, "run|anna||Lockstep ended|"},
		{Record{Kind: RecordUpdate, Update: &core.UpdateRecord{From: "17", Release: "21", Started: at}},
			"update||the update|it begins: 17 → 21|"},
		{Record{Kind: RecordUpdate, Update: &core.UpdateRecord{Started: at, Ended: at.Add(1), EndSeen: true}},
			"update||the update|it is over|"},
		{Record{Kind: RecordPhase, Number: 4, Title: "worker nodes", State: "done"}, "update||phase 4|worker nodes is done|"},
		{Record{Kind: RecordStandstill, Number: 4, State: "failed", Text: "why", Stands: &core.Standstill{}},
			"update||phase 4|stands still: failed|why"},
		{Record{Kind: RecordLock, Object: &core.Ref{Name: "openstack-cmp-1"}, From: "active", To: "inactive"},
			"lock||openstack-cmp-1|active → inactive|"},
		{Record{Kind: RecordLock, Node: "kaas-node-1", Label: "cmp-1", Object: &core.Ref{Name: "ceph-kaas-node-1"}, From: "active",
			To: "inactive"},
			"lock||cmp-1|ceph lock: active → inactive|"},
		{Record{Kind: RecordStage, Node: "cmp-1", From: "idle", To: "released", Reconstructed: fieldStages},
			"stage||cmp-1|idle → released|reconstructed by " + fieldStages},
		{Record{Kind: RecordRound, Node: "cmp-1", Round: &core.Round{}}, "stage||cmp-1|its maintenance began|"},
		{Record{Kind: RecordArm, State: "armed"}, "run|anna||writing: armed|"},
		{Record{Kind: RecordDisarm, Text: "the lease is lost"}, "run|anna||writing was disarmed|the lease is lost"},
		{Record{Kind: RecordGrant, Title: "live-migrate web-1", Intent: intent, Object: instance},
			"step|anna|web-1|confirmed: live-migrate web-1|"},
		{Record{Kind: RecordBefore}, ""},
		{Record{Kind: RecordAfter}, ""},
		{Record{Kind: "of a newer version"}, ""},
		{Record{Kind: RecordVerified, Title: "set", From: "a", To: "b", State: "done"}, "step|anna||verified, done: set|"},
		{Record{Kind: RecordVerified, State: "done"}, ""},
		{Record{Kind: RecordMigrated, Object: instance, Text: "it was confirmed"}, "step||web-1|its cold migration ended|it was confirmed"},
		{Record{Kind: RecordMigrationRefused, Object: instance, Refusal: &core.RefusalRecord{Text: "no host"}},
			"stage||web-1|Nova refused to migrate it|no host"},
		{Record{Kind: RecordRefused, Title: "set", Error: "not armed"}, "step|anna||refused: set|not armed"},
		{Record{Kind: RecordEnded, Title: "set", State: "failed", Text: "timeout"}, "step|anna||failed: set|timeout"},
		{Record{Kind: RecordControl, Title: "all", State: "pause"}, "step|anna||pause: all|"},
		{Record{Kind: RecordLost, Text: "3 more records"}, "run|||3 more records|"},
		{Record{Kind: RecordIdentity, As: &core.Identity{KubernetesUser: "admin"}}, "run|anna||the servers know who runs Lockstep|admin"},
		{Record{Kind: RecordEntry, Entry: &EntryRecord{What: EntryCame, Severity: "urgent", Label: "cmp-1", Reason: "waits",
			Seen: []SeenTo{{Title: "migrate", By: "bert"}}}}, "entry||cmp-1|needs you, urgent: came|waits; seen to: migrate (bert)"},
		{Record{Kind: RecordNote, Note: &core.Note{Text: "informed", On: core.NoteOn{Label: "cmp-1"}}}, "note|anna|cmp-1|noted|informed"},
		{Record{Kind: RecordPlan, Plan: &PlanRecord{Name: "mos-21", Parts: []PlannedPart{{Title: "step ceph", Estimate: "90m"}}}},
			"update||the plan|mos-21 has 1 step|step ceph 1 h 30 m"},
		{Record{Kind: RecordPlanStep, Title: "step ceph", From: "Scheduled", To: "InProgress", PlanStep: &PlanStepRecord{Message: "5/18"}},
			"update||step ceph|Scheduled → InProgress|5/18"},
		{Record{Kind: RecordForecast, Forecast: &ForecastRecord{Moment: ForecastPace, Whole: ForecastEnd{End: at, Spread: 600}}},
			"update||the forecast|over about " + at.Local().Format("2006-01-02 15:04") + " ± 10 m|the nodes' pace is known"},
		{Record{Kind: RecordForetold, Foretold: &ForetoldRecord{Kind: core.ForetoldStep, Title: "step ceph", Came: at.Add(12 * time.Minute),
			ForecastEnd: ForecastEnd{End: at, Spread: 600}}}, "update||step ceph|ended 12 m later than forecast|forecast about " +
			at.Local().Format("2006-01-02 15:04") + " ± 10 m"},
		{Record{Kind: RecordCarried, File: 2}, ""},
		{Record{Kind: RecordStage, Carried: true}, ""},
	} {
		tt.r.By = "anna"
		l, shown := tt.r.line()
		got := ""
		if shown {
			got = strings.Join([]string{string(l.Kind), l.Who, l.Label, l.What, l.Why}, "|")
		}
		if got != tt.want {
			t.Errorf("%s is %q, want %q", tt.r.Kind, got, tt.want)
		}
		if said := tt.r.Says(); said == "" || !strings.Contains(said, l.What) || !strings.Contains(said, l.Why) {
			t.Errorf("%s says %q, and its line is %+v", tt.r.Kind, said, l)
		}
	}
}

// BenchmarkLines reads as many lines of a journal as are shown at most.
func BenchmarkLines(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path, JournalOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	records := make([]Record, core.MostLines)
	for i := range records {
		records[i] = Record{Kind: RecordStage, Wall: worldTime, By: "anna", Node: "cmp-1", From: "idle", To: "draining", Exact: true,
			Object: &core.Ref{Kind: core.KindNode, Name: "n", UID: fmt.Sprint(i)}, Stage: &core.StageRecord{Stage: core.StageDraining}}
	}
	for len(records) > 0 {
		n := min(5000, len(records))
		if err := j.Keep(false, records[:n]...); err != nil {
			b.Fatal(err)
		}
		records = records[n:]
	}
	b.ResetTimer()
	for b.Loop() {
		lines, err := ReadLines(context.Background(), path, 0, core.MostLines)
		if err != nil || len(lines) != core.MostLines {
			b.Fatalf("%d lines, %v", len(lines), err)
		}
	}
}
