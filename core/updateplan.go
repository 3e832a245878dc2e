package core

import (
	"strings"
	"time"
)

// UpdatePlan is a ClusterUpdatePlan (docs/mosk.md#update-plans).
type UpdatePlan struct {
	Meta
	Cluster   string // spec.cluster
	Source    string // ClusterRelease names
	Target    string
	Status    string // one of the plan's states, or another
	Started   time.Time
	Completed time.Time
	Steps     []PlanStep
}

// Ref names the plan.
func (p *UpdatePlan) Ref() Ref {
	return Ref{Kind: KindUpdatePlan, Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

// States of a plan and of its steps (docs/mosk.md#update-plans).
const (
	PlanNotStarted = "NotStarted"
	PlanScheduled  = "Scheduled"
	PlanInProgress = "InProgress"
	PlanAutoPaused = "AutoPaused"
	PlanStuck      = "Stuck"
	PlanCompleted  = "Completed"
)

// UnderWay tells whether the plan has started and not ended.
func (p *UpdatePlan) UnderWay() bool {
	switch p.Status {
	case PlanInProgress, PlanAutoPaused, PlanStuck:
		return true
	}
	return !p.Started.IsZero() && p.Completed.IsZero() && p.Status != PlanCompleted
}

// Next is the step to commence so that the plan goes on. False when the plan has not begun, is over, or goes on by itself.
func (p *UpdatePlan) Next() (PlanStep, bool) {
	begun := false
	for _, st := range p.Steps {
		switch {
		case st.Status == PlanCompleted:
			begun = true
		case st.Begun() || st.Commence || st.Status == PlanScheduled:
			return PlanStep{}, false
		default:
			return st, begun
		}
	}
	return PlanStep{}, false
}

// PausedSince is when the last completed step ended, if the plan shows it.
func (p *UpdatePlan) PausedSince() Since {
	var at time.Time
	for _, st := range p.Steps {
		if d, err := time.ParseDuration(st.Duration); err == nil && st.Status == PlanCompleted && !st.Started.IsZero() {
			at = Later(at, st.Started.Add(d))
		}
	}
	return Since{At: at, Exact: !at.IsZero()}
}

// PlanStep is one step of a plan with its status.
type PlanStep struct {
	ID          string
	Name        string
	Commence    bool
	Granularity string // cluster or machine
	Users       string // impact on them: none, minor or major
	Workloads   string // impact on them
	Estimate    string // a duration as Go writes it, as it stands
	Status      string
	Message     string
	Started     time.Time
	Duration    string // as it stands
}

// IDs of the steps of a ClusterUpdatePlan (docs/mosk.md#plan-steps). The set is open: a step of another ID is shown by its name.
const (
	planStepOpenStack = "openstack"
	planStepCeph      = "ceph"
	planStepMasters   = "k8s-controllers"
	PlanStepWorkers   = "k8s-workers-" // with the name of an UpdateGroup
	planStepRest      = "mcc-components"
)

// Phase is the documents' phase to which the step belongs; 0 when not known.
func (st PlanStep) Phase() PhaseID {
	switch {
	case st.ID == planStepOpenStack || st.ID == planStepCeph:
		return PhaseServices
	case st.ID == planStepMasters:
		return PhaseMasters
	case strings.HasPrefix(st.ID, PlanStepWorkers) || st.Granularity == "machine":
		return PhaseWorkers
	case st.ID == planStepRest:
		return PhaseFinish
	}
	return 0
}

// Group is the UpdateGroup of a worker step; empty for other steps.
func (st PlanStep) Group() string {
	name, _ := strings.CutPrefix(st.ID, PlanStepWorkers)
	if name == st.ID {
		return ""
	}
	return name
}

// Begun tells whether the step is or was under way.
func (st PlanStep) Begun() bool {
	switch st.Status {
	case PlanInProgress, PlanStuck, PlanAutoPaused, PlanCompleted:
		return true
	}
	return !st.Started.IsZero()
}

// Allows is how long the plan allows for the step; 0 when its estimate is missing or cannot be read.
func (st PlanStep) Allows() time.Duration {
	d, err := time.ParseDuration(st.Estimate)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// Took is how long the step took, or has taken so far; 0 when that is not known.
func (st PlanStep) Took(now time.Time) time.Duration {
	if d, err := time.ParseDuration(st.Duration); err == nil && d > 0 {
		return d
	}
	if !st.Runs() {
		return 0
	}
	return max(now.Sub(st.Started), 0)
}

// Runs tells whether Took grows with the time.
func (st PlanStep) Runs() bool {
	d, err := time.ParseDuration(st.Duration)
	return (err != nil || d <= 0) && !st.Started.IsZero() && st.Status != PlanCompleted
}

// Late is since when the step takes longer than the plan allows; zero when it does not, or when that is not known.
func (st PlanStep) Late(s *Snapshot) Since {
	if allowed := st.Allows(); !st.Started.IsZero() && allowed > 0 && s.Longer(st.Started, allowed) {
		return Since{At: st.Started.Add(allowed), Exact: true}
	}
	return Since{}
}
