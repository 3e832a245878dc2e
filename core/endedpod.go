package core

import (
	"time"
)

// EndedPod is a pod in phase Failed or Succeeded that is left on its node, for example by an eviction. It never becomes ready again,
// and its node's return waits for it until somebody deletes it (docs/mosk.md#pods-on-return).
type EndedPod struct {
	Namespace string
	Name      string
	UID       string
	Phase     string    // Failed or Succeeded; any other in a pod that was read again
	Reason    string    // "Evicted"; may be empty
	Owner     string    // the kind of its controller; empty when it has none
	Since     Since     // when it ended; not exact when only its start is known
	Deleting  time.Time // when its deletion was requested; zero when it was not
}

// Ref names the pod.
func (e *EndedPod) Ref() Ref {
	return Ref{Kind: KindPod, Namespace: e.Namespace, Name: e.Name, UID: e.UID}
}

// Over tells whether the pod is in a phase that it never leaves.
func (e *EndedPod) Over() bool { return e.Phase == "Failed" || e.Phase == "Succeeded" }

// FullName is the pod's name with its namespace.
func (e *EndedPod) FullName() string { return e.PodName().String() }

// PodName is the pod's name and namespace.
func (e *EndedPod) PodName() PodName { return PodName{e.Namespace, e.Name} }
