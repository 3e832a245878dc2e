package timeline

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// change is that something is so from a moment on.
type change struct {
	at            time.Time
	bar           Bar
	seen          bool
	later         bool // it is so from then on, or only later
	why           string
	reconstructed bool // it is reconstructed
}

// spans makes spans of changes in their order, from start to ended (zero: open). What began before the start begins with it.
func spans(changes []change, start, ended time.Time) []Span {
	var out []Span
	from := start
	for i, c := range changes {
		at := core.Later(from, c.at)
		from = at
		if c.bar == None {
			continue
		}
		span := Span{Bar: c.bar, Start: at, Seen: c.seen && at.Equal(c.at), Later: c.later && at.Equal(c.at), Why: c.why,
			Reconstructed: c.reconstructed && at.Equal(c.at)}
		if i+1 < len(changes) {
			span.End = core.Later(at, changes[i+1].at)
		}
		if !ended.IsZero() {
			if !span.Start.Before(ended) {
				break
			}
			if span.End.IsZero() || span.End.After(ended) {
				span.End = ended
			}
		}
		if span.End.IsZero() || span.End.After(span.Start) {
			out = append(out, span)
		}
	}
	return out
}

// nodeRow is a node's row: its course, and where that begins later than its maintenance, the maintenance as a whole.
func nodeRow(s *core.Snapshot, t Timeline, n *core.Node) *Row {
	r := &Row{ID: "node/" + n.Name, Kind: Node, Label: n.Label(), Node: n.Name}
	r.Done = s.History.Stages[n.UID].Stage == core.StageDone
	course := s.History.Courses[n.UID]
	if len(course) == 0 {
		if now, known := s.History.Stages[n.UID]; known && !now.Since.At.IsZero() {
			course = core.Course{{Stage: now.Stage, Since: now.Since}}
		}
	}
	var changes []change
	for _, c := range course {
		changes = append(changes, change{at: c.Since.At, bar: stageBars[c.Stage], seen: c.Since.Exact, later: c.Since.Later, why: c.Why,
			reconstructed: c.Reconstructed})
	}
	if round := s.History.Rounds[n.UID]; !round.Started.IsZero() && round.Started.After(t.Start) {
		changes = withRound(changes, round)
	}
	r.Spans = spans(changes, t.Start, t.Ended)
	return r
}

// withRound adds the part of a maintenance of which no stage was recorded.
func withRound(changes []change, round core.Round) []change {
	before := 0 // changes before the maintenance
	for before < len(changes) && !changes[before].at.After(round.Started) {
		before++
	}
	if before > 0 && changes[before-1].bar != None || before < len(changes) &&
		changes[before].at.Sub(round.Started) < seenLate {
		return changes // a stage was recorded from its beginning on
	}
	out := append(changes[:before:before], change{at: round.Started, bar: Maintained, seen: true})
	if !round.Ended.IsZero() && (before == len(changes) || changes[before].at.After(round.Ended)) {
		out = append(out, change{at: round.Ended, bar: None, seen: !round.EndUnseen})
	}
	return append(out, changes[before:]...)
}

// seenLate is how much later than its request a node's first stage may be recorded without a bar for the time between.
const seenLate = time.Minute

// fixedRows are the rows of the phases and of the plan's steps that have begun: below their phase, and at the end those of which it is not
// known.
func fixedRows(s *core.Snapshot, t Timeline) []*Row {
	var out []*Row
	for _, p := range progress.Phases(s) {
		if p.ID != core.PhaseTrigger { // it is a moment
			if r := phaseRow(s, t, p); len(r.Spans) > 0 {
				out = append(out, r)
			}
		}
		out = append(out, stepRows(s, t, p.ID)...)
	}
	return append(out, stepRows(s, t, 0)...)
}

// stepRows are the rows of the plan's steps of a phase that have begun; 0: of no phase that is known.
func stepRows(s *core.Snapshot, t Timeline, phase core.PhaseID) []*Row {
	plan := s.Management.Plan()
	if plan == nil {
		return nil
	}
	var out []*Row
	for i, st := range plan.Steps {
		if st.Phase() != phase || st.Started.IsZero() {
			continue
		}
		if r := stepRow(s, t, st, i); len(r.Spans) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// phaseLabels are the phases in few letters, with the numbers that they have everywhere.
var phaseLabels = map[core.PhaseID]string{core.PhaseServices: "2 OpenStack", core.PhaseMasters: "3 masters", core.PhaseWorkers: "4 workers",
	core.PhaseFinish: "5 finish"}

// phaseRow is a phase's row. A step that nobody commenced holds the phase up before it has begun: that is shown, too.
func phaseRow(s *core.Snapshot, t Timeline, p core.Phase) *Row {
	r := &Row{ID: "phase/" + wording.Itoa(int(p.ID)), Kind: Phase, Label: phaseLabels[p.ID], Phase: p.ID}
	if p.State == core.PhaseDone && p.Started.At.IsZero() {
		return r // when it was is not known
	}
	changes := phaseChanges(p, s.History.Stands[p.ID])
	if !p.Ended.At.IsZero() {
		for len(changes) > 0 && changes[len(changes)-1].at.After(p.Ended.At) {
			changes = changes[:len(changes)-1]
		}
		changes = append(changes, change{at: p.Ended.At, bar: None, seen: p.Ended.Exact})
	}
	if r.Spans = spans(changes, t.Start, t.Ended); p.Started.At.After(r.begun()) {
		r.Began = p.Started.At
	}
	return r
}

// phaseChanges are the beginning of a phase, and its standstills before and after it.
func phaseChanges(p core.Phase, stands []core.Standstill) []change {
	var changes []change
	begins := change{at: p.Started.At, bar: Runs, seen: p.Started.Exact, later: p.Started.Later}
	begun := begins.at.IsZero() // or it has not, and nothing is to be added
	for _, st := range stands {
		if !begun && !st.Since.At.Before(begins.at) {
			changes, begun = append(changes, begins), true
		}
		if n := len(changes); n > 0 && !changes[n-1].at.Equal(begins.at) && !changes[n-1].at.Before(st.Since.At) {
			changes = changes[:n-1] // one cause took the place of another
		}
		changes = append(changes, change{at: st.Since.At, bar: standsAs(st.Cause), seen: st.Since.Exact, why: st.Why})
		goesOn := change{at: st.Until, bar: Runs, seen: !st.UntilUnseen}
		switch {
		case st.Until.IsZero():
			return changes
		case begins.at.IsZero() || st.Until.Before(begins.at):
			goesOn.bar = None
		default:
			begun = true
		}
		changes = append(changes, goesOn)
	}
	if !begun {
		changes = append(changes, begins)
	}
	return changes
}

// standsAs is the bar of a standstill.
func standsAs(c core.StandstillCause) Bar {
	switch c {
	case core.StandsByAlert, core.StandsForStep, core.StandsForPerson:
		return Waiting
	}
	return Failed
}

// stepRow is a step of the plan, by the plan's own times. The plan does not tell since when an alert holds a step up, or since when it is
// stuck: that is as Lockstep saw it.
func stepRow(s *core.Snapshot, t Timeline, st core.PlanStep, i int) *Row {
	r := &Row{ID: "step/" + wording.TextOf(st.ID, wording.Itoa(i)), Kind: Step,
		Label: " " + strings.TrimPrefix(strings.TrimPrefix(progress.StepShort(st), "step "), "group "), Phase: st.Phase()}
	changes := []change{{at: st.Started, bar: Runs, seen: true}}
	switch {
	case !st.Runs():
		if took, err := time.ParseDuration(st.Duration); err == nil && took > 0 {
			changes = append(changes, change{at: st.Started.Add(took), seen: true})
			break
		}
		return r // when it ended is not known
	case st.Status == core.PlanAutoPaused || st.Status == core.PlanStuck:
		stands := s.History.Stands[st.Phase()]
		if n := len(stands); n > 0 && stands[n-1].Until.IsZero() {
			changes = append(changes, change{at: stands[n-1].Since.At, bar: standsAs(stands[n-1].Cause), seen: stands[n-1].Since.Exact,
				why: stands[n-1].Why})
		}
	default:
		if allowed := st.Allows(); allowed > 0 {
			r.Due = st.Started.Add(allowed)
		}
	}
	r.Spans = spans(changes, t.Start, t.Ended)
	return r
}
