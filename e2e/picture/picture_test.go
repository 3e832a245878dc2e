package picture

import (
	"image"
	"image/color"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lockstep/e2e/terminal"
)

// screenOf returns a screen of one row.
func screenOf(style terminal.Style, text string) terminal.Screen {
	screen := terminal.Screen{Rows: 1, CursorHidden: true, Cells: [][]terminal.Cell{{}}}
	for _, character := range text {
		screen.Cells[0] = append(screen.Cells[0], terminal.Cell{Text: string(character), Width: 1, Style: style})
		screen.Columns++
	}
	return screen
}

func drawn(t *testing.T, screen terminal.Screen, palette Palette) (image.Image, func(column int) image.Rectangle) {
	t.Helper()
	picture, err := Draw(screen, palette, 16)
	if err != nil {
		t.Fatal(err)
	}
	border := 10
	width := (picture.Bounds().Dx() - 2*border) / screen.Columns
	return picture, func(column int) image.Rectangle {
		return image.Rect(border+column*width, border, border+(column+1)*width, picture.Bounds().Dy()-border)
	}
}

// inked counts the pixels of the area that have the colour.
func inked(picture image.Image, area image.Rectangle, c color.RGBA) int {
	n := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if picture.At(x, y) == c {
				n++
			}
		}
	}
	return n
}

func TestColoursAreThoseOfTheCell(t *testing.T) {
	purple := color.RGBA{0x80, 0x20, 0xa0, 0xff}
	tests := []struct {
		name  string
		style terminal.Style
		want  color.RGBA // of a full block
	}{
		{"the terminal's own", terminal.Style{}, Dark.Foreground},
		{"one of the sixteen", terminal.Style{Foreground: ansi.Red}, Dark.Basic[1]},
		{"one of the sixteen by its number", terminal.Style{Foreground: ansi.IndexedColor(10)}, Dark.Basic[10]},
		{"any", terminal.Style{Foreground: purple}, purple},
		{"reversed", terminal.Style{Foreground: purple, Reverse: true}, Dark.Background},
		{"reversed, on a ground", terminal.Style{Background: purple, Reverse: true}, purple},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			picture, at := drawn(t, screenOf(test.style, "█"), Dark)
			if got, all := inked(picture, at(0), test.want), at(0).Dx()*at(0).Dy(); got != all {
				t.Errorf("%d of %d pixels are %v; the first is %v", got, all, test.want, picture.At(at(0).Min.X, at(0).Min.Y))
			}
		})
	}
}

func TestLinesAndBlocksJoinAcrossCells(t *testing.T) {
	picture, at := drawn(t, screenOf(terminal.Style{}, "├─┼━┤"), Dark)
	row := at(0).Min.Add(at(0).Size().Div(2)).Y
	for x := at(0).Min.Add(at(0).Size().Div(2)).X; x < at(4).Min.Add(at(4).Size().Div(2)).X; x++ {
		if picture.At(x, row) != Dark.Foreground {
			t.Fatalf("the line breaks at x=%d (cells are %d wide)", x, at(0).Dx())
		}
	}
}

func TestEveryCharacterTheProgramDrawsHasAShapeOrAGlyph(t *testing.T) {
	fonts, err := loadFonts(16)
	if err != nil {
		t.Fatal(err)
	}
	defer fonts.close()
	for _, character := range "─│├┤┬┴┼┌┐└┘█▌▁▂▃▄▅▆▇░▒▓●○→←↑↓…·–—×±≤≥⠋⣾äß" {
		if _, ok := shapeOf(character); !ok && !fonts.has(character) {
			t.Errorf("%q (U+%04X) would be drawn as a frame", character, character)
		}
		picture, at := drawn(t, screenOf(terminal.Style{}, string(character)), Light)
		if n := at(0).Dx() * at(0).Dy(); inked(picture, at(0), Light.Background) == n {
			t.Errorf("%q (U+%04X) is drawn as nothing", character, character)
		}
	}
}

func TestParseSize(t *testing.T) {
	if columns, rows, err := ParseSize("120x40"); err != nil || columns != 120 || rows != 40 {
		t.Errorf("120x40 is %d, %d, %v", columns, rows, err)
	}
	for _, text := range []string{"", "120", "120x", "x40", "0x0", "-1x5", "120x40x2", "120 x 40", "5000x40"} {
		if _, _, err := ParseSize(text); err == nil {
			t.Errorf("the size %q was taken", text)
		}
	}
}
