package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardApplied holds when OpenStack is at the requested release, applied by the controller of that release. While the controller does
// not run, its status stands still: "applied and healthy" is then about the old release (docs/mosk.md#releasing-the-cluster-lock).
func (p *planner) guardApplied(r *core.MaintenanceRequest) {
	s := p.s
	g := core.Guard{ID: core.GuardOpenStackApplied, Text: "OpenStack is at the release that is asked for"}
	at := progress.OpenStackRelease(s)
	var by string
	if len(s.OpenStack) == 1 {
		by = s.OpenStack[0].ControllerVersion
	}
	apply := "only the OpenStack controller applies it: " +
		wording.ShellCommand("kubectl", "-n", "osh-system", "scale", "deployment", "rockoon", "--replicas=1") +
		"; when its OpenStackDeploymentStatus says APPLIED at that release, scale it down again, or let it go on by itself"
	switch version := progress.ImageVersion(s.Controller); {
	case !s.Known(core.SourceOpenStackStatus):
		g.Answer = "not known: " + s.WhyUnknown(core.SourceOpenStackStatus)
	case at == "" && r != nil && r.Release != "":
		g.Answer, g.Remedy = "OpenStackDeploymentStatus does not say at which release it is", apply
	case r != nil && r.Release != "" && !progress.SameRelease(at, r.Release):
		g.Answer, g.Remedy = "OpenStack is still at "+wording.OneLine(at, 40)+": nobody has applied "+wording.OneLine(r.Release, 40), apply
	case version != "" && by != "" && !sameVersion(version, by):
		g.Answer, g.Remedy = "it was applied by controller "+wording.OneLine(by, 40)+", and the Deployment rockoon is at "+
			wording.OneLine(version, 40)+" by now", apply
	default:
		g.Holds, g.Answer = true, "it is at "+wording.TextOf(wording.OneLine(at, 40), "no release that is told")
	}
	p.fact("OpenStack's release", at)
	p.fact("applied by", by)
	p.guard(g)
}

// sameVersion tells whether two versions are one: where the image's tag has more than the controller says, it is no further number, as that
// of 1.2.10 after 1.2.1 would be.
func sameVersion(a, b string) bool {
	a, b = strings.TrimPrefix(a, "v"), strings.TrimPrefix(b, "v")
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, begins := strings.CutPrefix(b, a)
	return begins && (rest == "" || rest[0] != '.' && (rest[0] < '0' || rest[0] > '9'))
}

// guardOpenStackHealthy holds when the OpenStack deployment is applied and all its services are healthy (docs/mosk.md#cluster-request).
func (p *planner) guardOpenStackHealthy() {
	s := p.s
	g := core.Guard{ID: core.GuardOpenStackHealthy, Text: "OpenStack is applied and healthy", Remedy: "mend what is not, or wait for it"}
	switch {
	case !s.Known(core.SourceOpenStackStatus):
		g.Answer = "not known: " + s.WhyUnknown(core.SourceOpenStackStatus)
	case len(s.OpenStack) == 0:
		g.Answer = "there is no OpenStackDeploymentStatus"
	default:
		g.Holds = true
		var parts []string
		for _, o := range s.OpenStack {
			parts = append(parts, wording.OneLine(o.Name, 40)+" is "+wording.OneLine(o.State, 30)+", health "+
				wording.TextOf(wording.OneLine(o.Health, 20), "not told"))
			if o.State != "APPLIED" || len(o.Unhealthy) > 0 {
				g.Holds = false
			}
			if len(o.Unhealthy) > 0 {
				parts = append(parts, "not ready: "+wording.OneLine(wording.Some(o.Unhealthy, 4), 200))
			}
		}
		g.Answer = strings.Join(parts, "; ")
	}
	p.guard(g)
}

// guardNothingToApply holds when every OpenStack deployment is APPLIED.
func guardNothingToApply(s *core.Snapshot) core.Guard {
	g := core.Guard{ID: core.GuardOpenStackApplied, Text: "OpenStack is APPLIED", Remedy: "wait until it is: kubectl -n openstack get osdplst"}
	if len(s.OpenStack) == 0 {
		g.Answer = "its status is not known"
		return g
	}
	g.Holds = true
	for _, o := range s.OpenStack {
		g.Answer = wording.OneLine(o.State, 40)
		if o.State != "APPLIED" {
			g.Holds = false
			break
		}
	}
	return g
}
