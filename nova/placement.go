package nova

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophercloud/gophercloud/v2"

	"lockstep/core"
)

// placementVersion is the microversion of Placement's API that has everything needed: root_provider_uuid (1.14) and the parameter
// required (1.18).
const placementVersion = "1.18"

// placementReads is how many resource providers are read at the same time. The limiter still spaces their requests.
const placementReads = 4

// tellEvery is after how many hosts progress is reported.
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
	sc, err := s.find("placement")
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

// listRoom reads the capacity of all compute hosts and how much of it is taken. It adds up a host's provider and those below it (of
// its NUMA cells, devices). Providers that belong to no compute host are left out.
//
// A few requests have capacity and usage of every host with anything left; only the other hosts are asked one by one. By whom it is taken
// Placement tells only host by host. So the consumers are read of those of the query's hosts where the usage is not what the known
// instances take by their flavors: there some instance takes something else, or something that is not known holds a place.
//
// hostByHost is why there is no list of hosts; nil when there is one.
func (c *Client) listRoom(ctx context.Context, hypervisors func() ([]core.Hypervisor, error), q core.EvacuationQuery,
	progress core.InventoryProgress) (all []core.HostInventory, hostByHost *core.APIError, err error) {
	known, err := hypervisors()
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string]core.Hypervisor, len(known))
	for _, h := range known {
		byName[h.Name] = h
	}
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
		var tasks []providerTask
		var ids []string
		for _, p := range page.Providers {
			hypervisor, ok := byName[names[cmp.Or(p.Root, p.ID)]]
			if !ok {
				continue
			}
			host := hypervisor.Host
			if byHost[host] == nil {
				byHost[host] = &core.HostInventory{Host: host, Classes: map[string]core.ClassInventory{}, Used: map[string]int{}}
			}
			tasks = append(tasks, providerTask{id: p.ID, of: hypervisor, to: byHost[host]})
			ids = append(ids, p.ID)
		}
		summaries, failure := c.summaries(ctx, sc, ids)
		if hostByHost = nil; failure != nil && ctx.Err() == nil {
			a := actionPlacement
			a.call = "list what all hosts have"
			hostByHost = c.fail(a, failure)
		}
		single := map[string]bool{} // hosts with a provider that is in no summary
		for i, task := range tasks {
			if summary, ok := summaries[task.id]; ok {
				summary.addTo(task.to, task.of)
			} else {
				tasks[i].inventory, single[task.of.Host] = true, true
			}
		}
		wanted := map[string]bool{}
		for _, host := range q.Hosts {
			load, ok := q.Loads[host]
			wanted[host] = !ok || single[host] || byHost[host] != nil && !sameAmounts(load.Takes, byHost[host].Used)
		}
		for i := range tasks {
			tasks[i].taken = wanted[tasks[i].of.Host]
		}
		tasks = slices.DeleteFunc(tasks, func(t providerTask) bool { return !t.taken && !t.inventory })
		if err := c.readProviders(ctx, sc, tasks, progress); err != nil {
			return err
		}
		all = all[:0]
		for _, inv := range byHost {
			all = append(all, *inv)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b core.HostInventory) int { return strings.Compare(a.Host, b.Host) })
	return all, hostByHost, err
}

// sameAmounts compares amounts by resource class; one that is not there is 0.
func sameAmounts(a, b map[string]int) bool {
	for class, n := range a {
		if b[class] != n {
			return false
		}
	}
	for class, n := range b {
		if a[class] != n {
			return false
		}
	}
	return true
}

// providerTask is what is still to be read of a resource provider.
type providerTask struct {
	id        string
	of        core.Hypervisor
	to        *core.HostInventory
	inventory bool // its capacity and usage
	taken     bool // by whom
}

// readProviders carries out the tasks, some at the same time.
func (c *Client) readProviders(ctx context.Context, sc *gophercloud.ServiceClient, tasks []providerTask,
	progress core.InventoryProgress) error {
	var (
		group   sync.WaitGroup
		mu      sync.Mutex // guards the inventories, first and read
		first   error
		read    int
		next    atomic.Int64
		stopped atomic.Bool
	)
	for range placementReads {
		group.Go(func() {
			for !stopped.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(tasks) {
					return
				}
				inv, taken, err := c.readProvider(ctx, sc, tasks[i])
				mu.Lock()
				switch {
				case err != nil:
					stopped.Store(true)
					if first == nil {
						first = err
					}
				default:
					merge(tasks[i], inv, taken)
					if read++; read%tellEvery == 0 {
						progress("hosts' allocations", read)
					}
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return first
}

// readProvider reads one resource provider. One that has disappeared meanwhile has nothing.
func (c *Client) readProvider(ctx context.Context, sc *gophercloud.ServiceClient, task providerTask) (inv inventoryDocument,
	taken allocationDocument, err error) {
	if task.inventory {
		err = c.get(ctx, sc, sc.ServiceURL("resource_providers", task.id, "inventories"), &inv)
	}
	if err == nil {
		err = c.get(ctx, sc, sc.ServiceURL("resource_providers", task.id, "allocations"), &taken)
	}
	if notFound(err) {
		return inventoryDocument{}, allocationDocument{}, nil
	}
	return inv, taken, err
}

// candidatesVersion is the microversion of Placement's API in which the candidates come with all resource classes (1.27) of
// whole trees of providers (1.29).
const candidatesVersion = "1.29"

type candidatesDocument struct {
	Summaries map[string]providerSummary `json:"provider_summaries"`
}

// providerSummary is a resource provider as the allocation candidates have it.
type providerSummary struct {
	Resources map[string]struct {
		Capacity int `json:"capacity"`
		Used     int `json:"used"`
	} `json:"resources"`
}

func (d *candidatesDocument) check() error {
	if d.Summaries == nil {
		return errShape("allocation candidates")
	}
	return nil
}

// summaryClasses are the resource classes by which hosts are looked for: one of which a host has something left is enough.
var summaryClasses = []string{"VCPU", "PCPU", "MEMORY_MB", "DISK_GB"}

// summaries are the resource providers of all hosts that have anything left. It asks by another class while there are providers
// without a summary. Where Placement does not answer, failure says why: then each host is asked.
func (c *Client) summaries(ctx context.Context, sc *gophercloud.ServiceClient, ids []string) (found map[string]providerSummary,
	failure error) {
	asked := *sc
	asked.Microversion = candidatesVersion
	found = map[string]providerSummary{}
	for _, class := range summaryClasses {
		if !slices.ContainsFunc(ids, func(id string) bool { _, ok := found[id]; return !ok }) {
			break
		}
		var doc candidatesDocument
		err := c.get(ctx, &asked, asked.ServiceURL("allocation_candidates")+"?"+url.Values{"resources": {class + ":1"}}.Encode(), &doc)
		if err != nil && statusOf(err) != http.StatusBadRequest { // an old Placement does not know every class
			return found, err
		}
		maps.Copy(found, doc.Summaries)
	}
	return found, nil
}

// addTo adds a summary to its host. A summary does not say how much one instance may take: that is what the hypervisor has, if Nova
// tells.
func (s providerSummary) addTo(to *core.HostInventory, h core.Hypervisor) {
	most := map[string]int{"VCPU": h.VCPUs, "MEMORY_MB": h.RAMMiB, "DISK_GB": h.DiskGiB}
	for class, r := range s.Resources {
		sum := to.Classes[class]
		sum.Ratio, sum.Total = 1, sum.Total+r.Capacity
		sum.MaxUnit = max(sum.MaxUnit, cmp.Or(most[class], r.Capacity))
		to.Classes[class] = sum
		to.Used[class] += r.Used
	}
}

// merge adds what was read of a provider to its host. Capacities are added up, since providers can have different ratios.
func merge(task providerTask, inv inventoryDocument, taken allocationDocument) {
	to := task.to
	for class, i := range inv.Inventories {
		own := core.ClassInventory{Total: i.Total, Reserved: i.Reserved, MaxUnit: i.MaxUnit, Ratio: i.Ratio}
		sum, known := to.Classes[class]
		if known {
			own = core.ClassInventory{Total: sum.Capacity() + own.Capacity(), MaxUnit: max(sum.MaxUnit, own.MaxUnit), Ratio: 1}
		}
		to.Classes[class] = own
	}
	for consumer, a := range taken.Allocations {
		for class, n := range a.Resources {
			if task.inventory {
				to.Used[class] += n
			}
			if !task.taken {
				continue
			}
			if to.Allocations == nil {
				to.Allocations = map[string]map[string]int{}
			}
			if to.Allocations[consumer] == nil {
				to.Allocations[consumer] = map[string]int{}
			}
			to.Allocations[consumer][class] += n
		}
	}
}

// listTraits finds the hosts that have each of the traits. No host has a trait that Placement does not know.
func (c *Client) listTraits(ctx context.Context, hypervisors func() ([]core.Hypervisor, error), traits []string) (map[string][]string,
	error) {
	found := map[string][]string{}
	if len(traits) == 0 {
		return found, nil
	}
	known, err := hypervisors()
	if err != nil {
		return nil, err
	}
	hosts := make(map[string]string, len(known)) // by the names of their resource providers, which are those of the hypervisors
	for _, h := range known {
		hosts[h.Name] = h.Host
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
