package core

// MaintenanceAction is what is to happen to one instance when its host goes into maintenance (mosk-facts 3).
type MaintenanceAction string

// The actions, by the names that tags use.
const (
	ActionLiveMigrate MaintenanceAction = "live_migrate" // = node mode live
	ActionPowerOff    MaintenanceAction = "poweroff"     // = node mode skip
	ActionNotify      MaintenanceAction = "notify"       // = node mode manual
	ActionUnknown     MaintenanceAction = "unknown"      // the node's mode is none that Rockoon knows
)

// TagMaintenanceAction is the tag with which cloud users choose the action, before its value.
const TagMaintenanceAction = "openstack.lcm.mirantis.com:maintenance_action="

// ActionOrigin is where an instance's effective action comes from.
type ActionOrigin string

// The origins.
const (
	OriginTag         ActionOrigin = "tag"
	OriginNode        ActionOrigin = "node"
	OriginConflicting ActionOrigin = "two tags" // more than one recognised tag: the node's mode counts
)

// InstanceView is an instance with what its host's maintenance means for it.
type InstanceView struct {
	Instance  *Instance
	Action    MaintenanceAction
	Origin    ActionOrigin
	Tags      []MaintenanceAction // the recognised action tags, in the instance's order
	Blocks    bool                // it holds the lock as it stands now
	Why       string              // why it blocks, or why it is safe
	Migrates  bool                // Rockoon would live-migrate it as it stands
	Migration *Migration          // the newest record; nil when none is known
	Failures  int                 // failed migrations from its present host since the maintenance began
	Failure   string              // the last failure's text; empty when there was none
}
