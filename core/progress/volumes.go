package progress

import (
	"slices"

	"lockstep/core"
)

// VolumeName is the volume's name, or its ID when it has none.
func VolumeName(v *core.Volume) string {
	if v.Name != "" {
		return core.Tidy(v.Name)
	}
	return core.Tidy(v.ID)
}

// HostsWithVolumesToWatch are the hosts whose own volumes matter now, sorted: those of nodes that are to be removed, which their
// volumes hold (docs/mosk.md#removal), and those whose volumes instances elsewhere may use (docs/mosk.md#before-the-update).
func HostsWithVolumesToWatch(s *core.Snapshot) []string {
	hosts := slices.Clone(watchedHosts(s).ownDisks)
	for node := range s.Deletions {
		hosts = append(hosts, s.VolumeHostOf(node))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// VolumesThat are the services, each with its state, that keep a release or a return waiting. For a release, the service that the
// controller takes out of scheduling has to be out. For a return, none may be disabled for the maintenance, and those that are
// enabled have to be up.
func VolumesThat(all []*core.VolumeService, release bool) []string {
	var bad []string
	for _, v := range all {
		if release && v.Enabled && !v.Behind || !release && (v.ForMaintenance() || v.Enabled && !v.Up) {
			bad = append(bad, v.Label()+" is "+v.Text())
		}
	}
	return bad
}
