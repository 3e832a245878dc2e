package tui

import (
	"strings"

	"lockstep/core"
	"lockstep/themes"
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
	if cause, ok := s.AttentionCalled(a.Cause); ok {
		out = append(out, told{"because of", cause.Label + ": " + named(s, cause.Reason), themes.Key})
	}
	out = append(out, told{"since", sinceWhen(m, a.Since), themes.Text}, told{"more", named(s, a.Detail), themes.Text})
	if len(p.ownWays(m)) == 0 { // which say it themselves
		out = append(out, told{"what to do", a.Hint, themes.Key})
	}
	for _, e := range a.Evidence {
		out = append(out, told{named(s, e.Of), named(s, e.Says), themes.Dim})
	}
	return out
}

// sinceWhen is since when something is so, with its age; that nobody saw it begin is said.
func sinceWhen(m *Model, since core.Since) string {
	now := m.snap.Now
	switch {
	case since.At.IsZero():
		return "not known"
	case since.Exact:
		return clock(since.At, now) + ", " + age(now.Sub(since.At))
	}
	return "at least " + clock(since.At, now) + ", " + sinceText(since, now)
}

// draw is the entry's name in the rule, what is known of it, and the ways on with all of the selected one below them.
func (p *entryPage) draw(m *Model, w, h int) []string {
	k := severityMark(m.look.glyph, p.a.Severity)
	title := one(k.tone, k.glyph+" ").and(themes.RuleFocus, p.a.Label).and(themes.Dim, "  "+p.a.Severity.String())
	note := one(themes.Dim, "esc back")
	if p.over {
		note = one(themes.Warn, "it is over: this is how it was last seen")
	}
	out := []string{m.ruleLine(w, title, note, true, nil)}
	const detail = 3 // lines of the selected way: a rule is above the ways
	rows := len(p.ways.rows)
	least := min(rows, max((h-2-detail)/2, 1))
	for _, l := range p.head(m, w-2, h-2-detail-least) {
		out = append(out, m.look.draw(append(line{blank(1)}, l...), w, asItIs))
	}
	room := h - len(out) - 1
	if room < 1 {
		return out[:min(len(out), h)]
	}
	list := min(rows, max(room-detail, 1))
	body := padTo(p.ways.draw(m.look, w, list, !p.over, p.over), w, list)
	var more line
	if text := m.moreText(p.ways.more()); text != "" {
		more = one(themes.Dim, text)
	}
	out = append(append(out, m.ruleLine(w, one(themes.Strong, "Ways on"), more, false, nil)), body...)
	for _, l := range p.chosen(m, w-2, room-list) {
		out = append(out, m.look.draw(append(line{blank(1)}, l...), w, asItIs))
	}
	return out
}

// entryLabel is the most that the labels of an entry's facts take.
const entryLabel = 22

// head is what is known, in at most room lines: of a long text as much as there is room for, and the last facts are left to the page with all
// of it.
func (p *entryPage) head(m *Model, w, room int) []line {
	facts := p.told(m)
	labels := 0
	for _, f := range facts {
		if f.text != "" {
			labels = max(labels, width(clean(f.label, rowLimit)))
		}
	}
	labels = min(labels, entryLabel, w/3)
	lay := func(most int) (out []line) {
		for i, f := range facts {
			if f.text == "" {
				continue
			}
			lines := wrap(clean(f.text, rowLimit), max(w-labels-2, 8))
			if n := most; len(lines) > n && (i > 0 || n == 1) {
				if i == 0 {
					n = 2
				}
				if len(lines) > n {
					lines = append(lines[:n-1:n-1], one(f.tone, strings.Join(lines[n-1:], " ")).cut(max(w-labels-2, 8)).text())
				}
			}
			label := f.label
			for _, l := range lines {
				out = append(out, append(one(themes.Dim, label).fit(labels, false), blank(2), txt(f.tone, l)))
				label = ""
			}
		}
		return out
	}
	var out []line
	for _, most := range []int{8, 4, 2, 1} {
		if out = lay(most); len(out) <= room {
			return out
		}
	}
	if room < 1 {
		return nil
	}
	return append(out[:room-1:room-1], one(themes.Dim, m.look.glyph.Ellipsis+" i shows all"))
}

// chosen is all of the selected way, in at most room lines.
func (p *entryPage) chosen(m *Model, w, room int) []line {
	row, ok := p.ways.current()
	if !ok || room < 2 {
		return nil
	}
	out := []line{{}}
	tone, last := themes.Text, ""
	switch row.kind {
	case wayChange:
		tone, last = themes.Key, "enter copies it. It changes something: Lockstep neither does it nor checks it."
	case wayLook:
		tone, last = themes.Key, "enter copies it"
	case waySteps:
		last = "enter opens the steps"
	case wayCause, wayFollows:
		last = "enter opens its page"
	case wayDone:
		last = "enter does it"
	}
	lines := wrap(clean(row.more, rowLimit), max(w, 8))
	if n := max(room-2, 1); len(lines) > n {
		lines = append(lines[:n-1:n-1], one(tone, strings.Join(lines[n-1:], " ")).cut(w).text())
	}
	for _, l := range lines {
		out = append(out, one(tone, l))
	}
	if len(out) < room {
		out = append(out, one(themes.Dim, last))
	}
	return out[:min(len(out), room)]
}
