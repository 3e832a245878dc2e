package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/themes"
)

// fakeBackend records the calls and answers as the test wants.
type fakeBackend struct {
	mu        sync.Mutex
	in        chan *core.Snapshot
	preview   core.Preview
	refuse    error
	armErr    error
	granted   []core.Step
	typed     []string
	executed  []core.Grant
	armed     []string // from whom the lease was to be taken
	disarmed  int
	looked    int
	controls  []core.Control
	steered   []string // operations that the controls were for
	leftOut   []int    // places of the items that were left out
	seen      []string
	focused   []string
	previewed []core.Intent

	lines    []core.JournalLine // newest first
	linesErr error
	asked    []int64

	notes   []core.Note
	noteErr error

	evacuation    evacuation.Forecast
	evacuationErr error
	planned       []evacuation.Request
}

func newFake(s *core.Snapshot) *fakeBackend {
	f := &fakeBackend{in: make(chan *core.Snapshot, 1)}
	if s != nil {
		f.in <- s
	}
	return f
}

// publish puts a Snapshot into the channel; the latest wins.
func (f *fakeBackend) publish(s *core.Snapshot) {
	select {
	case <-f.in:
	default:
	}
	f.in <- s
}

func (f *fakeBackend) Subscribe() (<-chan *core.Snapshot, func()) { return f.in, func() {} }

func (f *fakeBackend) Preview(_ context.Context, i core.Intent) core.Preview {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.previewed = append(f.previewed, i)
	return f.preview
}

func (f *fakeBackend) Grant(step core.Step, typed string) (core.Grant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.granted, f.typed = append(f.granted, step), append(f.typed, typed)
	return core.Grant{ID: "grant", StepID: step.ID, Intent: step.Intent, Target: step.Target, Basis: step.Basis}, f.refuse
}

func (f *fakeBackend) Execute(_ context.Context, g core.Grant) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.executed = append(f.executed, g)
	return "op-9", nil
}

func (f *fakeBackend) LeaveOut(op string, item int) error {
	f.mu.Lock()
	f.leftOut = append(f.leftOut, item)
	f.mu.Unlock()
	return f.Control(op, core.ControlSkip)
}

func (f *fakeBackend) Control(op string, c core.Control) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.controls, f.steered = append(f.controls, c), append(f.steered, op)
	if op == "" {
		return errors.New("no operation named")
	}
	return nil
}

func (f *fakeBackend) Acknowledge(op string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, op)
}

func (f *fakeBackend) Note(_ context.Context, n core.Note) (core.Note, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = append(f.notes, n)
	return n, f.noteErr
}

func (f *fakeBackend) Lines(_ context.Context, after int64, most int) ([]core.JournalLine, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, after)
	var out []core.JournalLine
	for _, l := range f.lines {
		if l.Seq > after && len(out) < most {
			out = append(out, l)
		}
	}
	return out, f.linesErr
}

func (f *fakeBackend) Arm(_ context.Context, from string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = append(f.armed, from)
	return f.armErr
}

func (f *fakeBackend) LookAtLease() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked++
}

func (f *fakeBackend) Disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disarmed++
}

func (f *fakeBackend) ForecastEvacuation(
	_ context.Context, r evacuation.Request, progress core.InventoryProgress,
) (evacuation.Forecast, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = append(f.planned, r)
	progress("hosts' inventories", 50)
	return f.evacuation, f.evacuationErr
}

func (f *fakeBackend) Focus(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.focused = append(f.focused, node)
}

// driver runs a Model without a program: messages go in, and commands run at once, except those that wait.
type driver struct {
	*Model
	fake *fakeBackend
	at   time.Time

	needs     *needsPane
	nodes     *nodesPane
	instances *instancesPane
	locks     *locksPane
	log       *logPane
}

// usualTheme is the theme that a Model loads when none is given. It is loaded once for thousands of Models.
var usualTheme = sync.OnceValue(func() themes.Theme {
	t, err := themes.Load(themes.Auto)
	if err != nil {
		panic(err)
	}
	return t
})

func drive(s *core.Snapshot, w, h int, change ...func(*Options)) *driver {
	d := &driver{fake: newFake(nil), at: fixtureWall}
	opts := Options{Backend: d.fake, Version: "test", Now: func() time.Time { return d.at }, Theme: usualTheme()}
	for _, c := range change {
		c(&opts)
	}
	d.Model = newModel(context.Background(), opts)
	d.needs, d.nodes = d.panes[ScopeNeeds].(*needsPane), d.panes[ScopeNodes].(*nodesPane)
	d.instances = d.panes[ScopeInstances].(*instancesPane)
	d.locks, d.log = d.panes[ScopeLocks].(*locksPane), d.panes[ScopeLog].(*logPane)
	d.pump.in = nil // Snapshots come by send
	d.after = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(followMsg); ok {
			return func() tea.Msg { return msg }
		}
		return nil
	}
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	if s != nil {
		d.send(snapshotMsg{s})
	}
	return d
}

func withTheme(name string) func(*Options) {
	return func(o *Options) {
		t, err := themes.Load(name)
		if err != nil {
			panic(err)
		}
		o.Theme = t
		o.NoColor = name == "mono"
	}
}

// send passes a message to Update and runs the resulting command.
func (d *driver) send(msg tea.Msg) {
	_, cmd := d.Update(msg)
	d.run(cmd)
}

// run runs a command and passes its answer back.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case previewMsg, executedMsg, armedMsg, armedAtOnceMsg, controlledMsg, followMsg, rehearsalMsg, contactsMsg, savedMsg, plannedMsg,
		ownersMadeMsg,
		planSavedMsg, checkMadeMsg, checkRoomMsg, checkEarlierMsg, checkKeptMsg, checkSavedMsg, evacuatedMsg, haltMsg, resumedMsg,
		logEndedMsg, lookSavedMsg, lookedMsg, podsMsg, podMsg, loginReadMsg, suspectMsg, noteKeptMsg,
		linesMsg, handoverMsg, roomMsg, replayMsg:
		d.send(msg)
	}
}

// answers are the messages that a command gives.
func answers(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	var out []tea.Msg
	for _, c := range batch {
		out = append(out, answers(c)...)
	}
	return out
}

// keys presses keys by their names; a longer word that is not a key is typed.
func (d *driver) keys(names ...string) *driver {
	for _, n := range names {
		if k, ok := namedKeys[n]; ok {
			d.send(k)
			continue
		}
		for _, r := range n {
			d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return d
}

var namedKeys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "down": {Code: tea.KeyDown},
	"up": {Code: tea.KeyUp}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "space": {Code: tea.KeySpace, Text: " "}, "pgdown": {Code: tea.KeyPgDown},
	"end": {Code: tea.KeyEnd}, "f4": {Code: tea.KeyF4}, "home": {Code: tea.KeyHome}, "ctrl+k": {Code: 'k',
		Mod: tea.ModCtrl}, "f2": {Code: tea.KeyF2},
	"ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "ctrl+y": {Code: 'y', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl},
	"ctrl+f": {Code: 'f', Mod: tea.ModCtrl},
}

// later moves the screen's clock.
func (d *driver) later(by time.Duration) *driver { d.at = d.at.Add(by); return d }

// shows returns the frame.
func (d *driver) shows() string { return d.View().Content }

// sized is the message that the terminal has another size.
func sized(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }
