package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/timeline"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeTimeline is the pane of the timeline.
const ScopeTimeline Scope = "timeline"

// scale is how much time a column of the timeline stands for, and how far apart the times are that are named above the columns.
type scale struct{ column, named time.Duration }

const day = 24 * time.Hour

// scales are what there is to choose from. A named time needs six columns.
var scales = []scale{{time.Minute, 10 * time.Minute}, {2 * time.Minute, 30 * time.Minute}, {3 * time.Minute, 30 * time.Minute},
	{5 * time.Minute, time.Hour}, {10 * time.Minute, time.Hour}, {15 * time.Minute, 2 * time.Hour}, {20 * time.Minute, 2 * time.Hour},
	{30 * time.Minute, 3 * time.Hour}, {time.Hour, 6 * time.Hour}, {2 * time.Hour, 12 * time.Hour}, {3 * time.Hour, day},
	{6 * time.Hour, 2 * day}, {12 * time.Hour, 4 * day}, {day, 7 * day}}

// timelinePane is the update with time across: phases, plan steps and nodes.
type timelinePane struct {
	tablePane[*timeline.Row]
	line timeline.Timeline

	chosen int       // the scale that the operator has chosen, as an index plus one; 0: the whole update fits
	aim    time.Time // the time under the cursor; zero: it follows the present
	view   view      // as it was drawn last

	wide   int    // of the pane, when it was drawn last
	labels int    // the width of the longest label
	drawn  bool   // since the last Snapshot
	behind bool   // its rows are of an earlier Snapshot
	led    string // the node to which the rest of the screen has led the cursor
}

// view is the part of time that is seen.
type view struct {
	left time.Time     // the beginning of the first column
	step time.Duration // one column
	cols int
}

func newTimelinePane() pane {
	p := &timelinePane{}
	s := &p.scene
	p.Table = &table.Table[*timeline.Row]{
		ID:   func(r *timeline.Row) string { return r.ID },
		Name: func(r *timeline.Row) string { return r.Label },
		Columns: []table.Column[*timeline.Row]{
			{Cell: func(r *timeline.Row) draw.Line { return draw.One(labelTone(r), r.Label) }},
			{Width: leastBar, Grow: true, Cell: func(r *timeline.Row) draw.Line { return draw.Plain(spansText(s, p.line, r)) },
				Fill: func(r *timeline.Row, w int) draw.Line { return p.bar(r) }},
			{Width: tookWidth, Right: true, Hide: func() bool { return p.wide < 56 },
				Cell: func(r *timeline.Row) draw.Line { return p.took(r) }},
			{Width: noteWidth, Hide: func() bool { return p.wide < 132 }, Cell: func(r *timeline.Row) draw.Line { return p.what(r) }},
		},
	}
	return p
}

const (
	tookWidth = 8
	noteWidth = 30
	mostLabel = 20
	leastBar  = 16
)

func labelTone(r *timeline.Row) themes.Token {
	switch {
	case r.Kind == timeline.Phase:
		return themes.Strong
	case r.Kind == timeline.Node && len(r.Spans) > 0 && r.Spans[len(r.Spans)-1].End.IsZero():
		return themes.Text
	}
	return themes.Dim
}

// refresh takes the Snapshot in. While the pane is not on the screen that waits until it is: rows of thousands of nodes cost something.
func (p *timelinePane) refresh() string {
	if p.behind = !p.drawn && p.focus != ScopeTimeline; p.behind {
		return ""
	}
	p.drawn = false
	return p.catchUp()
}

// Count is called before anything is drawn of the pane.
func (p *timelinePane) Count() (shown, all int) {
	if p.behind && p.snap != nil {
		p.catchUp()
	}
	return p.Table.Count()
}

func (p *timelinePane) catchUp() string {
	p.behind = false
	p.line = timeline.Of(p.snap)
	p.labels = 6
	for _, r := range p.line.Rows {
		p.labels = max(p.labels, draw.Width(r.Label))
	}
	gone := p.Set(p.line.Rows, p.snap.Revision)
	p.follow()
	return gone
}

// follow puts the cursor on the node that the rest of the screen is about, while the keys go elsewhere.
func (p *timelinePane) follow() {
	if p.snap == nil || p.focus == ScopeTimeline || p.node == "" || p.node == p.led && p.Gone() == "" {
		return
	}
	if p.Choose("node/" + p.node) {
		p.led = p.node
	}
}

// entered leaves the cursor where it is: on the node that was selected elsewhere.
func (p *timelinePane) entered() {
	p.Count()
	if p.snap != nil && p.node != "" && p.node != p.led {
		p.led = p.node
		p.Choose("node/" + p.node)
	}
}

func (p *timelinePane) moved() request {
	if r := p.current(); r.Kind == timeline.Node && r.Node != "" {
		p.led = r.Node
		return leadTo{r.Node}
	}
	return nil
}

func (p *timelinePane) current() *timeline.Row {
	if r, ok := p.Current(); ok {
		return *r
	}
	return &timeline.Row{}
}

func (p *timelinePane) name() string { return "Timeline" }

func (p *timelinePane) empty() string {
	return "No update runs, and none was seen. The timeline begins with the ClusterMaintenanceRequest of the next one."
}

// note says how much time a column is, and which time is under the cursor.
func (p *timelinePane) note() draw.Line {
	if p.view.step == 0 || p.snap == nil || p.line.Start.IsZero() {
		return nil
	}
	out := draw.One(themes.Dim, "1 column = "+age(p.view.step))
	switch {
	case !p.aim.IsZero():
		return out.And(themes.Dim, "  ").And(themes.Match, "at "+clock(p.aim, p.snap.Now)).And(themes.Dim, ", f: now")
	case !p.line.Ended.IsZero():
		return out.And(themes.Dim, "  ended "+clock(p.line.Ended, p.snap.Now))
	}
	return out.And(themes.Dim, "  now "+clock(p.snap.Now, p.snap.Now))
}

func (p *timelinePane) explain() string { return "" } // it is drawn with the rows

func (p *timelinePane) nodes() []string {
	if r := p.current(); r.Kind == timeline.Node && r.Node != "" {
		return []string{r.Node}
	}
	return nil
}

func (p *timelinePane) subject() subject {
	r, ok := p.Current()
	switch {
	case !ok:
		return subject{}
	case (*r).Kind == timeline.Node:
		name := (*r).Node
		return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: name}, node: name, name: name,
			command: "kubectl get node " + name + " -o yaml", then: p.then()}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureCluster}, update: true, name: (*r).Label,
		command: "kubectl get clustermaintenancerequests,clusterworkloadlocks", then: p.then()}
}

func (p *timelinePane) words() []columnWord {
	var letters, ticks []string
	for _, b := range timeline.Bars() {
		if l := barLetter[b]; l != "" {
			letters = append(letters, l+" "+b.String())
		}
	}
	g := p.look.Glyph
	ticks = append(ticks, "1 to 9 and + migrations from the node that ended there", g.Failed+" migrations that failed",
		g.Now+" now", g.BarAhead+" the forecast", g.Aim+" the time under the cursor")
	return []columnWord{{"bars", "the first column of each bar has its letter: " + strings.Join(letters, ", ")},
		{"in the bars", strings.Join(ticks, ", ")},
		{"at the right", "how long it took or has taken; ~ when it will be done, by the forecast"}}
}

// at is the time that the pane tells about: the one under the cursor, or the present; of an update that is over its last moment.
func (p *timelinePane) at() time.Time {
	switch {
	case !p.aim.IsZero():
		return p.aim
	case !p.line.Ended.IsZero():
		return p.line.Ended.Add(-1)
	}
	return p.snap.Now
}

// aimAt puts the cursor at a time, within what the timeline is about.
func (p *timelinePane) aimAt(t time.Time) request {
	if end := p.line.End(p.snap.Now); t.After(end) {
		t = end
	}
	p.aim = core.Later(t, p.line.Start)
	return nil
}

// step moves the cursor n columns.
func (p *timelinePane) step(n int) request {
	if p.view.step == 0 {
		return nil
	}
	return p.aimAt(onGrid(p.at(), p.view.step).Add(time.Duration(n) * p.view.step))
}

// change moves the cursor to where the selected row's next span begins (by > 0), or the one before it.
func (p *timelinePane) change(by int) request {
	spans := p.line.Spans(p.current(), p.snap.Now)
	var edges []time.Time
	for i, span := range spans {
		edges = append(edges, span.Start)
		if i+1 == len(spans) || spans[i+1].Start.After(span.End) {
			edges = append(edges, span.End)
		}
	}
	at := p.at()
	if by > 0 {
		for _, e := range edges {
			if e.After(at) {
				return p.aimAt(e)
			}
		}
		return nil
	}
	for i := len(edges) - 1; i >= 0; i-- {
		if edges[i].Before(at) {
			return p.aimAt(edges[i])
		}
	}
	return nil
}

// zoom chooses the scale that is n steps coarser than the one now.
func (p *timelinePane) zoom(n int) request {
	now := 0
	for i, sc := range scales {
		if sc.column <= p.view.step {
			now = i
		}
	}
	p.chosen = max(min(now+n, len(scales)-1), 0) + 1
	return nil
}

func (p *timelinePane) needTime() string {
	switch {
	case p.snap == nil:
		return "nothing is known yet"
	case p.line.Start.IsZero():
		return "no update is known"
	}
	return ""
}

func (p *timelinePane) needFiner() string {
	if p.view.step == scales[0].column {
		return "a column is a minute already"
	}
	return p.needTime()
}

func (p *timelinePane) needCoarser() string {
	if p.view.step == scales[len(scales)-1].column {
		return "a column is a day already"
	}
	return p.needTime()
}

// then is the selected row at the time under the cursor; nil while that is the present, or has not come.
func (p *timelinePane) then() *then {
	r := p.current()
	if p.aim.IsZero() || r.ID == "" || !p.aim.Before(p.snap.Now) {
		return nil
	}
	from, to := p.column()
	return &then{row: r.ID, label: strings.TrimSpace(r.Label), node: r.Node, from: from, to: to}
}

// column is the time that the column under the cursor stands for.
func (p *timelinePane) column() (from, to time.Time) {
	at := p.at()
	if !p.aim.IsZero() && p.view.step > 0 {
		from = onGrid(at, p.view.step)
		return from, from.Add(p.view.step)
	}
	return at, at.Add(1)
}

// timelineActions move in time; up and down move among the rows, as everywhere.
func timelineActions() []Action {
	in := func(id, title, short string, footer int, need func(*timelinePane) string, do func(*timelinePane) request, keys ...string) Action {
		return inPane(Action{ID: "timeline." + id, Title: title, Short: short, Scope: ScopeTimeline, Keys: keys, Footer: footer}, need, do)
	}
	need := (*timelinePane).needTime
	return []Action{
		in("earlier", "Go back in time by a column", "back", 14, need, func(p *timelinePane) request { return p.step(-1) }, "left"),
		in("later", "Go on in time by a column", "later", 0, need, func(p *timelinePane) request { return p.step(1) }, "right"),
		in("finer", "Zoom in: a column is less time", "zoom", 16, (*timelinePane).needFiner,
			func(p *timelinePane) request { return p.zoom(-1) }, "+", "="),
		in("coarser", "Zoom out: a column is more time", "zoom out", 0, (*timelinePane).needCoarser,
			func(p *timelinePane) request { return p.zoom(1) }, "-"),
		in("fit", "Show the whole update again", "all", 0, need, func(p *timelinePane) request { p.chosen = 0; return nil }, "0"),
		in("before", "Go to where the selected row's bar before began", "bar before", 0, need,
			func(p *timelinePane) request { return p.change(-1) }, "["),
		in("after", "Go to where the selected row's next bar begins", "next bar", 0, need,
			func(p *timelinePane) request { return p.change(1) }, "]"),
		in("begin", "Go to the beginning of the update", "begin", 0, need,
			func(p *timelinePane) request { return p.aimAt(p.line.Start) }, "<"),
		in("follow", "Follow the present", "now", 18, need, func(p *timelinePane) request { p.aim = time.Time{}; return nil }, "f", ">"),
	}
}

// timelineKey opens the timeline across the whole screen.
func timelineKey() Action {
	return Action{ID: "timeline", Title: "Show the timeline across the whole screen, or put it back", Short: "timeline",
		Scope: ScopeDashboard, Keys: []string{"T"}, Footer: 97, run: func(m *Model) tea.Cmd {
			if m.whole() {
				m.across = false
				return m.setFocus(m.beforeTimeline)
			}
			m.beforeTimeline = m.focus
			cmd := m.setFocus(ScopeTimeline)
			m.across = true
			return cmd
		}}
}

// whole tells whether the timeline has the whole screen.
func (m *Model) whole() bool { return m.across && m.focus == ScopeTimeline }

// wholeBody is the timeline alone, below the most urgent entry.
func (m *Model) wholeBody(w, h, top int) []string {
	var out []string
	if l := m.urgentLine(); l != nil && h >= 7 {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	body := m.paneBody(ScopeTimeline, 0, top+len(out)+1, w, h-len(out)-1)
	return append(append(out, m.paneRule(ScopeTimeline, w, nil)), body...)
}

// took is how long the row's bars took or have taken; of what is ahead, when it will be done.
func (p *timelinePane) took(r *timeline.Row) draw.Line {
	took, over := r.Took(p.snap.Now)
	switch {
	case took > 0 && over:
		return draw.One(themes.Dim, age(took))
	case took > 0:
		return draw.Plain(age(took))
	}
	if spans := p.line.Spans(r, p.snap.Now); len(spans) > 0 {
		return draw.One(themes.Dim, "~"+about(spans[0].End, p.snap.Now))
	}
	if r.Done {
		return draw.One(themes.Dim, "done")
	}
	return draw.One(themes.Dim, p.look.Glyph.None)
}

// what is what the row is now, in some words.
func (p *timelinePane) what(r *timeline.Row) draw.Line {
	spans := p.line.Spans(r, p.snap.Now)
	if len(spans) == 0 {
		return nil
	}
	last := spans[len(spans)-1]
	switch {
	case last.Bar == timeline.Ahead && len(spans) == 1:
		return draw.One(themes.Dim, "about "+about(last.End, p.snap.Now)+spreadText(last))
	case last.Bar == timeline.Ahead:
		now := spans[len(spans)-2]
		return draw.One(barTone(now.Bar), now.Bar.String()).And(themes.Dim, ", about "+about(last.End, p.snap.Now))
	case r.Spans[len(r.Spans)-1].End.IsZero():
		text := last.Bar.String()
		if v := progress.ViewOf(p.snap, r.Node); r.Kind == timeline.Node && v != nil && v.What != "" {
			text += ": " + v.What
		}
		return draw.One(barTone(last.Bar), text)
	}
	return draw.One(themes.Dim, "until "+clock(last.End, p.snap.Now))
}

// about is a time of the forecast. It is rounded, so that not every row changes with every minute.
func about(t, now time.Time) string { return clock(t.Round(5*time.Minute), now) }

func spreadText(span timeline.Span) string {
	if span.Spread <= 0 {
		return ""
	}
	return " ± " + age(span.Spread)
}

// spansText is a row's bars in words, for copying and for the filter.
func spansText(s *scene, t timeline.Timeline, r *timeline.Row) string {
	if s.snap == nil {
		return ""
	}
	var parts []string
	for _, span := range t.Spans(r, s.snap.Now) {
		parts = append(parts, fmt.Sprintf("%s %s", clock(span.Start, s.snap.Now), span.Bar))
		if n := len(parts); n > 0 && span.Bar == timeline.Ahead {
			parts[n-1] = "forecast " + about(span.End, s.snap.Now) + spreadText(span)
		}
	}
	return strings.Join(parts, ", ")
}
