package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// actRestarts adds the restarts that the node's return waits for: the old pods that Rockoon would restart, then agents and a
// nova-compute that do not report.
func (b *nodeSteps) actRestarts() {
	s, n := b.s, b.v.Node
	if n == nil || !n.Is(core.RoleCompute) && !n.Is(core.RoleGateway) {
		return
	}
	var views []core.DaemonView
	for _, v := range progress.DaemonViews(s) {
		if v.Set.Namespace == core.NamespaceFabric {
			views = nil // with Tungsten Fabric, Neutron has nothing to do on a node
			break
		}
		pod := v.On(b.v.Name)
		if pod == nil || !progress.IsRestartedOnReturn(v.Set) {
			continue
		}
		if old, known := v.IsOld(pod); old || !known || !pod.Ready || !pod.Deleting.IsZero() {
			views = append(views, v)
		}
	}
	for _, v := range views {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentRestartPod, Workload: v.Set.Namespace + "/" + v.Set.Name, Node: b.v.Name}))
	}
	if s.Known(core.SourceNetworkAgents) && len(progress.AgentsDown(s, s.HostOf(b.v.Name))) > 0 {
		b.add(b.restartAgents()...)
	}
	b.add(b.restartCompute()...)
	b.serviceSteps()
}
