package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// ahead are the steps on the quorums and instances that will hold a node when its turn comes: what can be settled before. Nobody waits
// for it yet.
func (b *nodeSteps) ahead() {
	b.quorumAhead()
	s, name := b.s, b.v.Name
	m := progress.MaintenanceOf(s, name)
	if !m.Compute || !s.Known(core.SourceInstances) {
		return
	}
	var held []core.InstanceView
	for _, v := range progress.InstanceViews(s, name) {
		if progress.HoldsAhead(v) {
			held = append(held, v)
		}
	}
	if len(held) == 0 {
		return
	}
	b.add(progress.TellOwners(s, b.target, name, b.v.Label, held))
	if b.v.Mode == core.ModeManual {
		if movable, _ := step.Movable(s, name); len(movable) >= 2 || b.batchRuns() {
			st := step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: name})
			st.Why = wording.Join(st.Why, "Until the node's turn others can be put there, unless its nova-compute is disabled first.")
			b.add(optional(st)...)
		}
	}
	for _, v := range held {
		b.add(optional(instanceStep(s, v))...)
	}
}
