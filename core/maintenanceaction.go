package core

import (
	"slices"
	"strings"
)

// MaintenanceAction is what happens to one instance when its host goes into maintenance (docs/mosk.md#tags).
type MaintenanceAction string

// The actions, by the names that tags use.
const (
	ActionLiveMigrate MaintenanceAction = "live_migrate" // = node mode live
	ActionPowerOff    MaintenanceAction = "poweroff"     // = node mode skip
	ActionNotify      MaintenanceAction = "notify"       // = node mode manual
	ActionUnknown     MaintenanceAction = "unknown"      // Rockoon does not know the node's mode
)

// TagMaintenanceAction is the tag by which cloud users choose the action, without the value.
const TagMaintenanceAction = "openstack.lcm.mirantis.com:maintenance_action="

// ActionOrigin is where an instance's effective action comes from.
type ActionOrigin string

// The origins.
const (
	OriginTag         ActionOrigin = "tag"
	OriginNode        ActionOrigin = "node"
	OriginConflicting ActionOrigin = "two tags" // more than one recognised tag: the node's mode counts
)

// actionOfMode is what a node's mode means for an instance without a tag of its own (docs/mosk.md#tags).
var actionOfMode = map[MigrationMode]MaintenanceAction{
	ModeLive:   ActionLiveMigrate,
	ModeSkip:   ActionPowerOff,
	ModeManual: ActionNotify,
}

// safeVMStates and SafePowerStates are the states that Rockoon's blocking check leaves out (docs/mosk.md#tags): the guest does not run.
var (
	safeVMStates = map[string]string{
		"building":          "is being built",
		"deleted":           "deleted",
		"soft_deleted":      "deleted",
		"stopped":           "stopped",
		"suspended":         "suspended",
		"shelved":           "shelved",
		"shelve_offloaded":  "shelved",
		"shelved_offloaded": "shelved", // Nova's own spelling of it
	}
	SafePowerStates = map[PowerState]string{
		PowerShutdown:  "powered off",
		PowerCrashed:   "crashed",
		PowerSuspended: "suspended",
	}
)

// RecognisedTags are the actions that the instance's tags ask for, each once, in the instance's order. Rockoon ignores
// other values of the tag.
func RecognisedTags(tags []string) []MaintenanceAction {
	var found []MaintenanceAction
	for _, tag := range tags {
		value, ok := strings.CutPrefix(tag, TagMaintenanceAction)
		if !ok {
			continue
		}
		switch a := MaintenanceAction(value); a {
		case ActionLiveMigrate, ActionPowerOff, ActionNotify:
			if !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	return found
}

// EffectiveAction is what happens to an instance with these tags on a node of this mode: one recognised tag wins over the
// node's mode, several cancel each other.
func EffectiveAction(tags []string, mode MigrationMode) (MaintenanceAction, ActionOrigin) {
	recognised := RecognisedTags(tags)
	if len(recognised) == 1 {
		return recognised[0], OriginTag
	}
	origin := OriginNode
	if len(recognised) > 1 {
		origin = OriginConflicting
	}
	if a, ok := actionOfMode[mode]; ok {
		return a, origin
	}
	return ActionUnknown, origin
}

// SafeAsItStands tells whether Rockoon's blocking check leaves the instance out because of its state, and names the state.
func SafeAsItStands(in *Instance) (string, bool) {
	if word, ok := safeVMStates[in.VMState]; ok {
		return word, true
	}
	word, ok := SafePowerStates[in.Power]
	return word, ok
}

// Blocks is Rockoon's blocking check for one instance with its effective action.
func Blocks(in *Instance, action MaintenanceAction) bool {
	if action == ActionPowerOff {
		return false
	}
	_, safe := SafeAsItStands(in)
	return !safe
}

// Migrates tells whether Rockoon would live-migrate the instance: only ACTIVE and PAUSED ones (docs/mosk.md#tags).
func Migrates(in *Instance, action MaintenanceAction) bool {
	return action == ActionLiveMigrate && (in.Status == "ACTIVE" || in.Status == "PAUSED") && in.TaskState != "migrating"
}
