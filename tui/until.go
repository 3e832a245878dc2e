package tui

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lockstep/core/evacuation"
	"lockstep/core/forecast"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ScopeUntil is the page that says how long the update takes, and until when.
const ScopeUntil Scope = "how long"

// untilPage says how long the update takes, and until when: it follows the facts.
type untilPage struct {
	pager
	before string // the time of day that is asked about; empty: none, or the end of the window that is configured
	window forecast.Window

	typing untilField
	text   string
	wrong  string // why the text is none

	evacuation *evacuation.Forecast // nil until it was asked for and made
	asked      int                  // tells the answers to several requests apart
	stop       context.CancelFunc   // of the request under way
	refused    string               // why there is no forecast of the evacuations

	made untilMade
}

// untilField is what is being typed.
type untilField int

const (
	typesNothing untilField = iota
	typesBefore
	typesWindow
)

// untilMade is the page's lines as last made, and for what.
type untilMade struct {
	w          int
	at         time.Time // the cluster's time
	before     string
	window     forecast.Window
	evacuation *evacuation.Forecast
	lines      []draw.Line
}

// evacuatedMsg is the forecast of the evacuations, or why there is none.
type evacuatedMsg struct {
	page *untilPage
	try  int
	plan evacuation.Forecast
	err  error
}

// openUntil opens the page, with the window that is configured.
func (m *Model) openUntil() tea.Cmd {
	p := &untilPage{window: m.opts.Window}
	p.title = func(*Model) string { return "How long, and until when" }
	p.lines = p.body
	m.open(p)
	return nil
}

func (*untilPage) scope() Scope { return ScopeUntil }

// ask is what the page is about.
func (p *untilPage) ask(m *Model) forecast.Ask {
	a := forecast.Ask{Request: forecast.Request{Window: p.window, Evacuation: p.evacuation}}
	switch {
	case p.before != "":
		a.Before, _ = forecast.ParseTime(p.before, m.snap.Now)
	case !p.window.IsZero():
		_, a.Before = p.window.Next(m.snap.Now)
	}
	return a
}

// document is what the page says.
func (p *untilPage) document(m *Model) forecast.Document {
	return forecast.NewDocument(m.snap, p.ask(m))
}

// untilEvery is how often the page is made anew while it is open, by the cluster's clock: of a large cloud that takes a while.
const untilEvery = 2 * time.Second

// body is the page's text.
func (p *untilPage) body(m *Model, w int) []draw.Line {
	if m.snap == nil {
		return []draw.Line{draw.One(themes.Dim, "nothing is known yet")}
	}
	key := untilMade{w: w, at: m.snap.Now, before: p.before, window: p.window, evacuation: p.evacuation}
	if d := p.made; d.lines == nil || d.w != w || key.at.Sub(d.at).Abs() >= untilEvery || d.before != key.before ||
		d.window != key.window || d.evacuation != key.evacuation {
		key.lines = documentLines(p.document(m), w)
		p.made = key
	}
	return append(p.promptLines(m, w), p.made.lines...)
}

// promptLines are what is being typed, and what is being asked of OpenStack.
func (p *untilPage) promptLines(m *Model, w int) []draw.Line {
	var out []draw.Line
	if p.typing != typesNothing {
		label := "Can it rest before (06:00): "
		if p.typing == typesWindow {
			label = "The window of each day (22:00-06:00): "
		}
		out = append(out, draw.Line{draw.Text(themes.Key, label), draw.Text(themes.Strong, p.text), draw.Text(themes.Key, "_")})
		if p.wrong != "" {
			out = append(out, draw.Paragraph(themes.Bad, p.wrong, w)...)
		}
	}
	switch {
	case p.stop != nil:
		out = append(out, draw.One(themes.Moves, "Asking OpenStack how long the instances take "+m.look.Glyph.Ellipsis))
	case p.refused != "":
		out = append(out, draw.Paragraph(themes.Bad, "The evacuations were not forecast: "+p.refused, w)...)
	}
	if len(out) > 0 {
		out = append(out, draw.Line{})
	}
	return out
}

// handle takes what is typed.
func (p *untilPage) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	if p.typing == typesNothing {
		return p.find.typed(msg), nil
	}
	switch msg.String() {
	case "esc":
		p.typing = typesNothing
	case "enter":
		p.take(m)
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(p.text)
		p.text, p.wrong = p.text[:len(p.text)-n], ""
	case "ctrl+u":
		p.text, p.wrong = "", ""
	default:
		p.add(msg.Text)
	}
	return true, nil
}

// mostTyped is how long a time or a window can be, in bytes.
const mostTyped = 20

func (p *untilPage) add(text string) {
	out, fits := sanitise.Typed(p.text+text, mostTyped)
	switch {
	case text == "":
	case fits:
		p.text, p.wrong = out, ""
	default:
		p.wrong = "not taken: it would be longer than " + counted(mostTyped, "byte")
	}
}

func (p *untilPage) paste(m *Model, text string) tea.Cmd {
	if p.typing != typesNothing {
		p.add(text)
		return nil
	}
	return p.pager.paste(m, text)
}

// take takes over what was typed; an empty text asks for nothing.
func (p *untilPage) take(m *Model) {
	var err error
	switch {
	case p.typing == typesBefore:
		if p.text != "" && m.snap != nil {
			_, err = forecast.ParseTime(p.text, m.snap.Now)
		}
		if err == nil {
			p.before = p.text
		}
	default:
		var w forecast.Window
		if p.text != "" {
			w, err = forecast.ParseWindow(p.text)
		}
		if err == nil {
			p.window = w
		}
	}
	if err != nil {
		p.wrong = err.Error()
		return
	}
	p.typing = typesNothing
	p.offset = 0
}

// begin lets something be typed.
func (p *untilPage) begin(field untilField, text string) {
	p.typing, p.text, p.wrong, p.offset = field, text, "", 0
}

// evacuate asks for the forecast of the evacuations.
func (p *untilPage) evacuate(m *Model) tea.Cmd {
	p.leave()
	p.refused = ""
	p.asked++
	ctx, cancel := context.WithTimeout(m.ctx, planWithin)
	p.stop = cancel
	order, _ := forecast.Order(m.snap)
	backend, request, try := m.backend, evacuation.Request{Order: order}, p.asked
	return func() tea.Msg {
		defer cancel()
		plan, err := backend.ForecastEvacuation(ctx, request, func(string, int) {})
		return evacuatedMsg{p, try, plan, err}
	}
}

// arrive puts the evacuations' times on the page that asked for them.
func (msg evacuatedMsg) arrive(*Model) tea.Cmd {
	p := msg.page
	if msg.try != p.asked {
		return nil
	}
	p.stop = nil
	if msg.err != nil {
		p.refused = msg.err.Error()
		return nil
	}
	p.evacuation = &msg.plan
	return nil
}

// leave cancels a request that is under way.
func (p *untilPage) leave() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// save writes the page to a file in the folder where Lockstep was started.
func (p *untilPage) save(m *Model, kind string) tea.Cmd {
	save, d := m.opts.SaveFile, p.document(m)
	return func() tea.Msg {
		content := []byte(d.Markdown())
		if kind == "json" {
			var err error
			if content, err = d.JSON(); err != nil {
				return planSavedMsg{err: err}
			}
		}
		path, err := save(d.FileName(kind), content)
		return planSavedMsg{path, err}
	}
}

// untilActions work on the page.
func untilActions() []Action {
	with := func(f func(m *Model, p *untilPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*untilPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	scroll := func(by func(p *untilPage) int) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *untilPage) tea.Cmd { p.scrollBy(by(p)); return nil })
	}
	needFile := func(m *Model) string {
		if m.opts.SaveFile == nil {
			return "files cannot be written here"
		}
		return needSnapshot(m)
	}
	all := []Action{
		{ID: "until.close", Title: "Close the page", Short: "close", Keys: []string{"esc", "backspace"}, Footer: 1,
			run: with(func(m *Model, p *untilPage) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "until.before", Title: "Ask whether the update can rest before a time of day", Short: "rest before", Keys: []string{"b"}, Footer: 2,
			blocked: needSnapshot,
			run:     with(func(_ *Model, p *untilPage) tea.Cmd { p.begin(typesBefore, p.before); return nil })},
		{ID: "until.window", Title: "Divide the update over nights of a window", Short: "window", Keys: []string{"W"}, Footer: 3,
			blocked: needSnapshot,
			run:     with(func(_ *Model, p *untilPage) tea.Cmd { p.begin(typesWindow, p.window.String()); return nil })},
		{ID: "until.evacuations", Title: "Forecast the evacuation of each node, for the nights", Short: "evacuations", Keys: []string{"v"},
			Footer: 4, blocked: func(m *Model) string {
				if p, ok := m.top().(*untilPage); ok && p.window.IsZero() {
					return "it needs a window first: W"
				}
				return needSnapshot(m)
			}, run: with(func(m *Model, p *untilPage) tea.Cmd { return p.evacuate(m) })},
		{ID: "until.markdown", Title: "Write the page to a file as Markdown, readable by you alone", Short: "to Markdown", Keys: []string{"m"},
			Footer: 5, blocked: needFile, run: with(func(m *Model, p *untilPage) tea.Cmd { return p.save(m, "md") })},
		{ID: "until.json", Title: "Write the page to a file as JSON, readable by you alone", Short: "to JSON", Keys: []string{"J"}, Footer: 6,
			blocked: needFile, run: with(func(m *Model, p *untilPage) tea.Cmd { return p.save(m, "json") })},
		{ID: "until.copy", Title: "Copy the page as Markdown", Short: "copy", Keys: []string{"y", "c"}, blocked: needSnapshot,
			run: with(func(m *Model, p *untilPage) tea.Cmd { d := p.document(m); return m.copy(d.Markdown()) })},
		{ID: "until.down", Title: "Scroll down", Short: "down", Keys: []string{"down", "j", "enter"},
			run: scroll(func(*untilPage) int { return 1 })},
		{ID: "until.up", Title: "Scroll up", Short: "up", Keys: []string{"up", "k"}, run: scroll(func(*untilPage) int { return -1 })},
		{ID: "until.page.down", Title: "Scroll down a page", Short: "page down", Keys: []string{"pgdown", "space", "ctrl+f"},
			run: scroll(func(p *untilPage) int { return p.height - 1 })},
		{ID: "until.page.up", Title: "Scroll up a page", Short: "page up", Keys: []string{"pgup", "ctrl+u"},
			run: scroll(func(p *untilPage) int { return 1 - p.height })},
		{ID: "until.first", Title: "Go to the beginning", Short: "beginning", Keys: []string{"home", "g"},
			run: scroll(func(*untilPage) int { return -1 << 30 })},
		{ID: "until.last", Title: "Go to the end", Short: "end", Keys: []string{"end", "G"},
			run: scroll(func(*untilPage) int { return 1 << 30 })},
	}
	for i := range all {
		all[i].Scope = ScopeUntil
	}
	return append(all, findActions(ScopeUntil, "until", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*untilPage); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})...)
}

// documentLines are a document as the screen shows it.
func documentLines(d forecast.Document, w int) []draw.Line {
	out := draw.Paragraph(themes.Strong, d.Headline, w)
	for _, sec := range d.Sections {
		out = append(out, draw.Line{}, draw.One(themes.Strong, sec.Title))
		for _, text := range sec.Bad {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Warn, text, w-2))...)
		}
		for _, text := range sec.Good {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Good, text, w-2))...)
		}
		out = append(out, draw.Inset(2, rowLines(sec.Head, sec.Rows, w-2))...)
		for _, text := range sec.Lines {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Dim, text, w-2))...)
		}
	}
	return out
}

// leastColumn is how narrow a column may get before its row is drawn as a list instead.
const leastColumn = 12

// rowLines are a table without a cursor. Where it is too wide, the widest column wraps, at spaces as long as that is enough.
func rowLines(head []string, rows [][]string, w int) []draw.Line {
	if len(head) == 0 {
		return nil
	}
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], draw.Width(c))
		}
	}
	const between = 2
	for _, whole := range []bool{true, false} { // words are broken only where nothing else helps
		least := make([]int, len(head))
		for i := range least {
			least[i] = leastColumn
			for _, row := range rows {
				if !whole || i >= len(row) {
					continue
				}
				for word := range strings.FieldsSeq(row[i]) {
					least[i] = max(least[i], draw.Width(word))
				}
			}
		}
		for {
			all, widest := between*(len(widths)-1), -1
			for i, n := range widths {
				all += n
				if n > least[i] && (widest < 0 || n > widths[widest]) {
					widest = i
				}
			}
			if all <= w || widest < 0 {
				break
			}
			widths[widest] = max(widths[widest]-(all-w), least[widest], min(nextWidest(widths, widest), widths[widest])-1)
		}
	}
	line := func(row []string, tone, first themes.Token) []draw.Line {
		cells, height := make([][]string, len(row)), 1
		for i, c := range row {
			cells[i] = draw.Wrap(c, widths[i])
			height = max(height, len(cells[i]))
		}
		out := make([]draw.Line, height)
		for y := range out {
			for i := range row {
				text := ""
				if y < len(cells[i]) {
					text = cells[i][y]
				}
				t := tone
				if i == 0 {
					t = first
				}
				cell := draw.One(t, text)
				if i+1 < len(row) {
					cell = append(cell.Fit(widths[i], false), draw.Blank(between))
				}
				out[y] = append(out[y], cell...)
			}
			out[y] = out[y].Cut(w)
		}
		return out
	}
	out := line(head, themes.Dim, themes.Dim)
	for _, row := range rows {
		out = append(out, line(row, themes.Text, themes.Text)...)
	}
	return out
}

// nextWidest is the width of the widest column but one.
func nextWidest(widths []int, but int) int {
	most := 0
	for i, n := range widths {
		if i != but {
			most = max(most, n)
		}
	}
	return most
}
