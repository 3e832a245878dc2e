package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// ScopePalette is the palette.
const ScopePalette Scope = "palette"

// entry is a row of the palette: an action, or an object to go to. The two are matched separately.
type entry struct {
	kind   string  // of an object: "node", "instance"; empty for an action
	name   label   // the object's name, or the action's title
	also   []label // what else it is called
	object label   // of an action: what it would be done on; empty where that goes without saying
	about  string  // of an object: where it is
	does   string  // of an object: what enter does with it
	keys   string
	reason string // why it cannot be done now; empty when it can
	action *Action
	run    func(*Model) tea.Cmd
}

// palette finds actions, nodes and instances by name.
type palette struct {
	title string
	input textinput.Model
	all   []*entry
	found []hit
	at    int // -1: nothing is selected
	shown int // rows, as drawn last
}

// newPalette lists what can be done here: everything, or with menu only what the focused pane adds. Actions that cannot be used
// now come last.
func newPalette(m *Model, menu bool) *palette {
	p := &palette{title: "Find", input: newField("")}
	chain := m.scope().chain()
	if menu {
		p.title = "What can be done with " + m.chosenName()
		if len(chain) > 1 {
			chain = chain[:1]
		}
	}
	seen := make(map[string]bool)
	for _, scope := range chain {
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope != scope || a.ID == "palette" || a.ID == "menu" || !a.offered(m) {
				continue
			}
			seen[a.ID] = true
			e := actionEntry(m, a)
			if !menu {
				e.object = newLabel(m.doneOn(a))
			}
			p.all = append(p.all, e)
		}
	}
	if menu {
		for i := range m.actions {
			if a := &m.actions[i]; !seen[a.ID] && (a.ID == "steps" || a.ID == "inspect" || a.ID == "copy" || a.ID == "copy.command") {
				p.all = append(p.all, actionEntry(m, a))
			}
		}
	} else if m.opts.clusters != nil {
		p.all = append(p.all, clusterJumps(m)...)
	} else if m.snap != nil {
		p.all = append(p.all, elsewhere(m, seen)...)
		p.all = append(p.all, overrides(m)...)
		p.all = append(p.all, jumps(m)...)
	}
	slices.SortStableFunc(p.all, func(a, b *entry) int { return cmp.Compare(min(len(a.reason), 1), min(len(b.reason), 1)) })
	p.found = find(p.all, "")
	return p
}

func actionEntry(m *Model, a *Action) *entry {
	return &entry{name: newTitle(a.Title), also: []label{newLabel(a.Short), newLabel(a.ID)}, keys: keysText(a.Keys),
		reason: a.Blocked(m), action: a, run: a.run}
}

// doneOn names what a change would be done on: what is selected, or marked, in the action's own pane.
func (m *Model) doneOn(a *Action) string {
	switch {
	case !a.Writes() || a.Scope != m.focus || m.top() != nil:
		return ""
	case m.kind(m.focus).changes:
		return m.chosenName()
	}
	return ""
}

// chosenName names what is marked in the focused pane, or else the selected row.
func (m *Model) chosenName() string {
	n := m.focused().Marks()
	if n == 0 {
		return m.focused().selectedName()
	}
	if hidden := m.focused().HiddenMarks(); hidden > 0 {
		return fmt.Sprintf("%d marked, %d of them hidden", n, hidden)
	}
	return fmt.Sprintf("%d marked", n)
}

// elsewhere are the changes of other panes that are not of a selected row, but of the cluster: whoever looks for one need not know which
// pane has it.
func elsewhere(m *Model, seen map[string]bool) []*entry {
	var out []*entry
	if m.top() != nil {
		return nil // a page has what belongs to it
	}
	for _, k := range m.kinds {
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope != k.scope || k.changes || !a.Writes() || seen[a.ID] || !a.offered(m) {
				continue
			}
			e := actionEntry(m, a)
			e.keys = "" // they mean something else here
			out = append(out, e)
		}
	}
	return out
}

// overrides lead from anywhere to the form that overrides a lock of the selected node or of the cluster. With the focus on the
// locks, the selected lock's own action is listed already.
func overrides(m *Model) []*entry {
	var out []*entry
	if m.focus == ScopeLocks {
		return nil
	}
	for _, l := range m.pane(ScopeLocks).(*locksPane).All() {
		id := lockID(l)
		out = append(out, &entry{name: newLabel("Override the lock"), object: newLabel(lockName(m.snap, l)), run: func(m *Model) tea.Cmd {
			l := lockByID(m.snap, id)
			if l == nil {
				return m.say(toneWarn, "the lock is gone")
			}
			cmd := m.setFocus(ScopeLocks) // where another node's locks may be shown from now on
			locks := m.pane(ScopeLocks)
			locks.SetFilter("")
			locks.Choose(id)
			m.ask(newOverrideForm(m.snap, l))
			return cmd
		}})
	}
	return out
}

// jumps are the nodes and instances that can be gone to.
func jumps(m *Model) []*entry {
	var out []*entry
	for _, name := range m.snap.NodeNames() {
		out = append(out, &entry{kind: "node", name: newLabel(m.snap.Label(name)), also: []label{newLabel(name)}, does: "go to it",
			run: func(m *Model) tea.Cmd {
				nodes := m.pane(ScopeNodes)
				nodes.SetFilter("")
				if !nodes.Choose(name) {
					return m.say(toneWarn, "the node is gone")
				}
				m.layers = nil // a page would hide it
				return m.setFocus(ScopeNodes)
			}})
	}
	from := len(out)
	for _, inst := range m.snap.Instances.All() {
		e := &entry{kind: "instance", name: newLabel(instanceName(inst)), also: []label{newLabel(inst.ID)}, does: "open its steps",
			run: func(m *Model) tea.Cmd {
				return m.openProcedure(core.ProcedureKey{Kind: core.ProcedureInstance, Subject: inst.ID})
			}}
		if inst.Host != "" {
			e.about = "on " + m.snap.Label(inst.Host)
		}
		if project := m.snap.Project(inst.ProjectID); project != "" {
			e.about = strings.TrimPrefix(e.about+", project "+project, ", ")
		}
		out = append(out, e)
	}
	slices.SortFunc(out[from:], func(a, b *entry) int {
		return cmp.Or(strings.Compare(a.name.low, b.name.low), strings.Compare(a.also[0].low, b.also[0].low))
	})
	return out
}

func keysText(keys []string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = keyName(k)
	}
	return strings.Join(names, " ")
}

func (*palette) scope() Scope { return ScopePalette }
func (*palette) page() bool   { return false }

// refresh updates what can be done; the rows stay where they are.
func (p *palette) refresh(m *Model) tea.Cmd {
	for _, e := range p.all {
		if e.action != nil {
			e.reason = e.action.Blocked(m)
		}
	}
	return nil
}

func (p *palette) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "esc", "enter", "up", "down", "pgup", "pgdown", "ctrl+p", "ctrl+n":
		return false, nil
	}
	p.input, _ = p.input.Update(msg)
	p.search()
	return true, nil
}

func (p *palette) paste(m *Model, text string) tea.Cmd {
	if refused := pasteInto(&p.input, text); refused != "" {
		return m.say(toneWarn, refused)
	}
	p.search()
	return nil
}

// search finds what was typed. Where entries only have its letters, nothing is selected: that would be a guess.
func (p *palette) search() {
	p.found = find(p.all, p.input.Value())
	p.at = 0
	if p.guesses() {
		p.at = -1
	}
}

// guesses tells whether everything found only has the letters of what was typed.
func (p *palette) guesses() bool { return len(p.found) > 0 && p.found[0].fit == fitsLetters }

func (p *palette) move(by int) {
	if p.at < 0 && by < 0 {
		return
	}
	p.at = max(min(p.at+by, len(p.found)-1), 0)
}

// enters is what enter does, for the footer.
func (p *palette) enters() string {
	switch {
	case p.at < 0 || p.at >= len(p.found):
		return "nothing"
	case p.found[p.at].reason != "":
		return "says why not"
	case p.found[p.at].kind != "":
		return p.found[p.at].does
	}
	return "do it"
}

func (p *palette) choose(m *Model) tea.Cmd {
	switch {
	case len(p.found) == 0:
		return m.say(toneWarn, "nothing is called "+strings.TrimSpace(p.input.Value()))
	case p.at < 0:
		return m.say(toneWarn, "nothing is called "+strings.TrimSpace(p.input.Value())+"; down goes to what has its letters")
	}
	e := p.found[p.at].entry
	if e.action != nil {
		e.reason = e.action.Blocked(m)
	}
	if e.reason != "" {
		return m.refuse(e.name.text, e.reason)
	}
	m.close(p)
	return e.run(m)
}

// row is what an entry says: its name with what matched, what it is or would be done on, and what enter does with it. It leaves
// out what has no room.
func (h hit) row(tone themes.Token, w int) (left, right draw.Line) {
	own, also := h.at, []runes(nil)
	if h.also > 0 {
		own, also = nil, h.at
	}
	left = lit(tone, h.name.text, own)
	right = draw.One(themes.Key, h.keys)
	if h.kind != "" {
		right = draw.One(themes.Key, h.does)
	}
	right = right.Cut(w / 2)
	if h.reason != "" {
		right = draw.One(themes.Off, h.reason)
		if left.Width()+right.Width()+2 > w {
			right = draw.One(themes.Off, "not now")
		}
	}
	beside := func(l draw.Line) {
		if left.Width()+2+l.Width()+2+right.Width() <= w {
			left = append(append(left, draw.Blank(2)), l...)
		}
	}
	switch {
	case h.kind != "":
		beside(draw.One(themes.Dim, strings.TrimSpace(h.kind+" "+h.about)))
	case h.object.text != "":
		beside(lit(themes.Dim, h.object.text, h.on))
	}
	if h.also > 0 {
		beside(lit(themes.Dim, h.entry.also[h.also-1].text, also))
	}
	return left, right
}

func (p *palette) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 92)
	inner := max(w-4, 10)
	rows := max(min(h-9, 16), 1)
	p.shown = rows
	body := []draw.Line{append(draw.One(themes.Key, "> "), inputLine(p.input.Value(), p.input.Position(), inner-4, true)...), {}}
	from := max(p.at-rows+1, 0)
	for i := from; i < from+rows; i++ {
		if i >= len(p.found) {
			body = append(body, draw.Line{})
			continue
		}
		e := p.found[i]
		tone := themes.Text
		switch {
		case e.reason != "":
			tone = themes.Off
		case i == p.at:
			tone = themes.Strong
		}
		left, right := e.row(tone, inner-2)
		lead := draw.Blank(2)
		if i == p.at {
			lead = draw.Text(themes.Match, m.look.Glyph.Cursor+" ")
		}
		body = append(body, draw.Apart(append(draw.Line{lead}, left...), right, inner))
	}
	why := draw.Line{}
	switch {
	case p.guesses() && p.at < 0:
		why = draw.One(themes.Warn, "  Nothing is called that. These have its letters: down goes there.").Cut(inner)
	case p.at >= 0 && p.at < len(p.found) && p.found[p.at].reason != "":
		why = draw.One(themes.Warn, "  Not now: "+p.found[p.at].reason+".").Cut(inner)
	}
	body = append(body, why)
	if len(p.found) == 0 {
		body[2] = draw.One(themes.Dim, "  Nothing is called that.")
	}
	return m.look.Box(draw.One(themes.Strong, p.title), draw.One(themes.Dim, itoa(len(p.found))), body, w)
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
		{ID: "palette.choose", Title: "Do what the selected row says", Short: "do it", Scope: ScopePalette, Keys: []string{"enter"}, Footer: 1,
			now: func(m *Model) string {
				if p, ok := m.top().(*palette); ok {
					return p.enters()
				}
				return "do it"
			}, run: with(func(m *Model, p *palette) tea.Cmd { return p.choose(m) })},
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
