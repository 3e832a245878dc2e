package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// stepWorld lets a test decide what core plans.
type stepWorld struct{ step core.Step }

func theStep() core.Step {
	ref := core.Ref{Kind: core.KindInstance, Name: "web-1", UID: "11111111-2222-3333-4444-555555555555"}
	return core.Step{
		ID: "live-migrate/web-1", Intent: core.Intent{Kind: core.IntentLiveMigrate, Instance: ref.UID}, Title: "live-migrate web-1",
		Why: "it holds the lock of cmp-07", Target: ref, Label: "web-1", Node: "kaas-node-cmp07", Risk: core.RiskMedium,
		State: core.StepReady, Guards: []core.Guard{{ID: "armed", Text: "writing is on", Holds: true}},
		Commands: []string{"openstack server migrate --live-migration web-1"}, Undo: "migrate it back",
		Basis:  []core.Fact{{Name: "host", Value: "cmp-07"}, {Name: "status", Value: "ACTIVE"}},
		Change: core.InstanceAction{Do: core.IntentLiveMigrate, Instance: ref, Host: "kaas-node-cmp07", Status: "ACTIVE"},
	}
}

// opened is a dashboard with the open confirmation of step.
func opened(step core.Step, change ...func(*driver)) (*driver, *stepWorld, *confirmDialog) {
	d := drive(world(), 120, 40)
	w := &stepWorld{step}
	d.plan = func(*core.Snapshot, core.Intent) core.Step { return w.step }
	for _, c := range change {
		c(d)
	}
	d.run(d.confirm(step.Intent, ""))
	return d, w, d.top().(*confirmDialog)
}

// news sends the screen a newer Snapshot.
func (d *driver) news() {
	s := world()
	s.Revision = d.snap.Revision + 1
	d.send(snapshotMsg{s})
}

func TestEnterOnAFreshConfirmationCancels(t *testing.T) {
	d, _, _ := opened(theStep())
	d.keys("enter")
	if len(d.fake.granted) != 0 || d.top() != nil {
		t.Fatalf("enter alone granted %d steps; the box is %v", len(d.fake.granted), d.top())
	}
}

func TestConfirmationTakesAMoveAndAPress(t *testing.T) {
	d, _, _ := opened(theStep())
	d.keys("right", "enter")
	if len(d.fake.granted) != 1 || len(d.fake.executed) != 1 {
		t.Fatalf("granted %d, executed %d", len(d.fake.granted), len(d.fake.executed))
	}
	if got := d.fake.granted[0].Target.UID; got != "11111111-2222-3333-4444-555555555555" {
		t.Errorf("the grant is for %s", got)
	}
	if d.top() != nil {
		t.Error("the box stays open though the step has begun")
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, "begun: live-migrate web-1") {
		t.Error("the screen does not say that it has begun")
	}
}

func TestEscapeAlwaysCancels(t *testing.T) {
	typed := theStep()
	typed.Type = "cmp-07"
	blocked := theStep()
	blocked.Guards[0].Holds = false
	for _, step := range []core.Step{theStep(), typed, blocked} {
		for _, before := range [][]string{nil, {"tab"}, {"tab", "tab"}, {"cmp"}} {
			d, _, _ := opened(step)
			d.keys(before...).keys("esc")
			if d.top() != nil || len(d.fake.granted) != 0 {
				t.Errorf("%s after %v: the box is still open, or %d were granted", step.Type, before, len(d.fake.granted))
			}
		}
	}
}

func TestATypedConfirmationWantsTheExactName(t *testing.T) {
	step := theStep()
	step.Type, step.Risk = "cmp-07", core.RiskHigh
	d, _, box := opened(step)
	d.keys("cmp-0", "enter")
	if len(d.fake.granted) != 0 {
		t.Fatal("a part of the name was enough")
	}
	if got := box.obstacle(); got != "type cmp-07 to confirm" {
		t.Errorf("the obstacle is %q", got)
	}
	d.keys("8", "tab", "enter")
	if len(d.fake.granted) != 0 {
		t.Fatal("another name was enough")
	}
	d.keys("backspace", "7", "tab", "enter") // without the name, Confirm moves to its field
	if len(d.fake.granted) != 1 || d.fake.typed[0] != "cmp-07" {
		t.Fatalf("granted %d with %q", len(d.fake.granted), d.fake.typed)
	}
}

// Confirm without the name says what is missing, from the field and from the button alike, and moves to the field. The message
// goes when something is typed.
func TestConfirmWithoutTheNameSaysWhatIsMissing(t *testing.T) {
	step := theStep()
	step.Type, step.Risk = "cmp-07", core.RiskHigh
	for name, tt := range map[string]struct {
		keys []string
		says string
	}{
		"enter in the empty field": {[]string{"enter"}, "Not confirmed: type the name first."},
		"the button":               {[]string{"tab", "enter"}, "Not confirmed: type the name first."},
		"a part of it":             {[]string{"cmp", "enter"}, "Not confirmed: that is not the name."},
		"a part, and the button":   {[]string{"cmp", "tab", "enter"}, "Not confirmed: that is not the name."},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, box := opened(step)
			d.keys(tt.keys...)
			if frame := stripped(d.shows()); !strings.Contains(frame, tt.says) || len(d.fake.granted) > 0 {
				t.Fatalf("it does not say %q:\n%s", tt.says, frame)
			}
			if box.focus != onInput {
				t.Error("the name cannot be typed at once")
			}
			d.keys("backspace", "backspace", "backspace", "cmp-07")
			if frame := stripped(d.shows()); strings.Contains(frame, "Not confirmed") || !strings.Contains(frame, "Ready.  enter confirms") {
				t.Errorf("the name is there, and it says:\n%s", frame)
			}
			if d.keys("enter"); len(d.fake.granted) != 1 {
				t.Errorf("%d were granted", len(d.fake.granted))
			}
		})
	}
}

// However long the name and however small the screen, the name, the typed text and the buttons are completely visible.
func TestALongNameCanBeSeenWhileItIsTyped(t *testing.T) {
	step := theStep()
	step.Type = "openstack-kaas-node-9df0d016-06dc-4088-a491-2bfc0dade0eb"
	d, _, _ := opened(step, func(d *driver) { d.send(windowSize(80, 24)) })
	typed := step.Type[:50]
	d.keys(typed)
	frame := stripped(d.shows())
	for _, want := range []string{"Type " + step.Type + ":", "  " + typed + "\n", "Cancel", "Confirm"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen:\n%s", want, frame)
		}
	}
}

// The cursor and what was typed last are seen in a field however wide its characters are, and the field takes no more room than it has.
func TestTheEndOfAFieldIsSeen(t *testing.T) {
	for _, letters := range []string{"abcdefghijklmnopqrst", "日本語日本語日本語日本語日本語日本語日", "aé日本b日cd語éabcdef日本"} {
		r := []rune(letters)
		for w := 8; w < 45; w++ {
			for at := range len(r) + 1 {
				line := inputLine(letters, at, w, true)
				if got := line.Width(); got > w {
					t.Errorf("%q at %d takes %d of %d columns", letters, at, got, w)
				}
				last := string(r[max(at-2, 0):at]) + " "
				if at < len(r) {
					last = string(r[max(at-2, 0) : at+1])
				}
				if !strings.Contains(line.Text(), last) {
					t.Errorf("%q at %d in %d columns shows %q, without %q", letters, at, w, line.Text(), last)
				}
			}
		}
	}
	if got := inputLine("abcdefghijkl", 12, 10, true).Text(); got != "…fghijkl " {
		t.Errorf("a long one is %q", got)
	}
	if got := inputLine("abcdefghijkl", 4, 10, true).Text(); got != "abcdefghi…" {
		t.Errorf("in the middle it is %q", got)
	}
}

// On a screen too small for everything, what will happen stands above the guards that already hold. The operator can scroll to
// those, and Ready sums them up.
func TestWhatComesOfItIsSeenFirst(t *testing.T) {
	step := theStep()
	step.Then = "LCM drains the node at once."
	step.Guards = append(step.Guards, core.Guard{ID: "empty", Text: "the host is empty", Answer: "1 runs", Remedy: "move it"})
	for i := range 20 {
		step.Guards = append(step.Guards, core.Guard{ID: core.GuardID(itoa(i)), Text: "condition " + itoa(i) + " of a great many", Holds: true,
			Answer: "it does"})
	}
	d, _, _ := opened(step, func(d *driver) { d.send(windowSize(80, 24)) })
	frame := stripped(d.shows())
	at := -1
	for _, want := range []string{step.Then, "the host is empty", step.Commands[0], "To undo", "What holds already"} {
		i := strings.Index(frame, want)
		if i <= at {
			t.Fatalf("%q is not on the screen, or in the wrong place:\n%s", want, frame)
		}
		at = i
	}
}

func TestLettersOfAnyActionAreTextWhileANameIsTyped(t *testing.T) {
	step := theStep()
	step.Type = "ywqr?:"
	d, _, box := opened(step)
	d.keys("ywqr?:")
	if box.input.Value() != "ywqr?:" || d.top() != box {
		t.Errorf("typed %q, the top is %v", box.input.Value(), d.top())
	}
}

func TestAGuardThatDoesNotHoldClosesConfirm(t *testing.T) {
	step := theStep()
	step.Guards[0] = core.Guard{ID: "armed", Text: "writing is on", Answer: "it is off", Remedy: "arm writing"}
	d, w, box := opened(step)
	d.keys("right", "enter")
	if len(d.fake.granted) != 0 || d.top() != box {
		t.Fatal("a step with a guard that does not hold was granted")
	}
	frame := stripped(d.shows())
	for _, want := range []string{"1 condition does not hold", "it is off", "w arms it"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen", want)
		}
	}
	// The guard begins to hold while the box is open: the facts are the same, so nothing has to be read again.
	w.step = theStep()
	d.news()
	d.later(time.Second).keys("right", "enter")
	if len(d.fake.granted) != 1 {
		t.Errorf("the guard holds now, but confirming gives %q", box.obstacle())
	}
}

func TestAChangedBasisHasToBeReadAgain(t *testing.T) {
	d, w, _ := opened(theStep())
	d.keys("right")
	moved := theStep()
	moved.Basis[0].Value = "cmp-09"
	w.step = moved
	d.news()
	d.later(time.Second)
	frame := stripped(d.shows())
	for _, want := range []string{"Changed since you opened it", "host: cmp-07 → cmp-09", "Read again"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen:\n%s", want, frame)
		}
	}
	d.keys("enter") // the focus went back to Cancel when the facts changed
	if len(d.fake.granted) != 0 || d.top() != nil {
		t.Fatal("enter after a change did not cancel")
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, "not confirmed, it has changed: live-migrate web-1") {
		t.Errorf("it does not say that nothing was confirmed:\n%s", frame)
	}

	d, w2, box := opened(theStep())
	w2.step = moved
	d.news()
	d.later(time.Second).keys("right", "enter") // reads again, grants nothing
	if len(d.fake.granted) != 0 || box.next != nil {
		t.Fatalf("reading again granted %d; still to be read: %v", len(d.fake.granted), box.next != nil)
	}
	if box.focus != onCancel {
		t.Error("after reading again the focus is not on Cancel")
	}
	d.keys("right", "enter")
	if len(d.fake.granted) != 1 || d.fake.granted[0].Basis[0].Value != "cmp-09" {
		t.Fatalf("granted %v", d.fake.granted)
	}
}

func TestAnObjectOfTheSameNameIsAnotherObject(t *testing.T) {
	d, w, box := opened(theStep())
	other := theStep()
	other.Target.UID = "99999999-0000-0000-0000-000000000000"
	w.step = other
	d.news()
	d.later(time.Second).keys("right")
	if box.next == nil || !strings.Contains(strings.Join(box.news, " "), "99999999") {
		t.Errorf("the object was replaced, but the box says %v", box.news)
	}
}

func TestFactsThatComeBackNeedNoReading(t *testing.T) {
	d, w, box := opened(theStep())
	moved := theStep()
	moved.Basis[0].Value = "cmp-09"
	w.step = moved
	d.news()
	w.step = theStep()
	d.news()
	d.later(time.Second).keys("right", "enter")
	if box.next != nil || len(d.fake.granted) != 1 {
		t.Errorf("the facts are as they were read, but there are %d grants (%s)", len(d.fake.granted), box.obstacle())
	}
}

func TestABoxThatChangesByItselfSwallowsKeysForAMoment(t *testing.T) {
	d, w, box := opened(theStep())
	moved := theStep()
	moved.Basis[0].Value = "cmp-09"
	w.step = moved
	d.news()
	d.keys("right", "enter")
	if box.focus != onCancel || d.top() != box || box.next == nil {
		t.Error("a key that was meant for what stood there before was taken")
	}
	d.later(hushFor + time.Millisecond).keys("right")
	if box.focus != onConfirm {
		t.Error("the box takes no keys any more")
	}
}

// When a condition comes to hold, the field is there at once and loses no letter. Enter waits for a moment all the same.
func TestANameIsTypedWholeRightAfterAConditionHolds(t *testing.T) {
	with := func(holds bool) core.Step {
		s := theStep()
		s.Type = "cmp-07"
		s.Guards = []core.Guard{{ID: core.GuardPodsReady, Text: "its pods are ready", Holds: holds, Answer: "all but one"}}
		return s
	}
	d, w, box := opened(with(false))
	w.step = with(true)
	d.news()
	d.keys("c", "m", "p", "-", "0", "7", "enter")
	if got := box.input.Value(); got != "cmp-07" || len(d.fake.granted) != 0 {
		t.Errorf("%q is typed, and there are %d grants", got, len(d.fake.granted))
	}
	d.later(hushFor + time.Millisecond).keys("enter")
	if len(d.fake.granted) != 1 {
		t.Errorf("a moment later enter gives %d grants (%s)", len(d.fake.granted), box.obstacle())
	}
}

func TestTheDryRunComesFirst(t *testing.T) {
	d, _, box := opened(theStep(), func(d *driver) {
		d.fake.preview = core.Preview{Err: &core.APIError{Kind: core.ErrForbidden, Call: "annotate node cmp-07", Message: "no patch for you",
			Remedy: "ask for deploy/rbac-operator.yaml"}}
	})
	frame := stripped(d.shows())
	for _, want := range []string{"no patch for you", "ask for deploy/rbac-operator.yaml", "Ask again"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen:\n%s", want, frame)
		}
	}
	d.keys("right", "enter")
	if len(d.fake.granted) != 0 || len(d.fake.previewed) != 2 {
		t.Fatalf("a refused step was granted %d times and asked about %d times", len(d.fake.granted), len(d.fake.previewed))
	}
	d.fake.preview = core.Preview{DryRun: "accepted by the server"}
	d.keys("enter")
	if box.obstacle() != "" || !strings.Contains(stripped(d.shows()), "accepted by the server") {
		t.Errorf("after an accepted dry-run the obstacle is %q", box.obstacle())
	}
	if d.keys("enter").later(2 * hushFor).keys("enter"); len(d.fake.granted) != 0 || d.top() != nil {
		t.Errorf("enter was pressed once more, as it asked again: granted %d times", len(d.fake.granted))
	}
}

// The letters of a name that is being typed as the step changes do nothing else: r would take the change for read.
func TestTheRestOfATypedNameAcceptsNoChange(t *testing.T) {
	step := theStep()
	step.Type = "cmp-rack2"
	d, w, box := opened(step)
	d.keys("cmp-")
	w.step.Basis = append(slices.Clone(step.Basis), core.Fact{Name: "rack", Value: "r02"})
	d.news()
	if box.next == nil {
		t.Fatal("it has not changed")
	}
	d.later(2 * hushFor)
	if d.keys("r", "a", "c", "k", "2"); box.next == nil || len(box.news) == 0 {
		t.Errorf("the change counts as read:\n%s", stripped(d.shows()))
	}
	if d.keys("ctrl+r"); box.next != nil {
		t.Errorf("ctrl+r does not read again:\n%s", stripped(d.shows()))
	}
}

func TestARefusedGrantStaysOnTheScreen(t *testing.T) {
	d, _, box := opened(theStep(), func(d *driver) { d.fake.refuse = errors.New("the lease was lost to bob@jump02") })
	d.keys("right", "enter")
	if d.top() != box || len(d.fake.executed) != 0 {
		t.Fatal("a refused grant was executed, or its box closed")
	}
	frame := stripped(d.shows())
	if strings.Count(frame, "the lease was lost to bob@jump02") != 2 {
		t.Errorf("the refusal is not in the box and in the line below:\n%s", frame)
	}
	d.later(time.Minute).keys("esc", "6")
	if !strings.Contains(stripped(d.shows()), "the lease was lost to bob@jump02") {
		t.Error("the log has not kept the refusal")
	}
}

func TestAStepThatIsNotYoursCannotBeConfirmed(t *testing.T) {
	step := theStep()
	step.Change = nil
	d, _, _ := opened(step)
	d.keys("right", "enter")
	if len(d.fake.granted) != 0 || len(d.fake.previewed) != 0 {
		t.Error("a step without a change was granted or tried")
	}
}

func TestALongConfirmationScrollsAndKeepsItsButtons(t *testing.T) {
	step := theStep()
	for range 40 {
		step.Guards = append(step.Guards, core.Guard{Text: "one of many conditions", Holds: true, Answer: "yes"})
	}
	d, _, box := opened(step)
	d.send(windowSize(80, 24))
	frame := stripped(d.shows())
	if !strings.Contains(frame, "[ Cancel ]") || !strings.Contains(frame, "more lines") ||
		!strings.Contains(frame, "To undo: migrate it back") {
		t.Errorf("a long box at 80x24:\n%s", frame)
	}
	for range 60 {
		d.keys("down")
	}
	if frame := stripped(d.shows()); strings.Contains(frame, "more lines") || strings.Count(frame, "one of many conditions") < 4 ||
		!strings.Contains(frame, "[ Cancel ]") {
		t.Errorf("its end cannot be reached (scrolled %d of %d):\n%s", box.scroll, box.last, frame)
	}
}

// The operator chooses in the box what a batch does when an item fails. Exactly what the box shows is granted, with the typed
// text.
func TestTheOperatorSaysWhetherABatchGoesOnPastFailures(t *testing.T) {
	step := theStep()
	step.Intent, step.Type = core.Intent{Kind: core.IntentLiveMigrateAll, Node: "kaas-node-cmp07"}, "cmp-07"
	plan := func(i core.Intent) core.Step {
		s := step
		s.Intent, s.Change = i, core.Batch{Items: []core.BatchItem{{Label: "web-1"}, {Label: "web-2"}}, PastFailures: i.PastFailures}
		return s
	}
	d, _, _ := opened(plan(step.Intent), func(d *driver) {
		d.plan = func(_ *core.Snapshot, i core.Intent) core.Step { return plan(i) }
	})
	if frame := stripped(d.shows()); !strings.Contains(frame, "When one fails: it pauses (^f: ") {
		t.Fatalf("the box does not say what happens at a failure:\n%s", frame)
	}
	d.keys("ctrl+f")
	if frame := stripped(d.shows()); !strings.Contains(frame, "When one fails: it goes on with the next") {
		t.Fatalf("the box does not say that it goes on:\n%s", frame)
	}
	d.news()
	d.later(time.Second).keys("c", "m", "p", "-", "0", "7", "enter")
	if len(d.fake.granted) != 1 || !d.fake.granted[0].Intent.PastFailures {
		t.Fatalf("granted: %+v", d.fake.granted)
	}
	single, _, _ := opened(theStep())
	single.keys("f")
	if frame := stripped(single.shows()); strings.Contains(frame, "When one fails") {
		t.Error("a single step speaks of the next one")
	}
}

// One box is visible at a time: two boxes on top of each other read as one, with two buttons to press. The earlier box comes back
// afterwards.
func TestOneBoxIsSeenAtATime(t *testing.T) {
	for _, size := range sizes {
		d, _, _ := opened(theStep(), func(d *driver) { d.send(windowSize(size.w, size.h)) })
		d.keys("w")
		frame := stripped(d.shows())
		if !strings.Contains(frame, "Switch writing on?") || strings.Contains(frame, "To undo") || strings.Count(frame, "Cancel ]") != 1 {
			t.Errorf("%dx%d: two boxes at once:\n%s", size.w, size.h, frame)
		}
		d.keys("esc")
		if frame := stripped(d.shows()); strings.Contains(frame, "Switch writing on?") || !strings.Contains(frame, "To undo") {
			t.Errorf("%dx%d: the confirmation is not back:\n%s", size.w, size.h, frame)
		}
	}
}

// A step that is refused before it has a command (a name that no group can have, say) does not say that it cannot be undone: nothing is
// known of it yet. One with a command does.
func TestWhatHasNoCommandSaysNothingOfUndoingIt(t *testing.T) {
	for _, commands := range [][]string{nil, {"kubectl create -f -"}} {
		step := theStep()
		step.Undo, step.Commands = "", commands
		d, _, _ := opened(step)
		if told := strings.Contains(stripped(d.shows()), "it cannot be undone"); told != (commands != nil) {
			t.Errorf("with the commands %q it says that it cannot be undone: %t", commands, told)
		}
	}
}

// Texts name the keys that are bound, and where a name is typed a key that types nothing still works. An action without a key is the
// palette's.
func TestTextsNameTheKeysThatAreBound(t *testing.T) {
	moved, err := Rebind(Actions(), map[string][]string{"confirm.past": {"g", "f10"}, "confirm.arm": {"f9"}, "help": {"f12"}, "plain": {},
		"operation.pause": {"f8"}})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(d *driver, texts ...string) {
		t.Helper()
		frame := stripped(d.shows())
		for _, text := range texts {
			if !strings.Contains(frame, text) {
				t.Errorf("it does not say %q:\n%s", text, frame)
			}
		}
	}
	plan := func(i core.Intent) core.Step {
		s := theStep()
		s.Guards[0] = core.Guard{ID: core.GuardArmed, Text: "writing is armed", Answer: "read-only", Remedy: "arm writing"}
		s.Intent, s.Type = i, "cmp-07"
		s.Change = core.Batch{Items: []core.BatchItem{{Label: "web-1"}, {Label: "web-2"}}, PastFailures: i.PastFailures}
		return s
	}
	d, _, _ := opened(plan(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "kaas-node-cmp07"}), func(d *driver) {
		d.actions = moved
		d.plan = func(_ *core.Snapshot, i core.Intent) core.Step { return plan(i) }
	})
	shows(d, "it pauses (f10: ", "f9 arms it")
	d.send(tea.KeyPressMsg{Code: tea.KeyF9})
	shows(d, "Switch writing on?")
	d.keys("esc")
	d.send(tea.KeyPressMsg{Code: tea.KeyF10})
	shows(d, "it goes on with the next (f10: ")

	d = drive(world(), 120, 40, func(o *Options) { o.Actions, o.Clipboard = moved, ClipboardOff })
	d.fresh(withOperations(batchOf("A", core.OperationRunning)))
	shows(d, "f12 help", "f8 hold")
	if d.copy("a text"); !strings.Contains(d.toast.text, "the palette shows plain text to select") {
		t.Errorf("it says %q", d.toast.text)
	}
}
