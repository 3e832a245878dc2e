package openstack

import (
	"fmt"
	"net/http"
	"slices"
)

// router is a virtual router. One L3 agent serves it, or several with HA.
type router struct {
	id, name string
	project  *project
	ha       bool
	agents   []*agent
}

// RouterSpec describes a virtual router for AddRouter.
type RouterSpec struct {
	Name, Project string
	HA            bool
	Hosts         []string // whose L3 agents serve it
}

// AddRouter adds a virtual router. Its project and the L3 agents of its hosts must exist.
func (c *Cloud) AddRouter(spec RouterSpec) error {
	c.lock()
	defer c.mu.Unlock()
	owner := c.projectByName(spec.Project)
	if owner == nil || spec.Name == "" || len(spec.Hosts) == 0 {
		return fmt.Errorf("openstack: add router %q: it has no name, no hosts or no project", spec.Name)
	}
	r := &router{id: c.uuid("router", spec.Name+"@"+spec.Project), name: spec.Name, project: owner, ha: spec.HA}
	for _, host := range spec.Hosts {
		j := slices.IndexFunc(c.agents, func(a *agent) bool { return a.kind == agentL3 && a.host.Name == host })
		if j < 0 {
			return fmt.Errorf("openstack: add router %q: %q has no L3 agent", spec.Name, host)
		}
		r.agents = append(r.agents, c.agents[j])
	}
	c.routers = append(c.routers, r)
	return nil
}

// The kinds of agents that serve routers and networks.
const (
	agentL3   = "L3 agent"
	agentDHCP = "DHCP agent"
)

// dhcpAgentsPerNetwork is how many DHCP agents serve a network.
const dhcpAgentsPerNetwork = 2

// servedBy returns the DHCP agents of a network: the first ones, unless the network was moved.
func (c *Cloud) servedBy(network string) []*agent {
	if moved, ok := c.dhcp[network]; ok {
		return moved
	}
	all := slices.DeleteFunc(slices.Clone(c.agents), func(a *agent) bool { return a.kind != agentDHCP })
	return all[:min(len(all), dhcpAgentsPerNetwork)]
}

// servingRoutes returns Neutron's operations on the routers and networks of an agent.
func servingRoutes() []route {
	const l3, dhcp = "/v2.0/agents/{id}/l3-routers", "/v2.0/agents/{id}/dhcp-networks"
	return []route{
		{method: http.MethodGet, path: l3, policy: "get_l3-routers", do: listServedRouters},
		{method: http.MethodPost, path: l3, policy: "create_l3-router", do: serveRouter},
		{method: http.MethodDelete, path: l3 + "/{served}", policy: "delete_l3-router", do: dropRouter},
		{method: http.MethodGet, path: dhcp, policy: "get_dhcp-networks", do: listServedNetworks},
		{method: http.MethodPost, path: dhcp, policy: "create_dhcp-network", do: serveNetwork},
		{method: http.MethodDelete, path: dhcp + "/{served}", policy: "delete_dhcp-network", do: dropNetwork},
		{method: http.MethodGet, path: "/v2.0/routers", do: listRouters},
	}
}

func (k *call) routerView(r *router) object {
	return object{"id": r.id, "name": r.name, "status": "ACTIVE", "admin_state_up": true, "ha": r.ha, "distributed": false,
		"project_id": r.project.id, "tenant_id": r.project.id, "external_gateway_info": nil, "routes": []object{}}
}

// listRouters lists the routers that the caller may see.
func listRouters(k *call) reply {
	items := []object{}
	for _, r := range k.c.routers {
		if v := k.routerView(r); (k.token.admin() || r.project == k.token.project) && k.matches(v, "id", "name", "status", "project_id", "ha") {
			items = append(items, v)
		}
	}
	return ok(object{"routers": items})
}

func listServedRouters(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	items := []object{}
	for _, r := range k.c.routers {
		if slices.Contains(r.agents, a) {
			items = append(items, k.routerView(r))
		}
	}
	return ok(object{"routers": items})
}

func listServedNetworks(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	items := []object{}
	for _, name := range k.c.networkNames() {
		if slices.Contains(k.c.servedBy(name), a) {
			items = append(items, object{"id": k.c.fixedID("network", name), "name": name, "status": "ACTIVE", "admin_state_up": true})
		}
	}
	return ok(object{"networks": items})
}

// unknown is Neutron's answer for a missing object.
func unknown(kind, id string) reply {
	return reply{status: http.StatusNotFound, body: object{"NeutronError": object{"type": kind + "NotFound",
		"message": kind + " " + id + " could not be found", "detail": ""}}}
}

func (c *Cloud) routerByID(id string) *router {
	if i := slices.IndexFunc(c.routers, func(r *router) bool { return r.id == id }); i >= 0 {
		return c.routers[i]
	}
	return nil
}

// networkByID returns the name of the network; empty if there is none.
func (c *Cloud) networkByID(id string) string {
	for _, name := range c.networkNames() {
		if c.fixedID("network", name) == id {
			return name
		}
	}
	return ""
}

func serveRouter(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	var body struct {
		Router string `json:"router_id"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	r := k.c.routerByID(body.Router)
	switch {
	case r == nil:
		return unknown("Router", body.Router)
	case a.kind != agentL3 || !r.ha && len(r.agents) > 0 && !slices.Contains(r.agents, a):
		return reply{status: http.StatusConflict, body: object{"NeutronError": object{"type": "RouterHostedByL3Agent",
			"message": "The router " + r.id + " has been already hosted by the L3 Agent " + a.id + ".", "detail": ""}}}
	case !slices.Contains(r.agents, a):
		r.agents = append(r.agents, a)
	}
	return reply{status: http.StatusCreated, body: object{}}
}

func dropRouter(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	r := k.c.routerByID(k.r.PathValue("served"))
	if r == nil {
		return unknown("Router", k.r.PathValue("served"))
	}
	r.agents = slices.DeleteFunc(r.agents, func(o *agent) bool { return o == a })
	return reply{status: http.StatusNoContent}
}

func serveNetwork(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	var body struct {
		Network string `json:"network_id"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	name := k.c.networkByID(body.Network)
	if name == "" {
		return unknown("Network", body.Network)
	}
	if now := k.c.servedBy(name); !slices.Contains(now, a) {
		k.c.dhcp[name] = append(slices.Clone(now), a)
	}
	return reply{status: http.StatusCreated, body: object{}}
}

func dropNetwork(k *call) reply {
	a, no := k.findAgent()
	if no != nil {
		return *no
	}
	name := k.c.networkByID(k.r.PathValue("served"))
	if name == "" {
		return unknown("Network", k.r.PathValue("served"))
	}
	k.c.dhcp[name] = slices.DeleteFunc(slices.Clone(k.c.servedBy(name)), func(o *agent) bool { return o == a })
	return reply{status: http.StatusNoContent}
}
