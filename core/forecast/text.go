package forecast

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// clockText is a moment in the operator's zone, with its day when it is not near.
func clockText(s *core.Snapshot, at time.Time) string {
	if at.IsZero() || s.NearNow(at) {
		return wording.ClockText(at)
	}
	return dayText(at) + " " + wording.ClockText(at)
}

// dayText is a day in the operator's zone: "Sat 14 Mar".
func dayText(at time.Time) string { return at.Local().Format("Mon 2 Jan") }

// momentText is a forecast with its spread: "05:10 ± 30 m".
func momentText(s *core.Snapshot, m Moment) string {
	text := clockText(s, m.At)
	if m.Spread >= time.Second {
		text += " ± " + wording.SpanText(m.Spread)
	}
	return text
}

// MomentText is a forecast with its spread, and how much of it was not learned: "about 05:10 ± 30 m, of which 1 h by documents or plan".
func MomentText(s *core.Snapshot, m Moment) string {
	if m.At.IsZero() {
		return "not known"
	}
	text := "about " + momentText(s, m)
	if m.Unlearned >= time.Second {
		text += ", of which " + wording.SpanText(m.Unlearned) + " by documents or plan"
	}
	return text
}

// LengthText is a length of time with its spread and its basis: "24 m ± 3 m, by 11 nodes of this update".
func (l Length) Text(what string) string {
	if l.Basis == BasisNone {
		return "not known"
	}
	text := wording.SpanText(l.Usual)
	if l.Spread > 0 {
		text += " ± " + wording.SpanText(l.Spread)
	}
	if l.Seen > 0 {
		return text + ", by " + wording.Count(l.Seen, what) + " of " + string(l.Basis)
	}
	return text + ", by " + string(l.Basis)
}
