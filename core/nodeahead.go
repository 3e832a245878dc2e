package core

// ahead are the steps on the quorums and instances that will hold a node when its turn comes: what can be settled before. Nobody waits
// for it yet.
func (b *nodeSteps) ahead() {
	b.quorumAhead()
	s, name := b.s, b.v.Name
	m := s.maintenanceOf(name)
	if !m.compute || !s.known(SourceInstances) {
		return
	}
	var held []InstanceView
	for _, v := range s.InstanceViews(name) {
		if holdsAhead(v) {
			held = append(held, v)
		}
	}
	if len(held) == 0 {
		return
	}
	b.add(s.tellOwners(b.target, name, b.v.Label, held))
	if b.v.Mode == ModeManual {
		if movable, _ := s.movable(name); len(movable) >= 2 || b.batchRuns() {
			st := Plan(s, Intent{Kind: IntentLiveMigrateAll, Node: name})
			st.Why = join(st.Why, "Until the node's turn others can be put there, unless its nova-compute is disabled first.")
			b.add(optional(st)...)
		}
	}
	for _, v := range held {
		b.add(optional(s.instanceStep(v))...)
	}
}

// holdsAhead tells whether nothing but a person gets the instance out of the way when its node's turn comes.
func holdsAhead(v InstanceView) bool {
	if !v.Blocks {
		return false
	}
	return v.Action == ActionNotify || v.Origin == OriginConflicting || stranded(v)
}

// tellOwners is the step that no API does: telling the owners of instances on a node.
func (s *Snapshot) tellOwners(target Ref, node, label string, held []InstanceView) Step {
	projects := map[string]bool{}
	for _, v := range held {
		projects[v.Instance.ProjectID] = true
	}
	what := count(len(held), "instance")
	if len(held) == 1 {
		what = instanceLabel(held[0].Instance)
	}
	return Step{ID: "tell-owners/" + textOf(target.UID, target.Name), Target: target, Label: label, Node: node, Title: "tell the owners of " + what, State: StepWaiting,
		Why:    "Their owners decide, or at least want to know. Whom to tell, with a note to send for each project, is on the page that enter opens.",
		Status: count(len(projects), "project") + "; enter lists whom to tell", Tell: []string{node}}
}
