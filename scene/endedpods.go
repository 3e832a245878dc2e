package scene

import (
	"time"

	"lockstep/core"
)

// EndedOn adds ended pods to a returning node whose return waits for nothing else.
func EndedOn(sc Scene, node string, names ...string) *core.NodePods {
	p := sc.PodsOn(node)
	p.Total = 20
	for i, name := range names {
		e := core.EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Failed", Reason: "Evicted", Owner: "ReplicaSet",
			Since: core.Since{At: Ago(time.Duration(i+1) * 30 * time.Hour), Exact: true}}
		p.Ended = append(p.Ended, e)
		p.NotReady = append(p.NotReady, e.PodName())
	}
	return p
}

// Returning is a healthy cluster in which cmp-01 is Ready again and its request is being removed.
func Returning() Scene {
	sc := Healthy()
	l := sc.Maintained("cmp-01", "")
	l.RawState = core.LockInactive
	sc.NodeRequests["cmp-01"][0].Deleting = Ago(3 * time.Minute)
	return sc
}
