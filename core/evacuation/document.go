package evacuation

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// document is a Forecast as JSON has it.
type document struct {
	Format int `json:"format"` // of the document: 1
	*Forecast
}

// JSON is the forecast as a document for scripts: times are RFC 3339, durations whole seconds.
func (p *Forecast) JSON() ([]byte, error) {
	b, err := core.EncodeJSON(document{1, p}, "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	return b, nil
}

// Headline is the forecast in one sentence.
func (p *Forecast) Headline() string {
	c := p.Counts
	if len(p.Nodes) == 0 {
		return "No node is left to plan for: the update is through with all of them."
	}
	leave := c.Blocks + c.MayFail + c.Unknown + c.Moves
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{c.Blocks, "blocks its node", "block their nodes"}, {c.MayFail, "may fail to move", "may fail to move"},
		{c.Unknown, "could not be checked", "could not be checked"}, {c.Moves, "moves", "move"},
		{c.GoesDown, "goes down with its host", "go down with their hosts"}, {c.Stays, "stays", "stay"},
	} {
		if part.n > 0 {
			parts = append(parts, wording.Itoa(part.n)+" "+wording.Verb(part.n, part.one, part.many))
		}
	}
	head := fmt.Sprintf("%s, %s", wording.Count(len(p.Nodes), "node"), wording.Count(c.Instances, "instance"))
	if len(p.Nodes) > 1 && leave > 0 {
		head += " (one that has to move twice counts twice)"
	}
	if len(parts) == 0 {
		return head + ": there is nothing to move."
	}
	return head + ": " + strings.Join(parts, ", ") + "."
}

// TimeText says how long the evacuation takes, and how that is known.
func (p *Forecast) TimeText() string {
	text := "How long it takes is not known: no completed live migration of this cloud was seen yet."
	switch {
	case p.Time != nil && *p.Time == 0:
		text = "Nothing has to be live-migrated."
	case p.Time != nil:
		text = "Moving takes about " + p.Time.String()
		if slow := p.Slow.String(); *p.Slow > *p.Time && slow != p.Time.String() {
			text += ", " + slow + " at the slow end"
		}
		text += fmt.Sprintf(": %.0f MiB of memory a second by %s of this cloud, %s.", p.Speed.MiBPerSecond,
			wording.Count(p.Speed.Observations, "completed live migration"), p.paceText())
	}
	if p.Rounds != nil {
		text += fmt.Sprintf(" A node's whole maintenance took %s here (the middle of %s).", p.Rounds.Middle,
			wording.Count(p.Rounds.Rounds, "node"))
	}
	return text
}

// MadeText says when the forecast was made, by the cluster's clock, and what it is.
func (p *Forecast) MadeText() string {
	return "A forecast, made " + wording.StampText(p.AsOf) + ". Nothing has moved."
}

// SpareText says whether what leaves the node still finds room with one more host lost: "fits", "3 would not fit"; "?" when it could
// not be told, "-" when nothing leaves for another host.
func (n *NodeForecast) SpareText() string {
	switch {
	case n.Spare == nil && n.Counts.Unknown > 0:
		return "?"
	case n.Spare == nil:
		return "-"
	case n.Spare.Fits:
		return "fits"
	}
	return fmt.Sprintf("%d would not fit", n.Spare.Left)
}

// SpanText is a duration of a forecast; "?" when it is not known.
func SpanText(s *Span) string {
	if s == nil {
		return "?"
	}
	if *s == 0 {
		return "-"
	}
	return s.String()
}

// Why is the worst of the instance's reasons, with the number of the others.
func (x *InstanceForecast) Why() string {
	if len(x.Reasons) == 0 {
		return ""
	}
	if n := len(x.Reasons) - 1; n > 0 {
		return fmt.Sprintf("%s (and %d more)", x.Reasons[0].Text, n)
	}
	return x.Reasons[0].Text
}

// ActionText is the action with where it comes from: "live_migrate (tag)".
func (x *InstanceForecast) ActionText() string { return fmt.Sprintf("%s (%s)", x.Action, x.Origin) }

// NeedsPerson tells whether a person has to look at the instance.
func (x *InstanceForecast) NeedsPerson() bool {
	return x.Fate == FateBlocks || x.Fate == FateMayFail || x.Fate == FateUnknown
}

// Markdown is the forecast as a document for others to read.
func (p *Forecast) Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	row := func(cells ...string) {
		for i, c := range cells {
			cells[i] = markdownCell(c)
		}
		line("| %s |", strings.Join(cells, " | "))
	}
	head := func(cells ...string) {
		row(cells...)
		line("|%s", strings.Repeat(" --- |", len(cells)))
	}
	line("# Evacuation plan of %s\n", markdownCell(p.Cluster))
	line("%s\n", p.MadeText())
	line("%s\n", p.Headline())
	line("%s", p.TimeText())
	if len(p.Unknown) > 0 {
		line("\n## Could not be checked\n")
		head("what", "why", "what it means")
		for _, u := range p.Unknown {
			row(u.What, u.Why, u.Means)
		}
	}
	if p.Counts.Blocks+p.Counts.MayFail+p.Counts.Unknown > 0 {
		line("\n## Needs somebody\n")
		head("node", "instance", "project", "fate", "why", "what to do")
		for i := range p.Nodes {
			for _, x := range p.Nodes[i].Instances {
				if !x.NeedsPerson() {
					continue
				}
				for j, r := range x.Reasons {
					if j > 0 && r.Level == LevelNote {
						break
					}
					fate := string(x.Fate)
					if j > 0 {
						fate = "also"
					}
					row(p.Nodes[i].Label, x.Name, x.Project, fate, r.Text, r.Remedy)
				}
			}
		}
	}
	line("\n## Nodes, in the order of their maintenance\n")
	head("node", "zone", "wave", "mode", "instances", "block", "may fail", "not known", "move", "go down", "stay", "takes",
		"with one more host lost")
	for i := range p.Nodes {
		n := &p.Nodes[i]
		c := n.Counts
		row(n.Label, n.Zone, wording.Itoa(n.Wave), string(n.Mode), wording.Itoa(c.Instances), wording.Itoa(c.Blocks), wording.Itoa(c.MayFail),
			wording.Itoa(c.Unknown), wording.Itoa(c.Moves), wording.Itoa(c.GoesDown), wording.Itoa(c.Stays),
			SpanText(n.Time), n.SpareText())
	}
	for i := range p.Nodes {
		for _, note := range p.Nodes[i].Notes {
			line("\n%s: %s", markdownCell(p.Nodes[i].Label), note)
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if len(n.Instances) == 0 {
			continue
		}
		line("\n## Instances of %s\n", markdownCell(n.Label))
		head("instance", "id", "project", "flavor", "status", "action", "fate", "to", "takes", "why")
		for _, x := range n.Instances {
			name := x.Name
			if x.From != "" {
				name += " (from " + x.From + ")"
			}
			takes := ""
			if x.Time != nil {
				takes = x.Time.String()
			}
			row(name, x.ID, x.Project, x.Flavor, x.Status, x.ActionText(), string(x.Fate), x.Target, takes, x.Why())
		}
	}
	if len(p.Closed) > 0 {
		line("\n## Hosts that take no instances\n")
		head("host", "why")
		for _, h := range p.Closed {
			row(h.Host, h.Why)
		}
	}
	if len(p.LeftOut) > 0 {
		line("\n## Done already\n\n%s", markdownCell(strings.Join(p.LeftOut, ", ")))
	}
	line("\n## What no list tells\n")
	for _, n := range p.Otherwise {
		line("- %s", n)
	}
	return b.String()
}

// markdownCell escapes a text so that it stays plain text inside its cell.
func markdownCell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;").Replace(s)
}

// FileName is a name for a file with the forecast, with the extension kind ("md", "json"); the time in it is in seconds.
func (p *Forecast) FileName(kind string) string {
	what := "update"
	switch {
	case !p.Whole && len(p.Nodes) == 1:
		what = p.Nodes[0].Label
	case !p.Whole:
		what = wording.Count(len(p.Nodes), "node")
	}
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '-'
	}, what)
	return fmt.Sprintf("plan-%s-%s.%s", strings.TrimLeft(safe, "."), p.AsOf.UTC().Format("20060102T150405Z"), kind)
}
