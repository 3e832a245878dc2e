package nova

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

func TestSimFactsOfAnEvacuation(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		ratio := openstack.Options{Clock: apart(), CPURatio: 2}
		cloud := simCloud(t, ratio,
			openstack.ServerSpec{Name: "db", ID: "db", Port: "direct", ImageID: "debian",
				Volumes: []openstack.VolumeSpec{{Name: "keys", Encrypted: true}, {Name: "scratch", Host: "kaas-node-001"}}},
			openstack.ServerSpec{Name: "web", ID: "web"})
		if err := cloud.AddHost(openstack.HostSpec{Name: "kaas-node-004", Zone: "az-2", VCPUs: 8, RAM: 16384, Disk: 100,
			Traits: []string{"CUSTOM_FAST"}}); err != nil {
			t.Fatal(err)
		}
		if err := cloud.AddAggregate(openstack.AggregateSpec{Name: "ssd", Hosts: []string{"kaas-node-002"},
			Metadata: map[string]string{"ssd": "true"}}); err != nil {
			t.Fatal(err)
		}
		group, err := cloud.AddServerGroup(openstack.GroupSpec{Name: "apart", Policy: "anti-affinity", MaxPerHost: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cloud.AddServer(openstack.ServerSpec{Name: "one", ID: "one", Host: "kaas-node-002", Flavor: "m1.medium",
			Group: group}); err != nil {
			t.Fatal(err)
		}
		f := simClient(t, cloud, "sim").EvacuationFacts(t.Context(),
			core.EvacuationQuery{Hosts: []string{"kaas-node-001"}, Traits: []string{"CUSTOM_FAST", "CUSTOM_NONE"}}, nil)
		if len(f.Missing) > 0 {
			t.Fatalf("%s: %v", f.Missing[0].What, f.Missing[0].Err)
		}
		if f.Microversion != 93 || f.PinnedZones != nil {
			t.Errorf("microversion %d, zones %v", f.Microversion, f.PinnedZones)
		}
		if len(f.Inventories) != 4 || f.Inventories[0].Host != "kaas-node-001" {
			t.Fatalf("inventories %+v", f.Inventories)
		}
		first := f.Inventories[0]
		if c := first.Classes["VCPU"]; c.Capacity() != 128 || c.MaxUnit != 64 {
			t.Errorf("vCPUs %+v", c)
		}
		if c := first.Classes["MEMORY_MB"]; c.MaxUnit != 262144 || c.Capacity() != 262144-512 || first.Used["MEMORY_MB"] != 8192 {
			t.Errorf("memory %+v, used %v", c, first.Used)
		}
		if second := f.Inventories[1]; second.Used["VCPU"] != 2 || second.Allocations != nil {
			t.Errorf("the host that was not asked about is %+v", second)
		}
		if a := first.Allocations["db"]; len(first.Allocations) != 2 || a["VCPU"] != 2 || a["MEMORY_MB"] != 4096 || a["DISK_GB"] != 40 {
			t.Errorf("allocations %v", first.Allocations)
		}
		if !slices.Equal(f.Traits["CUSTOM_FAST"], []string{"kaas-node-004"}) || len(f.Traits["CUSTOM_NONE"]) != 0 {
			t.Errorf("traits %v", f.Traits)
		}
		i := slices.IndexFunc(f.Aggregates, func(a core.Aggregate) bool { return a.Name == "ssd" })
		if i < 0 || f.Aggregates[i].Metadata["ssd"] != "true" {
			t.Errorf("aggregates %+v", f.Aggregates)
		}
		if len(f.ServerGroups) != 1 || f.ServerGroups[0].MaxPerHost != 2 || !slices.Equal(f.ServerGroups[0].Members, []string{"one"}) {
			t.Errorf("server groups %+v", f.ServerGroups)
		}
		if len(f.Ports) != 1 || f.Ports[0].Instance != "db" || f.Ports[0].VNICType != "direct" {
			t.Errorf("ports %+v", f.Ports)
		}
		hosts := map[string]string{}
		for _, v := range f.Volumes {
			hosts[fmt.Sprint(v.Name, " ", v.Encrypted, " ", v.Instances)] = v.Host
		}
		if len(hosts) != 2 || hosts["keys true [db]"] != "openstack@volumes-hdd#volumes-hdd" ||
			hosts["scratch false [db]"] != "kaas-node-001@lvm#lvm" {
			t.Errorf("volumes %v", hosts)
		}
	})
}

// A login that may not ask is told so for each list, also for those that are silently limited to its own project.
func TestSimFactsOfAnEvacuationForAMember(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web", ID: "web"})
		f := simClient(t, cloud, "sim-demo").EvacuationFacts(t.Context(), core.EvacuationQuery{Hosts: []string{"kaas-node-001"}}, nil)
		kinds := map[string]core.ErrorKind{}
		for _, m := range f.Missing {
			kinds[m.What] = m.Err.Kind
		}
		if kinds[core.FactsRoom] != core.ErrForbidden || kinds[core.FactsAggregates] != core.ErrForbidden {
			t.Errorf("missing are %v", kinds)
		}
		for _, what := range []string{core.FactsGroups, core.FactsVolumes, core.FactsPorts} {
			if kinds[what] != core.ErrForbidden {
				t.Errorf("%s of one project pass for all: %v", what, kinds)
			}
		}
	})
}

// While an instance moves, its place is held twice: by itself on the target and by its migration on the source.
func TestSimRoomDuringAMigration(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()},
			openstack.ServerSpec{Name: "busy", ID: "busy", Behaviour: openstack.Behaviour{NeverConverges: true}})
		c := simClient(t, cloud, "sim")
		if err := writes(t, c, nil).write(doing(core.IntentLiveMigrate, "busy")); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(time.Minute)
		for {
			f := c.EvacuationFacts(t.Context(), core.EvacuationQuery{Hosts: []string{"kaas-node-001", "kaas-node-002", "kaas-node-003"}}, nil)
			held, on := 0, ""
			for _, inv := range f.Inventories {
				held += len(inv.Allocations)
				if inv.Allocations["busy"] != nil {
					on = inv.Host
				}
			}
			if held == 2 && on != "" && on != "kaas-node-001" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d allocations, its own on %q", held, on)
			}
		}
	})
}

func TestFactsOfAnEvacuationFromANewerCloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := inventoryCloud(t, 1)
		f.max = "2.96"
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			reply(w, 200, `{"servers": [{"id": "i1", "pinned_availability_zone": "az-1"}, {"id": "i2", "pinned_availability_zone": null}]}`)
		})
		f.answer("GET /network/v2.0/ports", 200,
			`{"ports": [{"id": "p1", "device_id": "i1", "binding:vnic_type": "macvtap"}, {"id": "p2", "device_id": "i2", "binding:vnic_type": `+
				`"normal"}, {"id": "p3", "device_id": "", "binding:vnic_type": "direct"}]}`)
		facts := f.client().EvacuationFacts(context.Background(), core.EvacuationQuery{Hosts: []string{"cmp-1"}}, nil)
		if zone, ok := facts.PinnedZones["i2"]; facts.Microversion != 96 || facts.PinnedZones["i1"] != "az-1" || !ok || zone != "" {
			t.Errorf("microversion %d, zones %v", facts.Microversion, facts.PinnedZones)
		}
		if len(facts.Ports) != 1 || facts.Ports[0].ID != "p1" {
			t.Errorf("ports %+v", facts.Ports)
		}
		for _, r := range f.seen("servers/detail") {
			if r.microversion != "2.96" || !strings.Contains(r.query, "host=cmp-1") {
				t.Errorf("asked at %s for %s", r.microversion, r.query)
			}
		}
		// This catalog has neither Placement nor Cinder.
		kinds := map[string]core.ErrorKind{}
		for _, m := range facts.Missing {
			kinds[m.What] = m.Err.Kind
		}
		if len(kinds) != 1 || kinds[core.FactsRoom] != core.ErrConfiguration || facts.Volumes == nil || len(facts.Volumes) != 0 {
			t.Errorf("missing are %v, the volumes %v: without Cinder there are none", kinds, facts.Volumes)
		}
	})
}

func TestPlacementsOwnWordsAreKept(t *testing.T) {
	body := `{"errors": [{"status": 403, "title": "Forbidden", "detail": "Access was denied to this resource.\n\n ", "request_id": "req-1"}]}`
	if got := messageOf([]byte(body), 403); got != "Access was denied to this resource." {
		t.Errorf("it is %q", got)
	}
}
