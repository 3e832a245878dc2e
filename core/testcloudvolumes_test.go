package core

import (
	"context"
	"fmt"
)

// volumeServices are the cloud's cinder-volume services, as the adapter tells them; the cloud is locked.
func (c *testCloud) volumeServices() []Object {
	var out []Object
	for _, v := range c.volumes {
		cp := *v
		out = append(out, &cp)
	}
	return out
}

// volumeService adds a cinder-volume to the cloud.
func (c *testCloud) volumeService(host string) *VolumeService {
	v := &VolumeService{Host: host, Enabled: true, Up: true, Zone: "nova", Updated: worldTime}
	c.volumes[host] = v
	return v
}

func (c *testCloud) VolumeServices(_ context.Context, host string) ([]*VolumeService, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fail["list-volumes"]; err != nil {
		delete(c.fail, "list-volumes")
		return nil, err
	}
	var out []*VolumeService
	for _, v := range c.volumes {
		if v.Machine() == host {
			cp := *v
			out = append(out, &cp)
		}
	}
	return out, nil
}

func (c *testCloud) VolumesOf(_ context.Context, host string) ([]Volume, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.onDisks[host], nil
}

func (c *testCloud) setVolumeService(s SetVolumeService) error {
	host, enabled, reason := s.Service.Name, s.Enabled, s.Reason
	return c.write("volume-service", fmt.Sprintf("%s %v", host, enabled), func() error {
		v := c.volumes[host]
		if v == nil {
			return &APIError{Kind: ErrNotFound, Call: "set volume service", Status: 404}
		}
		v.Enabled, v.DisabledReason = enabled, reason
		return nil
	})
}

// volumeService adds a cinder-volume of a node to the scene.
func (sc scene) volumeService(host string) *VolumeService {
	v := &VolumeService{Host: host, Enabled: true, Up: true, Zone: "nova", Updated: ago(10)}
	sc.VolumeServices[v.Machine()] = append(sc.VolumeServices[v.Machine()], v)
	return v
}
