package tui

import (
	"fmt"
	"reflect"
	"slices"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// ScopeConfirm is the confirmation of a step.
const ScopeConfirm Scope = "confirmation"

// The parts of a confirmation that can have the focus.
const (
	onCancel = iota
	onInput  // only where the target's name is typed
	onConfirm
)

// mostInName is how many characters a name takes that is typed: no object's has more.
const mostInName = 256

// confirmDialog asks the operator to confirm exactly one step. It holds the step as the operator read it. When the newest
// Snapshot differs, nothing can be confirmed until the operator has read the change.
type confirmDialog struct {
	where string         // "step 3 of 6", or empty
	form  string         // the title of the form that led to it; empty when none did
	steps *procedurePage // the page of steps that led to it, and its row there; nil when none did
	row   string
	step  core.Step
	next  *core.Step // the step as it is now, when it differs from what was read
	news  []string   // what has changed, in words

	focus  int
	input  textinput.Model
	scroll int
	last   int // the greatest useful scroll, as drawn last

	room *groupRoom // of a step that changes an update group; nil otherwise

	previewN int
	preview  *core.Preview
	again    bool // the servers are asked once more, after they have refused it
	asking   bool // the grant is on its way
	refusal  string
	missing  string // what is still to be typed, after an attempt to confirm without it; or why a text was not taken
	hush     hush
}

// confirm opens the confirmation of an intent and asks the servers for a dry-run.
func (m *Model) confirm(i core.Intent, where string) tea.Cmd {
	if m.snap == nil {
		return nil
	}
	d := &confirmDialog{where: where, step: m.plan(m.snap, i), input: newLongField("", mostInName)}
	d.room = roomFor(m.snap, i)
	d.rest()
	m.open(d)
	return tea.Batch(d.askPreview(m), d.room.ask(m))
}

func (*confirmDialog) scope() Scope { return ScopeConfirm }
func (*confirmDialog) page() bool   { return false }

// askPreview asks the servers for a dry-run, where the step has one.
func (d *confirmDialog) askPreview(m *Model) tea.Cmd {
	m.previews++
	d.previewN, d.preview, d.again = m.previews, nil, false
	if d.step.Change == nil {
		d.preview = &core.Preview{}
		return nil
	}
	return m.preview(d.previewN, d.step.Intent)
}

// previewed takes the answer of the servers. After a refusal enter asked them again: it must not confirm when it is pressed once more, or
// held.
func (d *confirmDialog) previewed(m *Model, p core.Preview) {
	if d.preview = &p; d.again && p.Err == nil {
		d.again = false
		d.hush.begin(m)
		d.rest()
		d.focus = onCancel
		d.input.Blur()
	}
}

// rest puts the focus where a stray key does no harm: on Cancel, or where a name has to be typed, on its empty field.
func (d *confirmDialog) rest() {
	d.focus, d.missing = onCancel, ""
	d.input.Reset()
	d.input.Blur()
	if d.typed() && d.blocker() == "" {
		d.focus = onInput
		d.input.Focus()
	}
}

// typed tells whether the target's name must be typed.
func (d *confirmDialog) typed() bool { return d.step.Type != "" }

// fielded tells whether the field for the name is shown: only when nothing but the name and the dry-run is still missing.
func (d *confirmDialog) fielded() bool {
	return d.typed() && d.blocker() == "" && d.next == nil && !d.asking && (d.preview == nil || d.preview.Err == nil)
}

// want says that the name is missing or wrong, and moves the focus to its field.
func (d *confirmDialog) want() {
	d.missing = "Not confirmed: type the name first."
	if d.input.Value() != "" {
		d.missing = "Not confirmed: that is not the name."
	}
	d.focus = onInput
	d.input.Focus()
}

// blocker is why the step cannot be confirmed now; empty when it can.
func (d *confirmDialog) blocker() string {
	switch {
	case d.step.Change == nil && d.step.Blocker() == "":
		return "nothing to confirm"
	case d.step.Change == nil || d.step.Blocker() != "":
		n := 0
		for _, g := range d.step.Guards {
			if !g.Holds {
				n++
			}
		}
		if n == 1 {
			return "1 condition does not hold"
		}
		return fmt.Sprintf("%d conditions do not hold", n)
	}
	return ""
}

// obstacle is what blocks Confirm: an unread change, a guard, a dry-run that is pending or refused, a name that is not typed.
func (d *confirmDialog) obstacle() string {
	switch {
	case d.asking:
		return "asking"
	case d.next != nil:
		return "it has changed: read it again first"
	case d.blocker() != "":
		return d.blocker()
	case d.preview == nil:
		return "waiting for the server's dry-run"
	case d.preview.Err != nil:
		return "the server refuses it"
	case d.typed() && d.input.Value() != d.step.Type:
		return "type " + d.step.Type + " to confirm"
	}
	return ""
}

// refresh plans the step again. A change of its basis must be read before the operator can confirm; guards are just updated.
func (d *confirmDialog) refresh(m *Model) tea.Cmd {
	if d.asking {
		return nil
	}
	d.planAgain(m)
	var ask tea.Cmd
	d.room, ask = d.room.renewed(m, d.step.Intent)
	return ask
}

func (d *confirmDialog) planAgain(m *Model) {
	now := m.plan(m.snap, d.step.Intent)
	was := d.step
	if d.next != nil {
		was = *d.next
	}
	if sameBasis(d.step, now) {
		if d.next != nil || d.step.Blocker() != now.Blocker() && !sameGuards(d.step, now) {
			d.hush.begin(m)
		}
		could := d.blocker() == ""
		d.next, d.news = nil, nil
		d.step = now
		if could != (d.blocker() == "") {
			typed := d.input.Value()
			d.rest()
			d.input.SetValue(typed)
		}
		return
	}
	if d.next == nil || !sameBasis(was, now) {
		d.hush.begin(m)
		d.focus = onCancel
		d.input.Blur()
		d.input.Reset()
	}
	d.next, d.news = &now, whatChanged(m.snap, d.step, now)
}

func sameGuards(a, b core.Step) bool {
	return slices.EqualFunc(a.Guards, b.Guards, func(x, y core.Guard) bool { return x.ID == y.ID && x.Holds == y.Holds })
}

// sameBasis tells whether a grant for a would hold for b: the same object, facts and change.
func sameBasis(a, b core.Step) bool {
	return a.Target == b.Target && a.Type == b.Type && slices.Equal(a.Basis, b.Basis) &&
		(a.Change == nil) == (b.Change == nil) && reflect.DeepEqual(a.Change, b.Change)
}

// whatChanged says in words what is different: "host: cmp-07 → cmp-09".
func whatChanged(s *core.Snapshot, was, now core.Step) []string {
	var out []string
	if was.Target != now.Target {
		out = append(out, fmt.Sprintf("object: %s (uid %s) → %s (uid %s)", was.Target, was.Target.UID, now.Target, now.Target.UID))
	}
	old := make(map[string]string)
	for _, f := range was.Basis {
		old[f.Name] = f.Value
	}
	for _, f := range now.Basis {
		if v, ok := old[f.Name]; !ok {
			out = append(out, f.Name+": now "+orNothing(f.Value))
		} else if v != f.Value {
			out = append(out, f.Name+": "+orNothing(v)+" → "+orNothing(f.Value))
		}
		delete(old, f.Name)
	}
	for _, f := range was.Basis {
		if v, gone := old[f.Name]; gone {
			became := step.FactNow(s, f)
			if became == "" {
				became = "gone"
			}
			out = append(out, f.Name+": "+orNothing(v)+" → "+became)
		}
	}
	switch {
	case len(out) > 0:
	case (was.Change == nil) != (now.Change == nil) && now.Change == nil:
		out = append(out, "there is nothing to change any more")
	default:
		out = append(out, "what would be done has changed")
	}
	return out
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// readAgain takes the step as it is now for read.
func (d *confirmDialog) readAgain(m *Model) tea.Cmd {
	if d.next == nil {
		return nil
	}
	d.step, d.next, d.news, d.refusal, d.scroll = *d.next, nil, nil, "", 0
	d.rest()
	return d.askPreview(m)
}

// goPast switches between pausing at failures and going on past them. That makes it another step than the one that was read, so
// it is planned again and the server is asked again.
func (d *confirmDialog) goPast(m *Model) tea.Cmd {
	i := d.step.Intent
	i.PastFailures = !i.PastFailures
	d.step, d.next, d.news, d.refusal = m.plan(m.snap, i), nil, nil, ""
	d.rest()
	return d.askPreview(m)
}

// handle types into the field when that has the focus, and ignores keys for a moment after the box changed by itself. What is typed
// into the field is kept: a name confirms nothing before enter, and where the step itself has changed the field has lost the focus.
func (d *confirmDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	key := msg.String()
	types := d.focus == onInput && (msg.Text != "" || key == "backspace")
	if d.hush.on(m) && key != "esc" && !types {
		return true, m.notTaken(key, "the box has just changed")
	}
	if d.next != nil && d.typed() && msg.Text != "" { // the rest of a name that was being typed
		return true, m.notTaken(key, "it has changed: read it again"+wording.InBrackets(m.keyWhileTyping("confirm.reread")))
	}
	if d.focus != onInput || leavesText(key) && m.isKeyOf(key, "confirm.copy", "confirm.reread", "confirm.past") {
		return false, nil
	}
	switch key {
	case "esc", "tab", "shift+tab", "up", "down", "pgup", "pgdown":
		return false, nil
	case "enter":
		return true, d.press(m)
	}
	d.input, _ = d.input.Update(msg)
	d.missing = ""
	return true, nil
}

func (d *confirmDialog) paste(_ *Model, text string) tea.Cmd {
	if d.focus == onInput {
		if d.missing = pasteInto(&d.input, text); d.missing != "" {
			d.missing = "That was " + d.missing + "."
		}
	}
	return nil
}

// move takes the focus to the next part, or the one before.
func (d *confirmDialog) move(by int) {
	parts := []int{onCancel, onConfirm}
	if d.typed() && d.blocker() == "" && d.next == nil {
		parts = []int{onCancel, onInput, onConfirm}
	}
	at := max(slices.Index(parts, d.focus), 0)
	d.focus = parts[(at+by+len(parts))%len(parts)]
	if d.focus == onInput {
		d.input.Focus()
	} else {
		d.input.Blur()
	}
}

// enters is what press does with the part that has the focus.
func (d *confirmDialog) enters(m *Model) string {
	switch {
	case d.hush.on(m):
		return nothingYet
	case d.focus == onCancel:
		return "cancels"
	case d.next != nil:
		return "reads again"
	case d.preview != nil && d.preview.Err != nil && d.blocker() == "":
		return "asks again"
	case d.obstacle() != "":
		return nothingYet
	}
	return "confirms"
}

// press does what the focused button says.
func (d *confirmDialog) press(m *Model) tea.Cmd {
	switch {
	case d.focus == onCancel:
		return d.cancel(m)
	case d.next != nil:
		return d.readAgain(m)
	case d.preview != nil && d.preview.Err != nil && d.blocker() == "":
		ask := d.askPreview(m)
		d.again = true
		return ask
	case d.fielded() && d.input.Value() != d.step.Type:
		d.want()
		return nil
	case d.obstacle() != "":
		return nil
	}
	d.asking, d.refusal, d.missing = true, "", ""
	return m.execute(d, d.step, d.input.Value())
}

func (d *confirmDialog) cancel(m *Model) tea.Cmd {
	d.room.leave()
	m.close(d)
	switch {
	case d.asking:
		return m.say(toneWarn, "confirmed already: "+d.step.Title+" is on its way")
	case d.next != nil: // it changed in the last moment: this enter was meant to confirm
		return m.say(toneWarn, "not confirmed, it has changed: "+d.step.Title)
	}
	return nil
}

// refused keeps the box open with the gate's own words.
func (d *confirmDialog) refused(m *Model, err error) {
	d.asking, d.refusal = false, err.Error()
	d.hush.begin(m)
	d.rest()
	if d.focus == onInput {
		d.focus = onCancel
		d.input.Blur()
	}
}

// confirmActions work in the box.
func confirmActions() []Action {
	with := func(f func(m *Model, d *confirmDialog) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if d, ok := m.top().(*confirmDialog); ok {
				return f(m, d)
			}
			return nil
		}
	}
	return []Action{
		{ID: "confirm.press", Title: "Press the focused button", Short: "press", Scope: ScopeConfirm, Keys: []string{"enter"},
			Footer: 3, now: func(m *Model) string {
				if d, ok := m.top().(*confirmDialog); ok {
					return d.enters(m)
				}
				return "press"
			}, run: with(func(m *Model, d *confirmDialog) tea.Cmd { return d.press(m) })},
		{ID: "confirm.cancel", Title: "Cancel", Short: "cancel", Scope: ScopeConfirm, Keys: []string{"esc"}, Footer: 1,
			run: with(func(m *Model, d *confirmDialog) tea.Cmd { return d.cancel(m) })},
		{ID: "confirm.next", Title: "Go to the next button", Short: "next", Scope: ScopeConfirm, Keys: []string{"tab", "right"},
			Footer: 2, run: with(func(_ *Model, d *confirmDialog) tea.Cmd { d.move(1); return nil })},
		{ID: "confirm.previous", Title: "Go to the previous button", Short: "previous", Scope: ScopeConfirm,
			Keys: []string{"shift+tab", "left"}, run: with(func(_ *Model, d *confirmDialog) tea.Cmd { d.move(-1); return nil })},
		{ID: "confirm.copy", Title: "Copy the commands that do the same", Short: "copy commands", Scope: ScopeConfirm,
			Keys: []string{"y", "ctrl+y"}, Footer: 4,
			run: with(func(m *Model, d *confirmDialog) tea.Cmd { return m.copy(joined(d.step.Commands)) })},
		{ID: "confirm.reread", Title: "Accept what has changed, once you have read it", Short: "read again", Scope: ScopeConfirm,
			Keys: []string{"r", "ctrl+r"}, blocked: func(m *Model) string {
				if d, ok := m.top().(*confirmDialog); ok && d.next == nil {
					return "nothing has changed"
				}
				return ""
			}, run: with(func(m *Model, d *confirmDialog) tea.Cmd { return d.readAgain(m) })},
		{ID: "confirm.past", Title: "When an item of the batch fails: pause, or go on with the next", Short: "at a failure", Scope: ScopeConfirm,
			Keys: []string{"f", "ctrl+f"}, blocked: func(m *Model) string {
				if d, ok := m.top().(*confirmDialog); ok && (d.asking || d.next != nil || !d.step.MayGoPast()) {
					return "it is not a batch, or its items depend on one another"
				}
				return ""
			}, run: with(func(m *Model, d *confirmDialog) tea.Cmd { return d.goPast(m) })},
		{ID: "confirm.arm", Title: "Switch writing on", Short: "arm writing", Scope: ScopeConfirm, Keys: []string{"w"}, Footer: 5,
			blocked: func(m *Model) string {
				if m.snap != nil && m.snap.Write.Armed {
					return "writing is on already"
				}
				return ""
			}, run: with(func(m *Model, _ *confirmDialog) tea.Cmd { return m.toggleArm() })},
		{ID: "confirm.down", Title: "Scroll down", Short: "down", Scope: ScopeConfirm, Keys: []string{"down", "pgdown"},
			run: with(func(_ *Model, d *confirmDialog) tea.Cmd { d.scroll = min(d.scroll+1, d.last); return nil })},
		{ID: "confirm.up", Title: "Scroll up", Short: "up", Scope: ScopeConfirm, Keys: []string{"up", "pgup"},
			run: with(func(_ *Model, d *confirmDialog) tea.Cmd { d.scroll = max(d.scroll-1, 0); return nil })},
	}
}
