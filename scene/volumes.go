package scene

import (
	"fmt"

	"lockstep/core"
	"pgregory.net/rapid"
)

// VolumeService adds a node's cinder-volume service.
func (sc Scene) VolumeService(host string) *core.VolumeService {
	v := &core.VolumeService{Host: host, Enabled: true, Up: true, Zone: "nova", Updated: Ago(10)}
	sc.VolumeServices[v.Machine()] = append(sc.VolumeServices[v.Machine()], v)
	return v
}

// LvmOf is the volume service of a host's own disks.
func LvmOf(host string) core.Ref { return (&core.VolumeService{Host: host + "@lvm"}).Ref() }

// OutOf takes a service out of scheduling.
func OutOf(v *core.VolumeService, reason string) *core.VolumeService {
	v.Enabled, v.DisabledReason = false, reason
	return v
}

// anyVolumeService gives cmp-01 a volume service in any state, or none.
func anyVolumeService(t *rapid.T, sc Scene) {
	if rapid.IntRange(0, 4).Draw(t, "no volume service") == 4 {
		return
	}
	v := sc.VolumeService("cmp-01@lvm")
	v.Up = rapid.IntRange(0, 3).Draw(t, "volume service down") != 3
	if rapid.Bool().Draw(t, "volume service disabled") {
		OutOf(v, rapid.SampledFrom([]string{core.DisabledReasonMaintenance, "a dead disk", ""}).Draw(t, "why"))
	}
	if rapid.IntRange(0, 9).Draw(t, "volume source") == 9 {
		sc.Source(core.SourceVolumeServices, core.SourceState(rapid.SampledFrom([]string{"stale", "forbidden", "absent", "failed", "off"}).Draw(t,
			"volume source state")))
	}
}

// WithOwnDisks gives cmp-01 a back end on its own disks, with a volume for each of the instances.
func WithOwnDisks(sc Scene, users ...*core.Instance) {
	sc.VolumeServices["cmp-01"] = []*core.VolumeService{{Host: "cmp-01@lvm", Enabled: true, Up: true}}
	h := &core.HostVolumes{Host: "cmp-01"}
	for i, in := range users {
		h.Volumes = append(h.Volumes, core.Volume{ID: fmt.Sprintf("vol-%d", i), Name: fmt.Sprintf("data-%d", i), Host: "cmp-01@lvm#lvm",
			Status: "in-use", SizeGiB: 10, Instances: []string{in.ID}})
	}
	sc.Volumes["cmp-01"] = h
}
