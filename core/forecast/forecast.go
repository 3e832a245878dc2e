package forecast

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Forecast is how long the rest of the update takes, and until when.
type Forecast struct {
	Running bool   // an update runs; otherwise the parts have lengths and no times, and there are no spans
	Parts   []Part // in their order
	Nodes   []NodeSpan
	// NodesEnd is when all nodes are through, and Whole when everything is; both zero when no update runs, or nothing is left. They take it
	// that each step of the plan is commenced as soon as it can begin, and that nobody is waited for.
	NodesEnd Moment
	Whole    Moment
}

// NodeSpan is when the maintenance of a node that is not through yet begins and ends.
type NodeSpan struct {
	Node  string // its name
	Label string
	Part  string // the ID of its part
	Start Moment // of one in maintenance the time when it began
	End   Moment
	Basis Basis // of its length
	Began bool  // it is in maintenance
	Late  bool  // it has been in maintenance for longer than the slow end of what was seen

	place int // in the order of the update
}

// Nodes are the nodes that the update has not gone through, in its order, with the times at which their maintenance will begin and end.
// None when no update runs.
func Nodes(s *core.Snapshot) []NodeSpan { return Of(s).Nodes }

// Waits tells whether the node goes on only with the operator: it waits now, its mode is manual, or instances on it that nobody else sees
// to hold it, now or when its turn comes.
func Waits(s *core.Snapshot, node string) bool {
	v := progress.ViewOf(s, node)
	if v == nil || v.Stage == core.StageDone {
		return false
	}
	released := false
	if l := s.NodeLock(node, core.ControllerOpenStack); l != nil && v.Request != nil {
		released = l.State() == core.LockInactive
	}
	return v.Stage == core.StageWaiting || v.ModeCounts && v.Mode == core.ModeManual || !released && len(progress.WillHold(s, node)) > 0
}

// End is when all nodes will be through.
type End struct {
	At     time.Time // zero when there is no forecast that means anything
	Spread time.Duration
	// Held is what keeps the update from going on, or takes longer than was seen: then At is the end if it goes on now, and nobody knows
	// whether it does. Empty while it goes on. It is there without a forecast, too.
	Held string
}

// Finish is when all nodes will be through; none as long as that does not mean anything: the nodes' turn has not come, too few were seen,
// or they differ too much.
func Finish(s *core.Snapshot) End {
	f := Of(s)
	if f.beforeNodes() || !f.NodesEnd.Means(s) {
		return End{Held: f.held(s)}
	}
	end := End{At: f.NodesEnd.At, Spread: f.NodesEnd.Spread, Held: f.held(s)}
	if end.Held != "" {
		end.Spread = 0 // it says how much nodes differ, not how long somebody is waited for
	}
	return end
}

// EndText is when the update is over, in words: that of Finish and of the whole; else why there is no such forecast yet, and what the
// documents' and the plan's numbers come to. Empty when no update runs, or nothing is left of it.
func EndText(s *core.Snapshot) string {
	f, end := Of(s), Finish(s)
	if f.Whole.At.IsZero() {
		return ""
	}
	held := f.held(s)
	switch {
	case end.At.IsZero() && held != "":
		return "not known: " + held
	case end.At.IsZero():
		return "not known yet: " + f.noPace() + "; by what is known now " + MomentText(s, f.Whole)
	case held != "":
		return "nodes done at best " + clockText(s, end.At) + ": " + held
	}
	text := "nodes done about " + momentText(s, Moment{At: end.At, Spread: end.Spread})
	if f.Whole.At.After(end.At) {
		text += "; the whole " + MomentText(s, f.Whole)
	}
	return text
}

// noPace is why the end of the nodes does not mean anything yet.
func (f *Forecast) noPace() string {
	switch {
	case f.beforeNodes():
		return "the nodes' turn has not come"
	case f.NodesEnd.At.IsZero():
		return "what is left has no pace"
	case f.NodesEnd.Unlearned > 0:
		return "two nodes that are through make a pace"
	}
	return "the nodes differ too much"
}

// beforeNodes tells whether OpenStack and Ceph are not through, whose time says nothing of the nodes.
func (f *Forecast) beforeNodes() bool {
	return slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Phase == core.PhaseServices && p.State != PartDone })
}

// held is what keeps the nodes from going on, in one clause; empty while they go on.
func (f *Forecast) held(s *core.Snapshot) string {
	for _, p := range progress.Phases(s) {
		if p.ID == core.PhaseFinish {
			continue // it comes after the nodes
		}
		if st := progress.StandsStill(s, p); st.Cause != "" {
			return wording.OneLine(st.Why, core.MostWhy)
		}
	}
	for _, p := range f.Parts {
		if p.Wants && p.State == PartRuns && slices.ContainsFunc(f.Nodes, func(n NodeSpan) bool { return n.Part == p.ID && !n.Began }) {
			return p.Title + " is held: no further node begins until it is commenced again"
		}
	}
	for _, n := range f.Nodes {
		switch {
		case n.Began && Waits(s, n.Node):
			return n.Label + " goes on only with you"
		case n.Late:
			return n.Label + " takes longer than the nodes before it"
		}
	}
	return ""
}

// every is how often a forecast is made anew where nothing but the time changes: what it says is shown in minutes.
const every = 10 * time.Second

// present is the time from which a forecast counts.
func present(s *core.Snapshot) time.Time { return s.Around(every) }

var (
	forecast core.Derivation[*Forecast]
	stands   core.Derivation[core.Digest[*core.NodeView]]
)

// key is what a forecast rests on beside what can matter to everything: most changes of a node, as what a lock says, do not move it.
type key struct {
	stands   uint64 // when it changed last where a node stands
	ends     uint64 // when it changed last which maintenances are over
	estimate progress.Estimates
	phases   [5]phaseStand
}

// phaseStand is where a phase stands, as far as a forecast rests on it.
type phaseStand struct {
	state          core.PhaseState
	started, ended core.Since
}

func keyOf(s *core.Snapshot) key {
	b := key{ends: ends.After(s, endsOf).changed, estimate: progress.EstimatesOf(s)}
	b.stands = stands.After(s, func(s *core.Snapshot, earlier core.Digest[*core.NodeView]) core.Digest[*core.NodeView] {
		return core.DigestOf(s, earlier, progress.ByNode(s), standOf)
	}).Changed
	for i, p := range progress.Phases(s) {
		b.phases[i] = phaseStand{p.State, p.Started, p.Ended}
	}
	return b
}

// Of is the forecast of the running update, as far as no evacuation was forecast.
func Of(s *core.Snapshot) *Forecast {
	return forecast.OfKeyed(s, keyOf(s), func(s *core.Snapshot) *Forecast {
		room := rooms.Get().(*[]job)
		defer rooms.Put(room)
		u := newUpdate(s)
		u.room = room
		f := u.forecast() // which keeps no jobs
		clear((*room)[:cap(*room)])
		return f
	})
}

// rooms are for the jobs of a forecast: thousands, several times a second, and nobody keeps them.
var rooms = sync.Pool{New: func() any { return new([]job) }}

func (u *update) forecast() *Forecast {
	f := &Forecast{Running: u.request != nil, Parts: u.parts()}
	if !f.Running {
		for i := range f.Parts {
			f.Parts[i].jobs = nil
		}
		return f
	}
	now := present(u.s)
	at := Moment{At: now}
	left := false
	var before Moment // when the part before this one begins
	for i := range f.Parts {
		p := &f.Parts[i]
		if p.State == PartDone {
			before = at
			continue
		}
		from := at
		if p.Beside {
			from = before
		}
		before = from
		if p.State == PartRuns {
			from = Moment{At: now}
		} else {
			p.Start = from
		}
		if p.Nodes > 0 {
			spans, end := u.layOut(p, from, now)
			if f.Nodes == nil {
				f.Nodes = spans // most of them are of one part: thousands are not copied for the sake of the others
			} else {
				f.Nodes = append(f.Nodes, spans...)
			}
			p.End = end
			if p.Left > 0 {
				f.NodesEnd = later(f.NodesEnd, p.End)
				p.End = p.End.Plus(p.tail)
			}
		} else {
			p.End = from.Plus(p.Length)
			if p.State == PartRuns && !p.Started.IsZero() {
				p.End = rest(p.Started, now, p.Length)
				p.Late = p.Length.Basis != BasisNone && u.s.Longer(p.Started, p.Length.Slow())
			}
		}
		left = left || p.Nodes == 0 || p.Left > 0
		p.jobs = nil // they are in the spans
		at = later(at, p.End)
	}
	if left {
		f.Whole = at
	}
	return f
}

// rest is when something ends that began and takes this long: now, when it takes longer than it should.
func rest(began, now time.Time, l Length) Moment {
	m := Moment{At: core.Later(began.Add(l.Usual), now), Spread: l.Spread}
	if !l.Basis.Learned() {
		m.Unlearned = m.At.Sub(now)
	}
	return m
}

// lanes are where nodes are in maintenance side by side: each is free from some moment on. They are a heap: the first is free first.
type lanes []Moment

func (l lanes) before(i, j int) bool {
	c := l[i].At.Compare(l[j].At)
	return c < 0 || c == 0 && l[i].Spread < l[j].Spread
}

// occupy takes the lane that is free first until some moment.
func (l lanes) occupy(until Moment) {
	l[0] = until
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(l) {
			return
		}
		if child+1 < len(l) && l.before(child+1, child) {
			child++
		}
		if !l.before(child, i) {
			return
		}
		l[i], l[child] = l[child], l[i]
		i = child
	}
}

// layOut says when each node of a part begins and ends, and when the last one does: as many at a time as go at once, and of each update
// group as many as it allows. While the OpenStack controller has as many nodes of a role as it takes at once, it begins none at all
// (docs/mosk.md#concurrency). Where somewhat more than one went at a time, the next one begins before the one before has ended.
func (u *update) layOut(p *Part, from Moment, now time.Time) ([]NodeSpan, Moment) {
	return u.layOutWhile(p, from, now, func(int, Moment) bool { return true })
}

// layOutWhile lays out nodes as long as they fit: a node that comes later moves none that came before. fits is asked with how many were
// laid out before, and the end of the next one. Of a group of which one does not fit no further one begins; the groups beside it go on.
func (u *update) layOutWhile(p *Part, from Moment, now time.Time, fits func(i int, end Moment) bool) ([]NodeSpan, Moment) {
	places := max(p.AtOnce, 1)
	lane := newLanes(places, from)
	var narrow [narrowRoles]lanes // nil without a limit
	for i, role := range core.OpenStackRoles() {
		if limit := u.s.Settings.MaxParallelNodes[role]; limit > 0 && limit < places {
			narrow[i] = make(lanes, limit)
		}
	}
	occupy := func(j *job, until Moment) {
		for i, l := range narrow {
			if l != nil && j.roles.narrow[i] {
				l.occupy(until)
			}
		}
	}
	end := from
	spans := make([]NodeSpan, 0, len(p.jobs))
	put := func(j *job, start, until Moment) {
		late := !j.began.IsZero() && j.length.Basis.Learned() && u.s.Longer(j.began, j.length.Slow())
		spans = append(spans, NodeSpan{Node: j.view.Name, Label: j.view.Label, Part: cmp.Or(j.part, p.ID), Start: start, End: until,
			Basis: j.length.Basis, Began: !j.began.IsZero(), Late: late, place: j.place})
		end = later(end, until)
	}
	groups := p.sideBySide(places, from)
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.began.IsZero() {
			continue
		}
		until := rest(j.began, now, j.length)
		put(j, Moment{At: j.began}, until)
		if j.back {
			continue
		}
		free := rest(j.began, now, p.flow.busy(j.length))
		lane.occupy(free)
		groupOf(groups, j).occupy(free)
		occupy(j, free)
	}
	for n := 0; ; {
		var next *beside
		var start Moment
		for i := range groups { // the one that can begin first
			g := &groups[i]
			j := g.head(p.jobs)
			if j == nil {
				continue
			}
			begin := later(later(lane[0], from), g.free())
			if j.roles.locked {
				for _, l := range narrow {
					if l != nil {
						begin = later(begin, l[0])
					}
				}
			}
			if next == nil || begin.At.Before(start.At) || begin.At.Equal(start.At) && g.next < next.next {
				next, start = g, begin
			}
		}
		if next == nil {
			break
		}
		j := &p.jobs[next.next]
		if !fits(n, start.Plus(j.length)) {
			next.over = true
			continue
		}
		n++
		next.next++
		put(j, start, start.Plus(j.length))
		free := start.Plus(p.flow.busy(j.length))
		lane.occupy(free)
		next.occupy(free)
		occupy(j, free)
	}
	if inPlace := func(a, b NodeSpan) int { return a.place - b.place }; !slices.IsSortedFunc(spans, inPlace) {
		slices.SortStableFunc(spans, inPlace)
	}
	return spans, end
}

// beside is an update group that goes beside others: those of one index do (docs/mosk.md#update-groups), and each takes its own number at a
// time.
type beside struct {
	group string
	all   bool  // it stands for all nodes: nothing but the places keeps them from one another
	lanes lanes // nil where no number is known
	next  int   // index of its next node that has not begun
	over  bool  // no further node of it begins
}

// sideBySide are the groups of a part that keep to numbers of their own; one that stands for all nodes where no group does.
func (p *Part) sideBySide(places int, from Moment) []beside {
	if len(p.limits) < 2 {
		return []beside{{all: true}}
	}
	var out []beside
	for i := range p.jobs {
		name := p.jobs[i].group
		if slices.ContainsFunc(out, func(g beside) bool { return g.group == name }) {
			continue
		}
		g := beside{group: name}
		if limit := p.limits[name]; limit > 0 && limit < places {
			g.lanes = newLanes(limit, from)
		}
		out = append(out, g)
	}
	return out
}

// groupOf is the group of a node.
func groupOf(groups []beside, j *job) *beside {
	for i := range groups {
		if groups[i].all || groups[i].group == j.group {
			return &groups[i]
		}
	}
	return &groups[0] // each node's group is among them
}

// head is its next node that has not begun; nil when there is none, or no further one begins.
func (g *beside) head(jobs []job) *job {
	for ; !g.over && g.next < len(jobs); g.next++ {
		if j := &jobs[g.next]; j.began.IsZero() && (g.all || j.group == g.group) {
			return j
		}
	}
	return nil
}

// free is when its next node can begin by its own number.
func (g *beside) free() Moment {
	if g.lanes == nil {
		return Moment{}
	}
	return g.lanes[0]
}

func (g *beside) occupy(until Moment) {
	if g.lanes != nil {
		g.lanes.occupy(until)
	}
}

func newLanes(n int, from Moment) lanes {
	l := make(lanes, n)
	for i := range l {
		l[i] = from
	}
	return l
}

// busy is how long a node keeps the next one waiting: less than it takes, where somewhat more than one goes at a time, and the gap longer.
func (f flow) busy(l Length) Length {
	l.Usual = time.Duration(float64(l.Usual)*float64(int(f.atOnce))/f.atOnce) + f.gap
	return l
}
