package tui

import (
	"lockstep/themes"
)

// newHelp is every action of the catalogue, scope by scope, those of where the operator is first.
func newHelp(m *Model) *pager {
	here := m.scope()
	return &pager{
		title: func(m *Model) string {
			if m.opts.Version != "" {
				return "Keys of lockstep " + m.opts.Version
			}
			return "Keys"
		},
		lines: func(m *Model, w int) []line { return helpLines(m, here, w) },
	}
}

func helpLines(m *Model, here Scope, w int) []line {
	var out []line
	shown := make(map[Scope]bool)
	section := func(s Scope) {
		if shown[s] {
			return
		}
		shown[s] = true
		var rows []line
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope != s || !a.offered(m) {
				continue
			}
			keys := keysText(a.Keys)
			if keys == "" {
				keys = "a, :"
			}
			lead := append(line{blank(1)}, one(themes.Key, keys).fit(20, false)...)
			reason := ""
			if s == here || s == ScopeGlobal || s == ScopeDashboard {
				reason = a.Blocked(m)
			}
			tone := themes.Text
			if reason != "" {
				tone = themes.Off
			}
			for j, text := range wrap(a.Title, max(w-22, 10)) {
				if j > 0 {
					lead = line{blank(21)}
				}
				rows = append(rows, append(lead[:len(lead):len(lead)], txt(tone, text)))
			}
			if reason != "" {
				rows = append(rows, line{blank(21), txt(themes.Warn, "not now: "+reason)}.cut(w))
			}
		}
		if len(rows) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, line{})
		}
		out = append(out, one(themes.Strong, string(s)))
		out = append(out, rows...)
	}
	for _, s := range here.chain() {
		section(s)
	}
	for _, s := range Scopes() {
		section(s)
	}
	return append(append(out, line{}), legend(m)...)
}

// legend says what the marks mean.
func legend(m *Model) []line {
	g := m.look.glyph
	out := []line{one(themes.Strong, "marks")}
	for _, l := range []struct {
		glyph string
		tone  themes.Token
		text  string
	}{
		{g.Needs, themes.Needs, "it needs you"}, {g.Moves, themes.Moves, "it is under way"}, {g.Done, themes.Good, "done; of a server: live"},
		{g.On, themes.Text, "of a lock: active, LCM must wait"}, {g.Off, themes.Dim, "of a lock: inactive, LCM may go on; of a condition: does not hold"},
		{g.Failed, themes.Bad, "failed"}, {g.Queued, themes.Dim, "its turn comes"}, {g.Unknown, themes.Warn, "a value that nobody has documented"},
		{g.None, themes.Dim, "nothing there"}, {">", themes.Text, "before a time: at least so long, its beginning was not seen"},
	} {
		out = append(out, line{blank(1), txt(l.tone, l.glyph), blank(3), txt(themes.Text, l.text)})
	}
	return out
}
