package core

import (
	"time"

	"lockstep/core/wording"
)

// BroughtBackBy is the step that brings back an instance that was stopped or shelved; empty when it is neither.
func (in *Instance) BroughtBackBy() IntentKind {
	switch in.Status {
	case "SHUTOFF":
		return IntentStart
	case "SHELVED", "SHELVED_OFFLOADED":
		return IntentUnshelve
	}
	return ""
}

// PowerState is Nova's OS-EXT-STS:power_state.
type PowerState int

// Nova's power states.
const (
	PowerNoState   PowerState = 0
	PowerRunning   PowerState = 1
	PowerPaused    PowerState = 3
	PowerShutdown  PowerState = 4
	PowerCrashed   PowerState = 6
	PowerSuspended PowerState = 7
)

// String is Nova's word for the state.
func (p PowerState) String() string {
	switch p {
	case PowerNoState:
		return "no state"
	case PowerRunning:
		return "running"
	case PowerPaused:
		return "paused"
	case PowerShutdown:
		return "shutdown"
	case PowerCrashed:
		return "crashed"
	case PowerSuspended:
		return "suspended"
	}
	return "unknown"
}

// Flavor is the size of an instance, as embedded in it.
type Flavor struct {
	Name       string
	VCPUs      int
	RAMMiB     int
	DiskGiB    int
	ExtraSpecs map[string]string // nil where the cloud does not show them
}

// Instance is a Nova server, called an instance as MOSK's documents do.
type Instance struct {
	ID        string
	Name      string
	ProjectID string
	UserID    string
	Host      string // OS-EXT-SRV-ATTR:host: the name of its nova-compute
	Status    string // ACTIVE, SHUTOFF, VERIFY_RESIZE, ERROR, …
	VMState   string // OS-EXT-STS:vm_state: active, stopped, resized, error, …
	TaskState string // OS-EXT-STS:task_state; empty when nothing is being done
	Power     PowerState
	Flavor    Flavor
	Tags      []string
	TagsKnown bool // false where the cloud is older than microversion 2.26
	Locked    bool
	Zone      string
	Fault     string // the message of its fault, when its status is ERROR
	Created   time.Time
	Updated   time.Time
}

// Key implements Object.
func (i *Instance) Key() string { return i.ID }

// Ref names the instance.
func (i *Instance) Ref() Ref { return Ref{Kind: KindInstance, Name: i.Name, UID: i.ID} }

// Project is a Keystone project, for its name.
type Project struct {
	ID   string
	Name string
}

// Key implements Object.
func (p *Project) Key() string { return p.ID }

// DisabledReasonMaintenance is the reason with which Rockoon disables a compute service. It enables a service again only
// when the reason is exactly this one.
const DisabledReasonMaintenance = "OSDPL: Node is under maintenance"

// ComputeService is a nova-compute service.
type ComputeService struct {
	ID             string // a UUID (microversion 2.53 and later)
	Host           string
	Enabled        bool
	DisabledReason string
	Up             bool
	ForcedDown     bool
	Zone           string
	Updated        time.Time
}

// Key implements Object.
func (s *ComputeService) Key() string { return s.ID }

// Ref names the service by its host.
func (s *ComputeService) Ref() Ref { return Ref{Kind: KindComputeService, Name: s.Host, UID: s.ID} }

// NetworkAgent is a Neutron agent.
type NetworkAgent struct {
	ID        string
	Host      string
	Type      string // "Open vSwitch agent", "L3 agent", …
	Binary    string
	Alive     bool
	AdminUp   bool
	Heartbeat time.Time
	Load      *AgentLoad // of an L3 or DHCP agent that was asked for it; nil otherwise
}

// AgentLoad is what an L3 or DHCP agent serves.
type AgentLoad struct {
	Routers  []Router  // of an L3 agent
	Networks []Network // of a DHCP agent
	Err      string    // why Neutron does not tell; empty when it does
}

// Router is a virtual router.
type Router struct {
	ID, Name string
	HA       bool // other agents serve it, too, and one of them takes over
}

// Network is a virtual network.
type Network struct{ ID, Name string }

// Key implements Object.
func (a *NetworkAgent) Key() string { return a.ID }

// The types of a Migration that matter here.
const (
	MigrationLive       = "live-migration"
	MigrationCold       = "migration"
	MigrationResize     = "resize"
	MigrationEvacuation = "evacuation"
)

// Migration is a record of os-migrations, with the progress of a running live migration where Nova shows it.
type Migration struct {
	ID         int    // the number by which a live migration is aborted or forced
	UUID       string // empty before microversion 2.59
	InstanceID string
	Type       string // MigrationLive, …
	Status     string // queued, preparing, running, post-migrating, completed, error, failed, cancelled, finished, confirmed, …
	SourceHost string
	DestHost   string // empty until the scheduler has chosen
	Created    time.Time
	Updated    time.Time
	Memory     *Progress // nil where Nova shows none
	Disk       *Progress
	Failure    string // Nova's own text of why it failed, where it was found; empty otherwise
}

// Progress is how much of something was copied, in bytes.
type Progress struct {
	Total, Processed, Remaining int64
}

// Key implements Object: the instance and the number of the record, which every microversion shows.
func (m *Migration) Key() string { return m.InstanceID + "/" + wording.Itoa(m.ID) }

// Running tells whether the migration is under way: asked for, and not yet at an end.
func (m *Migration) Running() bool {
	switch m.Status {
	case "accepted", "queued", "preparing", "running", "post-migrating", "pre-migrating", "migrating":
		return true
	}
	return false
}

// Failed tells whether the migration ended without moving the instance.
func (m *Migration) Failed() bool { return m.Status == "error" || m.Status == "failed" }

// Percent is how much of the memory and disk has been copied, 0 to 100, by what remains of the total; -1 when Nova shows
// no figures. A guest that dirties its memory makes it fall again: that is the truth of it.
func (m *Migration) Percent() int {
	var total, remaining int64
	for _, p := range []*Progress{m.Memory, m.Disk} {
		if p != nil && p.Total > 0 {
			total += p.Total
			remaining += min(max(p.Remaining, 0), p.Total)
		}
	}
	if total == 0 {
		return -1
	}
	return int(100 * (total - remaining) / total)
}

// PowerWord says of an instance that the blocking check does not leave out whether its guest runs: one of whose power Nova knows nothing
// holds its node as one that runs (docs/mosk.md#tags).
func (in *Instance) PowerWord() string {
	switch in.Power {
	case PowerRunning:
		return "runs"
	case PowerPaused:
		return "is paused"
	}
	return "has no power"
}
