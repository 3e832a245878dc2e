package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ScopeLookText is events, or an object's description or YAML.
const ScopeLookText Scope = "events and objects"

const (
	lookWithin = 30 * time.Second // how long an answer may take
	eventsEach = 10 * time.Second // how often events are asked for while their page is open
	eventsMany = time.Minute      // the same, where there are more than a page of the API holds
	lookTextOf = 1 << 20          // how much of an object is shown, in bytes
)

// eventsMost are how many events of one object are read: at first, and when the rest is wanted.
var eventsMost = []int{2000, 20_000}

// lookText is a page with events, or with an object as text.
type lookText struct {
	pager
	of core.Look

	stop   context.CancelFunc
	try    int
	asking bool
	since  time.Time // of the request that is under way
	got    bool      // there was an answer
	at     time.Time // of the newest one, by the cluster's clock as the times of events
	err    error
	events core.EventList
	object core.ObjectText
	reach  int // index of eventsMost

	made  lookMade
	drawn []draw.Line // of the newest answer, for made
}

// lookMade is what the lines of events were made for: of thousands they are not made for every frame.
type lookMade struct {
	w     int
	day   int
	depth themes.Depth
	theme string
}

// lookedMsg is the answer to a lookText.
type lookedMsg struct {
	page   *lookText
	try    int
	events core.EventList
	object core.ObjectText
	err    error
}

// lookAgain asks for events again.
type lookAgain struct {
	page *lookText
	try  int
}

func (m *Model) openLookText(look core.Look) tea.Cmd {
	if m.opts.Looker == nil {
		return m.say(toneWarn, "it cannot be read from here")
	}
	p := &lookText{of: look}
	p.title = func(*Model) string {
		switch look.Kind {
		case core.LookEvents:
			return "Events of " + look.What
		case core.LookYAML:
			return "YAML of " + look.What
		}
		return look.What
	}
	p.lines, p.asOf = p.body, p.dated
	p.copied = func(m *Model) string { return p.plain(m) }
	m.open(p)
	return p.ask(m)
}

// ask asks for what the page shows.
func (p *lookText) ask(m *Model) tea.Cmd {
	p.leave()
	p.try++
	p.asking, p.since = true, m.now()
	ctx, cancel := context.WithTimeout(m.ctx, lookWithin)
	p.stop = cancel
	looker, look, try, most := m.opts.Looker, p.of, p.try, eventsMost[p.reach]
	return func() tea.Msg {
		defer cancel()
		out := lookedMsg{page: p, try: try}
		if look.Kind == core.LookEvents {
			out.events, out.err = looker.Events(ctx, look.Events, most)
		} else {
			out.object, out.err = looker.Object(ctx, look.Object)
		}
		return out
	}
}

// leave cancels a request that is under way.
func (p *lookText) leave() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// arrive shows the answer. What was there stays when another one fails.
func (msg lookedMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	if msg.try != p.try {
		return nil
	}
	p.asking, p.err = false, msg.err
	if msg.err == nil || len(msg.events.Events) > 0 {
		p.got, p.at, p.events, p.object, p.drawn = true, clusterNow(m), msg.events, msg.object, nil
	}
	if p.of.Kind == core.LookEvents && m.shows(p) {
		if len(p.events.Events) > eventsMost[0]/4 {
			return m.after(eventsMany, lookAgain{p, p.try})
		}
		return m.after(eventsEach, lookAgain{p, p.try})
	}
	return nil
}

func (msg lookAgain) arrive(m *Model) tea.Cmd {
	if msg.try != msg.page.try || !m.shows(msg.page) {
		m.dirty = false
		return nil
	}
	return msg.page.ask(m)
}

func (*lookText) scope() Scope { return ScopeLookText }

// dated is when the newest answer came: it stays when the page stays open, and when another one fails.
func (p *lookText) dated(m *Model) draw.Line {
	if !p.got {
		return nil
	}
	tone := themes.Dim
	if p.err != nil {
		tone = themes.Warn
	}
	return draw.One(tone, "  as of "+secondsClock(p.at, clusterNow(m)))
}

// clusterNow is the cluster's time; the machine's until there is one.
func clusterNow(m *Model) time.Time {
	if m.snap != nil {
		return m.snap.Now
	}
	return m.now()
}

// body is what the page shows.
func (p *lookText) body(m *Model, w int) []draw.Line {
	var out []draw.Line
	var e *core.APIError
	if errors.As(p.err, &e) {
		out = append(draw.Paragraph(themes.Bad, e.Error(), w), draw.Paragraph(themes.Key, e.Remedy, w)...)
		out = append(out, draw.Line{})
	} else if p.err != nil {
		out = append(draw.Paragraph(themes.Bad, p.err.Error(), w), draw.Line{})
	}
	switch {
	case !p.got && p.asking:
		return append(out, draw.One(themes.Moves, "asking the API server"+m.look.Glyph.Ellipsis))
	case !p.got:
		return append(out, draw.One(themes.Dim, m.keyTo("looktext.again")+" asks again"))
	case p.of.Kind == core.LookEvents:
		now := clusterNow(m)
		key := lookMade{w: w, day: dayOf(now), depth: m.depth, theme: m.theme.Name}
		if p.drawn == nil || key != p.made {
			p.made, p.drawn = key, append(p.cutLines(m, w), eventLines(m, p.events.Events, now, len(p.of.Events) > 1, w)...)
		}
		return append(out, p.drawn...)
	}
	for _, s := range sanitise.Lines(p.plain(m), lookTextOf) {
		indent := len(s) - len(strings.TrimLeft(s, " "))
		tone := themes.Text
		if key, value, ok := strings.Cut(s[indent:], ":"); ok && p.of.Kind == core.LookYAML && !strings.ContainsAny(key, " \"'") {
			out = append(out, p.pair(indent, key, value, w)...)
			continue
		}
		if indent == 0 && !strings.Contains(s, ":") {
			tone = themes.Strong
		}
		if s == "" {
			out = append(out, draw.Line{})
			continue
		}
		indent = min(indent, w/2)
		for i, part := range draw.Wrap(strings.TrimLeft(s, " "), max(w-indent-2, 8)) {
			lead := indent
			if i > 0 {
				lead += 2
			}
			out = append(out, draw.Line{draw.Blank(lead), draw.Text(tone, part)})
		}
	}
	return out
}

// pair is a line of YAML with its key apart from its value.
func (p *lookText) pair(indent int, key, value string, w int) []draw.Line {
	indent = min(indent, w/2)
	lead := draw.Line{draw.Blank(indent), draw.Text(themes.Key, key), draw.Text(themes.Dim, ":")}
	if value = strings.TrimSpace(value); value == "" {
		return []draw.Line{lead}
	}
	if lead.Width()+1+draw.Width(value) <= w {
		return []draw.Line{append(lead, draw.Blank(1), draw.Text(themes.Text, value))}
	}
	return append([]draw.Line{lead}, draw.Inset(indent+4, draw.Paragraph(themes.Text, value, max(w-indent-4, 8)))...)
}

// cutLines say which objects have more events than were read.
func (p *lookText) cutLines(m *Model, w int) []draw.Line {
	if len(p.events.Cut) == 0 {
		return nil
	}
	var of []string
	for _, t := range p.events.Cut[:min(len(p.events.Cut), 3)] {
		of = append(of, t.Label)
	}
	text := fmt.Sprintf("Not all are shown: there are more than %d events of %s. Kubernetes gives them by name, so any may be missing.",
		eventsMost[p.reach], strings.Join(of, ", "))
	if more := len(p.events.Cut) - len(of); more > 0 {
		text += fmt.Sprintf(" So it is with %s.", counted(more, "other object"))
	}
	if p.reach+1 < len(eventsMost) {
		text += fmt.Sprintf(" %s reads up to %d.", m.keyTo("looktext.more"), eventsMost[p.reach+1])
	}
	return append(draw.Paragraph(themes.Warn, text, w), draw.Line{})
}

// eventLines are events, the oldest first: when, how often, about what, why and what.
func eventLines(m *Model, events []core.Event, now time.Time, merged bool, w int) []draw.Line {
	if len(events) == 0 {
		return draw.Paragraph(themes.Dim, "There are no events. Kubernetes keeps them for an hour, as long as nobody has set another time.", w)
	}
	widest := 8
	for _, e := range events {
		widest = max(widest, draw.Width(secondsClock(e.At, now)))
	}
	var out []draw.Line
	for _, e := range events {
		tone, reason := themes.Text, themes.Strong
		if e.Warning {
			tone, reason = themes.Warn, themes.Warn
		}
		often := ""
		if e.Count > 1 {
			often = fmt.Sprintf("x%d", e.Count)
		}
		lead := append(draw.One(themes.Dim, secondsClock(e.At, now)).Fit(widest+1, false), draw.One(themes.Dim, often).Fit(5, false)...)
		first := lead
		if e.Warning { // the type, as kubectl has it: a colour alone does not tell in a theme without colours
			first = append(first, draw.Text(reason, "Warning "))
		}
		first = append(first, draw.Text(reason, e.Reason))
		if merged {
			first = append(first, draw.Text(themes.Key, "  "+e.Kind+" "+named(m.snap, e.About)))
		}
		if e.From != "" {
			first = append(first, draw.Text(themes.Dim, "  "+e.From))
		}
		text := sanitise.Row(e.Message)
		if first.Width()+2+draw.Width(text) <= w {
			out = append(out, append(first, draw.Blank(2), draw.Text(tone, text)))
			continue
		}
		out = append(out, first.Cut(w))
		out = append(out, draw.Inset(widest+6, draw.Paragraph(tone, text, max(w-widest-6, 12)))...)
	}
	return out
}

// plain is the page as text, for copying and saving: times are in UTC.
func (p *lookText) plain(*Model) string {
	switch p.of.Kind {
	case core.LookYAML:
		return p.object.YAML
	case core.LookDescribe:
		return p.object.Describe
	}
	var b strings.Builder
	for _, t := range p.events.Cut {
		fmt.Fprintf(&b, "--- not all are here: %s has more events than were read\n", sanitise.Row(t.Label))
	}
	for _, e := range p.events.Events {
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		fmt.Fprintf(&b, "%s x%d %s %s %s %s: %s (%s)\n", e.At.UTC().Format(time.RFC3339), e.Count, kind, e.Reason, e.Kind, e.About,
			sanitise.Row(e.Message), e.From)
	}
	return b.String()
}

// lookTextActions work on pages of events and objects.
func lookTextActions() []Action {
	with := func(f func(m *Model, p *lookText) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*lookText); ok {
				return f(m, p)
			}
			return nil
		}
	}
	answered := func(m *Model) string {
		if p, ok := m.top().(*lookText); ok && p.got {
			return ""
		}
		return "there is nothing yet"
	}
	all := []Action{
		{ID: "looktext.close", Title: "Close the page", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 5,
			run: with(func(m *Model, p *lookText) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "looktext.again", Title: "Ask again", Short: "ask again", Keys: []string{"r"}, Footer: 1,
			run: with(func(m *Model, p *lookText) tea.Cmd { return p.ask(m) })},
		{ID: "looktext.more", Title: "Read more events, where there are more than are shown", Short: "more", Keys: []string{"a"},
			blocked: func(m *Model) string {
				if p, ok := m.top().(*lookText); ok && len(p.events.Cut) > 0 && p.reach+1 < len(eventsMost) {
					return ""
				}
				return "there are no more that could be read"
			}, run: with(func(m *Model, p *lookText) tea.Cmd { p.reach++; return p.ask(m) })},
		{ID: "looktext.save", Title: "Write it to a file, readable by you alone", Short: "save", Keys: []string{"s"}, Footer: 3,
			blocked: func(m *Model) string {
				if m.opts.SaveFile == nil {
					return "files cannot be written here"
				}
				return answered(m)
			}, run: with(func(m *Model, p *lookText) tea.Cmd {
				kind, suffix := string(p.of.Kind), "txt"
				if p.of.Kind == core.LookYAML {
					kind, suffix = "object", "yaml"
				}
				return m.saveText(fileName(m, kind, p.of.What, suffix), joined(sanitise.Lines(p.plain(m), lookTextOf)))
			})},
		{ID: "looktext.copy", Title: "Copy it", Short: "copy", Keys: []string{"y", "c"}, Footer: 2, blocked: answered,
			run: with(func(m *Model, p *lookText) tea.Cmd { return m.copy(p.plain(m)) })},
	}
	all = append(all, scrollMoves("looktext", [2]Action{{Title: "Go to the beginning", Short: "beginning"},
		{Title: "Go to the end", Short: "end"}}, func(move func(p scrolled)) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *lookText) tea.Cmd { move(p); return nil })
	})...)
	for i := range all {
		all[i].Scope = ScopeLookText
	}
	return append(all, findActions(ScopeLookText, "looktext", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*lookText); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})...)
}
