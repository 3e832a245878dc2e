package progress

import (
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// ObjectName makes a name for a Kubernetes object of a text: RFC 1123, at most 63 characters.
func ObjectName(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-.")
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return wording.TextOf(name, "lockstep")
}

// IsFor tells whether a node's request belongs to the cluster's: both were made by hand or neither, and it is for the same release, or
// else not older. A request that is left from before asks nothing of a node in this update.
func IsFor(r *core.MaintenanceRequest, cluster *core.MaintenanceRequest) bool {
	switch {
	case r.ByHand() != cluster.ByHand():
		return false
	case r.Release != "" && cluster.Release != "":
		return SameRelease(r.Release, cluster.Release)
	}
	return !r.Created.Before(cluster.Created)
}

// RequestFor is the request that the lock answers; nil when there is none.
func RequestFor(s *core.Snapshot, l *core.WorkloadLock) *core.MaintenanceRequest {
	if l.Node != "" {
		return s.NodeRequest(l.Node)
	}
	return s.ClusterRequest()
}
