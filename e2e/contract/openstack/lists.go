package openstack

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// servers lists servers in detail, of all projects, at a microversion.
func (d *desk) servers(microversion string, filters ...string) []object {
	d.Helper()
	query := strings.Join(append(filters, "all_tenants=1"), "&")
	return d.compute(microversion, http.MethodGet, "/servers/detail?"+query, nil).is(200).list("servers")
}

// found checks that a list has some of the servers and not the others. Other servers of the cloud do not matter.
func (d *desk) found(what string, list []object, want []*server, not []*server) {
	d.Helper()
	ids := field(list, "id")
	for _, s := range want {
		if !slices.Contains(ids, s.ID) {
			d.Errorf("%s: %s is missing", what, s.Name)
		}
	}
	for _, s := range not {
		if slices.Contains(ids, s.ID) {
			d.Errorf("%s: %s should not be there", what, s.Name)
		}
	}
}

var listCases = []testCase{
	{"servers come by pages, the newest first, with a link to the next page while one is full", func(d *desk) {
		r := d.room()
		zone := "availability_zone=" + r.zone
		var all []*server
		for range 3 {
			all = append(all, d.boot(r, order{})) // one after the other, in different seconds or in the order of their numbers
		}
		slices.Reverse(all)
		var ids []string
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		next, seen := d.admin.endpoints["compute"]+"/servers?all_tenants=1&limit=2&"+zone, []string{}
		for pages := 0; next != ""; pages++ {
			if pages > 3 {
				d.Fatalf("there is no end to the pages: %s", next)
			}
			a := d.send(d.Context(), http.MethodGet, next, http.Header{"X-Auth-Token": {d.admin.token}}, nil).is(200)
			seen = append(seen, field(a.list("servers"), "id")...)
			next = ""
			for _, link := range list(a.at("servers_links")) {
				if link["rel"] == "next" {
					next = text(link["href"])
				}
			}
		}
		if slices.Sort(seen); !slices.Equal(seen, slices.Sorted(slices.Values(ids))) {
			d.Errorf("the pages have %q, want %q", seen, ids)
		}
		after := field(d.servers("2.1", zone, "marker="+all[0].ID), "id")
		if slices.Contains(after, all[0].ID) || len(after) != 2 {
			d.Errorf("after the marker: %q, want two others", after)
		}
	}},
	{"a limit or a marker that is none is refused", func(d *desk) {
		for _, bad := range []string{"-1", "many"} {
			d.compute("2.1", http.MethodGet, "/servers?limit="+bad, nil).
				refused(400, "Invalid input for query parameters limit. Value: %s. '%s' does not match '^[0-9]*$'", bad, bad)
		}
		d.compute("2.1", http.MethodGet, "/servers?marker=none", nil).refused(400, "marker [none] not found")
		d.compute("2.1", http.MethodGet, "/servers?limit=0&marker=none", nil).refused(400, "marker [none] not found")
		if got := d.compute("2.1", http.MethodGet, "/servers?limit=0", nil).is(200).list("servers"); len(got) != 0 {
			d.Errorf("a page of none has %d", len(got))
		}
	}},
	{"servers are found by host, status, name, zone and project", func(d *desk) {
		r := d.room()
		both := d.boots(r, order{host: r.a}, order{host: r.b, as: nil}, order{as: d.member})
		onA, onB, others := both[0], both[1], both[2]
		onB.act("2.1", "os-stop", nil).is(202)
		onB.settles("SHUTOFF")
		d.found("on "+r.a, d.servers("2.1", "host="+r.a), []*server{onA}, []*server{onB})
		d.found("on no host", d.servers("2.1", "host=none"), nil, both)
		d.found("stopped", d.servers("2.1", "status=SHUTOFF"), []*server{onB}, []*server{onA, others})
		d.found("stopped or active", d.servers("2.1", "status=SHUTOFF", "status=active"), both, nil)
		d.found("by name", d.servers("2.1", "name=^"+onA.Name+"$"), []*server{onA}, []*server{onB, others})
		d.found("in the zone", d.servers("2.1", "availability_zone="+r.zone), both, nil)
		d.found("of the member's project", d.servers("2.1", "project_id="+d.member.projectID), []*server{others}, []*server{onA, onB})
		own := d.compute("2.1", http.MethodGet, "/servers/detail", nil).is(200).list("servers")
		d.found("of the own project", own, []*server{onA, onB}, []*server{others})
		mine := d.call(d.Context(), d.member, "compute", "2.1", http.MethodGet, "/servers/detail?host="+r.a+"&project_id="+d.admin.projectID,
			nil).is(200).list("servers")
		d.found("of the member, whose filters for administrators are ignored", mine, []*server{others}, []*server{onA, onB})
	}},
	{"a filter that Nova does not know is ignored before 2.75 and refused since", func(d *desk) {
		d.compute("2.74", http.MethodGet, "/servers?shoe_size=46", nil).is(200)
		d.compute("2.75", http.MethodGet, "/servers?shoe_size=46", nil).refused(400, "'shoe_size' does not match any of the regexes: '^_'")
		if got := d.compute("2.37", http.MethodGet, "/servers?status=ASLEEP", nil).is(200).list("servers"); len(got) != 0 {
			d.Errorf("servers of a status that there is not: %v", got)
		}
		d.compute("2.38", http.MethodGet, "/servers?status=ASLEEP", nil).refused(400, "Invalid status value")
		d.compute("2.1", http.MethodGet, "/servers?all_tenants=perhaps", nil).
			refused(400,
				"Unrecognized value 'perhaps', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'")
		d.call(d.Context(), d.member, "compute", "2.1", http.MethodGet, "/servers?status=deleted", nil).refused(403,
			"Only administrators may list deleted instances")
	}},
	{"servers are found by their tags", func(d *desk) {
		r := d.room()
		tags := [][]string{{"one", "two"}, {"one"}, {}}
		var orders []order
		for _, t := range tags {
			orders = append(orders, order{also: object{"tags": t}})
		}
		made := d.boots(r, orders...)
		two, one, none := made[0], made[1], made[2]
		for _, c := range []struct {
			filter    string
			want, not []*server
		}{
			{"tags=one", []*server{two, one}, []*server{none}},
			{"tags=one,two", []*server{two}, []*server{one, none}},
			{"tags-any=two,three", []*server{two}, []*server{one, none}},
			{"not-tags=one,two", []*server{one, none}, []*server{two}},
			{"not-tags-any=one,three", []*server{none}, []*server{two, one}},
			{"tags=one&not-tags=two", []*server{one}, []*server{two, none}},
		} {
			d.found(c.filter, d.servers("2.26", c.filter), c.want, c.not)
		}
		d.found("tags before they were known", d.servers("2.25", "tags=one"), made, nil)
	}},
	{"what has changed since a moment is told, what was deleted too", func(d *desk) {
		r := d.room()
		made := d.boots(r, order{}, order{})
		stays, goes := made[0], made[1]
		before := d.moment(stays.look()["updated"])
		d.until("a second has passed in the cloud", func() bool {
			return d.moment(d.serviceOf(r.a)["updated_at"]).After(before) || d.moment(d.serviceOf(r.b)["updated_at"]).After(before)
		})
		goes.remove()
		since := "changes-since=" + url.QueryEscape(before.Add(time.Second).Format(time.RFC3339))
		got := d.servers("2.1", since)
		d.found(since, got, []*server{goes}, []*server{stays})
		for _, s := range got {
			if s["id"] == goes.ID && (s["status"] != "DELETED" || s["OS-EXT-STS:vm_state"] != "deleted") {
				d.Errorf("the deleted server is %v, %v", s["status"], s["OS-EXT-STS:vm_state"])
			}
		}
		all := "changes-since=" + url.QueryEscape(before.Add(-time.Hour).Format(time.RFC3339))
		d.found(all, d.servers("2.1", all), made, nil)
		d.found("without a moment", d.servers("2.1"), []*server{stays}, []*server{goes})
		upTo := "changes-before=" + url.QueryEscape(before.Format(time.RFC3339))
		d.found(upTo, d.servers("2.66", upTo), []*server{stays}, []*server{goes})
		d.found("deleted ones", d.servers("2.1", "deleted=1"), []*server{goes}, []*server{stays})
	}},
	{"a moment that is none is refused", func(d *desk) {
		d.compute("2.1", http.MethodGet, "/servers?changes-since=yesterday", nil).
			refused(400, "Invalid input for query parameters changes-since. Value: yesterday. 'yesterday' is not a 'date-time'")
		d.compute("2.66", http.MethodGet, "/servers?changes-since=2030-01-01T00:00:00Z&changes-before=2020-01-01T00:00:00Z", nil).
			refused(400, "The value of changes-since must be less than or equal to changes-before.")
	}},
	{"servers are sorted as asked, by what their viewer may know", func(d *desk) {
		r := d.room()
		made := d.boots(r, order{}, order{})
		var names []string
		for _, s := range d.servers("2.1", "availability_zone="+r.zone, "sort_key=display_name", "sort_dir=asc") {
			names = append(names, text(s["name"]))
		}
		if !slices.IsSorted(names) || len(names) != len(made) {
			d.Errorf("names %q", names)
		}
		d.call(d.Context(), d.member, "compute", "2.1", http.MethodGet, "/servers?sort_key=host", nil).refused(403,
			"Only administrators can sort servers by host")
	}},
}
