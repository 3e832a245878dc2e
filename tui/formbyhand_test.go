package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
)

// asked returns the intent of the open confirmation.
func (d *driver) asked(t *testing.T) core.Intent {
	t.Helper()
	c, ok := d.top().(*confirmDialog)
	if !ok {
		t.Fatalf("no confirmation is open, but %T", d.top())
	}
	return c.step.Intent
}

// The palette leads to the override of a lock from any pane. The form takes a text with any state, and letters that choose
// something elsewhere are plain letters in it.
func TestThePaletteLeadsToAnOverrideWithAText(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", ":")
	d.keys("override openstack cmp-07").keys("enter")
	if _, ok := d.top().(*form); !ok || d.focus != ScopeLocks {
		t.Fatalf("the palette leads to %T:\n%s", d.top(), stripped(d.shows()))
	}
	d.keys("down").keys("just kept").keys("enter")
	i := d.asked(t)
	if i.Kind != core.IntentOverrideLock || i.State != core.LockActive || i.Reason != "just kept" ||
		!strings.Contains(i.Object.Name, "cmp07") {
		t.Errorf("asked for is %+v", i)
	}
}

// The form is that of the lock in the palette's row, also where the locks are those of another node by then: the cursor had just moved,
// or they follow it while the palette is open.
func TestThePaletteOverridesTheLockOfItsRow(t *testing.T) {
	const want = "Override the lock of openstack on cmp-07"
	for _, follows := range []bool{false, true} {
		d := drive(world(), 120, 40).keys("3")
		d.after = func(time.Duration, tea.Msg) tea.Cmd { return nil } // the locks do not follow yet
		d.keys("down", "down")
		if d.shown == d.selectedNode() {
			t.Fatal("the locks follow the cursor at once")
		}
		d.keys(":").keys("override openstack cmp-07")
		if follows {
			d.send(followMsg{d.follows})
		}
		if d.keys("enter"); d.asks(t).title != want {
			t.Errorf("follows %v: the form is %q", follows, d.asks(t).title)
		}
		if d.keys("enter"); !strings.Contains(d.asked(t).Object.Name, "cmp07") {
			t.Errorf("follows %v: the step is about %s", follows, d.asked(t).Object.Name)
		}
	}
}

// A lock that went while the palette was open is gone, and nothing else is opened for it.
func TestThePaletteSaysThatALockIsGone(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", ":").keys("override openstack cmp-07")
	d.fresh(func(s *core.Snapshot) { s.NodeLocks = core.ByName[[]*core.WorkloadLock]{} })
	if d.keys("enter"); d.top() != nil || d.focus != ScopeNodes || !strings.Contains(stripped(d.shows()), "the lock is gone") {
		t.Errorf("%T is open:\n%s", d.top(), stripped(d.shows()))
	}
}

// With the focus on the locks, the palette has the selected lock's own action, and no list beside it.
func TestThePaletteHasNoOverrideTwice(t *testing.T) {
	d := drive(world(), 120, 40).keys("5", ":").keys("override")
	p := d.top().(*palette)
	for _, e := range p.found {
		if e.action == nil && e.name.text == "Override the lock" {
			t.Errorf("listed beside the action: %s", e.object.text)
		}
	}
	if len(p.found) == 0 {
		t.Error("nothing is called override")
	}
}

// A maintenance by hand asks for scope and release. The release is the lock's by default, and can be another one, or empty.
func TestAMaintenanceByHandAsksForItsRelease(t *testing.T) {
	s := world()
	d := drive(s, 120, 40).keys("3", ":").keys("ask for the node's").keys("enter")
	if _, ok := d.top().(*form); !ok {
		t.Fatalf("%T is open", d.top())
	}
	node := d.nodes.Cursor()
	want := procedure.AskedRelease(s, node)
	if want == "" || !strings.Contains(stripped(d.shows()), "release: "+want) {
		t.Errorf("the form does not have %q:\n%s", want, stripped(d.shows()))
	}
	d.keys("down").keys(".1").keys("enter")
	if i := d.asked(t); i.Kind != core.IntentAskNode || i.Node != node || i.Scope != core.ScopeDrain || i.Release != want+".1" {
		t.Errorf("asked for is %+v", i)
	}
	d = drive(s, 120, 40).keys("2", ":").keys("ask for the cluster's").keys("enter")
	for range len(want) {
		d.keys("backspace")
	}
	d.keys("enter")
	if i := d.asked(t); i.Kind != core.IntentAskCluster || i.Release != "" || i.Scope != "" {
		t.Errorf("asked for is %+v", i)
	}
	d = drive(s, 120, 40).keys("2", ":").keys("ask for the cluster's").keys("enter").keys("down", "down", "enter")
	if i := d.asked(t); i.Kind != core.IntentAskCluster || i.Release != want || i.Scope != core.ScopeDrain {
		t.Errorf("asked for is %+v", i)
	}
}
