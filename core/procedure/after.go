package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// afterProcedure is what is left to do after the update: each point, with the steps that settle it.
func afterProcedure(s *core.Snapshot) (core.Procedure, bool) {
	p := core.Procedure{Title: "After the update",
		Goal: "Nothing that the update began or asked for is left over, and the cloud is seen to work."}
	left, over := AfterUpdateLeft(s)
	if over {
		p.Summary = append(p.Summary, "the update ended at "+wording.ClockText(s.History.Update.Ended),
			wording.TextIf(left == 0, "every point is done", wording.Count(left, "point")+wording.Verb(left, " is", " are")+" left"))
	} else if s.ClusterRequest() != nil {
		p.Summary = append(p.Summary, "an update runs: this is what will be left once it is over")
	}
	for _, point := range AfterUpdate(s) {
		p.Steps = append(p.Steps, afterStep(s, point))
		for _, st := range afterWays(s, point) {
			p.Steps = append(p.Steps, optionalIf(s.ClusterRequest() != nil, st)) // nobody waits for it while an update runs
		}
	}
	p.Steps = append(p.Steps, optional(afterOptions(s)...)...)
	return p, true
}

// afterStep is a point as a step of the procedure. Nobody confirms it: it is done when the facts say so.
func afterStep(s *core.Snapshot, p core.AfterPoint) core.Step {
	st := core.Step{ID: "after/" + p.ID, Target: core.Ref{Kind: core.KindCluster, Name: s.Cluster}, Label: s.Cluster, Title: p.Title,
		Why: p.Why, State: core.StepDone, Status: p.Note}
	switch {
	case p.Unknown != "":
		st.State, st.Status = core.StepWaiting, "not known: "+p.Unknown
	case len(p.Open) > 0:
		st.State, st.Status = core.StepWaiting, wording.Some(p.OpenTexts(), 8)
	}
	return st
}

// singlyAtMost is how many of a kind are also offered one by one, beside the batch of all.
const singlyAtMost = 30

// afterWays are the operator's steps that settle a point.
func afterWays(s *core.Snapshot, p core.AfterPoint) []core.Step {
	var out []core.Step
	if p.Done() {
		return nil
	}
	switch p.ID {
	case "compute":
		for _, name := range s.NodeNames() {
			if svc := s.Services[s.HostOf(name)]; svc != nil && svc.LeftDisabled() {
				out = append(out, step.Plan(s, core.Intent{Kind: core.IntentEnableCompute, Node: name}))
			}
		}
	case "volumes":
		for _, name := range s.NodeNames() {
			for _, v := range s.VolumeServicesOn(name) {
				if v.LeftDisabled() {
					out = append(out, step.Plan(s, core.Intent{Kind: core.IntentEnableVolume, Node: name, Object: v.Ref()}))
				}
			}
		}
	case "by-hand":
		for _, r := range requestsByHand(s) {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()}))
		}
	case "reboots":
		if nodes := rebootNodes(s); len(nodes) > 0 {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentReboot, Nodes: nodes}))
		}
	case "maintenance-mode":
		out = append(out, maintenanceWays(s)...)
	case "auto-pause":
		if s.Management != nil && s.Management.Pause != nil { // it may be meant to stay: the step can be left
			out = append(out, optional(step.Plan(s, core.Intent{Kind: core.IntentSetAutoPause}))...)
		}
	case "agents":
		for _, name := range s.NodeNames() {
			if len(progress.SilentOn(s, s.HostOf(name))) > 0 {
				out = append(out, step.Plan(s, core.Intent{Kind: core.IntentRestartAgents, Node: name}))
			}
		}
	case "annotations":
		for _, name := range ModesToRestore(s) {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentRestoreMode, Node: name}))
		}
	case "attempts":
		for _, name := range AttemptsToRestore(s) {
			if st, ok := RestoreAttempts(s, name); ok {
				out = append(out, st)
			}
		}
	case "stopped":
		for _, in := range StoppedInstances(s) {
			out = append(out, step.Plan(s, core.Intent{Kind: in.BroughtBackBy(), Instance: in.ID}))
		}
	case "migrations":
		out = append(out, coldSteps(s)...)
	case "silences":
		for _, one := range progress.SilencesLeft(s) {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentExpireSilence, Object: one.Ref()}))
		}
	case "tags":
		for _, in := range TagsToRestore(s) {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentRestoreTags, Instance: in.ID}))
		}
	}
	if v, ok := progress.DaemonView(s, p.Pods); ok && len(v.Old) > 0 {
		workload := v.Set.Namespace + "/" + v.Set.Name
		all := step.Plan(s, core.Intent{Kind: core.IntentRestartPods, Workload: workload})
		if len(v.Old) > 1 || all.State == core.StepRunning || all.State == core.StepFailed {
			out = append(out, all)
		}
		for _, pod := range v.Old[:min(len(v.Old), singlyAtMost)] {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentRestartPod, Workload: workload, Node: pod.Node}))
		}
	}
	return out
}

// afterOptions are the steps that do not count as left over: annotations that Lockstep did not set, what it cannot see, and Tempest.
func afterOptions(s *core.Snapshot) []core.Step {
	out := unset(s, core.IntentSetMode, setByOthers(s, core.AnnotationMigrationMode, ModesToRestore(s)))
	out = append(out, unset(s, core.IntentSetAttempts, setByOthers(s, core.AnnotationMigrationAttempts, AttemptsToRestore(s)))...)
	if slices.ContainsFunc(s.DaemonSets, func(d *core.DaemonSet) bool { return d.Namespace == core.NamespaceFabric }) {
		out = append(out, core.Step{ID: "after/cassandra", Target: core.Ref{Kind: core.KindCluster, Name: s.Cluster}, Label: s.Cluster,
			State: core.StepLater,
			Title: "Cassandra is repaired", Status: "Lockstep does not see it: look by hand",
			Why: "Tungsten Fabric's databases want a repair after an update: by the job tf-dbrepair-job, where the TFOperator's " +
				"spec.features.dbRepair is on.",
			Commands: []string{wording.ShellCommand("kubectl", "-n", core.NamespaceFabric, "get", "cronjobs,jobs"),
				wording.ShellCommand("kubectl", "-n", core.NamespaceFabric, "get", "tfoperators.tf.mirantis.com", "-o", "yaml")}})
	}
	asked := step.TempestAsked(s)
	if !asked || s.TempestJob == nil || step.TempestIsOld(s) {
		out = append(out, step.Plan(s, core.Intent{Kind: core.IntentAddTempest}))
	}
	out = append(out, step.TempestStep(s))
	if asked {
		out = append(out, step.Plan(s, core.Intent{Kind: core.IntentRemoveTempest}))
	}
	return out
}

// unset offers to remove an annotation that Lockstep did not set from the nodes, from all of them and one by one.
func unset(s *core.Snapshot, kind core.IntentKind, names []string) []core.Step {
	var lists [][]string
	if len(names) > 1 {
		lists = append(lists, names)
	}
	for _, name := range names[:min(len(names), singlyAtMost)] {
		lists = append(lists, []string{name})
	}
	var out []core.Step
	for _, list := range lists {
		st := step.Plan(s, core.Intent{Kind: kind, Nodes: list})
		st.Why = wording.Join("Lockstep did not set it: where it was meant for this update only, remove it.", st.Why)
		out = append(out, st)
	}
	return out
}

// AfterKey is the key of the procedure after the update.
func AfterKey() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureAfter} }
