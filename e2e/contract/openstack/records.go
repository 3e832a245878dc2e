package openstack

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// recordsWhere lists migrations at a microversion.
func (d *desk) recordsWhere(microversion, query string) []object {
	d.Helper()
	return d.compute(microversion, http.MethodGet, "/os-migrations?"+query, nil).is(200).list("migrations")
}

var recordCases = []testCase{
	{"records are found by server, type, status and host, the newest first, and by pages", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.34", "os-migrateLive", live(r.b)).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
		s.act("2.34", "os-migrateLive", live("none-such")).is(400)
		s.act("2.34", "os-migrateLive", live(r.b)).is(202)
		s.recorded("live-migration", r.b, "nowhere", "error")
		s.settles("ACTIVE")
		s.act("2.1", "migrate", nil).is(202)
		s.recorded("migration", r.b, r.a, "finished")
		all := []string{"migration " + r.b + " " + r.a + " finished", "live-migration " + r.b + " nowhere error",
			"live-migration " + r.a + " " + r.b + " completed"}

		of := "instance_uuid=" + s.ID
		for query, want := range map[string][]string{
			of:                                    all,
			of + "&migration_type=live-migration": all[1:],
			of + "&status=error":                  all[1:2],
			of + "&source_compute=" + r.a:         all[2:],
			of + "&host=" + r.a:                   {all[0], all[2]},
			of + "&host=none-such":                {},
			of + "&status=asleep":                 {},
			of + "&limit=0":                       {},
		} {
			got := []string{}
			for _, m := range d.recordsWhere("2.59", query) {
				got = append(got, recordText(m))
			}
			if !slices.Equal(got, want) {
				d.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		oldest := field(d.recordsWhere("2.58", of), "id")
		newest := field(d.recordsWhere("2.59", of), "id")
		if slices.Reverse(oldest); !slices.Equal(oldest, newest) {
			d.Errorf("before 2.59 the oldest is first: %q turned round, want %q", oldest, newest)
		}
		if got := len(d.recordsWhere("2.58", of+"&limit=1&shoe_size=46")); got != 3 {
			d.Errorf("before 2.59 there are no pages: %d records, want 3", got)
		}

		page := d.compute("2.59", http.MethodGet, "/os-migrations?limit=2&"+of, nil).is(200)
		links := list(page.at("migrations_links"))
		if len(page.list("migrations")) != 2 || len(links) != 1 || links[0]["rel"] != "next" {
			d.Fatalf("the first page is %s", page.raw)
		}
		rest := d.send(d.Context(), http.MethodGet, text(links[0]["href"]),
			http.Header{"X-Auth-Token": {d.admin.token}, "OpenStack-API-Version": {"compute 2.59"}}, nil).is(200)
		if got := field(rest.list("migrations"), "id"); !slices.Equal(got, newest[2:]) || rest.at("migrations_links") != nil {
			d.Errorf("the second page is %s", rest.raw)
		}
	}},
	{"records are found by the moment of their change", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.34", "os-migrateLive", live(r.b)).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
		changed := d.moment(s.records()[0]["updated_at"])
		at := func(offset time.Duration) string { return url.QueryEscape(changed.Add(offset).Format(time.RFC3339)) }
		of := "&instance_uuid=" + s.ID
		for query, want := range map[string]int{
			"changes-since=" + at(0): 1, "changes-since=" + at(time.Second): 0, "changes-since=" + at(-time.Hour): 1,
		} {
			if got := len(d.recordsWhere("2.59", query+of)); got != want {
				d.Errorf("%s: %d records, want %d", query, got, want)
			}
		}
		for query, want := range map[string]int{"changes-before=" + at(0): 1, "changes-before=" + at(-time.Second): 0} {
			if got := len(d.recordsWhere("2.66", query+of)); got != want {
				d.Errorf("%s: %d records, want %d", query, got, want)
			}
		}
	}},
	{"fields of a record come with the microversion", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.34", "os-migrateLive", live(r.b)).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
		for microversion, has := range map[string]map[string]bool{
			"2.1":  {"migration_type": false, "uuid": false, "user_id": false},
			"2.23": {"migration_type": true, "uuid": false, "user_id": false},
			"2.59": {"migration_type": true, "uuid": true, "user_id": false},
			"2.80": {"migration_type": true, "uuid": true, "user_id": true},
		} {
			got := d.recordsWhere(microversion, "instance_uuid="+s.ID)
			if len(got) != 1 {
				d.Fatalf("at %s there are %d records", microversion, len(got))
			}
			for name, want := range has {
				if _, shown := got[0][name]; shown != want {
					d.Errorf("at %s a record has %s: %v", microversion, name, shown)
				}
			}
		}
		if got := s.records()[0]; got["user_id"] != d.admin.userID || got["project_id"] != d.admin.projectID {
			d.Errorf("the record is of %v in %v", got["user_id"], got["project_id"])
		}
		if got := d.recordsWhere("2.80", "instance_uuid="+s.ID+"&user_id="+d.member.userID); len(got) != 0 {
			d.Errorf("records of another user: %v", got)
		}
	}},
	{"a filter, a limit, a marker or a moment that is none is refused from 2.59 on", func(d *desk) {
		for query, message := range map[string]string{
			"shoe_size=46":            "Additional properties are not allowed ('shoe_size' was unexpected)",
			"user_id=x":               "Additional properties are not allowed ('user_id' was unexpected)",
			"limit=many":              "Invalid input for query parameters limit. Value: many. 'many' does not match '^[0-9]*$'",
			"marker=none":             "Marker none could not be found.",
			"changes-since=yesterday": "Invalid input for query parameters changes-since. Value: yesterday. 'yesterday' is not a 'date-time'",
		} {
			d.compute("2.59", http.MethodGet, "/os-migrations?"+query, nil).refused(400, "%s", message)
		}
		d.compute("2.66", http.MethodGet, "/os-migrations?changes-since=2030-01-01T00:00:00Z&changes-before=2020-01-01T00:00:00Z", nil).
			refused(400, "The value of changes-since must be less than or equal to changes-before.")
	}},
	{"the records of a deleted server are gone", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.34", "os-migrateLive", live(r.b)).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
		s.remove()
		if got := s.record(); got != "none" {
			d.Errorf("there is a record: %s", got)
		}
	}},
}
