package record

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

//go:embed report.css
var looks string

// HTML writes the report as one page without anything from elsewhere: it can be mailed, and read without a network. Times are in the zone.
//
// The page is written by hand. html/template would call methods by their names, and the linker would keep every method of every package
// for it: a quarter of the program.
func HTML(w io.Writer, a *Account, zone *time.Location) error {
	p := page{account: a, zone: zone}
	p.head()
	p.timeline()
	p.left()
	p.deviations()
	p.plan()
	if !a.Outside {
		p.phases()
		p.standstills()
	}
	p.nodes()
	p.projects()
	p.actions()
	p.entries()
	p.notes()
	p.sources()
	_, err := io.WriteString(w, core.Redact(p.out.String()))
	return err
}

// page is the page that is being written.
type page struct {
	out     strings.Builder
	account *Account
	zone    *time.Location
}

// markup is what is put into a page as it is; any other text is escaped.
type markup string

// put writes a form, as fmt does. Each text in it is escaped for an element or a quoted attribute, so that a name cannot be markup.
func (p *page) put(form string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case markup, int, float64:
		case string:
			values[i] = escaped(v)
		default:
			values[i] = escaped(fmt.Sprint(v))
		}
	}
	fmt.Fprintf(&p.out, form, values...)
}

// escaped is a text as HTML. It is redacted before: in HTML the quotation marks that tell where a secret ends are others. A NUL, which no
// page may have, is replaced.
func escaped(s string) string {
	s = strings.NewReplacer("\x00", "\uFFFD", "\t", " ", "\r", "").Replace(core.Redact(s))
	return html.EscapeString(strings.Map(seen, s))
}

// clock is a time of the update; its year is in the summary.
func (p *page) clock(t Time) string { return p.at(t, "01-02 15:04:05") }

func (p *page) at(t Time, layout string) string {
	if t.IsZero() {
		return "–"
	}
	return t.In(p.zone).Format(layout)
}

// from names the lines of the journal that a sentence rests on.
func (p *page) from(places ...Place) { p.put(` <span class="lines">%s</span>`, lines(places...)) }

// table begins a table; its rows follow, and endTable.
func (p *page) table(head ...string) {
	p.put(`<div class="table"><table><tr>`)
	for _, h := range head {
		p.put("<th>%s</th>", h)
	}
	p.put("</tr>\n")
}

func (p *page) endTable() { p.put("</table></div>") }

// whole is a table of texts.
func (p *page) whole(head []string, rows [][]string) {
	p.table(head...)
	for _, row := range rows {
		p.put("<tr>")
		for _, cell := range row {
			p.put(`<td class="w">%s</td>`, cell)
		}
		p.put("</tr>\n")
	}
	p.endTable()
	p.put("\n")
}

func (p *page) head() {
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<h1>%s</h1>
<ul>`, p.account.Title(), markup(looks), p.account.Title())
	for _, line := range p.account.Summary(p.zone) {
		p.put("<li>%s</li>", line)
	}
	p.put("</ul>\n"+`<p class="dim">Times are of the cluster's clock, in the zone %s. Numbers under <em>lines</em> are %s</p>`,
		wording.ZoneText(p.account.Last.In(p.zone)), p.account.Numbers())
}

// rect is a bar of the timeline.
func (p *page) rect(b graphBar, y int, more string) {
	p.put(`<rect class="%s" x="%.1f" y="%d" width="%.1f" %s><title>%s</title></rect>`, b.Class, b.X, y, b.Width, markup(more), b.Title)
}

func (p *page) timeline() {
	g := graphOf(p.account, p.zone)
	if len(g.Rows) == 0 {
		return
	}
	p.put(`
<h2>Timeline</h2>
<svg viewBox="0 0 %d %d" role="img" aria-label="Phases, nodes and steps over time">
`, g.Width, g.Height)
	for _, t := range g.Ticks {
		p.put(`<line class="axis" x1="%.1f" x2="%.1f" y1="16" y2="%d"/><text x="%.1f" y="12" text-anchor="middle">%s</text>`+"\n", t.X, t.X,
			g.Axis, t.X, t.Label)
	}
	for _, r := range g.Rows {
		p.put(`<text x="0" y="%d" dy="10">%s</text>`, r.Y, r.Label)
		for _, b := range r.Bars {
			p.rect(b, r.Y, `height="11" rx="1.5"`)
		}
		for _, b := range r.Planned {
			p.rect(b, r.Y, `height="2.5" transform="translate(0 12)"`)
		}
		p.put("\n")
	}
	for _, m := range g.Marks {
		p.put(`<rect class="%s" x="%.1f" y="%d" width="2" height="11"><title>%s</title></rect>`+"\n", m.Class, m.X, m.Y, m.Title)
	}
	p.put("</svg>\n" + `<p class="legend">`)
	if g.Planned {
		p.put(`<span><i style="background:var(--dim)"></i>thin: as planned</span>`)
	}
	if g.Reconstructed {
		p.put(`<span><i class="made" style="background:var(--go)"></i>pale: reconstructed from the API's times</span>`)
	}
	for _, colour := range []struct{ name, says string }{{"go", "OpenStack's part"}, {"lcm", "LCM: drain, update"}, {"away", "rebooting"},
		{"wait", "waits for somebody"}, {"fail", "failed"}} {
		p.put(`<span><i style="background:var(--%s)"></i>%s</span>`, colour.name, colour.says)
	}
	p.put("</p>\n")
}

func (p *page) left() {
	p.put("\n<h2>Left to do</h2>\n")
	open := p.account.Open()
	if len(open)+len(p.account.Left) == 0 {
		p.put("<p>Nothing, as far as the journal tells.</p>")
		return
	}
	p.put("<ul>\n")
	for _, e := range open {
		p.put(`<li><span class="%s">%s</span>%s: %s, since %s`, e.Severity, e.Severity, wording.Prefixed(" ", e.Label), e.Reason, p.clock(e.Came))
		p.from(e.Lines...)
		p.put("</li>\n")
	}
	for _, l := range p.account.Left {
		p.put("<li>set back: %s: %s, by %s, %s", l.Of, l.What, l.By, p.clock(l.At))
		p.from(l.Lines...)
		p.put("</li>\n")
	}
	p.put("</ul>")
}

func (p *page) deviations() {
	p.put("\n<h2>Deviations from the documents</h2>\n")
	if len(p.account.Deviations)+len(p.account.Refused) == 0 {
		p.put("<p>None, as far as the journal tells.</p>")
		return
	}
	p.put("<ul>\n")
	for _, d := range p.account.Deviations {
		p.put(`<li>%s: %s, confirmed by %s <span class="lines">%s</span></li>`+"\n", p.clock(d.At), d.What, d.By, d.Line)
	}
	for _, r := range p.account.Refused {
		p.put(`<li>%s: %s was not let through: %s (%s) <span class="lines">%s</span></li>`+"\n", p.clock(r.At), r.Title, r.Why, r.By, r.Line)
	}
	p.put("</ul>")
}

func (p *page) plan() {
	plan := p.account.Plan
	if plan == nil {
		return
	}
	p.put("\n<h2>Plan against actual</h2>\n"+`<p class="dim">%s</p>`+"\n", plan.Says())
	p.whole(p.account.planRows(p.clock))
	if len(plan.Whole.Forecasts) > 1 {
		p.put("<p>The forecasts of the whole, when they were given:</p>\n")
		p.whole(p.account.forecastRows(p.clock))
	}
	p.put("\n")
	if len(plan.Changes) > 0 {
		p.put("<ul>")
		for _, c := range plan.Changes {
			p.put(`<li>the plan changed %s: %s <span class="lines">%s</span></li>`+"\n", p.clock(c.At), c.What, c.Line)
		}
		p.put("</ul>")
	}
	p.put("\n")
}

func (p *page) phases() {
	p.put("\n<h2>Phases</h2>\n")
	if len(p.account.Phases) == 0 {
		p.put("<p>The journal tells of no phase.</p>")
		return
	}
	p.table("phase", "began", "ended", "took", "", "lines")
	for _, ph := range p.account.Phases {
		how := ""
		switch {
		case ph.Reconstructed:
			how = "reconstructed"
		case !ph.Exact:
			how = "found later"
		}
		p.put(`<tr><td>%d %s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="dim">%s</td>`+
			`<td class="lines">%s</td></tr>`+"\n", ph.Number, ph.Title, p.clock(ph.Began), p.clock(ph.Ended), span(ph.Took), how,
			lines(ph.Lines...))
	}
	p.endTable()
}

func (p *page) standstills() {
	p.put("\n<h2>What stood still</h2>\n")
	if len(p.account.Standstills) == 0 {
		p.put("<p>Nothing, as far as somebody watched.</p>")
		return
	}
	p.table("phase", "cause", "about", "why", "began", "ended", "took", "lines")
	for _, s := range p.account.StoodStillBy() {
		p.put(`<tr><td>%d</td><td class="w">%s</td><td class="w">%s</td><td>%s</td><td class="n">%s</td><td class="n">%s</td>`+
			`<td class="n">%s%s</td><td class="lines">%s</td></tr>`+"\n", s.Phase, s.Cause, wording.TextOf(s.Label, s.Subject), s.Why,
			p.clock(s.Began), p.clock(s.Ended)+s.EndText(), span(s.Took), s.TimesText(), lines(s.Lines...))
	}
	p.endTable()
}

func (p *page) nodes() {
	p.put("\n<h2>Nodes</h2>\n")
	p.table("node", "began", "ended", "took", "instances", "stages", "stands out", "lines")
	for _, n := range p.account.Nodes {
		for i, m := range n.Maintenance {
			instances, outlier := "", ""
			if m.Instances != nil {
				instances = fmt.Sprint(*m.Instances)
			}
			if i == 0 {
				outlier = n.Outlier
			}
			p.put(`<tr><td class="w" title="%s">%s</td><td class="n">%s</td><td class="n">%s%s</td><td class="n">%s</td><td class="n">%s</td>`+
				`<td>%s</td><td class="warning">%s</td><td class="lines">%s</td></tr>`+"\n", n.Name, n.Label, p.clock(m.Began), p.clock(m.Ended),
				m.endText(), span(m.Took), instances, n.During(m), outlier, lines(m.Lines...))
		}
	}
	p.endTable()
}

func (p *page) projects() {
	p.put("\n<h2>Instances, by project</h2>\n")
	if len(p.account.Projects) == 0 {
		p.put("<p>No instance was moved or stopped, as far as the journal tells.</p>\n")
	}
	for _, project := range p.account.Projects {
		p.put("<h3>%s</h3>\n", wording.TextOf(project.Name, "project not known"))
		p.table("instance", "what", "live migrations took", "down", "lines")
		for _, in := range project.Instances {
			p.instance(in)
		}
		p.endTable()
	}
}

func (p *page) instance(in Instance) {
	p.put(`<tr><td class="w">%s</td><td>`, wording.TextOf(in.Name, in.ID))
	for _, moved := range in.Moved() {
		p.put("%s<br>", moved)
	}
	for _, s := range in.Stopped {
		again := StartUntold
		if !s.Started.IsZero() {
			again = ", started " + p.clock(s.Started)
		}
		p.put("stopped %s by %s%s<br>", p.clock(s.Stopped), s.By, again)
	}
	p.put(`</td><td class="n">%s</td><td class="n">%s</td><td class="lines">`, span(in.Slow), span(in.Down))
	for _, m := range in.Moves {
		p.put("%s ", m.Line)
	}
	for _, s := range in.Stopped {
		p.put("%s ", lines(s.Lines...))
	}
	p.put("</td></tr>\n")
}

func (p *page) actions() {
	p.put("\n<h2>What operators did</h2>\n")
	if len(p.account.Actions) == 0 {
		p.put("<p>Nothing was confirmed.</p>")
		return
	}
	p.table("confirmed", "step", "by", "change", "result", "took", "lines")
	for _, act := range p.account.Actions {
		p.action(act)
	}
	p.endTable()
}

func (p *page) action(act Action) {
	p.put(`<tr><td class="n">%s</td><td>%s`, p.clock(act.Confirmed), act.Title)
	if len(act.Commands) > 0 {
		p.put(`<details><summary class="dim">commands</summary><pre>`)
		for _, command := range act.Commands {
			p.put("%s\n", command)
		}
		p.put("</pre></details>")
	}
	if len(act.Items) > 0 {
		p.put(`<details><summary class="dim">%d items</summary>`, len(act.Items))
		for _, item := range act.Items {
			p.put("%s: %s%s<br>", item.Label, item.State, wording.Prefixed(", ", item.Text))
		}
		p.put("</details>")
	}
	p.put("</td><td>%s", act.By)
	if act.As != "" {
		p.put(`<br><span class="dim">%s</span>`, act.As)
	}
	p.put("</td><td>")
	if act.Before != "" || act.After != "" {
		p.put("%s → %s", wording.TextOf(act.Before, "none"), wording.TextOf(act.After, "none"))
	}
	looks, how := "", act.State
	switch {
	case act.State == string(core.OperationFailed) || act.State == string(core.OperationUnknown):
		looks = ` class="bad"`
	case act.State == string(core.OperationDone) && !act.Verified:
		how += ", not verified"
	}
	if act.State != string(core.OperationDone) {
		how += wording.Prefixed(": ", act.Text)
	}
	p.put(`</td><td%s>%s</td><td class="n">%s</td><td class="lines">%s</td></tr>`+"\n", markup(looks), how, span(act.Took),
		lines(act.Lines...))
}

func (p *page) entries() {
	p.put("\n<h2>What needed a person</h2>\n")
	if len(p.account.Entries) == 0 {
		p.put("<p>Nothing, as far as the journal tells.</p>")
		return
	}
	p.table("level", "of", "reason", "came", "settled", "lasted", "seen to", "lines")
	for _, e := range p.account.Entries {
		settled := markup(`<span class="bad">open</span>`)
		if !e.Settled.IsZero() {
			settled = markup(escaped(p.clock(e.Settled)))
			if !e.EndSeen {
				settled += " or before"
			}
		}
		p.put(`<tr><td class="n %s">%s</td><td class="w">%s</td><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>`+
			`<td>%s</td><td class="lines">%s</td></tr>`+"\n", e.Severity, e.Severity, e.Label, e.Reason, p.clock(e.Came), settled,
			span(e.Lasted), e.Saw(), lines(e.Lines...))
	}
	p.endTable()
}

func (p *page) notes() {
	if len(p.account.Notes) == 0 {
		return
	}
	p.put("<h2>Notes</h2><ul>\n")
	for _, n := range p.account.Notes {
		p.put("<li>%s%s: %s (%s)", p.at(Time{n.At}, "01-02 15:04"), wording.Prefixed(" ", n.On.Label), n.Text, n.By)
		p.from(n.Lines...)
		p.put("</li>\n")
	}
	p.put("</ul>")
}

func (p *page) sources() {
	p.put("\n<h2>Where this is from</h2>\n<ol>")
	for _, file := range p.account.Files {
		p.put("<li><code>%s</code></li>", file)
	}
	p.put("</ol>\n")
	for _, seal := range p.account.Seals {
		p.put("<p>The seal of <code>%s</code> is <code>%s</code>: with <code>lockstep journal verify --seal</code> it shows whether lines "+
			"were cut off or written anew since.</p>\n", p.account.SealOf(seal), seal)
	}
	p.put(`<p class="dim">%s of the journal were counted%s. <code>lockstep journal verify</code> checks that none was changed; `+
		"<code>lockstep journal show</code> prints them. The journal does not tell which instances the OpenStack controller shut down by "+
		"their tags, nor how long an instance that was moved was slow indeed; it tells how long its migrations took.</p>\n</body>\n</html>\n",
		wording.Count(p.account.Lines, "line"), skippedText(p.account.Skipped))
}
