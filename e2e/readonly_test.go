package e2e

import (
	"strings"
	"testing"

	"lockstep/core/engine"
	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
	"lockstep/e2e/terminal"
	"lockstep/tui"
)

// paneOf is the key of the pane in which a scope's actions work.
var paneOf = map[tui.Scope]string{tui.ScopeDashboard: "1", tui.ScopePhases: "2", tui.ScopeNodes: "3", tui.ScopeInstances: "4",
	tui.ScopeLocks: "5"}

// Every action of the catalogue that would change something is refused with a reason, and no server hears of it.
func TestReadOnlyRefusesEveryWriteWithAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{args: []string{"--read-only"}})
	p.WantsRow("cmp-01", "waiting for you")
	p.Wants("web-1")

	p.Press("w")
	p.Wants("writing cannot be switched on: Lockstep was started with --read-only")
	p.Press("esc")

	tried := 0
	for _, action := range tui.Actions() {
		if !action.Writes() {
			continue
		}
		tried++
		pane, known := paneOf[action.Scope]
		if !known {
			t.Errorf("%s: in which pane do actions of the scope %q work?", action.ID, action.Scope)
			continue
		}
		p.Press(pane, ":")
		p.Wants(" Find ")
		p.Type(action.Title)
		p.WantsRow("▌", cut(action.Title, 40))
		p.Press("enter")
		p.refuses(action)
		p.Back(terminal.All(terminal.Hides(" Find "), terminal.Hides("Cancel"), terminal.Hides("esc cancels"),
			terminal.Hides("esc back")))
	}
	if tried < 10 {
		t.Errorf("the catalogue has %d actions that write", tried)
	}

	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	writes, err := w.Writes(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range writes {
		t.Errorf("Kubernetes received %v", r)
	}
	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
	for _, r := range p.Records() {
		switch r.Kind {
		case engine.RecordArm, engine.RecordGrant, engine.RecordBefore, engine.RecordAfter:
			t.Errorf("the journal has a record of the kind %s", r.Kind)
		}
	}
}

// refuses continues an action that was chosen in the palette until the palette or the gate refuses it.
func (p *program) refuses(action tui.Action) {
	p.t.Helper()
	blocked := terminal.That("the last word of the screen", func(s terminal.Screen) bool { // with the reason, above the footer
		return strings.Contains(s.Line(s.Rows-2), cut(action.Title, 60))
	})
	asked := terminal.Shows("enter goes on to the confirmation")
	refused := terminal.All(terminal.Shows("read-only: Lockstep was started with --read-only"), terminal.Shows("Not yet: "))
	any := func(conditions ...terminal.Condition) terminal.Condition {
		return terminal.That(action.ID+" is refused", func(s terminal.Screen) bool {
			for _, c := range conditions {
				if c.Met(s) {
					return true
				}
			}
			return false
		})
	}
	// A list of steps changes nothing by itself: this opens the first step that somebody has to confirm.
	listed := terminal.Shows("right other way")
	screen := p.Want(p.t, any(blocked, asked, refused, listed))
	if listed.Met(screen) && screen.Contains("alerts are not known") {
		return // without an Alertmanager there is no silence to expire, and the list has nothing to confirm
	}
	if listed.Met(screen) {
		p.Press("home")
		for range 60 {
			at := cursorLine(p.Screen())
			if strings.Contains(at, " blocked ") {
				break
			}
			p.Press("down")
			p.Want(p.t, terminal.That("the cursor to move", func(s terminal.Screen) bool { return cursorLine(s) != at }))
		}
		p.Press("enter")
		screen = p.Want(p.t, refused)
	}
	if asked.Met(screen) {
		if screen.Contains("attempts:") || screen.Contains("reason:") || screen.Contains("text:") {
			p.Type("7")
		} else {
			p.Press("down") // another choice than the current one
		}
		p.Press("enter")
		screen = p.Want(p.t, refused)
	}
	if refused.Met(screen) {
		p.Press("tab", "enter") // the button does nothing
		p.Want(p.t, refused)
	}
}

// cursorLine is the text of the row with the cursor; empty when no row has it.
func cursorLine(s terminal.Screen) string {
	if at := operator.Cursor(s); at >= 0 {
		return s.Line(at)
	}
	return ""
}

// cut returns at most the first n characters of a text, without blanks at the end.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		text = string(r[:n])
	}
	return strings.TrimRight(text, " ")
}
