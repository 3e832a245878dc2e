package checklist

import (
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/wording"
)

// inStep are points that core/step judges itself before it takes the update further.
var inStep = map[string]bool{"nodes": true, "lcm": true}

var stops core.Derivation[[]core.Stop]

// Stops are the points that fail, as what stops the update, for engine.Config: with the urgent entries, which stand in points, too. Room
// takes OpenStack's word and is not asked here: it only warns.
func Stops(s *core.Snapshot) []core.Stop {
	return stops.Of(s, func(s *core.Snapshot) []core.Stop {
		out := attention.Stops(s)
		r := Of(s, Room{})
		for _, p := range r.Stopping() {
			for _, f := range p.Findings {
				if f.Verdict != Fail || f.Entry != "" || inStep[p.ID] {
					continue
				}
				out = append(out, core.Stop{Key: "check/" + p.ID + "/" + f.Of, Text: wording.OneLine(f.Text(), 200),
					Remedy: wording.TextOf(wording.TextOf(f.Remedy, p.Remedy), "the check says more of it")})
			}
		}
		return out
	})
}
