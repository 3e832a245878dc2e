package progress

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// WillHold are the instances that hold a compute in its maintenance until a person has seen to them, and that can be dealt with before:
// each by its name, with what is special about it.
func WillHold(s *core.Snapshot, node string) []string {
	m := MaintenanceOf(s, node)
	if !m.Compute {
		return nil
	}
	var names []string
	for _, in := range s.ByHost[m.Host] { // without views: a fleet has 100,000 instances
		action, origin := core.EffectiveAction(in.Tags, m.Mode)
		if !core.Blocks(in, action) {
			continue
		}
		switch {
		case in.Status != "ACTIVE" && in.Status != "PAUSED" && in.TaskState == "":
			names = append(names, fmt.Sprintf("%s (%s)", InstanceLabel(in), wording.OneLine(in.Status, 30)))
		case action == core.ActionNotify && origin == core.OriginNode:
			names = append(names, InstanceLabel(in)) // manual: the operator moves it
		case action == core.ActionNotify && origin == core.OriginTag:
			names = append(names, InstanceLabel(in)+" (notify)")
		case origin == core.OriginConflicting:
			names = append(names, InstanceLabel(in)+" (two tags)")
		}
	}
	slices.Sort(names)
	return names
}
