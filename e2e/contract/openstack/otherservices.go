package openstack

import (
	"net/http"
	"slices"
)

var otherServiceCases = []testCase{
	{"flavors come by pages, with what they are made of", func(d *desk) {
		a := d.compute("2.1", http.MethodGet, "/flavors/detail?limit=1", nil).is(200)
		first, links := a.list("flavors"), list(a.at("flavors_links"))
		if len(first) != 1 || len(links) != 1 || links[0]["rel"] != "next" {
			d.Fatalf("the first page is %s", a.raw)
		}
		seen := field(first, "id")
		for range 20 {
			if len(links) == 0 {
				break
			}
			next := d.send(d.Context(), http.MethodGet, text(links[0]["href"]), http.Header{"X-Auth-Token": {d.admin.token}}, nil).is(200)
			seen, links = append(seen, field(next.list("flavors"), "id")...), list(next.at("flavors_links"))
		}
		all := field(d.compute("2.1", http.MethodGet, "/flavors", nil).is(200).list("flavors"), "id")
		if !slices.Equal(seen, all) {
			d.Errorf("by pages %q, at once %q", seen, all)
		}
		one, _ := d.compute("2.1", http.MethodGet, "/flavors/"+d.suite.flavor, nil).is(200).at("flavor").(object)
		if one["name"] != d.suite.cloud.Flavor || number(one["ram"]) <= 0 || number(one["vcpus"]) <= 0 || one["swap"] != "" ||
			one["extra_specs"] != nil {
			d.Errorf("flavor %v", one)
		}
		late, _ := d.compute("2.75", http.MethodGet, "/flavors/"+d.suite.flavor, nil).is(200).at("flavor").(object)
		if specs, is := late["extra_specs"].(object); !is || late["swap"] != 0.0 {
			d.Errorf("at 2.75 the flavor has %v and the swap %v", specs, late["swap"])
		}
		d.compute("2.1", http.MethodGet, "/flavors?marker=none", nil).refused(400, "marker [none] not found")
		d.compute("2.1", http.MethodGet, "/flavors/none", nil).refused(404, "Flavor none could not be found.")
	}},
	{"limits, quotas and usage are told", func(d *desk) {
		d.boot(d.room(), order{})
		limits, _ := d.compute("2.1", http.MethodGet, "/limits", nil).is(200).at("limits", "absolute").(object)
		if number(limits["maxTotalInstances"]) <= 0 || number(limits["totalInstancesUsed"]) < 1 || number(limits["totalRAMUsed"]) <= 0 {
			d.Errorf("limits %v", limits)
		}
		quota, _ := d.compute("2.1", http.MethodGet, "/os-quota-sets/"+d.admin.projectID, nil).is(200).at("quota_set").(object)
		if quota["id"] != d.admin.projectID || number(quota["instances"]) <= 0 || quota["cores"] == nil || quota["ram"] == nil {
			d.Errorf("quota %v", quota)
		}
		d.compute("2.1", http.MethodGet, "/os-quota-sets/none", nil).refused(400, "Project ID none is not a valid project.")
		// Without a query the usage is that of this moment, and the database rounds launched_at to a whole second that may lie ahead.
		d.until("the project's usage to tell of the instance", func() bool {
			usages := d.compute("2.1", http.MethodGet, "/os-simple-tenant-usage?detailed=1", nil).is(200).list("tenant_usages")
			i := slices.IndexFunc(usages, func(u object) bool { return u["tenant_id"] == d.admin.projectID })
			return i >= 0 && len(list(usages[i]["server_usages"])) >= 1
		})
	}},
	{"keypairs are their user's", func(d *desk) {
		name := d.newName("key")
		const public = "ssh-rsa " +
			"AAAAB3NzaC1yc2EAAAADAQABAAAAQQDeqlg8lUdJzyFfYGitz4vTU1TD08tyfECjt4jYutiNmS9u1DmfKfkKg7X4SC8gfYY0Sv8ekLNcmisepAakIOIX contract"
		made := d.compute("2.2", http.MethodPost, "/os-keypairs", object{"keypair": object{"name": name, "public_key": public}}).is(201)
		if made.at("keypair", "name") != name || made.at("keypair", "private_key") != nil || text(made.at("keypair", "fingerprint")) == "" {
			d.Errorf("made %s", made.raw)
		}
		names := func(l *login) []string {
			var all []string
			for _, k := range d.call(d.Context(), l, "compute", "2.1", http.MethodGet, "/os-keypairs", nil).is(200).list("keypairs") {
				pair, _ := k["keypair"].(object)
				all = append(all, text(pair["name"]))
			}
			return all
		}
		if !slices.Contains(names(d.admin), name) || slices.Contains(names(d.member), name) {
			d.Errorf("keypairs %q and %q", names(d.admin), names(d.member))
		}
		d.compute("2.2", http.MethodPost, "/os-keypairs", object{"keypair": object{"name": name, "public_key": public}}).refused(409,
			"Key pair '%s' already exists.", name)
		d.compute("2.2", http.MethodDelete, "/os-keypairs/"+name, nil).is(204)
		d.compute("2.2", http.MethodGet, "/os-keypairs/"+name, nil).refused(404, "Keypair %s not found for user %s", name, d.admin.userID)
	}},
	{"images are listed, by name too, and shown", func(d *desk) {
		all := d.service(d.member, "image", http.MethodGet, "/v2/images", nil).is(200)
		if ids := field(all.list("images"), "id"); !slices.Contains(ids, d.suite.image) {
			d.Errorf("images %q", ids)
		}
		one := d.service(d.member, "image", http.MethodGet, "/v2/images/"+d.suite.image, nil).is(200)
		if one.at("name") != d.suite.cloud.Image || one.at("status") != "active" || one.at("visibility") != "public" {
			d.Errorf("image %s", one.raw)
		}
		if got := d.service(d.member, "image", http.MethodGet, "/v2/images?name=none-such", nil).is(200).list("images"); len(got) != 0 {
			d.Errorf("images of no name: %v", got)
		}
		gone := d.service(d.member, "image", http.MethodGet, "/v2/images/none-such", nil).is(404)
		if gone.at("message") != "No image found with ID none-such<br /><br />\n\n\n" || gone.at("code") != "404 Not Found" {
			d.Errorf("%s", gone.raw)
		}
	}},
	{"Neutron lists its agents, to an administrator", func(d *desk) {
		for _, agent := range d.service(d.admin, "network", http.MethodGet, "/v2.0/agents", nil).is(200).list("agents") {
			for _, name := range []string{"id", "agent_type", "binary", "host", "alive", "admin_state_up", "heartbeat_timestamp"} {
				if agent[name] == nil {
					d.Errorf("agent %v has no %s", agent, name)
				}
			}
		}
		if got := d.service(d.member, "network", http.MethodGet, "/v2.0/agents", nil).is(200).list("agents"); len(got) != 0 {
			d.Errorf("a member sees the agents %v", got)
		}
		if got := d.service(d.admin, "network", http.MethodGet, "/v2.0/agents?host=none-such", nil).is(200).list("agents"); len(got) != 0 {
			d.Errorf("agents of no host: %v", got)
		}
		gone := d.service(d.admin, "network", http.MethodGet, "/v2.0/agents/none-such", nil).is(404)
		if gone.at("NeutronError", "type") != "AgentNotFound" || gone.at("NeutronError", "message") != "Agent none-such could not be found." {
			d.Errorf("%s", gone.raw)
		}
	}},
	{"Placement has a resource provider for each host, and what its servers take", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		found := d.service(d.admin, "placement", http.MethodGet, "/resource_providers?name="+r.a, nil).is(200).list("resource_providers")
		if len(found) != 1 {
			d.Fatalf("providers called %s: %v", r.a, found)
		}
		id := text(found[0]["uuid"])
		if id != text(d.hypervisorOf("2.53", "", r.a)["id"]) {
			d.Errorf("the provider is %s, the hypervisor is not", id)
		}
		taken, _ := d.service(d.admin, "placement", http.MethodGet, "/allocations/"+s.ID, nil).is(200).at("allocations", id, "resources").(object)
		if number(taken["VCPU"]) != 1 || number(taken["MEMORY_MB"]) <= 0 {
			d.Errorf("the server takes %v", taken)
		}
		usages, _ := d.service(d.admin, "placement", http.MethodGet, "/resource_providers/"+id+"/usages", nil).is(200).at("usages").(object)
		if number(usages["VCPU"]) < 1 {
			d.Errorf("the host's servers take %v", usages)
		}
		d.service(d.member, "placement", http.MethodGet, "/resource_providers", nil).is(403)
	}},
}
