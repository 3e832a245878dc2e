package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

func windowSize(w, h int) tea.Msg { return tea.WindowSizeMsg{Width: w, Height: h} }

func withWrite(w core.WriteMode) *core.Snapshot {
	s := world()
	s.Revision++
	s.Write = w
	return s
}

func TestArmingTakesAMoveAndAPress(t *testing.T) {
	d := drive(world(), 80, 24).keys("w", "enter")
	if len(d.fake.armed) != 0 || d.top() != nil {
		t.Fatal("enter alone armed, or did not cancel")
	}
	d.keys("w", "right", "enter")
	if fmt.Sprintf("%q", d.fake.armed) != `[""]` || d.top() != nil {
		t.Fatalf("armed %v", d.fake.armed)
	}
}

func TestTakingTheLeaseIsTyped(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Lease: "bob@jump02"}), 120, 40).keys("w")
	if frame := stripped(d.shows()); !strings.Contains(frame, "bob@jump02 holds the lease.") {
		t.Errorf("who holds the lease is not named:\n%s", frame)
	}
	if d.fake.looked != 1 {
		t.Errorf("the lease was looked up %d times as the dialog opened", d.fake.looked)
	}
	d.keys("tab", "tab", "enter")
	if len(d.fake.armed) != 0 {
		t.Fatal("the lease was taken without typing")
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, "Not taken over: type the word first.") {
		t.Errorf("it does not say what is missing:\n%s", frame)
	}
	d.keys(takeOverWord) // it moved to the field
	if frame := stripped(d.shows()); strings.Contains(frame, "Not taken over") {
		t.Errorf("the word is there, and it is missed:\n%s", frame)
	}
	d.keys("tab", "enter")
	if fmt.Sprintf("%q", d.fake.armed) != `["bob@jump02"]` {
		t.Fatalf("armed %v", d.fake.armed)
	}
}

// Who takes the lease over knows what that stops.
func TestTheDialogSaysWhatTheHolderOfTheLeaseDoes(t *testing.T) {
	at := world().Now
	for want, does := range map[string]core.Doing{
		"What they are doing is not known":                        {},
		"Nothing of theirs runs, by what they told in":            {Said: true},
		"They have confirmed no step since their Lockstep began.": {Said: true},
		"The last step that they confirmed, " + clock(at.Add(-time.Hour), at) + ": stop web-2.": {Said: true, Last: "stop web-2",
			LastAt: at.Add(-time.Hour)},
		"They are at work since " + clock(at.Add(-time.Minute), at) + ": live-migrate web-1.": {Said: true, Now: "live-migrate web-1",
			Since: at.Add(-time.Minute), Last: "live-migrate web-1", LastAt: at.Add(-time.Minute)},
	} {
		d := drive(withWrite(core.WriteMode{Lease: "bob@jump02", Other: does}), 120, 40).keys("w")
		if frame := stripped(d.shows()); !strings.Contains(frame, want) {
			t.Errorf("it does not say %q:\n%s", want, frame)
		}
	}
	hostile := core.Doing{Said: true, Now: "x\x1b[2J" + strings.Repeat("y", 5000), Last: "z\x1b]0;t\a"}
	d := drive(withWrite(core.WriteMode{Lease: "bob@jump02", Other: hostile}), 80, 24).keys("w")
	if frame := d.shows(); strings.Contains(frame, "[2J") && strings.Contains(frame, "\x1b[2J") || strings.Contains(frame, "\a") {
		t.Errorf("what a colleague's lease says reaches the terminal:\n%q", frame)
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, "Cancel") {
		t.Errorf("a long text takes the buttons away:\n%s", frame)
	}
}

func TestWhatWasTypedAgainstOneHolderDoesNotCountAgainstAnother(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Lease: "bob@jump02"}), 120, 40).keys("w", "tab", takeOverWord)
	s := withWrite(core.WriteMode{Lease: "eve@jump03"})
	s.Revision++
	d.send(snapshotMsg{s})
	d.keys("tab", "tab", "enter")
	if len(d.fake.armed) != 0 {
		t.Error("the lease of a holder who was never shown was taken")
	}
}

func TestDisarmingAsksNothing(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Armed: true, Mine: true, Lease: "anna@jump01"}), 120, 40)
	if frame := stripped(d.shows()); !strings.Contains(frame, "ARMED") || strings.Contains(frame, "READ-ONLY") {
		t.Error("an armed screen does not say so")
	}
	d.keys("w")
	if d.fake.disarmed != 1 || d.top() != nil {
		t.Errorf("disarmed %d times", d.fake.disarmed)
	}
}

func TestBarredWritingSaysWhy(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Barred: "started with --read-only"}), 120, 40).keys("w")
	if d.top() != nil || !strings.Contains(stripped(d.shows()), "started with --read-only") {
		t.Error("barred writing does not say why")
	}
}

func TestAFailedArmingStays(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fake.armErr = errors.New("leases are forbidden")
	d.keys("w", "right", "enter")
	if d.top() == nil || strings.Count(stripped(d.shows()), "leases are forbidden") != 2 {
		t.Error("the failure is not in the box and below")
	}
}

// Esc while the lease is asked for takes it back: what is on its way is given up, and when it has come all the same writing is off again.
func TestEscTakesArmingBack(t *testing.T) {
	for name, err := range map[string]error{"granted all the same": nil, "given up": context.Canceled} {
		d := drive(world(), 120, 40).keys("w", "right")
		d.fake.armErr = err
		_, asks := d.Update(namedKeys["enter"])
		d.keys("esc")
		if frame := stripped(d.shows()); d.top() != nil || !strings.Contains(frame, "writing stays off") {
			t.Errorf("%s: it does not say that writing stays off:\n%s", name, frame)
		}
		d.run(asks)
		if want := map[bool]int{true: 1}[err == nil]; d.fake.disarmed != want || strings.Contains(stripped(d.shows()), "writing is on") {
			t.Errorf("%s: disarmed %d times, and shown is\n%s", name, d.fake.disarmed, stripped(d.shows()))
		}
	}
}

func TestALostLeaseOpensABoxThatTakesNoStrayKey(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Armed: true, Mine: true}), 120, 40)
	s := withWrite(core.WriteMode{Lost: "bob@jump02 took the lease"})
	s.Revision++
	d.send(snapshotMsg{s})
	d.keys("enter")
	if _, ok := d.top().(*notice); !ok {
		t.Fatal("the box is gone before it was read")
	}
	if !strings.Contains(stripped(d.shows()), "bob@jump02 took the lease") {
		t.Error("the box does not say why")
	}
	d.later(time.Second).keys("enter")
	if d.top() != nil {
		t.Error("the box cannot be closed")
	}
	s2 := withWrite(core.WriteMode{Lost: "bob@jump02 took the lease"})
	s2.Revision += 5
	d.send(snapshotMsg{s2})
	if d.top() != nil {
		t.Error("the same loss is told twice")
	}
}

func TestFailuresStayUntilAcknowledged(t *testing.T) {
	s := world()
	s.Operations = []core.Operation{{ID: "op-3", Title: "live-migrate db-2", State: core.OperationFailed,
		Text: "No valid host was found.", Started: before(5 * time.Minute), Ended: before(4 * time.Minute)}}
	d := drive(s, 120, 40).keys("6")
	if frame := stripped(d.shows()); !strings.Contains(frame, "No valid host was found.") {
		t.Errorf("the failure is not in the log:\n%s", frame)
	}
	d.keys("x")
	if fmt.Sprint(d.fake.seen) != "[op-3]" {
		t.Errorf("acknowledged %v", d.fake.seen)
	}
}

func TestARunningBatchCanBeHeldShortenedAndStopped(t *testing.T) {
	s := world()
	s.Operations[0].Items = []core.OperationItem{{Label: "web-1", State: core.OperationDone}, {Label: "db-2", State: core.OperationRunning},
		{Label: "db-3", State: core.OperationQueued}, {Label: "db-4", State: core.OperationQueued}}
	d := drive(s, 120, 40)
	if frame := stripped(d.shows()); !strings.Contains(frame, "1 of 4") {
		t.Errorf("the batch's progress is not shown:\n%s", frame)
	}
	d.keys("h", "o")
	if fmt.Sprint(d.fake.leftOut) != "[2]" || d.toast.text != "left out: db-3, of "+s.Operations[0].Title {
		t.Errorf("left out is %v, and it says %q", d.fake.leftOut, d.toast.text)
	}
	d.keys("t")
	if got := fmt.Sprint(d.fake.controls); got != "[pause skip stop]" {
		t.Errorf("controls %s", got)
	}
}

// A failure that comes with a Snapshot just before x is not acknowledged: nobody can have read it.
func TestAFailureThatHasJustComeIsNotAcknowledged(t *testing.T) {
	failed := func(id string) core.Operation {
		return core.Operation{ID: id, Title: "live-migrate " + id, State: core.OperationFailed, Text: "No valid host was found.",
			Started: before(5 * time.Minute), Ended: before(4 * time.Minute)}
	}
	d := drive(world(), 120, 40)
	d.fresh(withOperations(failed("A")))
	d.later(2 * hushFor)
	d.fresh(withOperations(failed("B"), failed("A")))
	if d.keys("x"); len(d.fake.seen) != 0 || !strings.Contains(d.toast.text, "live-migrate B has only just come") {
		t.Errorf("acknowledged %v, and it says %q", d.fake.seen, d.toast.text)
	}
	if d.later(2 * hushFor).keys("x"); fmt.Sprint(d.fake.seen) != "[B]" {
		t.Errorf("acknowledged %v", d.fake.seen)
	}
}

// A batch pauses by itself at a failure. A key that was to hold it and comes at that moment does not let it go on.
func TestAKeyThatWasToHoldABatchDoesNotLetItGoOn(t *testing.T) {
	s := world()
	s.Operations[0].Items = []core.OperationItem{{Label: "web-1", State: core.OperationRunning}, {Label: "db-2", State: core.OperationQueued}}
	d := drive(s, 120, 40)
	failed := world()
	failed.Revision = s.Revision + 1
	failed.Operations[0].State = core.OperationPaused
	failed.Operations[0].Items = []core.OperationItem{{Label: "web-1", State: core.OperationFailed},
		{Label: "db-2", State: core.OperationQueued}}
	d.send(snapshotMsg{failed})
	d.keys("h")
	if got := fmt.Sprint(d.fake.controls); got != "[]" || !strings.Contains(stripped(d.shows()), "has just been held") {
		t.Errorf("controls %s\n%s", got, stripped(d.shows()))
	}
	d.later(2 * hushFor).keys("h")
	if got := fmt.Sprint(d.fake.controls); got != "[resume]" {
		t.Errorf("controls %s", got)
	}
}

func TestLeavingWhileSomethingRunsAsksFirst(t *testing.T) {
	d := drive(world(), 120, 40).keys("q")
	if _, ok := d.top().(*quitDialog); !ok {
		t.Fatal("q leaves though something runs")
	}
	d.keys("enter")
	if d.top() != nil {
		t.Error("Stay does not stay")
	}
	_, cmd := d.Update(namedKeys["esc"])
	if cmd != nil {
		t.Error("esc does something on the dashboard")
	}
}

// However much the holder of the lease tells, and whatever goes wrong, the dialog keeps its question and its buttons, on the smallest
// screen, too.
func TestTheDialogFitsWhateverTheHolderTells(t *testing.T) {
	at := world().Now
	long := strings.Repeat("live-migrate instance with-a-long-name, ", 12)
	s := withWrite(core.WriteMode{Lease: "bob the other operator (root@jump02 from 192.168.123.45)", Other: core.Doing{Said: true, Now: long,
		Since: at.Add(-time.Minute), Last: "another " + long, LastAt: at.Add(-time.Hour), As: "kubernetes-user-" + long}})
	s.Operator = "anna with a long name (root@jump01 from 192.168.123.44)"
	s.Identity = core.Identity{KubernetesUser: "a-user-with-a-long-name@example.org", OpenStackUser: "a-user-with-a-long-name",
		OpenStackProject: "a-project"}
	for _, size := range sizes {
		d := drive(s, size.w, size.h).keys("w")
		for _, failed := range []bool{false, true} {
			if failed {
				d.top().(*armDialog).failed(errors.New("the lease cannot be taken: " + strings.Repeat("the server says no, ", 12)))
				d.send(snapshotMsg{s})
			}
			frame := strings.Join(strings.Fields(stripped(d.shows())), " ")
			for _, want := range []string{"Switch writing on?", "192.168.123.45)", "They are at work since", "The last step that they confirmed",
				"Type take over:", "[ Cancel ]", "Take over"} {
				if !strings.Contains(frame, want) {
					t.Errorf("%dx%d, failed %t: it has no %q:\n%s", size.w, size.h, failed, want, frame)
				}
			}
		}
	}
}
