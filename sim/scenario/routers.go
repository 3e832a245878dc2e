package scenario

// Router is a virtual router on network nodes.
type Router struct {
	Name    string   `json:"name"`
	Project string   `json:"project"`
	HA      bool     `json:"ha"` // any of its nodes can take over
	On      []string `json:"on"` // machine names of gateways
}

// checkRouters checks the virtual routers.
func (s *Scenario) checkRouters(machines map[string]Node, check func(bool, string, ...any)) {
	for i, r := range s.Routers {
		check(r.Name != "", "routers[%d].name: is missing", i)
		check(s.hasProject(r.Project), "routers[%d].project: %s: there is no project %q", i, r.Name, r.Project)
		check(len(r.On) > 0 && (r.HA || len(r.On) == 1), "routers[%d].on: %s: want one gateway, or several with ha", i, r.Name)
		check(s.Cloud.Fabric == "" || len(s.Routers) == 0, "routers[%d]: the network is Tungsten Fabric's", i)
		for j, machine := range r.On {
			n, ok := machines[machine]
			check(ok && n.Has(RoleGateway) && !n.Has(RoleCompute), "routers[%d].on[%d]: %s: %q is not a gateway", i, j, r.Name, machine)
		}
	}
}
