package core

import (
	"time"
)

// OpenStackDeployment is what Lockstep keeps of an OpenStackDeployment: the services that it asks for, and where Nova keeps
// instances' disks. The rest of its spec can hold what is secret.
type OpenStackDeployment struct {
	Meta
	Services []string // spec.features.services, in their order
	Network  string   // spec.features.neutron.backend: ml2/ovn, ml2, tungstenfabric; empty where it is not set
	Disks    string   // spec.features.nova.images.backend: ceph, lvm, qcow2, raw, local (qcow2 by its older name); empty where it is not set
	// NodeDisks are the same of nodes of their own, spec.nodes.<label>::<value>.features.nova.images.backend: by that key.
	NodeDisks map[string]string
}

// Ref names the OpenStackDeployment.
func (d *OpenStackDeployment) Ref() Ref {
	return Ref{Kind: KindOpenStackDeployment, Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}

// Job is what Lockstep keeps of a Job (batch/v1).
type Job struct {
	Meta
	Active    int // pods that run
	Succeeded int
	Failed    int       // pods that failed
	Started   time.Time // zero while it waits
	Completed time.Time // of one that succeeded
	State     JobState
	Message   string // of a failure
}

// JobState is how a Job goes, by its conditions.
type JobState string

// The states of a Job.
const (
	JobRunning  JobState = "running"
	JobComplete JobState = "complete"
	JobFailed   JobState = "failed"
)

func (c SetTempest) Text() string {
	if c.Add {
		return "add tempest to spec.features.services"
	}
	return "remove tempest from spec.features.services"
}
