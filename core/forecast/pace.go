package forecast

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// kind is nodes that take about the same time.
type kind int

const (
	kindMaster kind = iota
	kindController
	kindGateway
	kindCompute
	kindOther
	kinds
)

func kindOf(n *core.Node) kind {
	switch {
	case n.Is(core.RoleMaster):
		return kindMaster
	case n.Is(core.RoleController):
		return kindController
	case n.Is(core.RoleGateway):
		return kindGateway
	case n.Is(core.RoleCompute):
		return kindCompute
	}
	return kindOther
}

// rounds are the maintenances that ended, by kind.
type rounds [kinds][]core.Round

func (r *rounds) workers() []core.Round { return slices.Concat(r[kindController:]...) }
func (r *rounds) all() []core.Round     { return slices.Concat(r[:]...) }

func (r *rounds) equal(other *rounds) bool {
	for k := range r {
		if !slices.Equal(r[k], other[k]) {
			return false
		}
	}
	return true
}

// pace is what is learned from the maintenances seen.
type pace struct {
	this, earlier rounds
	estimate      progress.Estimates
	made          [kinds]*learned
	lengths       [kinds][2]*Length // without instances, and with them
}

// learned is the pace for one kind of nodes, and what it is learned from.
type learned struct {
	progress.Pace
	basis Basis
}

// paceOf is the pace by the ended maintenances of nodes that exist: those of the running update, and those of earlier ones.
func paceOf(s *core.Snapshot) *pace {
	e := ends.After(s, endsOf)
	return &pace{estimate: progress.EstimatesOf(s), this: e.this, earlier: e.earlier}
}

// ended are the maintenances of nodes that exist that are over. They change a few times in an hour.
type ended struct {
	this, earlier rounds
	changed       uint64 // the Revision of the first Snapshot with them

	// What they were made of.
	update string // UID of the running update's request; empty when none runs
	seen   [2]map[string]core.Round
	nodes  uint64 // when it changed last which nodes there are, and of which kind
}

var ends core.Derivation[ended]

func endsOf(s *core.Snapshot, before ended) ended {
	e := ended{seen: [2]map[string]core.Round{s.History.Earlier, s.History.Rounds}, nodes: s.Stamps.All, changed: s.Revision}
	if r := progress.UpdateRequest(s); r != nil {
		e.update = r.UID
	}
	if e.nodes != 0 && e.nodes == before.nodes && e.update == before.update && core.SameMap(e.seen[0], before.seen[0]) &&
		core.SameMap(e.seen[1], before.seen[1]) {
		return before
	}
	if len(e.seen[0])+len(e.seen[1]) == 0 {
		return e.after(before)
	}
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		for _, seen := range e.seen {
			r := seen[n.UID]
			if _, known := r.Took(); !known || !r.OfUpdate() {
				continue // it goes on, nobody watched it end, or it was no maintenance of an update
			}
			of, k := &e.earlier, kindOf(n)
			if r.Update == e.update {
				of = &e.this
			}
			of[k] = append(of[k], r)
		}
	}
	return e.after(before)
}

// after keeps the time of the last change where the maintenances are those before.
func (e ended) after(before ended) ended {
	if before.nodes != 0 && e.this.equal(&before.this) && e.earlier.equal(&before.earlier) {
		e.changed = before.changed
	}
	return e
}

// of is the pace of a kind of nodes: by this update's nodes of the kind, else of all workers, else by an earlier update's of the kind, else
// by whatever was seen. Earlier updates had other contents, and other kinds have other work, so they count with a wide spread.
func (p *pace) of(k kind) learned {
	if l := p.made[k]; l != nil {
		return *l
	}
	alike := func(r *rounds) []core.Round {
		if k == kindMaster {
			return nil
		}
		return r.workers()
	}
	l := learned{basis: BasisDocuments}
	for _, try := range []struct {
		rounds []core.Round
		basis  Basis
		of     *rounds // where they are of all kinds of workers
	}{
		{p.this[k], BasisThis, nil}, {alike(&p.this), BasisThis, &p.this}, {p.earlier[k], BasisEarlier, nil},
		{p.this.all(), BasisThis, nil}, {alike(&p.earlier), BasisEarlier, &p.earlier}, {p.earlier.all(), BasisEarlier, nil},
	} {
		seen, ok := progress.PaceOf(try.rounds)
		if !ok {
			continue
		}
		l = learned{seen, try.basis}
		if try.basis == BasisEarlier {
			l.Spread = max(2*l.Spread, l.Middle/4)
		}
		if try.of != nil {
			l.Pace = p.asKind(k, l.Pace, try.of)
		}
		break
	}
	p.made[k] = &l
	return l
}

// asKind is the pace of a kind of workers that has none of its own, by that of all: as much longer or shorter as the documents say that
// they take, a compute with its instances and another one without, or as long as the only one of the kind. Its spread is wide.
func (p *pace) asKind(k kind, seen progress.Pace, of *rounds) progress.Pace {
	documents := func(k kind) time.Duration { return p.estimate.WorkerOf(k == kindCompute) }
	var theirs time.Duration
	for other := kindController; other < kinds; other++ {
		theirs += time.Duration(len(of[other])) * documents(other)
	}
	if theirs <= 0 {
		return seen
	}
	ratio := float64(documents(k)) * float64(len(of.workers())) / float64(theirs)
	seen.Middle = time.Duration(float64(seen.Middle) * ratio)
	if len(of[k]) == 1 {
		seen.Middle, _ = of[k][0].Took()
	}
	seen.Spread = max(time.Duration(2*float64(seen.Spread)*ratio), seen.Middle/3)
	return seen
}

// length is how long the maintenance of a node takes.
func (p *pace) length(n *core.Node) Length { return p.lengthOf(kindOf(n), n.Is(core.RoleCompute)) }

func (p *pace) lengthOf(k kind, compute bool) Length {
	l := &p.lengths[k][0]
	if compute {
		l = &p.lengths[k][1]
	}
	if *l == nil {
		*l = new(p.lengthAnew(k, compute))
	}
	return **l
}

func (p *pace) lengthAnew(k kind, compute bool) Length {
	if l := p.of(k); l.basis.Learned() {
		return Length{Usual: l.Middle, Spread: l.Spread, Basis: l.basis, Seen: l.Rounds}
	}
	if k == kindMaster {
		return Length{Usual: p.estimate.Master(), Basis: BasisDocuments}
	}
	return Length{Usual: p.estimate.WorkerOf(compute), Basis: BasisDocuments}
}

// flow is how nodes follow one another.
type flow struct {
	atOnce float64       // how many go at the same time, at least 1
	gap    time.Duration // between the end of one and the beginning of the next
}

// flowOf is how the nodes of a part follow one another; concurrent is how many their groups allow at a time, 0 when that is not known.
// What was seen counts once enough nodes are through to tell.
func (p *pace) flowOf(masters bool, concurrent int) flow {
	this, earlier := p.this.workers(), p.earlier.workers()
	if masters {
		this, earlier = p.this[kindMaster], p.earlier[kindMaster]
	}
	if seen, ok := progress.PaceOf(this); ok && seen.Rounds >= 2*concurrent {
		if concurrent > 0 {
			seen.AtOnce = min(seen.AtOnce, float64(concurrent))
		}
		return flow{seen.AtOnce, seen.Gap}
	}
	f := flow{atOnce: 1}
	seen, ok := progress.PaceOf(p.this.all())
	if !ok || masters {
		seen, ok = progress.PaceOf(lastUpdate(earlier))
	}
	if ok {
		f = flow{seen.AtOnce, seen.Gap}
	}
	if concurrent > 0 {
		f.atOnce = float64(concurrent)
	}
	return f
}

// stepLength is how long steps took that have ended, in a list of their times; false for none.
func stepLength(took []time.Duration) (Length, bool) {
	if len(took) == 0 {
		return Length{}, false
	}
	slices.Sort(took)
	n := len(took)
	l := Length{Usual: took[n/2], Basis: BasisEarlier, Seen: n}
	l.Spread = max((took[n-1]-took[0])/2, l.Usual/4)
	return l, true
}
