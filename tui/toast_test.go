package tui

import (
	"strings"
	"testing"
)

// fades lets the time of the last message be over.
func (d *driver) fades() *driver {
	d.send(toastGoneMsg{d.toast.n})
	return d
}

// Esc that was meant for a message which has just gone by itself does not do the next thing: no marks go, no filter, and the cluster is
// not left.
func TestEscForAMessageThatHasGoneDoesNothingElse(t *testing.T) {
	back := 0
	idle := world()
	idle.Operations = nil
	onCluster := func(keys ...string) func() *driver {
		return func() *driver {
			return drive(idle, 120, 40, func(o *Options) { o.Back = func() { back++ } }).keys(keys...)
		}
	}
	for name, tt := range map[string]struct {
		on   func() *driver
		left func(d *driver) bool
	}{
		"marks":  {onCluster("space"), func(d *driver) bool { return d.nodes.Marks() == 0 }},
		"filter": {onCluster("/", "cmp", "enter"), func(d *driver) bool { return d.nodes.Filter() == "" }},
		"back":   {onCluster(), func(*driver) bool { return back > 0 }},
		"the filter of the clusters": {func() *driver { return driveClusters(120, 40, theFleet()).keys("/", "mos", "enter") },
			func(d *driver) bool { return d.clusters().rows.Filter() == "" }},
	} {
		t.Run(name, func(t *testing.T) {
			d := tt.on()
			back = 0
			if tt.left(d) {
				t.Fatal("there is nothing for esc to do")
			}
			d.say(toneInfo, "copied: cmp-07")
			if d.fades().keys("esc"); tt.left(d) || !strings.Contains(d.toast.text, "esc did nothing: the message had just gone") {
				t.Errorf("esc does the next thing: %t, and says %q", tt.left(d), d.toast.text)
			}
			if d.fades().later(2 * hushFor).keys("esc"); !tt.left(d) {
				t.Errorf("a moment later esc does nothing, and says %q", d.toast.text)
			}
			d = tt.on()
			back = 0
			d.say(toneInfo, "copied: cmp-07")
			if d.keys("esc"); tt.left(d) {
				t.Error("esc clears more than the message")
			}
			if d.fades().keys("esc"); !tt.left(d) {
				t.Errorf("the message was cleared by esc, and the next esc does nothing, and says %q", d.toast.text)
			}
		})
	}
}
