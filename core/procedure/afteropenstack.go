package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// servicesThat are the labels of the hosts for whose compute services open is true.
func servicesThat(s *core.Snapshot, open func(*core.ComputeService) bool) []string {
	var out []string
	for host, svc := range s.Services {
		if open(svc) {
			out = append(out, wording.OneLine(progress.HostLabel(s, host), 64))
		}
	}
	slices.Sort(out)
	return out
}

func openDisabled(s *core.Snapshot) []core.Left {
	return core.Lefts(servicesThat(s, (*core.ComputeService).LeftDisabled))
}

func openDown(s *core.Snapshot) []core.Left {
	return core.Lefts(servicesThat(s, func(c *core.ComputeService) bool { return c.Enabled && !c.Up }))
}

// ownReasons names the compute services that somebody has disabled for a reason of their own.
func ownReasons(s *core.Snapshot) string {
	own := servicesThat(s, func(c *core.ComputeService) bool { return !c.Enabled && !c.LeftDisabled() })
	if len(own) == 0 {
		return ""
	}
	return "disabled for another reason: " + wording.Some(own, 8)
}

func openAgents(s *core.Snapshot) []core.Left {
	var out []string
	for host := range s.Agents {
		for _, a := range progress.SilentOn(s, host) {
			out = append(out, wording.OneLine(progress.HostLabel(s, host), 64)+": "+wording.OneLine(a.Type, 40))
		}
	}
	slices.Sort(out)
	return core.Lefts(out)
}

func openDeployments(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, o := range s.OpenStack {
		if o.State != "APPLIED" {
			out = append(out, core.Left{Of: wording.OneLine(o.Name, 64), How: wording.TextOf(wording.OneLine(o.State, 20), "in no state") +
				wording.Dashed(wording.OneLine(o.LCMProgress, 20))})
		}
	}
	return out
}

func openHealth(s *core.Snapshot) []core.Left {
	var out []string
	for _, o := range s.OpenStack {
		for _, name := range o.Unhealthy {
			out = append(out, wording.OneLine(name, 100))
		}
	}
	return core.Lefts(out)
}

func openDaemonSets(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, v := range progress.DaemonViews(s) {
		if text := v.Behind(); text != "" {
			out = append(out, core.Left{Of: v.Short(), How: text, ID: v.Set.UID})
		}
	}
	return out
}

// volumeServicesThat are the volume services for which open is true, with the labels of their hosts.
func volumeServicesThat(s *core.Snapshot, open func(*core.VolumeService) bool) []string {
	var out []string
	for _, all := range s.VolumeServices {
		for _, v := range all {
			if open(v) {
				out = append(out, wording.OneLine(progress.HostLabel(s, v.Machine()), 64)+": "+v.Label())
			}
		}
	}
	slices.Sort(out)
	return out
}

func openVolumesOut(s *core.Snapshot) []core.Left {
	return core.Lefts(volumeServicesThat(s, (*core.VolumeService).LeftDisabled))
}

func openVolumesDown(s *core.Snapshot) []core.Left {
	return core.Lefts(volumeServicesThat(s, func(v *core.VolumeService) bool { return v.Enabled && !v.Up }))
}
