package openstack_test

import (
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"

	"lockstep/sim/openstack"
)

func TestAHostWithVolumesOfItsOwn(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	p, endpoint, err := w.provider("sim")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewBlockStorageV3(p, endpoint)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := c.Put(t.Context(), c.ServiceURL("os-services", "disable-log-reason"), body, nil, &gophercloud.RequestOpts{OkCodes: []int{200}}); err != nil {
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
