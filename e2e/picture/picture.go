// Package picture draws an emulated terminal screen as an image, with its colours, so that a person can see how the program
// looks.
package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"

	"lockstep/e2e/terminal"
)

// lineHeight is the height of a cell in ems: enough to tell lines apart, little enough that boxes do not look stretched.
const lineHeight = 1.25

// margin is the space around the screen, in cell heights.
const margin = 0.5

// Draw draws the screen with a font of the size in pixels.
func Draw(screen terminal.Screen, palette Palette, size float64) (image.Image, error) {
	fonts, err := loadFonts(size)
	if err != nil {
		return nil, err
	}
	defer fonts.close()
	p := painter{palette: palette, fonts: fonts, width: fonts.advance, height: int(size*lineHeight + 0.5)}
	p.border = int(float64(p.height)*margin + 0.5)
	p.canvas = image.NewRGBA(image.Rect(0, 0, screen.Columns*p.width+2*p.border, screen.Rows*p.height+2*p.border))
	draw.Draw(p.canvas, p.canvas.Bounds(), image.NewUniform(palette.Background), image.Point{}, draw.Src)
	for y, row := range screen.Cells {
		for x, cell := range row {
			if cell.Width > 0 {
				p.cell(p.rectangle(x, y, cell.Width), cell)
			}
		}
	}
	if !screen.CursorHidden && screen.CursorRow < screen.Rows && screen.CursorColumn < screen.Columns {
		p.cursor(p.rectangle(screen.CursorColumn, screen.CursorRow, 1))
	}
	return p.canvas, nil
}

// painter draws cells on a canvas.
type painter struct {
	canvas  *image.RGBA
	palette Palette
	fonts   *fonts
	width   int // of a cell, pixels
	height  int
	border  int
}

// rectangle returns the area of a cell that is this many columns wide.
func (p *painter) rectangle(column, row, columns int) image.Rectangle {
	x, y := p.border+column*p.width, p.border+row*p.height
	return image.Rect(x, y, x+columns*p.width, y+p.height)
}

// cell draws one cell.
func (p *painter) cell(area image.Rectangle, cell terminal.Cell) {
	ink, paper := p.palette.colours(cell.Style)
	p.fill(area, paper)
	character, length := utf8.DecodeRuneInString(cell.Text)
	if length > 0 && character != ' ' {
		if shape, ok := shapeOf(character); ok {
			shape(p, area, ink)
		} else {
			p.glyph(area, character, ink, cell.Style)
		}
	}
	thickness := p.stroke()
	if cell.Style.Underline {
		p.fill(image.Rect(area.Min.X, area.Max.Y-2*thickness, area.Max.X, area.Max.Y-thickness), ink)
	}
	if cell.Style.Strike {
		middle := (area.Min.Y + area.Max.Y) / 2
		p.fill(image.Rect(area.Min.X, middle, area.Max.X, middle+thickness), ink)
	}
}

// glyph draws a character of the font, or a frame if the font has none.
func (p *painter) glyph(area image.Rectangle, character rune, ink color.Color, style terminal.Style) {
	if !p.fonts.has(character) {
		p.frame(area.Inset(p.stroke()), ink)
		return
	}
	ascent := p.fonts.ascent
	// The font's own height is centred in the cell's.
	baseline := area.Min.Y + (p.height-p.fonts.lineHeight)/2 + ascent
	drawer := font.Drawer{
		Dst:  p.canvas,
		Src:  image.NewUniform(ink),
		Face: p.fonts.face(style),
		Dot:  fixed.P(area.Min.X, baseline),
	}
	drawer.DrawString(string(character))
}

// cursor marks the cursor's place with a bar, under which the text stays readable.
func (p *painter) cursor(area image.Rectangle) {
	p.fill(image.Rect(area.Min.X, area.Max.Y-2*p.stroke(), area.Max.X, area.Max.Y), p.palette.Foreground)
}

// stroke is the thickness of a thin line in pixels.
func (p *painter) stroke() int { return max(1, (p.height+8)/16) }

// fill paints the area; a colour that is not opaque is laid over the present one.
func (p *painter) fill(area image.Rectangle, colour color.Color) {
	draw.Draw(p.canvas, area, image.NewUniform(colour), image.Point{}, draw.Over)
}

// frame draws the outline of the area.
func (p *painter) frame(area image.Rectangle, colour color.Color) {
	t := p.stroke()
	p.fill(image.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Min.Y+t), colour)
	p.fill(image.Rect(area.Min.X, area.Max.Y-t, area.Max.X, area.Max.Y), colour)
	p.fill(image.Rect(area.Min.X, area.Min.Y+t, area.Min.X+t, area.Max.Y-t), colour)
	p.fill(image.Rect(area.Max.X-t, area.Min.Y+t, area.Max.X, area.Max.Y-t), colour)
}

// ParseSize reads a terminal's size as columns x rows, for example "120x40".
func ParseSize(text string) (columns, rows int, err error) {
	if n, err := fmt.Sscanf(text, "%dx%d", &columns, &rows); err != nil || n != 2 || fmt.Sprintf("%dx%d", columns, rows) != text {
		return 0, 0, fmt.Errorf("the size %q is not columns x rows, such as 120x40", text)
	}
	if columns < 1 || rows < 1 || columns > 1000 || rows > 1000 {
		return 0, 0, fmt.Errorf("the size %q is not between 1x1 and 1000x1000", text)
	}
	return columns, rows, nil
}
