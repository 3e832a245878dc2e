package openstack

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// computeRoutes returns Nova's operations. Operations that differ by microversion handle the difference themselves.
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
		{method: post, path: v + "/servers", do: createServer},
		{method: get, path: v + "/servers/detail", do: listServersDetail},
		{method: get, path: v + "/servers/{id}", do: showServer},
		{method: put, path: v + "/servers/{id}", do: updateServer},
		{method: del, path: v + "/servers/{id}", do: deleteServer},
		{method: post, path: v + "/servers/{id}/action", do: serverAction},
		{method: get, path: v + "/servers/{id}/tags", since: 26, alien: rule + "os-server-tags:index", do: listTags},
		{method: put, path: v + "/servers/{id}/tags", since: 26, alien: rule + "os-server-tags:update_all", do: replaceTags},
		{method: del, path: v + "/servers/{id}/tags", since: 26, alien: rule + "os-server-tags:delete_all", do: deleteTags},
		{method: get, path: v + "/servers/{id}/tags/{tag}", since: 26, alien: rule + "os-server-tags:show", do: showTag},
		{method: put, path: v + "/servers/{id}/tags/{tag}", since: 26, alien: rule + "os-server-tags:update", do: addTag},
		{method: del, path: v + "/servers/{id}/tags/{tag}", since: 26, alien: rule + "os-server-tags:delete", do: deleteTag},
		{method: get, path: v + "/servers/{id}/metadata", do: showMetadata},
		{method: post, path: v + "/servers/{id}/metadata", do: addMetadata},
		{method: put, path: v + "/servers/{id}/metadata", do: replaceMetadata},
		{method: get, path: v + "/servers/{id}/metadata/{key}", do: showMetadataItem},
		{method: put, path: v + "/servers/{id}/metadata/{key}", do: setMetadataItem},
		{method: del, path: v + "/servers/{id}/metadata/{key}", do: deleteMetadataItem},
		{method: get, path: v + "/servers/{id}/diagnostics", policy: rule + "os-server-diagnostics", do: serverDiagnostics},
		{method: get, path: v + "/servers/{id}/ips", do: showAddresses},
		{method: get, path: v + "/servers/{id}/os-volume_attachments", do: listVolumeAttachments},
		{method: get, path: v + "/servers/{id}/os-interface", do: listInterfaces},
		{method: get, path: v + "/servers/{id}/os-security-groups", do: listSecurityGroups},
		{method: get, path: v + "/servers/{id}/migrations", since: 23, policy: rule + "servers:migrations:index", do: listServerMigrations},
		{method: get, path: v + "/servers/{id}/migrations/{mid}", since: 23, policy: rule + "servers:migrations:show", do: showServerMigration},
		{method: del, path: v + "/servers/{id}/migrations/{mid}", since: 24, policy: rule + "servers:migrations:delete", do: abortMigration},
		{method: post, path: v + "/servers/{id}/migrations/{mid}/action", since: 22, policy: rule + "servers:migrations:force_complete",
			do: forceComplete},
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
		{method: get, path: v + "/os-hypervisors/{id}/search", until: 52, policy: rule + "os-hypervisors:search", do: searchHypervisors},
		{method: get, path: v + "/os-hypervisors/{id}/servers", until: 52, policy: rule + "os-hypervisors:servers", do: hypervisorServers},
		{method: get, path: v + "/os-aggregates", policy: rule + "os-aggregates:index", do: listAggregates},
		{method: post, path: v + "/os-aggregates", policy: rule + "os-aggregates:create", do: createAggregate},
		{method: get, path: v + "/os-aggregates/{id}", policy: rule + "os-aggregates:show", do: showAggregate},
		{method: put, path: v + "/os-aggregates/{id}", policy: rule + "os-aggregates:update", do: updateAggregate},
		{method: del, path: v + "/os-aggregates/{id}", policy: rule + "os-aggregates:delete", do: deleteAggregate},
		{method: post, path: v + "/os-aggregates/{id}/action", policy: rule + "os-aggregates:set_metadata", do: aggregateAction},
		{method: get, path: v + "/os-hosts", until: 42, policy: rule + "os-hosts:list", do: listHosts},
		{method: get, path: v + "/os-availability-zone", do: listZones},
		{method: get, path: v + "/os-availability-zone/detail", policy: rule + "os-availability-zone:detail", do: listZonesDetail},
		{method: get, path: v + "/os-migrations", policy: rule + "os-migrations:index", do: listMigrations},
		{method: get, path: v + "/os-server-groups", do: listServerGroups},
		{method: post, path: v + "/os-server-groups", do: createServerGroup},
		{method: get, path: v + "/os-server-groups/{id}", do: showServerGroup},
		{method: del, path: v + "/os-server-groups/{id}", do: deleteServerGroup},
		{method: get, path: v + "/os-keypairs", do: listKeypairs},
		{method: post, path: v + "/os-keypairs", do: createKeypair},
		{method: get, path: v + "/os-keypairs/{id}", do: showKeypair},
		{method: del, path: v + "/os-keypairs/{id}", do: deleteKeypair},
		{method: get, path: v + "/os-simple-tenant-usage", policy: rule + "os-simple-tenant-usage:list", do: listUsages},
		{method: get, path: v + "/os-simple-tenant-usage/{id}", do: showUsage},
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

// links returns the links to one object of the compute API.
func (k *call) links(collection, id string) []object {
	return []object{{"rel": "self", "href": k.base + "/v2.1/" + collection + "/" + id},
		{"rel": "bookmark", "href": k.base + "/" + collection + "/" + id}}
}

// page returns the effective limit of a request, and the marker; the reply refuses an invalid limit.
func (k *call) page() (limit int, marker string, refused *reply) {
	limit = k.c.opts.PageLimit
	if k.query.Has("limit") {
		n, err := strconv.Atoi(k.query.Get("limit"))
		if err != nil || n < 0 {
			r := badRequest("Invalid input for query parameters limit. Value: %s. '%s' does not match '^[0-9]*$'", k.query.Get("limit"),
				k.query.Get("limit"))
			return 0, "", &r
		}
		limit = min(limit, n)
	}
	return limit, k.query.Get("marker"), nil
}

// onlyQuery refuses other names in the query, from the microversion 2.since on, as Nova does.
func (k *call) onlyQuery(since int, names ...string) *reply {
	for name := range k.query {
		if k.mv.atLeast(since) && !slices.Contains(names, name) {
			r := badRequest("Additional properties are not allowed ('%s' was unexpected)", name)
			return &r
		}
	}
	return nil
}

// moments returns the times of changes-since and, from the microversion 2.66 on, of changes-before; zero if they are
// not given.
func (k *call) moments() (since, before time.Time, refused *reply) {
	refuse := func(format string, args ...any) (time.Time, time.Time, *reply) {
		r := badRequest(format, args...)
		return since, before, &r
	}
	for name, t := range map[string]*time.Time{"changes-since": &since, "changes-before": &before} {
		if !k.query.Has(name) || name == "changes-before" && !k.mv.atLeast(66) {
			continue
		}
		parsed, err := parseTime(k.query.Get(name))
		if err != nil {
			return refuse("Invalid input for query parameters %s. Value: %s. '%s' is not a 'date-time'", name, k.query.Get(name), k.query.Get(name))
		}
		*t = parsed
	}
	if !since.IsZero() && !before.IsZero() && before.Before(since) {
		return refuse("The value of changes-since must be less than or equal to changes-before.")
	}
	return since, before, nil
}

// within tells whether a change, which the database stores to the second, was between two moments; a zero moment is no
// bound.
func within(changed, since, before time.Time) bool {
	changed = changed.Truncate(time.Second)
	return (since.IsZero() || !changed.Before(since)) && (before.IsZero() || !changed.After(before))
}

// next is the link to the next page; like Nova, it is given whenever a page is full.
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

// findServer returns the server in the path, if the token may see it.
func (k *call) findServer() (*server, *reply) {
	id := k.r.PathValue("id")
	s := k.c.servers[id]
	if s == nil || s.deleted || !k.token.admin() && s.project != k.token.project {
		r := missing("Instance %s could not be found.", id)
		return nil, &r
	}
	return s, nil
}
