package inventory

import (
	"slices"

	"lockstep/sim/scenario"
)

// management renames the objects of the rebuilt management cluster. The default group is named after its cluster, as LCM does.
func (p *pseudonyms) management(m *scenario.Management, machines map[string]string) {
	if m == nil {
		return
	}
	m.Project = p.Name("project", m.Project)
	for i := range m.Groups {
		g := &m.Groups[i]
		g.Name, g.Machines = p.Name("update-group", g.Name), renamed(g.Machines, machines)
	}
	for i, id := range m.Plan.Commence {
		m.Plan.Commence[i] = p.stepID(id)
	}
	estimated := map[string]scenario.Duration{}
	for id, d := range m.Plan.Estimated {
		estimated[p.stepID(id)] = d
	}
	m.Plan.Estimated = estimated
	index := map[string]int{}
	for machine, i := range m.UpgradeIndex {
		index[machines[machine]] = i
	}
	m.UpgradeIndex = index
	for i := range m.Groups {
		slices.Sort(m.Groups[i].Machines)
	}
}
