package procedure

import (
	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// afterManagementRows are the points that rest on the management cluster, where one is configured (docs/mosk.md#after-the-update).
var afterManagementRows = []afterRow{
	{"reboots", "no machine has to be rebooted",
		"Where its update group does not reboot machines, what was installed counts only after a reboot.",
		[]core.SourceID{core.SourceMachines}, openReboots},
	{"auto-pause", "no UpdateAutoPause is left", "One that was meant for this update pauses the next one too. One that is to stay can stay.",
		[]core.SourceID{core.SourceAutoPauses}, openPause},
	{"maintenance-mode", "nothing is in maintenance mode",
		"While the cluster is, it is not updated or configured, and Ceph does not rebalance; a machine stays drained.",
		[]core.SourceID{core.SourceClusters, core.SourceMachines}, openMaintenance},
}

// rebootNodes are the names of the nodes whose machines need a reboot.
func rebootNodes(s *core.Snapshot) []string {
	var out []string
	if s.Management == nil {
		return nil
	}
	for _, v := range s.Management.Machines {
		if v.Machine != nil && v.Machine.Reboot && s.Nodes[v.Node] != nil && !step.LeavesCluster(s, v.Node) {
			out = append(out, v.Node)
		}
	}
	return out
}

func openReboots(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, v := range s.Management.Machines {
		if v.Machine != nil && v.Machine.Reboot {
			out = append(out, core.Left{Of: wording.OneLine(v.Name, 64), How: wording.OneLine(v.Machine.RebootReason, 60)})
		}
	}
	return out
}

func openPause(s *core.Snapshot) []core.Left {
	if p := s.Management.Pause; p != nil {
		return []core.Left{{Of: wording.OneLine(p.Name, 64), How: wording.OneLine(wording.Some(p.Alerts, 4), 100)}}
	}
	return nil
}

func openMaintenance(s *core.Snapshot) []core.Left {
	var out []core.Left
	if c := s.Management.Cluster; c.Wanted() || c.InMaintenance {
		out = append(out, core.Left{Of: "the cluster"})
	}
	for _, v := range s.Management.Machines {
		if v.Machine != nil && (v.Machine.Wanted() || v.Machine.InMaintenance) {
			out = append(out, core.Left{Of: wording.OneLine(v.Name, 64)})
		}
	}
	return out
}

// maintenanceWays take out of maintenance mode what is in it: the machines first, the cluster last.
func maintenanceWays(s *core.Snapshot) []core.Step {
	var out []core.Step
	if s.Management == nil || s.Management.Cluster == nil {
		return nil // whether anything is, is not known
	}
	for _, v := range s.Management.Machines {
		if v.Machine != nil && (v.Machine.Wanted() || v.Machine.InMaintenance) && v.Node != "" {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentLeaveMachine, Node: v.Node}))
		}
	}
	if c := s.Management.Cluster; c.Wanted() || c.InMaintenance {
		out = append(out, step.Plan(s, core.Intent{Kind: core.IntentLeaveCluster}))
	}
	return out
}
