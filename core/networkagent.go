package core

import (
	"lockstep/core/wording"
	"time"
)

// NetworkAgent is a Neutron agent.
type NetworkAgent struct {
	ID        string
	Host      string
	Type      string // "Open vSwitch agent", "L3 agent", …
	Binary    string
	Alive     bool
	AdminUp   bool
	Heartbeat time.Time  // its last report when one of its other facts had changed; see Snapshot.LastHeard
	Load      *AgentLoad // of an L3 or DHCP agent whose load was listed; else nil
}

// Key implements Object.
func (a *NetworkAgent) Key() string { return a.ID }

// AgentLoad is what an L3 or DHCP agent serves.
type AgentLoad struct {
	Routers  []Router  // of an L3 agent
	Networks []Network // of a DHCP agent
	Err      string    // why Neutron does not show it; empty when it does
}

// Router is a virtual router.
type Router struct {
	ID, Name string
	HA       bool // other agents serve it too, and one of them takes over
}

// Network is a virtual network.
type Network struct{ ID, Name string }

// The types of Neutron agents whose service goes down with the node.
const (
	AgentL3   = "L3 agent"
	AgentDHCP = "DHCP agent"
)

// ServedText is what an agent serves: "3 routers, 1 of them with HA", and whether that is known.
func (a *NetworkAgent) ServedText() (text string, known bool) {
	switch {
	case a.Load == nil:
		return "what it serves is not known yet", false
	case a.Load.Err != "":
		return "what it serves is not known: " + wording.OneLine(a.Load.Err, 200), false
	case a.Type == AgentDHCP:
		return wording.Count(len(a.Load.Networks), "network"), true
	}
	ha := 0
	for _, r := range a.Load.Routers {
		if r.HA {
			ha++
		}
	}
	text = wording.Count(len(a.Load.Routers), "router")
	if ha > 0 {
		text += ", " + wording.Itoa(ha) + " of them with HA"
	}
	return text, true
}

// LeftToGo are the names of the routers and networks of an agent that no other agent takes over by itself.
func (a *NetworkAgent) LeftToGo() []string {
	var names []string
	if a.Load == nil {
		return nil
	}
	for _, r := range a.Load.Routers {
		if !r.HA {
			names = append(names, wording.OneLine(wording.TextOf(r.Name, ShortID(r.ID)), 64))
		}
	}
	for _, n := range a.Load.Networks {
		names = append(names, wording.OneLine(wording.TextOf(n.Name, ShortID(n.ID)), 64))
	}
	return names
}
