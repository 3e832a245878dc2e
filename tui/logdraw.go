package tui

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// layout makes the lines of the page, unless they are as they were. The line at its top stays there.
func (p *logPage) layout(m *Model, w int) {
	want := ""
	if p.matches {
		want = folded(p.find.text)
	}
	now := m.now()
	if m.snap != nil {
		now = m.snap.Now
	}
	shape := lineShape{width: w, several: len(p.state.pods) > 1, cut: p.cut, day: dayOf(now)}
	key := fmt.Sprint(shape, m.depth, m.theme.Name, p.ring.came, p.ring.dropped, "/", want)
	if key == p.made {
		return
	}
	p.made = key
	top, below := p.topRow()
	p.lines, p.owners = p.lines[:0], nil
	for _, r := range p.ring.rows {
		if want != "" && !r.contains(want) {
			continue
		}
		if r.drawn == nil || r.shape != shape {
			r.shape, r.drawn = shape, podLines(m, r, now, shape)
		}
		for _, l := range r.drawn {
			p.lines, p.owners = append(p.lines, l), append(p.owners, r)
		}
	}
	if !p.held || top == nil || len(p.owners) == 0 {
		return
	}
	at := sort.Search(len(p.owners), func(i int) bool { return p.owners[i].compare(top) >= 0 })
	if at < len(p.owners) && p.owners[at] == top {
		at += min(below, len(top.drawn)-1)
	}
	moved := at - p.offset
	p.offset = min(at, len(p.owners)-1)
	p.find.line, p.find.from = p.find.line+moved, p.find.from+moved
}

// topRow is the row at the top of the page, and how many of its lines are above the page; nil where nothing was drawn yet.
func (p *logPage) topRow() (row *podLine, below int) {
	if p.offset >= len(p.owners) {
		return nil, 0
	}
	row = p.owners[p.offset]
	for below < p.offset && p.owners[p.offset-below-1] == row {
		below++
	}
	return row, below
}

// seen are the rows that are on the screen, in their order.
func (p *logPage) seen() []*podLine {
	return slices.Compact(slices.Clone(p.owners[min(p.offset, len(p.owners)):min(p.offset+p.height, len(p.owners))]))
}

// dayOf tells the days of the operator's zone apart.
func dayOf(t time.Time) int {
	t = t.Local()
	return t.Year()*1000 + t.YearDay()
}

// podLines draws a line of a log: its time, its pod where there are several, and its text in the tone of its level.
func podLines(m *Model, r *podLine, now time.Time, shape lineShape) []draw.Line {
	w := shape.width
	if r.Notice {
		return draw.Paragraph(themes.Moves, "--- "+r.Text, w)
	}
	at := secondsClock(r.At, now)
	if r.At.IsZero() {
		at = "--:--:--"
	}
	lead := draw.One(themes.Dim, at+" ")
	if shape.several {
		pod := r.Pod
		if i := strings.LastIndexByte(pod, '-'); i >= 0 && len(pod)-i <= 7 {
			pod = pod[i+1:] // what tells the pods of a workload apart
		}
		lead = append(lead, draw.One(themes.Key, pod).Fit(6, false)...)
	}
	text := sanitise.Text(r.Text, core.MaxLogLine)
	if r.Length > 0 {
		text = fmt.Sprintf("(cut: %s in all) %s", bytesText(r.Length), text)
	}
	tone := levelTone(r.Text)
	room := max(w-lead.Width(), 12)
	if shape.cut {
		return []draw.Line{append(lead, draw.Text(tone, text)).Cut(w)}
	}
	var out []draw.Line
	for i, part := range draw.Wrap(text, room) {
		if i > 0 {
			lead = draw.Line{draw.Blank(lead.Width())}
		}
		out = append(out, append(lead[:len(lead):len(lead)], draw.Text(tone, part)))
	}
	if len(out) == 0 {
		out = append(out, lead)
	}
	return out
}

// levelTone is the look of a line by the level that it was logged with, in the forms of Python's logging, oslo.log, klog and JSON.
func levelTone(text string) themes.Token {
	head := text[:min(len(text), 120)]
	if len(head) > 5 && (head[0] == 'E' || head[0] == 'F' || head[0] == 'W') && strings.Trim(head[1:5], "0123456789") == "" {
		if head[0] == 'W' {
			return themes.Warn
		}
		return themes.Bad
	}
	for _, l := range []struct {
		tone  themes.Token
		words []string
	}{
		{themes.Bad, []string{" ERROR ", "[ERROR]", "[ERROR ", " CRITICAL ", "[CRITICAL]", `"level":"error"`, "level=error", " TRACE "}},
		{themes.Warn, []string{" WARNING ", "[WARNING]", "[WARNING ", `"level":"warn`, "level=warn"}},
		{themes.Dim, []string{" DEBUG ", "[DEBUG]", "[DEBUG ", `"level":"debug"`, "level=debug"}},
	} {
		if slices.ContainsFunc(l.words, func(w string) bool { return strings.Contains(head, w) }) {
			return l.tone
		}
	}
	return themes.Text
}

// bytesText is a number of bytes: "16 KiB", "2.0 MiB".
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return counted(n, "byte")
}

func (p *logPage) draw(m *Model, w, h int) []string {
	p.layout(m, w-2)
	head := p.head(m, w-2)
	p.height = max(h-len(head)-1, 1)
	p.total = len(p.lines)
	if end := max(p.total-p.height, 0); !p.held || p.offset > end {
		p.offset = end
	}
	body, offset := p.find.look(p.lines, p.offset, p.height)
	if p.offset = offset; p.find.text != "" && len(p.find.hits) > 0 {
		p.held = p.offset < p.total-p.height
	}
	title := draw.One(themes.RuleFocus, "Log of "+p.target.Label)
	rule := m.look.Rule(w, title, p.note(m), true, nil)
	if p.find.text != "" {
		rule = p.find.rule(m, w, title, nil)
	}
	out := []string{rule}
	for _, l := range head {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	for i, l := range body[p.offset:min(p.offset+p.height, p.total)] {
		lead := draw.Blank(1)
		if p.find.current(p.offset + i) {
			lead = draw.Text(themes.Match, m.look.Glyph.Cursor)
		}
		out = append(out, m.look.Draw(append(draw.Line{lead}, l...), w, draw.AsItIs))
	}
	return out
}

// note is the right end of the page's rule: how many lines there are, and whether they go on.
func (p *logPage) note(m *Model) draw.Line {
	out := draw.One(themes.Dim, counted(len(p.ring.rows), "line"))
	if p.ring.dropped > 0 {
		out = out.And(themes.Dim, fmt.Sprintf(", %d older ones dropped", p.ring.dropped))
	}
	switch {
	case p.state.ended:
		out = out.And(themes.Dim, "   ended")
	case p.held:
		out = out.And(themes.Warn, fmt.Sprintf("   held, %d below: %s follows", max(p.total-p.offset-p.height, 0),
			m.keyTo("podlog.follow")))
	case p.state.well && p.state.trouble == nil:
		out = out.And(themes.Good, "   following")
	}
	return out.And(themes.Dim, "   esc back")
}

// head is where the log comes from, and why nothing comes.
func (p *logPage) head(m *Model, w int) []draw.Line {
	var from []string
	if p.target.Server == core.ServerManagement {
		from = append(from, "management cluster")
	}
	switch n := len(p.state.pods); {
	case n == 0:
		from = append(from, "namespace "+p.target.Namespace)
	case n == 1:
		from = append(from, p.target.Namespace+"/"+p.state.pods[0].Name)
	default:
		text := fmt.Sprintf("%d pods of %s", n, p.target.Namespace)
		if p.read() < n {
			text = fmt.Sprintf("%d of %s: no more are read at once", p.read(), text)
		}
		from = append(from, text)
	}
	if c := p.pick(); c != "" {
		text := "container " + c
		if p.hasMore() {
			all := p.state.pods[0].Containers
			text += fmt.Sprintf(" (%d of %d)", slices.IndexFunc(all, func(one core.LogContainer) bool { return one.Name == c })+1, len(all))
		}
		from = append(from, text)
	}
	run := p.reads()
	if p.previous {
		run = "previous run, " + run
	}
	if p.matches {
		run += ", only lines with /" + p.find.text
	}
	out := draw.Paragraph(themes.Dim, strings.Join(append(from, run), ", "), w)
	tell := func(tone themes.Token, text string, most int) {
		out = append(out, atMost(most, tone, text, w)...)
	}
	var e *core.APIError
	switch {
	case errors.As(p.state.err, &e):
		tell(themes.Bad, e.Error(), 3)
		tell(themes.Key, e.Remedy, 3)
	case p.state.err != nil:
		tell(themes.Bad, p.state.err.Error(), 3)
	case p.state.trouble != nil:
		tell(themes.Warn, "It is tried again: "+p.state.trouble.Error(), 2)
		tell(themes.Key, p.state.trouble.Remedy, 2)
	case !p.state.well && !p.state.ended:
		text := "asking " + string(p.target.Server) + m.look.Glyph.Ellipsis
		if waited := m.now().Sub(p.asked); waited >= 2*time.Second {
			text += " " + age(waited) + "; where a container writes nothing, no answer may come"
		}
		tell(themes.Moves, text, 1)
	case len(p.ring.rows) == 0:
		text := "It has written nothing"
		switch r := logRanges[p.reach]; {
		case !p.times.isZero():
			text += " " + p.times.String() + ", as far as its log goes back: " + m.keyTo("podlog.times") + " asks for other times"
		case r.since > 0:
			text += " in " + r.name + ": " + m.keyTo("podlog.range") + " reads further back"
		}
		tell(themes.Dim, text+".", 1)
	case p.matches && len(p.lines) == 0:
		tell(themes.Dim, "No line has /"+p.find.text+" in it: "+m.keyTo("podlog.matches")+" shows all lines.", 1)
	}
	return append(out, draw.Line{})
}

// read is how many of the pods are read.
func (p *logPage) read() int {
	n := 0
	for _, pod := range p.state.pods {
		if pod.Read {
			n++
		}
	}
	return n
}
