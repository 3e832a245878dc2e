package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ScopeOwners is the page of owners.
const ScopeOwners Scope = "owners"

func (*ownersPage) scope() Scope      { return ScopeOwners }
func (*ownersPage) page() bool        { return true }
func (p *ownersPage) search() *finder { return &p.find }

func (p *ownersPage) handle(_ *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	return p.find.typed(msg), nil
}

func (p *ownersPage) paste(_ *Model, text string) tea.Cmd {
	p.find.paste(text)
	return nil
}

func (p *ownersPage) refresh(m *Model) tea.Cmd {
	if !p.making && m.now().Sub(p.made) >= max(ownersAge, ownersShare*p.took) {
		return p.make(m)
	}
	return p.follow(m)
}

func (p *ownersPage) scrollBy(n int) { p.offset = max(min(p.offset+n, p.total-p.height), 0) }

func (p *ownersPage) draw(m *Model, w, h int) []string {
	title := "Owners of instances, whole update"
	if !p.all {
		title = "Owners of instances on " + aboutNodes(m.snap, p.nodes)
	}
	note := draw.One(themes.Dim, "esc back")
	if n := len(p.notes); n > 0 {
		which := fmt.Sprintf("all %d projects", n)
		if i := p.at(); i >= 0 {
			which = fmt.Sprintf("project %d of %d", i+1, n)
		} else if p.gone() {
			which = fmt.Sprintf("none of %d projects", n)
		}
		note = draw.One(themes.Key, which+": left, right").And(themes.Dim, "   esc back")
	}
	p.wide = w - 2
	head, body := p.head(m, w-2), p.body(m, w-2)
	p.height, p.total = max(h-len(head)-1, 1), len(body)
	p.scrollBy(0)
	body, p.offset = p.find.lookKept(body, p.offset, p.height)
	rule := m.look.Rule(w, draw.One(themes.RuleFocus, title), note, true, nil)
	if p.find.text != "" {
		rule = p.find.rule(m, w, draw.One(themes.RuleFocus, title), nil)
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

// head is the projects to turn to, and what Keystone does not show.
func (p *ownersPage) head(m *Model, w int) []draw.Line {
	if len(p.notes) == 0 {
		return nil
	}
	out := []draw.Line{draw.Join(1, p.tabs(w)...).Cut(w)}
	switch {
	case m.opts.Owners == nil:
		out = append(out, draw.One(themes.Warn, "Keystone cannot be asked from here: names and e-mail are missing."))
	case p.asking && !p.asked:
		out = append(out, draw.One(themes.Moves, "asking Keystone for names and e-mail "+m.look.Glyph.Ellipsis))
	}
	for _, miss := range p.contacts.Missing {
		text := "Keystone does not show " + miss.What + ": " + miss.Err.Error()
		if miss.Err.Remedy != "" {
			text += ". " + miss.Err.Remedy
		}
		out = append(out, atMost(3, themes.Warn, text, w)...)
	}
	return append(out, draw.Line{})
}

// tabs are as many projects as have room, the chosen one in sight: of thousands only those are made.
func (p *ownersPage) tabs(w int) []draw.Line {
	at := p.at()
	tab := func(i int) draw.Line {
		return wayName(fmt.Sprintf("%s (%d)", p.notes[i].Project, len(p.notes[i].Instances)), i == at)
	}
	first := max(at, 0)
	all := wayName("all", p.project == "")
	room := w - all.Width()
	var tabs []draw.Line
	for i := first; i < len(p.notes) && room >= 0; i++ {
		tabs = append(tabs, tab(i))
		room -= 1 + tabs[len(tabs)-1].Width()
	}
	for i := first - 1; i >= 0 && room >= 0; i-- {
		before := tab(i)
		if room -= 1 + before.Width(); room >= 0 {
			tabs = slices.Insert(tabs, 0, before)
		}
	}
	return slices.Insert(tabs, 0, all)
}

// body is the notes, wrapped.
func (p *ownersPage) body(m *Model, w int) []draw.Line {
	switch {
	case p.snap == nil:
		return []draw.Line{draw.One(themes.Moves, "the instances are being gone through "+m.look.Glyph.Ellipsis)}
	case len(p.notes) == 0:
		text := "No instance there needs its owner: running ones are live-migrated, or the owner's own tag decides. " +
			m.keyTo("owners.every") + " shows a note for every project: users are to write nothing while the update runs."
		if src := p.snap.Sources[core.SourceInstances]; src.AsOf.IsZero() {
			text = "The instances are not known (" + string(src.State) + "), and so neither are their owners."
		}
		return draw.Paragraph(themes.Dim, text, w)
	case p.gone():
		return draw.Paragraph(themes.Warn, "Project "+sanitise.Row(p.called)+" has no note any more: none of its instances there needs its "+
			"owner. left and right show the others.", w)
	}
	lines, there := p.lines()
	if !there {
		return []draw.Line{draw.One(themes.Moves, "the notes are being written "+m.look.Glyph.Ellipsis)}
	}
	return lines
}

// ownersLines are notes, wrapped.
func ownersLines(snap *core.Snapshot, notes []procedure.OwnerNote, csv bool, w int) []draw.Line {
	out := []draw.Line{}
	text := ownersContent(snap, notes, csv)
	for _, s := range sanitise.Lines(text, len(text)+1) {
		tone := themes.Text
		switch {
		case strings.HasPrefix(s, "To:"), strings.HasPrefix(s, "Cc:"), strings.HasPrefix(s, "Subject:"):
			tone = themes.Key
		case strings.HasPrefix(s, "* "):
			tone = themes.Strong
		case strings.HasPrefix(s, "-----"):
			s, tone = s[:min(len(s), max(w, 0))], themes.Dim
		}
		if s == "" {
			out = append(out, draw.Line{})
			continue
		}
		indent := len(s) - len(strings.TrimLeft(s, " "))
		for _, part := range draw.Wrap(s[indent:], max(w-indent, 8)) {
			out = append(out, draw.Line{draw.Blank(indent), draw.Text(tone, part)})
		}
	}
	return out
}

// ownersActions work on the page of owners.
func ownersActions() []Action {
	with := func(f func(m *Model, p *ownersPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*ownersPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	do := func(f func(p *ownersPage)) func(*Model) tea.Cmd {
		return with(func(m *Model, p *ownersPage) tea.Cmd { f(p); return p.follow(m) })
	}
	all := []Action{
		{ID: "owners.close", Title: "Close the page", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 6,
			run: with(func(m *Model, p *ownersPage) tea.Cmd { m.close(p); return nil })},
		{ID: "owners.next", Title: "Go to the next project's note", Short: "project", Keys: []string{"right", "tab"}, Footer: 1,
			run: do(func(p *ownersPage) { p.turn(1) })},
		{ID: "owners.previous", Title: "Go to the previous project's note", Short: "previous project", Keys: []string{"left", "shift+tab"},
			run: do(func(p *ownersPage) { p.turn(-1) })},
		{ID: "owners.copy", Title: "Copy what is shown", Short: "copy", Keys: []string{"y", "c"}, Footer: 2,
			run: with(func(m *Model, p *ownersPage) tea.Cmd {
				if len(p.shown()) == 0 {
					return m.say(toneWarn, "there is nothing to copy")
				}
				return m.copy(p.content())
			})},
		{ID: "owners.save", Title: "Save what is shown to a new file in the folder that Lockstep was started in", Short: "save",
			Keys: []string{"s"}, Footer: 3,
			run: with(func(m *Model, p *ownersPage) tea.Cmd { return p.save(m) })},
		{ID: "owners.format", Title: "Show the notes as CSV, or as text again", Short: "CSV", Keys: []string{"v"}, Footer: 4,
			run: do(func(p *ownersPage) { p.csv, p.offset = !p.csv, 0 })},
		{ID: "owners.all", Title: "Show the whole update, or only what the page was opened for", Short: "whole update", Keys: []string{"e"},
			Footer: 5,
			blocked: func(m *Model) string {
				if p, ok := m.top().(*ownersPage); ok && len(p.nodes) > 0 {
					return ""
				}
				return "it was opened for the whole update"
			}, run: with(func(m *Model, p *ownersPage) tea.Cmd {
				p.all, p.project = !p.all, ""
				return p.others(m)
			})},
		{ID: "owners.every", Title: "Show a note for every project with instances there, or only for those with one that needs its owner",
			Short: "every project", Keys: []string{"a"}, run: with(func(m *Model, p *ownersPage) tea.Cmd {
				p.every = !p.every
				return p.others(m)
			})},
		{ID: "owners.ask", Title: "Ask Keystone again", Short: "ask again", Keys: []string{"r"},
			run: with(func(m *Model, p *ownersPage) tea.Cmd { p.asked = false; return p.ask(m) })},
	}
	for _, mv := range []struct {
		id, title, short string
		keys             []string
		by               func(p *ownersPage) int
	}{
		{"down", "Scroll down", "down", []string{"down", "j", "enter"}, func(*ownersPage) int { return 1 }},
		{"up", "Scroll up", "up", []string{"up", "k"}, func(*ownersPage) int { return -1 }},
		{"page.down", "Scroll down a page", "page down", []string{"pgdown", "space"}, func(p *ownersPage) int { return p.height - 1 }},
		{"page.up", "Scroll up a page", "page up", []string{"pgup"}, func(p *ownersPage) int { return 1 - p.height }},
		{"first", "Go to the beginning", "beginning", []string{"home", "g"}, func(*ownersPage) int { return -1 << 30 }},
		{"last", "Go to the end", "end", []string{"end", "G"}, func(*ownersPage) int { return 1 << 30 }},
	} {
		all = append(all, Action{ID: "owners." + mv.id, Title: mv.title, Short: mv.short, Keys: mv.keys,
			run: do(func(p *ownersPage) { p.scrollBy(mv.by(p)) })})
	}
	for i := range all {
		all[i].Scope = ScopeOwners
	}
	return append(all, findActions(ScopeOwners, "owners", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*ownersPage); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})...)
}

func (p *ownersPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.scrollBy(wheel(at.Button))
	return nil
}
