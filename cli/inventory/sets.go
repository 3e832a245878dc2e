package inventory

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/cli/pseudonym"
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/sim/scenario"
)

// startsWithin is how long a pod that is not ready, or whose node came back, counts as starting: in the rehearsal it starts.
const startsWithin = 10 * time.Minute

// starting are the waiting reasons of containers that are about to run.
var starting = []string{"ContainerCreating", "PodInitializing"}

// down tells whether a pod is not ready and will not become ready by itself. A pod on a node that is away does not count.
func (b *builder) down(p *core.DaemonPod) bool {
	n := b.at(b.machines[p.Node])
	if p.Ready || n == nil || n.Ready != "" || slices.Contains(starting, p.Waits) {
		return false
	}
	now := clusterTime(b.inv)
	return p.Waits != "" || now.Sub(p.Created) > startsWithin && now.Sub(n.ReadySince.Of()) > startsWithin
}

// waits is why a pod that is down does not run.
func (b *builder) waits(p *core.DaemonPod) string {
	if !b.down(p) {
		return ""
	}
	return oneLine(p.Waits, 100)
}

// sets takes over the StatefulSets with their pods, and of DaemonSets the pods that an update left old, or that are down. A pod
// that is on its way out, or on a node that is gone, is left out: its set makes it anew.
func (b *builder) sets() {
	gone := func(p *core.DaemonPod) bool { return !p.Deleting.IsZero() || p.Node != "" && b.machines[p.Node] == "" }
	for _, set := range b.inv.StatefulSets {
		found := scenario.FoundSet{Namespace: set.Namespace, Name: set.Name, Replicas: set.Replicas}
		for _, p := range b.inv.DaemonPods[set.UID] {
			if !gone(p) {
				found.Pods = append(found.Pods, scenario.FoundPod{Name: p.Name, Node: b.machines[p.Node], Down: b.down(p), Waits: b.waits(p)})
			}
		}
		b.s.Found.StatefulSets = append(b.s.Found.StatefulSets, found)
	}
	live := core.Source{State: core.SourceLive, AsOf: b.inv.Taken}
	snapshot := &core.Snapshot{Facts: core.Facts{DaemonSets: b.inv.DaemonSets, DaemonRevisions: b.inv.DaemonRevisions,
		DaemonPods: b.inv.DaemonPods, Sources: map[core.SourceID]core.Source{core.SourceDaemonPods: live, core.SourceFabricPods: live}}}
	for _, v := range progress.DaemonViews(snapshot) {
		found := scenario.FoundDaemonSet{Namespace: v.Set.Namespace, Name: v.Set.Name}
		for _, p := range v.Pods {
			old := v.Set.OnDelete && slices.Contains(v.Old, p) // others are replaced by their controller
			if !gone(p) && p.Node != "" && (old || b.down(p)) {
				found.Pods = append(found.Pods, scenario.FoundDaemonPod{Node: b.machines[p.Node], Old: old, Down: b.down(p), Waits: b.waits(p)})
			}
		}
		if len(found.Pods) > 0 {
			slices.SortFunc(found.Pods, func(x, y scenario.FoundDaemonPod) int { return compareNames(x.Node, y.Node) })
			b.s.Found.DaemonSets = append(b.s.Found.DaemonSets, found)
		}
	}
}

// plainSets are names of sets that every MOSK has; they reveal nothing (docs/mosk.md#quorum, #restarts).
var plainSets = []string{"mariadb-server", "etcd-etcd", "rfr-openstack-redis", "openstack-prometheus-server", "openvswitch-ovn-db",
	"libvirt-libvirt-default", "nova-compute-default", "openvswitch-openvswitch-vswitchd-default", "openvswitch-ovn-controller-default",
	"neutron-ovs-agent-default", "neutron-l3-agent-default", "neutron-dhcp-agent-default", "tf-vrouter-agent"}

// podNumber is the suffix by which the pods of a StatefulSet differ.
var podNumber = regexp.MustCompile(`-\d+$`)

// plainWaits is the form of Kubernetes' own reasons for a container that does not run.
var plainWaits = regexp.MustCompile(`^[A-Za-z]{1,40}$`)

// sets renames the sets, and with them their pods.
func (p *pseudonyms) sets(f *scenario.Found, machines map[string]string) {
	name := func(set string) string {
		if slices.Contains(plainSets, set) {
			return set
		}
		return p.Name("set", set)
	}
	waits := func(reason string) string {
		if reason != "" && !plainWaits.MatchString(reason) {
			return pseudonym.LeftOut
		}
		return reason
	}
	for i := range f.StatefulSets {
		set := &f.StatefulSets[i]
		set.Name = name(set.Name)
		for j := range set.Pods {
			pod := &set.Pods[j]
			number := podNumber.FindString(pod.Name)
			if pod.Name = set.Name + number; number == "" {
				pod.Name = p.Name("pod", pod.Name)
			}
			pod.Node, pod.Waits = machines[pod.Node], waits(pod.Waits)
		}
		slices.SortFunc(set.Pods, func(x, y scenario.FoundPod) int { return strings.Compare(x.Name, y.Name) })
	}
	slices.SortFunc(f.StatefulSets, func(x, y scenario.FoundSet) int {
		return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
	})
	for i := range f.DaemonSets {
		set := &f.DaemonSets[i]
		set.Name = name(set.Name)
		for j := range set.Pods {
			set.Pods[j].Node, set.Pods[j].Waits = machines[set.Pods[j].Node], waits(set.Pods[j].Waits)
		}
		slices.SortFunc(set.Pods, func(x, y scenario.FoundDaemonPod) int { return strings.Compare(x.Node, y.Node) })
	}
	slices.SortFunc(f.DaemonSets, func(x, y scenario.FoundDaemonSet) int {
		return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
	})
}
