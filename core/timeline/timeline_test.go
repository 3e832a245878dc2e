package timeline_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/timeline"
	"lockstep/scene"
	"lockstep/scene/live"
)

// minute is a time of the update of the tests, which began an hour before noon.
func minute(n int) time.Time { return scene.Ago(time.Hour).Add(time.Duration(n) * time.Minute) }

func seen(n int) core.Since { return core.Since{At: minute(n), Exact: true} }

// told is a row's past as "preparing 5-10": minutes from the start of the update, with > for a beginning that nobody watched and … for
// an end that is not there yet.
func told(spans []timeline.Span) string {
	var out []string
	for _, span := range spans {
		text := span.Bar.String() + " "
		if !span.Seen {
			text += ">"
		}
		text += fmt.Sprint(span.Start.Sub(minute(0)).Minutes()) + "-"
		if span.End.IsZero() {
			text += "…"
		} else {
			text += fmt.Sprint(span.End.Sub(minute(0)).Minutes())
		}
		if span.Why != "" {
			text += " (" + span.Why + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func row(t *testing.T, s *core.Snapshot, id string) *timeline.Row {
	t.Helper()
	for _, r := range timeline.Of(s).Rows {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("there is no row %s", id)
	return nil
}

// updated is a cluster in an update that began an hour ago, with a compute and a history.
func updated(h func(h *core.History)) scene.Scene {
	sc := scene.NewScene()
	r := sc.Update(time.Hour)
	sc.Node("cmp-01", core.RoleCompute)
	sc.History.Update = core.UpdateRecord{UID: r.UID, Started: r.Created}
	sc.History.Courses = map[string]core.Course{}
	h(&sc.History)
	return sc
}

func TestTheBarOfANode(t *testing.T) {
	const uid = "uid-cmp-01"
	idle, done := core.CourseStage{Stage: core.StageIdle, Since: core.Since{At: minute(-900)}}, func(n int) core.CourseStage {
		return core.CourseStage{Stage: core.StageDone, Since: seen(n)}
	}
	for _, tt := range []struct {
		name   string
		course core.Course
		round  core.Round
		stage  core.StageRecord
		ended  int // minute in which the update ended; 0: it runs
		want   string
	}{
		{name: "nothing has happened", course: core.Course{idle}, want: ""},
		{name: "it is through", course: core.Course{idle, {Stage: core.StagePreparing, Since: seen(5)},
			{Stage: core.StageEvacuating, Since: seen(6)},
			{Stage: core.StageUpdating, Since: seen(20)}, done(30)}, round: core.Round{Started: minute(5), Ended: minute(30)},
			want: "preparing 5-6, evacuating 6-20, updating 20-30"},
		{name: "a stage lasts", course: core.Course{idle, {Stage: core.StageEvacuating, Since: seen(6)}}, want: "evacuating 6-…"},
		{name: "it waited, and why", course: core.Course{idle, {Stage: core.StageWaiting, Since: seen(6), Why: "manual mode"},
			{Stage: core.StageUpdating, Since: seen(9)}}, want: "waiting for you 6-9 (manual mode), updating 9-…"},
		{name: "it went through twice", course: core.Course{{Stage: core.StageUpdating, Since: seen(5)}, done(9),
			{Stage: core.StageUpdating, Since: seen(20)}, done(22)}, want: "updating 5-9, updating 20-22"},
		{name: "it began before the update", course: core.Course{{Stage: core.StageUpdating, Since: seen(-20)}, done(3)},
			want: "updating >0-3"},
		{name: "nobody watched", course: core.Course{idle, {Stage: core.StageUpdating, Since: core.Since{At: minute(8)}}},
			want: "updating >8-…"},
		{name: "a time that lies before the one before it", course: core.Course{{Stage: core.StagePreparing, Since: seen(10)},
			{Stage: core.StageUpdating, Since: seen(8)}, done(12)}, want: "updating >10-12"},
		{name: "Lockstep came after its maintenance", course: core.Course{{Stage: core.StageDone, Since: core.Since{At: minute(40)}}},
			round: core.Round{Started: minute(5), Ended: minute(30)}, want: "in maintenance 5-30"},
		{name: "Lockstep came in the middle", course: core.Course{{Stage: core.StageUpdating, Since: core.Since{At: minute(20)}}, done(30)},
			round: core.Round{Started: minute(5), Ended: minute(30)}, want: "in maintenance 5-20, updating >20-30"},
		{name: "only its stage is known", stage: core.StageRecord{Stage: core.StageDraining, Since: seen(20)},
			round: core.Round{Started: minute(5)}, want: "in maintenance 5-20, draining 20-…"},
		{name: "its first stage was seen a moment after the request", course: core.Course{idle, {Stage: core.StageQueued,
			Since: core.Since{At: minute(5).Add(time.Second), Exact: true}}}, round: core.Round{Started: minute(5)},
			want: "queued 5.016666666666667-…"},
		{name: "the update is over, and the node goes into maintenance by itself", course: core.Course{
			{Stage: core.StageUpdating, Since: seen(5)}, done(9), {Stage: core.StageQueued, Since: seen(50)}}, ended: 40, want: "updating 5-9"},
		{name: "the update ended before the node", course: core.Course{{Stage: core.StageReturning, Since: seen(5)}}, ended: 40,
			want: "returning 5-40"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := updated(func(h *core.History) {
				h.Courses[uid], h.Rounds[uid] = tt.course, tt.round
				if tt.stage.Stage != "" {
					delete(h.Courses, uid)
					h.Stages[uid] = tt.stage
				}
				if tt.ended > 0 {
					h.Update.Ended = minute(tt.ended)
				}
			})
			if tt.ended > 0 {
				sc.ClusterRequests = nil
			}
			if got := told(row(t, sc.Snapshot, "node/cmp-01").Spans); got != tt.want {
				t.Errorf("the bar is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheBarOfAPhaseShowsWhatStoodStill(t *testing.T) {
	stand := func(cause core.StandstillCause, since, until int) core.Standstill {
		st := core.Standstill{Cause: cause, Since: seen(since), Why: string(cause)}
		if until > 0 {
			st.Until = minute(until)
		}
		return st
	}
	for _, tt := range []struct {
		name   string
		stands []core.Standstill
		want   string
	}{
		{"it went on all the time", nil, "under way 20-…"},
		{"an alert held it up", []core.Standstill{stand(core.StandsByAlert, 25, 30)},
			"under way 20-25, waiting for you 25-30 (auto-pause), under way 30-…"},
		{"it stands still", []core.Standstill{stand(core.StandsByPlan, 25, 0)}, "under way 20-25, stuck or failed 25-… (plan-stuck)"},
		{"nobody commenced its first step", []core.Standstill{stand(core.StandsForStep, 5, 20)},
			"waiting for you 5-20 (commence), under way 20-…"},
		{"nobody commenced it, and then an alert held it up", []core.Standstill{stand(core.StandsForStep, 5, 20),
			stand(core.StandsByAlert, 25, 30)},
			"waiting for you 5-20 (commence), under way 20-25, waiting for you 25-30 (auto-pause), under way 30-…"},
		{"it was commenced, and began later", []core.Standstill{stand(core.StandsForStep, 5, 12)},
			"waiting for you 5-12 (commence), under way 20-…"},
		{"its step was commenced after its nodes had begun", []core.Standstill{stand(core.StandsForStep, 15, 25)},
			"waiting for you 15-25 (commence), under way 25-…"},
		{"one cause took the place of another", []core.Standstill{stand(core.StandsForPerson, 25, 30), stand(core.StandsFailed, 30, 0)},
			"under way 20-25, waiting for you 25-30 (operator), stuck or failed 30-… (failed)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := updated(func(h *core.History) {
				h.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseWorkers: {Started: seen(20)}}
				h.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: tt.stands}
			})
			sc.Lock("", core.ControllerOpenStack, core.LockInactive)
			sc.Maintained("cmp-01", "")
			if got := told(row(t, sc.Snapshot, "phase/4").Spans); got != tt.want {
				t.Errorf("the bar is %q, want %q", got, tt.want)
			}
		})
	}
}

// The commonest standstill comes before its phase: the step was not commenced. The phase took no longer for it.
func TestAPhaseThatHasNotBegunShowsWhatItStandsStillFor(t *testing.T) {
	for _, tt := range []struct {
		name    string
		started int // minute; 0: it has not begun
		until   int
		want    string
		took    time.Duration
	}{
		{"it waits to be commenced", 0, 0, "waiting for you 30-… (commence)", 30 * time.Minute},
		{"it was commenced, and has not begun", 0, 40, "waiting for you 30-40 (commence)", 10 * time.Minute},
		{"it was commenced, and began", 45, 45, "waiting for you 30-45 (commence), under way 45-…", 15 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := updated(func(h *core.History) {
				st := core.Standstill{Cause: core.StandsForStep, Since: seen(30), Why: "commence"}
				if tt.until > 0 {
					st.Until = minute(tt.until)
				}
				h.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: {st}}
				if tt.started > 0 {
					h.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseWorkers: {Started: seen(tt.started)}}
				}
			})
			if tt.started > 0 {
				sc.Lock("", core.ControllerOpenStack, core.LockInactive)
				sc.Maintained("cmp-01", "")
			}
			r := row(t, sc.Snapshot, "phase/4")
			if got := told(r.Spans); got != tt.want {
				t.Errorf("the bar is %q, want %q", got, tt.want)
			}
			if took, _ := r.Took(minute(60)); took != tt.took {
				t.Errorf("it took %s, want %s", took, tt.took)
			}
		})
	}
}

// A phase whose end has only just come is noted as ended with the next Snapshot: its row is there all the time.
func TestAPhaseThatHasJustEndedKeepsItsRow(t *testing.T) {
	sc := updated(func(h *core.History) {
		h.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseServices: {Started: seen(5)}}
	})
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	if p := progress.Phases(sc.Snapshot)[1]; p.State != core.PhaseDone || !p.Ended.At.IsZero() {
		t.Fatalf("the phase is %s, ended %s", p.State, p.Ended.At)
	}
	if got := told(row(t, sc.Snapshot, "phase/2").Spans); got != "under way 0-…" {
		t.Errorf("the bar is %q", got)
	}
}

func TestTheBarOfAPlanStep(t *testing.T) {
	for _, tt := range []struct {
		name string
		step core.PlanStep
		want string
		due  int // minute; 0: none
	}{
		{"it is complete", core.PlanStep{Status: core.PlanCompleted, Started: minute(5), Duration: "10m"}, "under way 5-15", 0},
		{"it began before the update's request", core.PlanStep{Status: core.PlanCompleted, Started: minute(-5), Duration: "10m"},
			"under way -5-5", 0},
		{"it runs", core.PlanStep{Status: core.PlanInProgress, Started: minute(40), Estimate: "45m"}, "under way 40-…", 85},
		{"it is of a kind that Lockstep does not know, and runs", core.PlanStep{ID: "tf", Status: core.PlanInProgress, Started: minute(40),
			Estimate: "45m"}, "under way 40-…", 85},
		{"an alert paused it", core.PlanStep{Status: core.PlanAutoPaused, Started: minute(40), Estimate: "45m"},
			"under way 40-50, waiting for you 50-… (auto-pause: KubeletDown)", 0},
		{"nobody knows how long it took", core.PlanStep{Status: core.PlanCompleted, Started: minute(5)}, "", 0},
		{"it has not begun", core.PlanStep{Status: core.PlanNotStarted}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := updated(func(h *core.History) {
				h.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: {{Cause: core.StandsByAlert, Since: seen(50),
					Why: "auto-pause: KubeletDown"}}}
			})
			tt.step.ID = cmp.Or(tt.step.ID, core.PlanStepWorkers+"a")
			sc.Management = &core.Management{Found: true, Plans: []*core.UpdatePlan{{Meta: core.Meta{Name: "plan"}, Status: core.PlanInProgress,
				Started: minute(-10), Steps: []core.PlanStep{tt.step}}}}
			got, due := "", time.Time{}
			for _, r := range timeline.Of(sc.Snapshot).Rows {
				if r.Kind == timeline.Step {
					got, due = told(r.Spans), r.Due
				}
			}
			want := time.Time{}
			if tt.due > 0 {
				want = minute(tt.due)
			}
			if got != tt.want || !due.Equal(want) {
				t.Errorf("the bar is %q, due %s; want %q, due %s", got, due, tt.want, want)
			}
		})
	}
}

func TestAColumnShowsWhatMattersMost(t *testing.T) {
	span := func(b timeline.Bar, from, to int) timeline.Span {
		return timeline.Span{Bar: b, Start: minute(from), End: minute(to)}
	}
	spans := []timeline.Span{span(timeline.Preparing, 2, 3), span(timeline.Evacuating, 3, 8), span(timeline.Waiting, 8, 9),
		span(timeline.Updating, 9, 14), span(timeline.Returning, 20, 21)}
	for _, tt := range []struct {
		from, to int
		want     timeline.Bar
		first    bool
	}{
		{0, 2, timeline.None, false}, {0, 5, timeline.Evacuating, true}, {5, 10, timeline.Waiting, true}, {4, 5, timeline.Evacuating, false},
		{10, 15, timeline.Updating, false}, {15, 20, timeline.None, false}, {20, 25, timeline.Returning, true}, {21, 30, timeline.None, false},
	} {
		if got := timeline.CellOf(spans, minute(tt.from), minute(tt.to)); got.Span.Bar != tt.want || got.First != tt.first {
			t.Errorf("minutes %d to %d show %s (first: %v), want %s (%v)", tt.from, tt.to, got.Span.Bar, got.First, tt.want, tt.first)
		}
	}
}

func TestMigrationsAreTicksOfTheNodeThatTheyLeft(t *testing.T) {
	sc := updated(func(*core.History) {})
	add := func(id, status, from string, at int) {
		sc.Migrations[id] = append(sc.Migrations[id], &core.Migration{ID: at, InstanceID: id, Type: core.MigrationLive, Status: status,
			SourceHost: from, Created: minute(at - 1), Updated: minute(at)})
	}
	add("a", "completed", "cmp-01", 12)
	add("b", "error", "cmp-01", 10)
	add("c", "running", "cmp-01", 11)
	add("d", "completed", "cmp-02", 10)
	add("e", "completed", "cmp-01", -300) // before the update
	moves := timeline.Moves(sc.Snapshot, "cmp-01")
	if len(moves) != 2 || moves[0].Instance != "b" || moves[1].Instance != "a" {
		t.Fatalf("the node's migrations are %+v", moves)
	}
	for _, tt := range []struct{ from, to, done, failed int }{{0, 60, 1, 1}, {10, 12, 0, 1}, {12, 13, 1, 0}, {13, 20, 0, 0}} {
		if done, failed := timeline.MovesWithin(moves, minute(tt.from), minute(tt.to)); done != tt.done || failed != tt.failed {
			t.Errorf("from %d to %d: %d moved, %d failed; want %d, %d", tt.from, tt.to, done, failed, tt.done, tt.failed)
		}
	}
}

// What was under way at a moment had begun by then and ended later, or goes on; also what was given up meanwhile.
func TestMigrationsThatWereUnderWay(t *testing.T) {
	sc := updated(func(*core.History) {})
	add := func(id, status, from string, began, told int) {
		sc.Migrations[id] = append(sc.Migrations[id], &core.Migration{ID: told, InstanceID: id, Type: core.MigrationLive, Status: status,
			SourceHost: from, Created: minute(began), Updated: minute(told)})
	}
	add("a", "completed", "cmp-01", 5, 12)
	add("b", "running", "cmp-01", 8, 9)
	add("c", "cancelled", "cmp-01", 7, 20)
	add("d", "completed", "cmp-02", 5, 12)
	add("e", "error", "cmp-01", 2, 6)
	for at, want := range map[int]string{1: "", 3: "e", 5: "a e", 6: "a", 10: "a c b", 12: "c b", 30: "b"} {
		var got []string
		for _, m := range timeline.Underway(sc.Snapshot, "cmp-01", minute(at)) {
			got = append(got, m.Instance)
		}
		slices.Sort(got)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("in minute %d: %q, want %q", at, got, wanted)
		}
	}
}

// What is ahead comes after what was, node after node, and says when it is done.
func TestNodesThatAreNotDoneAreAhead(t *testing.T) {
	sc := updated(func(h *core.History) {
		for i := range 2 {
			name := fmt.Sprintf("cmp-0%d", i+2)
			h.Rounds["uid-"+name] = core.Round{Update: h.Update.UID, Started: minute(10 * i), Ended: minute(10*i + 10)}
			h.Courses["uid-"+name] = core.Course{{Stage: core.StageUpdating, Since: seen(10 * i)}, {Stage: core.StageDone, Since: seen(10*i + 10)}}
		}
	})
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	for _, name := range []string{"cmp-02", "cmp-03", "cmp-04"} {
		sc.Node(name, core.RoleCompute)
	}
	for i := 2; i <= 3; i++ {
		sc.History.Stages[fmt.Sprintf("uid-cmp-0%d", i)] = core.StageRecord{Stage: core.StageDone, Since: seen(10 * (i - 1))}
		sc.Nodes[fmt.Sprintf("cmp-0%d", i)].KubeletVersion = "v1.31.9"
	}
	tl := timeline.Of(sc.Snapshot)
	var order, ahead []string
	for _, r := range tl.Rows {
		if r.Kind != timeline.Node {
			continue
		}
		order = append(order, r.Label)
		for _, span := range tl.Spans(r, sc.Now) {
			if span.Bar == timeline.Ahead {
				ahead = append(ahead, fmt.Sprint(r.Label, " ", span.Start.Sub(sc.Now).Minutes(), "-", span.End.Sub(sc.Now).Minutes()))
			}
		}
	}
	if got := strings.Join(order, " "); got != "cmp-02 cmp-03 cmp-01 cmp-04" {
		t.Errorf("the nodes come in the order %s: those that have begun come first, by when they did", got)
	}
	if got := strings.Join(ahead, ", "); got != "cmp-01 0-10, cmp-04 10-20" {
		t.Errorf("ahead is %q", got)
	}
	if got := tl.End(sc.Now); got.Before(sc.Now.Add(20 * time.Minute)) {
		t.Errorf("the timeline ends at %s, before its last node", got)
	}
}

func TestSpansAreInOrderAndInsideTheUpdate(t *testing.T) {
	stages := []core.Stage{core.StageIdle, core.StageQueued, core.StagePreparing, core.StageEvacuating, core.StageWaiting,
		core.StageReleased, core.StageDraining, core.StageUpdating, core.StageRebooting, core.StageReturning, core.StageDone, core.StageFailed}
	rapid.Check(t, func(rt *rapid.T) {
		at := func(what string) time.Time { return minute(rapid.IntRange(-30, 70).Draw(rt, what)) }
		over := rapid.Bool().Draw(rt, "over")
		sc := updated(func(h *core.History) {
			if over {
				h.Update.Ended = minute(rapid.IntRange(1, 60).Draw(rt, "ended"))
			}
			h.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseWorkers: {Started: core.Since{At: at("workers")}}}
			for range rapid.IntRange(0, 3).Draw(rt, "stands") {
				st := core.Standstill{Cause: core.StandsByAlert, Since: core.Since{At: at("stands")}}
				if rapid.Bool().Draw(rt, "goes on") {
					st.Until = at("goes on at")
				}
				h.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: core.WithStandstill(h.Stands[core.PhaseWorkers], st)}
			}
		})
		sc.Lock("", core.ControllerOpenStack, core.LockInactive)
		for i := range rapid.IntRange(1, 5).Draw(rt, "nodes") {
			n := sc.Node(fmt.Sprintf("cmp-0%d", i+1), core.RoleCompute)
			var course core.Course
			for range rapid.IntRange(0, 5).Draw(rt, "stages") {
				course = course.With(core.CourseStage{Stage: rapid.SampledFrom(stages).Draw(rt, "stage"), Since: core.Since{At: at("since")}})
			}
			sc.History.Courses[n.UID] = course
			if rapid.Bool().Draw(rt, "a round") {
				r := core.Round{Update: sc.History.Update.UID, Started: at("round")}
				if rapid.Bool().Draw(rt, "ended") {
					r.Ended = r.Started.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "took")) * time.Minute)
				}
				sc.History.Rounds[n.UID] = r
			}
			if rapid.Bool().Draw(rt, "done") {
				sc.History.Stages[n.UID] = core.StageRecord{Stage: core.StageDone, Since: core.Since{At: at("done at")}}
			} else if rapid.Bool().Draw(rt, "maintained") {
				sc.Maintained(n.Name, "")
			}
		}
		if over {
			sc.ClusterRequests = nil
		}
		tl := timeline.Of(sc.Snapshot)
		for _, r := range tl.Rows {
			last := tl.Start
			for _, span := range tl.Spans(r, sc.Now) {
				if span.Start.Before(last) || !span.End.After(span.Start) || span.End.After(tl.End(sc.Now)) {
					rt.Fatalf("%s: %s: %s to %s, after %s, in an update from %s to %s", r.ID, span.Bar, span.Start, span.End, last, tl.Start,
						tl.End(sc.Now))
				}
				last = span.End
			}
		}
	})
}

// A change of one node makes its own row anew, and no other one's, however many nodes there are.
func TestOneChangeIsLaidOutForOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := live.Start(t, scene.Fleet(300, 1))
		was := timeline.Of(c.Change(0))
		now := timeline.Of(c.Change(1))
		var anew []string
		for _, r := range now.Rows {
			if r.Kind == timeline.Node && !slices.Contains(was.Rows, r) {
				anew = append(anew, r.Node)
			}
		}
		if len(anew) > 1 || len(anew) == 1 && anew[0] != scene.Maintained || len(now.Rows) < 300 {
			t.Errorf("of %d rows, those of %v were made anew after a change at %s", len(now.Rows), anew, scene.Maintained)
		}
	})
}

func BenchmarkTimeline(b *testing.B) {
	live.Derive(b, 10, func(b *testing.B, s *core.Snapshot) {
		if len(timeline.Of(s).Rows) < len(s.Nodes) {
			b.Fatal("nodes are missing")
		}
	})
}

// A graceful reboot is no update. Its timeline is there while it runs, and stays when it is over, until the next update.
func TestMaintenanceWithoutAnUpdateKeepsItsTimeline(t *testing.T) {
	reboot := func(from, to int) core.Round {
		return core.Round{Update: "reboot", Started: minute(from), Ended: minute(to)}
	}
	course := core.Course{{Stage: core.StageEvacuating, Since: seen(10)}, {Stage: core.StageRebooting, Since: seen(12)},
		{Stage: core.StageIdle, Since: seen(18)}}
	for _, tt := range []struct {
		name       string
		given      func(h *core.History)
		start, end int // minute; -1: there is no timeline
		bars       string
	}{
		{"no node was in maintenance", func(*core.History) {}, -1, -1, ""},
		{"one was rebooted", func(h *core.History) {
			h.Rounds = map[string]core.Round{"uid-cmp-01": reboot(10, 18)}
			h.Courses = map[string]core.Course{"uid-cmp-01": course}
		}, 10, 18, "evacuating 10-12, rebooting 12-18"},
		{"another one went before it, and one long ago", func(h *core.History) {
			h.Rounds = map[string]core.Round{"uid-cmp-01": reboot(10, 18), "uid-cmp-02": reboot(1, 9),
				"uid-cmp-03": {Started: minute(-300), Ended: minute(-200)}}
			h.Courses = map[string]core.Course{"uid-cmp-01": course}
		}, 1, 18, "evacuating 10-12, rebooting 12-18"},
		{"an update came after it", func(h *core.History) {
			h.Rounds = map[string]core.Round{"uid-cmp-01": reboot(10, 18)}
			h.Update = core.UpdateRecord{UID: "u", Started: minute(20), Ended: minute(50)}
		}, 20, 50, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := updated(func(h *core.History) {
				h.Update, h.Rounds, h.Courses, h.Stages = core.UpdateRecord{}, nil, nil, nil
				tt.given(h)
			})
			sc.ClusterRequests = nil
			tl := timeline.Of(sc.Snapshot)
			if tt.start < 0 {
				if !tl.Start.IsZero() {
					t.Errorf("the timeline begins at %s", tl.Start)
				}
				return
			}
			if !tl.Start.Equal(minute(tt.start)) || !tl.Ended.Equal(minute(tt.end)) {
				t.Errorf("it goes from %s to %s", tl.Start, tl.Ended)
			}
			if got := told(row(t, sc.Snapshot, "node/cmp-01").Spans); got != tt.bars {
				t.Errorf("the bar is %q, want %q", got, tt.bars)
			}
		})
	}
}
