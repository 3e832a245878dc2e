package controller

import (
	"context"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
)

// volumeServices returns the cinder-volume services of the node. A cloud without Cinder has none, nor do hosts whose
// volumes are in Ceph.
func (v visit) volumeServices(ctx context.Context) ([]services.Service, error) {
	if v.volume == nil {
		return nil, nil
	}
	pages, err := services.List(v.volume, services.ListOpts{Binary: "cinder-volume", Host: v.name}).AllPages(ctx)
	if err != nil {
		return nil, openstackErr("list the volume services of "+v.name, err)
	}
	all, err := services.ExtractServices(pages)
	return all, openstackErr("read the volume services of "+v.name, err)
}

// setVolumeService enables or disables the cinder-volume of the node.
func (v visit) setVolumeService(ctx context.Context, host, verb, reason string) error {
	body := map[string]any{"binary": "cinder-volume", "host": host}
	if reason != "" {
		body["disabled_reason"] = reason
	}
	response, err := v.volume.Put(ctx, v.volume.ServiceURL("os-services", verb), body, nil, &gophercloud.RequestOpts{OkCodes: []int{200}})
	_, _, err = gophercloud.ParseResponse(response, err)
	return openstackErr(verb+" cinder-volume of "+v.name, err)
}

// disableVolumes disables the host's cinder-volume, if it has one. It names the host without a back end, so Cinder
// finds only the first one, and it overwrites any existing reason.
func (v visit) disableVolumes(ctx context.Context) error {
	all, err := v.volumeServices(ctx)
	if err == nil && len(all) > 0 {
		err = v.setVolumeService(ctx, v.name, "disable-log-reason", maintenanceReason)
	}
	if isOpenStackError(err) {
		v.log.Error("Cannot execute openstack commands, error: " + sdkText(err))
		return v.sayLater(ctx, "Can not disable block-storage service on a host to be deleted") // R
	}
	return err
}

// enableVolumes enables the host's cinder-volume, if the controller disabled it.
func (v visit) enableVolumes(ctx context.Context) error {
	all, err := v.volumeServices(ctx)
	if err == nil && len(all) > 0 && all[0].DisabledReason == maintenanceReason {
		err = v.setVolumeService(ctx, v.name, "enable", "")
	}
	if isOpenStackError(err) {
		v.log.Error("Cannot execute openstack commands, error: " + sdkText(err))
		return v.sayLater(ctx, "Can not enable block-storage service on the host %s.", v.name) // R
	}
	return err
}

// surrenderVolumes refuses the deletion of a node while volumes are on it.
func (v visit) surrenderVolumes(ctx context.Context) error {
	if err := v.disableVolumes(ctx); err != nil || v.SkipVolumes || v.volume == nil {
		return err
	}
	pages, err := volumes.List(v.volume, volumes.ListOpts{AllTenants: true}).AllPages(ctx)
	if err != nil {
		return openstackErr("list volumes", err)
	}
	var all []struct {
		ID   string `json:"id"`
		Host string `json:"os-vol-host-attr:host"`
	}
	if err := volumes.ExtractVolumesInto(pages, &all); err != nil {
		return openstackErr("read volumes", err)
	}
	var here []string
	for _, volume := range all {
		if host, _, _ := strings.Cut(volume.Host, "@"); host == v.name {
			here = append(here, volume.ID)
		}
	}
	if len(here) == 0 {
		return nil
	}
	// T
	return v.sayLater(ctx, "Some volumes %s are still present on host %s. Blocking node removal unless they removed or migrated.",
		pyList(here), v.name)
}

// forgetVolumes waits until the cinder-volume of a host that is gone is down, and removes it as cinder-manage does.
func (v visit) forgetVolumes(ctx context.Context) error {
	limit := v.clock.Now().Add(v.timing.ServicesUp)
	for {
		all, err := v.volumeServices(ctx)
		if err != nil {
			return err
		}
		up := false
		for _, s := range all {
			up = up || s.State == "up"
		}
		if v.LooksOnce || !up {
			for _, s := range all {
				if err := v.removeVolumeService(s.Host); err != nil {
					return err
				}
			}
			return nil
		}
		if !v.clock.Now().Before(limit) {
			return exception{"TimeoutError", "cinder-volume of " + v.name + " is still up"}
		}
		if err := v.clock.Sleep(ctx, max(v.timing.ReturnPoll, time.Millisecond)); err != nil {
			return err
		}
	}
}

// removeVolumeService is "cinder-manage service remove". The controller runs it in a pod of Cinder's API; here Machines
// do it.
func (e *env) removeVolumeService(host string) error {
	manage, ok := e.machines.(interface{ RemoveVolumeService(host string) error })
	if !ok {
		e.log.Warn("nobody removes the volume service", "host", host)
		return nil
	}
	return manage.RemoveVolumeService(host)
}
