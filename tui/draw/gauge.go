package draw

import (
	"strings"

	"lockstep/themes"
)

// Gauge is a bar of w columns, filled to done of total.
func Gauge(g themes.Glyphs, done, total, w int) Line {
	if total <= 0 || w <= 0 {
		return nil
	}
	full := min(max(done, 0), total) * w / total
	if done > 0 && full == 0 {
		full = 1
	}
	return Line{
		Text(themes.Moves, strings.Repeat(g.Full, full)),
		Text(themes.Dim, strings.Repeat(g.Empty, w-full)),
	}
}
