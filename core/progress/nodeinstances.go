package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// HoldsAhead tells whether only a person can get the instance out of the way when its node's turn comes.
func HoldsAhead(v core.InstanceView) bool {
	if !v.Blocks {
		return false
	}
	return v.Action == core.ActionNotify || v.Origin == core.OriginConflicting || Stranded(v)
}

// TellOwners is the step that no API can do: to tell the owners of the instances on a node.
func TellOwners(s *core.Snapshot, target core.Ref, node, label string, held []core.InstanceView) core.Step {
	projects := map[string]bool{}
	for _, v := range held {
		projects[v.Instance.ProjectID] = true
	}
	what := wording.Count(len(held), "instance")
	if len(held) == 1 {
		what = InstanceLabel(held[0].Instance)
	}
	return core.Step{ID: "tell-owners/" + wording.TextOf(target.UID, target.Name), Target: target, Label: label, Node: node,
		Title: "tell the owners of " + what, State: core.StepWaiting,
		Why: "Their owners decide, or at least want to know. Whom to tell, with a note to send for each project, is on the page that enter " +
			"opens.",
		Status: wording.Count(len(projects), "project") + "; enter lists whom to tell", Tell: []string{node}}
}
