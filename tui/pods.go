package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// ScopePods is the choice of a pod.
const ScopePods Scope = "pods"

// podsWithin is how long listing the pods of a cluster may take.
const podsWithin = time.Minute

// podsPage is the choice of a pod by typing a part of its namespace, its name, its node or its state.
type podsPage struct {
	of    core.PodsTarget
	input textinput.Model
	rows  *table.Table[core.PodRow]

	stop   context.CancelFunc
	try    int
	asking bool
	since  time.Time
	got    core.PodList
	err    error
	opens  string // the pod whose containers are asked for
}

// podsMsg is the list of pods, or why there is none.
type podsMsg struct {
	page *podsPage
	try  int
	list core.PodList
	err  error
}

// podMsg is the pod that was chosen, with its containers.
type podMsg struct {
	page *podsPage
	try  int
	row  core.PodRow
	pod  core.LogPod
	err  error
}

func (m *Model) openPods(t core.PodsTarget) tea.Cmd {
	p := &podsPage{of: t, input: newField("")}
	p.rows = &table.Table[core.PodRow]{
		Header: true,
		ID:     func(r core.PodRow) string { return r.Namespace + "/" + r.Name },
		Name:   func(r core.PodRow) string { return "the pod " + r.Name },
		Columns: []table.Column[core.PodRow]{
			{Title: "namespace", Width: 9, Most: 24, Share: 22, Measure: func(r core.PodRow) int { return draw.Width(r.Namespace) },
				Cell: func(r core.PodRow) draw.Line { return draw.One(themes.Dim, sanitise.Row(r.Namespace)) }},
			{Title: "pod", Width: 28, Grow: true,
				Cell: func(r core.PodRow) draw.Line { return draw.One(themes.Strong, sanitise.Row(r.Name)) }},
			{Title: "ready", Width: 5, Rank: 2, Cell: func(r core.PodRow) draw.Line { return draw.One(themes.Dim, sanitise.Row(r.Ready)) }},
			{Title: "state", Width: 11, Most: 18, Share: 18, Measure: func(r core.PodRow) int { return draw.Width(r.Status) },
				Cell: func(r core.PodRow) draw.Line { return draw.One(podTone(r), sanitise.Row(r.Status)) }},
			{Title: "restarts", Width: 8, Most: 16, Rank: 1, Measure: func(r core.PodRow) int { return draw.Width(r.Restarts) },
				Cell: func(r core.PodRow) draw.Line { return draw.One(themes.Dim, sanitise.Row(r.Restarts)) }},
			{Title: "node", Width: 8, Most: 20, Share: 15, Measure: func(r core.PodRow) int { return draw.Width(m.snap.Label(r.Node)) },
				Cell: func(r core.PodRow) draw.Line { return draw.One(themes.Key, sanitise.Row(m.snap.Label(r.Node))) }},
		},
	}
	m.open(p)
	return p.ask(m)
}

// podTone is the look of a pod's state.
func podTone(r core.PodRow) themes.Token {
	switch r.Status {
	case "Running", "Completed", "Succeeded":
		return themes.Dim
	case "Pending", "ContainerCreating", "PodInitializing", "Terminating":
		return themes.Moves
	}
	return themes.Warn
}

// ask lists the pods.
func (p *podsPage) ask(m *Model) tea.Cmd {
	p.leave()
	p.try++
	p.asking, p.since, p.opens = true, m.now(), ""
	ctx, cancel := context.WithTimeout(m.ctx, podsWithin)
	p.stop = cancel
	looker, of, try := m.opts.Looker, p.of, p.try
	return func() tea.Msg {
		defer cancel()
		list, err := looker.Pods(ctx, of)
		return podsMsg{p, try, list, err}
	}
}

// leave cancels a request that is under way.
func (p *podsPage) leave() {
	if p.stop != nil {
		p.stop()
		p.stop, p.asking = nil, false
	}
}

// arrive shows the pods.
func (msg podsMsg) arrive(*Model) tea.Cmd {
	p := msg.page
	if msg.try != p.try {
		return nil
	}
	p.asking, p.err = false, msg.err
	if msg.err == nil || len(msg.list.Pods) > 0 {
		p.got = msg.list
		p.rows.Set(msg.list.Pods, uint64(p.try))
	}
	return nil
}

// choose asks which containers the selected pod has.
func (p *podsPage) choose(m *Model) tea.Cmd {
	row, ok := p.rows.Current()
	if !ok {
		return m.say(toneWarn, "no pod is selected")
	}
	p.leave()
	p.try++
	p.opens = row.Name
	ctx, cancel := context.WithTimeout(m.ctx, lookWithin)
	p.stop = cancel
	looker, chosen, try := m.opts.Looker, *row, p.try
	return func() tea.Msg {
		defer cancel()
		pod, err := looker.Pod(ctx, chosen)
		return podMsg{p, try, chosen, pod, err}
	}
}

// arrive opens what can be looked at of the pod: the log of each container, of its previous run where it has one, and the object.
func (msg podMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	if msg.try != p.try || !m.shows(p) {
		return nil
	}
	p.opens = ""
	if p.err = msg.err; msg.err != nil {
		return nil
	}
	m.openLooksOf("pod "+msg.row.Name, looksAtPod(msg.row, msg.pod))
	return nil
}

// looksAtPod is what can be looked at of a pod of free choice.
func looksAtPod(row core.PodRow, pod core.LogPod) []core.Look {
	var out []core.Look
	for _, c := range pod.Containers {
		look := row.Target(c.Name).IsLog()
		look.What = "container " + c.Name
		if c.State != "" {
			look.What += ", " + c.State
		}
		out = append(out, look)
		if c.Restarts > 0 {
			look.What = fmt.Sprintf("container %s, the run before restart %d", c.Name, c.Restarts)
			look.Before = true
			out = append(out, look)
		}
	}
	object := core.ObjectTarget{Server: row.Server, Kind: string(core.KindPod), Namespace: row.Namespace, Name: row.Name}
	out = append(out, core.Look{Kind: core.LookEvents, What: "Pod " + row.Name, Events: []core.EventTarget{object.Events()}})
	if row.Server == core.ServerKubernetes {
		out = append(out, object.As(core.LookDescribe), object.As(core.LookYAML))
	}
	return out
}

func (*podsPage) scope() Scope           { return ScopePods }
func (*podsPage) page() bool             { return true }
func (*podsPage) refresh(*Model) tea.Cmd { return nil }

func (p *podsPage) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "esc", "enter", "up", "down", "pgup", "pgdown", "ctrl+p", "ctrl+n":
		return false, nil
	}
	if leavesText(msg.String()) && m.isKeyOf(msg.String(), "pods.again") {
		return false, nil
	}
	p.input, _ = p.input.Update(msg)
	p.filter()
	return true, nil
}

func (p *podsPage) paste(m *Model, text string) tea.Cmd {
	_, fits := sanitise.Typed(p.input.Value()+text, p.input.CharLimit)
	if !fits {
		return m.say(toneWarn, "not taken: it would be longer than "+counted(p.input.CharLimit, "byte"))
	}
	p.input, _ = p.input.Update(tea.PasteMsg{Content: sanitise.Text(text, p.input.CharLimit)})
	p.filter()
	return nil
}

// filter leaves the pods with what was typed; a namespace and a name may be typed as one: openstack/nova.
func (p *podsPage) filter() {
	p.rows.SetFilter(strings.ReplaceAll(p.input.Value(), "/", " "))
	p.rows.GoTo(0)
}

func (p *podsPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.rows.MoveBy(wheel(at.Button))
	return nil
}

func (p *podsPage) draw(m *Model, w, h int) []string {
	shown, all := p.rows.Count()
	note := draw.One(themes.Dim, counted(all, "pod"))
	if shown != all {
		note = draw.One(themes.Dim, fmt.Sprintf("%d of %s", shown, counted(all, "pod")))
	}
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, "Choose from "+p.of.Label), note.And(themes.Dim, "   esc back"), true, nil)}
	line := func(l draw.Line) {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	line(append(draw.One(themes.Key, "> "), inputLine(p.input.Value(), p.input.Position(), w-5, true)...))
	for _, l := range p.says(m, w-2) {
		line(l)
	}
	return append(out, p.rows.Draw(m.look, w, max(h-len(out), 1), true, false)...)
}

// says is why pods are missing, and what is waited for.
func (p *podsPage) says(m *Model, w int) []draw.Line {
	var out []draw.Line
	var e *core.APIError
	switch {
	case errors.As(p.err, &e):
		out = append(draw.Paragraph(themes.Bad, e.Error(), w), draw.Paragraph(themes.Key, e.Remedy, w)...)
	case p.err != nil:
		out = draw.Paragraph(themes.Bad, p.err.Error(), w)
	}
	if len(p.got.Only) > 0 {
		may := slices.DeleteFunc(slices.Clone(p.got.Only), func(n string) bool { return slices.Contains(p.got.Refused, n) })
		text := "You may not list the pods of all namespaces. These are those of " + strings.Join(may, ", ")
		if len(p.got.Refused) > 0 {
			text += "; not allowed either are " + strings.Join(p.got.Refused, ", ")
		}
		out = append(out, draw.Paragraph(themes.Warn, text+".", w)...)
	}
	shown, all := p.rows.Count()
	switch {
	case p.asking:
		text := "asking for the pods" + m.look.Glyph.Ellipsis
		if waited := m.now().Sub(p.since); waited >= 2*time.Second {
			text += " " + age(waited)
		}
		out = append(out, draw.One(themes.Moves, text))
	case p.opens != "":
		out = append(out, draw.One(themes.Moves, "asking for the containers of "+sanitise.Row(p.opens)+m.look.Glyph.Ellipsis))
	case all == 0 && p.err == nil:
		out = append(out, draw.One(themes.Dim, "There are no pods."))
	case shown == 0 && all > 0:
		out = append(out, draw.One(themes.Warn, "No pod has that in its namespace, name, node or state."))
	}
	if p.got.Cut {
		out = append(out, draw.Paragraph(themes.Warn, fmt.Sprintf("Not all are here: there are more than %d.", all), w)...)
	}
	return out
}

// podsActions work in the choice of a pod.
func podsActions() []Action {
	with := func(f func(m *Model, p *podsPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*podsPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	move := func(by func(p *podsPage) int) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *podsPage) tea.Cmd { p.rows.MoveBy(by(p)); return nil })
	}
	all := []Action{
		{ID: "pods.choose", Title: "Show the pod's containers, whose logs can be read", Short: "its logs", Keys: []string{"enter"}, Footer: 1,
			run: with(func(m *Model, p *podsPage) tea.Cmd { return p.choose(m) })},
		{ID: "pods.close", Title: "Go back", Short: "back", Keys: []string{"esc"}, Footer: 2,
			run: with(func(m *Model, p *podsPage) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "pods.again", Title: "List the pods anew", Short: "anew", Keys: []string{"ctrl+r"}, Footer: 3,
			run: with(func(m *Model, p *podsPage) tea.Cmd { return p.ask(m) })},
		{ID: "pods.down", Title: "Go down a row", Short: "down", Keys: []string{"down", "ctrl+n"}, Footer: 4,
			run: move(func(*podsPage) int { return 1 })},
		{ID: "pods.up", Title: "Go up a row", Short: "up", Keys: []string{"up", "ctrl+p"}, run: move(func(*podsPage) int { return -1 })},
		{ID: "pods.page.down", Title: "Go down a page", Short: "page down", Keys: []string{"pgdown"},
			run: move(func(p *podsPage) int { return p.rows.Page() })},
		{ID: "pods.page.up", Title: "Go up a page", Short: "page up", Keys: []string{"pgup"},
			run: move(func(p *podsPage) int { return -p.rows.Page() })},
	}
	for i := range all {
		all[i].Scope = ScopePods
	}
	return all
}

// openAnyPod opens the choice among all pods.
func (m *Model) openAnyPod() tea.Cmd { return m.openPods(progress.AnyPod(core.ServerKubernetes)) }

// openNodePods opens the choice among the pods of the selected node.
func (m *Model) openNodePods() tea.Cmd {
	_, looks := m.looksHere()
	i := slices.IndexFunc(looks, func(l core.Look) bool { return l.Kind == core.LookPods && l.Pods.Node != "" })
	if i < 0 {
		return m.say(toneWarn, "no node is selected")
	}
	return m.openLook(looks[i])
}
