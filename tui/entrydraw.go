package tui

import (
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// told is one fact of an entry's page, with its label.
type told struct {
	label, text string
	tone        themes.Token
}

// told are the facts of an entry, the most important first.
func (p *entryPage) told(m *Model) []told {
	a, s := p.a, m.snap
	tone := themes.Text
	if a.Severity == core.SeverityUrgent {
		tone = themes.Needs
	}
	out := []told{{"what", named(s, a.Reason), tone}}
	if cause, ok := attention.Listed(s, a.Cause); ok {
		out = append(out, told{"because of", cause.Label + ": " + named(s, cause.Reason), themes.Key})
	}
	for _, n := range s.OpenNotes(a.ID, "", "") {
		label := "note"
		if a.Aside != nil && a.Aside.ID == n.ID {
			label = "set aside"
		}
		out = append(out, told{label, noteTold(m, n), themes.Key})
	}
	out = append(out, told{"since", sinceWhen(m, a.Since), themes.Text})
	evidence := a.Evidence
	if p.toldByLog() && len(evidence) > 0 { // the line that tells the cause stands beside it
		out = append(out, told{evidence[0].Of, named(s, evidence[0].Says), themes.Text})
		evidence = evidence[1:]
	}
	out = append(append(out, diagnosisTold(a)...), told{"more", named(s, moreThan(a)), themes.Text})
	if len(p.ownWays(m)) == 0 { // which say it themselves
		out = append(out, told{hintLabel(a), hintText(m.keyOf, m.snap, a), themes.Key})
	}
	out = append(out, p.readings(m)...)
	for _, e := range evidence {
		out = append(out, told{named(s, e.Of), named(s, e.Says), themes.Dim})
	}
	return out
}

// diagnosisTold are the facts of the row of the table of causes that fits an entry, without what the entry itself says.
func diagnosisTold(a core.Attention) []told {
	d := a.Diagnosis
	if d == nil {
		return nil
	}
	new := func(text string) string {
		if said := strings.ToLower(a.Reason + " " + moreThan(a)); strings.Contains(said, strings.ToLower(strings.TrimSuffix(text, "."))) {
			return ""
		}
		return text
	}
	out := []told{{"cause", new(d.Cause), themes.Text}, {"what to do", new(d.Remedy), themes.Key},
		{"forbidden", d.Forbidden, themes.Warn}}
	if d.Issue != "" {
		out = append(out, told{"known issue", d.Issue + " of the release notes", themes.Dim})
	}
	return out
}

// moreThan is the entry's detail, without what is the remedy of the row that fits.
func moreThan(a core.Attention) string {
	if d := a.Diagnosis; d != nil {
		return strings.TrimSpace(strings.Replace(a.Detail, d.Remedy, "", 1))
	}
	return a.Detail
}

// hintLabel is the label of an entry's hint: the table of causes has more to say of what to do.
func hintLabel(a core.Attention) string {
	if a.Diagnosis != nil {
		return "now"
	}
	return "what to do"
}

// sinceWhen is since when something is so, with its age, and on which side of that it began when nobody saw it.
func sinceWhen(m *Model, since core.Since) string {
	now := m.snap.Now
	switch {
	case since.At.IsZero():
		return "not known"
	case since.Exact:
		return clock(since.At, now) + ", " + age(now.Sub(since.At))
	case since.Later:
		return clock(since.At, now) + " or later, " + sinceText(since, now)
	}
	return clock(since.At, now) + " or before, " + sinceText(since, now)
}

// draw draws the entry's name in the rule, its facts, the ways on, and the selected one in full below them.
func (p *entryPage) draw(m *Model, w, h int) []string {
	k := severityMark(m.look.Glyph, p.a.Severity)
	title := draw.One(k.tone, k.glyph+" ").And(themes.RuleFocus, p.a.Label)
	note := draw.One(themes.Dim, "esc back")
	if p.over {
		note = draw.One(themes.Warn, "it is over: this is how it was last seen")
	} else {
		title = title.And(themes.Dim, "  "+p.a.Severity.String()+", impact: "+string(p.a.Impact))
	}
	out := []string{m.look.NotedRule(w, title, note, true, nil)}
	const detail = 3 // lines of the selected way: a rule is above the ways
	rows := len(p.ways.Rows())
	least := min(rows, max((h-2-detail)/2, 1))
	for _, l := range p.head(m, w-2, h-2-detail-least) {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	room := h - len(out) - 1
	if room < 1 {
		return out[:min(len(out), h)]
	}
	list := min(rows, max(room-detail, 1))
	body := draw.PadTo(p.ways.Draw(m.look, w, list, !p.over, p.over), w, list)
	var more draw.Line
	if text := m.moreText(p.ways.More()); text != "" {
		more = draw.One(themes.Dim, text)
	}
	out = append(append(out, m.look.Rule(w, draw.One(themes.Strong, "Ways on"), more, false, nil)), body...)
	for _, l := range p.chosen(m, w-2, room-list) {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	return out
}

// entryLabel is the greatest width of the labels of an entry's facts.
const entryLabel = 22

// head is the entry's facts in at most room lines. Long texts are cut, and the last facts left to the page that shows all.
func (p *entryPage) head(m *Model, w, room int) []draw.Line {
	facts := p.told(m)
	labels := 0
	for _, f := range facts {
		if f.text != "" {
			labels = max(labels, draw.Width(f.label))
		}
	}
	labels = min(labels, entryLabel, w/3)
	lay := func(most int) (out []draw.Line) {
		for i, f := range facts {
			if f.text == "" {
				continue
			}
			lines := draw.Wrap(sanitise.Row(f.text), max(w-labels-2, 8))
			if n := most; len(lines) > n && (i > 0 || n == 1) {
				if i == 0 {
					n = 2
				}
				if len(lines) > n {
					lines = append(lines[:n-1:n-1], draw.One(f.tone, strings.Join(lines[n-1:], " ")).Cut(max(w-labels-2, 8)).Text())
				}
			}
			label := f.label
			for _, l := range lines {
				out = append(out, append(draw.One(themes.Dim, label).Fit(labels, false), draw.Blank(2), draw.Text(f.tone, l)))
				label = ""
			}
		}
		return out
	}
	var out []draw.Line
	for _, most := range []int{8, 4, 2, 1} {
		if out = lay(most); len(out) <= room {
			return out
		}
	}
	if room < 1 {
		return nil
	}
	return append(out[:room-1:room-1], draw.One(themes.Dim, m.look.Glyph.Ellipsis+" "+m.keyTo("entry.all")+" shows all"))
}

// chosen is the selected way in full, in at most room lines.
func (p *entryPage) chosen(m *Model, w, room int) []draw.Line {
	row, ok := p.ways.Current()
	if !ok || room < 2 {
		return nil
	}
	out := []draw.Line{{}}
	tone, last := themes.Text, ""
	switch row.kind {
	case wayChange:
		tone, last = themes.Key, "enter copies it. It changes something; Lockstep neither runs nor checks it."
	case wayLook:
		tone, last = themes.Key, "enter copies it"
		if row.shows != "" {
			last = "enter shows the " + string(row.shows) + " here; " + m.keyTo("entry.copy") + " copies the command"
		}
	case wayRead:
		last = "enter copies its address"
	case waySteps:
		last = "enter opens the steps"
	case wayCause, wayFollows:
		last = "enter opens its page"
	case wayDone:
		last = "enter does it"
	}
	lines := draw.Wrap(sanitise.Row(row.more), max(w, 8))
	if n := max(room-2, 1); len(lines) > n {
		lines = append(lines[:n-1:n-1], draw.One(tone, strings.Join(lines[n-1:], " ")).Cut(w).Text())
	}
	for _, l := range lines {
		out = append(out, draw.One(tone, l))
	}
	if len(out) < room {
		out = append(out, draw.One(themes.Dim, last))
	}
	return out[:min(len(out), room)]
}
