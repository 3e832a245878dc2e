package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/timeline"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// then is a row of the timeline at a time that has passed.
type then struct {
	row      string // its ID
	label    string
	node     string    // its name; empty: it is a phase or a step of the plan
	from, to time.Time // the column under the cursor
}

// openThen opens the page of what something was at that time; enter opens it as it is now.
func (m *Model) openThen(at then, key core.ProcedureKey) tea.Cmd {
	m.open(&pager{
		title:   func(m *Model) string { return at.title(m.snap.Now) },
		lines:   func(m *Model, w int) []draw.Line { return at.lines(m, w) },
		onEnter: func(m *Model) tea.Cmd { return m.openProcedure(key) },
		enterIs: "as it is now",
	})
	return nil
}

func (t then) title(now time.Time) string {
	text := t.label + " at " + clock(t.from, now)
	if t.to.Sub(t.from) > time.Minute {
		text += " to " + t.to.Local().Format("15:04")
	}
	return text
}

// lines are all that is known of that time.
func (t then) lines(m *Model, w int) []draw.Line {
	line := timeline.Of(m.snap)
	var row *timeline.Row
	for _, r := range line.Rows {
		if r.ID == t.row {
			row = r
		}
	}
	if row == nil {
		return draw.Paragraph(themes.Dim, t.label+" is no part of the update any more.", w)
	}
	var out []draw.Line
	section := func(title string, head []string, rows [][]string, none string) {
		out = append(out, draw.Line{}, draw.One(themes.Strong, title))
		if len(rows) == 0 {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Dim, none, w-2))...)
			return
		}
		out = append(out, draw.Inset(2, rowLines(head, rows, w-2))...)
	}
	spans := slices.DeleteFunc(line.Spans(row, m.snap.Now), func(sp timeline.Span) bool { return sp.Bar == timeline.Ahead })
	out = append(out, t.headline(m, row, spans, w)...)
	section("All of it in this update", []string{"", "from", "took", "what", "why"}, t.spanRows(m, spans), "Nothing was recorded.")
	if t.node != "" {
		section("Migrations from it", []string{"", "at", "instance", "how"}, t.moveRows(m),
			"None ended by then, as far as Nova still lists them.")
	}
	section("The update", []string{"", "since", "what", "why"}, t.updateRows(m, line), "Nothing was recorded of its phases.")
	section("What Lockstep did", []string{"from", "step", "result"}, t.operationRows(m), "Nothing that this run knows of.")
	const kept = "Of the past are kept: stages, phases, standstills, migrations and the steps done with Lockstep. What its locks said, " +
		"which pods and instances were there, and what needed you is not kept."
	return append(append(out, draw.Line{}), draw.Paragraph(themes.Dim, kept, w)...)
}

// headline says what it was then.
func (t then) headline(m *Model, row *timeline.Row, spans []timeline.Span, w int) []draw.Line {
	var out []draw.Line
	for _, sp := range timeline.Within(spans, t.from, t.to) {
		text := sp.Bar.String() + " since " + clock(sp.Start, m.snap.Now) + sp.Unsure()
		if sp.End.Before(m.snap.Now) {
			text += ", until " + clock(sp.End, m.snap.Now)
		} else {
			text += ", and still"
		}
		if sp.Why != "" {
			text += ": " + sp.Why
		}
		out = append(out, draw.Paragraph(barTone(sp.Bar), text, w)...)
	}
	if len(out) > 0 {
		return out
	}
	text := "Its maintenance had not begun."
	switch {
	case len(spans) == 0 && row.Done:
		text = "It is through; Lockstep did not see when."
	case len(spans) > 0 && !t.from.Before(spans[len(spans)-1].End):
		text = "It was done, at " + clock(spans[len(spans)-1].End, m.snap.Now) + "."
	case row.Kind != timeline.Node:
		text = "It had not begun."
	case len(spans) > 0 && !t.from.Before(spans[0].Start):
		text = "It was between two parts of its maintenance."
	}
	return draw.Paragraph(themes.Text, text, w)
}

// mark is the first cell of a row: whether it was so then.
func (t then) mark(from, to time.Time) string {
	if from.Before(t.to) && to.After(t.from) {
		return "then"
	}
	return ""
}

func (t then) spanRows(m *Model, spans []timeline.Span) [][]string {
	var rows [][]string
	for _, sp := range spans {
		from := clock(sp.Start, m.snap.Now) + sp.Unsure()
		rows = append(rows, []string{t.mark(sp.Start, sp.End), from, age(sp.End.Sub(sp.Start)), sp.Bar.String(), sp.Why})
	}
	return rows
}

// mostMoves is how many migrations the page names: the last ones by then.
const mostMoves = 12

// moveRows are the migrations from the node that were under way then, and the last ones that had ended.
func (t then) moveRows(m *Model) [][]string {
	var rows [][]string
	for _, mv := range timeline.Moves(m.snap, t.node) {
		if !mv.At.Before(t.to) {
			break // oldest first
		}
		how := "moved to " + progress.HostLabel(m.snap, mv.To)
		if mv.Failed {
			how = "failed to move"
		}
		rows = append(rows, []string{t.mark(mv.At, mv.At.Add(1)), clock(mv.At, m.snap.Now), nameOf(m.snap, mv.Instance), how})
	}
	if more := len(rows) - mostMoves; more > 0 {
		rows = append([][]string{{"", "", "and " + itoa(more) + " before", ""}}, rows[more:]...)
	}
	for _, run := range timeline.Underway(m.snap, t.node, t.from) {
		rows = append(rows, []string{"then", clock(run.At, m.snap.Now), nameOf(m.snap, run.Instance), "on its way to " +
			progress.HostLabel(m.snap, run.To)})
	}
	return rows
}

// updateRows are the phases and steps of the plan that had begun and were not done.
func (t then) updateRows(m *Model, line timeline.Timeline) [][]string {
	var rows [][]string
	for _, r := range line.Rows {
		if r.Kind == timeline.Node || r.ID == t.row {
			continue
		}
		for _, sp := range timeline.Within(line.Spans(r, m.snap.Now), t.from, t.to) {
			if sp.Bar != timeline.Ahead {
				rows = append(rows, []string{strings.TrimSpace(r.Label), clock(sp.Start, m.snap.Now), sp.Bar.String(), sp.Why})
			}
		}
	}
	return rows
}

// operationRows are the steps that were under way then: about the node, or of a phase all of them.
func (t then) operationRows(m *Model) [][]string {
	var rows [][]string
	for _, op := range slices.Backward(m.snap.Operations) {
		about := t.node == "" || op.Node == t.node ||
			slices.ContainsFunc(op.Items, func(i core.OperationItem) bool { return i.Node == t.node })
		if !about || !op.Started.Before(t.to) || !op.Ended.IsZero() && op.Ended.Before(t.from) {
			continue
		}
		result := string(op.State)
		if op.Text != "" {
			result += ": " + op.Text
		}
		rows = append(rows, []string{clock(op.Started, m.snap.Now), op.Title, result})
	}
	return rows
}
