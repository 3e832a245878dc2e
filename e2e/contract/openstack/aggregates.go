package openstack

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

var aggregateCases = []testCase{
	{"an aggregate is made, filled, described, emptied and deleted", func(d *desk) {
		r := d.room()
		name := d.newName("aggregate")
		made := d.compute("2.41", http.MethodPost, "/os-aggregates", object{"aggregate": object{"name": name}}).is(200)
		if made.at("aggregate", "availability_zone") != nil || text(made.at("aggregate", "uuid")) == "" {
			d.Errorf("made %s", made.raw)
		}
		id := fmt.Sprint(made.at("aggregate", "id"))
		path := "/os-aggregates/" + id
		d.compute("2.1", http.MethodPost, "/os-aggregates", object{"aggregate": object{"name": name}}).refused(409,
			"Aggregate %s already exists.", name)
		act := func(action string, args object) *answer {
			return d.compute("2.41", http.MethodPost, path+"/action", object{action: args})
		}
		act("add_host", object{"host": r.a}).is(200)
		act("add_host", object{"host": r.a}).refused(409, "Aggregate %s already has host %s.", id, r.a)
		act("add_host", object{"host": "none-such"}).refused(404, "Compute host none-such could not be found.")
		act("remove_host", object{"host": r.b}).refused(404, "Cannot remove host %s in aggregate %s", r.b, id)
		act("set_metadata", object{"metadata": object{"ssd": "true", "gpu": "no"}}).is(200)
		act("set_metadata", object{"metadata": object{"gpu": nil}}).is(200)
		act("levitate", object{}).refused(400, "There is no such action: levitate")
		shown := d.compute("2.41", http.MethodGet, path, nil).is(200)
		hosts, _ := shown.at("aggregate", "hosts").([]any)
		metadata, _ := shown.at("aggregate", "metadata").(object)
		if !slices.Equal(hosts, []any{r.a}) || !maps.Equal(metadata, object{"ssd": "true"}) || shown.at("aggregate", "deleted") != false {
			d.Errorf("aggregate %s", shown.raw)
		}
		listed := field(d.compute("2.1", http.MethodGet, "/os-aggregates", nil).is(200).list("aggregates"), "name")
		if !slices.Contains(listed, name) || !slices.Contains(listed, r.zone) {
			d.Errorf("aggregates %q", listed)
		}
		d.compute("2.1", http.MethodDelete, path, nil).refused(400, "Cannot remove host from aggregate %s. Reason: Host aggregate is not empty.",
			id)
		act("remove_host", object{"host": r.a}).is(200)
		d.compute("2.1", http.MethodDelete, path, nil).is(200)
		d.compute("2.1", http.MethodGet, path, nil).refused(404, "Aggregate %s could not be found.", id)
		d.compute("2.1", http.MethodDelete, path, nil).refused(404, "Aggregate %s could not be found.", id)
		d.compute("2.1", http.MethodGet, "/os-aggregates/x", nil).refused(400, "Invalid input received: id must be an integer")
	}},
	{"a server group keeps its members apart, for its project only", func(d *desk) {
		r := d.room()
		name := d.newName("group")
		made := d.compute("2.64", http.MethodPost, "/os-server-groups",
			object{"server_group": object{"name": name, "policy": "anti-affinity"}}).is(200)
		id := text(made.at("server_group", "id"))
		path := "/os-server-groups/" + id
		hinted := func() *answer {
			return d.compute("2.79", http.MethodPost, "/servers", object{
				"server": object{"name": d.newName("apart"), "imageRef": d.suite.image, "flavorRef": d.suite.flavor, "networks": "none",
					"availability_zone": r.zone},
				"os:scheduler_hints": object{"group": id},
			})
		}
		var members []string
		hosts := map[string]bool{}
		for range 2 {
			s := &server{desk: d, Server: Server{ID: text(hinted().is(202).at("server", "id")), Name: "a member of " + name}}
			d.Cleanup(s.remove)
			s.settles("ACTIVE")
			members = append(members, s.ID)
			hosts[s.host()] = true
			if groups, _ := s.look()["server_groups"].([]any); !slices.Equal(groups, []any{id}) {
				d.Errorf("the member's groups are %v", groups)
			}
		}
		if len(hosts) != 2 {
			d.Errorf("the members are on %v, want both hosts", hosts)
		}
		first := &server{desk: d, Server: Server{ID: members[0]}}
		first.act("2.25", "os-migrateLive", live("")).refused(400, noValidHost)
		shown := d.compute("2.64", http.MethodGet, path, nil).is(200)
		got, _ := shown.at("server_group", "members").([]any)
		if len(got) != 2 || shown.at("server_group", "policy") != "anti-affinity" || shown.at("server_group", "project_id") != d.admin.projectID {
			d.Errorf("group %s", shown.raw)
		}
		old := d.compute("2.1", http.MethodGet, path, nil).is(200)
		if policies, _ := old.at("server_group", "policies").([]any); !slices.Equal(policies, []any{"anti-affinity"}) {
			d.Errorf("at 2.1 the group is %s", old.raw)
		}
		d.call(d.Context(), d.member, "compute", "2.64", http.MethodGet, path, nil).refused(404, "Instance group %s could not be found.", id)
		if ids := field(d.compute("2.64", http.MethodGet, "/os-server-groups", nil).is(200).list("server_groups"), "id"); !slices.Contains(ids,
			id) {
			d.Errorf("groups %q", ids)
		}
		mine := d.call(d.Context(), d.member, "compute", "2.64", http.MethodGet, "/os-server-groups?all_projects=true", nil).is(200)
		if slices.Contains(field(mine.list("server_groups"), "id"), id) {
			d.Errorf("a member sees the group of another project: %s", mine.raw)
		}
		d.compute("2.1", http.MethodDelete, path, nil).is(204)
		d.compute("2.1", http.MethodGet, path, nil).refused(404, "Instance group %s could not be found.", id)
		d.compute("2.64", http.MethodPost, "/os-server-groups", object{"server_group": object{"name": name, "policy": "love"}}).
			refused(400,
				"Invalid input for field/attribute policy. Value: love. 'love' is not one of ['anti-affinity', 'affinity', 'soft-anti-affinity', "+
					"'soft-affinity']")
	}},
}
