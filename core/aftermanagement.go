package core

// afterManagementRows are the points that the management cluster tells, where it is connected (docs/mosk.md#after-the-update).
var afterManagementRows = []afterRow{
	{"reboots", "no machine has to be rebooted", "Where its update group does not reboot machines, what was installed counts only after a reboot.",
		[]SourceID{SourceMachines}, (*Snapshot).openReboots},
	{"auto-pause", "no UpdateAutoPause is left", "One that was meant for this update pauses the next one too. One that is to stay can stay.",
		[]SourceID{SourceAutoPauses}, (*Snapshot).openPause},
	{"maintenance-mode", "nothing is in maintenance mode", "While the cluster is, it is not updated or configured, and Ceph does not rebalance; a machine stays drained.",
		[]SourceID{SourceClusters, SourceMachines}, (*Snapshot).openMaintenance},
}

// rebootNodes are the names of the nodes whose machines have to be rebooted for what was installed.
func (s *Snapshot) rebootNodes() []string {
	var out []string
	for _, v := range s.Management.Machines {
		if v.Machine != nil && v.Machine.Reboot && s.Nodes[v.Node] != nil && !s.leavesCluster(v.Node) {
			out = append(out, v.Node)
		}
	}
	return out
}

func (s *Snapshot) openReboots() []string {
	var out []string
	for _, v := range s.Management.Machines {
		if v.Machine != nil && v.Machine.Reboot {
			out = append(out, oneLine(v.Name, 64)+inBrackets(oneLine(v.Machine.RebootReason, 60)))
		}
	}
	return out
}

func (s *Snapshot) openPause() []string {
	if p := s.Management.Pause; p != nil {
		return []string{oneLine(p.Name, 64) + inBrackets(oneLine(some(p.Alerts, 4), 100))}
	}
	return nil
}

func (s *Snapshot) openMaintenance() []string {
	var out []string
	if c := s.Management.Cluster; c.Wanted() || c.InMaintenance {
		out = append(out, "the cluster")
	}
	for _, v := range s.Management.Machines {
		if v.Machine != nil && (v.Machine.Wanted() || v.Machine.InMaintenance) {
			out = append(out, oneLine(v.Name, 64))
		}
	}
	return out
}

// maintenanceWays take out of maintenance mode what is in it: the machines first, the cluster last.
func (s *Snapshot) maintenanceWays() []Step {
	var out []Step
	for _, v := range s.Management.Machines {
		if v.Machine != nil && (v.Machine.Wanted() || v.Machine.InMaintenance) && v.Node != "" {
			out = append(out, Plan(s, Intent{Kind: IntentLeaveMachine, Node: v.Node}))
		}
	}
	if c := s.Management.Cluster; c.Wanted() || c.InMaintenance {
		out = append(out, Plan(s, Intent{Kind: IntentLeaveCluster}))
	}
	return out
}
