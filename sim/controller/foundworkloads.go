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
	Node  string // Kubernetes name; empty: it has no node until it is made again
	Down  bool   // it is not ready until it is made again
	Waits string // why a container of one that is down does not run; may be empty
}

// FoundDaemon is a pod of a live cluster's DaemonSet, as it was found; one of a set that is not there is left out.
type FoundDaemon struct {
	Namespace, Set string
	Node           string // Kubernetes name
	Old            bool   // it was made from an earlier template
	Down           bool   // it is not ready until it is made again
	Waits          string // why a container of one that is down does not run; may be empty
}

// withSets are the usual workloads with the StatefulSets that were found instead of their own; none: as they are. Of one that is
// known, the labels and the nodes on which a member without a place may run are as usual.
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

// memberNames are the names of a StatefulSet's pods: those that were found, then by their numbers.
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

// before is the revision of a DaemonSet's pods that were found old.
func (w workload) before() string {
	return strings.ReplaceAll(hashID(w.namespace, w.name, "before"), "-", "")[:10]
}

// makeFound makes the pods that were found, also on nodes where no new one would start. Those of DaemonSets that are as they
// should be are made as usual.
func (k *kubelet) makeFound(ctx context.Context, daemons []FoundDaemon) error {
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

// placeOf is the node on which a StatefulSet's pod is made anew: where it was found, or else the i-th that may have one; false when
// it cannot be made now.
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

// agentsSilent are the troubles of nodes whose agents were found silent.
func agentsSilent(nodes []string) []Trouble {
	var all []Trouble
	for _, node := range nodes {
		all = append(all, Trouble{Kind: TroubleAgents, Node: node})
	}
	return all
}

// daemonsDown are the troubles of DaemonSets' pods that were found not ready.
func daemonsDown(found []FoundDaemon) []Trouble {
	var all []Trouble
	for _, d := range found {
		if d.Down {
			all = append(all, Trouble{Kind: TroublePods, Node: d.Node, Workload: d.Set, Waits: d.Waits})
		}
	}
	return all
}

// membersDown are the troubles of members that were found not ready.
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
