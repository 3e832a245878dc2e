package nova

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"lockstep/core"
)

// volumeTypes are the names of Cinder's API version 3 in catalogs, the official one first.
var volumeTypes = []string{"block-storage", "volumev3", "volume"}

// errNoCinder is the cause of an error where the catalog has no block storage.
var errNoCinder = errors.New("the catalog has no block storage service")

// volumeBinary is the service that serves volumes.
const volumeBinary = "cinder-volume"

// findVolumes finds Cinder in the catalog.
func (s *session) findVolumes() (*gophercloud.ServiceClient, error) {
	sc, err := s.find(volumeTypes[0])
	for _, kind := range volumeTypes[1:] {
		if err == nil {
			break
		}
		sc, err = s.find(kind)
	}
	return sc, err
}

// cinder is the session's client of Cinder, or the error that a cloud without it has.
func (c *Client) cinder(s *session, a action) (*gophercloud.ServiceClient, error) {
	if s.volume != nil {
		return s.volume, nil
	}
	e := c.fail(a, s.volumeErr)
	e.Kind, e.Err, e.Message = core.ErrUnsupported, errNoCinder, "this cloud has no block storage"
	e.Remedy = "nothing has to be done: without block storage there are no volumes to see to; if this cloud has some, " + e.Remedy
	return nil, e
}

type volumeServiceRecord struct {
	Binary         string `json:"binary"`
	Host           string `json:"host"`
	Status         string `json:"status"`
	DisabledReason string `json:"disabled_reason"`
	State          string `json:"state"`
	Zone           string `json:"zone"`
	Updated        string `json:"updated_at"`
}

type volumeServicePage struct {
	Services []volumeServiceRecord `json:"services"`
}

func (p *volumeServicePage) check() error {
	if p.Services == nil {
		return errShape("a list of volume services")
	}
	return nil
}

// listVolumeServices reads the cinder-volume services of all hosts, or of one, named without its back end. Cinder's oldest
// microversion has everything needed.
func (c *Client) listVolumeServices(ctx context.Context, host string) ([]*core.VolumeService, error) {
	a := action{call: "list volume services", policy: "volume_extension:services:index"}
	values := url.Values{"binary": {volumeBinary}}
	if host != "" {
		values.Set("host", host)
		a.call = "read the volume services of " + host
	}
	var page volumeServicePage
	err := c.call(ctx, a, func(s *session) error {
		sc, err := c.cinder(s, a)
		if err != nil {
			return err
		}
		return c.get(ctx, sc, sc.ServiceURL("os-services")+"?"+values.Encode(), &page)
	})
	if err != nil {
		return nil, err
	}
	services := []*core.VolumeService{}
	machines := map[string]bool{} // hosts that had a service before
	for _, r := range page.Services {
		v := &core.VolumeService{Host: r.Host, Enabled: r.Status == "enabled", DisabledReason: r.DisabledReason, Up: r.State == "up",
			Zone: r.Zone, Updated: parseTime(r.Updated)}
		if (r.Binary == "" || r.Binary == volumeBinary) && r.Host != "" && (host == "" || v.Machine() == host) {
			v.Behind = machines[v.Machine()]
			machines[v.Machine()] = true
			services = append(services, v)
		}
	}
	return services, nil
}

type volumePage struct {
	Volumes []volumeRecord `json:"volumes"`
	Links   []link         `json:"volumes_links"`
}

type volumeRecord struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Host        string `json:"os-vol-host-attr:host"`
	Project     string `json:"os-vol-tenant-attr:tenant_id"`
	Status      string `json:"status"`
	Size        int    `json:"size"`
	Encrypted   bool   `json:"encrypted"`
	Attachments []struct {
		Server string `json:"server_id"`
	} `json:"attachments"`
}

func (r *volumeRecord) volume() core.Volume {
	v := core.Volume{ID: r.ID, Name: r.Name, Host: r.Host, Encrypted: r.Encrypted, SizeGiB: r.Size, Status: r.Status, ProjectID: r.Project}
	for _, at := range r.Attachments {
		if at.Server != "" {
			v.Instances = append(v.Instances, at.Server)
		}
	}
	return v
}

func (p *volumePage) check() error {
	if p.Volumes == nil {
		return errShape("a list of volumes")
	}
	return nil
}

// listVolumes reads the volumes of all projects for which keep is true; with a host, those that Cinder finds on it.
func (c *Client) listVolumes(ctx context.Context, host string, keep func(core.Volume) bool) ([]core.Volume, error) {
	a := action{call: "list volumes", policy: "volume:get_all"}
	if host != "" {
		a.call = "list the volumes of " + host
	}
	all := []core.Volume{}
	err := c.call(ctx, a, func(s *session) error {
		all = all[:0]
		sc, err := c.cinder(s, a)
		if err != nil {
			return err
		}
		values := url.Values{"all_tenants": {"True"}, "limit": {strconv.Itoa(pageSize)}}
		set(values, "host", host)
		marker := ""
		for range maxPages {
			set(values, "marker", marker)
			var page volumePage
			if err := c.get(ctx, sc, sc.ServiceURL("volumes", "detail")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			for i := range page.Volumes {
				if v := page.Volumes[i].volume(); keep(v) {
					all = append(all, v)
				}
			}
			n := len(page.Volumes)
			if n == 0 || !hasNext(page.Links) {
				return nil
			}
			if page.Volumes[n-1].ID == marker {
				return errShape("a list of volumes: a page of it came again")
			}
			marker = page.Volumes[n-1].ID
		}
		return errShape("a list of volumes: it has no end")
	})
	return all, err
}

// listAttachedVolumes reads the volumes of all projects that are attached to instances.
func (c *Client) listAttachedVolumes(ctx context.Context) ([]core.Volume, error) {
	return c.listVolumes(ctx, "", func(v core.Volume) bool { return len(v.Instances) > 0 })
}

// askForAVolume asks Cinder for one volume of the login's own project.
func (c *Client) askForAVolume(ctx context.Context) error {
	a := action{call: "list volumes", policy: "volume:get_all"}
	return c.call(ctx, a, func(s *session) error {
		sc, err := c.cinder(s, a)
		if err != nil {
			return err
		}
		return c.get(ctx, sc, sc.ServiceURL("volumes")+"?limit=1", new(volumePage))
	})
}

// volumesOf reads the volumes on a host's own disks. A login that sees no volume's host is not an administrator, and sees its own
// project's volumes only: then nothing is known.
func (c *Client) volumesOf(ctx context.Context, host string) (*core.HostVolumes, error) {
	hidden := false
	volumes, err := c.listVolumes(ctx, host, func(v core.Volume) bool {
		hidden = hidden || v.Host == ""
		return (&core.VolumeService{Host: v.Host}).Machine() == host
	})
	if err != nil {
		return nil, err
	}
	if hidden && len(volumes) == 0 {
		return nil, &core.APIError{Kind: core.ErrForbidden, Server: core.ServerOpenStack, Call: "list the volumes of " + host,
			Message: "this login is not told on which hosts volumes are",
			Remedy:  "it needs the role admin (policy volume_extension:volume_host_attribute)"}
	}
	return &core.HostVolumes{Host: host, Volumes: volumes}, nil
}

// How often Cinder is polled at Pace 1.
const (
	volumeServicesEvery = 15 * time.Second
	volumesEvery        = 30 * time.Second
)

// volumeServices polls the cinder-volume services: one short list.
func (p *Poller) volumeServices() pollFunc {
	return func(ctx context.Context, _ bool) (time.Duration, error) {
		services, err := p.c.listVolumeServices(ctx, "")
		if err != nil {
			return 0, err
		}
		p.emit(core.Delta{Source: core.SourceVolumeServices, State: core.SourceLive, Replace: true, Upserts: objects(services)})
		return p.scaled(volumeServicesEvery), nil
	}
}

// volumes polls the volumes of the hosts that SetVolumeHosts named. While there are none, it reads one volume of the login's own
// project, which is cheap and shows whether Cinder answers.
func (p *Poller) volumes() pollFunc {
	return func(ctx context.Context, _ bool) (time.Duration, error) {
		p.mu.Lock()
		hosts := p.volumeHosts
		p.mu.Unlock()
		if len(hosts) == 0 {
			if err := p.c.askForAVolume(ctx); err != nil {
				return 0, err
			}
		}
		found := make([]*core.HostVolumes, 0, len(hosts))
		for _, host := range hosts {
			volumes, err := p.c.volumesOf(ctx, host)
			if err != nil {
				return 0, err
			}
			found = append(found, volumes)
		}
		p.emit(core.Delta{Source: core.SourceVolumes, State: core.SourceLive, Replace: true, Upserts: objects(found)})
		return p.scaled(volumesEvery), nil
	}
}

// VolumeServices implements engine.OpenStackChecker.
func (c *Checker) VolumeServices(ctx context.Context, host string) ([]*core.VolumeService, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: "list volume services",
			Message: "no host was named"}
	}
	services, err := c.c.listVolumeServices(ctx, host)
	if errors.Is(err, errNoCinder) {
		return nil, nil
	}
	return services, err
}

// VolumesOf implements engine.OpenStackChecker.
func (c *Checker) VolumesOf(ctx context.Context, host string) ([]core.Volume, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: "list volumes", Message: "no host was named"}
	}
	found, err := c.c.volumesOf(ctx, host)
	if err != nil {
		return nil, err
	}
	return found.Volumes, nil
}

// setVolumeService enables a cinder-volume service, or disables it. Cinder takes a reason only when it disables.
func (w *Writer) setVolumeService(ctx context.Context, c core.SetVolumeService) error {
	host, enabled, reason := c.Service.Name, c.Enabled, c.Reason
	a := action{call: "enable volume service " + host, policy: "volume_extension:services:update"}
	verb, body := "enable", map[string]any{"host": host, "binary": volumeBinary}
	if !enabled {
		a.call, verb = "disable volume service "+host, "disable"
		if strings.TrimSpace(reason) != "" {
			verb, body["disabled_reason"] = "disable-log-reason", reason
		}
	}
	return w.send(ctx, a, vBase, func(ctx context.Context, s *session) error {
		sc, err := w.c.cinder(s, a)
		if err != nil {
			return err
		}
		return w.c.send(ctx, sc, http.MethodPut, sc.ServiceURL("os-services", verb), body, http.StatusOK)
	})
}
