package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// How long the screen waits for an answer of the Backend. The Backend's own deadlines are shorter.
const answerWithin = 60 * time.Second

// previewMsg is what the servers say of a step before it is confirmed.
type previewMsg struct {
	n       int
	preview core.Preview
}

// executedMsg says whether a confirmed step has begun.
type executedMsg struct {
	dialog *confirmDialog
	title  string
	op     string // the operation's ID
	err    error
}

// armedMsg is the result of arming.
type armedMsg struct {
	dialog *armDialog
	err    error
}

// controlledMsg is the result of a control of an operation.
type controlledMsg struct {
	control core.Control
	title   string
	item    string // the label of the one that is left out
	err     error
}

// answered handles the Backend's answers.
func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case previewMsg:
		for _, l := range m.layers {
			if d, ok := l.(*confirmDialog); ok && d.previewN == msg.n {
				d.previewed(m, msg.preview)
			}
		}
	case executedMsg:
		m.confirming.op = msg.op
		if msg.err != nil || m.operation(msg.op) != nil {
			m.confirming.title, m.confirming.op = "", ""
		}
		if msg.err != nil {
			msg.dialog.refused(m, msg.err)
			return m.say(toneBad, "refused: "+msg.title+": "+msg.err.Error())
		}
		msg.dialog.room.leave()
		m.withdraw(msg.dialog)
		delete(m.drafts, msg.dialog.form)
		if p := msg.dialog.steps; p != nil {
			p.confirmed(m, msg.dialog.row, msg.op, msg.dialog.step)
		}
		if op := m.operation(msg.op); op != nil && op.State.Ended() {
			return m.tellEnd(op)
		}
		return m.say(toneInfo, "begun: "+msg.title)
	case armedMsg:
		if msg.dialog.givenUp {
			if msg.err != nil {
				return nil // as was wished, and said
			}
			backend := m.backend
			return func() tea.Msg {
				backend.Disarm()
				return nil
			}
		}
		if msg.err != nil {
			msg.dialog.failed(msg.err)
			return m.say(toneBad, "writing stays off: "+msg.err.Error())
		}
		m.withdraw(msg.dialog)
		return m.say(toneWarn, "writing is on: confirmed steps are carried out")
	case controlledMsg:
		if msg.err != nil {
			return m.say(toneBad, string(msg.control)+" "+msg.title+": "+msg.err.Error())
		}
		if msg.control == core.ControlSkip {
			return m.say(toneInfo, "left out: "+msg.item+", of "+msg.title)
		}
		return m.say(toneInfo, controlWords[msg.control]+msg.title)
	}
	return nil
}

var controlWords = map[core.Control]string{
	core.ControlPause: "begins nothing more until you let it go on: ", core.ControlResume: "goes on: ",
	core.ControlStop: "begins nothing more: ",
}

// control hands a control of the operation to the Backend. What is left out is the item that comes next by what the operator sees.
func (m *Model) control(op *core.Operation, c core.Control) tea.Cmd {
	backend, id, title := m.backend, op.ID, op.Title
	if c != core.ControlSkip {
		return func() tea.Msg { return controlledMsg{c, title, "", backend.Control(id, c)} }
	}
	i := nextItem(op)
	if i < 0 {
		return m.say(toneWarn, "nothing is left to be left out of: "+title)
	}
	label := op.Items[i].Label
	return func() tea.Msg { return controlledMsg{c, title, label, backend.LeaveOut(id, i)} }
}

// nextItem is the place of the batch's item that comes next; -1 where none does.
func nextItem(op *core.Operation) int {
	return slices.IndexFunc(op.Items, func(item core.OperationItem) bool { return item.State == core.OperationQueued })
}

// preview asks for a dry-run of the intent; n tells its answer from those to earlier questions.
func (m *Model) preview(n int, i core.Intent) tea.Cmd {
	backend, parent := m.backend, m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, answerWithin)
		defer cancel()
		return previewMsg{n, backend.Preview(ctx, i)}
	}
}

// execute has the step granted and begun.
func (m *Model) execute(d *confirmDialog, step core.Step, typed string) tea.Cmd {
	backend, parent := m.backend, m.ctx
	m.confirming.title, m.confirming.op = step.Title, ""
	return func() tea.Msg {
		grant, err := backend.Grant(step, typed)
		if err != nil {
			return executedMsg{d, step.Title, "", err}
		}
		ctx, cancel := context.WithTimeout(parent, answerWithin)
		defer cancel()
		op, err := backend.Execute(ctx, grant)
		return executedMsg{d, step.Title, op, err}
	}
}
