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
	r := c.resources(h)
	return h.usedCPU+f.VCPUs <= r.cpu.capacity() && h.usedRAM+f.RAM <= r.ram.capacity() && h.usedDisk+s.disk(f) <= r.disk.capacity()
}

// reservedRAM is what a host keeps for itself, in MiB: Nova's reserved_host_memory_mb.
const reservedRAM = 512

// resource is how much a host has of something, as Placement counts it.
type resource struct {
	total, reserved int
	ratio           float64
}

// capacity is how much of it instances may be given.
func (r resource) capacity() int { return int(float64(r.total-r.reserved) * r.ratio) }

type resources struct{ cpu, ram, disk resource }

func (c *Cloud) resources(h *host) resources {
	return resources{cpu: resource{h.VCPUs, 0, c.opts.CPURatio}, ram: resource{h.RAM, reservedRAM, c.opts.RAMRatio},
		disk: resource{h.Disk, 0, c.opts.DiskRatio}}
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
