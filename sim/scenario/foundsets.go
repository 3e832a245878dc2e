package scenario

import "slices"

// FoundSet is a StatefulSet; the quorum of a database depends on it.
type FoundSet struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	Replicas  int        `json:"replicas"`
	Pods      []FoundPod `json:"pods"` // missing pods are created when the simulation starts
}

// FoundPod is a pod of a StatefulSet.
type FoundPod struct {
	Name  string `json:"name"`
	Node  string `json:"node"`  // machine name; empty: it has no node until it is recreated
	Down  bool   `json:"down"`  // it is not ready; a recreated pod runs
	Waits string `json:"waits"` // why a container of a pod that is down does not run, such as CrashLoopBackOff
}

// FoundDaemonSet is a DaemonSet with pods that are old or down.
type FoundDaemonSet struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"` // a DaemonSet that the simulation does not have is left out
	Pods      []FoundDaemonPod `json:"pods"` // those that are old or down
}

// FoundDaemonPod is a pod of a DaemonSet, by its node.
type FoundDaemonPod struct {
	Node  string `json:"node"`  // machine name
	Old   bool   `json:"old"`   // created from an earlier template; it stays until it is deleted
	Down  bool   `json:"down"`  // as in FoundPod
	Waits string `json:"waits"` // as in FoundPod
}

// setNamespaces are the namespaces whose StatefulSets a file can have: OpenStack's and Redis'.
var setNamespaces = []string{"openstack", "openstack-redis"}

// checkSets checks the sets of pods that were found.
func (f *Found) checkSets(machines map[string]Node, check func(bool, string, ...any)) {
	unique := uniqueNames(check)
	for i, set := range f.StatefulSets {
		unique("found.statefulSets", i, set.Namespace+"/"+set.Name)
		check(set.Name != "", "found.statefulSets[%d].name: is missing", i)
		check(slices.Contains(setNamespaces, set.Namespace), "found.statefulSets[%d].namespace: %s is in %q: want one of %v", i, set.Name,
			set.Namespace, setNamespaces)
		check(set.Replicas >= 0, "found.statefulSets[%d].replicas: %s: %d: want 0 or more", i, set.Name, set.Replicas)
		for j, pod := range set.Pods {
			_, known := machines[pod.Node]
			check(pod.Name != "", "found.statefulSets[%d].pods[%d].name: is missing", i, j)
			check(known || pod.Node == "", "found.statefulSets[%d].pods[%d].node: %s is on the node %q, which is not there", i, j, pod.Name,
				pod.Node)
		}
	}
	for i, set := range f.DaemonSets {
		unique("found.daemonSets", i, set.Namespace+"/"+set.Name)
		for j, pod := range set.Pods {
			_, known := machines[pod.Node]
			check(known, "found.daemonSets[%d].pods[%d].node: %s has a pod on the node %q, which is not there", i, j, set.Name, pod.Node)
		}
	}
}
