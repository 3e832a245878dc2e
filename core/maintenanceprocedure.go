package core

import (
	"fmt"
	"slices"
)

// maintenanceProcedure is maintenance without an update, as the management cluster does it: maintenance mode of the cluster
// and of its machines, in their order, and graceful reboots (docs/mosk.md#maintenance-mode, #graceful-reboot).
func (s *Snapshot) maintenanceProcedure() (Procedure, bool) {
	p := Procedure{Title: "Maintenance without an update", Goal: "The cluster is the first to enter maintenance mode and the last to leave it; its machines follow, each from its node's steps."}
	enter := Plan(s, Intent{Kind: IntentEnterCluster})
	p.Steps = []Step{enter}
	m := s.Management
	if s.notConnected() != "" {
		if r := s.ClusterRequest(); r == nil || r.ByHand() {
			p.Steps = append(s.byHand(), enter)
		}
		return p, true
	}
	p.Summary = s.managementSummary()
	c := m.Cluster
	if c.Wanted() && !c.InMaintenance {
		for _, l := range s.ClusterLocks {
			p.Steps = append(p.Steps, s.lockStep(l, "the cluster lock of "+oneLine(l.Controller, 40)+" is released", false))
		}
	}
	for _, v := range m.Machines {
		if v.Machine == nil || !v.Machine.InMaintenance && !v.Machine.Wanted() {
			continue
		}
		if v.Node == "" {
			p.Summary = append(p.Summary, v.text())
			continue
		}
		if !v.Machine.InMaintenance {
			p.Steps = append(p.Steps, s.onItsWay(v))
		}
		p.Steps = append(p.Steps, optionalIf(!v.Machine.InMaintenance, Plan(s, Intent{Kind: IntentLeaveMachine, Node: v.Node})))
	}
	leave := Plan(s, Intent{Kind: IntentLeaveCluster})
	if !c.Wanted() && !c.InMaintenance && leave.State == StepDone {
		leave.State, leave.Status = StepLater, ""
	}
	p.Steps = append(p.Steps, optionalIf(!s.anyThrough(), leave))
	if st, ok := s.rebootStep(); ok {
		p.Steps = append(p.Steps, st)
	}
	return p, true
}

// onItsWay is a machine that goes into maintenance mode: its node's own steps say how.
func (s *Snapshot) onItsWay(v *MachineView) Step {
	st := Step{ID: "maintenance/" + v.Machine.UID, Target: v.Machine.Ref(), Label: s.Label(v.Node), Node: v.Node, Title: s.Label(v.Node) + " goes into maintenance mode",
		State: StepWaiting, Why: "Its locks are released and its node is drained, as for an update."}
	if n, ok := s.NodeView(v.Node); ok {
		st.Status = string(n.Stage) + because(textOf(n.What, n.Reason))
	}
	return st
}

// rebootStep follows the graceful reboot that is asked for, or asks for one of the machines that need it; false when there is
// nothing to reboot.
func (s *Snapshot) rebootStep() (Step, bool) {
	if r := s.Management.Reboot; r != nil {
		return s.rebootProgress(r), true
	}
	nodes := s.rebootNodes()
	if len(nodes) == 0 {
		return Step{}, false
	}
	return Plan(s, Intent{Kind: IntentReboot, Nodes: nodes}), true
}

// rebootProgress is how far LCM is with a GracefulRebootRequest: it marks the machines that it has still to reboot.
func (s *Snapshot) rebootProgress(r *RebootRequest) Step {
	st := Step{ID: "reboot/" + r.UID, Target: r.Ref(), Label: "graceful reboot", Title: "LCM reboots the machines that were asked for", State: StepWaiting,
		Why: "One after another, in the order of an update: out of service, rebooted, back. LCM removes the request when all are done."}
	all, done := 0, 0
	var now []string
	for _, v := range s.Management.Machines {
		if len(r.Machines) > 0 && !slices.Contains(r.Machines, v.Name) || v.LCM == nil {
			continue
		}
		all++
		n, ok := s.NodeView(v.Node)
		switch {
		case ok && n.Request != nil:
			now = append(now, n.Label+": "+string(n.Stage)+because(n.What))
		case v.LCM.RebootDone && v.LCM.RebootAsked.After(r.Created) && !v.LCM.Graceful:
			done++
		}
	}
	st.Status = fmt.Sprintf("%d of %d done", done, all)
	if len(now) > 0 {
		st.Status += "; " + some(now, 3)
	}
	return st
}

// machineSteps are what can be done with a node's machine on the management cluster beside an update.
func (b *nodeSteps) machineSteps() {
	v := b.s.MachineOf(b.v.Name)
	if v == nil || v.Machine == nil {
		return
	}
	switch {
	case v.Machine.Wanted() || v.Machine.InMaintenance:
		b.add(optionalIf(!v.Machine.InMaintenance, Plan(b.s, Intent{Kind: IntentLeaveMachine, Node: b.v.Name})))
	case b.v.Request == nil && !b.s.leavesCluster(b.v.Name):
		c := b.s.Management.Cluster
		follows := c != nil && c.Wanted() && c.InMaintenance && b.v.Stage != StageDone // the cluster is in it so that machines follow
		b.add(optionalIf(!follows, Plan(b.s, Intent{Kind: IntentEnterMachine, Node: b.v.Name})))
		b.add(optional(Plan(b.s, Intent{Kind: IntentReboot, Nodes: []string{b.v.Name}}))...)
	}
}
