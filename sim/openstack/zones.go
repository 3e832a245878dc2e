package openstack

import (
	"slices"
	"strconv"
)

// zone is an availability zone with its compute hosts.
type zone struct {
	name  string
	hosts []*host
}

// zones are the availability zones by name.
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

// available is Nova's idea of a zone: one of its services is enabled.
func (z *zone) available() bool {
	return slices.ContainsFunc(z.hosts, func(h *host) bool { return !h.compute.disabled })
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

// aggregateView is the aggregate that makes a zone. The default zone needs none.
func (k *call) aggregateView(number int, z *zone) object {
	names := []string{}
	for _, h := range z.hosts {
		names = append(names, h.Name)
	}
	v := object{"id": number, "name": z.name, "availability_zone": z.name, "metadata": object{"availability_zone": z.name}, "hosts": names,
		"created_at": stamp(z.hosts[0].created), "updated_at": nil, "deleted": false, "deleted_at": nil}
	if k.mv.atLeast(41) {
		v["uuid"] = uuidOf(k.c.digest("aggregate", z.name))
	}
	return v
}

func (k *call) aggregates() []object {
	if len(k.c.ownAggregates) > 0 {
		return k.seededAggregates()
	}
	items := []object{}
	for i, z := range k.c.zones() {
		if z.name != "nova" {
			items = append(items, k.aggregateView(i+1, z))
		}
	}
	return items
}

func listAggregates(k *call) reply { return ok(object{"aggregates": k.aggregates()}) }

func showAggregate(k *call) reply {
	id := k.r.PathValue("id")
	for _, a := range k.aggregates() {
		if strconv.Itoa(a["id"].(int)) == id {
			return ok(object{"aggregate": a})
		}
	}
	return missing("Aggregate %s could not be found.", id)
}
