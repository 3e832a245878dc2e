package tui

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
)

// fresh sends the screen a newer Snapshot in which something has changed.
func (d *driver) fresh(change func(*core.Snapshot)) *driver {
	s := world()
	s.Revision = d.snap.Revision + 1
	change(s)
	d.send(snapshotMsg{s})
	return d
}

// asks returns the open form.
func (d *driver) asks(t *testing.T) *form {
	t.Helper()
	f, ok := d.top().(*form)
	if !ok {
		t.Fatalf("no form is open, but %T", d.top())
	}
	return f
}

// forms are all forms that take a text: how each is opened, what a text in it leads to, and what of its basis may change.
var forms = map[string]struct {
	open  func(d *driver)
	text  string
	same  func(i core.Intent, text string) bool
	other func(s *core.Snapshot, i core.Intent)
}{
	"override of a lock": {
		func(d *driver) { d.keys("3", ":").keys("override openstack cmp-07").keys("enter") }, "held for the backup", reasons,
		func(s *core.Snapshot, i core.Intent) { locked(s, i).RawState = core.LockInactive },
	},
	"a lock that says failed": {
		func(d *driver) { d.keys("3", "5", ":").keys("set the lock to failed").keys("enter") }, "see the ticket", reasons,
		func(s *core.Snapshot, i core.Intent) { locked(s, i).RawState = core.LockInactive },
	},
	"nova-compute out of scheduling": {
		func(d *driver) { d.keys("3", ":").keys("out of scheduling").keys("enter") }, "a broken fan", reasons,
		func(s *core.Snapshot, i core.Intent) { s.Services[s.HostOf(i.Node)].ID = "made anew" },
	},
	"attempts": {
		func(d *driver) { d.keys("3", "n") }, "7", func(i core.Intent, _ string) bool { return i.Attempts == 7 },
		func(s *core.Snapshot, i core.Intent) {
			s.Nodes[i.Nodes[0]].Annotations[core.AnnotationMigrationAttempts] = "3"
		},
	},
	"release of a node": {
		func(d *driver) { d.keys("3", ":").keys("ask for the node's").keys("enter") }, ".1", releases,
		func(s *core.Snapshot, i core.Intent) { s.Nodes[i.Node].UID = "made anew" },
	},
	"release of the cluster": {
		func(d *driver) { d.keys("2", ":").keys("ask for the cluster's").keys("enter") }, ".1", releases,
		func(s *core.Snapshot, _ core.Intent) { s.ClusterRequests = nil },
	},
}

func reasons(i core.Intent, text string) bool  { return i.Reason == text }
func releases(i core.Intent, text string) bool { return strings.HasSuffix(i.Release, text) }

func locked(s *core.Snapshot, i core.Intent) *core.WorkloadLock {
	for _, locks := range s.NodeLocks.All() {
		for _, l := range locks {
			if l.UID == i.Object.UID {
				return l
			}
		}
	}
	return nil
}

// An operator who leaves a confirmation, or its form, to look something up finds the typed text and its choice again.
func TestWhatWasTypedIsThereAgain(t *testing.T) {
	for name, tt := range forms {
		for _, way := range [][]string{{"esc"}, {"enter", "esc"}} {
			d := drive(world(), 120, 40)
			tt.open(d)
			first := d.asks(t)
			d.keys("down", tt.text)
			value, choice := first.input.Value(), first.at
			d.keys(way...).keys("esc", "esc", "2", "down")
			d.fresh(func(*core.Snapshot) {})
			tt.open(d)
			f := d.asks(t)
			if f == first || f.input.Value() != value || f.at != choice {
				t.Errorf("%s, left by %v: %q with choice %d, want %q with %d", name, way, f.input.Value(), f.at, value, choice)
				continue
			}
			if frame := stripped(d.shows()); !strings.Contains(frame, "as you left it") {
				t.Errorf("%s does not say that it is from before:\n%s", name, frame)
			}
			d.keys("enter")
			if i := d.asked(t); !tt.same(i, tt.text) {
				t.Errorf("%s asks for %+v", name, i)
			}
		}
	}
}

// What is typed next goes behind what was typed before.
func TestADraftIsGoneOnWithAtItsEnd(t *testing.T) {
	d := drive(world(), 120, 40)
	open := forms["release of a node"].open
	open(d)
	d.keys(".1", "esc")
	open(d)
	f := d.asks(t)
	want := f.input.Value() + "-rc"
	if d.keys("-rc"); !strings.HasSuffix(f.recalled, ".1") || f.input.Value() != want {
		t.Errorf("it holds %q, want %q", f.input.Value(), want)
	}
}

// When the facts that the step rests on have changed, the text was typed for something else.
func TestNothingIsKeptOnOtherFacts(t *testing.T) {
	for name, tt := range forms {
		d := drive(world(), 120, 40)
		tt.open(d)
		began := d.asks(t).input.Value()
		d.keys(tt.text, "enter")
		i := d.asked(t)
		d.keys("esc")
		d.fresh(func(s *core.Snapshot) { tt.other(s, i) })
		tt.open(d)
		if f := d.asks(t); strings.HasSuffix(f.input.Value(), tt.text) && f.input.Value() != began || f.recalled != "" {
			t.Errorf("%s: %q is still there", name, f.input.Value())
		}
	}
}

// The form of another object begins empty.
func TestWhatWasTypedIsNotForAnother(t *testing.T) {
	d := drive(world(), 120, 40)
	d.keys("3", ":").keys("override openstack cmp-07").keys("enter").keys("for this one", "esc")
	d.keys("3", ":").keys("override ceph cmp-07").keys("enter")
	if got := d.asks(t).input.Value(); got != "" {
		t.Errorf("the form of another lock begins with %q", got)
	}
}

// A name is typed anew each time: it says that the operator means this now.
func TestATypedNameIsNeverKept(t *testing.T) {
	tt := forms["override of a lock"]
	d := drive(world(), 120, 40)
	tt.open(d)
	d.keys(tt.text, "enter")
	box := d.top().(*confirmDialog)
	if box.step.Type == "" {
		t.Fatal("no name has to be typed")
	}
	box.input.SetValue(box.step.Type)
	d.keys("esc")
	tt.open(d)
	d.keys("enter")
	if again := d.top().(*confirmDialog); again == box || again.input.Value() != "" {
		t.Errorf("the name is there: %q", again.input.Value())
	}
}

// A step that has begun is not proposed again; one that was refused is.
func TestWhatHasBegunIsNotKept(t *testing.T) {
	for name, begun := range map[string]bool{"begun": true, "refused": false} {
		d := drive(world(), 120, 40)
		step := theStep()
		step.Target = core.Ref{}
		d.plan = func(_ *core.Snapshot, i core.Intent) core.Step { step.Intent = i; return step }
		if !begun {
			d.fake.refuse = &core.APIError{Kind: core.ErrForbidden, Message: "no"}
		}
		open := forms["override of a lock"].open
		open(d)
		d.keys("because", "enter", "right", "enter")
		d.at = d.at.Add(hushFor * 2)
		if begun != (d.top() == nil) {
			t.Fatalf("%s: %T is open", name, d.top())
		}
		d.keys("esc")
		open(d)
		if got := d.asks(t).input.Value(); (got == "") != begun {
			t.Errorf("%s: the form begins with %q", name, got)
		}
	}
}

// An emptied field is empty the next time, too.
func TestAnEmptiedFieldStaysEmpty(t *testing.T) {
	d := drive(world(), 120, 40)
	open := forms["override of a lock"].open
	open(d)
	d.keys("x", "esc")
	open(d)
	d.keys("backspace", "esc")
	open(d)
	if f := d.asks(t); f.input.Value() != "" || f.recalled != "" {
		t.Errorf("it holds %q", f.input.Value())
	}
}

// A draft whose choice is not there any more is gone, as one on other facts is: here alerts that have stopped firing meanwhile.
func TestADraftOfFewerChoicesIsGone(t *testing.T) {
	d := drive(alertedWorld(), 120, 40)
	open := func() *form { d.keys(":").keys("silence alerts").keys("enter"); return d.asks(t) }
	f := open()
	for range len(f.choices) - 1 {
		d.keys("down")
	}
	d.keys("06:00 disk", "esc")
	fewer := alertedWorld()
	fewer.Revision, fewer.Alertmanager.Alerts = d.snap.Revision+1, fewer.Alertmanager.Alerts[:1]
	d.send(snapshotMsg{fewer})
	if f = open(); f.at >= len(f.choices) || f.recalled != "" {
		t.Errorf("choice %d of %d, with %q", f.at, len(f.choices), f.recalled)
	}
}

// A form about one node has that node's values, wherever the cursor is: after a mark it is on the next.
func TestAFormAboutOneNodeHasItsValues(t *testing.T) {
	s := world()
	modes := map[core.MigrationMode]bool{}
	for _, v := range progress.NodeViews(s) {
		set := v.Mode
		if !v.ModeSet {
			set = ""
		}
		modes[set] = true
		f := newModeForm(s, []string{v.Name})
		if c := f.choices[f.at]; c.intent.Mode != set || !strings.Contains(c.text, "as it is") {
			t.Errorf("%s is %q, and the form says %q %s", v.Name, set, c.intent.Mode, c.text)
		}
		if got := newAttemptsForm(s, []string{v.Name}).input.Value(); got != v.AttemptsRaw {
			t.Errorf("%s has %q attempts, and the form says %q", v.Name, v.AttemptsRaw, got)
		}
	}
	if f := newModeForm(s, []string{"gone"}); f.at != 0 || strings.Contains(f.choices[3].text, "as it is") {
		t.Errorf("of a node that is gone the form says %+v", f.choices)
	}
	if len(modes) < 2 {
		t.Errorf("the nodes have the modes %v", modes)
	}
	d := drive(s, 120, 40).keys("3")
	name := d.selectedNode()
	d.keys("space", "e")
	if f := d.asks(t); !strings.Contains(f.title, s.Label(name)) || f.choices[f.at].intent.Nodes[0] != name || d.selectedNode() == name {
		t.Errorf("%s was marked, and the form is %q", name, f.title)
	}
}
