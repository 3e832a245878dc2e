package nova

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/sim/bubble"
)

const serverBody = `{
  "id": "9168b536-cd40-4630-b43f-b259807c6e87", "name": "web-1", "status": "ACTIVE",
  "tenant_id": "6f70656e737461636b20342065766572", "user_id": "fake", "hostId": "2091634b",
  "OS-EXT-SRV-ATTR:host": "kaas-node-001", "OS-EXT-SRV-ATTR:hypervisor_hostname": "kaas-node-001",
  "OS-EXT-STS:vm_state": "active", "OS-EXT-STS:task_state": null, "OS-EXT-STS:power_state": 1,
  "OS-EXT-AZ:availability_zone": "nova", "locked": false, "key_name": null, "image": "",
  "tags": ["openstack.lcm.mirantis.com:maintenance_action=notify"],
  "flavor": {"original_name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 20, "ephemeral": 0, "swap": 0,
    "extra_specs": {"hw:numa_nodes": "1"}},
  "addresses": {"private": [{"addr": "192.168.0.3", "version": 4}]},
  "created": "2017-10-10T15:49:08Z", "updated": "2017-10-10T15:49:09Z"
}`

func TestAServerBecomesAnInstance(t *testing.T) {
	base := core.Instance{
		ID: "9168b536-cd40-4630-b43f-b259807c6e87", Name: "web-1", Status: "ACTIVE", ProjectID: "6f70656e737461636b20342065766572",
		UserID: "fake",
		Host:   "kaas-node-001", VMState: "active", Power: core.PowerRunning, Zone: "nova",
		Tags: []string{"openstack.lcm.mirantis.com:maintenance_action=notify"}, TagsKnown: true, OnVolume: true,
		SharedFlavor: &core.Flavor{Name: "m1.small", VCPUs: 1, RAMMiB: 2048, DiskGiB: 20, ExtraSpecs: map[string]string{"hw:numa_nodes": "1"}},
		Created:      time.Date(2017, 10, 10, 15, 49, 8, 0, time.UTC), Updated: time.Date(2017, 10, 10, 15, 49, 9, 0, time.UTC),
	}
	tests := []struct {
		name string
		edit func(string) string
		want func(*core.Instance)
	}{
		{"as Nova writes it", func(s string) string { return s }, func(*core.Instance) {}},
		{"a disk of an image, an ephemeral one and swap", func(s string) string {
			s = strings.Replace(s, `"image": ""`, `"image": {"id": "70a599e0", "links": []}`, 1)
			return strings.Replace(s, `"ephemeral": 0, "swap": 0`, `"ephemeral": 5, "swap": 1025`, 1)
		}, func(i *core.Instance) { i.OnVolume, i.SharedFlavor.MoreGiB = false, 7 }},
		{"an old Nova has links for flavors, and no tags",
			func(s string) string {
				s = strings.Replace(s, `"tags": ["openstack.lcm.mirantis.com:maintenance_action=notify"],`, "", 1)
				return replaceField(s, `"flavor": {`, `}}`, `"flavor": {"id": "1", "links": [{"rel": "bookmark", "href": "http://nova/flavors/1"}]}`)
			},
			func(i *core.Instance) { i.Tags, i.TagsKnown, i.SharedFlavor = nil, false, &core.Flavor{} }},
		{"no tags is not unknown tags", func(s string) string {
			return strings.Replace(s, `["openstack.lcm.mirantis.com:maintenance_action=notify"]`, "[]", 1)
		}, func(i *core.Instance) { i.Tags = nil }},
		{"a fault counts in status ERROR only", func(s string) string {
			return strings.Replace(s, `"locked"`,
				`"fault": {"code": 500, "created": "2017-10-10T15:49:09Z", "message": "No valid host was found."}, "locked"`, 1)
		}, func(*core.Instance) {}},
		{"a fault", func(s string) string {
			s = strings.Replace(s, `"locked"`,
				`"fault": {"code": 500, "created": "2017-10-10T15:49:09Z", "message": "No valid host was found."}, "locked"`, 1)
			return strings.Replace(s, `"ACTIVE"`, `"ERROR"`, 1)
		}, func(i *core.Instance) { i.Status, i.Fault = "ERROR", "No valid host was found." }},
		{"nulls", func(s string) string {
			for _, f := range []string{`"kaas-node-001", "OS-EXT-SRV-ATTR:hyp`, `"nova"`, `"m1.small"`} {
				s = strings.Replace(s, f, map[bool]string{true: `null, "OS-EXT-SRV-ATTR:hyp`, false: "null"}[strings.Contains(f, "hyp")], 1)
			}
			s = strings.Replace(s, `"OS-EXT-STS:power_state": 1`, `"OS-EXT-STS:power_state": null`, 1)
			return strings.Replace(s, `"2017-10-10T15:49:08Z"`, "null", 1)
		}, func(i *core.Instance) {
			i.Host, i.Zone, i.SharedFlavor.Name, i.Power, i.Created = "", "", "", core.PowerNoState, time.Time{}
		}},
		{"types that nobody expects", func(s string) string {
			s = strings.Replace(s, `"vcpus": 1`, `"vcpus": "one"`, 1)
			s = strings.Replace(s, `"locked": false`, `"locked": "maybe"`, 1)
			s = strings.Replace(s, `{"hw:numa_nodes": "1"}`, `[]`, 1)
			return strings.Replace(s, `"2017-10-10T15:49:08Z"`, `"yesterday"`, 1)
		}, func(i *core.Instance) {
			i.SharedFlavor.VCPUs, i.SharedFlavor.ExtraSpecs, i.Created = 0, nil, time.Time{}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, flavor := base, *base.SharedFlavor
			want.SharedFlavor = &flavor
			tt.want(&want)
			var doc serverDocument
			if err := decode([]byte(`{"server": `+tt.edit(serverBody)+`}`), &doc); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, doc.Server.instance()); diff != "" {
				t.Errorf("instance (-want +got):\n%s", diff)
			}
		})
	}
}

// replaceField replaces everything from one text through another.
func replaceField(s, from, through, with string) string {
	start := strings.Index(s, from)
	end := start + strings.Index(s[start:], through) + len(through)
	return s[:start] + with + s[end:]
}

func TestTimesOfOpenStack(t *testing.T) {
	want := time.Date(2026, 1, 16, 15, 25, 37, 0, time.UTC)
	micro := want.Add(123456 * time.Microsecond)
	for text, want := range map[string]time.Time{
		"2026-01-16T15:25:37Z": want, "2026-01-16T15:25:37": want, "2026-01-16 15:25:37": want, "2026-01-16T17:25:37+02:00": want,
		"2026-01-16T15:25:37.123456": micro, "2026-01-16 15:25:37.123456": micro, "2026-01-16T15:25:37.123456Z": micro,
		"2026-01-16 15:25:37+00:00": want, "": {}, "soon": {}, "2026-13-45T00:00:00Z": {},
	} {
		if got := parseTime(text); !got.Equal(want) {
			t.Errorf("parseTime(%q) = %v, want %v", text, got, want)
		}
	}
}

// somewhere is where a server is of which a test tells no more.
const somewhere = `"OS-EXT-SRV-ATTR:host": "kaas-node-001"`

// Nova leaves the host out for a login that its policy does not allow to see it. Its instances would be on no node, and every node empty.
func TestALoginThatSeesNoHostsIsRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		hidden := strings.Replace(serverBody, `"OS-EXT-SRV-ATTR:host"`, `"a-plugin:host"`, 1)
		n.answer("GET /compute/v2.1/servers/detail", 200, `{"servers": [`+hidden+`]}`)
		n.answer("GET /compute/v2.1/servers/a", 200, `{"server": `+hidden+`}`)
		w := writes(t, n.client(), nil)
		_, read := w.Instance(context.Background(), "a")
		_, listed := w.InstancesOf(context.Background(), "h1")
		for _, err := range []error{read, listed} {
			e := apiError(t, err)
			if e.Kind != core.ErrForbidden || e.Message != "it does not tell this login on which host an instance is" ||
				!strings.HasPrefix(e.Remedy, "it needs the role admin (policy os_compute_api:os-extended-server-attributes): use ") {
				t.Errorf("%v; %s", e, e.Remedy)
			}
		}
		_, b := poll(t, n.client())
		b.await("that the instances are not told", func() bool { return b.state(core.SourceInstances) == core.SourceForbidden })
		if got := len(n.seen("GET /compute/v2.1/servers/detail")); got > 4 {
			t.Errorf("they were asked for %d times", got)
		}
	})
}

func TestAHostsListIsReadToItsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			if q.Get("host") != "kaas-node-001" || q.Get("all_tenants") == "" {
				reply(w, 400, `{"badRequest": {"message": "wrong query"}}`)
				return
			}
			// The links lead to an internal address that must not be followed.
			next := `"servers_links": [{"rel": "next", "href": "http://nova-api.openstack.svc:8774/v2.1/servers/detail?marker=x"}]`
			switch q.Get("marker") {
			case "":
				reply(w, 200, `{"servers": [{"id": "a", `+somewhere+`}, {"id": "b", `+somewhere+`}], `+next+`}`)
			case "b":
				reply(w, 200, `{"servers": [{"id": "c", `+somewhere+`, "status": "DELETED"}, {"id": "d", `+somewhere+`}], `+next+`}`)
			default:
				reply(w, 200, `{"servers": []}`)
			}
		})
		instances, err := writes(t, f.client(), nil).InstancesOf(context.Background(), "kaas-node-001")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, i := range instances {
			got += i.ID
		}
		if got != "abd" {
			t.Errorf("instances %q, want a, b and d: all pages, without the deleted one", got)
		}
	})
}

func TestAnAnswerThatIsNoListDoesNotMeanAnEmptyHost(t *testing.T) {
	for name, body := range map[string]string{
		"no list":             `{}`,
		"a null list":         `{"servers": null}`,
		"another type":        `{"servers": "none"}`,
		"a list at the top":   `[]`,
		"an entry without ID": `{"servers": [{"name": "web-1"}]}`,
		"not JSON":            `<html>login</html>`,
		"cut":                 `{"servers": [{"id": "a"}`,
		"nothing":             ``,
		"without end":         `{"servers": [{"id": "a", ` + somewhere + `}], "servers_links": [{"rel": "next", "href": "x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.answer("GET /compute/v2.1/servers/detail", 200, body)
				instances, err := writes(t, f.client(), nil).InstancesOf(context.Background(), "kaas-node-001")
				if err == nil {
					t.Fatalf("got %d instances and no error", len(instances))
				}
				if e := apiError(t, err); e.Call != "list instances of host kaas-node-001" || e.Message == "" {
					t.Errorf("error %q", e)
				}
			})
		})
	}
}

func TestMicroversionPerCall(t *testing.T) {
	for _, tt := range []struct{ cloud, servers, services, migrations string }{
		{"2.93", "2.47", "2.53", "2.59"},
		{"2.53", "2.47", "2.53", "2.23"},
		{"2.40", "2.26", "2.11", "2.23"},
		{"2.10", "2.9", "2.1", "2.1"},
		{"2.1", "2.1", "2.1", "2.1"},
		{"", "2.1", "2.1", "2.1"},
	} {
		t.Run("a cloud of "+tt.cloud, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.max = tt.cloud
				f.answer("GET /compute/v2.1/servers/detail", 200, `{"servers": []}`)
				f.answer("GET /compute/v2.1/os-services", 200,
					`{"services": [{"id": 7, "binary": "nova-compute", "host": "h", "status": "enabled", "state": "up"}]}`)
				f.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": []}`)
				c, ctx := f.client(), context.Background()
				if _, err := c.listServers(ctx, serverQuery{}); err != nil {
					t.Fatal(err)
				}
				if list, err := c.listServices(ctx, ""); err != nil || len(list) != 1 || list[0].ID != "7" {
					t.Fatal(list, err)
				}
				if _, err := c.listMigrations(ctx, migrationQuery{}); err != nil {
					t.Fatal(err)
				}
				for path, want := range map[string]string{"/servers/detail": tt.servers, "/os-services": tt.services, "/os-migrations": tt.migrations} {
					if got := f.seen(path)[0].microversion; got != want {
						t.Errorf("%s asked for %s, want %s", path, got, want)
					}
				}
			})
		})
	}
}

func BenchmarkTranslate1000Servers(b *testing.B) {
	body := []byte(`{"servers": [` + strings.TrimSuffix(strings.Repeat(serverBody+",", 1000), ",") + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var page serverPage
		if err := decode(body, &page); err != nil {
			b.Fatal(err)
		}
		for i := range page.Servers {
			_ = page.Servers[i].instance()
		}
	}
}

func BenchmarkApply15000Servers(b *testing.B) {
	var servers []*listedServer
	for i := range 15000 {
		servers = append(servers, (&serverRecord{ID: fmt.Sprintf("9168b536-cd40-4630-b43f-%012d", i), Name: "web",
			Host:   hostField{fmt.Sprintf("kaas-node-%03d", i%300), true},
			Status: "ACTIVE", VMState: "active", PowerState: 1, Tags: &[]string{"a"}, Updated: "2017-10-10T15:49:09Z",
			Created: "2017-10-10T15:49:09Z",
			Flavor:  flavorRecord{Name: "m1", ExtraSpecs: map[string]string{"hw:numa_nodes": "1"}}}).listed())
	}
	p := &Poller{pace: 1, sink: func(core.Delta) {}}
	l := newInstancePoll(p)
	b.ReportAllocs()
	for b.Loop() {
		l.step++
		l.learnAll(&look{present: map[string]bool{}}, answer{step: l.step, servers: servers})
	}
}
