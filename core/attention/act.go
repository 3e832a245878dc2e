package attention

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// acting finds the played controllers whose turn it is: one entry for each node, and one for the cluster.
func (f *facts) acting() {
	for _, a := range f.s.Settings.ActAs {
		who := wording.OneLine(a.Controller, 40)
		switch progress.TurnOn(f.s, a, "") {
		case progress.TurnCreate:
			severity, since := core.SeverityNotice, core.Since{}
			if r := f.request; r != nil && r.Deleting.IsZero() && !r.ByHand() {
				severity, since = core.SeverityUrgent, core.Since{At: r.Created, Exact: true}
			}
			f.add(f.actEntry(a, "", "it has no cluster lock", severity,
				"as "+who+": it has no cluster lock, so LCM does not wait for it", since))
		case progress.TurnPrepare:
			r := f.s.ClusterRequest()
			e := f.actEntry(a, "", "LCM waits for your cluster lock", core.SeverityUrgent, "as "+who+": LCM waits for your cluster lock",
				core.Since{At: r.Created, Exact: true})
			e.Detail = step.Plan(f.s, core.Intent{Kind: core.IntentActRelease, Controller: a.Controller}).Blocker()
			f.add(e)
		case progress.TurnReturn:
			f.add(f.actEntry(a, "", "the update is over", core.SeverityWarning,
				"as "+who+": the update is over, and your cluster lock is not taken back", core.Since{}))
		case progress.TurnNone:
			f.heldStill(a, f.s.ClusterRequest())
		}
		missing := 0
		for _, name := range f.s.NodeNames() {
			if n := f.s.Nodes[name]; a.Controller == core.ControllerOpenStack && progress.HeldNode(f.s, n) != "" {
				f.add(f.actEntry(a, name, "its Node waits for you to let it go", core.SeverityUrgent,
					"as "+who+": its Node was deleted, and waits for you to let it go", core.Since{At: n.Deleting, Exact: true}))
			}
			switch progress.TurnOn(f.s, a, name) {
			case progress.TurnCreate:
				missing++
				if r := f.s.NodeRequest(name); r != nil && r.Deleting.IsZero() {
					f.add(f.actEntry(a, name, "it is asked for", core.SeverityUrgent,
						"as "+who+": it is asked for, and you hold no lock on it, so LCM does not wait for you", core.Since{At: r.Created, Exact: true}))
				}
			case progress.TurnPrepare:
				next := "it waits for you to prepare it"
				if at := progress.PreparationOf(f.s, a, name); a.Controller == core.ControllerOpenStack && at.Next != progress.PrepareIt {
					next = at.Next
				}
				e := f.actEntry(a, name, "prepare", core.SeverityUrgent, "as "+who+": "+next,
					core.Since{At: f.s.NodeRequest(name).Created, Exact: true})
				if a.Controller == core.ControllerOpenStack {
					e.Detail = wording.Join(append(wording.Sentences(progress.QuorumShort(f.s, name)),
						progress.AccountSentence(f.s, progress.NodeAccount(f.s, name), name, progress.LockMessage{}))...)
				}
				f.add(e)
			case progress.TurnReleased:
				if r := f.s.NodeRequest(name); a.Controller == core.ControllerOpenStack && step.Unheld(f.s, r) {
					e := f.actEntry(a, name, "nobody takes it back once its request is withdrawn", core.SeverityWarning,
						"as "+who+": nobody takes it back once its request, which has no finalizer, is withdrawn", core.Since{At: r.Created, Exact: true})
					e.Detail = progress.AccountSentence(f.s, progress.RequestAccount(f.s, r), name, progress.LockMessage{})
					f.add(e)
				}
			case progress.TurnReturn:
				if a.Controller == core.ControllerOpenStack && progress.LeftLock(f.s, name) != nil && !progress.PlaysAlone(f.s, name) {
					continue // the controller runs, but does nothing about it: lockLeft says so
				}
				since := core.Since{}
				if r := f.s.NodeRequest(name); r != nil {
					since = core.Since{At: r.Deleting, Exact: true}
				}
				f.add(f.actEntry(a, name, "it waits for you to take it back", core.SeverityUrgent,
					"as "+who+": it waits for you to take it back", since))
			case progress.TurnNone:
				f.heldStill(a, f.s.NodeRequest(name))
			}
		}
		for _, name := range procedure.NodesWithLocks(f.s) {
			switch progress.TurnOn(f.s, a, name) {
			case progress.TurnRemove:
				f.add(f.actEntry(a, name, "its removal waits for you to let it go", core.SeverityUrgent,
					"as "+who+": its removal waits for you to let it go", core.Since{At: f.s.Deletions[name].Created, Exact: true}))
			case progress.TurnGone:
				f.add(f.actEntry(a, name, "it is gone", core.SeverityWarning,
					"as "+who+": it is gone, and "+progress.GoneLeft(f.s, a, name)+" wait for you", core.Since{}))
			}
		}
		if missing > 0 {
			f.add(f.actEntry(a, "", "", core.SeverityNotice,
				fmt.Sprintf("as %s: %s of your selection %s no lock of yours", who, wording.Count(missing, "node"),
					wording.Verb(missing, "has", "have")), core.Since{}))
		}
	}
}

// heldStill finds a request that is being removed, and whose finalizer is all that holds it.
func (f *facts) heldStill(a core.ActAs, r *core.MaintenanceRequest) {
	if a.Controller != core.ControllerOpenStack || step.HeldByRockoon(f.s, r) == "" {
		return
	}
	if progress.HeldNode(f.s, f.s.Nodes[r.Node]) != "" {
		return // its Node goes first, and waits for somebody, too
	}
	f.add(f.actEntry(a, r.Node, "LCM waits for you to let its request go", core.SeverityUrgent,
		"as "+wording.OneLine(a.Controller, 40)+": LCM waits for you to let its request go", core.Since{At: r.Deleting, Exact: true}))
}

// actEntry makes an entry about a played controller. What it asks for is part of its key, so that it stays the same entry while its
// reason changes.
func (f *facts) actEntry(a core.ActAs, node, asks string, severity core.Severity, reason string, since core.Since) core.Attention {
	e := core.Attention{Rule: core.RuleAct, Key: a.Controller + "/" + node + "/" + asks, Controller: a.Controller, Severity: severity,
		Node: node, Reason: reason, Since: since,
		Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: wording.OneLine(a.Controller, 40), Resolve: clusterProcedure()}
	if n := f.s.Nodes[node]; n != nil {
		e.Subject, e.Label, e.Resolve = n.Ref(), n.Label(), &core.ProcedureKey{Kind: core.ProcedureNode, Subject: node}
	} else if node != "" { // the node has left the cluster
		e.Subject, e.Label, e.Resolve = core.Ref{Kind: core.KindNode, Name: node}, wording.OneLine(node, 64),
			&core.ProcedureKey{Kind: core.ProcedureNode, Subject: node}
	}
	return e
}
