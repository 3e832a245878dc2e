package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// mostMachines is how many machines of a group are named in one line.
const mostMachines = 8

// GroupLine is an update group with the number of its machines: "index 2, 2 at a time; 3 machines".
func GroupLine(g *core.MachineGroup, in []*core.MachineView) string {
	return GroupText(g) + "; " + wording.Count(len(in), "machine")
}

// MachineNames are the names of machines in one line, in their order.
func MachineNames(machines []*core.MachineView) string {
	names := make([]string, len(machines))
	for i, v := range machines {
		names[i] = wording.OneLine(v.Name, 64)
	}
	return wording.Some(names, mostMachines)
}

// GroupsInOrder says in which order the workers' groups are updated: "canary, then rack-a and rack-b at the same time"
// (docs/mosk.md#update-groups).
func GroupsInOrder(m *core.Management, groups []*core.MachineGroup) string {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *core.MachineGroup) bool { return g.Name == m.ControlGroup() })
	slices.SortStableFunc(groups, func(a, b *core.MachineGroup) int { return a.Index - b.Index })
	var turns []string
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n].Index == groups[0].Index {
			n++
		}
		names := make([]string, n)
		for i, g := range groups[:n] {
			names[i] = wording.OneLine(g.Name, 60)
		}
		slices.Sort(names)
		turn := wording.Some(names, 6)
		if n > 1 {
			turn += fmt.Sprintf(" (index %d) at the same time", groups[0].Index)
		}
		turns = append(turns, turn)
		groups = groups[n:]
	}
	if most := 8; len(turns) > most {
		turns = append(turns[:most], wording.Count(len(turns)-most, "group")+" more")
	}
	return strings.Join(turns, ", then ")
}

// Turn is the place of a node's machine in the order of the update.
type Turn struct {
	Group string // the name of its update group
	Index int    // of the group; 0 of the control plane's
	Place int    // in the group, from 1
}

const unknownIndex = 1 << 30

// Known tells whether there is a group of the name.
func (t Turn) Known() bool { return t.Index != unknownIndex }

// Turns are the places of all machines in the order of the update, by node.
func Turns(m *core.Management) map[string]Turn {
	turns := map[string]Turn{}
	if m == nil {
		return turns
	}
	for group, in := range m.ByGroup() {
		index := unknownIndex
		if g := m.GroupOf(group); g != nil {
			index = g.Index
		}
		if group == m.ControlGroup() {
			index = 0 // always first, whatever it says
		}
		for i, v := range in {
			if v.Node != "" {
				turns[v.Node] = Turn{group, index, i + 1}
			}
		}
	}
	return turns
}

// Compare is negative when t comes before u.
func (t Turn) Compare(u Turn) int {
	return cmp.Or(cmp.Compare(t.Index, u.Index), strings.Compare(t.Group, u.Group), cmp.Compare(t.Place, u.Place))
}
