package openstack

import "time"

// transfer is how a live migration copies an instance: the disk once, if it is local, then the memory in passes. Each
// pass sends what the guest dirtied during the pass before, so the remaining bytes fall, jump up and fall again.
type transfer struct {
	started      time.Time
	memory, disk int64   // bytes
	rate         float64 // bytes per second
	dirty        float64 // bytes dirtied per byte sent
	endless      bool    // passes never get small
}

const (
	videoMemory  = 16<<20 + 540672 // counted by QEMU in addition to the RAM
	downtime     = time.Second     // the last pass, with the guest stopped
	saveInterval = 2 * time.Second // how often the record is written
)

func (c *Cloud) newTransfer(now time.Time, s *server, attempt string) *transfer {
	t := &transfer{
		started: now,
		memory:  int64(s.flavor.RAM)<<20 + videoMemory,
		rate:    float64(c.opts.Bandwidth) * (1 << 20) * (0.96 + 0.1*c.fraction("rate", s.id, attempt)),
		dirty:   0.06 + 0.18*c.fraction("dirty", s.id, attempt),
		endless: s.behaviour.NeverConverges,
	}
	if s.behaviour.LocalDisk {
		t.disk = int64(s.flavor.Disk) << 30
	}
	return t
}

func (t *transfer) seconds(bytes float64) time.Duration {
	return time.Duration(bytes / t.rate * float64(time.Second))
}

// nextPass is how much is left to send after a pass; 0 ends the transfer.
func (t *transfer) nextPass(pass float64) float64 {
	next := pass * t.dirty
	if t.endless {
		return max(next, 0.35*float64(t.memory))
	}
	if next < 0.01*float64(t.memory) {
		return 0
	}
	return next
}

// duration is how long the transfer takes; false if it never ends.
func (t *transfer) duration() (time.Duration, bool) {
	if t.endless {
		return 0, false
	}
	total := float64(t.disk)
	for pass := float64(t.memory); pass > 0; pass = t.nextPass(pass) {
		total += pass
	}
	return t.seconds(total) + downtime, true
}

// progress returns the processed and remaining bytes, of memory and of disk.
type progress struct{ memDone, memLeft, diskDone, diskLeft int64 }

func (t *transfer) at(now time.Time) progress {
	sent := now.Sub(t.started).Truncate(saveInterval).Seconds() * t.rate
	if sent < float64(t.disk) {
		return progress{memLeft: t.memory, diskDone: int64(sent), diskLeft: t.disk - int64(sent)}
	}
	p := progress{diskDone: t.disk}
	sent -= float64(t.disk)
	done := 0.0
	for pass := float64(t.memory); pass > 0; pass = t.nextPass(pass) {
		if done+pass > sent {
			p.memDone, p.memLeft = int64(sent), int64(pass-(sent-done))
			return p
		}
		done += pass
		if t.endless && done > float64(t.memory) { // all later passes are the same
			rest := int64(pass)
			p.memDone = int64(sent)
			p.memLeft = rest - int64(sent-done)%rest
			return p
		}
	}
	p.memDone = int64(done)
	return p
}
