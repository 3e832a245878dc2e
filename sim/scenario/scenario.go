// Package scenario holds the scenarios of the simulated cloud: which nodes and instances exist, how they behave, and
// where the update stands when the operator opens the dashboard. A scenario is a YAML file; the ones that come with the
// program are embedded.
package scenario

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

//go:embed *.yaml
var files embed.FS

// Default is the scenario of a demo without a given one.
const Default = "manual-nodes"

// Scenario is one scenario.
type Scenario struct {
	Format  int    `json:"format"`  // of the file; 0 means 1
	Name    string `json:"name"`    // the name for Load
	Title   string `json:"title"`   // one line
	Teaches string `json:"teaches"` // what the scenario teaches, in a few sentences
	Group   string `json:"group"`   // name of one of Groups; empty in a file that is not listed
	Seed    uint64 `json:"seed"`    // of all random choices

	Cluster string  `json:"cluster"` // name of the cluster and of its ClusterMaintenanceRequest
	Release Change  `json:"release"` // cluster releases, for example 17.4.0+25.1
	Kubelet Change  `json:"kubelet"` // kubelet versions, for example v1.30.14
	Rockoon Change  `json:"rockoon"` // versions of the OpenStack controller
	Update  Update  `json:"update"`
	Cloud   Cloud   `json:"openstack"`
	Nodes   []Node  `json:"nodes"`
	History History `json:"history"`

	Management *Management `json:"management"` // nil: no management cluster
	StackLight StackLight  `json:"stacklight"`

	Faults []Fault `json:"faults"` // of the servers, during the scenario

	Flavors   []Flavor   `json:"flavors"`
	Projects  []string   `json:"projects"`
	Instances []Instance `json:"instances"`

	Aggregates   []Aggregate   `json:"aggregates"`
	ServerGroups []ServerGroup `json:"serverGroups"`
	Volumes      []Volume      `json:"volumes"` // on nodes' own disks, not attached
	Routers      []Router      `json:"routers"` // virtual ones

	Troubles    []Trouble    `json:"troubles"`    // failures of the applications
	Controllers []Controller `json:"controllers"` // application controllers that do not belong to MOSK

	Fleet *Fleet `json:"fleet"` // short form for many nodes and instances; nil once they are generated

	Found *Found `json:"found"` // the state of a live cloud; nil in a written scenario
}

// Change is a value before and after the update.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Update says how LCM runs the update.
type Update struct {
	Scope       string   `json:"scope"`       // of the NodeMaintenanceRequests: os (the default) or drain
	Concurrency int      `json:"concurrency"` // workers at a time; default 1
	Order       []string `json:"order"`       // machine names of all workers; default: as under nodes
}

// Cloud says how OpenStack is set up.
type Cloud struct {
	Deployment  string   `json:"deployment"`  // name of the OpenStackDeployment; default osh-dev
	Version     string   `json:"version"`     // OpenStack's release; default antelope
	Services    []string `json:"services"`    // of the deployment; default the usual ones
	Fabric      string   `json:"fabric"`      // name of the TFOperator, if Tungsten Fabric is the network; default: Neutron
	Migrations  int      `json:"migrations"`  // instances migrating from a host at a time; default 1
	MaxCompute  int      `json:"maxCompute"`  // computes in maintenance at a time; default 30
	MaxGateway  int      `json:"maxGateway"`  // gateways in maintenance at a time; default 1
	OVN         bool     `json:"ovn"`         // ml2/ovn is the network back end
	IgnoreZones bool     `json:"ignoreZones"` // let computes of several zones be in maintenance at a time

	NodeLabels map[string]string `json:"nodeLabels"` // of controller, compute and gateway, as KEY=VALUE, if not the usual ones
}

// StackLight says what its Alertmanager has besides Watchdog, which always fires, and the alerts of nodes that are not Ready.
type StackLight struct {
	Alerts   []FiringAlert `json:"alerts"`   // that fire all the time
	Silences []Silence     `json:"silences"` // that somebody has made
}

// FiringAlert is an alert that fires all the time.
type FiringAlert struct {
	Name     string            `json:"name"`
	Severity string            `json:"severity"`
	Summary  string            `json:"summary"`
	Labels   map[string]string `json:"labels"` // besides name and severity
}

// Silence keeps alerts with one value of a label from being told.
type Silence struct {
	Label   string   `json:"label"`
	Value   string   `json:"value"`
	By      string   `json:"by"`
	Comment string   `json:"comment"`
	For     Duration `json:"for"` // from the scenario's start on
}

// History says what happened before the scenario starts; all durations count back from its start.
type History struct {
	StartAt  string   `json:"startAt"`  // where the update stands: StartOperator, StartOpenStack, StartMasters or StartWorkers
	Begun    Duration `json:"begun"`    // when the ClusterMaintenanceRequest was created; not for StartOperator
	Released Duration `json:"released"` // when the last ClusterWorkloadLock was released; for StartMasters and StartWorkers
	Age      Duration `json:"age"`      // of the cluster; default 90 days
}

// Where an update stands when a scenario starts.
const (
	StartOperator  = "operator"  // LCM starts the update by itself, after a moment
	StartOpenStack = "openstack" // the update is requested; OpenStack comes next
	StartMasters   = "masters"   // OpenStack and Ceph are done
	StartWorkers   = "workers"   // the masters are done
)

// Node is one machine of the cluster.
type Node struct {
	Machine     string            `json:"machine"`     // the short name, for example cmp-07
	Name        string            `json:"name"`        // in Kubernetes and Nova; default kaas-node-<uuid>, derived from the seed
	Roles       []string          `json:"roles"`       // Role constants
	Zone        string            `json:"zone"`        // availability zone of a compute; default nova
	Rack        string            `json:"rack"`        // the label rack of the Kubernetes node; default: none
	VCPUs       int               `json:"vcpus"`       // of a compute; default 64
	MemoryGiB   int               `json:"memoryGiB"`   // of a compute; default 256
	DiskGiB     int               `json:"diskGiB"`     // of a compute; default 4000
	Annotations map[string]string `json:"annotations"` // of the Kubernetes node
	Traits      []string          `json:"traits"`      // of a compute in Placement, in addition to those of every compute

	VolumeBackends []string `json:"volumeBackends"` // one cinder-volume each, for volumes on the node's disks

	Done  Duration `json:"done"`  // how long before the start it was updated and back
	Began Duration `json:"began"` // how long before the start its NodeMaintenanceRequest was created; it is not done

	FoundNode
}

// Roles of a node.
const (
	RoleMaster     = "master"     // Kubernetes control plane
	RoleController = "controller" // OpenStack control plane
	RoleCompute    = "compute"
	RoleGateway    = "gateway"
	RoleStorage    = "storage" // Ceph OSDs
	RoleVRouter    = "vrouter" // Tungsten Fabric
)

// Flavor is a size of instances.
type Flavor struct {
	Name      string `json:"name"`
	VCPUs     int    `json:"vcpus"`
	MemoryGiB int    `json:"memoryGiB"`
	DiskGiB   int    `json:"diskGiB"`

	FoundFlavor
}

// Instance is one server of a project.
type Instance struct {
	Name    string   `json:"name"`
	Project string   `json:"project"`
	Flavor  string   `json:"flavor"`
	Host    string   `json:"host"`    // machine name; empty only for SHELVED_OFFLOADED
	Status  string   `json:"status"`  // as in Nova; default ACTIVE
	Power   string   `json:"power"`   // nostate, running, paused, shutdown, crashed or suspended; default: from the status
	Fault   string   `json:"fault"`   // the text of an ERROR
	Actions []string `json:"actions"` // maintenance_action tags: live_migrate, poweroff, notify
	Tags    []string `json:"tags"`    // other tags
	Locked  string   `json:"locked"`  // why it is locked; empty: not locked
	Age     Duration `json:"age"`     // default 30 days

	FailLive       Failure `json:"failLive"`
	FailCold       Failure `json:"failCold"`
	FailFinish     Failure `json:"failFinish"`
	FailStop       Failure `json:"failStop"`
	NeverConverges bool    `json:"neverConverges"`
	NoValidHost    bool    `json:"noValidHost"`
	LocalDisk      bool    `json:"localDisk"`

	Devices
	FoundInstance
}

// Failure is an action that fails at first, or always.
type Failure struct {
	Times int     `json:"times"` // how often; negative: always
	Text  string  `json:"text"`
	At    float64 `json:"at"` // how far through, from 0 to 1
}

// Duration is a time.Duration in Go's text form, for example 1h12m.
type Duration time.Duration

// UnmarshalJSON reads a text such as "1h12m".
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var written string
	if err := json.Unmarshal(raw, &written); err != nil {
		return fmt.Errorf("a duration is a text such as 1h12m, not %s", raw)
	}
	value, err := time.ParseDuration(written)
	if err != nil {
		return fmt.Errorf("duration %q: want something such as 1h12m", written)
	}
	*d = Duration(value)
	return nil
}

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Of is the duration as a time.Duration.
func (d Duration) Of() time.Duration { return time.Duration(d) }

// List names the scenarios that come with the program, in alphabetical order.
func List() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // cannot happen: the folder is embedded
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Load returns a scenario that comes with the program or, if name ends in .yaml or .yml, the one in that file. An empty
// name means Default.
func Load(name string) (*Scenario, error) {
	if name == "" {
		name = Default
	}
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return LoadFile(name)
	}
	if !slices.Contains(List(), name) {
		return nil, fmt.Errorf("there is no scenario %q%s\n%s", name, didYouMean(name, List()),
			"`lockstep demo --list` tells which there are; a file's name ends in .yaml")
	}
	raw, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read the scenario %s: %w", name, err)
	}
	s, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	return s, nil
}

// LoadFile returns the scenario in a file with any name.
func LoadFile(path string) (*Scenario, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	s, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse reads a scenario, generates its fleet, fills in the defaults and reports all problems, each with its line and
// field: "line 12: nodes[3].roles[0]: …".
func Parse(raw []byte) (*Scenario, error) {
	if err := recognise(raw); err != nil {
		return nil, err
	}
	root, err := parseNode(raw)
	if err != nil {
		return nil, err
	}
	p := &problems{root: root}
	s := &Scenario{}
	p.decode(reflect.ValueOf(s).Elem(), root, "")
	if p.count > 0 {
		return nil, p.err()
	}
	if s.Fleet != nil {
		if s.checkFleet(p.check); p.count == 0 {
			s.generate(p.check)
		}
		if p.count > 0 {
			return nil, p.err()
		}
	}
	s.setDefaults()
	s.validate(p.check)
	if p.count > 0 {
		return nil, p.err()
	}
	return s, nil
}
