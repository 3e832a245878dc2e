package nova

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// inventoryCloud answers everything that an inventory requests; n groups come in pages.
func inventoryCloud(t *testing.T, groups int) *fakeCloud {
	t.Helper()
	f := newFakeCloud(t)
	f.answer("GET /compute/v2.1/os-services", 200, `{"services": [
		{"id": "s2", "binary": "nova-compute", "host": "cmp-2", "status": "disabled", "state": "down", "disabled_reason": "disk", "zone": "nova"},
		{"id": "s1", "binary": "nova-compute", "host": "cmp-1", "status": "enabled", "state": "up", "zone": "nova"}]}`)
	f.answer("GET /compute/v2.1/servers/detail", 200, `{"servers": [
		{"id": "i2", "name": "b", "tenant_id": "p1", "OS-EXT-SRV-ATTR:host": "cmp-1", "status": "ACTIVE", "tags": [],
		 "OS-EXT-SRV-ATTR:user_data": "c2VjcmV0", "metadata": {"password": "secret"}, "key_name": "secret",
		 "flavor": {"original_name": "m1", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {"hw:cpu_policy": "dedicated"}}},
		{"id": "i1", "name": "a", "tenant_id": "p1", "OS-EXT-SRV-ATTR:host": "cmp-1", "status": "DELETED", "flavor": {}}]}`)
	f.answer("GET /compute/v2.1/os-hypervisors/detail", 200,
		`{"hypervisors": [{"id": "h1", "hypervisor_hostname": "cmp-1.local", "service": {"host": "cmp-1"}, "vcpus": 8, "memory_mb": 16384, `+
			`"local_gb": 100}]}`)
	f.answer("GET /compute/v2.1/os-aggregates", 200,
		`{"aggregates": [{"id": 2, "name": "east", "availability_zone": "east", "hosts": ["cmp-2", "cmp-1"]}, {"id": 1, "name": "ssd", `+
			`"availability_zone": null, "hosts": []}]}`)
	f.on("GET /compute/v2.1/os-server-groups", func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		var list []string
		for i := offset; i < min(groups, offset+limit); i++ {
			list = append(list, fmt.Sprintf(`{"id": "g%04d", "name": "g", "project_id": "p1", "policy": "affinity", "members": ["i2"]}`, i))
		}
		reply(w, 200, `{"server_groups": [`+strings.Join(list, ",")+`]}`)
	})
	f.answer("GET /compute/v2.1/flavors/detail", 200,
		`{"flavors": [{"id": "f1", "name": "m1", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {}}]}`)
	f.answer("GET /identity/v3/projects", 200, `{"projects": [{"id": "p1", "name": "shop"}], "links": {}}`)
	f.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": []}`)
	f.answer("GET /network/v2.0/agents", 200, `{"agents": [
		{"id": "a2", "host": "cmp-2", "binary": "neutron-openvswitch-agent", "alive": false, "admin_state_up": true},
		{"id": "a1", "host": "cmp-1", "binary": "neutron-openvswitch-agent", "alive": true, "admin_state_up": true}]}`)
	return f
}

func TestAnInventoryOfACloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := inventoryCloud(t, 2*pageSize+1)
		inv, missing := f.client().Inventory(t.Context(), nil)
		if len(missing) > 0 {
			t.Fatalf("%s: %v", missing[0].What, missing[0].Err)
		}
		if len(inv.ServerGroups) != 2*pageSize+1 || inv.ServerGroups[0].Policy != "affinity" ||
			!slices.Equal(inv.ServerGroups[0].Members, []string{"i2"}) {
			t.Errorf("%d server groups, the first %+v", len(inv.ServerGroups), inv.ServerGroups[0])
		}
		if len(inv.Instances) != 1 || inv.Instances[0].Flavor().ExtraSpecs["hw:cpu_policy"] != "dedicated" {
			t.Errorf("the instances are %+v", inv.Instances)
		}
		if strings.Contains(fmt.Sprintf("%+v", *inv.Instances[0]), "c2VjcmV0") ||
			strings.Contains(fmt.Sprintf("%+v", *inv.Instances[0]), "secret") {
			t.Errorf("user data, metadata or a key pair was kept: %+v", *inv.Instances[0])
		}
		if len(inv.Services) != 2 || inv.Services[0].Host != "cmp-1" || inv.Services[1].DisabledReason != "disk" {
			t.Errorf("the services are %+v", inv.Services)
		}
		if want := (core.Hypervisor{Name: "cmp-1.local", Host: "cmp-1", VCPUs: 8, RAMMiB: 16384, DiskGiB: 100}); len(inv.Hypervisors) != 1 ||
			inv.Hypervisors[0] != want {
			t.Errorf("the hypervisors are %+v", inv.Hypervisors)
		}
		if len(inv.Aggregates) != 2 || inv.Aggregates[0].Zone != "east" || !slices.Equal(inv.Aggregates[0].Hosts, []string{"cmp-1", "cmp-2"}) ||
			inv.Aggregates[1].Zone != "" {
			t.Errorf("the aggregates are %+v", inv.Aggregates)
		}
		if len(inv.Agents) != 2 || inv.Agents[0].Host != "cmp-1" || inv.Agents[1].Alive {
			t.Errorf("the network agents are %+v", inv.Agents)
		}
		if len(inv.Flavors) != 1 || inv.Flavors[0].ID != "f1" || len(inv.Projects) != 1 {
			t.Errorf("the flavors are %+v, the projects %+v", inv.Flavors, inv.Projects)
		}
		for _, r := range f.seen("os-hypervisors") {
			if r.microversion != "2.53" { // from 2.88 on there are no figures
				t.Errorf("the hypervisors were asked for at %s", r.microversion)
			}
		}
		for _, r := range f.seen("flavors/detail") {
			if !strings.Contains(r.query, "is_public=None") {
				t.Errorf("the flavors were asked for by %s", r.query)
			}
		}
	})
}

func TestAnInventoryOfACloudSaysWhatIsMissing(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := inventoryCloud(t, 1)
		f.answer("GET /compute/v2.1/os-hypervisors/detail", 403,
			`{"forbidden": {"code": 403, "message": "Policy doesn't allow os_compute_api:os-hypervisors:list-detail to be performed."}}`)
		f.answer("GET /compute/v2.1/os-aggregates", 200, `{"aggregates": null}`)
		inv, missing := f.client().Inventory(t.Context(), nil)
		var what []string
		for _, m := range missing {
			what = append(what, m.What+": "+string(m.Err.Kind))
		}
		if want := []string{"hypervisors: forbidden", "aggregates: error"}; !slices.Equal(what, want) {
			t.Errorf("missing are %q, want %q", what, want)
		}
		if len(inv.Instances) != 1 || len(inv.ServerGroups) != 1 {
			t.Errorf("the rest is not there: %+v", inv)
		}
	})
}

// A server that knows no offset answers the same page again.
func TestServerGroupsOfAnOldCloudEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := inventoryCloud(t, 0)
		f.max = "2.1"
		f.answer("GET /compute/v2.1/os-server-groups", 200,
			`{"server_groups": [{"id": "g1", "name": "g", "policies": ["anti-affinity"], "members": []}]}`)
		groups, err := f.client().listServerGroups(t.Context())
		if err != nil || len(groups) != 1 || groups[0].Policy != "anti-affinity" {
			t.Errorf("%+v, %v", groups, err)
		}
	})
}
