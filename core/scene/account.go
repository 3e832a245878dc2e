package scene

import (
	"time"

	"lockstep/core"
)

// next is the time of the next try in these tests: 12:00:40 by the scene's clock.
var next = Noon.Add(40 * time.Second)

// Failed is a note of tries that failed.
func Failed(n int, words string) *core.Tries {
	return &core.Tries{Purpose: "create", Failed: n, Words: words, Started: Ago(5 * time.Minute), Next: next}
}

// Bookkept is a cluster whose OpenStack controller runs and keeps its books, with cmp-01 asked for and begun.
func Bookkept() Scene {
	sc := Healthy()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Existing: 1, Ready: 1}
	sc.Maintained("cmp-01", "")
	for _, list := range sc.NodeLocks {
		for _, l := range list {
			l.Kept, l.Finalizers = core.Bookkeeping{Handled: true, Marked: true}, HeldBy
		}
	}
	return sc
}

func (sc Scene) Away() { sc.Controller.Replicas, sc.Controller.Existing, sc.Controller.Ready = 0, 0, 0 }

// Tried notes tries of the change of cmp-01's request.
func (sc Scene) Tried(t *core.Tries) {
	sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Marked: true, Change: t}
}
