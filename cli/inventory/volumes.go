package inventory

import (
	"slices"
	"strings"

	"lockstep/cli/pseudonym"
	"lockstep/core"
	"lockstep/sim/scenario"
)

// volumes takes over the cinder-volume services, also those of hosts that are not nodes.
func (b *builder) volumes() {
	for _, v := range b.inv.VolumeServices {
		_, backend, _ := strings.Cut(v.Host, "@")
		found := scenario.FoundVolumeService{Node: b.machineOf(v.Machine()), Backend: oneLine(backend, 100), Zone: unless(v.Zone, "nova", ""),
			Disabled: !v.Enabled, DisabledReason: oneLine(v.DisabledReason, 255), Down: !v.Up}
		if found.Node == "" {
			found.Host = oneLine(v.Machine(), 200)
		}
		same := func(o scenario.FoundVolumeService) bool {
			return o.Node == found.Node && o.Host == found.Host && o.Backend == found.Backend
		}
		if found.Node+found.Host == "" || slices.ContainsFunc(b.s.Found.VolumeServices, same) {
			continue
		}
		b.s.Found.VolumeServices = append(b.s.Found.VolumeServices, found)
	}
}

// plainBackends are names of back ends that reveal nothing.
var plainBackends = []string{"", "lvm"}

// volumes renames the volume services.
func (p *pseudonyms) volumes(f *scenario.Found, machines map[string]string) {
	for i := range f.VolumeServices {
		v := &f.VolumeServices[i]
		v.Node, v.Host, v.Zone = machines[v.Node], p.Name("volume-host", v.Host), p.zone(v.Zone)
		if !slices.Contains(plainBackends, v.Backend) {
			v.Backend = p.Name("backend", v.Backend)
		}
		if v.DisabledReason != "" && v.DisabledReason != core.DisabledReasonMaintenance {
			v.DisabledReason = pseudonym.LeftOut
		}
	}
	slices.SortFunc(f.VolumeServices, func(x, y scenario.FoundVolumeService) int {
		return strings.Compare(x.Node+"/"+x.Host+"/"+x.Backend, y.Node+"/"+y.Host+"/"+y.Backend)
	})
}
