package openstack

import "time"

// evacuate rebuilds a server of a dead host on another one.
func (c *Cloud) evacuate(now time.Time, s *server, a *action, wanted string) {
	m := c.newMigration(now, s, "evacuation", a.userID, a.projectID)
	s.setTask(now, "rebuilding")
	e := a.event("rebuild_server", now, c.control())
	stopped := s.vm == vmStopped
	c.events.at(now.Add(time.Second), func(t time.Time) {
		if s.deleted {
			m.set(t, "failed")
			return
		}
		var failure string
		if m.dest, failure = c.pick(t, s, s.flavor, wanted, s.host); m.dest == nil {
			m.set(t, "error")
			s.set(t, vmError, "", s.power)
			s.fault = &fault{code: 500, message: failure, created: t}
			a.finishEvent(e, t, &failure)
			return
		}
		a.finishEvent(e, t, nil)
		claim(m.dest, s, s.flavor, 1)
		m.set(t, "pre-migrating")
		s.setTask(t, "rebuild_spawning")
		e := a.event("compute_rebuild_instance", t, m.dest)
		c.events.at(t.Add(15*time.Second), func(t time.Time) {
			c.whenReady(t, m.dest, func(t time.Time) { c.evacuated(t, m, a, e, stopped) })
		})
	})
}

// evacuated is the end of an evacuation on its target. The server is stopped again if it was stopped before.
func (c *Cloud) evacuated(now time.Time, m *migration, a *action, e *actionEvent, stopped bool) {
	s := m.server
	if s.deleted {
		m.set(now, "failed")
		claim(m.dest, s, s.flavor, -1)
		return
	}
	claim(m.source, s, s.flavor, -1)
	c.place(s, m.dest)
	m.set(now, "done")
	s.fault = nil
	a.finishEvent(e, now, nil)
	if stopped {
		s.set(now, vmStopped, "", powerShutdown)
		a.finishEvent(a.event("compute_stop_instance", now, m.dest), now, nil)
		return
	}
	s.set(now, vmActive, "", powerRunning)
}

// evacuatedFrom tells whether servers were evacuated from a host whose nova-compute has not started since: the host may
// still have their guests.
func (c *Cloud) evacuatedFrom(h *host) bool {
	for _, m := range c.migs {
		if m.kind == "evacuation" && m.source == h && m.status == "done" && !m.server.deleted {
			return true
		}
	}
	return false
}

// settleEvacuations is what nova-compute does at its start: it removes the guests that were evacuated from its host.
func (c *Cloud) settleEvacuations(now time.Time, h *host) {
	for _, m := range c.migs {
		if m.kind == "evacuation" && m.source == h && m.status == "done" {
			m.set(now, "completed")
		}
	}
}
