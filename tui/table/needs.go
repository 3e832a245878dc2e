package table

import "slices"

// needs are the widths that the rows of a table need in its measured columns. A screen is drawn five times a second, and of thousands of
// rows a few have changed: only these are measured again, and those in sight, whose ages grow.
type needs struct {
	widths []int // by row, then by column; unmeasured where that is not known
	spare  []int // those of the rows before: the next ones use its memory
	from   int   // the first row in sight that was measured for what it shows now
	to     int   // the one after the last
}

const unmeasured = -1

// keepNeeds takes over what is known of rows that are the same among the new ones.
func (t *Table[T]) keepNeeds(rows []T) {
	old, n := t.needs.widths, len(t.Columns)
	t.needs.from, t.needs.to = 0, 0
	if t.Same == nil || len(old) != len(t.all)*n || len(old) == 0 {
		t.needs.widths = nil
		return
	}
	if len(rows) == len(t.all) && len(rows) > 0 && &rows[0] == &t.all[0] {
		return
	}
	var index map[string]int // of the old rows; made when one has another place
	was := func(i int) int {
		if index == nil {
			if i < len(t.all) && t.ID(t.all[i]) == t.ID(rows[i]) {
				return i
			}
			index = make(map[string]int, len(t.all))
			for at, r := range t.all {
				index[t.ID(r)] = at
			}
		}
		if at, there := index[t.ID(rows[i])]; there {
			return at
		}
		return -1
	}
	widths := slices.Grow(t.needs.spare[:0], len(rows)*n)[:len(rows)*n]
	for i := range rows {
		own := widths[i*n : i*n+n]
		if at := was(i); at >= 0 && t.Same(t.all[at], rows[i]) {
			copy(own, old[at*n:at*n+n])
			continue
		}
		forget(own)
	}
	t.needs.widths, t.needs.spare = widths, old
}

func forget(widths []int) {
	for i := range widths {
		widths[i] = unmeasured
	}
}

// lookAgain forgets the widths of the rows in sight that were not measured for what they show now. It tells whether there are any.
func (t *Table[T]) lookAgain() bool {
	if t.Same == nil {
		return false
	}
	n := len(t.Columns)
	if len(t.needs.widths) != len(t.all)*n {
		t.needs.widths = make([]int, len(t.all)*n)
		forget(t.needs.widths)
		t.needs.from, t.needs.to = 0, 0
	}
	from, to := t.offset, min(t.offset+t.height, len(t.rows))
	if from >= t.needs.from && to <= t.needs.to || to <= from {
		return false
	}
	t.needs.from, t.needs.to = from, to
	if len(t.rows) == len(t.all) && t.sortBy == "" { // the rows stand as they came
		forget(t.needs.widths[from*n : to*n])
		return true
	}
	seen := make(map[string]bool, to-from)
	for _, id := range t.order[from:to] {
		seen[id] = true
	}
	for i, r := range t.all {
		if seen[t.ID(r)] {
			forget(t.needs.widths[i*n : i*n+n])
		}
	}
	return true
}

// widest is the greatest width that a row needs in a column.
func (t *Table[T]) widest(column int) int {
	widest, measure := 0, t.Columns[column].Measure
	if t.Same == nil {
		for _, r := range t.all {
			widest = max(widest, measure(r))
		}
		return widest
	}
	n := len(t.Columns)
	for i := range t.all {
		w := &t.needs.widths[i*n+column]
		if *w == unmeasured {
			*w = measure(t.all[i])
		}
		widest = max(widest, *w)
	}
	return widest
}
