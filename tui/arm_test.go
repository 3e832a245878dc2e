package tui

import (
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
	if fmt.Sprint(d.fake.armed) != "[false]" || d.top() != nil {
		t.Fatalf("armed %v", d.fake.armed)
	}
}

func TestTakingTheLeaseIsTyped(t *testing.T) {
	d := drive(withWrite(core.WriteMode{Lease: "bob@jump02"}), 120, 40).keys("w")
	if frame := stripped(d.shows()); !strings.Contains(frame, "bob@jump02 holds the lease.") {
		t.Errorf("who holds the lease is not named:\n%s", frame)
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
	if fmt.Sprint(d.fake.armed) != "[true]" {
		t.Fatalf("armed %v", d.fake.armed)
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
	s.Operations[0].Items = []core.OperationItem{{Label: "web-1", State: core.OperationDone}, {Label: "db-2", State: core.OperationRunning}}
	d := drive(s, 120, 40)
	if frame := stripped(d.shows()); !strings.Contains(frame, "1 of 2") {
		t.Errorf("the batch's progress is not shown:\n%s", frame)
	}
	d.keys("h", "o", "t")
	if got := fmt.Sprint(d.fake.controls); got != "[pause skip stop]" {
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
