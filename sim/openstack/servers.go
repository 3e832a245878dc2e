package openstack

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"time"
)

// sorted returns all servers, including deleted ones, in Nova's order. It sorts again only after servers were added.
func (c *Cloud) sorted() []*server {
	if c.unsorted {
		slices.SortFunc(c.order, newestFirst)
		for i, s := range c.order {
			s.position = i
		}
		c.unsorted = false
	}
	return c.order
}

func listServers(k *call) reply {
	return k.servers(false, func(d *document, s *server) {
		d.open("")
		d.text("id", s.id)
		k.appendLinks(d, s)
		d.text("name", s.name)
		d.close()
	})
}

func listServersDetail(k *call) reply { return k.servers(true, k.appendServer) }

func (k *call) servers(detail bool, show func(*document, *server)) reply {
	q, refused := k.serverQuery(detail)
	if refused != nil {
		return *refused
	}
	list, refused := k.c.find(q)
	if refused != nil {
		return *refused
	}
	buffer := answers.Get().(*[]byte)
	d := document((*buffer)[:0])
	d.open("")
	d.raw("servers", "[")
	for i, s := range list {
		if i > 0 {
			d = append(d, ',')
		}
		show(&d, s)
	}
	d = append(d, ']')
	if len(list) > 0 {
		more := object{}
		if k.next(more, "servers_links", len(list), q.limit, list[len(list)-1].id); len(more) > 0 {
			d.any("servers_links", more["servers_links"])
		}
	}
	d.close()
	*buffer = d
	return ok(buffer)
}

// find runs a query. For whole pages of an unfiltered list, and for lists of one host, it visits only the servers that
// it returns.
func (c *Cloud) find(q *serverQuery) ([]*server, *reply) {
	if q.nothing {
		return nil, nil
	}
	candidates := c.sorted()
	if q.host != "" && !q.withDeleted && !q.deleted {
		candidates = nil
		if h := c.hosts[q.host]; h != nil {
			candidates = c.serversOn(h)
		}
	}
	if q.sortBy != nil {
		candidates = slices.Clone(candidates)
		slices.SortStableFunc(candidates, q.sortBy)
	}
	if q.marker != "" {
		m := c.servers[q.marker]
		if m == nil || m.deleted && !q.deleted && !q.withDeleted {
			r := badRequest("marker [%s] not found", q.marker)
			return nil, &r
		}
		if q.sortBy != nil {
			i := slices.Index(candidates, m)
			candidates = candidates[i+1:]
		} else {
			i := sort.Search(len(candidates), func(i int) bool { return candidates[i].position > m.position })
			candidates = candidates[i:]
		}
	}
	var found []*server
	for _, s := range candidates {
		if len(found) == q.limit {
			break
		}
		if q.wants(s) {
			found = append(found, s)
		}
	}
	return found, nil
}

func (s *server) hostName() string {
	if s.host == nil {
		return ""
	}
	return s.host.Name
}

// zoneName is the zone that the server is in: its host's, or the requested one if it has no host.
func (s *server) zoneName() string {
	if s.host == nil {
		return s.zone
	}
	return s.host.Zone
}

func showServer(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	return ok(object{"server": k.serverView(s)})
}

// deleteServer has the host's nova-compute delete an instance. Where that is down, or the instance has no host, Nova's API deletes it from
// the database itself before it answers. A second request while nova-compute is at it is ignored.
func deleteServer(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if s.locked && !k.token.admin() {
		return conflict("Instance %s is locked", s.id)
	}
	switch {
	case s.host == nil || !k.c.up(s.host.compute, k.now):
		k.begin(s, "delete")
		k.c.destroy(k.now, s)
		return reply{status: http.StatusNoContent}
	case s.task == "deleting":
		return reply{status: http.StatusNoContent}
	}
	a := k.begin(s, "delete")
	e := a.event("compute_terminate_instance", k.now, s.host)
	s.setTask(k.now, "deleting")
	k.c.later(k.now, s, time.Second, func(t time.Time) {
		a.finishEvent(e, t, nil)
		k.c.destroy(t, s)
	})
	return reply{status: http.StatusNoContent}
}

func showMetadata(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	return ok(object{"metadata": metadataView(s)})
}

func showAddresses(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	return ok(object{"addresses": s.addresses()})
}

func listVolumeAttachments(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	items := []object{}
	if id := k.c.bootVolume(s); id != "" {
		items = append(items, object{"id": id, "volumeId": id, "serverId": s.id, "device": "/dev/vda"})
	}
	return ok(object{"volumeAttachments": items})
}

func listInterfaces(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if s.network == "" {
		return ok(object{"interfaceAttachments": []object{}})
	}
	return ok(object{"interfaceAttachments": []object{{"port_state": "ACTIVE", "port_id": k.c.fixedID("port", s.id),
		"net_id":   k.c.fixedID("network", s.network),
		"mac_addr": s.mac(), "fixed_ips": []object{{"ip_address": s.address, "subnet_id": k.c.fixedID("subnet", s.network)}}}}})
}

func listSecurityGroups(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if s.network == "" {
		return ok(object{"security_groups": []object{}})
	}
	return ok(object{"security_groups": []object{{"id": k.c.fixedID("security-group", s.project.id), "name": "default",
		"description": "Default security group",
		"tenant_id":   s.project.id, "rules": []object{}}}})
}

func (s *server) mac() string {
	return fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", s.number>>16&0xff, s.number>>8&0xff, s.number&0xff)
}
