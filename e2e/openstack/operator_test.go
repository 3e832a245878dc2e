//go:build openstack

package openstack

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/e2e/cluster"
	"lockstep/e2e/terminal"
)

// operator is the one who sits before the program, and their keys.
type operator struct {
	*terminal.Terminal
	t *testing.T
}

// sitDown starts the program against the world, with 120 columns and 40 rows.
func (w *world) sitDown(t *testing.T) *operator {
	t.Helper()
	kubeconfig, err := w.WriteKubeconfig(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	term, err := terminal.Start(terminal.Options{Columns: 120, Rows: 40, Env: []string{
		"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=" + t.TempDir(),
		"XDG_STATE_HOME=" + state, "OS_CLIENT_CONFIG_FILE=" + w.cloud.cloudsYAML(),
	}}, lockstep, "--kubeconfig", kubeconfig, "--os-cloud", cloudOperator)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the program's log:\n%s", tail(filepath.Join(state, "lockstep", "lockstep.log"), 3000))
		}
		if err := term.Close(); err != nil {
			t.Errorf("close the terminal: %v", err)
		}
	})
	return &operator{term, t}
}

// press presses keys.
func (o *operator) press(keys ...string) {
	o.t.Helper()
	if err := o.Press(keys...); err != nil {
		o.t.Fatal(err)
	}
}

// wants waits until all of the texts stand on one screen.
func (o *operator) wants(texts ...string) terminal.Screen {
	o.t.Helper()
	conditions := make([]terminal.Condition, len(texts))
	for i, text := range texts {
		conditions[i] = terminal.Shows(text)
	}
	return o.Want(o.t, terminal.All(conditions...))
}

// wantsGone waits until the text stands nowhere on the screen.
func (o *operator) wantsGone(text string) {
	o.t.Helper()
	o.Want(o.t, terminal.Hides(text))
}

// wantsRow waits until one row has all of the texts.
func (o *operator) wantsRow(texts ...string) terminal.Screen {
	o.t.Helper()
	return o.Want(o.t, terminal.That(fmt.Sprintf("a row with all of %q", texts), func(s terminal.Screen) bool {
		return slices.ContainsFunc(s.Lines(), func(line string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) })
		})
	}))
}

// wantsText waits until the text stands on the screen, broken into lines anywhere.
func (o *operator) wantsText(text string) {
	o.t.Helper()
	o.Want(o.t, terminal.That(fmt.Sprintf("the text %q", text), func(s terminal.Screen) bool {
		var all strings.Builder
		for _, line := range s.Lines() {
			all.WriteString(strings.Trim(line, " │") + " ")
		}
		return strings.Contains(all.String(), text)
	}))
}

// wantsProgress waits until the step runs and has come so many per cent of its way to the node.
func (o *operator) wantsProgress(title, to string, percent int) {
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

// arm switches writing on.
func (o *operator) arm() {
	o.t.Helper()
	o.press("w")
	o.wants("Switch writing on?", "[ Cancel ]")
	o.press("tab")
	o.wants("[ Switch on ]")
	o.press("enter")
	o.wants("ARMED")
}

// cursor is the row that has the cursor; -1 when none has.
func cursor(s terminal.Screen) int {
	return slices.IndexFunc(s.Lines(), func(line string) bool { return strings.HasPrefix(line, "▌") })
}

// choose moves the cursor of the page of steps to the step with the title. When the step that had the cursor has gone, none
// has it: the cursor never moves by itself.
func (o *operator) choose(title string) {
	o.t.Helper()
	for range 40 {
		screen := o.Want(o.t, terminal.That(fmt.Sprintf("the step %q", title), func(s terminal.Screen) bool { return stepRow(s, title) >= 0 }))
		at, wanted := cursor(screen), stepRow(screen, title)
		switch {
		case at == wanted:
			return
		case at < wanted:
			o.press("down")
		default:
			o.press("up")
		}
		o.Want(o.t, terminal.That("the cursor to move", func(s terminal.Screen) bool { return cursor(s) != at }))
	}
	o.t.Fatalf("the cursor does not come to %q:\n%s", title, o.Screen())
}

// stepRow is the row of the step with the title; -1 when there is none.
func stepRow(s terminal.Screen, title string) int {
	return slices.IndexFunc(s.Lines(), func(line string) bool {
		return strings.Contains(line+" ", " "+title+" ") && !strings.HasPrefix(line, "─")
	})
}

// openStep opens the dialog of a step, or of another way to the same end.
func (o *operator) openStep(title string, otherWays ...string) {
	o.t.Helper()
	o.choose(title)
	for i, way := range otherWays {
		o.press("right")
		o.wants(fmt.Sprintf("way %d of", i+2), way)
	}
	o.press("enter")
	o.wants("Before this may happen", " Cancel ")
}

// confirm presses Confirm in the open dialog, which must be ready for it.
func (o *operator) confirm() {
	o.t.Helper()
	o.wants("Ready.", "[ Cancel ]")
	o.press("tab")
	o.wants("[ Confirm ]")
	o.press("enter")
	o.wantsGone("Before this may happen")
}

// confirmTyped confirms the open dialog by typing the object's name.
func (o *operator) confirmTyped(name string) {
	o.t.Helper()
	o.wants("Type " + name + ": ")
	o.Type(name)
	o.wants("enter confirms")
	o.press("enter")
	o.wantsGone("Before this may happen")
}

// act chooses one of the actions that there are for what is selected.
func (o *operator) act(title string) {
	o.t.Helper()
	o.press("a")
	o.wants("What can be done with")
	o.Type(title)
	o.wantsRow("▌ " + title)
	o.press("enter")
	o.wantsGone("What can be done with")
}

// find selects the row with the text in a pane: the cursor stays on it when the filter that finds it is taken away again.
func (o *operator) find(pane, text string) {
	o.t.Helper()
	o.press(pane, "/")
	o.Type(text)
	o.press("enter")
	o.wantsRow("▌", text)
	o.press("/", "esc")
	o.wantsGone("/" + text)
}
