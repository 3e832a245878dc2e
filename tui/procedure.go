package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
)

// procedurePage is the steps that take something from where it is to where it should be, computed anew from every
// Snapshot: what is done is done because the cluster says so.
type procedurePage struct {
	key   core.ProcedureKey
	proc  core.Procedure
	known bool
	steps *table[core.Step]
	next  string // ID of the first step that can be confirmed: what comes next
	// By step ID the alternative that was turned to, by its own ID: the ways to an end change while it is looked at, and another
	// one must not take the chosen one's place. None: the step itself.
	way map[string]string
}

// openSteps opens the steps of what is selected; where there are none, what is known of it.
func (m *Model) openSteps() tea.Cmd {
	s := m.panes[m.focus].subject(m)
	if s.procedure == nil || m.focus == paneLog { // an entry of the log is what was done, not what can be done
		return m.inspect()
	}
	return m.openProcedure(*s.procedure)
}

func (m *Model) openProcedure(key core.ProcedureKey) tea.Cmd {
	proc, ok := m.snap.Procedure(key)
	if !ok {
		return m.say(toneWarn, "there are no steps for it now")
	}
	p := &procedurePage{key: key, proc: proc, known: true, way: make(map[string]string)}
	p.steps = &table[core.Step]{
		id:   func(s core.Step) string { return s.ID },
		name: func(s core.Step) string { return s.Title },
		columns: []column[core.Step]{
			{width: 9, cell: func(s core.Step) line { return p.stateCell(m, s) }},
			{width: 18, most: 56, share: 52, measure: func(s core.Step) int { return width(clean(s.Title, rowLimit)) },
				cell: func(s core.Step) line { return p.titleCell(m, s) }},
			{width: 12, grow: true, cell: func(s core.Step) line { return p.statusCell(m, s) }},
		},
	}
	p.steps.set(proc.Steps, m.snap.Revision)
	p.next = firstReady(proc.Steps)
	p.goNext()
	m.open(p)
	return nil
}

// firstReady is the first step that can be confirmed. To abort or to hurry what is under way is a way out, and never what comes
// next.
func firstReady(steps []core.Step) string {
	i := slices.IndexFunc(steps, func(s core.Step) bool {
		return s.State == core.StepReady && s.Intent.Kind != core.IntentAbortMigration && s.Intent.Kind != core.IntentForceComplete
	})
	if i < 0 {
		return ""
	}
	return steps[i].ID
}

// stateCell is how a step stands. Of those that can be confirmed the first stands out alone: it comes next, the others can
// wait.
func (p *procedurePage) stateCell(m *Model, s core.Step) line {
	k := stepMark(m.look.glyph, s.State)
	if s.State == core.StepReady && s.ID != p.next {
		k = mark{" ", themes.Text}
	}
	return k.spans(string(s.State))
}

// goNext puts the cursor on what is the operator's to see to next: what failed, then what can be confirmed, then what runs (by which
// alone the others are often blocked), then what waits.
func (p *procedurePage) goNext() {
	in := func(state core.StepState) string {
		if i := slices.IndexFunc(p.proc.Steps, func(s core.Step) bool { return s.State == state }); i >= 0 {
			return p.proc.Steps[i].ID
		}
		return ""
	}
	id := cmp.Or(in(core.StepFailed), firstReady(p.proc.Steps), in(core.StepRunning), in(core.StepBlocked), in(core.StepWaiting), in(core.StepReady))
	if id != "" {
		p.steps.choose(id)
	}
}

func (p *procedurePage) titleCell(m *Model, s core.Step) line {
	tone := themes.Text
	switch {
	case s.State == core.StepDone, s.State == core.StepLater:
		tone = themes.Dim
	case s.ID == p.next:
		tone = themes.Strong
	}
	out := one(tone, s.Title)
	if n := len(s.Alternatives); n > 0 && s.State != core.StepDone {
		out = out.and(themes.Key, fmt.Sprintf(" %d ways", n+1))
	}
	return out
}

// statusCell is how a step goes. What the summary says of all of them is not said once more of each.
func (p *procedurePage) statusCell(m *Model, s core.Step) line {
	if s.State != core.StepFailed && slices.Contains(p.proc.Summary, s.Status) {
		s.Status = ""
	}
	return stepStatus(m, s)
}

func stepStatus(m *Model, s core.Step) line {
	status := named(m.snap, s.Status)
	switch {
	case s.State == core.StepBlocked && s.Blocker() != "":
		g, _ := s.BlockedBy()
		until := one(themes.Warn, untilText(g))
		switch {
		case s.Status == "":
			return until
		case g.SaysUnarmed(): // it is the same for every step, and says nothing of this one
			return append(one(themes.Dim, status+"; "), until...)
		}
		return until.and(themes.Dim, "; "+status)
	case s.Status != "" && s.State == core.StepFailed:
		return one(themes.Bad, status)
	case s.Status != "" && s.State == core.StepRunning:
		return one(themes.Moves, status)
	case s.Status != "":
		return one(themes.Dim, status)
	}
	return nil
}

// untilText says what a blocked step waits for: a guard's text is what has to be so, its answer what was found.
func untilText(g core.Guard) string {
	if g.Answer == "" {
		return "until " + g.Text
	}
	return "until " + g.Text + " (" + g.Answer + ")"
}

func (*procedurePage) scope() Scope { return ScopeProcedure }
func (*procedurePage) page() bool   { return true }

func (p *procedurePage) refresh(m *Model) tea.Cmd {
	proc, ok := m.snap.Procedure(p.key)
	if p.known = ok; !ok {
		return nil
	}
	was, _ := p.steps.current()
	ran := was != nil && was.State == core.StepRunning
	p.proc, p.next = proc, firstReady(proc.Steps)
	if gone := p.steps.set(proc.Steps, m.snap.Revision); gone != "" && !ran && m.top() == p {
		return m.say(toneWarn, "gone: "+gone) // how what ran has ended is said by itself
	}
	return nil
}

func (*procedurePage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

// chosen is the selected step, or the alternative to it that was turned to.
func (p *procedurePage) chosen() (core.Step, bool) {
	s, ok := p.steps.current()
	if !ok {
		return core.Step{}, false
	}
	if n := p.wayOf(s); n > 0 {
		return s.Alternatives[n-1], true
	}
	return *s, true
}

// wayOf is which way to the step's end was turned to: 0 is the step itself, n its n-th alternative.
func (p *procedurePage) wayOf(s *core.Step) int {
	id, turned := p.way[s.ID]
	if !turned {
		return 0
	}
	return slices.IndexFunc(s.Alternatives, func(a core.Step) bool { return a.ID == id }) + 1
}

// turn goes to the next way to the same end.
func (p *procedurePage) turn(by int) {
	s, ok := p.steps.current()
	if !ok || len(s.Alternatives) == 0 {
		return
	}
	n := len(s.Alternatives) + 1
	if to := (p.wayOf(s) + by + n) % n; to > 0 {
		p.way[s.ID] = s.Alternatives[to-1].ID
	} else {
		delete(p.way, s.ID)
	}
}

// openStep opens the confirmation of the selected step, or says whose turn it is.
func (p *procedurePage) openStep(m *Model) tea.Cmd {
	s, ok := p.chosen()
	if !ok {
		return nil
	}
	if len(s.Tell) > 0 {
		return m.openOwners(s.Tell)
	}
	if s.Intent.Kind == "" {
		why := " (" + strings.TrimSuffix(string(s.State)+": "+named(m.snap, s.Status), ": ") + ")"
		if len(s.Commands) > 0 { // it may be the operator's all the same, by hand
			return m.say(toneWarn, "Lockstep does nothing here, c copies the commands: "+s.Title+why)
		}
		return m.say(toneWarn, s.Title+" is not yours to do"+why)
	}
	at := 0
	for i := range p.proc.Steps {
		if p.proc.Steps[i].ID == p.steps.cursor {
			at = i + 1
		}
	}
	return m.confirm(s.Intent, fmt.Sprintf("Step %d of %d", at, len(p.proc.Steps)))
}

// procedureActions work on the page of steps.
func procedureActions() []Action {
	with := func(f func(m *Model, p *procedurePage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*procedurePage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	move := func(f func(t *table[core.Step])) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *procedurePage) tea.Cmd { f(p.steps); return nil })
	}
	return []Action{
		{ID: "step.open", Title: "Open the step: read it, then confirm or cancel", Short: "open", Scope: ScopeProcedure,
			Keys: []string{"enter"}, Footer: 1, run: with(func(m *Model, p *procedurePage) tea.Cmd { return p.openStep(m) })},
		{ID: "step.next", Title: "Go to the step that comes next: what failed, or else what can be confirmed", Short: "next", Scope: ScopeProcedure,
			Keys: []string{"n"}, Footer: 2, run: with(func(_ *Model, p *procedurePage) tea.Cmd { p.goNext(); return nil })},
		{ID: "step.way.next", Title: "Turn to the next way to the same end", Short: "other way", Scope: ScopeProcedure,
			Keys: []string{"right", "tab"}, Footer: 3, blocked: func(m *Model) string {
				if p, ok := m.top().(*procedurePage); ok {
					if s, ok := p.steps.current(); ok && len(s.Alternatives) > 0 {
						return ""
					}
				}
				return "there is no other way"
			}, run: with(func(_ *Model, p *procedurePage) tea.Cmd { p.turn(1); return nil })},
		{ID: "step.way.previous", Title: "Turn to the previous way to the same end", Short: "other way", Scope: ScopeProcedure,
			Keys: []string{"left", "shift+tab"}, run: with(func(_ *Model, p *procedurePage) tea.Cmd { p.turn(-1); return nil })},
		{ID: "step.copy", Title: "Copy the commands that do the same by hand", Short: "copy", Scope: ScopeProcedure,
			Keys: []string{"c", "y"}, Footer: 5, run: with(func(m *Model, p *procedurePage) tea.Cmd {
				s, _ := p.chosen()
				return m.copy(joined(s.Commands))
			})},
		{ID: "step.owners", Title: "Show whose instances on the node need their owner, with a note to send to each project", Short: "owners",
			Scope: ScopeProcedure, Keys: []string{"O"}, Footer: 89, run: with(func(m *Model, p *procedurePage) tea.Cmd {
				if s, ok := p.chosen(); ok && s.Node != "" {
					return m.openOwners([]string{s.Node})
				}
				return m.openOwners(nil)
			})},
		{ID: "step.close", Title: "Back to the dashboard", Short: "back", Scope: ScopeProcedure, Keys: []string{"esc", "backspace"},
			Footer: 4, run: with(func(m *Model, p *procedurePage) tea.Cmd { m.close(p); return nil })},
		{ID: "step.down", Title: "Go down a step", Short: "down", Scope: ScopeProcedure, Keys: []string{"down", "j"},
			run: move(func(t *table[core.Step]) { t.moveBy(1) })},
		{ID: "step.up", Title: "Go up a step", Short: "up", Scope: ScopeProcedure, Keys: []string{"up", "k"},
			run: move(func(t *table[core.Step]) { t.moveBy(-1) })},
		{ID: "step.page.down", Title: "Go down a page", Short: "page down", Scope: ScopeProcedure, Keys: []string{"pgdown"},
			run: move(func(t *table[core.Step]) { t.moveBy(t.page()) })},
		{ID: "step.page.up", Title: "Go up a page", Short: "page up", Scope: ScopeProcedure, Keys: []string{"pgup"},
			run: move(func(t *table[core.Step]) { t.moveBy(-t.page()) })},
		{ID: "step.first", Title: "Go to the first step", Short: "first", Scope: ScopeProcedure, Keys: []string{"home", "g"},
			run: move(func(t *table[core.Step]) { t.goTo(0) })},
		{ID: "step.last", Title: "Go to the last step", Short: "last", Scope: ScopeProcedure, Keys: []string{"end", "G"},
			run: move(func(t *table[core.Step]) { t.moveBy(1 << 30) })},
	}
}
