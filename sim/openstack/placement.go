package openstack

import (
	"net/http"
	"slices"
)

// placementRoutes are what Placement shows of the compute hosts.
func (c *Cloud) placementRoutes() []route {
	const get = http.MethodGet
	return []route{
		{method: get, path: "", public: true, do: placementVersion},
		{method: get, path: "/{$}", public: true, do: placementVersion},
		{method: get, path: "/resource_providers", policy: "placement", do: listProviders},
		{method: get, path: "/resource_providers/{id}", policy: "placement", do: withProvider(providerView)},
		{method: get, path: "/resource_providers/{id}/inventories", policy: "placement", do: withProvider(inventoriesView)},
		{method: get, path: "/resource_providers/{id}/usages", policy: "placement", do: withProvider(usagesView)},
		{method: get, path: "/resource_providers/{id}/allocations", policy: "placement", do: withProvider(allocationsView)},
		{method: get, path: "/allocations/{id}", policy: "placement", do: showAllocations},
	}
}

func placementVersion(*call) reply {
	return ok(object{"versions": []object{{"id": "v1.0", "min_version": "1.0", "max_version": "1.39", "status": "CURRENT",
		"links": []object{{"rel": "self", "href": ""}}}}})
}

func providerView(_ *call, h *host) object {
	path := "/placement/resource_providers/" + h.uuid
	links := []object{{"rel": "self", "href": path}}
	for _, rel := range []string{"inventories", "usages", "allocations"} {
		links = append(links, object{"rel": rel, "href": path + "/" + rel})
	}
	return object{"uuid": h.uuid, "name": h.Name, "generation": h.claims, "root_provider_uuid": h.uuid, "parent_provider_uuid": nil, "links": links}
}

func listProviders(k *call) reply {
	items := []object{}
	for _, h := range k.c.computeHosts() {
		if v := providerView(k, h); k.matches(v, "name", "uuid") {
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
	inventory := func(total, reserved int, ratio float64) object {
		return object{"total": total, "reserved": reserved, "min_unit": 1, "max_unit": total, "step_size": 1, "allocation_ratio": ratio}
	}
	return object{"resource_provider_generation": h.claims, "inventories": object{
		"VCPU": inventory(h.VCPUs, 0, k.c.opts.CPURatio), "MEMORY_MB": inventory(h.RAM, 512, k.c.opts.RAMRatio), "DISK_GB": inventory(h.Disk, 0, k.c.opts.DiskRatio)}}
}

func usagesView(_ *call, h *host) object {
	return object{"resource_provider_generation": h.claims, "usages": object{"VCPU": h.usedCPU, "MEMORY_MB": h.usedRAM, "DISK_GB": h.usedDisk}}
}

func needs(f *flavor) object { return object{"VCPU": f.VCPUs, "MEMORY_MB": f.RAM, "DISK_GB": f.Disk} }

func allocationsView(k *call, h *host) object {
	allocations := object{}
	for s := range h.servers {
		allocations[s.id] = object{"resources": needs(s.flavor)}
	}
	return object{"resource_provider_generation": h.claims, "allocations": allocations}
}

func showAllocations(k *call) reply {
	allocations := object{}
	if s := k.c.servers[k.r.PathValue("id")]; s != nil && s.host != nil {
		allocations[s.host.uuid] = object{"resources": needs(s.flavor), "generation": s.host.claims}
	}
	return ok(object{"allocations": allocations})
}
