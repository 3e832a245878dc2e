package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func (b *nodeSteps) lcm() {
	for _, l := range progress.LCMStages {
		st := b.other(l.ID, l.Title, l.Why, core.StepLater, "")
		switch {
		case slices.Contains(l.Over, b.v.Stage):
			st.State = core.StepDone
		case slices.Contains(l.Now, b.v.Stage):
			st.State, st.Status = core.StepWaiting, wording.TextOf(b.v.What, b.v.Reason)
			if l.ID == "return" {
				st.Why = wording.Join(st.Why, b.says())
				if b.lock != nil {
					st.Commands = look(b.s, b.lock, b.message)
				}
			}
			b.byMachine(l.ID, &st)
		case l.ID == "drain":
			st.Status = b.lcmWaits().WaitText()
		}
		b.add(st)
		if l.ID == "return" && st.State == core.StepWaiting {
			b.situation()
		}
	}
}
