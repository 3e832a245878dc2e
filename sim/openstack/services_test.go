package openstack_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/aggregates"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/hypervisors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/migrations"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/agents"

	"lockstep/sim/openstack"
)

func (w *world) computeServices(c *gophercloud.ServiceClient) map[string]services.Service {
	w.t.Helper()
	pages, err := services.List(c, services.ListOpts{Binary: "nova-compute"}).AllPages(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := services.ExtractServices(pages)
	if err != nil {
		w.t.Fatal(err)
	}
	byHost := map[string]services.Service{}
	for _, s := range list {
		byHost[s.Host] = s
	}
	return byHost
}

func TestAServiceIsDisabledAndEnabledByItsUUID(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.compute("sim", "2.53")
	n1 := w.computeServices(c)["n1"]
	const reason = "OSDPL: Node is under maintenance"
	got, err := services.Update(t.Context(), c, n1.ID, services.UpdateOpts{Status: services.ServiceDisabled, DisabledReason: reason}).Extract()
	if err != nil || got.Status != "disabled" || got.DisabledReason != reason || got.State != "up" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = services.Update(t.Context(), c, n1.ID, services.UpdateOpts{Status: services.ServiceEnabled}).Extract()
	if err != nil || got.Status != "enabled" || got.DisabledReason != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = services.Update(t.Context(), c, n1.ID, services.UpdateOpts{ForcedDown: true}).Extract()
	if err != nil || !got.ForcedDown {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := w.computeServices(c)["n1"]; s.State != "down" {
		t.Errorf("forced down, the service is %s", s.State)
	}
	for id, want := range map[string]int{"17": 400, "00000000-0000-4000-8000-000000000000": 404} {
		_, err := services.Update(t.Context(), c, id, services.UpdateOpts{Status: services.ServiceEnabled}).Extract()
		if statusOf(err) != want {
			t.Errorf("update of %s: %v, want %d", id, err, want)
		}
	}
}

func TestTheOldFormsOfServiceUpdates(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.compute("sim", "2.11")
	for _, test := range []struct {
		verb   string
		body   map[string]any
		status int
		text   string
	}{
		{"disable", map[string]any{"host": "n1", "binary": "nova-compute"}, 200, `"status":"disabled"`},
		{"disable-log-reason", map[string]any{"host": "n1", "binary": "nova-compute", "disabled_reason": "disk"}, 200,
			`"disabled_reason":"disk"`},
		{"disable-log-reason", map[string]any{"host": "n1", "binary": "nova-compute"}, 400, "Missing disabled reason field"},
		{"enable", map[string]any{"host": "n1", "binary": "nova-compute"}, 200, `"status":"enabled"`},
		{"force-down", map[string]any{"host": "n1", "binary": "nova-compute", "forced_down": true}, 200, `"forced_down":true`},
		{"enable", map[string]any{"host": "nowhere", "binary": "nova-compute"}, 404, "Host 'nowhere' is not mapped to any cell"},
		{"enable", map[string]any{"host": "ctl1", "binary": "nova-scheduler"}, 400, "Only nova-compute services can be updated."},
		{"dance", map[string]any{"host": "n1", "binary": "nova-compute"}, 404, "Unknown action"},
	} {
		if status, body := do(t.Context(), c, http.MethodPut, "os-services/"+test.verb, test.body); status != test.status ||
			!strings.Contains(body, test.text) {
			t.Errorf("%s: %d %s, want %d with %q", test.verb, status, body, test.status, test.text)
		}
	}
}

func TestAHostThatIsPoweredOffAndOn(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	active := w.server("active", openstack.ServerSpec{})
	paused := w.server("paused", openstack.ServerSpec{Status: "PAUSED"})
	off := w.server("off", openstack.ServerSpec{Status: "SHUTOFF"})
	elsewhere := w.server("elsewhere", openstack.ServerSpec{Host: "n2"})
	c := w.compute("sim", "2.53")
	if err := w.PowerOffHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(10 * time.Second)
	if s, _ := w.Server(active); s.Status != "SHUTOFF" || s.PowerState != 4 {
		t.Errorf("a running guest after an ACPI shutdown: %+v", s)
	}
	if s := w.computeServices(c)["n1"]; s.State != "up" {
		t.Error("the service is down before service_down_time has passed")
	}
	w.advance(2 * time.Minute)
	if s := w.computeServices(c)["n1"]; s.State != "down" || s.Status != "enabled" {
		t.Errorf("service: %s %s, want enabled and down", s.Status, s.State)
	}
	if a := w.agents("n1"); a["neutron-openvswitch-agent"] || a["neutron-metadata-agent"] || len(a) != 2 {
		t.Errorf("alive agents: %v", a)
	}
	w.wantState(paused, "PAUSED n1") // Nova has not noticed
	w.act(c, off, "os-start", nil, 202, "")
	w.advance(time.Minute)
	w.wantState(off, "SHUTOFF n1 powering-on") // nothing runs there to do it

	if err := w.PowerOnHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	if s := w.computeServices(c)["n1"]; s.State != "down" {
		t.Error("the service is up before the host has booted")
	}
	w.advance(20 * time.Second)
	if s := w.computeServices(c)["n1"]; s.State != "up" {
		t.Error("the service is still down")
	}
	if a := w.agents("n1"); !a["neutron-openvswitch-agent"] {
		t.Errorf("alive agents: %v", a)
	}
	w.advance(time.Minute)
	w.wantState(active, "ACTIVE n1") // the inhibitor started it again
	w.wantState(paused, "SHUTOFF n1")
	w.wantState(off, "ACTIVE n1")
	w.wantState(elsewhere, "ACTIVE n2")
}

func TestACrashedHostKeepsItsServersActiveUntilItIsBack(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.30")
	if err := w.CrashHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.act(c, id, "evacuate", map[string]any{}, 400, "Compute service of n1 is still in use.")
	w.advance(2 * time.Minute)
	w.wantState(id, "ACTIVE n1")
	if _, body := do(t.Context(), c, http.MethodGet, "servers/"+id, nil); !strings.Contains(body, `"host_status":"UNKNOWN"`) {
		t.Error(body)
	}
	w.act(c, id, "os-migrateLive", live, 400, "Compute service of n1 is unavailable at this time.")
	if err := w.PowerOnHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Minute)
	w.wantState(id, "SHUTOFF n1") // nothing recorded it
}

func TestEvacuation(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.29")
	if err := w.CrashHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Minute)
	w.act(c, id, "evacuate", map[string]any{"host": "n4"}, 200, "")
	w.wantState(id, "REBUILD n1 rebuilding")
	w.advance(time.Minute)
	w.wantState(id, "ACTIVE n4")
}

func TestALiveMigrationLosesAHost(t *testing.T) {
	for _, test := range []struct{ name, host, record, state string }{
		{"the target", "n2", "failed n1→n2", "ACTIVE n1"},
		{"the source", "n1", "error n1→n2", "SHUTOFF n1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			id := w.server("vm", openstack.ServerSpec{Flavor: "medium"})
			c := w.compute("sim", "2.30")
			w.act(c, id, "os-migrateLive", liveTo("n2"), 202, "")
			w.advance(running)
			if err := w.CrashHost(test.host); err != nil {
				t.Fatal(err)
			}
			w.advance(20 * time.Second)
			if err := w.PowerOnHost(test.host); err != nil {
				t.Fatal(err)
			}
			w.advance(time.Minute)
			w.wantState(id, test.state)
			if got := w.record(id); got != test.record {
				t.Errorf("record is %q, want %q", got, test.record)
			}
		})
	}
}

// agents says which agents of a host are alive, by binary.
func (w *world) agents(host string) map[string]bool {
	w.t.Helper()
	p, endpoint, err := w.provider("sim")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.NewNetworkV2(p, endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	pages, err := agents.List(c, agents.ListOpts{Host: host}).AllPages(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := agents.ExtractAgents(pages)
	if err != nil {
		w.t.Fatal(err)
	}
	alive := map[string]bool{}
	for _, a := range list {
		alive[a.Binary] = a.Alive
	}
	return alive
}

func TestAgentsOfAGateway(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	for _, binary := range []string{"neutron-openvswitch-agent", "neutron-l3-agent", "neutron-dhcp-agent", "neutron-metadata-agent"} {
		if !w.agents("gw1")[binary] {
			t.Errorf("no live %s", binary)
		}
	}
}

func TestHypervisors(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	w.server("vm", openstack.ServerSpec{Flavor: "medium"})
	for _, mv := range []string{"2.1", "2.53", "2.88"} {
		pages, err := hypervisors.List(w.compute("sim", mv), nil).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list, err := hypervisors.ExtractHypervisors(pages)
		if err != nil || len(list) != 4 || list[0].HypervisorHostname != "n1" || list[0].State != "up" {
			t.Fatalf("%s: %+v %v", mv, list, err)
		}
		if mv == "2.53" && (list[0].VCPUsUsed != 2 || list[0].RunningVMs != 1) {
			t.Errorf("%+v", list[0])
		}
	}
}

func TestZonesAndAggregates(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if err := w.AddHost(openstack.HostSpec{Name: "z1", Zone: "rack2", VCPUs: 1, RAM: 1, Disk: 1}); err != nil {
		t.Fatal(err)
	}
	c := w.compute("sim", "2.53")
	if _, body := do(t.Context(), c, http.MethodGet, "os-aggregates", nil); !strings.Contains(body, `"availability_zone":"rack2"`) ||
		strings.Contains(body, "n1") {
		t.Error(body)
	}
	if _, body := do(t.Context(), c, http.MethodGet, "os-availability-zone/detail", nil); !strings.Contains(body, `"zoneName":"rack2"`) ||
		!strings.Contains(body, `"n4":{"nova-compute":{"active":true,"available":true`) {
		t.Error(body)
	}
}

func TestAServiceWithInstancesCannotBeDeleted(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.53")
	byHost := w.computeServices(c)
	if err := services.Delete(t.Context(), c, byHost["n1"].ID).ExtractErr(); statusOf(err) != http.StatusConflict {
		t.Errorf("n1: %v, want 409", err)
	}
	if err := services.Delete(t.Context(), c, byHost["n4"].ID).ExtractErr(); err != nil {
		t.Error(err)
	}
	if _, there := w.computeServices(c)["n4"]; there {
		t.Error("n4 still has its service")
	}
}

func TestAServiceWithMigrationsThatHaveNotEndedCannotBeDeleted(t *testing.T) {
	for _, test := range []struct {
		name   string
		begin  func(w *world, c *gophercloud.ServiceClient) string // n2 to n1, or n1 to n3; n1 has no instances then
		record string
		end    func(w *world, c *gophercloud.ServiceClient, id string)
	}{
		{"a live one to it", func(w *world, c *gophercloud.ServiceClient) string {
			id := w.server("vm", openstack.ServerSpec{Host: "n2", Flavor: "medium"})
			w.act(c, id, "os-migrateLive", liveTo("n1"), 202, "")
			w.advance(running)
			return id
		}, "running n2→n1", func(w *world, c *gophercloud.ServiceClient, id string) {
			list := w.records(migrations.ListOpts{InstanceID: &id})
			if status, body := do(w.t.Context(), c, http.MethodDelete, fmt.Sprintf("servers/%s/migrations/%d", id, list[0].ID), nil); status != 202 {
				w.t.Fatalf("abort: %d %s", status, body)
			}
			w.advance(time.Minute)
		}},
		{"a cold one from it that waits to be confirmed", func(w *world, c *gophercloud.ServiceClient) string {
			id := w.server("vm", openstack.ServerSpec{})
			w.act(c, id, "migrate", map[string]string{"host": "n3"}, 202, "")
			w.advance(time.Minute)
			w.wantState(id, "VERIFY_RESIZE n3")
			return id
		}, "finished n1→n3", func(w *world, c *gophercloud.ServiceClient, id string) {
			w.act(c, id, "confirmResize", nil, 204, "")
			w.advance(time.Minute)
		}},
		{"an evacuation to it", func(w *world, c *gophercloud.ServiceClient) string {
			id := w.server("vm", openstack.ServerSpec{Host: "n2"})
			if err := w.CrashHost("n2"); err != nil {
				w.t.Fatal(err)
			}
			w.advance(2 * time.Minute)
			w.act(c, id, "evacuate", map[string]any{"host": "n1"}, 200, "")
			w.advance(2 * time.Second)
			return id
		}, "pre-migrating n2→n1", func(w *world, c *gophercloud.ServiceClient, id string) {
			if status, body := do(w.t.Context(), c, http.MethodDelete, "servers/"+id, nil); status != 204 {
				w.t.Fatalf("delete: %d %s", status, body)
			}
			if err := w.PowerOnHost("n2"); err != nil {
				w.t.Fatal(err)
			}
			w.advance(time.Minute)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			c := w.compute("sim", "2.65")
			service := w.computeServices(c)["n1"].ID
			id := test.begin(w, c)
			if got := w.record(id); got != test.record {
				t.Fatalf("record is %q, want %q", got, test.record)
			}
			status, body := do(t.Context(), c, http.MethodDelete, "os-services/"+service, nil)
			if status != http.StatusConflict || !strings.Contains(body, "in-progress migrations") {
				t.Fatalf("%d %s, want 409", status, body)
			}
			if err := w.ForgetCompute("n1"); err == nil {
				t.Error("the service is forgotten in spite of it")
			}
			test.end(w, c, id)
			if status, body := do(t.Context(), c, http.MethodDelete, "os-services/"+service, nil); status != http.StatusNoContent {
				t.Errorf("once it has ended: %d %s", status, body)
			}
		})
	}
}

func TestWithItsServiceAHostLeavesItsAggregatesAndItsZone(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if err := w.AddHost(openstack.HostSpec{Name: "z1", Zone: "rack2", VCPUs: 8, RAM: 8192, Disk: 100}); err != nil {
		t.Fatal(err)
	}
	if err := w.AddAggregate(openstack.AggregateSpec{Name: "fast", Hosts: []string{"n4", "z1"}}); err != nil {
		t.Fatal(err)
	}
	c := w.compute("sim", "2.53")
	wantAggregates := func(want string) {
		t.Helper()
		pages, err := aggregates.List(c).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list, err := aggregates.ExtractAggregates(pages)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range list {
			got = append(got, fmt.Sprint(a.Name, a.Hosts))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("aggregates: %s, want %s", s, want)
		}
	}
	wantAggregates("rack2[z1] fast[n4 z1]")
	if zone := w.computeServices(c)["z1"].Zone; zone != "rack2" {
		t.Errorf("at first the zone is %s", zone)
	}
	if err := services.Delete(t.Context(), c, w.computeServices(c)["z1"].ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	wantAggregates("rack2[] fast[n4]")
	if err := w.StartCompute("z1"); err != nil {
		t.Fatal(err)
	}
	if s := w.computeServices(c)["z1"]; s.Zone != "nova" || s.State != "up" {
		t.Errorf("registered again: %s in %s, want up in nova", s.State, s.Zone)
	}
	wantAggregates("rack2[] fast[n4]")
}

func TestAHostThatRegistersAgainCanBeAddedToItsZone(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if err := w.AddHost(openstack.HostSpec{Name: "z1", Zone: "rack2", VCPUs: 8, RAM: 8192, Disk: 100}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.ForgetCompute("z1"), w.StartCompute("z1")); err != nil {
		t.Fatal(err)
	}
	c := w.compute("sim", "2.53")
	if status, body := do(t.Context(), c, http.MethodPost, "os-aggregates/1/action",
		map[string]any{"add_host": map[string]any{"host": "z1"}}); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if zone := w.computeServices(c)["z1"].Zone; zone != "rack2" {
		t.Errorf("the zone is %s, want rack2", zone)
	}
}
