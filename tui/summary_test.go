package tui

import (
	"strings"
	"testing"
)

// The summary of a procedure page is wrapped at the width, and never cut there. The page says so if there is no room.
func TestSummaryIsWrapped(t *testing.T) {
	d := drive(world(), 80, 24).keys("enter")
	p := d.top().(*procedurePage)
	long := "the OpenStack controller says: " + strings.Repeat("Servers with unset maintenance action: ['db-2'] ", 4) + "the end"
	p.proc.Summary = []string{"waiting for you", long, "4 instances"}
	text := func(room int) (all string) {
		for _, l := range p.summary(d.Model, 78, room) {
			if l.Width() > 78 {
				t.Errorf("a line of %d columns: %s", l.Width(), l.Text())
			}
			all += l.Text() + "\n"
		}
		return all
	}
	if got, want := strings.Join(strings.Fields(text(20)),
		" "), strings.Join(append([]string{"waiting for you"}, append(strings.Fields(long), "4 instances")...), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for room := 1; room < 5; room++ {
		got := text(room)
		if strings.Count(got, "\n") != room || !strings.HasSuffix(got, " "+d.look.Glyph.Ellipsis+"\n") {
			t.Errorf("in %d lines:\n%s", room, got)
		}
	}
}
