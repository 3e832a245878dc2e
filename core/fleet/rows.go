package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// told are the rules of attention that rest on the management cluster alone. The others need the MOSK cluster itself.
var told = map[core.AttentionRule]bool{
	core.RuleDrainBlocked: true, core.RuleDrainWaits: true, core.RuleStateItem: true, core.RuleDrainError: true, core.RuleSwarmError: true,
	core.RuleAgentError: true, core.RuleRebootError: true, core.RulePlanStuck: true, core.RulePlanWaits: true, core.RuleAutoPause: true,
	core.RuleAutoPauseError: true, core.RuleLCMStuck: true,
}

// facts are what is known of one cluster.
type facts struct {
	id        ID
	objects   []core.Object // its own, and the management cluster's releases
	sources   map[core.SourceID]core.Source
	now, wall time.Time
}

// rowOf makes the row of a cluster.
func rowOf(f facts) Row {
	s := &core.Snapshot{Facts: core.Facts{Now: f.now, Wall: f.wall, Cluster: f.id.Name, Sources: f.sources, Settings: core.DefaultSettings(),
		Place: core.ManagementPlace{Namespace: f.id.Project, Cluster: f.id.Name}}}
	m := core.JoinCluster(f.id.Project, f.id.Name, f.objects...)
	s.Management = m
	r := Row{ID: f.id, State: StateRests}
	if c := m.Cluster; c != nil {
		r.Release = Version(c.Release)
	}
	p := m.Plan()
	target := r.update(m, p)
	r.Reboots = m.Reboot != nil
	r.offers(m)
	if r.State.UnderWay() {
		r.count(m, target)
		r.Finish, r.NoEnd = time.Time{}, "there is no update plan"
		if p != nil && p.UnderWay() {
			r.Finish, r.NoEnd = finish(p, m.Groups, f.now)
		}
	}
	for _, a := range attention.List(s) {
		if told[a.Rule] {
			r.Needs = append(r.Needs, Need{Severity: a.Severity, Label: a.Label, Reason: a.Reason, Since: a.Since})
		}
	}
	if !r.State.UnderWay() {
		r.notReady(m)
	}
	slices.SortStableFunc(r.Needs, func(a, b Need) int { return cmp.Compare(b.Severity, a.Severity) })
	r.missing(f.sources)
	if m.Cluster == nil && p == nil {
		r.State = StateUnknown
	}
	return r
}

// update finds what the cluster's update does, and returns the release that it leads to, as its objects name it.
func (r *Row) update(m *core.Management, p *core.UpdatePlan) (target string) {
	if c := m.Cluster; c != nil {
		switch {
		case c.Target != "" && c.Release != "" && Version(c.Target) != Version(c.Release):
			r.State, target = StateUpdates, c.Target
		case c.InMaintenance || c.Wanted():
			r.State = StateMaintenance
		}
	}
	if p == nil || p.Status == core.PlanCompleted {
		r.Target = Version(target)
		return target
	}
	if r.Release == "" {
		r.Release = Version(p.Source)
	}
	st, more := stepNow(p)
	_, waits := p.Next()
	switch {
	case p.UnderWay():
		r.State = StateUpdates
	case st.Commence || st.Status == core.PlanScheduled || p.Status == core.PlanScheduled:
		r.State = StateScheduled
	case target == "":
		return ""
	}
	target = cmp.Or(p.Target, target)
	r.Target, r.Started, r.Steps = Version(target), p.Started, len(p.Steps)
	for _, s := range p.Steps {
		if s.Status == core.PlanCompleted {
			r.StepsDone++
		}
	}
	if more {
		r.Step, r.Phase = progress.StepShort(st), st.Phase()
	}
	if !r.State.UnderWay() {
		r.Phase = 0
		return target
	}
	switch {
	case p.Status == core.PlanStuck || slices.ContainsFunc(p.Steps, func(s core.PlanStep) bool { return s.Status == core.PlanStuck }),
		m.LCM != nil && m.LCM.Stuck:
		r.State = StateStuck
	case p.Status == core.PlanAutoPaused,
		slices.ContainsFunc(p.Steps, func(s core.PlanStep) bool { return s.Status == core.PlanAutoPaused }):
		r.State = StatePaused
	case waits:
		r.State = StateWaits
	}
	return target
}

// offers finds the versions that the cluster can be updated to: what its status names, and the targets of plans that have not begun.
func (r *Row) offers(m *core.Management) {
	if c := m.Cluster; c != nil {
		for _, v := range c.Available {
			r.Offered = append(r.Offered, Version(cmp.Or(v.Version, v.Name)))
		}
	}
	for _, p := range m.Plans {
		if !p.UnderWay() && p.Status != core.PlanCompleted && p.Target != "" {
			r.Offered = append(r.Offered, Version(p.Target))
		}
	}
	r.Offered = slices.DeleteFunc(r.Offered, func(v string) bool { return v == "" || v == r.Target || v == r.Release })
	slices.SortFunc(r.Offered, byVersion)
	r.Offered = slices.Compact(r.Offered)
	if len(r.Offered) > 0 && r.State == StateRests {
		r.State = StateOffered
	}
}

// count counts the machines that are done: Ready at the target (docs/mosk.md#lcmmachine).
func (r *Row) count(m *core.Management, target string) {
	for _, v := range m.Machines {
		if v.LCM == nil {
			continue
		}
		r.Nodes++
		if v.LCM.State == core.LCMReady && Version(v.LCM.Release) == Version(target) {
			r.Done++
		}
	}
	r.NodesKnown = r.Nodes > 0
}

// notReady finds a cluster that is not ready although nothing is done to it.
func (r *Row) notReady(m *core.Management) {
	c := m.Cluster
	if c == nil || r.State == StateMaintenance || !c.ReadyKnown || c.Ready {
		return
	}
	var texts []string
	for _, cond := range c.Conditions {
		if !cond.Ready {
			texts = append(texts, wording.OneLine(cond.Type, 40)+wording.Because(wording.OneLine(cond.Message, 300)))
		}
	}
	r.Needs = append(r.Needs, Need{Severity: core.SeverityWarning, Label: "cluster",
		Reason: "not ready" + wording.Because(strings.Join(texts, "; "))})
}

// needed are the sources without which a row says less than it should; those of machines count only while they are watched.
var needed = []core.SourceID{core.SourceClusters, core.SourcePlans, core.SourceLCMClusters, core.SourceLCMMachines, core.SourceDrains,
	core.SourceGroups, core.SourceAutoPauses, core.SourceReboots}

// missing notes what could not be read. An older management cluster lacks the newer kinds, which is nobody's concern.
func (r *Row) missing(sources map[core.SourceID]core.Source) {
	for _, id := range needed {
		src, ok := sources[id]
		if !ok || src.Err == nil || src.State == core.SourceAbsent && id != core.SourceClusters {
			continue
		}
		why := src.Err.Cause()
		if src.State == core.SourceStale {
			why = "old: " + why
		}
		r.Missing = append(r.Missing, Missing{What: id, Why: why, Err: src.Err})
	}
	if c, ok := sources[core.SourceLCMMachines]; ok && c.State == core.SourceConnecting {
		r.NodesKnown = false
	}
}
