package tui

import (
	"fmt"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// Replay is a recording that is played to the screen. Its methods are called from commands, never while the screen is drawn.
type Replay interface {
	// State is where it is.
	State() ReplayState
	// Toggle plays, or pauses.
	Toggle() error
	// SetSpeed sets how much faster than it was it is played.
	SetSpeed(speed float64) error
	// Event goes to the next event, or to the one before, and pauses.
	Event(next bool) error
	// Go goes to the moment that a text names, and pauses.
	Go(text string) error
	// End goes to the end, or to the beginning, and pauses.
	End(last bool) error
}

// ReplayState is where a recording is. Its texts are not sanitised.
type ReplayState struct {
	From, To, At time.Time // by the cluster's clock
	Speed        float64
	Playing      bool
	Cut          bool      // it has no end, or a gap
	Event        string    // the last event up to now; empty: there was none
	EventAt      time.Time // when it was
	Trouble      string    // why it cannot be read further; empty: it can
}

// replaySpeeds are the steps of slower and faster.
var replaySpeeds = []float64{1, 2, 5, 10, 20, 60, 120, 300, 600}

// replayEvery is how often the screen looks where the recording is.
const replayEvery = 250 * time.Millisecond

// replayActions are the keys of a recording that is played.
func replayActions() []Action {
	on := func(do func(Replay, ReplayState) error) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.replay(do) }
	}
	actions := []Action{
		{ID: "replay.toggle", Title: "Play the recording that is replayed, or pause it (on every page)",
			Short: "play", Keys: []string{"space"}, Footer: 1,
			now: func(m *Model) string {
				if m.replayed.Playing {
					return "pause"
				}
				return "play"
			},
			run: on(func(r Replay, _ ReplayState) error { return r.Toggle() })},
		{ID: "replay.next", Title: "Go to the recording's next event: a stage, a phase, an entry, an operation", Short: "next event",
			Keys: []string{"."}, Footer: 2, run: on(func(r Replay, _ ReplayState) error { return r.Event(true) })},
		{ID: "replay.previous", Title: "Go to the recording's event before", Short: "event before", Keys: []string{","}, Footer: 3,
			run: on(func(r Replay, _ ReplayState) error { return r.Event(false) })},
		{ID: "replay.faster", Title: "Play the recording faster", Short: "faster", Keys: []string{"}"}, Footer: 4,
			run: on(func(r Replay, s ReplayState) error { return r.SetSpeed(replaySpeed(s.Speed, true)) })},
		{ID: "replay.slower", Title: "Play the recording slower", Short: "slower", Keys: []string{"{"}, Footer: 5,
			run: on(func(r Replay, s ReplayState) error { return r.SetSpeed(replaySpeed(s.Speed, false)) })},
		{ID: "replay.go", Title: "Go to a time of the recording", Short: "go to a time", Keys: []string{"@"}, Footer: 6,
			run: func(m *Model) tea.Cmd { m.open(&momentBox{input: newField("")}); return nil }},
		{ID: "replay.first", Title: "Go to the beginning of the recording", Short: "beginning", Keys: []string{"^"},
			run: on(func(r Replay, _ ReplayState) error { return r.End(false) })},
		{ID: "replay.last", Title: "Go to the end of the recording", Short: "end", Keys: []string{"$"},
			run: on(func(r Replay, _ ReplayState) error { return r.End(true) })},
	}
	for i := range actions {
		actions[i].Scope, actions[i].replay = ScopeGlobal, true
	}
	return actions
}

func replaySpeed(speed float64, faster bool) float64 {
	at := speed
	for _, s := range replaySpeeds {
		if faster && s > speed {
			return s
		}
		if !faster && s < speed {
			at = s
		}
	}
	return at
}

// replayMsg is where the recording is, and what went wrong with going there.
type replayMsg struct {
	state ReplayState
	err   error
	box   *momentBox // in which the moment was typed; nil: in none
}

// replayTick has the screen look where the recording is.
type replayTick struct{}

// replay does something with the recording, and reads where it is.
func (m *Model) replay(do func(Replay, ReplayState) error) tea.Cmd {
	r := m.opts.Replay
	return func() tea.Msg {
		err := do(r, r.State())
		return replayMsg{state: r.State(), err: err}
	}
}

// awaitReplay looks where the recording is, and goes on looking.
func (m *Model) awaitReplay() tea.Cmd {
	if m.opts.Replay == nil {
		return nil
	}
	return tea.Batch(m.replay(func(Replay, ReplayState) error { return nil }), m.after(replayEvery, replayTick{}))
}

// arrive implements arrival.
func (replayTick) arrive(m *Model) tea.Cmd {
	m.dirty = false
	return m.awaitReplay()
}

// arrive implements arrival.
func (msg replayMsg) arrive(m *Model) tea.Cmd {
	before := m.replayed
	m.replayed = msg.state
	m.dirty = before != msg.state || msg.err != nil || msg.box != nil
	if msg.box != nil {
		if msg.box.wrong, msg.box.going = "", false; msg.err != nil {
			msg.box.wrong = sanitise.Text(msg.err.Error(), 200)
			return nil
		}
		m.withdraw(msg.box)
	}
	switch {
	case msg.err != nil:
		return m.say(toneWarn, "the recording: "+msg.err.Error())
	case msg.state.Trouble != "" && before.Trouble != msg.state.Trouble:
		return m.say(toneBad, "the recording: "+msg.state.Trouble)
	case before.Playing && !msg.state.Playing && !msg.state.At.Before(msg.state.To) && !before.At.IsZero():
		text := "the recording is at its end"
		if msg.state.Cut {
			text += ", which is not the end of what happened: it was cut off, or has a gap"
		}
		return m.say(toneInfo, text)
	}
	return nil
}

// replayLine says that this is a recording, where it is, and how fast it goes.
func (m *Model) replayLine(w int) draw.Line {
	s := m.replayed
	if s.At.IsZero() {
		return draw.Line{draw.Blank(1), draw.Text(themes.Armed, " REPLAY ")}
	}
	how, tone := "paused", themes.Warn
	if s.Playing {
		how, tone = "playing", themes.Good
	}
	out := draw.Line{draw.Blank(1), draw.Text(themes.Armed, " REPLAY "), draw.Blank(1),
		draw.Text(themes.Strong, s.At.Local().Format("Jan 2 15:04:05")), draw.Blank(2), draw.Text(tone, how),
		draw.Text(themes.Text, fmt.Sprintf(" %gx", s.Speed))}
	span := draw.One(themes.Dim, fmt.Sprintf("%s to %s ", s.From.Local().Format("15:04"), clock(s.To.Local(), s.From.Local())))
	if w < 110 {
		span = nil
	}
	if s.Event != "" {
		text := sanitise.Text(s.Event, 200)
		if ago := s.At.Sub(s.EventAt); ago >= time.Second {
			text = age(ago) + " ago: " + text
		}
		room := w - out.Width() - span.Width() - 4
		out = append(append(out, draw.Blank(2)), draw.One(themes.Dim, text).Cut(max(room, 0))...)
	}
	return draw.Apart(out, span, w)
}

// momentBox asks for a time of the recording.
type momentBox struct {
	input textinput.Model
	wrong string
	going bool // it is on its way there
}

func (*momentBox) scope() Scope           { return ScopeForm }
func (*momentBox) page() bool             { return false }
func (*momentBox) refresh(*Model) tea.Cmd { return nil }

func (b *momentBox) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "esc":
		m.close(b)
	case "enter":
		text, r := b.input.Value(), m.opts.Replay
		switch {
		case b.going: // a second enter would go as far once more
			return true, nil
		case text == "":
			b.wrong = "type a time first"
			return true, nil
		}
		b.going = true
		return true, func() tea.Msg {
			err := r.Go(text)
			return replayMsg{state: r.State(), err: err, box: b}
		}
	default:
		b.input, _ = b.input.Update(msg)
		b.wrong = ""
	}
	return true, nil
}

// mostMoment is how long a pasted time can be, in bytes.
const mostMoment = 60

// paste implements paster.
func (b *momentBox) paste(_ *Model, text string) tea.Cmd {
	if out, fits := sanitise.Typed(b.input.Value()+text, mostMoment); fits {
		b.input.SetValue(out)
		b.input.CursorEnd()
	} else {
		b.wrong = "not taken: it would be longer than " + counted(mostMoment, "byte")
	}
	return nil
}

func (b *momentBox) hints() []keyHint {
	if b.going {
		return []keyHint{{"enter", "waits"}, {"esc", "close"}}
	}
	return []keyHint{{"enter", "goes there and pauses"}, {"esc", "stays"}}
}

func (b *momentBox) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 66)
	inner := max(w-4, 10)
	s := m.replayed
	body := inRoom(h, 2, func(out int) []draw.Line {
		body, most := []draw.Line{{}}, 2 // lines that say what is wrong
		if out == 0 {
			body = append(append(body, draw.Paragraph(themes.Text, "The recording goes from "+s.From.Local().Format("Jan 2 15:04:05")+" to "+
				s.To.Local().Format("Jan 2 15:04:05")+". A time is 02:15, 02:15:30, 2026-03-14 02:15, or +10m and -1h from what is shown.",
				inner)...), draw.Line{})
			most = h
		}
		body = append(body, append(draw.One(themes.Dim, "Time: "), inputLine(b.input.Value(), b.input.Position(), 24, true)...), draw.Line{})
		if b.wrong == "" {
			return append(body, draw.Line{})
		}
		return append(body, atMost(most, themes.Needs, b.wrong, inner)...)
	})
	return m.look.Box(draw.One(themes.Strong, "Go to a time"), nil, body, w)
}
