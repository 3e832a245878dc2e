package scenario

import (
	"cmp"
	"slices"
	"time"
)

// Format is the version of the file format that this program writes, and the newest that it reads. A file without a
// format has version 1.
const Format = 1

// Found is the state of a live cloud, recorded by `lockstep snapshot`: everything that update, history and the roles of
// nodes do not say. A scenario with it starts exactly in that state, instead of where its history leads: the time from
// an event to the look becomes the time from the event to the start. Node names in it are machine names, as everywhere
// in a scenario.
type Found struct {
	At           Moment    `json:"at"`           // of the look
	From         string    `json:"from"`         // the API server that was asked; empty in a pseudonymous file
	By           string    `json:"by"`           // the version of the program that looked
	Pseudonymous bool      `json:"pseudonymous"` // names and IDs are not the real ones
	Missing      []Missing `json:"missing"`      // what could not be read
	Assumed      []Assumed `json:"assumed"`      // filled in because the cloud did not show it

	Controller FoundController  `json:"controller"`
	Deployment *FoundDeployment `json:"deployment"` // the OpenStackDeploymentStatus; nil if there was none
	Overcommit Overcommit       `json:"overcommit"`

	ClusterRequests []FoundRequest `json:"clusterRequests"` // ClusterMaintenanceRequests
	NodeRequests    []FoundRequest `json:"nodeRequests"`    // NodeMaintenanceRequests
	Deletions       []FoundNotice  `json:"deletions"`       // NodeDeletionRequests
	Disablings      []FoundNotice  `json:"disablings"`      // NodeDisableNotifications
	ClusterLocks    []FoundLock    `json:"clusterLocks"`
	NodeLocks       []FoundLock    `json:"nodeLocks"`

	StatefulSets []FoundSet       `json:"statefulSets"` // of OpenStack and Redis; none: the simulation's
	DaemonSets   []FoundDaemonSet `json:"daemonSets"`   // of OpenStack and Tungsten Fabric

	UpdateGroups []FoundUpdateGroup `json:"updateGroups"`
	Plans        []FoundPlan        `json:"plans"`

	Aggregates   []FoundAggregate `json:"aggregates"`
	ServerGroups []FoundGroup     `json:"serverGroups"`

	VolumeServices []FoundVolumeService `json:"volumeServices"` // cinder-volume

	Projects []FoundProject `json:"projects"`
}

// Missing says what could not be read, and why.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Assumed is a field of the scenario that was filled in, and why.
type Assumed struct {
	Field string `json:"field"` // for example release.to
	Why   string `json:"why"`
	// Names is the end of Why with names from the cloud, which a pseudonymous file must not contain.
	Names string `json:"-"`
}

// FoundController is the OpenStack controller's Deployment.
type FoundController struct {
	Release  string `json:"release"`  // OSCTL_CLUSTER_RELEASE; empty: there was no controller
	Version  string `json:"version"`  // tag of its image
	Replicas int    `json:"replicas"` // wanted
	Ready    int    `json:"ready"`
}

// FoundDeployment is an OpenStackDeploymentStatus; its name and version are the scenario's.
type FoundDeployment struct {
	State     string         `json:"state"` // APPLYING, APPLIED, …
	Release   string         `json:"release"`
	Version   string         `json:"version"` // of the controller that wrote it
	Health    string         `json:"health"`  // ready/total
	Progress  string         `json:"progress"`
	Cause     string         `json:"cause"`
	Since     Moment         `json:"since"` // its timestamp
	Services  []FoundService `json:"services"`
	Unhealthy []string       `json:"unhealthy"` // application/component
}

// FoundService is one OpenStack service of the deployment.
type FoundService struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Release string `json:"release"`
	Since   Moment `json:"since"`
}

// Overcommit is a host's allocation ratios; 0: the simulation's.
type Overcommit struct {
	VCPUs  float64 `json:"vcpus"`
	Memory float64 `json:"memory"`
	Disk   float64 `json:"disk"`
}

// FoundRequest is a maintenance request.
type FoundRequest struct {
	Name       string   `json:"name"`
	Node       string   `json:"node"`
	Release    string   `json:"release"`
	Scope      string   `json:"scope"`
	Created    Moment   `json:"created"`
	Deleted    Moment   `json:"deleted"`    // when its deletion was requested
	Finalizers []string `json:"finalizers"` // who holds a deleted one
}

// FoundNotice is an object with one statement about one node.
type FoundNotice struct {
	Name    string `json:"name"`
	Node    string `json:"node"`
	Created Moment `json:"created"`
}

// FoundLock is a workload lock of any owner.
type FoundLock struct {
	Name       string `json:"name"`
	Controller string `json:"controller"`
	Node       string `json:"node"`  // of a NodeWorkloadLock
	State      string `json:"state"` // active, inactive, failed; empty: it has no status
	Release    string `json:"release"`
	Inner      string `json:"inner"`    // the annotation inner_state
	Message    string `json:"message"`  // its errorMessage without the time at its beginning
	Said       Moment `json:"said"`     // that time
	Progress   string `json:"progress"` // inactivationProgress
	Percentage int    `json:"percentage"`
	Deletion   bool   `json:"deletion"` // nodeDeletionRequestSupported
	Created    Moment `json:"created"`
}

// FoundUpdateGroup is an UpdateGroup of the management cluster.
type FoundUpdateGroup struct {
	Name        string `json:"name"`
	Index       int    `json:"index"`
	Concurrency int    `json:"concurrency"`
	Reboot      bool   `json:"reboot"`
}

// FoundPlan is a ClusterUpdatePlan of the management cluster.
type FoundPlan struct {
	Name      string      `json:"name"`
	Source    string      `json:"source"`
	Target    string      `json:"target"`
	Status    string      `json:"status"`
	Started   Moment      `json:"started"`
	Completed Moment      `json:"completed"`
	Steps     []FoundStep `json:"steps"`
}

// FoundStep is one step of a plan.
type FoundStep struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Commence bool   `json:"commence"`
	Estimate string `json:"estimate"`
	Status   string `json:"status"`
	Message  string `json:"message"`
	Started  Moment `json:"started"`
	Took     string `json:"took"`
}

// FoundAggregate is a host aggregate.
type FoundAggregate struct {
	Name  string   `json:"name"`
	ID    int      `json:"id"`
	Zone  string   `json:"zone"` // empty: none
	Nodes []string `json:"nodes"`
}

// FoundGroup is a server group.
type FoundGroup struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Project string `json:"project"` // name or ID
	Policy  string `json:"policy"`
}

// FoundProject is a project with its ID.
type FoundProject struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// FoundNode is what Found adds to a node.
type FoundNode struct {
	Kubelet     string `json:"kubelet"`     // version; empty: kubelet.from
	Ready       string `json:"ready"`       // status of the Ready condition; empty: True
	ReadyReason string `json:"readyReason"` // of a node that is not Ready
	ReadySince  Moment `json:"readySince"`  // when the condition last changed
	Cordoned    bool   `json:"cordoned"`
	Created     Moment `json:"created"`
	MemoryMiB   int    `json:"memoryMiB"` // instead of memoryGiB, if that is not whole

	Group string `json:"group"` // its update group
	Index int    `json:"index"` // its upgrade index

	NoService      bool   `json:"noService"` // a compute by its label that Nova does not know
	Disabled       bool   `json:"disabled"`  // nova-compute is disabled
	DisabledReason string `json:"disabledReason"`
	Down           bool   `json:"down"` // nova-compute does not report
	ForcedDown     bool   `json:"forcedDown"`

	AgentsDown []string `json:"agentsDown"` // network agents that do not report, by their binaries
}

// FoundFlavor is what Found adds to a flavor.
type FoundFlavor struct {
	ID         string            `json:"id"`
	MemoryMiB  int               `json:"memoryMiB"` // instead of memoryGiB, if that is not whole
	ExtraSpecs map[string]string `json:"extraSpecs"`
}

// FoundInstance is what Found adds to an instance.
type FoundInstance struct {
	ID          string `json:"id"`
	Created     Moment `json:"created"`     // instead of age
	ServerGroup string `json:"serverGroup"` // name or ID
	CameFrom    string `json:"cameFrom"`    // machine to which a revert of VERIFY_RESIZE moves it
	MigratingTo string `json:"migratingTo"` // target machine of a MIGRATING instance
}

// setFoundDefaults makes the clock start before the oldest event that was found.
func (s *Scenario) setFoundDefaults() {
	if s.Found == nil {
		return
	}
	oldest := Duration(time.Hour)
	older := func(moments ...Moment) {
		for _, m := range moments {
			oldest = max(oldest, s.Ago(m))
		}
	}
	f := s.Found
	for _, list := range [][]FoundLock{f.ClusterLocks, f.NodeLocks} {
		for _, l := range list {
			older(l.Created, l.Said)
		}
	}
	for _, list := range [][]FoundRequest{f.ClusterRequests, f.NodeRequests} {
		for _, r := range list {
			older(r.Created, r.Deleted)
		}
	}
	for _, list := range [][]FoundNotice{f.Deletions, f.Disablings} {
		for _, n := range list {
			older(n.Created)
		}
	}
	for _, n := range s.Nodes {
		older(n.Created, n.ReadySince)
	}
	s.History.Age = cmp.Or(s.History.Age, oldest+Duration(time.Minute))
	s.setFoundHistory()
	for i := range s.Instances {
		in := &s.Instances[i]
		if !in.Created.IsZero() {
			in.Age = max(s.Ago(in.Created), Duration(time.Second))
		}
	}
}

// checkFound checks the part that `lockstep snapshot` writes.
func (s *Scenario) checkFound(machines map[string]Node, check func(bool, string, ...any)) {
	f := s.Found
	if f == nil {
		return
	}
	check(!f.At.IsZero(), "found.at: is missing: want the time of the look, such as 2026-11-21T19:30:00Z")
	known := func(list string, i int, name, node string) {
		_, ok := machines[node]
		check(ok, "%s[%d]: %s is of the node %q, which is not there", list, i, name, node)
	}
	unique := uniqueNames(check)
	for i, r := range f.ClusterRequests {
		unique("found.clusterRequests", i, r.Name)
	}
	for i, r := range f.NodeRequests {
		unique("found.nodeRequests", i, r.Name)
		known("found.nodeRequests", i, r.Name, r.Node)
	}
	for i, n := range f.Deletions {
		unique("found.deletions", i, n.Name)
	}
	for i, n := range f.Disablings {
		unique("found.disablings", i, n.Name)
	}
	for i, l := range f.ClusterLocks {
		unique("found.clusterLocks", i, l.Name)
		l.check("found.clusterLocks", i, check)
	}
	for i, l := range f.NodeLocks {
		unique("found.nodeLocks", i, l.Name)
		l.check("found.nodeLocks", i, check)
		check(l.Node != "", "found.nodeLocks[%d].node: %s names no node", i, l.Name)
	}
	f.checkSets(machines, check)
	for i, a := range f.Aggregates {
		check(a.Name != "", "found.aggregates[%d].name: is missing", i)
		for _, node := range a.Nodes {
			known("found.aggregates", i, a.Name, node)
		}
	}
	ids := map[string]bool{}
	for i, p := range f.Projects {
		check(slices.Contains(s.Projects, p.Name), "found.projects[%d].name: %s is not among the projects", i, p.Name)
		check(p.ID != "" && !ids[p.ID], "found.projects[%d].id: %s has no ID, or that of another", i, p.Name)
		ids[p.ID] = true
	}
	groups := map[string]bool{"": true}
	for i, g := range f.ServerGroups {
		unique("found.serverGroups", i, cmp.Or(g.ID, g.Name))
		check(s.hasProject(g.Project), "found.serverGroups[%d].project: %s: there is no project %q", i, g.Name, g.Project)
		groups[g.ID], groups[g.Name] = true, true
	}
	for i, in := range s.Instances {
		check(groups[in.ServerGroup], "instances[%d].serverGroup: instance %s: there is no server group %q", i, in.Name, in.ServerGroup)
	}
}

func (l FoundLock) check(list string, i int, check func(bool, string, ...any)) {
	check(l.Controller != "", "%s[%d].controller: %s names no controller", list, i, l.Name)
	check(slices.Contains([]string{"", "active", "inactive", "failed"}, l.State),
		"%s[%d].state: %s: state %q: want active, inactive or failed", list, i, l.Name, l.State)
	check(l.Percentage >= 0 && l.Percentage <= 100, "%s[%d].percentage: %s: %d: want 0 to 100", list, i, l.Name, l.Percentage)
}

// uniqueNames refuses missing and duplicate names in a list.
func uniqueNames(check func(bool, string, ...any)) func(list string, i int, name string) {
	seen := map[string]bool{}
	return func(list string, i int, name string) {
		check(name != "", "%s[%d].name: is missing", list, i)
		check(!seen[list+"/"+name], "%s[%d].name: %s is there twice", list, i, name)
		seen[list+"/"+name] = true
	}
}

// hasProject tells whether there is a project with that name or ID.
func (s *Scenario) hasProject(nameOrID string) bool {
	return slices.Contains(s.Projects, nameOrID) ||
		s.Found != nil && slices.ContainsFunc(s.Found.Projects, func(p FoundProject) bool { return p.ID == nameOrID })
}

// memoryMiB returns a size that is given in MiB or in GiB.
func memoryMiB(mib, gib int) int {
	if mib > 0 {
		return mib
	}
	return gib << 10
}

// RAM is the node's memory in MiB.
func (n Node) RAM() int { return memoryMiB(n.MemoryMiB, n.MemoryGiB) }

// RAM is the flavor's memory in MiB.
func (f Flavor) RAM() int { return memoryMiB(f.MemoryMiB, f.MemoryGiB) }

// Rehearsal says in a few words which cloud's inventory the scenario is; empty if it is not an inventory.
func (s *Scenario) Rehearsal() string {
	if s.Found == nil {
		return ""
	}
	return s.Name + " as of " + s.Found.At.Of().Format("2006-01-02 15:04 UTC")
}
