// Package operator plays the operator in the end-to-end tests: the real binary in a terminal, the keys an operator presses, and
// what they wait to see. Every method that waits fails the test when it waits in vain.
package operator

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/e2e/terminal"
)

// Operator is an operator with the program in a terminal.
type Operator struct {
	*terminal.Terminal
	State string // the folder in which the program keeps its state

	t testing.TB
}

// Desk is what the program finds when it starts.
type Desk struct {
	Program       string // path of the binary
	Columns, Rows int    // default 120 and 40
	CloudsYAML    string // path of the clouds.yaml
	Kubeconfig    string // path of $KUBECONFIG; empty: there is none
	Cloud         string // $OS_CLOUD; empty: there is none
	State         string // a state folder of an earlier run; default a new one
	Dir           string // the working directory; default the test's own

	Patience time.Duration // how long to wait for the screen; default the terminal's
}

// Environment returns the program's whole environment.
func (d Desk) Environment(t testing.TB) []string {
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=" + t.TempDir(),
		"XDG_STATE_HOME=" + d.State, "OS_CLIENT_CONFIG_FILE=" + d.CloudsYAML, "GORACE=exitcode=0 log_path=" + filepath.Join(d.State, "race")}
	if d.Kubeconfig != "" {
		env = append(env, "KUBECONFIG="+d.Kubeconfig)
	}
	if d.Cloud != "" {
		env = append(env, "OS_CLOUD="+d.Cloud)
	}
	return env
}

// SitDown starts the program with the arguments. The program ends with the test, which prints the end of its journal and log if
// it has failed.
func SitDown(t testing.TB, d Desk, args ...string) *Operator {
	t.Helper()
	d.State = cmp.Or(d.State, t.TempDir())
	term, err := terminal.Start(terminal.Options{Columns: cmp.Or(d.Columns, 120), Rows: cmp.Or(d.Rows, 40), Env: d.Environment(t), Dir: d.Dir,
		Patience: d.Patience}, d.Program, args...)
	if err != nil {
		t.Fatal(err)
	}
	o := &Operator{Terminal: term, State: d.State, t: t}
	t.Cleanup(func() {
		defer func() { // also when its journal cannot be read
			if err := term.Close(); err != nil {
				t.Errorf("close the terminal: %v", err)
			}
			for _, report := range o.races() {
				t.Errorf("the race detector:\n%s", report)
			}
		}()
		if t.Failed() {
			t.Logf("what the screen has said:\n%s", o.said())
			t.Logf("the end of the journal:\n%s", o.Story(20))
			t.Logf("the end of the program's log:\n%s", Tail(filepath.Join(d.State, "lockstep", "lockstep.log"), 3000))
		}
	})
	return o
}

// said returns the page of what the screen has said, for a test that has failed: what it said of a key is gone after a few seconds. The
// screen itself when the page does not come.
func (o *Operator) said() terminal.Screen {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the test's own context has ended
	defer cancel()
	for range 4 { // what lies over the dashboard
		_ = o.Terminal.Press("esc")
	}
	_ = o.Terminal.Press("L")
	screen, err := o.WaitFor(ctx, terminal.Shows("Messages, the newest first"))
	if err != nil {
		return o.Screen()
	}
	return screen
}

// races returns the race detector's reports if the program was built with it, except one of Bubble Tea's own: at exit its reader
// of the terminal closes the file on which it still waits.
func (o *Operator) races() []string {
	o.t.Helper()
	paths, err := filepath.Glob(filepath.Join(o.State, "race.*"))
	if err != nil {
		o.t.Fatal(err)
	}
	var reports []string
	for _, path := range paths {
		for report := range strings.SplitSeq(Tail(path, 1<<20), "==================") {
			if strings.Contains(report, "DATA RACE") && !strings.Contains(report, "github.com/muesli/cancelreader") {
				reports = append(reports, report)
			}
		}
	}
	return reports
}

// Tail returns at most the last n bytes of a file, or the reason why it cannot be read.
func Tail(path string, n int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-n):])
}

// Press presses keys.
func (o *Operator) Press(keys ...string) {
	o.t.Helper()
	if err := o.Terminal.Press(keys...); err != nil {
		o.t.Fatal(err)
	}
}

// notTaken is what the screen says of a key that came in the moment after a box had changed by itself, or the cursor had gone on.
const notTaken = " did nothing: "

// PressTaken presses a key that leads to what is wanted. Where the screen says that the key was not taken, because what it was meant for
// had just changed, the operator presses it again once that is said no more.
func (o *Operator) PressTaken(key string, wanted terminal.Condition) {
	o.t.Helper()
	for range 20 {
		o.WantsGone(notTaken)
		o.Press(key)
		taken := false
		o.Want(o.t, terminal.That(fmt.Sprintf("%s after %s", wanted, key), func(s terminal.Screen) bool {
			taken = wanted.Met(s)
			return taken || s.Contains(notTaken)
		}))
		if taken {
			return
		}
	}
	o.t.Fatalf("the key %s is never taken:\n%s", key, o.Screen())
}

// Back leaves what lies over the dashboard, one thing after the other, until the screen is as wanted.
func (o *Operator) Back(wanted terminal.Condition) {
	o.t.Helper()
	for range 20 {
		before := o.Screen()
		if wanted.Met(before) {
			return
		}
		o.Press("esc")
		o.Want(o.t, terminal.That("another screen after esc", func(s terminal.Screen) bool {
			return wanted.Met(s) || s.String() != before.String()
		}))
	}
	o.t.Fatalf("esc does not lead to %s:\n%s", wanted, o.Screen())
}

// Leave leaves the program and returns its exit code. Where the program asks first because a step of the operator's still runs, the
// operator leaves when the question says that nothing runs any more.
func (o *Operator) Leave() int {
	o.t.Helper()
	o.Press("q")
	ctx, cancel := context.WithTimeout(o.t.Context(), terminal.Patience)
	defer cancel()
	if _, err := o.WaitFor(ctx, terminal.Shows("Leave?")); err == nil {
		o.Wants("Nothing runs any more")
		o.PressTaken("tab", terminal.Shows("enter leaves"))
		o.Press("enter")
	}
	return o.ExitCode()
}

// ExitCode waits until the program has ended, and returns its exit code, or -1 when a signal ended it. A program that stays, as it does
// when it asks whether to leave what still runs, fails the test with its screen.
func (o *Operator) ExitCode() int {
	o.t.Helper()
	select {
	case <-o.Exited():
	case <-time.After(terminal.Patience):
		o.t.Fatalf("the program has not ended:\n%s", o.Screen())
	}
	return o.Terminal.ExitCode()
}

// Wants waits until one screen has all of the texts.
func (o *Operator) Wants(texts ...string) terminal.Screen {
	o.t.Helper()
	return o.Want(o.t, each(terminal.Shows, texts))
}

// WantsGone waits until the screen has none of the texts.
func (o *Operator) WantsGone(texts ...string) terminal.Screen {
	o.t.Helper()
	return o.Want(o.t, each(terminal.Hides, texts))
}

func each(condition func(string) terminal.Condition, texts []string) terminal.Condition {
	all := make([]terminal.Condition, len(texts))
	for i, text := range texts {
		all[i] = condition(text)
	}
	return terminal.All(all...)
}

// WantsRow waits until one row has all of the texts.
func (o *Operator) WantsRow(texts ...string) terminal.Screen {
	o.t.Helper()
	return o.Want(o.t, Row(texts...))
}

// Row holds when one row of the screen has all of the texts.
func Row(texts ...string) terminal.Condition {
	return terminal.That(fmt.Sprintf("a row with all of %q", texts), func(s terminal.Screen) bool {
		return rowWith(s, func(line string) bool {
			for _, text := range texts {
				if !strings.Contains(line, text) {
					return false
				}
			}
			return true
		}) >= 0
	})
}

// WantsText waits until the screen has the text, broken into lines anywhere.
func (o *Operator) WantsText(text string) {
	o.t.Helper()
	o.Want(o.t, terminal.That(fmt.Sprintf("the text %q", text), func(s terminal.Screen) bool {
		var all strings.Builder
		for _, line := range s.Lines() {
			all.WriteString(strings.Trim(line, " │") + " ")
		}
		return strings.Contains(all.String(), text)
	}))
}
