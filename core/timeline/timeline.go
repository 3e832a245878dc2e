package timeline

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/core/progress"
)

// Bar says what a span is.
type Bar uint8

// The values of Bar. None is a time in which nothing happened.
const (
	None       Bar = iota
	Maintained     // in maintenance; the stages were not recorded
	Queued
	Preparing
	Evacuating
	Released
	Draining
	Updating
	Rebooting
	Returning
	Runs    // of a phase or a plan step: under way
	Waiting // it did not go on without the operator
	Failed  // it failed, or was stuck
	Ahead   // the forecast
	bars
)

// Bars are all kinds of bars but None, in their order.
func Bars() []Bar {
	out := make([]Bar, 0, bars-1)
	for b := None + 1; b < bars; b++ {
		out = append(out, b)
	}
	return out
}

var barWords = [bars]string{None: "nothing", Maintained: "in maintenance", Queued: "queued", Preparing: "preparing",
	Evacuating: "evacuating", Released: "released", Draining: "draining", Updating: "updating", Rebooting: "rebooting",
	Returning: "returning", Runs: "under way", Waiting: "waiting for you", Failed: "stuck or failed", Ahead: "forecast"}

// String is the bar in words; a stage has the stage's own name.
func (b Bar) String() string { return barWords[b] }

// Stands tells whether nothing goes on there without somebody.
func (b Bar) Stands() bool { return b == Waiting || b == Failed }

var stageBars = map[core.Stage]Bar{core.StageIdle: None, core.StageDone: None, core.StageQueued: Queued,
	core.StagePreparing: Preparing, core.StageEvacuating: Evacuating, core.StageWaiting: Waiting, core.StageReleased: Released,
	core.StageDraining: Draining, core.StageUpdating: Updating, core.StageRebooting: Rebooting, core.StageReturning: Returning,
	core.StageFailed: Failed}

// Span is a time in which one thing was so.
type Span struct {
	Bar           Bar
	Start         time.Time
	End           time.Time     // zero while it lasts
	Seen          bool          // Lockstep watched when it began
	Later         bool          // it began at Start or later; else, where it was not seen and is not reconstructed, at Start or before
	Reconstructed bool          // it is reconstructed: nobody looked when it began, and Start is one of the API's own times
	Why           string        // why nothing went on; empty where it did, or where that is not known
	Spread        time.Duration // ± of End, of a span that is ahead; 0 when not known
}

// Unsure says on which side of Start it began, behind that time; empty where it began then.
func (s Span) Unsure() string {
	switch {
	case s.Seen || s.Reconstructed:
		return ""
	case s.Later:
		return " or later"
	}
	return " or before"
}

// Kind is what a row is about.
type Kind uint8

// The kinds of rows.
const (
	Phase Kind = iota
	Step
	Node
)

// Row is the past of one phase, plan step or node. It does not depend on the time, and is the same one in all Snapshots in which nothing
// of it has changed.
type Row struct {
	ID    string // no two rows have the same
	Kind  Kind
	Label string
	Phase core.PhaseID // of a phase or a plan step
	Node  string       // the node's name
	Spans []Span       // oldest first; they do not overlap, and only the last can last
	Done  bool         // of a node: it is through, also where nobody saw when
	Began time.Time    // of a phase that stood still before it began: when it did; else zero
	Due   time.Time    // of a plan step that runs: when it ends by the plan's own estimate; else zero
}

// Timeline is the update that runs, or ran last.
type Timeline struct {
	Start  time.Time // zero: no update is known
	Ended  time.Time // zero while it runs
	Finish time.Time // when its nodes will be done, by the forecast; zero when there is none
	Spread time.Duration
	Rows   []*Row // phases, plan steps, then nodes: in the order in which they began, and in the update's order

	nodes core.ByNode[*Row]
	ahead map[string]Span // by node
}

var whole core.Derivation[Timeline]

// Of is the timeline of the Snapshot. Only rows of which something has changed are made anew.
func Of(s *core.Snapshot) Timeline {
	return whole.After(s, func(s *core.Snapshot, earlier Timeline) Timeline {
		t := begin(s)
		if t.Start.IsZero() {
			return t
		}
		common := [2]time.Time{t.Start, t.Ended}
		t.nodes = core.DeriveByNode(s, earlier.nodes, common, s.NodeNames(), nil, func(s *core.Snapshot, name string) (*Row, bool) {
			return nodeRow(s, t, s.Nodes[name]), false
		})
		t.ahead = aheadOf(s, t)
		t.Rows = append(fixedRows(s, t), t.inOrder(s, earlier)...)
		return t
	})
}

// begin is the timeline without its rows. A maintenance that is not an update counts from its cluster-wide request.
func begin(s *core.Snapshot) Timeline {
	t := Timeline{}
	switch h, r := s.History.Update, s.ClusterRequest(); {
	case r != nil:
		t.Start = r.Created
		if p := s.Management.Plan(); p != nil && p.UnderWay() && progress.UpdateRequest(s) != nil {
			t.Start = core.Earlier(t.Start, p.Started)
		}
	case h.UID == "" || !h.Ended.IsZero():
		if t.Start, t.Ended = outside(s); !t.Start.IsZero() {
			break
		}
		fallthrough
	case h.UID != "":
		t.Start, t.Ended = h.Started, h.Ended
		if p := s.Management.Plan(); p != nil && p.Completed.After(t.Start) && p.Started.Before(t.Start) {
			t.Start = core.Earlier(t.Start, p.Started)
		}
	}
	if t.Ended.IsZero() && !t.Start.IsZero() {
		end := forecast.Finish(s)
		t.Finish, t.Spread = end.At, end.Spread
	}
	return t
}

// besides is how far apart the maintenance of two nodes may be that counts as one where no request of the cluster joins them.
const besides = 30 * time.Minute

// outside is from when to when nodes were last in maintenance without an update, if that was after the last update: a graceful reboot, say.
// Zero when none was, or when one of them still is.
func outside(s *core.Snapshot) (start, ended time.Time) {
	var all []core.Round
	for _, r := range s.History.Rounds {
		if r.Update != "" && r.Update == s.History.Update.UID || !r.Started.After(s.History.Update.Ended) {
			continue
		}
		if r.Ended.IsZero() {
			return time.Time{}, time.Time{}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b core.Round) int { return b.Ended.Compare(a.Ended) })
	for i, r := range all {
		if i > 0 && !r.SameUpdate(all[i-1]) && r.Ended.Add(besides).Before(start) {
			break
		}
		start, ended = core.Earlier(start, r.Started), core.Later(ended, r.Ended)
	}
	return start, ended
}

// inOrder are the rows of the nodes: those that are through and of which no time is known, those that have begun by when they did, and
// then the others in the order of the update.
func (t *Timeline) inOrder(s *core.Snapshot, earlier Timeline) []*Row {
	names := s.NodeNames()
	rows := make([]*Row, 0, len(names))
	for _, r := range earlier.Rows { // few change their place
		if r.Kind == Node {
			if now, there := t.nodes.Get(r.Node); there {
				rows = append(rows, now)
			}
		}
	}
	if len(rows) != len(names) {
		rows = rows[:0]
		for _, name := range names {
			r, _ := t.nodes.Get(name)
			rows = append(rows, r)
		}
	}
	place := updateOrder(s)
	before := func(a, b *Row) int {
		switch x, y := a.begun(), b.begun(); {
		case a.part() != b.part():
			return a.part() - b.part()
		case !x.Equal(y):
			return x.Compare(y)
		}
		return place[a.Node] - place[b.Node]
	}
	if !slices.IsSortedFunc(rows, before) {
		slices.SortFunc(rows, before)
	}
	return rows
}

// begun is when the row's first span began; zero when it has none.
func (r *Row) begun() time.Time {
	if len(r.Spans) == 0 {
		return time.Time{}
	}
	return r.Spans[0].Start
}

// part is where a node stands among the others.
func (r *Row) part() int {
	switch {
	case len(r.Spans) > 0:
		return 1
	case r.Done:
		return 0
	}
	return 2
}

// Took is how long the row's bars have lasted from the first to the last, and whether the last has ended; 0 when it has not begun. Of a
// phase, how long it stood still before it began does not count.
func (r *Row) Took(now time.Time) (took time.Duration, over bool) {
	n := len(r.Spans)
	if n == 0 {
		return 0, false
	}
	from, end := r.begun(), r.Spans[n-1].End
	if !r.Began.IsZero() {
		from = r.Began
	}
	if end.IsZero() {
		return max(now.Sub(from), 0), false
	}
	return max(end.Sub(from), 0), true
}

// End is the end of what the timeline shows: of the update, or else of what is ahead; now when nothing is.
func (t Timeline) End(now time.Time) time.Time {
	if !t.Ended.IsZero() {
		return t.Ended
	}
	end := core.Later(now, t.Finish)
	for _, span := range t.ahead {
		end = core.Later(end, span.End)
	}
	for _, r := range t.Rows {
		end = core.Later(end, r.Due)
	}
	return end
}

// Spans are the row's past up to now, and what is ahead of it: oldest first, without overlaps, between the start of the update and its
// end. The last of the past ends now while it lasts.
func (t Timeline) Spans(r *Row, now time.Time) []Span {
	out := make([]Span, 0, len(r.Spans)+1)
	for _, span := range r.Spans {
		if !span.Start.Before(now) {
			break // a clock that goes wrong
		}
		if span.End.IsZero() || span.End.After(now) {
			span.End = now
		}
		out = append(out, span)
	}
	if ahead, ok := t.aheadOf(r); ok && t.Ended.IsZero() {
		if ahead.Start = core.Later(ahead.Start, now); len(out) > 0 {
			ahead.Start = core.Later(ahead.Start, out[len(out)-1].End)
		}
		if ahead.End.After(ahead.Start) {
			out = append(out, ahead)
		}
	}
	return out
}

// aheadOf is what is ahead of the row: of a node its forecast, of a running step the plan's estimate, and of the phase that has the nodes
// the forecast of the whole.
func (t Timeline) aheadOf(r *Row) (Span, bool) {
	lasts := len(r.Spans) > 0 && r.Spans[len(r.Spans)-1].End.IsZero()
	switch {
	case r.Kind == Node:
		span, ok := t.ahead[r.Node]
		return span, ok
	case !lasts:
	case !r.Due.IsZero():
		return Span{Bar: Ahead, End: r.Due}, true
	case r.Kind == Phase && r.Phase == core.PhaseWorkers && len(t.ahead) > 0:
		last := Span{Bar: Ahead}
		var until time.Time
		for _, span := range t.ahead { // to the latest of their slow ends
			last.End, until = core.Later(last.End, span.End), core.Later(until, span.End.Add(span.Spread))
		}
		last.Spread = until.Sub(last.End)
		return last, true
	}
	return Span{}, false
}
