package scenario

import (
	"slices"
	"time"
)

// setFoundHistory describes, as a scenario's history, where the update of a found cloud stands. Everything that
// otherwise follows from the history (for example the completed steps of the plan) follows from what was found.
func (s *Scenario) setFoundHistory() {
	f, h := s.Found, &s.History
	requested := map[string]Moment{}
	for _, r := range f.NodeRequests {
		requested[r.Node] = r.Created
	}
	moment := func(m Moment) Duration { return max(s.Ago(m), Duration(time.Second)) }
	running := len(f.ClusterRequests) > 0
	h.StartAt = StartOperator
	if !running {
		return
	}
	h.Begun = moment(f.ClusterRequests[0].Created) + Duration(time.Minute)
	mastersDone, touched := true, len(requested) > 0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		begun, busy := requested[n.Machine]
		updated := n.Kubelet == s.Kubelet.To
		switch {
		case busy:
			n.Began = moment(begun)
			h.Released = max(h.Released, n.Began)
		case updated:
			n.Done = moment(n.ReadySince)
			h.Released = max(h.Released, n.Done)
		}
		touched = touched || updated
		mastersDone = mastersDone && (n.Done > 0 || !n.Has(RoleMaster))
	}
	released := len(f.ClusterLocks) > 0 && !slices.ContainsFunc(f.ClusterLocks, func(l FoundLock) bool { return l.State != "inactive" })
	switch {
	case !released && !touched:
		h.StartAt = StartOpenStack
		h.Released = 0
		return
	case mastersDone:
		h.StartAt = StartWorkers
	default:
		h.StartAt = StartMasters
	}
	h.Released = min(h.Released+Duration(time.Minute), h.Begun-Duration(time.Second))
}
