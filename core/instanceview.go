package core

import "slices"

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

// Same tells whether another view says the same.
func (v InstanceView) Same(other InstanceView) bool {
	return v.Instance == other.Instance && v.Action == other.Action && v.Origin == other.Origin && slices.Equal(v.Tags, other.Tags) &&
		v.Blocks == other.Blocks && v.Why == other.Why && v.Migrates == other.Migrates && v.Migration == other.Migration &&
		v.Failures == other.Failures && v.Failure == other.Failure
}

// NodeName is the name of the node that the instance is on; empty when there is none.
func (v InstanceView) NodeName(s *Snapshot) string {
	if n := s.NodeOfHost(v.Instance.Host); n != nil {
		return n.Name
	}
	return ""
}
