package recording

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
)

// Format is the version of a recording. A reader takes every version up to its own.
const Format = 1

// Head is the first line of a file: what is recorded. It is plain text; the compressed lines follow.
type Head struct {
	Format    int       `json:"lockstepRecording"`
	Version   string    `json:"version"` // of the Lockstep that wrote it
	Began     time.Time `json:"began"`   // wall time
	Recording string    `json:"recording"`
	File      int       `json:"file"` // 1 for the first of the recording

	Cluster      string               `json:"cluster"`
	Simulated    bool                 `json:"simulated,omitzero"` // it is a rehearsal of that cluster
	Operator     string               `json:"operator,omitzero"`
	Place        core.ManagementPlace `json:"place,omitzero"`
	Own          core.ClusterPlace    `json:"own,omitzero"`
	Settings     core.Settings        `json:"settings,omitzero"`
	Pseudonymous bool                 `json:"pseudonymous,omitzero"` // names and IDs are made up
	Cut          bool                 `json:"cut,omitzero"`          // it was written again of a recording that was cut off
}

// Frame is what one Snapshot has that the one before had not. History, Operations, Write, Notes and Identity are whole; the file has what
// changed of them.
type Frame struct {
	Now, Wall  time.Time
	Deltas     []core.Delta // that changed anything, and of each only what changed
	History    core.History
	Operations []core.Operation
	Write      core.WriteMode
	Notes      []core.Note
	Identity   core.Identity

	// Records are the journal's records of what was seen and done. A Recorder takes any type that JSON can write; a reader gives each as
	// a json.RawMessage.
	Records []any

	// Sources are all sources as they are then. A file has them in keys only: between two of them the Deltas tell.
	Sources map[core.SourceID]core.Source

	// Key is all facts of the world; nil in most frames. A reader need not read what is before it.
	Key *Key
	// Part says what the frame tells of what is whole in others; nil: it is whole here, too.
	Part *Part
	// Begins says that the Key counts alone: the recording begins with it, frames before it may be lost, or a reader begins here.
	Begins bool
}

// Part is what a line of a file tells of the History and of what else every frame has: of a table of the History, the frame has only the
// entries that have changed, and of the operations only those. Each gives frames in this form, because making a whole recording anew must
// not look at all of it for each second.
type Part struct {
	Tables                 map[string]Table // the History's fields that the line tells of, by name
	Operations             bool             // it tells of operations
	IDs                    []string         // all operations then, in their order
	Write, Notes, Identity bool             // it tells of them
}

// Table is how a table of the History has changed beside its entries.
type Table struct {
	Anew bool     // what it had before does not count
	Gone []string // the keys of entries that went
}

// Key is the whole world at one moment, as it is after the frame's Deltas.
type Key struct {
	Sources []core.Source                   // by ID
	Objects map[core.SourceID][]core.Object // by key
}

// Event is a moment that somebody who looks at the recording may want to go to: a line of news.
type Event struct {
	At   time.Time `json:"at"` // the cluster's time
	Kind string    `json:"kind"`
	Text string    `json:"text"`
}

// objects are the types of all objects that a Delta can have, by the name under which a recording has them. The names never change.
var objects = typesOf(
	&core.Node{}, &core.WorkloadLock{}, &core.MaintenanceRequest{}, &core.NodeNotice{}, &core.OpenStackStatus{}, &core.Deployment{},
	&core.NodePods{}, &core.DaemonSet{}, &core.DaemonRevision{}, &core.DaemonPod{}, &core.StatefulSet{}, &core.VolumeClaim{},
	&core.PersistentVolume{}, &core.OpenStackDeployment{}, &core.CephCluster{}, &core.Job{}, &core.ComputeService{}, &core.Instance{},
	&core.Migration{}, &core.NetworkAgent{}, &core.Project{}, &core.VolumeService{}, &core.HostVolumes{}, &core.Alertmanager{},
	&core.ManagedCluster{}, &core.ManagedMachine{}, &core.LCMCluster{}, &core.LCMMachine{}, &core.DrainState{}, &core.UpdatePlan{},
	&core.MachineGroup{}, &core.AutoPause{}, &core.RebootRequest{}, &core.ManagementRelease{}, &core.ManagementUpgrade{},
)

func typesOf(all ...core.Object) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, o := range all {
		t := reflect.TypeOf(o).Elem()
		m[t.Name()] = t
	}
	return m
}

// Objects are the types of all objects that a recording can have.
func Objects() []reflect.Type {
	return slices.SortedFunc(maps.Values(objects), func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
}

// FileName is the name of the file with that number of a recording that begins in the file called first: "mos.lockrec" is followed by
// "mos.2.lockrec".
func FileName(first string, number int) string {
	if number <= 1 {
		return first
	}
	ending := filepath.Ext(first)
	return strings.TrimSuffix(first, ending) + "." + strconv.Itoa(number) + ending
}
