package core

import (
	"time"
)

// The objects of the management cluster (docs/mosk.md#management-objects). Many of their fields are known from public types of older
// versions only: an object without one of them is valid, and an unknown value is shown as written.

// Condition is a condition of a Cluster or a Machine. These have no time.
type Condition struct {
	Type    string
	Ready   bool
	Message string
}

// ManagedCluster is a Cluster (docs/mosk.md#cluster-and-machine).
type ManagedCluster struct {
	Meta
	Target        string // spec: name of the ClusterRelease that is wanted
	Maintenance   *bool  // spec: maintenance mode is wanted; nil when the field is not there
	InMaintenance bool   // status: it is in maintenance mode
	Ready         bool
	ReadyKnown    bool // the status says whether it is ready
	Conditions    []Condition
	Release       string           // name of the current ClusterRelease
	Available     []OfferedRelease // that it can be updated to
	Requested     int              // nodes
	ReadyNodes    int
	Manages       string // spec: name of the KaaSRelease, of the management cluster's own Cluster only; empty for every other
}

// OfferedRelease is a release that a Cluster can be updated to. In some releases of MOSK it may lack its name.
type OfferedRelease struct {
	Name    string // of the ClusterRelease: "mosk-21-0-0-25-2"
	Version string // "21.0.0"
	Reboot  bool   // it says that hosts are rebooted
}

// Offered is the release of that name, if the Cluster can be updated to it.
func (c *ManagedCluster) Offered(name string) (OfferedRelease, bool) {
	for _, o := range c.Available {
		if o.Name == name && name != "" {
			return o, true
		}
	}
	return OfferedRelease{}, false
}

// Ref names the object.
func (c *ManagedCluster) Ref() Ref {
	return Ref{Kind: KindCluster, Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// Wanted tells whether maintenance mode is wanted.
func (c *ManagedCluster) Wanted() bool { return c.Maintenance != nil && *c.Maintenance }

// ManagedMachine is a Machine (docs/mosk.md#cluster-and-machine).
type ManagedMachine struct {
	Meta
	Cluster       string // the label cluster.sigs.k8s.io/cluster-name
	Node          string // status.nodeRef.name; empty before it is a node
	Control       bool   // it has the label of the control plane
	Group         string // the label kaas.mirantis.com/update-group; empty for the default group
	UpgradeIndex  int    // 0 when none is set
	IndexAsked    *int   // spec: the upgrade index that somebody has set; nil when the field is not there
	Status        string // as it stands
	Ready         bool
	ReadyKnown    bool  // the status says whether it is ready
	Maintenance   *bool // spec: maintenance mode is wanted; nil when the field is not there
	InMaintenance bool  // status: it is in maintenance mode
	Reboot        bool  // what was installed needs a reboot
	RebootReason  string
	Conditions    []Condition
}

// Ref names the machine.
func (m *ManagedMachine) Ref() Ref {
	return Ref{Kind: KindMachine, Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

// Wanted tells whether maintenance mode is wanted.
func (m *ManagedMachine) Wanted() bool { return m.Maintenance != nil && *m.Maintenance }

// LCMCluster is an LCMCluster (docs/mosk.md#lcmcluster).
type LCMCluster struct {
	Meta
	Stuck        bool   // status.lcmOperationStuck; when that is missing, whether there is a message
	StuckMessage string // status.lcmOperationStuckMessage
	Requested    int    // nodes
	ReadyNodes   int
}

// Ref names the object.
func (c *LCMCluster) Ref() Ref {
	return Ref{Kind: KindLCMCluster, Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// States of an LCMMachine (docs/mosk.md#lcmmachine).
const (
	LCMPrepare     = "Prepare"
	LCMDeploy      = "Deploy"
	LCMUpgrade     = "Upgrade"
	LCMReconfigure = "Reconfigure"
	LCMReady       = "Ready"
	LCMReboot      = "Reboot"
)

// Values of kubernetesCordonDrain and swarmCordonDrain.
const (
	CordonDraining = "cordondraining"
	CordonDrained  = "cordondrained"
	Uncordoning    = "uncordoning"
)

// LCMMachine is an LCMMachine: what the LCM agent of a machine does (docs/mosk.md#lcmmachine).
type LCMMachine struct {
	Meta
	Cluster      string      // spec.clusterName
	Kind         string      // spec.type: control, worker, …
	Hostname     string      // the address of type Hostname: the node's name
	State        string      // one of the states of LCMMachine, or another
	Release      string      // status.release
	AgentVersion string      // of the LCM agent
	AgentError   string      // why the agent could not be upgraded
	Items        []StateItem // in the order of the spec; items only in the status come last, by name
	Drain        string      // kubernetesCordonDrain
	DrainError   string
	SwarmDrain   string
	SwarmError   string
	Maintenance  bool // status
	Graceful     bool // a graceful reboot is requested
	RebootAsked  time.Time
	RebootDone   bool // the reboot that was asked for is complete
	RebootError  string
	HostReboot   bool // hostInfo.rebootRequired
}

// Ref names the object.
func (m *LCMMachine) Ref() Ref {
	return Ref{Kind: KindLCMMachine, Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

// StateItem is one item that the LCM agent runs on its machine, and how its last run went.
type StateItem struct {
	Name     string
	Phase    string // prepare, deploy or reconfigure; empty when the spec does not have the item
	Runner   string
	ExitCode int
	Message  string
	Attempt  int
	Started  time.Time
	Finished time.Time
}

// Running tells whether the item runs: it began, and has not ended since.
func (i StateItem) Running() bool { return !i.Started.IsZero() && i.Finished.Before(i.Started) }

// Failing tells whether the item's last run failed. It may run again now.
func (i StateItem) Failing() bool { return i.ExitCode != 0 }

// DrainState is an LCMClusterState that asks to drain a machine, or to undo that (docs/mosk.md#lcmclusterstate).
type DrainState struct {
	Meta
	Cluster string // spec.clusterName
	Type    string // cordon-drain, swarm-drain, or another
	Machine string // spec.arg: the machine, or its node
	Wanted  string // spec.value: "true" or "false"
	Value   string // status.value
	Message string // why it is not done yet
	Attempt int
	Reason  string // maintenance or upgrade
}

// DrainKubernetes is the type of the DrainState for a node's pods.
const DrainKubernetes = "cordon-drain"

// Pending tells whether the drain is wanted and not done, and says why.
func (d *DrainState) Pending() bool {
	return d.Wanted == "true" && d.Value != "true" && d.Message != ""
}

// LabelUpdateGroup is the label of a Machine that names its update group (docs/mosk.md#update-groups).
const LabelUpdateGroup = "kaas.mirantis.com/update-group"

// MachineGroup is an UpdateGroup (docs/mosk.md#update-groups).
type MachineGroup struct {
	Meta
	Cluster    string // the label cluster.sigs.k8s.io/cluster-name
	Index      int    // groups of one index are updated together, the lowest first
	Concurrent int    // machines at a time at most; 0 when none is set
	Reboot     bool   // machines are rebooted where the update requires it
}

// Ref names the group.
func (g *MachineGroup) Ref() Ref {
	return Ref{Kind: KindUpdateGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID}
}

// Settings are what the group says.
func (g *MachineGroup) Settings() GroupSettings {
	return GroupSettings{Index: g.Index, Concurrent: g.Concurrent, Reboot: g.Reboot}
}

// With is the group with other settings.
func (g *MachineGroup) With(to GroupSettings) *MachineGroup {
	own := *g
	own.Index, own.Concurrent, own.Reboot = to.Index, to.Concurrent, to.Reboot
	return &own
}

// GroupSettings are what an UpdateGroup says of its machines.
type GroupSettings struct {
	Index      int  `json:"index,omitempty"`
	Concurrent int  `json:"concurrent,omitempty"`
	Reboot     bool `json:"reboot,omitempty"`
}

// AutoPause is an UpdateAutoPause (docs/mosk.md#automatic-pause).
type AutoPause struct {
	Meta
	Alerts []string // alerts that pause the update
	Firing []string // alerts of these that fire now
	Error  string
}

// Ref names the object.
func (p *AutoPause) Ref() Ref {
	return Ref{Kind: KindAutoPause, Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

// RebootRequest is a GracefulRebootRequest (docs/mosk.md#graceful-reboot): each machine is cordoned, drained, rebooted and uncordoned, in
// the order of an update.
type RebootRequest struct {
	Meta
	Machines []string // none means all
}

// Ref names the request.
func (r *RebootRequest) Ref() Ref {
	return Ref{Kind: KindRebootRequest, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}
