package tui

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/timeline"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// barLetter is the letter in the first column of a bar; none for phases and for what is ahead.
var barLetter = map[timeline.Bar]string{timeline.Maintained: "m", timeline.Queued: "q", timeline.Preparing: "p", timeline.Evacuating: "e",
	timeline.Released: "l", timeline.Draining: "d", timeline.Updating: "u", timeline.Rebooting: "r", timeline.Returning: "b",
	timeline.Waiting: "W", timeline.Failed: "F"}

// barFill is what the other columns of a bar have.
func barFill(g themes.Glyphs, b timeline.Bar) string {
	switch b {
	case timeline.Preparing:
		return g.BarPreparing
	case timeline.Evacuating:
		return g.BarEvacuating
	case timeline.Draining:
		return g.BarDraining
	case timeline.Updating, timeline.Runs:
		return g.BarUpdating
	case timeline.Rebooting:
		return g.BarRebooting
	case timeline.Returning:
		return g.BarReturning
	case timeline.Ahead:
		return g.BarAhead
	}
	return barLetter[b] // what stands still is loud, and the others are short
}

// isOver tells whether nothing of a row goes on: then it rests.
func isOver(r *timeline.Row) bool { return len(r.Spans) == 0 || !r.Spans[len(r.Spans)-1].End.IsZero() }

// spanTone is the look of a span of a row. What stood still and goes on now needs nobody any more, and what is over is dim.
func spanTone(r *timeline.Row, b timeline.Bar, lasts bool) themes.Token {
	switch {
	case b == timeline.Waiting && !lasts:
		return themes.Warn
	case isOver(r) && !b.Stands():
		return themes.Dim
	}
	return barTone(b)
}

// barTone is the look of a bar of a row that goes on.
func barTone(b timeline.Bar) themes.Token {
	switch b {
	case timeline.Waiting:
		return themes.Needs
	case timeline.Failed:
		return themes.Bad
	case timeline.Updating:
		return themes.Good
	case timeline.Rebooting:
		return themes.Warn
	case timeline.Maintained, timeline.Queued, timeline.Released, timeline.Ahead:
		return themes.Dim
	case timeline.Runs:
		return themes.Text
	}
	return themes.Moves
}

// onGrid is the beginning of the column in which a time is: columns begin at whole minutes, hours and days of the operator's zone.
func onGrid(t time.Time, step time.Duration) time.Time {
	_, zone := t.Local().Zone()
	shift := time.Duration(zone) * time.Second
	return t.Add(shift).Truncate(step).Add(-shift)
}

// setView chooses the part of time that is seen in so many columns. Until the operator chooses a scale, the whole update is seen, with
// what is ahead of it. With a scale the present stays in view, or the time under the cursor.
func (p *timelinePane) setView(cols int) {
	cols = max(cols, 1)
	now, start := p.snap.Now, p.line.Start
	end := p.line.End(now)
	if p.line.Ended.IsZero() && end.Equal(now) {
		end = now.Add(now.Sub(start) / 6) // some room for what comes
	}
	fits := func(step time.Duration) bool {
		return end.Sub(onGrid(start, step)) <= time.Duration(cols-1)*step
	}
	v := view{left: p.view.left, cols: cols}
	if p.chosen > 0 {
		v.step = scales[p.chosen-1].column
	} else {
		for _, sc := range scales {
			if v.step = sc.column; fits(v.step) {
				break
			}
		}
	}
	width := time.Duration(cols) * v.step
	switch at := p.at(); {
	case fits(v.step):
		v.left = start
	case p.aim.IsZero():
		v.left = core.Later(at.Add(-width*7/10), start)
	case v.step != p.view.step || cols != p.view.cols:
		v.left = at.Add(-width / 2)
	case at.Before(v.left):
		v.left = at.Add(-width / 10)
	case !at.Before(v.left.Add(width)):
		v.left = at.Add(-width * 9 / 10)
	}
	v.left = onGrid(core.Later(v.left, start), v.step)
	p.view = v
}

// column is the column in which a time is; -1 when it is not seen.
func (v view) column(t time.Time) int {
	if v.step == 0 || t.Before(v.left) {
		return -1
	}
	if c := int(t.Sub(v.left) / v.step); c < v.cols {
		return c
	}
	return -1
}

// drawRows draws the axis, the rows, what was at the time under the cursor, and what the letters mean.
func (p *timelinePane) drawRows(w, h int, focused, old bool) []string {
	p.drawn = true
	p.follow()
	p.wide = w
	label := min(p.labels, mostLabel, max(w/6, 8))
	p.Columns[0].Width = label
	lead := 2 + label + 2
	cols := w - lead
	for _, c := range p.Columns[2:] {
		if !c.Hide() {
			cols -= c.Width + 2
		}
	}
	p.setView(cols)
	p.Redraw() // the time has moved, or the part of it that is seen
	over := draw.AsItIs
	if old {
		over = draw.Stale
	}
	rows := h - 1
	var below []draw.Line
	if h >= 7 {
		below = p.below(w, h)
		rows -= len(below) + legendLines(w, h)
	}
	out := []string{p.look.Draw(append(draw.Line{draw.Blank(lead)}, p.axis()...), w, over)}
	out = append(out, draw.PadTo(p.Draw(p.look, w, max(rows, 1), focused, old), w, max(rows, 0))...)
	if len(below) > 0 {
		below = append(below, p.legend(w, legendLines(w, h))...) // now it is known which rows are seen
	}
	for _, l := range below {
		out = append(out, p.look.Draw(l, w, over))
	}
	return out
}

// RowAt puts the cursor on the y-th line as it was drawn, below the axis.
func (p *timelinePane) RowAt(y int) bool { return p.Table.RowAt(y - 1) }

// below is what was at the time under the cursor, for below the rows; at least one line.
func (p *timelinePane) below(w, h int) []draw.Line {
	const most = 3
	var out []draw.Line
	lines := draw.Wrap(sanitise.Row(named(p.snap, p.tells())), max(w-2, 8))
	if n := max(min(most, h/5), 1); len(lines) > n {
		lines = lines[:n]
		lines[n-1] = draw.One(themes.Text, lines[n-1]+" "+p.look.Glyph.Ellipsis).Cut(max(w-2, 8)).Text()
	}
	for _, l := range lines {
		out = append(out, draw.One(themes.Text, " "+l))
	}
	return out
}

// legendLines is how many lines the legend has.
func legendLines(w, h int) int {
	if w < 160 && h >= 14 {
		return 2
	}
	return 1
}

// legend is what the letters that are seen mean, in n lines; without room for all, those that come first.
func (p *timelinePane) legend(w, n int) []draw.Line {
	seen, moved, failed := map[timeline.Bar]bool{}, false, false
	from, to := p.view.left, p.view.left.Add(time.Duration(p.view.cols)*p.view.step)
	above, below := p.More()
	rows := p.Rows()
	for _, r := range rows[min(above, len(rows)):max(len(rows)-below, 0)] {
		for _, span := range timeline.Within(p.line.Spans(r, p.snap.Now), from, to) {
			seen[span.Bar] = true
		}
		if r.Kind == timeline.Node {
			done, not := timeline.MovesWithin(timeline.Moves(p.snap, r.Node), from, to)
			moved, failed = moved || done > 0, failed || not > 0
		}
	}
	var parts []draw.Line
	add := func(tone themes.Token, key, word string) {
		parts = append(parts, draw.One(tone, key).And(themes.Dim, " "+word+"  "))
	}
	bars := func(stand bool) {
		for _, b := range timeline.Bars() {
			if !seen[b] || b == timeline.Runs || b.Stands() != stand {
				continue
			}
			key := barLetter[b]
			if fill := barFill(p.look.Glyph, b); fill != key {
				key += fill
			}
			add(barTone(b), key, b.String())
		}
	}
	bars(true) // the most important first
	if failed {
		add(themes.Bad, p.look.Glyph.Failed, "failed to move")
	}
	if moved {
		add(themes.Moves, "1-9", "moved")
	}
	bars(false)
	out := []draw.Line{{draw.Blank(1)}}
	for _, part := range parts {
		if out[len(out)-1].Width()+part.Width() > w {
			if len(out) == n {
				break
			}
			out = append(out, draw.Line{draw.Blank(1)})
		}
		out[len(out)-1] = append(out[len(out)-1], part...)
	}
	for len(out) < n {
		out = append(out, nil)
	}
	return out
}

// axis names times above the columns: round ones, the present, and the one under the cursor.
func (p *timelinePane) axis() draw.Line {
	v := p.view
	cells := []rune(strings.Repeat(" ", v.cols))
	free := func(at, n int) bool {
		return at >= 0 && at+n <= len(cells) && strings.TrimSpace(string(cells[max(at-1, 0):min(at+n+1, len(cells))])) == ""
	}
	put := func(at int, text string) { copy(cells[at:], []rune(text)) }
	every := day
	for _, sc := range scales {
		if sc.column == v.step {
			every = sc.named
		}
	}
	nowAt, aimAt := v.column(p.snap.Now), -1
	if !p.aim.IsZero() {
		aimAt = v.column(p.aim)
	}
	if nowAt >= 0 && p.line.Ended.IsZero() {
		if at := max(min(nowAt, v.cols-3), 0); free(at, 3) {
			put(at, "now")
		}
	}
	if aimAt >= 0 {
		put(aimAt, p.look.Glyph.Down)
	}
	for c := range v.cols {
		t := v.left.Add(time.Duration(c) * v.step)
		if !onGrid(t, every).Equal(t) {
			continue
		}
		text := t.Local().Format("15:04")
		if l := t.Local(); l.Hour() == 0 && l.Minute() == 0 {
			text = l.Format("Jan 2")
		}
		if free(c, len(text)) {
			put(c, text)
		}
	}
	var out draw.Line
	text := string(cells)
	if at := strings.Index(text, "now"); at >= 0 && aimAt < 0 {
		return append(out, draw.Text(themes.Dim, text[:at]), draw.Text(themes.Moves, "now"), draw.Text(themes.Dim, text[at+3:]))
	}
	if aimAt >= 0 {
		return append(out, draw.Text(themes.Dim, string(cells[:aimAt])), draw.Text(themes.Match, p.look.Glyph.Down),
			draw.Text(themes.Dim, string(cells[aimAt+1:])))
	}
	return append(out, draw.Text(themes.Dim, text))
}

// bar is a row with time across.
func (p *timelinePane) bar(r *timeline.Row) draw.Line {
	v, g := p.view, p.look.Glyph
	spans := p.line.Spans(r, p.snap.Now)
	var moves []timeline.Move
	if r.Kind == timeline.Node {
		moves = timeline.Moves(p.snap, r.Node)
	}
	now, aim := v.column(p.snap.Now), -1
	if !p.aim.IsZero() {
		aim = v.column(p.aim)
	}
	if !p.line.Ended.IsZero() {
		now = -1
	}
	var out draw.Line
	var run strings.Builder
	var tone themes.Token
	put := func(t themes.Token, text string) {
		if t != tone && run.Len() > 0 {
			out = append(out, draw.Text(tone, run.String()))
			run.Reset()
		}
		tone = t
		run.WriteString(text)
	}
	for c := range v.cols {
		from := v.left.Add(time.Duration(c) * v.step)
		to := from.Add(v.step)
		cell := timeline.CellOf(spans, from, to)
		done, failed := 0, 0
		if len(moves) > 0 {
			done, failed = timeline.MovesWithin(moves, from, to)
		}
		b := cell.Span.Bar
		t := spanTone(r, b, !cell.Span.End.Before(p.snap.Now))
		switch {
		case failed > 0:
			put(themes.Bad, g.Failed)
		case done > 0 && !b.Stands():
			digit := itoa(min(done, 10))
			if done > 9 {
				digit = "+"
			}
			put(spanTone(r, timeline.Evacuating, false), digit)
		case b == timeline.None && c == aim:
			put(themes.Match, g.Aim)
		case (b == timeline.None || b == timeline.Ahead) && c == now:
			put(themes.Dim, g.Now)
		case b == timeline.None:
			put(themes.Text, " ")
		case (cell.First || c == 0) && barLetter[b] != "":
			put(t, barLetter[b])
		default:
			put(t, barFill(g, b))
		}
	}
	return append(out, draw.Text(tone, run.String()))
}

// tells says what the selected row was at the time under the cursor, or is now.
func (p *timelinePane) tells() string {
	r := p.current()
	if r.ID == "" {
		return ""
	}
	at, now := p.at(), p.snap.Now
	from, to := p.column()
	label := strings.TrimSpace(r.Label)
	lead := label + ", " + clock(from, now)
	if to.Sub(from) > time.Minute {
		lead += " to " + to.Local().Format("15:04")
	}
	if p.aim.IsZero() {
		lead = label + " now"
		if !p.line.Ended.IsZero() {
			lead = label + " at the end, " + clock(p.line.Ended, now)
		}
		from, to = at.Add(-1), at // what lasts ends now
	}
	var parts []string
	for _, span := range timeline.Within(p.line.Spans(r, now), from, to) {
		parts = append(parts, p.spanTells(r, span))
	}
	if len(parts) == 0 {
		parts = append(parts, p.nothing(r, at))
	}
	if r.Kind == timeline.Node && !p.aim.IsZero() {
		if text := p.movesTell(r.Node, from, to); text != "" {
			parts = append(parts, text)
		}
	}
	return lead + ": " + strings.Join(parts, "; ")
}

func (p *timelinePane) spanTells(r *timeline.Row, span timeline.Span) string {
	now := p.snap.Now
	if span.Bar == timeline.Ahead {
		text := "the forecast: about " + about(span.Start, now) + " to " + about(span.End, now)
		if r.Kind == timeline.Step {
			text = "by the plan's estimate it ends at " + clock(span.End, now)
		}
		return text + spreadText(span)
	}
	text := span.Bar.String() + " " + clock(span.Start, now)
	switch {
	case span.Reconstructed:
		text += " (reconstructed: nobody looked)"
	case !span.Seen:
		text = span.Bar.String() + " since " + clock(span.Start, now) + span.Unsure()
	}
	lasts := !span.End.Before(now)
	why := span.Why
	if lasts {
		text += " until now"
		if v := progress.ViewOf(p.snap, r.Node); r.Kind == timeline.Node && v != nil && v.Reason != "" {
			if why = v.Reason; v.What != "" && !strings.Contains(why, v.What) {
				why += ", " + v.What
			}
		}
	} else {
		text += " to " + clock(span.End, now)
	}
	text += ", " + age(span.End.Sub(span.Start))
	if why != "" {
		text += ": " + why
	}
	return text
}

// nothing says why there is no bar.
func (p *timelinePane) nothing(r *timeline.Row, at time.Time) string {
	spans := p.line.Spans(r, p.snap.Now)
	switch {
	case len(spans) == 0 && r.Done:
		return "it is through; Lockstep did not see when"
	case len(spans) == 0 && r.Kind == timeline.Node:
		return "nothing yet; there is a forecast once two nodes are through"
	case len(spans) > 0 && at.Before(spans[0].Start):
		return "it came at " + clock(spans[0].Start, p.snap.Now)
	case len(spans) > 0 && !at.Before(spans[len(spans)-1].End):
		return "it was done at " + clock(spans[len(spans)-1].End, p.snap.Now)
	}
	return "nothing happened there"
}

// movesTell names the migrations from the node in a time.
func (p *timelinePane) movesTell(node string, from, to time.Time) string {
	const most = 3
	var done, failed []string
	for _, m := range timeline.Moves(p.snap, node) {
		if m.At.Before(from) || !m.At.Before(to) {
			continue
		}
		name := nameOf(p.snap, m.Instance)
		if m.Failed {
			failed = append(failed, name)
		} else {
			done = append(done, name+" to "+progress.HostLabel(p.snap, m.To))
		}
	}
	some := func(names []string) string {
		if n := len(names); n > most {
			return strings.Join(names[:most], ", ") + " and " + itoa(n-most) + " more"
		}
		return strings.Join(names, ", ")
	}
	var parts []string
	if len(done) > 0 {
		parts = append(parts, "moved "+some(done))
	}
	if len(failed) > 0 {
		parts = append(parts, "failed to move "+some(failed))
	}
	return strings.Join(parts, "; ")
}
