package forecast

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// Request says how an update is divided over nights.
type Request struct {
	Window     Window
	Nodes      []string             // names of the nodes; none: the whole update
	AtOnce     int                  // nodes at a time; 0: as the groups and the pace say
	Evacuation *evacuation.Forecast // how long the instances of each compute take; nil when none was made
	Unforecast string               // why none was made although it was asked for; empty: none was asked for, or it was made
}

// Night is one window with what fits into it.
type Night struct {
	From, To time.Time
	Items    []Item // in their order
}

// Free is how much of the night is left at the slow end.
func (n Night) Free() time.Duration {
	last := n.From
	for _, it := range n.Items {
		last = core.Later(last, it.End.Until())
	}
	return n.To.Sub(last)
}

// Item is a node or a whole part in a night.
type Item struct {
	Part  string // the ID of its part
	Title string // the part's, or the node's label
	Node  string // the node's name; empty for a whole part
	Start Moment
	End   Moment
	Basis Basis
	Waits bool // it goes on only with the operator
	Block int  // instances that block it, by the forecast of the evacuation
}

// Unfit is what fits into no night.
type Unfit struct {
	Title string
	Nodes []string // their names; empty for a part without nodes
	Takes time.Duration
	Why   string
}

// Split is an update over nights.
type Split struct {
	Window   Window
	Running  []Item  // what is under way now: it goes on, whatever the window
	Nights   []Night // that have something
	Unfit    []Unfit
	Between  time.Duration // from the beginning of the update to its end: how long the cluster is between two releases; 0 when it is through
	Warnings []string      // what is wrong with it, each a sentence
	Notes    []string      // what it rests on, each a sentence
}

// mostNights is how many nights are looked at: an update of that many is no update.
const mostNights = 400

// SplitNights divides what is left of the update over nights: each node and each part begins and ends, at the slow end of its time, inside
// one window, in the order of the update. What is longer than the window is left out and said.
func SplitNights(s *core.Snapshot, r Request) Split {
	u := newUpdate(s)
	sp := &splitting{u: u, request: r, out: Split{Window: r.Window}}
	if r.Evacuation != nil {
		u.own = ownTimes(s, r.Evacuation)
	}
	parts := u.parts()
	if len(r.Nodes) > 0 {
		parts = onlyNodes(parts, r.Nodes)
	}
	sp.divide(parts)
	return sp.out
}

// onlyNodes are the parts with only these nodes, and no part without any. Those that went beside one another still do, and no others.
func onlyNodes(parts []Part, names []string) []Part {
	var out []Part
	row, last := 0, 0 // of parts that go beside one another, and that of the last part that is kept
	for _, p := range parts {
		if !p.Beside {
			row++
		}
		p.jobs = slices.DeleteFunc(slices.Clone(p.jobs), func(j job) bool { return !slices.Contains(names, j.view.Name) })
		if p.Left = len(p.jobs); p.Left > 0 {
			p.Phase = core.PhaseWorkers // each for itself
			p.tail = Length{}
			p.Beside = row == last
			last = row
			out = append(out, p)
		}
	}
	return out
}

// ownTimes changes the length of a node by its own evacuation: in the documents' numbers it takes the place of the 20 minutes, and of
// what was seen it adds what it takes more than the others, or less.
func ownTimes(s *core.Snapshot, e *evacuation.Forecast) func(string, Length) Length {
	const documents = 20 * time.Minute
	times := map[string]*evacuation.NodeForecast{}
	var all time.Duration
	n := 0
	for i := range e.Nodes {
		if f := &e.Nodes[i]; f.Time != nil && f.Slow != nil {
			times[f.Node] = f
			all += time.Duration(*f.Time)
			n++
		}
	}
	return func(node string, l Length) Length {
		f := times[node]
		if f == nil || s.Nodes[node] == nil || !s.Nodes[node].Is(core.RoleCompute) {
			return l
		}
		usual, slow := time.Duration(*f.Time), time.Duration(*f.Slow)
		if l.Basis == BasisDocuments {
			l.Usual += usual - documents
		} else {
			l.Usual = max(l.Usual+usual-all/time.Duration(n), l.Usual/2)
		}
		l.Spread += max(slow-usual, 0)
		return l
	}
}

// splitting is a split in the making.
type splitting struct {
	u       *update
	request Request
	out     Split
	now     time.Time
	nights  []Night
	at      Moment // until when the night is filled; no earlier than its beginning or now
	first   time.Time
	last    time.Time
}

func (sp *splitting) divide(parts []Part) {
	u := sp.u
	sp.now = present(u.s)
	sp.at = Moment{At: sp.now}
	if u.request != nil {
		sp.first = u.request.Created
	}
	for i := 0; i < len(parts); i++ {
		p := &parts[i]
		if p.State == PartDone || p.Nodes > 0 && p.Left == 0 {
			continue
		}
		if p.State == PartLater && beforeWorkers(p) && !p.commencedByPeople() && i > 0 && parts[i-1].State == PartRuns {
			p.State = PartRuns // LCM goes on to them by itself
		}
		sp.running(p)
		switch {
		case p.Phase != core.PhaseWorkers && p.State == PartRuns:
			// It goes on to its end.
		case p.Phase == core.PhaseWorkers && p.Nodes > 0:
			for i+1 < len(parts) && parts[i+1].Beside && parts[i+1].State != PartDone {
				i++
				sp.running(&parts[i])
				sp.join(p, &parts[i])
			}
			var then time.Duration
			if !p.commencedByPeople() && i+2 == len(parts) && parts[i+1].Nodes == 0 {
				then = parts[i+1].Length.Slow() // LCM goes on to the rest by itself
			}
			sp.nodes(p, then)
		default:
			block := []*Part{p}
			for !p.commencedByPeople() && beforeWorkers(p) && i+1 < len(parts) && beforeWorkers(&parts[i+1]) {
				i++
				block = append(block, &parts[i]) // LCM goes on, up to the masters, by itself
			}
			sp.block(block)
		}
	}
	for _, n := range sp.nights {
		if len(n.Items) > 0 { // groups that go beside one another were put there one by one
			slices.SortStableFunc(n.Items, func(a, b Item) int { return a.Start.At.Compare(b.Start.At) })
			sp.out.Nights = append(sp.out.Nights, n)
		}
	}
	sp.judge(parts)
}

// beforeWorkers tells whether a part is one that LCM does for the whole cluster before the workers' turn.
func beforeWorkers(p *Part) bool {
	return p.Phase == core.PhaseServices || p.Phase == core.PhaseMasters
}

// running puts what is under way beside the nights: it does not stop when a window ends.
func (sp *splitting) running(p *Part) {
	if p.State != PartRuns || sp.u.request == nil && !p.Plan { // a step of the plan runs before LCM makes the request, and after it is gone
		return
	}
	if p.Nodes == 0 || p.Phase == core.PhaseMasters {
		end := sp.at.Plus(p.Length)
		if p.Nodes > 0 {
			_, end = sp.u.layOut(p, sp.at, sp.now)
			end = end.Plus(p.tail)
		} else if !p.Started.IsZero() {
			end = rest(p.Started, sp.now, p.Length)
		}
		sp.out.Running = append(sp.out.Running, Item{Part: p.ID, Title: p.Title, Start: Moment{At: p.Started}, End: end, Basis: p.Length.Basis})
		sp.at = later(sp.at, end)
		return
	}
	begun := *p
	begun.jobs = slices.DeleteFunc(slices.Clone(p.jobs), func(j job) bool { return j.began.IsZero() })
	spans, end := sp.u.layOut(&begun, Moment{At: sp.now}, sp.now)
	for _, n := range spans {
		sp.out.Running = append(sp.out.Running, Item{Part: p.ID, Title: n.Label, Node: n.Node, Start: n.Start, End: n.End, Basis: n.Basis,
			Waits: Waits(sp.u.s, n.Node)})
	}
	p.jobs = slices.DeleteFunc(slices.Clone(p.jobs), func(j job) bool { return !j.began.IsZero() })
	sp.at = later(sp.at, end)
}

// join adds the nodes of a step to those of the step beside which it goes. Each group keeps to its own number at a time.
func (sp *splitting) join(p, with *Part) {
	p.Title += " and " + with.Title
	p.jobs = slices.Clone(p.jobs)
	for _, j := range with.jobs {
		j.part = with.ID
		p.jobs = append(p.jobs, j)
	}
	p.limits = maps.Clone(p.limits)
	for group, limit := range with.limits {
		if p.limits == nil {
			p.limits = map[string]int{}
		}
		p.limits[group] = limit
	}
	slices.SortStableFunc(p.jobs, func(a, b job) int { return a.place - b.place })
	p.flow.atOnce, p.flow.gap = p.flow.atOnce+with.flow.atOnce, max(p.flow.gap, with.flow.gap)
	p.AtOnce = int(p.flow.atOnce)
}

// open goes to the night in which the moment is, or to the next one when it is in none; next goes to the one after it in any case.
func (sp *splitting) open(next bool) {
	at := sp.at.At
	if next {
		at = sp.nights[len(sp.nights)-1].To
	} else if len(sp.nights) > 0 && sp.nights[len(sp.nights)-1].To.After(at) {
		return
	}
	from, to := sp.request.Window.Next(at)
	sp.nights = append(sp.nights, Night{From: from, To: to})
	if from.After(sp.at.At) { // what went before may take until then, and longer
		sp.at = Moment{At: from, Spread: max(sp.at.Until().Sub(from), 0)}
	}
}

func (sp *splitting) tonight() *Night { return &sp.nights[len(sp.nights)-1] }

// fits opens the night in which something with this slow length fits whole; false when no night is long enough, or there are too many.
func (sp *splitting) fits(slow time.Duration) bool {
	if slow > sp.request.Window.Length() {
		return false
	}
	if !sp.full() {
		sp.open(false)
	}
	for try := 0; !sp.full(); {
		if !sp.at.Until().Add(slow).After(sp.tonight().To) {
			return true
		}
		if try > 2 { // the clocks are changed on one night, not on three
			return false
		}
		if sp.open(true); sp.at.Spread == 0 { // else what went before may still take all of the night
			try++
		}
	}
	return false
}

// full tells whether no further night is looked at.
func (sp *splitting) full() bool { return len(sp.nights) > mostNights }

// whyNot is why something with this slow length fits into no night: what it has for a reason, or that there would be too many.
func (sp *splitting) whyNot(slow time.Duration, why string) string {
	if sp.full() && slow <= sp.request.Window.Length() {
		return whyTooMany
	}
	return why
}

// Why something is in no night.
const (
	whyWhole   = "it cannot rest inside"
	whyNode    = "an update cannot rest inside a node"
	whyTooMany = "there would be too many nights"
)

func (sp *splitting) put(it Item) {
	n := sp.tonight()
	n.Items = append(n.Items, it)
	if sp.first.IsZero() {
		sp.first = it.Start.At
	}
	sp.last = core.Later(sp.last, it.End.Until())
}

// block puts parts that cannot rest inside into one night, one after the other.
func (sp *splitting) block(parts []*Part) {
	var slow time.Duration
	var titles []string
	for _, p := range parts {
		slow += sp.slowOf(p)
		titles = append(titles, p.Title)
	}
	if !sp.fits(slow) {
		u := Unfit{Title: strings.Join(titles, ", then "), Takes: slow, Why: sp.whyNot(slow, whyWhole)}
		for _, p := range parts {
			for _, j := range p.jobs {
				u.Nodes = append(u.Nodes, j.view.Name)
			}
		}
		sp.out.Unfit = append(sp.out.Unfit, u)
		return
	}
	for _, p := range parts {
		start := sp.at
		if len(p.jobs) == 0 {
			sp.at = sp.at.Plus(p.Length)
			sp.put(Item{Part: p.ID, Title: p.Title, Start: start, End: sp.at, Basis: p.Length.Basis})
			continue
		}
		spans, end := sp.u.layOut(p, sp.at, sp.now)
		for _, n := range spans {
			sp.put(Item{Part: p.ID, Title: n.Label, Node: n.Node, Start: n.Start, End: n.End, Basis: n.Basis, Waits: Waits(sp.u.s, n.Node)})
		}
		if sp.at = end; p.tail.Usual > 0 {
			sp.at = end.Plus(p.tail)
			sp.put(Item{Part: p.ID, Title: p.Title + ", Kubernetes", Start: end, End: sp.at, Basis: p.tail.Basis})
		}
	}
}

func (sp *splitting) slowOf(p *Part) time.Duration {
	if len(p.jobs) == 0 {
		return p.Length.Slow()
	}
	from := Moment{At: sp.now}
	_, end := sp.u.layOut(p, from, sp.now)
	return end.Plus(p.tail).Until().Sub(sp.now)
}

// nodes puts the nodes of a part into nights, as many side by side as go at once, and of each role as many as the OpenStack controller
// takes. No node begins that would not end in its night. then is how long what follows the last one at once takes: it is in the same night
// if it can.
func (sp *splitting) nodes(p *Part, then time.Duration) {
	if sp.request.AtOnce > 0 {
		p.flow.atOnce, p.AtOnce, p.limits = float64(sp.request.AtOnce), sp.request.AtOnce, nil
	}
	blocks := map[string]int{}
	if e := sp.request.Evacuation; e != nil {
		for i := range e.Nodes {
			blocks[e.Nodes[i].Node] = e.Nodes[i].Counts.Blocks
		}
	}
	type misfit struct {
		slow time.Duration
		why  string
	}
	misfits := map[misfit]int{} // their index in Unfit
	jobs := slices.Clone(p.jobs)
	for len(jobs) > 0 {
		slow := jobs[0].length.Slow()
		if !(len(jobs) == 1 && then > 0 && sp.fits(slow+then)) && !sp.fits(slow) {
			m := misfit{slow, sp.whyNot(slow, whyNode)}
			at, ok := misfits[m]
			if !ok {
				at = len(sp.out.Unfit)
				misfits[m] = at
				sp.out.Unfit = append(sp.out.Unfit, Unfit{Title: p.Title, Takes: slow, Why: m.why})
			}
			sp.out.Unfit[at].Nodes = append(sp.out.Unfit[at].Nodes, jobs[0].view.Name)
			jobs = jobs[1:]
			continue
		}
		some := *p
		some.jobs = jobs
		to := sp.tonight().To
		spans, end := sp.u.layOutWhile(&some, sp.at, sp.now, func(i int, until Moment) bool {
			if i > 0 && i+1 == len(jobs) {
				return !until.Until().Add(then).After(to)
			}
			return !until.Until().After(to)
		})
		for _, x := range spans {
			sp.put(Item{Part: x.Part, Title: x.Label, Node: x.Node, Start: x.Start, End: x.End, Basis: x.Basis,
				Waits: Waits(sp.u.s, x.Node), Block: blocks[x.Node]})
		}
		jobs = slices.DeleteFunc(jobs, func(j job) bool { // the first one is among them: the night was chosen for it
			return slices.ContainsFunc(spans, func(x NodeSpan) bool { return x.Node == j.view.Name })
		})
		if sp.at = end; len(jobs) > 0 && jobs[0].length.Slow() <= sp.request.Window.Length() {
			sp.open(true)
		}
	}
}
