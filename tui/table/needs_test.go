package table

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/tui/draw"
)

// measuredTable is a list of words whose only column is as wide as the widest; it counts how often a row is measured.
func measuredTable(names bool) (t *Table[*string], measured *int) {
	measured = new(int)
	t = &Table[*string]{ID: func(w *string) string { return (*w)[:4] }, Name: func(w *string) string { return *w },
		Same: func(a, b *string) bool { return a == b }}
	t.Columns = []Column[*string]{{Title: "word", Width: 2, Most: 40, Names: names,
		Measure: func(w *string) int { *measured++; return len(*w) },
		Cell:    func(w *string) draw.Line { return draw.Plain(*w) }}}
	return t, measured
}

func wordsOf(n int) []*string {
	rows := make([]*string, n)
	for i := range rows {
		rows[i] = new(fmt.Sprintf("%04d", i))
	}
	return rows
}

// Of thousands of rows one has changed: it is measured again, and so is what is in sight, and nothing else.
func TestOnlyRowsThatChangedOrAreInSightAreMeasured(t *testing.T) {
	table, measured := measuredTable(false)
	table.height = 10
	rows := wordsOf(2000)
	table.Set(rows, 1)
	table.place(80)
	*measured = 0
	rows = slices.Clone(rows)
	rows[1500] = new("1500 has more to say")
	table.Set(rows, 2)
	if w := table.place(80)[0].w; w < len("1500 has more to say") {
		t.Errorf("the column is %d wide", w)
	}
	if *measured != 11 {
		t.Errorf("%d rows were measured, for 1 that changed and 10 in sight", *measured)
	}
	*measured = 0
	table.place(80)
	if *measured != 0 {
		t.Errorf("%d rows were measured although no new ones have come", *measured)
	}
}

// A row that has come into sight is measured: what it says may have grown by time alone.
func TestARowThatComesIntoSightIsMeasured(t *testing.T) {
	table, _ := measuredTable(false)
	table.height = 10
	rows := wordsOf(100)
	table.Set(rows, 1)
	table.place(80)
	*rows[50] = "0050 for an hour"
	table.GoTo(55)
	if w := table.place(80)[0].w; w != len(*rows[50]) {
		t.Errorf("the column is %d wide, and its row in sight %d", w, len(*rows[50]))
	}
}

// Rows that come, go and change their places keep their own widths, and a column of names shrinks with its widest row.
func TestMeasuredRowsKeepTheirWidthsInOtherPlaces(t *testing.T) {
	table, _ := measuredTable(true)
	table.height = 1
	rows := wordsOf(20)
	rows[10] = new("0010 is the widest")
	rows[15] = new("0015 is next")
	table.Set(rows, 1)
	table.place(80)
	moved := slices.Clone(rows)
	slices.Reverse(moved)
	for revision, step := range []struct {
		rows []*string
		want int
	}{
		{moved, len("0010 is the widest")},
		{append(wordsOf(1), moved[:19]...), len("0010 is the widest")},
		{slices.DeleteFunc(slices.Clone(moved), func(w *string) bool { return w == rows[10] }), len("0015 is next")},
		{rows[:5], 4},
		{nil, 2},
		{rows, len("0010 is the widest")},
	} {
		table.Set(step.rows, uint64(revision+2))
		if w := table.place(80)[0].w; w != step.want {
			t.Errorf("step %d: the column is %d wide, want %d", revision, w, step.want)
		}
	}
}
