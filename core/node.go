package core

import (
	"slices"
	"time"
)

// Role is what a node does in the cluster. A node can have several roles, or none.
type Role string

// The roles by which MOSK treats nodes differently (docs/mosk.md#roles), and the label each is read from. The labels of
// controllers, computes and gateways can be configured: see RoleLabels.
const (
	RoleMaster     Role = "master"     // node-role.kubernetes.io/control-plane or …/master
	RoleController Role = "controller" // openstack-control-plane=enabled
	RoleCompute    Role = "compute"    // openstack-compute-node=enabled; the only role whose instances are migrated
	RoleGateway    Role = "gateway"    // openstack-gateway=enabled
	RoleStorage    Role = "storage"    // role=ceph-osd-node
)

// The node annotations that configure instance migration (docs/mosk.md#migration-mode).
const (
	AnnotationMigrationMode     = "openstack.lcm.mirantis.com/instance_migration_mode"
	AnnotationMigrationAttempts = "openstack.lcm.mirantis.com/instance_migration_attempts"
)

// MigrationMode is the value of AnnotationMigrationMode. Rockoon's handler fails on any value but these, so an unknown value is kept
// as written and reported, never mapped to another.
type MigrationMode string

// The modes that Rockoon knows.
const (
	ModeLive   MigrationMode = "live"   // the default: the OpenStack controller live-migrates
	ModeManual MigrationMode = "manual" // the controller waits for the operator
	ModeSkip   MigrationMode = "skip"   // the controller ignores the instances; they go down with the host
)

// Known tells whether Rockoon knows the mode.
func (m MigrationMode) Known() bool { return m == ModeLive || m == ModeManual || m == ModeSkip }

// DefaultMigrationAttempts is how often Rockoon tries to live-migrate one instance when the annotation is not set.
const DefaultMigrationAttempts = 3

// Node is a Kubernetes node of the MOSK cluster.
type Node struct {
	Meta
	ShortName      string            // the Machine's name, from the label kaas.mirantis.com/machine-name; may be empty
	Roles          []Role            // sorted; empty when no label says anything
	Ready          string            // status of the Ready condition: "True", "False", "Unknown", or "" when it is missing
	ReadyReason    string            // the condition's reason
	ReadySince     time.Time         // the condition's lastTransitionTime
	Cordoned       bool              // spec.unschedulable
	CordonedSince  time.Time         // when Kubernetes noticed the cordon, by its taint; zero where that is not known
	Pressure       []string          // what it is short of: DiskPressure, MemoryPressure, PIDPressure
	Labels         map[string]string // without Kubernetes' own
	Annotations    map[string]string // those of the domain openstack.lcm.mirantis.com only
	KubeletVersion string
	BootID         string
	Played         []string // the controllers that Lockstep plays and whose label selector names the node
}

// Label is the name people use for the node: its machine's name if known, else its own.
func (n *Node) Label() string {
	if n.ShortName != "" {
		return n.ShortName
	}
	return n.Name
}

// Alive tells whether the kubelet reports, Ready or not: the machine runs.
func (n *Node) Alive() bool { return n.Ready == "True" || n.Ready == "False" }

// Ref names the node.
func (n *Node) Ref() Ref { return Ref{Kind: KindNode, Name: n.Name, UID: n.UID} }

// Is tells whether the node has the role.
func (n *Node) Is(role Role) bool {
	for _, r := range n.Roles {
		if r == role {
			return true
		}
	}
	return false
}

// RoleGroup is nodes that are counted together in an update.
type RoleGroup int

// The groups, in the order in which they are shown: masters, then by the role of which the OpenStack controller takes the fewest at a time.
const (
	GroupMasters RoleGroup = iota
	GroupControllers
	GroupGateways
	GroupComputes
	GroupStorage
	GroupOthers
)

// Group is the group of the node. A node with several roles is in the first of them.
func (n *Node) Group() RoleGroup {
	for i, role := range [...]Role{RoleMaster, RoleController, RoleGateway, RoleCompute, RoleStorage} {
		if n.Is(role) {
			return RoleGroup(i)
		}
	}
	return GroupOthers
}

// Annotation is the value of one annotation; nil when it is not set.
func (n *Node) Annotation(key string) *string {
	if v, ok := n.Annotations[key]; ok {
		return &v
	}
	return nil
}

// HasOpenStackRole tells whether the node has a role for which the OpenStack controller keeps a lock.
func (n *Node) HasOpenStackRole() bool { return slices.ContainsFunc(OpenStackRoles(), n.Is) }
