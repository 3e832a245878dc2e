package tui

import (
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// newHelp lists every action of the catalogue: the keys that work where the operator is, what the columns and marks there mean,
// the keys that work elsewhere, and last the actions without a key.
func newHelp(m *Model) *pager {
	here := m.scope()
	return &pager{
		title: func(m *Model) string {
			if m.opts.Version != "" {
				return "Keys of lockstep " + m.opts.Version
			}
			return "Keys"
		},
		lines: func(m *Model, w int) []draw.Line { return helpLines(m, here, w) },
	}
}

func helpLines(m *Model, here Scope, w int) []draw.Line {
	var out []draw.Line
	shown := make(map[Scope]bool)
	section := func(s Scope, name string) {
		if shown[s] {
			return
		}
		shown[s] = true
		rows := helpRows(m, s, w, s == here || s == ScopeGlobal || s == ScopeDashboard)
		if len(rows) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, draw.Line{})
		}
		out = append(append(out, draw.One(themes.Strong, name)), rows...)
	}
	for _, s := range here.chain() {
		section(s, string(s))
		out = append(out, columnLines(m, s, w)...)
	}
	out = append(append(out, draw.Line{}), legend(m)...)
	out = append(append(out, draw.Line{}), shortLines(w)...)
	for _, s := range Scopes() {
		section(s, string(s)+", elsewhere")
	}
	return append(append(out, draw.Line{}), keyless(m, w)...)
}

// keysWide is the width of the keys of an action in the help, in columns.
const keysWide = 19

// helpRows are the actions of a scope that have keys. It shows the reason why one cannot be used only in the scopes where the
// operator is.
func helpRows(m *Model, s Scope, w int, reasons bool) []draw.Line {
	var rows []draw.Line
	for i := range m.actions {
		a := &m.actions[i]
		if a.Scope != s || !a.offered(m) || len(a.Keys) == 0 {
			continue
		}
		if reason := a.Blocked(m); reasons && reason != "" {
			rows = append(rows, helpRow(draw.One(themes.Key, keysText(a.Keys)), themes.Off, a.Title+" (not now: "+reason+")", w)...)
		} else {
			rows = append(rows, helpRow(draw.One(themes.Key, keysText(a.Keys)), themes.Text, a.Title, w)...)
		}
	}
	return rows
}

// helpRow is a text beside its keys or its scope.
func helpRow(keys draw.Line, tone themes.Token, text string, w int) []draw.Line {
	var rows []draw.Line
	lead := append(draw.Line{draw.Blank(1)}, keys.Fit(keysWide, false)...)
	for i, part := range draw.Wrap(sanitise.Row(text), max(w-keysWide-2, 10)) {
		if i > 0 {
			lead = draw.Line{draw.Blank(keysWide + 1)}
		}
		rows = append(rows, append(lead[:len(lead):len(lead)], draw.Text(tone, part)))
	}
	return rows
}

// keyless are the actions that have no key; they are found by name.
func keyless(m *Model, w int) []draw.Line {
	out := []draw.Line{draw.One(themes.Strong, "without a key: find them by name, with a or :")}
	for _, s := range Scopes() {
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope != s || !a.offered(m) || len(a.Keys) > 0 {
				continue
			}
			out = append(out, helpRow(draw.One(themes.Dim, string(s)), themes.Text, a.Title, w)...)
		}
	}
	return out
}

// legend says what the marks mean.
func legend(m *Model) []draw.Line {
	g := m.look.Glyph
	out := []draw.Line{draw.One(themes.Strong, "marks")}
	for _, l := range []struct {
		glyph string
		tone  themes.Token
		text  string
	}{
		{g.Needs, themes.Needs, "it needs you"}, {g.Moves, themes.Moves, "it is under way"}, {g.Done, themes.Good, "done; of a server: live"},
		{g.On, themes.Text, "of a lock: active, LCM must wait"},
		{g.Off, themes.Dim, "of a lock: inactive, LCM may go on; of a condition: does not hold"},
		{g.Failed, themes.Bad, "failed"}, {g.Queued, themes.Dim, "waits for its turn"},
		{g.Unknown, themes.Warn, "an undocumented value"},
		{g.None, themes.Dim, "nothing there"}, {">", themes.Text, "before a time: at least this long; nobody saw it begin"},
		{"<", themes.Text, "before a time: at most this long"},
		{"~", themes.Text, "before a length: nobody saw it begin or end; before a time of day: about then"},
	} {
		out = append(out, draw.Line{draw.Blank(1), draw.Text(l.tone, l.glyph), draw.Blank(3), draw.Text(themes.Text, l.text)})
	}
	return out
}
