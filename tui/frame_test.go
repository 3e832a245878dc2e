package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkFrame checks what holds for every frame: no line is wider than the terminal, and there are no more lines than it has.
func checkFrame(t *testing.T, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > h {
		t.Errorf("%dx%d: %d lines", w, h, len(lines))
	}
	for y, l := range lines {
		if got := ansi.StringWidth(l); got > w {
			t.Errorf("%dx%d: line %d is %d wide: %q", w, h, y, got, ansi.Strip(l))
		}
	}
}

// checkBox checks that the box in front, if there is one, is on the screen down to its last line but one, which has the buttons.
func checkBox(t *testing.T, d *driver) {
	t.Helper()
	box := d.top()
	if box == nil || box.page() || d.small() {
		return
	}
	lines := box.draw(d.Model, d.width, d.height)
	last := strings.TrimRight(ansi.Strip(lines[len(lines)-2]), " ")
	if frame := stripped(d.shows()); len(lines) > d.height || !strings.Contains(frame, last) {
		t.Errorf("%dx%d: a box of %d lines, without %q:\n%s", d.width, d.height, len(lines), last, frame)
	}
}

var everyScreen = [][]string{nil, {"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"enter"}, {"i"}, {"4", "i"}, {"?"}, {"p"}, {":"},
	{"T", "left", "+"}, {"a"}, {"e"}, {"n"}, {"w"}, {"/", "cmp"}, {"enter", "enter"}, {"4", "m"}, {"m"}, {"1", "enter"},
	{"1", "enter", "enter"}, {"1", "enter", "i"}, {"1", "#"}, {"3", "n"}, {"3", ":", "out of scheduling", "enter"},
	{":", "override", "enter"}}

func TestEverySizeHoldsTheFrame(t *testing.T) {
	lane.Single(t)
	for _, size := range []struct{ w, h int }{{40, 12}, {79, 23}, {300, 100}, {20, 5}, {1, 1}, {2, 50}, {60, 15}, {110, 27}, {109, 60},
		{160, 20}, {36, 9}, {130, 30}} {
		for _, keys := range everyScreen {
			d := drive(world(), size.w, size.h).keys(keys...)
			checkFrame(t, d.shows(), size.w, size.h)
			checkBox(t, d)
		}
	}
}

// However low the screen and however long what a box says, its fields and buttons are on it.
func TestEveryBoxHasItsButtons(t *testing.T) {
	long := strings.Repeat("the server says why it does not, at some length; ", 30)
	refused := &core.APIError{Kind: core.ErrForbidden, Message: long, Remedy: long}
	silence := func(d *driver) *driver { return d.keys(":").keys("silence alerts").keys("enter") }
	boxes := map[string]func(w, h int) *driver{
		"note": func(w, h int) *driver {
			d := drive(world(), w, h)
			d.fake.noteErr = refused
			return d.keys("1", "#", "x", "enter")
		},
		"note on what is over": func(w, h int) *driver {
			d := drive(world(), w, h).keys("1", "#", "x", "tab", "+45m", "tab", "space")
			d.fresh(func(s *core.Snapshot) { s.NodeRequests, s.NodeLocks = nil, core.ByName[[]*core.WorkloadLock]{} })
			return d.keys("enter")
		},
		"override": func(w, h int) *driver {
			return drive(world(), w, h).keys("3", ":").keys("override openstack cmp-07").keys("enter")
		},
		"silence": func(w, h int) *driver { return silence(drive(alertedWorld(), w, h)) },
		"silence, wrong": func(w, h int) *driver {
			return silence(drive(alertedWorld(), w, h)).keys("down", "down", " {", "enter")
		},
		"alerts that pause": func(w, h int) *driver {
			return drive(managedWorld(), w, h).keys("2", ":").keys("alerts that pause").keys("enter")
		},
		"update group": func(w, h int) *driver {
			return drive(managedWorld(), w, h).keys("3", ":").keys("update group").keys("enter")
		},
		"login": func(w, h int) *driver {
			return driveLogins(w, h, &loginDesk{}).keys("down", "enter", "tab")
		},
		"login, refused": func(w, h int) *driver {
			return driveLogins(w, h, &loginDesk{err: refused}).keys("down", "enter", "tab", "enter")
		},
		"confirmation, refused": func(w, h int) *driver {
			step := theStep()
			step.Type, step.Risk = "openstack-kaas-node-9df0d016-06dc-4088-a491-2bfc0dade0eb", core.RiskHigh
			d, _, box := opened(step, func(d *driver) { d.send(windowSize(w, h)) })
			box.refused(d.Model, refused)
			return d
		},
		"lease": func(w, h int) *driver { return drive(withWrite(core.WriteMode{Lease: "bob@jump02"}), w, h).keys("w") },
		"lease, refused": func(w, h int) *driver {
			d := drive(withWrite(core.WriteMode{Lease: "bob@jump02", Other: core.Doing{Said: true, As: long, Now: long, Last: long + "1"}}), w, h)
			d.fake.armErr = refused
			return d.keys("w", "tab", takeOverWord, "tab", "enter")
		},
		"lost lease": func(w, h int) *driver {
			d := drive(world(), w, h)
			d.fresh(func(s *core.Snapshot) { s.Write = core.WriteMode{Lost: long} })
			return d
		},
		"leave":   func(w, h int) *driver { d := drive(world(), w, h); d.send(ctrlC); return d },
		"suspend": func(w, h int) *driver { d, _ := stoppable(world(), w, h); return d.keys("ctrl+z") },
		"time of a recording": func(w, h int) *driver {
			f := newReplay()
			f.refuse = refused
			d := drive(world(), w, h, withReplay(f))
			d.run(d.awaitReplay())
			return d.keys("@", "9", "enter")
		},
		"times of a log": func(w, h int) *driver {
			return drive(world(), w, h, withLooker(&fakeLooker{parts: rockoonParts()})).keys("5", "P", "T", "x", "enter")
		},
	}
	for _, size := range []struct{ w, h int }{{36, 9}, {40, 12}, {60, 15}, {80, 24}, {200, 12}} {
		for name, open := range boxes {
			d := open(size.w, size.h)
			if top := d.top(); top == nil || top.page() {
				t.Errorf("%dx%d: %s: %T is open", size.w, size.h, name, top)
			}
			checkFrame(t, d.shows(), size.w, size.h)
			checkBox(t, d)
		}
	}
}

func TestWithoutASnapshotTheScreenSaysForHowLong(t *testing.T) {
	for _, size := range sizes {
		d := drive(nil, size.w, size.h)
		d.later(7 * time.Second)
		for _, k := range []string{"enter", "i", "m", "e", "w", "x", "y", "4", "/", "esc", "?", "esc", "p", "a"} {
			d.keys(k)
			checkFrame(t, d.shows(), size.w, size.h)
		}
		d = drive(nil, size.w, size.h)
		d.later(7 * time.Second)
		d.dirty = true
		if frame := stripped(d.shows()); !strings.Contains(frame, "connecting for 7 s") {
			t.Errorf("%dx%d: %s", size.w, size.h, frame)
		}
	}
}

func TestAnEmptyClusterSaysSoInWords(t *testing.T) {
	s := &core.Snapshot{Facts: core.Facts{Revision: 1, Now: fixtureNow, Wall: fixtureWall, Cluster: "new",
		Sources: map[core.SourceID]core.Source{}}}
	for _, size := range sizes {
		d := drive(s, size.w, size.h)
		for _, keys := range everyScreen {
			d.keys(keys...)
			checkFrame(t, d.shows(), size.w, size.h)
			checkBox(t, d)
			d.keys("esc", "esc", "esc")
		}
	}
	if frame := stripped(drive(s, 120, 40).shows()); !strings.Contains(frame, "Nothing needs you") {
		t.Errorf("an empty cluster does not say that nothing needs the operator:\n%s", frame)
	}
}

func TestAPaneSaysWhichCallFailedWhyAndWhatToDo(t *testing.T) {
	s := world()
	s.Sources[core.SourceInstances] = core.Source{ID: core.SourceInstances, State: core.SourceForbidden, Since: fixtureWall.Add(-time.Minute),
		Err: &core.APIError{Kind: core.ErrForbidden, Server: core.ServerOpenStack, Call: "list instances of all projects", Status: 403,
			Message: "Policy doesn't allow os_compute_api:servers:index:get_all_tenants", Remedy: "use a user with the role admin"}}
	s.Instances, s.ByHost = core.Instances{}, map[string][]*core.Instance{}
	for _, size := range sizes {
		frame := stripped(drive(s, size.w, size.h).keys("4").shows())
		for _, want := range []string{"list instances of all projects", "403", "get_all_tenants", "use a user with the role admin"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%dx%d: %q is not on the screen:\n%s", size.w, size.h, want, frame)
			}
		}
	}
}

func TestStaleFactsAreMarkedWithTheirAge(t *testing.T) {
	s := world()
	src := s.Sources[core.SourceNodes]
	src.State, src.AsOf = core.SourceStale, fixtureWall.Add(-4*time.Minute)
	s.Sources[core.SourceNodes] = src
	frame := stripped(drive(s, 120, 40).shows())
	if !strings.Contains(frame, "stale, 4 m old") || !strings.Contains(frame, "○ kubernetes 4 m old") {
		t.Errorf("the nodes' age is not shown:\n%s", frame)
	}
	// Of several sources of a pane the oldest tells its age.
	for id, age := range map[core.SourceID]time.Duration{core.SourceInstances: 40 * time.Minute, core.SourceMigrations: 2 * time.Minute} {
		of := s.Sources[id]
		of.State, of.AsOf = core.SourceStale, fixtureWall.Add(-age)
		s.Sources[id] = of
	}
	if frame := stripped(drive(s, 200, 60).shows()); !strings.Contains(frame, "stale, 40 m old") {
		t.Errorf("the instances' age is not shown:\n%s", frame)
	}
	// A source that claims to be live, but was not confirmed for longer than allowed, does not count as live.
	src.State = core.SourceLive
	s = world()
	s.Sources[core.SourceNodes] = src
	if frame := stripped(drive(s, 120, 40).shows()); !strings.Contains(frame, "○ kubernetes 4 m old") {
		t.Errorf("a source unconfirmed for 4 m passes for live:\n%s", frame)
	}
}

func TestOnlyASCIIWhereThatIsWanted(t *testing.T) {
	for _, keys := range everyScreen {
		d := drive(world(), 120, 40, func(o *Options) { o.ASCII = true }).keys(keys...)
		frame := d.shows()
		checkFrame(t, frame, 120, 40)
		for _, r := range frame {
			if r > 0x7e {
				t.Fatalf("%v: %q is on the screen", keys, r)
			}
		}
	}
}

func TestNoColourMeansNone(t *testing.T) {
	colour := regexp.MustCompile("\x1b\\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")
	for _, keys := range everyScreen {
		for _, theme := range []string{"dark", "mono"} {
			d := drive(world(), 120, 40, withTheme(theme), func(o *Options) { o.NoColor = true }).keys(keys...)
			if found := colour.FindString(d.shows()); found != "" {
				t.Errorf("%s %v: %q is on the screen", theme, keys, found)
			}
		}
	}
}

func TestAFrameIsMadeOnceForEachChange(t *testing.T) {
	d := drive(world(), 120, 40)
	first := d.shows()
	d.frame = "kept"
	if got := d.shows(); got != "kept" {
		t.Error("the frame was made anew, though nothing had changed")
	}
	d.send(tea.FocusMsg{})
	if got := d.shows(); got != first {
		t.Error("the same state gives another frame")
	}
}

func TestTheBackendLearnsWhichNodeIsLookedAt(t *testing.T) {
	d := drive(world(), 120, 40)
	first := d.nodes.Cursor()
	d.keys("3", "down")
	if got := fmt.Sprint(d.fake.focused); got != fmt.Sprint([]string{first, d.nodes.Cursor()}) {
		t.Errorf("the backend was told of %v", got)
	}
}

func TestTheMouseIsOffUntilSwitchedOn(t *testing.T) {
	d := drive(world(), 120, 40)
	if d.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is on at the start")
	}
	d.keys("f2")
	if d.View().MouseMode == tea.MouseModeNone {
		t.Error("f2 does not switch the mouse on")
	}
	d.shows()
	var nodes area
	for _, a := range d.areas {
		if a.id == ScopeNodes {
			nodes = a
		}
	}
	d.send(tea.MouseClickMsg{X: nodes.x + 3, Y: nodes.y + 3, Button: tea.MouseLeft})
	if d.nodes.Index() != 2 {
		t.Errorf("a click on the third node selected row %d", d.nodes.Index())
	}
}

// paneAt is where a pane was drawn.
func (d *driver) paneAt(t *testing.T, id Scope) area {
	t.Helper()
	d.shows()
	i := slices.IndexFunc(d.areas, func(a area) bool { return a.id == id })
	if i < 0 {
		t.Fatalf("the pane %s is not on the screen", id)
	}
	return d.areas[i]
}

// A click on another pane ends the filter that is typed: what is typed next is not the filter of that pane.
func TestAClickOnAnotherPaneEndsTheFilter(t *testing.T) {
	d := drive(world(), 120, 40).keys("f2", "3", "/", "cmp")
	nodes, locks := d.paneAt(t, ScopeNodes), d.paneAt(t, ScopeLocks)
	d.send(tea.MouseClickMsg{X: nodes.x + 3, Y: nodes.y + 3, Button: tea.MouseLeft})
	if d.keys("-"); !d.filtering || d.nodes.Filter() != "cmp-" {
		t.Errorf("after a click on its own pane the filter is %q", d.nodes.Filter())
	}
	d.send(tea.MouseClickMsg{X: locks.x + 3, Y: locks.y + 1, Button: tea.MouseLeft})
	if d.keys("x"); d.focus != ScopeLocks || d.filtering || d.locks.Filter() != "" || d.nodes.Filter() != "cmp-" {
		t.Errorf("the focus is on %s, the filters are %q and %q", d.focus, d.nodes.Filter(), d.locks.Filter())
	}
}

// While a notice is open over a filter that is typed, the footer says the keys of the notice. The filter goes on after it.
func TestANoticeOverAFilterHasItsKeys(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "/", "cmp")
	d.fresh(func(s *core.Snapshot) { s.Write = core.WriteMode{Lost: "bob took the lease over"} })
	if foot := lastLine(d); !strings.Contains(foot, "enter close") || strings.Contains(foot, "/cmp") {
		t.Errorf("the footer is %q", foot)
	}
	if d.later(hushFor).keys("esc", "-"); d.nodes.Filter() != "cmp-" || !strings.Contains(lastLine(d), "/cmp-") {
		t.Errorf("the filter is %q, the footer %q", d.nodes.Filter(), lastLine(d))
	}
}
