package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeHistory is the page of the whole story.
const ScopeHistory Scope = "history"

// lineMessage is the kind of the messages that the screen showed: they are not in the journal.
const lineMessage core.LineKind = "message"

// historyRow is a line of the journal, or a message that the screen showed.
type historyRow struct {
	id   string
	line core.JournalLine
	tone themes.Token // of a message

	again  bool   // another line tells the same, and is known better: it is not shown
	search string // what a filter looks in: 50,000 rows are looked through with each letter
}

// historyPage is the whole story, the newest first: what was done, by whom, what was seen, what needed somebody, and all messages. The
// lines are read from the journal while the page is open, and go with it.
type historyPage struct {
	story
	rows *table.Table[historyRow]
	had  uint64 // the story when the rows were made: its came
	said int    // messages that are among the rows, by the number of the newest
	sets uint64 // counts the changes of the rows

	typing  bool // the filter
	settled bool // the rows were made of what was read
}

// openHistory opens the whole story, with a filter.
func (m *Model) openHistory(filter string) tea.Cmd {
	p := &historyPage{story: story{most: core.MostLines}}
	m.open(p)
	now := func() time.Time { return m.snap.Now }
	dim := func(text string) draw.Line { return draw.One(themes.Dim, text) }
	p.rows = &table.Table[historyRow]{
		Header: true,
		ID:     func(r historyRow) string { return r.id },
		Name:   func(r historyRow) string { return r.line.What },
		Search: func(r historyRow) string { return r.search },
		Keys: []table.Key[historyRow]{
			{Name: "node", Values: func(r historyRow) []string { return []string{r.line.Node, m.snap.Label(r.line.Node)} }},
			{Name: "instance", Values: func(r historyRow) []string {
				if r.line.Instance == "" {
					return nil
				}
				return []string{r.line.Instance, r.line.Label}
			}},
			{Name: "who", Values: func(r historyRow) []string { return []string{r.line.Who} }},
		},
		Columns: []table.Column[historyRow]{
			{Title: "at", Width: 8, Most: 15, Measure: func(r historyRow) int { return len(secondsClock(r.line.At, now())) },
				Cell: func(r historyRow) draw.Line { return dim(secondsClock(r.line.At, now())) }},
			{Title: "kind", Width: 7, Cell: func(r historyRow) draw.Line { return draw.One(kindTone(r), string(r.line.Kind)) }},
			{Title: "on", Width: 8, Most: 20, Share: 20, Measure: func(r historyRow) int { return draw.Width(lineLabel(m.snap, r.line)) },
				Cell: func(r historyRow) draw.Line { return draw.One(themes.Strong, lineLabel(m.snap, r.line)) }},
			{Title: "what", Width: 34, Grow: true, Cell: func(r historyRow) draw.Line { return lineWhat(m.snap, r) }},
			{Title: "took", Width: 5, Most: 9, Right: true, Rank: 2, Measure: func(r historyRow) int { return len(lineTook(r.line.Took)) },
				Cell: func(r historyRow) draw.Line { return dim(lineTook(r.line.Took)) }},
			{Title: "by", Width: 6, Most: 24, Share: 20, Rank: 1, Measure: func(r historyRow) int { return draw.Width(r.line.Who) },
				Cell: func(r historyRow) draw.Line { return dim(r.line.Who) }},
		},
	}
	p.rows.SetFilter(filter)
	p.arrange(m)
	p.rows.GoTo(0)
	return p.ask(m)
}

// historyOf is the filter for the history of the subject.
func (m *Model) historyOf(s subject) string {
	switch {
	case s.instance != "":
		return "instance:=" + s.instance
	case s.node != "":
		return `node:="` + m.snap.Label(s.node) + `"`
	}
	return ""
}

func lineTook(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return age(d)
}

// lineLabel is what to call what a line is about.
func lineLabel(s *core.Snapshot, l core.JournalLine) string {
	if l.Label == l.Node {
		return s.Label(l.Node)
	}
	return named(s, l.Label)
}

func kindTone(r historyRow) themes.Token {
	switch r.line.Kind {
	case core.LineStep:
		return themes.Key
	case core.LineEntry:
		return themes.Needs
	case core.LineNote:
		return themes.Match
	}
	return themes.Dim
}

func (*historyPage) scope() Scope { return ScopeHistory }
func (*historyPage) page() bool   { return true }

func (m *Model) newestSaid() int {
	if len(m.said) == 0 {
		return 0
	}
	return m.said[0].n + m.said[0].times<<32
}

// arrange makes the rows of the lines and the messages, the newest first. The cursor stays on its line, once the lines are there.
func (p *historyPage) arrange(m *Model) {
	if p.settled && p.had == p.came && p.said == m.newestSaid() {
		return
	}
	p.had = p.came
	rows := make([]historyRow, 0, len(p.lines)+len(m.said))
	said := m.said
	for _, l := range p.lines {
		if l.again {
			continue
		}
		for len(said) > 0 && said[0].at.After(l.line.At) {
			rows, said = append(rows, m.saidRow(said[0])), said[1:]
		}
		rows = append(rows, l)
	}
	for _, s := range said {
		rows = append(rows, m.saidRow(s))
	}
	p.said = m.newestSaid()
	p.sets++
	p.rows.Set(rows, p.sets)
	if !p.settled {
		p.rows.GoTo(0)
	}
	p.settled = p.read
}

func (m *Model) saidRow(s message) historyRow {
	what := s.text
	if s.times > 1 {
		what += " (" + times(s.times) + ")"
	}
	l := core.JournalLine{Kind: lineMessage, At: s.at, What: what}
	return historyRow{id: "message/" + itoa(s.n), tone: s.tone, line: l, search: searchText(m.snap, l)}
}

// searchText is what a filter looks in.
func searchText(s *core.Snapshot, l core.JournalLine) string {
	return strings.ToLower(strings.Join([]string{string(l.Kind), lineLabel(s, l), s.Label(l.Node), lineText(s, l), l.Who}, " "))
}

func (p *historyPage) refresh(m *Model) tea.Cmd {
	p.arrange(m)
	return p.follow(m)
}

// handle takes the filter while it is typed.
func (p *historyPage) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	if !p.typing {
		return false, nil
	}
	text := p.rows.Filter()
	switch key := msg.String(); key {
	case "enter":
		p.typing = false
	case "esc":
		p.typing = false
		p.rows.SetFilter("")
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(text)
		p.rows.SetFilter(text[:len(text)-n])
	case "ctrl+u":
		p.rows.SetFilter("")
	case "tab":
		if done, words := p.rows.Offers(); len(words) > 0 {
			p.rows.SetFilter(done + words[0])
		}
	case "up", "down", "pgup", "pgdown":
		return false, nil
	default:
		if msg.Text != "" {
			return true, m.addToFilter(text, msg.Text, p.rows.SetFilter)
		}
	}
	return true, nil
}

func (p *historyPage) paste(m *Model, text string) tea.Cmd {
	if !p.typing {
		return nil
	}
	return m.addToFilter(p.rows.Filter(), text, p.rows.SetFilter)
}

func (p *historyPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.rows.MoveBy(wheel(at.Button))
	return nil
}

const (
	historyTitle = "History, the newest first"
	aroundFilter = 22 // columns of the rule beside its title, the filter and the count: without room it drops them all
)

func (p *historyPage) draw(m *Model, w, h int) []string {
	shown, all := p.rows.Count()
	note := draw.One(themes.Dim, fmt.Sprintf("%d", all))
	if filter := p.rows.Filter(); filter != "" || p.typing {
		cursor := ""
		if p.typing {
			cursor = "_"
		}
		count := draw.One(themes.Dim, fmt.Sprintf("  %d of %d", shown, all))
		sought := draw.One(themes.Match, "/"+filter)
		if room := max(w-len(historyTitle)-aroundFilter-count.Width(), 8); sought.Width() > room && p.typing {
			sought = draw.Line{draw.Text(themes.Match, "/"), draw.Tail(themes.Match, filter, room-1)}
		} else {
			sought = sought.Cut(room)
		}
		note = append(sought.And(themes.Match, cursor), count...)
	}
	if !p.read {
		note = draw.One(themes.Moves, "the journal is being read")
	}
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, historyTitle), note.And(themes.Dim, "   esc back"), true, nil)}
	var more []draw.Line
	if p.trouble != "" {
		more = append(more, draw.Inset(1, draw.Paragraph(themes.Bad, "The journal cannot be read: "+p.trouble, w-2))...)
	}
	if p.typing {
		_, words := p.rows.Offers()
		keys := draw.One(themes.Dim, "   tab completes   enter keeps it   esc clears it")
		more = append(more, append(offersLine(words, w-2-keys.Width()), keys...))
	} else if r, ok := p.rows.Current(); ok && len(more) == 0 {
		if text := lineText(m.snap, r.line); draw.Width(text) > w-50 {
			lines := draw.Inset(1, draw.Paragraph(themes.Dim, text, w-2))
			more = append(append(more, draw.Line{}), lines[:min(len(lines), 4)]...)
		}
	}
	if shown == 0 && p.read {
		text := " Nothing has happened yet."
		if all > 0 {
			text = " The filter lets nothing through: esc clears it."
		}
		out = append(out, m.look.Draw(draw.One(themes.Dim, text), w, draw.AsItIs))
	} else {
		out = append(out, p.rows.Draw(m.look, w, max(h-1-len(more), 1), true, false)...)
	}
	for _, l := range more {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	return out
}

func lineText(s *core.Snapshot, l core.JournalLine) string {
	text := named(s, l.What)
	if l.Why != "" {
		text += ": " + named(s, l.Why)
	}
	return text
}

// open shows a line whole.
func (p *historyPage) open(m *Model) tea.Cmd {
	r, ok := p.rows.Current()
	if !ok {
		return m.say(toneWarn, "no line is selected")
	}
	m.openLine(*r)
	return nil
}

// openLine shows a line whole.
func (m *Model) openLine(r historyRow) {
	l, tone := r.line, cmp.Or(r.tone, themes.Text)
	m.open(&pager{
		title: func(*Model) string { return "History, " + string(l.Kind) },
		lines: func(m *Model, w int) []draw.Line {
			f := &facts{w: w}
			lineFacts(m, f, l, tone)
			return f.lines
		},
	})
}

// lineFacts are all that a line tells.
func lineFacts(m *Model, f *facts, l core.JournalLine, tone themes.Token) {
	f.add("at", stamp(l.At, m.snap.Now))
	if !l.Wall.IsZero() {
		f.add("written", l.Wall.Local().Format("2006-01-02 15:04:05 MST")+" by the clock of the machine")
	}
	f.add("on", lineLabel(m.snap, l))
	f.tone(tone, "what", named(m.snap, l.What))
	f.add("why", named(m.snap, l.Why))
	f.add("done by", l.Who+wording.Prefixed(", to the servers ", l.As))
	f.add("typed", l.Typed)
	f.add("before", l.Before)
	f.add("after", l.After)
	f.add("took", lineTook(l.Took))
	if l.Reconstructed != "" {
		f.tone(themes.Warn, "mind", "nobody looked when it happened: its time is that of "+l.Reconstructed)
	} else if l.Inferred {
		f.tone(themes.Warn, "mind", "nobody saw it when it happened: it follows from what was found later")
	}
	f.add("node", m.snap.Label(l.Node))
	f.add("instance", l.Instance)
	if l.UID != l.Instance {
		f.add("object", strings.TrimSpace(l.Object+wording.Prefixed(", uid ", l.UID)))
	}
	f.add("operation", l.Operation)
	if l.Kind == lineMessage {
		f.add("kept", "as long as Lockstep runs; it is not in the journal")
		return
	}
	f.add("recorded by", strings.TrimSpace(l.Saw+" "+l.Run))
	if l.Seq > 0 {
		f.add("number", itoa(int(l.Seq))+" in the journal")
	}
	for i, c := range l.Commands {
		if i == 0 {
			f.section("What it stands for")
		}
		f.add("", c)
	}
	for i, b := range l.Basis {
		if i == 0 {
			f.section("What the confirmation rested on")
		}
		f.add(b.Name, named(m.snap, b.Value))
	}
}

// only sets one word of the filter, or takes it away where it stands already.
func (p *historyPage) only(key, value string) {
	word := key + ":=" + value
	if strings.ContainsRune(value, ' ') {
		word = key + `:="` + value + `"`
	}
	filter := strings.TrimSpace(p.rows.Filter())
	if strings.Contains(" "+filter+" ", " "+word+" ") {
		p.rows.SetFilter(strings.TrimSpace(strings.Replace(" "+filter+" ", " "+word+" ", " ", 1)))
		return
	}
	var rest []string
	if !strings.Contains(filter, `"`) { // a quoted text has spaces of its own
		rest = slices.DeleteFunc(strings.Fields(filter), func(w string) bool { return strings.HasPrefix(w, key+":") })
	}
	p.rows.SetFilter(strings.Join(append(rest, word), " "))
}

// nextKind goes on to the next kind, and after the last to all.
func (p *historyPage) nextKind() {
	kinds := append(core.LineKinds(), lineMessage)
	for i, k := range kinds {
		if f := p.rows.Filter(); strings.Contains(f, "kind:"+string(k)) || strings.Contains(f, "kind:="+string(k)) {
			if i+1 < len(kinds) {
				p.only("kind", string(kinds[i+1]))
			} else {
				p.only("kind", string(k))
			}
			return
		}
	}
	p.only("kind", string(kinds[0]))
}

// historyActions work on the page of the whole story.
func historyActions() []Action {
	with := func(f func(m *Model, p *historyPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*historyPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	row := func(f func(m *Model, p *historyPage, l core.JournalLine) tea.Cmd) func(*Model) tea.Cmd {
		return with(func(m *Model, p *historyPage) tea.Cmd {
			r, ok := p.rows.Current()
			if !ok {
				return m.say(toneWarn, "no line is selected")
			}
			return f(m, p, r.line)
		})
	}
	all := []Action{
		{ID: "history.open", Title: "Show the line whole: both times, who, before and after, commands, its number in the journal", Short: "whole",
			Keys: []string{"enter"}, Footer: 1, run: with(func(m *Model, p *historyPage) tea.Cmd { return p.open(m) })},
		{ID: "history.filter", Title: "Filter the lines: text, node:cmp-07, instance:web-1, who:anna, kind:step", Short: "filter",
			Keys: []string{"/"}, Footer: 2, run: with(func(_ *Model, p *historyPage) tea.Cmd { p.typing = true; return nil })},
		{ID: "history.kind", Title: "Show the lines of one kind, then of the next, then all", Short: "kind", Keys: []string{"v"}, Footer: 3,
			run: with(func(_ *Model, p *historyPage) tea.Cmd { p.nextKind(); return nil })},
		{ID: "history.object", Title: "Show only the lines about the same node or instance, or all", Short: "same object", Keys: []string{"n"},
			Footer: 4, run: row(func(m *Model, p *historyPage, l core.JournalLine) tea.Cmd {
				switch {
				case l.Instance != "":
					p.only("instance", l.Instance)
				case l.Node != "":
					p.only("node", m.snap.Label(l.Node))
				default:
					return m.say(toneWarn, "it is not about a node or an instance")
				}
				return nil
			})},
		{ID: "history.person", Title: "Show only what the same person did, or all", Short: "same person", Keys: []string{"p"}, Footer: 5,
			run: row(func(m *Model, p *historyPage, l core.JournalLine) tea.Cmd {
				if l.Who == "" {
					return m.say(toneWarn, "nobody did it: it was seen")
				}
				p.only("who", l.Who)
				return nil
			})},
		{ID: "history.copy", Title: "Copy what the line says", Short: "copy", Keys: []string{"y"},
			run: row(func(m *Model, _ *historyPage, l core.JournalLine) tea.Cmd { return m.copy(lineText(m.snap, l)) })},
		{ID: "history.close", Title: "Clear the filter, then go back", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 6,
			run: with(func(m *Model, p *historyPage) tea.Cmd {
				if p.rows.Filter() != "" {
					p.rows.SetFilter("")
					return nil
				}
				m.close(p)
				return nil
			})},
	}
	all = append(all, rowMoves("history", func(move func(l table.List)) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *historyPage) tea.Cmd { move(p.rows); return nil })
	})...)
	for i := range all {
		all[i].Scope = ScopeHistory
	}
	return all
}
