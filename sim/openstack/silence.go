package openstack

import (
	"fmt"
	"slices"
)

// StopAgents makes a host's network agents dead at once, as if they had not reported for a while. An unknown host is an
// error.
func (c *Cloud) StopAgents(name string) error {
	return c.stopAgents(name, func(*agent) bool { return true })
}

// StopAgentsNamed is StopAgents for the host's agents with one of the binaries.
func (c *Cloud) StopAgentsNamed(name string, binaries []string) error {
	return c.stopAgents(name, func(a *agent) bool { return slices.Contains(binaries, a.binary) })
}

func (c *Cloud) stopAgents(name string, meant func(*agent) bool) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		return fmt.Errorf("openstack: stop agents: no host %q", name)
	}
	agents := slices.DeleteFunc(slices.Clone(h.agents), func(a *agent) bool { return !meant(a) })
	c.silence(h, now.Add(-agentDownTime-1), nil, agents)
	return nil
}

// HoldAgents keeps a host's network agents down from the host's next start on, until StartAgents. An unknown host is an
// error.
func (c *Cloud) HoldAgents(name string) error {
	return c.hold(name, func(h *host) { h.holdAgents = true })
}

// HoldCompute does the same for its nova-compute, until StartCompute.
func (c *Cloud) HoldCompute(name string) error {
	return c.hold(name, func(h *host) { h.holdCompute = true })
}

func (c *Cloud) hold(name string, set func(*host)) error {
	c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		return fmt.Errorf("openstack: hold: no host %q", name)
	}
	set(h)
	return nil
}

// StartAgents makes a host's network agents report again. A host that is off or unknown is an error.
func (c *Cloud) StartAgents(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil || !h.on {
		return fmt.Errorf("openstack: start agents: no running host %q", name)
	}
	h.holdAgents = false
	for _, a := range h.agents {
		if !a.running {
			a.running, a.started = true, now
		}
	}
	return nil
}
