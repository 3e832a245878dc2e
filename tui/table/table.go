// Package table makes lists on the screen: rows under columns, with a cursor, marks, a filter and an order. It does not know what
// its rows are.
package table

import (
	"cmp"
	"maps"
	"slices"

	"lockstep/tui/draw"
)

// Column is one column of a table.
type Column[T any] struct {
	Title   string      // empty: it has none, and cannot be sorted by
	Width   int         // in columns of the screen; the least when it grows or is measured
	Measure func(T) int // the width that a row needs: the column is as wide as the widest row, from Width to Most; nil: Width
	Most    int         // the greatest width, with Measure
	Names   bool        // with Measure: it also shrinks with its widest row; names stay as they are, once they are known
	Share   int         // with Measure: the hundredths of the table's width that it takes at most; 0: no limit
	Grow    bool        // takes the room that is left
	Right   bool        // aligned to the right, as numbers are
	Rank    int         // 0 is never dropped; when room is short, the column with the highest rank goes first
	Cell    func(T) draw.Line
	Fill    func(r T, w int) draw.Line // draws the cell where that depends on the column's width; nil: Cell
	Compare func(a, b T) int           // nil: not to be sorted by
	Hide    func() bool                // it is left out now; nil: never
}

func (c *Column[T]) hidden() bool { return c.Hide != nil && c.Hide() }

// Table is a list of objects. Its cursor stays on an object, not on a place: when rows come, go or change their order, it follows
// the object. When the object goes, nothing is selected until the operator moves. Only visible rows are drawn, and a drawn row is
// kept until it changes.
type Table[T any] struct {
	Columns []Column[T]
	Keys    []Key[T]       // what a filter can ask for, beside the columns
	ID      func(T) string // of a row; no two rows have the same
	Name    func(T) string // what to call a row when it has gone
	Header  bool           // the columns' titles are shown
	Search  func(T) string // the text of a row in which a filter looks, in small letters; nil: what its columns say
	// Same tells whether two rows of one ID are one: what its cells say differs by the time only, and is not measured again while it is out
	// of sight. Nil: all rows are measured whenever new ones come.
	Same func(a, b T) bool

	all    []T
	rows   []T      // those that the filter lets through, sorted
	order  []string // the IDs of rows
	cursor string   // the ID of the row under the cursor; empty when nothing is selected
	index  int      // where that row is, or where it was
	offset int      // the first row that is seen
	lost   string   // what was selected, and went by itself; empty while a row is selected

	marked   map[string]bool
	filter   string
	sortBy   string // a column's title; empty for the order in which the rows come
	sortDown bool

	revision uint64
	widths   map[int]int // of measured columns: they grow and do not shrink, so that nothing jumps, but for names
	forWidth int
	measured uint64 // the revision for which the widths were measured, plus one
	needs    needs  // with Same: the width that each row needs
	height   int    // rows that were seen last
	cache    map[string]drawnRow
	spare    map[string]drawnRow // the cache of the drawing before the last, for the memory
	line     draw.Line           // of the row that was drawn last, for the memory
}

// Set takes new rows; another revision redraws all of them. It returns the name of the row under the cursor when that is gone, or
// says that all marked rows are: then nothing is selected. A row that the filter now hides counts as gone.
func (t *Table[T]) Set(rows []T, revision uint64) (gone string) {
	had, was := t.Current()
	name, id, marks := "", t.cursor, len(t.marked)
	if was {
		name = t.Name(*had)
	}
	t.keepNeeds(rows)
	t.all, t.revision = rows, revision
	t.arrange()
	switch {
	case marks > 0 && len(t.marked) == 0: // what was to be done with the marked rows is not done with the selected one
		t.Lose("what was marked")
	case was && t.cursor != id:
		t.Lose(name)
	default:
		return ""
	}
	return t.lost
}

// Lose selects nothing, because the selected row has gone. It keeps the cursor's place for the next move.
func (t *Table[T]) Lose(name string) {
	t.cursor, t.lost = "", cmp.Or(name, "what was selected")
}

// Titles are the titles of the columns that have one.
func (t *Table[T]) Titles() []string {
	var out []string
	for i := range t.Columns {
		if title := t.Columns[i].Title; title != "" {
			out = append(out, title)
		}
	}
	return out
}

// All returns the rows as they came, without the filter.
func (t *Table[T]) All() []T { return t.all }

// Rows returns the rows that the filter lets through, as sorted.
func (t *Table[T]) Rows() []T { return t.rows }

// Index is the cursor's place among Rows, or its last place before its row went.
func (t *Table[T]) Index() int { return t.index }

// Cursor is the ID of the row under the cursor; empty when nothing is selected.
func (t *Table[T]) Cursor() string { return t.cursor }

// Settle puts the cursor on the neighbour of the row that has gone, for a list that nobody has touched.
func (t *Table[T]) Settle() {
	if t.lost != "" {
		t.GoTo(t.index)
	}
}

// Redraw draws the rows again although no new ones have come.
func (t *Table[T]) Redraw() {
	t.cache, t.measured, t.needs = nil, 0, needs{}
}

// Gone is the name of the selected row that went by itself; empty while a row is selected.
func (t *Table[T]) Gone() string { return t.lost }

// arrange filters and sorts, and puts the cursor back on its object.
func (t *Table[T]) arrange() {
	if t.stand() {
		t.rows = t.all
		t.scroll()
		return
	}
	before, at := t.order, t.index
	on := t.cursor
	if t.lost != "" && at < len(before) {
		on = before[at] // its place stays beside the same row
	}
	t.rows = t.all
	if t.filter != "" {
		terms := t.filterTerms()
		t.rows = nil
		for _, r := range t.all {
			if t.passes(r, terms) {
				t.rows = append(t.rows, r)
			}
		}
	}
	if c := t.sortColumn(); c != nil {
		t.rows = slices.Clone(t.rows)
		slices.SortStableFunc(t.rows, func(a, b T) int {
			if t.sortDown {
				return c.Compare(b, a)
			}
			return c.Compare(a, b)
		})
	}
	place := make(map[string]int, len(t.rows))
	t.order = make([]string, len(t.rows))
	for i, r := range t.rows {
		t.order[i] = t.ID(r)
		place[t.order[i]] = i
	}
	t.dropMarks()
	t.index = anchor(on, before, at, place, len(t.rows))
	if t.offset > 0 {
		t.offset += t.index - at // the row under the cursor stays where it is on the screen; the top stays the top
	}
	t.cursor = ""
	if len(t.rows) > 0 && t.lost == "" {
		t.cursor = t.order[t.index]
	}
	t.scroll()
}

// dropMarks takes the marks off rows that are no longer there. Those that the filter hides are there.
func (t *Table[T]) dropMarks() {
	if len(t.marked) == 0 {
		return
	}
	there := make(map[string]bool, len(t.all))
	for _, r := range t.all {
		there[t.ID(r)] = true
	}
	maps.DeleteFunc(t.marked, func(id string, _ bool) bool { return !there[id] })
}

// stand tells whether all rows, and no others, are where they were.
func (t *Table[T]) stand() bool {
	if t.filter != "" || t.sortBy != "" || len(t.marked) > 0 || len(t.all) == 0 || len(t.all) != len(t.order) {
		return false
	}
	if t.index < 0 || t.index >= len(t.order) || t.lost == "" && t.cursor != t.order[t.index] {
		return false
	}
	for i, r := range t.all {
		if t.ID(r) != t.order[i] {
			return false
		}
	}
	return true
}

// anchor finds the row for a cursor that was on id, the at-th of before: the same object, else its nearest old neighbour that
// still exists, the one below first.
func anchor(id string, before []string, at int, place map[string]int, n int) int {
	if i, ok := place[id]; ok {
		return i
	}
	for d := 1; d <= len(before); d++ {
		for _, j := range []int{at + d, at - d} {
			if j >= 0 && j < len(before) {
				if i, ok := place[before[j]]; ok {
					return i
				}
			}
		}
	}
	return max(min(at, n-1), 0)
}

func (t *Table[T]) sortColumn() *Column[T] {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Title == t.sortBy && c.Compare != nil && t.sortBy != "" {
			return c
		}
	}
	return nil
}

// Current is the row under the cursor; false when nothing is selected.
func (t *Table[T]) Current() (*T, bool) {
	if t.lost != "" || t.index < 0 || t.index >= len(t.rows) {
		return nil, false
	}
	return &t.rows[t.index], true
}

// Choose puts the cursor on the row with that ID; false when it is not among the rows.
func (t *Table[T]) Choose(id string) bool {
	i := slices.Index(t.order, id)
	if i < 0 {
		return false
	}
	t.GoTo(i)
	return true
}

// GoTo puts the cursor on the i-th row, or on the nearest there is.
func (t *Table[T]) GoTo(i int) {
	t.index = max(min(i, len(t.rows)-1), 0)
	t.cursor, t.lost = "", ""
	if len(t.rows) > 0 {
		t.cursor = t.order[t.index]
	}
	t.scroll()
}

// scroll keeps the cursor among the visible rows.
func (t *Table[T]) scroll() {
	h := max(t.height, 1)
	if t.index < t.offset {
		t.offset = t.index
	}
	if t.index >= t.offset+h {
		t.offset = t.index - h + 1
	}
	t.offset = max(min(t.offset, len(t.rows)-h), 0)
}

// ToggleMark marks or unmarks the row under the cursor, and goes to the next.
func (t *Table[T]) ToggleMark() {
	if t.cursor == "" {
		return
	}
	if t.marked == nil {
		t.marked = make(map[string]bool)
	}
	if t.marked[t.cursor] {
		delete(t.marked, t.cursor)
	} else {
		t.marked[t.cursor] = true
	}
	t.GoTo(t.index + 1)
}

// MarkedOrCurrent returns the marked rows in the order in which they stand on the screen, those that the filter hides at the end; or the
// row under the cursor when none is marked.
func (t *Table[T]) MarkedOrCurrent() []T {
	var out []T
	seen := make(map[string]bool, len(t.marked))
	for _, rows := range [][]T{t.rows, t.all} {
		if len(seen) == len(t.marked) {
			break
		}
		for _, r := range rows {
			if id := t.ID(r); t.marked[id] && !seen[id] {
				seen[id] = true
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		if r, ok := t.Current(); ok {
			out = append(out, *r)
		}
	}
	return out
}

// List is a Table without the type of its rows.
type List interface {
	Titles() []string
	Cursor() string
	Choose(id string) bool
	Index() int
	MoveBy(n int)
	GoTo(i int)
	Page() int
	Count() (shown, all int)
	SetFilter(s string)
	Filter() string
	Offers() (done string, words []string)
	Complete() bool
	Known() []string
	NextSort() string
	ReverseSort() string
	ToggleMark()
	Marks() int
	HiddenMarks() int
	ClearMarks()
	RowAt(y int) bool
	Gone() string
	Settle()
	Text() []string
	More() (above, below int)
}

// MoveBy moves the cursor n rows down, or up when n is negative.
func (t *Table[T]) MoveBy(n int) { t.GoTo(t.index + n - t.below(n)) }

// Page is how many rows page up and page down move.
func (t *Table[T]) Page() int { return max(t.height-1, 1) }

// Count returns how many rows the filter lets through, and how many there are.
func (t *Table[T]) Count() (shown, all int) { return len(t.rows), len(t.all) }

// Filter is the filter as it was typed; empty when there is none.
func (t *Table[T]) Filter() string { return t.filter }

// Marks is how many rows are marked.
func (t *Table[T]) Marks() int { return len(t.marked) }

// ClearMarks removes all marks.
func (t *Table[T]) ClearMarks() { t.marked = nil }

// below is 1 on the way down from the place of a row that has gone: the row now at that place is the first below it.
func (t *Table[T]) below(n int) int {
	if t.lost != "" && n > 0 {
		return 1
	}
	return 0
}

// More returns how many rows are out of sight above and below.
func (t *Table[T]) More() (above, below int) {
	return t.offset, max(len(t.rows)-t.offset-max(t.height, 0), 0)
}

// SetFilter shows only the rows that the filter lets through; an empty one lets all through.
func (t *Table[T]) SetFilter(s string) {
	t.filter = s
	t.lost = "" // the operator is looking for a row
	t.arrange()
}

// NextSort goes to the next column to sort by, and after the last back to the rows' own order; it returns the column.
func (t *Table[T]) NextSort() string {
	next := ""
	seen := t.sortBy == ""
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Compare == nil || c.hidden() {
			continue
		}
		if seen {
			next = c.Title
			break
		}
		seen = c.Title == t.sortBy
	}
	t.sortBy, t.sortDown = next, false
	t.arrange()
	return next
}

// ReverseSort sorts the other way round; it returns the column, or nothing where the rows stand in their own order.
func (t *Table[T]) ReverseSort() string {
	t.sortDown = !t.sortDown && t.sortBy != ""
	t.arrange()
	return t.sortBy
}

// RowAt puts the cursor on the y-th line of the table as it was drawn; false when there is no row: what is below the table is not one of
// the rows that are out of sight.
func (t *Table[T]) RowAt(y int) bool {
	if t.Header {
		y--
	}
	if y < 0 || y >= t.height || t.offset+y >= len(t.rows) {
		return false
	}
	t.GoTo(t.offset + y)
	return true
}
