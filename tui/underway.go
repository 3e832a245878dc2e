package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// unended is the newest operation of this run or an earlier one that has not ended; nil when there is none. A step that was
// confirmed a moment ago counts, too: the Snapshot that shows it may not have arrived yet.
func (m *Model) unended() *core.Operation {
	if m.snap == nil {
		return nil
	}
	if m.confirming.title != "" {
		return &core.Operation{ID: m.confirming.op, Title: m.confirming.title, State: core.OperationQueued}
	}
	for i := range m.snap.Operations {
		if op := &m.snap.Operations[i]; !op.State.Ended() && op.Elsewhere == "" {
			return op
		}
	}
	return nil
}

// underway is what a question to leave is about. It follows what runs while it waits for its answer: what was running when the key was
// pressed may have ended since, and another may have begun.
type underway struct {
	op    string // the operation's ID
	title string
	batch bool // it is a batch
	over  bool // nothing runs any more
}

func follow(op *core.Operation) underway {
	return underway{op: op.ID, title: op.Title, batch: len(op.Items) > 0}
}

func (u *underway) refresh(m *Model) tea.Cmd {
	if op := m.unended(); op != nil {
		*u = follow(op)
	} else {
		u.over = true
	}
	return nil
}

// says is what runs, or how it has ended.
func (u *underway) says(m *Model) string {
	if !u.over {
		return "Still running: " + u.title + "."
	}
	if op := m.operation(u.op); op != nil {
		return "Nothing runs any more; " + endWords[op.State].word + op.Title + "."
	}
	return "Nothing runs any more: " + u.title + " has ended."
}
