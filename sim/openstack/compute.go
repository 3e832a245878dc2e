package openstack

import (
	"net/http"
	"net/url"
	"strconv"
)

// computeRoutes are Nova's operations. Those that differ by microversion tell the difference themselves.
func (c *Cloud) computeRoutes() []route {
	const (
		get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
		v                   = "/v2.1"
		rule                = "os_compute_api:"
	)
	return []route{
		{method: get, path: "", public: true, do: computeVersions},
		{method: get, path: "/{$}", public: true, do: computeVersions},
		{method: get, path: v, public: true, do: computeV21},
		{method: get, path: v + "/{$}", public: true, do: computeV21},

		{method: get, path: v + "/servers", do: listServers},
		{method: get, path: v + "/servers/detail", do: listServersDetail},
		{method: get, path: v + "/servers/{id}", do: showServer},
		{method: del, path: v + "/servers/{id}", do: deleteServer},
		{method: post, path: v + "/servers/{id}/action", do: serverAction},
		{method: get, path: v + "/servers/{id}/tags", since: 26, do: listTags},
		{method: put, path: v + "/servers/{id}/tags", since: 26, do: replaceTags},
		{method: del, path: v + "/servers/{id}/tags", since: 26, do: deleteTags},
		{method: get, path: v + "/servers/{id}/tags/{tag}", since: 26, do: showTag},
		{method: put, path: v + "/servers/{id}/tags/{tag}", since: 26, do: addTag},
		{method: del, path: v + "/servers/{id}/tags/{tag}", since: 26, do: deleteTag},
		{method: get, path: v + "/servers/{id}/metadata", do: showMetadata},
		{method: get, path: v + "/servers/{id}/ips", do: showAddresses},
		{method: get, path: v + "/servers/{id}/os-volume_attachments", do: listVolumeAttachments},
		{method: get, path: v + "/servers/{id}/os-interface", do: listInterfaces},
		{method: get, path: v + "/servers/{id}/os-security-groups", do: listSecurityGroups},
		{method: get, path: v + "/servers/{id}/migrations", since: 23, policy: rule + "servers:migrations:index", do: listServerMigrations},
		{method: get, path: v + "/servers/{id}/migrations/{mid}", since: 23, policy: rule + "servers:migrations:show", do: showServerMigration},
		{method: del, path: v + "/servers/{id}/migrations/{mid}", since: 24, policy: rule + "servers:migrations:delete", do: abortMigration},
		{method: post, path: v + "/servers/{id}/migrations/{mid}/action", since: 22, policy: rule + "servers:migrations:force_complete", do: forceComplete},
		{method: get, path: v + "/servers/{id}/os-instance-actions", do: listInstanceActions},
		{method: get, path: v + "/servers/{id}/os-instance-actions/{rid}", do: showInstanceAction},

		{method: get, path: v + "/flavors", do: listFlavors},
		{method: get, path: v + "/flavors/detail", do: listFlavorsDetail},
		{method: get, path: v + "/flavors/{id}", do: showFlavor},
		{method: get, path: v + "/flavors/{id}/os-extra_specs", do: showExtraSpecs},

		{method: get, path: v + "/os-services", policy: rule + "os-services:list", do: listServices},
		{method: put, path: v + "/os-services/{id}", policy: rule + "os-services:update", do: updateService},
		{method: del, path: v + "/os-services/{id}", policy: rule + "os-services:delete", do: deleteService},
		{method: get, path: v + "/os-hypervisors", policy: rule + "os-hypervisors:list", do: listHypervisors},
		{method: get, path: v + "/os-hypervisors/detail", policy: rule + "os-hypervisors:list-detail", do: listHypervisorsDetail},
		{method: get, path: v + "/os-hypervisors/statistics", until: 87, policy: rule + "os-hypervisors:statistics", do: hypervisorStatistics},
		{method: get, path: v + "/os-hypervisors/{id}", policy: rule + "os-hypervisors:show", do: showHypervisor},
		{method: get, path: v + "/os-hypervisors/{id}/uptime", until: 87, policy: rule + "os-hypervisors:uptime", do: hypervisorUptime},
		{method: get, path: v + "/os-hypervisors/{id}/servers", until: 52, policy: rule + "os-hypervisors:servers", do: hypervisorServers},
		{method: get, path: v + "/os-aggregates", policy: rule + "os-aggregates:index", do: listAggregates},
		{method: get, path: v + "/os-aggregates/{id}", policy: rule + "os-aggregates:show", do: showAggregate},
		{method: get, path: v + "/os-availability-zone", do: listZones},
		{method: get, path: v + "/os-availability-zone/detail", policy: rule + "os-availability-zone:detail", do: listZonesDetail},
		{method: get, path: v + "/os-migrations", policy: rule + "os-migrations:index", do: listMigrations},
		{method: get, path: v + "/os-server-groups", do: listServerGroups},
		{method: get, path: v + "/os-server-groups/{id}", do: showServerGroup},
		{method: get, path: v + "/os-keypairs", do: func(*call) reply { return ok(object{"keypairs": []object{}}) }},
		{method: get, path: v + "/extensions", do: func(*call) reply { return ok(object{"extensions": []object{}}) }},
		{method: get, path: v + "/limits", do: showLimits},
		{method: get, path: v + "/os-quota-sets/{id}", do: showQuota},
		{method: get, path: v + "/os-quota-sets/{id}/defaults", do: showQuota},
		{method: get, path: v + "/os-quota-sets/{id}/detail", do: showQuotaDetail},
	}
}

func (k *call) computeVersion() object {
	return object{"id": "v2.1", "status": "CURRENT", "version": k.c.maxMV.String(), "min_version": oldestMicroversion.String(),
		"updated": "2013-07-23T11:33:21Z", "links": []object{{"rel": "self", "href": k.base + "/v2.1/"}}}
}

func computeVersions(k *call) reply {
	old := object{"id": "v2.0", "status": "SUPPORTED", "version": "", "min_version": "", "updated": "2011-01-21T11:33:21Z",
		"links": []object{{"rel": "self", "href": k.base + "/v2/"}}}
	return ok(object{"versions": []object{old, k.computeVersion()}})
}

func computeV21(k *call) reply {
	v := k.computeVersion()
	v["links"] = append(v["links"].([]object), object{"rel": "describedby", "type": "text/html", "href": "http://docs.openstack.org/"})
	v["media-types"] = []object{{"base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1"}}
	return ok(object{"version": v})
}

// link is the way to one object of the compute API.
func (k *call) links(collection, id string) []object {
	return []object{{"rel": "self", "href": k.base + "/v2.1/" + collection + "/" + id}, {"rel": "bookmark", "href": k.base + "/" + collection + "/" + id}}
}

// page is the limit that counts for a request and the marker; the reply refuses a limit that is none.
func (k *call) page() (limit int, marker string, refused *reply) {
	limit = k.c.opts.PageLimit
	if k.query.Has("limit") {
		n, err := strconv.Atoi(k.query.Get("limit"))
		if err != nil || n < 0 {
			r := badRequest("Invalid input for query parameters limit. Value: %s. '%s' does not match '^[0-9]*$'", k.query.Get("limit"), k.query.Get("limit"))
			return 0, "", &r
		}
		limit = min(limit, n)
	}
	return limit, k.query.Get("marker"), nil
}

// next is the link to the following page, as Nova gives it whenever a page is full.
func (k *call) next(body object, key string, shown, limit int, last string) {
	if shown == 0 || shown < limit {
		return
	}
	q := url.Values{}
	for name, values := range k.query {
		q[name] = values
	}
	q.Set("marker", last)
	body[key] = []object{{"rel": "next", "href": k.root() + k.r.URL.Path + "?" + q.Encode()}}
}

// findServer is the server that the path names, if the token may see it.
func (k *call) findServer() (*server, *reply) {
	id := k.r.PathValue("id")
	s := k.c.servers[id]
	if s == nil || s.deleted || !k.token.admin() && s.project != k.token.project {
		r := missing("Instance %s could not be found.", id)
		return nil, &r
	}
	return s, nil
}
