package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// past are lines of a journal, the newest first.
func past() []core.JournalLine {
	at := func(d time.Duration) time.Time { return before(d) }
	return []core.JournalLine{
		{Seq: 9, Kind: core.LineNote, At: at(3 * time.Minute), Who: "anna@jump01", Saw: "anna@jump01", Label: "web-1", Instance: instanceID(1),
			What: "noted", Why: "its owner will stop it himself"},
		{Seq: 8, Kind: core.LineStep, At: at(4 * time.Minute), Wall: at(0), Who: "bert@jump02", Saw: "bert@jump02", Run: "ab12",
			Node: "kaas-node-cmp07", Label: "web-1", Instance: instanceID(1), What: "failed: live-migrate web-1", Why: "no host was found",
			State: "failed", Took: 90 * time.Second, Commands: []string{"openstack server migrate --live-migration web-1"}, Operation: "op-7"},
		{Seq: 7, Kind: core.LineEntry, At: at(12 * time.Minute), Saw: "bert@jump02", Node: "kaas-node-cmp07", Label: "cmp-07",
			What: "needs you, urgent: came", Why: "manual mode: 2 instances must leave first"},
		{Seq: 6, Kind: core.LineStage, At: at(12 * time.Minute), Saw: "bert@jump02", Node: "kaas-node-cmp07", Label: "kaas-node-cmp07",
			What: "preparing → waiting for you", Inferred: true},
		{Seq: 5, Kind: core.LineLock, At: at(13 * time.Minute), Saw: "bert@jump02", Node: "kaas-node-cmp11", Label: "openstack-kaas-node-cmp11",
			What: "inactive → active"},
		{Seq: 4, Kind: core.LineUpdate, At: at(51 * time.Minute), Saw: "bert@jump02", Label: "phase 4", What: "worker nodes is running"},
	}
}

func driveHistory(w, h int) *driver {
	d := drive(world(), w, h)
	d.fake.lines = past()
	return d
}

func TestTheHistoryAsItIsShown(t *testing.T) {
	for _, size := range sizes {
		name := func(what string) string { return fmt.Sprintf("history%s-%dx%d", what, size.w, size.h) }
		golden(t, name(""), stripped(driveHistory(size.w, size.h).keys("H", "down").shows()))
		golden(t, name("-filter"), stripped(driveHistory(size.w, size.h).keys("H", "/", "kind:st").shows()))
		golden(t, name("-line"), stripped(driveHistory(size.w, size.h).keys("H", "down", "enter").shows()))
	}
}

// A line that nobody saw happen says so, and what its time is from.
func TestALineThatNobodySawSaysSo(t *testing.T) {
	d := driveHistory(120, 40)
	d.fake.lines[0].Inferred, d.fake.lines[0].Reconstructed = true, "LCMMachine status.reboot.requestedAt"
	d.keys("H", "enter")
	if frame := stripped(d.shows()); !strings.Contains(frame, "nobody looked when it happened: its time is that of LCMMachine status.reboot") {
		t.Errorf("it does not say what its time is from:\n%s", frame)
	}
	d.keys("esc", "down", "down", "down", "enter")
	if frame := stripped(d.shows()); !strings.Contains(frame, "nobody saw it when it happened") {
		t.Errorf("it does not say that it was found later:\n%s", frame)
	}
}

// A confirmation is shown with all that the journal has of it: as whom the servers knew who gave it, what they typed, on which object, and
// what it rested on.
func TestAConfirmationIsShownWhole(t *testing.T) {
	d := driveHistory(120, 40)
	l := &d.fake.lines[0]
	l.Kind, l.What, l.As, l.Typed, l.Object, l.UID = core.LineStep, "confirmed: stop web-1", "operator", "web-1", "Node cmp-07", "5f2c-91"
	l.Basis = []core.Fact{{Name: "status", Value: "ACTIVE"}}
	frame := stripped(d.keys("H", "enter").shows())
	for _, want := range []string{"anna@jump01, to the servers operator", "web-1", "Node cmp-07, uid 5f2c-91",
		"What the confirmation rested on", "ACTIVE"} {
		if !strings.Contains(frame, want) {
			t.Errorf("it does not say %q:\n%s", want, frame)
		}
	}
}

// A message from before the first facts has the time of these: that of the machine is another one where a recording is played.
func TestAMessageHasTheTimeOfTheCluster(t *testing.T) {
	s := world()
	m := drive(s, 80, 24)
	m.said = []message{{at: fixtureNow.AddDate(20, 0, 0), text: "recorded by Lockstep"}}
	next := s.CopyFacts()
	m.snap = nil
	m.send(snapshotMsg{next})
	if !m.said[0].at.Equal(next.Now) {
		t.Errorf("it is told at %s, the facts are of %s", m.said[0].at, next.Now)
	}
}

// The history has the journal's lines and all messages, the newest first, and takes in what is new while it is open.
func TestTheHistoryFollows(t *testing.T) {
	d := driveHistory(120, 40)
	d.say(toneInfo, "copied")
	d.keys("H")
	p := d.top().(*historyPage)
	ids := func() string {
		var out []string
		for _, r := range p.rows.Rows() {
			out = append(out, r.id)
		}
		return strings.Join(out, " ")
	}
	if want := "message/1 line/9 line/8 line/7 line/6 line/5 line/4"; ids() != want {
		t.Fatalf("it has %s, want %s", ids(), want)
	}
	d.keys("down", "down")
	d.fake.lines = append([]core.JournalLine{{Seq: 10, At: fixtureNow, Kind: core.LineRun, What: "Lockstep ended"}}, d.fake.lines...)
	next := d.snap.CopyFacts()
	next.Revision++
	d.send(snapshotMsg{next})
	if strings.Contains(ids(), "line/10") {
		t.Error("it reads again at once")
	}
	d.later(linesEvery)
	next = next.CopyFacts()
	next.Revision++
	d.send(snapshotMsg{next})
	if !strings.Contains(ids(), "line/10 message/1 line/9") {
		t.Errorf("it does not have what is new: %s", ids())
	}
	if p.rows.Cursor() != "line/8" {
		t.Errorf("the cursor has left its line for %s", p.rows.Cursor())
	}
	if asked := d.fake.asked; len(asked) != 2 || asked[0] != 0 || asked[1] != 9 {
		t.Errorf("it has asked for what comes after %v", asked)
	}
	d.keys("esc")
	n := len(d.fake.asked)
	d.later(time.Minute)
	next = next.CopyFacts()
	next.Revision++
	d.send(snapshotMsg{next})
	if len(d.fake.asked) != n {
		t.Error("it reads after it was closed")
	}
}

// One key shows only what is about the same object, what the same person did, or one kind; the same key shows all again.
func TestTheHistoryIsFiltered(t *testing.T) {
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"down", "n"}, "9 8"},
		{[]string{"down", "n", "n"}, "9 8 7 6 5 4"},
		{[]string{"down", "down", "n"}, "8 7 6"},
		{[]string{"down", "p"}, "8"},
		{[]string{"v"}, "8"},
		{[]string{"v", "v"}, "6"},
		{[]string{"v", "v", "esc"}, "9 8 7 6 5 4"},
		{[]string{"/", "owner", "enter"}, "9"},
		{[]string{"/", "node:cmp-11", "enter"}, "5"},
		{[]string{"/", "owner", "esc"}, "9 8 7 6 5 4"},
		{[]string{"end", "n"}, "9 8 7 6 5 4"},
		{[]string{"end", "p"}, "9 8 7 6 5 4"},
	} {
		d := driveHistory(120, 40).keys("H").keys(tt.keys...)
		p, ok := d.top().(*historyPage)
		if !ok {
			t.Errorf("%v leads to %T", tt.keys, d.top())
			continue
		}
		var got []string
		for _, r := range p.rows.Rows() {
			if r.line.Seq > 0 {
				got = append(got, itoa(int(r.line.Seq)))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v shows %v, want %s", tt.keys, got, tt.want)
		}
	}
	d := driveHistory(120, 40).keys("3").palette("the history of what is")
	if p, ok := d.top().(*historyPage); !ok || p.rows.Filter() != `node:="cmp-07"` {
		t.Errorf("the history of a node is %T, %q", d.top(), stripped(d.shows()))
	}
}

// An inspection leads to the history of its object, and back.
func TestAnInspectionLeadsToItsHistory(t *testing.T) {
	if p, ok := driveHistory(120, 40).keys("1", "enter", "H").top().(*historyPage); !ok || p.rows.Filter() != `node:="cmp-07"` {
		t.Error("an entry does not lead to the history of its node")
	}
	for keys, want := range map[string]string{"3": `node:="cmp-07"`, "4": "instance:=" + instanceID(3)} {
		d := driveHistory(120, 40).keys(keys, "i", "H")
		p, ok := d.top().(*historyPage)
		if !ok || p.rows.Filter() != want {
			t.Fatalf("%s: it leads to %T:\n%s", keys, d.top(), stripped(d.shows()))
		}
		if _, back := d.keys("esc", "esc").top().(*pager); !back {
			t.Errorf("%s: it leads back to %T", keys, d.top())
		}
	}
}

// A journal that cannot be read is said; the messages are there all the same.
func TestAHistoryThatCannotBeRead(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fake.linesErr = errors.New("permission denied")
	d.say(toneInfo, "copied")
	d.keys("H")
	for _, want := range []string{"The journal cannot be read: permission denied", "copied"} {
		if !strings.Contains(stripped(d.shows()), want) {
			t.Errorf("it does not say %q:\n%s", want, stripped(d.shows()))
		}
	}
}

// manyLines are as many lines as are shown at most.
func manyLines() []core.JournalLine {
	out := make([]core.JournalLine, core.MostLines)
	kinds := core.LineKinds()
	for i := range out {
		out[i] = core.JournalLine{Seq: int64(len(out) - i), Kind: kinds[i%len(kinds)], At: before(time.Duration(i) * time.Second),
			Node: fmt.Sprintf("kaas-node-cmp%02d", i%17), Label: "cmp", What: fmt.Sprint("idle → evacuating ", i),
			Why: "live mode: 2 instances move"}
	}
	return out
}

// No more lines are kept than are shown at most.
func TestTheHistoryIsBounded(t *testing.T) {
	lane.Single(t)
	d := drive(world(), 120, 40)
	d.fake.lines = manyLines()
	d.keys("H")
	p := d.top().(*historyPage)
	linesMsg{story: &p.story, rows: []historyRow{{id: "new", line: core.JournalLine{Seq: core.MostLines + 1, At: fixtureNow}}}}.arrive(d.Model)
	if n := len(p.lines); n != core.MostLines || p.lines[0].line.Seq != core.MostLines+1 {
		t.Errorf("%d lines are kept, the newest is %d", n, p.lines[0].line.Seq)
	}
}

// BenchmarkHistoryScroll is a row down and a frame, in 50,000 lines.
func BenchmarkHistoryScroll(b *testing.B) {
	d := drive(world(), 200, 60)
	d.fake.lines = manyLines()
	d.keys("H")
	b.ResetTimer()
	for b.Loop() {
		d.keys("down")
		d.shows()
	}
}

// BenchmarkHistoryFilter is a letter more in the filter, and a frame, in 50,000 lines.
func BenchmarkHistoryFilter(b *testing.B) {
	d := drive(world(), 200, 60)
	d.fake.lines = manyLines()
	d.keys("H", "/")
	b.ResetTimer()
	for b.Loop() {
		d.keys("e", "backspace")
		d.shows()
	}
}

// BenchmarkHistoryNews is one new line, and a frame, in 50,000 lines.
func BenchmarkHistoryNews(b *testing.B) {
	d := drive(world(), 200, 60)
	d.fake.lines = manyLines()
	d.keys("H")
	p := d.top().(*historyPage)
	seq := int64(core.MostLines)
	b.ResetTimer()
	for b.Loop() {
		seq++
		linesMsg{story: &p.story, rows: []historyRow{{id: fmt.Sprint(seq), line: core.JournalLine{Seq: seq, At: fixtureNow}}}}.arrive(d.Model)
		d.shows()
	}
}

// Stages that a node came into in the same second stand in their order, the newest first, in whatever order they were written.
func TestStagesOfOneSecondStandInTheirOrder(t *testing.T) {
	at := time.Date(2026, 11, 22, 2, 0, 0, 0, time.UTC)
	line := func(seq int64, from, to string) core.JournalLine {
		return core.JournalLine{Seq: seq, Kind: core.LineStage, At: at, Node: "n", Before: from, After: to, What: to}
	}
	q, e, r := line(0, "idle", "queued"), line(0, "queued", "evacuating"), line(0, "evacuating", "released")
	for _, lines := range [][]core.JournalLine{{q, e, r}, {r, e, q}, {e, q, r}, {q, r, e}} {
		var got []string
		for _, row := range historyRows(world(), lines, 0) {
			got = append(got, row.line.What)
		}
		if text := strings.Join(got, " "); text != "released evacuating queued" {
			t.Errorf("they stand as %s", text)
		}
	}
}

// What was selected goes as the step ends: the screen says both in one line, and each is a row of its own in the history.
func TestWhatIsSaidInOneLineIsTwoRowsOfTheHistory(t *testing.T) {
	d := drive(world(), 120, 40)
	d.tellEnd(&core.Operation{Title: "live-migrate web-1", State: core.OperationDone})
	d.sayGone("web-1")
	d.say(toneBad, "refused")
	d.say(toneBad, "refused")
	if len(d.said) != 3 || d.toast.text != "refused" {
		t.Fatalf("%d messages are kept, and it says %q", len(d.said), d.toast.text)
	}
	had := make(map[int]string)
	for _, msg := range d.said {
		if other, twice := had[msg.n]; twice {
			t.Errorf("%q and %q have one ID", msg.text, other)
		}
		had[msg.n] = msg.text
	}
}
