package engine

import (
	"context"
	"fmt"

	"lockstep/core"
)

// volumeServices are the cloud's cinder-volume services, as the adapter reports them. The caller holds the cloud's lock.
func (c *testCloud) volumeServices() []core.Object {
	var out []core.Object
	for _, v := range c.volumes {
		cp := *v
		out = append(out, &cp)
	}
	return out
}

// volumeService adds a cinder-volume to the cloud.
func (c *testCloud) volumeService(host string) *core.VolumeService {
	v := &core.VolumeService{Host: host, Enabled: true, Up: true, Zone: "nova", Updated: worldTime}
	c.volumes[host] = v
	return v
}

func (c *testCloud) VolumeServices(_ context.Context, host string) ([]*core.VolumeService, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fail["list-volumes"]; err != nil {
		delete(c.fail, "list-volumes")
		return nil, err
	}
	var out []*core.VolumeService
	for _, v := range c.volumes {
		if v.Machine() == host {
			cp := *v
			out = append(out, &cp)
		}
	}
	return out, nil
}

func (c *testCloud) VolumesOf(_ context.Context, host string) ([]core.Volume, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.onDisks[host], nil
}

func (c *testCloud) setVolumeService(s core.SetVolumeService) error {
	host, enabled, reason := s.Service.Name, s.Enabled, s.Reason
	return c.write("volume-service", fmt.Sprintf("%s %v", host, enabled), func() error {
		v := c.volumes[host]
		if v == nil {
			return &core.APIError{Kind: core.ErrNotFound, Call: "set volume service", Status: 404}
		}
		v.Enabled, v.DisabledReason = enabled, reason
		return nil
	})
}
