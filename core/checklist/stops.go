package checklist

import (
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/wording"
)

// inStep are points that core/step judges itself before it takes the update further.
var inStep = map[string]bool{"nodes": true, "lcm": true}

var stops core.Derivation[[]core.Stop]

// Stops are the points that fail, as what stops the update, for engine.Config; with the urgent entries, of which some stand in points that
// only warn. What only follows from another entry is left out, and so is what core/step finds itself. Room is not asked here: it only
// warns. A key says what was found, not only where: a confirmation past a stop does not cover what it becomes later.
func Stops(s *core.Snapshot) []core.Stop {
	return stops.Of(s, func(s *core.Snapshot) []core.Stop {
		out := attention.Stops(s)
		r := Of(s, Room{})
		for _, p := range r.Stopping() {
			for _, f := range p.Findings {
				if f.Verdict != Fail || inStep[p.ID] {
					continue
				}
				stop := core.Stop{Key: "check/" + p.ID + "/" + f.Of + "/" + f.Says, Text: wording.OneLine(f.Text(), 200),
					Remedy: wording.TextOf(wording.TextOf(f.Remedy, p.Remedy), "the check says more of it")}
				if f.Entry != "" {
					if a, ok := attention.ByID(s, f.Entry); !ok || a.Cause != "" || !attention.CanStop(a.Rule) {
						continue
					}
					stop.Key = f.Entry
				}
				out = append(out, stop)
			}
		}
		return out
	})
}
