package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lockstep/core"
	"lockstep/core/timeline"
)

// The bars are told apart by their letters and glyphs alone, and by colour where there is one.
func TestTheTimelineAsTheTerminalGetsIt(t *testing.T) {
	golden(t, "timeline-ascii-80x24", stripped(drive(world(), 80, 24, func(o *Options) { o.ASCII = true }).keys("T").shows()))
	for _, look := range []struct {
		name, theme string
		profile     colorprofile.Profile
	}{{"dark-256", "dark", colorprofile.ANSI256}, {"mono", "mono", colorprofile.ASCII}} {
		d := drive(world(), 80, 24, withTheme(look.theme))
		d.send(tea.ColorProfileMsg{Profile: look.profile})
		golden(t, "styled-timeline-"+look.name, styled(t, d.keys("T").shows(), look.profile))
	}
}

func TestEveryBarHasAGlyphOfItsOwn(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		g := drive(world(), 80, 24, func(o *Options) { o.ASCII = ascii }).look.Glyph
		letters, fills := map[string]timeline.Bar{}, map[string]timeline.Bar{g.Now: timeline.None, g.Aim: timeline.None}
		for _, b := range timeline.Bars() {
			letter, fill := barLetter[b], barFill(g, b)
			if other, taken := letters[letter]; taken && letter != "" {
				t.Errorf("%s and %s have the letter %s", b, other, letter)
			}
			if other, taken := fills[fill]; taken && b != timeline.Runs { // of phases, which have no other bar
				t.Errorf("ascii %v: %s and %s are drawn with %s", ascii, b, other, fill)
			}
			if letters[letter], fills[fill] = b, b; fill == "" {
				t.Errorf("%s cannot be seen", b)
			}
		}
	}
}

// A stage that nobody saw begin, and of which an API has the time, is said to be reconstructed.
func TestTheTimelineMarksWhatIsReconstructed(t *testing.T) {
	s := world()
	course := slices.Clone(s.History.Courses[s.Nodes["kaas-node-cmp06"].UID])
	course[len(course)-2].Since.Exact, course[len(course)-2].Reconstructed = false, true
	s.History.Courses[s.Nodes["kaas-node-cmp06"].UID] = course
	d := drive(s, 120, 40).keys("T")
	p := d.panes[ScopeTimeline].(*timelinePane)
	p.Choose("node/kaas-node-cmp06")
	d.keys("f", "[")
	d.shows()
	if got := p.tells(); !strings.Contains(got, "rebooting 16:36 (reconstructed: nobody looked) to 16:40") {
		t.Errorf("it says %q", got)
	}
}

// The columns stand for round times, and what is in them is what was then.
func TestTheTimeUnderTheCursor(t *testing.T) {
	d := drive(world(), 120, 40).keys("T")
	p := d.panes[ScopeTimeline].(*timelinePane)
	p.Choose("node/kaas-node-cmp06")
	told := func(keys ...string) string {
		t.Helper()
		d.keys(keys...)
		d.shows()
		return p.tells()
	}
	if got := told("f"); !strings.HasPrefix(got, "cmp-06 now: returning 16:40 until now, 3 m") {
		t.Errorf("it says %q", got)
	}
	for _, tt := range []struct{ key, want string }{
		{"[", "rebooting 16:36 to 16:40"}, {"[", "updating"}, {"[", "draining"}, {"[", "evacuating"},
		{"[", "waiting for you 16:20 to 16:24, 3 m: manual mode: the operator moves the instances"},
		{"]", "evacuating"}, {"f", "cmp-06 now"}, {"<", "cmp-06, 14:00 to 14:03: it came at 16:13"}, {">", "cmp-06 now"},
	} {
		if got := told(tt.key); !strings.Contains(got, tt.want) {
			t.Errorf("after %s it says %q, which has no %q", tt.key, got, tt.want)
		}
	}
	told("left")
	was := p.aim
	if told("left"); was.Sub(p.aim) != p.view.step {
		t.Errorf("left goes from %s to %s; a column is %s", was, p.aim, p.view.step)
	}
	if told("right"); !p.aim.Equal(was) {
		t.Errorf("right goes to %s, not back to %s", p.aim, was)
	}
	if foot := stripped(d.shows()); !strings.Contains(foot, "at 16:39, f: now") {
		t.Errorf("the time under the cursor is not shown:\n%s", foot)
	}
	d.keys("enter")
	if frame := stripped(d.shows()); !strings.Contains(frame, "cmp-06 at 16:39 to 16:42") ||
		!strings.Contains(frame, "rebooting since 16:36, until 16:40") || !strings.Contains(frame, "enter as it is now") {
		t.Errorf("enter does not say what it was:\n%s", frame)
	}
	d.keys("enter")
	if frame := stripped(d.shows()); !strings.Contains(frame, "Take cmp-06 through its maintenance") {
		t.Errorf("enter once more does not open it as it is now:\n%s", frame)
	}
	d.keys("esc")
	if frame := stripped(d.shows()); !strings.Contains(frame, "cmp-06 at 16:39") {
		t.Errorf("esc does not lead back to what it was:\n%s", frame)
	}
}

// Zooming keeps the time in view that the cursor is at, or else the present.
func TestZoomingKeepsTheTimeInView(t *testing.T) {
	d := drive(world(), 80, 24).keys("T")
	p := d.panes[ScopeTimeline].(*timelinePane)
	for _, keys := range [][]string{{"f"}, {"<"}, {"f", "[", "["}} {
		d.keys(keys...)
		for range 5 {
			for _, key := range []string{"+", "+", "+", "-", "-", "-", "-", "-", "-", "+", "="} {
				d.keys(key)
				d.shows()
				if at := p.view.column(p.at()); at < 0 {
					t.Fatalf("after %v and %s, %s is not seen: from %s, %d columns of %s", keys, key, p.at(), p.view.left, p.view.cols, p.view.step)
				}
				if !p.view.left.Equal(onGrid(p.view.left, p.view.step)) {
					t.Fatalf("the first column begins at %s; a column is %s", p.view.left, p.view.step)
				}
			}
		}
	}
	for range len(scales) + 1 {
		d.keys("+")
		d.shows()
	}
	if p.view.step != time.Minute {
		t.Errorf("a column is %s at least", p.view.step)
	}
	d.keys("0")
	if d.shows(); p.view.step != 5*time.Minute {
		t.Errorf("the whole update is seen with columns of %s", p.view.step)
	}
}

// While the keys go elsewhere the cursor of the timeline is on the node that the screen is about; with the keys it leads the screen.
func TestTheTimelineIsAboutTheSelectedNode(t *testing.T) {
	d := drive(world(), 200, 60).keys("3", "down")
	d.shows()
	p := d.panes[ScopeTimeline].(*timelinePane)
	if got := p.Cursor(); got != "node/"+d.nodes.Cursor() {
		t.Errorf("the nodes are at %s, the timeline at %s", d.nodes.Cursor(), got)
	}
	d.keys("7", "up", "up")
	if got := p.Cursor(); got != "node/"+d.nodes.Cursor() || d.shown != d.nodes.Cursor() {
		t.Errorf("the timeline is at %s, the nodes at %s, and %s is shown", got, d.nodes.Cursor(), d.shown)
	}
}

func TestTheTimelineTakesTheWholeScreenAndGivesItBack(t *testing.T) {
	for _, back := range []string{"T", "esc"} {
		d := drive(world(), 120, 40).keys("2", "T")
		if frame := stripped(d.shows()); strings.Contains(frame, "3 Nodes") || !strings.Contains(frame, "7 Timeline") ||
			!strings.Contains(frame, "manual mode: 2 instances") {
			t.Errorf("T does not show the timeline below the most urgent entry:\n%s", frame)
		}
		d.keys(back)
		if frame := stripped(d.shows()); !strings.Contains(frame, "3 Nodes") || d.focus != ScopePhases {
			t.Errorf("%s does not lead back; the keys go to %s:\n%s", back, d.focus, frame)
		}
	}
}

func TestATimelineWithoutAnUpdateSaysSo(t *testing.T) {
	s := world()
	s.ClusterRequests, s.History.Update = nil, core.UpdateRecord{}
	for _, size := range sizes {
		d := drive(s, size.w, size.h).keys("7")
		if frame := strings.Join(strings.Fields(stripped(d.shows())), " "); !strings.Contains(frame, "No update runs, and none was seen.") {
			t.Errorf("%dx%d: %s", size.w, size.h, frame)
		}
		if d.keys("left"); !strings.Contains(d.toast.text, "no update is known") {
			t.Errorf("left says %q", d.toast.text)
		}
	}
}

// Migrations are ticks in the bar: how many ended in a column, and whether one failed.
func TestMigrationsAreTicksInTheBar(t *testing.T) {
	s := world()
	for i := range 12 {
		id := fmt.Sprintf("moved-%d", i)
		at := before(18 * time.Minute)
		if i > 9 {
			at = before(10 * time.Minute)
		}
		s.Migrations[id] = []*core.Migration{{ID: 900 + i, InstanceID: id, Type: core.MigrationLive, Status: "completed",
			SourceHost: "kaas-node-cmp11", DestHost: "kaas-node-cmp01", Created: at.Add(-time.Minute), Updated: at}}
	}
	d := drive(s, 120, 40).keys("T")
	p := d.panes[ScopeTimeline].(*timelinePane)
	p.Choose("node/kaas-node-cmp11")
	frame := stripped(d.shows())
	for _, want := range []string{"e+▒▒2▒▒▒", "1-9 moved"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen:\n%s", want, frame)
		}
	}
	d.keys("left", "left", "left")
	if d.shows(); !strings.Contains(p.tells(), "; moved moved-10 to cmp-01, moved-11 to cmp-01") {
		t.Errorf("three columns ago: %q", p.tells())
	}
}

func BenchmarkDrawTimeline(b *testing.B) {
	d := drive(world(), 200, 60).keys("T")
	for b.Loop() {
		d.dirty = true
		_ = d.shows()
	}
}
