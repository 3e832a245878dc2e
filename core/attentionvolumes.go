package core

import "slices"

// volumesLeft is how many volumes are on the node's disks; -1 when that is not known.
func (f *attentionFacts) volumesLeft(node string) int {
	volumes, known := f.s.VolumesOn(node)
	if !known {
		return -1
	}
	return len(volumes)
}

// namedVolumes are the volumes that hold up a removal (T), where they are known.
func (f *attentionFacts) namedVolumes(n nodeAttention) []string {
	if n.message.ID != SaysVolumesHoldRemoval {
		return nil
	}
	volumes, _ := f.s.VolumesOn(n.Name)
	names := make([]string, len(volumes))
	for i, v := range volumes {
		names[i] = volumeName(&v)
	}
	return names
}

// volumesLeftOut are volume services that nobody will enable: the OpenStack controller enables the first of a host only, and only
// where its own reason stands.
func (f *attentionFacts) volumesLeftOut(n nodeAttention) {
	if n.Node == nil || n.Request != nil || !f.s.known(SourceNodeRequests) || !f.s.known(SourceVolumeServices) || f.leavesForGood(n) {
		return
	}
	if slices.ContainsFunc(f.s.Settings.ActAs, func(a ActAs) bool { return a.Controller == ControllerOpenStack && f.s.actTurn(a, n.Name) == turnReturn }) {
		return // the next step of who plays the controller
	}
	if r := f.s.History.Rounds[n.Node.UID]; r.Request != "" && (r.Ended.IsZero() || !f.long(r.Ended, serviceSettles)) {
		return // what Cinder said last can be older than the end of the maintenance
	}
	for _, v := range f.s.VolumeServicesOn(n.Name) {
		if !v.forMaintenance() {
			continue
		}
		a := n.entry(RuleVolumesLeft)
		a.Severity, a.Since = SeverityWarning, Since{At: v.Updated}
		a.Reason = v.label() + " was left disabled for the maintenance, and the maintenance is over"
		f.add(a)
		return
	}
}

// volumeServicesThat are the volume services that are open, by the label of their host.
func (s *Snapshot) volumeServicesThat(open func(*VolumeService) bool) []string {
	var out []string
	for _, all := range s.VolumeServices {
		for _, v := range all {
			if open(v) {
				out = append(out, oneLine(s.hostLabel(v.Machine()), 64)+": "+v.label())
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *Snapshot) openVolumesOut() []string {
	return s.volumeServicesThat((*VolumeService).forMaintenance)
}

func (s *Snapshot) openVolumesDown() []string {
	return s.volumeServicesThat(func(v *VolumeService) bool { return v.Enabled && !v.Up })
}
