package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// enters is what enter does on a step: the word for the footer, the sentence below the step's details, and the function.
type enters struct {
	short, says string
	run         func(m *Model) tea.Cmd
}

// enterDoes is what enter does now. Only a step that can be confirmed, now or once its conditions hold, opens a confirmation.
func (p *procedurePage) enterDoes(m *Model) enters {
	s, ok := p.chosen()
	if !ok {
		return enters{"nothing", "", func(m *Model) tea.Cmd {
			if gone := p.steps.Gone(); gone != "" {
				return m.say(toneWarn, goneText(quote(gone)))
			}
			return m.say(toneWarn, "there are no steps")
		}}
	}
	if p.hush.on(m) {
		const gone = "the cursor has just gone on to this step"
		return enters{"nothing yet", gone + ": enter " + nothingYet, func(m *Model) tea.Cmd { return m.notTaken("enter", gone) }}
	}
	row, _ := p.steps.Current()
	id := row.ID
	op, known := procedure.OperationOf(m.snap, s)
	b, goesOn := p.begun[id]
	if now := m.operation(b.op); goesOn && now != nil {
		op, known = *now, true
	}
	switch {
	case s.State == core.StepDone:
		return enters{"what was done", "enter shows what was done", func(m *Model) tea.Cmd { return p.openPage(m, id, s, op, known) }}
	case goesOn && !known, goesOn && keyOf(s) == b.way, goesOn && s.Intent.Kind == "", s.State == core.StepRunning,
		s.State == core.StepWaiting && s.Change != nil && known && !op.State.Ended():
		return enters{"how it goes", "enter shows how it goes", func(m *Model) tea.Cmd { return p.openPage(m, id, s, op, known) }}
	case len(s.Tell) > 0:
		return enters{"whom to tell", "enter lists whom to tell", func(m *Model) tea.Cmd { return m.openOwners(s.Tell) }}
	case s.Intent.Kind == "":
		return enters{"details", "enter shows all; there is nothing to confirm", func(m *Model) tea.Cmd {
			return tea.Batch(p.openPage(m, id, s, core.Operation{}, false), m.say(toneWarn, notYours(m, s)))
		}}
	}
	return enters{"open", "enter opens it", func(m *Model) tea.Cmd { return p.openConfirmation(m, id, s) }}
}

// enter does what the selected row says.
func (p *procedurePage) enter(m *Model) tea.Cmd { return p.enterDoes(m).run(m) }

// notYours says whose turn it is. The operator may still act by hand. A step's title is a sentence, or what is to be done: it stands after
// a colon, and is never the subject of another sentence.
func notYours(m *Model, s core.Step) string {
	why := " (" + strings.TrimSuffix(string(s.State)+": "+named(m.snap, s.Status), ": ") + ")"
	if len(s.Commands) > 0 {
		return "Lockstep does nothing here, " + m.keyTo("step.copy") + " copies the commands: " + s.Title + why
	}
	return "nothing to confirm: " + s.Title + why
}

// openConfirmation opens the confirmation of the step on a row.
func (p *procedurePage) openConfirmation(m *Model, row string, s core.Step) tea.Cmd {
	at := 0
	for i := range p.proc.Steps {
		if p.proc.Steps[i].ID == row {
			at = i + 1
		}
	}
	cmd := m.confirm(s.Intent, fmt.Sprintf("Step %d of %d", at, len(p.proc.Steps)))
	if d, ok := m.top().(*confirmDialog); ok {
		d.steps, d.row = p, row
	}
	return cmd
}

// openPage opens the page of a step that cannot be confirmed now: what was done, or how it goes.
func (p *procedurePage) openPage(m *Model, row string, s core.Step, op core.Operation, known bool) tea.Cmd {
	id := op.ID
	page := &pager{
		title: func(*Model) string { return s.Title },
		lines: func(m *Model, w int) []draw.Line {
			there := false
			for _, now := range p.proc.Steps {
				if now.ID == row && keyOf(p.shown(now)) == keyOf(s) {
					s, there = p.shown(now), true
				}
			}
			f := &facts{w: w}
			if !there {
				f.tone(themes.Warn, "gone", "this is how it was last seen")
			}
			if now, ok := procedure.OperationOf(m.snap, s); !known && ok && s.State != core.StepWaiting {
				id, known = now.ID, true
			}
			stepFacts(m, f, s, id)
			return f.lines
		},
	}
	if s.State != core.StepDone && s.State != core.StepRunning && len(s.Commands) > 0 {
		page.copied = func(*Model) string { return joined(s.Commands) }
	}
	m.open(page)
	return nil
}

// stepFacts is what is known of a step, and of the operation that does or did it. For a step that is done or runs it leaves out
// conditions and commands: they would be those for doing it again.
func stepFacts(m *Model, f *facts, s core.Step, op string) {
	begun := s.State == core.StepDone || s.State == core.StepRunning
	f.tone(stepMark(m.look.Glyph, s.State).tone, "state", string(s.State))
	f.add("how it is", named(m.snap, s.Status))
	f.add("why", named(m.snap, s.Why))
	if !begun {
		f.add("then", s.Then)
		for _, g := range s.Guards {
			if !g.Holds {
				f.tone(themes.Needs, "not yet", untilText(g))
			}
		}
		for i, c := range s.Commands {
			label := ""
			if i == 0 {
				label = "by hand"
			}
			f.tone(themes.Key, label, c)
		}
	}
	if s.Target.Name != "" {
		f.add("object", s.Target.String())
		f.add("uid", s.Target.UID)
	}
	if op != "" {
		f.section("What Lockstep did")
		operationFacts(m, f, op)
	}
	switch s.Target.Kind {
	case core.KindNode:
		f.section("The node now")
		nodeFacts(m, f, s.Target.Name)
	case core.KindInstance:
		f.section("The instance now")
		instanceFacts(m, f, s.Target.UID)
	}
	if l := findLock(m.snap, s.Target.Kind, s.Target.Name); l != nil {
		f.section("The lock now")
		lockFacts(m, f, l)
	}
}
