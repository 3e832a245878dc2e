package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// ScopeText is pages of text: inspection, help, plain view.
const ScopeText Scope = "text"

// pager is a page of text that scrolls: inspection, help, plain view. Its lines are made for every Snapshot, so that they stay
// true.
type pager struct {
	title  func(m *Model) string
	asOf   func(m *Model) draw.Line // when what it shows was so; nil: it is so now
	lines  func(m *Model, w int) []draw.Line
	bare   bool // no rule, no margin: for selecting with the terminal
	copied func(m *Model) string

	onEnter func(m *Model) tea.Cmd // what enter does; nil: it scrolls
	enterIs string                 // a word for that, for the footer
	history string                 // the filter for the history of what it is about; empty: it has none

	find   finder
	offset int
	height int
	total  int
}

func (*pager) scope() Scope           { return ScopeText }
func (*pager) page() bool             { return true }
func (*pager) refresh(*Model) tea.Cmd { return nil }
func (p *pager) search() *finder      { return &p.find }
func (p *pager) pageHeight() int      { return p.height }
func (p *pager) scrollBy(n int)       { p.offset = max(min(p.offset+n, p.total-p.height), 0) }

func (p *pager) handle(_ *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) { return p.find.typed(msg), nil }

func (p *pager) paste(_ *Model, text string) tea.Cmd {
	p.find.paste(text)
	return nil
}

func (p *pager) draw(m *Model, w, h int) []string {
	var out []string
	margin := 1
	if p.bare {
		margin = 0
	}
	lines := p.lines(m, max(w-2*margin, 8))
	if !p.bare {
		h--
	}
	p.height, p.total = max(h, 1), len(lines)
	p.scrollBy(0)
	lines, p.offset = p.find.look(lines, p.offset, p.height)
	end := min(p.offset+p.height, p.total)
	if !p.bare {
		note := draw.One(themes.Dim, "esc closes")
		if p.total > p.height {
			note = draw.One(themes.Dim, itoa(p.offset+1)+" to "+itoa(end)+" of "+itoa(p.total)+"   esc closes")
		}
		title := draw.One(themes.RuleFocus, p.title(m))
		var asOf draw.Line
		if p.asOf != nil {
			asOf = p.asOf(m)
		}
		rule := m.look.Rule(w, dated(title, asOf, w-4), note, true, nil)
		if p.find.text != "" {
			rule = p.find.rule(m, w, title, asOf)
		}
		out = append(out, rule)
	}
	for i, l := range lines[p.offset:end] {
		lead := draw.Blank(margin)
		if margin > 0 && p.find.current(p.offset+i) {
			lead = draw.Text(themes.Match, m.look.Glyph.Cursor)
		}
		out = append(out, m.look.Draw(append(draw.Line{lead}, l...), w, draw.AsItIs))
	}
	return out
}

// dated is a title with its time, in so many columns: the title gives way.
func dated(title, asOf draw.Line, room int) draw.Line {
	if len(asOf) == 0 || room-asOf.Width() < leastTitle {
		return title.Cut(max(room, 0))
	}
	return append(title.Cut(room-asOf.Width()), asOf...)
}

// newPlain is the focused pane as plain text.
func newPlain(m *Model) *pager {
	id := m.focus
	text := func(m *Model) []string { return m.pane(id).Text() }
	return &pager{
		bare:  true,
		title: func(m *Model) string { return m.pane(id).name() },
		lines: func(m *Model, _ int) []draw.Line {
			var out []draw.Line
			for _, s := range text(m) {
				out = append(out, draw.Plain(strings.TrimRight(s, " ")))
			}
			return out
		},
		copied: func(m *Model) string { return joined(text(m)) },
	}
}

// textActions work on pages of text.
func textActions() []Action {
	with := func(f func(m *Model, p *pager) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*pager); ok {
				return f(m, p)
			}
			return nil
		}
	}
	scroll := func(by func(p *pager) int) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *pager) tea.Cmd { p.scrollBy(by(p)); return nil })
	}
	all := []Action{
		{ID: "text.close", Title: "Close the page", Short: "close", Scope: ScopeText, Keys: []string{"esc", "q", "backspace"}, Footer: 1,
			run: with(func(m *Model, p *pager) tea.Cmd { m.close(p); return nil })},
		{ID: "text.enter", Title: "Open what the page is about; where it is about nothing else, scroll down", Short: "scroll", Scope: ScopeText,
			Keys: []string{"enter"}, Footer: 2,
			now: func(m *Model) string {
				if p, ok := m.top().(*pager); ok && p.onEnter != nil {
					return p.enterIs
				}
				return "scroll"
			}, run: with(func(m *Model, p *pager) tea.Cmd {
				if p.onEnter != nil {
					return p.onEnter(m)
				}
				p.scrollBy(1)
				return nil
			})},
		{ID: "text.history", Title: "Show the history of what the page is about", Short: "history", Scope: ScopeText, Keys: []string{"H"},
			blocked: func(m *Model) string {
				if p, ok := m.top().(*pager); !ok || p.history == "" {
					return "it is not about a node or an instance"
				}
				return needSnapshot(m)
			}, run: with(func(m *Model, p *pager) tea.Cmd { return m.openHistory(p.history) })},
		{ID: "text.down", Title: "Scroll down", Short: "down", Scope: ScopeText, Keys: []string{"down", "j"},
			run: scroll(func(*pager) int { return 1 })},
		{ID: "text.up", Title: "Scroll up", Short: "up", Scope: ScopeText, Keys: []string{"up", "k"},
			run: scroll(func(*pager) int { return -1 })},
		{ID: "text.page.down", Title: "Scroll down a page", Short: "a page", Scope: ScopeText, Keys: []string{"space", "pgdown", "ctrl+f"},
			Footer: 3, run: scroll(func(p *pager) int { return p.height - 1 })},
		{ID: "text.page.up", Title: "Scroll up a page", Short: "page up", Scope: ScopeText, Keys: []string{"pgup", "ctrl+u"},
			run: scroll(func(p *pager) int { return 1 - p.height })},
		{ID: "text.first", Title: "Go to the beginning", Short: "beginning", Scope: ScopeText, Keys: []string{"home", "g"},
			run: scroll(func(*pager) int { return -1 << 30 })},
		{ID: "text.last", Title: "Go to the end", Short: "end", Scope: ScopeText, Keys: []string{"end", "G"},
			run: scroll(func(*pager) int { return 1 << 30 })},
		{ID: "text.copy", Title: "Copy the text of the page", Short: "copy", Scope: ScopeText, Keys: []string{"y", "c"}, Footer: 4,
			run: with(func(m *Model, p *pager) tea.Cmd { return m.copy(p.text(m)) })},
	}
	return append(all, findActions(ScopeText, "text", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*pager); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})...)
}

// text is what the page says, for copying.
func (p *pager) text(m *Model) string {
	if p.copied != nil {
		return p.copied(m)
	}
	const copyWidth = 100
	var out []string
	for _, l := range p.lines(m, copyWidth) {
		out = append(out, strings.TrimRight(l.Text(), " "))
	}
	return joined(out)
}

func (p *pager) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.scrollBy(wheel(at.Button))
	return nil
}
