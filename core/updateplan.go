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

// FromHere tells whether the plan leads on from where its Cluster is (docs/mosk.md#update-plans): the Cluster is at the plan's source, and
// is to be at the source or at the target. A plan under way may already show its target as the release that the Cluster is at. A release
// that is not shown says nothing against the plan, except the one that the Cluster is to be at.
func (p *UpdatePlan) FromHere(c *ManagedCluster) bool {
	if p.Source == "" || p.Target == "" || c.Target != p.Source && c.Target != p.Target {
		return false
	}
	return c.Release == "" || c.Release == p.Source || c.Release == p.Target && p.UnderWay()
}

// skipped tells whether the plan has not begun, and shows that it begins at another release than the Cluster's: LCM keeps the plans of
// releases that were left out.
func (p *UpdatePlan) skipped(c *ManagedCluster) bool {
	return c != nil && !p.UnderWay() && p.Status != PlanCompleted && p.Source != "" && c.Release != "" && !p.FromHere(c)
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

// PlanStatusUnlisted tells whether a status of a plan or of a step is one that no document lists. A plan or step without one has not begun.
func PlanStatusUnlisted(status string) bool {
	switch status {
	case "", PlanNotStarted, PlanScheduled, PlanInProgress, PlanAutoPaused, PlanStuck, PlanCompleted:
		return false
	}
	return true
}

// UnderWay tells whether the plan has started and not ended.
func (p *UpdatePlan) UnderWay() bool {
	switch p.Status {
	case PlanInProgress, PlanAutoPaused, PlanStuck:
		return true
	}
	return !p.Started.IsZero() && p.Completed.IsZero() && p.Status != PlanCompleted
}

// Next is the step to commence so that the plan goes on; one that is held, to be commenced again. False when the plan has not begun, is
// over, or goes on by itself.
func (p *UpdatePlan) Next() (PlanStep, bool) {
	begun := false
	for _, st := range p.Steps {
		switch {
		case st.Status == PlanCompleted:
			begun = true
		case st.Held() && p.Driven():
			return st, true
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

// Key is what to call the step in an intent: its ID, or its name in releases that have no IDs.
func (st PlanStep) Key() string {
	if st.ID != "" {
		return st.ID
	}
	return st.Name
}

// Workers tells whether the step updates machines one after another, so that it can be held while it is under way
// (docs/mosk.md#update-plans).
func (st PlanStep) Workers() bool {
	return strings.HasPrefix(st.ID, PlanStepWorkers) || st.Granularity == "machine"
}

// Held tells whether the step was begun and has no commence any more: no further machine is begun. An automatic pause does this, and so
// does an operator.
func (st PlanStep) Held() bool {
	return st.Workers() && st.Begun() && st.Status != PlanCompleted && !st.Commence
}

// StepAt is the index of the step with that key; -1 when there is none, or more than one.
func (p *UpdatePlan) StepAt(key string) int {
	at := -1
	for i, st := range p.Steps {
		if st.Key() != key || key == "" {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// Taken tells whether the step is commenced or was begun: LCM works on it, has done so, or begins as soon as its turn comes.
func (st PlanStep) Taken() bool { return st.Begun() || st.Commence || st.Status == PlanScheduled }

// OfGroup is the step that updates the machines of an update group; false when there is none. control is the name of the group of the
// control plane, whose machines the masters' step updates.
func (p *UpdatePlan) OfGroup(name, control string) (PlanStep, bool) {
	for _, st := range p.Steps {
		if name != "" && st.Group() == name || name == control && st.ID == planStepMasters {
			return st, true
		}
	}
	return PlanStep{}, false
}

// TakenOfNoGroup is a step without an ID, as before MOSK 24.3, that is under way or about to begin, or has updated machines: it may be
// that of any group. False when there is none.
func (p *UpdatePlan) TakenOfNoGroup() (PlanStep, bool) {
	for _, st := range p.Steps {
		if st.ID == "" && st.Taken() && (st.Status != PlanCompleted || st.Workers()) {
			return st, true
		}
	}
	return PlanStep{}, false
}

// Driven tells whether the plan goes by its commenced steps. Where somebody has set the Cluster's release instead, none may be commenced.
func (p *UpdatePlan) Driven() bool {
	for _, st := range p.Steps {
		if st.Commence {
			return true
		}
	}
	return p.Status == PlanAutoPaused
}

// ToCommence is the index of the step to commence so that the plan goes on: one that is held, or else the first that is neither commenced
// nor begun. -1 when the plan is over, or all of it is commenced.
func (p *UpdatePlan) ToCommence() int {
	for i, st := range p.Steps {
		switch {
		case st.Status == PlanCompleted:
		case st.Held() && p.Driven():
			return i
		case !st.Commence && !st.Begun() && st.Status != PlanScheduled:
			return i
		}
	}
	return -1
}

// Running is the first step that is under way and goes on by itself; false when none does.
func (p *UpdatePlan) Running() (PlanStep, bool) {
	for _, st := range p.Steps {
		if st.Begun() && st.Status != PlanCompleted && !(st.Held() && p.Driven()) {
			return st, true
		}
	}
	return PlanStep{}, false
}
