package tui

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
)

// body is the page's text. It is made once for a plan and a width: a plan of a whole update can have thousands of lines.
func (p *planPage) body(m *Model, w int) []line {
	switch {
	case p.err != nil:
		return append(paragraph(themes.Bad, "There is no plan: "+p.err.Error(), w), paragraph(themes.Dim, "r asks again", w)...)
	case p.plan == nil:
		text := "Asking OpenStack for room, groups, devices and volumes " + m.look.glyph.Ellipsis
		lines := []line{one(themes.Moves, text)}
		if said := p.said.Load(); said != nil {
			lines = append(lines, one(themes.Dim, *said))
		}
		return append(lines, paragraph(themes.Dim, "Hosts are asked one by one for who takes what of them, at most ten in a second.", w)...)
	}
	key := planText{w: w, every: p.every, plan: p.plan, arrow: m.look.glyph.Arrow}
	if d := p.made; d.w == key.w && d.every == key.every && d.plan == key.plan && d.arrow == key.arrow && d.lines != nil {
		return d.lines
	}
	key.lines = planLines(m, p.plan, w, p.every)
	p.made = key
	return key.lines
}

// planLines are a plan as the screen shows it: what it comes to first, then node by node what needs somebody.
func planLines(m *Model, plan *core.EvacuationForecast, w int, every bool) []line {
	var out []line
	tone := themes.Strong
	if plan.Clear() {
		tone = themes.Good
	}
	out = append(out, paragraph(tone, plan.Headline(), w)...)
	out = append(out, paragraph(themes.Text, plan.TimeText(), w)...)
	out = append(out, paragraph(themes.Dim, plan.MadeText(), w)...)
	if len(plan.Unknown) > 0 {
		out = append(out, line{}, one(themes.Warn, "Could not be checked"))
		for _, u := range plan.Unknown {
			out = append(out, inset(2, paragraph(themes.Text, u.What+": "+u.Means, w-2))...)
			out = append(out, inset(4, paragraph(themes.Dim, u.Why, w-4))...)
		}
	}
	for i := range plan.Nodes {
		out = append(out, nodePlanLines(m, plan, &plan.Nodes[i], w, every)...)
	}
	if len(plan.Closed) > 0 {
		out = append(out, line{}, one(themes.Strong, "Hosts that take no instances"))
		for _, h := range plan.Closed {
			out = append(out, inset(2, paragraph(themes.Text, h.Host+": "+h.Why, w-2))...)
		}
	}
	if len(plan.LeftOut) > 0 {
		out = append(out, line{}, one(themes.Strong, "Done already"))
		out = append(out, inset(2, paragraph(themes.Text, strings.Join(plan.LeftOut, ", "), w-2))...)
	}
	out = append(out, line{}, one(themes.Strong, "What no list tells"))
	for _, n := range plan.Otherwise {
		out = append(out, inset(2, paragraph(themes.Dim, n, w-2))...)
	}
	return out
}

// inset moves lines n columns to the right.
func inset(n int, lines []line) []line {
	for i, l := range lines {
		lines[i] = append(line{blank(n)}, l...)
	}
	return lines
}

// nodePlanLines are a node's forecast: a line for the whole, and its instances below.
func nodePlanLines(m *Model, plan *core.EvacuationForecast, n *core.NodeEvacuation, w int, every bool) []line {
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
	head := line{txt(themes.Strong, n.Label), txt(themes.Dim, "  "+string(n.Mode))}
	if n.Zone != "" {
		head = head.and(themes.Dim, ", zone "+n.Zone)
	}
	if plan.AtOnce > 1 {
		head = head.and(themes.Dim, fmt.Sprintf(", wave %d", n.Wave))
	}
	note := line{}
	if n.Time != nil && *n.Time > 0 {
		note = one(themes.Text, "moving takes "+core.SpanText(n.Time))
	}
	out := []line{{}, apart(head, note, w)}
	out = append(out, inset(2, paragraph(themes.Text, strings.Join(parts, ", "), w-2))...)
	switch spare := n.SpareText(); spare {
	case "-":
	case "fits":
		out = append(out, inset(2, paragraph(themes.Dim, "fits with "+n.Spare.Host+" lost, too", w-2))...)
	case "?":
		out = append(out, inset(2, paragraph(themes.Warn, "whether there is room is not known", w-2))...)
	default:
		out = append(out, inset(2, paragraph(themes.Warn, "with "+n.Spare.Host+" lost "+spare, w-2))...)
	}
	for _, note := range n.Notes {
		out = append(out, inset(2, paragraph(themes.Dim, note, w-2))...)
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

// instancePlanLines are an instance's forecast: what becomes of it, why, and what to do.
func instancePlanLines(m *Model, x *core.InstanceEvacuation, w int) []line {
	k := fateMark(m.look.glyph, x.Fate)
	name := x.Name
	if x.From != "" {
		name += " (from " + x.From + ")"
	}
	first := append(line{blank(2)}, k.spans(string(x.Fate)).fit(planFateColumn, false)...)
	label := one(themes.Strong, name)
	at := 2 + planFateColumn + planNameColumn + 1
	if label.width() <= planNameColumn {
		label = label.fit(planNameColumn, false)
	}
	first = append(append(first, label...), blank(1))
	var rest []line
	for _, r := range x.Reasons {
		tone := themes.Text
		if r.Level == core.LevelNote {
			tone = themes.Dim
		}
		rest = append(rest, paragraph(tone, r.Text, w-at)...)
		if r.Remedy != "" && r.Level != core.LevelNote {
			rest = append(rest, inset(2, paragraph(themes.Key, r.Remedy, w-at-2))...)
		}
	}
	what := strings.TrimSpace(x.Project + " " + x.Flavor)
	switch {
	case x.Target != "" && x.Time != nil:
		what = fmt.Sprintf("to %s, about %s; %s", x.Target, x.Time, what)
	case x.Target != "":
		what = fmt.Sprintf("to %s; %s", x.Target, what)
	}
	rest = append(rest, one(themes.Dim, what))
	if label.width() > planNameColumn { // a long name has its line for itself
		return append([]line{first.cut(w)}, inset(at, rest)...)
	}
	return append([]line{append(first, rest[0]...).cut(w)}, inset(at, rest[1:])...)
}
