package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Beginning is when LCM begins a step. It says whose matter nodes in maintenance are.
type Beginning int

const (
	AtOnce   Beginning = iota // no node should be in maintenance
	AfterOne                  // once the step under way is complete: nodes in maintenance are that one's matter
	Again                     // it was held: its own nodes are in maintenance, and are finished; a dead one is not
)

// Stops is what stops the update now: why its next step should not be begun. What only core/step's own facts tell is found here, the rest
// by Snapshot.MoreStops. Each key is there once.
func Stops(s *core.Snapshot, when Beginning) []core.Stop {
	var found []core.Stop
	m := s.Management
	if m == nil {
		return nil
	}
	if m.Pause != nil {
		for _, alert := range m.Pause.Firing {
			alert = wording.OneLine(alert, 80)
			found = append(found, core.Stop{Key: "alert/" + alert, Text: "alert " + alert + " fires: commence would be taken away again",
				Remedy: "mend its cause, or take it off the UpdateAutoPause"})
		}
	}
	if p := m.Plan(); p != nil {
		if p.Status == core.PlanAutoPaused && !s.Known(core.SourceAutoPauses) {
			found = append(found, core.Stop{Key: "alert/unknown", Text: "an alert paused the update, and whether it still fires is not known: " +
				s.WhyUnknown(core.SourceAutoPauses), Remedy: "look at the alerts of the management cluster: commence is taken away while it fires"})
		}
		for _, st := range p.Steps {
			if core.PlanStatusUnlisted(st.Status) {
				found = append(found, core.Stop{Key: "plan-status/" + st.Key(), Text: progress.StepShort(st) +
					" has a status that no document lists: " + wording.OneLine(st.Status, 40), Remedy: "look at the plan, and at LCM's log"})
			}
			if st.Status == core.PlanStuck {
				found = append(found, core.Stop{Key: "plan-stuck/" + st.Key(),
					Text:   progress.StepShort(st) + " is Stuck" + wording.Because(wording.OneLine(st.Message, 160)),
					Remedy: "its entry in \"needs you\" says what holds it"})
			}
		}
	}
	if m.LCM != nil && m.LCM.Stuck {
		found = append(found, core.Stop{Key: "lcm-stuck", Text: "LCM is stuck" + wording.Because(wording.OneLine(m.LCM.StuckMessage, 160)),
			Remedy: "its entry in \"needs you\" says what holds it"})
	}
	found = append(found, nodesNotBack(s, when)...)
	found = append(found, s.MoreStops.Of(s)...)
	once := map[string]bool{}
	out := found[:0]
	for _, stop := range found {
		if !once[stop.Key] {
			once[stop.Key] = true
			out = append(out, stop)
		}
	}
	return out
}

// nodesNotBack are the nodes that are not in service, as the next step would find them.
func nodesNotBack(s *core.Snapshot, when Beginning) []core.Stop {
	var found []core.Stop
	for _, v := range progress.NodeViews(s) {
		n := v.Node
		if n == nil || LeavesCluster(s, v.Name) {
			continue
		}
		if v.Request != nil && (when == AfterOne || when == Again && n.Ready == "True") {
			continue
		}
		var why []string
		if v.Request != nil {
			why = append(why, string(v.Stage))
		}
		if n.Ready != "True" {
			why = append(why, "not Ready")
		}
		if n.Cordoned {
			why = append(why, "cordoned")
		}
		if len(why) > 0 {
			found = append(found, core.Stop{Key: "node/" + v.Name + "/" + strings.Join(why, ", "),
				Text: wording.OneLine(v.Label, 64) + " is not in service: " + strings.Join(why, ", "), Remedy: "its steps bring it back"})
		}
	}
	return found
}

// pastText names what the operator goes past, as a sentence; empty when nothing stops the update.
func pastText(stops []core.Stop) string {
	texts := make([]string, len(stops))
	for i, stop := range stops {
		texts[i] = wording.OneLine(stop.Text, 200)
	}
	if len(texts) == 0 {
		return ""
	}
	return wording.Sentence("you go past what stops it: " + someOf(texts, 8))
}

// someOf are the first of several texts that can have commas, and how many more there are.
func someOf(texts []string, most int) string {
	if n := len(texts) - most; n > 0 {
		return strings.Join(texts[:most], "; ") + "; and " + wording.Itoa(n) + " more"
	}
	return strings.Join(texts, "; ")
}

// guardNoStops holds when nothing stops the update, or when the operator goes past what stops it. What is gone past is in the basis: when
// something else comes up, the confirmation goes stale.
func (p *planner) guardNoStops(stops []core.Stop) {
	g := core.Guard{ID: core.GuardNoStops, Text: "nothing stops the update", Holds: true, Answer: "nothing is known that does"}
	var keys, texts, remedies []string
	for _, stop := range stops {
		keys, texts = append(keys, stop.Key), append(texts, wording.OneLine(stop.Text, 200))
		if stop.Remedy != "" && !strings.Contains(strings.Join(remedies, "; "), stop.Remedy) {
			remedies = append(remedies, stop.Remedy)
		}
	}
	p.fact("stops", strings.Join(keys, ", "))
	switch {
	case len(stops) == 0 && p.i.PastStops:
		g.Holds, g.Answer, g.Remedy = false, "nothing does any more", "take the step without the override"
	case len(stops) > 0:
		g.Answer, g.Holds = wording.Count(len(stops), "thing")+wording.Verb(len(stops), " does: ", " do: ")+someOf(texts, 4), p.i.PastStops
		if g.Remedy = someOf(remedies, 3); p.i.PastStops {
			g.Text, g.Remedy = "you go past what stops the update", ""
		}
	}
	p.guard(g)
}
