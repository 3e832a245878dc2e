package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// batchOf is a batch of two items, the second of which has not begun.
func batchOf(id string, state core.OperationState) core.Operation {
	return core.Operation{ID: id, Title: "batch " + id, State: state, Started: before(time.Hour), Items: []core.OperationItem{
		{Label: id + "-1", State: core.OperationRunning}, {Label: id + "-2", State: core.OperationQueued}}}
}

// singleOf is a single step that runs.
func singleOf(id string) core.Operation {
	return core.Operation{ID: id, Title: "step " + id, State: core.OperationRunning, Started: before(time.Minute)}
}

func withOperations(ops ...core.Operation) func(*core.Snapshot) {
	return func(s *core.Snapshot) { s.Operations = ops }
}

// steers are the operations that the controls were for, and what was asked of each.
func (d *driver) steers() string {
	var out []string
	for i, c := range d.fake.controls {
		out = append(out, fmt.Sprint(c, " ", d.fake.steered[i]))
	}
	return strings.Join(out, ", ")
}

// A batch that is on the line ends just before a key that was meant for it: the key does nothing to another one, such as one that has been
// held since its failure. It says so, and what the line shows then is what the next key works on.
func TestAKeyForABatchThatHasEndedWorksOnNoOther(t *testing.T) {
	for key, want := range map[string]string{"h": "resume A", "o": "skip A", "t": "stop A"} {
		d := drive(world(), 120, 40)
		d.fresh(withOperations(batchOf("B", core.OperationRunning), batchOf("A", core.OperationPaused)))
		d.later(2 * hushFor)
		if frame := stripped(d.shows()); !strings.Contains(frame, "batch B") || !strings.Contains(frame, "h hold") {
			t.Fatalf("the newer batch is not on the line:\n%s", frame)
		}
		ended := batchOf("B", core.OperationDone)
		ended.Ended = fixtureNow
		d.fresh(withOperations(ended, batchOf("A", core.OperationPaused)))
		d.keys(key)
		if got := d.steers(); got != "" || !strings.Contains(d.toast.text, key+" did nothing: batch A has just come to the line") {
			t.Errorf("%s does %q, and says %q", key, got, d.toast.text)
		}
		d.later(2 * hushFor).keys(key)
		if got := d.steers(); got != want {
			t.Errorf("%s does %q, want %q", key, got, want)
		}
	}
}

// The same where the newer batch begins as the key comes: it was meant for the one that was on the line.
func TestAKeyForABatchWorksOnNoneThatHasJustBegun(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fresh(withOperations(batchOf("A", core.OperationRunning)))
	d.later(2 * hushFor)
	d.fresh(withOperations(batchOf("B", core.OperationRunning), batchOf("A", core.OperationRunning)))
	if d.keys("t"); d.steers() != "" {
		t.Errorf("t does %q", d.steers())
	}
	d.later(2 * hushFor)
	d.fresh(withOperations(batchOf("B", core.OperationRunning), batchOf("A", core.OperationRunning)))
	if d.keys("t"); d.steers() != "stop B" {
		t.Errorf("the same two run, and t does %q", d.steers())
	}
}

// A single step that is confirmed while a batch runs takes neither the line nor the keys from the batch: it has no use for them.
func TestASingleStepDoesNotTakeTheKeysOfABatch(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fresh(withOperations(batchOf("A", core.OperationRunning)))
	d.later(2 * hushFor)
	d.fresh(withOperations(singleOf("S"), batchOf("A", core.OperationRunning)))
	if frame := stripped(d.shows()); !strings.Contains(frame, "batch A") || !strings.Contains(frame, "t stop") {
		t.Errorf("the line has no batch:\n%s", frame)
	}
	if d.keys("h", "o", "t"); d.steers() != "pause A, skip A, stop A" {
		t.Errorf("the keys do %q", d.steers())
	}
}

// Of a single step alone the keys say that it cannot be held, and the line still shows it.
func TestASingleStepIsShownButNotControlled(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fresh(withOperations(singleOf("S")))
	if frame := stripped(d.shows()); !strings.Contains(frame, "step S") || strings.Contains(frame, "t stop") {
		t.Errorf("the line does not show what runs, or offers keys:\n%s", frame)
	}
	for _, key := range []string{"h", "o", "t"} {
		if d.keys(key); d.steers() != "" || !strings.Contains(d.toast.text, "one step only") {
			t.Errorf("%s does %q, and says %q", key, d.steers(), d.toast.text)
		}
	}
}

// In the log the keys work on the selected batch. It is noted, too, when that one is held by itself.
func TestABatchSelectedInTheLogIsNotLetGoOnByTheKeyThatHoldsIt(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fresh(withOperations(batchOf("B", core.OperationRunning), batchOf("A", core.OperationRunning)))
	d.keys("6")
	for i := 0; i < 5 && d.running().ID != "A"; i++ {
		d.keys("down")
	}
	if d.running().ID != "A" {
		t.Fatalf("%s is selected", d.running().ID)
	}
	d.later(2 * hushFor)
	d.fresh(withOperations(batchOf("B", core.OperationRunning), batchOf("A", core.OperationPaused)))
	if d.keys("h"); d.steers() != "" || !strings.Contains(d.toast.text, "has just been held") {
		t.Errorf("h does %q, and says %q", d.steers(), d.toast.text)
	}
	if d.later(2 * hushFor).keys("h"); d.steers() != "resume A" {
		t.Errorf("h does %q", d.steers())
	}
}

// The page of a batch that has paused itself controls that batch, whatever else runs. The keys it names are only those that would do so.
func TestThePageOfABatchControlsThatBatch(t *testing.T) {
	for name, other := range map[string][]core.Operation{"alone": nil, "a newer batch": {batchOf("B", core.OperationRunning)},
		"a single step": {singleOf("S")}} {
		s := paused()
		s.Operations = append(other, s.Operations...)
		d := drive(s, 120, 40).entry(t, "operation")
		p, _ := d.entryShown()
		if !p.ways.Choose("do/resume") {
			t.Errorf("%s: nothing lets the batch go on:\n%s", name, stripped(d.shows()))
			continue
		}
		frame := stripped(d.shows())
		if keys := strings.Contains(frame, "nothing more is begun (t)"); keys != (name != "a newer batch") {
			t.Errorf("%s: it names a key of the batch: %t\n%s", name, keys, frame)
		}
		if d.keys("enter", "down", "enter", "down", "enter"); d.steers() != "resume op-2, skip op-2, stop op-2" {
			t.Errorf("%s: the controls are %q", name, d.steers())
		}
	}
}

// A hold or a stop that waits for what runs is on the line before it comes. The hold can be taken back; after a stop nothing is left to be
// asked of the batch.
func TestTheLineSaysWhatABatchWillDo(t *testing.T) {
	asked := func(c core.Control) core.Operation {
		op := batchOf("A", core.OperationRunning)
		op.Asked = c
		return op
	}
	for name, row := range map[string]struct {
		op                 core.Operation
		shows, keys, hDoes string
	}{
		"nothing asked": {asked(""), "", "h hold  o omit  t stop", "pause A"},
		"a hold":        {asked(core.ControlPause), "will be held", "h go on  o omit  t stop", "resume A"},
		"a stop":        {asked(core.ControlStop), "will stop", "", ""},
	} {
		d := drive(world(), 80, 24)
		row.op.Title = "live-migrate 16 instances from cmp-07"
		d.fresh(withOperations(row.op))
		d.later(2 * hushFor)
		frame := stripped(d.shows())
		if !strings.Contains(frame, row.shows) || !strings.Contains(frame, row.keys) || row.keys == "" && strings.Contains(frame, "t stop") {
			t.Errorf("%s:\n%s", name, frame)
		}
		if d.keys("h"); d.steers() != row.hDoes {
			t.Errorf("%s: h does %q", name, d.steers())
		}
		if row.hDoes == "" && !strings.Contains(d.toast.text, "stops once what runs in it has ended") {
			t.Errorf("%s: h says %q", name, d.toast.text)
		}
	}
}

// A second press that comes with the answer to the first does not take the hold back.
func TestADoublePressHoldsABatch(t *testing.T) {
	d := drive(world(), 120, 40)
	d.fresh(withOperations(batchOf("A", core.OperationRunning)))
	d.later(2 * hushFor).keys("h")
	held := batchOf("A", core.OperationRunning)
	held.Asked = core.ControlPause
	d.fresh(withOperations(held))
	if d.keys("h"); d.steers() != "pause A" || !strings.Contains(d.toast.text, "has just been held") {
		t.Errorf("the keys do %q, and say %q", d.steers(), d.toast.text)
	}
}
