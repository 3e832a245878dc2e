package progress

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// LCMStages is what LCM does with a node that was released, and in which stages that is under way or over.
var LCMStages = []struct {
	ID, Title, Why string
	Now, Over      []core.Stage
}{
	{"drain", "LCM drains the node", "LCM cordons the node and moves its pods.", []core.Stage{core.StageReleased, core.StageDraining},
		[]core.Stage{core.StageUpdating, core.StageRebooting, core.StageReturning, core.StageDone}},
	{"update", "LCM updates the node", "The host and its Kubernetes are updated; in scope os the host may reboot.",
		[]core.Stage{core.StageUpdating, core.StageRebooting},
		[]core.Stage{core.StageReturning, core.StageDone}},
	{"return", "the node returns to service",
		"The controllers wait for the node, its pods, its compute service and its agents; then they take their locks back.",
		[]core.Stage{core.StageReturning},
		[]core.Stage{core.StageDone}},
}

// MachineText is a machine in one line: "machine cmp-01: Deploy, host-packages runs, attempt 3". Empty for none.
func MachineText(v *core.MachineView) string {
	if says := MachineSays(v); says != "" {
		return v.Called() + ": " + says
	}
	return ""
}

// MachineSays is what is known of the machine; empty when there is nothing to say.
func MachineSays(v *core.MachineView) string {
	if v == nil {
		return ""
	}
	var parts []string
	if v.LCM != nil {
		parts = append(parts, "LCM "+wording.OneLine(wording.TextOf(v.LCM.State, "says no state"), 40))
		if v.LCM.Drain != "" {
			parts = append(parts, wording.OneLine(v.LCM.Drain, 40))
		}
		switch {
		case v.Failing != nil && v.LCM.State != core.LCMReady:
			parts = append(parts, ItemText(*v.Failing))
		case v.Running != nil:
			parts = append(parts, wording.OneLine(v.Running.Name, 60)+" runs")
		}
		if v.LCM.Graceful {
			parts = append(parts, "a graceful reboot is asked for")
		}
	}
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil && DrainWaits(d) {
			parts = append(parts, wording.OneLine(d.Type, 40)+": "+ReadDrainMessage(d.Message).Reason())
		}
	}
	if o := v.Machine; o != nil {
		switch {
		case o.InMaintenance && !o.Wanted():
			parts = append(parts, "leaves maintenance mode")
		case o.InMaintenance:
			parts = append(parts, "in maintenance mode")
		case o.Wanted():
			parts = append(parts, "goes into maintenance mode")
		}
		if o.Reboot {
			parts = append(parts, "has to be rebooted"+wording.Because(wording.OneLine(o.RebootReason, 100)))
		}
	}
	return strings.Join(parts, ", ")
}

// MachineWaits is what LCM waits for before it drains the machine; empty when it says nothing of the kind.
func MachineWaits(v *core.MachineView) DrainMessage {
	if v == nil || v.Drain == nil || !DrainWaits(v.Drain) {
		return DrainMessage{}
	}
	return ReadDrainMessage(v.Drain.Message)
}

// ManagementSummary is what the management cluster says of the cluster as a whole, one fact a line.
func ManagementSummary(s *core.Snapshot) []string {
	m := s.Management
	if m == nil {
		return nil
	}
	if !m.Found {
		return []string{ClusterNotFound(s)}
	}
	var out []string
	if c := m.Cluster; c != nil {
		switch {
		case c.InMaintenance && !c.Wanted():
			out = append(out, "the cluster leaves maintenance mode")
		case c.InMaintenance:
			out = append(out, "the cluster is in maintenance mode")
		case c.Wanted():
			out = append(out, "the cluster goes into maintenance mode")
		}
		for _, cond := range c.Conditions {
			if !cond.Ready {
				out = append(out, wording.OneLine(cond.Type, 40)+" not ready"+wording.Because(wording.OneLine(cond.Message, wording.MostRead)))
			}
		}
	}
	if c := m.LCM; c != nil && c.Stuck {
		out = append(out, "LCM is stuck"+wording.Because(wording.OneLine(c.StuckMessage, wording.MostRead)))
	}
	if r := m.Reboot; r != nil {
		what := "all machines"
		if n := len(r.Machines); n > 0 {
			names := make([]string, n)
			for i, name := range r.Machines {
				names[i] = wording.OneLine(name, 64)
			}
			what = wording.Some(names, 6)
		}
		out = append(out, "a graceful reboot is asked for since "+wording.ClockText(r.Created)+": "+what)
	}
	return out
}

// GroupSummary is how the workers are divided, one update group a line.
func GroupSummary(s *core.Snapshot) []string {
	if s.Management == nil {
		return nil
	}
	var out []string
	for i, g := range s.Management.Groups {
		if i == mostPlanLines {
			out = append(out, fmt.Sprintf("and %d update groups more", len(s.Management.Groups)-i))
			break
		}
		out = append(out, "update group "+wording.OneLine(g.Name, 60)+": "+groupText(g))
	}
	return out
}

// ClusterNotFound says that none of the management cluster's clusters is this one.
func ClusterNotFound(s *core.Snapshot) string {
	return fmt.Sprintf("none of the management cluster's %s is a node of this cluster: check --management-context, --management-namespace "+
		"and --management-cluster", wording.Count(s.Management.Seen, "machine"))
}

// planStepState is how a step of the plan stands, as a step of the procedure.
var planStepState = map[string]core.StepState{
	core.PlanCompleted:  core.StepDone,
	core.PlanInProgress: core.StepWaiting,
	core.PlanScheduled:  core.StepWaiting,
	core.PlanStuck:      core.StepWaiting,
	core.PlanAutoPaused: core.StepWaiting,
}

// PlanSteps are the steps of the update plan. They are commenced on the management cluster; each shows the command for it.
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
			Title: "plan, " + StepShort(ps), Status: PlanStepText(ps, s.Now), State: planStepState[ps.Status]}
		if st.State == "" {
			st.State = core.StepLater
		}
		why := strings.TrimSuffix(StepName(ps)+"; "+ImpactText(ps), "; ")
		if g := s.Management.GroupOf(ps.Group()); g != nil {
			why += "; the group has " + groupText(g)
		}
		if ps.Message != "" && ps.Status != core.PlanCompleted {
			why += "; it says: " + wording.OneLine(ps.Message, wording.MostRead)
		}
		st.Why = wording.Sentence(why)
		if waits && ps.ID == next.ID || ps.Status == core.PlanAutoPaused {
			st.State = core.StepWaiting
			st.Status = "to be commenced; " + st.Status
			st.Commands = []string{CommenceCommand(s, plan, i)}
		}
		out = append(out, st)
	}
	return out
}

// CommenceCommand commences the step of a plan that has that place in its list, and no other: the patch tests the step's ID
// first. The field is added, not replaced: an automatic pause removes it (docs/mosk.md#update-plans).
func CommenceCommand(s *core.Snapshot, plan *core.UpdatePlan, i int) string {
	path := "/spec/steps/" + wording.Itoa(i)
	patch := fmt.Sprintf(`[{"op":"test","path":"%s/id","value":%q},{"op":"add","path":"%s/commence","value":true}]`, path, plan.Steps[i].ID,
		path)
	return s.KubectlManagement("patch", "clusterupdateplans", plan.Name, "--type=json", "-p", patch)
}
