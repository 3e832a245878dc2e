package openstack

import (
	"net/http"
	"slices"
	"strings"

	"lockstep/core"
)

var serviceCases = []testCase{
	{"the adapter disables a service with a reason, sees it, and enables it again", func(d *desk) {
		r := d.room()
		e, w := d.watch(r.a)
		e.seesService("up and enabled", r.a, func(s core.ComputeService) bool { return s.Up && s.Enabled })
		service, err := w.ComputeService(d.Context(), r.a)
		if err != nil {
			d.Fatal(err)
		}
		if err := w.write(core.SetComputeService{Service: core.Ref{UID: service.ID}, Reason: core.DisabledReasonMaintenance}); err != nil {
			d.Fatal(err)
		}
		e.seesService("disabled", r.a, func(s core.ComputeService) bool {
			return s.Up && !s.Enabled && s.DisabledReason == core.DisabledReasonMaintenance
		})
		if err := w.write(core.SetComputeService{Service: core.Ref{UID: service.ID}, Enabled: true}); err != nil {
			d.Fatal(err)
		}
		e.seesService("enabled", r.a, func(s core.ComputeService) bool { return s.Up && s.Enabled && s.DisabledReason == "" })
	}},
	{"a service is disabled, with and without a reason, and enabled, by its ID", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		for _, c := range []struct {
			change         object
			status, reason any
			host           string
		}{
			{object{"status": "disabled"}, "disabled", nil, "MAINTENANCE"},
			{object{"status": "disabled", "disabled_reason": "the fan is loud"}, "disabled", "the fan is loud", "MAINTENANCE"},
			{object{"status": "enabled"}, "enabled", nil, "UP"},
		} {
			for _, got := range []object{d.setService(r.a, c.change), d.serviceOf(r.a)} {
				if got["status"] != c.status || got["disabled_reason"] != c.reason || got["state"] != "up" || got["forced_down"] != false ||
					got["zone"] != r.zone {
					d.Errorf("after %v the service is %v", c.change, got)
				}
			}
			if got := s.look()["host_status"]; got != c.host {
				d.Errorf("after %v the server's host_status is %v, want %s", c.change, got, c.host)
			}
		}
	}},
	{"a service that is forced down is down, and up when it is not", func(d *desk) {
		r := d.room()
		for forced, state := range map[bool]string{true: "down", false: "up"} {
			if got := d.setService(r.a, object{"forced_down": forced}); got["forced_down"] != forced || got["state"] != state ||
				got["status"] != "enabled" {
				d.Errorf("forced_down %v: %v", forced, got)
			}
		}
		d.setService(r.a, object{"forced_down": false})
	}},
	{"a change that is none is refused", func(d *desk) {
		r := d.room()
		path := "/os-services/" + text(d.serviceOf(r.a)["id"])
		const none = "No updates were requested. Fields 'status' or 'forced_down' should be specified."
		long := strings.Repeat("x", 256)
		for _, c := range []struct {
			change  object
			message string
		}{
			{object{}, none},
			{object{"disabled_reason": "x"}, none},
			{object{"status": "enabled", "disabled_reason": "x"}, "Specifying 'disabled_reason' with status 'enabled' is invalid."},
			{object{"status": "asleep"}, "Invalid input for field/attribute status. Value: asleep. 'asleep' is not one of ['enabled', 'disabled']"},
			{object{"status": "disabled", "disabled_reason": ""}, "Invalid input for field/attribute disabled_reason. Value: . '' is too short"},
			{object{"status": "disabled", "disabled_reason": long},
				"Invalid input for field/attribute disabled_reason. Value: " + long + ". '" + long + "' is too long"},
			{object{"forced_down": "perhaps"}, "Invalid input for field/attribute forced_down. Value: perhaps. 'perhaps' is not one of " + booleans +
				"]"},
			{object{"shoe_size": 46}, "Additional properties are not allowed ('shoe_size' was unexpected)"},
		} {
			d.compute("2.53", http.MethodPut, path, c.change).refused(400, "%s", c.message)
		}
	}},
	{"a service that there is not, or that is no compute service, cannot be changed", func(d *desk) {
		const none = "11111111-1111-4111-8111-111111111111"
		change := object{"status": "disabled"}
		d.compute("2.53", http.MethodPut, "/os-services/"+none, change).refused(404, "Service %s could not be found.", none)
		d.compute("2.53", http.MethodPut, "/os-services/7b", change).refused(400, "Invalid uuid 7b")
		scheduler := d.compute("2.53", http.MethodGet, "/os-services?binary=nova-scheduler", nil).is(200).list("services")[0]
		d.compute("2.53", http.MethodPut, "/os-services/"+text(scheduler["id"]), change).
			refused(400, "Updating a nova-scheduler service is not supported. Only nova-compute services can be updated.")
	}},
	{"before 2.53 services are changed by host", func(d *desk) {
		r := d.room()
		named := object{"host": r.a, "binary": "nova-compute"}
		put := func(verb string, more object) *answer {
			body := object{}
			for _, fields := range []object{named, more} {
				for name, value := range fields {
					body[name] = value
				}
			}
			return d.compute("2.11", http.MethodPut, "/os-services/"+verb, body)
		}
		if a := put("disable-log-reason", object{"disabled_reason": "why"}).is(200); a.at("service", "disabled_reason") != "why" ||
			a.at("service", "status") != "disabled" {
			d.Errorf("%s", a.raw)
		}
		put("disable", nil).is(200)
		put("disable-log-reason", nil).refused(400, "Missing disabled reason field")
		if a := put("enable", nil).is(200); a.at("service", "status") != "enabled" {
			d.Errorf("%s", a.raw)
		}
		put("force-down", object{"forced_down": true}).is(200)
		put("force-down", object{"forced_down": false}).is(200)
		put("force-down", nil).refused(400, "Missing forced_down field")
		put("levitate", nil).refused(404, "Unknown action")
		put("enable", object{"host": "none-such"}).refused(404, "Host 'none-such' is not mapped to any cell")
		d.compute("2.11", http.MethodPut, "/os-services/enable", object{"host": r.a}).refused(400, "'binary' is a required property")
	}},
	{"services are listed by host and by binary; their IDs are UUIDs from 2.53 on", func(d *desk) {
		r := d.room()
		old := d.compute("2.52", http.MethodGet, "/os-services?host="+r.a, nil).is(200).list("services")
		if len(old) != 1 || number(old[0]["id"]) == 0 {
			d.Errorf("services of %s at 2.52: %v", r.a, old)
		}
		binaries := field(d.compute("2.53", http.MethodGet, "/os-services", nil).is(200).list("services"), "binary")
		for _, want := range []string{"nova-compute", "nova-conductor", "nova-scheduler"} {
			if !slices.Contains(binaries, want) {
				d.Errorf("services %q, no %s", binaries, want)
			}
		}
		if got := d.compute("2.53", http.MethodGet, "/os-services?host=none-such", nil).is(200).list("services"); len(got) != 0 {
			d.Errorf("services of no host: %v", got)
		}
		d.compute("2.75", http.MethodGet, "/os-services?shoe_size=46", nil).refused(400,
			"Additional properties are not allowed ('shoe_size' was unexpected)")
	}},
	{"a service whose host has servers cannot be deleted", func(d *desk) {
		r := d.room()
		d.boot(r, order{host: r.a})
		d.compute("2.53", http.MethodDelete, "/os-services/"+text(d.serviceOf(r.a)["id"]), nil).
			refused(409, "Unable to delete compute service that is hosting instances. Migrate or delete the instances first.")
	}},
}
