package nova

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"lockstep/core"
)

type agentRecord struct {
	ID        string `json:"id"`
	Host      string `json:"host"`
	Type      string `json:"agent_type"`
	Binary    string `json:"binary"`
	Alive     bool   `json:"alive"`
	AdminUp   bool   `json:"admin_state_up"`
	Heartbeat string `json:"heartbeat_timestamp"`
}

func (r *agentRecord) agent() *core.NetworkAgent {
	return &core.NetworkAgent{
		ID: r.ID, Host: r.Host, Type: r.Type, Binary: r.Binary,
		Alive: r.Alive, AdminUp: r.AdminUp, Heartbeat: parseTime(r.Heartbeat),
	}
}

type agentPage struct {
	Agents []agentRecord `json:"agents"`
}

func (p *agentPage) check() error {
	if p.Agents == nil {
		return errShape("a list of network agents")
	}
	return nil
}

// servedPage is what an L3 or a DHCP agent serves. Agents are asked one at a time.
type servedPage struct {
	Routers []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		HA   bool   `json:"ha"`
	} `json:"routers"`
	Networks []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"networks"`
}

func (p *servedPage) check() error {
	if p.Routers == nil && p.Networks == nil {
		return errShape("a list of what an agent serves")
	}
	return nil
}

// The kinds of agents that serve something which the API lists, and the collection of each.
var served = map[string]struct{ path, policy string }{
	"L3 agent":   {"l3-routers", "get_l3-routers"},
	"DHCP agent": {"dhcp-networks", "get_dhcp-networks"},
}

// loadWithin is how long an agent's load may take to be told.
const loadWithin = 8 * time.Second

// askLoad asks for what an agent serves. When Neutron does not tell, that is noted at the agent: the agents themselves stay known. Only a
// refused login is an error.
func (c *Client) askLoad(ctx context.Context, agent *core.NetworkAgent) error {
	what, serves := served[agent.Type]
	if !serves {
		return nil
	}
	a := action{call: "list " + what.path + " of agent " + agent.ID, policy: what.policy}
	var page servedPage
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	err := c.call(ctx, a, func(s *session) error {
		if s.network == nil {
			e := c.fail(a, s.networkErr)
			e.Err = errNoNeutron
			return e
		}
		return c.get(ctx, s.network, s.network.ServiceURL("agents", agent.ID, what.path), &page)
	})
	var api *core.APIError
	switch {
	case errors.As(err, &api) && api.Kind != core.ErrUnauthorized:
		agent.Load = &core.AgentLoad{Err: api.Error()}
		return nil
	case err != nil:
		return err
	}
	load := &core.AgentLoad{}
	for _, r := range page.Routers {
		load.Routers = append(load.Routers, core.Router{ID: r.ID, Name: r.Name, HA: r.HA})
	}
	for _, n := range page.Networks {
		load.Networks = append(load.Networks, core.Network{ID: n.ID, Name: n.Name})
	}
	slices.SortFunc(load.Routers, func(a, b core.Router) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(load.Networks, func(a, b core.Network) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	agent.Load = load
	return nil
}

// agentFields leaves out the large fields: configurations and descriptions.
var agentFields = []string{"id", "host", "agent_type", "binary", "alive", "admin_state_up", "heartbeat_timestamp"}

// errNoNeutron is the cause of listAgents' error where the catalog has no network service.
var errNoNeutron = errors.New("the catalog has no network service")

// listAgents reads the Neutron agents of the hosts, of all hosts when none is given. Neutron takes a repeated parameter
// as "one of these".
func (c *Client) listAgents(ctx context.Context, hosts ...string) ([]*core.NetworkAgent, error) {
	a := action{call: "list network agents", policy: "get_agent"}
	values := url.Values{"fields": agentFields}
	if len(hosts) > 0 {
		values["host"] = hosts
	}
	var page agentPage
	err := c.call(ctx, a, func(s *session) error {
		if s.network == nil {
			e := c.fail(a, s.networkErr)
			e.Err = errNoNeutron
			return e
		}
		return c.get(ctx, s.network, s.network.ServiceURL("agents")+"?"+values.Encode(), &page)
	})
	if err != nil {
		return nil, err
	}
	agents := make([]*core.NetworkAgent, 0, len(page.Agents))
	for i := range page.Agents {
		if r := &page.Agents[i]; r.ID != "" {
			agents = append(agents, r.agent())
		}
	}
	return agents, nil
}
