package forecast

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// PartState is where a part of the update stands.
type PartState string

// The states of a part.
const (
	PartDone  PartState = "done"
	PartRuns  PartState = "under way"
	PartLater PartState = "later"
)

// Part is a step of the update plan or, where no plan drives the update, one of the documents' phases.
type Part struct {
	ID    string // the step's ID, or "phase 2"
	Title string
	Phase core.PhaseID // 0 when not known
	State PartState
	Plan  bool // it is a step of the plan
	Whole bool // of a step: the Cluster was given its release, no step is commenced, and LCM goes on from step to step by itself

	Commenced bool   // of a step: it begins by itself
	Wants     bool   // of a step: no node of it begins, and the step itself does not, until somebody commences it, or commences it again
	ByMachine bool   // of a step: it goes machine by machine, and rests between them
	Estimate  string // of a step: the plan's own, as it stands
	Group     string // of a step: the update group
	step      int    // its index in the plan
	Beside    bool   // of a step: it goes beside the one before it, as their groups have the same index

	Documents time.Duration // how long the documents allow for it; 0 when they say nothing
	Planned   time.Duration // what the plan allows for it; 0 when there is none
	Took      time.Duration // of one that is done; 0 when that is not known
	Length    Length        // what the forecast takes for it, of all that is left of it; of nodes for each
	Nodes     int           // that it is about; 0 for a part without nodes
	Left      int           // of these, those not through
	AtOnce    int           // nodes at a time in the forecast

	Late    bool      // it has no nodes, and takes longer than the slow end of its length
	Started time.Time // zero when it has not begun, or that is not known
	Start   Moment    // forecast; zero when no update runs, or it has begun
	End     Moment    // forecast; zero when no update runs, or it is done

	jobs   []job
	flow   flow
	limits map[string]int // by update group: how many of its nodes go at a time, where that is known
	tail   Length         // what comes after its last node
}

// job is the maintenance of one node that is to come or goes on.
type job struct {
	view   *core.NodeView
	roles  *roles
	length Length
	group  string
	part   string    // the ID of its part, where several were joined; else empty
	place  int       // in the order of the update
	began  time.Time // zero when it has not begun
	back   bool      // it returns: the next one begins

	through bool // it is behind it
}

// stand is where a node stands, as far as a forecast rests on it. What kind of node it is matters to everything.
type stand struct {
	label   string
	began   time.Time // zero when it has not begun
	back    bool
	through bool
}

func standOf(v *core.NodeView) stand {
	st := stand{label: v.Label, through: v.Stage == core.StageDone}
	if v.Request != nil && v.Stage != core.StageQueued && v.Stage != core.StageDone {
		st.began, st.back = v.Request.Created, v.Stage == core.StageReturning
	}
	return st
}

// update is what a forecast is made of: the facts, as far as they are about what is left.
type update struct {
	s       *core.Snapshot
	request *core.MaintenanceRequest // nil when no update runs
	plan    *core.UpdatePlan         // that drives the update; nil when none does
	pace    *pace
	order   ordered
	own     func(node string, of Length) Length
	room    *[]job // for the jobs of workers, where they are not kept; nil: they have a list of their own
}

// newUpdate gathers the facts.
func newUpdate(s *core.Snapshot) *update {
	u := &update{s: s, request: progress.UpdateRequest(s), order: order.AfterFew(s, orderOf)}
	u.pace = paceOf(s)
	if p := s.Management.Plan(); p != nil && p.Status != core.PlanCompleted &&
		(u.request == nil || p.UnderWay() || p.Status == core.PlanScheduled) {
		u.plan = p
	}
	return u
}

// parts are the parts of the update in their order, with what is left of each.
func (u *update) parts() []Part {
	var masters, workers []job
	views := progress.ByNode(u.s)
	for place, at := range u.order.views {
		v := views.At(at)
		roles := &u.order.kinds[place]
		if workers == nil && roles.kind != kindMaster {
			workers = u.jobs(len(u.order.views) - len(masters))
		}
		j := job{view: v, roles: roles, length: u.pace.lengthOf(roles.kind, roles.compute), group: u.order.groups[place], place: place}
		if u.own != nil {
			j.length = u.own(v.Name, j.length)
		}
		stands := standOf(v)
		if u.request != nil {
			j.began, j.back = stands.began, stands.back
		}
		j.through = stands.through
		if roles.kind == kindMaster {
			masters = append(masters, j)
		} else {
			workers = append(workers, j)
		}
	}
	var parts []Part
	if u.plan != nil {
		parts = u.planned(masters, workers)
	} else {
		parts = u.phased(masters, workers)
	}
	for i := range parts {
		u.finish(&parts[i])
	}
	return parts
}

// jobs is an empty list with room for so many.
func (u *update) jobs(n int) []job {
	if u.room == nil {
		return make([]job, 0, n)
	}
	*u.room = slices.Grow((*u.room)[:0], n)
	return *u.room
}

// phased are the documents' phases as parts. Workers are divided by the index of their groups where these are known.
func (u *update) phased(masters, workers []job) []Part {
	e := u.pace.estimate
	phases := progress.Phases(u.s)
	part := func(id core.PhaseID, title string, documents time.Duration, jobs []job) Part {
		p := Part{ID: "phase " + wording.Itoa(int(id)), Title: title, Phase: id, State: PartLater, Documents: documents, jobs: jobs}
		ph := phases[id-1]
		switch {
		case u.request == nil:
		case ph.State == core.PhaseDone:
			p.State = PartDone
			if ph.Timed() && !ph.Started.At.IsZero() && !ph.Ended.At.IsZero() {
				p.Took = max(ph.Ended.At.Sub(ph.Started.At), 0)
			}
		case ph.State != core.PhasePending:
			p.State = PartRuns
		}
		if p.State != PartLater {
			p.Started = ph.Started.At
		}
		return p
	}
	parts := []Part{part(core.PhaseServices, "OpenStack and Ceph", e.Services(), nil),
		part(core.PhaseMasters, "master nodes", e.Masters(), masters)}
	for _, some := range u.byIndex(workers) {
		p := part(core.PhaseWorkers, "worker nodes", documentsOf(e, some.jobs), some.jobs)
		if some.name != "" {
			p.ID, p.Title, p.Group = p.ID+", "+some.name, p.Title+", "+some.name, some.name
		}
		parts = append(parts, p)
	}
	return append(parts, part(core.PhaseFinish, "the rest: StackLight and other applications", e.Finish(), nil))
}

// group is workers that are updated side by side.
type group struct {
	name string
	jobs []job
}

// byIndex divides workers by the index of their update groups; all of them are one group where there is nothing to tell them apart.
func (u *update) byIndex(workers []job) []group {
	m := u.s.Management
	if m == nil || len(m.Groups) == 0 {
		return []group{{jobs: workers}}
	}
	index := func(j job) int {
		if g := m.GroupOf(j.group); g != nil {
			return g.Index
		}
		return 1 // the default group's
	}
	var out []group
	last := 0
	workers = slices.Clone(workers)
	slices.SortStableFunc(workers, func(a, b job) int { return index(a) - index(b) })
	for _, j := range workers {
		if i := index(j); len(out) == 0 || i != last {
			out, last = append(out, group{}), i
		}
		g := &out[len(out)-1]
		g.jobs = append(g.jobs, j)
	}
	if len(out) < 2 {
		return []group{{jobs: workers}}
	}
	for i := range out {
		var names []string
		for _, j := range out[i].jobs {
			if name := wording.OneLine(j.group, 60); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		out[i].name = wording.Verb(len(names), "group ", "groups ") + wording.Some(names, 3)
	}
	return out
}

// documentsOf is what the documents allow for workers, one after the other.
func documentsOf(e progress.Estimates, workers []job) time.Duration {
	var all time.Duration
	for _, j := range workers {
		all += e.WorkerOf(j.roles.compute)
	}
	return all
}

// planned are the steps of the plan as parts. A worker that no step names goes with the last of the workers' steps. Without such a step
// workers are not part of the update.
func (u *update) planned(masters, workers []job) []Part {
	e := u.pace.estimate
	last, stepOf := -1, map[string]int{} // by group
	for i, st := range u.plan.Steps {
		if st.Phase() == core.PhaseWorkers {
			last = i
		}
		if _, known := stepOf[st.Group()]; !known && st.Group() != "" {
			stepOf[st.Group()] = i
		}
	}
	byStep := make([][]job, len(u.plan.Steps))
	for _, j := range workers {
		i, named := stepOf[j.group]
		if !named {
			i = last
		}
		if i >= 0 {
			byStep[i] = append(byStep[i], j)
		}
	}
	_, runs := u.plan.Running()
	whole := runs && !u.plan.Driven() // without any commence: somebody has given the Cluster its release, and LCM goes on by itself
	var parts []Part
	for i, st := range u.plan.Steps {
		p := Part{ID: wording.OneLine(wording.TextOf(st.ID, "step "+wording.Itoa(i+1)), 80), Title: progress.StepShort(st), Phase: st.Phase(),
			State: PartLater, Plan: true, Whole: whole, Commenced: st.Commence, Wants: !whole && (st.Held() || !st.Taken()), Group: st.Group(),
			step: i, Planned: st.Allows(), Estimate: st.Estimate, Started: st.Started, ByMachine: st.Phase() == core.PhaseWorkers}
		switch {
		case st.Status == core.PlanCompleted:
			p.State, p.Took = PartDone, st.Took(time.Time{})
		case st.Begun():
			p.State = PartRuns
		}
		switch p.Phase {
		case core.PhaseServices:
			if p.Documents = e.OpenStack(); strings.Contains(st.ID, "ceph") {
				p.Documents = e.Ceph()
			}
		case core.PhaseMasters:
			p.Documents, p.jobs = e.Masters(), masters
			masters = nil
		case core.PhaseWorkers:
			p.jobs = byStep[i]
			p.Documents = documentsOf(e, p.jobs)
		case core.PhaseFinish:
			p.Documents = e.Finish()
		}
		if i > 0 && p.Phase == core.PhaseWorkers {
			a, b := u.s.Management.GroupOf(u.plan.Steps[i-1].Group()), u.s.Management.GroupOf(st.Group())
			p.Beside = a != nil && b != nil && a.Index == b.Index // docs/mosk.md#update-groups
		}
		parts = append(parts, p)
	}
	return parts
}

// finish says what is left of a part, and how long it takes.
func (u *update) finish(p *Part) {
	p.Nodes = len(p.jobs)
	if p.State == PartDone {
		p.jobs = nil
	}
	if u.request != nil {
		p.jobs = slices.DeleteFunc(p.jobs, func(j job) bool { return j.through })
	}
	p.Left = len(p.jobs)
	if p.Nodes == 0 {
		p.Length = u.lengthOf(p)
		return
	}
	masters := p.Phase == core.PhaseMasters
	concurrent, now := 0, 0
	if masters {
		concurrent = 1
	}
	var seen []string // a few groups
	for i := range p.jobs {
		j := &p.jobs[i]
		if !j.began.IsZero() && !j.back {
			now++
		}
		if m := u.s.Management; m != nil && !masters && !slices.Contains(seen, j.group) {
			seen = append(seen, j.group)
			if g := m.GroupOf(j.group); g != nil {
				concurrent += max(g.Concurrent, 1)
				if p.limits == nil {
					p.limits = map[string]int{}
				}
				p.limits[j.group] = max(g.Concurrent, 1)
			}
		}
	}
	p.flow = u.pace.flowOf(masters, concurrent)
	p.flow.atOnce = max(p.flow.atOnce, float64(now), 1)
	p.AtOnce = int(p.flow.atOnce)
	if p.Left == 0 {
		return
	}
	p.Length = usual(p.jobs)
	if masters && !p.Length.Basis.Learned() {
		p.tail = Length{Usual: u.pace.estimate.MastersKubernetes(), Basis: BasisDocuments}
	}
}

// usual is the length that most of the nodes have: kinds differ, and the first of a part need not be like the others.
func usual(jobs []job) Length {
	type counted struct {
		length Length
		nodes  int
	}
	var counts []counted // as many as there are kinds, where nodes have no times of their own
	of := map[Length]int{}
	last := -1
	for i := range jobs {
		l := &jobs[i].length
		if last < 0 || counts[last].length != *l {
			at, there := of[*l]
			if !there {
				at = len(counts)
				of[*l] = at
				counts = append(counts, counted{length: *l})
			}
			last = at
		}
		counts[last].nodes++
	}
	best := counts[0]
	for _, c := range counts {
		if c.nodes > best.nodes {
			best = c
		}
	}
	return best.length
}

// commencedByPeople tells whether it is a step that is commenced by people: the update rests before it until that is done.
func (p *Part) commencedByPeople() bool { return p.Plan && !p.Whole }

// lengthOf is how long a part without nodes takes as a whole: as in earlier updates of this cluster, by the plans that are still there or
// else by the journal; else as the plan says, else as the documents say.
func (u *update) lengthOf(p *Part) Length {
	var took []time.Duration
	if m := u.s.Management; m != nil && p.Plan {
		for _, plan := range m.Plans {
			for _, st := range plan.Steps {
				if plan != u.plan && st.ID != "" && st.ID == u.plan.Steps[p.step].ID && st.Status == core.PlanCompleted {
					if d, err := time.ParseDuration(st.Duration); err == nil && d > 0 {
						took = append(took, d)
					}
				}
			}
		}
	}
	if len(took) == 0 {
		took = u.journalled(p)
	}
	if l, ok := stepLength(took); ok {
		return l
	}
	switch {
	case p.Planned > 0:
		return Length{Usual: p.Planned, Basis: BasisPlan}
	case p.Documents > 0:
		return Length{Usual: p.Documents, Basis: BasisDocuments}
	}
	return Length{Basis: BasisNone}
}

// journalled is how long the part took in earlier updates, as far as the journal tells.
func (u *update) journalled(p *Part) []time.Duration {
	kind := core.ForetoldPhase
	if p.Plan {
		kind = core.ForetoldStep
	}
	var took []time.Duration
	for _, f := range u.s.History.Foretold {
		if f.Kind != kind || f.ID != p.ID || u.request != nil && f.Update == u.request.UID {
			continue
		}
		if d := f.Took(); d > 0 {
			took = append(took, d)
		}
	}
	return took
}
