package nova

import (
	"context"
	"errors"
	"net/url"

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

// agentFields leaves out what is big: configurations and descriptions.
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
