package engine

import (
	"context"
	"fmt"

	"lockstep/core"
	"lockstep/core/internal/permit"
)

// Permit is the right to make one write. Only the gate makes one, right before the write, for a change under a grant that it has let
// through. It is good for this one change, once, until the answer has come. The zero Permit permits nothing.
type Permit = permit.Permit

// ChangeWriter is the port for writes to one server. Each server that Lockstep writes to has one.
type ChangeWriter interface {
	// Write makes the change. It takes the Permit first (TakePermit), and sends nothing without a good one. A change that this server
	// does not have is ErrInvalid. Every error is an *APIError. An error that is not a refusal is Uncertain: the answer was lost, or
	// the API gives none. Each call has a deadline that fits its server, as in the ports below.
	Write(ctx context.Context, p Permit, c core.Change) error
}

// TakePermit uses up the Permit for a change that an adapter is about to write. For a Permit that is empty, used, ended or for another
// change it returns an *APIError that is not Uncertain.
func TakePermit(p Permit, c core.Change, server core.Server) error {
	err := p.Use(c)
	if err == nil {
		return nil
	}
	return &core.APIError{Kind: core.ErrInvalid, Server: server, Call: "write", Message: "nothing was sent: " + err.Error(), Err: err}
}

// NoSuchChange is the error of an adapter for a change that it does not know.
func NoSuchChange(c core.Change, server core.Server) error {
	return &core.APIError{Kind: core.ErrInvalid, Server: server, Call: "write",
		Message: fmt.Sprintf("nothing was sent: this server has no change of type %T", c)}
}

// Writers are the ports for writes, by server. Nothing is written to a server whose writer is nil.
type Writers struct {
	Kubernetes ChangeWriter // nodes, locks, requests, pods, claims, the OpenStackDeployment
	OpenStack  ChangeWriter // instances, compute and volume services
	Management ChangeWriter // objects of the management cluster
	Alerts     ChangeWriter // silences in Alertmanager
}

// DryRunner is the port of a server that can try changes.
type DryRunner interface {
	// DryRun has the server check the whole change without making it. Every error is an *APIError.
	DryRun(ctx context.Context, c core.Change) error
}

// KubernetesChecker is what the engine asks the MOSK cluster before and after a write. Every method reads from the server, not from a
// cache. Every error is an *APIError.
type KubernetesChecker interface {
	DryRunner

	// NodeAnnotation reads an annotation of the node with ref's name and UID; nil means that it is not set. A node with another UID is
	// ErrConflict, one that does not exist ErrNotFound.
	NodeAnnotation(ctx context.Context, ref core.Ref, key string) (*string, error)

	// Node reads the node with ref's name and UID, with the errors of NodeAnnotation.
	Node(ctx context.Context, ref core.Ref) (*core.Node, error)

	// Lock reads a workload lock. A lock that does not exist is ErrNotFound. A lock with another UID than ref's is ErrConflict, unless
	// ref has none.
	Lock(ctx context.Context, ref core.Ref) (*core.WorkloadLock, error)
	// NodeLocks reads all NodeWorkloadLocks.
	NodeLocks(ctx context.Context) ([]*core.WorkloadLock, error)

	// Request reads a maintenance request, as Lock reads a lock.
	Request(ctx context.Context, ref core.Ref) (*core.MaintenanceRequest, error)
	// Requests reads all maintenance requests, those of the cluster and those of nodes.
	Requests(ctx context.Context) ([]*core.MaintenanceRequest, error)

	// DeletionRequest reads the NodeDeletionRequest with the name and the UID; nil when it does not exist any more.
	DeletionRequest(ctx context.Context, name, uid string) (*core.NodeNotice, error)

	// ControllerDeployment reads the Deployment of the OpenStack controller; nil when there is none.
	ControllerDeployment(ctx context.Context) (*core.Deployment, error)

	// NotReadyPods reads the names of the pods in a namespace that are not ready, sorted; those on one node, unless node is empty. It
	// leaves out pods of Jobs, as the OpenStack controller does (docs/mosk.md#pods-on-return).
	NotReadyPods(ctx context.Context, namespace, node string) ([]string, error)
	// DaemonPods reads the pods of a DaemonSet by its label selector.
	DaemonPods(ctx context.Context, set core.Ref, selector string) ([]*core.DaemonPod, error)
	// Pod reads a pod in any phase; nil when it does not exist.
	Pod(ctx context.Context, namespace, name string) (*core.EndedPod, error)
	// StatefulSet reads a StatefulSet and its pods; nil when it does not exist.
	StatefulSet(ctx context.Context, namespace, name string) (*core.StatefulSet, []*core.DaemonPod, error)

	// VolumeClaims reads the volume claims in a namespace.
	VolumeClaims(ctx context.Context, namespace string) ([]*core.VolumeClaim, error)
	// PersistentVolume reads a volume by its name; nil when it does not exist.
	PersistentVolume(ctx context.Context, name string) (*core.PersistentVolume, error)

	// OpenStackServices reads spec.features.services of the OpenStackDeployment with ref's name and UID.
	OpenStackServices(ctx context.Context, ref core.Ref) ([]string, error)
}

// ManagementChecker is what the engine asks the management cluster before and after a write. Every method reads from the server. Every
// error is an *APIError.
type ManagementChecker interface {
	DryRunner

	// Maintenance reads whether maintenance mode of a Cluster or Machine is wanted (nil: not set), and whether it is in force.
	Maintenance(ctx context.Context, ref core.Ref) (wanted *bool, is bool, err error)
	// MachinesInMaintenance reads the names of the cluster's machines that are in maintenance mode, or are wanted in it.
	MachinesInMaintenance(ctx context.Context, cluster core.Ref) ([]string, error)
	// MachinesInGroup reads the names of the cluster's machines whose label names the update group.
	MachinesInGroup(ctx context.Context, cluster core.Ref, group string) ([]string, error)
	// RebootRequest reads the cluster's GracefulRebootRequest; ErrNotFound when there is none.
	RebootRequest(ctx context.Context, cluster core.Ref) (*core.RebootRequest, error)
	// Object reads an object by which an update is driven, by its kind, namespace, name and, where ref has one, UID: a *ManagedCluster,
	// an *UpdatePlan, an *AutoPause. One that does not exist, or whose kind the server does not know, is ErrNotFound; one with another
	// UID is ErrConflict.
	Object(ctx context.Context, ref core.Ref) (core.Object, error)
}

// AlertChecker is what the engine asks Alertmanager before and after a write. Every error is an *APIError. Alertmanager has no dry-run.
type AlertChecker interface {
	// Silences reads those that have not expired.
	Silences(ctx context.Context) ([]core.Silence, error)
	// Silence reads one, expired or not. One that does not exist is ErrNotFound.
	Silence(ctx context.Context, id string) (core.Silence, error)
}

// OpenStackChecker is what the engine asks Nova and Cinder before and after a write. Every method reads from the server. Every error is
// an *APIError, with the server's own words in its Message. OpenStack has no dry-run.
type OpenStackChecker interface {
	// Instance reads one instance. An instance that does not exist is ErrNotFound.
	Instance(ctx context.Context, id string) (*core.Instance, error)
	// InstancesOf reads the whole list of a host's instances. Only this list proves that a host is empty: a migration's record can say
	// "completed" while the instance is still on its source.
	InstancesOf(ctx context.Context, host string) ([]*core.Instance, error)
	// MigrationsOf reads the newest migration records of an instance, newest first, with Failure filled in where Nova
	// tells why.
	MigrationsOf(ctx context.Context, instanceID string) ([]*core.Migration, error)
	// MigrationsOn reads the newest migration records from or to a host, newest first.
	MigrationsOn(ctx context.Context, host string) ([]*core.Migration, error)
	// ComputeService reads the nova-compute service of a host.
	ComputeService(ctx context.Context, host string) (*core.ComputeService, error)
	// VolumeServices reads the cinder-volume services of a host, whose name is given without a back end. A cloud without Cinder has
	// none.
	VolumeServices(ctx context.Context, host string) ([]*core.VolumeService, error)
	// VolumesOf reads the volumes on a host's own disks; the host's name is given without a back end. A cloud without Cinder is
	// ErrUnsupported.
	VolumesOf(ctx context.Context, host string) ([]core.Volume, error)
}

// OperatorLease keeps two operators from writing to one cluster at once. The gate asks Held and Confirm right before every write.
type OperatorLease interface {
	// Acquire takes the lease, or says in an *APIError (ErrConflict) who holds it. It takes it from a holder who is from, as Holder tells
	// of one; empty: from nobody.
	Acquire(ctx context.Context, from string) error
	// Held tells whether the lease is ours now, and was renewed recently enough.
	Held() bool
	// Confirm asks the server whether the lease is still ours. An *APIError of the kind ErrConflict says who holds it, and from then on
	// Held is false; any other says why the server could not be asked.
	Confirm(ctx context.Context) error
	// Holder is the holder as last seen, "user@host"; empty when nobody holds it.
	Holder() string
	// Looked tells whether the lease has been looked up: until then, and where the login may not read it, nobody knows who holds it.
	Looked() bool
	// Does is what the holder does, as last seen; not said where nobody holds it, it is ours, or the holder does not say.
	Does() core.Doing
	// Tell says what we do, to those who look at the lease while it is ours. It does not wait: what is new is written some seconds later.
	Tell(core.Doing)
	// LookNow has the lease looked up at once. It does not wait: Holder and Does tell what came.
	LookNow()
	// Release gives the lease back. It is called whenever writing ends.
	Release(ctx context.Context) error
}
