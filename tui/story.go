package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// story is the lines of the journal, the newest first by the times that they tell, as far as they were read. What shows it asks for more.
type story struct {
	lines []historyRow // at most most
	most  int
	seq   int64           // the highest number of a line
	came  uint64          // counts the times that lines came
	made  map[string]bool // what was reconstructed, by what it is of: the rest is told by one line each

	stop    context.CancelFunc
	reading bool
	read    bool // once
	asked   time.Time
	trouble string // why the journal cannot be read
}

// linesMsg is what the journal has that is new.
type linesMsg struct {
	story *story
	rows  []historyRow
	err   error
}

// linesEvery is how often a story that is shown looks for new lines.
const linesEvery = time.Second

// ask reads what is new in the journal, unless that is under way.
func (s *story) ask(m *Model) tea.Cmd {
	if s.reading {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	s.reading, s.asked, s.stop = true, m.now(), cancel
	backend, snap, after, most := m.backend, m.snap, s.seq, s.most
	return func() tea.Msg {
		defer cancel()
		lines, err := backend.Lines(ctx, after, most)
		return linesMsg{s, historyRows(snap, lines, after), err}
	}
}

// follow asks when it is time for that.
func (s *story) follow(m *Model) tea.Cmd {
	if since := m.now().Sub(s.asked); since >= linesEvery || since < 0 {
		return s.ask(m)
	}
	return nil
}

// leave ends a read that is under way.
func (s *story) leave() {
	if s.stop != nil {
		s.stop()
	}
}

// historyRows are the rows of lines that come after a number, in the order of the story. It is called from a command: 50,000 lines take a
// while.
func historyRows(s *core.Snapshot, lines []core.JournalLine, after int64) []historyRow {
	rows := make([]historyRow, 0, len(lines))
	for i, l := range lines {
		id := "line/" + itoa(int(l.Seq))
		if l.Seq == 0 { // of an older version: they are all read at first
			if after > 0 {
				continue
			}
			id = fmt.Sprint("old/", len(lines)-i)
		}
		rows = append(rows, historyRow{id: id, line: l, search: searchText(s, l)})
	}
	// They come in the order in which they were written: what must last before it is told, and what was reconstructed, too late.
	slices.SortStableFunc(rows, func(a, b historyRow) int { return b.line.At.Compare(a.line.At) })
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n].line.At.Equal(rows[i].line.At) {
			n++
		}
		if n > 1 {
			core.InTurn(rows[i:i+n], func(r historyRow) (object, from, to string) {
				if r.line.Kind != core.LineStage || r.line.After == "" {
					return "", "", ""
				}
				return r.line.Node, r.line.After, r.line.Before // the newest first
			})
		}
		i += n
	}
	return rows
}

// merged are rows with fresh ones, the newest first. Of those of the same time the fresh ones were written later.
func merged(fresh, rows []historyRow) []historyRow {
	out := make([]historyRow, 0, len(fresh)+len(rows))
	for len(fresh) > 0 && len(rows) > 0 {
		if rows[0].line.At.After(fresh[0].line.At) {
			out, rows = append(out, rows[0]), rows[1:]
		} else {
			out, fresh = append(out, fresh[0]), fresh[1:]
		}
	}
	return append(append(out, fresh...), rows...)
}

// once finds the lines that tell again what another line tells, of what fresh lines are of: what was found when Lockstep began to look
// again, and then reconstructed. Nothing else is told twice in one journal, and 50,000 lines are not looked through for it.
func (s *story) once(fresh []historyRow) {
	touched := false
	for _, r := range fresh {
		if r.line.Known == core.KnownByAPI && r.line.About != "" {
			if s.made == nil {
				s.made = map[string]bool{}
			}
			s.made[r.line.About] = true
		}
	}
	for _, r := range fresh {
		touched = touched || s.made[r.line.About]
	}
	if !touched {
		return
	}
	tellings := make([]core.Telling, len(s.lines))
	for i := range s.lines { // the oldest first
		t := s.lines[len(s.lines)-1-i].line.Telling()
		if !s.made[t.About] {
			t.About = "" // its run looked then
		}
		tellings[i] = t
	}
	for i, again := range core.Retold(tellings)[0] {
		s.lines[len(s.lines)-1-i].again = again
	}
}

// arrive adds what is new, and what shows the story takes it in. What is older than the most that are kept is dropped.
func (msg linesMsg) arrive(m *Model) tea.Cmd {
	s := msg.story
	s.reading, s.read, s.trouble = false, true, ""
	if msg.err != nil {
		s.trouble = msg.err.Error()
	}
	if fresh := msg.rows; len(fresh) > 0 {
		for _, r := range fresh {
			s.seq = max(s.seq, r.line.Seq)
		}
		s.lines = merged(fresh, s.lines)
		s.lines = s.lines[:min(len(s.lines), s.most)]
		s.once(fresh)
		s.came++
	}
	if s == m.story {
		m.pane(ScopeLog).refresh()
		return nil
	}
	for _, l := range m.layers {
		if p, ok := l.(*historyPage); ok && &p.story == s {
			p.arrange(m)
		}
	}
	return nil
}

// mostLogLines is how many lines of the journal the log has; the page of the history has all of them.
const mostLogLines = 300

// followLog asks for the log's lines while the log is seen.
func (m *Model) followLog() tea.Cmd {
	if m.backend == nil || m.snap == nil || !m.seesLog() {
		return nil
	}
	return m.story.follow(m)
}

// seesLog tells whether the log is on the screen, or the page of it.
func (m *Model) seesLog() bool {
	if p, ok := m.top().(*pager); ok && p.title(m) == logTitle {
		return true
	}
	for _, a := range m.areas {
		if a.id == ScopeLog {
			return true
		}
	}
	return false
}

// retell forgets the log's lines where the time of the cluster has gone back, as it does in a recording.
func (m *Model) retell(before, now *core.Snapshot) {
	if before == nil || !now.Now.Before(before.Now) || len(m.story.lines) == 0 {
		return
	}
	m.story.leave()
	m.story = &story{most: mostLogLines, came: m.story.came + 1}
}

// lineWhat is what a line of the journal tells, with who did it.
func lineWhat(s *core.Snapshot, r historyRow) draw.Line {
	l := r.line
	tone := r.tone
	if tone == "" {
		tone = themes.Text
	}
	if o := core.OperationState(l.State); o == core.OperationFailed || o == core.OperationUnknown {
		tone = themes.Bad
	}
	out := draw.One(tone, named(s, l.What))
	if l.Why != "" {
		out = out.And(themes.Dim, "  "+named(s, l.Why))
	}
	return out
}
