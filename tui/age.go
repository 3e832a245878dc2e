package tui

import (
	"fmt"
	"time"

	"lockstep/core"
)

// age is a duration in one or two units: "42 s", "12 m", "2 h 41 m", "3 d 4 h"; at most 9 columns below 100 days.
func age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}

// shortAge is age without its spaces.
func shortAge(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// sinceText is how long ago s was: with ">" when nobody saw it begin and it began then or before, with "<" when then or later. It is empty
// when that is unknown.
func sinceText(s core.Since, now time.Time) string {
	if s.At.IsZero() {
		return ""
	}
	return s.Side() + age(now.Sub(s.At))
}

// phaseTook is how long a phase took, or has taken so far, with the side on which that really is.
func phaseTook(p core.Phase, now time.Time) string {
	took := p.Elapsed(now)
	if took <= 0 {
		return age(took)
	}
	return p.ElapsedSide() + age(took)
}

// clock is the time of day in the operator's zone, with the day unless that is today.
func clock(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	t, now = t.Local(), now.Local()
	if y, d := t.Year(), t.YearDay(); y != now.Year() || d != now.YearDay() {
		return t.Format("Jan 2 15:04")
	}
	return t.Format("15:04")
}

// secondsClock is clock with seconds.
func secondsClock(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return clock(t, now) + t.In(now.Location()).Format(":05")
}

// stamp is a full timestamp, for the detail view.
func stamp(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04:05 MST") + ", " + ago(now.Sub(t))
}

// sinceStamp is stamp of since when something is so, with the side on which that really is.
func sinceStamp(s core.Since, now time.Time) string {
	if s.At.IsZero() {
		return "not known"
	}
	switch text := s.At.Local().Format("2006-01-02 15:04:05 MST"); s.Side() {
	case "<":
		return text + " or later, " + sinceText(s, now) + " ago"
	case ">":
		return text + " or before, " + sinceText(s, now) + " ago"
	default:
		return text + ", " + ago(now.Sub(s.At))
	}
}

func ago(d time.Duration) string {
	if d < 0 {
		return "in " + age(-d)
	}
	return age(d) + " ago"
}

// took is how long an operation or one of its items took, or has taken so far; empty where its end is unknown.
func took(state core.OperationState, started, ended, now time.Time) string {
	switch {
	case started.IsZero(), ended.IsZero() && state.Ended():
		return ""
	case ended.IsZero():
		return age(now.Sub(started))
	}
	return age(ended.Sub(started))
}
