package openstack

import "time"

// claim takes (or, with n = -1, returns) what a flavor needs on a host.
func claim(h *host, f *flavor, n int) {
	h.usedCPU += n * f.VCPUs
	h.usedRAM += n * f.RAM
	h.usedDisk += n * f.Disk
	h.claims += n
}

// noValidHost is what Nova says when the scheduler finds none.
const noValidHost = "No valid host was found. There are not enough hosts available."

// pick is the scheduler: the host with the most free memory among those that are enabled, up, in the zone that was asked
// for, have room and honour the server's group; only the wanted one when there is one. Nil when there is none.
func (c *Cloud) pick(now time.Time, s *server, f *flavor, wanted string, exclude *host) *host {
	if s.behaviour.NoValidHost {
		return nil
	}
	var best *host
	for _, h := range c.hostOrder {
		if h.compute == nil || h == exclude || wanted != "" && h.Name != wanted {
			continue
		}
		if h.compute.disabled || !c.up(h.compute, now) || s.zone != "" && s.zone != h.Zone || !c.fits(h, f) || !s.groupAllows(h) {
			continue
		}
		if best == nil || h.RAM-h.usedRAM > best.RAM-best.usedRAM {
			best = h
		}
	}
	return best
}

func (c *Cloud) fits(h *host, f *flavor) bool {
	return float64(h.usedCPU+f.VCPUs) <= float64(h.VCPUs)*c.opts.CPURatio &&
		float64(h.usedRAM+f.RAM) <= float64(h.RAM)*c.opts.RAMRatio &&
		float64(h.usedDisk+f.Disk) <= float64(h.Disk)*c.opts.DiskRatio
}

// groupAllows says whether the server's group lets it go to a host.
func (s *server) groupAllows(h *host) bool {
	if s.group == nil {
		return true
	}
	for _, m := range s.group.members {
		if m == s || m.deleted || m.host == nil {
			continue
		}
		switch {
		case s.group.policy == "anti-affinity" && (m.host == h || m.migration != nil && m.migration.claimed && m.migration.dest == h):
			return false
		case s.group.policy == "affinity" && m.host != h:
			return false
		}
	}
	return true
}
