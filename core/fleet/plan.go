package fleet

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// stepNow is the step of a plan that is under way, or the first that is not complete; false when all are.
func stepNow(p *core.UpdatePlan) (core.PlanStep, bool) {
	first, found := core.PlanStep{}, false
	for _, st := range p.Steps {
		switch {
		case st.Status == core.PlanCompleted:
		case st.Begun():
			return st, true
		case !found:
			first, found = st, true
		}
	}
	return first, found
}

// finish is when a plan that is under way is through by its own estimates, or why they do not tell. They tell only what goes on by
// itself: a step that nobody has commenced, or that takes longer than its estimate already, makes any end a guess.
func finish(p *core.UpdatePlan, groups []*core.MachineGroup, now time.Time) (at time.Time, why string) {
	index := map[string]int{}
	for _, g := range groups {
		index[g.Name] = g.Index
	}
	at = now
	var together time.Time // the end of the worker steps that run at the same time
	last, open, goesOn := 0, false, false
	settle := func() {
		if open {
			at, open = core.Later(at, together), false
		}
	}
	for _, st := range p.Steps {
		name := progress.StepShort(st)
		switch {
		case st.Status == core.PlanCompleted:
			continue
		case st.Status == core.PlanStuck || st.Status == core.PlanAutoPaused:
			return time.Time{}, name + " does not go on"
		case st.Held() && p.Driven():
			return time.Time{}, name + " is held"
		case !st.Taken() && (p.Driven() || !goesOn): // where the Cluster was given its release, LCM goes on by itself
			return time.Time{}, name + " is not commenced"
		case st.Allows() == 0:
			return time.Time{}, "the plan has no estimate for " + name
		}
		goesOn = goesOn || st.Begun()
		i, grouped := index[st.Group()]
		if !grouped || !open || i != last {
			settle()
		}
		end := at.Add(st.Allows())
		if st.Begun() && !st.Started.IsZero() {
			if end = st.Started.Add(st.Allows()); end.Before(now) {
				return time.Time{}, name + " takes longer than the plan estimated, " + wording.SpanText(now.Sub(end)) + " so far"
			}
		}
		if !grouped {
			at = core.Later(at, end)
			continue
		}
		if !open {
			together = at
		}
		together, last, open = core.Later(together, end), i, true
	}
	settle()
	return at, ""
}
