package engine

import (
	"context"
	"fmt"

	"lockstep/core"
	"lockstep/core/internal/permit"
)

// Permit is the right to make one write. Only the gate makes one, right before the write, for a change under a grant that it has let
// through. It is good for this one change, once, until the answer is there. The zero Permit permits nothing.
type Permit = permit.Permit

// ChangeWriter is the port through which everything is written: each server that Lockstep writes to has one.
type ChangeWriter interface {
	// Write makes the change. It takes the Permit for it first (TakePermit): without a good one nothing is sent. A change that is none
	// on this server is ErrInvalid. Every error is an *APIError. An error that is no refusal is Uncertain: an answer that was lost, or
	// that the API does not give. Each call has a deadline of its own, which fits its server; the same holds for the ports below.
	Write(ctx context.Context, p Permit, c core.Change) error
}

// TakePermit is how an adapter takes the Permit for a change that it was given to write. The error of a Permit that is empty, used,
// ended or for another change is an *APIError that is no Uncertain one.
func TakePermit(p Permit, c core.Change, server core.Server) error {
	err := p.Use(c)
	if err == nil {
		return nil
	}
	return &core.APIError{Kind: core.ErrInvalid, Server: server, Call: "write", Message: "nothing was sent: " + err.Error(), Err: err}
}

// NoSuchChange is the error of an adapter that does not know a change.
func NoSuchChange(c core.Change, server core.Server) error {
	return &core.APIError{Kind: core.ErrInvalid, Server: server, Call: "write",
		Message: fmt.Sprintf("nothing was sent: a %T is no change there", c)}
}

// Writers are the servers' writers. One that is nil is not written to.
type Writers struct {
	Kubernetes ChangeWriter // nodes, locks, requests, pods, claims, the OpenStackDeployment
	OpenStack  ChangeWriter // instances, compute and volume services
	Management ChangeWriter // objects of the management cluster
}

// DryRunner has a server try changes.
type DryRunner interface {
	// DryRun has the server check everything about the change, and changes nothing. Every error is an *APIError.
	DryRun(ctx context.Context, c core.Change) error
}

// KubernetesChecker is what the engine asks of the MOSK cluster before a write, and after it. All of it is read from the server itself,
// not from a cache. Every error is an *APIError.
type KubernetesChecker interface {
	DryRunner

	// NodeAnnotation reads the annotation of exactly the node that has ref's name and UID; nil means that it is not set. A node that
	// is not as expected is ErrConflict.
	NodeAnnotation(ctx context.Context, ref core.Ref, key string) (*string, error)

	// Lock reads a workload lock. A lock that is not there is ErrNotFound; one of the name with another UID than ref's is ErrConflict,
	// unless ref has none.
	Lock(ctx context.Context, ref core.Ref) (*core.WorkloadLock, error)
	// NodeLocks are all NodeWorkloadLocks.
	NodeLocks(ctx context.Context) ([]*core.WorkloadLock, error)

	// Request reads a maintenance request, as Lock reads a lock.
	Request(ctx context.Context, ref core.Ref) (*core.MaintenanceRequest, error)

	// DeletionRequest reads the NodeDeletionRequest of a node that has the name and the UID; nil when it is not there any more.
	DeletionRequest(ctx context.Context, name, uid string) (*core.NodeNotice, error)

	// ControllerDeployment reads the Deployment of the OpenStack controller; nil when there is none.
	ControllerDeployment(ctx context.Context) (*core.Deployment, error)

	// NotReadyPods are the names of the pods in a namespace that are not ready, sorted, of one node unless node is empty;
	// Jobs' pods are left out, as Rockoon does (docs/mosk.md#pods-on-return).
	NotReadyPods(ctx context.Context, namespace, node string) ([]string, error)
	// DaemonPods reads the pods of a DaemonSet, by the DaemonSet's own label selector.
	DaemonPods(ctx context.Context, set core.Ref, selector string) ([]*core.DaemonPod, error)
	// Pod reads a pod, whatever phase it is in; nil when there is none of the name.
	Pod(ctx context.Context, namespace, name string) (*core.EndedPod, error)
	// StatefulSet reads a StatefulSet and its pods by their names; nil when there is none of the name.
	StatefulSet(ctx context.Context, namespace, name string) (*core.StatefulSet, []*core.DaemonPod, error)

	// VolumeClaims reads the volume claims in a namespace.
	VolumeClaims(ctx context.Context, namespace string) ([]*core.VolumeClaim, error)
	// PersistentVolume reads a volume by its name; nil when there is none of the name.
	PersistentVolume(ctx context.Context, name string) (*core.PersistentVolume, error)

	// OpenStackServices reads spec.features.services of exactly the OpenStackDeployment that has ref's name and UID.
	OpenStackServices(ctx context.Context, ref core.Ref) ([]string, error)
}

// ManagementChecker is what the engine asks of the management cluster before a write, and after it. Every error is an *APIError.
type ManagementChecker interface {
	DryRunner

	// Maintenance reads from the server itself whether maintenance mode is wanted (nil: is not set), and whether it is there.
	Maintenance(ctx context.Context, ref core.Ref) (wanted *bool, is bool, err error)
	// MachinesInMaintenance are the names of the cluster's machines that are in maintenance mode, or are to be, as the server
	// itself says.
	MachinesInMaintenance(ctx context.Context, cluster core.Ref) ([]string, error)
	// RebootRequest reads the cluster's GracefulRebootRequest; there being none is ErrNotFound.
	RebootRequest(ctx context.Context, cluster core.Ref) (*core.RebootRequest, error)
}

// OpenStackChecker is what the engine asks of Nova and Cinder before a write, and after it. All of it is read from the server itself.
// Every error is an *APIError, with the server's own words in its Message. OpenStack has no dry-run.
type OpenStackChecker interface {
	// Instance reads one instance. An instance that does not exist is ErrNotFound.
	Instance(ctx context.Context, id string) (*core.Instance, error)
	// InstancesOf reads the whole list of a host's instances. Only this list says that a host is empty: a migration's record can say
	// "completed" while the instance is still on its source.
	InstancesOf(ctx context.Context, host string) ([]*core.Instance, error)
	// MigrationsOf reads the newest migration records of an instance, newest first, with Failure filled in where Nova
	// tells why.
	MigrationsOf(ctx context.Context, instanceID string) ([]*core.Migration, error)
	// MigrationsOn reads the newest migration records from or to a host, newest first.
	MigrationsOn(ctx context.Context, host string) ([]*core.Migration, error)
	// ComputeService reads the nova-compute service of a host.
	ComputeService(ctx context.Context, host string) (*core.ComputeService, error)
	// VolumeServices reads the cinder-volume services of a host, which is named without a back end; there are none in a cloud without
	// Cinder.
	VolumeServices(ctx context.Context, host string) ([]*core.VolumeService, error)
	// VolumesOf reads the volumes on a host's own disks; the host is named without a back end. A cloud without Cinder is
	// ErrUnsupported.
	VolumesOf(ctx context.Context, host string) ([]core.Volume, error)
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
