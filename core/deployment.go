package core

import "time"

// Deployment is a Kubernetes Deployment that Lockstep looks at: Rockoon's.
type Deployment struct {
	Meta
	Replicas int // spec.replicas
	Existing int // status.replicas: pods that are there, ready or not
	Ready    int // status.readyReplicas
	Image    string
	// RoleLabels is its setting OSCTL_OPENSTACK_NODE_LABELS as it stands; empty when it has none. ReadRoleLabels reads it.
	RoleLabels string
	// AwaySince is since when the condition Available is False: too few replicas are available. Zero while it is True or missing.
	AwaySince time.Time
}
