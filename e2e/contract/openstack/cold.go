package openstack

import (
	"slices"

	"lockstep/core"
)

// coldStates are the states of a cold migration that succeeds.
var coldStates = []string{"RESIZE resize_prep", "RESIZE resize_migrating", "RESIZE resize_migrated", "RESIZE resize_finish",
	"VERIFY_RESIZE"}

var coldCases = []testCase{
	{"the adapter moves a server cold, sees it wait, confirms it and sees it run", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		e, w := d.watch(r.a, r.b)
		if err := w.does(core.IntentColdMigrate, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("it wait for a confirmation", s, func(i core.Instance, m core.Migration) bool {
			return i.Status == "VERIFY_RESIZE" && i.Host == r.b && m.Status == "finished" && m.Type == core.MigrationCold
		})
		if err := w.does(core.IntentConfirmResize, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("it confirmed", s, func(i core.Instance, m core.Migration) bool {
			return i.Status == "ACTIVE" && i.Host == r.b && m.Status == "confirmed"
		})
		if err := w.does(core.IntentColdMigrate, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("it wait again", s, func(i core.Instance, m core.Migration) bool {
			return i.Status == "VERIFY_RESIZE" && m.Status == "finished"
		})
		if err := w.does(core.IntentRevertResize, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("it back", s, func(i core.Instance, m core.Migration) bool {
			return i.Status == "ACTIVE" && i.Host == r.b && i.TaskState == "" && m.Status == "reverted"
		})
	}},
	{"a server passes RESIZE, waits in VERIFY_RESIZE, where nothing else is allowed, and is ACTIVE once confirmed", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.1", "migrate", nil).is(202)
		s.passes(coldStates...)
		s.recorded("migration", r.a, r.b, "finished")
		if got := s.look(); got["OS-EXT-STS:vm_state"] != "resized" || got["OS-EXT-SRV-ATTR:host"] != r.b {
			d.Errorf("%v on %v", got["OS-EXT-STS:vm_state"], got["OS-EXT-SRV-ATTR:host"])
		}
		for action, c := range map[string]struct {
			args any
			name string
		}{
			"os-start": {nil, "start"}, "os-stop": {nil, "stop"}, "migrate": {nil, "migrate"}, "pause": {nil, "pause"},
			"reboot": {object{"type": "HARD"}, "reboot"}, "os-migrateLive": {live(""), "os-migrateLive"},
		} {
			s.act("2.25", action, c.args).refused(409, inState, c.name, s.ID, "resized")
		}
		s.act("2.1", "confirmResize", nil).is(204)
		s.passes("VERIFY_RESIZE", "ACTIVE")
		s.recorded("migration", r.a, r.b, "confirmed")
		s.act("2.1", "confirmResize", nil).refused(409, inState, "confirmResize", s.ID, "active")
		s.act("2.1", "revertResize", nil).refused(409, inState, "revertResize", s.ID, "active")
	}},
	{"a stopped server stays SHUTOFF through confirm and revert, to the host that was named", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.1", "os-stop", nil).is(202)
		s.settles("SHUTOFF")
		s.act("2.56", "migrate", object{"host": r.b}).is(202)
		s.passes(coldStates...)
		s.act("2.1", "revertResize", nil).is(202)
		s.passes("REVERT_RESIZE resize_reverting", "VERIFY_RESIZE powering-off", "SHUTOFF") // it is started on its host, and stopped
		s.recorded("migration", r.a, r.b, "reverted")
		if host := s.host(); host != r.a {
			d.Errorf("after the revert it is on %s, want %s", host, r.a)
		}
		s.act("2.56", "migrate", object{"host": r.b}).is(202)
		s.passes(coldStates...)
		s.act("2.1", "confirmResize", nil).is(204)
		s.passes("VERIFY_RESIZE", "SHUTOFF")
		s.recorded("migration", r.a, r.b, "confirmed")
	}},
	{"a host that will not do is refused, from 2.56 on, when hosts can be named", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.56", "migrate", object{"host": r.a}).refused(400, "Cannot migrate to the host where the server exists.")
		s.act("2.56", "migrate", object{"host": "none-such"}).refused(400, "Compute host none-such could not be found.")
		s.act("2.56", "migrate", object{"hosts": 2}).
			refused(400,
				"Invalid input for field/attribute migrate. Value: {'hosts': 2}. Additional properties are not allowed ('hosts' was unexpected)")
		s.act("2.55", "migrate", object{"host": "none-such"}).is(202)
		s.settles("VERIFY_RESIZE")
	}},
	{"without a valid host the server goes back to what it was, and only the record tells", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		d.setService(r.b, object{"status": "disabled"})
		for _, body := range []any{nil, object{"host": r.b}} {
			before := len(s.records())
			s.act("2.56", "migrate", body).is(202)
			d.until("there is a record more", func() bool { return len(s.records()) == before+1 })
			s.recorded("migration", r.a, "nowhere", "error")
			s.stays(r.a)
		}
	}},
	{"one that cannot begin leaves the server running where it is", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{FailCold: "the disk cannot be copied"})
		s.act("2.1", "migrate", nil).is(202)
		s.recorded("migration", r.a, r.b, "error")
		s.stays(r.a)
		d.until("the event tells why", func() bool {
			return slices.ContainsFunc(list(s.lastAction("migrate")["events"]), func(e object) bool {
				return e["event"] == "compute_resize_instance" && e["result"] == "Error" && e["details"] == "the disk cannot be copied"
			})
		})
	}},
	{"one that cannot end leaves the server in ERROR on the target, with the reason", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{FailFinish: "the guest does not start"})
		s.act("2.1", "migrate", nil).is(202)
		got := s.settles("ERROR")
		fault, _ := got["fault"].(object)
		if fault["message"] != "the guest does not start" || got["OS-EXT-SRV-ATTR:host"] != r.b {
			d.Errorf("%v on %v", fault, got["OS-EXT-SRV-ATTR:host"])
		}
		s.recorded("migration", r.a, r.b, "error")
	}},
	{"a resize is a cold migration to another flavor, and can be reverted", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.1", "resize", object{"flavorRef": d.suite.flavor}).refused(400, "When resizing, instances must change flavor!")
		s.act("2.1", "resize", object{"flavorRef": "none-such"}).refused(400, "Flavor none-such could not be found.")
		s.act("2.1", "resize", nil).refused(400, "Invalid input for field/attribute resize. Value: None. None is not of type 'object'")
		s.act("2.1", "resize", object{"flavorRef": d.suite.large}).is(202)
		s.passes(coldStates...)
		record := s.records()[0]
		if record["migration_type"] != "resize" || record["old_instance_type_id"] == record["new_instance_type_id"] {
			d.Errorf("record %v", record)
		}
		flavor := func() any { f, _ := s.look()["flavor"].(object); return f["original_name"] }
		if got := flavor(); got != d.suite.cloud.Large {
			d.Errorf("the flavor is %v, want %s", got, d.suite.cloud.Large)
		}
		s.act("2.1", "revertResize", nil).is(202)
		s.passes("REVERT_RESIZE resize_reverting", "ACTIVE")
		if got := flavor(); got != d.suite.cloud.Flavor {
			d.Errorf("after the revert the flavor is %v, want %s", got, d.suite.cloud.Flavor)
		}
	}},
}
