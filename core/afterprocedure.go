package core

import "slices"

// afterProcedure is what is left to do once the update is over, each point with the steps that see to it.
func (s *Snapshot) afterProcedure() (Procedure, bool) {
	p := Procedure{Title: "After the update", Goal: "Nothing that the update began or asked for is left over, and the cloud is seen to work."}
	left, over := s.AfterUpdateLeft()
	if over {
		p.Summary = append(p.Summary, "the update ended at "+clockText(s.History.Update.Ended), textIf(left == 0, "every point is done", count(left, "point")+verb(left, " is", " are")+" left"))
	} else if s.ClusterRequest() != nil {
		p.Summary = append(p.Summary, "an update runs: this is what will be left once it is over")
	}
	for _, point := range s.AfterUpdate() {
		p.Steps = append(p.Steps, s.afterStep(point))
		for _, st := range s.afterWays(point) {
			p.Steps = append(p.Steps, optionalIf(s.ClusterRequest() != nil, st)) // nobody waits for it while an update runs
		}
	}
	p.Steps = append(p.Steps, optional(s.afterOptions()...)...)
	return p, true
}

// afterStep is a point as a line of the procedure. It is nobody's to confirm: it is done when the facts say so.
func (s *Snapshot) afterStep(p AfterPoint) Step {
	st := Step{ID: "after/" + p.ID, Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, Title: p.Title, Why: p.Why, State: StepDone, Status: p.Note}
	switch {
	case p.Unknown != "":
		st.State, st.Status = StepWaiting, "not known: "+p.Unknown
	case len(p.Open) > 0:
		st.State, st.Status = StepWaiting, some(p.Open, 8)
		if p.ID == "auto-pause" {
			st.Commands = []string{s.kubectlManagement("delete", "updateautopauses", s.Management.Pause.Name)}
		}
	}
	return st
}

// singlyAtMost is how many of a kind are offered one by one beside the batch of them all.
const singlyAtMost = 30

// afterWays are the operator's steps that see to a point.
func (s *Snapshot) afterWays(p AfterPoint) []Step {
	var out []Step
	if p.Done() {
		return nil
	}
	switch p.ID {
	case "compute":
		for _, name := range s.NodeNames() {
			if svc := s.Services[s.HostOf(name)]; svc != nil && svc.leftDisabled() {
				out = append(out, Plan(s, Intent{Kind: IntentEnableCompute, Node: name}))
			}
		}
	case "by-hand":
		for _, r := range s.requestsByHand() {
			out = append(out, Plan(s, Intent{Kind: IntentWithdraw, Object: r.Ref()}))
		}
	case "reboots":
		if nodes := s.rebootNodes(); s.Management != nil && len(nodes) > 0 {
			out = append(out, Plan(s, Intent{Kind: IntentReboot, Nodes: nodes}))
		}
	case "maintenance-mode":
		out = append(out, s.maintenanceWays()...)
	case "agents":
		for _, name := range s.NodeNames() {
			if len(s.silentOn(s.HostOf(name))) > 0 {
				out = append(out, Plan(s, Intent{Kind: IntentRestartAgents, Node: name}))
			}
		}
	case "annotations":
		for _, name := range s.changedNodes() {
			out = append(out, Plan(s, Intent{Kind: IntentRestoreMode, Node: name}))
		}
	case "attempts":
		for _, name := range s.triesNodes() {
			if st, ok := s.restoreTries(name); ok {
				out = append(out, st)
			}
		}
	case "stopped":
		for _, in := range s.stoppedInstances() {
			out = append(out, Plan(s, Intent{Kind: in.broughtBackBy(), Instance: in.ID}))
		}
	case "migrations":
		out = append(out, s.coldSteps()...)
	case "tags":
		for _, in := range s.taggedInstances() {
			out = append(out, Plan(s, Intent{Kind: IntentRestoreTags, Instance: in.ID}))
		}
	}
	if v, ok := s.DaemonView(p.Pods); ok && len(v.Old) > 0 {
		workload := v.Set.Namespace + "/" + v.Set.Name
		all := Plan(s, Intent{Kind: IntentRestartPods, Workload: workload})
		if len(v.Old) > 1 || all.State == StepRunning || all.State == StepFailed {
			out = append(out, all)
		}
		for _, pod := range v.Old[:min(len(v.Old), singlyAtMost)] {
			out = append(out, Plan(s, Intent{Kind: IntentRestartPod, Workload: workload, Node: pod.Node}))
		}
	}
	return out
}

// afterOptions is what does not count as left over: annotations that are somebody's own, what Lockstep cannot see, and the
// test of the cloud.
func (s *Snapshot) afterOptions() []Step {
	out := s.unset(IntentSetMode, s.setByOthers(AnnotationMigrationMode, s.changedNodes()))
	out = append(out, s.unset(IntentSetAttempts, s.setByOthers(AnnotationMigrationAttempts, s.triesNodes()))...)
	if slices.ContainsFunc(s.DaemonSets, func(d *DaemonSet) bool { return d.Namespace == namespaceFabric }) {
		out = append(out, Step{ID: "after/cassandra", Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, State: StepLater,
			Title: "Cassandra is repaired", Status: "Lockstep does not see it: look by hand",
			Why: "Tungsten Fabric's databases want a repair after an update: by the job tf-dbrepair-job, where the TFOperator's spec.features.dbRepair is on.",
			Commands: []string{shellCommand("kubectl", "-n", namespaceFabric, "get", "cronjobs,jobs"),
				shellCommand("kubectl", "-n", namespaceFabric, "get", "tfoperators.tf.mirantis.com", "-o", "yaml")}})
	}
	asked := s.tempestAsked()
	if !asked || s.TempestJob == nil || s.tempestIsOld() {
		out = append(out, Plan(s, Intent{Kind: IntentAddTempest}))
	}
	out = append(out, s.tempestStep())
	if asked {
		out = append(out, Plan(s, Intent{Kind: IntentRemoveTempest}))
	}
	return out
}

// unset offers to remove an annotation that Lockstep did not set from the nodes, from all of them and one by one.
func (s *Snapshot) unset(kind IntentKind, names []string) []Step {
	var lists [][]string
	if len(names) > 1 {
		lists = append(lists, names)
	}
	for _, name := range names[:min(len(names), singlyAtMost)] {
		lists = append(lists, []string{name})
	}
	var out []Step
	for _, list := range lists {
		st := Plan(s, Intent{Kind: kind, Nodes: list})
		st.Why = join("Lockstep did not set it: where it was meant for this update only, remove it.", st.Why)
		out = append(out, st)
	}
	return out
}

func afterProcedureKey() *ProcedureKey { return &ProcedureKey{Kind: ProcedureAfter} }
