package openstack_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lockstep/sim/openstack"
)

// answer returns a service's answer to an administrator's GET; path is relative to the service's endpoint.
func (w *world) answer(service, version, path string) (int, map[string]any) {
	w.t.Helper()
	p, endpoint, err := w.provider("sim")
	if err != nil {
		w.t.Fatal(err)
	}
	endpoint.Type = service
	endpoint.ApplyDefaults(service)
	base, err := p.EndpointLocator(endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Auth-Token", p.Token())
	if version != "" {
		r.Header.Set("OpenStack-API-Version", service+" "+version)
	}
	resp, err := p.HTTPClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		w.t.Fatalf("%s %s: %s", service, path, raw)
	}
	return resp.StatusCode, body
}

func objects(v any) []map[string]any {
	var all []map[string]any
	items, _ := v.([]any)
	for _, i := range items {
		all = append(all, i.(map[string]any))
	}
	return all
}

// The allocations of consumers on a host always add up to Placement's usage of it.
func TestAllocationsAddUpToUsages(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	web, db := w.server("web", openstack.ServerSpec{}), w.server("db", openstack.ServerSpec{Flavor: "medium"})
	adds := func(when string) {
		t.Helper()
		_, list := w.answer("placement", "1.18", "/resource_providers")
		for _, p := range objects(list["resource_providers"]) {
			_, held := w.answer("placement", "1.18", fmt.Sprintf("/resource_providers/%s/allocations", p["uuid"]))
			_, used := w.answer("placement", "1.18", fmt.Sprintf("/resource_providers/%s/usages", p["uuid"]))
			sum := map[string]float64{}
			for _, a := range held["allocations"].(map[string]any) {
				for class, n := range a.(map[string]any)["resources"].(map[string]any) {
					sum[class] += n.(float64)
				}
			}
			for class, n := range used["usages"].(map[string]any) {
				if sum[class] != n.(float64) {
					t.Errorf("%s: on %s %v of %s is used, and %v allocated", when, p["name"], n, class, sum[class])
				}
			}
		}
	}
	adds("at rest")
	c := w.compute("sim", "2.56")
	w.act(c, web, "os-migrateLive", live, 202, "")
	w.act(c, db, "migrate", nil, 202, "")
	adds("when both have been asked to leave")
	w.advance(4 * time.Second)
	adds("on their way")
	w.advance(2 * time.Minute)
	w.wantState(db, "VERIFY_RESIZE "+strings.Fields(w.state(db))[1])
	adds("before the confirmation")
	w.act(c, db, "confirmResize", nil, 204, "")
	w.advance(20 * time.Second)
	if w.state(db) == "ACTIVE n1" || w.state(web) == "ACTIVE n1" {
		t.Fatalf("they are %s and %s", w.state(db), w.state(web))
	}
	adds("when both have moved")
}

func TestPlacementShowsWhatTheMicroversionHas(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if err := w.AddHost(openstack.HostSpec{Name: "fast", VCPUs: 8, RAM: 8192, Disk: 400, Traits: []string{"CUSTOM_FAST"}}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		version, path     string
		status, providers int
	}{
		{"", "/resource_providers", 200, 5},
		{"", "/resource_providers?required=CUSTOM_FAST", 400, 0},
		{"1.17", "/resource_providers?required=CUSTOM_FAST", 400, 0},
		{"1.18", "/resource_providers?required=CUSTOM_FAST", 200, 1},
		{"1.22", "/resource_providers?required=" + url.QueryEscape("!CUSTOM_FAST"), 200, 4},
		{"1.18", "/resource_providers?required=CUSTOM_NONE", 400, 0},
		{"1.5", "/traits", 404, 0},
		{"1.6", "/traits", 200, 0},
		{"1.99", "/resource_providers", 406, 0},
		{"latest", "/resource_providers", 200, 5},
	} {
		status, body := w.answer("placement", tc.version, tc.path)
		list := objects(body["resource_providers"])
		if status != tc.status || len(list) != tc.providers {
			t.Errorf("%q %s: %d with %d providers, want %d with %d", tc.version, tc.path, status, len(list), tc.status, tc.providers)
		}
		if len(list) > 0 {
			if _, told := list[0]["root_provider_uuid"]; told != (tc.version != "") {
				t.Errorf("at %q the root of a provider is told: %v", tc.version, told)
			}
		}
	}
}

func TestPortsComeByPagesWithTheFieldsThatAreAskedFor(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	db := w.server("db", openstack.ServerSpec{Port: "direct"})
	web := w.server("web", openstack.ServerSpec{})
	kinds := map[any]any{}
	query := "?fields=id&fields=device_id&fields=binding:vnic_type&limit=1"
	for pages := 1; query != ""; pages++ {
		_, body := w.answer("network", "", "/v2.0/ports"+query)
		for _, p := range objects(body["ports"]) {
			if len(p) != 3 {
				t.Errorf("a port has %v", p)
			}
			kinds[p["device_id"]] = p["binding:vnic_type"]
		}
		query = ""
		for _, l := range objects(body["ports_links"]) {
			if next, err := url.Parse(fmt.Sprint(l["href"])); err == nil && l["rel"] == "next" {
				query = "?" + next.RawQuery
			}
		}
		if pages == 4 {
			t.Fatal("the pages have no end")
		}
	}
	if len(kinds) != 2 || kinds[db] != "direct" || kinds[web] != "normal" {
		t.Errorf("the ports are %v", kinds)
	}
	if _, body := w.answer("network", "", "/v2.0/ports?binding:host_id=n2"); len(objects(body["ports"])) != 0 {
		t.Errorf("an empty host has the ports %v", body)
	}
}

func TestAttachedVolumesNameTheirServer(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	db := w.server("db", openstack.ServerSpec{Volumes: []openstack.VolumeSpec{{Name: "keys", Encrypted: true}, {Name: "scratch", Host: "n1"}}})
	found := map[any]any{}
	for query := "?all_tenants=True&limit=1"; query != ""; {
		_, body := w.answer("block-storage", "", "/volumes/detail"+query)
		for _, v := range objects(body["volumes"]) {
			if at := objects(v["attachments"]); len(at) != 1 || at[0]["server_id"] != db || v["status"] != "in-use" {
				t.Errorf("%v is %v, attached to %v", v["name"], v["status"], at)
			}
			found[fmt.Sprint(v["name"], " ", v["encrypted"])] = v["os-vol-host-attr:host"]
		}
		query = ""
		for _, l := range objects(body["volumes_links"]) {
			if next, err := url.Parse(fmt.Sprint(l["href"])); err == nil && l["rel"] == "next" {
				query = "?" + next.RawQuery
			}
		}
	}
	if len(found) != 2 || found["keys true"] != "openstack@volumes-hdd#volumes-hdd" || found["scratch false"] != "n1@lvm#lvm" {
		t.Errorf("the volumes are %v", found)
	}
}
