package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/tui/draw"
)

// layerKind is a row of the table of pages and boxes.
type layerKind struct {
	scope   Scope
	outer   bool // global keys work there, too; false where text is typed
	actions func() []Action
}

// layerKinds is the table of pages and boxes, in the order in which the help lists their keys.
func layerKinds() []layerKind {
	return []layerKind{
		{ScopeEntry, true, entryActions},
		{ScopeProcedure, true, procedureActions},
		{ScopePlan, true, planActions},
		{ScopeCheck, true, checkActions},
		{ScopeUntil, true, untilActions},
		{ScopeConfirm, false, confirmActions},
		{ScopeText, true, textActions},
		{ScopeForm, false, formActions},
		{ScopePalette, false, paletteActions},
		{ScopeHistory, true, historyActions},
		{ScopeNotes, true, notesActions},
		{ScopeOwners, true, ownersActions},
		{ScopeRehearsal, true, rehearsalActions},
		{ScopeLook, true, lookActions},
		{ScopePodLog, true, podLogActions},
		{ScopePods, false, podsActions},
		{ScopeLookText, true, lookTextActions},
		{ScopeClusters, true, clustersActions},
	}
}

// layer lies over the dashboard: a page in place of the panes, or a box in front of them. The topmost has the keys.
type layer interface {
	scope() Scope
	// page tells whether it replaces the panes.
	page() bool
	// refresh follows a new Snapshot.
	refresh(m *Model) tea.Cmd
	// handle takes keys that are text or moves within the layer; other keys go to the catalogue.
	handle(m *Model, msg tea.KeyPressMsg) (handled bool, cmd tea.Cmd)
	// draw makes a page of w by h, or a box that fits into them.
	draw(m *Model, w, h int) []string
}

// keyHint is what a key does in a box.
type keyHint struct{ key, does string }

// hinter is a box with keys of its own: the footer shows what they do now.
type hinter interface{ hints() []keyHint }

// paster is a layer into which text can be pasted.
type paster interface {
	paste(m *Model, text string) tea.Cmd
}

// pointed is a layer that takes a click or the wheel.
type pointed interface {
	point(m *Model, at tea.Mouse) tea.Cmd
}

// leaver is a page that reads something as long as it is open.
type leaver interface{ leave() }

// arrival is a message that a page waits for.
type arrival interface {
	arrive(m *Model) tea.Cmd
}

// boxWidth is the width of a box of at most most columns. Where almost nothing would be left beside it, it takes the whole screen.
func boxWidth(w, most int) int {
	if w < most+8 {
		return w
	}
	return most
}

// boxFrame is how many lines of the screen a box's body does not have: the title, the line below it, and the keys' line.
const boxFrame = 3

// inRoom is the fullest body of a box that the screen has room for, or the last one. Each leaves out more than the one before: fields and
// buttons, which stand at the end, come first.
func inRoom(h, bodies int, body func(out int) []draw.Line) []draw.Line {
	for out := 0; ; out++ {
		if lines := body(out); out == bodies-1 || len(lines)+boxFrame <= h {
			return lines
		}
	}
}
