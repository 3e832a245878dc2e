package core

import "strings"

// restartedOnReturn are the components whose old pods Rockoon restarts on a compute or gateway that returns, before it lets the
// scheduler have it: those of the OnDelete DaemonSets, while the host is still out of scheduling (docs/mosk.md#restarts).
// Whether automated_openvswitch_restart keeps Open vSwitch out of it in scope drain is the
// operator's to know.
var restartedOnReturn = []string{"ovn-controller", "l3-agent", "openvswitch-vswitchd"}

// isRestartedOnReturn tells whether the DaemonSet is one of those.
func (d *DaemonSet) isRestartedOnReturn() bool {
	if d.Namespace != namespaceOpenStack || !d.OnDelete {
		return false
	}
	for _, part := range restartedOnReturn {
		if strings.HasSuffix(d.Component, part) {
			return true
		}
	}
	return false
}

// returnsOurs tells whether it is a played OpenStack controller's turn to take the node back.
func (s *Snapshot) returnsOurs(node string) bool {
	a, played := s.actAs(ControllerOpenStack)
	return played && a.holds(s.Nodes[node]) && s.actTurn(a, node) == turnReturn
}

// actRestarts are what brings the node's networking and its nova-compute up, which the return of the node waits for: the old
// pods that Rockoon would restart, then agents and a nova-compute that do not report.
func (b *nodeSteps) actRestarts() {
	s, n := b.s, b.v.Node
	if n == nil || !n.Is(RoleCompute) && !n.Is(RoleGateway) {
		return
	}
	var views []DaemonView
	for _, v := range s.DaemonViews() {
		if v.Set.Namespace == namespaceFabric {
			views = nil // with Tungsten Fabric, Neutron has nothing to do on a node
			break
		}
		pod := v.on(b.v.Name)
		if pod == nil || !v.Set.isRestartedOnReturn() {
			continue
		}
		if old, known := v.isOld(pod); old || !known || !pod.Ready || !pod.Deleting.IsZero() {
			views = append(views, v)
		}
	}
	for _, v := range views {
		b.add(Plan(s, Intent{Kind: IntentRestartPod, Workload: v.Set.Namespace + "/" + v.Set.Name, Node: b.v.Name}))
	}
	if s.known(SourceNetworkAgents) && len(s.agentsDown(s.HostOf(b.v.Name))) > 0 {
		b.add(b.restartAgents()...)
	}
	b.add(b.restartCompute()...)
	b.serviceSteps()
}
