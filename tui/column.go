package tui

import (
	"lockstep/themes"
	"lockstep/tui/draw"
)

// columnWord says what a column holds, by its title.
type columnWord struct{ title, text string }

// columnLines say what the columns of a pane hold; empty for other scopes.
func columnLines(m *Model, s Scope, w int) []draw.Line {
	var words []columnWord
	switch {
	case s == ScopeClusters:
		words = clusterWords
	case m.panes[s] != nil:
		words = m.pane(s).words()
	}
	if len(words) == 0 {
		return nil
	}
	out := []draw.Line{{}, draw.One(themes.Strong, "columns of "+string(s))}
	for _, c := range words {
		out = append(out, helpRow(draw.One(themes.Key, c.title), themes.Text, c.text, w)...)
	}
	return out
}
