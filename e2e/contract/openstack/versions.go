package openstack

import (
	"fmt"
	"net/http"
	"strings"
)

var versionCases = []testCase{
	{"the root of Nova lists its versions without a token", func(d *desk) {
		root := strings.TrimSuffix(d.admin.endpoints["compute"], "/v2.1")
		a := d.send(d.Context(), http.MethodGet, root+"/", nil, nil).is(200)
		versions := a.list("versions")
		if len(versions) != 2 || versions[0]["id"] != "v2.0" || versions[0]["status"] != "SUPPORTED" || versions[1]["id"] != "v2.1" ||
			versions[1]["status"] != "CURRENT" {
			d.Errorf("versions %s", a.raw)
		}
	}},
	{"the document of v2.1 tells the oldest and the newest microversion", func(d *desk) {
		for _, slash := range []string{"", "/"} {
			a := d.send(d.Context(), http.MethodGet, d.admin.endpoints["compute"]+slash, nil, nil).is(200)
			if a.at("version", "id") != "v2.1" || a.at("version", "min_version") != "2.1" || a.at("version", "version") != "2.93" {
				d.Errorf("version %s", a.raw)
			}
		}
	}},
	{"an answer says the microversion it has: 2.1 when none was asked for, the newest for latest", func(d *desk) {
		for asked, want := range map[string]string{"": "2.1", "2.1": "2.1", "2.53": "2.53", "latest": "2.93"} {
			a := d.compute(asked, http.MethodGet, "/flavors", nil).is(200)
			if got := a.header.Get("OpenStack-API-Version"); got != "compute "+want {
				d.Errorf("asked for %q: OpenStack-API-Version %q, want %q", asked, got, "compute "+want)
			}
			if got := a.header.Get("X-OpenStack-Nova-API-Version"); got != want {
				d.Errorf("asked for %q: X-OpenStack-Nova-API-Version %q, want %q", asked, got, want)
			}
			if vary := strings.Join(a.header.Values("Vary"), ", "); !strings.Contains(vary, "OpenStack-API-Version") ||
				!strings.Contains(vary, "X-OpenStack-Nova-API-Version") {
				d.Errorf("asked for %q: Vary %q", asked, vary)
			}
			if id := a.header.Get("X-Openstack-Request-Id"); !strings.HasPrefix(id, "req-") || a.header.Get("X-Compute-Request-Id") != id {
				d.Errorf("the request ID is %q", id)
			}
		}
	}},
	{"the old header is understood as well", func(d *desk) {
		header := http.Header{"X-Auth-Token": {d.admin.token}, "X-Openstack-Nova-Api-Version": {"2.5"}}
		a := d.send(d.Context(), http.MethodGet, d.admin.endpoints["compute"]+"/flavors", header, nil).is(200)
		if got := a.header.Get("OpenStack-API-Version"); got != "compute 2.5" {
			d.Errorf("OpenStack-API-Version %q", got)
		}
	}},
	{"a microversion that is too new or too old is refused with 406", func(d *desk) {
		for _, asked := range []string{"2.94", "2.999", "2.0", "3.0"} {
			a := d.compute(asked, http.MethodGet, "/flavors", nil)
			a.refused(406, "Version %s is not supported by the API. Minimum is 2.1 and maximum is 2.93.", asked)
			if got := a.header.Get("OpenStack-API-Version"); got != "compute "+asked {
				d.Errorf("asked for %s: OpenStack-API-Version %q", asked, got)
			}
		}
	}},
	{"a microversion that is none is refused with 400", func(d *desk) {
		for _, asked := range []string{"two", "2", "2.01"} {
			d.compute(asked, http.MethodGet, "/flavors", nil).
				refused(400, "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
		}
	}},
	{"what a microversion does not have yet, or no more, is not found", func(d *desk) {
		const none = "11111111-1111-4111-8111-111111111111"
		for path, asked := range map[string]string{
			"/servers/" + none + "/tags": "2.25", "/servers/" + none + "/migrations": "2.22", "/os-hypervisors/statistics": "2.88",
			"/os-hypervisors/x/search": "2.53",
		} {
			d.compute(asked, http.MethodGet, path, nil).refused(404, "The resource could not be found.")
		}
	}},
	{"an address that Nova has not is not found, in words of its own", func(d *desk) {
		a := d.compute("", http.MethodGet, "/no-such-thing", nil).is(404)
		if want := "The resource could not be found.<br /><br />\n\n\n"; a.at("message") != want || a.at("code") != "404 Not Found" ||
			a.at("title") != "Not Found" {
			d.Errorf("%s, want the message %q", a.raw, want)
		}
	}},
	{"fields come and go with the microversion", func(d *desk) {
		s := d.boot(d.room(), order{})
		for _, c := range []struct {
			field string
			since int
		}{
			{"OS-EXT-SRV-ATTR:host", 1}, {"OS-EXT-SRV-ATTR:reservation_id", 3}, {"locked", 9}, {"host_status", 16}, {"description", 19},
			{"tags", 26},
			{"trusted_image_certificates", 63}, {"server_groups", 71}, {"locked_reason", 73},
		} {
			for _, minor := range []int{c.since - 1, c.since} {
				if minor < 1 {
					continue
				}
				fields, _ := s.ask(fmt.Sprintf("2.%d", minor), "").is(200).at("server").(object)
				if _, has := fields[c.field]; has != (minor >= c.since) {
					d.Errorf("at 2.%d a server has %s: %v", minor, c.field, has)
				}
			}
		}
		for asked, want := range map[string]string{"2.46": "id", "2.47": "original_name"} {
			if flavor, _ := s.ask(asked, "").is(200).at("server", "flavor").(object); text(flavor[want]) == "" {
				d.Errorf("at %s the flavor is %v, want a field %s", asked, flavor, want)
			}
		}
	}},
}
