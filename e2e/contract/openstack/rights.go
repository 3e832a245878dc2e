package openstack

import "net/http"

// policy is Nova's text for missing rights.
const policy = "Policy doesn't allow %s to be performed."

var rightsCases = []testCase{
	{"a member may not see what belongs to the operator", func(d *desk) {
		const rule = "os_compute_api:"
		for path, want := range map[string]string{
			"/os-services": "os-services:list", "/os-hypervisors": "os-hypervisors:list", "/os-hypervisors/detail": "os-hypervisors:list-detail",
			"/os-hypervisors/statistics": "os-hypervisors:statistics", "/os-migrations": "os-migrations:index",
			"/os-aggregates":               "os-aggregates:index",
			"/os-availability-zone/detail": "os-availability-zone:detail", "/os-simple-tenant-usage": "os-simple-tenant-usage:list",
			"/os-hosts":              "os-hosts:list",
			"/servers?all_tenants=1": "servers:index:get_all_tenants", "/servers/detail?all_tenants=1": "servers:detail:get_all_tenants",
			"/os-quota-sets/" + d.admin.projectID: "os-quota-sets:show",
		} {
			d.call(d.Context(), d.member, "compute", "", http.MethodGet, path, nil).refused(403, policy, rule+want)
		}
	}},
	{"a member may not move, reset or offload even an own server, nor watch it move", func(d *desk) {
		s := d.boot(d.room(), order{as: d.member})
		for action, c := range map[string]struct {
			args any
			rule string
		}{
			"migrate":        {nil, "os_compute_api:os-migrate-server:migrate"},
			"os-migrateLive": {live(""), "os_compute_api:os-migrate-server:migrate_live"},
			"evacuate":       {object{}, "os_compute_api:os-evacuate"},
			"os-resetState":  {object{"state": "error"}, "os_compute_api:os-admin-actions:reset_state"},
			"shelveOffload":  {nil, "os_compute_api:os-shelve:shelve_offload"},
		} {
			s.actAs(d.member, "2.79", action, c.args).refused(403, policy, c.rule)
		}
		get := func(path string) *answer {
			return d.call(d.Context(), d.member, "compute", "2.80", http.MethodGet, "/servers/"+s.ID+path, nil)
		}
		get("/migrations").refused(403, policy, "os_compute_api:servers:migrations:index")
		fields, _ := get("").is(200).at("server").(object)
		for _, name := range []string{"OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hypervisor_hostname", "host_status"} {
			if _, shown := fields[name]; shown {
				d.Errorf("a member sees %s", name)
			}
		}
		if text(fields["hostId"]) == "" {
			d.Error("a member sees no hostId")
		}
	}},
	{"a member does not see the servers of others, nor may ask for a host", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{})
		d.call(d.Context(), d.member, "compute", "2.1", http.MethodGet, "/servers/"+s.ID, nil).refused(404, "Instance %s could not be found.",
			s.ID)
		s.actAs(d.member, "2.1", "os-stop", nil).refused(404, "Instance %s could not be found.", s.ID)
		d.call(d.Context(), d.member, "compute", "2.26", http.MethodGet, "/servers/"+s.ID+"/tags", nil).refused(403, policy,
			"os_compute_api:os-server-tags:index")
		d.call(d.Context(), d.member, "compute", "2.26", http.MethodPut, "/servers/"+s.ID+"/tags/x", nil).refused(403, policy,
			"os_compute_api:os-server-tags:update")
		d.call(d.Context(), d.member, "compute", "2.79", http.MethodPost, "/servers", object{"server": object{
			"name": "x", "imageRef": d.suite.image, "flavorRef": d.suite.flavor, "networks": "none", "host": r.a,
		}}).refused(403, policy, "compute:servers:create:requested_destination")
	}},
	{"a member may not change services or aggregates", func(d *desk) {
		d.call(d.Context(), d.member, "compute", "2.53", http.MethodPut, "/os-services/11111111-1111-4111-8111-111111111111",
			object{"status": "disabled"}).
			refused(403, policy, "os_compute_api:os-services:update")
		d.call(d.Context(), d.member, "compute", "", http.MethodPost, "/os-aggregates", object{"aggregate": object{"name": "mine"}}).
			refused(403, policy, "os_compute_api:os-aggregates:create")
	}},
}
