package core

// EvacuationQuery is what OpenStack is asked before a forecast, and what is known already, so that it need not be asked.
type EvacuationQuery struct {
	Hosts     []string            // the hosts whose instances the forecast is about
	Traits    []string            // which flavors require or forbid
	Loads     map[string]HostLoad // by host, as far as it is known
	Instances int                 // of the whole cloud
}

// HostLoad is what the instances of a host must take there, as far as the lists of instances and migrations tell.
type HostLoad struct {
	Instances int            // how many
	Takes     map[string]int // amounts by resource class, by their flavors and by the migrations to and from the host
}

// EvacuationFacts is what a forecast needs from OpenStack beyond a Snapshot: room, groups, devices, disks. It is read for each
// forecast, never polled. A list that could not be read is nil and in Missing: what it would have shown is unknown, not fine.
type EvacuationFacts struct {
	Microversion int // the newest of Nova's API, 93 for 2.93; 0 when it is not known

	Inventories  []HostInventory
	Aggregates   []Aggregate
	ServerGroups []ServerGroup
	Traits       map[string][]string // hosts by the trait that a flavor requires
	PinnedZones  map[string]string   // the zone that the user asked for, by instance ID; empty for none; nil before 2.96
	Volumes      []Volume            // those that are attached
	Ports        []Port              // of instances with an SR-IOV port or another device

	HostByHost *APIError // why Placement had to be asked for one host after the other; nil when its list could be used

	Missing []MissingFacts // each What is one of the constants below
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

// HostInventory is what Placement has about one compute host: its resource provider and those below it, added up.
type HostInventory struct {
	Host    string                    // the name of its nova-compute
	Classes map[string]ClassInventory // by resource class: VCPU, PCPU, MEMORY_MB, DISK_GB, VGPU, CUSTOM_…
	Used    map[string]int            // what is allocated, by class; nil when Allocations say it
	// amounts by consumer (an instance or a migration), then by class; nil when they were not asked for: the host is not one of the
	// query's, or what is used of it is what its instances take by their flavors
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

// MissingOf says why a list is not known; nil when it is known.
func (f *EvacuationFacts) MissingOf(what string) *MissingFacts {
	for i := range f.Missing {
		if f.Missing[i].What == what {
			return &f.Missing[i]
		}
	}
	return nil
}
