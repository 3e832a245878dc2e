package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	reportInterval = 10 * time.Second // of Nova's services
	agentInterval  = 30 * time.Second // of Neutron's agents
	agentDownTime  = 75 * time.Second
	startDelay     = 12 * time.Second // from power on until the pods of a host report
)

// AddHost adds a compute host with its nova-compute service and its network agents. The name must be new.
func (c *Cloud) AddHost(spec HostSpec) error {
	spec.Zone = cmp.Or(spec.Zone, "nova")
	if spec.VCPUs <= 0 || spec.RAM <= 0 || spec.Disk <= 0 {
		return fmt.Errorf("openstack: add host %q: it needs vCPUs, RAM and disk", spec.Name)
	}
	now := c.lock()
	defer c.mu.Unlock()
	h, err := c.addMachine(now, spec)
	if err != nil {
		return err
	}
	h.compute = c.addService(h, "nova-compute", spec.Zone)
	c.joinZone(now, h)
	c.addAgent(now, h, "Open vSwitch agent", "neutron-openvswitch-agent")
	c.addAgent(now, h, "Metadata agent", "neutron-metadata-agent")
	return nil
}

// AddGateway adds a network node with its agents and no compute service. The name must be new.
func (c *Cloud) AddGateway(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h, err := c.addMachine(now, HostSpec{Name: name})
	if err != nil {
		return err
	}
	for _, a := range [][2]string{
		{"Open vSwitch agent", "neutron-openvswitch-agent"}, {"L3 agent", "neutron-l3-agent"},
		{"DHCP agent", "neutron-dhcp-agent"}, {"Metadata agent", "neutron-metadata-agent"},
	} {
		c.addAgent(now, h, a[0], a[1])
	}
	return nil
}

// AddController adds a control plane node with nova-scheduler and nova-conductor. The name must be new.
func (c *Cloud) AddController(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h, err := c.addMachine(now, HostSpec{Name: name})
	if err != nil {
		return err
	}
	c.addService(h, "nova-conductor", "internal")
	c.addService(h, "nova-scheduler", "internal")
	return nil
}

func (c *Cloud) addMachine(now time.Time, spec HostSpec) (*host, error) {
	if spec.Name == "" || c.hosts[spec.Name] != nil {
		return nil, fmt.Errorf("openstack: add host %q: it has no name or exists", spec.Name)
	}
	n := len(c.hostOrder) + 1
	h := &host{HostSpec: spec, number: n, uuid: c.uuid("compute-node", spec.Name), address: fmt.Sprintf("10.10.%d.%d", n>>8, n&0xff),
		created: now, on: true, servers: make(map[*server]bool)}
	c.hosts[spec.Name] = h
	c.hostOrder = append(c.hostOrder, h)
	return h, nil
}

func (c *Cloud) addService(h *host, binary, zone string) *service {
	number := 1
	for _, other := range c.services {
		number = max(number, other.number+1)
	}
	s := &service{number: number, uuid: c.uuid("service", binary+"@"+h.Name), binary: binary, host: h, zone: zone, running: true}
	c.services = append(c.services, s)
	h.services = append(h.services, s)
	return s
}

func (c *Cloud) addAgent(now time.Time, h *host, kind, binary string) {
	a := &agent{id: c.uuid("agent", binary+"@"+h.Name), kind: kind, binary: binary, host: h, running: true, created: now, started: now}
	c.agents = append(c.agents, a)
	h.agents = append(h.agents, a)
}

// lastReport is the time of the last report of something that reports at an interval.
func lastReport(now time.Time, running bool, stopped time.Time, interval time.Duration, number int) time.Time {
	if !running {
		return stopped
	}
	phase := time.Duration(number) * 1700 * time.Millisecond % interval // not all at the same moment
	return now.Add(-phase).Truncate(interval).Add(phase)
}

func (s *service) seen(now time.Time) time.Time {
	return lastReport(now, s.running, s.stopped, reportInterval, s.number)
}

// up is Nova's view of a service: it exists, has reported lately, and is not forced down.
func (c *Cloud) up(s *service, now time.Time) bool {
	return s != nil && !s.forcedDown && now.Sub(s.seen(now)) <= c.opts.ServiceDownTime
}

func (a *agent) seen(now time.Time) time.Time {
	return lastReport(now, a.running, a.stopped, agentInterval, a.host.number)
}

func (a *agent) alive(now time.Time) bool { return now.Sub(a.seen(now)) <= agentDownTime }

// PowerOffHost shuts a host down as systemd does with MOSK's nova-compute inhibitor: the running guests get an ACPI
// shutdown, Nova sees them SHUTOFF with power state 4, and they are recorded to be started again; then services and
// agents stop reporting. Guests that the inhibitor cannot stop keep their status until the host is back. It does
// nothing if the host is off; an unknown host is an error.
func (c *Cloud) PowerOffHost(name string) error {
	return c.powerOff(name, true)
}

// CrashHost cuts the power of a host: its guests are gone, but Nova still shows their last state, and nothing starts
// them again. It does nothing if the host is off; an unknown host is an error.
func (c *Cloud) CrashHost(name string) error {
	return c.powerOff(name, false)
}

func (c *Cloud) powerOff(name string, graceful bool) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		return fmt.Errorf("openstack: power off: no host %q", name)
	}
	if !h.on {
		return nil
	}
	h.boot++
	h.guests = nil
	for _, s := range c.serversOn(h) {
		if m := s.migration; m != nil {
			c.hostLost(now, m, h)
		}
		if graceful && s.power == powerRunning {
			h.guests = append(h.guests, s)
			c.acpiShutdown(now, s)
		}
	}
	for _, m := range slices.Clone(c.incoming(h)) {
		c.hostLost(now, m, h)
	}
	h.on = false
	c.silence(h, now.Add(6*time.Second), h.services, h.agents)
	return nil
}

// acpiShutdown ends a guest that was told to shut down. Nova's state follows, unless a task or an error keeps it.
func (c *Cloud) acpiShutdown(now time.Time, s *server) {
	c.events.at(now.Add(c.between(time.Second, 5*time.Second, "acpi", s.id)), func(t time.Time) {
		if s.deleted || s.power != powerRunning {
			return
		}
		vm := s.vm
		if vm == vmActive && s.task == "" {
			vm = vmStopped
		}
		s.set(t, vm, s.task, powerShutdown)
	})
}

func (c *Cloud) silence(h *host, at time.Time, services []*service, agents []*agent) {
	for _, s := range services {
		s.running, s.stopped = false, at
	}
	for _, a := range agents {
		a.running, a.stopped = false, at
	}
}

// PowerOnHost starts a host: after some seconds its services and agents report again, and then the guests that the
// inhibitor recorded are started. It does nothing if the host is on; an unknown host is an error.
func (c *Cloud) PowerOnHost(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		return fmt.Errorf("openstack: power on: no host %q", name)
	}
	if h.on {
		return nil
	}
	h.on = true
	h.boot++
	boot := h.boot
	c.events.at(now.Add(startDelay), func(t time.Time) {
		if h.boot != boot {
			return
		}
		for _, s := range h.services {
			s.running = s != h.compute || !h.holdCompute
		}
		for _, a := range h.agents {
			if !h.holdAgents {
				a.running, a.started = true, t
			}
		}
		if !h.holdCompute {
			c.computeStarted(t, h, true)
		}
	})
	return nil
}

// StopCompute stops nova-compute on a host; its guests keep running. A host that is not a compute host is an error.
func (c *Cloud) StopCompute(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil || h.compute == nil {
		return fmt.Errorf("openstack: stop compute: no compute host %q", name)
	}
	if h.compute.running {
		c.silence(h, now, []*service{h.compute}, nil)
	}
	return nil
}

// ForgetCompute deletes the nova-compute service of a host while it runs, as an administrator can: Nova knows no
// compute there until nova-compute is restarted. A host with instances or open migrations, or a host that is not a
// compute host, is an error.
func (c *Cloud) ForgetCompute(name string) error {
	c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil || h.compute == nil || len(h.servers) > 0 || c.migrates(h) {
		return fmt.Errorf("openstack: forget compute: no empty compute host %q", name)
	}
	c.forget(h.compute)
	return nil
}

// forget deletes a service. With its nova-compute a host leaves every aggregate, and so its zone.
func (c *Cloud) forget(s *service) {
	if h := s.host; s == h.compute {
		h.compute, h.forgotten, h.Zone = nil, true, defaultZone
		for _, a := range c.aggregates {
			a.hosts = slices.DeleteFunc(slices.Clone(a.hosts), func(name string) bool { return name == h.Name })
		}
	}
	c.services = slices.DeleteFunc(c.services, func(o *service) bool { return o == s })
	s.host.services = slices.DeleteFunc(s.host.services, func(o *service) bool { return o == s })
}

// StartCompute starts nova-compute again after StopCompute, or after its service was deleted: then it registers again,
// in the default zone. A host that is off, or that is not a compute host, is an error.
func (c *Cloud) StartCompute(name string) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h != nil && h.compute == nil && h.forgotten && h.on {
		h.compute, h.forgotten = c.addService(h, "nova-compute", h.Zone), false
		return nil
	}
	if h == nil || h.compute == nil || !h.on {
		return fmt.Errorf("openstack: start compute: no running compute host %q", name)
	}
	if !h.compute.running {
		booted := h.holdCompute
		h.compute.running, h.holdCompute = true, false
		c.computeStarted(now, h, booted)
	}
	return nil
}

// computeStarted is what happens when nova-compute starts: after a boot it notices that the guests are gone; it does
// the waiting work; and it starts the guests that the inhibitor recorded.
func (c *Cloud) computeStarted(now time.Time, h *host, booted bool) {
	waiting := h.waiting
	h.waiting = nil
	c.settleEvacuations(now, h)
	if booted && h.compute != nil {
		c.guestsGone(now, h)
	}
	for _, do := range waiting {
		do(now)
	}
	if booted && h.compute != nil {
		c.startRecorded(now, h)
	}
}

// guestsGone is nova-compute's comparison of the guests that should run with those that do: none, after a boot.
func (c *Cloud) guestsGone(now time.Time, h *host) {
	for _, s := range c.serversOn(h) {
		switch {
		case s.vm == vmActive && s.task == "", s.vm == vmPaused && s.task == "":
			s.set(now, vmStopped, "", powerShutdown)
		case s.power == powerRunning:
			s.set(now, s.vm, s.task, powerShutdown)
		}
	}
}

// startRecorded starts the guests that the inhibitor recorded, after its wait for nova-compute.
func (c *Cloud) startRecorded(now time.Time, h *host) {
	guests, boot := h.guests, h.boot
	h.guests = nil
	wait := c.between(10*time.Second, 30*time.Second, "inhibitor", h.Name)
	for i, s := range guests {
		c.events.at(now.Add(wait+time.Duration(i)*time.Second), func(t time.Time) {
			if h.boot == boot && s.host == h && s.vm == vmStopped && s.task == "" {
				a := c.begin(s, action{name: "start", requestID: c.requestOf(s), userID: c.userByName("admin").id, start: t})
				c.startGuest(t, s, a)
			} else if s.host == h && s.vm != vmStopped && s.power == powerShutdown && !s.deleted {
				s.set(t, s.vm, s.task, powerRunning)
			}
		})
	}
}

// whenReady runs work on a host's nova-compute: at once, or when it is back.
func (c *Cloud) whenReady(now time.Time, h *host, do func(t time.Time)) {
	if h == nil || h.ready() {
		do(now)
		return
	}
	h.waiting = append(h.waiting, do)
}

// place moves a server from its host to another one.
func (c *Cloud) place(s *server, h *host) {
	if s.host != nil {
		delete(s.host.servers, s)
	}
	if s.host = h; h != nil {
		h.servers[s] = true
	}
}

// serversOn lists the servers of a host as Nova does: newest first.
func (c *Cloud) serversOn(h *host) []*server {
	list := make([]*server, 0, len(h.servers))
	for s := range h.servers {
		list = append(list, s)
	}
	slices.SortFunc(list, newestFirst)
	return list
}

func newestFirst(a, b *server) int {
	return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.number, a.number))
}

// incoming lists the running migrations to a host.
func (c *Cloud) incoming(h *host) []*migration {
	var list []*migration
	for _, o := range c.hostOrder {
		for _, m := range o.live {
			if m.dest == h {
				list = append(list, m)
			}
		}
	}
	return list
}
