package step

import (
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// ask plans a maintenance request made by hand: maintenance without an update. LCM makes requests for its updates and never looks at
// others; the application controllers answer both in the same way (docs/mosk.md#requests).
func (p *planner) ask() {
	if p.i.Kind == core.IntentAskCluster {
		p.askCluster()
		return
	}
	p.askNode()
}

func (p *planner) askCluster() {
	s := p.s
	name := progress.ObjectName(s.Cluster)
	p.step.Title, p.step.Risk, p.step.Label = "ask for the maintenance of the cluster", core.RiskHigh, wording.OneLine(s.Cluster, 64)
	p.identify(core.Ref{Kind: core.KindClusterMaintenanceRequest, Name: name})
	p.step.Type = typable(s.Cluster, name)
	sources := []core.SourceID{core.SourceClusterRequests, core.SourceClusterLocks, core.SourceNodeRequests}
	if NotConnected(s) == "" {
		sources = append(sources, core.SourceClusters)
		if s.Sources[core.SourcePlans].State != core.SourceAbsent {
			sources = append(sources, core.SourcePlans)
		}
	}
	p.common(sources, busyOn(s, ""))
	p.guard(guardNoUpdate(s))
	r := s.ClusterRequest()
	p.requestFact(r)
	p.guardNoRequest("the cluster", r, core.SourceClusterRequests)
	p.guardRelease(s.ClusterLocks)
	if p.i.Scope != "" {
		p.step.Title += ", scope " + wording.OneLine(string(p.i.Scope), 20)
	}
	p.guard(core.Guard{ID: core.GuardScope, Text: "the scope is one that the API knows", Holds: p.i.Scope == "" || p.i.Scope == core.ScopeOS ||
		p.i.Scope == core.ScopeDrain,
		Answer: wording.TextOf(wording.OneLine(string(p.i.Scope), 20), "none: each node's request has its own"),
		Remedy: "os, drain, or none: the OpenStack controller reads the scope of each node's request only"})
	p.step.Why = "For maintenance without an update. The application controllers make the cluster safe for work on its nodes: Ceph stops " +
		"balancing its data, OpenStack waits until all its services are healthy."
	p.step.Then = "Each controller releases its cluster lock when it is ready; then nodes can be asked for. LCM does nothing by itself: " +
		"what is done on the nodes is yours."
	if r != nil {
		if r.Deleting.IsZero() && r.ByHand() {
			p.done = "it is asked for since " + wording.ClockText(r.Created)
		}
		return
	}
	new := core.NewRequest{Kind: core.KindClusterMaintenanceRequest, Name: name, Scope: p.i.Scope, Release: p.i.Release}
	p.step.Commands = requestCommand(new)
	p.step.Undo = "withdraw it: " + DeleteCommand(new.Ref())
	p.step.Change = core.CreateRequest{Request: new}
}

func (p *planner) askNode() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	label := wording.OneLine(s.Label(name), 64)
	p.step.Title, p.step.Risk, p.step.Node, p.step.Label = "ask for the maintenance of "+label, core.RiskHigh, name, label
	sources := []core.SourceID{core.SourceNodes, core.SourceNodeRequests, core.SourceNodeLocks, core.SourceClusterRequests,
		core.SourceClusterLocks}
	sources = append(sources, served(s, core.SourceDeletionRequests)...)
	p.identify(core.Ref{Kind: core.KindNodeMaintenanceRequest, Name: name})
	p.step.ID += "/" + string(p.i.Scope)
	here := busyOn(s, name)
	p.common(sources, func(op core.Operation) bool { return here(op) || op.Node == "" && op.Is(core.IntentWithdraw) })
	p.guard(guardNoOther(s, core.IntentAskNode))
	if n == nil {
		p.unknown("the node exists", "the cluster has no node "+wording.TextOf(label, "without a name"))
		return
	}
	p.step.Title += ", scope " + wording.TextOf(wording.OneLine(string(p.i.Scope), 20), "not set")
	p.step.Type = typable(n.Label(), n.UID)
	p.guard(guardExists("the node", n.Ref()))
	p.fact("uid", n.UID)
	r := s.NodeRequest(name)
	p.requestFact(r)
	p.guardNoRequest("the node", r, core.SourceNodeRequests)
	p.guard(core.Guard{ID: core.GuardScope, Text: "the scope is one that the API knows", Holds: p.i.Scope == core.ScopeOS ||
		p.i.Scope == core.ScopeDrain, Answer: wording.TextOf(wording.OneLine(string(p.i.Scope), 20), "none"),
		Remedy: "os when the host may reboot, drain when it does not"})
	p.guardRelease(s.NodeLocks.At(name))
	p.guardClusterReady()
	p.guardOneAtATime(n)
	deletion := core.Guard{ID: core.GuardStays, Text: "the node is not to be removed", Holds: s.Deletions[name] == nil,
		Answer: "nobody asks for its removal"}
	if !deletion.Holds {
		deletion.Answer = "it has a NodeDeletionRequest"
	}
	p.guard(deletion)
	if p.i.Scope == core.ScopeOS {
		p.step.Why = "For work on the host that may reboot it. In scope os the OpenStack controller gets the instances off the node by its " +
			"migration mode and their tags."
		p.hostModeFact(n)
	} else {
		p.step.Why = "For work on the node's pods without a reboot. In scope drain no instance is moved."
	}
	p.step.Then = "The node's controllers prepare it and release their locks one after the other. Then the node is yours: drain it, do " +
		"your work, and withdraw the request."
	if r != nil {
		if r.Deleting.IsZero() && r.ByHand() && progress.ScopeOf(s, r) == p.i.Scope {
			p.done = "it is asked for since " + wording.ClockText(r.Created)
		}
		return
	}
	new := core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: progress.ObjectName(name), Node: name, Scope: p.i.Scope,
		Release: p.i.Release}
	p.step.Commands = requestCommand(new)
	p.step.Undo = "withdraw it: " + DeleteCommand(new.Ref())
	p.step.Change = core.CreateRequest{Request: new}
}

func (p *planner) guardNoRequest(what string, r *core.MaintenanceRequest, source core.SourceID) {
	g := core.Guard{ID: core.GuardNotAsked, Text: "nobody asks for " + what + " yet", Holds: r == nil && p.s.Known(source),
		Answer: "no request"}
	switch {
	case r != nil && r.ByHand():
		g.Answer = "it is asked for by hand since " + wording.ClockText(r.Created)
	case r != nil:
		g.Answer = "LCM asks for it since " + wording.ClockText(r.Created)
		g.Remedy = "wait for the end of LCM's update"
	case !p.s.Known(source):
		g.Answer = "not known: " + p.s.WhyUnknown(source)
	}
	p.guard(g)
}

// guardRelease holds when the request's release is the OpenStack controller's, which ignores requests of another release
// (docs/mosk.md#texts, text A). It accepts a request without a release.
func (p *planner) guardRelease(locks []*core.WorkloadLock) {
	g := core.Guard{ID: core.GuardRequestRelease, Text: "the release is that of the OpenStack controller", Holds: true,
		Answer: wording.TextOf(wording.OneLine(p.i.Release, 60), "none: it takes the request as it is"),
		Remedy: "leave it out, or take the one in its lock"}
	for _, l := range locks {
		if l.Controller == core.ControllerOpenStack && p.i.Release != "" && l.Release != "" && l.Release != p.i.Release {
			g.Holds, g.Answer = false, wording.OneLine(p.i.Release, 60)+", and its lock is at "+wording.OneLine(l.Release, 60)
		}
	}
	p.guard(g)
}

// guardClusterReady holds when the cluster is in maintenance by hand and all its locks are released: LCM too asks for nodes only then
// (docs/mosk.md#stages).
func (p *planner) guardClusterReady() {
	s := p.s
	g := core.Guard{ID: core.GuardClusterByHand, Text: "the cluster is in maintenance by hand", Remedy: "ask for the cluster first"}
	r := s.ClusterRequest()
	var held []string
	for _, l := range s.ClusterLocks {
		if l.State() != core.LockInactive {
			held = append(held, wording.OneLine(l.Controller, 40))
		}
	}
	switch {
	case !s.Known(core.SourceClusterRequests):
		g.Answer, g.Remedy = "not known: "+s.WhyUnknown(core.SourceClusterRequests), ""
	case r == nil:
		g.Answer = "nobody asks for it"
	case !r.Deleting.IsZero():
		g.Answer, g.Remedy = "its request is being removed", "wait until it is gone"
	case !r.ByHand():
		g.Answer, g.Remedy = "LCM's update runs, and LCM asks for the nodes", "wait for its end"
	case len(held) > 0:
		g.Answer, g.Remedy = "still held by "+wording.Some(held, 4), "wait until all cluster locks are inactive"
	default:
		g.Holds, g.Answer = true, "since "+wording.ClockText(r.Created)
	}
	if r != nil {
		p.fact("cluster request", r.UID)
	} else {
		p.fact("cluster request", "")
	}
	p.guard(g)
}

// guardOneAtATime holds when no role has more nodes in maintenance than the controllers allow (docs/mosk.md#concurrency: a full role
// holds up all nodes).
func (p *planner) guardOneAtATime(n *core.Node) {
	s := p.s
	g := core.Guard{ID: core.GuardConcurrency, Text: "no more nodes are in maintenance than the rule allows", Holds: true,
		Remedy: "wait until one is back"}
	under := map[core.Role][]string{}
	for _, name := range s.NodeNames() {
		if name == n.Name || len(s.NodeRequests[name]) == 0 {
			continue
		}
		for _, role := range s.Nodes[name].Roles {
			under[role] = append(under[role], s.Label(name))
		}
	}
	var full []string
	for _, role := range []core.Role{core.RoleController, core.RoleGateway, core.RoleCompute} {
		most, ok := s.Settings.MaxParallelNodes[role]
		if ok && most > 0 && len(under[role]) >= most {
			full = append(full, string(role)+": "+wording.Some(under[role], 3))
		}
	}
	g.Answer = "none of its roles is full"
	if len(full) > 0 {
		g.Holds, g.Answer = false, strings.Join(full, "; ")
	}
	p.guard(g)
}

// withdraw plans the deletion of a maintenance request.
func (p *planner) withdraw() {
	s, ref := p.s, p.i.Object
	p.step.Title = "withdraw the maintenance request"
	r := requestByUID(s, ref.UID)
	if r == nil {
		p.identify(ref)
		p.step.Label = wording.OneLine(ref.Name, 64)
		p.common([]core.SourceID{core.SourceClusterRequests, core.SourceNodeRequests}, busyOn(s))
		p.unknown("the request exists", "it is gone")
		return
	}
	p.identify(r.Ref())
	p.step.Node, p.step.Risk = r.Node, core.RiskHigh
	here := busyOn(s, r.Node)
	p.common([]core.SourceID{core.SourceNodes, core.SourceClusterRequests, core.SourceNodeRequests, core.SourceClusterLocks,
		core.SourceNodeLocks}, func(op core.Operation) bool { return here(op) || r.Node == "" && op.Is(core.IntentAskNode) })
	p.guard(guardExists("the request", r.Ref()))
	p.requestFact(r)
	of := "the cluster"
	p.step.Label = wording.OneLine(s.Cluster, 64)
	if r.Kind == core.KindNodeMaintenanceRequest {
		of = wording.OneLine(s.Label(r.Node), 64)
		p.step.Label = of
	}
	p.step.Title += " of " + of
	p.step.Type = typable(p.step.Label, r.UID)
	p.step.Why = "The maintenance is over."
	if !r.ByHand() {
		p.step.Risk, p.step.Type = core.RiskHighest, typable(r.Name, r.UID)
		p.step.Why = "LCM made this request and works by it: without it the controllers take their locks back in the middle of its work. " +
			"Withdraw it only when LCM is not coming back to it."
	}
	if r.Kind == core.KindNodeMaintenanceRequest {
		p.step.Then = "The controllers wait for the node, its pods, its compute service and its agents, and take their locks back. The " +
			"request is gone when they are through."
		p.step.Undo = "ask again"
		if n := s.Nodes[r.Node]; n != nil && n.Ready != "True" {
			p.givenUp(r, n)
		} else {
			p.guardNodeBack(r.Node)
		}
		p.fact("held by", progress.FinalizerOn(s, r.Meta))
		if l := s.NodeLock(r.Node, core.ControllerOpenStack); Unheld(s, r) && l != nil &&
			(l.State() != core.LockActive || l.InnerState == core.InnerActive) {
			p.step.Risk, p.step.Type = core.RiskHighest, typable(r.Name, r.UID)
			p.step.Then = "The request bears no finalizer of the OpenStack controller: it is gone at once, and the controller does not take the " +
				"node back. Its lock stays " + wording.OneLine(string(l.State()), 40) + ", with " + InnerText(l.InnerState) + "."
		}
	} else {
		p.guardNoNodes()
		p.step.Then, p.step.Undo = "The controllers take their cluster locks back.", "ask again"
	}
	if !r.Deleting.IsZero() {
		p.done = "it is being removed since " + wording.ClockText(r.Deleting)
		return
	}
	p.step.Commands = []string{DeleteCommand(r.Ref())}
	p.step.Change = core.DeleteObject{Object: r.Ref()}
}

// givenUp plans the withdrawal of the request of a node that is not Ready and may never be again. The risk is the highest.
func (p *planner) givenUp(r *core.MaintenanceRequest, n *core.Node) {
	p.step.Risk, p.step.Type = core.RiskHighest, typable(r.Name, r.UID)
	p.step.Why = "The node is not Ready" + wording.InBrackets(n.ReadyReason) +
		". Wait until it is back; withdraw the request now only when it is not coming back, or not soon."
	if !r.ByHand() {
		p.step.Why = wording.Join(p.step.Why, "LCM made this request and works by it.")
	}
	p.step.Then = "The OpenStack controller waits for the node to be Ready, without an end: until then the request stays, being removed, " +
		"and the node counts as in maintenance. Other controllers may take their locks back at once."
	p.step.Undo = "ask again, once the request is gone"
	p.fact("ready", n.Ready)
	p.fact("cordoned", strconv.FormatBool(n.Cordoned))
	p.guard(core.Guard{ID: core.GuardNodeBack, Text: "the node is back, or given up", Holds: true,
		Answer: "it is not Ready" + wording.InBrackets(n.ReadyReason)})
}

// guardNoNodes holds when no node is in maintenance any more.
func (p *planner) guardNoNodes() {
	var names []string
	for _, name := range p.s.NodeNames() {
		if len(p.s.NodeRequests[name]) > 0 {
			names = append(names, p.s.Label(name))
		}
	}
	g := core.Guard{ID: core.GuardNoNodes, Text: "no node is in maintenance", Holds: len(names) == 0 && p.s.Known(core.SourceNodeRequests),
		Answer: "none", Remedy: "withdraw the nodes' requests first"}
	switch {
	case len(names) > 0:
		g.Answer = wording.Some(names, 4)
	case !g.Holds:
		g.Answer = "not known: " + p.s.WhyUnknown(core.SourceNodeRequests)
	}
	p.guard(g)
}

// requestByUID is the maintenance request with this UID; nil when it does not exist.
func requestByUID(s *core.Snapshot, uid string) *core.MaintenanceRequest {
	if uid == "" {
		return nil
	}
	for _, r := range s.ClusterRequests {
		if r.UID == uid {
			return r
		}
	}
	for _, list := range s.NodeRequests {
		for _, r := range list {
			if r.UID == uid {
				return r
			}
		}
	}
	return nil
}

// requestCommand makes a request with kubectl.
func requestCommand(r core.NewRequest) []string {
	spec := map[string]string{}
	for key, value := range map[string]string{"nodeName": r.Node, "scope": string(r.Scope), "release": r.Release} {
		if value != "" {
			spec[key] = value
		}
	}
	object := wording.JSONText(map[string]any{
		"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": r.Kind,
		"metadata": map[string]any{"name": r.Name, "labels": map[string]string{"app.kubernetes.io/managed-by": core.MadeByLockstep}},
		"spec":     spec,
	})
	return []string{"kubectl create -f - <<< " + wording.ShellQuote(object)}
}

// DeleteCommand deletes an object with kubectl, without waiting for its end.
func DeleteCommand(ref core.Ref) string {
	return wording.ShellCommand("kubectl", "delete", strings.ToLower(string(ref.Kind)), ref.Name, "--wait=false")
}

// ScopeCommand gives a node's request the scope os, in which the host may reboot.
func ScopeCommand(r *core.MaintenanceRequest) string {
	return wording.ShellCommand("kubectl", "patch", "nodemaintenancerequest", r.Name, "--type=merge", "-p", `{"spec":{"scope":"os"}}`)
}

// PurposePending tells whether it may still turn out that a cluster request is not for an update: the management cluster has not
// answered yet, or the request is so new that its purpose, which another source tells, may follow.
func PurposePending(s *core.Snapshot, r *core.MaintenanceRequest) bool {
	for _, id := range []core.SourceID{core.SourceClusters, core.SourcePlans, core.SourceReboots} {
		if s.Sources[id].State == core.SourceConnecting {
			return true
		}
	}
	if s.Management == nil || !s.Management.Found || s.Sources[core.SourceClusters].State != core.SourceLive {
		return false
	}
	p := s.Management.Plan()
	return (p == nil || !p.UnderWay()) && !s.Reached(r.Created.Add(progress.InnerSettles))
}

// StandingRequest is the UID of the node's maintenance request; empty when there is none, or when it is in deletion.
func StandingRequest(s *core.Snapshot, node string) string {
	if r := s.NodeRequest(node); r != nil && r.Deleting.IsZero() {
		return r.UID
	}
	return ""
}
