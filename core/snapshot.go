package core

import (
	"sort"
	"strings"
	"time"
)

// Snapshot is everything known at one moment. It is immutable and shared by pointer; its maps and slices must not be
// changed. What is derived from it (phases, views of nodes, attention) is made once, on first use: see Derivation.
type Snapshot struct {
	Facts

	derived derivations
}

// Facts are all that a Snapshot knows. They are only copied as one value, so that no copy lacks a fact: the last check before a write
// looks at a copy with the server's newest answer in it.
type Facts struct {
	Revision uint64    // rises with every snapshot of one Engine
	Stamps   Stamps    // when facts changed last
	Now      time.Time // the cluster's time; timestamps of objects compare with it
	Wall     time.Time // the wall clock's time; times of Sources compare with it

	Cluster string // the cluster's name, as the operator knows it
	// Simulated says that the cluster is a rehearsal's, by the name of the real one: nothing is real. A demo's own names say it by themselves.
	Simulated bool
	Place     ManagementPlace // as it is configured
	Own       ClusterPlace    // what commands must name to reach this cluster and its cloud
	Operator  string          // who runs Lockstep, in one line
	Identity  Identity        // as whom the servers know them, as far as that is known
	Sources   map[SourceID]Source

	Nodes           map[string]*Node                 // by name
	ClusterLocks    []*WorkloadLock                  // by controller, then name
	NodeLocks       ByName[[]*WorkloadLock]          // by node name; each by controller, then name
	ClusterRequests []*MaintenanceRequest            // by name
	NodeRequests    map[string][]*MaintenanceRequest // by node name; each by name
	Deletions       map[string]*NodeNotice           // NodeDeletionRequests by node name
	Disablings      map[string]*NodeNotice           // NodeDisableNotifications by node name
	OpenStack       []*OpenStackStatus               // by namespace and name; usually one
	Controller      *Deployment                      // Rockoon; nil when unknown
	RoleLabels      RoleLabels                       // by which the nodes have their roles
	RoleLabelsFrom  string                           // where they come from, as a clause; empty: the defaults
	Pods            map[string]*NodePods             // by node name; of nodes in maintenance only
	DaemonSets      []*DaemonSet                     // of OpenStack and Tungsten Fabric, by namespace and name
	DaemonRevisions map[string][]*DaemonRevision     // by DaemonSet UID
	DaemonPods      map[string][]*DaemonPod          // by the UID of their DaemonSet or StatefulSet
	StatefulSets    []*StatefulSet                   // of OpenStack and Redis, by namespace and name
	Claims          map[string]*VolumeClaim          // of OpenStack and Redis, by "namespace/name"; where Rockoon is played, as the next
	LocalVolumes    map[string]*PersistentVolume     // by name
	Deployments     []*OpenStackDeployment           // OpenStack as it is wanted, by namespace and name; usually one
	Ceph            []*CephCluster                   // by namespace and name; usually one
	TempestJob      *Job                             // the run of Tempest; nil when there is none
	Services        map[string]*ComputeService       // by host
	Instances       Instances                        // by ID
	ByHost          map[string][]*Instance           // by host; each by name, then ID
	Migrations      map[string][]*Migration          // by instance ID; newest first
	Agents          map[string][]*NetworkAgent       // by host
	Projects        map[string]string                // names by ID
	VolumeServices  map[string][]*VolumeService      // by host, without its back ends; each by back end
	Heard           map[string]time.Time             // when services and agents reported since their facts changed last, by key; see LastHeard
	Unheard         bool                             // it is of a recording, which does not keep Heard
	Volumes         map[string]*HostVolumes          // on hosts' own disks, by host; of hosts that are to be removed only
	Alertmanager    *Alertmanager                    // its alerts and silences; nil when nothing is known of it
	Management      *Management                      // what the management cluster tells; nil when it tells nothing
	History         History                          // what was seen and done before, from the journal
	Notes           []Note                           // of the operators, by the time at which they were written
	Operations      []Operation                      // what Lockstep does and did, newest first
	Write           WriteMode
	Settings        Settings

	MoreStops *StopFinder // finds what stops the update besides the facts that core/step looks at itself; nil: nothing does
}

// CalledCluster is the cluster's name where a person reads what it is: that of a rehearsal says so.
func (f *Facts) CalledCluster() string { return RehearsalOf(f.Cluster, f.Simulated) }

// RehearsalOf is a cluster's name, with a mark where the cluster is simulated.
func RehearsalOf(cluster string, simulated bool) string {
	if simulated {
		return cluster + " (simulated)"
	}
	return cluster
}

// WriteMode says whether Lockstep may change anything now.
type WriteMode struct {
	Armed  bool
	Barred string    // why writing cannot be armed at all ("started with --read-only"); empty when it can
	Since  time.Time // wall time of the last change
	Lease  string    // who holds the operator lease as last seen, "user@host"; empty for nobody or unknown
	Looked bool      // the operator lease has been seen: an empty Lease means nobody
	Mine   bool      // the lease is ours
	Other  Doing     // what the lease's holder does, where that is not us
	Lost   string    // why writing was disarmed without the operator; else empty
}

var nodeNames Derivation[[]string]

// NodeNames are the names of the nodes, in the order of their labels.
func (s *Snapshot) NodeNames() []string {
	return nodeNames.OfFew(s, func(s *Snapshot) []string {
		names := make([]string, 0, len(s.Nodes))
		for name := range s.Nodes {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool {
			a, b := s.Nodes[names[i]], s.Nodes[names[j]]
			if a.Label() != b.Label() {
				return a.Label() < b.Label()
			}
			return a.Name < b.Name
		})
		return names
	})
}

// Label is the name people use for the node called name.
func (s *Snapshot) Label(name string) string {
	if n := s.Nodes[name]; n != nil {
		return n.Label()
	}
	return name
}

// NodeOfHost is the node on which the nova-compute called host runs; nil when there is none. Rockoon compares the part
// before the first dot where the whole names differ.
func (s *Snapshot) NodeOfHost(host string) *Node {
	if n := s.Nodes[host]; n != nil {
		return n
	}
	if short, _, dotted := strings.Cut(host, "."); dotted {
		return s.Nodes[short]
	}
	return nil
}

// HostOf is the name under which OpenStack knows the node; the node's own name unless a service has another.
func (s *Snapshot) HostOf(node string) string {
	if s.Services[node] != nil || len(s.ByHost[node]) > 0 {
		return node
	}
	if host, ok := s.dottedHosts()[node]; ok {
		return host
	}
	return node
}

var dottedHosts Derivation[map[string]string]

// dottedHosts are the hosts whose names have a domain, by the part before the first dot. Made once: a large cluster asks
// for every node of every Snapshot.
func (s *Snapshot) dottedHosts() map[string]string {
	return dottedHosts.Of(s, func(s *Snapshot) map[string]string {
		m := map[string]string{}
		for host := range s.Services {
			short, _, dotted := strings.Cut(host, ".")
			if first, ok := m[short]; dotted && (!ok || host < first) {
				m[short] = host
			}
		}
		return m
	})
}

// InstancesOn are the instances whose host is the node, by name.
func (s *Snapshot) InstancesOn(node string) []*Instance { return s.ByHost[s.HostOf(node)] }

// NodeRequest is the node's maintenance request; nil when there is none. With several, the one that is not being removed.
func (s *Snapshot) NodeRequest(node string) *MaintenanceRequest {
	var found *MaintenanceRequest
	for _, r := range s.NodeRequests[node] {
		if found == nil || !found.Deleting.IsZero() && r.Deleting.IsZero() {
			found = r
		}
	}
	return found
}

// ClusterRequest is the cluster's maintenance request; nil when no update runs.
func (s *Snapshot) ClusterRequest() *MaintenanceRequest {
	var found *MaintenanceRequest
	for _, r := range s.ClusterRequests {
		if found == nil || !found.Deleting.IsZero() && r.Deleting.IsZero() {
			found = r
		}
	}
	return found
}

// NodeLock is the node's lock of the controller; nil when there is none.
func (s *Snapshot) NodeLock(node, controller string) *WorkloadLock {
	for _, l := range s.NodeLocks.At(node) {
		if l.Controller == controller {
			return l
		}
	}
	return nil
}

// ClusterLock is the controller's lock on the cluster; nil when there is none.
func (s *Snapshot) ClusterLock(controller string) *WorkloadLock {
	for _, l := range s.ClusterLocks {
		if l.Controller == controller {
			return l
		}
	}
	return nil
}

// Project is the project's name, or its ID where the name is not known.
func (s *Snapshot) Project(id string) string {
	if name := s.Projects[id]; name != "" {
		return name
	}
	return id
}

// LatestMigration is the newest migration record of the instance; nil when none is known.
func (s *Snapshot) LatestMigration(instanceID string) *Migration {
	if ms := s.Migrations[instanceID]; len(ms) > 0 {
		return ms[0]
	}
	return nil
}
