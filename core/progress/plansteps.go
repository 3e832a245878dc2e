package progress

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// StepName is what to call a step.
func StepName(st core.PlanStep) string {
	return wording.OneLine(wording.TextOf(st.Name, wording.TextOf(st.ID, "a step without a name")), 100)
}

// StepShort is what to call a step where there is little room: "group rack-a", "step ceph".
func StepShort(st core.PlanStep) string {
	switch {
	case st.Group() != "":
		return "group " + wording.OneLine(st.Group(), 60)
	case st.ID != "":
		return "step " + wording.OneLine(st.ID, 60)
	}
	return StepName(st)
}

// ImpactText is "impact: users minor, workloads major".
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

// PlanStepText is how a step of the plan goes: "InProgress, 26 m of 1 h 30 m, LCM progress: 5/18".
func PlanStepText(st core.PlanStep, now time.Time) string {
	parts := []string{wording.OneLine(wording.TextOf(st.Status, "no status"), 40)}
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

// groupText is "index 2, 2 at a time, not rebooted": how an UpdateGroup is updated.
func groupText(g *core.MachineGroup) string {
	text := "index " + wording.Itoa(g.Index)
	if g.Concurrent > 0 {
		text += fmt.Sprintf(", %d at a time", g.Concurrent)
	}
	if !g.Reboot {
		text += ", not rebooted"
	}
	return text
}
