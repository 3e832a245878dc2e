package table

import (
	"lockstep/themes"
	"lockstep/tui/draw"
)

// drawnRow is a row as drawn, with what it depends on.
type drawnRow struct {
	revision uint64
	look     *draw.Look
	width    int
	shape    uint64 // which columns, how wide
	over     draw.Overlay
	cursor   bool
	marked   bool
	text     string
}

// placed is a column with the width that it has now.
type placed[T any] struct {
	*Column[T]
	w int
}

const gap = 2 // columns between two cells

// place chooses the columns that fit into w and how wide each is.
func (t *Table[T]) place(w int) []placed[T] {
	if t.forWidth != w {
		t.forWidth, t.widths, t.measured = w, nil, 0
	}
	if t.widths == nil {
		t.widths = make(map[int]int)
	}
	again := t.lookAgain() || t.measured != t.revision+1
	t.measured = t.revision + 1
	cols := make([]placed[T], 0, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.hidden() {
			continue
		}
		p := placed[T]{c, c.Width}
		if c.Measure != nil {
			want := max(t.widths[i], c.Width)
			if again {
				if c.Names {
					want = c.Width
				}
				want = max(want, t.widest(i))
			}
			most := c.Most
			if c.Share > 0 {
				most = min(most, w*c.Share/100)
			}
			p.w = max(min(want, most), c.Width)
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
			if c.Rank > 0 && (drop < 0 || c.Rank >= cols[drop].Rank) {
				drop = i
			}
		}
		if sum <= w {
			for i := range cols {
				if cols[i].Grow {
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

// Draw draws the table into w by h. The row under the cursor is laid over with the selection when the pane has the keys.
func (t *Table[T]) Draw(k *draw.Look, w, h int, focused, old bool) []string {
	if w < 1 || h < 1 {
		return nil
	}
	header := t.Header && h > 1
	if header {
		h--
	}
	t.height = h
	t.scroll()
	cols := t.place(w)
	var out []string
	if header {
		out = append(out, k.Draw(t.headLine(k, cols), w, draw.AsItIs))
	}
	shape := uint64(14695981039346656037)
	for _, c := range cols {
		shape = (shape ^ uint64(c.w)) * 1099511628211
	}
	fresh := t.spare
	if clear(fresh); fresh == nil {
		fresh = make(map[string]drawnRow, h)
	}
	for i := t.offset; i < len(t.rows) && i < t.offset+h; i++ {
		id := t.order[i]
		want := drawnRow{revision: t.revision, look: k, width: w, shape: shape, cursor: i == t.index && t.lost == "", marked: t.marked[id]}
		if old {
			want.over = draw.Stale
		}
		if want.cursor && focused {
			want.over += draw.Selected
		}
		have, ok := t.cache[id]
		want.text = have.text
		if !ok || have != want {
			want.text = k.Draw(t.rowLine(k, cols, t.rows[i], want.cursor, want.marked, focused), w, want.over)
		}
		fresh[id] = want
		out = append(out, want.text)
	}
	t.cache, t.spare = fresh, t.cache
	return out
}

func (t *Table[T]) headLine(k *draw.Look, cols []placed[T]) draw.Line {
	out := draw.Line{draw.Blank(2)}
	for i, c := range cols {
		if i > 0 {
			out = append(out, draw.Blank(gap))
		}
		title := c.Title
		if title != "" && title == t.sortBy {
			arrow := k.Glyph.Up
			if t.sortDown {
				arrow = k.Glyph.Down
			}
			title += arrow
		}
		out = append(out, draw.One(themes.Dim, title).Fit(c.w, c.Right)...)
	}
	return out
}

// rowLine is a row as a line, which is good until the next one is made.
func (t *Table[T]) rowLine(k *draw.Look, cols []placed[T], r T, cursor, marked, focused bool) draw.Line {
	lead, mark := draw.Blank(1), draw.Blank(1)
	switch {
	case cursor && focused:
		lead = draw.Text(themes.Match, k.Glyph.Cursor)
	case cursor:
		lead = draw.Text(themes.Text, k.Glyph.Cursor)
	}
	if marked {
		mark = draw.Text(themes.Match, k.Glyph.Mark)
	}
	out := append(t.line[:0], lead, mark)
	for i, c := range cols {
		if i > 0 {
			out = append(out, draw.Blank(gap))
		}
		if c.Fill != nil {
			out = c.Fill(r, c.w).FitOnto(out, c.w, c.Right)
		} else {
			out = c.Cell(r).FitOnto(out, c.w, c.Right)
		}
	}
	t.line = out
	return out
}

// Text is the table as plain text, every column, every row that the filter lets through: for copying.
func (t *Table[T]) Text() []string {
	widths := make([]int, len(t.Columns))
	cells := make([][]string, len(t.rows))
	for i, c := range t.Columns {
		widths[i] = draw.Width(c.Title)
	}
	for y, r := range t.rows {
		cells[y] = make([]string, len(t.Columns))
		for i, c := range t.Columns {
			cells[y][i] = c.Cell(r).Text()
			widths[i] = max(widths[i], draw.Width(cells[y][i]))
		}
	}
	row := func(cell func(i int) string) string {
		var out draw.Line
		for i := range t.Columns {
			if i > 0 {
				out = append(out, draw.Blank(gap))
			}
			out = append(out, draw.Plain(cell(i)).Fit(widths[i], t.Columns[i].Right)...)
		}
		return out.Text()
	}
	var out []string
	if t.Header {
		out = append(out, row(func(i int) string { return t.Columns[i].Title }))
	}
	for y := range t.rows {
		out = append(out, row(func(i int) string { return cells[y][i] }))
	}
	return out
}
