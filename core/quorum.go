package core

import (
	"fmt"
	"slices"
	"strings"
)

// namespaceRedis is where Redis runs for OpenStack (Rockoon's OSCTL_REDIS_NAMESPACE).
const namespaceRedis = "openstack-redis"

// StatefulSet is what Lockstep keeps of a StatefulSet (apps/v1). How many of its pods are ready is counted, for it depends on
// the node that one asks about.
type StatefulSet struct {
	Meta
	Replicas int    // spec.replicas
	Selector string // its pods' label selector, as the API writes it
}

// quorumSet is a StatefulSet whose pods agree with one another by majority, each with its data on its own node.
type quorumSet struct {
	namespace, name string
	service         string // the OpenStack controller's key of the service, as in text G; empty: it is not asked before a maintenance
	called          string // the controller's name for it in text U
}

// quorumSets are the StatefulSets that the OpenStack controller asks before it handles a node's request or its removal, and
// openvswitch-ovn-db, which it asks only before it clears up after a node (docs/mosk.md#quorum).
var quorumSets = []quorumSet{
	{namespaceOpenStack, "mariadb-server", "database", "mariadb"},
	{namespaceOpenStack, "etcd-etcd", "coordination", "etcd"},
	{namespaceRedis, "rfr-openstack-redis", "redis", "redis"},
	{namespaceOpenStack, "openstack-prometheus-server", "metric-storage", "prometheus"},
	{namespaceOpenStack, "openvswitch-ovn-db", "", "openvswitch-ovn"},
}

// askedFirst tells whether the set is asked before a node's maintenance or removal.
func (q quorumSet) askedFirst() bool { return q.service != "" }

// sources are those that tell of the set and of its pods.
func (q quorumSet) sources() []SourceID {
	if q.namespace == namespaceRedis {
		return []SourceID{SourceRedisSets, SourceRedisPods}
	}
	return []SourceID{SourceStatefulSets, SourceDaemonPods}
}

// look are the commands that show the set and where its pods run.
func (q quorumSet) look() []string {
	kubectl := func(args ...string) string {
		return shellCommand(append([]string{"kubectl", "-n", q.namespace}, args...)...)
	}
	return []string{kubectl("get", "statefulset", q.name), kubectl("get", "pods", "-o", "wide") + " | " + shellCommand("grep", "^"+q.name+"-")}
}

// quorumNamed is the set that the OpenStack controller means by a service's key in text G, or by its name in text U.
func quorumNamed(word string) (quorumSet, bool) {
	i := slices.IndexFunc(quorumSets, func(q quorumSet) bool { return word != "" && (q.service == word || q.called == word) })
	if i < 0 {
		return quorumSet{}, false
	}
	return quorumSets[i], true
}

// quorumLock is by which of its rules a StatefulSet holds a node.
type quorumLock int

const (
	quorumFree       quorumLock = iota // it can do without the node
	quorumTooFew                       // fewer pods are ready than all but one
	quorumTooFewElse                   // fewer pods are on other nodes than all but one
	quorumOthersDown                   // a pod on another node is not ready
)

// isNodeLocked is the OpenStack controller's is_node_locked: whether a StatefulSet of so many replicas holds the node
// (docs/mosk.md#quorum). A pod that is being removed counts as not ready: it is about to be. One that has no node is nowhere.
func isNodeLocked(replicas int, pods []*DaemonPod, node string) quorumLock {
	ready, elsewhere, down := 0, 0, 0
	for _, p := range pods {
		if serves(p) {
			ready++
		}
		if p.Node == "" || p.Node == node {
			continue
		}
		elsewhere++
		if !serves(p) {
			down++
		}
	}
	switch needed := replicas - 1; {
	case ready < needed:
		return quorumTooFew
	case elsewhere < needed:
		return quorumTooFewElse
	case down > 0:
		return quorumOthersDown
	}
	return quorumFree
}

func serves(p *DaemonPod) bool { return p.Ready && p.Deleting.IsZero() }

// quorumView is one of the quorumSets that is there, with its pods by their names.
type quorumView struct {
	quorumSet
	replicas int
	pods     []*DaemonPod
}

// holds is by which rule the set holds the node.
func (v quorumView) holds(node string) quorumLock { return isNodeLocked(v.replicas, v.pods, node) }

// on tells whether a pod of the set runs on the node.
func (v quorumView) on(node string) bool {
	return slices.ContainsFunc(v.pods, func(p *DaemonPod) bool { return p.Node == node })
}

// quorum is the view of a set; false when there is no such StatefulSet, or none is known.
func (s *Snapshot) quorum(q quorumSet) (quorumView, bool) {
	for _, set := range s.StatefulSets {
		if set.Namespace == q.namespace && set.Name == q.name {
			return quorumView{quorumSet: q, replicas: set.Replicas, pods: s.DaemonPods[set.UID]}, true
		}
	}
	return quorumView{}, false
}

// quorumUnknown is why it is not known how the set does; empty when it is.
func (s *Snapshot) quorumUnknown(q quorumSet) string {
	for _, id := range q.sources() {
		if !s.known(id) {
			return string(id) + ": " + s.whyUnknown(id)
		}
	}
	return ""
}

// quorumText is how the set does, seen from a node: "mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not
// (CrashLoopBackOff)".
func (s *Snapshot) quorumText(v quorumView, node string) string {
	ready, here := 0, 0
	var down []string
	for _, p := range v.pods {
		if p.Node == node && node != "" {
			here++
		}
		if serves(p) {
			ready++
			continue
		}
		name := oneLine(p.Name, 64)
		if p.Node != "" {
			name += " on " + oneLine(s.Label(p.Node), 64)
		}
		why := ""
		switch {
		case !p.Deleting.IsZero():
			why = " (being removed)"
		case p.Node == "":
			why = " (on no node)"
		case p.Waits != "":
			why = " (" + oneLine(p.Waits, 40) + ")"
		}
		down = append(down, name+" is not"+why)
	}
	text := fmt.Sprintf("%s: %d of %d ready", v.name, ready, v.replicas)
	if missing := v.replicas - len(v.pods); missing > 0 {
		down = append(down, count(missing, "pod")+" missing")
	}
	if len(down) > 0 {
		text += "; " + some(down, 3)
	}
	if v.holds(node) == quorumTooFewElse && here > 1 {
		text += fmt.Sprintf("; %d of its pods run on %s", here, oneLine(s.Label(node), 64))
	}
	return text
}

// quorumBroken tells whether one of the services of text G lacks a pod that does not come up by itself: its kubelet has tried
// again and again (CrashLoopBackOff, ImagePullBackOff).
func (s *Snapshot) quorumBroken(services []string) bool {
	for _, name := range services {
		q, known := quorumNamed(name)
		if !known {
			continue
		}
		v, _ := s.quorum(q)
		if slices.ContainsFunc(v.pods, func(p *DaemonPod) bool { return !serves(p) && strings.HasSuffix(p.Waits, "BackOff") }) {
			return true
		}
	}
	return false
}

// quorumMatters tells whether a quorum can be lost with the node: one of its pods runs there, or belongs there because the node
// is a controller. The OpenStack controller asks for every node; what no pod needs cannot be missed.
func (s *Snapshot) quorumMatters(node string) bool {
	if n := s.Nodes[node]; n != nil && n.Is(RoleController) {
		return true
	}
	return slices.ContainsFunc(quorumSets, func(q quorumSet) bool {
		v, ok := s.quorum(q)
		return ok && q.askedFirst() && v.on(node)
	})
}

// quorumSources are the sources that a step of the OpenStack controller's on the node rests on because of quorums.
func (s *Snapshot) quorumSources(controller, node string) []SourceID {
	if controller != ControllerOpenStack || node == "" || !s.quorumMatters(node) {
		return nil
	}
	return []SourceID{SourceStatefulSets, SourceDaemonPods, SourceRedisSets, SourceRedisPods}
}

// guardQuorum holds when every StatefulSet that needs a quorum can do without the node (docs/mosk.md#quorum: can_handle_nmr of
// database, coordination, redis and metric-storage, and their part of a removal).
func (p *planner) guardQuorum(controller, node string) {
	s := p.s
	if len(s.quorumSources(controller, node)) == 0 {
		return
	}
	g := Guard{ID: GuardQuorum, Text: "what needs a quorum can do without the node", Holds: true}
	var good, bad []string
	for _, q := range quorumSets {
		if !q.askedFirst() {
			continue
		}
		v, there := s.quorum(q)
		switch why := s.quorumUnknown(q); {
		case why != "":
			bad = append(bad, q.name+" is not known: "+why)
			g.Remedy = textOf(g.Remedy, "see it first")
		case !there:
		case v.holds(node) != quorumFree:
			bad = append(bad, s.quorumText(v, node))
			g.Remedy = "mend it, or wait for it: " + q.look()[1]
		default:
			good = append(good, s.quorumText(v, node))
		}
	}
	g.Answer = textOf(strings.Join(good, ", "), "nothing needs one")
	if len(bad) > 0 {
		g.Holds, g.Answer = false, strings.Join(bad, "; ")
	}
	p.guard(g)
}

// seesQuorum is what Lockstep itself sees of the set by which the OpenStack controller says that it holds a node.
func (s *Snapshot) seesQuorum(q quorumSet, node string) string {
	v, there := s.quorum(q)
	switch why := s.quorumUnknown(q); {
	case why != "":
		return q.name + " is not known: " + why
	case !there:
		return "there is no " + q.name
	case v.holds(node) == quorumFree:
		return s.quorumText(v, node) + ": it can do without the node now"
	}
	return s.quorumText(v, node)
}

// quorumAhead says before the node's turn, or its removal, which sets could not do without it now.
func (b *nodeSteps) quorumAhead() {
	s, node := b.s, b.v.Name
	leaves := s.Deletions[node] != nil && b.v.Request == nil
	if !b.held() || !leaves && s.ClusterRequest() == nil && !s.quorumMatters(node) {
		return
	}
	title := " before the node's turn"
	if leaves {
		title = " before the node leaves"
	}
	for _, q := range quorumSets {
		v, there := s.quorum(q)
		if !q.askedFirst() || !there || s.quorumUnknown(q) != "" {
			continue
		}
		why := ""
		switch held := v.holds(node); {
		case held == quorumFree:
			continue
		case s.playsOn(ControllerOpenStack, node):
			if !s.quorumMatters(node) {
				continue
			}
			why = "Lockstep, in the OpenStack controller's place, does not begin the node until then."
		case held == quorumOthersDown && s.quorumMatters(node):
			// rockoon/kube.py compares only pods that are ready, and finds them all ready.
			why = "The OpenStack controller should hold the node until then, but versions of it only count the pods: then the quorum goes with the node."
		case leaves: // a retry of the handler, which leaves no text on the lock
			why = "The OpenStack controller keeps the node until then, and its lock does not say so."
		default:
			why = "The OpenStack controller defers the node until then."
		}
		st := b.other("quorum-"+q.name, "mend "+q.name+title, why, StepWaiting, s.quorumText(v, node))
		st.Commands = q.look()
		b.add(st)
	}
}

// quorumShort are the sets that would be missed on the node and cannot do without it now, each as a clause that begins with "it".
func (s *Snapshot) quorumShort(node string) []string {
	if !s.quorumMatters(node) {
		return nil
	}
	var out []string
	for _, q := range quorumSets {
		if v, there := s.quorum(q); q.askedFirst() && there && s.quorumUnknown(q) == "" && v.holds(node) != quorumFree {
			out = append(out, "it cannot go down now: "+tidy(s.quorumText(v, node)))
		}
	}
	return out
}
