package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// managed is an object of the cluster's project on the management cluster.
func (f *facts) managed(kind core.Kind, name string) core.ObjectTarget {
	t := core.ObjectTarget{Server: core.ServerManagement, Kind: string(kind), Name: name}
	if m := f.s.Management; m != nil {
		t.Namespace = m.Namespace
	}
	return t
}

func atDrains(f *facts, a core.Attention) []core.Command {
	v := f.machineOf(a)
	if v == nil {
		return atDrainsAll(f, a)
	}
	var out []core.Command
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil {
			out = append(out, procedure.ToLook("the drain, as LCM sees it", f.s.KubectlManagement("get", "lcmclusterstates", d.Name, "-o", "yaml")).
				Showing(f.managed("LCMClusterState", d.Name).As(core.LookYAML)))
		}
	}
	if len(out) == 0 {
		return atDrainsAll(f, a)
	}
	return out
}

func atDrainsAll(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the drains, as LCM sees them", f.s.KubectlManagement("get", "lcmclusterstates", "-o", "wide")),
		procedure.ToLook("the machines", f.s.KubectlManagement("get", "lcmmachines", "-o", "wide"))}
}

// atLCM shows in which pods' log LCM writes (docs/mosk.md#when-it-hangs).
func atLCM(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("whose log has LCM's words",
		f.s.Place.Kubectl("-n", "kaas", "get", "pods")+" | "+wording.ShellCommand("grep", "-e", "lcm-controller")).
		Showing(progress.LCMLog().IsLog())}
}

func atMachine(f *facts, a core.Attention) []core.Command {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	return []core.Command{procedure.ToLook("what LCM does on it", f.s.KubectlManagement("get", "lcmmachines", v.Name, "-o", "yaml")).
		Showing(f.managed(core.KindLCMMachine, v.Name).As(core.LookYAML))}
}

func atMachines(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the machines", f.s.KubectlManagement("get", "machines.cluster.k8s.io", "-o", "wide"))}
}

func atLCMCluster(f *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what LCM says", f.s.KubectlManagement("get", "lcmclusters", a.Subject.Name, "-o", "yaml")).
		Showing(f.managed(core.KindLCMCluster, a.Subject.Name).As(core.LookYAML))}
}

func atPlan(f *facts, _ core.Attention) []core.Command {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	return []core.Command{procedure.ToLook("the plan", f.s.KubectlManagement("get", "clusterupdateplans", p.Name, "-o", "yaml")).
		Showing(f.managed(core.KindUpdatePlan, p.Name).As(core.LookYAML))}
}

// commenceNext commences the next step of the update plan.
func commenceNext(f *facts, _ core.Attention) []core.Command {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	next, waits := p.Next()
	i := slices.IndexFunc(p.Steps, func(st core.PlanStep) bool { return st == next }) // older plans have no IDs
	if !waits || i < 0 {
		return nil
	}
	return []core.Command{procedure.ToChange("commence it", progress.CommenceCommand(f.s, p, i, true))}
}

// commencePaused commences a step again that an alert paused, once the alert is over.
func commencePaused(f *facts, _ core.Attention) []core.Command {
	p := f.s.Management.Plan()
	if p == nil || !f.s.Known(core.SourceAutoPauses) || f.s.Management.Pause != nil && len(f.s.Management.Pause.Firing) > 0 {
		return nil
	}
	i := slices.IndexFunc(p.Steps, func(st core.PlanStep) bool { return st.Status == core.PlanAutoPaused })
	if i < 0 {
		return nil
	}
	return []core.Command{procedure.ToChange("commence it again", progress.CommenceCommand(f.s, p, i, true))}
}

func atPause(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("what pauses it", f.s.KubectlManagement("get", "updateautopauses", "-o", "yaml"))}
}

func atManagementReleases(f *facts, _ core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("the release that it runs",
		f.s.Place.Kubectl("get", "kaasreleases", "-l", progress.LabelReleaseActive)),
		procedure.ToLook("its own upgrade", f.s.Place.Kubectl("get", "mccupgrades", core.UpgradeName, "-o", "yaml"))}
}
