package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// running is the operation on the line, which the controls work on: the selected one, else the newest batch, as of several only a batch
// has a use for them, else the newest step.
func (m *Model) running() *core.Operation {
	if m.snap == nil {
		return nil
	}
	if m.top() == nil && m.focus == ScopeLog {
		if op := m.focused().subject().operation; op != nil && !op.State.Ended() && !op.Past && op.Elsewhere == "" {
			return op
		}
	}
	var newest *core.Operation
	for i := range m.snap.Operations {
		op := &m.snap.Operations[i]
		switch {
		case op.State.Ended() || op.Past || op.Elsewhere != "":
		case len(op.Items) > 0:
			return op
		case newest == nil:
			newest = op
		}
	}
	return newest
}

// noteRunning notes what has changed on the line since the Snapshot before, where a key that comes at that moment was meant for what was
// there. Another operation may be on it: the key must do nothing to that one. Or the batch has been held, perhaps by itself at a failure:
// the key was to hold it, and must not let it go on.
func (m *Model) noteRunning(was *core.Operation) {
	op := m.running()
	switch {
	case was == nil || op == nil:
	case op.ID != was.ID:
		m.another.begin(m)
	case holds(op) && !holds(was):
		m.held.begin(m)
	}
}

// holds tells whether a batch is held, or will be once what runs in it has ended.
func holds(op *core.Operation) bool {
	return op.State == core.OperationPaused || op.Asked == core.ControlPause
}

// steer hands a control of the operation on the line to the Backend, unless the key was meant for another one.
func (m *Model) steer(id string, c core.Control) tea.Cmd {
	op := m.running()
	switch {
	case op == nil:
		return nil
	case m.another.on(m):
		return m.notTaken(m.keyTo(id), op.Title+" has just come to the line; press it again if you mean that")
	}
	return m.control(op, c)
}

// runningLine is what runs, in one line; nil when nothing does.
func (m *Model) runningLine(w int) draw.Line {
	op := m.running()
	if op == nil {
		return nil
	}
	k := operationMark(m.look.Glyph, op.State)
	tone, word := k.tone, string(op.State)
	switch op.Asked { // which a narrow screen must not cut
	case core.ControlPause:
		tone, word = themes.Warn, "will be held"
	case core.ControlStop:
		tone, word = themes.Warn, "will stop"
	}
	out := draw.Line{draw.Blank(1), draw.Text(tone, k.glyph+" "+word), draw.Blank(2), draw.Text(themes.Strong, op.Title)}
	if len(op.Items) > 0 {
		ended := 0
		for _, it := range op.Items {
			if it.State.Ended() {
				ended++
			}
		}
		out = append(out, draw.Blank(2))
		out = append(out, draw.Gauge(m.look.Glyph, ended, len(op.Items), 8)...)
		out = out.And(themes.Text, fmt.Sprintf(" %d of %d", ended, len(op.Items)))
	}
	text := op.Text
	for _, it := range op.Items {
		if !it.State.Ended() && it.State != core.OperationQueued {
			text = strings.TrimSpace(it.Label + " " + it.Text)
			break
		}
	}
	if text != "" {
		out = out.And(themes.Dim, "  "+named(m.snap, text))
	}
	out = out.And(themes.Dim, "  "+m.instant.took(op.State, op.Started, op.Ended))
	if len(op.Items) == 0 {
		return out
	}
	type control struct{ id, does string }
	controls := []control{{"operation.pause", "hold"}, {"operation.skip", "omit"}, {"operation.stop", "stop"}}
	switch {
	case op.Asked == core.ControlStop:
		controls = nil
	case holds(op):
		controls[0].does = "go on"
	}
	keys := draw.Line{}
	for _, row := range controls {
		if key := m.keyOf(row.id); key != "" {
			keys = append(keys, draw.Blank(2), draw.Text(themes.Text, key), draw.Text(themes.Hint, " "+row.does))
		}
	}
	return draw.Apart(out, append(keys, draw.Text(themes.Hint, " ")), w)
}

// keyOf is the first key of an action, as it is called on the screen; empty where it has none.
func (m *Model) keyOf(id string) string {
	if a := m.called(id); a != nil && len(a.Keys) > 0 {
		return keyName(a.Keys[0])
	}
	return ""
}

// keyTo is what an operator uses for an action, as the subject of a sentence: its first key, or the palette where it has none.
func (m *Model) keyTo(id string) string { return cmp.Or(m.keyOf(id), "the palette") }

// keyWhileTyping is keyOf where a text is typed: a key that does nothing to a text goes before one that does.
func (m *Model) keyWhileTyping(id string) string {
	if a := m.called(id); a != nil {
		if i := slices.IndexFunc(a.Keys, leavesText); i >= 0 {
			return keyName(a.Keys[i])
		}
	}
	return m.keyOf(id)
}

// editing are the keys with names that change a text, or move in it.
var editing = strings.Fields("space backspace delete left right home end ctrl+u ctrl+k ctrl+w alt+backspace alt+delete")

// leavesText tells whether a key does nothing to a text that is typed, so that it is an action's even then.
func leavesText(key string) bool {
	return utf8.RuneCountInString(key) > 1 && !slices.Contains(editing, key)
}

// isKeyOf tells whether a key is one of an action's.
func (m *Model) isKeyOf(key string, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		a := m.called(id)
		return a != nil && slices.Contains(a.Keys, key)
	})
}

func needRunning(m *Model) string {
	switch op := m.running(); {
	case op == nil:
		return "nothing runs"
	case len(op.Items) == 0:
		return "what runs is one step only"
	case op.Asked == core.ControlStop:
		return "the batch stops once what runs in it has ended"
	}
	return ""
}

func needFailure(m *Model) string {
	if m.failure() == nil {
		return "there is no failure to acknowledge here"
	}
	return ""
}

// failure is the failed operation that x acknowledges: the selected one, else the newest that nobody has seen.
func (m *Model) failure() *core.Operation {
	if m.snap == nil {
		return nil
	}
	unseen := func(op *core.Operation) bool {
		return op != nil && !op.Acknowledged && (op.State == core.OperationFailed || op.State == core.OperationUnknown)
	}
	if p, ok := m.top().(*procedurePage); ok {
		for i := range m.snap.Operations {
			op := &m.snap.Operations[i]
			if unseen(op) && (op.Node == p.key.Subject || op.Instance == p.key.Subject || p.has(op.Step)) {
				return op
			}
		}
		return nil
	}
	if p, ok := m.entryShown(); ok {
		if op := operationOf(m.snap, p.a); unseen(op) {
			return op
		}
		return nil
	}
	switch m.focus {
	case ScopeLog:
		if op := m.focused().subject().operation; unseen(op) {
			return op
		}
	case ScopeNeeds:
		if a := m.focused().subject().attention; a != nil {
			if op := operationOf(m.snap, *a); unseen(op) {
				return op
			}
		}
		return nil
	}
	for i := range m.snap.Operations {
		if unseen(&m.snap.Operations[i]) {
			return &m.snap.Operations[i]
		}
	}
	return nil
}

// noteFailure notes that x acknowledges another failure than with the Snapshot before: nobody can have read that one yet.
func (m *Model) noteFailure(was *core.Operation) {
	if op := m.failure(); op != nil && (was == nil || op.ID != was.ID) {
		m.unread.begin(m)
	}
}

func (m *Model) acknowledge() tea.Cmd {
	op := m.failure()
	switch {
	case op == nil:
		return nil
	case m.unread.on(m):
		return m.notTaken(m.keyTo("acknowledge"), op.Title+" has only just come; press it again once you have read it")
	}
	backend, id := m.backend, op.ID
	return tea.Batch(m.say(toneInfo, "seen: "+op.Title), func() tea.Msg {
		backend.Acknowledge(id)
		return nil
	})
}
