package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim/bubble/lane"
	"lockstep/tui/sanitise"
)

func TestTheModeIsSetOnAllMarkedNodes(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "/", "cmp-0", "enter")
	d.nodes.Choose("kaas-node-cmp03")
	d.keys("space")
	d.nodes.Choose("kaas-node-cmp05")
	d.keys("space", "e")
	frame := stripped(d.shows())
	if !strings.Contains(frame, "Migration mode of cmp-03, cmp-05") || !strings.Contains(frame, "2 marked") {
		t.Errorf("the form does not say what it is about:\n%s", frame)
	}
	var asked core.Intent
	d.plan = func(s *core.Snapshot, i core.Intent) core.Step { asked = i; return step.Plan(s, i) }
	d.keys("down", "enter")
	want := core.Intent{Kind: core.IntentSetMode, Nodes: []string{"kaas-node-cmp03", "kaas-node-cmp05"}, Mode: core.ModeManual}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("the confirmation is for %+v, want %+v", asked, want)
	}
	if len(d.fake.granted) != 0 {
		t.Error("a form granted something")
	}
}

// While nodes are marked, what is done with one node is not done with the one under the cursor, and what is done with all marked ones does
// not ask what the one under the cursor is.
func TestMarksAndTheCursorAreNotMixedUp(t *testing.T) {
	d := drive(world(), 120, 40).keys("3")
	d.nodes.Choose("kaas-node-cmp05")
	d.keys("space")
	d.nodes.Choose("kaas-node-cmp06")
	if d.keys("m"); d.top() != nil || !strings.Contains(d.toast.text, "1 marked, and this is done with one node: esc clears the marks") {
		t.Errorf("m with a mark elsewhere says %q, and opens %T", d.toast.text, d.top())
	}
	master := ""
	for name, n := range d.snap.Nodes {
		if !n.Is(core.RoleCompute) {
			master = name
		}
	}
	d.nodes.Choose(master)
	if d.keys("v"); d.top() == nil {
		t.Errorf("the plan of the marked compute is refused: %q", d.toast.text)
	}
	d.keys("esc", "esc")
	d.nodes.Choose("kaas-node-cmp05")
	d.keys("space")
	d.nodes.Choose(master)
	d.keys("space")
	d.nodes.Choose("kaas-node-cmp05")
	if d.keys("v"); d.top() != nil || !strings.Contains(d.toast.text, "is not a compute node") {
		t.Errorf("the plan of a marked node that is no compute opens %T, and says %q", d.top(), d.toast.text)
	}
}

// A batch goes through the marked nodes in the order in which they stand on the screen, also where a column sorts them, and not in that
// of the nodes' names, which say nothing on MOSK. Those that a filter hides come last.
func TestMarkedNodesAreInTheOrderOfTheScreen(t *testing.T) {
	d := drive(world(), 120, 40).keys("3")
	for _, name := range []string{"kaas-node-cmp05", "kaas-node-cmp06", "kaas-node-cmp07"} {
		d.nodes.Choose(name)
		d.keys("space")
	}
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{nil, "[kaas-node-cmp07 kaas-node-cmp06 kaas-node-cmp05]"},
		{[]string{"/", "cmp-06", "enter"}, "[kaas-node-cmp06 kaas-node-cmp07 kaas-node-cmp05]"},
		{[]string{"/", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "enter", "s"},
			"[kaas-node-cmp05 kaas-node-cmp06 kaas-node-cmp07]"},
		{[]string{"s"}, "[kaas-node-cmp07 kaas-node-cmp06 kaas-node-cmp05]"},
	} {
		d.keys(tt.keys...)
		if got := fmt.Sprint(d.nodes.nodes()); got != tt.want {
			t.Errorf("after %q: %s, want %s; the screen has\n%s", tt.keys, got, tt.want, stripped(d.shows()))
		}
	}
}

func TestAttemptsAreANumber(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "n", "many", "enter")
	if _, ok := d.top().(*form); !ok || !strings.Contains(stripped(d.shows()), "is not a number from 1 to 100") {
		t.Fatal("a word was taken for a number")
	}
	var asked core.Intent
	d.plan = func(s *core.Snapshot, i core.Intent) core.Step { asked = i; return step.Plan(s, i) }
	d.keys("backspace", "backspace", "backspace", "backspace", "7", "enter")
	if asked.Kind != core.IntentSetAttempts || asked.Attempts != 7 {
		t.Errorf("asked for %+v", asked)
	}
}

// When the selected node goes, nothing is selected, nothing of another node is shown, and no key affects a neighbour: the screen
// says so until the operator moves.
func TestASelectedNodeThatGoesLeavesNothingSelected(t *testing.T) {
	for _, focus := range []string{"3", "4", "5"} {
		d := drive(world(), 120, 40)
		d.keys("3")
		d.nodes.Choose("kaas-node-cmp09")
		d.keys(focus)
		d.fresh(without("kaas-node-cmp09"))
		if frame := stripped(d.shows()); focus == "3" && !strings.Contains(frame, "nothing is selected: cmp-09 is no longer there") {
			t.Errorf("the node went without a word:\n%s", frame)
		}
		if d.shown != "" || d.nodes.Cursor() != "" {
			t.Errorf("%s: selected is %q, shown %q", focus, d.nodes.Cursor(), d.shown)
		}
		if focus == "5" {
			continue // the locks of the cluster are listed below the node's: they still exist
		}
		for _, key := range []string{"enter", "m", "e", "i", "u", "space"} {
			d.keys(key)
			if d.top() != nil {
				t.Fatalf("%s: %s opens %T:\n%s", focus, key, d.top(), stripped(d.shows()))
			}
		}
		if d.keys("enter"); !strings.Contains(d.toast.text, "selected") {
			t.Errorf("%s: enter says %q", focus, d.toast.text)
		}
	}
	d := drive(world(), 120, 40).keys("3")
	d.nodes.Choose("kaas-node-cmp09")
	next := d.nodes.Rows()[d.nodes.Index()+1].Name
	d.fresh(without("kaas-node-cmp09")).fresh(without("kaas-node-cmp09")).keys("down")
	if d.nodes.Cursor() != next {
		t.Errorf("down goes to %q, the next was %q", d.nodes.Cursor(), next)
	}
}

// When all marked nodes go, an action that was meant for them is not done with the selected one.
func TestWhatWasMarkedIsNotReplacedByWhatIsSelected(t *testing.T) {
	d := drive(world(), 120, 40).keys("3")
	d.nodes.Choose("kaas-node-cmp09")
	d.keys("space")
	d.nodes.Choose("kaas-node-cmp03")
	d.fresh(without("kaas-node-cmp09")).keys("e")
	if d.top() != nil || d.toast.text != "nothing is selected: what was marked is no longer there" {
		t.Errorf("%T is open, and it says %q", d.top(), d.toast.text)
	}
	d.keys("up", "down", "e")
	if _, ok := d.top().(*form); !ok {
		t.Errorf("after a move %T is open", d.top())
	}
}

// without removes a node from a Snapshot.
func without(name string) func(*core.Snapshot) {
	return func(s *core.Snapshot) {
		delete(s.Nodes, name)
		s.NodeLocks = s.NodeLocks.Without(name)
		delete(s.Services, name)
		delete(s.ByHost, name)
	}
}

func TestTheSelectionStaysWhenWhatMovesComesToTheTop(t *testing.T) {
	d := drive(world(), 80, 24).keys("3")
	d.nodes.Choose("kaas-node-cmp09")
	s := world()
	s.Revision++
	s.NodeRequests["kaas-node-cmp10"] = []*core.MaintenanceRequest{{Kind: core.KindNodeMaintenanceRequest, Node: "kaas-node-cmp10",
		Scope: core.ScopeOS, Meta: core.Meta{Name: "kaas-node-cmp10", UID: "n", Created: before(time.Minute)}}}
	d.send(snapshotMsg{s})
	if got := d.nodes.Cursor(); got != "kaas-node-cmp09" {
		t.Errorf("the selection went to %s by itself", got)
	}
}

func TestBeforeTheFirstKeyTheCursorIsOnWhatMovesFirst(t *testing.T) {
	early := world()
	early.Revision = 1
	early.Nodes = map[string]*core.Node{"kaas-node-gtw01": early.Nodes["kaas-node-gtw01"]}
	d := drive(early, 80, 24)
	d.send(snapshotMsg{world()})
	if first := d.nodes.Rows()[0].Name; d.nodes.Cursor() != first || d.shown != first {
		t.Errorf("selected is %s, shown %s, first is %s", d.nodes.Cursor(), d.shown, first)
	}
}

// The most important line is on the screen at every usable size.
func TestWhatNeedsTheOperatorIsSeenAtEverySize(t *testing.T) {
	for _, size := range []struct{ w, h int }{{40, 12}, {79, 23}, {80, 24}, {120, 40}, {300, 100}, {110, 27}, {60, 15}} {
		d := drive(world(), size.w, size.h)
		for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
			d.keys(key)
			lines := strings.Split(stripped(d.shows()), "\n")
			if top := strings.Join(lines[:min(5, len(lines))], "\n"); !strings.Contains(top, "manual mode") {
				t.Errorf("%dx%d, pane %s: the first five lines do not say what needs the operator:\n%s", size.w, size.h, key, top)
			}
		}
	}
	if frame := stripped(drive(world(), 20, 5).shows()); !strings.Contains(frame, "need you") {
		t.Errorf("20x5:\n%s", frame)
	}
}

func TestAMessageOfMegabytesIsCut(t *testing.T) {
	lane.Single(t)
	s := world()
	l := s.NodeLock("kaas-node-cmp07", core.ControllerOpenStack)
	l.Message = strings.Repeat("No end. ", 1<<18)
	for _, size := range sizes {
		d := drive(s, size.w, size.h).keys("5", "i")
		checkFrame(t, d.shows(), size.w, size.h)
		d.keys("end")
		checkFrame(t, d.shows(), size.w, size.h)
		if p := d.top().(*pager); p.total > 3*sanitise.DetailLimit/40 {
			t.Errorf("%d lines of detail", p.total)
		}
		var all strings.Builder
		for _, line := range d.top().(*pager).lines(d.Model, 100) {
			all.WriteString(line.Text() + "\n")
		}
		if !strings.Contains(all.String(), "cut: 2097152 bytes in all") {
			t.Error("the detail does not say that it was cut")
		}
	}
}

func TestPlainTextHasNoOrnament(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "p")
	lines := strings.Split(stripped(d.shows()), "\n")
	if !strings.HasPrefix(lines[2], "node") || strings.Contains(strings.Join(lines[2:10], "\n"), "▌") {
		t.Errorf("the plain view begins with\n%s", strings.Join(lines[:6], "\n"))
	}
}

func TestCopyingLeavesNothingHarmfulBehind(t *testing.T) {
	d := drive(world(), 120, 40)
	if cmd := d.copy("a\x1b[31m\nrm -rf\r"); cmd == nil || d.toast.text != "copied: a[31m" {
		t.Errorf("the screen says %q", d.toast.text)
	}
	d.opts.Clipboard = ClipboardOff
	d.copy("x")
	if !strings.Contains(d.toast.text, "clipboard is off") {
		t.Errorf("with the clipboard off the screen says %q", d.toast.text)
	}
}

func TestThePaletteFindsActionsAndNodes(t *testing.T) {
	d := drive(world(), 120, 40).keys("ctrl+k", "node cmp-12", "enter")
	if d.nodes.Cursor() != "kaas-node-cmp12" || d.focus != ScopeNodes || d.top() != nil {
		t.Errorf("the palette went to %s", d.nodes.Cursor())
	}
	d.keys(":", "reverse the", "esc")
	if d.top() != nil {
		t.Error("esc does not close the palette")
	}
}
