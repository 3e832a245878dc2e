package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// logIDs are the rows of the log.
func logIDs(d *driver) string {
	var out []string
	for _, r := range d.log.Rows() {
		out = append(out, d.log.ID(r))
	}
	return strings.Join(out, " ")
}

// again passes the same facts once more, after the screen's clock has moved.
func (d *driver) again(after time.Duration) {
	d.later(after)
	next := d.snap.CopyFacts()
	next.Revision++
	d.send(snapshotMsg{next})
}

func TestTheLogAsItIsShown(t *testing.T) {
	for _, size := range sizes {
		name := func(what string) string { return fmt.Sprintf("log%s-%dx%d", what, size.w, size.h) }
		d := driveHistory(size.w, size.h)
		d.say(toneBad, "the lease was lost")
		d.keys("6").shows()
		d.again(linesEvery)
		golden(t, name(""), stripped(d.shows()))
		golden(t, name("-line"), stripped(d.keys("down", "down", "enter").shows()))
		d.keys("esc", "3", "enter", "l").shows()
		d.again(linesEvery)
		golden(t, name("-page"), stripped(d.shows()))
	}
}

// The log is the whole story: mine, colleagues' and the controllers', in the order of time. What the journal has of an operation that is
// there is told by the operation.
func TestTheLogIsTheWholeStory(t *testing.T) {
	d := driveHistory(200, 60)
	op := d.snap.Operations[0]
	d.fake.lines = append([]core.JournalLine{{Seq: 10, Kind: core.LineStep, At: op.Started, Operation: op.ID, What: "began"}}, d.fake.lines...)
	d.keys("6").shows()
	d.again(0)
	if want := op.ID; !strings.HasPrefix(logIDs(d), want) || strings.Contains(logIDs(d), "line/10") {
		t.Errorf("it has %s, want %s first, and not its line of the journal", logIDs(d), want)
	}
	if !strings.HasSuffix(logIDs(d), "line/9 line/8 line/7 line/6 line/5 line/4") {
		t.Errorf("it has %s, want all lines in their order", logIDs(d))
	}
	frame := stripped(d.shows())
	for _, want := range []string{"failed: live-migrate web-", "its owner will", "preparing → waiting"} {
		if !strings.Contains(frame, want) {
			t.Errorf("it does not say %q:\n%s", want, frame)
		}
	}
}

// Log and history are in the order of the times that the lines tell, not in that in which they were written; of the same time, what was
// written last is the newest.
func TestTheStoryIsInTheOrderOfItsTimes(t *testing.T) {
	line := func(seq int64, ago time.Duration) core.JournalLine {
		return core.JournalLine{Seq: seq, Kind: core.LineEntry, At: before(ago), What: "needs you", Label: "cmp-07"}
	}
	d := drive(world(), 120, 40)
	d.fake.lines = []core.JournalLine{line(3, 40*time.Minute), line(2, 30*time.Minute), line(1, 35*time.Minute)}
	ids := func(rows []historyRow) string {
		var out []string
		for _, r := range rows {
			out = append(out, r.id)
		}
		return strings.Join(out, " ")
	}
	d.keys("6").shows()
	d.again(0)
	d.fake.lines = append([]core.JournalLine{line(5, 35*time.Minute), line(4, 50*time.Minute)}, d.fake.lines...)
	d.again(linesEvery)
	const want = "line/2 line/5 line/1 line/3 line/4"
	if got := ids(d.story.lines); got != want || !strings.Contains(logIDs(d), want) {
		t.Errorf("the story is %q, the log %q, want %q", got, logIDs(d), want)
	}
	if asked := d.fake.asked; len(asked) != 2 || asked[1] != 3 {
		t.Errorf("it has asked for what comes after %v", asked)
	}
	d.keys("H")
	if got := ids(d.top().(*historyPage).rows.Rows()); got != want {
		t.Errorf("the history is %q, want %q", got, want)
	}
}

// What is new comes while the log is seen, at most once a second; nobody reads while it is not seen.
func TestTheLogFollowsWhileItIsSeen(t *testing.T) {
	d := driveHistory(80, 24)
	d.shows()
	d.again(time.Minute)
	if len(d.fake.asked) != 0 {
		t.Fatalf("it reads the journal %d times, and nobody sees it", len(d.fake.asked))
	}
	d.keys("6").shows()
	d.again(0)
	d.again(linesEvery / 2)
	if n := len(d.fake.asked); n != 1 {
		t.Fatalf("it has read the journal %d times, want once", n)
	}
	d.keys("down", "down")
	cursor := d.log.Cursor()
	d.fake.lines = append([]core.JournalLine{{Seq: 10, At: fixtureNow, Kind: core.LineRun, What: "Lockstep ended"}}, d.fake.lines...)
	d.again(linesEvery)
	if !strings.HasPrefix(logIDs(d), "line/10 ") {
		t.Errorf("it does not have what is new: %s", logIDs(d))
	}
	if d.log.Cursor() != cursor {
		t.Errorf("the cursor has left its line %s for %s", cursor, d.log.Cursor())
	}
	if asked := d.fake.asked; len(asked) != 2 || asked[1] != 9 {
		t.Errorf("it has asked for what comes after %v", asked)
	}
	d.keys("3").shows()
	d.again(time.Minute)
	if n := len(d.fake.asked); n != 2 {
		t.Errorf("it reads on when it is not seen any more")
	}
}

// A recording that goes back takes the log back, too.
func TestTheLogGoesBackWithARecording(t *testing.T) {
	d := driveHistory(120, 40)
	d.keys("6").shows()
	d.again(0)
	next := d.snap.CopyFacts()
	next.Revision, next.Now = next.Revision+1, next.Now.Add(-30*time.Minute)
	d.fake.lines = d.fake.lines[len(d.fake.lines)-1:]
	d.send(snapshotMsg{next})
	d.again(linesEvery)
	if strings.Contains(logIDs(d), "line/9") || !strings.Contains(logIDs(d), "line/4") {
		t.Errorf("half an hour earlier it has %s", logIDs(d))
	}
}

// A journal that cannot be read is told, and what Lockstep does is seen all the same.
func TestALogWithoutAJournal(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fake.linesErr = errors.New("permission denied")
	d.keys("6").shows()
	d.again(0)
	if logIDs(d) == "" {
		t.Error("the operations are gone")
	}
	next := d.snap.CopyFacts()
	next.Revision++
	next.Operations = nil
	d.send(snapshotMsg{next})
	if frame := stripped(d.shows()); !strings.Contains(frame, "The journal cannot be read: permission denied") {
		t.Errorf("it does not say why there is nothing:\n%s", frame)
	}
}

// Before anything is known there is nothing to call things by, so the log waits for the first facts.
func TestTheLogWaitsForTheFirstFacts(t *testing.T) {
	d := drive(nil, 200, 60)
	d.fake.lines = past()
	d.shows()
	d.send(windowSize(200, 60))
	if len(d.fake.asked) != 0 || logIDs(d) != "" {
		t.Errorf("it has read the journal %d times: %s", len(d.fake.asked), logIDs(d))
	}
	d.send(snapshotMsg{world()})
	d.shows()
	d.again(0)
	if !strings.Contains(logIDs(d), "line/9") {
		t.Errorf("with the facts it has %s", logIDs(d))
	}
}

// What was found when Lockstep began to look again, and then reconstructed, stands once in the log and in the history: where it happened.
// So does what is reconstructed only after it was shown. A stage that came back stands there as often as it did.
func TestTheStoryTellsNothingTwice(t *testing.T) {
	line := func(seq int64, ago time.Duration, value string, known core.Known) core.JournalLine {
		return core.JournalLine{Seq: seq, Kind: core.LineStage, At: before(ago), What: value, Node: "cmp-07", Run: "b", About: "stage n",
			Value: value, Known: known}
	}
	d := drive(world(), 120, 40)
	d.fake.lines = []core.JournalLine{line(3, 10*time.Minute, "done", core.KnownFound), line(2, 50*time.Minute, "updating", core.KnownSeen),
		line(1, 60*time.Minute, "done", core.KnownSeen)}
	d.keys("6").shows()
	d.again(0)
	if got := logIDs(d); !strings.Contains(got, "line/3 line/2 line/1") {
		t.Errorf("before anything is reconstructed, the log is %q", got)
	}
	d.fake.lines = append([]core.JournalLine{line(5, 45*time.Minute, "rebooting", core.KnownByAPI),
		line(4, 40*time.Minute, "done", core.KnownByAPI)}, d.fake.lines...)
	d.again(linesEvery)
	const want = "line/4 line/5 line/2 line/1"
	if got := logIDs(d); !strings.Contains(got, want) || strings.Contains(got, "line/3") {
		t.Errorf("the log is %q, want %q", got, want)
	}
	d.keys("H")
	var got []string
	for _, r := range d.top().(*historyPage).rows.Rows() {
		got = append(got, r.id)
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("the history is %q, want %q", text, want)
	}
}
