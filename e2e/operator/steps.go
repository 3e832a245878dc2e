package operator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/e2e/terminal"
)

// Arm arms writing.
func (o *Operator) Arm() {
	o.t.Helper()
	o.Wants("kubernetes") // what is known is shown: in the first moment nothing is, and the key says so
	o.Press("w")
	o.Wants("Switch writing on?", "[ Cancel ]")
	o.Press("tab")
	o.Wants("[ Switch on ]")
	o.Press("enter")
	o.Wants("ARMED", "holds the lease")
}

// TakeOver arms writing although another operator, or a program that was killed, holds the lease.
func (o *Operator) TakeOver() {
	o.t.Helper()
	o.Wants("kubernetes") // as for Arm
	o.Press("w")
	o.Wants("Switch writing on?", "holds the lease.", "[ Cancel ]")
	o.Press("tab")
	o.Type("take over")
	o.Press("tab")
	o.Wants("[ Take over ]")
	o.Press("enter")
	o.Wants("ARMED")
}

// Find selects the row with the text in a pane: the cursor stays on it when the filter that finds it is removed again.
func (o *Operator) Find(pane, text string) {
	o.t.Helper()
	const prompt = "enter keeps it" // while the filter is typed; an escape that is sent with the key after it is another key
	o.Press(pane, "/")
	o.Wants(prompt)
	o.Type(text)
	o.Press("enter")
	o.WantsRow("▌", text)
	o.WantsGone(prompt)
	o.Press("/")
	o.Wants(prompt)
	o.Press("esc")
	o.WantsGone(prompt, "/"+text)
}

// Act chooses one of the actions for the selected row.
func (o *Operator) Act(title string) {
	o.t.Helper()
	o.Press("a")
	o.Wants("What can be done with")
	o.Type(title)
	o.WantsRow("▌ " + title)
	o.Wants("enter do it") // and not "enter says why not"
	o.Press("enter")
	o.WantsGone("What can be done with")
}

// Choose moves the cursor of the page of steps to the step with the title. When the selected step disappears, no step is
// selected; only after a success the next one is.
func (o *Operator) Choose(title string) {
	o.t.Helper()
	for range 40 {
		screen := o.Want(o.t, terminal.That(fmt.Sprintf("the step %q", title), func(s terminal.Screen) bool { return stepRow(s, title) >= 0 }))
		at, wanted := Cursor(screen), stepRow(screen, title)
		switch {
		case at == wanted:
			return
		case at < wanted:
			o.Press("down")
		default:
			o.Press("up")
		}
		o.Want(o.t, terminal.That("the cursor to move", func(s terminal.Screen) bool { return Cursor(s) != at }))
	}
	o.t.Fatalf("the cursor does not come to %q:\n%s", title, o.Screen())
}

func rowWith(s terminal.Screen, holds func(string) bool) int {
	return slices.IndexFunc(s.Lines(), holds)
}

// Cursor returns the row that has the cursor; -1 when no row has it.
func Cursor(s terminal.Screen) int {
	return rowWith(s, func(line string) bool { return strings.HasPrefix(line, "▌") })
}

// stepRow returns the row of the step with the title, after its mark and its state; -1 when there is none. Other lines mention
// steps, too.
func stepRow(s terminal.Screen, title string) int {
	row := regexp.MustCompile(`^▌? *(\S )?(done|ready|blocked|waiting|running|failed|later) +` + regexp.QuoteMeta(title) + ` `)
	return rowWith(s, func(line string) bool { return row.MatchString(line + " ") })
}

// OpenStep opens the dialog of a step, or of another way to the same end.
func (o *Operator) OpenStep(title string, otherWays ...string) {
	o.t.Helper()
	o.Choose(title)
	for i, way := range otherWays {
		o.PressTaken("right", each(terminal.Shows, []string{fmt.Sprintf("way %d of", i+2), way}))
	}
	o.PressTaken("enter", each(terminal.Shows, []string{"Before this may happen", " Cancel "}))
}

// Confirm presses Confirm in the open dialog, which must be ready for it.
func (o *Operator) Confirm() {
	o.t.Helper()
	o.Wants("Ready.", "[ Cancel ]")
	o.PressTaken("tab", terminal.Shows("[ Confirm ]"))
	o.PressTaken("enter", terminal.Hides("Before this may happen"))
}

// ConfirmTyped confirms the open dialog by typing the object's name.
func (o *Operator) ConfirmTyped(name string) {
	o.t.Helper()
	o.Wants("Type " + name + ":")
	o.Type(name[:2])
	o.Press("enter") // half a name confirms nothing
	o.Wants("Type " + name + ": " + name[:2])
	o.Type(name[2:])
	o.Wants("enter confirms")
	o.PressTaken("enter", terminal.Hides("Before this may happen"))
}

// WantsProgress waits until the step runs and has moved at least this many per cent to the node.
func (o *Operator) WantsProgress(title, to string, percent int) {
	o.t.Helper()
	row := regexp.MustCompile(`running +` + regexp.QuoteMeta(title) + ` .* (\d+) %, to ` + to)
	o.Want(o.t, terminal.That(fmt.Sprintf("%s at %d %%", title, percent), func(s terminal.Screen) bool {
		found := row.FindStringSubmatch(s.String())
		if found == nil {
			return false
		}
		n, err := strconv.Atoi(found[1])
		return err == nil && n >= percent
	}))
}
