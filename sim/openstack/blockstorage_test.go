package openstack_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"

	"lockstep/sim/openstack"
)

// blockStorage is a client of Cinder with an administrator's login.
func (w *world) blockStorage() *gophercloud.ServiceClient {
	w.t.Helper()
	p, endpoint, err := w.provider("sim")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.NewBlockStorageV3(p, endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func TestAHostWithVolumesOfItsOwn(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.blockStorage()
	id, err := w.AddVolume("n1", "demo", "data")
	if err != nil {
		t.Fatal(err)
	}
	service := func() []services.Service {
		t.Helper()
		pages, err := services.List(c, services.ListOpts{Host: "n1", Binary: "cinder-volume"}).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := services.ExtractServices(pages)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := service(); len(all) != 1 || all[0].Host != "n1@lvm" || all[0].State != "up" || all[0].Status != "enabled" {
		t.Fatalf("services: %+v", all)
	}
	body := map[string]any{"host": "n1", "binary": "cinder-volume", "disabled_reason": "broken disk"}
	if _, err := c.Put(t.Context(), c.ServiceURL("os-services", "disable-log-reason"), body, nil,
		&gophercloud.RequestOpts{OkCodes: []int{200}}); err != nil {
		t.Fatal(err)
	}
	if all := service(); all[0].Status != "disabled" || all[0].DisabledReason != "broken disk" {
		t.Errorf("after the disabling: %+v", all[0])
	}
	pages, err := volumes.List(c, volumes.ListOpts{AllTenants: true}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all, err := volumes.ExtractVolumes(pages); err != nil || len(all) != 1 || all[0].ID != id || all[0].Host != "n1@lvm#lvm" {
		t.Errorf("volumes: %+v, %v", all, err)
	}
	if err := volumes.Delete(t.Context(), c, id, nil).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if err := w.PowerOffHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(3 * time.Minute)
	if all := service(); all[0].State != "down" {
		t.Errorf("of a host that is off: %+v", all[0])
	}
	if err := w.RemoveVolumeService("n1@lvm"); err != nil || len(service()) != 0 {
		t.Errorf("after the removal: %+v, %v", service(), err)
	}
	if w.RemoveVolumeService("n1") == nil || w.AddVolumeService("n9") == nil {
		t.Error("what is not there is no error")
	}
}

// How Cinder handles the names of hosts and back ends, reasons, and microversions.
func TestServicesOfSeveralBackEnds(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	for _, b := range []openstack.VolumeBackendSpec{{Name: "ssd"}, {Name: "hdd", Disabled: true, Reason: "a disk is failing"}} {
		if err := w.AddVolumeBackend("n1", b); err != nil {
			t.Fatal(err)
		}
	}
	if w.AddVolumeBackend("n1", openstack.VolumeBackendSpec{Name: "ssd"}) == nil ||
		w.AddVolumeBackend("pod", openstack.VolumeBackendSpec{}) == nil {
		t.Error("a back end that is there, or a host that is not, is no error")
	}
	if err := w.AddVolumeBackend("pod", openstack.VolumeBackendSpec{Name: "ceph", Elsewhere: true}); err != nil {
		t.Fatal(err)
	}
	state := func(host string) string {
		t.Helper()
		_, body := w.answer("block-storage", "", "/os-services?binary=cinder-volume&host="+host)
		var out string
		for _, s := range objects(body["services"]) {
			out += fmt.Sprintf("%v %v %v; ", s["host"], s["status"], s["disabled_reason"])
		}
		return out
	}
	if got := state("n1"); got != "n1@ssd enabled <nil>; n1@hdd disabled a disk is failing; " {
		t.Errorf("services: %s", got)
	}
	if got := state("pod@ceph"); got != "pod@ceph enabled <nil>; " {
		t.Errorf("services of the pod: %s", got)
	}
	c := w.blockStorage()
	put := func(verb string, body map[string]any) int {
		t.Helper()
		r, err := c.Put(t.Context(), c.ServiceURL("os-services", verb), body, nil, &gophercloud.RequestOpts{OkCodes: []int{200, 400, 404}})
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	for _, tt := range []struct {
		verb string
		body map[string]any
		code int
		then string
	}{
		{"disable-log-reason", map[string]any{"host": "n1", "binary": "cinder-volume", "disabled_reason": "x"}, 200,
			"n1@ssd disabled x; n1@hdd disabled a disk is failing; "},
		{"enable", map[string]any{"host": "n1@hdd", "binary": "cinder-volume"}, 200, "n1@ssd disabled x; n1@hdd enabled <nil>; "},
		{"enable", map[string]any{"host": "n1", "service": "cinder-volume"}, 200, "n1@ssd enabled <nil>; n1@hdd enabled <nil>; "},
		{"disable-log-reason", map[string]any{"host": "n1", "binary": "cinder-volume", "disabled_reason": ""}, 400, ""},
		{"disable", map[string]any{"host": "n1", "binary": "cinder-volume", "disabled_reason": "x"}, 400, ""},
		{"disable", map[string]any{"binary": "cinder-volume"}, 400, ""},
		{"disable", map[string]any{"host": "n1"}, 400, ""},
		{"disable", map[string]any{"host": "n9", "binary": "cinder-volume"}, 404, ""},
		{"pause", map[string]any{"host": "n1", "binary": "cinder-volume"}, 404, ""},
	} {
		before := state("n1")
		if code := put(tt.verb, tt.body); code != tt.code {
			t.Errorf("%s %v: %d, want %d", tt.verb, tt.body, code, tt.code)
		}
		want := tt.then
		if want == "" {
			want = before
		}
		if got := state("n1"); got != want {
			t.Errorf("%s %v: then %s, want %s", tt.verb, tt.body, got, want)
		}
	}
	for _, tt := range []struct {
		asked, served  string
		status         int
		cluster, state bool
	}{
		{"", "volume 3.0", 200, false, false},
		{"volume 3.7", "volume 3.7", 200, true, false},
		{"compute 2.93,volume 3.49", "volume 3.49", 200, true, true},
		{"volume latest", "volume 3.70", 200, true, true},
		{"volume 3.999", "volume 3.999", 406, false, false},
		{"volume three", "volume 3.0", 400, false, false},
	} {
		headers := map[string]string{}
		if tt.asked != "" {
			headers["OpenStack-API-Version"] = tt.asked
		}
		var body struct{ Services []map[string]any }
		r, err := c.Request(t.Context(), http.MethodGet, c.ServiceURL("os-services"),
			&gophercloud.RequestOpts{MoreHeaders: headers, JSONResponse: &body, OkCodes: []int{200, 400, 406}})
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != tt.status || r.Header.Get("OpenStack-API-Version") != tt.served {
			t.Errorf("%q: %d, %q", tt.asked, r.StatusCode, r.Header.Get("OpenStack-API-Version"))
		}
		if tt.status != 200 {
			continue
		}
		if _, ok := body.Services[0]["cluster"]; ok != tt.cluster {
			t.Errorf("%q: the cluster is told: %v", tt.asked, ok)
		}
		if _, ok := body.Services[0]["backend_state"]; ok != tt.state {
			t.Errorf("%q: the back end's state is told: %v", tt.asked, ok)
		}
	}
}

func TestAVolumeIsMovedToAnotherHost(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id, err := w.AddSizedVolume("n1", "demo", "data", 40)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddVolumeService("n2"); err != nil {
		t.Fatal(err)
	}
	on := func(host string) int {
		_, body := w.answer("block-storage", "", "/volumes/detail?all_tenants=1&host="+host)
		return len(objects(body["volumes"]))
	}
	c := w.blockStorage()
	move := func(host string) int {
		t.Helper()
		r, err := c.Post(t.Context(), c.ServiceURL("volumes", id, "action"), map[string]any{"os-migrate_volume": map[string]any{"host": host}},
			nil,
			&gophercloud.RequestOpts{OkCodes: []int{202, 400}})
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	if on("n1") != 1 || on("n2") != 0 || on("n") != 0 || on("n1@lvm") != 1 {
		t.Errorf("n1 has %d volumes, n2 %d", on("n1"), on("n2"))
	}
	if move("n1@lvm#lvm") != 400 || move("n9@lvm#lvm") != 400 || move("n2@lvm#lvm") != 202 {
		t.Error("the move was not answered as it should be")
	}
	if on("n1") != 0 || on("n2") != 1 {
		t.Errorf("after the move n1 has %d volumes, n2 %d", on("n1"), on("n2"))
	}
	if _, body := w.answer("block-storage", "", "/scheduler-stats/get_pools"); len(objects(body["pools"])) != 2 {
		t.Errorf("pools: %v", body)
	}
}
