package tui

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core/evacuation"
	"lockstep/core/forecast"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// ScopePlan is the forecast of an evacuation.
const ScopePlan Scope = "plan"

// planPage is the forecast of an evacuation. It is made on request and does not change; it shows its time, and a key makes a new one.
type planPage struct {
	pager
	request evacuation.Request
	name    string // what it is a plan of

	plan  *evacuation.Forecast // nil until it is made
	err   error                // why there is none
	every bool                 // all instances are shown, not only those that need somebody
	try   int                  // tells the answers to several requests apart
	said  atomic.Pointer[string]
	stop  context.CancelFunc

	made planText
}

// planText is the page's lines as last made, and for what.
type planText struct {
	w     int
	every bool
	plan  *evacuation.Forecast
	arrow string // of the glyphs in use
	lines []draw.Line
}

// planWithin is how long a plan may take: the hosts of a large cloud are read one by one.
const planWithin = 5 * time.Minute

// planTickEvery is how often the page shows the progress.
const planTickEvery = 500 * time.Millisecond

// plannedMsg is the plan, or why there is none.
type plannedMsg struct {
	page *planPage
	try  int
	plan evacuation.Forecast
	err  error
}

// planTick makes the page show the progress.
type planTick struct {
	page *planPage
	try  int
}

// planSavedMsg is the result of writing a plan to a file.
type planSavedMsg struct {
	path string
	err  error
}

// openPlan asks for the forecast of nodes, of the whole update when there are none.
func (m *Model) openPlan(nodes []string) tea.Cmd {
	p := &planPage{request: evacuation.Request{Nodes: nodes}, name: "the whole update"}
	if len(nodes) > 0 {
		p.name = aboutNodes(m.snap, nodes)
	}
	p.title = func(*Model) string { return "Evacuation plan of " + p.name }
	p.lines = p.body
	m.open(p)
	return p.ask(m)
}

// ask requests the plan.
func (p *planPage) ask(m *Model) tea.Cmd {
	p.leave()
	p.plan, p.err = nil, nil
	p.request.Order, _ = forecast.Order(m.snap)
	p.try++
	p.said.Store(nil)
	ctx, cancel := context.WithTimeout(m.ctx, planWithin)
	p.stop = cancel
	backend, request, try := m.backend, p.request, p.try
	return tea.Batch(m.after(planTickEvery, planTick{p, try}), func() tea.Msg {
		defer cancel()
		plan, err := backend.ForecastEvacuation(ctx, request, func(what string, n int) {
			text := fmt.Sprintf("read so far: %d %s", n, what)
			p.said.Store(&text)
		})
		return plannedMsg{p, try, plan, err}
	})
}

// leave cancels a request that is under way.
func (p *planPage) leave() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// arrive puts the forecast on the page that asked for it.
func (msg plannedMsg) arrive(*Model) tea.Cmd {
	if msg.try != msg.page.try {
		return nil
	}
	msg.page.plan, msg.page.err = &msg.plan, msg.err
	if msg.err != nil {
		msg.page.plan = nil
	}
	return nil
}

// arrive redraws the page with what was read meanwhile.
func (msg planTick) arrive(m *Model) tea.Cmd {
	if msg.try == msg.page.try && msg.page.plan == nil && msg.page.err == nil && m.shows(msg.page) {
		return m.after(planTickEvery, msg)
	}
	return nil
}

// arrive says whether the plan was written to a file.
func (msg planSavedMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "the plan was not written: "+msg.err.Error())
	}
	return m.say(toneInfo, "written, for you alone: "+msg.path)
}

// shows tells whether the layer is open.
func (m *Model) shows(l layer) bool {
	for _, open := range m.layers {
		if open == l {
			return true
		}
	}
	return false
}

func (*planPage) scope() Scope { return ScopePlan }

// save writes the plan to a file in the folder where Lockstep was started.
func (p *planPage) save(m *Model, kind string) tea.Cmd {
	save, plan := m.opts.SaveFile, p.plan
	return func() tea.Msg {
		content := []byte(plan.Markdown())
		if kind == "json" {
			var err error
			if content, err = plan.JSON(); err != nil {
				return planSavedMsg{err: err}
			}
		}
		path, err := save(plan.FileName(kind), content)
		return planSavedMsg{path, err}
	}
}

// planActions work on the page of a plan.
func planActions() []Action {
	with := func(f func(m *Model, p *planPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*planPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	scroll := func(by func(p *planPage) int) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *planPage) tea.Cmd { p.scrollBy(by(p)); return nil })
	}
	needPlan := func(m *Model) string {
		if p, ok := m.top().(*planPage); !ok || p.plan == nil {
			return "there is no plan yet"
		}
		return ""
	}
	needFile := func(m *Model) string {
		if m.opts.SaveFile == nil {
			return "files cannot be written here"
		}
		return needPlan(m)
	}
	all := []Action{
		{ID: "plan.close", Title: "Close the plan", Short: "close", Keys: []string{"esc", "backspace"}, Footer: 1,
			run: with(func(m *Model, p *planPage) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "plan.every", Title: "Show every instance, or only those that need somebody", Short: "every instance", Keys: []string{"a"},
			Footer: 2, blocked: needPlan,
			run: with(func(_ *Model, p *planPage) tea.Cmd { p.every = !p.every; return nil })},
		{ID: "plan.markdown", Title: "Write the plan to a file as Markdown, readable by you alone", Short: "to Markdown",
			Keys: []string{"m"}, Footer: 3, blocked: needFile,
			run: with(func(m *Model, p *planPage) tea.Cmd { return p.save(m, "md") })},
		{ID: "plan.json", Title: "Write the plan to a file as JSON, readable by you alone", Short: "to JSON", Keys: []string{"J"},
			Footer: 4, blocked: needFile,
			run: with(func(m *Model, p *planPage) tea.Cmd { return p.save(m, "json") })},
		{ID: "plan.again", Title: "Make the plan anew", Short: "anew", Keys: []string{"r"}, Footer: 5,
			run: with(func(m *Model, p *planPage) tea.Cmd { return p.ask(m) })},
		{ID: "plan.copy", Title: "Copy the plan as Markdown", Short: "copy", Keys: []string{"y", "c"}, blocked: needPlan,
			run: with(func(m *Model, p *planPage) tea.Cmd { return m.copy(p.plan.Markdown()) })},
		{ID: "plan.down", Title: "Scroll down", Short: "down", Keys: []string{"down", "j", "enter"},
			run: scroll(func(*planPage) int { return 1 })},
		{ID: "plan.up", Title: "Scroll up", Short: "up", Keys: []string{"up", "k"}, run: scroll(func(*planPage) int { return -1 })},
		{ID: "plan.page.down", Title: "Scroll down a page", Short: "page down", Keys: []string{"pgdown", "space", "ctrl+f"},
			run: scroll(func(p *planPage) int { return p.height - 1 })},
		{ID: "plan.page.up", Title: "Scroll up a page", Short: "page up", Keys: []string{"pgup", "ctrl+u"},
			run: scroll(func(p *planPage) int { return 1 - p.height })},
		{ID: "plan.first", Title: "Go to the beginning", Short: "beginning", Keys: []string{"home", "g"},
			run: scroll(func(*planPage) int { return -1 << 30 })},
		{ID: "plan.last", Title: "Go to the end", Short: "end", Keys: []string{"end", "G"}, run: scroll(func(*planPage) int { return 1 << 30 })},
	}
	for i := range all {
		all[i].Scope = ScopePlan
	}
	return append(all, findActions(ScopePlan, "plan", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*planPage); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})...)
}

// fateMark is how a fate is drawn.
func fateMark(g themes.Glyphs, f evacuation.Fate) mark {
	switch f {
	case evacuation.FateBlocks:
		return mark{g.Needs, themes.Needs}
	case evacuation.FateMayFail:
		return mark{g.Dot, themes.Warn}
	case evacuation.FateUnknown:
		return mark{g.Unknown, themes.Warn}
	case evacuation.FateMoves:
		return mark{g.Arrow, themes.Moves}
	}
	return mark{" ", themes.Dim}
}

func (p *planPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.scrollBy(wheel(at.Button))
	return nil
}
