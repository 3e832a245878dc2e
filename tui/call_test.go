package tui

import (
	"strings"
	"testing"

	"lockstep/core"
)

// Whoever names an instance must not write into the terminal by a notification: nothing in a text ends its sequence, or begins another.
func TestACallIsOneSequenceForEachWay(t *testing.T) {
	c := Call{Title: "Lockstep: m\x1bos", Text: "urgent: web;1\a\x1b]0;owned\x07\u202e: it is\nstuck " + strings.Repeat("x", 500),
		Bell: true, OSC9: true, OSC777: true}
	got := c.sequences()
	if len(got) != 3 || got[2] != "\a" {
		t.Fatalf("%q", got)
	}
	for i, begins := range []string{"\x1b]9;Lockstep: mos: urgent: web;1]0;owned: it is stuck ",
		"\x1b]777;notify;Lockstep: mos;urgent: web,1]0,owned"} {
		inner := strings.TrimSuffix(strings.TrimPrefix(got[i], "\x1b"), "\a")
		if !strings.HasPrefix(got[i], begins) || strings.ContainsAny(inner, "\x1b\a\n\u202e") || len(got[i]) > 500 {
			t.Errorf("%q", got[i])
		}
	}
	if n := strings.Count(got[1], ";"); n != 3 {
		t.Errorf("%d parts in %q", n, got[1])
	}
	if got := (Call{Text: "x"}).sequences(); len(got) != 0 {
		t.Errorf("nothing is configured, and %q is sent", got)
	}
}

// The window's title counts what is urgent, where that is asked for; trouble with the command is said on the screen.
func TestTheTitleCountsWhatIsUrgent(t *testing.T) {
	d := drive(world(), 120, 40, func(o *Options) { o.Title, o.CountUrgent = "Lockstep", true })
	if got := d.View().WindowTitle; !strings.HasPrefix(got, "(") || !strings.HasSuffix(got, " urgent) Lockstep") {
		t.Errorf("the title is %q", got)
	}
	calm := &core.Snapshot{}
	calm.Revision = world().Revision + 1
	d.send(snapshotMsg{calm})
	if got := d.View().WindowTitle; got != "Lockstep" {
		t.Errorf("nothing is urgent, and the title is %q", got)
	}
	if got := drive(world(), 120, 40, func(o *Options) { o.Title = "Lockstep" }).View().WindowTitle; got != "Lockstep" {
		t.Errorf("nobody asked for it, and the title is %q", got)
	}
	d = drive(world(), 120, 40)
	d.send(callMsg{Call{Trouble: "notify: curl: exit status 7"}})
	if !strings.Contains(stripped(d.shows()), "notify: curl: exit status 7") {
		t.Errorf("it is not told:\n%s", stripped(d.shows()))
	}
}
