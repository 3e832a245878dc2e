package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

func (d *driver) pastes(text string) *driver {
	d.send(tea.PasteMsg{Content: text})
	return d
}

// aPage opens a page with the lines.
func (d *driver) aPage(lines ...string) *pager {
	p := &pager{title: func(*Model) string { return "A page" }, lines: func(_ *Model, w int) []draw.Line {
		var out []draw.Line
		for _, l := range lines {
			out = append(out, draw.Paragraph(themes.Text, l, w)...)
		}
		return out
	}}
	d.open(p)
	return p
}

// A long text that was copied from a page is found there, over all the lines onto which it is wrapped.
func TestALongTextIsFound(t *testing.T) {
	long := "Failed to live-migrate the instance: the host has no room for its " + strings.Repeat("memory and its disks ", 12) + "any more."
	for _, w := range []int{80, 120, 200} {
		d := drive(world(), w, 24)
		p := d.aPage("one", long, "three")
		d.keys("/").pastes(long + "\n")
		if d.shows(); len(p.find.hits) != 1 || strings.Contains(lastLine(d), "not found") || !strings.Contains(lastLine(d), "1 found") ||
			!strings.Contains(lastLine(d), "disks any more.") {
			t.Errorf("at %d columns, %d hits: %q", w, len(p.find.hits), lastLine(d))
		}
		if got := foundLine(d.keys("enter")); !strings.HasPrefix(got, "Failed to live-migrate") {
			t.Errorf("at %d columns it is on %q", w, got)
		}
	}
}

// What is too long to be searched for is not taken, and that is said: a part of it would find something else.
func TestASearchThatIsTooLongIsNotTaken(t *testing.T) {
	d := drive(world(), 120, 24)
	p := d.aPage("one", strings.Repeat("x", 80))
	d.keys("/", "one").pastes(strings.Repeat("x", 1<<10))
	if p.find.text != "one" || !strings.Contains(lastLine(d), "not taken") {
		t.Errorf("it searches for %q: %q", p.find.text, lastLine(d))
	}
	if d.keys("backspace"); p.find.text != "on" || strings.Contains(lastLine(d), "not taken") {
		t.Errorf("it searches for %q: %q", p.find.text, lastLine(d))
	}
}

// A pasted list of nodes is a filter with all of them; one that is too long is not taken, and that is said. While it is typed its end
// is seen, and how many rows it lets through; afterwards its beginning.
func TestALongFilterKeepsItsValues(t *testing.T) {
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("cmp-%02d", i+1)
	}
	list := "node:=" + strings.Join(names, ",")
	for _, w := range []int{80, 120} {
		d := drive(world(), w, 40).keys("3", "/").pastes(list)
		if got := d.focused().Filter(); got != list {
			t.Fatalf("the filter is %q", got)
		}
		shown, all := d.focused().Count()
		count := fmt.Sprintf(" %d of %d", shown, all)
		if foot := lastLine(d); shown != 12 || !strings.Contains(foot, "cmp-19,cmp-20") || !strings.Contains(foot, count) {
			t.Errorf("%d of %d rows: %q", shown, all, foot)
		}
		d.pastes("," + strings.Repeat("x", 1<<10))
		if d.focused().Filter() != list || !strings.Contains(stripped(d.shows()), "not taken") {
			t.Errorf("the filter is %q:\n%s", d.focused().Filter(), stripped(d.shows()))
		}
		d.keys("enter", "esc")
		if frame := stripped(d.shows()); !strings.Contains(frame, "/node:=cmp-01,") || !strings.Contains(frame, count) {
			t.Errorf("the filter is not seen:\n%s", frame)
		}
	}
}

// The same of the history and of the clusters.
func TestALongFilterOfAPage(t *testing.T) {
	list := "node:=" + strings.Repeat("cmp-01,", 60) + "cmp-02"
	d := drive(world(), 100, 30).keys("H", "/").pastes(list)
	p, ok := d.top().(*historyPage)
	if !ok {
		t.Fatalf("%T is open", d.top())
	}
	if p.rows.Filter() != list || !strings.Contains(stripped(d.shows()), "cmp-01,cmp-02_") {
		t.Errorf("the filter is %q:\n%s", p.rows.Filter(), stripped(d.shows()))
	}
	if d.keys("enter"); !strings.Contains(stripped(d.shows()), "/node:=cmp-01,") {
		t.Errorf("the filter is not seen:\n%s", stripped(d.shows()))
	}
	d.keys("/").pastes(strings.Repeat("x", 1<<10))
	if p.rows.Filter() != list || !strings.Contains(stripped(d.shows()), "not taken") {
		t.Errorf("the filter is %q:\n%s", p.rows.Filter(), stripped(d.shows()))
	}
}

// And of the list of clusters.
func TestALongFilterOfTheClusters(t *testing.T) {
	list := "name:" + strings.Repeat("mos-par,", 20) + "mos-lab"
	d := driveClusters(80, 24, theFleet()).keys("/").pastes(list + "\n")
	if got := d.clusters().rows.Filter(); got != list || !strings.Contains(lastLine(d), "mos-par,mos-lab") {
		t.Errorf("the filter is %q: %q", got, lastLine(d))
	}
	if d.pastes(strings.Repeat("x", 1<<10)); d.clusters().rows.Filter() != list || !strings.Contains(stripped(d.shows()), "not taken") {
		t.Errorf("the filter is %q:\n%s", d.clusters().rows.Filter(), stripped(d.shows()))
	}
	if frame := stripped(d.keys("enter").shows()); !strings.Contains(frame, "/name:mos-par,") {
		t.Errorf("the filter is not seen:\n%s", frame)
	}
}
