package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardModeCounts holds where the mode decides something.
func (p *planner) guardModeCounts(name string, set bool) {
	g := core.Guard{ID: core.GuardModeCounts, Text: "somebody goes by the node's mode", Holds: !set || progress.ModeCounts(p.s, name),
		Answer: "it does",
		Remedy: progress.HoldInstead}
	switch {
	case !set:
		g.Answer = "it is taken away"
	case !g.Holds:
		g.Answer = "it is no compute: " + progress.ModeIgnored
	}
	p.guard(g)
}

// guardWord holds when the operator has said that a node which is no compute may go.
func (p *planner) guardWord(node string) {
	n := p.s.Nodes[node]
	if n == nil || n.Is(core.RoleCompute) {
		return
	}
	p.hostModeFact(n)
	g := core.Guard{ID: core.GuardOperatorsWord, Text: "the operator has said that it may go", Holds: !progress.AwaitsWord(p.s, node),
		Answer: "its migration mode is " + wording.TextOr(n.Annotation(core.AnnotationMigrationMode), "not set"),
		Remedy: "declare it safe, once what has to go first is gone"}
	p.guard(g)
}
