package openstack

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// portView shows the only port of a server. Only administrators see bindings.
func (k *call) portView(s *server) object {
	v := object{"id": k.c.fixedID("port", s.id), "name": "", "device_id": s.id, "device_owner": "compute:" + s.zoneName(), "status": "ACTIVE",
		"admin_state_up": true, "project_id": s.project.id, "tenant_id": s.project.id, "mac_address": s.mac(),
		"network_id":        k.c.fixedID("network", s.network),
		"fixed_ips":         []object{{"ip_address": s.address, "subnet_id": k.c.fixedID("subnet", s.network)}},
		"binding:vnic_type": cmp.Or(s.vnic, "normal")}
	if k.token.admin() {
		v["binding:host_id"], v["binding:vif_type"] = s.hostName(), "ovs"
		v["binding:profile"], v["binding:vif_details"] = object{}, object{}
	}
	return v
}

// listPorts is GET /v2.0/ports: by pages, by values of fields, and only with the fields in the query.
func listPorts(k *call) reply {
	limit := 0
	if text := k.query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return reply{status: http.StatusBadRequest, body: object{"NeutronError": object{"type": "BadRequest",
				"message": fmt.Sprintf("Bad ports request: Limit must be an integer 0 or greater and not '%s'.", text), "detail": ""}}}
		}
		limit = n
	}
	marker := k.query.Get("marker")
	found := marker == ""
	items := []object{}
	for _, s := range k.c.sorted() {
		if s.deleted || s.network == "" || s.project != k.token.project && !k.token.admin() {
			continue
		}
		v := k.portView(s)
		if found && k.matches(v, "id", "device_id", "device_owner", "binding:host_id", "status", "project_id", "tenant_id", "mac_address",
			"network_id") {
			if limit > 0 && len(items) == limit {
				return ok(object{"ports": fieldsOf(items, k.query["fields"]), "ports_links": k.nextPorts(items)})
			}
			items = append(items, v)
		}
		found = found || v["id"] == marker
	}
	body := object{"ports": fieldsOf(items, k.query["fields"])}
	if marker != "" {
		body["ports_links"] = []object{{"rel": "previous", "href": k.base + "/v2.0/ports?" + k.r.URL.RawQuery}}
	}
	return ok(body)
}

// nextPorts returns the link to the page after these ports.
func (k *call) nextPorts(items []object) []object {
	q := k.r.URL.Query()
	q.Set("marker", fmt.Sprint(items[len(items)-1]["id"]))
	return []object{{"rel": "next", "href": k.base + "/v2.0/ports?" + q.Encode()}}
}

// fieldsOf reduces each object to the requested fields; it keeps all when none were requested.
func fieldsOf(items []object, fields []string) []object {
	if len(fields) == 0 {
		return items
	}
	for _, v := range items {
		for name := range v {
			if !slices.Contains(fields, name) {
				delete(v, name)
			}
		}
	}
	return items
}
