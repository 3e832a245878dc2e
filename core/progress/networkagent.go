package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
	"slices"
	"strings"
)

// SilentOn are the network agents of a host that do not report to Neutron.
func SilentOn(s *core.Snapshot, host string) []*core.NetworkAgent {
	var out []*core.NetworkAgent
	for _, a := range s.Agents[host] {
		if !a.Alive {
			out = append(out, a)
		}
	}
	return out
}

// AgentsDown are the binaries of the host's network agents that are not alive. Agents that somebody has set down count as well:
// the OpenStack controller waits for every agent that it finds (docs/mosk.md#agents).
func AgentsDown(s *core.Snapshot, host string) []string {
	var down []string
	for _, a := range SilentOn(s, host) {
		down = wording.AddNew(down, strings.TrimPrefix(a.Binary, "neutron-"))
	}
	return down
}

// ServingAgents are the L3 and DHCP agents on the node.
func ServingAgents(s *core.Snapshot, node string) []*core.NetworkAgent {
	return slices.DeleteFunc(slices.Clone(s.Agents[s.HostOf(node)]),
		func(a *core.NetworkAgent) bool { return a.Type != core.AgentL3 && a.Type != core.AgentDHCP })
}

// ServedShort is what the node's agents serve, in a few words: "2 routers, 3 networks"; empty when they serve nothing.
func ServedShort(s *core.Snapshot, node string) string {
	var parts []string
	for _, a := range ServingAgents(s, node) {
		if text, known := a.ServedText(); !known || len(a.Load.Routers)+len(a.Load.Networks) > 0 {
			parts = append(parts, strings.TrimSuffix(a.Type, " agent")+": "+text)
		}
	}
	return strings.Join(parts, "; ")
}

// HostsWithRoutersToWatch are the hosts whose L3 and DHCP agents are asked what they serve: those of nodes that are not computes
// and have a migration mode.
func HostsWithRoutersToWatch(s *core.Snapshot) []string {
	hosts := slices.Clone(watchedHosts(s).withRouters)
	slices.Sort(hosts)
	return hosts
}

// agentsOfComponent are the Neutron agents' binaries that run in the pods of a component. The components have openstack-helm's
// names, the binaries Neutron's.
var agentsOfComponent = map[string][]string{
	"l3-agent":            {"neutron-l3-agent"},
	"dhcp-agent":          {"neutron-dhcp-agent"},
	"metadata-agent":      {"neutron-metadata-agent"},
	"neutron-ovs-agent":   {"neutron-openvswitch-agent"},
	"neutron-sriov-agent": {"neutron-sriov-nic-agent"},
	"ovn-controller":      {"ovn-controller"},
	"ovn-metadata-agent":  {"neutron-ovn-metadata-agent"},
}

// IsNetworkAgent tells whether the DaemonSet's pods are Neutron agents.
func IsNetworkAgent(d *core.DaemonSet) bool {
	if d.Namespace != core.NamespaceOpenStack {
		return false
	}
	return len(agentsOfComponent[d.Component]) > 0 || d.Application == "neutron" && strings.HasSuffix(d.Component, "agent")
}

// agentsOnSwitch are the agents that work with Open vSwitch: they notice its restart.
var agentsOnSwitch = []string{"neutron-openvswitch-agent", "ovn-controller"}

// AgentsTouched are the Neutron agents on the node that have to report again after a restart of the DaemonSet's pod there.
func AgentsTouched(s *core.Snapshot, d *core.DaemonSet, node string) []*core.NetworkAgent {
	out := AgentsIn(s, d, node)
	if d.Namespace == core.NamespaceOpenStack && strings.Contains(d.Component, "vswitchd") {
		for _, a := range s.Agents[s.HostOf(node)] {
			if slices.Contains(agentsOnSwitch, a.Binary) {
				out = append(out, a)
			}
		}
	}
	return out
}

// AgentsIn are the Neutron agents on the node that run in the pods of the DaemonSet, as Neutron shows them.
func AgentsIn(s *core.Snapshot, d *core.DaemonSet, node string) []*core.NetworkAgent {
	var out []*core.NetworkAgent
	for _, a := range s.Agents[s.HostOf(node)] {
		if slices.Contains(agentsOfComponent[d.Component], a.Binary) {
			out = append(out, a)
		}
	}
	return out
}
