package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"lockstep/themes"
	"lockstep/tui/draw"
)

type thing struct {
	id    string
	value int
}

func thingsTable() *Table[thing] {
	t := &Table[thing]{
		Header: true,
		ID:     func(x thing) string { return x.id },
		Name:   func(x thing) string { return x.id },
		Columns: []Column[thing]{
			{Title: "id", Width: 4, Cell: func(x thing) draw.Line { return draw.Plain(x.id) },
				Compare: func(a, b thing) int { return strings.Compare(a.id, b.id) }},
			{Title: "value", Width: 5, Right: true, Rank: 1, Cell: func(x thing) draw.Line { return draw.Plain(fmt.Sprint(x.value)) },
				Compare: func(a, b thing) int { return a.value - b.value }},
			{Title: "rest", Width: 6, Grow: true, Cell: func(x thing) draw.Line { return draw.Plain(strings.Repeat("x", x.value)) }},
		},
	}
	return t
}

// plainLook is the look of the tables: the dark theme in 256 colours.
func plainLook() *draw.Look {
	theme, _ := themes.Load(themes.Auto)
	glyphs, _ := themes.LoadGlyphs(false)
	return draw.NewLook(theme, glyphs, false, themes.Depth256)
}

func drawThings(n *rapid.T, label string) []thing {
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 20, rapid.ID).Draw(n, label)
	out := make([]thing, len(ids))
	for i, id := range ids {
		out[i] = thing{fmt.Sprintf("t%02d", id), rapid.IntRange(0, 9).Draw(n, "value")}
	}
	return out
}

// The cursor stays on its object whatever rows come, go or change places. When the object goes, nothing is selected until the
// operator moves, whatever comes in meanwhile, and the move begins where the object was. The cursor never leaves the rows or the
// screen.
func TestTheCursorStaysOnItsObject(t *testing.T) {
	k := plainLook()
	rapid.Check(t, func(rt *rapid.T) {
		tab := thingsTable()
		height := rapid.IntRange(1, 12).Draw(rt, "height")
		revision := uint64(0)
		check := func() {
			tab.Draw(k, 40, height+1, true, false)
			for id := range tab.marked {
				if !slices.ContainsFunc(tab.all, func(r thing) bool { return tab.ID(r) == id }) {
					rt.Fatalf("%q is marked, and is not there", id)
				}
			}
			if len(tab.rows) == 0 {
				if tab.cursor != "" {
					rt.Fatalf("no rows, but the cursor is on %q", tab.cursor)
				}
				return
			}
			r, ok := tab.Current()
			if tab.lost != "" {
				if ok || tab.cursor != "" || strings.Contains(strings.Join(tab.Draw(k, 40, height+1, true, false), ""), k.Glyph.Cursor) {
					rt.Fatalf("%q has gone, and %q is selected (%t)", tab.lost, tab.cursor, ok)
				}
				return
			}
			if !ok || tab.ID(*r) != tab.cursor || tab.order[tab.index] != tab.cursor {
				rt.Fatalf("the cursor says %q at %d of %v", tab.cursor, tab.index, tab.order)
			}
			if tab.index < tab.offset || tab.index >= tab.offset+height {
				rt.Fatalf("the cursor at %d is not seen: %d rows from %d", tab.index, height, tab.offset)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"news": func(rt *rapid.T) {
				had, lost, before, marks := tab.cursor, tab.lost, slices.Clone(tab.order), len(tab.marked)
				rows := drawThings(rt, "rows")
				revision++
				gone := tab.Set(rows, revision)
				visible := slices.Contains(tab.order, had)
				if marks > 0 && len(tab.marked) == 0 { // an action that was meant for them is not done with the selected row
					if gone == "" || tab.cursor != "" {
						rt.Fatalf("the marked rows went without a word, and the cursor is on %q", tab.cursor)
					}
					return
				}
				switch {
				case lost != "" && (tab.lost != lost || gone != ""):
					rt.Fatalf("%q had gone, and now it is %q (%q said to be gone)", lost, tab.lost, gone)
				case had == "":
				case visible && (tab.cursor != had || gone != ""):
					rt.Fatalf("the cursor left %q for %q (%q said to be gone), though it is still there", had, tab.cursor, gone)
				case !visible && (gone != had || tab.lost != had):
					rt.Fatalf("%q went without a word (%q)", had, gone)
				case !visible && len(tab.order) > 0:
					near := func(id string) int {
						return abs(slices.Index(before, id) - slices.Index(before, had))
					}
					place := tab.order[tab.index]
					for _, id := range tab.order {
						if slices.Contains(before, id) && slices.Contains(before, place) && near(id) < near(place) {
							rt.Fatalf("from %q of %v a move begins at %q, though %q is nearer", had, before, place, id)
						}
					}
				}
			},
			"move": func(rt *rapid.T) { tab.MoveBy(rapid.IntRange(-5, 5).Draw(rt, "by")) },
			"mark": func(*rapid.T) { tab.ToggleMark() },
			"sort": func(*rapid.T) { keeps(rt, tab, func() { tab.NextSort() }) },
			"turn": func(*rapid.T) { keeps(rt, tab, func() { tab.ReverseSort() }) },
			"filter": func(rt *rapid.T) {
				tab.SetFilter(rapid.SampledFrom([]string{"", "t0", "t1", "9", "none"}).Draw(rt, "filter"))
			},
			"resize": func(rt *rapid.T) { height = rapid.IntRange(1, 12).Draw(rt, "height") },
			"":       func(*rapid.T) { check() },
		})
	})
}

// keeps checks that sorting does not move the cursor from its object.
func keeps(rt *rapid.T, tab *Table[thing], do func()) {
	had := tab.cursor
	do()
	if tab.cursor != had {
		rt.Fatalf("sorting took the cursor from %q to %q", had, tab.cursor)
	}
}

func abs(n int) int { return max(n, -n) }

func TestATableIsExactlyAsWideAsItsRoom(t *testing.T) {
	k := plainLook()
	for w := 1; w < 60; w++ {
		tab := thingsTable()
		tab.Set([]thing{{"t1", 3}, {"a-very-long-name-indeed", 900}, {"日本語", 1}}, 1)
		for y, l := range tab.Draw(k, w, 4, true, false) {
			if got := ansi.StringWidth(l); got != w {
				t.Fatalf("at width %d line %d is %d wide: %q", w, y, got, l)
			}
		}
	}
}

func TestNarrowTablesDropColumnsByRank(t *testing.T) {
	tab := thingsTable()
	titles := func(w int) string {
		var out []string
		for _, c := range tab.place(w) {
			out = append(out, c.Title)
		}
		return strings.Join(out, " ")
	}
	if got := titles(40); got != "id value rest" {
		t.Errorf("with room there is %q", got)
	}
	if got := titles(20); got != "id rest" {
		t.Errorf("without room there is %q", got)
	}
}

func TestADrawnRowIsKeptUntilItChanges(t *testing.T) {
	k := plainLook()
	cells := 0
	tab := thingsTable()
	tab.Columns[0].Cell = func(x thing) draw.Line { cells++; return draw.Plain(x.id) }
	rows := []thing{{"t1", 1}, {"t2", 2}, {"t3", 3}}
	tab.Set(rows, 1)
	tab.Draw(k, 40, 4, true, false)
	cells = 0
	tab.Draw(k, 40, 4, true, false)
	if cells != 0 {
		t.Errorf("nothing changed, but %d cells were made anew", cells)
	}
	tab.MoveBy(1)
	tab.Draw(k, 40, 4, true, false)
	if cells != 2 {
		t.Errorf("the cursor moved: %d rows were drawn anew, want the one it left and the one it came to", cells)
	}
	cells = 0
	tab.Set(rows, 2)
	tab.Draw(k, 40, 4, true, false)
	if cells != 3 {
		t.Errorf("a new revision drew %d rows anew, want 3", cells)
	}
}

// Before the machines' names are known, nodes have their long names. When the short ones come, the column gives its room back to
// the columns that it had pushed out. A column of numbers keeps its width, so that nothing jumps.
func TestNamesGiveTheirRoomBack(t *testing.T) {
	for _, names := range []bool{true, false} {
		tb := &Table[thing]{
			ID:   func(x thing) string { return x.id },
			Name: func(x thing) string { return x.id },
			Columns: []Column[thing]{
				{Width: 4, Most: 24, Names: names, Measure: func(x thing) int { return len(x.id) },
					Cell: func(x thing) draw.Line { return draw.Plain(x.id) }},
				{Width: 6, Rank: 1, Cell: func(thing) draw.Line { return draw.Plain("second") }},
			},
		}
		shown := func(revision uint64, id string) bool {
			tb.Set([]thing{{id: id}}, revision)
			return len(tb.place(20)) == 2
		}
		if shown(1, "kaas-node-0ab4dd8f") {
			t.Fatal("the long name leaves room for the second column")
		}
		if got := shown(2, "cmp-07"); got != names {
			t.Errorf("names %t: the second column is back: %t", names, got)
		}
	}
}

// A line below the table is no row, although there are more rows than are seen.
func TestAClickBelowTheTableSelectsNothing(t *testing.T) {
	tab := thingsTable()
	var things []thing
	for i := range 20 {
		things = append(things, thing{fmt.Sprintf("t%02d", i), i})
	}
	tab.Set(things, 1)
	for _, offset := range []int{0, 19} {
		tab.GoTo(offset)
		lines := tab.Draw(plainLook(), 30, 6, true, false)
		top, _ := tab.More()
		for y := range 10 {
			tab.GoTo(offset)
			if is, want := tab.RowAt(y), y > 0 && y < len(lines); is != want || is && tab.Index() != top+y-1 || !is && tab.Index() != offset {
				t.Errorf("from row %d, line %d: %v, the cursor is on %d", offset, y, is, tab.Index())
			}
		}
	}
}
