package openstack

import "time"

// stopGuest ends a guest: SHUTOFF after some seconds, unless the guest cannot be stopped.
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

// later runs work for a server on its host after a while, or when the host is back, unless the server is gone by then.
func (c *Cloud) later(now time.Time, s *server, length time.Duration, do func(t time.Time)) {
	c.events.at(now.Add(length), func(t time.Time) {
		c.whenReady(t, s.host, func(t time.Time) {
			if !s.deleted {
				do(t)
			}
		})
	})
}

// destroy removes a server. It remains as deleted, for changes-since and for its actions.
func (c *Cloud) destroy(now time.Time, s *server) {
	if s.deleted {
		return
	}
	if m := s.migration; m != nil {
		m.timer.cancel()
		if m.kind != "live-migration" && m.dest != nil && s.host == m.dest && m.source != m.dest {
			claim(m.source, m.server, m.oldFlavor, -1)
		} else if m.claimed {
			claim(m.dest, m.server, m.newFlavor, -1)
		}
		m.claimed = false
		m.set(now, "error")
		c.leaveQueue(now, m)
		s.migration = nil
	}
	if s.host != nil {
		claim(s.host, s, s.flavor, -1)
		c.place(s, nil)
	}
	s.set(now, vmDeleted, "", powerNoState)
	s.deleted, s.terminated = true, now
}
