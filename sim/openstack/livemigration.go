package openstack

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	scheduling      = 150 * time.Millisecond
	preparing       = 700 * time.Millisecond
	afterCompletion = 250 * time.Millisecond // the server is on the target while the record still says running
	abortTime       = 400 * time.Millisecond
	completionLimit = 800 * time.Second // per GiB: Nova's live_migration_completion_timeout
)

func (c *Cloud) newMigration(now time.Time, s *server, kind, userID, projectID string) *migration {
	m := &migration{number: len(c.migs) + 1, server: s, kind: kind, status: "accepted", source: s.host, created: now,
		oldFlavor: s.flavor, newFlavor: s.flavor, userID: userID, projectID: projectID}
	m.uuid = c.uuid("migration", s.id)
	c.migs = append(c.migs, m)
	c.migByUUID[m.uuid] = m
	return m
}

// refusal is why a live migration is impossible, in the words of Nova's exceptions.
type refusal struct {
	status int // of the answer, if it has not been sent yet
	text   string
}

// liveMigrate starts a live migration to the wanted host or to one that the scheduler picks. With sync set (before
// 2.34) the caller gets the refusal; otherwise only the record shows it.
func (c *Cloud) liveMigrate(now time.Time, s *server, a *action, wanted string, forced, sync bool) *refusal {
	m := c.newMigration(now, s, "live-migration", a.userID, a.projectID)
	m.action, m.wanted, m.forced = a, wanted, forced
	step := "conductor_live_migrate_instance"
	if sync {
		step = "conductor_migrate_server"
	}
	m.step = a.event(step, now, c.control())
	s.migration = m
	s.setTask(now, "migrating")
	if !sync {
		m.timer = c.events.at(now.Add(scheduling), func(t time.Time) {
			if no := c.scheduleLive(t, m); no != nil {
				c.refuseLive(t, m, no)
			}
		})
		return nil
	}
	no := c.scheduleLive(now, m)
	if no != nil {
		c.refuseLive(now, m, no)
	}
	return no
}

// scheduleLive finds the target, claims it and queues the migration at its source.
func (c *Cloud) scheduleLive(now time.Time, m *migration) *refusal {
	s, source := m.server, m.source
	if s.power != powerRunning && s.power != powerPaused {
		return &refusal{http.StatusConflict,
			fmt.Sprintf("Instance %s in power_state %s. Cannot live migrate while the instance is in this state.",
				s.id, powerName(s.power))}
	}
	if !c.up(source.compute, now) {
		return &refusal{http.StatusBadRequest, unavailable(source.Name)}
	}
	if m.forced {
		m.dest = c.hosts[m.wanted]
		switch {
		case m.dest == source:
			return &refusal{http.StatusBadRequest, fmt.Sprintf("Unable to migrate instance (%s) to current host (%s).", s.id, source.Name)}
		case !c.up(m.dest.compute, now):
			m.dest = nil
			return &refusal{http.StatusBadRequest, unavailable(m.wanted)}
		}
	} else {
		var failure string
		if m.dest, failure = c.pick(now, s, s.flavor, m.wanted, source); m.dest == nil {
			return &refusal{http.StatusBadRequest, failure}
		}
	}
	claim(m.dest, s, s.flavor, 1)
	m.claimed = true
	m.action.finishEvent(m.action.event("compute_check_can_live_migrate_destination", now, m.dest), now, nil)
	m.action.finishEvent(m.action.event("compute_check_can_live_migrate_source", now, source), now, nil)
	m.action.finishEvent(m.step, now, nil)
	m.step = nil
	// For the source, the event ends when the migration is in its queue.
	m.action.finishEvent(m.action.event("compute_live_migration", now, source), now, nil)
	m.set(now, "queued")
	source.live = append(source.live, m)
	if len(source.live) == 1 {
		c.prepareLive(now, m)
	}
	return nil
}

func unavailable(host string) string {
	return fmt.Sprintf("Compute service of %s is unavailable at this time.", host)
}

// refuseLive ends a migration that never reached a compute host.
func (c *Cloud) refuseLive(now time.Time, m *migration, no *refusal) {
	m.dest = nil
	m.set(now, "error")
	m.server.setTask(now, "")
	m.server.migration = nil
	m.action.finishEvent(m.step, now, &no.text)
}

// prepareLive prepares the first migration of its source's queue on its target, where it can fail with a reason.
func (c *Cloud) prepareLive(now time.Time, m *migration) {
	m.set(now, "preparing")
	m.step = m.action.event("compute_pre_live_migration", now, m.dest)
	m.timer = c.events.at(now.Add(preparing), func(t time.Time) {
		if !m.dest.ready() {
			c.failLive(t, m, "failed", unavailable(m.dest.Name))
			return
		}
		if f := &m.server.behaviour.FailLive; f.At <= 0 && f.due() {
			c.failLive(t, m, "failed", cmp.Or(f.Text, "Instance CPU is not compatible with that of "+m.dest.Name))
			return
		}
		m.action.finishEvent(m.step, t, nil)
		m.step = nil
		c.say(t, m.source, "INFO", managerModule, m.server.id, "Took %.2f seconds for pre_live_migration on destination host %s.",
			preparing.Seconds(), m.dest.Name)
		c.runLive(t, m)
	})
}

// runLive copies. A failure from now on shows only in the record: the reason is in the log of the host.
func (c *Cloud) runLive(now time.Time, m *migration) {
	s := m.server
	attempt := strconv.Itoa(m.number)
	m.live = c.newTransfer(now, s, attempt)
	m.set(now, "running")
	c.say(now, m.source, "INFO", driverModule, s.id, "Migration running for 0 secs, memory 100%% remaining")
	length, ends := m.live.duration()
	if f := &s.behaviour.FailLive; f.At > 0 && f.due() {
		if !ends {
			length = time.Minute
		}
		m.timer = c.events.at(now.Add(time.Duration(float64(length)*min(f.At, 1))), func(t time.Time) { c.failLive(t, m, "failed", "") })
		return
	}
	if !ends {
		gib := max((s.flavor.RAM+1023)/1024, 2)
		m.timer = c.events.at(now.Add(time.Duration(gib)*completionLimit), func(t time.Time) {
			c.failLive(t, m, "cancelled", "")
		})
		return
	}
	m.timer = c.events.at(now.Add(length), func(t time.Time) { c.arriveLive(t, m) })
}

// arriveLive puts the server on its target; the record follows a moment later.
func (c *Cloud) arriveLive(now time.Time, m *migration) {
	s := m.server
	claim(m.source, s, s.flavor, -1)
	m.claimed = false
	c.place(s, m.dest)
	s.setTask(now, "")
	c.say(now, m.source, "INFO", driverModule, s.id, "Migration operation has completed")
	c.say(now, m.source, "INFO", managerModule, s.id, "_post_live_migration() is started..")
	c.say(now, m.dest, "INFO", managerModule, s.id, "Post operation of migration started")
	c.say(now, m.source, "INFO", managerModule, s.id, "Migrating instance to %s finished successfully.", m.dest.Name)
	m.action.finishEvent(m.action.event("compute_post_live_migration_at_destination", now, m.dest), now, nil)
	m.timer = c.events.at(now.Add(afterCompletion), func(t time.Time) {
		m.set(t, "completed")
		c.leaveQueue(t, m)
	})
}

// failLive ends a migration and leaves the server on its source. The text is the reason of the failed step, if any.
func (c *Cloud) failLive(now time.Time, m *migration, status, text string) {
	m.timer.cancel()
	switch {
	case m.status == "preparing":
		c.say(now, m.source, "ERROR", managerModule, m.server.id, "Pre live migration failed at %s: %s", m.dest.Name, text)
	case status == "cancelled":
		c.say(now, m.source, "WARNING", driverModule, m.server.id, "Migration operation was cancelled")
	default:
		c.say(now, m.source, "ERROR", driverModule, m.server.id, "Live Migration failure: operation failed: %s",
			cmp.Or(text, "job 'migration out' unexpectedly failed"))
	}
	if m.claimed {
		claim(m.dest, m.server, m.server.flavor, -1)
		m.claimed = false
	}
	m.set(now, status)
	m.server.setTask(now, "")
	m.action.finishEvent(m.step, now, &text)
	m.step = nil
	c.leaveQueue(now, m)
}

// leaveQueue removes a settled migration from its source's queue and starts the next one.
func (c *Cloud) leaveQueue(now time.Time, m *migration) {
	if m.server.migration == m {
		m.server.migration = nil
	}
	q := m.source.live
	i := slices.Index(q, m)
	if i < 0 {
		return
	}
	m.source.live = slices.Delete(q, i, i+1)
	if i == 0 && len(m.source.live) > 0 {
		c.prepareLive(now, m.source.live[0])
	}
}

// abortLive cancels a running or queued migration.
func (c *Cloud) abortLive(now time.Time, m *migration, a *action) {
	e := a.event("compute_live_migration_abort", now, m.source)
	m.timer.cancel()
	m.timer = c.events.at(now.Add(abortTime), func(t time.Time) {
		a.finishEvent(e, t, nil)
		c.failLive(t, m, "cancelled", "")
	})
}

// completeLive stops the guest (or switches it to the target) so that the rest is copied once.
func (c *Cloud) completeLive(now time.Time, m *migration, a *action) {
	e := a.event("compute_live_migration_force_complete", now, m.source)
	left := m.live.at(now)
	m.timer.cancel()
	m.timer = c.events.at(now.Add(m.live.seconds(float64(left.memLeft+left.diskLeft))+downtime), func(t time.Time) {
		a.finishEvent(e, t, nil)
		c.arriveLive(t, m)
	})
}

// hostLost handles the loss of a live migration's source or target. Other migrations wait until the host is back.
func (c *Cloud) hostLost(now time.Time, m *migration, h *host) {
	if m.kind != "live-migration" {
		return
	}
	if h == m.source {
		m.timer.cancel()
		h.waiting = append(h.waiting, func(t time.Time) {
			if !m.server.deleted {
				c.failLive(t, m, "error", "")
				m.server.set(t, vmStopped, "", powerShutdown)
			}
		})
		return
	}
	if m.status != "running" {
		return // noticed when it starts
	}
	m.timer.cancel()
	m.timer = c.events.at(now.Add(10*time.Second), func(t time.Time) {
		c.failLive(t, m, "failed", "")
	})
}

func powerName(p int) string {
	switch p {
	case powerRunning:
		return "running"
	case powerPaused:
		return "paused"
	case powerShutdown:
		return "shutdown"
	case powerCrashed:
		return "crashed"
	case powerSuspended:
		return "suspended"
	}
	return "pending"
}
