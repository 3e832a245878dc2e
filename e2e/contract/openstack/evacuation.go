package openstack

import (
	"context"
	"net/http"

	"lockstep/core"
)

// dies kills the nova-compute of a host of the room until the returned function is called or the case ends.
func (d *desk) dies(host string) (back func()) {
	d.Helper()
	service := func() object {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		found := d.call(ctx, d.admin, "compute", "2.53", http.MethodGet, "/os-services?binary=nova-compute&host="+host,
			nil).is(200).list("services")
		if len(found) != 1 {
			return nil
		}
		return found[0]
	}
	back = func() {
		d.Helper()
		if err := d.suite.cloud.Compute(host, true); err != nil {
			d.Fatal(err)
		}
		d.until("nova-compute of "+host+" is up again", func() bool { return service()["state"] == "up" })
	}
	d.Cleanup(back)
	if err := d.suite.cloud.Compute(host, false); err != nil {
		d.Fatal(err)
	}
	return back
}

var evacuationCases = []testCase{
	{"a server is not evacuated off a host that works", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		const inUse = "Compute service of %s is still in use."
		s.act("2.1", "evacuate", object{"onSharedStorage": false}).refused(400, inUse, r.a)
		s.act("2.14", "evacuate", object{}).refused(400, inUse, r.a)
		s.act("2.68", "evacuate", object{"host": r.b}).refused(400, inUse, r.a)
		s.act("2.68", "evacuate", object{"host": r.a}).refused(400, "The target host can't be the same one.")
		s.act("2.68", "evacuate", object{"host": "none-such"}).refused(404, "Compute host none-such not found.")
		s.act("2.29", "evacuate", object{"force": true}).refused(400, "Can't force to a non-provided destination")
		s.act("2.1", "evacuate", object{}).refused(400,
			"Invalid input for field/attribute evacuate. Value: {}. 'onSharedStorage' is a required property")
		s.act("2.68", "evacuate", object{"host": r.b, "force": true}).
			refused(400,
				"Invalid input for field/attribute evacuate. Value: {'force': True, 'host': '%s'}. Additional properties are not allowed ('force' "+
					"was unexpected)", r.b)
	}},
	{"off a host that was forced down servers are rebuilt elsewhere, running or stopped as they were", func(d *desk) {
		r := d.room()
		made := d.boots(r, order{host: r.a}, order{host: r.a})
		runs, stopped := made[0], made[1]
		stopped.act("2.1", "os-stop", nil).is(202)
		stopped.settles("SHUTOFF")
		d.setService(r.a, object{"forced_down": true})
		if got := runs.look()["host_status"]; got != "DOWN" {
			d.Errorf("host_status %v, want DOWN", got)
		}
		if password := text(runs.act("2.13", "evacuate", object{"onSharedStorage": false}).is(200).at("adminPass")); password == "" {
			d.Error("before 2.14 evacuate tells a password")
		}
		if a := stopped.act("2.68", "evacuate", object{"host": r.b}).is(200); a.raw != "" {
			d.Errorf("since 2.14 evacuate answers %q", a.raw)
		}
		runs.recorded("evacuation", r.a, r.b, "done")
		stopped.recorded("evacuation", r.a, r.b, "done")
		for s, status := range map[*server]string{runs: "ACTIVE", stopped: "SHUTOFF"} {
			d.until("the server is "+status+" on the other host", func() bool {
				now := s.look()
				return state(now) == status && now["OS-EXT-SRV-ATTR:host"] == r.b
			})
		}
		if got := text(runs.lastAction("evacuate")["action"]); got != "evacuate" {
			d.Errorf("action %q", got)
		}
		d.compute("2.53", "PUT", "/os-services/"+text(d.serviceOf(r.a)["id"]), object{"forced_down": false}).
			refused(400, "Unable to force up host %s as `done` evacuation migration records remain associated with the host. "+
				"Ensure the compute service has been restarted, allowing these records to move to `completed` before retrying this request.", r.a)
	}},
	{"the adapter sees a host die, evacuates a server off it, and sees what is over when the host is back", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		e, w := d.watch(r.a, r.b)
		e.seesService("up", r.a, func(c core.ComputeService) bool { return c.Up })
		back := d.dies(r.a)
		e.seesService("down", r.a, func(c core.ComputeService) bool { return !c.Up && !c.ForcedDown && c.Enabled })
		if err := w.does(core.IntentEvacuate, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("it rebuilt", s, func(i core.Instance, m core.Migration) bool {
			return i.Status == "ACTIVE" && i.TaskState == "" && i.Host == r.b && m.Type == core.MigrationEvacuation && m.Status == "done"
		})
		s.recorded("evacuation", r.a, r.b, "done")
		back()
		e.seesService("up again", r.a, func(c core.ComputeService) bool { return c.Up })
		s.recorded("evacuation", r.a, r.b, "completed")
		if got := s.settles("ACTIVE"); got["OS-EXT-SRV-ATTR:host"] != r.b {
			d.Errorf("with its old host back it is on %v", got["OS-EXT-SRV-ATTR:host"])
		}
		for _, forced := range []bool{true, false} { // nothing is left to be done there
			d.setService(r.a, object{"forced_down": forced})
		}
	}},
	{"with nowhere to go an evacuated server ends in ERROR", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		d.setService(r.a, object{"forced_down": true})
		d.setService(r.b, object{"status": "disabled"})
		s.act("2.68", "evacuate", object{}).is(200)
		s.settles("ERROR")
		s.recorded("evacuation", r.a, "nowhere", "error")
	}},
}
