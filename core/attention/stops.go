package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// noStops are rules whose entries do not stop the update by themselves: core/step finds the same facts, or they are about Lockstep itself.
var noStops = []core.AttentionRule{core.RulePlanStuck, core.RulePlanWaits, core.RuleAutoPause, core.RuleAutoPauseError, core.RuleLCMStuck,
	core.RuleOperation, core.RuleDisarmed, core.RulePromise}

// CanStop tells whether entries of the rule stop the update by themselves.
func CanStop(rule core.AttentionRule) bool { return !slices.Contains(noStops, rule) }

// Stops are the urgent entries as what stops the update, for engine.Config: the update should not be taken further while they stand. What
// only follows from another entry is left out.
func Stops(s *core.Snapshot) []core.Stop {
	var out []core.Stop
	for _, a := range List(s) {
		if a.Severity == core.SeverityUrgent && a.Cause == "" && CanStop(a.Rule) {
			out = append(out, core.Stop{Key: a.ID, Text: wording.OneLine(a.Label, 64) + ": " + wording.OneLine(a.Reason, 160),
				Remedy: wording.TextOf(a.Hint, "its entry in \"needs you\" leads to the way out")})
		}
	}
	return out
}
