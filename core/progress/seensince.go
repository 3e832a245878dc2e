package progress

import (
	"time"

	"lockstep/core"
)

// seenAt is when a source was heard last, in the cluster's time; zero when it never was.
func seenAt(s *core.Snapshot, id core.SourceID) time.Time {
	if src := s.Sources[id]; !src.AsOf.IsZero() {
		return s.Now.Add(-s.Wall.Sub(src.AsOf))
	}
	return time.Time{}
}

// SeenSinceReturn tells whether a source was heard since the node came back from its last maintenance, and when that was. What was known
// before, the OpenStack controller may have changed on the node's return.
func SeenSinceReturn(s *core.Snapshot, id core.SourceID, node string) (back time.Time, seen bool) {
	n := s.Nodes[node]
	if n == nil {
		return back, true
	}
	back = s.History.Rounds[n.UID].Ended
	return back, back.IsZero() || !seenAt(s, id).Before(back)
}
