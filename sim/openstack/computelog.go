package openstack

import (
	"fmt"
	"time"
)

// say writes a line about an instance into the log of a host's nova-compute, in the form of oslo.log and Nova's own
// words; the caller holds the cloud's lock.
func (c *Cloud) say(now time.Time, h *host, level, module, instance, format string, args ...any) {
	if c.opts.ComputeLog == nil || h == nil {
		return
	}
	now = now.UTC()
	c.opts.ComputeLog(h.Name, fmt.Sprintf("%s.%03d 1 %s %s [-] [instance: %s] %s", now.Format("2006-01-02 15:04:05"),
		now.Nanosecond()/int(time.Millisecond), level, module, instance, fmt.Sprintf(format, args...)))
}

const (
	managerModule = "nova.compute.manager"
	driverModule  = "nova.virt.libvirt.driver"
)
