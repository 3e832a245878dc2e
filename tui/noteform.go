package tui

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// noteForm asks for a note: its text, when to be reminded, and whether its entry is set aside until then. Nothing is written to a
// cluster, so there is no confirmation.
type noteForm struct {
	note  core.Note
	title string

	text, until textinput.Model
	wasText     string // what the fields had at first
	wasUntil    string
	aside       bool
	at          noteField

	keeping bool // it is being written
	err     error
}

// noteField is the field that has the keys.
type noteField int

const (
	noteText noteField = iota
	noteUntil
	noteAside
)

// noteKeptMsg is the answer to a note that was to be kept.
type noteKeptMsg struct {
	form *noteForm // nil: there was none
	note core.Note
	err  error
}

// noteOn is what a note on the subject is about.
func (m *Model) noteOn(s subject) core.NoteOn {
	switch {
	case s.attention != nil:
		return core.NoteOn{Entry: s.attention.ID, Label: s.attention.Label}
	case s.instance != "":
		return core.NoteOn{Instance: s.instance, Label: m.instanceLabel(s.instance)}
	case s.node != "":
		return core.NoteOn{Node: s.node, Label: m.snap.Label(s.node)}
	}
	return core.NoteOn{Label: "the update"}
}

// writeNote opens the form for a new note. The reminder of a note is answered by changing that note.
func (m *Model) writeNote(on core.NoteOn) tea.Cmd {
	if a, ok := attention.Listed(m.snap, on.Entry); ok {
		if n, reminds := attention.NoteOf(m.snap, a); reminds {
			return m.changeNote(n)
		}
	}
	m.open(newNoteForm(m, core.Note{On: on}))
	return nil
}

// changeNote opens the form for a note that there is.
func (m *Model) changeNote(n core.Note) tea.Cmd {
	m.open(newNoteForm(m, n))
	return nil
}

func newNoteForm(m *Model, n core.Note) *noteForm {
	f := &noteForm{note: n, title: "Note on " + cmp.Or(n.On.Label, "the update"), text: newLongField(n.Text, core.MostNoteText),
		until: newLongField("", mostTyped), aside: n.Aside}
	switch left := n.Until.Sub(m.snap.Now); {
	case left <= 0:
	case left < 24*time.Hour:
		f.until.SetValue(n.Until.Local().Format("15:04"))
	default:
		f.until.SetValue("+" + strings.TrimSuffix(left.Round(time.Minute).String(), "0s"))
	}
	f.wasText, f.wasUntil = f.text.Value(), f.until.Value()
	return f
}

func (*noteForm) scope() Scope           { return ScopeForm }
func (*noteForm) page() bool             { return false }
func (*noteForm) refresh(*Model) tea.Cmd { return nil }

// entry is the entry that the note can set aside; false when it is about none, or when that is over.
func (f *noteForm) entry(m *Model) (core.Attention, bool) {
	if f.note.On.Entry == "" {
		return core.Attention{}, false
	}
	return attention.Listed(m.snap, f.note.On.Entry)
}

// fields are how many fields the form has now.
func (f *noteForm) fields(m *Model) noteField {
	if a, ok := f.entry(m); ok && attention.WhyNotAside(a) == "" {
		return noteAside + 1
	}
	return noteUntil + 1
}

func (f *noteForm) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	n := f.fields(m)
	if f.at >= n { // the entry is over: its field is gone, and what was meant for that is meant for no other
		f.at = noteText
		if key := msg.String(); key != "esc" && key != "enter" {
			return true, nil
		}
	}
	switch key := msg.String(); {
	case key == "esc":
		m.close(f)
	case f.keeping: // a second enter is not a second note
	case key == "enter":
		return true, f.submit(m)
	case key == "tab" || key == "down":
		f.at = (f.at + 1) % n
	case key == "shift+tab" || key == "up":
		f.at = (f.at + n - 1) % n
	case f.at == noteAside:
		if key == "space" || key == "x" || key == "left" || key == "right" {
			f.aside, f.err = !f.aside, nil
		}
	default:
		in := f.field()
		*in, _ = in.Update(msg)
		f.err = nil
	}
	return true, nil
}

func (f *noteForm) field() *textinput.Model {
	if f.at == noteUntil {
		return &f.until
	}
	return &f.text
}

func (f *noteForm) paste(_ *Model, text string) tea.Cmd {
	if f.at == noteAside || f.keeping {
		return nil
	}
	f.err = nil
	if refused := pasteInto(f.field(), text); refused != "" {
		f.err = errors.New(refused)
	}
	return nil
}

// asked is the note as it is filled in, or what is wrong with it.
func (f *noteForm) asked(m *Model) (core.Note, error) {
	n := f.note
	text, fits := sanitise.Typed(strings.TrimSpace(f.text.Value()), core.MostNoteText)
	switch n.Text, n.Aside = text, false; {
	case !fits: // characters may have several bytes
		return n, errors.New("not taken: a note is no longer than " + counted(core.MostNoteText, "byte"))
	case text == "":
		return n, errors.New("a note needs a text")
	}
	switch text := strings.TrimSpace(f.until.Value()); {
	case text == "":
		n.Until = time.Time{}
	case text != f.wasUntil: // a time that was not touched stays to the second
		at, err := forecast.ParseMoment(text, m.snap.Now)
		if err != nil {
			return n, err
		}
		n.Until = at
	}
	a, there := f.entry(m)
	if f.aside && !there {
		f.aside = false
		return n, errors.New("its entry is over: there is nothing left to set aside. enter keeps the note alone")
	}
	if f.aside && f.fields(m) > noteAside {
		switch {
		case n.Until.IsZero():
			return n, errors.New("until when does it wait? An entry is only set aside until a time")
		case n.Until.Sub(m.snap.Now) > core.MostAside:
			return n, errors.New("an entry is set aside for at most " + age(core.MostAside))
		}
		n = attention.SetAside(n, a, n.Until)
	}
	return n, nil
}

// unchanged tells whether there is such a note already.
func (f *noteForm) unchanged() bool {
	return f.note.ID != "" && f.text.Value() == f.wasText && f.until.Value() == f.wasUntil && f.aside == f.note.Aside
}

func (f *noteForm) submit(m *Model) tea.Cmd {
	if f.unchanged() { // it stays its author's
		m.close(f)
		return m.say(toneInfo, "the note is as it was")
	}
	n, err := f.asked(m)
	if err != nil {
		f.err = err
		return nil
	}
	f.keeping, f.err = true, nil
	return m.keepNote(f, n)
}

// keepNote has the note written.
func (m *Model) keepNote(f *noteForm, n core.Note) tea.Cmd {
	ctx, backend := m.ctx, m.backend
	return func() tea.Msg {
		kept, err := backend.Note(ctx, n)
		return noteKeptMsg{f, kept, err}
	}
}

// arrive closes the form of a note that is kept. A note that is not kept stays in its form.
func (msg noteKeptMsg) arrive(m *Model) tea.Cmd {
	if f := msg.form; f != nil {
		f.keeping = false
		if msg.err != nil && m.shows(f) {
			f.err = msg.err
			return nil
		}
		if m.top() == layer(f) {
			m.deaf.begin(m)
		}
		m.withdraw(f)
	}
	n := msg.note
	switch {
	case msg.err != nil:
		return m.say(toneBad, msg.err.Error())
	case n.Done:
		return m.say(toneInfo, "the note is done: "+n.Text)
	case n.Aside:
		return m.say(toneInfo, n.On.Label+" is set aside until "+clock(n.Until, m.snap.Now)+": it comes back then, or when it changes")
	case !n.Until.IsZero():
		return m.say(toneInfo, "noted; you are reminded at "+clock(n.Until, m.snap.Now))
	}
	return m.say(toneInfo, "noted")
}

func (f *noteForm) hints() []keyHint {
	if f.at == noteAside {
		return []keyHint{{"space", "yes or no"}, {"enter", "keep it"}, {"tab", "next field"}, {"esc", "cancel"}}
	}
	return []keyHint{{"enter", "keep it"}, {"tab", "next field"}, {"ctrl+u", "empty it"}, {"esc", "cancel"}}
}

// What the form leaves out where the screen is too low for all of it.
const (
	noteWhole    = iota
	noteUntaught // without what becomes of a note, and what a time can be
	noteDense    // without blank lines, and each of the others in a line or two
	noteShortened
)

func (f *noteForm) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 78)
	body := inRoom(h, noteShortened, func(out int) []draw.Line { return f.body(m, max(w-4, 10), out) })
	return m.look.Box(draw.One(themes.Strong, f.title), m.whichCluster(), body, w)
}

// body is what the form says, but for what is left out.
func (f *noteForm) body(m *Model, inner, out int) []draw.Line {
	var body []draw.Line
	gap := func() {
		if out < noteDense {
			body = append(body, draw.Line{})
		}
	}
	say := func(tone themes.Token, text string, n, most int) {
		if out < noteDense {
			body = append(body, draw.Inset(n, draw.Paragraph(tone, text, inner-n))...)
		} else {
			body = append(body, draw.Inset(n, atMost(most, tone, text, inner-n))...)
		}
	}
	row := func(at noteField, label string, value draw.Line) {
		lead := draw.Blank(2)
		if f.at == at {
			lead = draw.Text(themes.Match, m.look.Glyph.Cursor+" ")
		}
		body = append(body, append(draw.Line{lead}, append(draw.One(themes.Dim, label).Fit(8, false), value...)...))
	}
	gap()
	if out < noteUntaught {
		say(themes.Text, "It goes into the journal, where whoever comes next finds it. Nothing is written to the cluster.", 0, 0)
		gap()
	}
	row(noteText, "text", inputLine(f.text.Value(), f.text.Position(), inner-10, f.at == noteText))
	row(noteUntil, "until", inputLine(f.until.Value(), f.until.Position(), min(inner-10, mostTyped), f.at == noteUntil))
	if out < noteUntaught {
		say(themes.Dim, "when to be reminded: 03:00, +45m; empty: never", 10, 0)
	}
	a, there := f.entry(m)
	switch why := attention.WhyNotAside(a); {
	case !there:
	case why == "":
		text := "no, it needs us"
		if f.aside {
			text = "yes, it waits for somebody else until then"
		}
		row(noteAside, "aside", draw.One(themes.Text, text))
	case a.Rule != core.RulePromise:
		say(themes.Warn, "It cannot be set aside: "+why+".", 2, 1)
	}
	if f.note.On.Entry != "" && !there {
		say(themes.Warn, "What it is about needs nobody any more.", 2, 1)
	}
	gap()
	switch {
	case f.err != nil:
		say(themes.Bad, f.err.Error(), 0, 2)
	case f.keeping:
		body = append(body, draw.One(themes.Moves, "It is being written"+m.look.Glyph.Ellipsis))
	default:
		body = append(body, draw.One(themes.Dim, "enter keeps the note. esc cancels."))
	}
	return body
}
