package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

// finish puts together what was collected.
func (b *builder) finish() {
	if b.NodesOutside = len(b.outside); b.Outside {
		b.span()
	}
	end := cmp.Or(b.Ended.Time, b.Last.Time)
	b.Took = between(b.Began, Time{end})
	for _, id := range slices.Sorted(maps.Keys(b.runs)) {
		b.Runs = append(b.Runs, *b.runs[id])
	}
	slices.SortStableFunc(b.Runs, func(x, y Run) int { return x.Began.Compare(y.Began.Time) })
	for _, n := range slices.Sorted(maps.Keys(b.phases)) {
		b.Phases = append(b.Phases, *b.phases[n])
	}
	for _, name := range slices.Sorted(maps.Keys(b.nodes)) {
		n := b.nodes[name]
		n.stageTimes()
		for _, m := range n.Maintenance {
			n.Took += m.Took
		}
		b.Nodes = append(b.Nodes, *n)
	}
	slices.SortStableFunc(b.Nodes, func(x, y Node) int { return x.began().Compare(y.began()) })
	b.outliers()
	for i := range b.Standstills { // that the update went on may have been found long after its end
		if s := &b.Standstills[i]; !b.Ended.IsZero() && (s.Ended.IsZero() || s.Ended.After(b.Ended.Time)) {
			s.Ended, s.EndSeen = b.Ended, false
			s.Took = between(s.Began, s.Ended)
		}
	}
	b.Standstills = slices.DeleteFunc(b.Standstills, func(s Standstill) bool { return !s.Ended.IsZero() && s.Took < leastStandstill })
	for i := range b.Standstills {
		if n := b.nodes[b.Standstills[i].Subject]; n != nil {
			b.Standstills[i].Label = n.Label
		}
	}
	slices.SortStableFunc(b.Standstills, func(x, y Standstill) int { return x.Began.Compare(y.Began.Time) })
	for _, id := range b.order {
		b.Actions = append(b.Actions, *b.actions[id])
	}
	slices.SortStableFunc(b.Actions, func(x, y Action) int { return x.Confirmed.Compare(y.Confirmed.Time) })
	slices.SortStableFunc(b.Refused, func(x, y Refusal) int { return x.At.Compare(y.At.Time) })
	slices.SortStableFunc(b.Deviations, func(x, y Deviation) int { return x.At.Compare(y.At.Time) })
	for _, e := range b.entries {
		e.Lasted = between(e.Came, Time{cmp.Or(e.Settled.Time, b.Last.Time)})
		b.notesOn(e)
		b.Entries = append(b.Entries, *e)
	}
	slices.SortStableFunc(b.Entries, func(x, y Entry) int { return x.Came.Compare(y.Came.Time) })
	for _, id := range b.noted {
		b.Notes = append(b.Notes, *b.notes[id])
	}
	slices.SortStableFunc(b.Notes, func(x, y Note) int { return x.At.Compare(y.At) })
	b.byProject()
	b.planned()
	b.left()
	b.called()
	b.neverNull()
}

// asksFor are the steps that ask for maintenance outside an update, and what that is called.
var asksFor = map[core.IntentKind]string{
	core.IntentReboot: "graceful reboots", core.IntentEnterCluster: "maintenance mode", core.IntentEnterMachine: "maintenance mode",
	core.IntentAskCluster: "maintenance by hand", core.IntentAskNode: "maintenance by hand",
}

// span is from when to when maintenance outside an update was: from the first step that asked for it, or its first node, to the end of its
// last one.
func (b *builder) span() {
	begin := func(at Time) {
		if !at.IsZero() && (b.Began.IsZero() || at.Before(b.Began.Time)) {
			b.Began = at
		}
	}
	goesOn := false
	b.EndSeen = true
	for _, n := range b.nodes {
		for _, m := range n.Maintenance {
			begin(m.Began)
			if goesOn = goesOn || m.Ended.IsZero(); m.Ended.After(b.Ended.Time) {
				b.Ended = m.Ended
			}
			b.EndSeen = b.EndSeen && (m.EndSeen || m.Reconstructed)
		}
	}
	for _, a := range b.actions {
		if asksFor[core.IntentKind(a.Kind)] != "" && a.State == string(core.OperationDone) {
			begin(a.Confirmed)
		}
	}
	if goesOn || b.Ended.IsZero() {
		b.Ended, b.EndSeen = Time{}, false
	}
}

// called gives nodes the names that people use, in texts in which they stand by their names in Kubernetes.
func (b *builder) called() {
	var names []string
	for _, n := range b.Nodes {
		if n.Name != "" && n.Label != n.Name {
			names = append(names, n.Name, n.Label)
		}
	}
	r := strings.NewReplacer(names...)
	call := func(texts ...*string) {
		for _, t := range texts {
			*t = r.Replace(*t)
		}
	}
	for i := range b.Actions {
		a := &b.Actions[i]
		call(&a.Title, &a.Text, &a.Before, &a.After)
		for k := range a.Items {
			call(&a.Items[k].Label, &a.Items[k].Text)
		}
	}
	for i := range b.Entries {
		call(&b.Entries[i].Reason, &b.Entries[i].Label)
	}
	for i := range b.Standstills {
		call(&b.Standstills[i].Why)
	}
	for i := range b.Refused {
		call(&b.Refused[i].Title, &b.Refused[i].Why)
	}
	for i := range b.Deviations {
		call(&b.Deviations[i].What)
	}
	for i := range b.Left {
		call(&b.Left[i].Of)
	}
}

// neverNull gives empty lists to JSON in the place of null.
func (a *Account) neverNull() {
	a.Files, a.Runs, a.Phases, a.Nodes = some(a.Files), some(a.Runs), some(a.Phases), some(a.Nodes)
	a.Standstills, a.Projects, a.Actions, a.Refused = some(a.Standstills), some(a.Projects), some(a.Actions), some(a.Refused)
	a.Entries, a.Notes, a.Deviations, a.Left = some(a.Entries), some(a.Notes), some(a.Deviations), some(a.Left)
	for i := range a.Nodes {
		a.Nodes[i].Stages, a.Nodes[i].Maintenance = some(a.Nodes[i].Stages), some(a.Nodes[i].Maintenance)
	}
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// What makes a node stand out: its maintenance took this many times as long as the median of all, and this much longer at least.
const (
	outlierTimes = 2
	outlierLeast = 15 * time.Minute
)

func (b *builder) outliers() {
	var took []float64
	for _, n := range b.Nodes {
		if n.Took > 0 {
			took = append(took, n.Took)
		}
	}
	if len(took) < 3 {
		return // there is no usual length
	}
	slices.Sort(took)
	median := took[len(took)/2]
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Took > outlierTimes*median && n.Took-median > outlierLeast.Seconds() {
			n.Outlier = "it took " + Span(n.Took) + "; half of the nodes took " + Span(median) + " or less"
			if s, ok := n.longest(); ok {
				n.Outlier += "; longest it was " + s.Stage + ", " + Span(s.Took)
			}
		}
	}
}

// began is when its first maintenance began; far away where there was none.
func (n Node) began() time.Time {
	if len(n.Maintenance) == 0 {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return n.Maintenance[0].Began.Time
}

// longest is the stage that took longest of those that belong to a maintenance.
func (n Node) longest() (Stage, bool) {
	var out Stage
	for _, s := range n.Stages {
		if s.Took > out.Took && s.Stage != string(core.StageIdle) && s.Stage != string(core.StageDone) {
			out = s
		}
	}
	return out, out.Took > 0
}

func (b *builder) byProject() {
	of := map[string][]Instance{}
	for id, in := range b.instances {
		in.Moves = slices.DeleteFunc(in.Moves, func(m Move) bool { return !b.lies(m.Began, m.Ended) })
		in.Stopped = slices.DeleteFunc(in.Stopped, func(s Stop) bool { return !b.lies(s.Stopped, s.Started) })
		var down []stretch
		for _, m := range in.Moves {
			if m.Failed() {
				in.Failed++
			}
			switch {
			case m.Live():
				in.Slow += m.Took
			case !m.Failed() && m.Took > 0:
				down = append(down, stretch{m.Began.Time, m.Ended.Time})
			}
		}
		for _, s := range in.Stopped {
			if !s.Started.IsZero() { // else its owner may have started it a moment later
				down = append(down, stretch{s.Stopped.Time, s.Started.Time})
			}
		}
		in.Down = covered(down) // who is stopped is not down once more while it is moved
		if len(in.Moves)+len(in.Stopped) > 0 {
			of[b.projects[id]] = append(of[b.projects[id]], *in)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		p := Project{Name: name, Instances: of[name]}
		slices.SortFunc(p.Instances, func(x, y Instance) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID)) })
		b.Projects = append(b.Projects, p)
	}
}

// Done is the History of all that the journals have: of what was done by all who wrote them, also before the update.
func (a *Account) Done() core.History { return a.done }

// DisabledService is a service that an operator took out of scheduling, and that nobody put back by Lockstep.
type DisabledService struct {
	Service core.Ref // of the kind ComputeService or VolumeService
	By      string
	At      time.Time
}

// Disabled are the services that are out of scheduling by all that the journals have.
func (a *Account) Disabled() []DisabledService { return a.disabled }

// undone are the steps that set back what others did.
var undone = map[core.IntentKind]core.IntentKind{
	core.IntentDisableCompute: core.IntentEnableCompute, core.IntentDisableVolume: core.IntentEnableVolume,
}

// disabledIn are the services that were disabled and not enabled again, in the order in which they were disabled. What may have been done
// counts as done: a write of which no end is known, too.
func disabledIn(all []engine.Record) []DisabledService {
	ends := map[string]core.OperationState{} // by operation; the end that was looked up is the better known one
	lookedUp := map[string]bool{}
	for _, r := range all {
		switch {
		case r.Kind == engine.RecordEnded && r.LookedUp:
			ends[r.Operation], lookedUp[r.Operation] = core.OperationState(r.State), true
		case r.Kind == engine.RecordVerified && !lookedUp[r.Operation]:
			ends[r.Operation] = core.OperationState(r.State)
		}
	}
	open, begun := map[string]DisabledService{}, map[string]bool{}
	for _, r := range all {
		if r.Kind != engine.RecordBefore && r.Kind != engine.RecordVerified || r.Intent == nil || r.Object == nil || begun[r.Operation] {
			continue
		}
		begun[r.Operation] = true
		if end, known := ends[r.Operation]; known && !end.MayHaveBeenDone() {
			continue
		}
		key := string(r.Object.Kind) + " " + cmp.Or(r.Object.UID, r.Object.Name)
		for does, undoes := range undone {
			switch r.Intent.Kind {
			case does:
				open[key] = DisabledService{*r.Object, r.By, r.When()}
			case undoes:
				delete(open, key)
			}
		}
	}
	return slices.SortedFunc(maps.Values(open), func(x, y DisabledService) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Service.Name, y.Service.Name))
	})
}

// left finds what Lockstep changed in the time of the account, and did not set back up to the end of the journals.
func (b *builder) left() {
	h := b.done
	add := func(of, what, by string, at time.Time, key string) {
		if lines := b.places[key]; len(lines) > 0 && !at.Before(b.first) && !at.After(b.Last.Time) {
			b.Left = append(b.Left, Leftover{Of: of, What: what, By: by, At: Time{at.UTC()}, Lines: some(lines)})
		}
	}
	for _, changes := range []map[string]core.AnnotationChange{h.Changes, h.Tries} {
		for uid, c := range changes {
			add(c.Node, "annotation "+c.Key+": "+textOf(c.Old)+" → "+textOf(c.New), c.By, c.At, uid)
		}
	}
	for uid, c := range h.Tags {
		add(c.Instance, fmt.Sprintf("maintenance_action tags: %v → %v", c.Old, c.New), c.By, c.At, uid)
	}
	for uid, s := range h.Stopped {
		add(s.Name, "stopped or shelved, and not brought back", s.By, s.At, uid)
	}
	for uid, c := range h.Cold {
		add(c.Name, "a cold migration that was neither confirmed nor reverted", c.By, c.At, uid)
	}
	for _, d := range b.disabled {
		add(d.Service.Name, "disabled by an operator", d.By, d.At, cmp.Or(d.Service.UID, d.Service.Name))
	}
	slices.SortFunc(b.Left, func(x, y Leftover) int {
		return cmp.Or(x.At.Compare(y.At.Time), cmp.Compare(x.Of, y.Of), cmp.Compare(x.What, y.What))
	})
}

func textOf(s *string) string {
	if s == nil {
		return "none"
	}
	return wording.TextOf(*s, `""`)
}

// between is the time from one moment to another, in seconds; 0 where one of them is not known.
func between(from, to Time) float64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return math.Max(to.Sub(from.Time).Round(time.Millisecond).Seconds(), 0)
}

// Span is a time in seconds, for people: "1 h 4 m".
func Span(seconds float64) string {
	return wording.SpanText(time.Duration(seconds * float64(time.Second)))
}
