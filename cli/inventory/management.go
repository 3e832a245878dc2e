package inventory

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// management rebuilds the management cluster: update groups with their machines, and which steps of the plan are commenced.
func (b *builder) management() {
	m := b.inv.Management
	if m == nil {
		return
	}
	s := b.s
	managed := &scenario.Management{Project: m.Namespace, UpgradeIndex: map[string]int{}}
	if plan := openPlan(m); plan != nil {
		managed.Releases = scenario.Change{From: plan.Source, To: plan.Target}
	}
	b.managedGroups(managed)
	for _, n := range s.Nodes {
		if n.Index > 0 {
			managed.UpgradeIndex[n.Machine] = n.Index
		}
	}
	s.Management = managed
	if plan := openPlan(m); plan != nil {
		b.managedSteps(managed, plan)
	}
}

// managedGroups are the groups of workers; a machine without a group, or in one that is gone, is in the cluster's default group.
func (b *builder) managedGroups(managed *scenario.Management) {
	s := b.s
	byDefault := s.Cluster + "-default"
	place := map[string]int{}
	add := func(name string, index, concurrent int, reboot *bool) {
		place[name] = len(managed.Groups)
		managed.Groups = append(managed.Groups, scenario.UpdateGroup{Name: name, Index: index, Concurrent: concurrent, Reboot: reboot})
	}
	for _, g := range b.inv.Management.Groups {
		if g.Name == s.Cluster+"-control" {
			continue // the simulation makes it by itself
		}
		reboot := g.Reboot
		add(g.Name, g.Index, g.Concurrency, &reboot)
	}
	for _, machine := range s.Update.Order {
		n := b.at(machine)
		i, ok := place[n.Group]
		if !ok {
			if i, ok = place[byDefault]; !ok {
				add(byDefault, 1, s.Update.Concurrency, nil)
				i = place[byDefault]
			}
		}
		managed.Groups[i].Machines = append(managed.Groups[i].Machines, machine)
	}
}

func (b *builder) managedSteps(managed *scenario.Management, plan *core.InventoryPlan) {
	known := b.s.Steps()
	var strange []string
	for _, st := range plan.Steps {
		if !slices.Contains(known, st.ID) {
			strange = append(strange, st.ID)
			continue
		}
		if st.Commence && st.Status != "Completed" {
			managed.Plan.Commence = append(managed.Plan.Commence, st.ID)
		}
		if d, err := time.ParseDuration(st.Estimate); err == nil && d > 0 {
			if managed.Plan.Estimated == nil {
				managed.Plan.Estimated = map[string]scenario.Duration{}
			}
			managed.Plan.Estimated[st.ID] = scenario.Duration(d)
		}
	}
	if len(strange) > 0 {
		b.assumeOf("management.plan", "steps that the simulation does not know are left out", strings.Join(strange, ", "))
	}
}
