package inventory

import (
	"regexp"
	"slices"

	"lockstep/cli/pseudonym"
)

// agents takes over which network agents do not report. Which agents a node has follows from its roles.
func (b *builder) agents() {
	for _, a := range b.inv.Agents {
		n := b.at(b.machineOf(a.Host))
		if binary := oneLine(a.Binary, 100); n != nil && !a.Alive && !slices.Contains(n.AgentsDown, binary) {
			n.AgentsDown = append(n.AgentsDown, binary)
		}
	}
}

// plainAgent is the form of the names of Neutron's and OVN's own agents; they reveal nothing.
var plainAgent = regexp.MustCompile(`^(neutron|ovn)-[a-z0-9-]{1,40}$`)

// plainAgents are the names of agents, without those that may reveal something.
func plainAgents(binaries []string) []string {
	for i, binary := range binaries {
		if !plainAgent.MatchString(binary) {
			binaries[i] = pseudonym.LeftOut
		}
	}
	return binaries
}
