package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func (b *nodeSteps) lcm() {
	for _, l := range progress.LcmStages {
		st := b.other(l.Id, l.Title, l.Why, core.StepLater, "")
		switch {
		case slices.Contains(l.Over, b.v.Stage):
			st.State = core.StepDone
		case slices.Contains(l.Now, b.v.Stage):
			st.State, st.Status = core.StepWaiting, wording.TextOf(b.v.What, b.v.Reason)
			if l.Id == "return" {
				st.Why = wording.Join(st.Why, b.says())
				if b.lock != nil {
					st.Commands = look(b.s, b.lock, b.message)
				}
			}
			b.byMachine(l.Id, &st)
		case l.Id == "drain":
			st.Status = b.lcmWaits().WaitText()
		}
		b.add(st)
		if l.Id == "return" && st.State == core.StepWaiting {
			b.situation()
		}
	}
}
