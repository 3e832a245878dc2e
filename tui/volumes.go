package tui

import (
	"fmt"
	"strings"

	"lockstep/themes"
)

// volumeFacts are what Cinder knows of a node: its volume services, and the volumes on its disks where Lockstep asked for them.
func volumeFacts(m *Model, f *facts, node string) {
	s := m.snap
	if services := s.VolumeServicesOn(node); len(services) > 0 {
		f.section("cinder-volume")
		for _, v := range services {
			state, tone := "enabled", themes.Text
			if !v.Enabled {
				state = strings.TrimSuffix("disabled: "+v.DisabledReason, ": ")
			}
			up := ", up"
			if !v.Up {
				up, tone = ", down", themes.Bad
			}
			f.tone(tone, v.Host, state+up)
		}
	}
	for _, host := range []string{node, s.HostOf(node)} {
		h := s.Volumes[host]
		if h == nil {
			continue
		}
		f.section("Volumes on its disks")
		if len(h.Volumes) == 0 {
			f.add("", "none")
		}
		for _, v := range h.Volumes {
			name := v.Name
			if name == "" {
				name = v.ID
			}
			text := fmt.Sprintf("%d GiB, %s", v.SizeGiB, v.Status)
			for _, id := range v.Instances {
				called := id
				if in := s.Instances.At(id); in != nil {
					called = instanceName(in)
				}
				text += ", " + called
			}
			f.add(name, text)
		}
		return
	}
}
