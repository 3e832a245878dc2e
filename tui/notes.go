package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeNotes is the page of all notes.
const ScopeNotes Scope = "notes"

// notesPage lists the notes: those that are not done first, each group the newest first.
type notesPage struct {
	rows *table.Table[core.Note]
}

// openNotes opens the page of all notes.
func (m *Model) openNotes() tea.Cmd {
	p := &notesPage{}
	p.rows = &table.Table[core.Note]{
		Header: true,
		ID:     func(n core.Note) string { return n.ID },
		Name:   func(n core.Note) string { return n.Text },
		Columns: []table.Column[core.Note]{
			{Width: 1, Cell: func(n core.Note) draw.Line {
				k := noteMark(m.look.Glyph, n, m.snap)
				return draw.One(k.tone, k.glyph)
			}},
			{Title: "at", Width: 5, Most: 12, Measure: func(n core.Note) int { return len(clock(n.At, m.snap.Now)) },
				Cell: func(n core.Note) draw.Line { return draw.One(themes.Dim, clock(n.At, m.snap.Now)) }},
			{Title: "on", Width: 8, Most: 18, Measure: func(n core.Note) int { return draw.Width(n.On.Label) },
				Cell: func(n core.Note) draw.Line { return draw.One(themes.Strong, n.On.Label) }},
			{Title: "until", Width: 5, Most: 12, Measure: func(n core.Note) int { return len(clock(n.Until, m.snap.Now)) },
				Cell: func(n core.Note) draw.Line {
					return draw.One(noteMark(m.look.Glyph, n, m.snap).tone, clock(n.Until, m.snap.Now))
				}},
			{Title: "note", Width: 20, Grow: true, Cell: func(n core.Note) draw.Line {
				tone := themes.Text
				if n.Done {
					tone = themes.Dim
				}
				return draw.One(tone, n.Text)
			}},
			{Title: "by", Width: 6, Most: 24, Share: 25, Rank: 1, Measure: func(n core.Note) int { return draw.Width(n.By) },
				Cell: func(n core.Note) draw.Line { return draw.One(themes.Dim, n.By) }},
		},
	}
	p.refresh(m)
	p.rows.GoTo(0)
	m.open(p)
	return nil
}

// noteMark says what there is to do about a note: its time has come, it waits, or it is done.
func noteMark(g themes.Glyphs, n core.Note, s *core.Snapshot) mark {
	switch {
	case n.Done:
		return mark{g.Done, themes.Dim}
	case !n.Until.IsZero() && s.Reached(n.Until):
		return mark{g.Needs, themes.Warn}
	case n.Aside:
		return mark{g.Paused, themes.Dim}
	}
	return mark{g.Note, themes.Key}
}

func (*notesPage) scope() Scope                                   { return ScopeNotes }
func (*notesPage) page() bool                                     { return true }
func (*notesPage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (p *notesPage) refresh(m *Model) tea.Cmd {
	var open, done []core.Note
	for _, n := range slices.Backward(m.snap.Notes) {
		if n.Done {
			done = append(done, n)
		} else {
			open = append(open, n)
		}
	}
	if gone := p.rows.Set(append(open, done...), m.snap.Revision); gone != "" && m.top() == p {
		return m.say(toneWarn, "gone: "+gone)
	}
	return nil
}

func (p *notesPage) draw(m *Model, w, h int) []string {
	open := len(m.snap.NotesAt(func(core.Note) bool { return true }))
	note := draw.One(themes.Dim, fmt.Sprintf("%d open of %d   esc back", open, len(m.snap.Notes)))
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, "Notes and promises"), note, true, nil)}
	if len(m.snap.Notes) == 0 {
		return append(out, m.look.Draw(draw.One(themes.Dim, " There are no notes. # writes one about what is selected."), w, draw.AsItIs))
	}
	n, chosen := p.rows.Current()
	var more []draw.Line
	if chosen {
		more = draw.Inset(1, p.more(m, *n, w-2))
	}
	if room := h - 1 - 4; len(more) > room {
		more = more[:max(room, 0)]
	}
	out = append(out, p.rows.Draw(m.look, w, h-1-len(more), true, false)...)
	for _, l := range more {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	return out
}

// more is the selected note in full.
func (p *notesPage) more(m *Model, n core.Note, w int) []draw.Line {
	out := append([]draw.Line{{}}, draw.Paragraph(themes.Text, n.Text, w)...)
	what := "by " + n.By + " at " + stamp(n.At, m.snap.Now)
	if !n.Until.IsZero() {
		what += ", until " + clock(n.Until, m.snap.Now)
	}
	a, there := attention.Listed(m.snap, n.On.Entry)
	switch {
	case n.Done:
		what += "; it is done"
	case n.Aside && there && a.Aside != nil && a.Aside.ID == n.ID:
		what += "; the entry is set aside"
	case n.Aside && there:
		what += "; the entry is back in \"needs you\""
	case n.On.Entry != "" && !there:
		what += "; what it is about needs nobody any more"
	}
	out = append(out, draw.Paragraph(themes.Dim, what, w)...)
	if there {
		out = append(out, draw.Paragraph(themes.Dim, a.Label+": "+named(m.snap, a.Reason), w)...)
	}
	return out
}

// doneNote marks a note as done.
func (m *Model) doneNote(n core.Note) tea.Cmd {
	if n.Done {
		return m.say(toneWarn, "it is done already")
	}
	n.Done = true
	return m.keepNote(nil, n)
}

// remind says which notes' time has come since the Snapshot before.
func (m *Model) remind(before *core.Snapshot) tea.Cmd {
	if before == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, a := range attention.List(m.snap) {
		if n, ok := attention.NoteOf(m.snap, a); ok {
			if _, was := attention.Listed(before, a.ID); !was {
				cmds = append(cmds, m.say(toneWarn, a.Label+": promised until "+clock(n.Until, m.snap.Now)+": "+n.Text))
			}
		}
	}
	return tea.Batch(cmds...)
}

// entryAt tells whether the entry with the ID is about the node.
func (m *Model) entryAt(id, node string) bool {
	if id == "" {
		return false
	}
	a, ok := attention.Listed(m.snap, id)
	return ok && a.Node == node
}

// instanceLabel is what to call an instance.
func (m *Model) instanceLabel(id string) string {
	if in := m.snap.Instances.At(id); in != nil {
		return progress.InstanceLabel(in)
	}
	return core.ShortID(id)
}

// withNote is a name, with a mark where there is a note on the node or the instance.
func withNote(name draw.Line, g themes.Glyphs, s *core.Snapshot, node, instance string) draw.Line {
	if !s.HasNote(node, instance) {
		return name
	}
	return name.And(themes.Key, " "+g.Note)
}

// noteRoom is how wide that mark is.
func noteRoom(s *core.Snapshot, node, instance string) int {
	if s.HasNote(node, instance) {
		return 2
	}
	return 0
}

// noteFacts are notes in an inspection.
func noteFacts(m *Model, f *facts, notes []core.Note) {
	if len(notes) == 0 {
		return
	}
	f.section("Notes")
	for _, n := range notes {
		f.tone(themes.Key, "at "+clock(n.At, m.snap.Now), noteTold(m, n))
	}
}

// noteTold is a note in one line: "owner informed (anna@jump01, until 03:00)".
func noteTold(m *Model, n core.Note) string {
	until := ""
	if !n.Until.IsZero() {
		until = ", until " + clock(n.Until, m.snap.Now)
	}
	return n.Text + " (" + n.By + until + ")"
}

// notesActions work on the page of notes.
func notesActions() []Action {
	with := func(f func(m *Model, p *notesPage, n core.Note) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			p, ok := m.top().(*notesPage)
			if !ok {
				return nil
			}
			n, ok := p.rows.Current()
			if !ok {
				return m.say(toneWarn, "no note is selected")
			}
			return f(m, p, *n)
		}
	}
	all := []Action{
		{ID: "notes.change", Title: "Change the note, or its time", Short: "change", Keys: []string{"enter", "e"}, Footer: 1,
			run: with(func(m *Model, _ *notesPage, n core.Note) tea.Cmd {
				if n.Done {
					return m.say(toneWarn, "it is done: # writes a new one")
				}
				return m.changeNote(n)
			})},
		{ID: "notes.done", Title: "Mark the note as done: it reminds of nothing, and sets nothing aside", Short: "done", Keys: []string{"D"},
			Footer: 2, run: with(func(m *Model, _ *notesPage, n core.Note) tea.Cmd { return m.doneNote(n) })},
		{ID: "notes.new", Title: "Write a note about the update", Short: "new", Keys: []string{"#"}, Footer: 3, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.writeNote(m.noteOn(subject{})) }},
		{ID: "notes.where", Title: "Go to the instance or node that it is about", Short: "to it", Keys: []string{"f", "right"}, Footer: 4,
			run: with(func(m *Model, _ *notesPage, n core.Note) tea.Cmd {
				to := goTo{n.On.Node, n.On.Instance}
				if a, ok := attention.Listed(m.snap, n.On.Entry); ok {
					to = goTo{a.Node, a.Instance}
				}
				if to.node == "" && m.snap.Instances.At(to.instance) == nil {
					return m.say(toneWarn, "it is not about a known node or instance")
				}
				m.layers = nil
				return to.answer(m)
			})},
		{ID: "notes.copy", Title: "Copy the note's text", Short: "copy", Keys: []string{"y"},
			run: with(func(m *Model, _ *notesPage, n core.Note) tea.Cmd { return m.copy(n.Text) })},
		{ID: "notes.close", Title: "Go back", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 5,
			run: func(m *Model) tea.Cmd {
				if p, ok := m.top().(*notesPage); ok {
					m.close(p)
				}
				return nil
			}},
	}
	all = append(all, rowMoves("notes", func(move func(l table.List)) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*notesPage); ok {
				move(p.rows)
			}
			return nil
		}
	})...)
	for i := range all {
		all[i].Scope = ScopeNotes
	}
	return all
}
