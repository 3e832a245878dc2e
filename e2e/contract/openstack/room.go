package openstack

import (
	"maps"
	"net/http"
	"slices"

	"lockstep/core"
)

// placement asks Placement at a microversion of its own.
func (d *desk) placement(microversion, path string) *answer {
	d.Helper()
	header := http.Header{"X-Auth-Token": {d.admin.token}}
	if microversion != "" {
		header.Set("OpenStack-API-Version", "placement "+microversion)
	}
	return d.send(d.Context(), http.MethodGet, d.admin.endpoints["placement"]+path, header, nil)
}

// roomCases are what the forecast of an evacuation rests on.
var roomCases = []testCase{
	{"Placement tells roots from 1.14 on, and finds by traits from 1.18 on", func(d *desk) {
		host := d.suite.cloud.Hosts[0]
		old := d.placement("", "/resource_providers?name="+host).is(200).list("resource_providers")
		late := d.placement("1.18", "/resource_providers?name="+host).is(200).list("resource_providers")
		if len(old) != 1 || len(late) != 1 {
			d.Fatalf("providers %v and %v", old, late)
		}
		if _, told := old[0]["root_provider_uuid"]; told || late[0]["root_provider_uuid"] != late[0]["uuid"] {
			d.Errorf("at 1.0 %v, at 1.18 %v", old[0], late[0])
		}
		traits, _ := d.placement("1.6", "/resource_providers/"+text(late[0]["uuid"])+"/traits").is(200).at("traits").([]any)
		if len(traits) == 0 {
			d.Fatal("the host has no traits")
		}
		found := d.placement("1.18", "/resource_providers?required="+text(traits[0])).is(200).list("resource_providers")
		if !slices.Contains(field(found, "uuid"), text(late[0]["uuid"])) {
			d.Errorf("providers with %s: %v", traits[0], found)
		}
		d.placement("1.18", "/resource_providers?required=CUSTOM_NO_SUCH_TRAIT").is(400)
		d.placement("1.17", "/resource_providers?required="+text(traits[0])).is(400)
		d.placement("1.999", "/resource_providers").is(406)
	}},
	{"an inventory tells total, reserved, ratio and the most of one server; allocations tell what each server takes", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		found := d.placement("1.18", "/resource_providers?name="+r.a).is(200).list("resource_providers")
		if len(found) != 1 {
			d.Fatalf("providers called %s: %v", r.a, found)
		}
		path := "/resource_providers/" + text(found[0]["uuid"])
		inventories, _ := d.placement("1.18", path+"/inventories").is(200).at("inventories").(object)
		for _, class := range []string{"VCPU", "MEMORY_MB", "DISK_GB"} {
			i, _ := inventories[class].(object)
			for _, name := range []string{"total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio"} {
				if _, told := i[name].(float64); !told {
					d.Errorf("of %s there is no %s: %v", class, name, i)
				}
			}
		}
		usages, _ := d.placement("1.18", path+"/usages").is(200).at("usages").(object)
		sum := map[string]int{}
		allocations, _ := d.placement("1.18", path+"/allocations").is(200).at("allocations").(object)
		for _, a := range allocations {
			held, _ := a.(object)
			resources, _ := held["resources"].(object)
			for class, n := range resources {
				sum[class] += number(n)
			}
		}
		for class, n := range usages {
			if sum[class] != number(n) {
				d.Errorf("%v of %s is used, and %d allocated", n, class, sum[class])
			}
		}
		if _, held := allocations[s.ID]; !held {
			d.Errorf("%s holds nothing of %s: %v", s.ID, r.a, allocations)
		}
	}},
	{"the allocation candidates tell capacity and usage of every host that has a CPU left", func(d *desk) {
		r := d.room()
		d.boot(r, order{host: r.a})
		found := d.placement("1.18", "/resource_providers?name="+r.a).is(200).list("resource_providers")
		if len(found) != 1 {
			d.Fatalf("providers called %s: %v", r.a, found)
		}
		id := text(found[0]["uuid"])
		usages, _ := d.placement("1.18", "/resource_providers/"+id+"/usages").is(200).at("usages").(object)
		inventories, _ := d.placement("1.18", "/resource_providers/"+id+"/inventories").is(200).at("inventories").(object)
		a := d.placement("1.29", "/allocation_candidates?resources=VCPU:1").is(200)
		summary, _ := a.at("provider_summaries", id).(object)
		resources, _ := summary["resources"].(object)
		if summary["root_provider_uuid"] != id || len(resources) < 3 {
			d.Fatalf("the summary is %v", summary)
		}
		for class, told := range resources {
			i, _ := inventories[class].(object)
			ratio, _ := i["allocation_ratio"].(float64)
			of, _ := told.(object)
			if want := int(float64(number(i["total"])-number(i["reserved"])) * ratio); number(of["capacity"]) != want ||
				number(of["used"]) != number(usages[class]) {
				d.Errorf("of %s it tells %v, want a capacity of %d and %v used", class, of, want, usages[class])
			}
		}
		d.placement("1.9", "/allocation_candidates?resources=VCPU:1").is(404)
		d.placement("1.29", "/allocation_candidates").is(400)
		none := d.placement("1.29", "/allocation_candidates?resources=VCPU:1000000").is(200)
		if summaries, _ := none.at("provider_summaries").(object); len(summaries) != 0 {
			d.Errorf("hosts with a million free CPUs: %v", summaries)
		}
	}},
	{"a server that moves holds its place on the target, its migration that on the source", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{Endless: true})
		s.act("2.25", "os-migrateLive", live("")).is(202)
		holders := func(host string) []string {
			found := d.placement("1.18", "/resource_providers?name="+host).is(200).list("resource_providers")
			if len(found) != 1 {
				d.Fatalf("providers called %s: %v", host, found)
			}
			held, _ := d.placement("1.18", "/resource_providers/"+text(found[0]["uuid"])+"/allocations").is(200).at("allocations").(object)
			return slices.Sorted(maps.Keys(held))
		}
		d.until("the target holds a place for the server", func() bool { return slices.Contains(holders(r.b), s.ID) })
		if on := holders(r.a); len(on) != 1 || on[0] == s.ID {
			d.Errorf("on the source the place is held by %q", on)
		}
		if err := d.writer().does(core.IntentAbortMigration, s, s.migrationID("running")); err != nil {
			d.Fatal(err)
		}
		d.until("the place on the target is given back, and the server has its own again", func() bool {
			return len(holders(r.b)) == 0 && slices.Equal(holders(r.a), []string{s.ID})
		})
	}},
	{"a server group tells how many members a host may have", func(d *desk) {
		name := d.newName("apart")
		made := d.compute("2.64", http.MethodPost, "/os-server-groups",
			object{"server_group": object{"name": name, "policy": "anti-affinity", "rules": object{"max_server_per_host": 3}}}).is(200)
		id := text(made.at("server_group", "id"))
		shown := d.compute("2.64", http.MethodGet, "/os-server-groups/"+id, nil).is(200)
		if number(shown.at("server_group", "rules", "max_server_per_host")) != 3 {
			d.Errorf("the group is %s", shown.raw)
		}
		d.compute("2.64", http.MethodPost, "/os-server-groups",
			object{"server_group": object{"name": name, "policy": "affinity", "rules": object{"max_server_per_host": 3}}}).is(400)
		d.compute("2.64", http.MethodDelete, "/os-server-groups/"+id, nil).is(204)
	}},
	{"the adapter reads room, groups and ports, and says what it could not read", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		facts := d.novaClient().EvacuationFacts(d.Context(),
			core.EvacuationQuery{Hosts: []string{r.a}, Traits: []string{"COMPUTE_NODE", "CUSTOM_NO_SUCH_TRAIT"}}, nil)
		for _, m := range facts.Missing {
			if m.What != core.FactsVolumes { // there may be no Cinder
				d.Errorf("%s: %v", m.What, m.Err)
			}
		}
		i := slices.IndexFunc(facts.Inventories, func(inv core.HostInventory) bool { return inv.Host == r.a })
		if i < 0 {
			d.Fatalf("no inventory of %s among %d", r.a, len(facts.Inventories))
		}
		inv := facts.Inventories[i]
		if taken := inv.Allocations[s.ID]; taken["VCPU"] != 1 || taken["MEMORY_MB"] <= 0 ||
			inv.Classes["MEMORY_MB"].Capacity() <= taken["MEMORY_MB"] {
			d.Errorf("of %+v it takes %v", inv.Classes, taken)
		}
		if len(facts.Traits["CUSTOM_NO_SUCH_TRAIT"]) != 0 {
			d.Errorf("hosts with a trait that nobody knows: %v", facts.Traits)
		}
		if !slices.ContainsFunc(facts.Aggregates, func(a core.Aggregate) bool { return a.Zone == r.zone && slices.Contains(a.Hosts, r.a) }) {
			d.Errorf("aggregates %+v", facts.Aggregates)
		}
	}},
}
