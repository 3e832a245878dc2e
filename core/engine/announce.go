package engine

import (
	"time"

	"lockstep/core"
)

// Announcement is what a confirmed operation came to, for colleagues who look at its object and not at a Lockstep.
type Announcement struct {
	On    core.Ref // an object of the MOSK cluster or of the management cluster, or the node that it belongs to
	Title string   // of the operation
	State core.OperationState
	Text  string // why it failed, or what was seen; may be empty
	By    string // who confirmed it
	Ended time.Time
}

// Announce is how an engine announces.
type Announce struct {
	Do func(Announcement)         // must not wait
	On func(object core.Ref) bool // whether it can be announced on the object
}

// announce tells of the end of an operation where somebody wants to hear of it. What is not in Kubernetes, an instance or a service, is
// told on its node.
func (e *Engine) announce(op core.Operation, target core.Ref) {
	if e.cfg.Announce.Do == nil {
		return
	}
	a := Announcement{On: target, Title: op.Title, State: op.State, Text: op.Text, By: e.cfg.Operator, Ended: op.Ended}
	if !e.cfg.Announce.On(target) {
		n := e.Snapshot().Nodes[op.Node]
		if n == nil {
			return
		}
		a.On = n.Ref()
	}
	e.cfg.Announce.Do(a)
}
