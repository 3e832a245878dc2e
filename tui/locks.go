package tui

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// ScopeLocks is the pane of the workload locks.
const ScopeLocks Scope = "locks"

// locksPane is the locks of the selected node and of the cluster, or all locks.
type locksPane struct {
	tablePane[*core.WorkloadLock]
	every bool
}

// readLock is what the text of a lock means, read only as far as a row shows it.
func readLock(s *core.Snapshot, l *core.WorkloadLock) progress.LockMessage {
	return progress.JudgeOn(s, l, progress.ReadLockMessage(lockText(l))) // what it means depends on what else is known
}

func lockText(l *core.WorkloadLock) string { return l.Message[:min(len(l.Message), sanitise.RowLimit)] }

func newLocksPane() pane {
	p := &locksPane{}
	s := &p.scene
	t := &table.Table[*core.WorkloadLock]{
		Header: true,
		ID:     lockID,
		Name:   func(l *core.WorkloadLock) string { return "the lock of " + lockName(s.snap, l) },
	}
	t.Columns = []table.Column[*core.WorkloadLock]{
		{Title: "of", Width: 7, Most: 24, Names: true, Rank: 1, Measure: func(l *core.WorkloadLock) int { return draw.Width(lockOf(s, l)) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Strong), lockOf(s, l)) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(lockOf(s, a), lockOf(s, b)) }},
		{Title: "controller", Width: 10, Most: 18, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.Controller) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.Controller) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(a.Controller, b.Controller) }},
		{Title: "state", Width: 10, Most: 16, Measure: func(l *core.WorkloadLock) int {
			return 2 + draw.Width(string(l.State()))
		},
			Cell: func(l *core.WorkloadLock) draw.Line {
				k := lockMark(s.look.Glyph, l.State())
				return k.spans(string(l.State()))
			}, Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(string(a.State()), string(b.State())) }},
		{Title: "inner", Width: 8, Most: 16, Rank: 5, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.InnerState) },
			Cell: func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.InnerState) }},
		{Title: "release", Width: 8, Most: 16, Rank: 4, Measure: func(l *core.WorkloadLock) int { return draw.Width(l.Release) },
			Cell:    func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), l.Release) },
			Compare: func(a, b *core.WorkloadLock) int { return strings.Compare(a.Release, b.Release) }},
		{Title: "for", Width: 4, Most: 10, Right: true, Rank: 2, Measure: func(l *core.WorkloadLock) int { return len(p.age(l)) },
			Cell: func(l *core.WorkloadLock) draw.Line { return draw.One(released(l, themes.Text), p.age(l)) }},
		{Title: "says", Width: 20, Grow: true, Cell: func(l *core.WorkloadLock) draw.Line { return p.says(l) }},
	}
	t.Keys = nodeKeys(s, func(l *core.WorkloadLock) string { return l.Node })
	p.Table = t
	return p
}

// released is the tone of a cell: dim in the rows of locks that block nothing.
func released(l *core.WorkloadLock, tone themes.Token) themes.Token {
	if l.State() == core.LockInactive {
		return themes.Dim
	}
	return tone
}

func lockOf(s *scene, l *core.WorkloadLock) string {
	if l.Kind == core.KindClusterWorkloadLock {
		return "cluster"
	}
	if s.snap == nil {
		return l.Node
	}
	return s.snap.Label(l.Node)
}

// age is the age of the message's own timestamp, else of the state as Lockstep saw it.
func (p *locksPane) age(l *core.WorkloadLock) string {
	if at := readLock(p.snap, l).At; !at.IsZero() {
		return p.now.age(at)
	}
	return p.now.since(p.snap.History.Lock(l.UID).Since)
}

// says is what the lock's text means, with the IDs of instances in it as names.
func (p *locksPane) says(l *core.WorkloadLock) draw.Line {
	if l.Progress != nil && (l.State() != core.LockFailed || l.Message == "") { // the reason of a failure matters more than the progress
		return draw.One(themes.Moves, fmt.Sprintf("%3d %%", l.Progress.Percentage)).And(themes.Text, "  "+l.Progress.Description)
	}
	if l.Message == "" {
		return lockFails(&p.scene, l)
	}
	msg := readLock(p.snap, l)
	word, tone := messageWord(msg.Class)
	text := msg.Text
	switch {
	case len(msg.Notify)+len(msg.Unset) > 0:
		text = stillThere(p.snap, msg)
	case text == "":
		text = msg.Raw
	}
	return draw.One(tone, word).And(themes.Text, " "+named(p.snap, text))
}

// lockFails is the failure in the controller's own account, for a lock without a text.
func lockFails(s *scene, l *core.WorkloadLock) draw.Line {
	if s.snap == nil {
		return nil
	}
	a := progress.AccountOf(s.snap, l)
	switch a.State {
	case progress.AccountRetries, progress.AccountWorks, progress.AccountGaveUp, progress.AccountStopped, progress.AccountUnseen:
		return draw.One(themes.Warn, "silent:").And(themes.Text, " "+named(s.snap, progress.AccountText(s.snap, a, true)))
	}
	return nil
}

// stillThere names the instances that block the lock: those that nobody moves, and those whose owners must be told.
func stillThere(s *core.Snapshot, msg progress.LockMessage) string {
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

func messageWord(c progress.MessageClass) (string, themes.Token) {
	switch c {
	case progress.MessageWaiting:
		return "waits:", themes.Dim
	case progress.MessageProgress:
		return "works:", themes.Moves
	case progress.MessageActionable:
		return "needs you:", themes.Needs
	case progress.MessageOutage:
		return "outage:", themes.Warn
	}
	return "says:", themes.Warn
}

func (p *locksPane) refresh() string {
	var rows []*core.WorkloadLock
	node := p.node
	if p.every {
		rows = append(rows, p.snap.ClusterLocks...)
		names := make([]string, 0, p.snap.NodeLocks.Len())
		for name := range p.snap.NodeLocks.All() {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(p.snap.Label(a), p.snap.Label(b)) })
		for _, name := range names {
			rows = append(rows, p.snap.NodeLocks.At(name)...)
		}
	} else {
		rows = append(slices.Clone(p.snap.NodeLocks.At(node)), p.snap.ClusterLocks...)
	}
	had := p.Cursor()
	gone := p.Set(rows, p.snap.Revision)
	if gone != "" && lockByID(p.snap, had) != nil {
		return "" // only another node is selected now
	}
	return gone
}

// lockID tells a lock from all others.
func lockID(l *core.WorkloadLock) string { return string(l.Kind) + "/" + l.Name }

// lockByID is a lock of any node or of the cluster; nil where there is none of that ID.
func lockByID(s *core.Snapshot, id string) *core.WorkloadLock {
	is := func(l *core.WorkloadLock) bool { return lockID(l) == id }
	if i := slices.IndexFunc(s.ClusterLocks, is); i >= 0 {
		return s.ClusterLocks[i]
	}
	for _, locks := range s.NodeLocks.All() {
		if i := slices.IndexFunc(locks, is); i >= 0 {
			return locks[i]
		}
	}
	return nil
}

func (p *locksPane) name() string {
	node := p.node
	switch {
	case p.every:
		return "Locks of all nodes and the cluster"
	case node != "" && p.snap != nil:
		return "Locks of " + p.snap.Label(node) + " and the cluster"
	}
	return "Locks"
}
func (p *locksPane) empty() string { return "There are no workload locks: LCM waits for nobody." }

func (p *locksPane) note() draw.Line {
	active := 0
	for _, l := range p.All() {
		if l.State() == core.LockActive {
			active++
		}
	}
	if len(p.All()) == 0 {
		return nil
	}
	return draw.One(themes.Dim, fmt.Sprintf("%d %s %d active", len(p.All()), p.look.Glyph.Dot, active))
}

// explain is what the selected lock's text means, and what to do.
func (p *locksPane) explain() string {
	r, ok := p.Current()
	if !ok {
		return ""
	}
	if (*r).Message == "" {
		text := lockFails(&p.scene, *r).Text()
		if means := progress.AccountMeaning(p.snap, progress.AccountOf(p.snap, *r), (*r).Node); text != "" && means != "" {
			text += " " + p.look.Glyph.Dot + " " + means
		}
		return text
	}
	msg := readLock(p.snap, *r)
	text := p.says(*r).Text()
	if msg.Meaning != "" {
		text += " " + p.look.Glyph.Dot + " " + msg.Name + ": " + msg.Meaning
	}
	if msg.Remedy != "" {
		text += " " + p.look.Glyph.Arrow + " " + msg.Remedy
	}
	return text
}

func (p *locksPane) subject() subject {
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

func (p *locksPane) nodes() []string { return p.hangsOn() }

func (p *locksPane) words() []columnWord {
	return []columnWord{
		{"of", "the node, or the cluster"},
		{"controller", "the application controller that owns the lock"},
		{"state", "active: LCM must wait; inactive: it may go on; failed: it stops"},
		{"inner", "annotation inner_state: active while the OpenStack controller works on the node or cluster"},
		{"release", "the release that the lock is at"},
		{"for", "the age of the lock's text, else of its state; > at least, < at most this long"},
		{"says", "what its text means, or how far the controller is"},
	}
}

// lockActions work in the list of locks.
func lockActions() []Action {
	need := func(p *locksPane) string {
		if p.subject().lock == nil {
			return "no lock is selected"
		}
		return ""
	}
	return []Action{
		inPane(Action{ID: "locks.all", Title: "Show the locks of all nodes, or of the selected one", Short: "all locks",
			Scope: ScopeLocks, Keys: []string{"e"}, Footer: 10}, nil, func(p *locksPane) request {
			if p.every = !p.every; p.snap != nil {
				p.refresh()
				p.Settle()
			}
			return nil
		}),
		inPane(Action{ID: "locks.override", Title: "Override the lock against its controller: set it to active, inactive or failed",
			Short: "override", Scope: ScopeLocks, Intent: []core.IntentKind{core.IntentOverrideLock}}, need,
			func(p *locksPane) request { return openForm{newOverrideForm(p.snap, p.subject().lock)} }),
		inPane(Action{ID: "locks.text", Title: "Set the lock to failed with a text that says why: LCM stops there", Short: "fail the lock",
			Scope: ScopeLocks, Intent: []core.IntentKind{core.IntentOverrideLock}}, need,
			func(p *locksPane) request { return openForm{newLockTextForm(p.snap, p.subject().lock)} }),
		inPane(Action{ID: "locks.inner", Title: "Clear the lock's inner_state that was left active", Short: "clear inner_state",
			Scope: ScopeLocks, Intent: []core.IntentKind{core.IntentClearInner}}, need, func(p *locksPane) request {
			return confirmStep{core.Intent{Kind: core.IntentClearInner, Object: p.subject().lock.Ref()}}
		}),
	}
}
