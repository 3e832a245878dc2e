package scene

import (
	"time"

	"lockstep/core"
)

// OfNode is the key of a node's procedure.
func OfNode(node string) core.ProcedureKey {
	return core.ProcedureKey{Kind: core.ProcedureNode, Subject: node}
}

// StepsOf are the steps of a procedure: their titles in order, and the steps by title. Without a procedure there are none.
func StepsOf(p core.Procedure, _ bool) (titles []string, by map[string]core.Step) {
	by = map[string]core.Step{}
	for _, st := range p.Steps {
		titles, by[st.Title] = append(titles, st.Title), st
	}
	return titles, by
}

// KindsOf are the kinds of intents of a procedure's steps; steps without an intent are left out.
func KindsOf(p core.Procedure, _ bool) (out []core.IntentKind) {
	for _, st := range p.Steps {
		if st.Intent.Kind != "" {
			out = append(out, st.Intent.Kind)
		}
	}
	return out
}

// Over is a cluster whose update has ended, with nothing left over.
func Over() Scene {
	sc := Healthy()
	sc.History.Update = core.UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: Ago(5 * time.Hour), Ended: Ago(time.Hour)}
	sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh-dev", UID: "osdplst"},
		State: "APPLIED"}}
	sc.Agents["cmp-01"] = []*core.NetworkAgent{{ID: "a", Host: "cmp-01", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent",
		Alive: true, AdminUp: true}}
	sc.DaemonSet(VRouters, "vrouter", true, "cmp-01", "cmp-02", "cmp-03")
	sc.DaemonSet(OvsAgents, "neutron-ovs-agent", false, "cmp-01", "cmp-02", "cmp-03")
	return sc
}

// PointOf is the point with this ID; an empty one when there is none.
func PointOf(points []core.AfterPoint, id string) core.AfterPoint {
	for _, p := range points {
		if p.ID == id {
			return p
		}
	}
	return core.AfterPoint{}
}

// Outline is a procedure's steps, one a line: state, title and progress.
func Outline(p core.Procedure) []string {
	var out []string
	for _, st := range p.Steps {
		line := string(st.State) + ": " + st.Title
		if st.Status != "" {
			line += " | " + st.Status
		}
		for _, a := range st.Alternatives {
			line += " / " + string(a.Intent.Kind)
		}
		out = append(out, line)
	}
	return out
}

// RestartAll is the intent to restart all old vRouter pods.
func RestartAll() core.Intent { return core.Intent{Kind: core.IntentRestartPods, Workload: VRouters} }
