package progress

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
)

// UpdateOrder are the names of the nodes in the order of the update: by the index of their update group, then by their own upgrade
// index; nodes without one come last (docs/mosk.md#update-groups, #order-of-machines).
func UpdateOrder(m *core.ManagementInventory) []string {
	if m == nil {
		return nil
	}
	indexes := map[string]int{}
	usual := 1 // the default group's, which has the machines without a label
	for _, g := range m.Groups {
		indexes[g.Name] = g.Index
		if g.Name == m.Cluster+"-default" {
			usual = g.Index
		}
	}
	of := func(machine core.Machine) int {
		if i, ok := indexes[machine.Group]; ok {
			return i
		}
		return usual
	}
	last := func(index int) int {
		if index == 0 {
			return int(^uint(0) >> 1)
		}
		return index
	}
	machines := slices.Clone(m.Machines)
	slices.SortFunc(machines, func(a, b core.Machine) int {
		return cmp.Or(of(a)-of(b), strings.Compare(a.Group, b.Group), cmp.Compare(last(a.Index), last(b.Index)), strings.Compare(a.Name, b.Name))
	})
	var nodes []string
	for _, machine := range machines {
		if machine.Node != "" {
			nodes = append(nodes, machine.Node)
		}
	}
	return nodes
}
