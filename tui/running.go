package tui

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// running is the operation that controls work on: the selected one, else the newest that runs.
func (m *Model) running() *core.Operation {
	if m.snap == nil {
		return nil
	}
	if m.top() == nil && m.focus == ScopeLog {
		if op := m.focused().subject().operation; op != nil && !op.State.Ended() && !op.Past && op.Elsewhere == "" {
			return op
		}
	}
	for i := range m.snap.Operations {
		if op := &m.snap.Operations[i]; !op.State.Ended() && !op.Past && op.Elsewhere == "" {
			return &m.snap.Operations[i]
		}
	}
	return nil
}

// runningLine is what runs, in one line; nil when nothing does.
func (m *Model) runningLine(w int) draw.Line {
	op := m.running()
	if op == nil {
		return nil
	}
	k := operationMark(m.look.Glyph, op.State)
	out := draw.Line{draw.Blank(1), draw.Text(k.tone, k.glyph+" "+string(op.State)), draw.Blank(2), draw.Text(themes.Strong, op.Title)}
	if len(op.Items) > 0 {
		ended := 0
		for _, it := range op.Items {
			if it.State.Ended() {
				ended++
			}
		}
		out = append(out, draw.Blank(2))
		out = append(out, draw.Gauge(m.look.Glyph, ended, len(op.Items), 8)...)
		out = out.And(themes.Text, fmt.Sprintf(" %d of %d", ended, len(op.Items)))
	}
	text := op.Text
	for _, it := range op.Items {
		if !it.State.Ended() && it.State != core.OperationQueued {
			text = strings.TrimSpace(it.Label + " " + it.Text)
			break
		}
	}
	if text != "" {
		out = out.And(themes.Dim, "  "+named(m.snap, text))
	}
	out = out.And(themes.Dim, "  "+took(op.State, op.Started, op.Ended, m.snap.Now))
	if len(op.Items) == 0 {
		return out
	}
	hold := " hold  "
	if op.State == core.OperationPaused {
		hold = " go on  "
	}
	keys := draw.Line{draw.Blank(2), draw.Text(themes.Text, "h"), draw.Text(themes.Hint, hold), draw.Text(themes.Text, "o"), draw.Text(themes.Hint, " omit  "), draw.Text(themes.Text, "t"),
		draw.Text(themes.Hint, " stop ")}
	return draw.Apart(out, keys, w)
}
