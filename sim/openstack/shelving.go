package openstack

import "time"

// shelve stops a server and removes it from its host, like Nova with shelved_offload_time set to 0.
func (c *Cloud) shelve(now time.Time, s *server, a *action) {
	e := a.event("compute_shelve_instance", now, s.host)
	s.setTask(now, "shelving")
	c.later(now, s, 5*time.Second, func(t time.Time) {
		s.set(t, vmShelved, "", powerShutdown)
		c.offload(t, s, a, e)
	})
}

// offload removes a shelved server from its host.
func (c *Cloud) offload(now time.Time, s *server, a *action, e *actionEvent) {
	s.setTask(now, "shelving_offloading")
	c.later(now, s, 3*time.Second, func(t time.Time) {
		if s.host != nil {
			claim(s.host, s, s.flavor, -1)
			c.place(s, nil)
		}
		s.set(t, vmOffloaded, "", powerShutdown)
		a.finishEvent(e, t, nil)
	})
}

// unshelve starts a shelved server on its host, or on any host with room.
func (c *Cloud) unshelve(now time.Time, s *server, a *action) {
	if s.host != nil {
		c.change(now, s, a, "compute_unshelve_instance", "powering-on", 4*time.Second, vmActive, powerRunning)
		return
	}
	if s.imageID != "" {
		a.finishEvent(a.event("get_image_info", now, c.control()), now, nil)
	}
	e := a.event("schedule_instances", now, c.control())
	s.setTask(now, "unshelving")
	c.later(now, s, time.Second, func(t time.Time) {
		h, failure := c.pick(t, s, s.flavor, "", nil)
		if h == nil {
			s.setTask(t, "")
			a.finishEvent(e, t, &failure)
			return
		}
		claim(h, s, s.flavor, 1)
		c.place(s, h)
		a.finishEvent(e, t, nil)
		c.change(t, s, a, "compute_unshelve_instance", "spawning", 12*time.Second, vmActive, powerRunning)
	})
}
