package terminal

import (
	"image/color"
	"maps"
	"slices"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// Screen is what the terminal shows at one moment.
type Screen struct {
	Columns, Rows int
	Cells         [][]Cell // by row, then by column

	CursorColumn, CursorRow int
	CursorHidden            bool

	Title     string
	AltScreen bool

	// Written is the number of bytes that the program had written to the terminal when it showed this screen.
	Written int64

	// At is when the last bytes of what this screen shows came from the program.
	At time.Time

	// Modes are the DEC private modes that the program has set and not reset (25, the visible cursor, and 7, wrapping, are set from
	// the start).
	Modes []int

	// Keyboards is the number of keyboard enhancements that the program has pushed and not popped.
	Keyboards int

	// Foreground and Background are the terminal's own colours.
	Foreground, Background color.Color
}

// Cell is one character position.
type Cell struct {
	Text  string // one grapheme; "" is the second half of a wide one
	Width int    // columns: 1, or 2 for a wide one, or 0 for its second half
	Style Style
}

// Style is how a cell is drawn. A nil colour is the terminal's own.
type Style struct {
	Foreground, Background color.Color

	Bold, Faint, Italic, Underline, Reverse, Strike bool
}

// Screen returns what the terminal shows now. While the program draws a frame in synchronized output, that is the previous frame.
func (t *Terminal) Screen() Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown()
}

// shown is Screen. The caller holds t.mu.
func (t *Terminal) shown() Screen {
	if t.state.frozen != nil {
		return *t.state.frozen
	}
	return t.screen()
}

// screen copies the emulator's screen. The caller holds t.mu.
func (t *Terminal) screen() Screen {
	cursor := t.emulator.CursorPosition()
	s := Screen{
		Columns:      t.emulator.Width(),
		Rows:         t.emulator.Height(),
		CursorColumn: cursor.X,
		CursorRow:    cursor.Y,
		CursorHidden: t.state.hidden,
		Title:        t.state.title,
		AltScreen:    t.state.altScreen,
		Written:      t.state.written,
		At:           t.state.at,
		Modes:        slices.Sorted(maps.Keys(t.state.modes)),
		Keyboards:    t.state.keyboards,
		Foreground:   t.emulator.ForegroundColor(),
		Background:   t.emulator.BackgroundColor(),
	}
	s.Cells = make([][]Cell, s.Rows)
	for y := range s.Cells {
		s.Cells[y] = make([]Cell, s.Columns)
		for x := range s.Cells[y] {
			s.Cells[y][x] = cellOf(t.emulator.CellAt(x, y))
		}
	}
	return s
}

func cellOf(c *uv.Cell) Cell {
	if c == nil {
		return Cell{Text: " ", Width: 1}
	}
	return Cell{
		Text:  c.Content,
		Width: c.Width,
		Style: Style{
			Foreground: c.Style.Fg,
			Background: c.Style.Bg,
			Bold:       c.Style.Attrs&uv.AttrBold != 0,
			Faint:      c.Style.Attrs&uv.AttrFaint != 0,
			Italic:     c.Style.Attrs&uv.AttrItalic != 0,
			Underline:  c.Style.Underline != uv.UnderlineNone,
			Reverse:    c.Style.Attrs&uv.AttrReverse != 0,
			Strike:     c.Style.Attrs&uv.AttrStrikethrough != 0,
		},
	}
}

// Line returns the text of a row, without the blanks at its end.
func (s Screen) Line(row int) string {
	var line strings.Builder
	for _, cell := range s.Cells[row] {
		line.WriteString(cell.Text)
	}
	return strings.TrimRight(line.String(), " ")
}

// Lines returns the texts of all rows.
func (s Screen) Lines() []string {
	lines := make([]string, s.Rows)
	for row := range lines {
		lines[row] = s.Line(row)
	}
	return lines
}

// String returns the whole text, one line for each row.
func (s Screen) String() string { return strings.Join(s.Lines(), "\n") }

// Contains reports whether a row contains the text.
func (s Screen) Contains(text string) bool {
	_, _, found := s.Find(text)
	return found
}

// Find returns the first place of the text, by rows from the top.
func (s Screen) Find(text string) (column, row int, found bool) {
	for row, line := range s.Lines() {
		if at := strings.Index(line, text); at >= 0 {
			return s.columnAt(row, at), row, true
		}
	}
	return 0, 0, false
}

// columnAt returns the column of the byte at the offset in the row's text.
func (s Screen) columnAt(row, offset int) int {
	for column, cell := range s.Cells[row] {
		if offset < len(cell.Text) {
			return column
		}
		offset -= len(cell.Text)
	}
	return s.Columns
}

// LineWith returns the first row that contains the text.
func (s Screen) LineWith(text string) (string, bool) {
	_, row, found := s.Find(text)
	if !found {
		return "", false
	}
	return s.Line(row), true
}
