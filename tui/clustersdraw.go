package tui

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// clustersHeader is the two lines at the top of the list: the management cluster, and whether what it tells can be trusted.
func (m *Model) clustersHeader(w int) []string {
	p := m.opts.clusters.page
	v := p.view
	if v == nil {
		return []string{m.look.Draw(draw.One(themes.Strong, " lockstep"), w, draw.AsItIs),
			m.look.Draw(draw.Line{draw.Blank(1), draw.Text(themes.Moves, "connecting"),
				draw.Text(themes.Dim, " to the management cluster for "+age(m.now().Sub(m.opened)))}, w, draw.AsItIs)}
	}
	first := draw.Line{draw.Blank(1), draw.Text(themes.Strong, v.Name), draw.Text(themes.Dim, "  management cluster")}
	if v.Version != "" {
		first = first.And(themes.Dim, "  Container Cloud "+v.Version)
	}
	if v.Waits != "" {
		first = first.And(themes.Warn, "  "+v.Waits+" waits")
	}
	return []string{m.look.Draw(draw.Apart(first, draw.One(themes.Dim, clock(v.Now, v.Now)+" "), w), w, draw.AsItIs),
		m.look.Draw(p.sourceLine(m, w), w, draw.AsItIs)}
}

// sourceLine says which kinds of objects are not live, the worst first, and which projects nobody lets us look into.
func (p *clustersPage) sourceLine(m *Model, w int) draw.Line {
	g := m.look.Glyph
	var bad []draw.Line
	for i := range p.view.Sources {
		src := &p.view.Sources[i]
		if src.State == core.SourceLive || src.State == core.SourceOff || src.State == core.SourceAbsent && src.ID != core.SourceClusters {
			continue
		}
		k := healthMark(g, health{state: src.State, worst: src})
		words := string(src.ID) + " " + string(src.State)
		if e := cause(src); e != nil {
			words = string(src.ID) + ": " + e.Cause()
			if e.WholeServer() {
				bad, words = nil, "management: "+e.Cause()
			}
		}
		if !src.AsOf.IsZero() {
			words += ", " + sourceAge(m.now(), src) + " old"
		}
		words += p.again(m, src)
		bad = append(bad, draw.One(k.tone, k.glyph+" ").And(k.tone, words))
	}
	out := draw.Line{draw.Blank(1)}
	if len(bad) == 0 {
		out = append(out, draw.Text(themes.Good, g.Done), draw.Text(themes.Text, " live"))
	} else {
		out = append(out, draw.Join(2, bad...)...)
	}
	if part := p.view.Part; part != nil {
		out = out.And(themes.Dim, "   only these projects are read, others are not known: "+strings.Join(part.Projects, ", "))
	}
	if n := len(p.view.Denied); n > 0 {
		out = out.And(themes.Dim, fmt.Sprintf("   no access to %d of the namespaces: %s", n, deniedNames(p.view.Denied)))
	}
	return out.Cut(w)
}

// old tells whether the clusters, or how their updates go, are not known as they are now.
func (p *clustersPage) old() bool {
	return slices.ContainsFunc(p.view.Sources, func(src core.Source) bool {
		return (src.ID == core.SourceClusters || src.ID == core.SourcePlans) && src.State != core.SourceLive && !src.AsOf.IsZero()
	})
}

// again is when a kind of objects that could not be read is tried again: ", again in 4 s"; empty where that is not known.
func (*clustersPage) again(m *Model, src *core.Source) string {
	if src.Next.IsZero() {
		return ""
	}
	return ", again " + ago(m.now().Sub(src.Next))
}

func deniedNames(all []fleet.Denied) string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Project
	}
	return strings.Join(names, ", ")
}

func (p *clustersPage) draw(m *Model, w, h int) []string {
	if wide := w >= 110; p.look != m.look || p.wide != wide { // the theme, the terminal's depth, or what has a column of its own
		p.look, p.wide = m.look, wide
		p.rows.Redraw()
	}
	p.bodyAt = 3 // below the header and the rule
	about := p.about(m, w-3)
	rows, _ := p.rows.Count()
	room := h - 1
	if rows == 0 {
		out := []string{p.rule(m, w)}
		for _, l := range p.empty(w - 2) {
			out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
		}
		return out[:min(len(out), h)]
	}
	tableRoom := max(min(rows+1, room-min(len(about)+1, room/2)), min(4, room))
	lines := p.rows.Draw(m.look, w, tableRoom, true, p.old())
	out := append([]string{p.rule(m, w)}, lines...) // which knows now how many rows are seen
	if left := h - len(out); left > 2 && len(about) > 0 {
		out = append(out, m.look.Draw(nil, w, draw.AsItIs))
		for _, l := range about[:min(len(about), left-1)] {
			out = append(out, m.look.Draw(append(draw.Line{draw.Blank(2)}, l...), w, draw.AsItIs))
		}
	}
	return out
}

// rule is the rule above the list, with how many clusters there are and which are seen.
func (p *clustersPage) rule(m *Model, w int) string {
	var note []draw.Line
	if p.view != nil {
		shown, all := p.rows.Count()
		underWay, urgent := p.view.Count()
		if urgent > 0 {
			note = append(note, draw.One(themes.Needs, fmt.Sprintf("%d urgent", urgent)))
		}
		if p.rows.Filter() != "" {
			note = append(note, draw.One(themes.Match, "/"+p.rows.Filter()).Cut(roomOfFilter(w)).And(themes.Dim, " "+itoa(shown)+" of "+itoa(all)))
		} else {
			note = append(note, draw.One(themes.Dim, fmt.Sprintf("%d under way of %d", underWay, all)))
		}
		if text := m.moreText(p.rows.More()); text != "" {
			note = append(note, draw.One(themes.Dim, text))
		}
	}
	return m.look.Rule(w, draw.One(themes.RuleFocus, "Clusters"), draw.Join(2, note...), true, nil)
}

// empty is the text of a list without rows.
func (p *clustersPage) empty(w int) []draw.Line {
	switch {
	case p.view == nil:
		return draw.Paragraph(themes.Dim, "connecting", w)
	case p.rows.Filter() != "":
		return draw.Paragraph(themes.Dim, "Nothing here matches /"+p.rows.Filter()+". esc clears the filter. A filter can ask for one column: "+
			strings.Join(p.rows.Known(), ": ")+":", w)
	}
	for _, src := range p.view.Sources {
		if src.ID == core.SourceClusters && src.Err != nil {
			return draw.Paragraph(themes.Warn, sanitise.Row(src.Err.Cause()+": "+src.Err.Message+". "+src.Err.Remedy), w)
		}
	}
	part := p.view.Part
	switch {
	case !p.view.Complete:
		return draw.Paragraph(themes.Dim, "The management cluster is being read.", w)
	case len(p.view.Denied) > 0:
		return draw.Paragraph(themes.Warn, sanitise.Row(fmt.Sprintf("Clusters may be listed in none of %d namespaces. %s", len(p.view.Denied),
			p.view.Denied[0].Err.Remedy)), w)
	case part != nil:
		return draw.Paragraph(themes.Warn, sanitise.Row(fmt.Sprintf("There are no clusters in %s. Others are not known: %s. %s",
			strings.Join(part.Projects, ", "), part.Err.Message, part.Err.Remedy)), w)
	}
	return draw.Paragraph(themes.Dim, "The management cluster has no clusters but itself.", w)
}

// about is more of the selected cluster: what stands in its line, without the cuts, and how it is opened.
func (p *clustersPage) about(m *Model, w int) []draw.Line {
	r, ok := p.rows.Current()
	if !ok || p.view == nil {
		return nil
	}
	return p.aboutRow(m, r, w, 4)
}

// aboutRow is all that is known of a cluster, with at most needs of what needs a person.
func (p *clustersPage) aboutRow(m *Model, r *fleet.Row, w, needs int) []draw.Line {
	g := m.look.Glyph
	var out []draw.Line
	head := r.ID.String()
	switch {
	case r.Step != "" && r.State.UnderWay():
		head += ": " + updateLong(r)
	case r.State != fleet.StateRests:
		head += ": " + string(r.State)
	case slices.ContainsFunc(r.Missing, func(m fleet.Missing) bool { return m.What == core.SourceClusters || m.What == core.SourcePlans }):
		head += ": no update is seen, and not everything is known"
	default:
		head += ": no update runs, and none is offered"
	}
	if r.Reboots {
		head += "; a graceful reboot is requested"
	}
	if r.State.UnderWay() && !r.Started.IsZero() {
		head += ", since " + clock(r.Started, p.view.Now)
	}
	out = append(out, draw.Paragraph(themes.Text, head, w)...)
	switch {
	case !r.Finish.IsZero():
		out = append(out, draw.Paragraph(themes.Dim, "It ends about "+clock(r.Finish, p.view.Now)+" by the plan's own estimates.", w)...)
	case r.NoEnd != "":
		out = append(out, draw.Paragraph(themes.Dim, "When it ends is not known: "+r.NoEnd+".", w)...)
	}
	for i, n := range r.Needs {
		if i == needs {
			out = append(out, draw.One(themes.Dim, fmt.Sprintf("and %d more (i)", len(r.Needs)-i)))
			break
		}
		k := severityMark(g, n.Severity)
		tone := themes.Text
		if n.Severity == core.SeverityUrgent {
			tone = themes.Needs
		}
		text := n.Label + ": " + n.Reason
		if !n.Since.At.IsZero() {
			text += " (" + sinceText(n.Since, p.view.Now) + ")"
		}
		for j, l := range draw.Paragraph(tone, text, max(w-2, 8)) {
			lead := draw.Blank(2)
			if j == 0 {
				lead = draw.Text(k.tone, k.glyph+" ")
			}
			out = append(out, append(draw.Line{lead}, l...))
		}
	}
	for _, miss := range r.Missing {
		text := string(miss.What) + " not known: " + miss.Why
		if miss.Err != nil && miss.Err.Remedy != "" {
			text += ". " + miss.Err.Remedy
		}
		out = append(out, draw.Paragraph(themes.Warn, text, w)...)
	}
	a := p.desk.Access(r.ID)
	switch {
	case a.Lack != "":
		out = append(out, draw.Paragraph(themes.Warn, "It cannot be opened: "+a.Lack, w)...)
	case a.Login != nil && !a.Login.Asked:
		out = append(out, draw.Paragraph(themes.Dim, "enter asks whether to open it by "+a.How+": no context is configured for it.", w)...)
	case a.How != "":
		out = append(out, draw.Paragraph(themes.Dim, "enter opens it by "+a.How+".", w)...)
	}
	return out
}

// updateLong is what the update of a cluster does, in words.
func updateLong(r *fleet.Row) string {
	text := "the update to " + r.Target
	switch r.State {
	case fleet.StateUpdates:
		text += " is at " + r.Step
	case fleet.StateWaits:
		text += " waits for " + r.Step + " to be commenced"
	default:
		text += " is " + string(r.State) + " at " + r.Step
	}
	if r.Phase != 0 {
		text += " (phase " + itoa(int(r.Phase)) + ")"
	}
	if r.Steps > 0 {
		text += fmt.Sprintf(", %d of %d steps done", r.StepsDone, r.Steps)
	}
	if r.NodesKnown {
		text += fmt.Sprintf(", %d of %d machines at the target", r.Done, r.Nodes)
	}
	return text
}

// newClusterText is a page with all that the management cluster tells of one cluster.
func newClusterText(p *clustersPage, id fleet.ID) *pager {
	return &pager{
		title: func(*Model) string { return "Cluster " + id.String() },
		lines: func(m *Model, w int) []draw.Line {
			for i := range p.view.Rows {
				if r := &p.view.Rows[i]; r.ID == id {
					return p.aboutRow(m, r, w, len(r.Needs))
				}
			}
			return draw.Paragraph(themes.Warn, "The management cluster no longer tells of it.", w)
		},
	}
}

// filterLine is the filter while it is typed.
func (p *clustersPage) filterLine(w int) draw.Line {
	shown, all := p.rows.Count()
	out := typedLine(p.rows.Filter(), draw.One(themes.Dim, "  "+itoa(shown)+" of "+itoa(all)), w)
	keys := draw.One(themes.Dim, "   tab completes   enter keeps it   esc clears it")
	_, words := p.rows.Offers()
	return append(append(out, offersLine(words, w-out.Width()-keys.Width())...), keys...)
}
