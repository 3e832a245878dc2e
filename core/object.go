package core

import (
	"time"
)

// Kind names a kind of object, by its own API's word.
type Kind string

// The kinds that Lockstep knows.
const (
	KindNode                      Kind = "Node"
	KindClusterWorkloadLock       Kind = "ClusterWorkloadLock"
	KindNodeWorkloadLock          Kind = "NodeWorkloadLock"
	KindClusterMaintenanceRequest Kind = "ClusterMaintenanceRequest"
	KindNodeMaintenanceRequest    Kind = "NodeMaintenanceRequest"
	KindNodeDeletionRequest       Kind = "NodeDeletionRequest"
	KindNodeDisableNotification   Kind = "NodeDisableNotification"
	KindOpenStackDeploymentStatus Kind = "OpenStackDeploymentStatus"
	KindCephCluster               Kind = "CephCluster" // Rook's
	KindDeployment                Kind = "Deployment"
	KindDaemonSet                 Kind = "DaemonSet"
	KindPod                       Kind = "Pod"
	KindJob                       Kind = "Job"
	KindOpenStackDeployment       Kind = "OpenStackDeployment"
	KindInstance                  Kind = "Instance"
	KindComputeService            Kind = "ComputeService"
	KindVolumeService             Kind = "VolumeService"
	KindCinderVolume              Kind = "Volume"
	KindVolumeClaim               Kind = "PersistentVolumeClaim"
	KindMigration                 Kind = "Migration"
	KindCluster                   Kind = "Cluster" // the MOSK cluster as a whole; with a namespace, the management cluster's object for it
	KindMachine                   Kind = "Machine"
	KindLCMCluster                Kind = "LCMCluster"
	KindLCMMachine                Kind = "LCMMachine"
	KindUpdatePlan                Kind = "ClusterUpdatePlan"
	KindAutoPause                 Kind = "UpdateAutoPause"
	KindRebootRequest             Kind = "GracefulRebootRequest"
	KindUpdateGroup               Kind = "UpdateGroup"
	KindSilence                   Kind = "Silence" // of Alertmanager
	KindAlertmanager              Kind = "Alertmanager"
	KindSource                    Kind = "Source" // one of Lockstep's own sources of facts
)

// Ref names exactly one object. People read the Name; a write checks the UID: a node that was deleted and created again under its
// old name is another object. For OpenStack objects the UID is the API's ID.
type Ref struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String is "Kind name", with the namespace where there is one.
func (r Ref) String() string {
	if r.Namespace != "" {
		return string(r.Kind) + " " + r.Namespace + "/" + r.Name
	}
	return string(r.Kind) + " " + r.Name
}

// Meta is what Lockstep keeps of a Kubernetes object's metadata.
type Meta struct {
	Name            string
	Namespace       string // empty for cluster-scoped objects
	UID             string
	ResourceVersion string
	Created         time.Time
	Deleting        time.Time // metadata.deletionTimestamp; zero while nobody has asked for deletion
	Finalizers      []string
}

// Object is a fact in a Delta: one API object, translated. An Object is immutable once it is given to Engine.Apply.
type Object interface {
	// Key is unique among the objects of one Source: the UID or ID, or the name where the API has none.
	Key() string
}

// Key implements Object: the object's namespace and name, by which the API reports deletions.
func (m *Meta) Key() string {
	if m.Namespace != "" {
		return m.Namespace + "/" + m.Name
	}
	return m.Name
}

// ShortID is the beginning of an ID, by which people tell objects apart.
func ShortID(id string) string {
	if r := []rune(id); len(r) > 8 {
		return string(r[:8])
	}
	return id
}
