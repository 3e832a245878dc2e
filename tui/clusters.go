package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeClusters is the list of clusters.
const ScopeClusters Scope = "clusters"

// ClusterDesk is what the list of clusters shows, and knows about opening them.
type ClusterDesk interface {
	// Subscribe returns a channel of lists; it holds one, the latest wins.
	Subscribe() (views <-chan *fleet.View, stop func())
	// Access says how a cluster is opened. It asks no server.
	Access(id fleet.ID) ClusterAccess
	// ReadLogin reads the login that the management cluster has of a cluster, and keeps it for the cluster being opened next.
	ReadLogin(ctx context.Context, id fleet.ID) error
}

// ClusterAccess is how a cluster is opened.
type ClusterAccess struct {
	How   string        // "context mos-fra"; empty: it cannot be opened
	Login *ClusterLogin // what is read on the management cluster first; nil: nothing is
	Lack  string        // what to do where it cannot be opened; empty: it can
}

// Clusters is the list of the clusters of a management cluster. It keeps the cursor, the filter and the order while a cluster is open.
type Clusters struct {
	desk   ClusterDesk
	page   *clustersPage
	notice string // said when the list is shown next
}

// NewClusters makes a list of clusters.
func NewClusters(desk ClusterDesk) *Clusters {
	return &Clusters{desk: desk, page: newClustersPage(desk)}
}

// Say has a text said when the list is shown next: why a cluster could not be opened, for one.
func (c *Clusters) Say(text string) { c.notice = text }

// RunClusters shows the list until the operator chooses a cluster, leaves (then id is nil), or ctx ends. Options need no Backend.
func RunClusters(ctx context.Context, opts Options, list *Clusters) (id *fleet.ID, err error) {
	opts.clusters, opts.Notice, list.notice = list, cmp.Or(list.notice, opts.Notice), ""
	list.page.chosen, list.page.returned = nil, list.page.view != nil
	if err := Run(ctx, opts); err != nil {
		return nil, err
	}
	return list.page.chosen, nil
}

// clustersPage is the list, on the whole screen. It cannot be closed.
type clustersPage struct {
	desk     ClusterDesk
	view     *fleet.View // nil: nothing is known yet
	look     *draw.Look
	rows     *table.Table[fleet.Row]
	wide     bool // there is room for gauges
	typing   bool // the filter is being typed
	number   uint64
	returned bool      // a cluster was open before: the cursor stays on it
	chosen   *fleet.ID // what is to be opened when the program of the screen has ended
	bodyAt   int       // the line of the screen with the table, for the mouse
}

// fleetMsg brings a list.
type fleetMsg struct{ view *fleet.View }

func newClustersPage(desk ClusterDesk) *clustersPage {
	p := &clustersPage{desk: desk}
	byText := func(of func(r *fleet.Row) string) func(a, b fleet.Row) int {
		return func(a, b fleet.Row) int { return strings.Compare(of(&a), of(&b)) }
	}
	text := func(tone themes.Token, of func(r *fleet.Row) string) func(fleet.Row) draw.Line {
		return func(r fleet.Row) draw.Line { return draw.One(tone, of(&r)) }
	}
	measure := func(of func(r *fleet.Row) string) func(fleet.Row) int {
		return func(r fleet.Row) int { return draw.Width(of(&r)) }
	}
	name, project := func(r *fleet.Row) string { return r.Name }, func(r *fleet.Row) string { return r.Project }
	offered := func(r *fleet.Row) string { return strings.Join(r.Offered, ", ") }
	p.rows = &table.Table[fleet.Row]{
		Header: true,
		ID:     func(r fleet.Row) string { return r.ID.String() },
		Name:   func(r fleet.Row) string { return r.Called() },
		Keys: []table.Key[fleet.Row]{{Name: "state", Values: func(r fleet.Row) []string { return []string{string(r.State)} }},
			{Name: "needs", Values: func(r fleet.Row) []string { return needValues(&r) }}},
		Columns: []table.Column[fleet.Row]{
			{Width: 1, Cell: func(r fleet.Row) draw.Line {
				k := p.mark(&r)
				return draw.One(k.tone, k.glyph)
			}},
			{Title: "cluster", Width: 8, Most: 30, Share: 20, Names: true, Measure: measure(name), Cell: text(themes.Strong, name),
				Compare: byText(name)},
			{Title: "project", Width: 7, Most: 16, Names: true, Rank: 6, Measure: measure(project), Cell: text(themes.Dim, project),
				Compare: byText(project)},
			{Title: "release", Width: 8, Most: 18, Rank: 2, Measure: measure(p.releaseText), Cell: p.releaseCell,
				Compare: byText(p.releaseText)},
			{Title: "offered", Width: 7, Most: 16, Rank: 5, Measure: measure(offered), Cell: text(themes.Key, offered), Compare: byText(offered)},
			{Title: "update", Width: 8, Most: 22, Rank: 3, Measure: measure(updateWord), Cell: p.updateCell, Compare: byText(updateWord)},
			{Title: "progress", Width: 8, Most: 24, Rank: 1, Measure: p.progressWidth, Cell: text(themes.Text,
				(*fleet.Row).ProgressText), Fill: p.progressCell, Compare: byProgress},
			{Title: "end", Width: 5, Most: 14, Right: true, Rank: 4, Measure: measure(p.endText), Cell: text(themes.Text, p.endText),
				Compare: func(a, b fleet.Row) int { return a.Finish.Compare(b.Finish) }},
			{Title: "needs you", Width: 18, Grow: true, Cell: p.needsCell,
				Compare: func(a, b fleet.Row) int { return cmp.Compare(b.Worst(), a.Worst()) }},
		},
	}
	return p
}

// clusterWords say in the help what the columns hold.
var clusterWords = []columnWord{
	{"release", "what the cluster has, and where its update leads"},
	{"offered", "releases that it could be updated to"},
	{"update", "the phase of its update by the steps of its plan, and what holds it"},
	{"progress", "machines that LCM has brought to the target, or steps of the plan where the machines may not be read"},
	{"end", "by the plan's own estimates; empty where they mean nothing: a step is late, held, or not commenced"},
	{"needs you", "by LCM's own words. What only the cluster itself knows (locks, instances) is shown when it is open"},
}

func needValues(r *fleet.Row) []string {
	var out []string
	for _, n := range r.Needs {
		out = append(out, n.Severity.String())
	}
	return out
}

// byProgress puts what is furthest last, and what does not update first.
func byProgress(a, b fleet.Row) int {
	x, ok := a.Progress()
	y, also := b.Progress()
	switch {
	case ok != also && ok:
		return 1
	case ok != also:
		return -1
	}
	return cmp.Compare(x, y)
}

// mark is a cluster's state in one glyph.
func (p *clustersPage) mark(r *fleet.Row) mark {
	g := p.look.Glyph
	switch {
	case r.State == fleet.StateUnknown:
		return mark{g.Unknown, themes.Warn}
	case r.Worst() >= core.SeverityWarning:
		return severityMark(g, r.Worst())
	case len(r.Missing) > 0: // what could not be read may be urgent
		return mark{g.Unknown, themes.Warn}
	case r.State.UnderWay():
		return mark{g.Moves, themes.Moves}
	case r.State == fleet.StateOffered || r.State == fleet.StateScheduled:
		return mark{g.Queued, themes.Dim}
	case r.State == fleet.StateMaintenance:
		return mark{g.Dot, themes.Warn}
	}
	return mark{g.Done, themes.Good}
}

func (p *clustersPage) releaseText(r *fleet.Row) string {
	if r.Target == "" {
		return r.Release
	}
	return r.Release + " " + p.look.Glyph.Arrow + " " + r.Target
}

func (p *clustersPage) releaseCell(r fleet.Row) draw.Line {
	if r.Target == "" {
		return draw.One(themes.Text, r.Release)
	}
	return draw.One(themes.Dim, r.Release+" "+p.look.Glyph.Arrow+" ").And(themes.Text, r.Target)
}

// updateWord is what the update does: its phase, or why it does not go on.
func updateWord(r *fleet.Row) string {
	switch r.State {
	case fleet.StateWaits, fleet.StatePaused, fleet.StateStuck:
		if r.Phase == 0 {
			return string(r.State)
		}
		return itoa(int(r.Phase)) + " " + string(r.State)
	case fleet.StateUnknown:
		return string(r.State)
	}
	return r.PhaseText()
}

func (p *clustersPage) updateCell(r fleet.Row) draw.Line {
	tone := themes.Text
	switch r.State {
	case fleet.StatePaused, fleet.StateStuck:
		tone = themes.Needs
	case fleet.StateWaits, fleet.StateUnknown, fleet.StateMaintenance:
		tone = themes.Warn
	case fleet.StateUpdates:
		tone = themes.Moves
	}
	return draw.One(tone, updateWord(&r))
}

// progressGauge is the width of the gauge of progress, in columns.
const progressGauge = 9

// progressWidth is the width of a cluster's progress, with its gauge where there is room for it.
func (p *clustersPage) progressWidth(r fleet.Row) int {
	n := draw.Width(strings.TrimSuffix(r.ProgressText(), " nodes"))
	if n > 0 && p.wide {
		n += progressGauge + 1
	}
	return n
}

// progressCell is a gauge with the numbers, or the numbers alone.
func (p *clustersPage) progressCell(r fleet.Row, w int) draw.Line {
	words := strings.TrimSuffix(r.ProgressText(), " nodes")
	if words == "" {
		return nil
	}
	if w < progressGauge+1+draw.Width(words) {
		return draw.One(themes.Text, words)
	}
	share, _ := r.Progress()
	return append(draw.Gauge(p.look.Glyph, int(share*1000), 1000, progressGauge), draw.Blank(1), draw.Text(themes.Text, words))
}

// endText is when a cluster's update ends. Within a day the time says it, and what needs a person has the room.
func (p *clustersPage) endText(r *fleet.Row) string {
	switch {
	case r.Finish.IsZero():
		return ""
	case r.Finish.After(p.view.Now) && r.Finish.Before(p.view.Now.Add(23*time.Hour)):
		return "~" + clock(r.Finish, r.Finish)
	}
	return "~" + clock(r.Finish, p.view.Now)
}

// needsCell is what needs a person most, and how much else; else what is not known.
func (p *clustersPage) needsCell(r fleet.Row) draw.Line {
	if len(r.Needs) > 0 {
		n := r.Needs[0]
		tone := themes.Text
		if n.Severity == core.SeverityUrgent {
			tone = themes.Needs
		}
		more := ""
		if len(r.Needs) > 1 {
			more = fmt.Sprintf("%d: ", len(r.Needs))
		}
		return draw.One(themes.Dim, more).And(tone, n.Label+": "+n.Reason)
	}
	if len(r.Missing) > 0 {
		m := r.Missing[0]
		return draw.One(themes.Warn, string(m.What)+" not known: "+m.Why)
	}
	switch { // a narrow screen has no columns for these
	case p.wide:
	case !r.Finish.IsZero():
		return draw.One(themes.Dim, "ends "+p.endText(&r))
	case len(r.Offered) > 0:
		return draw.One(themes.Dim, strings.Join(r.Offered, ", ")+" is offered")
	}
	return nil
}

func (*clustersPage) scope() Scope           { return ScopeClusters }
func (*clustersPage) page() bool             { return true }
func (*clustersPage) refresh(*Model) tea.Cmd { return nil }

// begin shows the list, and waits for news of it.
func (p *clustersPage) begin(m *Model) tea.Cmd {
	views, stop := p.desk.Subscribe()
	m.pump.stop = stop
	m.pump.views = views
	return m.pump.nextView
}

// nextView is the command that waits for the next list.
func (p *pump) nextView() tea.Msg {
	if p.views == nil {
		return nil
	}
	select {
	case <-p.ctx.Done():
		return nil
	case v, ok := <-p.views:
		if !ok {
			return nil
		}
		return fleetMsg{v}
	}
}

// arrive implements arrival.
func (msg fleetMsg) arrive(m *Model) tea.Cmd {
	if m.opts.clusters == nil {
		return nil
	}
	p := m.opts.clusters.page
	p.number++
	p.view, p.look = msg.view, m.look
	cmd := m.pump.nextView
	gone := p.rows.Set(msg.view.Rows, p.number)
	if !m.touched && !p.returned && m.now().Sub(m.opened) < settleWithin {
		p.rows.GoTo(0) // what is most urgent, while the first facts come in
	} else if gone != "" && m.top() == p {
		return tea.Batch(cmd, m.say(toneWarn, goneText(gone)))
	}
	return cmd
}

// handle types the filter.
func (p *clustersPage) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	if !p.typing {
		return false, nil
	}
	text := p.rows.Filter()
	switch key := msg.String(); key {
	case "esc":
		p.rows.SetFilter("")
		p.typing = false
	case "enter":
		p.typing = false
	case "backspace":
		if r := []rune(text); len(r) > 0 {
			p.rows.SetFilter(string(r[:len(r)-1]))
		} else {
			p.typing = false
		}
	case "ctrl+u":
		p.rows.SetFilter("")
	case "tab":
		p.rows.Complete()
	case "up", "down":
		p.typing = false
		return false, nil
	default:
		if msg.Text != "" {
			return true, m.addToFilter(text, msg.Text, p.rows.SetFilter)
		}
	}
	return true, nil
}

func (p *clustersPage) paste(m *Model, text string) tea.Cmd {
	if !p.typing {
		return nil
	}
	return m.addToFilter(p.rows.Filter(), text, p.rows.SetFilter)
}

func (p *clustersPage) point(m *Model, at tea.Mouse) tea.Cmd {
	if n := wheel(at.Button); n != 0 {
		p.rows.MoveBy(n)
	} else if at.Button == tea.MouseLeft {
		p.rows.RowAt(at.Y - p.bodyAt)
	}
	return nil
}

// needRow is why there is no cluster to do something with; empty when there is one.
func (p *clustersPage) needRow() string {
	if p.view == nil {
		return "nothing is known yet"
	}
	if gone := p.rows.Gone(); gone != "" {
		return goneText(gone)
	}
	if _, ok := p.rows.Current(); !ok {
		return "nothing is selected"
	}
	return ""
}

// open chooses the selected cluster, which ends the program of the screen.
func (p *clustersPage) open(id fleet.ID) tea.Cmd {
	p.chosen = &id
	return tea.Quit
}

// clustersActions work in the list of clusters.
func clustersActions() []Action {
	of := func(m *Model) *clustersPage { return m.opts.clusters.page }
	in := func(f func(m *Model, p *clustersPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if m.opts.clusters == nil {
				return nil
			}
			return f(m, of(m))
		}
	}
	selected := func(m *Model) string {
		if m.opts.clusters == nil {
			return "the list of clusters is not open"
		}
		return of(m).needRow()
	}
	all := []Action{
		{ID: "clusters.open", Title: "Open the selected cluster", Short: "open", Keys: []string{"enter"},
			Footer: 1, blocked: func(m *Model) string {
				if why := selected(m); why != "" {
					return why
				}
				r, _ := of(m).rows.Current()
				return of(m).desk.Access(r.ID).Lack
			}, run: in(func(m *Model, p *clustersPage) tea.Cmd {
				r, ok := p.rows.Current()
				if !ok {
					return nil
				}
				if login := p.desk.Access(r.ID).Login; login != nil {
					return p.openByLogin(m, r.ID, *login)
				}
				return p.open(r.ID)
			})},
		{ID: "clusters.inspect", Title: "Show all that the management cluster tells of the selected cluster", Short: "inspect",
			Keys: []string{"i", "d"}, Footer: 2, blocked: selected, run: in(func(m *Model, p *clustersPage) tea.Cmd {
				if r, ok := p.rows.Current(); ok {
					m.open(newClusterText(p, r.ID))
				}
				return nil
			})},
		{ID: "clusters.filter", Title: "Filter the clusters: text, state:stuck, needs:urgent, -state:offered", Short: "filter",
			Keys: []string{"/"}, Footer: 3, run: in(func(_ *Model, p *clustersPage) tea.Cmd { p.typing = true; return nil })},
		{ID: "clusters.sort", Title: "Sort by the next column; after the last, by what needs you most", Short: "sort", Keys: []string{"s"},
			Footer: 4, run: in(func(m *Model, p *clustersPage) tea.Cmd { return m.sorted(p.rows.NextSort()) })},
		{ID: "clusters.sort.reverse", Title: "Reverse the order", Short: "reverse", Keys: []string{"S"},
			run: in(func(m *Model, p *clustersPage) tea.Cmd { return m.sorted(p.rows.ReverseSort()) })},
		{ID: "clusters.copy", Title: "Copy the selected cluster's name", Short: "copy", Keys: []string{"y"}, blocked: selected,
			run: in(func(m *Model, p *clustersPage) tea.Cmd {
				if r, ok := p.rows.Current(); ok {
					return m.copy(r.Name)
				}
				return nil
			})},
		{ID: "clusters.clear", Title: "Clear the last message or the filter, one at a time", Short: "clear", Keys: []string{"esc"},
			run: in(func(m *Model, p *clustersPage) tea.Cmd {
				done, cmd := m.clearToast()
				if !done && p.rows.Filter() != "" { // without one, nothing is to be selected instead of a cluster that is gone
					p.rows.SetFilter("")
				}
				return cmd
			})},
	}
	all = append(all, rowMoves("clusters", func(move func(l table.List)) func(*Model) tea.Cmd {
		return in(func(_ *Model, p *clustersPage) tea.Cmd { move(p.rows); return nil })
	})...)
	for i := range all {
		all[i].Scope = ScopeClusters
	}
	return all
}

// clusterJumps are the clusters that can be opened from the palette.
func clusterJumps(m *Model) []*entry {
	p := m.opts.clusters.page
	if p.view == nil {
		return nil
	}
	var out []*entry
	for i := range p.view.Rows {
		r := p.view.Rows[i]
		out = append(out, &entry{kind: "cluster", name: newLabel(r.Name), also: []label{newLabel(r.ID.String())}, about: "project " + r.Project,
			does: "go to it", run: func(m *Model) tea.Cmd {
				p.rows.SetFilter("")
				if !p.rows.Choose(r.ID.String()) {
					return m.say(toneWarn, "the cluster is gone")
				}
				m.cut(slices.Index(m.layers, layer(p)) + 1) // a page would hide it
				return nil
			}})
	}
	return out
}
