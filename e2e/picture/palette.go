package picture

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"

	"lockstep/e2e/terminal"
)

// Palette is a terminal's own colours.
type Palette struct {
	Foreground, Background color.RGBA
	Basic                  [16]color.RGBA // the ANSI colours: black, red, green, yellow, blue, magenta, cyan, white, and each bright
}

// Dark is light text on a dark background.
var Dark = Palette{
	Foreground: rgb(0xd6d9de),
	Background: rgb(0x14171c),
	Basic: [16]color.RGBA{
		rgb(0x1d2128), rgb(0xe06c6c), rgb(0x8cc570), rgb(0xe0b860), rgb(0x6ca8e8), rgb(0xc48be0), rgb(0x5fc0c8), rgb(0xc8ccd2),
		rgb(0x6b7280), rgb(0xff8a80), rgb(0xa8e08a), rgb(0xffd479), rgb(0x8cc2ff), rgb(0xdda6f5), rgb(0x7fdce2), rgb(0xffffff),
	},
}

// Light is dark text on a light background.
var Light = Palette{
	Foreground: rgb(0x24292f),
	Background: rgb(0xfbfaf6),
	Basic: [16]color.RGBA{
		rgb(0x24292f), rgb(0xb3261e), rgb(0x2f7d32), rgb(0x8a6100), rgb(0x1b5fb4), rgb(0x7d3aa8), rgb(0x0f7078), rgb(0x9aa0a6),
		rgb(0x6b7280), rgb(0xd0342c), rgb(0x3f9142), rgb(0xa87800), rgb(0x2f74cf), rgb(0x9550c0), rgb(0x1b8a93), rgb(0xe8e8e4),
	},
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// colours returns the colours of a cell's text and background.
func (p Palette) colours(style terminal.Style) (ink, paper color.RGBA) {
	ink, paper = p.resolve(style.Foreground, p.Foreground), p.resolve(style.Background, p.Background)
	if style.Reverse {
		ink, paper = paper, ink
	}
	if style.Faint {
		ink = mix(ink, paper)
	}
	return ink, paper
}

// resolve turns the colour that the program asked for into a colour of the palette.
func (p Palette) resolve(c color.Color, otherwise color.RGBA) color.RGBA {
	switch c := c.(type) {
	case nil:
		return otherwise
	case ansi.BasicColor:
		return p.Basic[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return p.Basic[c]
		}
	}
	return color.RGBAModel.Convert(c).(color.RGBA)
}

// mix returns the colour in the middle between two.
func mix(a, b color.RGBA) color.RGBA {
	middle := func(x, y uint8) uint8 { return uint8((uint16(x) + uint16(y)) / 2) }
	return color.RGBA{R: middle(a.R, b.R), G: middle(a.G, b.G), B: middle(a.B, b.B), A: 0xff}
}
