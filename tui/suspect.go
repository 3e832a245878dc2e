package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
)

// suspicions are what the page of an entry has found out of the rows of the table of causes that only a log can tell. The logs are read
// once each time the page is opened.
type suspicions struct {
	asked map[core.DiagnosisID]suspicion
	stops []context.CancelFunc
}

// suspicion is how it stands about one row.
type suspicion struct {
	of    core.Suspect
	done  bool
	found bool
	line  core.LogLine
	err   error
}

// suspectMsg is the answer to one reading of a log.
type suspectMsg struct {
	page   *entryPage
	answer suspicion
}

// suspect reads the logs that could tell why an entry does not go on, and have not been read yet.
func (p *entryPage) suspect(m *Model) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range p.a.Suspects {
		if _, asked := p.logs.asked[s.Diagnosis.ID]; asked || m.opts.Looker == nil {
			continue
		}
		if p.logs.asked == nil {
			p.logs.asked = map[core.DiagnosisID]suspicion{}
		}
		p.logs.asked[s.Diagnosis.ID] = suspicion{of: s}
		ctx, cancel := context.WithCancel(m.ctx)
		p.logs.stops = append(p.logs.stops, cancel)
		looker := m.opts.Looker
		cmds = append(cmds, func() tea.Msg {
			defer cancel()
			out := suspicion{of: s, done: true}
			out.line, out.found, out.err = s.Find(ctx, looker)
			return suspectMsg{p, out}
		})
	}
	return tea.Batch(cmds...)
}

// leave ends what is being read.
func (p *entryPage) leave() {
	for _, stop := range p.logs.stops {
		stop()
	}
	p.logs.stops = nil
}

func (msg suspectMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	p.logs.asked[msg.answer.of.Diagnosis.ID] = msg.answer
	p.a = p.withLogs(p.a)
	p.ways.Set(p.waysOn(m), m.snap.Revision)
	return nil
}

// withLogs is an entry with what the logs have told of it.
func (p *entryPage) withLogs(a core.Attention) core.Attention {
	for _, s := range a.Suspects {
		if got := p.logs.asked[s.Diagnosis.ID]; got.found {
			a = got.of.Told(a, got.line)
		}
	}
	return a
}

// toldByLog tells whether a log has told the row of the entry.
func (p *entryPage) toldByLog() bool {
	for _, s := range p.a.Suspects {
		if p.logs.asked[s.Diagnosis.ID].found {
			return true
		}
	}
	return false
}

// readings says how it stands about the logs that have told nothing.
func (p *entryPage) readings(m *Model) []told {
	var out []told
	for _, s := range p.a.Suspects {
		got, asked := p.logs.asked[s.Diagnosis.ID]
		var e *core.APIError
		switch {
		case !asked || got.found:
		case !got.done:
			out = append(out, told{s.Of(), s.Label() + " is being read" + m.look.Glyph.Ellipsis, themes.Moves})
		case errors.As(got.err, &e) && e.Kind == core.ErrNotFound:
			out = append(out, told{s.Of(), s.Label() + ": there is no such pod", themes.Dim})
		case got.err != nil:
			out = append(out, told{s.Of(), s.Label() + " cannot be read: " + got.err.Error(), themes.Warn})
		default:
			out = append(out, told{s.Of(), s.Label() + " says nothing of a known issue", themes.Dim})
		}
	}
	return out
}
