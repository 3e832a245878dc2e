package forecast

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// Quiet is how long alerts of the update will fire: until when it is worth to silence them.
type Quiet struct {
	What string // "the rest of the update", "the whole update"; empty when nothing is to come
	End  Moment // zero when it is not known
	Runs bool   // the update runs: alerts fire from now on
}

// QuietFor forecasts the end of what is left of the update, as if it began now where none runs. It takes it that nobody is waited for.
func QuietFor(s *core.Snapshot) Quiet {
	f := Of(s)
	if f.Running {
		return Quiet{"the rest of the update", f.Whole, true}
	}
	m, known := Moment{At: present(s)}, false
	for _, p := range f.Parts {
		if p.State == PartDone {
			continue
		}
		l := p.Length
		switch {
		case l.Basis != BasisNone:
		case p.Planned > 0:
			l = Length{Usual: p.Planned, Basis: BasisPlan}
		case p.Documents > 0:
			l = Length{Usual: p.Documents, Basis: BasisDocuments}
		default:
			continue
		}
		if p.Nodes > 0 && p.Length.Basis != BasisNone { // the length is that of one node
			rounds := time.Duration((p.Left + max(p.AtOnce, 1) - 1) / max(p.AtOnce, 1))
			l.Usual, l.Spread = l.Usual*rounds, l.Spread*rounds
			m = m.Plus(p.tail)
		}
		m, known = m.Plus(l), true
	}
	if !known {
		return Quiet{}
	}
	if plan := s.Management.Plan(); plan != nil && plan.UnderWay() {
		return Quiet{"the rest of the update", m, true}
	}
	return Quiet{"the whole update", m, false}
}

// quarter is to what the end of a silence is rounded up.
const quarter = 15 * time.Minute

// Until is the end of a silence that lasts until the update does, with what the forecast can be wrong by: its spread, and a tenth of what
// it knows only by documents and plan. Zero when the end is not known.
func (q Quiet) Until(s *core.Snapshot) time.Time {
	if q.End.At.IsZero() {
		return time.Time{}
	}
	at := q.End.Until().Add(q.End.Unlearned / 10)
	if least := present(s).Add(quarter); at.Before(least) {
		at = least
	}
	return at.Add(quarter - 1).Truncate(quarter)
}

// EndText is the end with its spread: "about 23:05 ± 40 m, of which 2 h by documents or plan".
func (q Quiet) EndText(s *core.Snapshot) string { return MomentText(s, q.End) }

// Covered tells whether a silence lasts until the forecast end.
func (q Quiet) Covered(one core.Silence) bool {
	return !q.End.At.IsZero() && !one.Ends.Before(q.End.At)
}

// TooLate tells whether a silence begins only later, while the update runs already.
func (q Quiet) TooLate(s *core.Snapshot, one core.Silence) bool {
	return q.Runs && !one.Starts.IsZero() && !s.Reached(one.Starts)
}

// Covering is the silence that lasts until the update's end, has begun if the update runs, and names no alert, so that it is one for the
// whole of it; false when there is none, or the end is not known.
func (q Quiet) Covering(s *core.Snapshot) (core.Silence, bool) {
	if s.Alertmanager == nil {
		return core.Silence{}, false
	}
	for _, one := range s.Alertmanager.Silences {
		if q.Covered(one) && !q.TooLate(s, one) && progress.Wide(one.Matchers) {
			return one, true
		}
	}
	return core.Silence{}, false
}
