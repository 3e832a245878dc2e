package core

import "time"

// PodName is the name of a pod, with its namespace.
type PodName struct{ Namespace, Name string }

// String is "namespace/name".
func (p PodName) String() string { return p.Namespace + "/" + p.Name }

// NodePods is what is known of the pods on one node that is in maintenance: enough to tell draining from updating, and to
// name the pods for which Rockoon silently waits when the node returns.
type NodePods struct {
	Node      string
	Total     int
	Evictable int        // pods that a drain has to move: not DaemonSet pods, not static, not finished
	NotReady  []PodName  // pods that are not ready (Jobs' pods excepted), sorted
	Ended     []EndedPod // pods of NotReady that have ended and that only a person deletes; by name
	// NodeReadySince is the node's ReadySince as it was known when the pods were listed. A list from before the node went down
	// or came back tells nothing of the pods now: their readiness is from before a reboot.
	NodeReadySince time.Time
}

// PodsOf names a node whose pods are to be watched, and the NodeReadySince that the list is to have.
type PodsOf struct {
	Node           string
	NodeReadySince time.Time
}

// Key implements Object.
func (p *NodePods) Key() string { return p.Node }
