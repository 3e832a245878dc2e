package openstack

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// placementRoutes returns Placement's operations on the compute hosts.
func (c *Cloud) placementRoutes() []route {
	const get = http.MethodGet
	return []route{
		{method: get, path: "", public: true, do: placementVersion},
		{method: get, path: "/{$}", public: true, do: placementVersion},
		{method: get, path: "/resource_providers", policy: "placement", do: placed(0, listProviders)},
		{method: get, path: "/resource_providers/{id}", policy: "placement", do: placed(0, withProvider(providerView))},
		{method: get, path: "/resource_providers/{id}/inventories", policy: "placement", do: placed(0, withProvider(inventoriesView))},
		{method: get, path: "/resource_providers/{id}/usages", policy: "placement", do: placed(0, withProvider(usagesView))},
		{method: get, path: "/resource_providers/{id}/allocations", policy: "placement", do: placed(0, withProvider(allocationsView))},
		{method: get, path: "/resource_providers/{id}/traits", policy: "placement", do: placed(6, withProvider(traitsView))},
		{method: get, path: "/traits", policy: "placement", do: placed(6, listTraits)},
		{method: get, path: "/allocation_candidates", policy: "placement", do: placed(10, listCandidates)},
		{method: get, path: "/allocations/{id}", policy: "placement", do: placed(0, showAllocations)},
	}
}

func placementVersion(*call) reply {
	return ok(object{"versions": []object{{"id": "v1.0", "min_version": "1.0", "max_version": "1.39", "status": "CURRENT",
		"links": []object{{"rel": "self", "href": ""}}}}})
}

// newestPlacement is the minor number of the newest microversion of Placement's API 1.x.
const newestPlacement = 39

// placed negotiates Placement's microversion, 1.0 unless the request has another, and hides newer fields.
func placed(since int, do func(*call) reply) func(*call) reply {
	return func(k *call) reply {
		minor := 0
		for _, h := range k.r.Header.Values("OpenStack-API-Version") {
			service, version, _ := strings.Cut(strings.TrimSpace(h), " ")
			if service != "placement" {
				continue
			}
			if version == "latest" {
				minor = newestPlacement
				continue
			}
			n, err := strconv.Atoi(strings.TrimPrefix(version, "1."))
			if !strings.HasPrefix(version, "1.") || err != nil || n < 0 {
				return errorOf(placement, http.StatusBadRequest, "invalid version string: "+version)
			}
			if minor = n; n > newestPlacement {
				return errorOf(placement, http.StatusNotAcceptable, "Unacceptable version header: "+version)
			}
		}
		if minor < since {
			return errorOf(placement, http.StatusNotFound, "The resource could not be found.")
		}
		k.mv = microversion{major: 1, minor: minor}
		return do(k).with("OpenStack-API-Version", fmt.Sprintf("placement 1.%d", minor)).with("Vary", "OpenStack-API-Version")
	}
}

func providerView(k *call, h *host) object {
	path := "/placement/resource_providers/" + h.uuid
	links := []object{{"rel": "self", "href": path}}
	for _, l := range []struct {
		rel   string
		since int
	}{{"inventories", 0}, {"usages", 0}, {"aggregates", 1}, {"traits", 6}, {"allocations", 11}} {
		if k.mv.atLeast(l.since) {
			links = append(links, object{"rel": l.rel, "href": path + "/" + l.rel})
		}
	}
	v := object{"uuid": h.uuid, "name": h.Name, "generation": h.claims, "links": links}
	if k.mv.atLeast(14) {
		v["root_provider_uuid"], v["parent_provider_uuid"] = h.uuid, nil
	}
	return v
}

// usualTraits are the traits that nova-compute reports for every host.
var usualTraits = []string{"COMPUTE_NODE", "COMPUTE_NET_ATTACH_INTERFACE", "COMPUTE_VOLUME_ATTACH", "HW_CPU_X86_VMX"}

func (h *host) traits() []string {
	return slices.Sorted(slices.Values(slices.Concat(usualTraits, h.Traits)))
}

// traits returns all traits in Placement: the usual ones, and those of hosts.
func (c *Cloud) traits() []string {
	all := slices.Clone(usualTraits)
	for _, h := range c.computeHosts() {
		all = append(all, h.Traits...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func listTraits(k *call) reply { return ok(object{"traits": k.c.traits()}) }

func traitsView(_ *call, h *host) object {
	return object{"traits": h.traits(), "resource_provider_generation": h.claims}
}

func listProviders(k *call) reply {
	known := map[string]int{"name": 0, "uuid": 0, "member_of": 3, "resources": 4, "in_tree": 14, "required": 18}
	for name := range k.query {
		if since, is := known[name]; !is || !k.mv.atLeast(since) {
			return errorOf(placement, http.StatusBadRequest,
				fmt.Sprintf("Invalid query string parameters: Additional properties are not allowed ('%s' was unexpected)", name))
		}
	}
	items := []object{}
	var required []string
	if r := k.query.Get("required"); r != "" {
		required = strings.Split(r, ",")
	}
	var unknown []string
	for _, t := range required {
		if !slices.Contains(k.c.traits(), strings.TrimPrefix(t, "!")) {
			unknown = append(unknown, strings.TrimPrefix(t, "!"))
		}
	}
	if len(unknown) > 0 {
		return errorOf(placement, http.StatusBadRequest,
			`Invalid trait(s) in "required" parameter: No such trait(s): `+strings.Join(unknown, ", ")+".")
	}
	for _, h := range k.c.computeHosts() {
		has := h.traits()
		wrong := slices.ContainsFunc(required, func(t string) bool {
			name, not := strings.CutPrefix(t, "!")
			return slices.Contains(has, name) == not
		})
		if v := providerView(k, h); !wrong && k.matches(v, "name", "uuid") {
			items = append(items, v)
		}
	}
	return ok(object{"resource_providers": items})
}

func withProvider(view func(*call, *host) object) func(*call) reply {
	return func(k *call) reply {
		hosts := k.c.computeHosts()
		i := slices.IndexFunc(hosts, func(h *host) bool { return h.uuid == k.r.PathValue("id") })
		if i < 0 {
			return errorOf(placement, http.StatusNotFound, "No resource provider with uuid "+k.r.PathValue("id")+" found")
		}
		return ok(view(k, hosts[i]))
	}
}

func inventoriesView(k *call, h *host) object {
	inventories := object{}
	for class, r := range k.c.resources(h).byClass() {
		inventories[class] = object{"total": r.total, "reserved": r.reserved, "min_unit": 1, "max_unit": r.total, "step_size": 1,
			"allocation_ratio": r.ratio}
	}
	return object{"resource_provider_generation": h.claims, "inventories": inventories}
}

func (r resources) byClass() map[string]resource {
	return map[string]resource{"VCPU": r.cpu, "MEMORY_MB": r.ram, "DISK_GB": r.disk}
}

func usagesView(_ *call, h *host) object {
	return object{"resource_provider_generation": h.claims, "usages": object{"VCPU": h.usedCPU, "MEMORY_MB": h.usedRAM, "DISK_GB": h.usedDisk}}
}

// needs returns what a server of a flavor takes; what it takes none of has no allocation.
func needs(s *server, f *flavor) object {
	all := object{"VCPU": f.VCPUs, "MEMORY_MB": f.RAM}
	if disk := s.disk(f); disk > 0 {
		all["DISK_GB"] = disk
	}
	return all
}

// allocations returns what consumers take on a host: its servers, servers migrating to it, and the migrations that hold
// the place of a server that leaves or has left it.
func (c *Cloud) allocations(h *host) map[string]object {
	held := map[string]object{}
	for s := range h.servers {
		if m := s.migration; m != nil && m.claimed && m.source == h && m.dest != h {
			held[m.uuid] = needs(s, cmp.Or(m.oldFlavor, s.flavor))
		} else {
			held[s.id] = needs(s, s.flavor)
		}
	}
	for _, s := range c.servers {
		m := s.migration
		if m == nil || !m.claimed || s.host == h {
			continue
		}
		switch h {
		case m.dest:
			held[s.id] = needs(s, cmp.Or(m.newFlavor, s.flavor))
		case m.source:
			held[m.uuid] = needs(s, cmp.Or(m.oldFlavor, s.flavor))
		}
	}
	return held
}

func allocationsView(k *call, h *host) object {
	allocations := object{}
	for consumer, taken := range k.c.allocations(h) {
		allocations[consumer] = k.allocation(taken)
	}
	return object{"resource_provider_generation": h.claims, "allocations": allocations}
}

func (k *call) allocation(resources object) object {
	a := object{"resources": resources}
	if k.mv.atLeast(28) {
		a["consumer_generation"] = 1
	}
	return a
}

func showAllocations(k *call) reply {
	allocations := object{}
	if s := k.c.servers[k.r.PathValue("id")]; s != nil && s.host != nil {
		allocations[s.host.uuid] = object{"resources": needs(s, s.flavor), "generation": s.host.claims}
	}
	return ok(object{"allocations": allocations})
}

// listCandidates is GET /allocation_candidates for amounts of resource classes: the hosts with that much free, with
// their capacity and usage.
func listCandidates(k *call) reply {
	known := map[string]int{"resources": 10, "limit": 16, "required": 17, "member_of": 21}
	for name := range k.query {
		if since, is := known[name]; !is || !k.mv.atLeast(since) {
			return errorOf(placement, http.StatusBadRequest,
				fmt.Sprintf("Invalid query string parameters: Additional properties are not allowed ('%s' was unexpected)", name))
		}
	}
	if !k.query.Has("resources") {
		return errorOf(placement, http.StatusBadRequest, "Invalid query string parameters: 'resources' is a required property")
	}
	wanted := map[string]int{}
	for _, part := range strings.Split(k.query.Get("resources"), ",") {
		class, amount, _ := strings.Cut(part, ":")
		n, err := strconv.Atoi(amount)
		if class == "" || err != nil || n < 1 {
			return errorOf(placement, http.StatusBadRequest,
				"Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: "+
					k.query.Get("resources")+".")
		}
		wanted[class] = n
	}
	requests, summaries := []object{}, object{}
	for _, h := range k.c.computeHosts() {
		inventories := k.c.resources(h).byClass()
		usages, _ := usagesView(k, h)["usages"].(object)
		resources := object{}
		fits := true
		for class, r := range inventories {
			capacity := r.capacity()
			used, _ := usages[class].(int)
			if k.mv.atLeast(27) || wanted[class] > 0 {
				resources[class] = object{"capacity": capacity, "used": used}
			}
			fits = fits && used+wanted[class] <= capacity
		}
		for class := range wanted {
			_, has := inventories[class]
			fits = fits && has
		}
		if !fits {
			continue
		}
		summary := object{"resources": resources}
		if k.mv.atLeast(17) {
			summary["traits"] = h.traits()
		}
		if k.mv.atLeast(29) {
			summary["parent_provider_uuid"], summary["root_provider_uuid"] = nil, h.uuid
		}
		summaries[h.uuid] = summary
		if k.mv.atLeast(12) {
			requests = append(requests, object{"allocations": object{h.uuid: object{"resources": wanted}}})
		} else {
			requests = append(requests, object{"allocations": []object{{"resource_provider": object{"uuid": h.uuid}, "resources": wanted}}})
		}
	}
	return ok(object{"allocation_requests": requests, "provider_summaries": summaries})
}
