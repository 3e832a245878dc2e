package tui

import (
	"cmp"
	"slices"
)

// column is one column of a table.
type column[T any] struct {
	title   string
	width   int         // columns it takes; its least when it grows
	measure func(T) int // what a row would like; the column is as wide as the widest row, from width to most
	most    int         // with measure
	names   bool        // with measure: it shrinks with its widest row, too: names stay as they are, once they are known
	share   int         // with measure: most hundredths of the table's width that it takes; 0: as many as it likes
	grow    bool        // takes what is left over
	right   bool        // numbers stand on the right
	rank    int         // 0 is never dropped; the highest goes first when room is short
	cell    func(T) line
	fill    func(r T, w int) line // instead of cell, for what has to know the column's width
	compare func(a, b T) int      // nil: not to be sorted by
	hide    func() bool           // it is left out now; nil: never
}

func (c *column[T]) hidden() bool { return c.hide != nil && c.hide() }

// table is a list of objects whose cursor stays on an object, not on a place: when rows come, go or change their order,
// it follows the object. When the object goes, nothing is selected until the operator moves. Only the rows that are seen are
// drawn, and a drawn row is kept until something of it changes.
type table[T any] struct {
	columns []column[T]
	keys    []filterKey[T] // what a filter can ask for, beside the columns
	id      func(T) string
	name    func(T) string // what to call a row when it has gone
	header  bool
	can     struct{ mark bool }

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
	height   int    // rows that were seen last
	cache    map[string]drawnRow
}

// set takes new rows. It returns the name of the row under the cursor when that row is gone, or says that all marked ones are: then nothing
// is selected. A row that the filter hides now is gone, too.
func (t *table[T]) set(rows []T, revision uint64) (gone string) {
	had, was := t.current()
	name, id, marks := "", t.cursor, len(t.marked)
	if was {
		name = t.name(*had)
	}
	t.all, t.revision = rows, revision
	t.arrange()
	switch {
	case marks > 0 && len(t.marked) == 0: // what was to be done with the marked rows is not done with the selected one
		t.lose("what was marked")
	case was && t.cursor != id:
		t.lose(name)
	default:
		return ""
	}
	return t.lost
}

// lose selects nothing: what was selected has gone. The cursor's place is kept for the next move.
func (t *table[T]) lose(name string) {
	t.cursor, t.lost = "", cmp.Or(name, "what was selected")
}

// settle puts the cursor on the neighbour of what has gone, where nobody has looked at it.
func (t *table[T]) settle() {
	if t.lost != "" {
		t.goTo(t.index)
	}
}

// redraw has the rows drawn anew though no new ones have come.
func (t *table[T]) redraw() {
	t.cache, t.measured = nil, 0
}

// gone is what was selected before it went by itself; empty while a row is selected.
func (t *table[T]) gone() string { return t.lost }

// arrange filters and sorts, and puts the cursor back on its object.
func (t *table[T]) arrange() {
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
				return c.compare(b, a)
			}
			return c.compare(a, b)
		})
	}
	place := make(map[string]int, len(t.rows))
	t.order = make([]string, len(t.rows))
	for i, r := range t.rows {
		t.order[i] = t.id(r)
		place[t.order[i]] = i
	}
	for id := range t.marked {
		if _, ok := place[id]; !ok && t.filter == "" {
			delete(t.marked, id)
		}
	}
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

// anchor finds the row for a cursor that was on id, the at-th of before: the same object, else the nearest of its old
// neighbours that is still there, the one below first.
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

func (t *table[T]) sortColumn() *column[T] {
	for i := range t.columns {
		if c := &t.columns[i]; c.title == t.sortBy && c.compare != nil && t.sortBy != "" {
			return c
		}
	}
	return nil
}

// current is the row under the cursor; false when nothing is selected.
func (t *table[T]) current() (*T, bool) {
	if t.lost != "" || t.index < 0 || t.index >= len(t.rows) {
		return nil, false
	}
	return &t.rows[t.index], true
}

// choose puts the cursor on the row with that ID; false when it is not among the rows.
func (t *table[T]) choose(id string) bool {
	i := slices.Index(t.order, id)
	if i < 0 {
		return false
	}
	t.goTo(i)
	return true
}

func (t *table[T]) goTo(i int) {
	t.index = max(min(i, len(t.rows)-1), 0)
	t.cursor, t.lost = "", ""
	if len(t.rows) > 0 {
		t.cursor = t.order[t.index]
	}
	t.scroll()
}

// scroll keeps the cursor among the rows that are seen.
func (t *table[T]) scroll() {
	h := max(t.height, 1)
	if t.index < t.offset {
		t.offset = t.index
	}
	if t.index >= t.offset+h {
		t.offset = t.index - h + 1
	}
	t.offset = max(min(t.offset, len(t.rows)-h), 0)
}

// toggleMark marks the row under the cursor, or takes its mark away, and goes on to the next.
func (t *table[T]) toggleMark() {
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
	t.goTo(t.index + 1)
}

// markedOrCurrent are the marked rows in their order, or the one under the cursor when none is marked.
func (t *table[T]) markedOrCurrent() []T {
	var out []T
	for _, r := range t.all {
		if t.marked[t.id(r)] {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		if r, ok := t.current(); ok {
			out = append(out, *r)
		}
	}
	return out
}

// list is what panes with a table have in common, whatever their rows are.
type list interface {
	moveBy(n int)
	goTo(i int)
	page() int
	count() (shown, all int)
	setFilter(s string)
	filterText() string
	offers() (done string, words []string)
	complete() bool
	known() []string
	nextSort() string
	reverseSort() string
	toggleMark()
	marks() int
	clearMarks()
	canMark() bool
	rowAt(y int) bool
	gone() string
	settle()
	more() (above, below int)
}

func (t *table[T]) moveBy(n int)            { t.goTo(t.index + n - t.below(n)) }
func (t *table[T]) page() int               { return max(t.height-1, 1) }
func (t *table[T]) count() (shown, all int) { return len(t.rows), len(t.all) }
func (t *table[T]) filterText() string      { return t.filter }
func (t *table[T]) marks() int              { return len(t.marked) }
func (t *table[T]) clearMarks()             { t.marked = nil }
func (t *table[T]) canMark() bool           { return t.can.mark }

// below is 1 on the way down from the place of a row that has gone: the row that came there is the first below it.
func (t *table[T]) below(n int) int {
	if t.lost != "" && n > 0 {
		return 1
	}
	return 0
}

// more is how many rows there are above and below those that are seen.
func (t *table[T]) more() (above, below int) {
	return t.offset, max(len(t.rows)-t.offset-max(t.height, 0), 0)
}

func (t *table[T]) setFilter(s string) {
	t.filter = s
	t.lost = "" // whoever filters looks for a row
	t.arrange()
}

// nextSort goes to the next column to sort by, and after the last back to the rows' own order; it returns the column.
func (t *table[T]) nextSort() string {
	next := ""
	seen := t.sortBy == ""
	for i := range t.columns {
		c := &t.columns[i]
		if c.compare == nil || c.hidden() {
			continue
		}
		if seen {
			next = c.title
			break
		}
		seen = c.title == t.sortBy
	}
	t.sortBy, t.sortDown = next, false
	t.arrange()
	return next
}

func (t *table[T]) reverseSort() string {
	t.sortDown = !t.sortDown && t.sortBy != ""
	t.arrange()
	return t.sortBy
}

// rowAt puts the cursor on the y-th line of the table as drawn.
func (t *table[T]) rowAt(y int) bool {
	if t.header {
		y--
	}
	if y < 0 || t.offset+y >= len(t.rows) {
		return false
	}
	t.goTo(t.offset + y)
	return true
}
