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

// AgentsDown are the network agents of the host that are not alive, by their binaries. Those that somebody has set down count as
// well: the OpenStack controller waits for every one that it finds (docs/mosk.md#agents).
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

// ServedShort is what the agents on a node serve, in a few words: "2 routers, 3 networks"; empty when they serve nothing.
func ServedShort(s *core.Snapshot, node string) string {
	var parts []string
	for _, a := range ServingAgents(s, node) {
		if text, known := a.ServedText(); !known || len(a.Load.Routers)+len(a.Load.Networks) > 0 {
			parts = append(parts, strings.TrimSuffix(a.Type, " agent")+": "+text)
		}
	}
	return strings.Join(parts, "; ")
}

// HostsWithRoutersToWatch are the hosts whose L3 and DHCP agents are asked for what they serve: those of nodes that are no computes and
// have a migration mode.
func HostsWithRoutersToWatch(s *core.Snapshot) []string {
	var hosts []string
	for name, n := range s.Nodes {
		if n.Annotation(core.AnnotationMigrationMode) != nil && !n.Is(core.RoleCompute) {
			hosts = append(hosts, s.HostOf(name))
		}
	}
	slices.Sort(hosts)
	return hosts
}

// agentsOfComponent are the binaries of Neutron's agents that run in the pods of a component (openstack-helm's names, and
// Neutron's for the binaries).
var agentsOfComponent = map[string][]string{
	"l3-agent":            {"neutron-l3-agent"},
	"dhcp-agent":          {"neutron-dhcp-agent"},
	"metadata-agent":      {"neutron-metadata-agent"},
	"neutron-ovs-agent":   {"neutron-openvswitch-agent"},
	"neutron-sriov-agent": {"neutron-sriov-nic-agent"},
	"ovn-controller":      {"ovn-controller"},
	"ovn-metadata-agent":  {"neutron-ovn-metadata-agent"},
}

// IsNetworkAgent tells whether the DaemonSet's pods are agents of Neutron's.
func IsNetworkAgent(d *core.DaemonSet) bool {
	if d.Namespace != core.NamespaceOpenStack {
		return false
	}
	return len(agentsOfComponent[d.Component]) > 0 || d.Application == "neutron" && strings.HasSuffix(d.Component, "agent")
}

// agentsOnSwitch are the agents that work with Open vSwitch: its restart is felt by them.
var agentsOnSwitch = []string{"neutron-openvswitch-agent", "ovn-controller"}

// AgentsTouched are Neutron's agents on the node that have to be seen again after a restart of the DaemonSet's pod there.
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

// AgentsIn are Neutron's agents on the node that run in the pods of the DaemonSet, as Neutron shows them.
func AgentsIn(s *core.Snapshot, d *core.DaemonSet, node string) []*core.NetworkAgent {
	var out []*core.NetworkAgent
	for _, a := range s.Agents[s.HostOf(node)] {
		if slices.Contains(agentsOfComponent[d.Component], a.Binary) {
			out = append(out, a)
		}
	}
	return out
}
