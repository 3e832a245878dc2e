package tui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeProcedure is a page of steps.
const ScopeProcedure Scope = "steps"

// procedurePage shows the steps of a procedure, computed from every Snapshot: what is done is done because the cluster says so.
type procedurePage struct {
	key   core.ProcedureKey
	proc  core.Procedure
	known bool
	steps *table.Table[core.Step]
	next  string // ID of the step that comes next; empty when none does
	// The alternative chosen on each row. The ways to do a step change meanwhile, and another one must not replace the chosen
	// one. None: the row's own step.
	way   map[string]wayKey
	begun map[string]begun // by row, what was confirmed there and goes on
	row   string           // the row that is or was selected
	held  heldWay
	hush  hush // the cursor went on by itself
}

// openSteps opens the steps of the selected object, or the page of the selected entry of "Needs you". Where there are no steps,
// it opens the inspection.
func (m *Model) openSteps() tea.Cmd {
	s := m.focused().subject()
	if s.attention != nil {
		return m.openEntry(s.attention.ID)
	}
	if s.procedure == nil || s.operation != nil || s.line != nil { // an entry of the log is what was done, not what can be done
		return m.inspect()
	}
	if s.then != nil {
		return m.openThen(*s.then, *s.procedure)
	}
	return m.openProcedure(*s.procedure)
}

// stepsOrDetails is what openSteps opens, in the footer.
func (m *Model) stepsOrDetails() string {
	switch s := m.focused().subject(); {
	case s.then != nil:
		return "as it was"
	case s.procedure == nil && needRow(m) == "":
		return "details"
	}
	return "steps"
}

func (m *Model) openProcedure(key core.ProcedureKey) tea.Cmd {
	proc, ok := procedure.Of(m.snap, key)
	if !ok {
		return m.say(toneWarn, "there are no steps for it now")
	}
	p := &procedurePage{key: key, proc: proc, known: true, way: make(map[string]wayKey), begun: make(map[string]begun)}
	p.steps = &table.Table[core.Step]{
		ID:   func(s core.Step) string { return s.ID },
		Name: func(s core.Step) string { return s.Title },
		Columns: []table.Column[core.Step]{ // a row says what enter does: it shows the way that was turned to
			{Width: 9, Cell: func(s core.Step) draw.Line { return p.stateCell(m, p.shown(s)) }},
			{Width: 18, Most: 56, Share: 52, Measure: func(s core.Step) int {
				return draw.Width(p.shown(s).Title) + draw.Width(p.waysText(s))
			},
				Cell: func(s core.Step) draw.Line { return p.titleCell(s) }},
			{Width: 12, Grow: true, Cell: func(s core.Step) draw.Line { return p.statusCell(m, p.shown(s)) }},
		},
	}
	p.take(proc, m.snap.Revision)
	p.goNext()
	m.open(p)
	return nil
}

// take updates the steps; it returns the title of the selected one when that is gone.
func (p *procedurePage) take(proc core.Procedure, revision uint64) (gone string) {
	next, _ := proc.Next()
	p.proc, p.next = proc, next.ID
	return p.steps.Set(proc.Steps, revision)
}

// stateCell is a step's state. Of the steps that can be confirmed only the first stands out: it comes next, the others can wait.
func (p *procedurePage) stateCell(m *Model, s core.Step) draw.Line {
	k := stepMark(m.look.Glyph, s.State)
	if s.State == core.StepReady && s.ID != p.next || s.State == core.StepBlocked && s.Optional {
		k = mark{" ", themes.Text}
	}
	return k.spans(string(s.State))
}

// goNext puts the cursor on the step that the operator should look at next: one that failed, then the next one, then a running
// one (which often blocks the others), then a waiting one, then one whose turn comes later, then the one done last. Optional steps are
// never chosen.
func (p *procedurePage) goNext() { p.goNextAfter("") }

// goNextAfter is goNext after a success on a row. That row stays until the cluster shows the result, but it is not the next one.
func (p *procedurePage) goNextAfter(row string) {
	in := func(state core.StepState) string {
		if i := slices.IndexFunc(p.proc.Steps, func(s core.Step) bool { return s.State == state && !s.Optional && s.ID != row }); i >= 0 {
			return p.proc.Steps[i].ID
		}
		return ""
	}
	p.held = heldWay{}
	failed, last := "", ""
	for _, s := range p.proc.Steps {
		switch {
		case s.State == core.StepFailed && failed == "":
			failed = s.ID
		case s.State == core.StepDone:
			last = s.ID
		}
	}
	next := p.next
	if next == row {
		next = in(core.StepReady)
	}
	itself := "" // what it began goes on, or is done
	if row != "" && p.has(row) {
		itself = row
	}
	if id := cmp.Or(failed, next, in(core.StepRunning), in(core.StepBlocked), in(core.StepWaiting), itself, in(core.StepLater),
		last); id != "" {
		p.steps.Choose(id)
	} else {
		p.steps.Settle()
	}
}

// goToYours is goNext for an operator who asks what comes next for a person: that is what can be begun ahead rather than what goes on by
// itself. The cursor never goes there unasked: two steps would be begun where one was meant.
func (p *procedurePage) goToYours() {
	failed := slices.ContainsFunc(p.proc.Steps, func(s core.Step) bool { return s.State == core.StepFailed })
	ahead := slices.IndexFunc(p.proc.Steps, func(s core.Step) bool {
		return s.Ahead && (s.State == core.StepReady || s.State == core.StepBlocked)
	})
	if failed || p.next != "" || ahead < 0 {
		p.goNext()
		return
	}
	p.held = heldWay{}
	p.steps.Choose(p.proc.Steps[ahead].ID)
}

func (p *procedurePage) titleCell(row core.Step) draw.Line {
	tone, s := themes.Text, p.shown(row)
	switch {
	case s.State == core.StepDone, s.State == core.StepLater:
		tone = themes.Dim
	case s.ID == p.next:
		tone = themes.Strong
	}
	return draw.One(tone, s.Title).And(themes.Key, p.waysText(row))
}

// statusCell is a step's status. It does not repeat what the summary says of all steps.
func (p *procedurePage) statusCell(m *Model, s core.Step) draw.Line {
	if s.State != core.StepFailed && slices.Contains(p.proc.Summary, s.Status) {
		s.Status = ""
	}
	return stepStatus(m, s)
}

func stepStatus(m *Model, s core.Step) draw.Line {
	status := named(m.snap, s.Status)
	switch {
	case s.State == core.StepBlocked && s.Blocker() != "":
		g, _ := s.BlockedBy()
		until := draw.One(themes.Warn, untilText(g))
		switch {
		case s.Status == "":
			return until
		case g.SaysUnarmed(): // the same for every step
			return append(draw.One(themes.Dim, status+"; "), until...)
		}
		return until.And(themes.Dim, "; "+status)
	case s.Status != "" && s.State == core.StepFailed:
		return draw.One(themes.Bad, status)
	case s.Status != "" && s.State == core.StepRunning:
		return draw.One(themes.Moves, status)
	case s.Status != "":
		return draw.One(themes.Dim, status)
	}
	return nil
}

// untilText says what a blocked step waits for: the guard's text is the condition, its answer what was found.
func untilText(g core.Guard) string {
	if g.Answer == "" {
		return "until " + g.Text
	}
	return "until " + g.Text + " (" + g.Answer + ")"
}

func (*procedurePage) scope() Scope { return ScopeProcedure }
func (*procedurePage) page() bool   { return true }

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
	move := func(f func(t *table.Table[core.Step])) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *procedurePage) tea.Cmd { f(p.steps); p.held = heldWay{}; return nil })
	}
	return []Action{
		{ID: "step.open", Title: "Open the step: read it, then confirm or cancel", Short: "open", Scope: ScopeProcedure,
			Keys: []string{"enter"}, Footer: 1, now: func(m *Model) string {
				if p, ok := m.top().(*procedurePage); ok {
					return p.enterDoes(m).short
				}
				return "open"
			}, run: with(func(m *Model, p *procedurePage) tea.Cmd { return p.enter(m) })},
		{ID: "step.next", Title: "Go to your next step: what failed, what can be confirmed, what is yours to begin ahead, or else what goes on",
			Short: "next", Scope: ScopeProcedure, Keys: []string{"n"}, Footer: 2,
			run: with(func(_ *Model, p *procedurePage) tea.Cmd { p.goToYours(); return nil })},
		silenceAction(),
		{ID: "step.way.next", Title: "Show the next way to do the same", Short: "other way", Scope: ScopeProcedure,
			Keys: []string{"right", "tab"}, Footer: 3, blocked: func(m *Model) string {
				if p, ok := m.top().(*procedurePage); ok {
					if s, ok := p.steps.Current(); ok && len(s.Alternatives) > 0 && s.State != core.StepDone {
						return ""
					}
				}
				return "there is no other way"
			}, run: with(func(_ *Model, p *procedurePage) tea.Cmd { p.turn(1); return nil })},
		{ID: "step.way.previous", Title: "Show the previous way to do the same", Short: "other way", Scope: ScopeProcedure,
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
		{ID: "step.close", Title: "Go back to where they were opened", Short: "back", Scope: ScopeProcedure, Keys: []string{"esc", "backspace"},
			Footer: 4, run: with(func(m *Model, p *procedurePage) tea.Cmd { m.goBack(p); return nil })},
		{ID: "step.down", Title: "Go down a step", Short: "down", Scope: ScopeProcedure, Keys: []string{"down", "j"},
			run: move(func(t *table.Table[core.Step]) { t.MoveBy(1) })},
		{ID: "step.up", Title: "Go up a step", Short: "up", Scope: ScopeProcedure, Keys: []string{"up", "k"},
			run: move(func(t *table.Table[core.Step]) { t.MoveBy(-1) })},
		{ID: "step.page.down", Title: "Go down a page", Short: "page down", Scope: ScopeProcedure, Keys: []string{"pgdown"},
			run: move(func(t *table.Table[core.Step]) { t.MoveBy(t.Page()) })},
		{ID: "step.page.up", Title: "Go up a page", Short: "page up", Scope: ScopeProcedure, Keys: []string{"pgup"},
			run: move(func(t *table.Table[core.Step]) { t.MoveBy(-t.Page()) })},
		{ID: "step.first", Title: "Go to the first step", Short: "first", Scope: ScopeProcedure, Keys: []string{"home", "g"},
			run: move(func(t *table.Table[core.Step]) { t.GoTo(0) })},
		{ID: "step.last", Title: "Go to the last step", Short: "last", Scope: ScopeProcedure, Keys: []string{"end", "G"},
			run: move(func(t *table.Table[core.Step]) { t.MoveBy(1 << 30) })},
	}
}

// has tells whether a step of the page has the ID.
func (p *procedurePage) has(id string) bool {
	return slices.ContainsFunc(p.proc.Steps, func(s core.Step) bool { return s.ID == id })
}
