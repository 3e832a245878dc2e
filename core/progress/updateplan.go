package progress

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// StepName is the name of a plan step for the operator.
func StepName(st core.PlanStep) string {
	return wording.OneLine(wording.TextOf(st.Name, wording.TextOf(st.ID, "a step without a name")), 100)
}

// StepShort is the plan step's name where there is little room: "group rack-a", "step ceph".
func StepShort(st core.PlanStep) string {
	switch {
	case st.Group() != "":
		return "group " + wording.OneLine(st.Group(), 60)
	case st.ID != "":
		return "step " + wording.OneLine(st.ID, 60)
	}
	return StepName(st)
}

// ImpactText is a plan step's impact: "impact: users minor, workloads major".
func ImpactText(st core.PlanStep) string {
	var parts []string
	for _, part := range []struct{ who, how string }{{"users", st.Users}, {"workloads", st.Workloads}} {
		if part.how != "" {
			parts = append(parts, part.who+" "+wording.OneLine(part.how, 20))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "impact: " + strings.Join(parts, ", ")
}

// PlanStepText is the progress of a plan step: "InProgress, 26 m of 1 h 30 m, LCM progress: 5/18".
func PlanStepText(s *core.Snapshot, st core.PlanStep) string {
	parts := []string{wording.OneLine(wording.TextOf(st.Status, "no status"), 40)}
	now := s.Now
	if st.Runs() {
		now = st.Started.Add(s.Span(st.Started))
	}
	took, estimate := st.Took(now), st.Allows()
	switch {
	case took > 0 && estimate > 0 && st.Status != core.PlanCompleted:
		parts = append(parts, fmt.Sprintf("%s of %s", wording.SpanText(took), wording.SpanText(estimate)))
	case took > 0:
		parts = append(parts, wording.SpanText(took))
	case estimate > 0 && !st.Begun():
		parts = append(parts, wording.SpanText(estimate)+" estimated")
	}
	switch {
	case st.Status == core.PlanNotStarted && !st.Commence:
		parts = append(parts, "not commenced")
	case st.Message != "" && st.Status != core.PlanCompleted:
		parts = append(parts, wording.OneLine(st.Message, wording.MostRead))
	}
	return strings.Join(parts, ", ")
}

// GroupText is how an UpdateGroup is updated: "index 2, 2 at a time, not rebooted".
func GroupText(g *core.MachineGroup) string {
	text := "index " + wording.Itoa(g.Index)
	if g.Concurrent > 0 {
		text += fmt.Sprintf(", %d at a time", g.Concurrent)
	}
	if !g.Reboot {
		text += ", not rebooted"
	}
	return text
}

// planStepState is the state of a plan step as a step of the procedure.
var planStepState = map[string]core.StepState{
	core.PlanCompleted:  core.StepDone,
	core.PlanInProgress: core.StepWaiting,
	core.PlanScheduled:  core.StepWaiting,
	core.PlanStuck:      core.StepWaiting,
	core.PlanAutoPaused: core.StepWaiting,
}

// PlanSteps are the steps of the update plan. They are commenced on the management cluster; each shows the command for that.
func PlanSteps(s *core.Snapshot, target core.Ref) []core.Step {
	plan := s.Management.Plan()
	if plan == nil {
		return nil
	}
	next, waits := plan.Next()
	var out []core.Step
	for i, ps := range plan.Steps {
		st := core.Step{ID: "plan/" + wording.TextOf(plan.UID, plan.Name) + "/" + wording.TextOf(ps.ID, wording.Itoa(i)), Target: target,
			Label: s.Cluster,
			Title: "plan, " + StepShort(ps), Status: PlanStepText(s, ps), State: planStepState[ps.Status]}
		if st.State == "" {
			st.State = core.StepLater
		}
		if ps.Commence && st.State == core.StepLater {
			st.State = core.StepWaiting // LCM begins it
		}
		why := strings.TrimSuffix(StepName(ps)+"; "+ImpactText(ps), "; ")
		if g := s.Management.GroupOf(ps.Group()); g != nil {
			why += "; the group has " + GroupText(g)
		}
		if ps.Message != "" && ps.Status != core.PlanCompleted {
			why += "; it says: " + wording.OneLine(ps.Message, wording.MostRead)
		}
		st.Why = wording.Sentence(why)
		if waits && ps == next || ps.Status == core.PlanAutoPaused {
			st.State = core.StepWaiting
			st.Status = "to be commenced; " + st.Status
			st.Commands = []string{CommenceCommand(s, plan, i, true)}
		}
		out = append(out, st)
	}
	return out
}

// CommenceCommand sets or takes away commence of exactly the plan's step at index i: the patch tests the step's ID first, or its name where
// releases have no IDs. It adds the field instead of replacing it: an automatic pause removes it (docs/mosk.md#update-plans).
func CommenceCommand(s *core.Snapshot, plan *core.UpdatePlan, i int, on bool) string {
	path, st, field := "/spec/steps/"+wording.Itoa(i), plan.Steps[i], "id"
	if st.ID == "" {
		field = "name"
	}
	patch := fmt.Sprintf(`[{"op":"test","path":"%s/%s","value":%s},{"op":"add","path":"%s/commence","value":%t}]`, path, field,
		wording.JSONText(st.Key()), path, on)
	return s.KubectlManagement("patch", "clusterupdateplans", plan.Name, "--type=json", "-p", patch)
}

// UpdateGroupText names the update group of a node.
func UpdateGroupText(s *core.Snapshot, node string) string {
	if v := MachineOf(s, node); v != nil && v.Machine != nil && v.Machine.Group != "" {
		return "its update group " + wording.OneLine(v.Machine.Group, 60)
	}
	return "its update group"
}
