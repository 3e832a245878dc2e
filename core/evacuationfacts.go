package core

// EvacuationFacts is what OpenStack tells of an evacuation beyond a Snapshot: room, groups, devices, disks. It is read when
// a forecast is asked for, never polled. A list that could not be read is nil and in Missing: what it would have told is then
// unknown, not fine.
type EvacuationFacts struct {
	Microversion int // the newest of Nova's API, 93 for 2.93; 0 when it is not known

	Inventories  []HostInventory
	Aggregates   []Aggregate
	ServerGroups []ServerGroup
	Traits       map[string][]string // by trait that a flavor requires: the hosts that have it
	PinnedZones  map[string]string   // by instance ID: the zone that its user asked for, empty for none; nil before 2.96
	Volumes      []Volume            // those that are attached
	Ports        []Port              // those of instances with an SR-IOV port or another device

	Missing []MissingFacts // by their What: one of the constants below
}

// The lists of EvacuationFacts, as MissingFacts and a forecast name them.
const (
	FactsRoom       = "room on the hosts"
	FactsAggregates = "aggregates"
	FactsGroups     = "server groups"
	FactsTraits     = "traits"
	FactsZones      = "pinned zones"
	FactsVolumes    = "volumes"
	FactsPorts      = "ports"
)

// HostInventory is what Placement keeps of one compute host: its resource provider and those below it, taken together.
type HostInventory struct {
	Host    string                    // the name of its nova-compute
	Classes map[string]ClassInventory // by resource class: VCPU, PCPU, MEMORY_MB, DISK_GB, VGPU, CUSTOM_…
	Used    map[string]int            // what is allocated of each class; nil where Allocations tell
	// by consumer, which is an instance or a migration: amounts by class; nil of a host whose instances were not asked about
	Allocations map[string]map[string]int
}

// ClassInventory is how much there is of a resource class. What can be allocated is (Total - Reserved) * Ratio, and at
// most MaxUnit by one instance.
type ClassInventory struct {
	Total, Reserved, MaxUnit int
	Ratio                    float64
}

// Capacity is how much can be allocated in all.
func (c ClassInventory) Capacity() int {
	return max(int(float64(c.Total-c.Reserved)*c.Ratio), 0)
}

// Port is a Neutron port of an instance.
type Port struct {
	ID       string
	Instance string // ID
	VNICType string // direct, macvtap, direct-physical, vdpa, accelerator-direct, remote-managed, …
}

// MissingOf is why a list is not known; nil when it is.
func (f *EvacuationFacts) MissingOf(what string) *MissingFacts {
	for i := range f.Missing {
		if f.Missing[i].What == what {
			return &f.Missing[i]
		}
	}
	return nil
}
