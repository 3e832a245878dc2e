package step

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Maintenance mode is entered by the cluster first and left by it last (docs/mosk.md#maintenance-mode).

// NotConnected says why nothing can be done on the management cluster; empty when something can.
func NotConnected(s *core.Snapshot) string {
	switch m := s.Management; {
	case s.Sources[core.SourceClusters].State == core.SourceOff || s.Sources[core.SourceClusters].ID == "":
		return "it is not: --management-context names it"
	case m != nil && !m.Found && s.Known(core.SourceClusters):
		return progress.ClusterNotFound(s)
	case m == nil || m.Cluster == nil:
		return "its Cluster is not known: " + s.WhyUnknown(core.SourceClusters)
	}
	return ""
}

// managed begins a step on the management cluster; false when it is not connected. The step rests on the Cluster and on the extra
// sources.
func (p *planner) managed(busy func(core.Operation) bool, extra ...core.SourceID) bool {
	s := p.s
	p.step.Label = wording.OneLine(wording.TextOf(p.step.Label, s.Cluster), 64)
	sources := []core.SourceID{core.SourceClusters}
	for _, id := range extra {
		if s.Sources[id].State != core.SourceAbsent { // a kind that an older release does not have
			sources = append(sources, id)
		}
	}
	p.common(sources, busy)
	if why := NotConnected(s); why != "" {
		p.identify(core.Ref{Kind: core.KindCluster, Name: s.Cluster})
		p.unknown("the management cluster is connected", why)
		return false
	}
	return true
}

// busyManaging tells whether an operation changes something on the management cluster.
func busyManaging(op core.Operation) bool {
	for _, kind := range []core.IntentKind{core.IntentEnterCluster, core.IntentLeaveCluster, core.IntentEnterMachine, core.IntentLeaveMachine,
		core.IntentReboot, core.IntentCommence, core.IntentUncommence,
		core.IntentSetRelease, core.IntentSetAutoPause, core.IntentMoveMachines, core.IntentSetGroupConcurrency, core.IntentSetGroupIndex,
		core.IntentSetGroupReboot, core.IntentMakeGroup, core.IntentDeleteGroup, core.IntentSetUpgradeIndex} {
		if op.Is(kind) {
			return true
		}
	}
	return false
}

// guardNoUpdate holds while no update is under way, or about to begin: a step of the plan that is commenced begins by itself, and so does
// LCM when the Cluster's release is set.
func guardNoUpdate(s *core.Snapshot) core.Guard {
	g := core.Guard{ID: core.GuardNoUpdate, Text: "no update is under way", Holds: true, Answer: "none", Remedy: "wait for its end"}
	if configured := s.Sources[core.SourceClusters]; configured.ID != "" && configured.State != core.SourceOff && NotConnected(s) != "" {
		g.Holds, g.Answer, g.Remedy = false, "not known: "+NotConnected(s), "mend the connection to the management cluster"
		return g
	}
	p := s.Management.Plan()
	if p != nil && (p.UnderWay() || p.Status == core.PlanScheduled) {
		g.Holds, g.Answer = false, "plan "+wording.OneLine(p.Name, 60)+" is "+wording.OneLine(wording.TextOf(p.Status, "under way"), 40)
		return g
	}
	if p != nil && p.Status != core.PlanCompleted {
		for _, st := range p.Steps {
			if st.Taken() && st.Status != core.PlanCompleted {
				g.Holds, g.Answer = false, progress.StepShort(st)+" of plan "+wording.OneLine(p.Name, 60)+" is commenced"
				g.Remedy = "withdraw its commence, or wait for its end"
				return g
			}
		}
	}
	if m := s.Management; m != nil && m.Cluster != nil && m.Cluster.Release != "" && m.Cluster.Target != "" &&
		m.Cluster.Target != m.Cluster.Release {
		g.Holds, g.Answer = false, "the Cluster is at "+wording.OneLine(m.Cluster.Release, 60)+", on its way to "+
			wording.OneLine(m.Cluster.Target, 60)
	}
	return g
}

// guardNoRequest holds while nobody has asked for the cluster's maintenance.
func guardNoRequest(s *core.Snapshot) core.Guard {
	g := core.Guard{ID: core.GuardNoRequest, Text: "the cluster is in no maintenance", Holds: true,
		Answer: "it has no ClusterMaintenanceRequest", Remedy: "wait for its end"}
	if r := s.ClusterRequest(); r != nil {
		g.Holds, g.Answer = false, "ClusterMaintenanceRequest "+wording.OneLine(r.Name, 60)+" since "+wording.ClockText(r.Created)
	}
	return g
}

// guardNoReboot holds while no graceful reboot is asked for. There can be only one request, which has the cluster's name.
func guardNoReboot(s *core.Snapshot) core.Guard {
	g := core.Guard{ID: core.GuardNoReboot, Text: "no graceful reboot is asked for", Holds: true, Answer: "none",
		Remedy: "wait until LCM has worked it off"}
	if r := s.Management.Reboot; r != nil {
		g.Holds, g.Answer = false, "since "+wording.ClockText(r.Created)
	}
	return g
}

// clusterMaintenance plans the cluster's maintenance mode, on or off.
func (p *planner) clusterMaintenance() {
	s, enter := p.s, p.i.Kind == core.IntentEnterCluster
	p.step.Title = "take the cluster out of maintenance mode"
	if enter {
		p.step.Title = "put the cluster into maintenance mode"
	}
	if !p.managed(busyManaging, core.SourceMachines, core.SourcePlans, core.SourceReboots, core.SourceClusterRequests) {
		return
	}
	c := s.Management.Cluster
	p.identify(c.Ref())
	p.guard(guardExists("the Cluster", c.Ref()))
	p.fact("uid", c.UID)
	if enter {
		p.step.Risk, p.step.Type = core.RiskHigh, typable(c.Name, c.UID)
		p.step.Why = "Maintenance mode lets machines be worked on. While it is on, the cluster is not updated or configured, and Ceph does " +
			"not rebalance; workloads are not touched."
		p.step.Then = "LCM makes a ClusterMaintenanceRequest, and the application controllers release their cluster locks; then machines can " +
			"follow. What is in maintenance mode comes back only when you take it out."
		p.guard(guardNoUpdate(s))
		p.guard(guardNoRequest(s))
		p.guard(guardNoReboot(s))
	} else {
		p.step.Risk = core.RiskMedium
		p.step.Why = "Until then the cluster is not updated or configured, and Ceph does not rebalance."
		p.step.Then = "LCM removes the ClusterMaintenanceRequest, and the application controllers take their cluster locks back."
		p.guardMachinesOut()
	}
	p.maintenance(c.Ref(), "clusters.cluster.k8s.io", c.Maintenance, c.InMaintenance, enter)
}

// guardMachinesOut holds when no machine is in maintenance mode, or about to be.
func (p *planner) guardMachinesOut() {
	var names []string
	for _, v := range p.s.Management.Machines {
		if v.Machine != nil && (v.Machine.InMaintenance || v.Machine.Wanted()) {
			names = append(names, wording.OneLine(v.Name, 64))
		}
	}
	g := core.Guard{ID: core.GuardMachinesOut, Text: "no machine is in maintenance mode", Holds: len(names) == 0, Answer: "none",
		Remedy: "take the machines out of it first: the cluster is the last to leave"}
	if !g.Holds {
		g.Answer = wording.Some(names, 6)
	}
	p.guard(g)
}

// machineMaintenance plans the maintenance mode of a node's machine, on or off.
func (p *planner) machineMaintenance() {
	s, name, enter := p.s, p.i.Node, p.i.Kind == core.IntentEnterMachine
	label := wording.OneLine(s.Label(name), 64)
	p.step.Title = "take " + label + " out of maintenance mode"
	if enter {
		p.step.Title = "put " + label + " into maintenance mode"
	}
	p.step.Node, p.step.Label = name, label
	busy := busyOn(s, name)
	if !p.managed(func(op core.Operation) bool { return busy(op) || op.Node == "" && busyManaging(op) }, core.SourceMachines, core.SourcePlans,
		core.SourceReboots, core.SourceNodes, core.SourceDeletionRequests) {
		return
	}
	v := progress.MachineOf(s, name)
	if v == nil || v.Machine == nil {
		p.identify(core.Ref{Kind: core.KindMachine, Name: name})
		p.unknown("the node's machine is known", "the management cluster has no Machine of "+wording.TextOf(label, "a node without a name"))
		return
	}
	o, c := v.Machine, s.Management.Cluster
	p.identify(o.Ref())
	p.guard(guardExists("the machine", o.Ref()))
	p.fact("uid", o.UID)
	p.fact("node", name)
	if enter {
		p.guardNotRemoved([]string{name})
		p.step.Risk, p.step.Type = core.RiskHigh, typable(label, o.UID)
		p.step.Why = "In maintenance mode the node is drained and stays so, until you take it out: for work on its hardware, say."
		p.step.Then = "LCM makes a NodeMaintenanceRequest; " + leavesText(s, name) +
			" When every lock is released, the node is cordoned and drained."
		first := core.Guard{ID: core.GuardClusterFirst, Text: "the cluster is in maintenance mode", Holds: c.InMaintenance && c.Wanted(),
			Answer: "it is", Remedy: "put the cluster into it first, and wait until it is there"}
		if !first.Holds {
			first.Answer = wording.TextOf(map[bool]string{true: "it is on its way there"}[c.Wanted()], "it is not")
		}
		p.guard(first)
		p.fact("cluster", fmt.Sprintf("%s maintenance=%t", c.UID, c.InMaintenance))
		p.guard(guardNoUpdate(s))
		p.guard(guardNoReboot(s))
		m := progress.MaintenanceOf(s, name)
		p.fact("migration mode", string(m.Mode))
	} else {
		p.step.Risk = core.RiskMedium
		p.step.Why = "Until then the node stays drained, and the cluster cannot leave maintenance mode."
		p.step.Then = "LCM uncordons the node and removes its NodeMaintenanceRequest; its controllers bring it back into service."
	}
	p.maintenance(o.Ref(), "machines.cluster.k8s.io", o.Maintenance, o.InMaintenance, enter)
}

// leavesText says what happens to a node's instances when LCM asks for the node, by its migration mode.
func leavesText(s *core.Snapshot, name string) string {
	m := progress.MaintenanceOf(s, name)
	if !m.Compute {
		return "its controllers prepare it."
	}
	n := "its instances"
	if s.Known(core.SourceInstances) {
		n = "its " + wording.Count(len(s.InstancesOn(name)), "instance")
	}
	switch m.Mode {
	case core.ModeManual:
		return "the OpenStack controller waits until you have moved " + n + " (migration mode manual)."
	case core.ModeSkip:
		return n + " stay there and go down with the host (migration mode skip)."
	}
	return "the OpenStack controller live-migrates " + n + "."
}

// maintenance plans the change of maintenance mode, with its command and the command that sets it back.
func (p *planner) maintenance(ref core.Ref, resource string, old *bool, is, on bool) {
	wanted := old != nil && *old
	p.fact("maintenance", TruthText(old))
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it is not asked for yet", Holds: wanted != on,
		Answer: "maintenance is " + TruthText(old)})
	if wanted == on {
		if is == on {
			p.done = map[bool]string{true: "in maintenance mode", false: "not in maintenance mode"}[on]
		} else {
			p.step.State, p.step.Status = core.StepWaiting, "asked for, not there yet"
		}
		return
	}
	p.step.Change = core.SetMaintenance{Object: ref, Old: old, On: on}
	p.step.Commands = []string{maintenanceCommand(p.s, resource, ref.Name, on)}
	p.step.Undo = "set it back: " + maintenanceCommand(p.s, resource, ref.Name, !on)
}

// TruthText is "true" or "false", or "(not set)" for nil.
func TruthText(b *bool) string {
	if b == nil {
		return "(not set)"
	}
	return fmt.Sprint(*b)
}

// maintenanceCommand is the one in MOSK's documents (docs/mosk.md#maintenance-mode).
func maintenanceCommand(s *core.Snapshot, resource, name string, on bool) string {
	return s.KubectlManagement("patch", resource, name, "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"providerSpec":{"value":{"maintenance":%t}}}}`, on))
}

// gracefulReboot plans a GracefulRebootRequest for the machines of the named nodes. It never sends an empty list, which means all
// machines.
func (p *planner) gracefulReboot() {
	s, names := p.s, p.i.NodesOf()
	p.step.Title = "reboot the machines gracefully"
	if len(names) == 1 {
		p.step.Node, p.step.Label = names[0], s.Label(names[0])
		p.step.Title = "reboot " + wording.OneLine(s.Label(names[0]), 64) + " gracefully"
	} else {
		p.step.Label = wording.Count(len(names), "machine")
	}
	p.step.Risk, p.step.Type = core.RiskHigh, typable(p.step.Label, "reboot")
	busy := busyOn(s, names...)
	if !p.managed(func(op core.Operation) bool { return busy(op) || op.Node == "" && busyManaging(op) }, core.SourceMachines,
		core.SourceLCMMachines, core.SourcePlans, core.SourceReboots,
		core.SourceClusterRequests, core.SourceNodes, core.SourceDeletionRequests) {
		return
	}
	c := s.Management.Cluster
	p.identify(c.Ref())
	p.step.ID += "/" + namesID(names)
	p.step.Why = "LCM takes each machine out of service, reboots it and brings it back, one after another in the order of an update."
	p.guard(guardExists("the Cluster", c.Ref()))
	p.fact("uid", c.UID)
	p.guard(guardNoUpdate(s))
	p.guard(guardNoRequest(s))
	p.guard(guardNoReboot(s))
	out := core.Guard{ID: core.GuardNoMaintenance, Text: "the cluster is not in maintenance mode", Holds: !c.InMaintenance && !c.Wanted(),
		Answer: "it is not", Remedy: "take it out of it first"}
	if !out.Holds {
		out.Answer = "it is, or is on its way"
	}
	p.guard(out)
	p.guardNotRemoved(names)
	var machines, missing, unready, then, down []string
	for _, name := range names {
		v := progress.MachineOf(s, name)
		if v == nil || v.Machine == nil {
			missing = append(missing, wording.OneLine(s.Label(name), 64))
			continue
		}
		if v.Machine.ReadyKnown && !v.Machine.Ready || v.LCM != nil && v.LCM.State != "" && v.LCM.State != core.LCMReady {
			unready = append(unready, wording.OneLine(v.Name, 64))
		}
		machines = append(machines, v.Name)
		p.fact("machine "+v.Name, v.Machine.UID)
		m := progress.MaintenanceOf(s, name)
		p.fact("migration mode of "+v.Name, string(m.Mode))
		text := s.Label(name) + ": " + strings.TrimSuffix(leavesText(s, name), ".")
		if m.Compute && m.Mode == core.ModeSkip {
			down = append(down, text) // all of these are told
		} else {
			then = append(then, text)
		}
	}
	if c.ReadyKnown && !c.Ready {
		unready = append([]string{"the cluster"}, unready...)
	}
	p.guard(core.Guard{ID: core.GuardMachinesKnown, Text: "the machines are known", Holds: len(missing) == 0 && len(machines) > 0,
		Answer: wording.TextOf(wording.Some(missing, 6), wording.TextOf(wording.Some(machines, 6), "none is named"))})
	p.guard(core.Guard{ID: core.GuardMachinesReady, Text: "the cluster and the machines are Ready", Holds: len(unready) == 0,
		Answer: wording.TextOf(wording.Some(unready, 6), "they are"), Remedy: "mend what is not Ready first"})
	p.step.Then = "LCM makes a NodeMaintenanceRequest for each when its turn comes. " +
		wording.Some(slices.Concat(down, then), max(4, len(down))) +
		". The request goes when all are done; what has begun is not called back."
	if len(missing) > 0 || len(machines) == 0 {
		return
	}
	p.step.Change = core.RequestReboot{Cluster: c.Ref(), Machines: machines}
	p.step.Commands = []string{rebootCommand(s, c, machines)}
}

// guardNotRemoved holds while none of the nodes is to be removed.
func (p *planner) guardNotRemoved(names []string) {
	var leaving []string
	for _, name := range names {
		if LeavesCluster(p.s, name) {
			leaving = append(leaving, wording.OneLine(p.s.Label(name), 64))
		}
	}
	g := core.Guard{ID: core.GuardStays, Text: "no node of them is to be removed", Holds: len(leaving) == 0, Answer: "none is",
		Remedy: "let the removal come to its end"}
	if !g.Holds {
		g.Answer = wording.Some(leaving, 6)
	}
	p.guard(g)
}

// rebootCommand makes the GracefulRebootRequest by hand.
func rebootCommand(s *core.Snapshot, c *core.ManagedCluster, machines []string) string {
	object := map[string]any{"apiVersion": "kaas.mirantis.com/v1alpha1", "kind": string(core.KindRebootRequest),
		"metadata": map[string]any{"name": c.Name, "namespace": c.Namespace}, "spec": map[string]any{"machines": machines}}
	raw, err := json.Marshal(object)
	if err != nil { // names are texts
		return ""
	}
	return wording.ShellCommand("echo", string(raw)) + " | " + s.Place.Kubectl("create", "-f", "-")
}
