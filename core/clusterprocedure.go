package core

import (
	"slices"
	"strings"
)

// clusterProcedure is what the update as a whole waits for: the five phases of the documents, and the cluster's locks,
// each with what its controller says.
func (s *Snapshot) clusterProcedure() (Procedure, bool) {
	target := Ref{Kind: KindCluster, Name: s.Cluster}
	r := s.ClusterRequest()
	p := Procedure{Title: "Take the cluster through its update", Goal: "Every lock is released when LCM needs it, and taken back in the end."}
	triggered := Step{ID: "cluster/trigger", Target: target, Label: s.Cluster, Title: "the update is triggered",
		Why: "You trigger it in the management console or by an update plan; LCM then makes the ClusterMaintenanceRequest.", State: StepWaiting, Status: "no update runs"}
	if r != nil {
		triggered.State, triggered.Status = StepDone, "since "+clockText(r.Created)
	}
	if r != nil && r.ByHand() {
		p.Title, p.Goal = "Take the cluster through maintenance by hand", "The work on its nodes is done, and every lock is taken back in the end."
		triggered.Title, triggered.Why = "an operator asks for the cluster", "The ClusterMaintenanceRequest was made by hand: LCM does nothing by itself."
	}
	if u := s.Update(); u.To != "" {
		p.Summary = append(p.Summary, "update to "+oneLine(u.To, 60))
	}
	if what := s.besideUpdate(); what != "" {
		triggered.Title, triggered.Why = "the cluster's maintenance is asked for", "It is for "+what+", not for an update."
	}
	p.Summary = append(p.Summary, s.clusterAccount()...)
	p.Steps = append(s.versionStep(), triggered)
	p.Summary = append(p.Summary, slices.Concat(s.managementSummary(), s.groupSummary())...)
	p.Steps = append(p.Steps, s.planSteps(target)...)
	over := r != nil && !r.Deleting.IsZero()
	for _, l := range s.ClusterLocks {
		if _, played := s.actAs(l.Controller); played {
			continue // the steps are ours
		}
		st := s.lockStep(l, "the cluster lock of "+oneLine(l.Controller, 40)+" is released", over)
		if r == nil && st.State == StepWaiting {
			st.State = StepLater
		}
		p.Steps = append(p.Steps, st)
	}
	p.Steps = append(p.Steps, s.actCluster()...)
	p.Steps = append(p.Steps, s.awaySteps()...)
	if r == nil {
		p.Steps = append(p.Steps, optional(s.byHand()...)...) // nobody asks for it here
	} else {
		p.Steps = append(p.Steps, s.byHand()...)
	}
	if r != nil && r.ByHand() {
		return p, true
	}
	for _, ph := range s.Phases() {
		if ph.ID < PhaseMasters {
			continue // told by the request and the locks
		}
		st := Step{ID: "cluster/phase-" + itoa(int(ph.ID)), Target: target, Label: s.Cluster, Title: ph.Title, Why: sentence(strings.Join(ph.Evidence, "; ")),
			State: phaseStep[ph.State], Status: string(ph.State)}
		if ph.Total > 0 {
			st.Status += ", " + itoa(ph.Done) + " of " + itoa(ph.Total)
		}
		p.Steps = append(p.Steps, st)
	}
	for _, v := range s.NodeViews() {
		if v.Stage == StageWaiting {
			p.Summary = append(p.Summary, v.Label+" waits for you: "+textOf(v.What, v.Reason))
		}
	}
	return p, true
}

var phaseStep = map[PhaseState]StepState{
	PhasePending: StepLater,
	PhaseRunning: StepWaiting,
	PhaseWaiting: StepWaiting,
	PhaseStuck:   StepWaiting,
	PhaseDone:    StepDone,
}
