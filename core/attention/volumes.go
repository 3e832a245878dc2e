package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
)

// volumesLeft is the number of volumes on the node's disks; -1 when that is not known.
func (f *facts) volumesLeft(node string) int {
	volumes, known := f.s.VolumesOn(node)
	if !known {
		return -1
	}
	return len(volumes)
}

// namedVolumes are the names of the volumes that hold a removal up (text T), if they are known.
func (f *facts) namedVolumes(n nodeFacts) []string {
	if n.message.ID != progress.SaysVolumesHoldRemoval {
		return nil
	}
	volumes, _ := f.s.VolumesOn(n.Name)
	names := make([]string, len(volumes))
	for i, v := range volumes {
		names[i] = progress.VolumeName(&v)
	}
	return names
}

// volumesLeftOut finds volume services that nobody will enable: the OpenStack controller enables only the first one of a host, and only
// if it disabled it.
func (f *facts) volumesLeftOut(n nodeFacts) {
	if n.Node == nil || n.Request != nil || !f.s.Known(core.SourceNodeRequests) || !f.s.Known(core.SourceVolumeServices) ||
		f.leavesForGood(n) {
		return
	}
	if slices.ContainsFunc(f.s.Settings.ActAs, func(a core.ActAs) bool {
		return a.Controller == core.ControllerOpenStack && progress.TurnOn(f.s, a, n.Name) == progress.TurnReturn
	}) {
		return // acting says that it is the next step
	}
	if _, seen := progress.SeenSinceReturn(f.s, core.SourceVolumeServices, n.Name); !seen ||
		progress.Settling(f.s, n.Node, progress.ServiceSettles) {
		return // what Cinder last showed can be older than the end of the maintenance
	}
	_, over := procedure.AfterUpdateLeft(f.s)
	for _, v := range f.s.VolumeServicesOn(n.Name) {
		if !v.ForMaintenance() && !(v.LeftDisabled() && (n.Stage == core.StageDone || over)) {
			continue // nobody disabled it for a maintenance, or the maintenance is still to come
		}
		a := n.entry(core.RuleVolumesLeft)
		a.Severity, a.Since = core.SeverityWarning, returnedSince(f.s, n)
		a.Reason = v.Label() + " was left disabled for the maintenance, and the maintenance is over"
		f.add(a)
		return
	}
}
