package nova

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophercloud/gophercloud/v2"

	"lockstep/core"
)

// placementVersion is the microversion of Placement's API that has all that is asked for: root_provider_uuid (1.14) and the
// parameter required (1.18).
const placementVersion = "1.18"

// placementReads is how many resource providers are read at the same time. The limiter still spaces their requests out.
const placementReads = 4

// tellEvery is after how many hosts the progress is told.
const tellEvery = 50

var actionPlacement = action{call: "read what the hosts have and what is taken of it", policy: "placement:resource_providers:list"}

type providerPage struct {
	Providers []struct {
		ID   string `json:"uuid"`
		Name string `json:"name"`
		Root string `json:"root_provider_uuid"`
	} `json:"resource_providers"`
}

func (p *providerPage) check() error {
	if p.Providers == nil {
		return errShape("a list of resource providers")
	}
	return nil
}

type inventoryDocument struct {
	Inventories map[string]struct {
		Total    int     `json:"total"`
		Reserved int     `json:"reserved"`
		MaxUnit  int     `json:"max_unit"`
		Ratio    float64 `json:"allocation_ratio"`
	} `json:"inventories"`
}

func (d *inventoryDocument) check() error {
	if d.Inventories == nil {
		return errShape("inventories")
	}
	return nil
}

type allocationDocument struct {
	Allocations map[string]struct {
		Resources map[string]int `json:"resources"`
	} `json:"allocations"`
}

func (d *allocationDocument) check() error {
	if d.Allocations == nil {
		return errShape("allocations")
	}
	return nil
}

func (c *Client) placement(s *session) (*gophercloud.ServiceClient, error) {
	sc, err := c.endpoint(s.provider, "placement")
	if err != nil {
		return nil, err
	}
	sc.Microversion = placementVersion
	return sc, nil
}

// listProviders reads the resource providers that the query finds.
func (c *Client) listProviders(ctx context.Context, sc *gophercloud.ServiceClient, query url.Values) (*providerPage, error) {
	var page providerPage
	path := sc.ServiceURL("resource_providers")
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return &page, c.get(ctx, sc, path, &page)
}

// hostsByProvider are the compute hosts by the names of their resource providers, which are those of the hypervisors.
func (c *Client) hostsByProvider(ctx context.Context) (map[string]string, error) {
	hypervisors, err := c.listHypervisors(ctx)
	if err != nil {
		return nil, err
	}
	hosts := make(map[string]string, len(hypervisors))
	for _, h := range hypervisors {
		hosts[h.Name] = h.Host
	}
	return hosts, nil
}

// listRoom reads the inventories and allocations of all compute hosts. A host's provider and those below it (of its NUMA
// cells, devices) are taken together. Providers that belong to no compute host are left out.
func (c *Client) listRoom(ctx context.Context, progress core.InventoryProgress) ([]core.HostInventory, error) {
	hosts, err := c.hostsByProvider(ctx)
	if err != nil {
		return nil, err
	}
	var all []core.HostInventory
	err = c.call(ctx, actionPlacement, func(s *session) error {
		sc, err := c.placement(s)
		if err != nil {
			return err
		}
		page, err := c.listProviders(ctx, sc, nil)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, p := range page.Providers {
			names[p.ID] = p.Name
		}
		byHost := map[string]*core.HostInventory{}
		type task struct {
			id string
			of *core.HostInventory
		}
		var tasks []task
		for _, p := range page.Providers {
			host, ok := hosts[names[cmp.Or(p.Root, p.ID)]]
			if !ok {
				continue
			}
			if byHost[host] == nil {
				byHost[host] = &core.HostInventory{Host: host, Classes: map[string]core.ClassInventory{}, Allocations: map[string]map[string]int{}}
			}
			tasks = append(tasks, task{p.ID, byHost[host]})
		}
		var (
			group   sync.WaitGroup
			mu      sync.Mutex // guards byHost's inventories and first
			first   error
			next    atomic.Int64
			read    int
			stopped atomic.Bool
		)
		for range placementReads {
			group.Go(func() {
				for !stopped.Load() {
					i := int(next.Add(1)) - 1
					if i >= len(tasks) {
						return
					}
					inv, taken, err := c.readProvider(ctx, sc, tasks[i].id)
					mu.Lock()
					if err != nil {
						stopped.Store(true)
						if first == nil {
							first = err
						}
					} else {
						merge(tasks[i].of, inv, taken)
						if read++; read%tellEvery == 0 {
							progress("hosts' inventories", read)
						}
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if first != nil {
			return first
		}
		all = all[:0]
		for _, inv := range byHost {
			all = append(all, *inv)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b core.HostInventory) int { return strings.Compare(a.Host, b.Host) })
	return all, err
}

// readProvider reads one resource provider. One that has gone meanwhile has nothing.
func (c *Client) readProvider(ctx context.Context, sc *gophercloud.ServiceClient, id string) (*inventoryDocument, *allocationDocument, error) {
	inv, taken := &inventoryDocument{}, &allocationDocument{}
	err := c.get(ctx, sc, sc.ServiceURL("resource_providers", id, "inventories"), inv)
	if err == nil {
		err = c.get(ctx, sc, sc.ServiceURL("resource_providers", id, "allocations"), taken)
	}
	if statusOf(err) == http.StatusNotFound {
		return &inventoryDocument{}, &allocationDocument{}, nil
	}
	return inv, taken, err
}

func merge(to *core.HostInventory, inv *inventoryDocument, taken *allocationDocument) {
	for class, i := range inv.Inventories {
		sum := to.Classes[class]
		if sum.Ratio == 0 {
			sum.Ratio = i.Ratio
		}
		sum.Total, sum.Reserved, sum.MaxUnit = sum.Total+i.Total, sum.Reserved+i.Reserved, max(sum.MaxUnit, i.MaxUnit)
		to.Classes[class] = sum
	}
	for consumer, a := range taken.Allocations {
		if to.Allocations[consumer] == nil {
			to.Allocations[consumer] = map[string]int{}
		}
		for class, n := range a.Resources {
			to.Allocations[consumer][class] += n
		}
	}
}

// listTraits finds the hosts that have each of the traits. One that Placement does not know no host has.
func (c *Client) listTraits(ctx context.Context, traits []string) (map[string][]string, error) {
	found := map[string][]string{}
	if len(traits) == 0 {
		return found, nil
	}
	hosts, err := c.hostsByProvider(ctx)
	if err != nil {
		return nil, err
	}
	a := actionPlacement
	a.call = "find the hosts that have a trait"
	err = c.call(ctx, a, func(s *session) error {
		sc, err := c.placement(s)
		if err != nil {
			return err
		}
		for _, trait := range traits {
			page, err := c.listProviders(ctx, sc, url.Values{"required": {trait}})
			if statusOf(err) == http.StatusBadRequest {
				found[trait] = nil
				continue
			}
			if err != nil {
				return err
			}
			found[trait] = nil
			for _, p := range page.Providers {
				if host, ok := hosts[p.Name]; ok {
					found[trait] = append(found[trait], host)
				}
			}
			slices.Sort(found[trait])
		}
		return nil
	})
	return found, err
}
