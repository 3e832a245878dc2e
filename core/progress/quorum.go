package progress

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// QuorumSet is a StatefulSet whose pods agree by majority, each with its data on its own node.
type QuorumSet struct {
	Namespace, Name string
	service         string // the OpenStack controller's key of the service, as in text G; empty: not checked before a maintenance
	called          string // the controller's name for it in text U
}

// QuorumSets are the StatefulSets that the OpenStack controller checks before it handles a node's request or its removal, and
// openvswitch-ovn-db, which it checks only before it cleans up after a node (docs/mosk.md#quorum).
var QuorumSets = []QuorumSet{
	{core.NamespaceOpenStack, "mariadb-server", "database", "mariadb"},
	{core.NamespaceOpenStack, "etcd-etcd", "coordination", "etcd"},
	{core.NamespaceRedis, "rfr-openstack-redis", "redis", "redis"},
	{core.NamespaceOpenStack, "openstack-prometheus-server", "metric-storage", "prometheus"},
	{core.NamespaceOpenStack, "openvswitch-ovn-db", "", "openvswitch-ovn"},
}

// AskedFirst tells whether the set is checked before a node's maintenance or removal.
func (q QuorumSet) AskedFirst() bool { return q.service != "" }

// Sources are the sources that report the set and its pods.
func (q QuorumSet) Sources() []core.SourceID {
	if q.Namespace == core.NamespaceRedis {
		return []core.SourceID{core.SourceRedisSets, core.SourceRedisPods}
	}
	return []core.SourceID{core.SourceStatefulSets, core.SourceDaemonPods}
}

// Look are the commands that show the set and where its pods run.
func (q QuorumSet) Look() []string {
	kubectl := func(args ...string) string {
		return wording.ShellCommand(append([]string{"kubectl", "-n", q.Namespace}, args...)...)
	}
	return []string{kubectl("get", "statefulset", q.Name),
		kubectl("get", "pods", "-o", "wide") + " | " + wording.ShellCommand("grep", "^"+q.Name+"-")}
}

// QuorumNamed is the set that the OpenStack controller names by its service key in text G, or by its name in text U.
func QuorumNamed(word string) (QuorumSet, bool) {
	i := slices.IndexFunc(QuorumSets, func(q QuorumSet) bool { return word != "" && (q.service == word || q.called == word) })
	if i < 0 {
		return QuorumSet{}, false
	}
	return QuorumSets[i], true
}

// QuorumHold is the rule by which a StatefulSet holds a node.
type QuorumHold int

const (
	QuorumFree            QuorumHold = iota // it can do without the node
	QuorumTooFew                            // fewer pods are ready than all but one
	QuorumTooFewElsewhere                   // fewer pods are on other nodes than all but one
	QuorumOthersDown                        // a pod on another node is not ready
)

// isNodeLocked is the OpenStack controller's is_node_locked: whether a StatefulSet with this number of replicas holds the node
// (docs/mosk.md#quorum). The last rule the controller only means to apply; Lockstep keeps it. A pod that is being removed counts as
// not ready, because it soon will not be. A pod without a node is on no node.
func isNodeLocked(replicas int, pods []*core.DaemonPod, node string) QuorumHold {
	ready, elsewhere, down := 0, 0, 0
	for _, p := range pods {
		if Serves(p) {
			ready++
		}
		if p.Node == "" || p.Node == node {
			continue
		}
		elsewhere++
		if !Serves(p) {
			down++
		}
	}
	switch needed := replicas - 1; {
	case ready < needed:
		return QuorumTooFew
	case elsewhere < needed:
		return QuorumTooFewElsewhere
	case down > 0:
		return QuorumOthersDown
	}
	return QuorumFree
}

// Serves tells whether the pod is ready and not being deleted.
func Serves(p *core.DaemonPod) bool { return p.Ready && p.Deleting.IsZero() }

// QuorumView is an existing QuorumSet, with its pods by name.
type QuorumView struct {
	QuorumSet
	Replicas int
	Pods     []*core.DaemonPod
}

// Holds is the rule by which the set holds the node.
func (v QuorumView) Holds(node string) QuorumHold { return isNodeLocked(v.Replicas, v.Pods, node) }

// LetGo tells whether a node goes down as soon as LCM gets to it, ready as it may be now: the OpenStack controller, or Lockstep in its
// place, has released its lock, and its maintenance or its removal is asked for.
func LetGo(s *core.Snapshot, node string) bool {
	l := s.NodeLock(node, core.ControllerOpenStack)
	if l == nil || l.State() != core.LockInactive {
		return false
	}
	r, d := s.NodeRequest(node), s.Deletions[node]
	return r != nil && r.Deleting.IsZero() || d != nil && d.Deleting.IsZero()
}

// HoldsBesideLetGo is the rule by which the set holds the node where pods on other nodes that are let go count as down, and the set's state
// in words. The OpenStack controller counts only what is down by now; a removal does not count against its concurrency.
func (v QuorumView) HoldsBesideLetGo(s *core.Snapshot, node string) (QuorumHold, string) {
	text := QuorumText(s, v, node)
	soon := v
	soon.Pods = slices.Clone(v.Pods)
	told := map[string]bool{}
	for i, p := range soon.Pods {
		if p.Node == "" || p.Node == node || !Serves(p) || !LetGo(s, p.Node) {
			continue
		}
		soon.Pods[i] = new(*p)
		soon.Pods[i].Ready = false
		if !told[p.Node] {
			text += "; " + wording.OneLine(s.Label(p.Node), 64) + " is released and goes down"
		}
		told[p.Node] = true
	}
	return soon.Holds(node), text
}

// GoesWith tells whether the set has no majority without the node while another member is down. One of its pods runs there; on a controller
// it can also be one that has no node, as it was drained from it.
func (v QuorumView) GoesWith(n *core.Node) bool {
	here, away, serving, down := false, 0, 0, 0
	for _, p := range v.Pods {
		switch {
		case p.Node == n.Name:
			here = true
		case p.Node == "":
			away++
		case Serves(p):
			serving++
		default:
			down++
		}
	}
	if !here && away > 0 && n.Is(core.RoleController) {
		here, away = true, away-1
	}
	return here && down+away > 0 && serving < v.Replicas/2+1
}

// On tells whether a pod of the set runs on the node.
func (v QuorumView) On(node string) bool {
	return slices.ContainsFunc(v.Pods, func(p *core.DaemonPod) bool { return p.Node == node })
}

// Quorum is the view of a set; false when the StatefulSet does not exist or is not known.
func Quorum(s *core.Snapshot, q QuorumSet) (QuorumView, bool) {
	for _, set := range s.StatefulSets {
		if set.Namespace == q.Namespace && set.Name == q.Name {
			return QuorumView{QuorumSet: q, Replicas: set.Replicas, Pods: s.DaemonPods[set.UID]}, true
		}
	}
	return QuorumView{}, false
}

// QuorumUnknown says why the state of the set is not known; empty when it is known.
func QuorumUnknown(s *core.Snapshot, q QuorumSet) string {
	for _, id := range q.Sources() {
		if !s.Known(id) {
			return string(id) + ": " + s.WhyUnknown(id)
		}
	}
	return ""
}

// QuorumText is the state of the set, seen from a node: "mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not
// (CrashLoopBackOff)".
func QuorumText(s *core.Snapshot, v QuorumView, node string) string {
	ready, here := 0, 0
	var down []string
	for _, p := range v.Pods {
		if p.Node == node && node != "" {
			here++
		}
		if Serves(p) {
			ready++
			continue
		}
		name := wording.OneLine(p.Name, 64)
		if p.Node != "" {
			name += " on " + wording.OneLine(s.Label(p.Node), 64)
		}
		why := ""
		switch {
		case !p.Deleting.IsZero():
			why = " (being removed)"
		case p.Node == "":
			why = " (on no node)"
		case p.Waits != "":
			why = " (" + wording.OneLine(p.Waits, 40) + ")"
		}
		down = append(down, name+" is not"+why)
	}
	text := fmt.Sprintf("%s: %d of %d ready", v.Name, ready, v.Replicas)
	if missing := v.Replicas - len(v.Pods); missing > 0 {
		down = append(down, wording.Count(missing, "pod")+" missing")
	}
	if len(down) > 0 {
		text += "; " + wording.Some(down, 3)
	}
	if v.Holds(node) == QuorumTooFewElsewhere && here > 1 {
		text += fmt.Sprintf("; %d of its pods run on %s", here, wording.OneLine(s.Label(node), 64))
	}
	return text
}

// QuorumBroken tells whether one of the services of text G has a pod that does not start by itself: its kubelet has tried again
// and again (CrashLoopBackOff, ImagePullBackOff).
func QuorumBroken(s *core.Snapshot, services []string) bool {
	for _, name := range services {
		q, known := QuorumNamed(name)
		if !known {
			continue
		}
		v, _ := Quorum(s, q)
		if slices.ContainsFunc(v.Pods, func(p *core.DaemonPod) bool { return !Serves(p) && strings.HasSuffix(p.Waits, "BackOff") }) {
			return true
		}
	}
	return false
}

// QuorumMatters tells whether a quorum can be lost with the node: one of the pods runs there, or belongs there because the node is
// a controller. The OpenStack controller checks every node, but a node that no pod needs cannot be missed.
func QuorumMatters(s *core.Snapshot, node string) bool {
	if n := s.Nodes[node]; n != nil && n.Is(core.RoleController) {
		return true
	}
	return slices.ContainsFunc(QuorumSets, func(q QuorumSet) bool {
		v, ok := Quorum(s, q)
		return ok && q.AskedFirst() && v.On(node)
	})
}

// QuorumSources are the sources of the quorums on which an OpenStack controller's step on the node rests.
func QuorumSources(s *core.Snapshot, controller, node string) []core.SourceID {
	if controller != core.ControllerOpenStack || node == "" || !QuorumMatters(s, node) {
		return nil
	}
	return []core.SourceID{core.SourceStatefulSets, core.SourceDaemonPods, core.SourceRedisSets, core.SourceRedisPods}
}

// SeesQuorum is what Lockstep itself sees of the set with which the OpenStack controller explains that it holds a node.
func SeesQuorum(s *core.Snapshot, q QuorumSet, node string) string {
	v, there := Quorum(s, q)
	switch why := QuorumUnknown(s, q); {
	case why != "":
		return q.Name + " is not known: " + why
	case !there:
		return "there is no " + q.Name
	case v.Holds(node) == QuorumFree:
		return QuorumText(s, v, node) + ": it can do without the node now"
	}
	return QuorumText(s, v, node)
}

// QuorumShort are the sets that cannot do without the node now, each as a clause that begins with "it".
func QuorumShort(s *core.Snapshot, node string) []string {
	if !QuorumMatters(s, node) {
		return nil
	}
	var out []string
	for _, q := range QuorumSets {
		if v, there := Quorum(s, q); q.AskedFirst() && there && QuorumUnknown(s, q) == "" && v.Holds(node) != QuorumFree {
			out = append(out, "it cannot go down now: "+core.Tidy(QuorumText(s, v, node)))
		}
	}
	return out
}
