package checklist

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/wording"
)

// nodesReady is the point about nodes that are not Ready. core/step looks at each node itself: it also knows which of them are in a
// maintenance that is another step's matter.
const nodesReady = "nodes"

// cephHealth is the point about Ceph's own health.
const cephHealth = "ceph"

// ofDrains are entries about the drain of a node in its maintenance, which core/step judges with the node. They stop the update only where
// they are urgent.
var ofDrains = []core.AttentionRule{core.RuleDrainBlocked, core.RuleDrainWaits, core.RuleDrainError, core.RuleSwarmError}

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
				if f.Verdict != Fail || p.ID == nodesReady {
					continue
				}
				says := f.Says
				if p.ID == cephHealth { // it counts what it copies, and each number would be another stop
					health, _, _ := strings.Cut(f.Says, " — ")
					says = health + " " + f.Key
				}
				stop := core.Stop{Key: "check/" + p.ID + "/" + f.Of + "/" + says, Text: wording.OneLine(f.Text(), 200),
					Remedy: wording.TextOf(wording.TextOf(f.Remedy, p.Remedy), "the check says more of it")}
				if f.Entry != "" {
					a, ok := attention.Listed(s, f.Entry)
					if !ok || a.Cause != "" || !attention.CanStop(a.Rule) ||
						a.Severity != core.SeverityUrgent && slices.Contains(ofDrains, a.Rule) {
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
