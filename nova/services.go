package nova

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"lockstep/core"
)

// computeBinary is the service that runs instances.
const computeBinary = "nova-compute"

type serviceRecord struct {
	ID             json.RawMessage `json:"id"` // a UUID since 2.53, a number before
	Binary         string          `json:"binary"`
	Host           string          `json:"host"`
	Status         string          `json:"status"`
	DisabledReason string          `json:"disabled_reason"`
	State          string          `json:"state"`
	ForcedDown     bool            `json:"forced_down"`
	Zone           string          `json:"zone"`
	Updated        string          `json:"updated_at"`
}

func (r *serviceRecord) id() string {
	id := strings.Trim(string(r.ID), `"`)
	if id == "null" {
		return ""
	}
	return id
}

func (r *serviceRecord) service() *core.ComputeService {
	return &core.ComputeService{
		ID: r.id(), Host: r.Host, Enabled: r.Status == "enabled", DisabledReason: r.DisabledReason,
		Up: r.State == "up", ForcedDown: r.ForcedDown, Zone: r.Zone, Updated: parseTime(r.Updated),
	}
}

type servicePage struct {
	Services []serviceRecord `json:"services"`
}

func (p *servicePage) check() error {
	if p.Services == nil {
		return errShape("a list of services")
	}
	for i := range p.Services {
		if p.Services[i].id() == "" {
			return errShape("a list of services: one has no ID")
		}
	}
	return nil
}

// listServices reads the nova-compute services, of all hosts or of one.
func (c *Client) listServices(ctx context.Context, host string) ([]*core.ComputeService, error) {
	a := action{call: "list compute services", policy: "os_compute_api:os-services:list"}
	values := url.Values{"binary": {computeBinary}}
	if host != "" {
		values.Set("host", host)
		a.call = "read the compute service of " + host
	}
	var page servicePage
	err := c.call(ctx, a, func(s *session) error {
		sc := at(s.compute, s.versions.best(vServiceUUID, vForcedDown, vBase))
		return c.get(ctx, sc, sc.ServiceURL("os-services")+"?"+values.Encode(), &page)
	})
	if err != nil {
		return nil, err
	}
	services := make([]*core.ComputeService, 0, len(page.Services))
	for i := range page.Services {
		r := &page.Services[i]
		if (r.Binary == "" || r.Binary == computeBinary) && (host == "" || r.Host == host) {
			services = append(services, r.service())
		}
	}
	return services, nil
}
