package progress

import (
	"maps"
	"time"

	"lockstep/core"
)

// WithOverride is a copy of the overrides with one more.
func WithOverride(all map[string]core.Override, o core.Override) map[string]core.Override {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]core.Override{}
	}
	all[o.Lock.UID] = o
	return all
}

// overrideWatched is how long an override without a request is watched.
const overrideWatched = 24 * time.Hour

// OverrideCounts tells whether an override still counts: the maintenance that it was made for has not ended. An override without a
// request counts until a maintenance has ended since: then the controller takes the lock back, as it should.
func OverrideCounts(s *core.Snapshot, o core.Override, l *core.WorkloadLock) bool {
	r := RequestFor(s, l)
	switch {
	case r != nil && !r.Deleting.IsZero():
		return false
	case o.Request != "":
		return r != nil && r.UID == o.Request
	}
	ended := s.History.Update.Ended
	if l.Node != "" {
		ended = time.Time{}
		if n := s.Nodes[l.Node]; n != nil {
			ended = s.History.Rounds[n.UID].Ended
		}
	}
	return !ended.After(o.At) && (r != nil || !s.Reached(o.At.Add(overrideWatched)))
}
