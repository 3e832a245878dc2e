package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/vector"
)

// shape draws a character that must fill its cell exactly, like lines and blocks that continue in the next cell, or that the font
// draws too small.
type shape func(p *painter, area image.Rectangle, ink color.RGBA)

// shapeOf returns how to draw a character that is not taken from the font.
func shapeOf(character rune) (shape, bool) {
	if arms, ok := boxes[character]; ok {
		return arms.draw, true
	}
	if b, ok := blocks[character]; ok {
		return b.draw, true
	}
	if alpha, ok := shades[character]; ok {
		return func(p *painter, area image.Rectangle, ink color.RGBA) { p.fill(area, fade(ink, alpha)) }, true
	}
	switch {
	case character == '●':
		return disc, true
	case character == '○':
		return ring, true
	case character >= 0x2800 && character <= 0x28ff:
		return braille(character - 0x2800).draw, true
	}
	return nil, false
}

// arms are the lines from a cell's middle to its sides, in strokes: 0, 1 or 2 (heavy).
type arms struct{ left, right, up, down int }

// boxes are the box-drawing characters of one weight. Rounded corners are drawn square.
var boxes = map[rune]arms{
	'─': {1, 1, 0, 0}, '━': {2, 2, 0, 0}, '│': {0, 0, 1, 1}, '┃': {0, 0, 2, 2},
	'┌': {0, 1, 0, 1}, '┐': {1, 0, 0, 1}, '└': {0, 1, 1, 0}, '┘': {1, 0, 1, 0},
	'╭': {0, 1, 0, 1}, '╮': {1, 0, 0, 1}, '╰': {0, 1, 1, 0}, '╯': {1, 0, 1, 0},
	'┏': {0, 2, 0, 2}, '┓': {2, 0, 0, 2}, '┗': {0, 2, 2, 0}, '┛': {2, 0, 2, 0},
	'├': {0, 1, 1, 1}, '┤': {1, 0, 1, 1}, '┬': {1, 1, 0, 1}, '┴': {1, 1, 1, 0}, '┼': {1, 1, 1, 1},
	'┣': {0, 2, 2, 2}, '┫': {2, 0, 2, 2}, '┳': {2, 2, 0, 2}, '┻': {2, 2, 2, 0}, '╋': {2, 2, 2, 2},
	'╴': {1, 0, 0, 0}, '╶': {0, 1, 0, 0}, '╵': {0, 0, 1, 0}, '╷': {0, 0, 0, 1},
	'╸': {2, 0, 0, 0}, '╺': {0, 2, 0, 0}, '╹': {0, 0, 2, 0}, '╻': {0, 0, 0, 2},
}

func (a arms) draw(p *painter, area image.Rectangle, ink color.RGBA) {
	stroke := p.stroke()
	middle := area.Min.Add(area.Size().Div(2))
	// Each arm reaches over the middle by half of the widest stroke, which closes corners.
	reach := (max(a.left, a.right, a.up, a.down)*stroke + 1) / 2
	across := func(strokes int) (from, to int) {
		return -strokes * stroke / 2, strokes*stroke - strokes*stroke/2
	}
	if from, to := across(a.left); a.left > 0 {
		p.fill(image.Rect(area.Min.X, middle.Y+from, middle.X+reach, middle.Y+to), ink)
	}
	if from, to := across(a.right); a.right > 0 {
		p.fill(image.Rect(middle.X-reach+1, middle.Y+from, area.Max.X, middle.Y+to), ink)
	}
	if from, to := across(a.up); a.up > 0 {
		p.fill(image.Rect(middle.X+from, area.Min.Y, middle.X+to, middle.Y+reach), ink)
	}
	if from, to := across(a.down); a.down > 0 {
		p.fill(image.Rect(middle.X+from, middle.Y-reach+1, middle.X+to, area.Max.Y), ink)
	}
}

// block is a filled part of a cell, in eighths of its width and height.
type block struct{ left, top, right, bottom int }

var blocks = map[rune]block{
	'█': {0, 0, 8, 8}, '▀': {0, 0, 8, 4}, '▐': {4, 0, 8, 8}, '▔': {0, 0, 8, 1}, '▕': {7, 0, 8, 8},
	'▁': {0, 7, 8, 8}, '▂': {0, 6, 8, 8}, '▃': {0, 5, 8, 8}, '▄': {0, 4, 8, 8},
	'▅': {0, 3, 8, 8}, '▆': {0, 2, 8, 8}, '▇': {0, 1, 8, 8},
	'▏': {0, 0, 1, 8}, '▎': {0, 0, 2, 8}, '▍': {0, 0, 3, 8}, '▌': {0, 0, 4, 8},
	'▋': {0, 0, 5, 8}, '▊': {0, 0, 6, 8}, '▉': {0, 0, 7, 8}, '■': {1, 2, 7, 6},
}

func (b block) draw(p *painter, area image.Rectangle, ink color.RGBA) {
	eighth := func(size, n int) int { return (size*n + 4) / 8 }
	p.fill(image.Rect(
		area.Min.X+eighth(area.Dx(), b.left), area.Min.Y+eighth(area.Dy(), b.top),
		area.Min.X+eighth(area.Dx(), b.right), area.Min.Y+eighth(area.Dy(), b.bottom),
	), ink)
}

// shades are the shaded blocks with the part of the ink that they show.
var shades = map[rune]float64{'░': 0.25, '▒': 0.5, '▓': 0.75}

func fade(c color.RGBA, alpha float64) color.NRGBA {
	return color.NRGBA{R: c.R, G: c.G, B: c.B, A: uint8(alpha*255 + 0.5)}
}

// A circle's radius, as a part of the cell's width.
const radius = 0.48

func disc(p *painter, area image.Rectangle, ink color.RGBA) {
	p.circles(area, ink, radius*float64(area.Dx()), 0)
}

func ring(p *painter, area image.Rectangle, ink color.RGBA) {
	outer := radius * float64(area.Dx())
	p.circles(area, ink, outer, outer-0.9*float64(p.stroke()))
}

// circles fills a circle in the middle of the area, except its inner circle.
func (p *painter) circles(area image.Rectangle, ink color.RGBA, outer, inner float64) {
	pen := vector.NewRasterizer(area.Dx(), area.Dy())
	x, y := float64(area.Dx())/2, float64(area.Dy())/2
	circle(pen, x, y, outer, false)
	if inner > 0 {
		circle(pen, x, y, inner, true)
	}
	pen.Draw(p.canvas, area, image.NewUniform(ink), image.Point{})
}

// circle adds a circle as a polygon that looks like one. Run backwards inside another, it is a hole.
func circle(pen *vector.Rasterizer, x, y, r float64, backwards bool) {
	const corners = 48
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / corners
		if backwards {
			angle = -angle
		}
		px, py := float32(x+r*math.Cos(angle)), float32(y+r*math.Sin(angle))
		if i == 0 {
			pen.MoveTo(px, py)
		} else {
			pen.LineTo(px, py)
		}
	}
	pen.ClosePath()
}

// braille is a set of the eight dots of a Braille pattern, as Unicode numbers them: bits 0 to 2 and 6 down the left, 3 to 5 and 7
// down the right.
type braille uint8

func (b braille) draw(p *painter, area image.Rectangle, ink color.RGBA) {
	dots := [8]image.Point{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}
	pen := vector.NewRasterizer(area.Dx(), area.Dy())
	for bit, dot := range dots {
		if b&(1<<bit) != 0 {
			x := float64(area.Dx()) * (0.27 + 0.46*float64(dot.X))
			y := float64(area.Dy()) * (0.14 + 0.24*float64(dot.Y))
			circle(pen, x, y, 0.13*float64(area.Dx()), false)
		}
	}
	pen.Draw(p.canvas, area, image.NewUniform(ink), image.Point{})
}
