package nova

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lockstep/core"
)

// inventoryReads is how many lists are read at the same time. The limiter still spaces their requests.
const inventoryReads = 3

// Inventory reads once, completely, what OpenStack knows of an update: services, hypervisors, aggregates, server groups, flavors,
// projects, instances, migrations, volume services, network agents. What cannot be read is listed as missing, with the reason. Of
// an instance it keeps only the fields of core.Instance; user data, metadata, addresses and key pairs are dropped unread.
func (c *Client) Inventory(ctx context.Context, progress core.InventoryProgress) (core.CloudInventory, []core.MissingFacts) {
	if progress == nil {
		progress = func(string, int) {}
	}
	var inv core.CloudInventory
	missing := readAll(c.inventoryLists(ctx, &inv), "list ", progress)
	sortInventory(&inv)
	return inv, missing
}

// InventorySources are the sources whose lists Inventory reads.
func InventorySources() []core.SourceID {
	var ids []core.SourceID
	for _, list := range new(Client).inventoryLists(context.Background(), new(core.CloudInventory)) {
		if id := core.SourceID(list.what); id.Server() == core.ServerOpenStack {
			ids = append(ids, id)
		}
	}
	return ids
}

// inventoryLists are the lists of an inventory, each read into its place there. Those that are also sources have the sources'
// names.
func (c *Client) inventoryLists(ctx context.Context, inv *core.CloudInventory) []reading {
	return []reading{
		{string(core.SourceComputeServices), func() (n int, err error) {
			inv.Services, err = c.listServices(ctx, "")
			return len(inv.Services), err
		}},
		{string(core.SourceInstances), func() (int, error) {
			records, err := c.listServers(ctx, serverQuery{})
			for try := 1; apiStatus(err) == http.StatusBadRequest && try < maxRestarts; try++ {
				records, err = c.listServers(ctx, serverQuery{}) // the instance that marks a page was deleted meanwhile
			}
			for i := range records {
				if !records[i].deleted() {
					inv.Instances = append(inv.Instances, records[i].instance())
				}
			}
			return len(inv.Instances), err
		}},
		{"hypervisors", func() (n int, err error) {
			inv.Hypervisors, err = c.listHypervisors(ctx)
			return len(inv.Hypervisors), err
		}},
		{"aggregates", func() (n int, err error) {
			inv.Aggregates, err = c.listAggregates(ctx)
			return len(inv.Aggregates), err
		}},
		{"server groups", func() (n int, err error) {
			inv.ServerGroups, err = c.listServerGroups(ctx)
			return len(inv.ServerGroups), err
		}},
		{"flavors", func() (n int, err error) {
			inv.Flavors, err = c.listFlavors(ctx)
			return len(inv.Flavors), err
		}},
		{string(core.SourceProjects), func() (n int, err error) {
			inv.Projects, err = c.listProjects(ctx)
			return len(inv.Projects), err
		}},
		{string(core.SourceVolumeServices), func() (n int, err error) {
			if inv.VolumeServices, err = c.listVolumeServices(ctx, ""); errors.Is(err, errNoCinder) {
				err = nil
			}
			return len(inv.VolumeServices), err
		}},
		{string(core.SourceNetworkAgents), func() (n int, err error) {
			if inv.Agents, err = c.listAgents(ctx); errors.Is(err, errNoNeutron) {
				err = nil
			}
			return len(inv.Agents), err
		}},
		{string(core.SourceMigrations), func() (n int, err error) {
			inv.Migrations, err = c.listOpenMigrations(ctx)
			return len(inv.Migrations), err
		}},
	}
}

func asAPIError(err error, call string) *core.APIError {
	var api *core.APIError
	if errors.As(err, &api) {
		return api
	}
	return &core.APIError{Kind: core.ErrOther, Server: core.ServerOpenStack, Call: call, Message: err.Error(), Err: err}
}

// sortInventory gives every list a fixed order, so that two files of one cloud can be compared.
func sortInventory(inv *core.CloudInventory) {
	slices.SortFunc(inv.Services, func(a, b *core.ComputeService) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.VolumeServices, func(a, b *core.VolumeService) int { return strings.Compare(a.Host, b.Host) })
	slices.SortFunc(inv.Agents, func(a, b *core.NetworkAgent) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Binary, b.Binary), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.Hypervisors, func(a, b core.Hypervisor) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(inv.Aggregates, func(a, b core.Aggregate) int { return cmp.Or(strings.Compare(a.Name, b.Name), a.ID-b.ID) })
	slices.SortFunc(inv.ServerGroups, func(a, b core.ServerGroup) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.Flavors, func(a, b core.FlavorRecord) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.Projects, func(a, b *core.Project) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.Instances, func(a, b *core.Instance) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(inv.Migrations, func(a, b *core.Migration) int { return cmp.Or(strings.Compare(a.InstanceID, b.InstanceID), a.ID-b.ID) })
}

// listOpenMigrations reads the migrations that have not ended, and those of resizes that wait for a confirmation.
func (c *Client) listOpenMigrations(ctx context.Context) ([]*core.Migration, error) {
	var all []*core.Migration
	for _, status := range append(slices.Clone(runningStatuses), "finished") {
		some, err := c.listMigrations(ctx, migrationQuery{status: status})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

type hypervisorPage struct {
	Hypervisors []struct {
		ID       json.RawMessage `json:"id"` // a UUID since 2.53, a number before
		Hostname string          `json:"hypervisor_hostname"`
		VCPUs    int             `json:"vcpus"`
		MemoryMB int             `json:"memory_mb"`
		LocalGB  int             `json:"local_gb"`
		Service  struct {
			Host string `json:"host"`
		} `json:"service"`
	} `json:"hypervisors"`
	Links []link `json:"hypervisors_links"`
}

func (p *hypervisorPage) check() error {
	if p.Hypervisors == nil {
		return errShape("a list of hypervisors")
	}
	return nil
}

// listHypervisors reads what the compute hosts have. From microversion 2.88 on Nova no longer tells, so it asks for an older one.
func (c *Client) listHypervisors(ctx context.Context) ([]core.Hypervisor, error) {
	a := action{call: "list hypervisors", policy: "os_compute_api:os-hypervisors:list-detail"}
	var all []core.Hypervisor
	err := c.call(ctx, a, func(s *session) error {
		all = nil
		v := s.versions.best(vServiceUUID, vHypervisorPaging, vBase)
		sc := at(s.compute, v)
		marker := ""
		for range maxPages {
			values := url.Values{}
			if v >= vHypervisorPaging {
				values.Set("limit", strconv.Itoa(pageSize))
				set(values, "marker", marker)
			}
			var page hypervisorPage
			if err := c.get(ctx, sc, sc.ServiceURL("os-hypervisors", "detail")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			for _, h := range page.Hypervisors {
				all = append(all, core.Hypervisor{Name: h.Hostname, Host: cmp.Or(h.Service.Host, h.Hostname), VCPUs: h.VCPUs, RAMMiB: h.MemoryMB,
					DiskGiB: h.LocalGB})
			}
			if n := len(page.Hypervisors); n == 0 || !hasNext(page.Links) {
				return nil
			} else if next := strings.Trim(string(page.Hypervisors[n-1].ID), `"`); next != marker {
				marker = next
				continue
			}
			break
		}
		return errShape("a list of hypervisors: it has no end")
	})
	return all, err
}

type aggregatePage struct {
	Aggregates []struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Zone  string   `json:"availability_zone"`
		Hosts []string `json:"hosts"`

		Metadata map[string]string `json:"metadata"`
	} `json:"aggregates"`
}

func (p *aggregatePage) check() error {
	if p.Aggregates == nil {
		return errShape("a list of aggregates")
	}
	return nil
}

func (c *Client) listAggregates(ctx context.Context) ([]core.Aggregate, error) {
	a := action{call: "list host aggregates", policy: "os_compute_api:os-aggregates:index"}
	var page aggregatePage
	err := c.call(ctx, a, func(s *session) error {
		sc := at(s.compute, s.versions.best(vBase))
		return c.get(ctx, sc, sc.ServiceURL("os-aggregates"), &page)
	})
	var all []core.Aggregate
	for _, g := range page.Aggregates {
		slices.Sort(g.Hosts)
		delete(g.Metadata, "availability_zone") // the aggregate is the zone
		all = append(all, core.Aggregate{ID: g.ID, Name: g.Name, Zone: g.Zone, Hosts: g.Hosts, Metadata: g.Metadata})
	}
	return all, err
}

type serverGroupPage struct {
	Groups []struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		ProjectID string   `json:"project_id"`
		Policy    string   `json:"policy"`   // since 2.64
		Policies  []string `json:"policies"` // before
		Members   []string `json:"members"`
		Rules     struct {
			Most int `json:"max_server_per_host"`
		} `json:"rules"` // since 2.64
	} `json:"server_groups"`
}

func (p *serverGroupPage) check() error {
	if p.Groups == nil {
		return errShape("a list of server groups")
	}
	return nil
}

// listServerGroups reads the server groups of all projects. Their pages use an offset, and have no links.
func (c *Client) listServerGroups(ctx context.Context) ([]core.ServerGroup, error) {
	a := action{call: "list server groups", policy: "os_compute_api:os-server-groups:index:all_projects"}
	var all []core.ServerGroup
	err := c.call(ctx, a, func(s *session) error {
		all = nil
		sc := at(s.compute, s.versions.best(vGroupPolicy, vGroupProject, vBase))
		seen := map[string]bool{}
		for range maxPages {
			values := url.Values{"all_projects": {"True"}, "limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(len(all))}}
			var page serverGroupPage
			if err := c.get(ctx, sc, sc.ServiceURL("os-server-groups")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			before := len(all)
			for _, g := range page.Groups {
				if seen[g.ID] {
					continue
				}
				seen[g.ID] = true
				if g.Policy == "" && len(g.Policies) > 0 {
					g.Policy = g.Policies[0]
				}
				slices.Sort(g.Members)
				all = append(all, core.ServerGroup{ID: g.ID, Name: g.Name, ProjectID: g.ProjectID, Policy: g.Policy, Members: g.Members,
					MaxPerHost: g.Rules.Most})
			}
			if len(all) == before { // an empty page, or a server that knows no offset
				return nil
			}
		}
		return errShape("a list of server groups: it has no end")
	})
	return all, err
}

type flavorPage struct {
	Flavors []struct {
		ID         string            `json:"id"`
		Name       string            `json:"name"`
		VCPUs      int               `json:"vcpus"`
		RAM        int               `json:"ram"`
		Disk       int               `json:"disk"`
		ExtraSpecs map[string]string `json:"extra_specs"` // since 2.61
	} `json:"flavors"`
	Links []link `json:"flavors_links"`
}

func (p *flavorPage) check() error {
	if p.Flavors == nil {
		return errShape("a list of flavors")
	}
	return nil
}

// listFlavors reads the flavors of all projects, private ones too.
func (c *Client) listFlavors(ctx context.Context) ([]core.FlavorRecord, error) {
	a := action{call: "list flavors", policy: "os_compute_api:flavors"}
	var all []core.FlavorRecord
	err := c.call(ctx, a, func(s *session) error {
		all = nil
		sc := at(s.compute, s.versions.best(vFlavorSpecs, vBase))
		marker := ""
		for range maxPages {
			values := url.Values{"is_public": {"None"}, "limit": {strconv.Itoa(pageSize)}}
			set(values, "marker", marker)
			var page flavorPage
			if err := c.get(ctx, sc, sc.ServiceURL("flavors", "detail")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			for _, f := range page.Flavors {
				all = append(all, core.FlavorRecord{ID: f.ID,
					Flavor: core.Flavor{Name: f.Name, VCPUs: f.VCPUs, RAMMiB: f.RAM, DiskGiB: f.Disk, ExtraSpecs: f.ExtraSpecs}})
			}
			n := len(page.Flavors)
			if n == 0 || !hasNext(page.Links) {
				return nil
			}
			if page.Flavors[n-1].ID == marker {
				return errShape("a list of flavors: a page of it came again")
			}
			marker = page.Flavors[n-1].ID
		}
		return errShape("a list of flavors: it has no end")
	})
	return all, err
}
