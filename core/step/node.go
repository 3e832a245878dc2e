package step

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// node gives the step its node, and the guards that all steps on a node have; false when there is no such node.
func (p *planner) node(name string, n *core.Node, sources []core.SourceID) bool {
	p.step.Node = name
	if n == nil {
		p.identify(core.Ref{Kind: core.KindNode, Name: name})
		p.step.Label = wording.OneLine(name, 64)
		p.common(sources, busyOn(p.s, name))
		p.unknown("the node exists", "the cluster has no node "+wording.TextOf(wording.OneLine(name, 64), "without a name"))
		return false
	}
	p.identify(n.Ref())
	p.step.Label = n.Label()
	p.common(sources, busyOn(p.s, name))
	p.guard(guardExists("the node", n.Ref()))
	p.fact("uid", n.UID)
	return true
}

// namesID is a short name for a set of names, the same for the same set.
func namesID(names []string) string {
	h := fnv.New64a()
	for _, n := range names {
		fmt.Fprintf(h, "%s\x00", n)
	}
	return wording.Itoa(len(names)) + "-nodes-" + strconv.FormatUint(h.Sum64(), 36)
}

// maintenanceFacts adds the node's request and its OpenStack lock to the basis.
func (p *planner) maintenanceFacts(name string) {
	if r := p.s.NodeRequest(name); r != nil {
		p.fact("request", r.UID)
	} else {
		p.fact("request", "")
	}
	if l := p.s.NodeLock(name, core.ControllerOpenStack); l != nil {
		p.fact("lock", string(l.State())+" "+l.UID)
	} else {
		p.fact("lock", "")
	}
}

// hostFacts adds the instances on the node's host to the basis, each with its state.
func (p *planner) hostFacts(name string) {
	for _, in := range byID(p.s, name) {
		p.step.Basis = append(p.step.Basis, core.Fact{Name: "instance " + in.ID, Value: instanceFact(in), Instance: in.ID})
	}
}

// hostModeFact adds the node's migration mode to the basis.
func (p *planner) hostModeFact(n *core.Node) {
	p.fact("migration mode", wording.TextOr(n.Annotation(core.AnnotationMigrationMode), "(not set)"))
}

// EntersMaintenance tells whether the node has a maintenance request that is not in deletion.
func EntersMaintenance(s *core.Snapshot, node string) bool {
	r := s.NodeRequest(node)
	return r != nil && r.Deleting.IsZero()
}

// LeavesCluster tells whether the node is to be removed, or its machine is being deleted.
func LeavesCluster(s *core.Snapshot, node string) bool {
	v := progress.MachineOf(s, node)
	return s.Deletions[node] != nil || v != nil && v.Machine != nil && !v.Machine.Deleting.IsZero()
}

func (p *planner) guardNodeReady(node string) {
	g := core.Guard{ID: core.GuardNodeReady, Text: "the node is Ready", Remedy: "mend the node first"}
	switch n := p.s.Nodes[node]; {
	case n == nil:
		g.Answer = "the cluster has no such node"
	default:
		g.Holds, g.Answer = n.Ready == "True", "Ready is "+wording.TextOf(wording.OneLine(n.Ready, 20), "not told")+
			wording.Dashed(wording.OneLine(n.ReadyReason, 60))
	}
	p.guard(g)
}

func uidOf(s *core.Snapshot, node string) string {
	if n := s.Nodes[node]; n != nil {
		return n.UID
	}
	return ""
}

// guardNodeBack holds when the node can take instances and pods again.
func (p *planner) guardNodeBack(name string) {
	n := p.s.Nodes[name]
	g := core.Guard{ID: core.GuardNodeBack, Text: "the node is Ready and not cordoned"}
	switch {
	case n == nil:
		g.Holds, g.Answer = true, "it is gone"
	case n.Ready != "True":
		g.Answer, g.Remedy = "it is not Ready"+wording.InBrackets(n.ReadyReason), "wait until it is back"
	case n.Cordoned:
		g.Answer, g.Remedy = "it is cordoned", wording.ShellCommand("kubectl", "uncordon", n.Name)
	default:
		g.Holds, g.Answer = true, "Ready"
	}
	if n != nil {
		p.fact("ready", n.Ready)
		p.fact("cordoned", strconv.FormatBool(n.Cordoned))
	}
	p.guard(g)
}
