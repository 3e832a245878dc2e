package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// tagPrefix begins a tag that says what maintenance does to an instance (docs/mosk.md#tags).
const tagPrefix = "openstack.lcm.mirantis.com:maintenance_action="

// actions are the maintenance actions that the OpenStack controller knows.
var actions = []string{"live_migrate", "poweroff", "notify"}

// powerOf is the power state that goes with a status.
var powerOf = map[string]core.PowerState{
	"ACTIVE": core.PowerRunning, "SHUTOFF": core.PowerShutdown, "PAUSED": core.PowerPaused, "SUSPENDED": core.PowerShutdown,
	"ERROR": core.PowerRunning, "RESCUE": core.PowerRunning, "SHELVED": core.PowerShutdown, "SHELVED_OFFLOADED": core.PowerShutdown,
	"BUILD": core.PowerNoState, "VERIFY_RESIZE": core.PowerRunning, "MIGRATING": core.PowerRunning,
}

// powerWords are the scenario's words for Nova's power states.
var powerWords = map[core.PowerState]string{
	core.PowerNoState: "nostate", core.PowerRunning: "running", core.PowerPaused: "paused", core.PowerShutdown: "shutdown",
	core.PowerCrashed: "crashed", core.PowerSuspended: "suspended",
}

// statusOf is the status that goes with a state, for instances whose own status only names an operation.
var statusOf = map[string]string{
	"active": "ACTIVE", "stopped": "SHUTOFF", "paused": "PAUSED", "suspended": "SUSPENDED", "error": "ERROR", "rescued": "RESCUE",
	"shelved": "SHELVED", "shelved_offloaded": "SHELVED_OFFLOADED", "building": "BUILD", "resized": "VERIFY_RESIZE",
}

func (b *builder) instances() {
	open := map[string]*core.Migration{} // the newest of each instance that has not ended
	for _, m := range b.inv.Migrations {
		open[m.InstanceID] = m
	}
	busy, gone, unlocated := map[string]int{}, map[string]int{}, 0
	for _, in := range b.inv.Instances {
		status := in.Status
		if _, known := powerOf[status]; !known {
			if status = statusOf[in.VMState]; status == "" {
				gone[cmp.Or(in.Status, "no status")]++
				continue
			}
			busy[in.Status+" rebuilt as "+status]++
		}
		if in.Host == "" && status != "SHELVED_OFFLOADED" && status != "ERROR" {
			gone[status+" without a host"]++
			continue
		}
		found := b.instance(in, status)
		if m := open[in.ID]; m != nil && status == "VERIFY_RESIZE" {
			found.CameFrom = b.machineOf(m.SourceHost)
		} else if m != nil && status == "MIGRATING" && m.DestHost != "" {
			found.MigratingTo = b.machineOf(m.DestHost)
		}
		if found.CameFrom == "" && status == "VERIFY_RESIZE" {
			unlocated++
			if found.CameFrom = b.otherCompute(found.Host); found.CameFrom == "" {
				found.Status = "ACTIVE" // of a cloud with one host
			}
		}
		b.s.Instances = append(b.s.Instances, found)
	}
	slices.SortStableFunc(b.s.Instances, func(x, y scenario.Instance) int {
		return cmp.Or(compareNames(x.Host, y.Host), compareNames(x.Name, y.Name), strings.Compare(x.ID, y.ID))
	})
	for _, status := range slices.Sorted(maps.Keys(busy)) {
		b.assume("instances", "%s in the middle of %s", count(busy[status], "1 was", "%d were"), status)
	}
	for _, status := range slices.Sorted(maps.Keys(gone)) {
		b.assume("instances", "%s left out: %s", count(gone[status], "1 is", "%d are"), status)
	}
	if unlocated > 0 {
		b.assume("instances", "where %s in VERIFY_RESIZE came from is not known", count(unlocated, "1 instance", "%d instances"))
	}
}

func (b *builder) instance(in *core.Instance, status string) scenario.Instance {
	found := scenario.Instance{
		Name: cmp.Or(oneLine(in.Name, 255), in.ID), Project: b.projectNames[in.ProjectID], Flavor: b.flavorNames[flavorKey(flavorOf(in))],
		Host: b.machineOf(in.Host), Status: unless(status, "ACTIVE", ""), Fault: oneLine(in.Fault, 500),
		FoundInstance: scenario.FoundInstance{ID: in.ID, Created: moment(in.Created), ServerGroup: b.groupOf[in.ID]},
	}
	if in.Power != powerOf[status] {
		found.Power = powerWords[in.Power]
	}
	if in.Locked {
		found.Locked = "locked" // the reason is the owner's business
	}
	for _, tag := range slices.Sorted(slices.Values(in.Tags)) {
		if action, ok := strings.CutPrefix(tag, tagPrefix); ok && slices.Contains(actions, action) {
			found.Actions = append(found.Actions, action)
			continue
		}
		found.Tags = append(found.Tags, tag)
	}
	return found
}

// otherCompute is a compute host other than one.
func (b *builder) otherCompute(machine string) string {
	for _, n := range b.s.Nodes {
		if n.Has(scenario.RoleCompute) && !n.NoService && n.Machine != machine {
			return n.Machine
		}
	}
	return ""
}
