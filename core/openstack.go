package core

import "time"

// OpenStackDeployment is what Lockstep keeps of an OpenStackDeployment: the services that it asks for, and where Nova keeps
// instances' disks. The rest of its spec may hold secrets.
type OpenStackDeployment struct {
	Meta
	Services []string // spec.features.services, in their order
	Network  string   // spec.features.neutron.backend: ml2/ovn, ml2, tungstenfabric; empty where it is not set
	Disks    string   // spec.features.nova.images.backend: ceph, lvm, qcow2, raw, local (qcow2 by its older name); empty where it is not set
	// NodeDisks is the same for single nodes, by "<label>::<value>": spec.nodes.<label>::<value>.features.nova.images.backend.
	NodeDisks map[string]string
}

// Ref names the OpenStackDeployment.
func (d *OpenStackDeployment) Ref() Ref {
	return Ref{Kind: KindOpenStackDeployment, Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}

// OpenStackStatus is an OpenStackDeploymentStatus.
type OpenStackStatus struct {
	Meta
	State             string // status.osdpl.state: APPLYING, APPLIED, WAITING, DELETING, FAILED, or another
	OpenStackVersion  string
	ControllerVersion string
	Release           string
	Health            string // "ready/total", as it stands
	LCMProgress       string // "done/total", as it stands
	Cause             string
	Timestamp         time.Time // status.osdpl.timestamp, UTC; zero when it does not parse
	Services          []OpenStackService
	Unhealthy         []string // "application/component" whose health is not Ready, sorted
}

// OpenStackService is one entry of status.services of an OpenStackDeploymentStatus.
type OpenStackService struct {
	Name    string // the service key: compute, networking, …
	State   string // WAITING, APPLYING, APPLIED, …
	Release string
	Since   time.Time // zero when it does not parse
}

// BackendOVN is the network back end for which the OpenStack controller releases the claims of openvswitch-ovn-db.
const BackendOVN = "ml2/ovn"
