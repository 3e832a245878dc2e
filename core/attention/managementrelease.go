package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// managementOutdated finds an update that can begin while the management cluster is not at its latest version.
func (f *facts) managementOutdated() {
	m := f.s.Management
	p := m.Plan()
	if f.request != nil || p == nil || p.UnderWay() || p.Status == core.PlanCompleted {
		return
	}
	v := progress.ManagementVersion(f.s)
	if v.Problem == "" {
		return
	}
	f.add(core.Attention{Rule: core.RuleManagementOutdated, Severity: core.SeverityNotice,
		Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: "management", Resolve: clusterProcedure(),
		Reason: "before the update to " + wording.OneLine(p.Target, 60) + ": the management cluster runs " + v.Text,
		Detail: "MOSK's procedure wants the management cluster at its latest version first; it updates itself."})
}
