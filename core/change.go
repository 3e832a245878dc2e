package core

import "time"

// Change is what a step does, as plain data: one write, or a named list of writes. This package has all its types. A Change names
// objects by UID and says what must hold before it: an object or a value that is not as expected is ErrConflict.
type Change interface{ isChange() }

// SetNodeAnnotation sets or removes an annotation of exactly the node with the name and the UID.
type SetNodeAnnotation struct {
	Node Ref
	Key  string
	Old  *string // the value it must have; nil: is not set
	New  *string // nil: remove it
}

// InstanceAction is one of Nova's actions on one instance.
type InstanceAction struct {
	Do          IntentKind // one of instanceRules: IntentLiveMigrate, IntentStop, …
	Instance    Ref
	Host        string // the host it must be on; empty for an instance on no host
	Status      string // the status it must have
	MigrationID int    // of IntentAbortMigration and IntentForceComplete
}

// SetMaintenanceTags replaces the maintenance_action tags of one instance; its other tags stay.
type SetMaintenanceTags struct {
	Instance Ref
	Old      []MaintenanceAction // the actions it must have, in the instance's order
	New      []MaintenanceAction

	// All are the tags that it has afterwards, the owner's included. They are read right before the write, and nil until then.
	All []string
}

// SetComputeService enables or disables the nova-compute service of the UID.
type SetComputeService struct {
	Service Ref
	Enabled bool
	Reason  string // with which it is disabled
	// WasEnabled and WasReason are what it must be before.
	WasEnabled bool
	WasReason  string
}

// SetVolumeService enables or disables exactly the cinder-volume service of that name ("cmp-04@lvm").
type SetVolumeService struct {
	Service Ref
	Enabled bool
	Reason  string // with which it is disabled
	// WasEnabled and WasReason are what it must be before.
	WasEnabled bool
	WasReason  string
}

// SetLock sets what exactly the workload lock with the name and the UID tells LCM.
type SetLock struct {
	Lock Ref
	Was  LockState // the state it must have, as written; empty when the object has none
	To   LockStatus
}

// SetInnerState sets or removes the annotation in which Rockoon notes that it works on a lock.
type SetInnerState struct {
	Lock    Ref
	Was, To string // empty: not set
}

// CreateLock creates a workload lock, with the release at which it is armed in its status, if it has one. A name that is taken is
// ErrConflict.
type CreateLock struct{ Lock NewLock }

// CreateRequest creates a maintenance request. A name that is taken is ErrConflict.
type CreateRequest struct{ Request NewRequest }

// DeleteObject deletes exactly the workload lock or maintenance request of the kind, name and UID. Finalizers can keep it for a while.
type DeleteObject struct{ Object Ref }

// AddFinalizer puts one finalizer on a maintenance request. A finalizer that is there already, or a request that is being removed, is
// ErrConflict.
type AddFinalizer struct {
	Object    Ref
	Finalizer string
}

// RemoveFinalizer takes one finalizer off a maintenance request, a lock or a node that was deleted. A finalizer that is not there is
// ErrConflict.
type RemoveFinalizer struct {
	Object    Ref
	Finalizer string
}

// RestartPod deletes one pod of a DaemonSet, so that the DaemonSet creates a new one.
type RestartPod struct {
	Pod        Ref
	Node       string
	Set        Ref
	Selector   string // the label selector of the DaemonSet's pods
	Revision   string // the revision of the new pod; empty when it is not known
	OneAtATime bool   // every other pod of the DaemonSet must be ready
}

// DeletePod deletes one pod that is in phase Failed or Succeeded.
type DeletePod struct {
	Pod  Ref
	Node string
}

// DeleteClaim deletes the volume claim of a StatefulSet's pod, whose volume is bound to a node that is gone.
type DeleteClaim struct {
	Claim Ref
	Node  string // the node that is gone
	Set   string // the StatefulSet's name, one of those whose claims are released
	Pod   string // the pod's name; its successor has the same
}

// SetTempest adds Tempest to the services of an OpenStackDeployment, or removes it.
type SetTempest struct {
	Deployment Ref
	Add        bool
	Services   []string // the list as it must be before
}

// SetMaintenance sets maintenance mode of a Cluster or a Machine on the management cluster.
type SetMaintenance struct {
	Object Ref   // KindCluster or KindMachine
	Old    *bool // what the flag must be; nil: is not set
	On     bool
}

// RequestReboot creates the GracefulRebootRequest of a cluster for named machines. If there is one already, that is ErrConflict.
type RequestReboot struct {
	Cluster  Ref
	Machines []string // never empty: that would mean all machines
}

// SetCommence sets or takes away commence of exactly one step of an update plan. The step must be as it was seen.
type SetCommence struct {
	Plan    Ref
	Index   int       // of the step, in the plan's list
	ID      string    // of the step; empty in releases that have no IDs: its name counts
	Name    string    // of the step
	Status  string    // that the step must have, as written; empty: none
	Started time.Time // when the step began, as it was confirmed; zero: it had not
	On      bool
}

// SetRelease sets the ClusterRelease that a Cluster is to be at, which begins its update.
type SetRelease struct {
	Cluster  Ref
	Old, New string // Old is what it must be
}

// SetAutoPause sets the alerts that pause a cluster's update. It makes the UpdateAutoPause where Pause has no UID, and removes it where New
// is empty.
type SetAutoPause struct {
	Pause    Ref
	Old, New []string // Old are the alerts that it must have
}

// SetGroup sets what an UpdateGroup says; only what differs between Old and New is written. It makes the group where Old is nil, and
// removes it where New is nil.
type SetGroup struct {
	Group    Ref
	Cluster  string         // the Cluster whose machines it groups
	Old, New *GroupSettings // Old is what it must say
}

// SetMachineGroup sets the label by which a Machine belongs to an UpdateGroup.
type SetMachineGroup struct {
	Machine  Ref
	Old, New string // Old is the group that the label must name; empty: there is no label
}

// SetUpgradeIndex sets or removes the index of a Machine in the order of its UpdateGroup.
type SetUpgradeIndex struct {
	Machine Ref
	Old     *int // what it must be; nil: is not set
	New     *int // nil: remove it
}

// MakeSilence makes a silence in Alertmanager. The same one must not be there already.
type MakeSilence struct {
	Matchers []Matcher
	Until    time.Time
	By       string
	Comment  string
}

// ExpireSilence ends a silence of Alertmanager. It must be as it was seen.
type ExpireSilence struct{ Silence Silence }

// Batch is a named list of changes under one grant, shown whole, done AtOnce at a time.
type Batch struct {
	Items        []BatchItem
	AtOnce       int
	Node         string // the node that it empties; empty for other batches
	Request      string // UID of the node's maintenance request at the time of confirmation; empty: there was none
	Removal      string // UID of its NodeDeletionRequest then; empty: there was none
	PastFailures bool   // go on with the next when one fails, instead of pausing; a lost answer pauses all the same
}

// BatchItem is one change of a Batch.
type BatchItem struct {
	Intent Intent // planned again right before the item is done
	Label  string
	Change Change
	Basis  []Fact // what the item rests on; when this has changed, the item is not done
	Tries  int    // how often it is tried while its migration fails; 0 means once
}

func (SetNodeAnnotation) isChange() {}

func (InstanceAction) isChange() {}

func (SetMaintenanceTags) isChange() {}

func (SetComputeService) isChange() {}

func (SetVolumeService) isChange() {}

func (SetLock) isChange() {}

func (SetInnerState) isChange() {}

func (CreateLock) isChange() {}

func (CreateRequest) isChange() {}

func (DeleteObject) isChange() {}

func (AddFinalizer) isChange() {}

func (RemoveFinalizer) isChange() {}

func (RestartPod) isChange() {}

func (DeletePod) isChange() {}

func (DeleteClaim) isChange() {}

func (SetTempest) isChange() {}

func (SetMaintenance) isChange() {}

func (RequestReboot) isChange() {}

func (SetCommence) isChange() {}

func (SetRelease) isChange() {}

func (SetAutoPause) isChange() {}

func (SetGroup) isChange() {}

func (SetMachineGroup) isChange() {}

func (SetUpgradeIndex) isChange() {}

func (MakeSilence) isChange() {}

func (ExpireSilence) isChange() {}

func (Batch) isChange() {}

// Posted is the silence as Alertmanager's API takes it. It begins at once: the API does so with a silence whose start has passed, and a
// time of this machine could be ahead of Alertmanager's.
func (c MakeSilence) Posted() any {
	return struct {
		Matchers  []Matcher `json:"matchers"`
		StartsAt  time.Time `json:"startsAt"`
		EndsAt    time.Time `json:"endsAt"`
		CreatedBy string    `json:"createdBy"`
		Comment   string    `json:"comment"`
	}{c.Matchers, time.Unix(0, 0).UTC(), c.Until.UTC(), c.By, c.Comment}
}

// Is tells whether a silence is the one that the change makes.
func (c MakeSilence) Is(s Silence) bool {
	return s.State != SilenceExpired && s.Ends.Equal(c.Until) && s.By == c.By && s.Comment == c.Comment && SameMatchers(s.Matchers, c.Matchers)
}

// Text is the state that is set: "enabled", or "disabled: why".
func (c SetVolumeService) Text() string {
	return (&VolumeService{Enabled: c.Enabled, DisabledReason: c.Reason}).StateText()
}

// Text is the change in one line.
func (c SetTempest) Text() string {
	if c.Add {
		return "add tempest to spec.features.services"
	}
	return "remove tempest from spec.features.services"
}
