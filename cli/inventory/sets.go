package inventory

import (
	"regexp"
	"slices"
	"strings"

	"lockstep/sim/scenario"
)

// sets takes over the StatefulSets with their pods. A pod that is on its way out, or on a node that is gone, is left out: its
// set makes it anew.
func (b *builder) sets() {
	for _, set := range b.inv.StatefulSets {
		found := scenario.FoundSet{Namespace: set.Namespace, Name: set.Name, Replicas: set.Replicas}
		for _, p := range set.Pods {
			if !p.Deleting.IsZero() || p.Node != "" && b.machines[p.Node] == "" {
				continue
			}
			pod := scenario.FoundPod{Name: p.Name, Node: b.machines[p.Node], Down: !p.Ready && p.Node != ""}
			if pod.Down {
				pod.Waits = oneLine(p.Waits, 100)
			}
			found.Pods = append(found.Pods, pod)
		}
		b.s.Found.StatefulSets = append(b.s.Found.StatefulSets, found)
	}
}

// plainSets are names of StatefulSets that every MOSK has; they tell nothing (mosk-facts 4.1).
var plainSets = []string{"mariadb-server", "etcd-etcd", "rfr-openstack-redis", "openstack-prometheus-server", "openvswitch-ovn-db"}

// podNumber is by what the pods of a StatefulSet differ.
var podNumber = regexp.MustCompile(`-\d+$`)

// plainWaits is the form of Kubernetes' own reasons for a container that does not run.
var plainWaits = regexp.MustCompile(`^[A-Za-z]{1,40}$`)

// sets renames the StatefulSets, and with them their pods.
func (p *pseudonyms) sets(f *scenario.Found, machines map[string]string) {
	for i := range f.StatefulSets {
		set := &f.StatefulSets[i]
		if !slices.Contains(plainSets, set.Name) {
			set.Name = p.name("set", set.Name)
		}
		for j := range set.Pods {
			pod := &set.Pods[j]
			number := podNumber.FindString(pod.Name)
			if pod.Name = set.Name + number; number == "" {
				pod.Name = p.name("pod", pod.Name)
			}
			pod.Node = machines[pod.Node]
			if pod.Waits != "" && !plainWaits.MatchString(pod.Waits) {
				pod.Waits = leftOut
			}
		}
		slices.SortFunc(set.Pods, func(x, y scenario.FoundPod) int { return strings.Compare(x.Name, y.Name) })
	}
	slices.SortFunc(f.StatefulSets, func(x, y scenario.FoundSet) int {
		return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
	})
}
