package tui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ScopeForm is the scope of forms, and of boxes that have only keys of their own.
const ScopeForm Scope = "form"

// choice is one of the values that a form offers.
type choice struct {
	name, text string
	intent     core.Intent
}

// form asks for what an intent still lacks: a choice or a text. It changes nothing; it leads to the confirmation.
type form struct {
	title   string
	about   string
	choices []choice
	at      int

	label  string // of the text field; empty when there is none
	input  textinput.Model
	intent func(text string) (core.Intent, error)       // of a form without choices
	with   func(i core.Intent, text string) core.Intent // what the text adds to the choice's intent, of a form with both
	// parse is with, and says what is wrong with the text.
	parse func(i core.Intent, text string) (core.Intent, error)
	live  bool // it says at once what stands against it, not only when it is submitted
	err   error

	began    string // what the text field held when it was opened anew
	recalled string // the draft that it was opened with; empty when there was none
}

// How many characters a field takes where nothing else is said, and one for a list.
const (
	mostInField     = 200
	mostInLongField = 2000
)

func newField(value string) textinput.Model { return newLongField(value, mostInField) }

// newLongField is a field of at most most characters. What it begins with has to fit: the rest would be cut without a word.
func newLongField(value string, most int) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = most
	in.SetVirtualCursor(false)
	in.SetValue(value)
	in.Focus()
	return in
}

// pasteInto puts a pasted text into a field, as a whole or not at all: what is left of it after a cut means something else. It returns why
// the text was not taken; empty when it was.
func pasteInto(in *textinput.Model, text string) string {
	text = strings.TrimRight(text, "\r\n") // a copied line ends in a line break
	clean, fits := sanitise.Typed(text, utf8.UTFMax*in.CharLimit)
	if !fits || utf8.RuneCountInString(in.Value())+utf8.RuneCountInString(clean) > in.CharLimit {
		return "not taken: it would be longer than " + counted(in.CharLimit, "character")
	}
	*in, _ = in.Update(tea.PasteMsg{Content: clean})
	return ""
}

// aboutNodes names what a form is about.
func aboutNodes(s *core.Snapshot, names []string) string {
	labels := make([]string, len(names))
	for i, n := range names {
		labels[i] = s.Label(n)
	}
	if len(labels) > 8 {
		return fmt.Sprintf("%s and %d more nodes", strings.Join(labels[:8], ", "), len(labels)-8)
	}
	return strings.Join(labels, ", ")
}

// viewOf is the view of the only node that a form is about, which need not be the selected one: after a mark the cursor goes on. It is nil
// where the form is about several, or the node is gone.
func viewOf(s *core.Snapshot, nodes []string) *core.NodeView {
	if len(nodes) != 1 {
		return nil
	}
	if v, there := progress.NodeView(s, nodes[0]); there {
		return v
	}
	return nil
}

// newModeForm asks for the migration mode of nodes.
func newModeForm(s *core.Snapshot, nodes []string) *form {
	f := &form{title: "Migration mode of " + aboutNodes(s, nodes),
		about: "What the OpenStack controller does with the instances when the node goes into maintenance."}
	for _, c := range []struct {
		mode       core.MigrationMode
		name, text string
	}{
		{core.ModeLive, "live", "it live-migrates them"},
		{core.ModeManual, "manual", "it waits for you"},
		{core.ModeSkip, "skip", "it leaves them: they go down with the host"},
		{"", "not set", "remove the annotation; that means live"},
	} {
		f.choices = append(f.choices, choice{c.name, c.text, core.Intent{Kind: core.IntentSetMode, Nodes: nodes, Mode: c.mode}})
	}
	if v := viewOf(s, nodes); v != nil {
		for i, c := range f.choices {
			if v.ModeSet && c.intent.Mode == v.Mode || !v.ModeSet && c.intent.Mode == "" {
				f.at = i
				f.choices[i].text += " (as it is)"
			}
		}
	}
	return f
}

// newAttemptsForm asks for the number of attempts of nodes.
func newAttemptsForm(s *core.Snapshot, nodes []string) *form {
	value := ""
	if v := viewOf(s, nodes); v != nil {
		value = v.AttemptsRaw
	}
	return &form{title: "Attempts to migrate an instance on " + aboutNodes(s, nodes),
		about: fmt.Sprintf("How often the OpenStack controller tries to live-migrate one instance. Empty removes the annotation; "+
			"that means %d.", core.DefaultMigrationAttempts),
		label: "attempts", input: newField(value),
		intent: func(text string) (core.Intent, error) {
			i := core.Intent{Kind: core.IntentSetAttempts, Nodes: nodes}
			if text == "" {
				return i, nil
			}
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 100 {
				return i, fmt.Errorf("%q is not a number from 1 to 100", text)
			}
			i.Attempts = n
			return i, nil
		}}
}

// newReasonForm asks for the reason with which a compute service is disabled.
func newReasonForm(s *core.Snapshot, node string) *form {
	return &form{title: "Disable nova-compute of " + s.Label(node),
		about: "No instance is scheduled to it any more; those that are there stay. Others read the reason in the service list.",
		label: "reason", input: newField(""),
		intent: func(text string) (core.Intent, error) {
			i := core.Intent{Kind: core.IntentDisableCompute, Node: node, Reason: text}
			if text == "" {
				return i, fmt.Errorf("a reason is needed: somebody will wonder why")
			}
			return i, nil
		}}
}

// lockName is what to call a lock: "openstack on cmp-07".
func lockName(s *core.Snapshot, l *core.WorkloadLock) string {
	if l.Node == "" {
		return l.Controller + " of the cluster"
	}
	return l.Controller + " on " + s.Label(l.Node)
}

// newOverrideForm asks for the state and text of an overridden lock.
func newOverrideForm(s *core.Snapshot, l *core.WorkloadLock) *form {
	f := &form{title: "Override the lock of " + lockName(s, l),
		about: "The lock belongs to the controller " + l.Controller + ". LCM believes it, whoever has set it. The text goes into its " +
			"errorMessage, where everybody can read it; without a text, the controller's is removed.",
		label: "text", input: newField(""), with: func(i core.Intent, text string) core.Intent { i.Reason = text; return i }}
	f.input.CharLimit = step.MaxLockText
	for _, c := range []struct {
		state core.LockState
		text  string
	}{
		{core.LockInactive, "released: LCM may go on"},
		{core.LockActive, "held: LCM waits"},
		{core.LockFailed, "LCM stops there, and says so"},
	} {
		text := c.text
		if l.State() == c.state {
			text += " (as it is)"
		}
		f.choices = append(f.choices, choice{string(c.state), text, core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: c.state}})
	}
	return f
}

// newLockTextForm asks for the text with which a lock is to say failed.
func newLockTextForm(s *core.Snapshot, l *core.WorkloadLock) *form {
	input := newField("")
	input.CharLimit = step.MaxLockText
	return &form{title: "Set the lock of " + lockName(s, l) + " to failed",
		about: "LCM stops there until the lock is inactive. The text goes into its errorMessage, where everybody can read it.",
		label: "text", input: input,
		intent: func(text string) (core.Intent, error) {
			i := core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: core.LockFailed, Reason: text}
			if text == "" {
				return i, fmt.Errorf("a text is needed: somebody will wonder why")
			}
			return i, nil
		}}
}

// newScopeForm asks for the scope of a node's maintenance by hand.
func newScopeForm(s *core.Snapshot, node string) *form {
	return &form{title: "Ask for the maintenance of " + s.Label(node),
		about: "The application controllers prepare the node, as they do in an update; the work on it is yours. The OpenStack controller only " +
			"answers requests for the release that it is at, or for none.",
		label: "release", input: newField(procedure.AskedRelease(s, node)), with: withRelease,
		choices: []choice{
			{"os", "the host may reboot: its instances are moved", core.Intent{Kind: core.IntentAskNode, Node: node, Scope: core.ScopeOS}},
			{"drain", "the host stays up: no instance is moved", core.Intent{Kind: core.IntentAskNode, Node: node, Scope: core.ScopeDrain}},
		}}
}

// newClusterForm asks for the scope and the release of a maintenance of the cluster by hand.
func newClusterForm(s *core.Snapshot) *form {
	return &form{title: "Ask for the maintenance of the cluster",
		about: "The application controllers make the cluster safe for work on its nodes. The OpenStack controller only answers requests for " +
			"the release that it is at, or for none.",
		label: "release", input: newField(procedure.AskedRelease(s, "")), with: withRelease,
		choices: []choice{
			{"no scope", "each node's request has its own, since 26.1", core.Intent{Kind: core.IntentAskCluster}},
			{"os", "for releases that read it here: the hosts may reboot", core.Intent{Kind: core.IntentAskCluster, Scope: core.ScopeOS}},
			{"drain", "for releases that read it here: the hosts stay up", core.Intent{Kind: core.IntentAskCluster, Scope: core.ScopeDrain}},
		}}
}

// newAlertsForm asks for the alerts that pause the update.
func newAlertsForm(s *core.Snapshot) *form {
	value := ""
	if p := s.Management.Pause; p != nil {
		value = strings.Join(p.Alerts, " ")
	}
	return &form{title: "Alerts that pause the update",
		about: "Names of alerts of StackLight, with spaces between. When one of them fires, nothing further of the update begins until it is " +
			"commenced again. Empty removes the UpdateAutoPause.",
		label: "alerts", input: newLongField(value, mostInLongField+utf8.RuneCountInString(value)), // none of those that there are is lost
		intent: func(text string) (core.Intent, error) {
			alerts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
			return core.Intent{Kind: core.IntentSetAutoPause, Alerts: alerts}, nil
		}}
}

func withRelease(i core.Intent, release string) core.Intent {
	i.Release = release
	return i
}

func (*form) scope() Scope           { return ScopeForm }
func (*form) page() bool             { return false }
func (*form) refresh(*Model) tea.Cmd { return nil }

// typed tells whether the form has a text field.
func (f *form) typed() bool { return f.label != "" }

func (f *form) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch key := msg.String(); key {
	case "esc", "enter", "up", "down", "tab", "shift+tab":
		return false, nil
	default:
		if f.typed() {
			f.input, _ = f.input.Update(msg)
			f.err = nil
			return true, nil
		}
		if key == "j" || key == "k" {
			return false, nil
		}
	}
	return true, nil
}

func (f *form) paste(_ *Model, text string) tea.Cmd {
	if f.typed() {
		f.err = nil
		if refused := pasteInto(&f.input, text); refused != "" {
			f.err = errors.New(refused)
		}
	}
	return nil
}

func (f *form) move(by int) {
	if n := len(f.choices); n > 0 {
		f.at = (f.at + by + n) % n
	}
}

// submit goes on to the confirmation.
func (f *form) submit(m *Model) tea.Cmd {
	intent, err := f.proposes()
	if err != nil {
		f.err = err
		return nil
	}
	m.keep(f)
	m.close(f)
	cmd := m.confirm(intent, "")
	if d, ok := m.top().(*confirmDialog); ok {
		d.form = f.title
	}
	return cmd
}

// proposes is the form's intent as it stands, or what is wrong with it.
func (f *form) proposes() (core.Intent, error) {
	text := strings.TrimSpace(f.input.Value())
	switch {
	case len(f.choices) == 0 && f.intent == nil:
		return core.Intent{}, errors.New("there is nothing to choose from any more")
	case len(f.choices) == 0:
		return f.intent(text)
	}
	intent := f.choices[f.at].intent
	if f.parse != nil {
		return f.parse(intent, text)
	}
	if f.with != nil {
		intent = f.with(intent, text)
	}
	return intent, nil
}

// mind is what stands against the form as it is filled in now; empty when nothing does, or when nothing was typed yet.
func (f *form) mind(s *core.Snapshot) string {
	if !f.live || s == nil || f.typed() && strings.TrimSpace(f.input.Value()) == "" {
		return ""
	}
	intent, err := f.proposes()
	if err != nil {
		return err.Error()
	}
	g, blocked := step.Plan(s, intent).BlockedBy()
	if !blocked || g.SaysUnarmed() {
		return ""
	}
	return "does not hold: " + g.Text + wording.InBrackets(g.Answer)
}

// mostChoices is how many choices are shown at once, at most.
const mostChoices = 8

// shownChoices are the bounds of the choices that are shown: those around the chosen one, if there are many.
func (f *form) shownChoices(most int) (from, to int) {
	if len(f.choices) <= most {
		return 0, len(f.choices)
	}
	from = min(max(f.at-most/2, 0), len(f.choices)-most)
	return from, from + most
}

// cancel leaves the form.
func (f *form) cancel(m *Model) tea.Cmd {
	m.keep(f)
	m.close(f)
	return nil
}

// What a form leaves out where the screen is too low for all of it.
const (
	formWhole    = iota
	formUntaught // without what it is about
	formDense    // without blank lines, and what is wrong in two lines
	formFewer    // only as many choices as have room
	formShortened
)

func (f *form) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 78)
	body := inRoom(h, formShortened, func(out int) []draw.Line { return f.body(m, max(w-4, 10), h-boxFrame, out) })
	return m.look.Box(draw.One(themes.Strong, f.title), m.whichCluster(), body, w)
}

// body is what the form says, but for what is left out.
func (f *form) body(m *Model, inner, room, out int) []draw.Line {
	var above, below []draw.Line // the choices
	if out < formDense {
		above = append(above, draw.Line{})
	}
	if out < formUntaught {
		above = append(append(above, draw.Paragraph(themes.Text, f.about, inner)...), draw.Line{})
	}
	if f.typed() {
		if len(f.choices) > 0 && out < formDense {
			below = append(below, draw.Line{})
		}
		label := draw.One(themes.Dim, f.label+": ")
		below = append(below, append(label, inputLine(f.input.Value(), f.input.Position(), inner-label.Width(), true)...))
		if f.recalled != "" && f.input.Value() == f.recalled {
			below = append(below, draw.One(themes.Dim, "as you left it; ctrl+u empties it"))
		}
	}
	if out < formDense {
		below = append(below, draw.Line{})
	}
	most := room
	if out >= formDense {
		most = 2
	}
	if f.err != nil {
		below = append(below, atMost(most, themes.Bad, f.err.Error(), inner)...)
	} else if mind := f.mind(m.snap); mind != "" {
		below = append(below, atMost(most, themes.Warn, mind, inner)...)
	}
	if out < formDense {
		below = append(below, draw.One(themes.Dim, "enter goes on to the confirmation; nothing is changed yet. esc cancels."))
	}
	shown := mostChoices
	if out >= formFewer {
		shown = min(max(room-len(above)-len(below)-1, 1), mostChoices) // a line says how many there are
	}
	return append(append(above, f.choiceLines(m, shown)...), below...)
}

// choiceLines are the choices around the chosen one.
func (f *form) choiceLines(m *Model, most int) []draw.Line {
	var out []draw.Line
	wide := 8
	for _, c := range f.choices {
		wide = min(max(wide, draw.Width(sanitise.Text(c.name, 64))), 24)
	}
	from, to := f.shownChoices(most)
	for i, c := range f.choices[from:to] {
		name := draw.One(themes.Text, sanitise.Text(c.name, 64)).Fit(wide, false).Text()
		l := draw.Line{draw.Blank(2), draw.Text(themes.Text, name+"  "), draw.Text(themes.Dim, c.text)}
		if from+i == f.at {
			l = draw.Line{draw.Text(themes.Match, m.look.Glyph.Cursor+" "), draw.Text(themes.ButtonFocus, name), draw.Blank(2),
				draw.Text(themes.Text, c.text)}
		}
		out = append(out, l)
	}
	if n := len(f.choices); to-from < n {
		out = append(out, draw.One(themes.Dim, fmt.Sprintf("  %d to %d of %d", from+1, to, n)))
	}
	return out
}

// formActions work in forms.
func formActions() []Action {
	with := func(f func(m *Model, l *form) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if l, ok := m.top().(*form); ok {
				return f(m, l)
			}
			return nil
		}
	}
	return []Action{
		{ID: "form.submit", Title: "Go on to the confirmation", Short: "go on", Scope: ScopeForm, Keys: []string{"enter"}, Footer: 2,
			run: with(func(m *Model, f *form) tea.Cmd { return f.submit(m) })},
		{ID: "form.cancel", Title: "Cancel", Short: "cancel", Scope: ScopeForm, Keys: []string{"esc"}, Footer: 1,
			run: with(func(m *Model, f *form) tea.Cmd { return f.cancel(m) })},
		{ID: "form.next", Title: "Go to the next choice", Short: "next", Scope: ScopeForm, Keys: []string{"down", "tab", "j"},
			Footer: 3, run: with(func(_ *Model, f *form) tea.Cmd { f.move(1); return nil })},
		{ID: "form.previous", Title: "Go to the previous choice", Short: "previous", Scope: ScopeForm,
			Keys: []string{"up", "shift+tab", "k"}, run: with(func(_ *Model, f *form) tea.Cmd { f.move(-1); return nil })},
	}
}
