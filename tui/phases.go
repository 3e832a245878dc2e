package tui

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// ScopePhases is the pane of the phases.
const ScopePhases Scope = "phases"

// phaseRow is a phase, or a part of one below it.
type phaseRow struct {
	phase core.Phase
	part  *core.PhaseLine
}

// phasesPane is the five phases of the cluster update, with their evidence.
type phasesPane struct {
	tablePane[phaseRow]
	chosen bool // the operator has been here: the cursor no longer follows the phase that runs
}

func newPhasesPane() pane {
	p := &phasesPane{}
	s := &p.scene
	p.Table = &table.Table[phaseRow]{
		ID: func(r phaseRow) string {
			if r.part != nil {
				return fmt.Sprint(r.phase.ID, "/", r.part.Label)
			}
			return fmt.Sprint(r.phase.ID)
		},
		Name: func(r phaseRow) string {
			if r.part != nil {
				return r.part.Label
			}
			return r.phase.Title
		},
		Columns: []table.Column[phaseRow]{
			{Width: 18, Grow: true, Cell: func(r phaseRow) draw.Line { return draw.Join(2, phaseText(s, r), phaseTime(s, r)) },
				Fill: func(r phaseRow, w int) draw.Line {
					left, right := phaseText(s, r), phaseTime(s, r)
					if left.Width()+right.Width() >= w && r.part == nil && r.phase.Total > 0 {
						left = left[:min(len(left), 2)] // the count is dropped before the title is cut
					}
					return draw.Apart(left, right, w)
				}},
		},
	}
	return p
}

func phaseText(s *scene, r phaseRow) draw.Line {
	k := phaseMark(s.look.Glyph, r.phase.State)
	if r.part != nil {
		tone := phaseMark(s.look.Glyph, r.part.State).tone
		if r.part.State == core.PhaseDone || r.part.State == core.PhasePending || r.phase.State == core.PhaseDone {
			tone = themes.Dim
		}
		return draw.Line{draw.Text(themes.Dim, fmt.Sprintf("   %-9s ", sanitise.Text(r.part.Label, 64))), draw.Text(tone, r.part.Text)}
	}
	tone := themes.Text
	switch r.phase.State {
	case core.PhasePending, core.PhaseDone:
		tone, k.tone = themes.Dim, themes.Dim
	case core.PhaseRunning:
		tone = themes.Strong
	case core.PhaseWaiting:
		tone = themes.Needs
	case core.PhaseStuck:
		tone = themes.Bad
	}
	out := draw.Line{draw.Text(k.tone, k.glyph), draw.Text(tone, fmt.Sprintf(" %d %s", r.phase.ID, r.phase.Title))}
	switch {
	case r.phase.State == core.PhaseWaiting || r.phase.State == core.PhaseStuck:
		word := "stuck"
		if r.phase.State == core.PhaseWaiting {
			word = "waiting"
		}
		out = out.And(k.tone, "  "+word)
	case r.phase.Total > 0 && r.phase.State != core.PhasePending:
		out = out.And(themes.Dim, fmt.Sprintf("  %d/%d", r.phase.Done, r.phase.Total))
	}
	return out
}

func phaseTime(s *scene, r phaseRow) draw.Line {
	if r.part != nil {
		text := s.now.since(r.part.Since)
		if text != "" && r.part.Limit > 0 && r.part.State != core.PhaseDone && s.now.longer(r.part.Since.At, r.part.Limit) {
			return draw.One(themes.Warn, text)
		}
		return draw.One(themes.Dim, text)
	}
	switch {
	case r.phase.State == core.PhasePending || !r.phase.Timed():
		return nil
	case r.phase.ID == core.PhaseTrigger:
		return draw.One(themes.Dim, s.now.clock(r.phase.Started.At))
	}
	now := s.now.at
	if r.phase.Ended.At.IsZero() {
		now = r.phase.Started.At.Add(s.now.elapsed(r.phase.Started.At))
	}
	took := r.phase.Elapsed(now)
	if took < time.Second && r.phase.State == core.PhaseDone && !r.phase.Started.Exact {
		return nil // nobody watched it, and longer than nothing says nothing
	}
	text := phaseTook(r.phase, now)
	if r.phase.State == core.PhaseDone {
		return draw.One(themes.Dim, text)
	}
	return draw.Plain(text)
}

func (p *phasesPane) refresh() string {
	var rows []phaseRow
	now := ""
	for _, ph := range progress.Phases(p.snap) {
		rows = append(rows, phaseRow{phase: ph})
		if ph.State != core.PhasePending && ph.State != core.PhaseDone && now == "" {
			now = fmt.Sprint(ph.ID)
		}
		for i := range ph.Lines {
			rows = append(rows, phaseRow{ph, &ph.Lines[i]})
		}
	}
	p.Set(rows, p.snap.Revision)
	if p.chosen = p.chosen || p.focus == ScopePhases; !p.chosen && now != "" {
		p.Choose(now)
	}
	return ""
}

// drawRows draws the phases, and below them what the selected one rests on.
func (p *phasesPane) drawRows(w, h int, focused, old bool) []string {
	r, ok := p.Current()
	if !ok || len(r.phase.Evidence) == 0 {
		return p.Draw(p.look, w, h, focused, old)
	}
	n := min(len(p.Rows()), max(h-3, h/2))
	out := p.Draw(p.look, w, n, focused, old)
	over := draw.AsItIs
	if old {
		over = draw.Stale
	}
	below := evidenceLines(&p.scene, r.phase.Evidence, max(w-1, 10), h-len(out))
	if room := h - len(out); room > len(below) {
		out = append(out, p.look.Draw(nil, w, draw.AsItIs))
	}
	for _, l := range below {
		out = append(out, p.look.Draw(l, w, over))
	}
	return out
}

// evidenceLines are a phase's evidence in at most h lines: all of it where there is room, else the beginning of each piece. Cuts
// are marked.
func evidenceLines(s *scene, evidence []string, w, h int) []draw.Line {
	const least = 2 // lines of each piece
	more := s.look.Glyph.Ellipsis
	var out []draw.Line
	for _, whole := range []bool{true, false} {
		out = []draw.Line{draw.One(themes.Dim, " because")}
		for _, e := range evidence {
			lead := " " + s.look.Glyph.Dot + " "
			parts := draw.Wrap(sanitise.Row(named(s.snap, e)), max(w-3, 7))
			if !whole && len(parts) > least {
				parts = parts[:least:least]
				parts[least-1] = draw.One(themes.Dim, parts[least-1]+" "+more).Cut(max(w-3, 7)).Text()
			}
			for _, part := range parts {
				out = append(out, draw.One(themes.Dim, lead+part))
				lead = "   "
			}
		}
		if len(out) <= h {
			break
		}
	}
	if len(out) <= h {
		if short := shortFor(strings.Join(evidence, " ")); short != "" {
			if lines := draw.Paragraph(themes.Dim, short, max(w-1, 8)); len(out)+1+len(lines) <= h {
				out = append(append(out, draw.Line{}), draw.Inset(1, lines)...)
			}
		}
		return out
	}
	if h < 1 {
		return nil
	}
	out = out[:h]
	last := strings.TrimSuffix(out[h-1].Text(), " "+more)
	out[h-1] = draw.One(themes.Dim, last+" "+more).Cut(w)
	return out
}

func (p *phasesPane) name() string    { return "Phases" }
func (p *phasesPane) note() draw.Line { return nil }
func (p *phasesPane) empty() string   { return "No update runs." }

func (p *phasesPane) explain() string { return "" } // its rows show everything

func (p *phasesPane) subject() subject {
	r, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureCluster}, update: true, name: r.phase.Title,
		command: "kubectl get clustermaintenancerequests,clusterworkloadlocks"}
}

func (p *phasesPane) entered() { p.chosen = p.chosen || p.snap != nil }

// phaseActions work in the phases; they concern the cluster as a whole.
func phaseActions() []Action {
	cluster := func(a Action, kind core.IntentKind) Action {
		a.Scope, a.Intent = ScopePhases, []core.IntentKind{kind}
		return inPane(a, (*phasesPane).needManagement, func(*phasesPane) request { return confirmStep{core.Intent{Kind: kind}} })
	}
	actions := []Action{
		inPane(Action{ID: "cluster.maintenance", Title: "Open the steps of maintenance without an update: maintenance mode, graceful reboots",
			Short: "maintenance", Scope: ScopePhases, Keys: []string{"m"}, Footer: 10}, (*phasesPane).needManagement,
			func(*phasesPane) request { return openSteps{core.ProcedureKey{Kind: core.ProcedureMaintenance}} }),
		inPane(Action{ID: "update.drive", Title: "Open the steps that drive the update: commence the plan's next step, hold, go on after a pause",
			Short: "drive", Scope: ScopePhases, Keys: []string{"u"}, Footer: 9,
			Intent: []core.IntentKind{core.IntentCommence, core.IntentUncommence, core.IntentSetRelease}}, (*phasesPane).needManagement,
			func(*phasesPane) request { return openSteps{*procedure.UpdateKey()} }),
		inPane(Action{ID: "update.alerts", Title: "Set the alerts that pause the update: make, change or remove the UpdateAutoPause",
			Short: "alerts that pause", Scope: ScopePhases, Intent: []core.IntentKind{core.IntentSetAutoPause}}, (*phasesPane).needManagement,
			func(p *phasesPane) request { return openForm{newAlertsForm(p.snap)} }),
		cluster(Action{ID: "cluster.maintenance.enter", Title: "Put the cluster into maintenance mode", Short: "enter maintenance"},
			core.IntentEnterCluster),
		cluster(Action{ID: "cluster.maintenance.leave", Title: "Take the cluster out of maintenance mode", Short: "leave maintenance"},
			core.IntentLeaveCluster),
		inPane(Action{ID: "cluster.ask", Title: "Ask for the cluster's maintenance by hand, without an update and without the management cluster",
			Short: "ask for maintenance", Scope: ScopePhases, Intent: []core.IntentKind{core.IntentAskCluster}}, (*phasesPane).needSnapshot,
			func(p *phasesPane) request { return openForm{newClusterForm(p.snap)} }),
	}
	return append(actions, groupActions()...)
}
