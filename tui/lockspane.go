package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// locksPane is the locks of the selected node and of the cluster, or all there are.
type locksPane struct {
	tablePane[*core.WorkloadLock]
	every bool
}

// readMessage is core.ReadLockMessage for what a row shows of a lock's text, remembered by the text: the same few texts
// are read for every frame.
func (m *Model) readMessage(l *core.WorkloadLock) core.LockMessage {
	const keep = 4096
	text := l.Message
	if len(text) > sanitise.RowLimit {
		text = text[:sanitise.RowLimit]
	}
	msg, ok := m.lockTexts[text]
	if !ok {
		if m.lockTexts == nil || len(m.lockTexts) > keep {
			m.lockTexts = make(map[string]core.LockMessage)
		}
		msg = core.ReadLockMessage(text)
		m.lockTexts[text] = msg
	}
	return m.snap.JudgeOn(l, msg) // what it means depends on what else is known
}

func newLocksPane(m *Model) *locksPane {
	t := &table.Table[*core.WorkloadLock]{
		Header: true,
		ID:     func(l *core.WorkloadLock) string { return string(l.Kind) + "/" + l.Name },
		Name:   func(l *core.WorkloadLock) string { return "the lock of " + m.lockName(l) },
	}
	t.Columns = []table.Column[*core.WorkloadLock]{
		{Title: "of", Width: 7, Most: 24, Names: true, Rank: 1, Measure: func(l *core.WorkloadLock) int { return draw.Width(lockOf(m, l)) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Strong), lockOf(m, l)) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(lockOf(m, a), lockOf(m, b)) }},
		{Title: "controller", Width: 10, Most: 18, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.Controller) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.Controller) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(a.Controller, b.Controller) }},
		{Title: "state", Width: 10, Most: 16, Measure: func(l *core.WorkloadLock) int {
			return 2 + draw.Width(string(l.State()))
		},
			Cell: func(l *core.WorkloadLock) draw.Line {
				k := lockMark(m.look.Glyph, l.State())
				return k.spans(string(l.State()))
			}, Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(string(a.State()), string(b.State())) }},
		{Title: "inner", Width: 8, Most: 16, Rank: 5, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.InnerState) },
			Cell: func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.InnerState) }},
		{Title: "release", Width: 8, Most: 16, Rank: 4, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.Release) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.Release) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(a.Release, b.Release) }},
		{Title: "for", Width: 4, Most: 10, Right: true, Rank: 2, Measure: func(l *core.WorkloadLock) int { return len(lockAge(m, l)) }, Cell: func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), lockAge(m, l)) }},
		{Title: "says", Width: 20, Grow: true, Cell: func(l *core.WorkloadLock) draw.Line { return lockSays(m, l) }},
	}
	t.Keys = nodeKeys(m, func(l *core.WorkloadLock) string { return l.Node })
	return &locksPane{tablePane: tablePane[*core.WorkloadLock]{t}}
}

// released is the tone of a cell: dim in the rows of locks that hold nothing up.
func released(l *core.WorkloadLock, tone themes.Token) themes.Token {
	if l.State() == core.LockInactive {
		return themes.Dim
	}
	return tone
}

func lockOf(m *Model, l *core.WorkloadLock) string {
	if l.Kind == core.KindClusterWorkloadLock {
		return "cluster"
	}
	if m.snap == nil {
		return l.Node
	}
	return m.snap.Label(l.Node)
}

// lockAge is the age of the message's own timestamp, else of the state as it was seen.
func lockAge(m *Model, l *core.WorkloadLock) string {
	if at := m.readMessage(l).At; !at.IsZero() {
		return age(m.snap.Now.Sub(at))
	}
	if r, ok := m.snap.History.Locks[l.UID]; ok {
		return sinceText(r.Since, m.snap.Now)
	}
	return ""
}

// lockSays is what the lock's text means, with the IDs of instances in it as names.
func lockSays(m *Model, l *core.WorkloadLock) draw.Line {
	if l.Progress != nil && (l.State() != core.LockFailed || l.Message == "") { // a failure's reason counts more than how far it came
		return draw.One(themes.Moves, fmt.Sprintf("%3d %%", l.Progress.Percentage)).And(themes.Text, "  "+l.Progress.Description)
	}
	if l.Message == "" {
		return lockFails(m, l)
	}
	msg := m.readMessage(l)
	word, tone := messageWord(msg.Class)
	text := msg.Text
	switch {
	case len(msg.Notify)+len(msg.Unset) > 0:
		text = stillThere(m.snap, msg)
	case text == "":
		text = msg.Raw
	}
	return draw.One(tone, word).And(themes.Text, " "+named(m.snap, text))
}

// lockFails is what a lock without a text does not say, and the controller's own account does.
func lockFails(m *Model, l *core.WorkloadLock) draw.Line {
	if m.snap == nil {
		return nil
	}
	a := m.snap.AccountOf(l)
	switch a.State {
	case core.AccountRetries, core.AccountWorks, core.AccountGaveUp, core.AccountStopped, core.AccountUnseen:
		return draw.One(themes.Warn, "silent:").And(themes.Text, " "+named(m.snap, m.snap.AccountText(a, true)))
	}
	return nil
}

// stillThere names the instances that hold the lock: those that nobody moves, and those whose owners are to be told.
func stillThere(s *core.Snapshot, msg core.LockMessage) string {
	names := func(ids []string) string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = named(s, id)
		}
		return strings.Join(out, ", ")
	}
	var parts []string
	if len(msg.Unset) > 0 {
		parts = append(parts, names(msg.Unset)+" (not moved by itself)")
	}
	if len(msg.Notify) > 0 {
		parts = append(parts, names(msg.Notify)+" (tell the owner)")
	}
	return "still there: " + strings.Join(parts, ", ")
}

func messageWord(c core.MessageClass) (string, themes.Token) {
	switch c {
	case core.MessageWaiting:
		return "waits:", themes.Dim
	case core.MessageProgress:
		return "works:", themes.Moves
	case core.MessageActionable:
		return "needs you:", themes.Needs
	case core.MessageOutage:
		return "outage:", themes.Warn
	}
	return "says:", themes.Warn
}

func (p *locksPane) refresh(m *Model) string {
	var rows []*core.WorkloadLock
	node := m.shown
	if p.every {
		rows = append(rows, m.snap.ClusterLocks...)
		names := make([]string, 0, len(m.snap.NodeLocks))
		for name := range m.snap.NodeLocks {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(m.snap.Label(a), m.snap.Label(b)) })
		for _, name := range names {
			rows = append(rows, m.snap.NodeLocks[name]...)
		}
	} else {
		rows = append(slices.Clone(m.snap.NodeLocks[node]), m.snap.ClusterLocks...)
	}
	had := p.Cursor()
	gone := p.Set(rows, m.snap.Revision)
	if lockStillThere(m.snap, had) {
		return "" // only another node is selected now
	}
	return gone
}

func lockStillThere(s *core.Snapshot, id string) bool {
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			if string(l.Kind)+"/"+l.Name == id {
				return true
			}
		}
	}
	return false
}

func (p *locksPane) name(m *Model) string {
	node := m.shown
	switch {
	case p.every:
		return "Locks of all nodes and the cluster"
	case node != "" && m.snap != nil:
		return "Locks of " + m.snap.Label(node) + " and the cluster"
	}
	return "Locks"
}
func (p *locksPane) short() string { return "Locks" }
func (p *locksPane) sources() []core.SourceID {
	return []core.SourceID{core.SourceNodeLocks, core.SourceClusterLocks}
}
func (p *locksPane) empty(*Model) string { return "There are no workload locks: LCM waits for nobody." }

func (p *locksPane) note(m *Model) draw.Line {
	active := 0
	for _, l := range p.All() {
		if l.State() == core.LockActive {
			active++
		}
	}
	if len(p.All()) == 0 {
		return nil
	}
	return draw.One(themes.Dim, fmt.Sprintf("%d %s %d active", len(p.All()), m.look.Glyph.Dot, active))
}

// explain is what the selected lock's text means, and what to do.
func (p *locksPane) explain(m *Model) string {
	r, ok := p.Current()
	if !ok {
		return ""
	}
	if (*r).Message == "" {
		text := lockFails(m, *r).Text()
		if means := m.snap.AccountMeaning(m.snap.AccountOf(*r), (*r).Node); text != "" && means != "" {
			text += " " + m.look.Glyph.Dot + " " + means
		}
		return text
	}
	msg := m.readMessage(*r)
	text := lockSays(m, *r).Text()
	if msg.Meaning != "" {
		text += " " + m.look.Glyph.Dot + " " + msg.Name + ": " + msg.Meaning
	}
	if msg.Remedy != "" {
		text += " " + m.look.Glyph.Arrow + " " + msg.Remedy
	}
	return text
}

func (p *locksPane) subject(*Model) subject {
	r, ok := p.Current()
	if !ok {
		return subject{}
	}
	l := *r
	out := subject{lock: l, node: l.Node, name: l.Name,
		command: "kubectl get " + strings.ToLower(string(l.Kind)) + " " + l.Name + " -o yaml"}
	if l.Node != "" {
		out.procedure = &core.ProcedureKey{Kind: core.ProcedureNode, Subject: l.Node}
	} else {
		out.procedure = &core.ProcedureKey{Kind: core.ProcedureCluster}
	}
	return out
}

// took is how long an operation or an item of one took, or takes; empty where nobody knows when it ended.
func took(state core.OperationState, started, ended, now time.Time) string {
	switch {
	case started.IsZero(), ended.IsZero() && state.Ended():
		return ""
	case ended.IsZero():
		return age(now.Sub(started))
	}
	return age(ended.Sub(started))
}
