package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
)

// wayKey identifies one alternative of a step: what is done, and how. A way keeps its key whatever happens to the object.
type wayKey struct {
	kind  core.IntentKind
	mode  core.MigrationMode
	state core.LockState
	scope core.Scope
	what  string // the object that is changed, where the row stands for several
	past  bool   // past what stops it
}

func keyOf(s core.Step) wayKey {
	i := s.Intent
	return wayKey{i.Kind, i.Mode, i.State, i.Scope, i.Object.UID, i.PastStops}
}

// heldWay is the way that was selected on a row where nothing can be confirmed for now, because somebody is at work there.
type heldWay struct {
	row string
	key wayKey
}

// begun is what was confirmed on a row.
type begun struct {
	op   string // the operation's ID
	way  wayKey
	at   time.Time
	seen bool // a Snapshot has shown the operation
}

// shownWithin is how soon after its beginning a Snapshot shows an operation, at the latest.
const shownWithin = 5 * time.Second

// shown is what a row shows and what enter works on: its step, or the chosen way. A step that is done is shown itself.
func (p *procedurePage) shown(row core.Step) core.Step {
	if n := p.wayOf(&row); n > 0 {
		return row.Alternatives[n-1]
	}
	return row
}

// chosen is the selected step, or the way chosen for it.
func (p *procedurePage) chosen() (core.Step, bool) {
	s, ok := p.steps.Current()
	if !ok {
		return core.Step{}, false
	}
	return p.shown(*s), true
}

// wayOf is the way chosen on the row: 0 is the step itself, n its n-th alternative.
func (p *procedurePage) wayOf(s *core.Step) int {
	key, turned := p.way[s.ID]
	if !turned || s.State == core.StepDone {
		return 0
	}
	return slices.IndexFunc(s.Alternatives, func(a core.Step) bool { return keyOf(a) == key }) + 1
}

// waysText says that a row has several ways, and which is chosen.
func (p *procedurePage) waysText(row core.Step) string {
	n := len(row.Alternatives) + 1
	if n == 1 || row.State == core.StepDone {
		return ""
	}
	if at := p.wayOf(&row); at > 0 {
		return fmt.Sprintf(" way %d of %d", at+1, n)
	}
	return fmt.Sprintf(" %d ways", n)
}

// turn chooses the next or the previous way.
func (p *procedurePage) turn(by int) {
	s, ok := p.steps.Current()
	if !ok || len(s.Alternatives) == 0 {
		return
	}
	p.held = heldWay{}
	n := len(s.Alternatives) + 1
	p.turnTo(s, (p.wayOf(s)+by+n)%n)
}

func (p *procedurePage) turnTo(s *core.Step, n int) {
	if n > 0 {
		p.way[s.ID] = keyOf(s.Alternatives[n-1])
	} else {
		delete(p.way, s.ID)
	}
	p.steps.Redraw()
}

// refresh follows a new Snapshot. The cursor stays on its object and on its way. When either goes, nothing is selected until the
// operator moves. Only after a success it goes on by itself: to what comes next.
func (p *procedurePage) refresh(m *Model) tea.Cmd {
	had, was := p.chosen()
	if s, ok := p.steps.Current(); ok {
		p.row = s.ID
	}
	proc, ok := procedure.Of(m.snap, p.key)
	if p.known = ok; !ok {
		if was {
			p.steps.Lose(had.Title)
		}
		return nil
	}
	gone := p.take(proc, m.snap.Revision)
	p.dropWays()
	own, ended := p.follow(m, p.row)
	now, still := p.steps.Current()
	on, turned := keyOf(had), was && p.turned(p.row)
	switch {
	case ended != nil:
		on, turned = ended.way, false
	case was && had.Intent.Kind == "" && p.held.row == p.row:
		on = p.held.key
	}
	switch {
	case ended != nil && ended.well, was && had.State == core.StepRunning && (!still || now.State == core.StepDone):
		p.goOn(m)
		return nil
	case !was || own && still:
		return nil
	case still && p.stay(now, on, turned):
		return nil
	case still:
		p.steps.Lose(had.Title)
		gone = had.Title
	}
	if own || m.top() != p {
		return nil // its end is reported elsewhere; the layer above the page has the keys
	}
	return m.sayGone(quote(gone))
}

// goOn goes to what comes next after a success. For a moment keys count as meant for the previous step.
func (p *procedurePage) goOn(m *Model) {
	p.goNextAfter(p.row)
	p.hush.begin(m)
}

// turned tells whether another way than the row's own was chosen.
func (p *procedurePage) turned(row string) bool {
	_, turned := p.way[row]
	return turned
}

// stay keeps the cursor on its way; false when that way no longer exists. While somebody is at work there and nothing can be
// confirmed, the row waits for the way's return.
func (p *procedurePage) stay(now *core.Step, on wayKey, turned bool) bool {
	p.held = heldWay{now.ID, on}
	if keyOf(*now) == on || now.State == core.StepDone {
		delete(p.way, now.ID)
		return true
	}
	n := slices.IndexFunc(now.Alternatives, func(a core.Step) bool { return keyOf(a) == on }) + 1
	if n > 0 {
		p.turnTo(now, n)
	} else {
		delete(p.way, now.ID)
	}
	return n > 0 || now.Intent.Kind == "" && !turned
}

// dropWays forgets chosen ways that no longer exist, on rows that are not selected: those rows show their own step again.
func (p *procedurePage) dropWays() {
	for i := range p.proc.Steps {
		s := &p.proc.Steps[i]
		if _, goesOn := p.begun[s.ID]; s.ID != p.row && !goesOn && p.wayOf(s) == 0 {
			delete(p.way, s.ID)
		}
	}
}

// endedHere is how the operation confirmed on a row has ended.
type endedHere struct {
	way  wayKey
	well bool
}

// follow looks at the operation confirmed on the row: whether it goes on, and how it has just ended; nil when it has not.
func (p *procedurePage) follow(m *Model, row string) (goesOn bool, ended *endedHere) {
	for id, b := range p.begun {
		op := m.operation(b.op)
		switch {
		case op == nil && !b.seen && m.now().Sub(b.at) < shownWithin:
			goesOn = goesOn || id == row
		case op != nil && !op.State.Ended():
			b.seen = true
			p.begun[id] = b
			goesOn = goesOn || id == row
		default:
			delete(p.begun, id)
			p.steps.Redraw()
			if id == row {
				ended = &endedHere{b.way, op != nil && op.State == core.OperationDone}
			}
		}
	}
	return goesOn, ended
}

// confirmed notes what was confirmed on a row, so that the cursor goes on when it has succeeded.
func (p *procedurePage) confirmed(m *Model, row, op string, step core.Step) {
	p.begun[row] = begun{op: op, way: keyOf(step), at: m.now()}
	p.steps.Redraw()
	if s, ok := p.steps.Current(); !ok || s.ID != row {
		return
	}
	p.row = row
	if _, ended := p.follow(m, row); ended != nil && ended.well {
		p.goOn(m)
	}
}

// handle ignores keys for the selected step for a moment after the cursor has gone on by itself.
func (p *procedurePage) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	if !p.hush.on(m) {
		p.held = heldWay{} // the operator has acted: a way is held only while nobody does
		return false, nil
	}
	a := m.actionFor(msg.String())
	if a == nil || !slices.Contains([]string{"step.open", "step.way.next", "step.way.previous", "step.copy", "step.owners"}, a.ID) {
		return false, nil
	}
	return true, m.notTaken(msg.String(), "the cursor has just gone on to this step")
}
