package openstack

import "time"

// stopGuest ends a guest: SHUTOFF after some seconds, unless it is one that cannot be stopped.
func (c *Cloud) stopGuest(now time.Time, s *server, a *action) {
	e := a.event("compute_stop_instance", now, s.host)
	s.setTask(now, "powering-off")
	c.later(now, s, c.between(2*time.Second, 8*time.Second, "stop", s.id), func(t time.Time) {
		if f := &s.behaviour.FailStop; f.due() {
			text := f.Text
			if text == "" {
				text = "Instance " + s.id + " could not be found."
			}
			s.setTask(t, "")
			a.finishEvent(e, t, &text)
			return
		}
		s.set(t, vmStopped, "", powerShutdown)
		a.finishEvent(e, t, nil)
	})
}

func (c *Cloud) startGuest(now time.Time, s *server, a *action) {
	c.change(now, s, a, "compute_start_instance", "powering-on", c.between(time.Second, 4*time.Second, "start", s.id), vmActive, powerRunning)
}

// change is an action that does one thing on the host and ends in a state.
func (c *Cloud) change(now time.Time, s *server, a *action, event, task string, length time.Duration, vm string, power int) {
	e := a.event(event, now, s.host)
	s.setTask(now, task)
	c.later(now, s, length, func(t time.Time) {
		s.set(t, vm, "", power)
		a.finishEvent(e, t, nil)
	})
}

// later does something for a server on its host after a while, or when the host is back; not if the server is gone by then.
func (c *Cloud) later(now time.Time, s *server, length time.Duration, do func(t time.Time)) {
	c.events.at(now.Add(length), func(t time.Time) {
		c.whenReady(t, s.host, func(t time.Time) {
			if !s.deleted {
				do(t)
			}
		})
	})
}

// offload takes a shelved server off its host.
func (c *Cloud) offload(now time.Time, s *server, a *action) {
	e := a.event("compute_shelve_offload_instance", now, s.host)
	s.setTask(now, "shelving_offloading")
	c.later(now, s, 3*time.Second, func(t time.Time) {
		if s.host != nil {
			claim(s.host, s.flavor, -1)
			c.place(s, nil)
		}
		s.set(t, vmOffloaded, "", powerShutdown)
		a.finishEvent(e, t, nil)
	})
}

// unshelve starts a shelved server, where it is or wherever there is room.
func (c *Cloud) unshelve(now time.Time, s *server, a *action) {
	if s.host != nil {
		c.change(now, s, a, "compute_unshelve_instance", "powering-on", 4*time.Second, vmActive, powerRunning)
		return
	}
	e := a.event("conductor_unshelve_instance", now, nil)
	s.setTask(now, "unshelving")
	c.later(now, s, time.Second, func(t time.Time) {
		h := c.pick(t, s, s.flavor, "", nil)
		if h == nil {
			text := noValidHost
			s.setTask(t, "")
			a.finishEvent(e, t, &text)
			return
		}
		claim(h, s.flavor, 1)
		c.place(s, h)
		a.finishEvent(e, t, nil)
		c.change(t, s, a, "compute_unshelve_instance", "spawning", 12*time.Second, vmActive, powerRunning)
	})
}

// evacuate rebuilds a server of a dead host on another one.
func (c *Cloud) evacuate(now time.Time, s *server, a *action, wanted string) {
	m := c.newMigration(now, s, "evacuation", a.userID, a.projectID)
	s.setTask(now, "rebuilding")
	e := a.event("conductor_rebuild_server", now, nil)
	stopped := s.vm == vmStopped
	c.events.at(now.Add(time.Second), func(t time.Time) {
		if s.deleted {
			return
		}
		m.dest = c.pick(t, s, s.flavor, wanted, s.host)
		if m.dest == nil {
			text := noValidHost
			m.set(t, "error")
			s.set(t, vmError, "", s.power)
			s.fault = &fault{code: 500, message: text, created: t}
			a.finishEvent(e, t, &text)
			return
		}
		a.finishEvent(e, t, nil)
		claim(m.dest, s.flavor, 1)
		m.set(t, "pre-migrating")
		s.setTask(t, "rebuild_spawning")
		e := a.event("compute_rebuild_instance", t, m.dest)
		c.events.at(t.Add(15*time.Second), func(t time.Time) {
			c.whenReady(t, m.dest, func(t time.Time) {
				if s.deleted {
					claim(m.dest, s.flavor, -1)
					return
				}
				claim(m.source, s.flavor, -1)
				c.place(s, m.dest)
				m.set(t, "done")
				if stopped {
					s.set(t, vmStopped, "", powerShutdown)
				} else {
					s.set(t, vmActive, "", powerRunning)
				}
				s.fault = nil
				a.finishEvent(e, t, nil)
			})
		})
	})
}

// destroy removes a server. It stays known as deleted, for changes-since and for its actions.
func (c *Cloud) destroy(now time.Time, s *server) {
	if s.deleted {
		return
	}
	if m := s.migration; m != nil {
		m.timer.cancel()
		if m.kind != "live-migration" && m.dest != nil && s.host == m.dest && m.source != m.dest {
			claim(m.source, m.oldFlavor, -1)
		} else if m.claimed {
			claim(m.dest, m.newFlavor, -1)
		}
		m.claimed = false
		m.set(now, "error")
		c.leaveQueue(now, m)
		s.migration = nil
	}
	if s.host != nil {
		claim(s.host, s.flavor, -1)
		c.place(s, nil)
	}
	s.set(now, vmDeleted, "", powerNoState)
	s.deleted, s.terminated = true, now
}
