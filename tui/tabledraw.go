package tui

import (
	"lockstep/themes"
)

// drawnRow is a row as it was drawn, and for what.
type drawnRow struct {
	revision uint64
	look     *look
	width    int
	shape    uint64 // which columns, how wide
	over     overlay
	cursor   bool
	marked   bool
	text     string
}

// placed is a column with the width that it has now.
type placed[T any] struct {
	*column[T]
	w int
}

const gap = 2 // columns between two cells

// place chooses the columns that fit into w and how wide each is.
func (t *table[T]) place(w int) []placed[T] {
	if t.forWidth != w {
		t.forWidth, t.widths, t.measured = w, nil, 0
	}
	if t.widths == nil {
		t.widths = make(map[int]int)
	}
	again := t.measured != t.revision+1
	t.measured = t.revision + 1
	cols := make([]placed[T], 0, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		if c.hidden() {
			continue
		}
		p := placed[T]{c, c.width}
		if c.measure != nil {
			want := max(t.widths[i], c.width)
			if again {
				if c.names {
					want = c.width
				}
				for _, r := range t.all {
					want = max(want, c.measure(r))
				}
			}
			most := c.most
			if c.share > 0 {
				most = min(most, w*c.share/100)
			}
			p.w = max(min(want, most), c.width)
			t.widths[i] = p.w
		}
		cols = append(cols, p)
	}
	for {
		sum, drop := 2, -1
		for i, c := range cols {
			sum += c.w
			if i > 0 {
				sum += gap
			}
			if c.rank > 0 && (drop < 0 || c.rank >= cols[drop].rank) {
				drop = i
			}
		}
		if sum <= w {
			for i := range cols {
				if cols[i].grow {
					cols[i].w += w - sum
					break
				}
			}
			return cols
		}
		if drop < 0 {
			return cols
		}
		cols = append(cols[:drop], cols[drop+1:]...)
	}
}

// draw draws the table into w by h. The row under the cursor is laid over with the selection when the pane has the keys.
func (t *table[T]) draw(k *look, w, h int, focused, old bool) []string {
	if w < 1 || h < 1 {
		return nil
	}
	cols := t.place(w)
	var out []string
	if t.header && h > 1 {
		out = append(out, k.draw(t.headLine(k, cols), w, asItIs))
		h--
	}
	t.height = h
	t.scroll()
	shape := uint64(14695981039346656037)
	for _, c := range cols {
		shape = (shape ^ uint64(c.w)) * 1099511628211
	}
	fresh := make(map[string]drawnRow, h)
	for i := t.offset; i < len(t.rows) && i < t.offset+h; i++ {
		id := t.order[i]
		want := drawnRow{revision: t.revision, look: k, width: w, shape: shape, cursor: i == t.index && t.lost == "", marked: t.marked[id]}
		if old {
			want.over = stale
		}
		if want.cursor && focused {
			want.over += selected
		}
		have, ok := t.cache[id]
		want.text = have.text
		if !ok || have != want {
			want.text = k.draw(t.rowLine(k, cols, t.rows[i], want.cursor, want.marked, focused), w, want.over)
		}
		fresh[id] = want
		out = append(out, want.text)
	}
	t.cache = fresh
	return out
}

func (t *table[T]) headLine(k *look, cols []placed[T]) line {
	out := line{blank(2)}
	for i, c := range cols {
		if i > 0 {
			out = append(out, blank(gap))
		}
		title := c.title
		if title != "" && title == t.sortBy {
			arrow := k.glyph.Up
			if t.sortDown {
				arrow = k.glyph.Down
			}
			title += arrow
		}
		out = append(out, one(themes.Dim, title).fit(c.w, c.right)...)
	}
	return out
}

func (t *table[T]) rowLine(k *look, cols []placed[T], r T, cursor, marked, focused bool) line {
	out := make(line, 0, 3*len(cols))
	lead := line{blank(1), blank(1)}
	switch {
	case cursor && focused:
		lead[0] = txt(themes.Match, k.glyph.Cursor)
	case cursor:
		lead[0] = txt(themes.Text, k.glyph.Cursor)
	}
	if marked {
		lead[1] = txt(themes.Match, k.glyph.Mark)
	}
	out = append(out, lead...)
	for i, c := range cols {
		if i > 0 {
			out = append(out, blank(gap))
		}
		if c.fill != nil {
			out = append(out, c.fill(r, c.w).fit(c.w, c.right)...)
		} else {
			out = append(out, c.cell(r).fit(c.w, c.right)...)
		}
	}
	return out
}

// text is the table as plain text, every column, every row that the filter lets through: for copying.
func (t *table[T]) text() []string {
	widths := make([]int, len(t.columns))
	cells := make([][]string, len(t.rows))
	for i, c := range t.columns {
		widths[i] = width(c.title)
	}
	for y, r := range t.rows {
		cells[y] = make([]string, len(t.columns))
		for i, c := range t.columns {
			cells[y][i] = c.cell(r).text()
			widths[i] = max(widths[i], width(cells[y][i]))
		}
	}
	row := func(cell func(i int) string) string {
		var out line
		for i := range t.columns {
			if i > 0 {
				out = append(out, blank(gap))
			}
			out = append(out, plain(cell(i)).fit(widths[i], t.columns[i].right)...)
		}
		return out.text()
	}
	var out []string
	if t.header {
		out = append(out, row(func(i int) string { return t.columns[i].title }))
	}
	for y := range t.rows {
		out = append(out, row(func(i int) string { return cells[y][i] }))
	}
	return out
}
