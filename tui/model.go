package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// Model is the whole screen's state: the newest Snapshot, and what the operator selected, opened and typed.
type Model struct {
	opts    Options
	backend Backend
	ctx     context.Context
	now     func() time.Time
	after   func(time.Duration, tea.Msg) tea.Cmd        // a message after a while
	plan    func(*core.Snapshot, core.Intent) core.Step // core.Plan

	unstoppable func() string              // why the program cannot be suspended
	halt        func() tea.Cmd             // stops the program
	confirming  struct{ title, op string } // what was confirmed last, until a Snapshot shows its operation
	armedBefore bool                       // writing was on when it was to be suspended
	halting     bool                       // it is about to be suspended, once the lease is given back

	theme themes.Theme
	look  *draw.Look
	depth themes.Depth
	tmux  bool
	title string // the terminal window's, as it was with the frame
	mouse bool
	// touched is set by the first key: from then on the cursor stays where the operator put it. Before that, while the first
	// facts come in, it is on the first row.
	touched bool
	pump    *pump
	frames  *frames // nil without a terminal
	opened  time.Time

	width, height int
	snap          *core.Snapshot

	kinds  []paneKind
	panes  map[Scope]pane  // use pane, which gives them what they show
	focus  Scope           // of the pane whose keys work
	turn   map[place]Scope // the pane at each place that had the focus last
	bottom place           // which of the two lower places is seen when there is room for one
	across bool            // the timeline takes the whole screen while it has the focus
	areas  []area          // where the panes are on the screen, for the mouse

	layers    []layer
	reading   []layer          // pages that read as long as they are open
	drafts    map[string]draft // by the form's title
	held      hush             // h was meant to hold a batch that has been held by itself
	unread    hush             // x was meant for the failure that was there before
	another   hush             // h, o or t was meant for the operation that was on the line before
	deaf      hush             // enter was meant for a form that has closed by itself
	faded     hush             // esc was meant for a message that has gone by itself
	hushed    bool             // a moment without keys has begun
	filtering bool             // the filter of the focused pane is being typed
	toast     toast
	leaves    int       // the number of the message that esc leaves the cluster while it is shown
	messages  []message // what went wrong, for the log; the newest first
	story     *story    // the lines of the journal that the log has
	said      []message // all that was said; the newest first
	// remembered numbers what was said. The number of the toast does not: one toast may say two things.
	remembered int
	beforeLog  Scope // where l leads back to from the log

	beforeTimeline Scope // where T leads back to from the timeline
	lastLost       string
	shown          string // the node whose instances and locks are shown
	follows        int    // how often the cursor has left it
	watched        string // the node that the Backend was told of
	previews       int

	replayed ReplayState // where the recording was when it was last asked

	actions []Action
	dirty   bool
	frame   string
	instant instant        // for which the dashboard is drawn
	resting *core.Snapshot // newer than snap, and the screen shows the same of it; nil: snap is the newest
}

// New makes the screen, as a tea.Model. Run shows it on a terminal.
func New(opts Options) tea.Model { return newModel(context.Background(), opts) }

func newModel(ctx context.Context, opts Options) *Model {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	theme := opts.Theme
	if theme.Looks == nil {
		theme, _ = themes.Load(themes.Auto) // embedded, and loaded by its test
	}
	m := &Model{
		opts: opts, backend: opts.Backend, ctx: ctx, now: opts.Now, plan: step.Plan, after: after,
		unstoppable: unstoppable, halt: halt, theme: theme, depth: themes.Depth256,
		kinds: paneKinds(), panes: make(map[Scope]pane), turn: make(map[place]Scope), bottom: placeLowerLeft,
		focus: ScopeNodes, beforeLog: ScopeNodes, story: &story{most: mostLogLines}, dirty: true,
		actions: Actions(),
	}
	if opts.Actions != nil {
		m.actions = opts.Actions
	}
	m.opts.Title = sanitise.Text(opts.Title, 200)
	m.opened = m.now()
	if opts.NoColor {
		m.depth = themes.DepthNone
	}
	m.relook()
	for _, k := range m.kinds {
		m.panes[k.scope] = k.make()
	}
	m.pump = newPump(ctx, opts.Backend)
	if opts.clusters != nil {
		opts.clusters.page.look = m.look
		m.open(opts.clusters.page)
	}
	return m
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// relook makes a new look after a change of the theme or of the terminal's depth.
func (m *Model) relook() {
	glyphs, _ := themes.LoadGlyphs(m.opts.ASCII) // embedded, and loaded by its test
	m.look = draw.NewLook(m.theme, glyphs, m.opts.ASCII, m.depth)
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.pump.next, m.askTerminal()}
	if m.opts.AutoTheme {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.opts.Notice != "" {
		cmds = append(cmds, m.say(toneInfo, m.opts.Notice))
	}
	if m.opts.clusters != nil {
		cmds = append(cmds, m.opts.clusters.page.begin(m))
	}
	if m.opts.Arm {
		cmds = append(cmds, m.armAtOnce())
	}
	cmds = append(cmds, m.awaitCall(), m.awaitReplay())
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if next, is := msg.(snapshotMsg); is && m.rests(next.snapshot) {
		if next.snapshot != m.snap {
			m.resting = next.snapshot
		}
		return m, tea.Batch(m.pump.next, m.followLog())
	}
	if _, is := msg.(frameMsg); is {
		m.frames.made()
		return m, nil
	}
	m.dirty = true
	defer m.leaveClosed()
	woke := m.resting != nil
	cmd := m.wake()
	if more := m.update(msg); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	if woke { // a Snapshot was taken that is on no frame yet
		m.dirty = true
	}
	if over := m.hushEnds(); over != nil {
		cmd = tea.Batch(cmd, over)
	}
	if more := m.followLog(); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	return m, cmd
}

// rests tells whether the dashboard shows the same of a new Snapshot: only time has passed, and no text on the screen is another one yet.
// At rest that is so of nearly all Snapshots, and none of them is drawn. Pages and boxes are drawn of each.
func (m *Model) rests(s *core.Snapshot) bool {
	return !m.dirty && m.snap != nil && m.top() == nil && m.opts.Replay == nil && !m.pump.shows.Load() &&
		(m.instant.until.IsZero() || s.Now.Before(m.instant.until)) && m.snap.Same(s) && atEase(s)
}

// wake takes the newest Snapshot, for whoever decides or draws by it.
func (m *Model) wake() tea.Cmd {
	if m.resting == nil {
		return nil
	}
	return m.take(m.resting)
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotMsg:
		return tea.Batch(m.take(msg.snapshot), m.pump.next)
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if m.opts.SyncOutput == SyncOn {
			return m.askTerminal()
		}
	case tea.ColorProfileMsg:
		m.setProfile(msg.Profile)
	case tea.BackgroundColorMsg:
		m.setBackground(msg.IsDark())
	case tea.EnvMsg:
		m.tmux = msg.Getenv("TMUX") != ""
	case tea.FocusMsg:
		m.pump.hurry(true)
	case tea.BlurMsg:
		m.pump.hurry(false)
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		return m.point(msg.(tea.MouseMsg))
	case toastGoneMsg:
		m.toastGone(msg)
	case followMsg:
		if msg.n != m.follows {
			m.dirty = false
			return nil
		}
		return m.follow()
	case previewMsg, executedMsg, armedMsg, controlledMsg:
		return m.answered(msg)
	case armedAtOnceMsg:
		return m.armedAtOnce(msg)
	case haltMsg:
		return m.halt()
	case arrival:
		return msg.arrive(m)
	case resumedMsg:
		return m.resumed(msg)
	case hushOverMsg: // it is drawn again
	default:
		m.dirty = false
		m.frames.due() // one of Bubble Tea's own, such as a copied text: it goes to the terminal with a frame
	}
	return nil
}

// settleWithin is how long after the start the first facts may still move the cursor to the first row.
const settleWithin = 15 * time.Second

// take puts a new Snapshot on the screen.
func (m *Model) take(s *core.Snapshot) tea.Cmd {
	if s == nil || m.snap != nil && s.Revision < m.snap.Revision {
		return nil
	}
	before, was, failed := m.snap, m.running(), m.failure()
	m.snap, m.resting = s, nil
	m.instant = instant{at: s.Now}
	if op := m.confirming.op; op != "" && m.operation(op) != nil {
		m.confirming.title, m.confirming.op = "", "" // from now on it is among the operations
	}
	if before == nil {
		m.dateMessages()
	}
	m.retell(before, s)
	cmd := tea.Batch(m.refresh(), m.ended(before), m.remind(before))
	if !m.touched && m.now().Sub(m.opened) < settleWithin && m.pane(ScopeNodes).Index() > 0 {
		m.pane(ScopeNodes).GoTo(0)
		cmd = tea.Batch(cmd, m.follow())
	}
	if s.Write.Lost != "" && s.Write.Lost != m.lastLost {
		m.open(newNotice(m, "Writing was switched off", s.Write.Lost))
	}
	m.lastLost = s.Write.Lost
	m.noteRunning(was)
	if before != nil {
		m.noteFailure(failed)
	}
	return cmd
}

// refresh hands the Snapshot to panes and layers, and tells the Backend which node is shown.
func (m *Model) refresh() tea.Cmd {
	if m.snap == nil {
		return nil
	}
	var cmds []tea.Cmd
	another := false
	for _, k := range m.kinds {
		p := m.pane(k.scope)
		gone := p.refresh()
		switch {
		case !m.touched || k.scope != m.focus && k.scope != ScopeNodes:
			p.Settle() // nobody has chosen the row, or the keys go elsewhere
		case gone != "" && m.top() == nil:
			cmds = append(cmds, m.sayGone(gone))
		}
		if k.scope == ScopeNodes { // panes that depend on the selected node come next
			another = m.shown != m.selectedNode()
			m.shown = m.selectedNode()
		}
	}
	if another {
		m.showAnother()
	}
	for _, l := range slices.Clone(m.layers) { // a box may close itself by what has come
		if !m.shows(l) {
			continue
		}
		if cmd := l.refresh(m); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(append(cmds, m.watch())...)
}

func (m *Model) setProfile(p colorprofile.Profile) {
	depth := themes.Depth256
	switch {
	case m.opts.NoColor || p <= colorprofile.ASCII:
		depth = themes.DepthNone
	case p == colorprofile.ANSI:
		depth = themes.Depth16
	case p == colorprofile.TrueColor:
		depth = themes.DepthTrue
	}
	if depth != m.depth {
		m.depth = depth
		m.relook()
	}
}

// setBackground changes between dark and light when the theme is left to the terminal.
func (m *Model) setBackground(dark bool) {
	if !m.opts.AutoTheme || m.theme.Dark == dark {
		return
	}
	name := "light"
	if dark {
		name = "dark"
	}
	if t, err := themes.Load(name); err == nil {
		m.theme = t
		m.relook()
	}
}
