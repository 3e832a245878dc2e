package openstack

import "time"

// claim takes (or, with n = -1, returns) what a server of a flavor needs on a host.
func claim(h *host, s *server, f *flavor, n int) {
	h.usedCPU += n * f.VCPUs
	h.usedRAM += n * f.RAM
	h.usedDisk += n * s.disk(f)
	h.claims += n
}

// disk is what a server of a flavor takes of a host's disk, in GiB: nothing if it boots from a volume, as Nova counts.
func (s *server) disk(f *flavor) int {
	if s.fromVolume {
		return 0
	}
	return f.Disk
}

const (
	// noValidHost is Nova's message when the scheduler rejects all hosts that Placement offers.
	noValidHost = "No valid host was found. There are not enough hosts available."
	// noCandidate is Nova's message when Placement offers no host: all are disabled or full.
	noCandidate = "No valid host was found. "
)

// pick is the scheduler. It picks the host with the most free memory among those that are enabled, up, in the requested
// zone, have room and respect the server's group; if a host is wanted, only that one. If there is none, it returns
// Nova's message.
func (c *Cloud) pick(now time.Time, s *server, f *flavor, wanted string, exclude *host) (best *host, failure string) {
	if s.behaviour.NoValidHost {
		return nil, noValidHost
	}
	failure = noCandidate
	for _, h := range c.hostOrder {
		if h.compute == nil || wanted != "" && h.Name != wanted || h.compute.disabled || s.zone != "" && s.zone != h.Zone || !c.fits(h, s, f) {
			continue
		}
		failure = noValidHost
		if h == exclude || !c.up(h.compute, now) || !s.groupAllows(h) {
			continue
		}
		if best == nil || h.RAM-h.usedRAM > best.RAM-best.usedRAM {
			best = h
		}
	}
	if best != nil {
		failure = ""
	}
	return best, failure
}

func (c *Cloud) fits(h *host, s *server, f *flavor) bool {
	return float64(h.usedCPU+f.VCPUs) <= float64(h.VCPUs)*c.opts.CPURatio &&
		float64(h.usedRAM+f.RAM) <= float64(h.RAM)*c.opts.RAMRatio &&
		float64(h.usedDisk+s.disk(f)) <= float64(h.Disk)*c.opts.DiskRatio
}

// groupAllows tells whether the server's group allows a host.
func (s *server) groupAllows(h *host) bool {
	if s.group == nil {
		return true
	}
	others := 0
	for _, m := range s.group.members {
		if m == s || m.deleted || m.host == nil {
			continue
		}
		switch {
		case s.group.policy == "anti-affinity" && (m.host == h || m.migration != nil && m.migration.claimed && m.migration.dest == h):
			if others++; others >= max(s.group.most, 1) {
				return false
			}
		case s.group.policy == "affinity" && m.host != h:
			return false
		}
	}
	return true
}
