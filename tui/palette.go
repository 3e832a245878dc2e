package tui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"lockstep/core"
	"lockstep/themes"
)

// entry is one thing in the palette.
type entry struct {
	title  string
	keys   string
	reason string // why it cannot be done now; empty when it can
	run    func(*Model) tea.Cmd
}

// palette finds actions, nodes and instances by what is typed.
type palette struct {
	title string
	input textinput.Model
	all   []entry
	found []entry
	at    int
	shown int // rows, as drawn last
}

// newPalette lists what can be done here: everything, or with menu only what the focused pane adds. What cannot be done now
// comes last.
func newPalette(m *Model, menu bool) *palette {
	p := &palette{title: "Find", input: newField("")}
	chain := m.scope().chain()
	if menu {
		p.title = "What can be done with " + m.panes[m.focus].selectedName()
		if len(chain) > 1 {
			chain = chain[:1]
		}
	}
	seen := make(map[string]bool)
	for _, scope := range chain {
		for i := range m.actions {
			a := m.actions[i]
			if a.Scope != scope || a.ID == "palette" || a.ID == "menu" || !a.offered(m) {
				continue
			}
			seen[a.ID] = true
			p.all = append(p.all, entry{title: a.Title, keys: keysText(a.Keys), reason: a.Blocked(m), run: a.run})
		}
	}
	if menu {
		for i := range m.actions {
			if a := m.actions[i]; !seen[a.ID] && (a.ID == "steps" || a.ID == "inspect" || a.ID == "copy" || a.ID == "copy.command") {
				p.all = append(p.all, entry{title: a.Title, keys: keysText(a.Keys), reason: a.Blocked(m), run: a.run})
			}
		}
	} else if m.snap != nil {
		p.all = append(p.all, overrides(m)...)
		p.all = append(p.all, jumps(m)...)
	}
	slices.SortStableFunc(p.all, func(a, b entry) int { return cmp.Compare(min(len(a.reason), 1), min(len(b.reason), 1)) })
	p.found = p.all
	return p
}

// overrides lead to the form that overrides a lock of the selected node or of the cluster, from wherever one is. With the
// focus on the locks the selected one's action is there already.
func overrides(m *Model) []entry {
	var out []entry
	if m.focus == paneLocks {
		return nil
	}
	for _, l := range m.locks.all {
		of := lockOf(m, l)
		if of != "cluster" {
			of = "on " + of
		} else {
			of = "of the cluster"
		}
		id := string(l.Kind) + "/" + l.Name
		out = append(out, entry{title: "Override the lock of " + l.Controller + " " + of, run: func(m *Model) tea.Cmd {
			m.locks.setFilter("")
			if !m.locks.choose(id) {
				return m.say(toneWarn, "the lock is gone")
			}
			cmd := m.setFocus(paneLocks)
			m.ask(newOverrideForm(m))
			return cmd
		}})
	}
	return out
}

// jumps are the nodes and instances that can be gone to.
func jumps(m *Model) []entry {
	var out []entry
	for _, name := range m.snap.NodeNames() {
		out = append(out, entry{title: "Go to node " + m.snap.Label(name), run: func(m *Model) tea.Cmd {
			m.nodes.setFilter("")
			m.nodes.choose(name)
			return m.setFocus(paneNodes)
		}})
	}
	for _, inst := range m.snap.Instances {
		out = append(out, entry{title: "Open the steps of instance " + instanceName(inst), run: func(m *Model) tea.Cmd {
			return m.openProcedure(core.ProcedureKey{Kind: core.ProcedureInstance, Subject: inst.ID})
		}})
	}
	return out
}

func keysText(keys []string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = keyName(k)
	}
	return strings.Join(names, " ")
}

func (*palette) scope() Scope           { return ScopePalette }
func (*palette) page() bool             { return false }
func (*palette) refresh(*Model) tea.Cmd { return nil }

func (p *palette) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "esc", "enter", "up", "down", "pgup", "pgdown", "ctrl+p", "ctrl+n":
		return false, nil
	}
	p.input, _ = p.input.Update(msg)
	p.search()
	return true, nil
}

func (p *palette) paste(_ *Model, text string) {
	p.input, _ = p.input.Update(tea.PasteMsg{Content: clean(text, 200)})
	p.search()
}

func (p *palette) search() {
	p.at = 0
	text := strings.TrimSpace(p.input.Value())
	if p.found = p.all; text == "" {
		return
	}
	titles := make([]string, len(p.all))
	for i, e := range p.all {
		titles[i] = e.title
	}
	p.found = nil
	for _, match := range fuzzy.Find(text, titles) {
		p.found = append(p.found, p.all[match.Index])
	}
}

func (p *palette) move(by int) { p.at = max(min(p.at+by, len(p.found)-1), 0) }

func (p *palette) choose(m *Model) tea.Cmd {
	if p.at >= len(p.found) {
		return nil
	}
	e := p.found[p.at]
	if e.reason != "" {
		return m.say(toneWarn, e.title+": "+e.reason)
	}
	m.close(p)
	return e.run(m)
}

func (p *palette) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 92)
	inner := max(w-4, 10)
	rows := max(min(h-9, 16), 1)
	p.shown = rows
	body := []line{append(one(themes.Key, "> "), inputLine(p.input.Value(), p.input.Position(), inner-4, true)...), {}}
	from := max(p.at-rows+1, 0)
	for i := from; i < from+rows; i++ {
		if i >= len(p.found) {
			body = append(body, line{})
			continue
		}
		e := p.found[i]
		tone := themes.Text
		right := one(themes.Key, e.keys).cut(inner / 2)
		if e.reason != "" {
			tone, right = themes.Off, one(themes.Off, e.reason)
			if width(e.title)+right.width()+4 > inner {
				right = one(themes.Off, "not now")
			}
		}
		lead := blank(2)
		if i == p.at {
			lead = txt(themes.Match, m.look.glyph.Cursor+" ")
			if e.reason == "" {
				tone = themes.Strong
			}
		}
		body = append(body, apart(line{lead, txt(tone, e.title)}, right, inner))
	}
	why := line{}
	if p.at < len(p.found) && p.found[p.at].reason != "" {
		why = one(themes.Warn, "  Not now: "+p.found[p.at].reason+".").cut(inner)
	}
	body = append(body, why)
	if len(p.found) == 0 {
		body[2] = one(themes.Dim, "  Nothing is called that.")
	}
	return m.box(one(themes.Strong, p.title), one(themes.Dim, itoa(len(p.found))), body, w)
}

// paletteActions work in the palette.
func paletteActions() []Action {
	with := func(f func(m *Model, p *palette) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*palette); ok {
				return f(m, p)
			}
			return nil
		}
	}
	return []Action{
		{ID: "palette.choose", Title: "Do it", Short: "do it", Scope: ScopePalette, Keys: []string{"enter"}, Footer: 1,
			run: with(func(m *Model, p *palette) tea.Cmd { return p.choose(m) })},
		{ID: "palette.close", Title: "Close the palette", Short: "close", Scope: ScopePalette, Keys: []string{"esc"}, Footer: 2,
			run: with(func(m *Model, p *palette) tea.Cmd { m.close(p); return nil })},
		{ID: "palette.down", Title: "Go down a row", Short: "down", Scope: ScopePalette, Keys: []string{"down", "ctrl+n"},
			run: with(func(_ *Model, p *palette) tea.Cmd { p.move(1); return nil })},
		{ID: "palette.up", Title: "Go up a row", Short: "up", Scope: ScopePalette, Keys: []string{"up", "ctrl+p"},
			run: with(func(_ *Model, p *palette) tea.Cmd { p.move(-1); return nil })},
		{ID: "palette.page.down", Title: "Go down a page", Short: "page down", Scope: ScopePalette, Keys: []string{"pgdown"},
			run: with(func(_ *Model, p *palette) tea.Cmd { p.move(p.shown); return nil })},
		{ID: "palette.page.up", Title: "Go up a page", Short: "page up", Scope: ScopePalette, Keys: []string{"pgup"},
			run: with(func(_ *Model, p *palette) tea.Cmd { p.move(-p.shown); return nil })},
	}
}
