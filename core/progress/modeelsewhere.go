package progress

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// The documents recommend mode manual for a node with a gateway, so that the operator can move its virtual routers first. Today's OpenStack
// controller looks at modes of computes only: it releases such a node at once (docs/mosk.md#modes-elsewhere). Who plays the controller
// keeps the documents' promise: the node waits for the operator's word.

// ModeCounts tells whether the mode of the node decides anything: of a compute, and of any node where Lockstep plays the controller.
func ModeCounts(s *core.Snapshot, name string) bool {
	n := s.Nodes[name]
	return n == nil || n.Is(core.RoleCompute) || PlaysOn(s, core.ControllerOpenStack, name)
}

// ModeIgnored is why a mode on a node that is no compute decides nothing, and what holds the node instead.
const (
	ModeIgnored = "the OpenStack controller of today looks at the modes of computes only"
	HoldInstead = "hold it by a lock of your own, or do not commence its update group"
)

// AwaitsWord tells whether the node is no compute, is asked for, and waits for the operator's word under a played controller: its mode is
// manual, or none that means anything.
func AwaitsWord(s *core.Snapshot, name string) bool {
	n, r := s.Nodes[name], s.NodeRequest(name)
	if n == nil || n.Is(core.RoleCompute) || r == nil || !r.Deleting.IsZero() || !PlaysOn(s, core.ControllerOpenStack, name) {
		return false
	}
	mode := core.MigrationMode(wording.TextOr(n.Annotation(core.AnnotationMigrationMode), string(core.ModeLive)))
	return mode == core.ModeManual || !mode.Known()
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

// UpdateGroupText names the update group of a node.
func UpdateGroupText(s *core.Snapshot, node string) string {
	if v := MachineOf(s, node); v != nil && v.Machine != nil && v.Machine.Group != "" {
		return "its update group " + wording.OneLine(v.Machine.Group, 60)
	}
	return "its update group"
}
