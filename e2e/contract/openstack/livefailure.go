package openstack

import (
	"slices"
	"strings"
)

const (
	// noValidHost is the scheduler's text when no host that Placement offered fits.
	noValidHost = "No valid host was found. There are not enough hosts available."
	// noCandidate is its text when Placement has no host to offer: they are disabled or full.
	noCandidate = "No valid host was found. "
)

// stays checks that a server is ACTIVE on a host after a failed migration.
func (s *server) stays(host string) {
	s.Helper()
	if got := s.settles("ACTIVE")["OS-EXT-SRV-ATTR:host"]; got != host {
		s.Errorf("%s is on %v, want %s", s.Name, got, host)
	}
}

// failedLive checks that the newest live migration has failed with this text, in the event that failed.
func (s *server) failedLive(event, text string) {
	s.Helper()
	s.until("the failure of "+event+" is told", func() bool {
		action := s.lastAction("live-migration")
		for _, e := range list(action["events"]) {
			if e["event"] == event && e["result"] == "Error" {
				if e["details"] != text {
					s.Fatalf("%s says %v, want %q", event, e["details"], text)
				}
				return action["message"] == "Error"
			}
		}
		return false
	})
}

var liveFailureCases = []testCase{
	{"without a valid host it is refused at once before 2.34, and only the record tells since", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		d.setService(r.b, object{"status": "disabled"})
		for _, microversion := range []string{"2.25", "2.30", "2.33"} {
			s.act(microversion, "os-migrateLive", live("")).refused(400, noValidHost)
			s.recorded("live-migration", r.a, "nowhere", "error")
			s.failedLive("conductor_migrate_server", noValidHost)
		}
		s.act("2.30", "os-migrateLive", live(r.b)).refused(400, noCandidate) // before 2.30 a named host is not checked by the scheduler
		for target, message := range map[string]string{"": noValidHost, r.b: noCandidate} {
			for _, microversion := range []string{"2.34", "2.68"} {
				before := len(s.records())
				s.act(microversion, "os-migrateLive", live(target)).is(202)
				d.until("there is a record more", func() bool { return len(s.records()) == before+1 })
				s.recorded("live-migration", r.a, "nowhere", "error")
				s.stays(r.a)
				s.failedLive("conductor_live_migrate_instance", message)
			}
		}
	}},
	{"a server that fits nowhere else stays", func(d *desk) {
		r := d.room()
		made := d.boots(r, order{host: r.a, flavor: d.suite.large}, order{host: r.b, flavor: d.suite.large})
		made[0].act("2.34", "os-migrateLive", live("")).is(202)
		made[0].recorded("live-migration", r.a, "nowhere", "error")
		made[0].stays(r.a)
	}},
	{"a target that cannot take it fails the record, and the event tells why", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{FailBefore: "the CPU is another one"})
		s.act("2.34", "os-migrateLive", live("")).is(202)
		s.recorded("live-migration", r.a, r.b, "failed")
		s.stays(r.a)
		s.failedLive("compute_pre_live_migration", "the CPU is another one")
		s.steer(Behaviour{})
		s.act("2.34", "os-migrateLive", live("")).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
	}},
	{"one that breaks off half-way fails the record; the server runs on, and no event tells why", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{FailLive: "the disk is on fire"})
		s.act("2.34", "os-migrateLive", live("")).is(202)
		s.passes("MIGRATING migrating", "ACTIVE")
		s.recorded("live-migration", r.a, r.b, "failed")
		s.stays(r.a)
		action := s.lastAction("live-migration")
		if action["message"] != nil {
			d.Errorf("the action says %v", action["message"])
		}
		for _, e := range events(action) {
			if !strings.HasSuffix(e, " Success") {
				d.Errorf("event %s", e)
			}
		}
	}},
	{"a source that is down is refused, at once or in the record", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		d.setService(r.a, object{"forced_down": true})
		const down = "Compute service of %s is unavailable at this time."
		s.act("2.25", "os-migrateLive", live("")).refused(400, down, r.a)
		s.act("2.34", "os-migrateLive", live("")).is(202)
		s.recorded("live-migration", r.a, "nowhere", "error")
		s.stays(r.a)
		s.act("2.56", "migrate", nil).refused(409, "Service is unavailable at this time.")
	}},
}

const booleans = "[True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes', False, 'False', 'FALSE', 'false', '0', " +
	"'OFF', 'Off', 'off', 'NO', 'No', 'no'"

var liveRefusalCases = []testCase{
	{"the own host is none to go to", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.25", "os-migrateLive", live(r.a)).refused(400, "Unable to migrate instance (%s) to current host (%s).", s.ID, r.a)
		s.act("2.30", "os-migrateLive", live(r.a)).refused(400, noValidHost)
		for _, microversion := range []string{"2.34", "2.68"} {
			s.act(microversion, "os-migrateLive", live(r.a)).is(202)
			s.recorded("live-migration", r.a, "nowhere", "error")
			s.stays(r.a)
		}
	}},
	{"an unknown host is refused at every microversion", func(d *desk) {
		s := d.boot(d.room(), order{})
		for _, microversion := range []string{"2.25", "2.30", "2.34", "2.68"} {
			s.act(microversion, "os-migrateLive", live("none-such")).refused(400, "Compute host none-such could not be found.")
		}
		if got := s.record(); got != "none" {
			d.Errorf("there is a record: %s", got)
		}
	}},
	{"what the body must hold depends on the microversion", func(d *desk) {
		s := d.boot(d.room(), order{})
		const input = "Invalid input for field/attribute "
		all := []string{"2.1", "2.25", "2.30", "2.68"}
		for _, c := range []struct {
			body    object
			at      []string
			message string
		}{
			{object{"host": nil}, all, input + "os-migrateLive. Value: {'host': None}. 'block_migration' is a required property"},
			{object{}, all, input + "os-migrateLive. Value: {}. 'block_migration' is a required property"},
			{object{"host": nil, "block_migration": "auto"}, all[:1],
				input + "block_migration. Value: auto. 'auto' is not one of " + booleans + "]"},
			{object{"host": nil, "block_migration": "x"}, all[1:], input + "block_migration. Value: x. 'x' is not one of " + booleans + ", 'auto']"},
			{object{"block_migration": "auto"}, all[1:],
				input + "os-migrateLive. Value: {'block_migration': 'auto'}. 'host' is a required property"},
			{object{"host": nil, "block_migration": "auto", "force": true}, []string{"2.30", "2.67"}, "Can't force to a non-provided destination"},
		} {
			for _, microversion := range c.at {
				s.act(microversion, "os-migrateLive", c.body).refused(400, "%s", c.message)
			}
		}
		for field, at := range map[string][]string{"force": {"2.25", "2.29", "2.68"}, "disk_over_commit": {"2.25", "2.30", "2.68"}} {
			body := live("")
			body[field] = false
			for _, microversion := range at {
				a := s.act(microversion, "os-migrateLive", body).is(400)
				message := text(a.at("badRequest", "message"))
				if !strings.HasSuffix(message, "Additional properties are not allowed ('"+field+"' was unexpected)") {
					d.Errorf("at %s %s is refused with %q", microversion, field, message)
				}
			}
		}
		if got := state(s.look()); got != "ACTIVE" || !slices.Equal([]string{s.record()}, []string{"none"}) {
			d.Errorf("the server is %s, its record %s", got, s.record())
		}
	}},
}
