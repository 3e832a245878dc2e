package forecast

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Formula is the documents' maintenance window for this cluster (docs/mosk.md#maintenance-window).
type Formula struct {
	Inputs    progress.Inputs
	Rows      []FormulaRow
	Sum       time.Duration // 0 while the nodes are not known
	Ambiguous []string      // what the documents leave open, and how it was read here; each a sentence
}

// FormulaRow is one summand.
type FormulaRow struct {
	Stage   string
	Term    string // as the documents have it: "15 NKC"
	Numbers string // with this cluster's numbers: "15 · 3"
	Takes   time.Duration
}

// FormulaOf is the documents' formula with the cluster's own numbers.
func FormulaOf(s *core.Snapshot) Formula {
	e := progress.EstimatesOf(s)
	in := e.Inputs()
	f := Formula{Inputs: in}
	if !in.Known {
		f.Ambiguous = []string{"The nodes are not known, so the formula has no numbers: " + s.WhyUnknown(core.SourceNodes) + "."}
		return f
	}
	m := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	workers, why := partOfUpdate(s)
	f.Rows = []FormulaRow{
		{"life-cycle modules", "45", "45", e.Modules()},
		{"OpenStack and Tungsten Fabric", "(0.78 D + 359)(NC + NG) / 60",
			fmt.Sprintf("(0.78 · %d + 359)(%d + %d) / 60", in.Density, in.Computes, in.Gateways), e.OpenStack() - e.Modules()},
		{"Ceph", "35 + 15, or 50", "50", e.Ceph()},
		{"host OS on masters", "15 NKC", fmt.Sprintf("15 · %d", in.Masters), m(15 * in.Masters)},
		{"Kubernetes on masters", "40", "40", e.MastersKubernetes()},
		{"workers: move, update, restart", "(20 NC + 40 NKM) RE", fmt.Sprintf("(20 · %d + 40 · %d) · %d", in.Computes, in.Workers, workers),
			m(20*in.Computes+40*in.Workers) * time.Duration(workers)},
	}
	for _, r := range f.Rows {
		f.Sum += r.Takes
	}
	f.Ambiguous = append(f.Ambiguous, why)
	if workers == 0 && in.Computes > 0 {
		f.Ambiguous = append(f.Ambiguous, "Whether RE multiplies both terms is not clear: if it does not count for 20 NC, "+
			wording.SpanText(m(20*in.Computes))+" are to be added.")
	}
	f.Ambiguous = append(f.Ambiguous, "It takes nodes one after the other. With several at a time, the workers' part is shorter "+
		"by about that number (inferred).")
	if !s.Known(core.SourceInstances) {
		f.Ambiguous = append(f.Ambiguous, "D, the instances on a compute, is not known and taken as 0: "+s.WhyUnknown(core.SourceInstances)+".")
	} else if in.Computes > 0 {
		most := 0
		for _, n := range s.Nodes {
			if n.Is(core.RoleCompute) {
				most = max(most, len(s.InstancesOn(n.Name)))
			}
		}
		f.Ambiguous = append(f.Ambiguous, fmt.Sprintf("D is taken as the average over computes, rounded down; the fullest has %d.", most))
	}
	if slices.ContainsFunc(s.ClusterLocks, func(l *core.WorkloadLock) bool { return l.Controller == core.ControllerTungstenFabric }) {
		f.Ambiguous = append(f.Ambiguous, "The documents give it for Open vSwitch only, and this cluster has a lock of Tungsten Fabric: "+
			"the second row is not measured for it.")
	}
	f.Ambiguous = append(f.Ambiguous, "NKM counts the nodes that are no masters. The auxiliary components at the end, about an hour "+
		"(recalled), are not in the sum.")
	return f
}

// partOfUpdate is RE: 1 when workers are part of the update, else 0; and how that is known.
func partOfUpdate(s *core.Snapshot) (int, string) {
	plan := s.Management.Plan()
	if plan == nil || len(plan.Steps) == 0 {
		return 1, "RE says whether workers are part of the update. No update plan says it, so it is taken as 1."
	}
	n := 0
	for _, st := range plan.Steps {
		if st.Phase() == core.PhaseWorkers {
			n++
		}
	}
	if n == 0 {
		return 0, "RE is 0: the update plan " + wording.OneLine(plan.Name, 60) + " has no step for workers."
	}
	return 1, fmt.Sprintf("RE is 1: the update plan %s has %s for workers.", wording.OneLine(plan.Name, 60), wording.Count(n, "step"))
}
