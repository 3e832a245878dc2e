package tui

import (
	"fmt"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// rest is the tone of a cell: dim in rows of nodes where nothing happens, so that the others stand out.
func rest(v *core.NodeView, tone themes.Token) themes.Token {
	if v.Active() {
		return tone
	}
	return themes.Dim
}

func stageCell(s *scene, v *core.NodeView) draw.Line {
	k := nodeMark(s.look.Glyph, s.snap, v)
	return k.spans(string(v.Stage))
}

// ageOf is for how long the node is in its stage; empty where that says nothing.
func ageOf(s *scene, v *core.NodeView) string {
	if v.Since.At.IsZero() || v.Stage == core.StageIdle || v.Stage == core.StageQueued && v.Request == nil {
		return ""
	}
	return s.now.since(v.Since)
}

func stageAge(s *scene, v *core.NodeView) draw.Line {
	age := ageOf(s, v)
	if age == "" {
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	tone := themes.Dim
	if v.Active() {
		tone = themes.Text
	}
	return draw.One(tone, age)
}

func readyCell(v *core.NodeView) draw.Line {
	switch {
	case v.Node == nil:
		return draw.One(themes.Bad, "no node")
	case v.Node.Ready != "True":
		return draw.One(themes.Warn, "not ready")
	case v.Node.Cordoned:
		return draw.One(rest(v, themes.Moves), "cordoned")
	}
	return draw.One(rest(v, themes.Text), "ready")
}

func modeCell(s *scene, v *core.NodeView) draw.Line {
	switch {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return draw.One(themes.Dim, s.look.Glyph.None)
	case !v.ModeCounts:
		return draw.One(themes.Dim, "("+string(v.Mode)+")")
	case !v.Mode.Known():
		return draw.One(themes.Bad, string(v.Mode))
	case v.Mode == core.ModeManual:
		return draw.One(rest(v, themes.Needs), string(v.Mode))
	case v.Mode == core.ModeSkip:
		return draw.One(rest(v, themes.Warn), string(v.Mode))
	}
	return draw.One(rest(v, themes.Text), string(v.Mode))
}

// modeWidth is the width of a node's mode, with brackets where it has no effect.
func modeWidth(v *core.NodeView) int {
	switch w := draw.Width(string(v.Mode)); {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return 1
	case !v.ModeCounts:
		return w + 2
	default:
		return w
	}
}

func attemptsCell(s *scene, v *core.NodeView) draw.Line {
	if v.Node == nil || !v.Node.Is(core.RoleCompute) {
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Attempts))
}

// locksCell has one mark for every controller; their words are in the locks pane and the inspection.
func (p *nodesPane) locksCell(v *core.NodeView) draw.Line {
	var out draw.Line
	for i, c := range p.controllers {
		if i > 0 {
			out = append(out, draw.Blank(2))
		}
		out = append(out, p.lockSpan(v, c))
	}
	return out
}

func (p *nodesPane) lockSpan(v *core.NodeView, controller string) draw.Span {
	for _, l := range v.Locks {
		if l.Controller == controller {
			k := lockMark(p.look.Glyph, l.State())
			return draw.Text(rest(v, k.tone), k.glyph)
		}
	}
	return draw.Text(themes.Dim, p.look.Glyph.None)
}

func instancesCell(s *scene, v *core.NodeView) draw.Line {
	switch {
	case v.Instances < 0 && (v.Node == nil || v.Node.Is(core.RoleCompute)):
		return draw.One(themes.Warn, s.look.Glyph.Unknown)
	case v.Node == nil || v.Instances < 0 || v.Instances == 0 && !v.Node.Is(core.RoleCompute):
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Instances))
}

func whatCell(s *scene, v *core.NodeView) draw.Line {
	var out draw.Line
	if v.Stage == core.StageEvacuating && v.MovedFrom > 0 && v.Instances >= 0 {
		out = append(draw.Gauge(s.look.Glyph, v.MovedFrom-v.Instances, v.MovedFrom, 8), draw.Blank(1))
	}
	tone := themes.Text
	if !v.Active() {
		tone = themes.Dim
	}
	what := v.What
	if what == "" && len(v.Problems) > 0 {
		what, tone = v.Problems[0], themes.Warn
	}
	return append(out, draw.Text(tone, what))
}

// whatIn is whatCell in w columns: where room is short, the bar is dropped before the words are cut.
func whatIn(s *scene, v *core.NodeView, w int) draw.Line {
	out := whatCell(s, v)
	if out.Width() > w && len(out) > 1 {
		return out[len(out)-1:]
	}
	return out
}
