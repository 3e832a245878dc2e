package procedure

import (
	"fmt"
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

// DrainRemedy is what operators do about a blocked drain; empty when no pod is named.
func DrainRemedy(m progress.DrainMessage) string {
	switch {
	case m.Pod == "":
		return ""
	case m.Budgeted:
		return "See what the budget waits for: where its other pods are not ready, repair them; else delete the pod, its workload makes " +
			"another one elsewhere. LCM tries again by itself."
	case m.Ending:
		return "It is being deleted already: deleting it again does nothing. See by its events what keeps it, and mend that. It is deleted by " +
			"force only once nothing of it runs on the host any more. LCM tries again by itself."
	}
	return "See what keeps the pod, or delete it: its workload makes another one elsewhere. LCM tries again by itself."
}

// lcmWaits is what LCM says it waits for before it drains the node.
func (b *nodeSteps) lcmWaits() progress.DrainMessage {
	return progress.MachineWaits(progress.MachineOf(b.s, b.v.Name))
}

// byMachine adds to one of LCM's steps what keeps it, by the management cluster, and the commands that show it.
func (b *nodeSteps) byMachine(id string, st *core.Step) {
	v := progress.MachineOf(b.s, b.v.Name)
	if v == nil {
		return
	}
	switch id {
	case "drain":
		if d := v.Drain; d != nil && progress.DrainBlocked(d) {
			m := progress.ReadDrainMessage(d.Message)
			st.Status = fmt.Sprintf("blocked, attempt %d: %s", d.Attempt, m.Reason())
			st.Why = wording.Join(st.Why, DrainRemedy(m))
			st.Commands = append(m.Commands(), b.s.KubectlManagement("get", "lcmclusterstates", d.Name, "-o", "wide"))
		} else if d != nil && progress.DrainWaits(d) {
			st.Status = progress.ReadDrainMessage(d.Message).Reason()
			st.Why = wording.Join(st.Why, wording.Sentence(progress.WaitsTooLong(b.s, v, d)))
			st.Commands = []string{b.s.KubectlManagement("get", "lcmclusterstates", d.Name, "-o", "wide")}
		}
	case "update":
		if v.LCM == nil || b.v.Stage != core.StageUpdating {
			return
		}
		if v.Failing != nil {
			st.Status = progress.ItemText(*v.Failing)
			st.Why = wording.Join(st.Why, "LCM runs the item again by itself; what it needs has to be mended: mirrors, disk space, the network.")
		}
		st.Commands = []string{b.s.KubectlManagement("get", "lcmmachines", v.Name, "-o", "yaml")}
	}
}
