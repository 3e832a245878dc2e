package core

import (
	"time"
)

// Inventory is one complete look at a live cloud: what a rehearsal of its update needs, without secrets. It never holds user
// data, metadata of instances, addresses, key pairs, Secrets or ConfigMaps.
type Inventory struct {
	Taken   time.Time // by this machine's clock
	Cluster string    // what the operator calls it
	Server  string    // the API server's address

	ClusterInventory
	CloudInventory
	Management *ManagementInventory // nil when the management cluster was not asked

	Missing []MissingFacts // what could not be read; the rest is complete
}

// MissingFacts is one list that could not be read.
type MissingFacts struct {
	What string    // in words for people: "nodes", "server groups"
	Err  *APIError // why
}

// ClusterInventory is what the MOSK cluster's API server tells. Every list is in the order of its names.
type ClusterInventory struct {
	Nodes           []InventoryNode
	ClusterLocks    []*WorkloadLock
	NodeLocks       []*WorkloadLock
	ClusterRequests []*MaintenanceRequest
	NodeRequests    []*MaintenanceRequest
	Deletions       []*NodeNotice      // NodeDeletionRequests
	Disablings      []*NodeNotice      // NodeDisableNotifications
	OpenStack       []*OpenStackStatus // OpenStackDeploymentStatus; usually one
	Controller      *Deployment        // Rockoon; nil when unknown
	StatefulSets    []*StatefulSet     // of OpenStack and Redis
	DaemonSets      []*DaemonSet       // of OpenStack and Tungsten Fabric
	// DaemonRevisions and DaemonPods are theirs, and the StatefulSets' pods, by the UID of the set.
	DaemonRevisions map[string][]*DaemonRevision
	DaemonPods      map[string][]*DaemonPod
	// ControllerRelease is the cluster release that Rockoon's Deployment was made for (its variable
	// OSCTL_CLUSTER_RELEASE); empty when it names none.
	ControllerRelease string
	// RoleLabels are the labels that give nodes their roles. See ApplyRoleLabels.
	RoleLabels RoleLabels
}

// InventoryNode is a node with the fields that only an inventory needs.
type InventoryNode struct {
	*Node
	VRouter bool // tfvrouter=enabled
	CPUs    int  // capacity; 0 when the node does not say
	RAMMiB  int
}

// ManagementInventory is what the management cluster tells of one MOSK cluster.
type ManagementInventory struct {
	Namespace string // the project
	Cluster   string // name of the Cluster object
	Release   string // its ClusterRelease now, by name; empty when unknown

	Machines []Machine       // by name
	Groups   []UpdateGroup   // by index, then name
	Plans    []InventoryPlan // by name
}

// Machine is a Machine of the cluster (docs/mosk.md#cluster-and-machine).
type Machine struct {
	Name  string
	Node  string // status.nodeRef.name; empty before it is a node
	Group string // the label kaas.mirantis.com/update-group; empty for the default group
	Index int    // upgradeIndex; 0 when none is set
}

// UpdateGroup is an UpdateGroup of the cluster (docs/mosk.md#update-groups).
type UpdateGroup struct {
	Name        string
	Index       int // groups of one index are updated together, the lowest first
	Concurrency int // concurrentUpdates; 0 when none is set
	Reboot      bool
}

// InventoryPlan is a ClusterUpdatePlan (docs/mosk.md#update-plans).
type InventoryPlan struct {
	Name      string
	Source    string // ClusterRelease names
	Target    string
	Status    string // NotStarted, Scheduled, InProgress, AutoPaused, Stuck, Completed, or another
	Started   time.Time
	Completed time.Time
	Steps     []PlanStep
}

// CloudInventory is what OpenStack tells. Every list is in the order of its names, then IDs.
type CloudInventory struct {
	Services     []*ComputeService
	Hypervisors  []Hypervisor
	Aggregates   []Aggregate
	ServerGroups []ServerGroup
	Flavors      []FlavorRecord
	Projects     []*Project
	Instances    []*Instance
	Migrations   []*Migration // those that have not ended, and those that wait for a confirmation

	VolumeServices []*VolumeService // cinder-volume; none in a cloud without Cinder
	Agents         []*NetworkAgent  // none in a cloud without Neutron
}

// Hypervisor is what a compute host has.
type Hypervisor struct {
	Name    string // of the hypervisor
	Host    string // of its nova-compute
	VCPUs   int    // 0 where the cloud does not tell
	RAMMiB  int
	DiskGiB int
}

// Aggregate is a host aggregate, with its zone when it makes one.
type Aggregate struct {
	ID    int
	Name  string
	Zone  string // empty when it makes none
	Hosts []string

	Metadata map[string]string // that of its zone apart
}

// ServerGroup is a server group with its members.
type ServerGroup struct {
	ID        string
	Name      string
	ProjectID string
	Policy    string // affinity, anti-affinity, soft-affinity, soft-anti-affinity
	Members   []string

	MaxPerHost int // of anti-affinity: how many members a host may have; 0 means 1
}

// FlavorRecord is a flavor as the list of flavors has it.
type FlavorRecord struct {
	ID string
	Flavor
}

// InventoryProgress is called while an inventory is taken, with what has just been read and how many of it there are. It
// may be called by several goroutines.
type InventoryProgress func(what string, n int)
