package openstack

import (
	"net/http"
	"slices"
)

// networkRoutes returns Neutron's operations: the agents, the servers' ports, and empty collections for other objects
// that clients list.
func (c *Cloud) networkRoutes() []route {
	const get = http.MethodGet
	routes := []route{
		{method: get, path: "", public: true, do: networkVersions},
		{method: get, path: "/{$}", public: true, do: networkVersions},
		{method: get, path: "/v2.0", do: networkV2},
		{method: get, path: "/v2.0/{$}", do: networkV2},
		{method: get, path: "/v2.0/extensions", do: listExtensions},
		{method: get, path: "/v2.0/agents", do: listAgents},
		{method: get, path: "/v2.0/agents/{id}", policy: "get_agent", do: showAgent},
		{method: http.MethodPut, path: "/v2.0/agents/{id}", policy: "update_agent", do: updateAgent},
		{method: http.MethodDelete, path: "/v2.0/agents/{id}", policy: "delete_agent", do: deleteAgent},
		{method: get, path: "/v2.0/networks", do: listNetworks},
		{method: get, path: "/v2.0/quotas/{id}", do: showNetworkQuota},
	}
	routes = append(routes, route{method: get, path: "/v2.0/ports", do: listPorts})
	routes = append(routes, servingRoutes()...)
	for path, key := range map[string]string{"subnets": "subnets", "floatingips": "floatingips",
		"security-groups": "security_groups", "availability_zones": "availability_zones"} {
		routes = append(routes, route{method: get, path: "/v2.0/" + path, do: func(*call) reply { return ok(object{key: []object{}}) }})
	}
	return routes
}

func networkVersions(k *call) reply {
	return ok(object{"versions": []object{{"id": "v2.0", "status": "CURRENT", "links": []object{{"rel": "self", "href": k.base + "/v2.0/"}}}}})
}

func networkV2(k *call) reply {
	items := []object{}
	for _, name := range []string{"networks", "subnets", "ports", "agents"} {
		items = append(items, object{"name": name[:len(name)-1], "collection": name,
			"links": []object{{"rel": "self", "href": k.base + "/v2.0/" + name}}})
	}
	return ok(object{"resources": items})
}

func listExtensions(*call) reply {
	return ok(object{"extensions": []object{{"alias": "agent", "name": "agent", "description": "The agent management extension.",
		"updated": "2013-02-03T10:00:00-00:00", "links": []object{}}}})
}

func (k *call) agentView(a *agent) object {
	const layout = "2006-01-02 15:04:05"
	zone := any(nil)
	if a.kind == "DHCP agent" || a.kind == "L3 agent" {
		zone = "nova"
	}
	return object{"id": a.id, "agent_type": a.kind, "binary": a.binary, "host": a.host.Name, "topic": "N/A", "admin_state_up": !a.down,
		"alive": a.alive(k.now), "availability_zone": zone, "heartbeat_timestamp": a.seen(k.now).Format(layout),
		"created_at": a.created.Format(layout), "started_at": a.started.Format(layout), "description": nil, "resources_synced": nil,
		"configurations": object{}}
}

// listAgents lists the agents. A member sees none of them.
func listAgents(k *call) reply {
	items := []object{}
	for _, a := range k.c.agents {
		if !k.token.admin() {
			break
		}
		v := k.agentView(a)
		if k.matches(v, "id", "agent_type", "binary", "host", "alive", "admin_state_up", "availability_zone") {
			items = append(items, v)
		}
	}
	return ok(object{"agents": items})
}

// matches tells whether an object has, in each of the fields, one of the values in the query.
func (k *call) matches(v object, fields ...string) bool {
	for _, f := range fields {
		want, given := k.query[f]
		if !given {
			continue
		}
		switch have := v[f].(type) {
		case bool:
			if flag(k.query, f) != have {
				return false
			}
		case string:
			if !slices.Contains(want, have) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (k *call) findAgent() (*agent, *reply) {
	id := k.r.PathValue("id")
	if i := slices.IndexFunc(k.c.agents, func(a *agent) bool { return a.id == id }); i >= 0 {
		return k.c.agents[i], nil
	}
	r := reply{status: http.StatusNotFound, body: object{"NeutronError": object{"type": "AgentNotFound",
		"message": "Agent " + id + " could not be found.", "detail": ""}}}
	return nil, &r
}

func showAgent(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	return ok(object{"agent": k.agentView(a)})
}

func updateAgent(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	var body struct {
		Agent struct {
			Up *bool `json:"admin_state_up"`
		} `json:"agent"`
	}
	if no := k.decode(&body); no != nil {
		return errorOf(neutron, http.StatusBadRequest, "Unable to parse the request body.")
	}
	if body.Agent.Up != nil {
		a.down = !*body.Agent.Up
	}
	return ok(object{"agent": k.agentView(a)})
}

func deleteAgent(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	k.c.agents = slices.DeleteFunc(k.c.agents, func(o *agent) bool { return o == a })
	a.host.agents = slices.DeleteFunc(a.host.agents, func(o *agent) bool { return o == a })
	return reply{status: http.StatusNoContent}
}

// networkNames returns the networks that servers use.
func (c *Cloud) networkNames() []string {
	var names []string
	for _, s := range c.order {
		if s.network != "" && !s.deleted && !slices.Contains(names, s.network) {
			names = append(names, s.network)
		}
	}
	return names
}

func listNetworks(k *call) reply {
	items := []object{}
	seen := map[string]bool{}
	for _, s := range k.c.order {
		if s.network == "" || seen[s.network] || s.deleted || !k.token.admin() && s.project != k.token.project {
			continue
		}
		seen[s.network] = true
		v := object{"id": k.c.fixedID("network", s.network), "name": s.network, "status": "ACTIVE", "admin_state_up": true, "shared": true,
			"subnets": []string{k.c.fixedID("subnet", s.network)}, "project_id": s.project.id, "tenant_id": s.project.id}
		if k.matches(v, "id", "name", "status") {
			items = append(items, v)
		}
	}
	return ok(object{"networks": items})
}
