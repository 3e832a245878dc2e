package core

import (
	"fmt"
	"strings"
)

// text is a machine in one line: "machine cmp-01: Deploy, host-packages runs, attempt 3". Empty for none.
func (v *MachineView) text() string {
	if says := v.says(); says != "" {
		return v.called() + ": " + says
	}
	return ""
}

// called is "machine m-7".
func (v *MachineView) called() string { return "machine " + oneLine(v.Name, 64) }

// says is what is known of the machine; empty when there is nothing to say.
func (v *MachineView) says() string {
	if v == nil {
		return ""
	}
	var parts []string
	if v.LCM != nil {
		parts = append(parts, "LCM "+oneLine(textOf(v.LCM.State, "says no state"), 40))
		if v.LCM.Drain != "" {
			parts = append(parts, oneLine(v.LCM.Drain, 40))
		}
		switch {
		case v.Failing != nil && v.LCM.State != LCMReady:
			parts = append(parts, itemText(*v.Failing))
		case v.Running != nil:
			parts = append(parts, oneLine(v.Running.Name, 60)+" runs")
		}
		if v.LCM.Graceful {
			parts = append(parts, "a graceful reboot is asked for")
		}
	}
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d != nil && d.Waits() {
			parts = append(parts, oneLine(d.Type, 40)+": "+ReadDrainMessage(d.Message).Reason())
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
			parts = append(parts, "has to be rebooted"+because(oneLine(o.RebootReason, 100)))
		}
	}
	return strings.Join(parts, ", ")
}

// waits is what LCM waits for before it drains the machine; empty when it says nothing of the kind.
func (v *MachineView) waits() DrainMessage {
	if v == nil || v.Drain == nil || !v.Drain.Waits() {
		return DrainMessage{}
	}
	return ReadDrainMessage(v.Drain.Message)
}

// lcmWaits is what LCM says that it waits for before it drains the node.
func (b *nodeSteps) lcmWaits() DrainMessage { return b.s.MachineOf(b.v.Name).waits() }

// byMachine adds to a step of LCM's what keeps it, as the management cluster tells, with the commands that show it.
func (b *nodeSteps) byMachine(id string, st *Step) {
	v := b.s.MachineOf(b.v.Name)
	if v == nil {
		return
	}
	switch id {
	case "drain":
		if d := v.Drain; d != nil && d.Blocked() {
			m := ReadDrainMessage(d.Message)
			st.Status = fmt.Sprintf("blocked, attempt %d: %s", d.Attempt, m.Reason())
			st.Why = join(st.Why, drainRemedy(m))
			st.Commands = append(m.commands(), b.s.kubectlManagement("get", "lcmclusterstates", d.Name, "-o", "wide"))
		} else if d != nil && d.Waits() {
			st.Status = ReadDrainMessage(d.Message).Reason()
			st.Why = join(st.Why, sentence(b.s.waitsTooLong(v, d)))
			st.Commands = []string{b.s.kubectlManagement("get", "lcmclusterstates", d.Name, "-o", "wide")}
		}
	case "update":
		if v.LCM == nil || b.v.Stage != StageUpdating {
			return
		}
		if v.Failing != nil {
			st.Status = itemText(*v.Failing)
			st.Why = join(st.Why, "LCM runs the item again by itself; what it needs has to be mended: mirrors, disk space, the network.")
		}
		st.Commands = []string{b.s.kubectlManagement("get", "lcmmachines", v.Name, "-o", "yaml")}
	}
}

// managementSummary is what the management cluster says of the cluster as a whole, one fact a line.
func (s *Snapshot) managementSummary() []string {
	m := s.Management
	if m == nil {
		return nil
	}
	if !m.Found {
		return []string{s.notFound()}
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
				out = append(out, oneLine(cond.Type, 40)+" not ready"+because(oneLine(cond.Message, mostRead)))
			}
		}
	}
	if c := m.LCM; c != nil && c.Stuck {
		out = append(out, "LCM is stuck"+because(oneLine(c.StuckMessage, mostRead)))
	}
	if r := m.Reboot; r != nil {
		what := "all machines"
		if n := len(r.Machines); n > 0 {
			names := make([]string, n)
			for i, name := range r.Machines {
				names[i] = oneLine(name, 64)
			}
			what = some(names, 6)
		}
		out = append(out, "a graceful reboot is asked for since "+clockText(r.Created)+": "+what)
	}
	return out
}

// groupSummary is how the workers are divided, one update group a line.
func (s *Snapshot) groupSummary() []string {
	if s.Management == nil {
		return nil
	}
	var out []string
	for i, g := range s.Management.Groups {
		if i == mostPlanLines {
			out = append(out, fmt.Sprintf("and %d update groups more", len(s.Management.Groups)-i))
			break
		}
		out = append(out, "update group "+oneLine(g.Name, 60)+": "+groupText(g))
	}
	return out
}

// notFound says that none of the management cluster's clusters is this one.
func (s *Snapshot) notFound() string {
	return fmt.Sprintf("none of the management cluster's %s is a node of this cluster: check --management-context, --management-namespace and --management-cluster", count(s.Management.Seen, "machine"))
}

// planStepState is how a step of the plan stands, as a step of the procedure.
var planStepState = map[string]StepState{
	PlanCompleted:  StepDone,
	PlanInProgress: StepWaiting,
	PlanScheduled:  StepWaiting,
	PlanStuck:      StepWaiting,
	PlanAutoPaused: StepWaiting,
}

// planSteps are the steps of the update plan. They are commenced on the management cluster; each shows the command for it.
func (s *Snapshot) planSteps(target Ref) []Step {
	plan := s.Management.Plan()
	if plan == nil {
		return nil
	}
	next, waits := plan.next()
	var out []Step
	for i, ps := range plan.Steps {
		st := Step{ID: "plan/" + textOf(plan.UID, plan.Name) + "/" + textOf(ps.ID, itoa(i)), Target: target, Label: s.Cluster,
			Title: "plan, " + stepShort(ps), Status: PlanStepText(ps, s.Now), State: planStepState[ps.Status]}
		if st.State == "" {
			st.State = StepLater
		}
		why := strings.TrimSuffix(stepName(ps)+"; "+impactText(ps), "; ")
		if g := s.Management.groupOf(ps.group()); g != nil {
			why += "; the group has " + groupText(g)
		}
		if ps.Message != "" && ps.Status != PlanCompleted {
			why += "; it says: " + oneLine(ps.Message, mostRead)
		}
		st.Why = sentence(why)
		if waits && ps.ID == next.ID || ps.Status == PlanAutoPaused {
			st.State = StepWaiting
			st.Status = "to be commenced; " + st.Status
			st.Commands = []string{s.commenceCommand(plan, i)}
		}
		out = append(out, st)
	}
	return out
}

// commenceCommand commences the step of a plan that has that place in its list, and no other: the patch tests the step's ID
// first. The field is added, not replaced: an automatic pause removes it (docs/mosk.md#update-plans).
func (s *Snapshot) commenceCommand(plan *UpdatePlan, i int) string {
	path := "/spec/steps/" + itoa(i)
	patch := fmt.Sprintf(`[{"op":"test","path":"%s/id","value":%q},{"op":"add","path":"%s/commence","value":true}]`, path, plan.Steps[i].ID, path)
	return s.kubectlManagement("patch", "clusterupdateplans", plan.Name, "--type=json", "-p", patch)
}
