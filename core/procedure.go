package core

import "slices"

// Procedure computes the procedure from what is known now; false when its subject is not known.
func (s *Snapshot) Procedure(key ProcedureKey) (Procedure, bool) {
	var (
		p  Procedure
		ok bool
	)
	switch key.Kind {
	case ProcedureNode:
		p, ok = s.nodeProcedure(key.Subject)
	case ProcedureInstance:
		p, ok = s.instanceProcedure(key.Subject)
	case ProcedureSource:
		p, ok = s.sourceProcedure(key.Subject)
	case ProcedureCluster:
		p, ok = s.clusterProcedure()
	case ProcedureAfter:
		p, ok = s.afterProcedure()
	case ProcedureMaintenance:
		p, ok = s.maintenanceProcedure()
	}
	if !ok {
		return Procedure{}, false
	}
	p.Key = key
	return p, true
}

// instanceIntents is the order in which what fits an instance is offered.
var instanceIntents = []IntentKind{IntentAbortMigration, IntentForceComplete, IntentConfirmResize, IntentRevertResize, IntentLiveMigrate,
	IntentEvacuate, IntentColdMigrate, IntentStart, IntentResume, IntentUnshelve, IntentResetState, IntentStop, IntentShelve}

// instanceProcedure is everything that can be done with one instance.
func (s *Snapshot) instanceProcedure(id string) (Procedure, bool) {
	v, ok := s.InstanceView(id)
	if !ok {
		return Procedure{}, false
	}
	in := v.Instance
	label := instanceLabel(in)
	p := Procedure{Title: "What can be done with " + label, Goal: "Everything that fits the instance as it is now, the best first."}
	on := "no host that Nova names"
	if in.Host != "" {
		on = s.hostLabel(in.Host)
	}
	p.Summary = []string{"is " + in.Status + " on " + on, v.Why}
	if in.Fault != "" {
		p.Summary = append(p.Summary, "fault: "+oneLine(in.Fault, mostRead))
	}
	for _, text := range []string{s.ownerText(v), s.lockedText(in)} {
		if text != "" {
			p.Summary = append(p.Summary, text)
		}
	}
	if s.moving(in) {
		st := s.movingStep(v)
		p.Steps, st.Alternatives = append([]Step{st}, st.Alternatives...), nil
		p.Steps[0] = st
		return p, true
	}
	awaited := s.awaited(v)
	if node := v.nodeName(s); node != "" && (v.Action == ActionNotify && v.Blocks || in.Locked) {
		p.Steps = append(p.Steps, s.tellOwners(in.Ref(), node, label, []InstanceView{v}))
	}
	if noRoom(v) && v.Blocks {
		p.Steps = append(p.Steps, s.roomSteps([]InstanceView{v})...)
	}
	for _, kind := range s.fits(v) {
		st := Plan(s, Intent{Kind: kind, Instance: id})
		p.Steps = append(p.Steps, optionalIf(!slices.Contains(awaited, kind), st))
	}
	if len(s.fits(v)) == 0 {
		p.Steps = append(p.Steps, s.noWayStep(v))
	}
	return p, true
}

// awaited are the ways of an instance's that somebody waits for: it holds its node's maintenance, it waits for a decision, or Lockstep
// has put it down.
func (s *Snapshot) awaited(v InstanceView) []IntentKind {
	in, node := v.Instance, v.nodeName(s)
	n, _ := s.NodeView(node)
	asked := s.leaving(node) && (!v.Migrates || n.Stage == StageWaiting) || s.Deletions[node] != nil
	switch _, put := s.History.Stopped[in.ID]; {
	case v.Blocks && asked, in.Status == "VERIFY_RESIZE":
		return s.waysFor(v)
	case put && !s.leaving(node):
		return []IntentKind{in.broughtBackBy()}
	}
	return nil
}

// fits are the intents that Nova would take for the instance in its status. Where no host has room for it, those come first
// that need none.
func (s *Snapshot) fits(v InstanceView) []IntentKind {
	var out []IntentKind
	in := v.Instance
	if noRoom(v) && v.Blocks {
		out = slices.Clone(s.waysFor(v))
	}
	for _, kind := range instanceIntents {
		if slices.Contains(instanceRules[kind].statuses, in.Status) && !slices.Contains(out, kind) && (!instanceRules[kind].dead || s.hostDown(in.Host)) {
			out = append(out, kind)
		}
	}
	if slices.Contains(tagStatuses, in.Status) && !slices.Contains(out, IntentTagPowerOff) {
		out = append(out, IntentTagPowerOff)
	}
	if _, changed := s.History.Tags[in.ID]; changed {
		out = append(out, IntentRestoreTags)
	}
	return out
}

// instanceStep is the step that gets one instance out of the way of its node's maintenance, with the other ways to that
// end. Its ID stays the same whatever becomes of the instance, so that a selection stays where it is.
func (s *Snapshot) instanceStep(v InstanceView) Step {
	if s.moving(v.Instance) {
		return s.movingStep(v)
	}
	ways := s.waysFor(v)
	if len(ways) == 0 {
		return s.noWayStep(v)
	}
	st := Plan(s, Intent{Kind: ways[0], Instance: v.Instance.ID})
	st.Why = join("In the way — "+v.Why+".", st.Why)
	st.ID = string(IntentLiveMigrate) + "/" + v.Instance.ID
	for _, kind := range ways[1:] {
		st.Alternatives = append(st.Alternatives, Plan(s, Intent{Kind: kind, Instance: v.Instance.ID}))
	}
	return st
}

// movingStep waits for a migration, with what can be done with it.
func (s *Snapshot) movingStep(v InstanceView) Step {
	in := v.Instance
	st := Plan(s, Intent{Kind: IntentLiveMigrate, Instance: in.ID})
	st.Status = s.progressText(in)
	if st.State != StepRunning {
		// It is not Lockstep that moves it: there is nothing to confirm.
		st = Step{ID: st.ID, Target: st.Target, Label: st.Label, Node: st.Node, State: StepWaiting, Status: st.Status,
			Title: "wait for the migration of " + st.Label, Why: "It is being migrated; only where it is in the end says how that went."}
	}
	st.Alternatives = s.migrationControls(in)
	return st
}

// migrationControls are the steps on a running live migration.
func (s *Snapshot) migrationControls(in *Instance) []Step {
	m := s.LatestMigration(in.ID)
	if m == nil || !m.Running() || m.Type != MigrationLive {
		return nil
	}
	return optional(Plan(s, Intent{Kind: IntentAbortMigration, Instance: in.ID}), Plan(s, Intent{Kind: IntentForceComplete, Instance: in.ID}))
}

// noWayStep is an instance for which Lockstep knows no way: somebody has to end what is going on there first.
func (s *Snapshot) noWayStep(v InstanceView) Step {
	in := v.Instance
	label := instanceLabel(in)
	st := Step{ID: "live-migrate/" + in.ID, Target: in.Ref(), Label: label, Title: "get " + label + " out of the way", Why: v.Why + ".",
		State: StepWaiting, Status: in.Status + dashed(textOf(wayOut(in), "wait until Nova is done with it"))}
	if n := s.NodeOfHost(in.Host); n != nil {
		st.Node = n.Name
	}
	if in.TaskState != "" {
		st.Status = in.Status + ", " + in.TaskState
	} else if in.Status == "RESCUE" {
		st.Commands = []string{shellCommand("openstack", "server", "unrescue", in.ID)}
	}
	return st
}
