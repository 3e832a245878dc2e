package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// pageText returns the text of the topmost page, in one line.
func pageText(t *testing.T, d *driver) string {
	t.Helper()
	p, ok := d.top().(*pager)
	if !ok {
		t.Fatalf("no page of text: %T\n%s", d.top(), stripped(d.shows()))
	}
	var out []string
	for _, l := range p.lines(d.Model, d.width-2) {
		out = append(out, l.Text())
	}
	return strings.Join(strings.Fields(strings.Join(out, "\n")), " ")
}

// Messages can be read again, with their time, the newest first, on the dashboard and on a page.
func TestWhatWasSaidCanBeReadAgain(t *testing.T) {
	for _, size := range sizes {
		for _, page := range [][]string{nil, {"enter"}, {"i"}, {"?"}} {
			d := drive(world(), size.w, size.h).keys(append([]string{"s", "s", "f2"}, page...)...)
			d.run(d.say(toneBad, "refused: "+strings.Repeat("a long reason ", 40)+"at its end"))
			d.keys("L")
			got := pageText(t, d)
			order := []string{"16:43:10 refused: a long reason", "at its end", "16:43:10 the mouse is on", "16:43:10 sorted by role",
				"16:43:10 sorted by node"}
			for at, i := 0, 0; i < len(order); i++ {
				n := strings.Index(got[at:], order[i])
				if n < 0 {
					t.Fatalf("%v %q: after %d there is no %q in %q", size, page, at, order[i], got)
				}
				at += n
			}
			depth := len(d.layers)
			if d.keys("L"); len(d.layers) != depth-1 {
				t.Errorf("%v %q: L does not close it", size, page)
			}
		}
	}
}

// The same message several times is one entry. Without messages the list says so. A message wider than the screen points to the
// list.
func TestMessagesAreCounted(t *testing.T) {
	d := drive(world(), 80, 24)
	if got := pageText(t, d.keys("L")); got != "There are no messages yet." {
		t.Errorf("it says %q", got)
	}
	d.keys("esc", "h", "h", "h") // nothing is running in a batch: each key gets the same refusal
	if got := pageText(t, d.keys("L")); !strings.Contains(got, "(3 times)") || strings.Count(got, "16:43:10") != 1 {
		t.Errorf("three times the same is %q", got)
	}
	d.keys("esc")
	d.run(d.say(toneWarn, strings.Repeat("very ", 30)+"long"))
	if lines := strings.Split(stripped(d.shows()), "\n"); !strings.HasSuffix(lines[len(lines)-3], "L all of it") {
		t.Errorf("a word that is cut does not lead to the list: %q", lines[len(lines)-3])
	}
	for i := range 3 * keepMessages {
		d.run(d.say(toneInfo, strings.Repeat("x", i%7)))
	}
	if len(d.said) != keepMessages {
		t.Errorf("%d are kept, want %d", len(d.said), keepMessages)
	}
}

// worked is the world with a batch, and an error that the screen showed.
func worked() *core.Snapshot {
	s := world()
	s.Operations = append([]core.Operation{{ID: "op-2", Title: "move off cmp-11", Node: "kaas-node-cmp11", State: core.OperationFailed,
		Text:    "1 of 2 failed",
		Started: before(20 * time.Minute), Ended: before(10 * time.Minute), Items: []core.OperationItem{
			{Label: "web-1", Instance: instanceID(1), State: core.OperationDone, Text: "on cmp-09 now", Started: before(20 * time.Minute),
				Ended: before(18 * time.Minute)},
			{Label: "api-4", Instance: instanceID(99), State: core.OperationFailed, Text: "No valid host was found",
				Started: before(18 * time.Minute), Ended: before(10 * time.Minute)}}}}, s.Operations...)
	return s
}

// l shows the log from everywhere and leads back.
func TestTheLogIsSeenFromEverywhere(t *testing.T) {
	for _, pane := range []string{"1", "2", "3", "4", "5"} {
		d := drive(worked(), 120, 40).keys(pane)
		was := d.focus
		if d.keys("l"); d.focus != ScopeLog {
			t.Errorf("pane %s: l goes to %s", pane, d.focus)
		}
		if d.keys("l"); d.focus != was {
			t.Errorf("pane %s: l leads back to %s", pane, d.focus)
		}
	}
	d := drive(worked(), 80, 24).keys("3", "enter")
	page := d.top()
	got := pageText(t, d.keys("l"))
	own, others, ok := strings.Cut(got, "Of others")
	if !ok || !strings.HasPrefix(own, "Of cmp-07") || !strings.Contains(own, "16:41 → running live-migrate web-1") ||
		!strings.Contains(own, "81 %, to cmp-09") {
		t.Errorf("on the steps of cmp-07 the log says %q", got)
	}
	if !strings.Contains(others, "move off cmp-11 (10 m) 1 of 2 failed") ||
		!strings.Contains(others, "x failed api-4 (8 m) No valid host was found") {
		t.Errorf("of others it says %q", others)
	}
	if d.keys("l"); d.top() != page {
		t.Error("l does not lead back to the steps")
	}
}

// In the log, enter opens the entry, f leads to its object, and the object's steps are one action away.
func TestEnterInTheLogOpensTheEntry(t *testing.T) {
	d := drive(worked(), 120, 40).keys("6")
	row := func(what string, match func(r logRow) bool) *driver {
		t.Helper()
		i := slices.IndexFunc(d.log.Rows(), match)
		if i < 0 {
			t.Fatalf("no row of %s", what)
		}
		d.layers = nil
		d.keys("6")
		d.log.GoTo(i)
		return d
	}
	batch := func(r logRow) bool { return r.op != nil && r.op.ID == "op-2" && r.item == nil }
	web := func(r logRow) bool { return r.op != nil && r.op.ID == "op-1" }
	if got := pageText(t, row("the batch", batch).keys("enter")); !strings.Contains(got, "api-4 state failed") ||
		!strings.Contains(got, "No valid host was found") {
		t.Errorf("enter on a batch says %q", got)
	}
	if row("the batch", batch).keys("f"); d.focus != ScopeNodes || d.nodes.Cursor() != "kaas-node-cmp11" {
		t.Errorf("f goes to pane %s, node %q", d.focus, d.nodes.Cursor())
	}
	d.nodes.SetFilter("gtw")
	if row("web-1", web).keys("f"); d.focus != ScopeInstances || d.shown != "kaas-node-cmp07" || d.instances.selectedName() != "web-1" {
		t.Errorf("f goes to pane %s, node %q, instance %q", d.focus, d.shown, d.instances.selectedName())
	}
	if d.nodes.Filter() != "" || !strings.Contains(d.said[0].text, "the filter /gtw hid cmp-07") {
		t.Errorf("the filter is %q, and said was %q", d.nodes.Filter(), d.said[0].text)
	}
	d.run(d.say(toneBad, "refused: writing is off"))
	failed := func(r logRow) bool { return r.message != nil }
	if got := pageText(t, row("the error", failed).keys("enter")); !strings.Contains(got, "says refused: writing is off") ||
		strings.Contains(got, "live-migrate") {
		t.Errorf("enter on an error says %q", got)
	}
	if row("the error", failed).keys("f"); d.focus != ScopeLog {
		t.Errorf("f on an error goes to %s", d.focus)
	}
}
