package progress

import (
	"time"

	"lockstep/core"
)

// SeenSinceReturn tells whether a source was heard since the node returned from its last maintenance, and when the node returned.
// The OpenStack controller may have changed older facts on the node's return.
func SeenSinceReturn(s *core.Snapshot, id core.SourceID, node string) (back time.Time, seen bool) {
	n := s.Nodes[node]
	if n == nil {
		return back, true
	}
	back = s.History.Rounds[n.UID].Ended
	return back, back.IsZero() || s.HeardSince(id, back)
}

// SeenSinceReady tells whether a source was heard since the node last became Ready. Older facts about what runs on it are from before
// it went down.
func SeenSinceReady(s *core.Snapshot, id core.SourceID, node string) bool {
	n := s.Nodes[node]
	return n == nil || n.ReadySince.IsZero() || s.HeardSince(id, n.ReadySince)
}
