package openstack

import (
	"net/http"
	"slices"
)

// hypervisorOf returns the hypervisor of a host, as a list shows it.
func (d *desk) hypervisorOf(microversion, query, host string) object {
	d.Helper()
	for _, h := range d.compute(microversion, http.MethodGet, "/os-hypervisors/detail"+query, nil).is(200).list("hypervisors") {
		if h["hypervisor_hostname"] == host {
			return h
		}
	}
	d.Fatalf("there is no hypervisor %s", host)
	return nil
}

var hostCases = []testCase{
	{"a hypervisor tells its service's state, and what it has and uses until 2.87", func(d *desk) {
		r := d.room()
		d.setService(r.a, object{"status": "disabled", "disabled_reason": "why"})
		h := d.hypervisorOf("2.53", "", r.a)
		service, _ := h["service"].(object)
		if h["state"] != "up" || h["status"] != "disabled" || service["host"] != r.a || service["disabled_reason"] != "why" ||
			service["id"] != d.serviceOf(r.a)["id"] {
			d.Errorf("hypervisor %v", h)
		}
		for _, name := range []string{"vcpus", "memory_mb", "local_gb"} {
			if number(h[name]) <= 0 {
				d.Errorf("%s is %v", name, h[name])
			}
		}
		for _, name := range []string{"vcpus_used", "memory_mb_used", "local_gb_used", "free_ram_mb", "free_disk_gb", "running_vms",
			"current_workload", "cpu_info"} {
			if _, shown := h[name]; !shown {
				d.Errorf("there is no %s", name)
			}
		}
		late := d.hypervisorOf("2.88", "", r.a)
		if _, shown := late["uptime"]; !shown || late["vcpus"] != nil || late["running_vms"] != nil {
			d.Errorf("at 2.88 it is %v", late)
		}
	}},
	{"one hypervisor is shown by its UUID from 2.53 on, by number before", func(d *desk) {
		host := d.suite.cloud.Hosts[0]
		for microversion, bad := range map[string]string{"2.53": "11111111-1111-4111-8111-111111111111", "2.52": "99999"} {
			h := d.hypervisorOf(microversion, "", host)
			id := field([]object{h}, "id")[0]
			a := d.compute(microversion, http.MethodGet, "/os-hypervisors/"+id, nil).is(200)
			if a.at("hypervisor", "hypervisor_hostname") != host {
				d.Errorf("at %s %s is %s", microversion, id, a.raw)
			}
			d.compute(microversion, http.MethodGet, "/os-hypervisors/"+bad, nil).refused(404, "Hypervisor with ID '%s' could not be found.", bad)
		}
		d.compute("2.53", http.MethodGet, "/os-hypervisors/7b", nil).refused(400, "Invalid uuid 7b")
	}},
	{"hypervisors are listed with their servers; one without any has no list before 2.75", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		names := func(h object) []string { return field(list(h["servers"]), "uuid") }
		for _, microversion := range []string{"2.53", "2.75"} {
			if got := names(d.hypervisorOf(microversion, "?with_servers=true", r.a)); !slices.Equal(got, []string{s.ID}) {
				d.Errorf("at %s %s has the servers %q", microversion, r.a, got)
			}
			if got, shown := d.hypervisorOf(microversion, "?with_servers=true", r.b)["servers"]; shown != (microversion == "2.75") {
				d.Errorf("at %s %s has the servers %v", microversion, r.b, got)
			}
		}
		old := d.compute("2.52", http.MethodGet, "/os-hypervisors/"+r.a+"/servers", nil).is(200).list("hypervisors")
		if len(old) != 1 || !slices.Equal(names(old[0]), []string{s.ID}) {
			d.Errorf("before 2.53: %v", old)
		}
	}},
	{"hypervisors come by pages from 2.33 on, and by a pattern of their names from 2.53 on", func(d *desk) {
		a := d.compute("2.53", http.MethodGet, "/os-hypervisors?limit=1", nil).is(200)
		first := a.list("hypervisors")
		links := list(a.at("hypervisors_links"))
		if len(first) != 1 || len(links) != 1 || links[0]["rel"] != "next" {
			d.Fatalf("the first page is %s", a.raw)
		}
		rest := d.compute("2.53", http.MethodGet, "/os-hypervisors?marker="+text(first[0]["id"]), nil).is(200).list("hypervisors")
		if got := field(rest, "id"); slices.Contains(got, text(first[0]["id"])) || len(got) < len(d.suite.cloud.Hosts)-1 {
			d.Errorf("after the first page: %q", got)
		}
		d.compute("2.53", http.MethodGet, "/os-hypervisors?marker=none", nil).refused(400, "marker [none] not found")
		if got := d.compute("2.32", http.MethodGet, "/os-hypervisors?limit=1",
			nil).is(200).list("hypervisors"); len(got) < len(d.suite.cloud.Hosts) {
			d.Errorf("before 2.33 a limit is ignored: %d hypervisors", len(got))
		}
		host := d.suite.cloud.Hosts[0]
		found := d.compute("2.53", http.MethodGet, "/os-hypervisors?hypervisor_hostname_pattern="+host, nil).is(200).list("hypervisors")
		if got := field(found, "hypervisor_hostname"); !slices.Equal(got, []string{host}) {
			d.Errorf("of the name %s: %q", host, got)
		}
		d.compute("2.53", http.MethodGet, "/os-hypervisors?hypervisor_hostname_pattern=none-such", nil).refused(404,
			"No hypervisor matching 'none-such' could be found.")
		d.compute("2.53", http.MethodGet, "/os-hypervisors?shoe_size=46", nil).refused(400,
			"Additional properties are not allowed ('shoe_size' was unexpected)")
		search := d.compute("2.52", http.MethodGet, "/os-hypervisors/"+host+"/search", nil).is(200).list("hypervisors")
		if got := field(search, "hypervisor_hostname"); !slices.Equal(got, []string{host}) {
			d.Errorf("searched %s: %q", host, got)
		}
	}},
	{"the statistics sum up the hypervisors whose services are enabled", func(d *desk) {
		r := d.room()
		d.setService(r.b, object{"status": "disabled"}) // others may have disabled theirs
		all := len(d.compute("2.53", http.MethodGet, "/os-hypervisors", nil).is(200).list("hypervisors"))
		a := d.compute("2.1", http.MethodGet, "/os-hypervisors/statistics", nil).is(200)
		if n := number(a.at("hypervisor_statistics", "count")); n < 1 || n >= all {
			d.Errorf("of %d hosts, one of them disabled, %d are counted", all, n)
		}
		if number(a.at("hypervisor_statistics", "vcpus")) <= 0 {
			d.Errorf("%s", a.raw)
		}
	}},
	{"availability zones are told by name to everybody, with their hosts to administrators", func(d *desk) {
		r := d.room()
		zoneOf := func(a *answer, name string) object {
			for _, z := range a.is(200).list("availabilityZoneInfo") {
				if z["zoneName"] == name {
					return z
				}
			}
			return nil
		}
		mine := zoneOf(d.call(d.Context(), d.member, "compute", "2.1", http.MethodGet, "/os-availability-zone", nil), r.zone)
		if available, _ := mine["zoneState"].(object); available["available"] != true || mine["hosts"] != nil {
			d.Errorf("a member sees the zone as %v", mine)
		}
		detail := func() *answer { return d.compute("2.1", http.MethodGet, "/os-availability-zone/detail", nil) }
		d.setService(r.b, object{"status": "disabled"})
		hosts, _ := zoneOf(detail(), r.zone)["hosts"].(object)
		onA, _ := hosts[r.a].(object)
		service, _ := onA["nova-compute"].(object)
		if _, listed := hosts[r.b]; listed || service["available"] != true || service["active"] != true || service["updated_at"] == nil {
			d.Errorf("the zone's hosts are %v, of which %s is disabled", hosts, r.b)
		}
		if internal := zoneOf(detail(), "internal"); internal == nil {
			d.Error("there is no zone internal with the scheduler and the conductor")
		}
		d.setService(r.a, object{"status": "disabled"})
		z := zoneOf(detail(), r.zone)
		if available, _ := z["zoneState"].(object); available["available"] != false || z["hosts"] != nil {
			d.Errorf("with both hosts disabled the zone is %v", z)
		}
	}},
}
