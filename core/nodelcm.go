package core

import "slices"

// lcmStages is what LCM does with a node that was released, and in which stages that is under way or over.
var lcmStages = []struct {
	id, title, why string
	now, over      []Stage
}{
	{"drain", "LCM drains the node", "LCM cordons the node and moves its pods.", []Stage{StageReleased, StageDraining},
		[]Stage{StageUpdating, StageRebooting, StageReturning, StageDone}},
	{"update", "LCM updates the node", "The host and its Kubernetes are updated; in scope os the host may reboot.", []Stage{StageUpdating, StageRebooting},
		[]Stage{StageReturning, StageDone}},
	{"return", "the node returns to service", "The controllers wait for the node, its pods, its compute service and its agents; then they take their locks back.", []Stage{StageReturning},
		[]Stage{StageDone}},
}

func (b *nodeSteps) lcm() {
	for _, l := range lcmStages {
		st := b.other(l.id, l.title, l.why, StepLater, "")
		switch {
		case slices.Contains(l.over, b.v.Stage):
			st.State = StepDone
		case slices.Contains(l.now, b.v.Stage):
			st.State, st.Status = StepWaiting, textOf(b.v.What, b.v.Reason)
			if l.id == "return" {
				st.Why = join(st.Why, b.says())
				if b.lock != nil {
					st.Commands = b.s.look(b.lock, b.message)
				}
			}
			b.byMachine(l.id, &st)
		case l.id == "drain":
			st.Status = b.lcmWaits().waitText()
		}
		b.add(st)
		if l.id == "return" && st.State == StepWaiting {
			b.situation()
		}
	}
}
