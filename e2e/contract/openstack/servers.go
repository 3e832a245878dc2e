package openstack

import (
	"maps"
	"net/http"
	"slices"
)

var serverCases = []testCase{
	{"a server is built, runs where it was asked for, and is gone once it is deleted", func(d *desk) {
		r := d.room()
		s := d.create(r, order{host: r.b, also: object{"tags": []string{"a"}, "metadata": object{"k": "v"}, "description": "of the contract"}})
		s.passes("BUILD scheduling", "BUILD", "BUILD networking", "BUILD block_device_mapping", "BUILD spawning", "ACTIVE")
		got := s.look()
		for name, want := range map[string]any{
			"name": s.Name, "OS-EXT-SRV-ATTR:host": r.b, "OS-EXT-STS:vm_state": "active", "OS-EXT-STS:power_state": 1.0,
			"tenant_id": d.admin.projectID, "user_id": d.admin.userID,
			"OS-EXT-AZ:availability_zone": r.zone, "locked": false, "host_status": "UP", "description": "of the contract", "progress": 0.0,
		} {
			if got[name] != want {
				d.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
		if tags, _ := got["tags"].([]any); !slices.Equal(tags, []any{"a"}) {
			d.Errorf("tags %v", got["tags"])
		}
		if meta, _ := got["metadata"].(object); !maps.Equal(meta, object{"k": "v"}) {
			d.Errorf("metadata %v", got["metadata"])
		}
		if image, _ := got["image"].(object); text(image["id"]) != d.suite.image {
			d.Errorf("image %v", got["image"])
		}
		d.compute("2.1", http.MethodDelete, "/servers/"+s.ID, nil).is(204)
		d.until("the server is gone", func() bool { return s.ask("2.1", "").status == 404 })
		s.ask("2.1", "").refused(404, "Instance %s could not be found.", s.ID)
		d.compute("2.1", http.MethodDelete, "/servers/"+s.ID, nil).refused(404, "Instance %s could not be found.", s.ID)
		s.act("2.1", "os-stop", nil).refused(404, "Instance %s could not be found.", s.ID)
	}},
	{"a server that cannot be is refused with what is wrong", func(d *desk) {
		good := object{"name": "never", "imageRef": d.suite.image, "flavorRef": d.suite.flavor, "networks": "none"}
		for _, c := range []struct {
			name    string
			value   any
			message string
		}{
			{"flavorRef", "none-such", "Flavor none-such could not be found."},
			{"imageRef", "x", "Invalid input for field/attribute imageRef. Value: x. 'x' is not valid under any of the given schemas"},
			{"name", "", "Invalid input for field/attribute name. Value: . '' is too short"},
			{"networks", "some", "Invalid input for field/attribute networks. Value: some. 'some' is not valid under any of the given schemas"},
			{"availability_zone", "none-such", "The requested availability zone is not available"},
			{"host", "none-such", "Compute host none-such could not be found."},
			{"tags", []string{"a/b"}, "Invalid input for field/attribute 0. Value: a/b. 'a/b' does not match '^[^,/]*$'"},
			{"key_name", "none-such", "Invalid key_name provided."},
		} {
			bad := maps.Clone(good)
			bad[c.name] = c.value
			d.compute("2.79", http.MethodPost, "/servers", object{"server": bad}).refused(400, "%s", c.message)
		}
		d.compute("2.79", http.MethodPost, "/servers", object{}).refused(400, "'server' is a required property")
		d.compute("2.79", http.MethodPost, "/servers", object{"server": object{}}).
			refused(400, "Invalid input for field/attribute server. Value: {}. 'name' is a required property")
		d.compute("2.36", http.MethodPost, "/servers", object{"server": good}).
			refused(400, "Invalid input for field/attribute networks. Value: none. 'none' is not of type 'array'")
	}},
	{"a server that no host can take ends in ERROR with the scheduler's words", func(d *desk) {
		r := d.room()
		// Without a host of their own, two at the same time can be given the same one.
		d.boots(r, order{host: r.a, flavor: d.suite.large}, order{host: r.b, flavor: d.suite.large})
		s := d.create(r, order{flavor: d.suite.large})
		got := s.settles("ERROR")
		fault, _ := got["fault"].(object)
		if fault["code"] != 500.0 || fault["message"] != noCandidate || got["OS-EXT-SRV-ATTR:host"] != nil {
			d.Errorf("fault %v on %v", fault, got["OS-EXT-SRV-ATTR:host"])
		}
		d.setService(r.a, object{"status": "disabled"})
		d.setService(r.b, object{"status": "disabled"})
		d.compute("2.79", http.MethodPost, "/servers", object{"server": object{
			"name": "never", "imageRef": d.suite.image, "flavorRef": d.suite.flavor, "networks": "none", "availability_zone": r.zone,
		}}).refused(400, "The requested availability zone is not available")
	}},
	{"metadata is added, replaced and removed", func(d *desk) {
		s := d.boot(d.room(), order{})
		path := "/servers/" + s.ID + "/metadata"
		step := func(method, below string, body any, key string, want object) {
			d.Helper()
			got, _ := d.compute("", method, path+below, body).is(200).at(key).(object)
			if !maps.Equal(got, want) {
				d.Errorf("%s %s: %v, want %v", method, below, got, want)
			}
		}
		step(http.MethodGet, "", nil, "metadata", object{})
		step(http.MethodPut, "/k", object{"meta": object{"k": "v"}}, "meta", object{"k": "v"})
		step(http.MethodPost, "", object{"metadata": object{"a": "b"}}, "metadata", object{"k": "v", "a": "b"})
		step(http.MethodGet, "/a", nil, "meta", object{"a": "b"})
		step(http.MethodPut, "", object{"metadata": object{"z": "b"}}, "metadata", object{"z": "b"})
		d.compute("", http.MethodDelete, path+"/z", nil).is(204)
		d.compute("", http.MethodDelete, path+"/z", nil).refused(404, "Metadata item was not found")
		d.compute("", http.MethodGet, path+"/z", nil).refused(404, "Metadata item was not found")
		step(http.MethodGet, "", nil, "metadata", object{})
	}},
	{"a server is renamed and described", func(d *desk) {
		s := d.boot(d.room(), order{})
		name := d.newName("renamed")
		a := d.compute("2.19", http.MethodPut, "/servers/"+s.ID, object{"server": object{"name": name, "description": "new"}}).is(200)
		if a.at("server", "name") != name || a.at("server", "description") != "new" {
			d.Errorf("server %s", a.raw)
		}
	}},
	{"the console is read, whole and its end", func(d *desk) {
		s := d.boot(d.room(), order{})
		whole := text(s.act("2.1", "os-getConsoleOutput", object{}).is(200).at("output"))
		last := text(s.act("2.1", "os-getConsoleOutput", object{"length": 1}).is(200).at("output"))
		if whole == "" || last == "" || len(last) >= len(whole) || whole[len(whole)-len(last):] != last {
			d.Errorf("the console says %q, its last line is %q", whole, last)
		}
	}},
	{"what a server without networks, volumes and groups has is an empty list", func(d *desk) {
		s := d.boot(d.room(), order{})
		for below, key := range map[string]string{"/os-interface": "interfaceAttachments", "/os-volume_attachments": "volumeAttachments",
			"/os-security-groups": "security_groups"} {
			if items := s.ask("2.1", below).is(200).list(key); len(items) != 0 {
				d.Errorf("%s: %v", below, items)
			}
		}
		if got, _ := s.look()["addresses"].(object); len(got) != 0 {
			d.Errorf("addresses %v", got)
		}
	}},
	{"an action that is none is refused", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.act("2.1", "os-levitate", nil).refused(400, "There is no such action: os-levitate")
		path := "/servers/" + s.ID + "/action"
		d.compute("2.1", http.MethodPost, path, object{}).refused(400, "Malformed request body")
		d.compute("2.1", http.MethodPost, path, object{"os-stop": nil, "os-start": nil}).refused(400, "Malformed request body")
		d.compute("2.1", http.MethodPost, path, []string{"os-stop"}).refused(404, "The resource could not be found.")
	}},
}
