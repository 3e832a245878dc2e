package scene

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Stateful adds a StatefulSet with a ready pod on each of the nodes; an empty name makes a pod without a node.
func (sc Scene) Stateful(namespace, name string, nodes ...string) *core.StatefulSet {
	set := &core.StatefulSet{Meta: core.Meta{Namespace: namespace, Name: name, UID: namespace + "/" + name}, Replicas: len(nodes),
		Selector: "app=" + name}
	sc.StatefulSets = append(sc.StatefulSets, set)
	if sc.DaemonPods == nil {
		sc.DaemonPods = map[string][]*core.DaemonPod{}
	}
	sc.DaemonPods[set.UID] = Members(set, nodes...)
	return set
}

// Members are a StatefulSet's pods on the nodes. They are ready unless the node is marked: "!ctl-02" is not ready, "-ctl-02" is
// being removed.
func Members(set *core.StatefulSet, nodes ...string) []*core.DaemonPod {
	var out []*core.DaemonPod
	for i, node := range nodes {
		p := &core.DaemonPod{Meta: core.Meta{Namespace: set.Namespace, Name: set.Name + "-" + wording.Itoa(i),
			UID: "pod-" + set.Name + "-" + wording.Itoa(i)}, Owner: set.UID, Set: set.Name,
			Node: strings.TrimLeft(node, "!-"), Ready: node != "" && !strings.HasPrefix(node, "!")}
		if strings.HasPrefix(node, "-") {
			p.Deleting = Noon
		}
		out = append(out, p)
	}
	return out
}

// Quorate is a cluster with requests for ctl-01 and cmp-01, whose OpenStack controller Lockstep plays; the members of
// mariadb-server are on the nodes.
func Quorate(nodes ...string) Scene {
	sc := Healthy()
	sc.Settings = PlaysOpenStack()
	sc.Update(2 * time.Hour)
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}} // scaled to 0
	for _, node := range []string{"ctl-01", "cmp-01"} {
		sc.Request(node, 20*time.Minute)
	}
	sc.Stateful(core.NamespaceOpenStack, "mariadb-server", nodes...)
	sc.Stateful(core.NamespaceOpenStack, "etcd-etcd", "ctl-01", "ctl-02", "ctl-03")
	sc.Stateful(core.NamespaceRedis, "rfr-openstack-redis", "ctl-01", "ctl-02", "ctl-03")
	return sc
}
