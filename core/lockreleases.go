package core

// releaseFor is the release that a lock of a played controller is armed at; empty when nothing says one. Rockoon writes its own
// (docs/mosk.md#locks, LockBase.present): it handles a request only when the request is for that very release (text A), so the
// request's is what it would write. Without a request it is that of OpenStack as it is deployed, whose status Rockoon writes;
// of another controller, what its cluster lock bears.
func (s *Snapshot) releaseFor(a ActAs, node string) string {
	var said []string
	if r := s.NodeRequest(node); node != "" && r != nil {
		said = append(said, r.Release)
	}
	if r := s.ClusterRequest(); r != nil {
		said = append(said, r.Release)
	}
	if a.Controller == ControllerOpenStack && len(s.OpenStack) == 1 {
		said = append(said, s.OpenStack[0].Release)
	}
	if l := s.clusterLock(a.Controller); l != nil {
		said = append(said, l.Release)
	}
	release := ""
	for _, r := range said {
		switch {
		case r == "":
		case release == "":
			release = r
		case sameRelease(r, release) && len(r) > len(release):
			release = r // a request can leave away what comes after the plus; locks bear it (docs/mosk.md#requests)
		}
	}
	return release
}
