package nova

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"lockstep/core"
	"lockstep/core/engine"
)

var _ engine.EvacuationReader = (*Client)(nil)

// EvacuationFacts implements engine.EvacuationReader: it reads each list once, a few at a time, and lists what could not be read as
// missing. What the requests grow with, and what is asked for one by one, is in docs/cost.md.
func (c *Client) EvacuationFacts(ctx context.Context, q core.EvacuationQuery, progress core.InventoryProgress) core.EvacuationFacts {
	if progress == nil {
		progress = func(string, int) {}
	}
	var f core.EvacuationFacts
	hypervisors := once(func() ([]core.Hypervisor, error) { return c.listHypervisors(ctx) })
	lists := []reading{
		{core.FactsRoom, func() (n int, err error) {
			f.Inventories, f.HostByHost, err = c.listRoom(ctx, hypervisors, q, progress)
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
			f.Traits, err = c.listTraits(ctx, hypervisors, q.Traits)
			return len(f.Traits), err
		}},
		{core.FactsZones, func() (n int, err error) {
			f.PinnedZones, err = c.listPinnedZones(ctx, hostsToList(q))
			return len(f.PinnedZones), err
		}},
		{core.FactsVolumes, func() (n int, err error) {
			if f.Volumes, err = c.listAttachedVolumes(ctx); errors.Is(err, errNoCinder) {
				f.Volumes, err = []core.Volume{}, nil // a cloud without Cinder has no volumes
			}
			return len(f.Volumes), err
		}},
		{core.FactsPorts, func() (n int, err error) {
			f.Ports, err = c.listDevicePorts(ctx, q.Hosts)
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

// wholeFrom is the share of the cloud's instances, one in so many, from which on all of them are listed: fewer requests, and not many
// more instances to tell of than are needed.
const wholeFrom = 10

// hostsToList are the hosts whose instances are listed host by host; nil when all instances of the cloud are listed instead, page by
// page.
func hostsToList(q core.EvacuationQuery) []string {
	if len(q.Hosts) == 0 {
		return []string{}
	}
	on := 0
	for _, host := range q.Hosts {
		load, known := q.Loads[host]
		if !known {
			return q.Hosts
		}
		on += load.Instances
	}
	if pages := 1 + q.Instances/pageSize; pages <= len(q.Hosts) && q.Instances <= wholeFrom*on {
		return nil
	}
	return q.Hosts
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

// listPinnedZones reads the zones that users asked for with their instances: of the given hosts, or of the whole cloud when hosts is
// nil. It is nil when the cloud does not tell (before 2.96). An instance that moves from one host to another between their lists may be
// missing; of the whole cloud's pages the hosts do not matter.
func (c *Client) listPinnedZones(ctx context.Context, hosts []string) (map[string]string, error) {
	a := action{call: "read which zones instances are bound to", policy: actionListServers.policy}
	lists := hosts
	if hosts == nil {
		lists = []string{""}
	}
	var zones map[string]string
	err := c.call(ctx, a, func(s *session) error {
		zones = nil
		if !s.versions.has(vPinnedZone) {
			return nil
		}
		zones = map[string]string{}
		for _, host := range lists {
			err := c.addPinnedZones(ctx, s, host, zones)
			for try := 1; statusOf(err) == http.StatusBadRequest && try < maxRestarts; try++ {
				err = c.addPinnedZones(ctx, s, host, zones) // the instance that marks a page was deleted meanwhile
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return zones, err
}

// addPinnedZones reads the pages of one list: of a host, or of the whole cloud.
func (c *Client) addPinnedZones(ctx context.Context, s *session, host string, zones map[string]string) error {
	sc := at(s.compute, vPinnedZone)
	values := url.Values{"all_tenants": {"True"}, "limit": {strconv.Itoa(pageSize)}}
	set(values, "host", host)
	marker := ""
	for range maxPages {
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
		if n == 0 || !hasNext(doc.Links) {
			return nil
		}
		if doc.Servers[n-1].ID == marker {
			return errShape("a list of servers: a page of it came again")
		}
		marker = doc.Servers[n-1].ID
	}
	return errShape("a list of servers: it has no end")
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

// listDevicePorts reads the ports that are not plain, of the given hosts; of all hosts when so many are given that the URL would
// become too long. Neutron does not filter by kind, so all ports are read, page by page, with only the needed fields.
func (c *Client) listDevicePorts(ctx context.Context, hosts []string) ([]core.Port, error) {
	a := action{call: "list ports", policy: "get_port"}
	all := []core.Port{}
	if len(hosts) == 0 {
		return all, nil
	}
	err := c.call(ctx, a, func(s *session) error {
		all = all[:0]
		if s.network == nil {
			return s.networkErr
		}
		values := url.Values{"fields": {"id", "device_id", "binding:vnic_type"}, "limit": {strconv.Itoa(pageSize)}}
		if len(hosts) <= hostsPerQuery {
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
			if n == 0 || !hasNext(page.Links) {
				return nil
			}
			if page.Ports[n-1].ID == marker {
				return errShape("a list of ports: a page of it came again")
			}
			marker = page.Ports[n-1].ID
		}
		return errShape("a list of ports: it has no end")
	})
	return all, err
}
