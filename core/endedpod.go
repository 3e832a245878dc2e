package core

import (
	"time"
)

// EndedPod is a pod in phase Failed or Succeeded that is left on its node, such as an eviction leaves behind. It is never ready again,
// and the way back of its node waits for it until somebody deletes it (docs/mosk.md#pods-on-return).
type EndedPod struct {
	Namespace string
	Name      string
	UID       string
	Phase     string    // Failed or Succeeded; of a pod that was read anew, any other
	Reason    string    // "Evicted"; may be empty
	Owner     string    // the kind of its controller; empty when it has none
	Since     Since     // when it ended; not exact where only its beginning is known
	Deleting  time.Time // its deletion was asked for then; zero when it was not
}

// Ref names the pod.
func (e *EndedPod) Ref() Ref {
	return Ref{Kind: KindPod, Namespace: e.Namespace, Name: e.Name, UID: e.UID}
}

// Over tells whether the pod is in a phase that it never leaves.
func (e *EndedPod) Over() bool { return e.Phase == "Failed" || e.Phase == "Succeeded" }

// FullName is the pod's name with its namespace.
func (e *EndedPod) FullName() string { return e.PodName().String() }

func (e *EndedPod) PodName() PodName { return PodName{e.Namespace, e.Name} }
