package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// What is told of a time in which nobody looked lies between the two stages that are known, goes on from the one to the other, and gives
// way to what was seen.
func TestAGapIsFilledBetweenWhatIsKnown(t *testing.T) {
	at := func(minute int) time.Time { return worldTime.Add(time.Duration(minute) * time.Minute) }
	marks := []mark{{stage: core.StageQueued, at: at(1)}, {stage: core.StageEvacuating, at: at(2)}, {stage: core.StageReleased, at: at(5)},
		{stage: core.StageUpdating, at: at(6)}, {stage: core.StageUpdating, at: at(7)}, {stage: core.StageRebooting, at: at(8)},
		{stage: core.StageUpdating, at: at(9)}, {stage: core.StageDone, at: at(12)}}
	for _, tt := range []struct {
		name string
		gap  gap
		want string
	}{
		{"all of it", gap{core.StageIdle, core.StageDone, at(0), at(20), time.Time{}},
			"done 12, queued 1, evacuating 2, released 5, updating 6, rebooting 8, updating 9"},
		{"from where it was seen", gap{core.StageDraining, core.StageDone, at(5), at(20), time.Time{}},
			"done 12, updating 6, rebooting 8, updating 9"},
		{"seen to update a moment after LCM's time", gap{core.StageUpdating, core.StageDone, at(6), at(20), time.Time{}},
			"done 12, rebooting 8, updating 9"},
		{"up to where it was found", gap{core.StageEvacuating, core.StageUpdating, at(3), at(7), time.Time{}}, "updating 6, released 5"},
		{"up to a stage that has its own time", gap{core.StageEvacuating, core.StageReturning, at(3), at(10), time.Time{}},
			"released 5, updating 6, rebooting 8, updating 9"},
		{"the evidence was older", gap{core.StageRebooting, core.StageDone, at(8), at(9), at(20)}, "done 12, updating 9"},
		{"the evidence was older, and nothing tells more", gap{core.StageRebooting, core.StageReturning, at(8), at(9), at(20)}, ""},
		{"nobody saw anything, and the update is over", gap{core.StageIdle, core.StageIdle, at(0), at(20), time.Time{}},
			"queued 1, evacuating 2, released 5, updating 6, rebooting 8, updating 9, done 12"},
		{"another maintenance came between", gap{core.StageReturning, core.StageEvacuating, at(0), at(20), time.Time{}}, ""},
		{"as far as it was found waiting", gap{core.StageIdle, core.StageWaiting, at(0), at(3), time.Time{}}, "queued 1"},
	} {
		var got []string
		for _, m := range tt.gap.fill(marks) {
			got = append(got, fmt.Sprint(m.stage, " ", int(m.at.Sub(worldTime).Minutes())))
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, text, tt.want)
		}
	}
}

// A node that is found cordoned, in whatever stage, was drained from the time of its taint on; what comes before that in a maintenance, and
// yet was later, shows that somebody else cordoned it.
func TestTheTaintTellsWhenADrainBegan(t *testing.T) {
	for name, tt := range map[string]struct {
		cordoned, migrated time.Duration // ago
		want               bool
	}{
		"by LCM":                       {10 * time.Minute, 20 * time.Minute, true},
		"by somebody, before it moved": {20 * time.Minute, 10 * time.Minute, false},
		"before it was asked for":      {50 * time.Minute, 45 * time.Minute, false},
		"not at all":                   {0, 20 * time.Minute, false},
	} {
		sc := scene.NewScene()
		n := sc.Node("cmp-01", core.RoleCompute)
		sc.NodeRequests["cmp-01"] = []*core.MaintenanceRequest{{Meta: core.Meta{Name: "r", UID: "r", Created: scene.Ago(30 * time.Minute)},
			Node: "cmp-01", Scope: core.ScopeOS}}
		if tt.cordoned > 0 {
			n.Cordoned, n.CordonedSince = true, scene.Ago(tt.cordoned)
		}
		e := &Engine{}
		var got []string
		for _, m := range e.marksOf(sc.Snapshot, core.History{Update: core.UpdateRecord{UID: "u", Started: scene.Ago(time.Hour)}}, n,
			map[string][]time.Time{"cmp-01": {scene.Ago(tt.migrated)}}) {
			got = append(got, string(m.stage))
			if m.stage == core.StageDraining && (m.field != fieldCordon || !m.at.Equal(scene.Ago(tt.cordoned))) {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if slices.Contains(got, string(core.StageDraining)) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Servers tell times in whole seconds, so several stages may have the same. They keep the order in which a node goes through them, in its
// course and in the story, whatever the order in which they are written.
func TestStagesOfOneSecondKeepTheirOrder(t *testing.T) {
	node := &core.Ref{Kind: core.KindNode, Name: "n", UID: "n"}
	stage := func(from, to core.Stage) Record {
		return Record{Kind: RecordStage, At: worldTime, Wall: worldTime, Object: node, Node: "n", From: string(from), To: string(to),
			Reconstructed: fieldStages, Stage: &core.StageRecord{Stage: to, Since: core.Since{At: worldTime}}}
	}
	last, first, second := stage(core.StageEvacuating, core.StageReleased), stage(core.StageIdle, core.StageQueued),
		stage(core.StageQueued, core.StageEvacuating)
	other := stage(core.StageIdle, core.StageQueued)
	other.Object, other.Node = &core.Ref{Kind: core.KindNode, Name: "o", UID: "o"}, "o"
	for i, records := range [][]Record{{last, other, first, second}, {last, first, other, second}, {other, first, second, last},
		{second, last, other, first}, {second, first, last, other}} {
		h := replay(records)
		if got := courseText(h.Courses["n"]); got != "queued, evacuating, released" {
			t.Errorf("%d: its course is %s", i, got)
		}
		path := filepath.Join(t.TempDir(), "j.jsonl")
		written(t, path, "a", records)
		var got []string
		if _, err := ReadInOrder([]string{path}, func(l JournalLine) {
			if l.Node == "n" {
				got = append(got, l.To)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, ", "); text != "queued, evacuating, released" {
			t.Errorf("%d: it is told as %s", i, text)
		}
	}
}

func courseText(c core.Course) string {
	var out []string
	for _, s := range c {
		out = append(out, string(s.Stage))
	}
	return strings.Join(out, ", ")
}

// A journal with what was reconstructed makes the same History as the run had that wrote it, and what is carried over, too.
func TestAReconstructedStageIsAtItsPlace(t *testing.T) {
	at := func(minute int) time.Time { return worldTime.Add(time.Duration(minute) * time.Minute) }
	node := &core.Ref{Kind: core.KindNode, Name: "n", UID: "n"}
	stage := func(stage core.Stage, minute int, seen bool, field string) Record {
		return Record{Kind: RecordStage, At: at(minute), Wall: at(30), Object: node, Node: "n", To: string(stage), Exact: seen,
			Reconstructed: field, Stage: &core.StageRecord{Stage: stage, Since: core.Since{At: at(minute), Exact: seen}}}
	}
	records := []Record{
		{Kind: RecordUpdate, At: at(0), Wall: at(0), Update: &core.UpdateRecord{UID: "u", Started: at(0)}},
		stage(core.StageEvacuating, 1, true, ""), stage(core.StageDone, 10, false, ""), stage(core.StageDone, 12, false, fieldStages),
		stage(core.StageReleased, 3, false, fieldStages), stage(core.StageUpdating, 4, false, fieldItem),
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	written(t, path, "a", records)
	past, _, err := readPast(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]core.History{"all": HistoryOf(records), "what still counts": HistoryOf(past)} {
		var got []string
		for _, c := range h.Courses["n"] {
			got = append(got, fmt.Sprint(c.Stage, " ", int(c.Since.At.Sub(worldTime).Minutes()), " ", c.Since.Exact, " ", c.Reconstructed))
		}
		want := "evacuating 1 true false, released 3 false true, updating 4 false true, done 12 false true"
		if text := strings.Join(got, ", "); text != want || h.Stages["n"].Stage != core.StageDone {
			t.Errorf("%s: %s, and it is %+v; want %s", name, text, h.Stages["n"], want)
		}
	}
	l, _ := records[3].line()
	if said := records[3].Says(); !l.Inferred || l.Reconstructed != fieldStages || !strings.Contains(said, fieldStages) {
		t.Errorf("its line is %+v, it says %q", l, said)
	}
}

// What one operator reconstructed and another saw is told as it was seen; what nobody saw stands at its own time.
func TestWhatWasReconstructedIsMerged(t *testing.T) {
	line := func(stage core.Stage, minute int, seen bool, field string) Record {
		at := worldTime.Add(time.Duration(minute) * time.Minute)
		return Record{Kind: RecordStage, At: at, Wall: worldTime.Add(time.Hour), Object: &core.Ref{UID: "n"}, To: string(stage), Exact: seen,
			Reconstructed: field}
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")}
	written(t, paths[0], "a", []Record{line(core.StageEvacuating, 0, true, ""), line(core.StageReleased, 4, true, "")})
	written(t, paths[1], "b", []Record{line(core.StageEvacuating, 1, true, ""), line(core.StageDone, 30, false, ""),
		line(core.StageDone, 12, false, fieldStages), line(core.StageReleased, 4, false, fieldStages),
		line(core.StageUpdating, 6, false, fieldItem)})
	var got []string
	for _, l := range merge(t, paths...) {
		got = append(got, fmt.Sprint(l.To, " ", int(l.At.Sub(worldTime).Minutes()), " ", l.Run, l.Reconstructed != ""))
	}
	if text := strings.Join(got, ", "); text != "evacuating 0 afalse, released 4 afalse, updating 6 btrue, done 12 btrue" {
		t.Errorf("%s", text)
	}
}

// Two windows that come back at the same time tell what was reconstructed once; what one of them sees is told beside it.
func TestTwoWindowsReconstructOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	line := func(minute int, field string) Record {
		at := worldTime.Add(time.Duration(minute) * time.Minute)
		return Record{Kind: RecordStage, At: at, Wall: worldTime.Add(time.Hour), Object: &core.Ref{UID: "n"}, To: string(core.StageUpdating),
			Reconstructed: field, Stage: &core.StageRecord{Stage: core.StageUpdating, Since: core.Since{At: at}}}
	}
	var windows []*Journal
	for _, run := range []string{"a", "b"} {
		j, err := OpenJournal(path, JournalOptions{Run: run})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		windows = append(windows, j)
	}
	for _, j := range windows {
		if err := j.Keep(false, line(50, ""), line(5, fieldItem), line(9, fieldReady)); err != nil {
			t.Fatal(err)
		}
	}
	records, _ := readAll(t, path)
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprint(int(r.At.Sub(worldTime).Minutes()), r.Run))
	}
	if text := strings.Join(got, " "); text != "50a 5a 9a" {
		t.Errorf("the journal has %s", text)
	}
}

// What was asked before a second time in which nobody looked tells nothing of that: it is asked anew.
func TestASecondGapIsAskedAboutAnew(t *testing.T) {
	sc := scene.NewScene()
	lock := &core.Ref{Kind: core.KindNodeWorkloadLock, Name: "l", UID: "l"}
	inactive := func(since time.Duration) core.History {
		return core.History{Update: core.UpdateRecord{UID: "u", Started: scene.Ago(time.Hour)}}.WithLocks(map[string]*core.LockRecord{
			"l": {State: core.LockInactive, Since: core.Since{At: scene.Ago(since)}}})
	}
	asked, answers := make(chan bool), make(chan time.Time)
	e := New(Config{Journal: openJournal(t), LockTimes: func(context.Context) (map[string]time.Time, error) {
		asked <- true
		return map[string]time.Time{"l": <-answers}, nil
	}})
	e.ctx = t.Context()
	found := func() {
		e.past.missLock(Record{Kind: RecordLock, Object: lock, To: string(core.LockInactive)}, core.LockRecord{})
	}
	answer := func(ago time.Duration) {
		answers <- scene.Ago(ago)
		r := <-e.do
		r.do()
		close(r.done)
	}
	found()
	h := e.observePast(sc.Snapshot, inactive(40*time.Minute), false)
	<-asked
	found()
	h.Update.Ended = sc.Now.Add(time.Second) // the update, of which the first question is, ends meanwhile
	sc.Now = sc.Now.Add(time.Minute)
	h = e.observePast(sc.Snapshot, h, false)
	answer(50 * time.Minute)
	h = e.observePast(sc.Snapshot, h, true)
	if got := h.Lock("l").Since.At; !got.Equal(scene.Ago(40 * time.Minute)) {
		t.Fatalf("the answer to the first question counts: inactive since %s", got)
	}
	<-asked
	answer(45 * time.Minute)
	h = e.observePast(sc.Snapshot, h, true)
	if got := h.Lock("l").Since.At; !got.Equal(scene.Ago(45 * time.Minute)) {
		t.Errorf("inactive since %s", got)
	}
}

// A node that was found in another stage after each of two times in which nobody looked has two gaps, though nothing was told of the first
// one yet.
func TestEachGapOfANodeIsFilled(t *testing.T) {
	at := func(minute int) time.Time { return worldTime.Add(time.Duration(minute) * time.Minute) }
	stage := func(s core.Stage, minute int) core.CourseStage {
		return core.CourseStage{Stage: s, Since: core.Since{At: at(minute), Exact: true}}
	}
	course := core.Course{stage(core.StageQueued, 1), stage(core.StageReleased, 5), stage(core.StageUpdating, 9)}
	var b pastBook
	b.miss("n", at(5), at(6))
	b.miss("n", at(9), at(10))
	var got []string
	for _, g := range gaps(course, core.UpdateRecord{UID: "u", Started: at(0)}, b.missed["n"], at(10)) {
		got = append(got, fmt.Sprint(g.from, " to ", g.to))
	}
	if text := strings.Join(got, ", "); text != "queued to released, released to updating" {
		t.Errorf("the gaps: %s", text)
	}
}
