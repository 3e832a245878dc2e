package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/evacuation"
	"lockstep/core/forecast"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeCheck is the checklist.
const ScopeCheck Scope = "check"

// CheckStore keeps the checks of a cluster that were made earlier. Its methods are called from commands, never while the screen is drawn.
type CheckStore interface {
	// Keep keeps a check for later, unless an update runs.
	Keep(checklist.Report) error
	// Before is the last check before the update that the report follows; false when there is none.
	Before(checklist.Report) (checklist.Report, bool)
}

// checkPage is the checklist: what speaks against an update, and what an update broke. Its points follow each Snapshot; the room is
// judged by a forecast that is made when the page opens.
type checkPage struct {
	report  checklist.Report
	made    bool // report is there
	making  bool // a new one is being made
	anew    bool // and another one is to follow
	keepIt  bool // the next one is to be kept: it knows the room
	room    checklist.Room
	asking  bool
	try     int
	stop    context.CancelFunc
	earlier *checklist.Report // the last one before the update; nil when there is none
	sought  *checkEpoch       // by what it was looked for one; nil: it was not
	alone   bool              // an update is known, and there is none
	worse   map[string]checklist.Change
	unlike  []string // the IDs of points that were not known then, or not wholly
	every   bool     // points that pass are shown, too
	rows    *table.Table[checkRow]
}

// checkRow is a point with the first thing that speaks against it, or one more such thing.
type checkRow struct {
	id      string
	point   checklist.Point
	finding *checklist.Finding // nil where nothing speaks against the point
	more    bool               // the point itself stands above
	text    string
}

// impact is what suffers, where something does.
func (r checkRow) impact() string {
	if r.more || r.point.Verdict == checklist.Pass {
		return ""
	}
	return string(r.point.Impact)
}

// checkAge is how old the shown points may be: a large cloud is not gone through for each Snapshot.
const checkAge = 2 * time.Second

// checkEpoch is what says which check was the last one before the update. Right after the start it is not known yet.
type checkEpoch struct {
	began   time.Time // Report.Began
	release string    // Report.Release
}

// checkMadeMsg is the checklist of a Snapshot.
type checkMadeMsg struct {
	page   *checkPage
	report checklist.Report
}

// checkRoomMsg is the forecast by which the page judges the room.
type checkRoomMsg struct {
	page *checkPage
	try  int
	plan evacuation.Forecast
	err  error
}

// checkEarlierMsg is the last check before the update.
type checkEarlierMsg struct {
	page    *checkPage
	earlier *checklist.Report
}

// checkKeptMsg is the result of keeping a check.
type checkKeptMsg struct{ err error }

// checkSavedMsg is the result of writing a check to a file.
type checkSavedMsg struct {
	path string
	err  error
}

// openCheck opens the checklist.
func (m *Model) openCheck() tea.Cmd {
	p := &checkPage{room: checklist.Room{Why: "OpenStack is being asked"}}
	p.rows = &table.Table[checkRow]{
		ID:   func(r checkRow) string { return r.id },
		Name: func(r checkRow) string { return r.point.Title },
		Columns: []table.Column[checkRow]{
			{Width: 11, Cell: func(r checkRow) draw.Line {
				if r.more {
					return draw.Line{}
				}
				return verdictMark(m.look.Glyph, r.point.Verdict).spans(string(r.point.Verdict))
			}},
			{Width: 8, Most: 18, Share: 20, Measure: func(r checkRow) int { return draw.Width(r.point.ID) }, Cell: func(r checkRow) draw.Line {
				if r.more {
					return draw.Line{}
				}
				return draw.One(themes.Strong, r.point.ID)
			}},
			{Width: 4, Most: 11, Share: 12, Measure: func(r checkRow) int { return draw.Width(r.impact()) }, Cell: func(r checkRow) draw.Line {
				return draw.One(themes.Dim, r.impact())
			}},
			{Width: 12, Grow: true, Cell: func(r checkRow) draw.Line {
				var worse draw.Line
				if c, ok := p.worse[r.point.ID]; ok && !r.more {
					worse = draw.One(themes.Needs, c.Word()+": ")
				}
				return worse.And(themes.Text, named(m.snap, r.text))
			}},
		},
	}
	m.open(p)
	return tea.Batch(p.make(m), p.ask(m))
}

// make has the checklist made of the newest Snapshot, beside the screen's loop: a large cloud is gone through in a tenth of a second.
func (p *checkPage) make(m *Model) tea.Cmd {
	if p.making {
		p.anew = true
		return nil
	}
	p.making, p.anew = true, false
	snap, room := m.snap, p.room
	return func() tea.Msg { return checkMadeMsg{p, checklist.Of(snap, room)} }
}

// arrive shows the checklist that was made.
func (msg checkMadeMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	p.making, p.made, p.report = false, true, msg.report
	gone := p.take(m)
	var cmds []tea.Cmd
	if by := (checkEpoch{msg.report.Began, msg.report.Release}); p.sought == nil || p.earlier == nil && *p.sought != by {
		p.sought = &by
		cmds = append(cmds, p.askEarlier(m))
	}
	if gone != "" && m.top() == p {
		cmds = append(cmds, m.say(toneWarn, "gone: "+gone))
	}
	if p.anew {
		cmds = append(cmds, p.make(m))
	}
	if p.keepIt && !p.anew {
		p.keepIt = false
		cmds = append(cmds, p.keep(m))
	}
	return tea.Batch(cmds...)
}

// take shows the report, and compares it with the earlier one.
func (p *checkPage) take(m *Model) (gone string) {
	p.worse, p.unlike = map[string]checklist.Change{}, nil
	if p.earlier != nil {
		c := p.report.With(p.earlier)
		p.unlike, p.report.After = c.NotCompared, c.After
		for _, c := range c.Since {
			if c.Broke() {
				p.worse[c.ID] = c
			}
		}
	}
	return p.rows.Set(p.rowsOf(), m.snap.Revision)
}

// mostFindings is how many findings of a point have rows of their own.
const mostFindings = 50

// rowsOf are the points, the worst first, each with its findings below it where it has several.
func (p *checkPage) rowsOf() []checkRow {
	var out []checkRow
	for _, point := range p.report.Points {
		if point.Verdict == checklist.Pass && !p.every {
			continue
		}
		if len(point.Findings) == 0 {
			out = append(out, checkRow{id: point.ID, point: point, text: point.Text()})
		}
		for i, group := range point.Groups() {
			f := group[0]
			id := point.ID + "/" + cmp.Or(f.Key, f.Of+"/"+f.Says) // not by its text, which can hold a time
			if len(group) > 1 {
				id = point.ID + "//" + f.Says // one of them can go, and the others stay
			}
			out = append(out, checkRow{id: id, point: point, finding: &f, more: i > 0, text: checklist.GroupText(group)})
			if i == mostFindings {
				break
			}
		}
	}
	return out
}

// ask has OpenStack asked for what the point about room needs.
func (p *checkPage) ask(m *Model) tea.Cmd {
	p.leave()
	p.try++
	p.asking = true
	ctx, cancel := context.WithTimeout(m.ctx, planWithin)
	p.stop = cancel
	backend, try := m.backend, p.try
	order, _ := forecast.Order(m.snap)
	return func() tea.Msg {
		defer cancel()
		plan, err := backend.ForecastEvacuation(ctx, evacuation.Request{Order: order}, func(string, int) {})
		return checkRoomMsg{p, try, plan, err}
	}
}

// askEarlier looks for the last check before the update.
func (p *checkPage) askEarlier(m *Model) tea.Cmd {
	store, r := m.opts.Checks, p.report
	if store == nil {
		return nil
	}
	return func() tea.Msg {
		if earlier, ok := store.Before(r); ok {
			return checkEarlierMsg{p, &earlier}
		}
		return checkEarlierMsg{p, nil}
	}
}

// keep keeps the check for a comparison after the update.
func (p *checkPage) keep(m *Model) tea.Cmd {
	store, r := m.opts.Checks, p.report
	if store == nil || r.Update {
		return nil
	}
	return func() tea.Msg { return checkKeptMsg{store.Keep(r)} }
}

func (p *checkPage) leave() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// arrive judges the room by the forecast that came.
func (msg checkRoomMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	if msg.try != p.try {
		return nil
	}
	p.asking = false
	p.room = checklist.Room{Forecast: &msg.plan}
	if msg.err != nil {
		p.room = checklist.Room{Why: core.Redact(msg.err.Error())}
	}
	p.keepIt = true
	return p.make(m)
}

// arrive compares with the check before the update.
func (msg checkEarlierMsg) arrive(m *Model) tea.Cmd {
	msg.page.earlier, msg.page.alone = msg.earlier, msg.earlier == nil && !msg.page.report.Began.IsZero()
	msg.page.take(m)
	return nil
}

// arrive says why a check was not kept.
func (msg checkKeptMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneWarn, "this check was not kept for a comparison after the update: "+msg.err.Error())
	}
	return nil
}

// arrive says whether the check was written to a file.
func (msg checkSavedMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "the check was not written: "+msg.err.Error())
	}
	return m.say(toneInfo, "written, for you alone: "+msg.path)
}

func (*checkPage) scope() Scope                                   { return ScopeCheck }
func (*checkPage) page() bool                                     { return true }
func (*checkPage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (p *checkPage) refresh(m *Model) tea.Cmd {
	if p.making || p.made && m.snap.Wall.Sub(p.report.Made) < checkAge && !m.snap.Wall.Before(p.report.Made) {
		return nil
	}
	return p.make(m)
}

// enter opens what settles the selected row: its entry, or its steps.
func (p *checkPage) enter(m *Model) tea.Cmd {
	row, ok := p.rows.Current()
	if !ok {
		return nil
	}
	switch f := row.finding; {
	case row.point.ID == "users-writes":
		return m.openEveryOwner()
	case row.point.ID == "room" && f != nil && f.Resolve != nil:
		return m.openPlan([]string{f.Resolve.Subject})
	case row.point.ID == "room":
		return m.openPlan(nil)
	case f != nil && f.Entry != "":
		return m.openEntry(f.Entry)
	case f != nil && f.Resolve != nil:
		return m.openProcedure(*f.Resolve)
	case row.point.Resolve != nil:
		return m.openProcedure(*row.point.Resolve)
	case row.point.Verdict == checklist.Pass:
		return m.say(toneInfo, "there is nothing to do: it passes")
	}
	return m.say(toneInfo, "Lockstep has no step for it: what to do is below")
}

// leads tells what enter opens, in a few words.
func (p *checkPage) leads(row checkRow) string {
	switch f := row.finding; {
	case row.point.ID == "users-writes":
		return "enter opens the notes for all projects"
	case row.point.ID == "room" && f != nil && f.Resolve != nil:
		return "enter plans its evacuation"
	case row.point.ID == "room":
		return "enter plans the evacuations"
	case f != nil && f.Entry != "":
		return "enter opens its page"
	case f != nil && f.Resolve != nil, row.point.Resolve != nil:
		return "enter opens the steps"
	}
	return ""
}

// checkActions work on the checklist.
func checkActions() []Action {
	with := func(f func(m *Model, p *checkPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*checkPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	all := []Action{
		{ID: "check.open", Title: "Open what settles the selected row: its entry, or its steps", Short: "go on", Keys: []string{"enter"},
			Footer: 1, run: with(func(m *Model, p *checkPage) tea.Cmd { return p.enter(m) })},
		{ID: "check.every", Title: "Show the points that pass, too, or only the others", Short: "every point", Keys: []string{"a"}, Footer: 2,
			run: with(func(m *Model, p *checkPage) tea.Cmd { p.every = !p.every; p.take(m); return nil })},
		{ID: "check.again", Title: "Check again, and ask OpenStack for the room anew", Short: "anew", Keys: []string{"r"}, Footer: 3,
			run: with(func(m *Model, p *checkPage) tea.Cmd { p.sought = nil; return tea.Batch(p.make(m), p.ask(m)) })},
		{ID: "check.copy", Title: "Copy what the selected row says", Short: "copy", Keys: []string{"c", "y"}, Footer: 4,
			run: with(func(m *Model, p *checkPage) tea.Cmd {
				row, ok := p.rows.Current()
				if !ok {
					return nil
				}
				var all []string
				for _, l := range p.detail(m, 1<<12) {
					text := strings.TrimRight(l.Text(), " ")
					if strings.TrimSpace(text) != p.leads(*row) { // that is about a key
						all = append(all, text)
					}
				}
				return m.copy(joined(all))
			})},
		{ID: "check.json", Title: "Write the check to a file as JSON, readable by you alone", Short: "to JSON", Keys: []string{"J"}, Footer: 5,
			blocked: func(m *Model) string {
				if m.opts.SaveFile == nil {
					return "files cannot be written here"
				}
				return ""
			}, run: with(func(m *Model, p *checkPage) tea.Cmd { return p.save(m) })},
		{ID: "check.close", Title: "Go back", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 6,
			run: with(func(m *Model, p *checkPage) tea.Cmd { p.leave(); m.close(p); return nil })},
	}
	for _, mv := range []struct {
		id, title, short string
		keys             []string
		run              func(t *table.Table[checkRow])
	}{
		{"down", "Go down a row", "down", []string{"down", "j"}, func(t *table.Table[checkRow]) { t.MoveBy(1) }},
		{"up", "Go up a row", "up", []string{"up", "k"}, func(t *table.Table[checkRow]) { t.MoveBy(-1) }},
		{"page.down", "Go down a page", "page down", []string{"pgdown"}, func(t *table.Table[checkRow]) { t.MoveBy(t.Page()) }},
		{"page.up", "Go up a page", "page up", []string{"pgup"}, func(t *table.Table[checkRow]) { t.MoveBy(-t.Page()) }},
		{"first", "Go to the first row", "first", []string{"home", "g"}, func(t *table.Table[checkRow]) { t.GoTo(0) }},
		{"last", "Go to the last row", "last", []string{"end", "G"}, func(t *table.Table[checkRow]) { t.MoveBy(1 << 30) }},
	} {
		all = append(all, Action{ID: "check." + mv.id, Title: mv.title, Short: mv.short, Keys: mv.keys,
			run: with(func(_ *Model, p *checkPage) tea.Cmd { mv.run(p.rows); return nil })})
	}
	for i := range all {
		all[i].Scope = ScopeCheck
	}
	return all
}

// save writes the check to a file in the folder where Lockstep was started.
func (p *checkPage) save(m *Model) tea.Cmd {
	save, c := m.opts.SaveFile, p.report.With(p.earlier)
	return func() tea.Msg {
		content, err := c.JSON()
		if err != nil {
			return checkSavedMsg{err: err}
		}
		path, err := save(c.FileName(), content)
		return checkSavedMsg{path, err}
	}
}

func (p *checkPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.rows.MoveBy(wheel(at.Button))
	return nil
}
