package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/core"
)

// called is the fixture with an instance on cmp-03 for each name.
func called(names ...string) *core.Snapshot {
	s := world()
	for i, name := range names {
		in := *s.Instances.At(instanceID(1))
		in.ID, in.Name, in.Host, in.Status = fmt.Sprintf("ffffffff-0000-4000-8000-%012d", i), name, "kaas-node-cmp03", "ACTIVE"
		s.Instances.Put(&in)
		s.ByHost[in.Host] = append(s.ByHost[in.Host], &in)
	}
	return s
}

// found returns the names that the palette lists for the typed text, the best first.
func found(d *driver) []string {
	p, ok := d.top().(*palette)
	if !ok {
		return nil
	}
	var out []string
	for _, h := range p.found {
		out = append(out, h.name.text)
	}
	return out
}

// No object is called phone, but an instance is called erp-db: its letters after those of an action do not make a match.
func TestANameIsNotMadeOfAnActionAndAnObject(t *testing.T) {
	d := drive(called("erp-db"), 120, 40).keys("3", ":", "phone")
	if slices.Contains(found(d), "erp-db") {
		t.Errorf("phone finds %v", found(d))
	}
	d.keys("enter")
	if _, ok := d.top().(*palette); !ok || !strings.Contains(d.toast.text, "nothing is called phone") {
		t.Errorf("enter opens %T and says %q:\n%s", d.top(), d.toast.text, stripped(d.shows()))
	}
}

// An exact name comes first, then one that begins with the text, then one with a word that does, then one that contains it. Names
// with only its letters are listed only if there are no others, and nothing is selected until the operator moves there.
func TestThePaletteListsTheBestFirst(t *testing.T) {
	d := drive(called("xdbx", "old-db", "db-replica", "db"), 120, 40).keys("3", ":", "db")
	list := found(d)
	at := -1
	for _, want := range []string{"db", "db-replica", "old-db", "xdbx"} {
		i := slices.Index(list, want)
		if i <= at {
			t.Fatalf("%s has the place %d after %d of %v", want, i, at, list)
		}
		at = i
	}
	d.keys("enter")
	if p, ok := d.top().(*procedurePage); !ok || !strings.HasSuffix(p.proc.Title, " db") {
		t.Errorf("enter does not open db:\n%s", stripped(d.shows()))
	}

	d = drive(called("d-x-bq"), 120, 40).keys("3", ":", "dbq")
	if p := d.top().(*palette); p.at >= 0 || found(d)[0] != "d-x-bq" {
		t.Errorf("row %d is selected of %v", p.at, found(d))
	}
	d.keys("enter")
	if _, ok := d.top().(*palette); !ok {
		t.Fatalf("enter on a guess opens %T", d.top())
	}
	d.keys("down", "enter")
	if p, ok := d.top().(*procedurePage); !ok || !strings.HasSuffix(p.proc.Title, " d-x-bq") {
		t.Errorf("down and enter do not open it:\n%s", stripped(d.shows()))
	}
}

// The matching text stands out, even if it is in another name than the listed one.
func TestThePaletteShowsWhatMatched(t *testing.T) {
	for typed, want := range map[string]string{"cmp-03": "cmp-03", "kaas-node-cmp03": "cmp-03  node  kaas-node-cmp03",
		"ffffffff-0000-4000-8000-000000000000": "erp-db  instance on cmp-03",
		"stop batch":                           "Stop the instance  batch-17", "node.safe": "Declare the node safe"} {
		d := drive(called("erp-db"), 120, 40).keys("4")
		d.instances.Choose(instanceID(3))
		d.keys("3")
		if typed == "stop batch" {
			d.keys("4")
		}
		d.keys(":", typed)
		p := d.top().(*palette)
		if frame := stripped(d.shows()); !strings.Contains(frame, d.look.Glyph.Cursor+" "+want) {
			t.Errorf("%q:\n%s", typed, frame)
		}
		if h := p.found[0]; len(h.at) == 0 {
			t.Errorf("%q: nothing stands out in %q", typed, h.name.text)
		}
	}
	if got := lit("text", "erp-db", []runes{{0, 1}, {4, 6}}); len(got) != 3 || got[0].Text() != "e" || got[1].Text() != "rp-" ||
		got[2].Text() != "db" {
		t.Errorf("%+v", got)
	}
}

// Names are not unique in Nova: rows with the same name show the host of each.
func TestInstancesOfOneNameAreToldApart(t *testing.T) {
	s := called("web-1")
	d := drive(s, 120, 40).keys("3", ":", "web-1")
	frame := stripped(d.shows())
	for _, want := range []string{"web-1  instance on cmp-03", "web-1  instance on cmp-07"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not listed:\n%s", want, frame)
		}
	}
}

// Whatever is typed and wherever the cursor goes, enter does what the selected row says: it goes to the object of that name, or
// does the action of that title. An object is listed only for its own names.
func TestEnterInThePaletteDoesWhatTheRowSays(t *testing.T) {
	parts := []string{"erp", "db", "phone", "open", "steps", "node", "cmp", "-0", "07", "stop", "inst", " ", "the", "web", "over",
		"lock", "batch", "17", "o", "e"}
	rapid.Check(t, func(rt *rapid.T) {
		d := drive(called("erp-db", "phone-gw", "stop"), 120, 40).keys(rapid.SampledFrom([]string{"3", "4"}).Draw(rt, "pane"), ":")
		typed := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 4).Draw(rt, "typed"), "")
		d.keys(typed)
		for range rapid.IntRange(0, 3).Draw(rt, "down") {
			d.keys("down")
		}
		p := d.top().(*palette)
		if p.at < 0 || p.at >= len(p.found) {
			if d.keys("enter"); d.top() != layer(p) {
				rt.Fatalf("%q: nothing is selected, and enter opens %T", typed, d.top())
			}
			return
		}
		h := p.found[p.at]
		shown := h.name.text[:min(len(h.name.text), 60)] // a long title gives way to why it cannot be done now
		if !strings.Contains(stripped(d.shows()), d.look.Glyph.Cursor+" "+shown) {
			rt.Fatalf("%q: the row of %q is not shown as selected:\n%s", typed, h.name.text, stripped(d.shows()))
		}
		if h.kind != "" && h.fit < fitsLetters {
			names := h.name.low
			for _, l := range h.entry.also {
				names += "\n" + l.low
			}
			for i, term := range newQuery(typed).terms {
				if !strings.Contains(names, term) && (i > 0 || strings.TrimSuffix(term, "s") != h.kind) {
					rt.Fatalf("%q finds the %s %q", typed, h.kind, h.name.text)
				}
			}
		}
		d.keys("enter")
		switch {
		case h.kind == "node":
			if v, _ := d.nodes.selected(); v == nil || v.Label != h.name.text || d.top() != nil {
				rt.Fatalf("%q: the row says %q, enter goes to %q", typed, h.name.text, d.nodes.selectedName())
			}
		case h.kind == "instance":
			if page, ok := d.top().(*procedurePage); !ok || d.snap.Instances.At(page.key.Subject).Name != h.name.text {
				rt.Fatalf("%q: the row says %q, enter opens\n%s", typed, h.name.text, stripped(d.shows()))
			}
		case h.reason != "":
			if d.top() != layer(p) || !strings.HasPrefix(d.toast.text, h.name.text) {
				rt.Fatalf("%q: %q cannot be done, and enter says %q", typed, h.name.text, d.toast.text)
			}
		}
	})
}

// When the row that was selected when the palette was opened has gone, the action is not done on its neighbour.
func TestThePaletteDoesNothingOnANeighbour(t *testing.T) {
	for _, open := range []string{":", "a"} {
		d := drive(world(), 120, 40).keys("4")
		d.instances.Choose(instanceID(3))
		d.keys(open, "stop the instance")
		d.fresh(func(s *core.Snapshot) {
			s.Instances.Remove(instanceID(3))
			host := "kaas-node-cmp07"
			s.ByHost[host] = slices.DeleteFunc(slices.Clone(s.ByHost[host]), func(i *core.Instance) bool { return i.ID == instanceID(3) })
		})
		d.keys("enter")
		if _, ok := d.top().(*palette); !ok || d.toast.text != "nothing is selected: batch-17 is no longer there" {
			t.Errorf("%s: enter opens %T and says %q", open, d.top(), d.toast.text)
		}
	}
}

// What changes the cluster, and nothing that is selected, is found from every pane; its key is not named where it means something else.
func TestWhatIsOfTheClusterIsFoundFromEveryPane(t *testing.T) {
	for _, pane := range []string{"1", "2", "3", "4", "5"} {
		d := drive(world(), 120, 40).keys(pane, ":", "update group that no machine")
		if list := found(d); len(list) != 1 || list[0] != "Remove an update group that no machine belongs to" {
			t.Errorf("from pane %s it finds %v", pane, list)
		}
		d.keys("ctrl+u", "esc")
	}
	d := drive(world(), 120, 40).keys("3", ":", "drive the update")
	if p := d.top().(*palette); len(p.found) == 0 || p.found[0].keys != "" {
		t.Errorf("from the nodes it finds %v with its key", found(d))
	}
}

// "go to it" shows where it has gone, from a page, too: the page below the palette makes room.
func TestThePaletteGoesThereFromAPage(t *testing.T) {
	for _, keys := range [][]string{nil, {"L"}, {"H"}, {"enter"}, {"L", "l"}} {
		d := drive(world(), 120, 40).keys(keys...)
		if d.keys(":", "cmp-09", "enter"); d.top() != nil || d.focus != ScopeNodes || d.nodes.Cursor() != "kaas-node-cmp09" {
			t.Errorf("after %q, %T is open, and the cursor is on %s:\n%s", keys, d.top(), d.nodes.Cursor(), stripped(d.shows()))
		}
	}
	for _, keys := range [][]string{nil, {"L"}, {"i"}} {
		d := driveClusters(120, 40, theFleet()).keys(keys...)
		if d.keys(":", "mos-rom", "enter"); d.top() != layer(d.clusters()) || d.clusters().rows.Cursor() != "rom/mos-rom" {
			t.Errorf("after %q, %T is open, and the cursor is on %s", keys, d.top(), d.clusters().rows.Cursor())
		}
	}
}

// The menu names what its actions work on: what is marked, with what a filter hides of it.
func TestTheMenuNamesWhatIsMarked(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "space", "down", "space")
	if frame := stripped(d.keys("a").shows()); !strings.Contains(frame, "What can be done with 2 marked") {
		t.Errorf("two are marked:\n%s", frame)
	}
	d.keys("esc", "/", "c", "m", "p", "-", "0", "7", "enter", "a")
	if frame := stripped(d.shows()); d.nodes.HiddenMarks() == 0 || !strings.Contains(frame, "of them hidden") {
		t.Errorf("%d are hidden:\n%s", d.nodes.HiddenMarks(), frame)
	}
}
