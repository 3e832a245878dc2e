package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeEntry is the page of an entry of what needs the operator.
const ScopeEntry Scope = "entry of needs you"

// entryPage shows one entry of what needs the operator: what it is, since when, its cause, its evidence, and the ways on.
type entryPage struct {
	id   string
	a    core.Attention // as last seen
	step string         // ID of the step that an operation was, where it is about one
	over bool           // it no longer needs the operator
	ways *table.Table[wayOn]
	logs suspicions
}

// wayOn is one way on from an entry: its cause, the steps, a command, or an entry that follows from it.
type wayOn struct {
	id   string
	kind wayKind
	what string
	text string
	more string // all of it, where the row has no room
	// shows is what enter shows of a command that only looks, here; empty: it copies the command.
	shows core.LookKind
	open  func(m *Model) tea.Cmd
}

// wayKind is where a way leads, as a word.
type wayKind string

// The kinds of ways.
const (
	wayCause   wayKind = "cause"
	waySteps   wayKind = "steps"
	wayDone    wayKind = "do"      // Lockstep does it at once: nothing is written to the cluster
	wayChange  wayKind = "change"  // a command that changes something
	wayLook    wayKind = "look"    // a command that only looks
	wayRead    wayKind = "read"    // a page of the documents
	wayFollows wayKind = "follows" // what follows from the entry
)

var wayTones = map[wayKind]themes.Token{wayCause: themes.Needs, waySteps: themes.Key, wayDone: themes.Key, wayChange: themes.Warn,
	wayLook: themes.Dim, wayRead: themes.Dim, wayFollows: themes.Dim}

// openEntry opens the page of an entry, or goes back to it if it is open already.
func (m *Model) openEntry(id string) tea.Cmd {
	a, ok := attention.ByID(m.snap, id)
	if !ok {
		return m.say(toneWarn, "it is over and no longer needs you")
	}
	for i, l := range m.layers {
		if p, ok := l.(*entryPage); ok && p.id == id {
			m.cut(i + 1)
			return nil
		}
	}
	p := &entryPage{id: id, a: a}
	p.ways = &table.Table[wayOn]{
		ID:   func(w wayOn) string { return w.id },
		Name: func(w wayOn) string { return w.what },
		Columns: []table.Column[wayOn]{
			{Width: 7, Cell: func(w wayOn) draw.Line { return draw.One(wayTones[w.kind], string(w.kind)) }},
			{Width: 14, Most: 34, Share: 34, Measure: func(w wayOn) int { return draw.Width(w.what) },
				Cell: func(w wayOn) draw.Line { return draw.One(themes.Strong, w.what) }},
			{Width: 12, Grow: true, Cell: func(w wayOn) draw.Line {
				if w.kind == wayChange || w.kind == wayLook {
					return draw.One(themes.Key, w.text)
				}
				return draw.One(themes.Text, w.text)
			}},
		},
	}
	p.ways.Set(p.waysOn(m), m.snap.Revision)
	m.open(p)
	return p.suspect(m)
}

func (*entryPage) scope() Scope                                   { return ScopeEntry }
func (*entryPage) page() bool                                     { return true }
func (*entryPage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (p *entryPage) refresh(m *Model) tea.Cmd {
	a, ok := attention.ByID(m.snap, p.id)
	if p.over = !ok; p.over {
		return nil
	}
	p.a = p.withLogs(a)
	cmd := p.suspect(m)
	if gone := p.ways.Set(p.waysOn(m), m.snap.Revision); gone != "" && m.top() == p {
		return tea.Batch(cmd, m.say(toneWarn, "gone: "+gone))
	}
	return cmd
}

// waysOn are the ways on, the most helpful first: the cause, the steps if one of them is the operator's, what Lockstep does at
// once, commands. What follows from the entry comes last.
func (p *entryPage) waysOn(m *Model) []wayOn {
	for i := range m.snap.Operations {
		if op := &m.snap.Operations[i]; p.a.Operation == op.ID {
			p.step = op.Step
		}
	}
	var out, after []wayOn
	if cause, ok := attention.Listed(m.snap, p.a.Cause); ok {
		out = append(out, entryWay(m, wayCause, cause))
	}
	if w, yours, ok := p.stepsWay(m); ok && yours {
		out = append(out, w)
	} else if ok {
		after = append(after, w)
	}
	for _, c := range p.a.Commands {
		kind := wayLook
		if c.Changes {
			kind = wayChange
		}
		way := wayOn{id: "command/" + c.Line, kind: kind, what: c.For, text: m.snap.Own.Bare(c.Line), more: c.Line,
			open: func(m *Model) tea.Cmd { return m.copy(c.Line) }}
		if c.Look != nil && m.opts.Looker != nil {
			way.shows, way.open = c.Look.Kind, func(m *Model) tea.Cmd { return m.openLook(*c.Look) }
		}
		out = append(out, way)
	}
	out = append(append(out, p.ownWays(m)...), after...) // a second enter does neither
	if page := p.a.Page; page != core.PageNone {
		out = append(out, wayOn{id: "page", kind: wayRead, what: "the documents", text: page.String(), more: page.String(),
			open: func(m *Model) tea.Cmd { return m.copy(page.URL()) }})
	}
	for _, a := range attention.Following(m.snap, p.id) {
		out = append(out, entryWay(m, wayFollows, a))
	}
	return out
}

// entryWay leads to another entry.
func entryWay(m *Model, kind wayKind, a core.Attention) wayOn {
	text := named(m.snap, a.Reason)
	return wayOn{id: "entry/" + a.ID, kind: kind, what: a.Label, text: text, more: text,
		open: func(m *Model) tea.Cmd { return m.openEntry(a.ID) }}
}

// stepsWay leads to the steps; yours tells whether one of them is the operator's.
func (p *entryPage) stepsWay(m *Model) (way wayOn, yours, ok bool) {
	if p.a.Resolve == nil {
		return wayOn{}, false, false
	}
	key := *p.a.Resolve
	proc, known := procedure.Of(m.snap, key)
	if !known {
		return wayOn{}, false, false
	}
	way = wayOn{id: "steps", kind: waySteps, what: proc.Title, text: "nothing there is yours now", more: proc.Goal}
	at := p.stepOf(proc)
	way.open = func(m *Model) tea.Cmd { return p.goOn(m, key) }
	if at < 0 {
		return way, false, true
	}
	st := proc.Steps[at]
	way.what = st.Title
	way.text = stepStatus(m, st).Text()
	if way.text == "" {
		way.text = string(st.State)
	}
	way.more = fmt.Sprintf("%s, step %d of %d. %s", proc.Title, at+1, len(proc.Steps), named(m.snap, st.Why))
	return way, true, true
}

// stepOf is the index of the step that the entry leads to: the one for its own object, else the operator's next step; -1 when
// there is none.
func (p *entryPage) stepOf(proc core.Procedure) int {
	yours := func(st core.Step) bool {
		if st.Optional && p.a.Subject.Kind == core.KindUpdatePlan {
			return false // to hold or to commence ahead is no way out of what holds the plan
		}
		return st.State != core.StepDone && st.State != core.StepLater && st.State != core.StepRunning &&
			(st.Intent.Kind != "" || len(st.Commands) > 0 || len(st.Tell) > 0)
	}
	if p.a.Rule == core.RuleOperation && proc.Key.Kind == core.ProcedureAfter {
		return slices.IndexFunc(proc.Steps, func(st core.Step) bool { return st.ID == p.step })
	}
	own := func(fits func(core.Step) bool) func(core.Step) bool {
		return func(st core.Step) bool {
			return p.a.Subject.Kind != core.KindNode && p.a.Subject.UID != "" && st.Target.UID == p.a.Subject.UID && fits(st)
		}
	}
	at := -1
	next, _ := proc.Next()
	for _, fits := range []func(core.Step) bool{
		own(func(st core.Step) bool { return yours(st) && !st.Optional }),
		own(func(st core.Step) bool { return st.State == core.StepRunning }), // rather than what would end it
		own(yours),
		func(st core.Step) bool { return st.State == core.StepFailed },
		func(st core.Step) bool { return st.ID == next.ID && next.ID != "" },
		nextOnceArmed,
		yours,
	} {
		if at < 0 {
			at = slices.IndexFunc(proc.Steps, fits)
		}
	}
	return at
}

// nextOnceArmed tells whether nothing but that writing is off keeps the step from being the next one.
func nextOnceArmed(st core.Step) bool {
	g, blocked := st.BlockedBy()
	return st.State == core.StepBlocked && !st.Optional && st.Change != nil && blocked && g.SaysUnarmed()
}

// goOn opens the steps, at the one that the entry leads to.
func (p *entryPage) goOn(m *Model, key core.ProcedureKey) tea.Cmd {
	cmd := m.openProcedure(key)
	if page, ok := m.top().(*procedurePage); ok && page.key == key {
		if at := p.stepOf(page.proc); at >= 0 {
			page.steps.Choose(page.proc.Steps[at].ID)
		}
	}
	return cmd
}

// ownWays are what Lockstep itself does at once, without a step: controls of an operation, and arming.
func (p *entryPage) ownWays(m *Model) []wayOn {
	do := func(id, what, text string, run func(*Model) tea.Cmd) wayOn {
		return wayOn{id: "do/" + id, kind: wayDone, what: what, text: text, more: text, open: run}
	}
	if p.a.Rule == core.RuleDisarmed {
		return []wayOn{do("arm", "arm writing again", "it asks for the Lease first"+wording.InBrackets(m.keyOf("arm")), (*Model).toggleArm)}
	}
	if n, ok := attention.NoteOf(m.snap, p.a); ok {
		return []wayOn{do("note.done", "it is done", "the note reminds of nothing more", func(m *Model) tea.Cmd { return m.doneNote(n) }),
			do("note.change", "change it", "its text, or another time", func(m *Model) tea.Cmd { return m.changeNote(n) })}
	}
	if n := p.a.Aside; n != nil {
		return []wayOn{do("aside.back", "have it back", "it is set aside no more; the note is done",
			func(m *Model) tea.Cmd { return m.doneNote(*n) })}
	}
	op := operationOf(m.snap, p.a)
	if op != nil {
		return []wayOn{do("seen", "acknowledge it", "it leaves the list"+wording.InBrackets(m.keyOf("acknowledge")), (*Model).acknowledge)}
	}
	run := m.operation(p.a.Operation)
	if run == nil || run.State != core.OperationPaused || run.Past || run.Elsewhere != "" {
		return nil
	}
	control := func(id, what, text, action string, c core.Control) wayOn {
		if on := m.running(); on != nil && on.ID == run.ID { // otherwise the key works on another one
			text += wording.InBrackets(m.keyOf(action))
		}
		return do(id, what, text, func(m *Model) tea.Cmd { return m.control(run, c) })
	}
	next := "nothing comes any more"
	if i := nextItem(run); i >= 0 {
		next = "that is " + run.Items[i].Label
	}
	return []wayOn{control("resume", "let it go on", "with what has not begun", "operation.pause", core.ControlResume),
		control("skip", "leave the next one out", next, "operation.skip", core.ControlSkip),
		control("stop", "stop it", "nothing more is begun", "operation.stop", core.ControlStop)}
}

// enter does what the selected way says.
func (p *entryPage) enter(m *Model) tea.Cmd {
	if p.over {
		return m.say(toneWarn, "it is over: esc goes back")
	}
	w, ok := p.ways.Current()
	if !ok {
		return nil
	}
	return w.open(m)
}

// toCause opens the page of what the entry follows from.
func (p *entryPage) toCause(m *Model) tea.Cmd {
	if p.a.Cause == "" {
		return m.say(toneWarn, "no cause of it is known")
	}
	return m.openEntry(p.a.Cause)
}

// entryActions work on the page of an entry.
func entryActions() []Action {
	with := func(f func(m *Model, p *entryPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*entryPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	all := []Action{
		{ID: "entry.open", Title: "Do what the selected row says: open the steps, the log or another entry, or copy the command", Short: "go on",
			Keys: []string{"enter"}, Footer: 1, run: with(func(m *Model, p *entryPage) tea.Cmd { return p.enter(m) })},
		{ID: "entry.cause", Title: "Open the page of its cause", Short: "cause", Keys: []string{"b"}, Footer: 2,
			blocked: func(m *Model) string {
				if p, ok := m.top().(*entryPage); ok && p.a.Cause != "" {
					return ""
				}
				return "no cause of it is known"
			}, run: with(func(m *Model, p *entryPage) tea.Cmd { return p.toCause(m) })},
		{ID: "entry.copy", Title: "Copy the selected command, or what the selected row says", Short: "copy", Keys: []string{"c", "y"}, Footer: 3,
			run: with(func(m *Model, p *entryPage) tea.Cmd {
				if w, ok := p.ways.Current(); ok {
					return m.copy(w.more)
				}
				return nil
			})},
		{ID: "entry.all", Title: "Show all of it: every fact in full, every command written out", Short: "all of it",
			Keys: []string{"i", "d"}, Footer: 4,
			run: with(func(m *Model, p *entryPage) tea.Cmd { return m.inspectEntry(p.a) })},
		{ID: "entry.note", Title: "Write a note on it, with a time to be reminded, or to set it aside until then", Short: "note",
			Keys: []string{"#"}, Footer: 95,
			blocked: func(m *Model) string {
				if p, ok := m.top().(*entryPage); ok && p.over {
					return "it is over"
				}
				return ""
			}, run: with(func(m *Model, p *entryPage) tea.Cmd { return m.writeNote(m.noteOn(subject{attention: &p.a})) })},
		{ID: "entry.history", Title: "Show the history of the node or the instance that it is about", Short: "history", Keys: []string{"H"},
			run: with(func(m *Model, p *entryPage) tea.Cmd {
				return m.openHistory(m.historyOf(subject{node: p.a.Node, instance: p.a.Instance}))
			})},
		{ID: "entry.node", Title: "Go to the node that it is about", Short: "to the node", Keys: []string{"f"}, Footer: 5,
			blocked: func(m *Model) string {
				if p, ok := m.top().(*entryPage); ok && p.a.Node != "" && m.snap.Nodes[p.a.Node] != nil {
					return ""
				}
				return "it is not about a node"
			}, run: with(func(m *Model, p *entryPage) tea.Cmd {
				m.layers = nil
				m.pane(ScopeNodes).SetFilter("")
				m.pane(ScopeNodes).Choose(p.a.Node)
				return m.setFocus(ScopeNodes)
			})},
		{ID: "entry.close", Title: "Go back", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 6,
			run: with(func(m *Model, p *entryPage) tea.Cmd { m.goBack(p); return nil })},
	}
	for _, mv := range []struct {
		id, title, short string
		keys             []string
		run              func(t *table.Table[wayOn])
	}{
		{"down", "Go down a row", "down", []string{"down", "j"}, func(t *table.Table[wayOn]) { t.MoveBy(1) }},
		{"up", "Go up a row", "up", []string{"up", "k"}, func(t *table.Table[wayOn]) { t.MoveBy(-1) }},
		{"page.down", "Go down a page", "page down", []string{"pgdown"}, func(t *table.Table[wayOn]) { t.MoveBy(t.Page()) }},
		{"page.up", "Go up a page", "page up", []string{"pgup"}, func(t *table.Table[wayOn]) { t.MoveBy(-t.Page()) }},
		{"first", "Go to the first row", "first", []string{"home", "g"}, func(t *table.Table[wayOn]) { t.GoTo(0) }},
		{"last", "Go to the last row", "last", []string{"end", "G"}, func(t *table.Table[wayOn]) { t.MoveBy(1 << 30) }},
	} {
		all = append(all, Action{ID: "entry." + mv.id, Title: mv.title, Short: mv.short, Keys: mv.keys,
			run: with(func(_ *Model, p *entryPage) tea.Cmd { mv.run(p.ways); return nil })})
	}
	for i := range all {
		all[i].Scope = ScopeEntry
	}
	return all
}

// entryShown is the page of an entry, where that is what is seen.
func (m *Model) entryShown() (*entryPage, bool) {
	p, ok := m.top().(*entryPage)
	return p, ok
}

// goBack closes a page, and the pages below it of entries that are over: nothing is left to do there.
func (m *Model) goBack(l layer) {
	m.close(l)
	for {
		p, ok := m.entryShown()
		if !ok || m.snap == nil {
			return
		}
		if _, still := attention.Listed(m.snap, p.id); still {
			return
		}
		m.close(p)
	}
}

func (p *entryPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.ways.MoveBy(wheel(at.Button))
	return nil
}
