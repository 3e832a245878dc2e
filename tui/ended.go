package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
)

// endWords are how an operation ended, as the beginning of a sentence.
var endWords = map[core.OperationState]struct {
	word string
	tone themes.Token
}{
	core.OperationDone:    {"done: ", toneInfo},
	core.OperationSkipped: {"left out: ", toneInfo},
	core.OperationStopped: {"stopped: ", toneWarn},
	core.OperationFailed:  {"failed: ", toneBad},
	core.OperationUnknown: {"not known how it ended: ", toneBad},
}

// ended says how an operation that ran in the previous Snapshot, or has begun since, ended. Of several it says a failure,
// otherwise the newest. The log has them all, and a failure stays in "Needs you" until it is acknowledged.
func (m *Model) ended(before *core.Snapshot) tea.Cmd {
	if before == nil {
		return nil
	}
	had := make(map[string]*core.Operation, len(before.Operations))
	for i := range before.Operations {
		had[before.Operations[i].ID] = &before.Operations[i]
	}
	var last *core.Operation
	for i := range m.snap.Operations { // newest first
		op := &m.snap.Operations[i]
		was := had[op.ID]
		if !op.State.Ended() || was != nil && was.State.Ended() || was == nil && op.Ended.Before(before.Now) {
			continue
		}
		if last == nil || endWords[op.State].tone == toneBad && endWords[last.State].tone != toneBad {
			last = op
		}
	}
	if last == nil {
		return nil
	}
	return m.tellEnd(last)
}

// tellEnd says how an operation has ended.
func (m *Model) tellEnd(op *core.Operation) tea.Cmd {
	end := endWords[op.State]
	text := end.word + op.Title
	if op.Text != "" {
		text += " (" + named(m.snap, op.Text) + ")"
	}
	cmd := m.show(end.tone, text)
	m.toast.end = text
	return cmd
}

// operation is the operation with the ID; nil when it is not known.
func (m *Model) operation(id string) *core.Operation {
	if m.snap == nil {
		return nil
	}
	for i := range m.snap.Operations {
		if m.snap.Operations[i].ID == id {
			return &m.snap.Operations[i]
		}
	}
	return nil
}
