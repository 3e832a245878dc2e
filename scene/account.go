package scene

import (
	"time"

	"lockstep/core"
)

// next is the time of the controller's next try in these scenes, 12:00:40.
var next = Noon.Add(40 * time.Second)

// Failed is a record of tries that failed.
func Failed(n int, words string) *core.Tries {
	return &core.Tries{Purpose: "create", Failed: n, Words: words, Started: Ago(5 * time.Minute), Next: next}
}

// Bookkept is a cluster whose OpenStack controller runs and keeps its bookkeeping; it has begun cmp-01.
func Bookkept() Scene {
	sc := Healthy()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Existing: 1, Ready: 1}
	sc.Maintained("cmp-01", "")
	for _, list := range sc.NodeLocks.All() {
		for _, l := range list {
			l.Kept, l.Finalizers = core.Bookkeeping{Handled: true, Marked: true}, HeldBy
		}
	}
	return sc
}

// Away scales the OpenStack controller to 0.
func (sc Scene) Away() { sc.Controller.Replicas, sc.Controller.Existing, sc.Controller.Ready = 0, 0, 0 }

// Tried records tries of the change handler of cmp-01's request.
func (sc Scene) Tried(t *core.Tries) {
	sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Marked: true, Change: t}
}
