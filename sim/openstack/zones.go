package openstack

import "slices"

// zone is an availability zone with its compute hosts.
type zone struct {
	name  string
	hosts []*host
}

// zones returns the availability zones, each with its hosts.
func (c *Cloud) zones() []*zone {
	var list []*zone
	for _, h := range c.computeHosts() {
		i := slices.IndexFunc(list, func(z *zone) bool { return z.name == h.Zone })
		if i < 0 {
			list = append(list, &zone{name: h.Zone})
			i = len(list) - 1
		}
		list[i].hosts = append(list[i].hosts, h)
	}
	return list
}

// available is Nova's view of a zone: one of its services is enabled.
func (z *zone) available() bool {
	return slices.ContainsFunc(z.hosts, func(h *host) bool { return !h.compute.disabled })
}

// zoneAvailable tells whether a zone with this name has an enabled service.
func (c *Cloud) zoneAvailable(name string) bool {
	return slices.ContainsFunc(c.zones(), func(z *zone) bool { return z.name == name && z.available() })
}

func listZones(k *call) reply {
	items := []object{}
	for _, z := range k.c.zones() {
		items = append(items, object{"zoneName": z.name, "zoneState": object{"available": z.available()}, "hosts": nil})
	}
	return ok(object{"availabilityZoneInfo": items})
}

func listZonesDetail(k *call) reply {
	items := []object{}
	internal := object{}
	for _, s := range k.c.services {
		if s.binary == "nova-compute" || s.disabled {
			continue
		}
		of, _ := internal[s.host.Name].(object)
		if of == nil {
			of = object{}
			internal[s.host.Name] = of
		}
		of[s.binary] = k.zoneService(s)
	}
	if len(internal) > 0 {
		items = append(items, object{"zoneName": "internal", "zoneState": object{"available": true}, "hosts": internal})
	}
	for _, z := range k.c.zones() {
		if !z.available() {
			items = append(items, object{"zoneName": z.name, "zoneState": object{"available": false}, "hosts": nil})
			continue
		}
		hosts := object{}
		for _, h := range z.hosts {
			if !h.compute.disabled {
				hosts[h.Name] = object{"nova-compute": k.zoneService(h.compute)}
			}
		}
		items = append(items, object{"zoneName": z.name, "zoneState": object{"available": true}, "hosts": hosts})
	}
	return ok(object{"availabilityZoneInfo": items})
}

func (k *call) zoneService(s *service) object {
	return object{"available": k.c.up(s, k.now), "active": !s.disabled, "updated_at": stamp(s.seen(k.now))}
}
