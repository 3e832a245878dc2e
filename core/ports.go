package core

import "context"

// KubernetesWriter is how the Executor changes Kubernetes objects. Every error is an *APIError. An error of a write that is no refusal is
// Uncertain: an answer that was lost, or that the API does not give. Each call has a deadline of its own, which fits its server; the same
// holds for the ports below.
type KubernetesWriter interface {
	PodWriter
	TempestWriter
	QuorumReader
	ClaimWriter

	// SetNodeAnnotation sets the annotation key of exactly the node that has ref's name and UID, provided that the
	// annotation still has the value old (nil: is not set), to new (nil: removes it). A node or a value that is not as
	// expected is ErrConflict. With dryRun the server checks everything and changes nothing.
	SetNodeAnnotation(ctx context.Context, ref Ref, key string, old, new *string, dryRun bool) error
	// NodeAnnotation reads the annotation from the server itself, not from a cache; nil means that it is not set.
	NodeAnnotation(ctx context.Context, ref Ref, key string) (*string, error)

	// Lock reads a workload lock from the server itself. A lock that is not there is ErrNotFound; one of the name with
	// another UID than ref's is ErrConflict, unless ref has none.
	Lock(ctx context.Context, ref Ref) (*WorkloadLock, error)
	// NodeLocks are all NodeWorkloadLocks, from the server itself.
	NodeLocks(ctx context.Context) ([]*WorkloadLock, error)
	// SetLock sets what the lock of ref's name and UID says, provided that its state still is was (empty: not set): anything
	// else is ErrConflict.
	SetLock(ctx context.Context, ref Ref, was LockState, to LockStatus, dryRun bool) error
	// SetInnerState sets the annotation inner_state of a lock, provided that it still is was; empty is not set.
	SetInnerState(ctx context.Context, ref Ref, was, to string, dryRun bool) error
	// CreateLock makes a workload lock, and says in its status at which release it is armed, where it has one. A name that is
	// taken is ErrConflict.
	CreateLock(ctx context.Context, l NewLock, dryRun bool) error

	// Request reads a maintenance request, as Lock reads a lock.
	Request(ctx context.Context, ref Ref) (*MaintenanceRequest, error)
	// CreateRequest makes a maintenance request. A name that is taken is ErrConflict.
	CreateRequest(ctx context.Context, r NewRequest, dryRun bool) error

	// DeletionRequest reads the NodeDeletionRequest of a node that has the name and the UID from the server itself; nil when it is
	// not there any more.
	DeletionRequest(ctx context.Context, name, uid string) (*NodeNotice, error)

	// ControllerDeployment reads the Deployment of the OpenStack controller from the server itself; nil when there is none.
	ControllerDeployment(ctx context.Context) (*Deployment, error)

	// NotReadyPods are the names of the pods in a namespace that are not ready, sorted, of one node unless node is empty;
	// Jobs' pods are left out, as Rockoon does (docs/mosk.md#pods-on-return).
	NotReadyPods(ctx context.Context, namespace, node string) ([]string, error)

	// AddFinalizer puts a finalizer on the request of ref's name and UID. One that it has already, or a request that is being
	// removed, is ErrConflict.
	AddFinalizer(ctx context.Context, ref Ref, finalizer string, dryRun bool) error

	// RemoveFinalizer takes a finalizer off the request of ref's name and UID. One that it does not have is ErrConflict.
	RemoveFinalizer(ctx context.Context, ref Ref, finalizer string, dryRun bool) error

	// Delete deletes exactly the lock or request of ref's kind, name and UID. Its finalizers can keep it for a while.
	Delete(ctx context.Context, ref Ref, dryRun bool) error
}

// ManagementWriter is how the Executor changes objects of the management cluster. Every error is an *APIError.
type ManagementWriter interface {
	// SetMaintenance sets maintenance mode of exactly the Cluster or Machine that has ref's name and UID, provided that the
	// flag still is old (nil: is not set). An object or a flag that is not as expected is ErrConflict. With dryRun the server
	// checks everything and changes nothing.
	SetMaintenance(ctx context.Context, ref Ref, old *bool, on, dryRun bool) error
	// Maintenance reads from the server itself whether maintenance mode is wanted (nil: is not set), and whether it is there.
	Maintenance(ctx context.Context, ref Ref) (wanted *bool, is bool, err error)
	// MachinesInMaintenance are the names of the cluster's machines that are in maintenance mode, or are to be, as the server
	// itself says.
	MachinesInMaintenance(ctx context.Context, cluster Ref) ([]string, error)
	// RequestReboot creates the GracefulRebootRequest of the cluster, provided that there is none; one that is there is
	// ErrConflict. It refuses an empty list, which would mean all machines.
	RequestReboot(ctx context.Context, cluster Ref, machines []string, dryRun bool) error
	// RebootRequest reads the cluster's GracefulRebootRequest; there being none is ErrNotFound.
	RebootRequest(ctx context.Context, cluster Ref) (*RebootRequest, error)
}

// OpenStackWriter is how the Executor changes instances, compute and volume services. Every error is an *APIError, with Nova's
// own words in its Message.
type OpenStackWriter interface {
	VolumeWriter

	// Instance reads one instance from the server itself. An instance that does not exist is ErrNotFound.
	Instance(ctx context.Context, id string) (*Instance, error)
	// InstancesOf reads the whole list of a host's instances from the server itself. Only this list says that a host is
	// empty: a migration's record can say "completed" while the instance is still on its source.
	InstancesOf(ctx context.Context, host string) ([]*Instance, error)
	// MigrationsOf reads the newest migration records of an instance, newest first, with Failure filled in where Nova
	// tells why.
	MigrationsOf(ctx context.Context, instanceID string) ([]*Migration, error)
	// MigrationsOn reads the newest migration records from or to a host from the server itself, newest first.
	MigrationsOn(ctx context.Context, host string) ([]*Migration, error)
	LiveMigrate(ctx context.Context, instanceID string) error
	ColdMigrate(ctx context.Context, instanceID string) error
	ConfirmResize(ctx context.Context, instanceID string) error
	RevertResize(ctx context.Context, instanceID string) error
	Stop(ctx context.Context, instanceID string) error
	Start(ctx context.Context, instanceID string) error
	Resume(ctx context.Context, instanceID string) error
	AbortMigration(ctx context.Context, instanceID string, migrationID int) error
	ForceCompleteMigration(ctx context.Context, instanceID string, migrationID int) error
	// ResetState writes ACTIVE into Nova's record of an instance and clears its task; nothing is done on its host.
	ResetState(ctx context.Context, instanceID string) error
	// Evacuate rebuilds the instance on another host that the scheduler chooses; its own has to be down.
	Evacuate(ctx context.Context, instanceID string) error
	Shelve(ctx context.Context, instanceID string) error
	Unshelve(ctx context.Context, instanceID string) error
	// SetTags replaces all tags of an instance in one call.
	SetTags(ctx context.Context, instanceID string, tags []string) error
	// ComputeService reads the nova-compute service of a host.
	ComputeService(ctx context.Context, host string) (*ComputeService, error)
	// SetComputeService enables the service, or disables it with a reason.
	SetComputeService(ctx context.Context, serviceID string, enabled bool, reason string) error
}

// OperatorLease keeps two operators from acting on one cluster at once. Held and Confirm are asked right before every write.
type OperatorLease interface {
	// Acquire takes the lease, or says in an *APIError (ErrConflict) who holds it. With takeOver it takes it from its
	// holder.
	Acquire(ctx context.Context, takeOver bool) error
	// Held tells whether the lease is ours now, renewed recently enough.
	Held() bool
	// Confirm asks the server whether the lease is still ours. An *APIError of the kind ErrConflict says who has it, and from
	// then on it is not held; another says why the server could not be asked.
	Confirm(ctx context.Context) error
	// Holder is who holds it as last seen, "user@host"; empty when nobody does.
	Holder() string
	// Release gives it back; it is called on every way out.
	Release(ctx context.Context) error
}
