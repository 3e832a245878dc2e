package nova

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/scene"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// oneByOne are the requests so far about one resource provider.
func oneByOne(cloud simulated) (singles []string) {
	for _, r := range cloud.Requests() {
		if strings.HasSuffix(r.Path, "/inventories") || strings.HasSuffix(r.Path, "/allocations") {
			singles = append(singles, r.Path)
		}
	}
	return singles
}

// Two requests cover all hosts, also one without a free CPU. Only a host that is full in everything is asked by itself, and one on which
// more is taken than is known.
func TestSimRoomIsAskedForWithFewQuestions(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart(), CPURatio: 1, RAMRatio: 1}, openstack.ServerSpec{Name: "web", ID: "web"})
		for name, f := range map[string]openstack.FlavorSpec{"kaas-node-002": {Name: "cpus", VCPUs: 64, RAM: 1024, Disk: 10},
			"kaas-node-003": {Name: "all", VCPUs: 64, RAM: 262144 - 512, Disk: 2000}} {
			if _, err := cloud.AddFlavor(f); err != nil {
				t.Fatal(err)
			}
			if _, err := cloud.AddServer(openstack.ServerSpec{Name: f.Name, ID: f.Name, Host: name, Flavor: f.Name,
				ImageID: "debian"}); err != nil {
				t.Fatal(err)
			}
		}
		c := simClient(t, cloud, "sim")
		takes := map[string]int{"VCPU": 2, "MEMORY_MB": 4096}
		q := core.EvacuationQuery{Hosts: []string{"kaas-node-001"}, Loads: map[string]core.HostLoad{"kaas-node-001": {Takes: takes}}}
		f := c.EvacuationFacts(t.Context(), q, nil)
		if len(f.Missing) > 0 || len(f.Inventories) != 3 || f.HostByHost != nil {
			t.Fatalf("%+v", f)
		}
		if first := f.Inventories[0]; first.Allocations != nil || first.Used["MEMORY_MB"] != 4096 {
			t.Errorf("the host whose instances explain what is used is %+v", first)
		}
		if cpus := f.Inventories[1]; cpus.Used["VCPU"] != 64 || cpus.Classes["VCPU"].Capacity() != 64 || cpus.Allocations != nil {
			t.Errorf("the host without a CPU is %+v", cpus)
		}
		if full := f.Inventories[2]; full.Used["VCPU"] != 64 || full.Classes["MEMORY_MB"].Reserved != 512 || full.Allocations != nil {
			t.Errorf("the full host is %+v", full)
		}
		if singles := oneByOne(cloud); len(singles) != 2 { // inventories and allocations of the full one
			t.Errorf("asked one by one: %q", singles)
		}
		cloud.ForgetRequests()
		takes["VCPU"] = 1
		if f = c.EvacuationFacts(t.Context(), q, nil); f.Inventories[0].Allocations["web"]["VCPU"] != 2 {
			t.Errorf("the host where something else is used is %+v", f.Inventories[0])
		}
		if singles := oneByOne(cloud); len(singles) != 3 {
			t.Errorf("asked one by one: %q", singles)
		}
	})
}

// Where Placement refuses the list of all hosts, each host is asked, and the plan says why.
func TestSimRoomWithoutTheListOfAllHosts(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web", ID: "web"})
		c := simClient(t, cloud, "sim")
		q := core.EvacuationQuery{Hosts: []string{"kaas-node-001"},
			Loads: map[string]core.HostLoad{"kaas-node-001": {Takes: map[string]int{"VCPU": 2, "MEMORY_MB": 4096}}}}
		with := c.EvacuationFacts(t.Context(), q, nil)
		cloud.SetFault(openstack.Fault{Path: regexp.MustCompile("/allocation_candidates"), Status: http.StatusForbidden})
		without := c.EvacuationFacts(t.Context(), q, nil)
		if without.HostByHost == nil || without.HostByHost.Kind != core.ErrForbidden || len(without.Missing) > 0 {
			t.Fatalf("why host by host: %v; missing %v", without.HostByHost, without.Missing)
		}
		for i := range with.Inventories {
			a, b := with.Inventories[i], without.Inventories[i]
			for class := range b.Classes {
				if a.Classes[class].Capacity() != b.Classes[class].Capacity() || a.Used[class] != b.Used[class] {
					t.Errorf("%s: %s is %+v of %v by the list, %+v of %v by itself", a.Host, class, a.Used, a.Classes[class], b.Used, b.Classes[class])
				}
			}
		}
	})
}

// The requests before a plan of a whole cloud grow with the pages of lists of hosts and ports, of 1,000 each, and not with the hosts.
func TestSimThePlansRequestsDoNotGrowWithHosts(t *testing.T) {
	for _, tc := range []struct{ hosts, want int }{{50, 7}, {500, 7}, {2000, 12}} {
		t.Run(strconv.Itoa(tc.hosts), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := simCloud(t, openstack.Options{Clock: apart()})
				q := core.EvacuationQuery{Loads: map[string]core.HostLoad{}}
				for i := range tc.hosts {
					host := fmt.Sprintf("cmp-%04d", i)
					if err := cloud.AddHost(openstack.HostSpec{Name: host, VCPUs: 64, RAM: 262144, Disk: 2000}); err != nil {
						t.Fatal(err)
					}
					q.Hosts = append(q.Hosts, host)
					q.Loads[host] = core.HostLoad{Instances: 2, Takes: map[string]int{"VCPU": 4, "MEMORY_MB": 8192, "DISK_GB": 40}}
					for _, image := range []string{"", "debian"} {
						spec := openstack.ServerSpec{Name: host + image, Host: host, Flavor: "m1.medium", ImageID: image}
						if _, err := cloud.AddServer(spec); err != nil {
							t.Fatal(err)
						}
						q.Instances++
					}
				}
				c := simClient(t, cloud, "sim")
				if _, err := c.listAggregates(t.Context()); err != nil { // so that the login is not counted
					t.Fatal(err)
				}
				cloud.ForgetRequests()
				f := c.EvacuationFacts(t.Context(), q, nil)
				if len(f.Missing) > 0 || len(f.Inventories) != tc.hosts+3 {
					t.Fatalf("missing %v; %d hosts", f.Missing, len(f.Inventories))
				}
				if n := len(cloud.Requests()); n != tc.want {
					t.Errorf("%d requests, want %d: %+v", n, tc.want, cloud.Requests())
				}
			})
		})
	}
}

// drawnPlacement is what Placement holds of some hosts, beside the instances that Nova shows there.
type drawnPlacement struct {
	scene.Scene
	hosts     []string
	totals    map[string]map[string]int
	taken     map[string]map[string]map[string]int // by host, consumer, class
	deviating map[string]bool                      // hosts on which something is held that Nova's lists do not tell of
}

var drawnClasses = []string{"VCPU", "PCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_CARD"}

func drawPlacement(t *rapid.T) *drawnPlacement {
	p := &drawnPlacement{Scene: scene.NewScene(), totals: map[string]map[string]int{}, taken: map[string]map[string]map[string]int{},
		deviating: map[string]bool{}}
	for i := range rapid.IntRange(2, 5).Draw(t, "hosts") {
		host := fmt.Sprintf("cmp-%02d", i+1)
		p.Node(host, core.RoleCompute)
		p.hosts = append(p.hosts, host)
		p.taken[host] = map[string]map[string]int{}
	}
	for _, host := range p.hosts {
		for i := range rapid.IntRange(0, 5).Draw(t, "instances") {
			p.draw(t, host, fmt.Sprintf("%s-%d", host, i))
		}
		for i := range rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "places that nobody holds any more") {
			p.deviating[host] = true
			p.taken[host][fmt.Sprintf("orphan-%d", i)] = map[string]int{"VCPU": rapid.IntRange(1, 4).Draw(t, "cpus"), "MEMORY_MB": 1024,
				"DISK_GB": rapid.IntRange(0, 20).Draw(t, "disk")}
		}
	}
	for _, host := range p.hosts {
		p.totals[host] = map[string]int{}
		for _, class := range drawnClasses {
			p.totals[host][class] = p.used(host)[class] + rapid.SampledFrom([]int{0, 1, 4, 8000}).Draw(t, "left of "+class)
		}
	}
	return p
}

// draw adds an instance to a host, with what Placement has allocated to it.
func (p *drawnPlacement) draw(t *rapid.T, host, name string) {
	in := p.Instance(host, name)
	in.SharedFlavor = &core.Flavor{Name: "m", VCPUs: rapid.IntRange(1, 4).Draw(t, "cpus"),
		RAMMiB: 1024 * rapid.IntRange(1, 8).Draw(t, "memory"), DiskGiB: 10 * rapid.IntRange(0, 3).Draw(t, "disk"),
		MoreGiB: rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "swap"), ExtraSpecs: map[string]string{}}
	in.OnVolume = rapid.Bool().Draw(t, "boots from a volume")
	cpu := "VCPU"
	if rapid.IntRange(0, 4).Draw(t, "dedicated") == 0 {
		in.SharedFlavor.ExtraSpecs["hw:cpu_policy"], cpu = "dedicated", "PCPU"
	}
	size := in.Flavor()
	taken := map[string]int{cpu: size.VCPUs, "MEMORY_MB": size.RAMMiB, "DISK_GB": size.DiskGiB + size.MoreGiB}
	if in.OnVolume {
		taken["DISK_GB"] = in.SharedFlavor.MoreGiB
	}
	if rapid.IntRange(0, 4).Draw(t, "asks for a card") == 0 {
		in.SharedFlavor.ExtraSpecs["resources:CUSTOM_CARD"], taken["CUSTOM_CARD"] = "1", 1
	}
	other := rapid.SampledFrom(p.hosts).Draw(t, "another host")
	switch odd := rapid.SampledFrom([]string{"", "", "", "", "pinned by its image", "a device of its port", "no allocation",
		"counted before Rocky", "moves", "waits for a confirmation", "comes from another size"}).Draw(t, "odd"); {
	case odd == "pinned by its image" && cpu == "VCPU":
		taken["PCPU"], taken["VCPU"] = taken["VCPU"], 0
		p.deviating[host] = true
	case odd == "a device of its port":
		taken["CUSTOM_CARD"]++
		p.deviating[host] = true
	case odd == "no allocation":
		clear(taken)
		p.deviating[host] = true
	case odd == "counted before Rocky" && in.OnVolume && in.SharedFlavor.DiskGiB > 0:
		taken["DISK_GB"] += in.SharedFlavor.DiskGiB
		p.deviating[host] = true
	case odd == "moves" && other != host:
		in.Status, in.TaskState = "MIGRATING", "migrating"
		p.migration(in, "running", host, other)
		p.taken[other][in.ID], p.taken[host]["migration-"+in.ID] = taken, taken
		return
	case odd == "waits for a confirmation" && other != host:
		in.Status, in.VMState = "VERIFY_RESIZE", "resized"
		p.migration(in, "finished", other, host)
		p.taken[other]["migration-"+in.ID] = taken
	case odd == "comes from another size" && other != host:
		in.Status, in.VMState = "VERIFY_RESIZE", "resized"
		p.migration(in, "finished", other, host)
		p.taken[other]["migration-"+in.ID] = map[string]int{"VCPU": 64, "MEMORY_MB": 64}
		p.deviating[other] = true
	}
	if len(taken) > 0 {
		p.taken[host][in.ID] = taken
	}
}

func (p *drawnPlacement) migration(in *core.Instance, status, from, to string) {
	p.Migrations[in.ID] = []*core.Migration{{ID: 1, InstanceID: in.ID, Type: core.MigrationLive, Status: status, SourceHost: from,
		DestHost: to, Created: p.Now.Add(-time.Minute), Updated: p.Now}}
}

func (p *drawnPlacement) used(host string) map[string]int {
	sum := map[string]int{}
	for _, taken := range p.taken[host] {
		for class, n := range taken {
			sum[class] += n
		}
	}
	return sum
}

// serve answers as Placement does.
func (p *drawnPlacement) serve(f *fakeCloud) {
	f.placement = true
	answer := func(route string, of func(query url.Values) any) {
		f.on(route, func(w http.ResponseWriter, r *http.Request) {
			raw, err := json.Marshal(of(r.URL.Query()))
			if err != nil {
				panic(err)
			}
			reply(w, 200, string(raw))
		})
	}
	type object = map[string]any
	answer("GET /placement/resource_providers", func(url.Values) any {
		var all []object
		for _, host := range p.hosts {
			all = append(all, object{"uuid": "rp-" + host, "name": host, "root_provider_uuid": "rp-" + host})
		}
		return object{"resource_providers": all}
	})
	answer("GET /placement/allocation_candidates", func(query url.Values) any {
		class, _, _ := strings.Cut(query.Get("resources"), ":")
		found := object{}
		for _, host := range p.hosts {
			used, resources := p.used(host), object{}
			for class, total := range p.totals[host] {
				resources[class] = object{"capacity": total, "used": used[class]}
			}
			if used[class] < p.totals[host][class] {
				found["rp-"+host] = object{"resources": resources}
			}
		}
		return object{"provider_summaries": found}
	})
	for _, host := range p.hosts {
		answer("GET /placement/resource_providers/rp-"+host+"/inventories", func(url.Values) any {
			all := object{}
			for class, total := range p.totals[host] {
				all[class] = object{"total": total, "max_unit": total, "allocation_ratio": 1.0}
			}
			return object{"inventories": all}
		})
		answer("GET /placement/resource_providers/rp-"+host+"/allocations", func(url.Values) any {
			all := object{}
			for consumer, taken := range p.taken[host] {
				all[consumer] = object{"resources": taken}
			}
			return object{"allocations": all}
		})
	}
	answer("GET /compute/v2.1/os-hypervisors/detail", func(url.Values) any {
		var all []object
		for i, host := range p.hosts {
			all = append(all, object{"id": strconv.Itoa(i), "hypervisor_hostname": host, "service": object{"host": host}})
		}
		return object{"hypervisors": all}
	})
}

// cancels tells whether, on some host, instances that take something else than their flavors say come to the same sum as if they did:
// the one case that a sum does not show.
func (p *drawnPlacement) cancels(q core.EvacuationQuery) bool {
	return slices.ContainsFunc(p.hosts, func(host string) bool {
		return p.deviating[host] && sameAmounts(p.used(host), q.Loads[host].Takes)
	})
}

// A plan is the same whether Placement is asked who takes what on every host, or only where that is not known. Only hosts on which
// something is odd, or that have nothing left, are asked by themselves.
func TestAPlanIsTheSameWithFewerQuestions(t *testing.T) {
	t.Parallel()
	asked, spared := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlacement(rt)
		snap := p.Again().Snapshot
		r := evacuation.Request{AtOnce: rapid.IntRange(1, 2).Draw(rt, "at once")}
		q := evacuation.Query(snap, r)
		if p.cancels(q) {
			rt.Skip("what is odd cancels out")
		}
		all := q
		all.Loads = nil
		var few, each core.EvacuationFacts
		bubble.Alone(t, func(t *testing.T) {
			f := newFakeCloud(t)
			p.serve(f)
			few = readRoom(rt, f.client(), q)
			singles := len(f.seen("/allocations"))
			asked, spared = asked+singles, spared+len(p.hosts)-singles
			each = readRoom(rt, f.client(), all)
		})
		may := map[string]bool{}
		for _, host := range p.hosts {
			left := slices.ContainsFunc(summaryClasses, func(class string) bool { return p.used(host)[class] < p.totals[host][class] })
			may[host] = p.deviating[host] || !left
		}
		for i, inv := range few.Inventories {
			if inv.Allocations != nil && !may[inv.Host] {
				rt.Errorf("%s was asked by itself: %v, and its instances take %v", inv.Host, inv.Allocations, q.Loads[inv.Host])
			}
			other := each.Inventories[i]
			other.Allocations, inv.Allocations = nil, nil
			if !reflect.DeepEqual(inv, other) {
				rt.Errorf("the inventory is %+v, and %+v when each host is asked", inv, other)
			}
		}
		if a, b := planOf(rt, snap, few, r), planOf(rt, snap, each, r); a != b {
			rt.Errorf("the plan is\n%s\nand when each host is asked\n%s", a, b)
		}
	})
	t.Logf("asked %d hosts by themselves, and %d not", asked, spared)
	if asked == 0 || spared == 0 {
		t.Error("one of the two was never drawn")
	}
}

func readRoom(t *rapid.T, c *Client, q core.EvacuationQuery) core.EvacuationFacts {
	f := core.EvacuationFacts{Microversion: 93}
	var err error
	f.Inventories, f.HostByHost, err = c.listRoom(context.Background(), func() ([]core.Hypervisor, error) {
		return c.listHypervisors(context.Background())
	}, q, func(string, int) {})
	if err != nil || f.HostByHost != nil {
		t.Fatal(err, f.HostByHost)
	}
	return f
}

func planOf(t *rapid.T, s *core.Snapshot, f core.EvacuationFacts, r evacuation.Request) string {
	p, err := evacuation.NewForecast(s, f, r)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The zones of many hosts' instances are read from the whole cloud's pages, those of a few hosts by their own lists. A page whose marker
// was deleted is no failure.
func TestPinnedZonesAreReadByPages(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := inventoryCloud(t, 1)
		f.max = "2.96"
		deleted := false
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			switch {
			case q.Get("host") != "":
				reply(w, 200, fmt.Sprintf(`{"servers": [{"id": "on-%s", "pinned_availability_zone": "az-1"}]}`, q.Get("host")))
			case q.Get("marker") == "":
				reply(w, 200, `{"servers": [{"id": "first", "pinned_availability_zone": "az-1"}], "servers_links": [{"rel": "next"}]}`)
			case !deleted:
				deleted = true
				reply(w, 400, `{"badRequest": {"code": 400, "message": "marker [first] not found"}}`)
			default:
				reply(w, 200, `{"servers": [{"id": "last", "pinned_availability_zone": null}]}`)
			}
		})
		hosts := []string{"a", "b", "c", "d"}
		loads := map[string]core.HostLoad{}
		for _, h := range hosts {
			loads[h] = core.HostLoad{Instances: 100}
		}
		c := f.client()
		for _, tc := range []struct {
			of, instances int
			want          []string
		}{
			{4, 1500, []string{"first", "last"}}, // two pages instead of four hosts
			{1, 1500, []string{"on-a"}},          // one host instead of two pages
			{4, 5000, []string{"on-a", "on-b", "on-c", "on-d"}},
		} {
			q := core.EvacuationQuery{Hosts: hosts[:tc.of], Loads: loads, Instances: tc.instances}
			got := c.EvacuationFacts(t.Context(), q, nil).PinnedZones
			if !slices.Equal(slices.Sorted(maps.Keys(got)), tc.want) {
				t.Errorf("of %d hosts and %d instances: %v, want %q", tc.of, tc.instances, got, tc.want)
			}
		}
		if !deleted {
			t.Error("no marker was deleted")
		}
	})
}
