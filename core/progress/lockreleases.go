package progress

import (
	"strings"

	"lockstep/core"
)

// ReleaseFor is the release that a lock of a played controller is armed at; empty when nothing says one. Rockoon writes its own
// (docs/mosk.md#locks, LockBase.present), and has applied it: the lock never says more than that, whatever is asked for
// (docs/mosk.md#releasing-the-cluster-lock). It stands in the status of OpenStack, which Rockoon writes; where that says none, the cluster
// lock bears what Rockoon wrote
// there. Of another controller it is what is asked for, or what its cluster lock bears.
func ReleaseFor(s *core.Snapshot, a core.ActAs, node string) string {
	asked := []string{}
	if r := s.NodeRequest(node); node != "" && r != nil {
		asked = append(asked, r.Release)
	}
	if r := s.ClusterRequest(); r != nil {
		asked = append(asked, r.Release)
	}
	lock := ""
	if l := s.ClusterLock(a.Controller); l != nil {
		lock = l.Release
	}
	said := append(asked, lock)
	if a.Controller == core.ControllerOpenStack {
		said = append([]string{OpenStackRelease(s), lock}, asked...)
		if said[0] == "" && lock == "" {
			return "" // what is asked for is not what there is
		}
	}
	release := ""
	for _, r := range said {
		switch {
		case r == "":
		case release == "":
			release = r
		case SameRelease(r, release) && len(r) > len(release):
			release = r // a request can leave away what comes after the plus; locks bear it (docs/mosk.md#names-and-releases)
		}
	}
	return release
}

// OpenStackRelease is the release at which Rockoon has applied OpenStack, or applies it; empty when its status does not say.
func OpenStackRelease(s *core.Snapshot) string {
	if len(s.OpenStack) != 1 {
		return ""
	}
	return s.OpenStack[0].Release
}

// LockBehind tells whether the cluster lock of a played OpenStack controller is of another release than OpenStack is at: Rockoon sets it
// to its own, and active, before it looks at a request (docs/mosk.md#locks).
func LockBehind(s *core.Snapshot, a core.ActAs, l *core.WorkloadLock) bool {
	at := OpenStackRelease(s)
	return a.Controller == core.ControllerOpenStack && l != nil && l.Node == "" && at != "" && !SameRelease(l.Release, at)
}

// ReleaseMatters tells whether the release that a node's request names keeps a played controller from handling it: where there is no
// OpenStackDeployment, nothing says at which release it is, and nothing is applied.
func ReleaseMatters(s *core.Snapshot, a core.ActAs, r *core.MaintenanceRequest) bool {
	return a.Controller == core.ControllerOpenStack && r != nil && r.Release != "" &&
		(len(s.OpenStack) > 0 || !s.Known(core.SourceOpenStackStatus) && s.Sources[core.SourceOpenStackStatus].State != core.SourceAbsent)
}

// ImageVersion is the tag of a Deployment's image; empty when it has none, or is not known.
func ImageVersion(d *core.Deployment) string {
	if d == nil {
		return ""
	}
	image, _, _ := strings.Cut(d.Image, "@")
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}
