package procedure

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// maintenanceProcedure is maintenance without an update through the management cluster: maintenance mode of the cluster and its
// machines, in their order, and graceful reboots (docs/mosk.md#maintenance-mode, #graceful-reboot).
func maintenanceProcedure(s *core.Snapshot) (core.Procedure, bool) {
	p := core.Procedure{Title: "Maintenance without an update",
		Goal: "The cluster is the first to enter maintenance mode and the last to leave it; its machines follow, each from its node's steps."}
	enter := step.Plan(s, core.Intent{Kind: core.IntentEnterCluster})
	p.Steps = []core.Step{enter}
	m := s.Management
	if step.NotConnected(s) != "" {
		if r := s.ClusterRequest(); r == nil || r.ByHand() {
			p.Steps = append(byHand(s), enter)
		}
		return p, true
	}
	p.Summary = progress.ManagementSummary(s)
	c := m.Cluster
	if c.Wanted() && !c.InMaintenance {
		for _, l := range s.ClusterLocks {
			p.Steps = append(p.Steps, lockStep(s, l, "the cluster lock of "+wording.OneLine(l.Controller, 40)+" is released", false))
		}
	}
	for _, v := range m.Machines {
		if v.Machine == nil || !v.Machine.InMaintenance && !v.Machine.Wanted() {
			continue
		}
		if v.Node == "" {
			p.Summary = append(p.Summary, progress.MachineText(v))
			continue
		}
		if !v.Machine.InMaintenance {
			p.Steps = append(p.Steps, onItsWay(s, v))
		}
		p.Steps = append(p.Steps, optionalIf(!v.Machine.InMaintenance, step.Plan(s, core.Intent{Kind: core.IntentLeaveMachine, Node: v.Node})))
	}
	leave := step.Plan(s, core.Intent{Kind: core.IntentLeaveCluster})
	if !c.Wanted() && !c.InMaintenance && leave.State == core.StepDone {
		leave.State, leave.Status = core.StepLater, ""
	}
	p.Steps = append(p.Steps, optionalIf(!anyThrough(s), leave))
	if st, ok := rebootStep(s); ok {
		p.Steps = append(p.Steps, st)
	}
	return p, true
}

// onItsWay is the step of a machine that is going into maintenance mode; its node's procedure has the details.
func onItsWay(s *core.Snapshot, v *core.MachineView) core.Step {
	st := core.Step{ID: "maintenance/" + v.Machine.UID, Target: v.Machine.Ref(), Label: s.Label(v.Node), Node: v.Node,
		Title: s.Label(v.Node) + " goes into maintenance mode",
		State: core.StepWaiting, Why: "Its locks are released and its node is drained, as for an update."}
	if n, ok := progress.NodeView(s, v.Node); ok {
		st.Status = string(n.Stage) + wording.Because(wording.TextOf(n.What, n.Reason))
	}
	return st
}

// rebootStep follows the graceful reboot under way, or asks for one of the machines that need it; false when none does.
func rebootStep(s *core.Snapshot) (core.Step, bool) {
	if r := s.Management.Reboot; r != nil {
		return rebootProgress(s, r), true
	}
	nodes := rebootNodes(s)
	if len(nodes) == 0 {
		return core.Step{}, false
	}
	return step.Plan(s, core.Intent{Kind: core.IntentReboot, Nodes: nodes}), true
}

// rebootProgress is how far LCM is with a GracefulRebootRequest. LCM marks the machines that are still to be rebooted.
func rebootProgress(s *core.Snapshot, r *core.RebootRequest) core.Step {
	st := core.Step{ID: "reboot/" + r.UID, Target: r.Ref(), Label: "graceful reboot", Title: "LCM reboots the machines that were asked for",
		State: core.StepWaiting,
		Why:   "One after another, in the order of an update: out of service, rebooted, back. LCM removes the request when all are done."}
	all, done := 0, 0
	var now []string
	for _, v := range s.Management.Machines {
		if len(r.Machines) > 0 && !slices.Contains(r.Machines, v.Name) || v.LCM == nil {
			continue
		}
		all++
		n, ok := progress.NodeView(s, v.Node)
		switch {
		case ok && n.Request != nil:
			now = append(now, n.Label+": "+string(n.Stage)+wording.Because(n.What))
		case v.LCM.RebootDone && v.LCM.RebootAsked.After(r.Created) && !v.LCM.Graceful:
			done++
		}
	}
	st.Status = fmt.Sprintf("%d of %d done", done, all)
	if len(now) > 0 {
		st.Status += "; " + wording.Some(now, 3)
	}
	return st
}

// machineSteps adds what can be done with the node's machine on the management cluster outside an update.
func (b *nodeSteps) machineSteps() {
	v := progress.MachineOf(b.s, b.v.Name)
	if v == nil || v.Machine == nil {
		return
	}
	switch {
	case v.Machine.Wanted() || v.Machine.InMaintenance:
		b.add(optionalIf(!v.Machine.InMaintenance, step.Plan(b.s, core.Intent{Kind: core.IntentLeaveMachine, Node: b.v.Name})))
	case b.v.Request == nil && !step.LeavesCluster(b.s, b.v.Name):
		c := b.s.Management.Cluster
		follows := c != nil && c.Wanted() && c.InMaintenance && b.v.Stage != core.StageDone // the cluster is in it so that machines follow
		b.add(optionalIf(!follows, step.Plan(b.s, core.Intent{Kind: core.IntentEnterMachine, Node: b.v.Name})))
		b.add(optional(step.Plan(b.s, core.Intent{Kind: core.IntentReboot, Nodes: []string{b.v.Name}}))...)
	}
}
