package core

import "strings"

// releaseFor is the release that a lock of a played controller is armed at; empty when nothing says one. Rockoon writes its own
// (docs/mosk.md#locks, LockBase.present), and has applied it: the lock never says more than that, whatever is asked for
// (docs/mosk.md#releasing-the-cluster-lock). It stands in the status of OpenStack, which Rockoon writes; where that says none, the cluster lock bears what Rockoon wrote
// there. Of another controller it is what is asked for, or what its cluster lock bears.
func (s *Snapshot) releaseFor(a ActAs, node string) string {
	asked := []string{}
	if r := s.NodeRequest(node); node != "" && r != nil {
		asked = append(asked, r.Release)
	}
	if r := s.ClusterRequest(); r != nil {
		asked = append(asked, r.Release)
	}
	lock := ""
	if l := s.clusterLock(a.Controller); l != nil {
		lock = l.Release
	}
	said := append(asked, lock)
	if a.Controller == ControllerOpenStack {
		said = append([]string{s.openStackRelease(), lock}, asked...)
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
		case sameRelease(r, release) && len(r) > len(release):
			release = r // a request can leave away what comes after the plus; locks bear it (docs/mosk.md#names-and-releases)
		}
	}
	return release
}

// openStackRelease is the release at which Rockoon has applied OpenStack, or applies it; empty when its status does not say.
func (s *Snapshot) openStackRelease() string {
	if len(s.OpenStack) != 1 {
		return ""
	}
	return s.OpenStack[0].Release
}

// lockBehind tells whether the cluster lock of a played OpenStack controller is of another release than OpenStack is at: Rockoon sets it
// to its own, and active, before it looks at a request (docs/mosk.md#locks).
func (s *Snapshot) lockBehind(a ActAs, l *WorkloadLock) bool {
	at := s.openStackRelease()
	return a.Controller == ControllerOpenStack && l != nil && l.Node == "" && at != "" && !sameRelease(l.Release, at)
}

// releaseMatters tells whether the release that a node's request names keeps a played controller from handling it: where there is no
// OpenStackDeployment, nothing says at which release it is, and nothing is applied.
func (s *Snapshot) releaseMatters(a ActAs, r *MaintenanceRequest) bool {
	return a.Controller == ControllerOpenStack && r != nil && r.Release != "" &&
		(len(s.OpenStack) > 0 || !s.known(SourceOpenStackStatus) && s.Sources[SourceOpenStackStatus].State != SourceAbsent)
}

// guardApplied holds when OpenStack is at the release that is asked for, and applied by the controller that comes with it. While the
// controller does not run its status stands still: "applied and healthy" then says how the old release was (docs/mosk.md#releasing-the-cluster-lock).
func (p *planner) guardApplied(r *MaintenanceRequest) {
	s := p.s
	g := Guard{ID: GuardOpenStackApplied, Text: "OpenStack is at the release that is asked for"}
	at := s.openStackRelease()
	var by string
	if len(s.OpenStack) == 1 {
		by = s.OpenStack[0].ControllerVersion
	}
	apply := "only the OpenStack controller applies it: " + shellCommand("kubectl", "-n", "osh-system", "scale", "deployment", "rockoon", "--replicas=1") +
		"; when its OpenStackDeploymentStatus says APPLIED at that release, scale it down again, or let it go on by itself"
	switch version := imageVersion(s.Controller); {
	case !s.known(SourceOpenStackStatus):
		g.Answer = "not known: " + s.whyUnknown(SourceOpenStackStatus)
	case at == "" && r != nil && r.Release != "":
		g.Answer, g.Remedy = "OpenStackDeploymentStatus does not say at which release it is", apply
	case r != nil && r.Release != "" && !sameRelease(at, r.Release):
		g.Answer, g.Remedy = "OpenStack is still at "+oneLine(at, 40)+": nobody has applied "+oneLine(r.Release, 40), apply
	case version != "" && by != "" && !strings.Contains(version, by) && !strings.Contains(by, version):
		g.Answer, g.Remedy = "it was applied by controller "+oneLine(by, 40)+", and the Deployment rockoon is at "+oneLine(version, 40)+" by now", apply
	default:
		g.Holds, g.Answer = true, "it is at "+textOf(oneLine(at, 40), "no release that is told")
	}
	p.fact("OpenStack's release", at)
	p.fact("applied by", by)
	p.guard(g)
}

// imageVersion is the tag of a Deployment's image; empty when it has none, or is not known.
func imageVersion(d *Deployment) string {
	if d == nil {
		return ""
	}
	image, _, _ := strings.Cut(d.Image, "@")
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}
