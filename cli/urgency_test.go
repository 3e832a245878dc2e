package cli

import (
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// urgencyOf returns what is wrong with the urgency of the nodes; empty when nothing is. A node has at most one urgent entry about
// itself. A node that waits for the operator, or that failed, has an entry, or somebody deals with it.
func urgencyOf(s *core.Snapshot) string {
	urgent, seenTo := map[string][]string{}, map[string]bool{}
	for _, a := range attention.Of(s) {
		if a.Severity == core.SeverityUrgent && a.Instance == "" && a.Node != "" {
			urgent[a.Node] = append(urgent[a.Node], a.ID+" ("+a.Reason+")")
		}
		seenTo[a.Node] = seenTo[a.Node] || a.Severity >= core.SeverityWarning || strings.HasPrefix(a.Hint, "wait: ")
	}
	for _, v := range progress.NodeViews(s) {
		if len(urgent[v.Name]) > 1 {
			return v.Label + " has several urgent entries: " + strings.Join(urgent[v.Name], ", ")
		}
		if (v.Stage == core.StageWaiting || v.Stage == core.StageFailed) && allKnown(s) && !seenTo[v.Name] {
			return v.Label + " is " + string(v.Stage) + " (" + v.Reason + "), and nothing is told of it"
		}
	}
	return ""
}

// offeredOnOldFacts returns a node that is offered, on facts from before its return, what the OpenStack controller has done on
// that return; empty when there is none.
func offeredOnOldFacts(s *core.Snapshot) string {
	for _, v := range progress.NodeViews(s) {
		if v.Node == nil || v.Service == nil || v.Service.Enabled || v.Service.DisabledReason != core.DisabledReasonMaintenance {
			continue
		}
		round, asked := s.History.Rounds[v.Node.UID], s.Wall.Sub(s.Sources[core.SourceComputeServices].AsOf)
		if round.Ended.IsZero() || s.Now.Sub(round.Ended) >= asked {
			continue
		}
		if st := step.Plan(s, core.Intent{Kind: core.IntentEnableCompute, Node: v.Name}); st.Doable() {
			return v.Label + " is offered to be enabled by what was known before its return"
		}
	}
	return ""
}
