package themes

import (
	"fmt"
	"strconv"
	"strings"
)

// Depth is how many colours a terminal has.
type Depth int

// The depths.
const (
	DepthNone Depth = iota // no colour: bold, faint and reverse only
	Depth16
	Depth256
	DepthTrue
)

type parsedColor struct {
	rgb     bool
	r, g, b uint8
	index   int
}

func parseColor(s string) (*parsedColor, error) {
	if s == "" {
		return nil, nil
	}
	if strings.HasPrefix(s, "#") {
		v, err := strconv.ParseUint(s[1:], 16, 32)
		if err != nil || len(s) != 7 {
			return nil, fmt.Errorf("colour %q is not #rrggbb", s)
		}
		return &parsedColor{rgb: true, r: uint8(v >> 16), g: uint8(v >> 8), b: uint8(v)}, nil
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i > 255 {
		return nil, fmt.Errorf("colour %q is neither #rrggbb nor a number from 0 to 255", s)
	}
	return &parsedColor{index: i}, nil
}

// SGR returns the parameters of the escape sequence that switches the look on ("1;38;5;214"); empty for the terminal's own look.
// The renderer reduces #rrggbb colours to the terminal's depth.
func (l Look) SGR(depth Depth) string {
	var p []string
	add := func(on bool, code string) {
		if on {
			p = append(p, code)
		}
	}
	add(l.Bold, "1")
	add(l.Faint, "2")
	add(l.Italic, "3")
	add(l.Underline, "4")
	add(l.Reverse || l.Reverse16 && depth <= Depth16, "7")
	switch depth {
	case DepthNone:
	case Depth16:
		p = append(p, colorCodes(l.Foreground16, 30, 90)...)
		p = append(p, colorCodes(l.Background16, 40, 100)...)
	default:
		p = append(p, wideCodes(l.Foreground, "38")...)
		p = append(p, wideCodes(l.Background, "48")...)
	}
	return strings.Join(p, ";")
}

func colorCodes(color string, base, bright int) []string {
	c, err := parseColor(color)
	if err != nil || c == nil {
		return nil
	}
	if c.index < 8 {
		return []string{strconv.Itoa(base + c.index)}
	}
	return []string{strconv.Itoa(bright + c.index - 8)}
}

func wideCodes(color, lead string) []string {
	c, err := parseColor(color)
	if err != nil || c == nil {
		return nil
	}
	if c.rgb {
		return []string{lead, "2", strconv.Itoa(int(c.r)), strconv.Itoa(int(c.g)), strconv.Itoa(int(c.b))}
	}
	return []string{lead, "5", strconv.Itoa(c.index)}
}

// Over lays o over l: where o has colours and attributes, they replace those of l.
func (l Look) Over(o Look) Look {
	pick := func(a, b string) string {
		if b != "" {
			return b
		}
		return a
	}
	return Look{
		Foreground: pick(l.Foreground, o.Foreground), Background: pick(l.Background, o.Background),
		Foreground16: pick(l.Foreground16, o.Foreground16), Background16: pick(l.Background16, o.Background16),
		Bold: l.Bold || o.Bold, Faint: l.Faint && !o.Reverse, Italic: l.Italic || o.Italic,
		Underline: l.Underline || o.Underline, Reverse: l.Reverse != o.Reverse, Reverse16: l.Reverse16 != o.Reverse16,
	}
}
