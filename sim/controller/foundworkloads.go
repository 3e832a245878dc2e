package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// FoundSet is a StatefulSet of a live cluster, as it was found.
type FoundSet struct {
	Namespace, Name string
	Replicas        int
	Members         []FoundMember
}

// FoundMember is a pod of a FoundSet.
type FoundMember struct {
	Name  string
	Node  string // Kubernetes name; empty: it has no node until it is recreated
	Down  bool   // it is not ready until it is recreated
	Waits string // why a container of a pod that is down does not run; may be empty
}

// FoundDaemon is a pod of a live cluster's DaemonSet, as it was found; pods of missing DaemonSets are left out.
type FoundDaemon struct {
	Namespace, Set string
	Node           string // Kubernetes name
	Old            bool   // created from an earlier template
	Down           bool   // it is not ready until it is recreated
	Waits          string // why a container of a pod that is down does not run; may be empty
}

// withSets returns the usual workloads, with the StatefulSets replaced by those that were found; with none found they
// stay. A known set keeps the usual labels and the usual nodes for members without a place.
func withSets(found []FoundSet) []workload {
	if len(found) == 0 {
		return workloads
	}
	all := slices.DeleteFunc(slices.Clone(workloads), func(w workload) bool { return w.kind == statefulSet })
	for _, set := range found {
		w := workload{kind: statefulSet, namespace: set.Namespace, name: set.Name}
		if i := slices.IndexFunc(workloads, func(usual workload) bool { return usual.key() == w.key() }); i >= 0 {
			w = workloads[i]
		}
		w.service, w.replicas, w.places = "", set.Replicas, map[string]string{}
		for _, member := range set.Members {
			w.places[member.Name] = member.Node
		}
		all = append(all, w)
	}
	return all
}

// memberNames are the names of a StatefulSet's pods: first those that were found, then numbered ones.
func (w workload) memberNames(replicas int) []string {
	names := sortedKeys(w.places)
	names = names[:min(replicas, len(names))]
	for i := 0; len(names) < replicas; i++ {
		if name := fmt.Sprintf("%s-%d", w.name, i); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// before is the revision of those pods of a DaemonSet that were found old.
func (w workload) before() string {
	return strings.ReplaceAll(hashID(w.namespace, w.name, "before"), "-", "")[:10]
}

// makeFound creates the pods that were found, even on nodes where no new one would start. Pods of DaemonSets that were
// found in order are created as usual.
func (k *kubelet) makeFound(ctx context.Context, daemons []FoundDaemon) error {
	if len(daemons) == 0 && !slices.ContainsFunc(k.workloads, func(w workload) bool { return len(w.places) > 0 }) {
		return nil
	}
	sets, err := k.sets(ctx)
	if err != nil {
		return err
	}
	for _, w := range k.workloads {
		for _, name := range sortedKeys(w.places) {
			if err := k.createPod(ctx, w, sets[w.key()], "", name, w.places[name]); err != nil {
				return err
			}
		}
		for _, d := range daemons {
			if s := sets[w.key()]; d.Old && s.daemon != nil && d.Namespace == w.namespace && d.Set == w.name {
				if err := k.createPod(ctx, w, s, w.before(), w.name+"-"+hashID(w.key(), d.Node)[:5], d.Node); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// placeOf is the node for a StatefulSet's new pod: where it was found, or else the i-th node allowed; false if it
// cannot be created now.
func (w workload) placeOf(name string, i int, nodes map[string]*corev1.Node, eligible []*corev1.Node) (node string, ok bool) {
	at := nodes[w.places[name]]
	if at == nil && i < len(eligible) {
		at = eligible[i]
	}
	if at == nil || !schedulable(at) {
		return "", false
	}
	return at.Name, true
}

// agentsSilent returns the troubles of nodes whose agents were found silent.
func agentsSilent(nodes []string) []Trouble {
	var all []Trouble
	for _, node := range nodes {
		all = append(all, Trouble{Kind: TroubleAgents, Node: node})
	}
	return all
}

// daemonsDown returns the troubles of DaemonSets' pods that were found not ready.
func daemonsDown(found []FoundDaemon) []Trouble {
	var all []Trouble
	for _, d := range found {
		if d.Down {
			all = append(all, Trouble{Kind: TroublePods, Node: d.Node, Workload: d.Set, Waits: d.Waits})
		}
	}
	return all
}

// membersDown returns the troubles of members that were found not ready.
func membersDown(found []FoundSet) []Trouble {
	var all []Trouble
	for _, set := range found {
		for _, member := range set.Members {
			if member.Down && member.Node != "" {
				all = append(all, Trouble{Kind: TroublePods, Node: member.Node, Workload: set.Name, Waits: member.Waits})
			}
		}
	}
	return all
}
