package scene

import (
	"strings"
	"time"

	"lockstep/core"
	"pgregory.net/rapid"
)

// VRouters and OvsAgents are the names of two DaemonSets, with their namespaces.
const (
	VRouters  = "tf/tf-vrouter-agent"
	OvsAgents = "openstack/neutron-ovs-agent-default"
)

// DaemonSet adds a DaemonSet at its second revision, with a pod on each of the nodes.
func (sc Scene) DaemonSet(workload, component string, onDelete bool, nodes ...string) *core.DaemonSet {
	namespace, name, _ := strings.Cut(workload, "/")
	d := &core.DaemonSet{Meta: core.Meta{Namespace: namespace, Name: name, UID: "ds-" + name}, OnDelete: onDelete, Generation: 2, Observed: 2,
		Template: 2,
		Desired:  len(nodes), Ready: len(nodes), Component: component, Selector: "component=" + component}
	if namespace == core.NamespaceOpenStack {
		d.Application = "neutron"
	}
	sc.DaemonSets = append(sc.DaemonSets, d)
	if sc.DaemonPods == nil {
		sc.DaemonPods, sc.DaemonRevisions = map[string][]*core.DaemonPod{}, map[string][]*core.DaemonRevision{}
	}
	for i, hash := range []string{"old", "new"} {
		sc.DaemonRevisions[d.UID] = append(sc.DaemonRevisions[d.UID],
			&core.DaemonRevision{Meta: core.Meta{Namespace: namespace, Name: name + "-" + hash, UID: d.UID + hash}, Owner: d.UID, Number: i + 1,
				Hash: hash})
	}
	for _, node := range nodes {
		sc.daemonPod(d, node, "new", 2)
	}
	return d
}

func (sc Scene) daemonPod(d *core.DaemonSet, node, hash string, template int) *core.DaemonPod {
	p := &core.DaemonPod{Meta: core.Meta{Namespace: d.Namespace, Name: d.Name + "-" + node, UID: "pod-" + d.Name + "-" + node,
		Created: Ago(time.Hour)}, Owner: d.UID, Set: d.Name,
		Node: node, Hash: hash, Template: template, Ready: true}
	sc.DaemonPods[d.UID] = append(sc.DaemonPods[d.UID], p)
	return p
}

// Pod is the DaemonSet's pod on the node.
func (sc Scene) Pod(workload, node string) *core.DaemonPod {
	for _, d := range sc.DaemonSets {
		for _, p := range sc.DaemonPods[d.UID] {
			if d.Namespace+"/"+d.Name == workload && p.Node == node {
				return p
			}
		}
	}
	return nil
}

// Old gives the DaemonSet's pods on the nodes the previous revision.
func (sc Scene) Old(workload string, nodes ...string) {
	for _, node := range nodes {
		p := sc.Pod(workload, node)
		p.Hash, p.Template = "old", 1
	}
}

// VRouterScene is a cluster at rest whose three vRouter pods are old.
func VRouterScene() Scene {
	sc := Healthy()
	sc.DaemonSet(VRouters, "vrouter", true, "cmp-01", "cmp-02", "cmp-03")
	sc.Old(VRouters, "cmp-01", "cmp-02", "cmp-03")
	return sc
}

// anyDaemons draws DaemonSets whose pods can be old, not ready or ending, and the state of their agents in Neutron.
func anyDaemons(t *rapid.T, sc Scene) {
	for workload, component := range map[string]string{VRouters: "vrouter", OvsAgents: "neutron-ovs-agent"} {
		d := sc.DaemonSet(workload, component, component == "vrouter" || rapid.Bool().Draw(t, "on delete"), "cmp-01", "cmp-02")
		if rapid.IntRange(0, 9).Draw(t, "unobserved") == 9 {
			d.Observed = 1
		}
		if rapid.IntRange(0, 9).Draw(t, "no revisions") == 9 {
			delete(sc.DaemonRevisions, d.UID)
		}
		for _, p := range sc.DaemonPods[d.UID] {
			if rapid.Bool().Draw(t, "old") {
				p.Hash, p.Template = "old", 1
			}
			if rapid.IntRange(0, 9).Draw(t, "unready") == 9 {
				p.Ready = false
			}
			if rapid.IntRange(0, 9).Draw(t, "ending") == 9 {
				p.Deleting = Noon
			}
		}
	}
	for _, host := range []string{"cmp-01", "cmp-02"} {
		if rapid.Bool().Draw(t, "agent") {
			sc.Agents[host] = []*core.NetworkAgent{{ID: "agent-" + host, Host: host, Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent",
				Alive: rapid.Bool().Draw(t, "alive"), AdminUp: true, Heartbeat: Ago(time.Minute)}}
		}
	}
	for _, id := range []core.SourceID{core.SourceFabricPods, core.SourceFabricSets, core.SourceFabricRevisions, core.SourceNetworkAgents} {
		if rapid.IntRange(0, 19).Draw(t, string(id)) == 19 {
			sc.Source(id, core.SourceStale)
		}
	}
	if rapid.Bool().Draw(t, "deployment") {
		sc.Deployments = []*core.OpenStackDeployment{{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh-dev", UID: "osdpl"},
			Services: rapid.SampledFrom([][]string{nil, {"compute"}, {"compute", "tempest"}}).Draw(t, "services")}}
		sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev"},
			State: rapid.SampledFrom([]string{"APPLIED", "APPLYING"}).Draw(t, "osdpl")}}
	}
}
