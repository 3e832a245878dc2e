package core

import (
	"context"
	"time"
)

// Looker reads what nobody watches: logs, events and whole objects. It asks only while one of its calls runs, changes nothing, and
// every error is a *APIError. Texts are redacted, and not sanitised for a terminal.
type Looker interface {
	// Log reads a log and gives what comes to sink, in the order of each pod's lines; sink is called by one goroutine at a time. It
	// returns when everything is read, and with Follow only when ctx ends or nothing can come any more.
	Log(ctx context.Context, r LogRequest, sink func(LogPart)) error
	// Events lists the events of the objects, at most so many of each, the oldest first. Of objects that cannot be asked about it says
	// why, and tells the rest.
	Events(ctx context.Context, about []EventTarget, most int) (EventList, error)
	// Pods lists the pods from which one can be chosen. Of namespaces that may not be read it says which.
	Pods(ctx context.Context, t PodsTarget) (PodList, error)
	// Pod reads which containers a pod has.
	Pod(ctx context.Context, p PodRow) (LogPod, error)
	// Object reads one object. It refuses kinds that hold secrets.
	Object(ctx context.Context, t ObjectTarget) (ObjectText, error)
}

// LogTarget says whose log is meant: one pod's, or that of the pods in a namespace with a selector or a part of their name.
type LogTarget struct {
	Server    Server // ServerKubernetes or ServerManagement
	Namespace string
	Pod       string // name of the one pod; empty: those that the fields below select
	Part      string // of the pods' names: "lcm-controller"
	Selector  string // of labels: "application=nova,component=compute"
	Node      string // Kubernetes name of the node that they run on; empty: any
	Container string // empty: the pod's first one
	Label     string // what to call it: "nova-compute of cmp-07"
}

// LogRequest is a LogTarget and how much of its log is wanted.
type LogRequest struct {
	LogTarget
	Since    time.Duration // only lines that are at most so old; 0: any age
	From, To time.Time     // only lines from one time on and before the other; zero: not bounded
	Tail     int           // only so many of the last lines of each pod, before those that are followed; 0: all
	Previous bool          // of the container's run before this one
	Follow   bool          // lines that come are wanted, too
}

// LogPart is a part of a log: lines, or news of where they come from.
type LogPart struct {
	Lines []LogLine
	Pods  []LogPod // nil: as before
	// Trouble is why nothing comes now; Log tries again by itself. It is over with the next part that has lines, or with Well.
	Trouble *APIError
	Well    bool // the log is being read
}

// LogLine is one line of a log.
type LogLine struct {
	Pod    string
	At     time.Time // by the clock of the node
	Text   string
	Length int  // of the whole line in bytes, where Text is only its beginning; 0: Text is all of it
	Notice bool // the line is Lockstep's own: "the container has started again"
}

// MaxLogLine is how much of one line is kept, in bytes.
const MaxLogLine = 16 << 10

// LogPod is a pod whose log can be read.
type LogPod struct {
	Name       string
	Node       string
	Phase      string // "Running"
	Read       bool   // its log is read; otherwise there are too many
	Containers []LogContainer
}

// MostLogPods is how many pods of a workload are read at the same time, the newest first.
const MostLogPods = 8

// LogContainer is one container of a LogPod.
type LogContainer struct {
	Name     string
	Restarts int
	State    string // "running", "CrashLoopBackOff", "ContainerCreating", "Completed"
}

// PodsTarget says from which pods one is chosen.
type PodsTarget struct {
	Server    Server
	Namespace string // empty: all, or where that is not allowed those of PodNamespaces
	Node      string // Kubernetes name of the node that they run on; empty: any
	Label     string // what to call them: "cmp-07"
}

// PodNamespaces are the namespaces of MOSK on a cluster that hold what moves an update (docs/mosk.md#where-things-live). They are asked
// one by one where the pods of all namespaces may not be listed.
func PodNamespaces(server Server) []string {
	if server == ServerManagement {
		return []string{"kaas"}
	}
	return []string{NamespaceOpenStack, "osh-system", NamespaceCeph, "ceph-lcm-mirantis", NamespaceFabric, NamespaceRedis, "stacklight"}
}

// PodList is the pods from which one is chosen, in the order of their namespaces and names.
type PodList struct {
	Pods []PodRow
	// Cut tells that there are more than were read.
	Cut bool
	// Only are the namespaces that were read, where not all may be, and Refused those of them that may not be read either.
	Only, Refused []string
}

// PodRow is a pod that can be chosen.
type PodRow struct {
	Server    Server
	Namespace string
	Name      string
	Node      string
	Status    string // "Running", "CrashLoopBackOff"
	Ready     string // "1/2"
	Restarts  string // "3 (5m ago)"
}

// Target is the log of one of the pod's containers.
func (p PodRow) Target(container string) LogTarget {
	return LogTarget{Server: p.Server, Namespace: p.Namespace, Pod: p.Name, Container: container, Label: p.Name + ", " + container}
}

// EventTarget names the object whose events are meant.
type EventTarget struct {
	Server    Server
	Namespace string // empty: all namespaces, as for objects that are in none
	Kind      string // empty: any
	Name      string
	Label     string // what to call the object
}

// EventList is the events of some objects, the oldest first.
type EventList struct {
	Events []Event
	// Cut are the objects that have more events than were read. Kubernetes lists events by name: those that are missing may be the newest.
	Cut []EventTarget
}

// Event is what a component of Kubernetes has reported about an object.
type Event struct {
	At      time.Time // of the last time
	First   time.Time // zero: not known
	Count   int       // how often
	Warning bool      // otherwise it is normal
	Reason  string    // "FailedDraining"
	Message string
	From    string // the component: "kubelet", "lcm-controller"
	Kind    string // of the object
	About   string // the object's name, with its namespace where it has one
	Label   string // of the EventTarget
}

// ObjectTarget names one object of an API.
type ObjectTarget struct {
	Server    Server
	Kind      string // "Node", "NodeMaintenanceRequest", "Machine"
	Namespace string // empty for objects that are in none
	Name      string
	Label     string // what to call it
}

// ObjectText is an object as texts.
type ObjectText struct {
	YAML     string // without managedFields
	Describe string // fields, conditions and the like, one a line
	AsOf     time.Time
}

// LookKind is what is looked at.
type LookKind string

// The kinds of looks.
const (
	LookLog      LookKind = "log"
	LookPods     LookKind = "pods"
	LookEvents   LookKind = "events"
	LookDescribe LookKind = "describe"
	LookYAML     LookKind = "YAML"
)

// Look is one thing that can be looked at: a log, events, or an object.
type Look struct {
	Kind   LookKind
	What   string // "nova-compute of cmp-07"
	Log    LogTarget
	Pods   PodsTarget
	Events []EventTarget
	Object ObjectTarget
	Before bool   // of a log: the container's run before this one
	Find   string // what is searched for in it from the start; empty: nothing
}

// IsLog makes a Look of a log.
func (t LogTarget) IsLog() Look { return Look{Kind: LookLog, What: t.Label, Log: t} }

// IsPods makes a Look of the choice among pods.
func (t PodsTarget) IsPods() Look { return Look{Kind: LookPods, What: t.Label, Pods: t} }

// As makes a Look of an object: its YAML or its description.
func (t ObjectTarget) As(kind LookKind) Look {
	what := t.Label
	if what == "" {
		what = t.Kind + " " + t.Name
	}
	return Look{Kind: kind, What: what, Object: t}
}

// TargetOf names an object of a cluster.
func TargetOf(server Server, r Ref) ObjectTarget {
	return ObjectTarget{Server: server, Kind: string(r.Kind), Namespace: r.Namespace, Name: r.Name}
}

// Events names the object as one whose events are meant.
func (t ObjectTarget) Events() EventTarget {
	label := t.Label
	if label == "" {
		label = t.Kind + " " + t.Name
	}
	return EventTarget{Server: t.Server, Namespace: t.Namespace, Kind: t.Kind, Name: t.Name, Label: label}
}
