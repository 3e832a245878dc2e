package attention

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func seenMachine(f *facts, a core.Attention) []core.Evidence {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	return seenOne(v.Called(), progress.MachineSays(v))
}

func seenDrains(f *facts, a core.Attention) []core.Evidence {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	var out []core.Evidence
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil && d.Message != "" {
			out = append(out, core.Evidence{Of: wording.OneLine(d.Type, 40),
				Says: fmt.Sprintf("attempt %d: %s", d.Attempt, wording.OneLine(d.Message, saysMost))})
		}
	}
	return out
}

func seenItem(f *facts, a core.Attention) []core.Evidence {
	v := f.machineOf(a)
	if v == nil || v.Failing == nil {
		return nil
	}
	item := *v.Failing
	out := seenOne("state item", progress.ItemText(item))
	if !item.Started.IsZero() {
		out = append(out, core.Evidence{Of: "its last run", Says: "begun " + progress.DayText(f.s, item.Started)})
	}
	return out
}

// seenPlan is the update plan, with its steps that are not complete.
func seenPlan(f *facts, _ core.Attention) []core.Evidence {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	out := seenOne("plan "+wording.OneLine(p.Name, 60), wording.OneLine(wording.TextOf(p.Status, "no status"), 40))
	for _, st := range p.Steps {
		if st.Status != core.PlanCompleted {
			out = append(out, core.Evidence{Of: progress.StepShort(st), Says: progress.PlanStepText(f.s, st)})
		}
	}
	return out
}

func seenPause(f *facts, _ core.Attention) []core.Evidence {
	p := f.s.Management.Pause
	if p == nil {
		return nil
	}
	out := seenOne("it is paused by", wording.OneLine(wording.Some(p.Alerts, 6), saysMost))
	out = append(out, core.Evidence{Of: "firing now",
		Says: wording.TextOf(wording.OneLine(wording.Some(p.Firing, 6), saysMost), "none of them")})
	return append(out, core.Evidence{Of: "UpdateAutoPause", Says: wording.OneLine(p.Error, saysMost)})
}

func seenLCM(f *facts, _ core.Attention) []core.Evidence {
	c := f.s.Management.LCM
	if c == nil {
		return nil
	}
	return append(seenOne("LCMCluster", wording.OneLine(wording.TextOf(c.StuckMessage, "an operation is stuck, and it does not say which"),
		saysMost)),
		core.Evidence{Of: "nodes", Says: fmt.Sprintf("%d of %d ready", c.ReadyNodes, c.Requested)})
}
