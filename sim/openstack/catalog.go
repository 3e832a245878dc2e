package openstack

import "slices"

type catalogService struct{ kind, name, path string }

// catalogServices returns the services of the catalog with the paths of their endpoints.
func (c *Cloud) catalogServices() []catalogService {
	if !c.opts.NoCinder {
		return allServices
	}
	return slices.DeleteFunc(slices.Clone(allServices), func(s catalogService) bool { return s.name == "cinder" })
}

var allServices = []catalogService{
	{"block-storage", "cinder", "/volume/v3"},
	{"compute", "nova", "/compute/v2.1"},
	{"identity", "keystone", "/identity/v3"},
	{"image", "glance", "/image"},
	{"network", "neutron", "/network"},
	{"placement", "placement", "/placement"},
}

var interfaces = []string{"admin", "internal", "public"}

// root is the address by which the client reached the cloud, so that links use the same address.
func (k *call) root() string { return "http://" + k.r.Host }

func (k *call) catalog() []object {
	list := []object{}
	for _, s := range k.c.catalogServices() {
		endpoints := []object{}
		for _, i := range interfaces {
			endpoints = append(endpoints, object{"id": k.c.fixedID("endpoint", s.kind, i), "interface": i,
				"region": k.c.opts.Region, "region_id": k.c.opts.Region, "url": k.root() + s.path})
		}
		list = append(list, object{"id": k.c.fixedID("service", s.kind), "type": s.kind, "name": s.name, "endpoints": endpoints})
	}
	return list
}

func listCatalogServices(k *call) reply {
	var items []object
	for _, s := range k.c.catalogServices() {
		if v := (object{"id": k.c.fixedID("service", s.kind), "type": s.kind, "name": s.name, "enabled": true}); k.matches(v, "type", "name") {
			items = append(items, v)
		}
	}
	return k.listed("services", items)
}

func listEndpoints(k *call) reply {
	var items []object
	for _, s := range k.c.catalogServices() {
		for _, i := range interfaces {
			v := object{"id": k.c.fixedID("endpoint", s.kind, i), "interface": i, "region": k.c.opts.Region,
				"region_id": k.c.opts.Region, "service_id": k.c.fixedID("service", s.kind), "enabled": true, "url": k.root() + s.path}
			if k.matches(v, "interface", "service_id", "region_id") {
				items = append(items, v)
			}
		}
	}
	return k.listed("endpoints", items)
}
