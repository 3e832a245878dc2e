package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// crowded is the world with the longest texts that its columns have to show.
func crowded() *core.Snapshot {
	s := world()
	node := s.Nodes["kaas-node-cmp07"]
	for _, in := range s.ByHost[node.Name] {
		in.SharedFlavor.VCPUs, in.SharedFlavor.RAMMiB = 128, 1536*1024
		in.TagsKnown, in.Tags = true, []string{core.TagMaintenanceAction + "live_migrate", core.TagMaintenanceAction + "notify"}
		in.TaskState = "resize_migrating"
	}
	gateway := s.Nodes["kaas-node-gtw01"]
	gateway.Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
	s.Operations[0].Started = before(40 * time.Hour)
	s.NodeLock(node.Name, core.ControllerOpenStack).RawState = "half-released"
	return s
}

// A column's main content is never cut: sizes, modes, states, times of another day.
func TestColumnsShowTheirWordsWhole(t *testing.T) {
	for _, c := range []struct {
		key   string
		words []string
		least int // the width of the terminal from which it has room
	}{
		{"4", []string{"128 vCPU 1536 GiB"}, 120},
		{"4", []string{"resize_migrating"}, 200},
		{"4", []string{"notify (two tags)"}, 80},
		{"3", []string{"(manual)"}, 80},
		{"5", []string{"half-released"}, 80},
		{"6", []string{"Mar 13 00:43"}, 80},
	} {
		for _, w := range []int{80, 100, 120, 160, 200} {
			if w < c.least {
				continue
			}
			d := drive(crowded(), w, 24)
			frame := stripped(d.keys(c.key).shows())
			for _, word := range c.words {
				if !strings.Contains(frame, word) {
					t.Errorf("at %d columns the pane %s does not show %q whole:\n%s", w, c.key, word, frame)
				}
			}
		}
	}
}

// An empty log leaves the locks its room; with its first entry it takes its share.
func TestAnEmptyLogTakesLittleRoom(t *testing.T) {
	share := func(s *core.Snapshot, keys ...string) int {
		d := drive(s, 200, 60).keys(keys...)
		d.shows()
		for _, a := range d.areas {
			if a.id == ScopeLog {
				return a.w
			}
		}
		t.Fatal("the log is not on the screen")
		return 0
	}
	empty := world()
	empty.Operations = nil
	for _, keys := range [][]string{nil, {"6"}} {
		if w := share(empty, keys...); w > 40 {
			t.Errorf("after %q an empty log takes %d of 200 columns", keys, w)
		}
	}
	if w := share(world()); w < 75 {
		t.Errorf("a log with an entry has %d columns", w)
	}
}

// finished is the fixture's cluster after its update, with the cluster's locks active again.
func finished() *core.Snapshot {
	s := over()
	for _, l := range s.ClusterLocks {
		l.RawState = core.LockActive
	}
	return s
}

// The header of a finished update says how long it took.
func TestTheHeaderKeepsTheTotalTime(t *testing.T) {
	for _, c := range []struct {
		w    int
		want string
	}{{80, "update done <4h00m"}, {120, "update done in <4 h 00 m"}, {200, "update done in <4 h 00 m"}} {
		header, _, _ := strings.Cut(stripped(drive(finished(), c.w, 24).shows()), "\n")
		if !strings.Contains(header, c.want) {
			t.Errorf("at %d columns it says %q, and not %q", c.w, header, c.want)
		}
	}
	seen := finished()
	seen.History.Update.EndSeen = true
	if header, _, _ := strings.Cut(stripped(drive(seen, 120, 40).shows()), "\n"); !strings.Contains(header, "update done in 4 h 00 m") {
		t.Errorf("its end was seen: %q", header)
	}
}

// The evidence of a phase is shown as far as there is room, and cut only then: never above empty rows.
func TestWhatAPhaseRestsOnIsCutByItsRoomAlone(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("a long word of the plan ", 30))
	d := drive(world(), 120, 40)
	for h := range 60 {
		evidence := []string{"the first", long, "the last"}
		out := evidenceLines(&scene{snap: d.snap, look: d.look}, evidence, 38, h)
		var text strings.Builder
		for _, l := range out {
			if l.Width() > 38 {
				t.Fatalf("in %d lines one is %d wide: %q", h, l.Width(), l.Text())
			}
			text.WriteString(" " + strings.TrimSpace(l.Text()))
		}
		whole := strings.Contains(text.String(), long)
		switch {
		case len(out) > h:
			t.Fatalf("%d lines in room for %d", len(out), h)
		case h == 59 && !whole, whole != strings.HasSuffix(strings.ReplaceAll(text.String(), d.look.Glyph.Dot+" ", ""), long+" the last"):
			t.Errorf("in %d lines: %q", h, text.String())
		case h > 2 && !whole && !strings.Contains(text.String(), d.look.Glyph.Ellipsis):
			t.Errorf("in %d lines it is cut without a mark: %q", h, text.String())
		case h >= 6 && !strings.Contains(text.String(), "the last"):
			t.Errorf("in %d lines the long one leaves no room for the last: %q", h, text.String())
		}
	}
}

// On the page of steps, too, a controller's text is not cut above empty rows.
func TestTheSummaryOfStepsIsWholeWhereThereIsRoom(t *testing.T) {
	for _, size := range []struct {
		w, h  int
		whole bool
	}{{80, 16, false}, {120, 50, true}, {200, 60, true}} {
		d := drive(world(), size.w, size.h).keys("3", "enter")
		text := strings.Join(strings.Fields(stripped(d.shows())), " ")
		const end = "Servers with unset maintenance action: ['db-2']"
		if got := strings.Contains(text, end); got != size.whole {
			t.Errorf("at %dx%d the end of the summary is there: %t\n%s", size.w, size.h, got, stripped(d.shows()))
		}
	}
}

// A line that is cut ends with one mark.
func TestACutLineHasOneMark(t *testing.T) {
	lane.Single(t)
	d := drive(world(), 120, 40)
	evidence := []string{strings.Repeat("NMR r05-cmp-13 (os) since 17:42: preparing ", 9), strings.Repeat("x", 300), "short"}
	for h := range 14 {
		for w := 12; w < 60; w++ {
			for _, l := range evidenceLines(&scene{snap: d.snap, look: d.look}, evidence, w, h) {
				if text := l.Text(); strings.Count(text, d.look.Glyph.Ellipsis) > 1 || l.Width() > w {
					t.Fatalf("in %dx%d: %q", w, h, text)
				}
			}
		}
	}
}

// The progress of a migration or an evacuation is never cut: the bar beside the figure goes first.
func TestFiguresAreNotCut(t *testing.T) {
	s := world()
	for _, in := range s.Instances.All() {
		in.ProjectID = "a-long-project"
	}
	for _, w := range []int{80, 100, 120, 160, 200} {
		if frame := stripped(drive(s, w, 24).keys("4").shows()); !strings.Contains(frame, "81 %") {
			t.Errorf("at %d columns the migration's figure is cut:\n%s", w, frame)
		}
		if frame := stripped(drive(s, w, 24).keys("3").shows()); !strings.Contains(frame, "6 of 15 moved") {
			t.Errorf("at %d columns the evacuation's figure is cut:\n%s", w, frame)
		}
	}
	d := drive(s, 120, 40)
	if text := d.pane(ScopeNodes).explain(); !strings.Contains(text, "1 live, 1 manual, 1 notify, 1 moving") {
		t.Errorf("below the rows it says %q", text)
	}
}
