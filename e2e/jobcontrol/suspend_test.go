// Package jobcontrol tests that the program can be suspended and resumed: in a terminal, under a shell with job control, on the
// simulated cloud of the demo.
package jobcontrol

import (
	"slices"
	"strings"
	"testing"

	"lockstep/e2e/build"
	"lockstep/e2e/operator"
	"lockstep/e2e/terminal"
)

// left is a terminal that a program has given back.
var left = terminal.That("the terminal as the shell has it", func(s terminal.Screen) bool {
	return !s.AltScreen && !s.CursorHidden && s.Keyboards == 0 && !slices.Contains(s.Modes, 2004) && !slices.Contains(s.Modes, 1004)
})

// prompt is the shell that waits for a command. A program that has given the terminal back may still read what is typed before it ends.
var prompt = terminal.That("the shell's prompt", func(s terminal.Screen) bool {
	lines := slices.DeleteFunc(s.Lines(), func(l string) bool { return strings.TrimSpace(l) == "" })
	return len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "shell>"
})

var dashboard = terminal.All(terminal.Shows("3 Nodes"), terminal.That("the program's screen", func(s terminal.Screen) bool {
	return s.AltScreen && s.Keyboards > 0
}))

// sh starts a shell with job control, in which the program is called lockstep.
func sh(t *testing.T) (o *operator.Operator, lockstep string) {
	t.Helper()
	lockstep, err := build.Lockstep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o = operator.SitDown(t, operator.Desk{Program: "/bin/sh"}, "-i")
	t.Cleanup(func() { o.Type("exit\r") }) // an interactive shell does not leave for SIGTERM
	o.Type("PS1='shell> '\r")
	o.Wants("shell> ")
	return o, lockstep
}

// suspended waits until the shell has the terminal again, and checks that it accepts what is typed.
func suspended(t *testing.T, o *operator.Operator, said string) {
	t.Helper()
	o.Want(t, terminal.All(left, terminal.Shows("Stopped"), prompt))
	o.Type("echo " + said + "-$((6*7))\r")
	o.Wants(said + "-42")
}

// ctrl+z leaves the terminal as it was, and fg brings the dashboard back, twice; then the program can be left as usual.
func TestSuspendedAndBroughtBack(t *testing.T) {
	o, lockstep := sh(t)
	o.Type(lockstep + " demo smooth --speed 1\r")
	o.Want(t, terminal.All(dashboard, terminal.Shows("READ-ONLY")))
	o.Press("?") // what the program asked the terminal is answered before this key comes; later, the shell would get the answers
	o.Wants("Keys of lockstep")
	o.Press("esc")
	o.WantsGone("Keys of lockstep")
	for _, said := range []string{"first", "second"} {
		o.Press("ctrl+z")
		suspended(t, o, said)
		o.Type("fg\r")
		o.Want(t, terminal.All(dashboard, terminal.Shows("back after"), terminal.Hides(said+"-42")))
		o.Press("?") // it takes keys again
		o.Wants("Keys of lockstep")
		o.Press("esc")
		o.WantsGone("Keys of lockstep")
	}
	o.Press("q")
	o.Want(t, terminal.All(left, prompt))
	o.Type("echo left-$((6*7))\r")
	o.Wants("left-42")
}

const (
	runs  = "2 times as fast as real time"
	halts = "it is halted"
)

// setClock presses a key in the demo's panel, after which the clock of its cloud does something else.
func setClock(o *operator.Operator, from, key, to string) {
	o.Press("f4")
	o.Wants(from)
	o.Press(key)
	o.Wants(to)
	o.Press("esc")
	o.WantsGone(to)
}

// Writing is disarmed before the program stops. While something runs, the program asks first, and looks up how it ended after the
// return. What Nova has not been asked for when writing is disarmed is refused, so the migration has to be under way; while the cloud's
// clock is halted, it does not end.
func TestSuspendedWhileSomethingRuns(t *testing.T) {
	o, lockstep := sh(t)
	o.Type(lockstep + " demo --speed 2\r")
	o.Want(t, dashboard)
	o.Arm()
	o.Press("ctrl+z") // nothing of ours runs yet
	suspended(t, o, "armed")
	o.Type("fg\r")
	o.Want(t, terminal.All(dashboard, terminal.Shows("READ-ONLY"), terminal.Shows("writing was switched off")))

	o.Arm()
	setClock(o, runs, "p", halts)
	o.Find("3", "cmp-04")
	o.Press("4", "m")
	o.Confirm()
	o.WantsRow("batch-17", "MIGRATING")
	o.Press("ctrl+z")
	o.Wants("Suspend?", "Still running: live-migrate", "[ Stay ]", "enter stays")
	o.Press("tab")
	o.Wants("[ Suspend ]", "enter suspends")
	o.Press("enter")
	suspended(t, o, "running")
	o.Type("fg\r")
	o.Want(t, terminal.All(dashboard, terminal.Shows("READ-ONLY")))
	setClock(o, halts, "+", runs)
	o.Press("6")
	o.WantsRow("done", "live-migrate")
	o.Press("q")
	o.Want(t, left)
}

// Without a shell that could resume it, the program is not stopped, and goes on.
func TestNotSuspendedWithoutAShell(t *testing.T) {
	lockstep, err := build.Lockstep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"as the terminal's own program": {lockstep, "demo", "smooth", "--speed", "1"},
		"below a script":                {"/bin/sh", "-c", lockstep + " demo smooth --speed 1; echo over"},
	} {
		t.Run(name, func(t *testing.T) {
			o := operator.SitDown(t, operator.Desk{Program: command[0]}, command[1:]...)
			o.Want(t, dashboard)
			o.Press("ctrl+z")
			o.Wants("Lockstep cannot be suspended here: no shell with job control started it")
			o.Press("?")
			o.Wants("Keys of lockstep")
		})
	}
}
