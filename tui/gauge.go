package tui

import (
	"strings"

	"lockstep/themes"
)

// gauge is a bar of w columns, filled to done of total.
func gauge(g themes.Glyphs, done, total, w int) line {
	if total <= 0 || w <= 0 {
		return nil
	}
	full := min(max(done, 0), total) * w / total
	if done > 0 && full == 0 {
		full = 1
	}
	return line{
		txt(themes.Moves, strings.Repeat(g.Full, full)),
		txt(themes.Dim, strings.Repeat(g.Empty, w-full)),
	}
}
