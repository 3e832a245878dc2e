package tui

import (
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
	if s.procedure == nil {
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

// goNext puts the cursor on what is the operator's to see to next: what failed, then what can be confirmed, then what waits.
func (p *procedurePage) goNext() {
	for _, want := range []core.StepState{core.StepFailed, core.StepReady, core.StepBlocked, core.StepRunning, core.StepWaiting} {
		if i := slices.IndexFunc(p.proc.Steps, func(s core.Step) bool { return s.State == want }); i >= 0 {
			p.steps.choose(p.proc.Steps[i].ID)
			return
		}
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

// draw is the page: its rule, which says how many steps are not seen, and the body.
func (p *procedurePage) draw(m *Model, w, h int) []string {
	body := p.body(m, w, h-1)
	note := one(themes.Dim, "esc back")
	if !p.known {
		note = one(themes.Warn, "no longer known: what was last seen")
	}
	if more := m.moreText(p.steps.more()); more != "" {
		note = append(one(themes.Dim, more+"   "), note...)
	}
	return append([]string{m.ruleLine(w, one(themes.RuleFocus, p.proc.Title), note, true, nil)}, body...)
}

// body is the list of steps above, and all of the selected one below, or beside where there is room.
func (p *procedurePage) body(m *Model, w, h int) []string {
	var out []string
	var head []line
	if p.proc.Goal != "" && h >= 17 {
		head = append(head, paragraph(themes.Dim, p.proc.Goal, w-2)...)
	}
	head = append(head, p.summary(m, w-2, max((h+1)/4, 1))...)
	for _, l := range head {
		out = append(out, m.look.draw(append(line{blank(1)}, l...), w, asItIs))
	}
	if len(head) > 0 {
		out = append(out, m.look.draw(nil, w, asItIs))
	}
	room := h - len(out)
	if len(p.proc.Steps) == 0 {
		return append(out, m.look.draw(one(themes.Dim, " There is nothing to do."), w, asItIs))
	}
	if w >= 150 {
		return append(out, p.drawBeside(m, w, room)...)
	}
	list := max(min(len(p.proc.Steps), room*3/5), min(3, room))
	out = append(out, padTo(p.steps.draw(m.look, w, list, true, false), w, list)...)
	if room-list < 3 {
		return out
	}
	out = append(out, p.stepRule(m, w))
	for _, l := range p.fitDetails(m, w-2, room-list-1) {
		out = append(out, m.look.draw(append(line{blank(1)}, l...), w, asItIs))
	}
	return out
}

// summary is what is known that matters here, in at most room lines: the first of it, which says how it stands, as a whole, and
// of the rest a line each.
func (p *procedurePage) summary(m *Model, w, room int) []line {
	var out []line
	for i, text := range p.proc.Summary {
		text = named(m.snap, text)
		lines := paragraph(themes.Text, text, w)
		switch {
		case i > 0:
			lines = []line{one(themes.Text, text).cut(w)}
		case len(lines) > 2:
			rest := strings.TrimPrefix(text, lines[0].text())
			lines = []line{lines[0], one(themes.Text, strings.TrimSpace(rest)).cut(w)}
		}
		out = append(out, lines...)
	}
	return out[:min(len(out), room)]
}

func (p *procedurePage) drawBeside(m *Model, w, h int) []string {
	left := w * 11 / 20
	right := w - left - 1
	steps := padTo(p.steps.draw(m.look, left, h, true, false), left, h)
	var side []string
	side = append(side, p.stepRule(m, right))
	for _, l := range p.fitDetails(m, right-2, h-1) {
		side = append(side, m.look.draw(append(line{blank(1)}, l...), right, asItIs))
	}
	side = padTo(side, right, h)
	bar := m.look.draw(one(themes.Rule, m.look.glyph.Bar), 1, asItIs)
	out := make([]string, h)
	for i := range out {
		out[i] = steps[i] + bar + side[i]
	}
	return out
}

// stepRule names the selected step, and the ways to the same end.
func (p *procedurePage) stepRule(m *Model, w int) string {
	s, ok := p.steps.current()
	if !ok {
		return m.ruleLine(w, nil, nil, false, nil)
	}
	step, _ := p.chosen()
	name := one(themes.Strong, step.Title)
	var note line
	if n := len(s.Alternatives); n > 0 {
		note = one(themes.Key, fmt.Sprintf("way %d of %d: left, right", p.wayOf(s)+1, n+1))
	}
	return m.ruleLine(w, name, note, false, nil)
}

// fitDetails are the details in at most h lines: commands are written out where there is room, and cut where there is not.
func (p *procedurePage) fitDetails(m *Model, w, h int) []line {
	out := p.details(m, w, true)
	if len(out) > h {
		out = p.details(m, w, false)
	}
	if len(out) > h {
		out = append(out[:max(h-1, 0)], one(themes.Dim, m.look.glyph.Ellipsis+" enter shows all"))
	}
	return out
}

// details are what one has to know of the selected step before it is opened. Of one that is done or runs only what it is and
// how it goes: its conditions and commands are those of doing it once more.
func (p *procedurePage) details(m *Model, w int, written bool) []line {
	s, ok := p.chosen()
	if !ok {
		return nil
	}
	var out []line
	if own, _ := p.steps.current(); len(own.Alternatives) > 0 {
		parts := []line{wayName(own.Title, p.wayOf(own) == 0)}
		for i, a := range own.Alternatives {
			parts = append(parts, wayName(a.Title, p.wayOf(own) == i+1))
		}
		out = append(out, join(2, parts...).cut(w))
	}
	if s.Why != "" {
		out = append(out, labelled("why   ", named(m.snap, s.Why), w)...)
	}
	if s.Status != "" {
		out = append(out, labelled("now   ", named(m.snap, s.Status), w)...)
	}
	begun := s.State == core.StepDone || s.State == core.StepRunning
	for _, g := range s.Guards {
		if !g.Holds && !begun {
			out = append(out, guardLines(m, g, w)...)
		}
	}
	if s.Risk != "" && s.Change != nil && !begun {
		out = append(out, line{txt(themes.Dim, "risk  "), txt(riskTone(s.Risk), string(s.Risk))})
	}
	if s.Then != "" && s.State != core.StepDone {
		out = append(out, labelled("then  ", s.Then, w)...)
	}
	if begun {
		return out
	}
	for i, c := range s.Commands {
		label := "hand  "
		if i > 0 {
			label = "      "
		}
		if !written {
			out = append(out, append(one(themes.Dim, label), txt(themes.Key, c)).cut(w))
			continue
		}
		for j, l := range wrap(clean(c, rowLimit), max(w-width(label)-2, 8)) {
			if j > 0 {
				label = "        "
			}
			out = append(out, line{txt(themes.Dim, label), txt(themes.Key, l)})
		}
	}
	if s.Change != nil || s.Intent.Kind != "" || len(s.Tell) > 0 {
		out = append(out, one(themes.Key, "enter opens it"))
	}
	return out
}

func wayName(title string, on bool) line {
	if on {
		return one(themes.TabFocus, " "+title+" ")
	}
	return one(themes.Tab, " "+title+" ")
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
