package procedure

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// clusterProcedure is what the whole update waits for: the five phases of the documents, and the cluster's locks with what their
// controllers say.
func clusterProcedure(s *core.Snapshot) (core.Procedure, bool) {
	target := core.Ref{Kind: core.KindCluster, Name: s.Cluster}
	r := s.ClusterRequest()
	p := core.Procedure{Title: "Take the cluster through its update",
		Goal: "Every lock is released when LCM needs it, and taken back in the end."}
	triggered := core.Step{ID: "cluster/trigger", Target: target, Label: s.Cluster, Title: "the update is triggered",
		Why:   "You trigger it in the management console or by an update plan; LCM then makes the ClusterMaintenanceRequest.",
		State: core.StepWaiting, Status: "no update runs"}
	if r != nil {
		triggered.State, triggered.Status = core.StepDone, "since "+wording.ClockText(r.Created)
	}
	if r != nil && r.ByHand() {
		p.Title, p.Goal = "Take the cluster through maintenance by hand",
			"The work on its nodes is done, and every lock is taken back in the end."
		triggered.Title, triggered.Why = "an operator asks for the cluster",
			"The ClusterMaintenanceRequest was made by hand: LCM does nothing by itself."
	}
	if u := progress.Update(s); u.To != "" {
		p.Summary = append(p.Summary, "update to "+wording.OneLine(u.To, 60))
	}
	if what := progress.BesideUpdate(s); what != "" {
		triggered.Title, triggered.Why = "the cluster's maintenance is asked for", "It is for "+what+", not for an update."
	}
	p.Summary = append(p.Summary, progress.ClusterAccount(s)...)
	p.Steps = append(progress.VersionStep(s), triggered)
	p.Summary = append(p.Summary, slices.Concat(progress.ManagementSummary(s), progress.GroupSummary(s))...)
	p.Steps = append(p.Steps, planSteps(s, target)...)
	over := r != nil && !r.Deleting.IsZero()
	for _, l := range s.ClusterLocks {
		if _, played := progress.ActAs(s, l.Controller); played {
			continue // the steps are ours
		}
		st := lockStep(s, l, "the cluster lock of "+wording.OneLine(l.Controller, 40)+" is released", over)
		if r == nil && st.State == core.StepWaiting {
			st.State = core.StepLater
		}
		p.Steps = append(p.Steps, st)
	}
	p.Steps = append(p.Steps, actCluster(s)...)
	p.Steps = append(p.Steps, awaySteps(s)...)
	if r == nil {
		p.Steps = append(p.Steps, optional(byHand(s)...)...) // nobody asks for it here
	} else {
		p.Steps = append(p.Steps, byHand(s)...)
	}
	if r != nil && r.ByHand() {
		return p, true
	}
	for _, ph := range progress.Phases(s) {
		if ph.ID < core.PhaseMasters {
			continue // told by the request and the locks
		}
		st := core.Step{ID: "cluster/phase-" + wording.Itoa(int(ph.ID)), Target: target, Label: s.Cluster, Title: ph.Title,
			Why:   wording.Sentence(strings.Join(ph.Evidence, "; ")),
			State: phaseStep[ph.State], Status: string(ph.State)}
		if ph.Total > 0 {
			st.Status += ", " + wording.Itoa(ph.Done) + " of " + wording.Itoa(ph.Total)
		}
		p.Steps = append(p.Steps, st)
	}
	for _, v := range progress.NodeViews(s) {
		if v.Stage == core.StageWaiting {
			p.Summary = append(p.Summary, v.Label+" waits for you: "+wording.TextOf(v.What, v.Reason))
		}
	}
	return p, true
}

var phaseStep = map[core.PhaseState]core.StepState{
	core.PhasePending: core.StepLater,
	core.PhaseRunning: core.StepWaiting,
	core.PhaseWaiting: core.StepWaiting,
	core.PhaseStuck:   core.StepWaiting,
	core.PhaseDone:    core.StepDone,
}
