package tui

import (
	"fmt"
	"strings"

	"lockstep/core/evacuation"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// body is the page's text. It is made once for a plan and a width: a plan of a whole update can have thousands of lines.
func (p *planPage) body(m *Model, w int) []draw.Line {
	switch {
	case p.err != nil:
		return append(draw.Paragraph(themes.Bad, "There is no plan: "+p.err.Error(), w),
			draw.Paragraph(themes.Dim, m.keyTo("plan.again")+" asks again", w)...)
	case p.plan == nil:
		text := "Asking OpenStack for room, groups, devices and volumes " + m.look.Glyph.Ellipsis
		lines := []draw.Line{draw.One(themes.Moves, text)}
		if said := p.said.Load(); said != nil {
			lines = append(lines, draw.One(themes.Dim, *said))
		}
		return append(lines, draw.Paragraph(themes.Dim, "Placement is asked for each host's allocations, at most ten hosts a second.", w)...)
	}
	key := planText{w: w, every: p.every, plan: p.plan, arrow: m.look.Glyph.Arrow}
	if d := p.made; d.w == key.w && d.every == key.every && d.plan == key.plan && d.arrow == key.arrow && d.lines != nil {
		return d.lines
	}
	key.lines = planLines(m, p.plan, w, p.every)
	p.made = key
	return key.lines
}

// planLines are a plan as the screen shows it: the totals first, then node by node what needs a person.
func planLines(m *Model, plan *evacuation.Forecast, w int, every bool) []draw.Line {
	var out []draw.Line
	tone := themes.Strong
	if plan.Clear() {
		tone = themes.Good
	}
	out = append(out, draw.Paragraph(tone, plan.Headline(), w)...)
	out = append(out, draw.Paragraph(themes.Text, plan.TimeText(), w)...)
	out = append(out, draw.Paragraph(themes.Dim, plan.MadeText(), w)...)
	if len(plan.Unknown) > 0 {
		out = append(out, draw.Line{}, draw.One(themes.Warn, "Could not be checked"))
		for _, u := range plan.Unknown {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Text, u.What+": "+u.Means, w-2))...)
			out = append(out, draw.Inset(4, draw.Paragraph(themes.Dim, u.Why, w-4))...)
		}
	}
	for i := range plan.Nodes {
		out = append(out, nodePlanLines(m, plan, &plan.Nodes[i], w, every)...)
	}
	if len(plan.Closed) > 0 {
		out = append(out, draw.Line{}, draw.One(themes.Strong, "Hosts that take no instances"))
		for _, h := range plan.Closed {
			out = append(out, draw.Inset(2, draw.Paragraph(themes.Text, h.Host+": "+h.Why, w-2))...)
		}
	}
	if len(plan.LeftOut) > 0 {
		out = append(out, draw.Line{}, draw.One(themes.Strong, "Done already"))
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Text, strings.Join(plan.LeftOut, ", "), w-2))...)
	}
	out = append(out, draw.Line{}, draw.One(themes.Strong, "What no list tells"))
	for _, n := range plan.Otherwise {
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Dim, n, w-2))...)
	}
	return out
}

// nodePlanLines are a node's forecast: a line for the whole, and its instances below.
func nodePlanLines(m *Model, plan *evacuation.Forecast, n *evacuation.NodeForecast, w int, every bool) []draw.Line {
	c := n.Counts
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{c.Blocks, "blocks", "block"}, {c.MayFail, "may fail", "may fail"}, {c.Unknown, "not known", "not known"}, {c.Moves, "moves", "move"},
		{c.GoesDown, "goes down", "go down"}, {c.Stays, "stays", "stay"}} {
		switch part.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+part.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no instances"}
	}
	head := draw.Line{draw.Text(themes.Strong, n.Label), draw.Text(themes.Dim, "  "+string(n.Mode))}
	if n.Zone != "" {
		head = head.And(themes.Dim, ", zone "+n.Zone)
	}
	if plan.AtOnce > 1 {
		head = head.And(themes.Dim, fmt.Sprintf(", wave %d", n.Wave))
	}
	note := draw.Line{}
	if n.Time != nil && *n.Time > 0 {
		note = draw.One(themes.Text, "moving takes "+evacuation.SpanText(n.Time))
	}
	out := []draw.Line{{}, draw.Apart(head, note, w)}
	out = append(out, draw.Inset(2, draw.Paragraph(themes.Text, strings.Join(parts, ", "), w-2))...)
	switch spare := n.SpareText(); spare {
	case "-":
	case "fits":
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Dim, "fits with "+n.Spare.Host+" lost, too", w-2))...)
	case "?":
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Warn, "whether there is room is not known", w-2))...)
	default:
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Warn, "with "+n.Spare.Host+" lost "+spare, w-2))...)
	}
	for _, note := range n.Notes {
		out = append(out, draw.Inset(2, draw.Paragraph(themes.Dim, note, w-2))...)
	}
	for i := range n.Instances {
		if x := &n.Instances[i]; every || x.NeedsPerson() {
			out = append(out, instancePlanLines(m, x, w)...)
		}
	}
	return out
}

// The columns of an instance in a plan.
const (
	planFateColumn = 13
	planNameColumn = 18
)

// instancePlanLines are an instance's forecast: its fate, why, and what to do.
func instancePlanLines(m *Model, x *evacuation.InstanceForecast, w int) []draw.Line {
	k := fateMark(m.look.Glyph, x.Fate)
	name := x.Name
	if x.From != "" {
		name += " (from " + x.From + ")"
	}
	first := append(draw.Line{draw.Blank(2)}, k.spans(string(x.Fate)).Fit(planFateColumn, false)...)
	label := draw.One(themes.Strong, name)
	at := 2 + planFateColumn + planNameColumn + 1
	if label.Width() <= planNameColumn {
		label = label.Fit(planNameColumn, false)
	}
	first = append(append(first, label...), draw.Blank(1))
	var rest []draw.Line
	for _, r := range x.Reasons {
		tone := themes.Text
		if r.Level == evacuation.LevelNote {
			tone = themes.Dim
		}
		rest = append(rest, draw.Paragraph(tone, r.Text, w-at)...)
		if r.Remedy != "" && r.Level != evacuation.LevelNote {
			rest = append(rest, draw.Inset(2, draw.Paragraph(themes.Key, r.Remedy, w-at-2))...)
		}
	}
	what := strings.TrimSpace(x.Project + " " + x.Flavor)
	switch {
	case x.Target != "" && x.Time != nil:
		what = fmt.Sprintf("to %s, about %s; %s", x.Target, x.Time, what)
	case x.Target != "":
		what = fmt.Sprintf("to %s; %s", x.Target, what)
	}
	rest = append(rest, draw.One(themes.Dim, what))
	if label.Width() > planNameColumn { // a long name has its line for itself
		return append([]draw.Line{first.Cut(w)}, draw.Inset(at, rest)...)
	}
	return append([]draw.Line{append(first, rest[0]...).Cut(w)}, draw.Inset(at, rest[1:])...)
}
