package core

import (
	"fmt"
	"strings"
	"time"
)

// IDs of the steps of a ClusterUpdatePlan (docs/mosk.md#plan-steps). The set is open: a step of another ID is shown by its name.
const (
	planStepOpenStack = "openstack"
	planStepCeph      = "ceph"
	planStepMasters   = "k8s-controllers"
	planStepWorkers   = "k8s-workers-" // with the name of an UpdateGroup
	planStepRest      = "mcc-components"
)

// phase is the phase of the documents to which a step belongs; 0 where that is not known.
func (st PlanStep) phase() PhaseID {
	switch {
	case st.ID == planStepOpenStack || st.ID == planStepCeph:
		return PhaseServices
	case st.ID == planStepMasters:
		return PhaseMasters
	case strings.HasPrefix(st.ID, planStepWorkers) || st.Granularity == "machine":
		return PhaseWorkers
	case st.ID == planStepRest:
		return PhaseFinish
	}
	return 0
}

// group is the UpdateGroup of a worker step; empty for other steps.
func (st PlanStep) group() string {
	name, _ := strings.CutPrefix(st.ID, planStepWorkers)
	if name == st.ID {
		return ""
	}
	return name
}

// begun tells whether the step is or was under way.
func (st PlanStep) begun() bool {
	switch st.Status {
	case PlanInProgress, PlanStuck, PlanAutoPaused, PlanCompleted:
		return true
	}
	return !st.Started.IsZero()
}

// estimate is how long the plan allows for the step; 0 when it says nothing that can be read.
func (st PlanStep) estimate() time.Duration {
	d, err := time.ParseDuration(st.Estimate)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// took is how long the step took, or has taken so far; 0 when that is not known.
func (st PlanStep) took(now time.Time) time.Duration {
	if d, err := time.ParseDuration(st.Duration); err == nil && d > 0 {
		return d
	}
	if st.Started.IsZero() || st.Status == PlanCompleted {
		return 0
	}
	return max(now.Sub(st.Started), 0)
}

// late is since when a step takes longer than the plan allows for it; nothing where it does not, or where that is not known.
func (st PlanStep) late(now time.Time) Since {
	if allowed := st.estimate(); !st.Started.IsZero() && allowed > 0 && now.Sub(st.Started) > allowed {
		return Since{At: st.Started.Add(allowed), Exact: true}
	}
	return Since{}
}

// next is the step that has to be commenced for the plan to go on, while nothing of it is under way or scheduled; false when
// the plan has not begun, is over, or goes on by itself.
func (p *UpdatePlan) next() (PlanStep, bool) {
	begun := false
	for _, st := range p.Steps {
		switch {
		case st.Status == PlanCompleted:
			begun = true
		case st.begun() || st.Commence || st.Status == PlanScheduled:
			return PlanStep{}, false
		default:
			return st, begun
		}
	}
	return PlanStep{}, false
}

// pausedSince is when the last step ended, as far as the plan tells.
func (p *UpdatePlan) pausedSince() Since {
	var at time.Time
	for _, st := range p.Steps {
		if d, err := time.ParseDuration(st.Duration); err == nil && st.Status == PlanCompleted && !st.Started.IsZero() {
			at = later(at, st.Started.Add(d))
		}
	}
	return Since{At: at, Exact: !at.IsZero()}
}

// stepName is what to call a step.
func stepName(st PlanStep) string {
	return oneLine(textOf(st.Name, textOf(st.ID, "a step without a name")), 100)
}

// stepShort is what to call a step where there is little room: "group rack-a", "step ceph".
func stepShort(st PlanStep) string {
	switch {
	case st.group() != "":
		return "group " + oneLine(st.group(), 60)
	case st.ID != "":
		return "step " + oneLine(st.ID, 60)
	}
	return stepName(st)
}

// impactText is "impact: users minor, workloads major".
func impactText(st PlanStep) string {
	var parts []string
	for _, part := range []struct{ who, how string }{{"users", st.Users}, {"workloads", st.Workloads}} {
		if part.how != "" {
			parts = append(parts, part.who+" "+oneLine(part.how, 20))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "impact: " + strings.Join(parts, ", ")
}

// PlanStepText is how a step of the plan goes: "InProgress, 26 m of 1 h 30 m, LCM progress: 5/18".
func PlanStepText(st PlanStep, now time.Time) string {
	parts := []string{oneLine(textOf(st.Status, "no status"), 40)}
	took, estimate := st.took(now), st.estimate()
	switch {
	case took > 0 && estimate > 0 && st.Status != PlanCompleted:
		parts = append(parts, fmt.Sprintf("%s of %s", spanText(took), spanText(estimate)))
	case took > 0:
		parts = append(parts, spanText(took))
	case estimate > 0 && !st.begun():
		parts = append(parts, spanText(estimate)+" estimated")
	}
	switch {
	case st.Status == PlanNotStarted && !st.Commence:
		parts = append(parts, "not commenced")
	case st.Message != "" && st.Status != PlanCompleted:
		parts = append(parts, oneLine(st.Message, mostRead))
	}
	return strings.Join(parts, ", ")
}

// groupText is "index 2, 2 at a time, not rebooted": how an UpdateGroup is updated.
func groupText(g *MachineGroup) string {
	text := "index " + itoa(g.Index)
	if g.Concurrent > 0 {
		text += fmt.Sprintf(", %d at a time", g.Concurrent)
	}
	if !g.Reboot {
		text += ", not rebooted"
	}
	return text
}

// groupOf is the UpdateGroup of that name; nil when it is not known.
func (m *Management) groupOf(name string) *MachineGroup {
	for _, g := range m.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}
