package progress

import (
	"strings"

	"lockstep/core"
)

// ReleaseFor is the release at which a played controller's lock is armed; empty when no source gives one. Rockoon writes its own
// release (docs/mosk.md#locks, LockBase.present), which it has applied: the lock never says more than that, whatever release is
// asked for (docs/mosk.md#releasing-the-cluster-lock). Rockoon writes that release into the status of OpenStack; if it is not
// there, the cluster lock has what Rockoon wrote. For another controller it is the release that is asked for, or that of its
// cluster lock.
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
			return "" // the release that is asked for is not the one that is there
		}
	}
	release := ""
	for _, r := range said {
		switch {
		case r == "":
		case release == "":
			release = r
		case SameRelease(r, release) && len(r) > len(release):
			release = r // a request can omit what follows the plus; locks have it (docs/mosk.md#names-and-releases)
		}
	}
	return release
}

// OpenStackRelease is the release that Rockoon has applied to OpenStack, or applies; empty when its status does not say.
func OpenStackRelease(s *core.Snapshot) string {
	if len(s.OpenStack) != 1 {
		return ""
	}
	return s.OpenStack[0].Release
}

// LockBehind tells whether the cluster lock of a played OpenStack controller has another release than OpenStack: Rockoon sets it
// to its own release, and to active, before it looks at a request (docs/mosk.md#locks).
func LockBehind(s *core.Snapshot, a core.ActAs, l *core.WorkloadLock) bool {
	at := OpenStackRelease(s)
	return a.Controller == core.ControllerOpenStack && l != nil && l.Node == "" && at != "" && !SameRelease(l.Release, at)
}

// ReleaseMatters tells whether the release of a node's request keeps a played controller from handling it. Without an
// OpenStackDeployment no release is known, and none is applied.
func ReleaseMatters(s *core.Snapshot, a core.ActAs, r *core.MaintenanceRequest) bool {
	return a.Controller == core.ControllerOpenStack && r != nil && r.Release != "" &&
		(len(s.OpenStack) > 0 || !s.Known(core.SourceOpenStackStatus) && s.Sources[core.SourceOpenStackStatus].State != core.SourceAbsent)
}

// ImageVersion is the tag of a Deployment's image; empty when it has none or is not known.
func ImageVersion(d *core.Deployment) string {
	if d == nil {
		return ""
	}
	image, _, _ := strings.Cut(d.Image, "@")
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}
