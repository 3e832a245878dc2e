package step

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// setRelease plans to set the release that a Cluster without an update plan is to be at. That begins the whole update
// (docs/mosk.md#cluster-and-machine).
func (p *planner) setRelease() {
	s, to := p.s, p.i.Release
	label := wording.TextOf(wording.OneLine(to, 60), "no release")
	p.step.Title, p.step.Risk = "update the cluster to "+label, core.RiskHigh
	if !p.managed(busyManaging, append(stopSources(), core.SourcePlans, core.SourceMachines, core.SourceReboots,
		core.SourceClusterRequests)...) {
		return
	}
	m, c := s.Management, s.Management.Cluster
	p.identify(c.Ref())
	p.step.ID += "/" + to
	others := otherOffers(c, to)
	p.step.Type = typable(c.Name, c.UID)
	if len(others) > 0 { // which one it is has to be typed
		p.step.Type = typable(to, p.step.Type)
	}
	p.fact("others", strings.Join(others, ", "))
	p.guard(guardExists("the Cluster", c.Ref()))
	p.fact("uid", c.UID)
	p.fact("release", c.Target)
	p.fact("at", c.Release)
	p.fact("to", to)
	offer, offered := c.Offered(to)
	p.fact("reboots", wording.TextIf(offer.Reboot, "true", "false"))
	p.guard(core.Guard{ID: core.GuardOffered, Text: "the release is offered for this cluster", Holds: offered,
		Answer: wording.TextOf(offersText(c), "none is offered"), Remedy: "take one that is offered"})
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "the Cluster is not to be at it yet", Holds: c.Target != to,
		Answer: "its release is " + wording.TextOf(wording.OneLine(c.Target, 60), "not set")})
	unplanned := core.Guard{ID: core.GuardNoPlan, Text: "no update plan leads there", Holds: true, Answer: "none",
		Remedy: "commence its steps: it stops between them, this does not"}
	if i := slices.IndexFunc(m.Plans, func(p *core.UpdatePlan) bool { return p.Target == to && p.Status != core.PlanCompleted }); i >= 0 {
		unplanned.Holds, unplanned.Answer = false, "plan "+wording.OneLine(m.Plans[i].Name, 60)
	}
	p.guard(unplanned)
	p.guard(guardNoUpdate(s))
	out := core.Guard{ID: core.GuardNoMaintenance, Text: "the cluster is not in maintenance mode", Holds: !c.InMaintenance && !c.Wanted(),
		Answer: "it is not", Remedy: "take it out of it first: an update does not begin in it"}
	if !out.Holds {
		out.Answer = "it is, or is on its way"
	}
	p.guard(out)
	p.guard(guardNoReboot(s))
	p.guard(guardNoRequest(s))
	past := p.stops(Stops(s, AtOnce), typable(c.Name+"/"+to, c.UID))
	p.step.Why = wording.Join(past, "The cluster has no update plan, whose steps could be commenced one by one: its release begins the whole "+
		"update.", wording.TextIf(len(others) > 0, "Others are offered too, and are not taken: "+wording.Some(others, 4)+".", ""))
	p.step.Then = fmt.Sprintf("LCM updates everything, from OpenStack to the last worker, and stops nowhere in between: it cannot be "+
		"cancelled, and there is no way back to %s.", wording.TextOf(wording.OneLine(c.Release, 60), "the old release"))
	if offer.Reboot {
		p.step.Then += " The release says that hosts are to be rebooted."
	}
	if c.Target == to && c.Release == to {
		p.done = "the cluster is at it"
		return
	}
	if c.Target == to {
		p.step.State, p.step.Status = core.StepWaiting, "the release is set; LCM updates the cluster"
		return
	}
	p.step.Change = core.SetRelease{Cluster: c.Ref(), Old: c.Target, New: to}
	p.step.Commands = []string{releaseCommand(s, c, to)}
}

// stops adds the guard of what stops the update, and makes the step one that goes past it where the operator says so. It returns what is
// gone past, as a sentence. typed is what is typed then.
func (p *planner) stops(stops []core.Stop, typed string) string {
	p.guardNoStops(stops)
	if !p.i.PastStops {
		return ""
	}
	p.step.ID += "/past"
	p.step.Title += ", past what stops it"
	p.step.Risk, p.step.Type = core.RiskHighest, typed
	return pastText(stops)
}

// otherOffers are the releases that are offered besides the one, by name, else by version.
func otherOffers(c *core.ManagedCluster, but string) []string {
	var others []string
	for _, o := range c.Available {
		if o.Name != but {
			others = append(others, wording.OneLine(wording.TextOf(o.Name, o.Version), 60))
		}
	}
	return others
}

func offersText(c *core.ManagedCluster) string {
	var names []string
	for _, o := range c.Available {
		names = append(names, wording.OneLine(wording.TextOf(o.Name, o.Version), 60))
	}
	return wording.Some(names, 6)
}

// releaseCommand sets the Cluster's release by hand; the patch tests what it was.
func releaseCommand(s *core.Snapshot, c *core.ManagedCluster, to string) string {
	const path = "/spec/providerSpec/value/release"
	return s.KubectlManagement("patch", "clusters.cluster.k8s.io", c.Name, "--type=json", "-p",
		fmt.Sprintf(`[{"op":"test","path":"%s","value":%s},{"op":"replace","path":"%s","value":%s}]`, path, wording.JSONText(c.Target), path,
			wording.JSONText(to)))
}
