package core

import (
	"time"
)

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

// Flavor is the size of an instance, as Nova embeds it in the server.
type Flavor struct {
	Name       string
	VCPUs      int
	RAMMiB     int
	DiskGiB    int
	MoreGiB    int               // of disk, beside that: ephemeral and swap
	ExtraSpecs map[string]string // nil when the cloud does not show them
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
	Tags      []string
	TagsKnown bool // false where the cloud is older than microversion 2.26
	Locked    bool
	OnVolume  bool // it boots from a volume: the disk of its flavor is not on its host
	Zone      string
	Fault     string // the message of its fault, when its status is ERROR
	Created   time.Time
	Updated   time.Time

	// SharedFlavor is the flavor, which instances of one flavor share: nobody changes it. It is nil where it is not known. A cloud has a
	// hundred thousand instances and some ten flavors.
	SharedFlavor *Flavor `json:"Flavor"`
}

// Flavor is the instance's size; the zero value where it is not known.
func (i *Instance) Flavor() Flavor {
	if i.SharedFlavor == nil {
		return Flavor{}
	}
	return *i.SharedFlavor
}

// Key implements Object.
func (i *Instance) Key() string { return i.ID }

// Ref names the instance.
func (i *Instance) Ref() Ref { return Ref{Kind: KindInstance, Name: i.Name, UID: i.ID} }

// PowerWord says whether the guest of a blocking instance runs. An instance whose power Nova does not know blocks like one that
// runs (docs/mosk.md#tags).
func (in *Instance) PowerWord() string {
	switch in.Power {
	case PowerRunning:
		return "runs"
	case PowerPaused:
		return "is paused"
	}
	return "has no power"
}

// BroughtBackBy is the intent that brings back an instance that is stopped or shelved; empty for any other.
func (in *Instance) BroughtBackBy() IntentKind {
	switch in.Status {
	case "SHUTOFF":
		return IntentStart
	case "SHELVED", "SHELVED_OFFLOADED":
		return IntentUnshelve
	}
	return ""
}
