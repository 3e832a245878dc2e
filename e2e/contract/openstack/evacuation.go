package openstack

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
		s.act("2.1", "evacuate", object{}).refused(400, "Invalid input for field/attribute evacuate. Value: {}. 'onSharedStorage' is a required property")
		s.act("2.68", "evacuate", object{"host": r.b, "force": true}).
			refused(400, "Invalid input for field/attribute evacuate. Value: {'force': True, 'host': '%s'}. Additional properties are not allowed ('force' was unexpected)", r.b)
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
