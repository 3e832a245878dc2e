package inventory

import (
	"regexp"
	"slices"
)

// agents takes over which network agents of the nodes do not report. Which agents there are follows from what a node does.
func (b *builder) agents() {
	for _, a := range b.inv.Agents {
		n := b.at(b.machineOf(a.Host))
		if binary := oneLine(a.Binary, 100); n != nil && !a.Alive && !slices.Contains(n.AgentsDown, binary) {
			n.AgentsDown = append(n.AgentsDown, binary)
		}
	}
}

// plainAgent is the form of the names of Neutron's and OVN's own agents; they tell nothing.
var plainAgent = regexp.MustCompile(`^(neutron|ovn)-[a-z0-9-]{1,40}$`)

// plainAgents are names of agents of which those that may tell something are left out.
func plainAgents(binaries []string) []string {
	for i, binary := range binaries {
		if !plainAgent.MatchString(binary) {
			binaries[i] = leftOut
		}
	}
	return binaries
}
