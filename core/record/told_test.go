package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// at is a moment of the tests' night.
func at(minute int) Time {
	return Time{time.Date(2026, 11, 22, 2, minute, 0, 0, time.UTC)}
}

// Who set an entry aside saw to it, too. Where nobody did anything with Lockstep, the report says so.
func TestTheReportSaysWhoSawToAnEntry(t *testing.T) {
	r := &Reader{}
	line := func(what engine.EntryEvent, id string, when Time) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordEntry, At: when.Time, Began: at(1).Time,
			Entry: &engine.EntryRecord{ID: id, What: what, Severity: "warning", Reason: "it waits"}}})
	}
	note := func(id, on string, when Time, aside bool) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordNote, At: when.Time,
			Note: &core.Note{ID: id, On: core.NoteOn{Entry: on}, Text: "the owner knows", By: "anna", At: when.Time, Aside: aside}}})
	}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}})
	for _, id := range []string{"aside", "settled", "open"} {
		line(engine.EntryCame, id, at(1))
	}
	note("1", "aside", at(2), true)
	note("2", "settled", at(9), false) // after its end: about another one
	line(engine.EntrySettled, "settled", at(5))
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range a.Entries {
		got[e.ID] = e.Saw()
	}
	if got["aside"] != "set aside: the owner knows (anna)" || got["settled"] != "nobody by Lockstep" || got["open"] != "nobody yet" {
		t.Errorf("%q", got)
	}
}

// A node's stages are told for each maintenance, a stage that came back once, with all its time; what rests is no stage of it.
func TestTheStagesOfAMaintenance(t *testing.T) {
	n := Node{Stages: []Stage{{Stage: "done", Began: at(0)}, {Stage: "queued", Began: at(1)}, {Stage: "evacuating", Began: at(4)},
		{Stage: "waiting for you", Began: at(10)}, {Stage: "evacuating", Began: at(20)}, {Stage: "done", Began: at(23)},
		{Stage: "queued", Began: at(40)}}}
	n.stageTimes()
	if got := n.During(Maintenance{Began: at(1), Ended: at(23)}); got != "queued 3 m, evacuating 9 m, waiting for you 10 m" {
		t.Errorf("%q", got)
	}
}

// written is the account of a journal with these records.
func written(t *testing.T, records ...engine.Record) *Account {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mos.jsonl")
	j, err := engine.OpenJournal(path, engine.JournalOptions{Run: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, r := range records {
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	r, skipped, err := Read([]string{path})
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Whoever did not look when an update ended tells its end once the next one runs, with the time at which that began. The lines of the next
// one are its own all the same, and the end is told as who saw it tells it: by journals of their own, in either order, and on one journal.
func TestALateEndOfAnUpdateOpensNoPart(t *testing.T) {
	first := core.UpdateRecord{UID: "u1", Release: "21.0.1", Started: at(0).Time}
	second := core.UpdateRecord{UID: "u2", Release: "21.0.2", Started: at(40).Time}
	seen, found := first, first
	seen.Ended, seen.EndSeen, found.Ended = at(20).Time, true, at(40).Time
	update := func(u core.UpdateRecord, field string) engine.Record {
		return engine.Record{Kind: engine.RecordUpdate, At: core.Later(u.Started, u.Ended), Update: &u, Reconstructed: field}
	}
	stage := func(minute int, to string) engine.Record {
		return engine.Record{Kind: engine.RecordStage, At: at(minute).Time, Node: "n",
			Object: &core.Ref{Kind: core.KindNode, Name: "n", UID: "n"}, To: to, Exact: true,
			Stage: &core.StageRecord{Stage: core.Stage(to), Since: core.Since{At: at(minute).Time}}}
	}
	run := func(minute int) engine.Record { return engine.Record{Kind: engine.RecordStart, At: at(minute).Time} }
	anna := []engine.Record{run(0), update(first, ""), update(seen, ""), update(second, ""), stage(41, "queued")}
	bert := []engine.Record{run(0), update(first, ""), run(55), update(found, ""), update(second, "a field"), stage(56, "updating")}
	dir := t.TempDir()
	file := func(name string, runs ...[]engine.Record) string {
		path := filepath.Join(dir, name)
		for i, records := range runs {
			j, err := engine.OpenJournal(path, engine.JournalOptions{Run: fmt.Sprint(name, i)})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if err := j.Write(r, false); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	a, b := file("anna.jsonl", anna), file("bert.jsonl", bert)
	for name, paths := range map[string][]string{"Anna's before Bert's": {a, b}, "Bert's before Anna's": {b, a},
		"both on one": {file("both.jsonl", anna, bert[2:])}} {
		r, _, err := Read(paths)
		if err != nil {
			t.Fatal(err)
		}
		told := r.Updates()
		if len(told) != 2 || told[0].UID != "u1" || told[1].UID != "u2" {
			t.Errorf("%s: the updates are %+v", name, told)
			continue
		}
		if !told[0].Ended.Equal(at(20).Time) || !told[0].EndSeen {
			t.Errorf("%s: the first one ended %v, seen %v", name, told[0].Ended, told[0].EndSeen)
		}
		account, err := r.Account("")
		if err != nil {
			t.Fatal(err)
		}
		if len(account.Nodes) != 1 || len(account.Nodes[0].Stages) != 2 {
			t.Errorf("%s: of the second one it tells %+v", name, account.Nodes)
		}
	}
}

// Stages of one second stand in the order in which the node came into them, though the last one is written first.
func TestTheStagesOfOneSecond(t *testing.T) {
	records := []engine.Record{{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}}
	for _, s := range [][2]string{{"evacuating", "released"}, {"idle", "queued"}, {"queued", "evacuating"}} {
		records = append(records, engine.Record{Kind: engine.RecordStage, At: at(1).Time, Node: "n", From: s[0], To: s[1],
			Object: &core.Ref{Kind: core.KindNode, Name: "n", UID: "n"}, Reconstructed: "a field"})
	}
	var got []string
	for _, s := range written(t, records...).Nodes[0].Stages {
		got = append(got, s.Stage)
	}
	if text := strings.Join(got, " "); text != "queued evacuating released" {
		t.Errorf("%s", text)
	}
}

// What was found when Lockstep looked again, and then reconstructed, is one thing in the report, too: by the API's own time, whatever was
// written first. The lines of both are named where the report names lines of a phase or of a maintenance.
func TestTheReportTellsWhatWasFoundOnce(t *testing.T) {
	node := &core.Ref{Kind: core.KindNode, Name: "n", UID: "n"}
	u := core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}
	over, told := u, u
	over.Ended, told.Ended, told.Reconstructed = at(50).Time, at(40).Time, true
	stage := func(minute int, from, to, field string) engine.Record {
		return engine.Record{Kind: engine.RecordStage, At: at(minute).Time, Node: "n", Object: node, From: from, To: to, Exact: minute < 10,
			Stage: &core.StageRecord{Stage: core.Stage(to), Since: core.Since{At: at(minute).Time}}, Reconstructed: field}
	}
	phase := func(minute int, field string) engine.Record {
		return engine.Record{Kind: engine.RecordPhase, At: at(minute).Time, Number: 4, State: "done", Reconstructed: field,
			Phase: &core.PhaseRecord{Started: core.Since{At: at(0).Time, Exact: true},
				Ended: core.Since{At: at(minute).Time, Exact: field != ""}}}
	}
	round := func(minute int, r core.Round, field string) engine.Record {
		r.Request, r.Update, r.Started, r.Ended = "r", "u", at(1).Time, at(minute).Time
		return engine.Record{Kind: engine.RecordRound, At: at(minute).Time, Node: "n", Object: node, Round: &r, Reconstructed: field}
	}
	a := written(t, engine.Record{Kind: engine.RecordUpdate, At: at(0).Time, Update: &u}, stage(1, "idle", "queued", ""),
		round(50, core.Round{EndUnseen: true}, ""), stage(50, "queued", "done", ""), phase(50, ""),
		engine.Record{Kind: engine.RecordUpdate, At: at(50).Time, Update: &over},
		round(20, core.Round{Reconstructed: true}, "a field"), stage(20, "updating", "done", "a field"),
		stage(10, "queued", "updating", "a field"), phase(30, "a field"),
		engine.Record{Kind: engine.RecordUpdate, At: at(40).Time, Update: &told, Reconstructed: "a field"})
	var stages []string
	for _, s := range a.Nodes[0].Stages {
		stages = append(stages, s.Stage+" "+s.Began.Format("4"))
	}
	if got := strings.Join(stages, ", "); got != "queued 1, updating 10, done 20" {
		t.Errorf("its stages are %s", got)
	}
	m := a.Nodes[0].Maintenance
	if len(m) != 1 || !m[0].Ended.Equal(at(20).Time) || !m[0].Reconstructed || Lines(m[0].Lines) != "7, 3" {
		t.Errorf("its maintenance: %+v", m)
	}
	if p := a.Phases; len(p) != 1 || !p[0].Ended.Equal(at(30).Time) || !p[0].Reconstructed || Lines(p[0].Lines) != "10, 5" {
		t.Errorf("the phases: %+v", p)
	}
	if !a.Ended.Equal(at(40).Time) || !a.EndReconstructed || a.Lines != 11 {
		t.Errorf("it ended %s, reconstructed %v, %d lines", a.Ended, a.EndReconstructed, a.Lines)
	}
}

// What is open stands first by what is most severe. A report in which nothing is left, and nothing deviates, says both. No part that goes
// on is told to have an end that was reconstructed.
func TestTheReportSaysWhatIsLeftAndThatNothingIs(t *testing.T) {
	a := &Account{Cluster: "mos", To: "21.0.1", Began: at(0), Last: at(30), Seals: []Seal{{File: "/x/mos.jsonl", Seq: 184,
		Sum: strings.Repeat("7c12ab49ab2fc6c8", 4)}}, Plan: &Plan{Parts: []PlanPart{{ID: "1", Title: "one", Began: at(1), Reconstructed: true}}}}
	forms := func() map[string]string {
		var md, html strings.Builder
		if err := Markdown(&md, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&html, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"md": md.String(), "html": html.String()}
	}
	for name, text := range forms() {
		for _, want := range []string{"Left to do", "Nothing, as far as the journal tells.", "Deviations from the documents",
			"None, as far as the journal tells.", "184:7c12ab49ab2fc6c8", "mos.jsonl"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it has no %q", name, want)
			}
		}
		if strings.Contains(text, "–, reconstructed") {
			t.Errorf("%s: an end that is none was reconstructed", name)
		}
	}
	a.Entries = []Entry{{Severity: "notice", Reason: "a little thing", Came: at(1)},
		{Severity: "urgent", Reason: "a great thing", Came: at(2)},
		{Severity: "warning", Rule: string(core.RuleDisarmed), Reason: "a matter of one window", Came: at(2)}}
	if open := a.Open(); len(open) != 2 {
		t.Errorf("left to do: %+v", open)
	}
	for name, text := range forms() {
		little, great := strings.Index(text, "a little thing"), strings.Index(text, "a great thing")
		if great < 0 || great > little {
			t.Errorf("%s: what is urgent does not stand first", name)
		}
	}
}

// Two dashboards on one journal, or two operators, know what they see by the moment at which each of them looked. What began as one of
// them saw it, and ended as the other did, is one thing, and is over.
func TestWhatTwoSawIsOneThing(t *testing.T) {
	r := &Reader{}
	add := func(rec engine.Record) { r.Add(engine.JournalLine{Record: rec}) }
	add(engine.Record{Kind: engine.RecordUpdate, At: at(0).Time, Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}})
	later := func(minute int) time.Time { return at(minute).Add(300 * time.Millisecond) }
	entry := func(what engine.EntryEvent, when, began time.Time) {
		add(engine.Record{Kind: engine.RecordEntry, At: when, Began: began, Exact: true,
			Entry: &engine.EntryRecord{ID: "waits", What: what, Severity: "urgent", Reason: "it waits"}})
	}
	stands := func(since, until time.Time) {
		add(engine.Record{Kind: engine.RecordStandstill, At: core.Later(since, until), Number: 4,
			Stands: &core.Standstill{Cause: core.StandsForPerson, Subject: "cmp-1", Since: core.Since{At: since}, Until: until}})
	}
	entry(engine.EntryCame, at(1).Time, at(1).Time)
	stands(at(1).Time, time.Time{})
	entry(engine.EntryCame, later(1), later(1)) // the other was behind
	stands(later(1), at(5).Time)
	stands(at(1).Time, later(5))
	entry(engine.EntrySettled, at(5).Time, later(1))
	entry(engine.EntrySettled, later(5), at(1).Time)
	entry(engine.EntryCame, at(7).Time, at(7).Time) // it is there again
	stands(at(7).Time, time.Time{})
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Entries) != 2 || a.Entries[0].Lasted != 240 || !a.Entries[1].Settled.IsZero() || len(a.Open()) != 1 {
		t.Errorf("it needed somebody: %+v", a.Entries)
	}
	if len(a.Standstills) != 2 || a.Standstills[0].Took != 240 || len(a.Standstills[0].Lines) != 3 || !a.Standstills[1].Ended.IsZero() {
		t.Errorf("it stood still: %+v", a.Standstills)
	}
}

// A standstill that was found to be over days after the update's end was over by then. Nobody saw it end.
func TestAStandstillIsOverWhenTheUpdateIs(t *testing.T) {
	for _, found := range []time.Time{{}, at(60 * 62).Time} {
		r := &Reader{}
		add := func(rec engine.Record) { r.Add(engine.JournalLine{Record: rec}) }
		u := core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}
		add(engine.Record{Kind: engine.RecordUpdate, At: at(0).Time, Update: &u})
		stands := core.Standstill{Cause: core.StandsForPerson, Subject: "cmp-1", Since: core.Since{At: at(60).Time}}
		add(engine.Record{Kind: engine.RecordStandstill, At: at(60).Time, Number: 4, Stands: &stands})
		if !found.IsZero() {
			stands.Until, stands.UntilUnseen = found, true
			add(engine.Record{Kind: engine.RecordStandstill, At: found, Number: 4, Stands: &stands})
		}
		over := u
		over.Ended = at(360).Time
		add(engine.Record{Kind: engine.RecordUpdate, At: at(60 * 62).Time, Update: &over})
		a, err := r.Account("")
		if err != nil {
			t.Fatal(err)
		}
		if s := a.Standstills; len(s) != 1 || !s[0].Ended.Equal(at(360).Time) || s[0].EndSeen || a.StoodStill() != 300*60 {
			t.Errorf("found at %v: it stood still for %v s: %+v", found, a.StoodStill(), s)
		}
	}
}

// Who is stopped is not down once more while it is moved, and a cold migration that failed took no live migration's time.
func TestDownIsCountedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		all  []stretch
		want float64
	}{
		"one within another": {[]stretch{{at(0).Time, at(60).Time}, {at(20).Time, at(35).Time}}, 3600},
		"one into another":   {[]stretch{{at(30).Time, at(60).Time}, {at(0).Time, at(40).Time}}, 3600},
		"apart":              {[]stretch{{at(0).Time, at(1).Time}, {at(2).Time, at(3).Time}}, 120},
		"one without an end": {[]stretch{{at(0).Time, time.Time{}}}, 0},
	} {
		if got := covered(tt.all); got != tt.want {
			t.Errorf("%s: %v s, want %v", name, got, tt.want)
		}
	}
}

// A moment in which the update did not go on is not told. What stood still for the same reason again and again is told once, with how
// often and for how long, and its reason whole.
func TestWhatStoodStill(t *testing.T) {
	why := "instances are left that the controller does not move: " + strings.Repeat("web-1 on cmp-1, ", 100) + "the last"
	r := &Reader{}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}})
	stands := func(from time.Time, took time.Duration, cause core.StandstillCause) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordStandstill, At: from, Number: 4,
			Stands: &core.Standstill{Cause: cause, Why: why, Since: core.Since{At: from}, Until: from.Add(took)}}})
	}
	stands(at(1).Time, 0, core.StandsForPerson)
	stands(at(2).Time, 9*time.Second, core.StandsOverdue)
	for _, minute := range []int{3, 4, 5, 30} {
		stands(at(minute).Time, 45*time.Second, core.StandsForPerson)
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	told := a.StoodStillBy()
	if len(a.Standstills) != 4 || len(told) != 2 || told[0].Times != 3 || told[0].Took != 135 || told[1].Times != 1 || a.StoodStill() != 180 {
		t.Errorf("%d standstills, %v in all, told as %+v", len(a.Standstills), a.StoodStill(), told)
	}
	for name, print := range map[string]func(*strings.Builder) error{
		"md":   func(b *strings.Builder) error { return Markdown(b, a, time.UTC) },
		"html": func(b *strings.Builder) error { return HTML(b, a, time.UTC) },
	} {
		var b strings.Builder
		if err := print(&b); err != nil || !strings.Contains(b.String(), why) || !strings.Contains(b.String(), "2 m, 3 times") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

// Of several journals a line is known by the number of its file and its own. Texts call a node as people do, and what went the same way
// several times stands once.
func TestTheReportOfSeveralJournals(t *testing.T) {
	r := &Reader{several: true, seals: []Seal{{File: "/a/mos.jsonl", Seq: 9}, {File: "/b/mos.jsonl", Seq: 8}}}
	n := 0
	add := func(file string, rec engine.Record) {
		n++
		rec.At = at(n).Time
		r.Add(engine.JournalLine{Record: rec, File: file, Line: n, Seq: int64(n)})
	}
	add("/a/mos.jsonl", engine.Record{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}})
	add("/b/mos.jsonl", engine.Record{Kind: engine.RecordStage, Node: "kaas-node-7", Label: "cmp-07", To: "idle"})
	add("/b/mos.jsonl", engine.Record{Kind: engine.RecordGrant, Operation: "1", Title: "stop web-1"})
	add("/b/mos.jsonl", engine.Record{Kind: engine.RecordBefore, Operation: "1", From: "ACTIVE on kaas-node-7", To: "stop"})
	for i := range 3 {
		add("/a/mos.jsonl", engine.Record{Kind: engine.RecordMove, Move: &engine.MoveRecord{Migration: i, Instance: "i", Type: "live-migration",
			Status: "failed", From: "cmp-07", To: "cmp-08", Began: at(n).Time, Ended: at(n).Add(time.Second)}})
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	for name, print := range map[string]func(*strings.Builder) error{
		"md":   func(b *strings.Builder) error { return Markdown(b, a, time.UTC) },
		"html": func(b *strings.Builder) error { return HTML(b, a, time.UTC) },
	} {
		var b strings.Builder
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"ACTIVE on cmp-07 → stop", "cmp-07 → cmp-08: failed, 3 times", "2:3, 2:4", "1, mos.jsonl", "2, mos.jsonl",
			"2:17 is number 17 in the second"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: it has no %q:\n%s", name, want, b.String())
			}
		}
	}
}

// What nobody saw end has ended all the same; what was moved back has not been moved; and how long an instance was down is told only where
// the journal has both ends.
func TestWhatIsCounted(t *testing.T) {
	update := engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}
	node := func(name string, unseen bool) engine.Record {
		return engine.Record{Kind: engine.RecordRound, At: at(30).Time, Node: name, Object: &core.Ref{Name: name, UID: name},
			Round: &core.Round{Request: "r-" + name, Update: "u", Started: at(10).Time, Ended: at(30).Time, EndUnseen: unseen}}
	}
	move := func(status string, ended Time) engine.Record {
		return engine.Record{Kind: engine.RecordMove, At: ended.Time, Move: &engine.MoveRecord{Migration: 1, Instance: "i", Type: "migration",
			Status: status, From: "cmp-1", To: "cmp-2", Began: at(20).Time, Ended: ended.Time}}
	}
	step := func(kind core.IntentKind, instance string, when Time) engine.Record {
		return engine.Record{Kind: engine.RecordVerified, At: when.Time, Operation: string(kind) + instance, State: string(core.OperationDone),
			Intent: &core.Intent{Kind: kind, Instance: instance}, Object: &core.Ref{Name: instance, UID: instance}}
	}
	a := written(t, update, node("cmp-1", false), node("cmp-2", true), move("finished", at(22)), move("reverted", at(25)),
		step(core.IntentStop, "stays", at(31)), step(core.IntentStop, "back", at(31)), step(core.IntentStart, "back", at(41)),
		step(core.IntentStart, "other", at(59)))
	if got := strings.Join(a.Summary(time.UTC), " "); !strings.Contains(got, "2 nodes went through maintenance.") {
		t.Error(got)
	}
	if c := a.Counts(); c.Moved != 0 || c.Cold != 0 || c.Failed != 0 || c.Stopped != 2 {
		t.Errorf("counted %+v", c)
	}
	want := map[string]float64{"i": 120, "stays": 0, "back": 600}
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			if down, ok := want[in.ID]; ok && in.Down != down {
				t.Errorf("%s was down for %g s, want %g", in.ID, in.Down, down)
			}
		}
	}
}
