package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardQuorum holds when every StatefulSet that needs a quorum keeps it without the node (docs/mosk.md#quorum: can_handle_nmr of
// database, coordination, redis and metric-storage, and their part of a removal).
func (p *planner) guardQuorum(controller, node string) {
	s := p.s
	if len(progress.QuorumSources(s, controller, node)) == 0 {
		return
	}
	g := core.Guard{ID: core.GuardQuorum, Text: "what needs a quorum can do without the node", Holds: true}
	var good, bad []string
	for _, q := range progress.QuorumSets {
		if !q.AskedFirst() {
			continue
		}
		v, there := progress.Quorum(s, q)
		if why := progress.QuorumUnknown(s, q); why != "" {
			bad = append(bad, q.Name+" is not known: "+why)
			g.Remedy = wording.TextOf(g.Remedy, "see it first")
			continue
		} else if !there {
			continue
		}
		if hold, text := v.HoldsBesideLetGo(s, node); hold != progress.QuorumFree {
			bad = append(bad, text)
			g.Remedy = "mend it, or wait for it: " + q.Look()[1]
		} else {
			good = append(good, text)
		}
	}
	g.Answer = wording.TextOf(strings.Join(good, ", "), "nothing needs one")
	if len(bad) > 0 {
		g.Holds, g.Answer = false, strings.Join(bad, "; ")
	}
	p.guard(g)
}
