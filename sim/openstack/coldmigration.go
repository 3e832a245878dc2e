package openstack

import "time"

// coldMigrate stops a server and moves it, or resizes it if the flavor differs. If there is no host for it, only the
// record shows that.
func (c *Cloud) coldMigrate(now time.Time, s *server, a *action, f *flavor, wanted string) {
	kind := "migration"
	if f != s.flavor {
		kind = "resize"
	}
	m := c.newMigration(now, s, kind, a.userID, a.projectID)
	m.newFlavor, m.action, m.wanted = f, a, wanted
	conductor := a.event("conductor_migrate_server", now, c.control())
	m.step = a.event("cold_migrate", now, c.control())
	s.migration, s.priorVM = m, s.vm
	s.setTask(now, "resize_prep")
	m.timer = c.events.at(now.Add(scheduling), func(t time.Time) {
		var failure string
		if m.dest, failure = c.pick(t, s, f, wanted, s.host); m.dest == nil {
			a.finishEvent(conductor, t, &failure)
			c.returnCold(t, m, failure)
			return
		}
		claim(m.dest, s, f, 1)
		m.claimed = true
		a.finishEvent(m.step, t, nil)
		a.finishEvent(conductor, t, nil)
		m.step = a.event("compute_prep_resize", t, m.dest)
		m.set(t, "pre-migrating")
		m.timer = c.events.at(t.Add(800*time.Millisecond), func(t time.Time) { c.stepOn(t, m, m.source, func(t time.Time) { c.copyCold(t, m) }) })
	})
}

// copyCold is the source's part: it stops the guest and sends its disk.
func (c *Cloud) copyCold(now time.Time, m *migration) {
	s := m.server
	m.action.finishEvent(m.step, now, nil)
	m.step = m.action.event("compute_resize_instance", now, m.source)
	m.set(now, "migrating")
	s.setTask(now, "resize_migrating")
	length := c.between(6*time.Second, 14*time.Second, "cold", s.id)
	if s.behaviour.LocalDisk {
		length += time.Duration(float64(s.flavor.Disk)*1024/float64(c.opts.Bandwidth)) * time.Second
	}
	if f := &s.behaviour.FailCold; f.due() {
		text := f.Text
		if text == "" {
			text = "Instance rollback performed due to: Unexpected error while running command."
		}
		m.timer = c.events.at(now.Add(time.Duration(float64(length)*min(max(f.At, 0), 1))), func(t time.Time) { c.returnCold(t, m, text) })
		return
	}
	m.timer = c.events.at(now.Add(length), func(t time.Time) {
		m.action.finishEvent(m.step, t, nil)
		m.step = m.action.event("compute_finish_resize", t, m.dest)
		m.set(t, "post-migrating")
		s.set(t, s.vm, "resize_migrated", powerShutdown)
		c.place(s, m.dest)
		s.flavor = m.newFlavor
		m.timer = c.events.at(t.Add(time.Second), func(t time.Time) { c.stepOn(t, m, m.dest, func(t time.Time) { c.finishCold(t, m) }) })
	})
}

// finishCold is the target's part: it starts the guest.
func (c *Cloud) finishCold(now time.Time, m *migration) {
	s := m.server
	s.setTask(now, "resize_finish")
	m.timer = c.events.at(now.Add(c.between(2*time.Second, 5*time.Second, "finish", s.id)), func(t time.Time) {
		if f := &s.behaviour.FailFinish; f.due() {
			text := f.Text
			if text == "" {
				text = "internal error: process exited while connecting to monitor"
			}
			m.set(t, "error")
			s.migration = nil
			claim(m.source, m.server, m.oldFlavor, -1)
			m.claimed = false
			s.set(t, vmError, "", powerShutdown)
			s.fault = &fault{code: 500, message: text, details: "in finish_resize on " + m.dest.Name, created: t}
			m.action.finishEvent(m.step, t, &text)
			return
		}
		power := powerRunning
		if s.priorVM == vmStopped {
			power = powerShutdown
		}
		m.set(t, "finished")
		s.set(t, vmResized, "", power)
		m.action.finishEvent(m.step, t, nil)
	})
}

// returnCold ends a migration that left the server unchanged.
func (c *Cloud) returnCold(now time.Time, m *migration, text string) {
	s := m.server
	if m.claimed {
		claim(m.dest, m.server, m.newFlavor, -1)
		m.claimed = false
	} else {
		m.dest = nil
	}
	m.set(now, "error")
	s.setTask(now, "")
	s.migration = nil
	m.action.finishEvent(m.step, now, &text)
}

// confirmCold releases the source of a finished migration.
func (c *Cloud) confirmCold(now time.Time, m *migration, a *action) {
	e := a.event("compute_confirm_resize", now, m.source)
	m.set(now, "confirming")
	m.timer = c.events.at(now.Add(700*time.Millisecond), func(t time.Time) {
		c.stepOn(t, m, m.source, func(t time.Time) {
			s := m.server
			claim(m.source, m.server, m.oldFlavor, -1)
			m.claimed = false
			m.set(t, "confirmed")
			s.set(t, s.afterResize(), "", s.power)
			s.migration = nil
			a.finishEvent(e, t, nil)
		})
	})
}

// revertCold moves a server back to its source.
func (c *Cloud) revertCold(now time.Time, m *migration, a *action) {
	s := m.server
	e := a.event("compute_revert_resize", now, m.dest)
	m.set(now, "reverting")
	s.setTask(now, "resize_reverting")
	m.timer = c.events.at(now.Add(c.between(3*time.Second, 6*time.Second, "revert", s.id)), func(t time.Time) {
		c.stepOn(t, m, m.source, func(t time.Time) {
			claim(m.dest, m.server, m.newFlavor, -1)
			m.claimed = false
			m.set(t, "reverted")
			c.place(s, m.source)
			s.flavor = m.oldFlavor
			s.set(t, s.afterResize(), "", s.power)
			s.migration = nil
			a.finishEvent(e, t, nil)
			a.finishEvent(a.event("compute_finish_revert_resize", t, m.source), t, nil)
			if s.vm == vmStopped {
				a.finishEvent(a.event("compute_stop_instance", t, m.source), t, nil)
			}
		})
	})
}

// afterResize is the state of a server once its resize is settled: stopped if it was, active otherwise.
func (s *server) afterResize() string {
	if s.power == powerShutdown {
		return vmStopped
	}
	return vmActive
}

// stepOn does the next step of a migration on a host, or waits until the host is back; it does nothing if the server is
// gone by then.
func (c *Cloud) stepOn(now time.Time, m *migration, h *host, do func(t time.Time)) {
	c.whenReady(now, h, func(t time.Time) {
		if !m.server.deleted {
			do(t)
		}
	})
}
