package nova

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"lockstep/core"
	"lockstep/core/engine"
)

var _ engine.EvacuationReader = (*Client)(nil)

// EvacuationFacts implements engine.EvacuationReader: it reads each list once, a few at a time, and lists what could not be read as
// missing.
func (c *Client) EvacuationFacts(ctx context.Context, hosts, traits []string, progress core.InventoryProgress) core.EvacuationFacts {
	if progress == nil {
		progress = func(string, int) {}
	}
	var f core.EvacuationFacts
	lists := []reading{
		{core.FactsRoom, func() (n int, err error) {
			f.Inventories, err = c.listRoom(ctx, hosts, progress)
			return len(f.Inventories), err
		}},
		{core.FactsGroups, func() (n int, err error) {
			f.ServerGroups, err = c.listServerGroups(ctx)
			return len(f.ServerGroups), err
		}},
		{core.FactsAggregates, func() (n int, err error) {
			f.Aggregates, err = c.listAggregates(ctx)
			return len(f.Aggregates), err
		}},
		{core.FactsTraits, func() (n int, err error) {
			f.Traits, err = c.listTraits(ctx, traits)
			return len(f.Traits), err
		}},
		{core.FactsZones, func() (n int, err error) {
			f.PinnedZones, err = c.listPinnedZones(ctx, hosts)
			return len(f.PinnedZones), err
		}},
		{core.FactsVolumes, func() (n int, err error) {
			if f.Volumes, err = c.listAttachedVolumes(ctx); errors.Is(err, errNoCinder) {
				f.Volumes, err = []core.Volume{}, nil // a cloud without Cinder has no volumes
			}
			return len(f.Volumes), err
		}},
		{core.FactsPorts, func() (n int, err error) {
			f.Ports, err = c.listDevicePorts(ctx, hosts)
			return len(f.Ports), err
		}},
	}
	missing := readAll(lists, "read ", progress)
	if s := c.current.Load(); s != nil {
		f.Microversion = int(s.versions.max)
	}
	f.Missing = withOwnOnly(missing)
	return f
}

// ownOnly are the lists that the API silently limits to the login's own project when the login is not an administrator's.
var ownOnly = []string{core.FactsGroups, core.FactsZones, core.FactsVolumes, core.FactsPorts}

// withOwnOnly adds the lists that look complete and are not: where Placement or Nova refuses what only administrators may read, the
// other lists have only what one project has.
func withOwnOnly(missing []core.MissingFacts) []core.MissingFacts {
	i := slices.IndexFunc(missing, func(m core.MissingFacts) bool {
		return m.Err.Kind == core.ErrForbidden && (m.What == core.FactsRoom || m.What == core.FactsAggregates)
	})
	if i < 0 {
		return missing
	}
	for _, what := range ownOnly {
		if slices.ContainsFunc(missing, func(m core.MissingFacts) bool { return m.What == what }) {
			continue
		}
		err := *missing[i].Err
		err.Call, err.Message = "list "+what, "this login is not an administrator's: it sees its own project only"
		missing = append(missing, core.MissingFacts{What: what, Err: &err})
	}
	return missing
}

type pinnedPage struct {
	Servers []struct {
		ID     string  `json:"id"`
		Pinned *string `json:"pinned_availability_zone"` // since 2.96; null when the user asked for none
	} `json:"servers"`
	Links []link `json:"servers_links"`
}

func (p *pinnedPage) check() error {
	if p.Servers == nil {
		return errShape("a list of servers")
	}
	return nil
}

// listPinnedZones reads the zones that users asked for with their instances, on the given hosts, or everywhere when none is given.
// It is nil when the cloud does not tell (before 2.96).
func (c *Client) listPinnedZones(ctx context.Context, hosts []string) (map[string]string, error) {
	a := action{call: "read which zones instances are bound to", policy: actionListServers.policy}
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	var zones map[string]string
	err := c.call(ctx, a, func(s *session) error {
		zones = nil
		if !s.versions.has(vPinnedZone) {
			return nil
		}
		zones = map[string]string{}
		sc := at(s.compute, vPinnedZone)
		for _, host := range hosts {
			values := url.Values{"all_tenants": {"True"}, "limit": {strconv.Itoa(pageSize)}}
			set(values, "host", host)
			marker := ""
			for page := range maxPages + 1 {
				if page == maxPages {
					return errShape("a list of servers: it has no end")
				}
				set(values, "marker", marker)
				var doc pinnedPage
				if err := c.get(ctx, sc, sc.ServiceURL("servers", "detail")+"?"+values.Encode(), &doc); err != nil {
					return err
				}
				for _, server := range doc.Servers {
					zones[server.ID] = ""
					if server.Pinned != nil {
						zones[server.ID] = *server.Pinned
					}
				}
				n := len(doc.Servers)
				if n == 0 || !hasNext(doc.Links) || doc.Servers[n-1].ID == marker {
					break
				}
				marker = doc.Servers[n-1].ID
			}
		}
		return nil
	})
	return zones, err
}

type portPage struct {
	Ports []struct {
		ID       string `json:"id"`
		Device   string `json:"device_id"`
		VNICType string `json:"binding:vnic_type"`
	} `json:"ports"`
	Links []link `json:"ports_links"`
}

func (p *portPage) check() error {
	if p.Ports == nil {
		return errShape("a list of ports")
	}
	return nil
}

// plainPorts are the kinds of ports that any live migration can move.
var plainPorts = []string{"", "normal", "virtio-forwarder"}

// listDevicePorts reads the ports that are not plain, of the given hosts, or of all when none is given. Neutron does not filter by
// kind, so all ports are read, page by page, with only the needed fields.
func (c *Client) listDevicePorts(ctx context.Context, hosts []string) ([]core.Port, error) {
	a := action{call: "list ports", policy: "get_port"}
	all := []core.Port{}
	err := c.call(ctx, a, func(s *session) error {
		all = all[:0]
		if s.network == nil {
			return s.networkErr
		}
		values := url.Values{"fields": {"id", "device_id", "binding:vnic_type"}, "limit": {strconv.Itoa(pageSize)}}
		if len(hosts) > 0 {
			values["binding:host_id"] = hosts
		}
		marker := ""
		for range maxPages {
			set(values, "marker", marker)
			var page portPage
			if err := c.get(ctx, s.network, s.network.ServiceURL("ports")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			for _, p := range page.Ports {
				if p.Device != "" && !slices.Contains(plainPorts, p.VNICType) {
					all = append(all, core.Port{ID: p.ID, Instance: p.Device, VNICType: p.VNICType})
				}
			}
			n := len(page.Ports)
			if n == 0 || !hasNext(page.Links) || page.Ports[n-1].ID == marker {
				return nil
			}
			marker = page.Ports[n-1].ID
		}
		return errShape("a list of ports: it has no end")
	})
	return all, err
}
