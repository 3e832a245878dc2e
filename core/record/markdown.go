package record

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Markdown writes the report of an update as Markdown. Names and texts are a server's or a user's own: nothing in them is markup. Times
// are in the zone.
func Markdown(w io.Writer, a *Account, zone *time.Location) error {
	d := &markdown{zone: zone}
	d.report(a)
	_, err := io.WriteString(w, core.Redact(strings.Map(seen, d.String())))
	return err
}

// seen leaves out what has an effect on a terminal and is no character: the words of a journal are only as good as the journal.
func seen(r rune) rune {
	if r != '\n' && core.Invisible(r) {
		return -1
	}
	return r
}

type markdown struct {
	strings.Builder
	zone *time.Location
}

func (d *markdown) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// plainly escapes what Markdown, or HTML in it, would read as markup.
func plainly(s string) string {
	s = core.Printable(s, 2000)
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`,
		"#", `\#`, "&", "&amp;", "~", `\~`, "!", `\!`).Replace(s)
}

// code is text in a code span; what would end the span is replaced.
func code(s string) string { return "`" + strings.ReplaceAll(core.Printable(s, 2000), "`", "'") + "`" }

func (d *markdown) clock(t Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.In(d.zone).Format("01-02 15:04:05")
}

func span(seconds float64) string {
	if seconds <= 0 {
		return "–"
	}
	return Span(seconds)
}

func (d *markdown) table(head string, rows [][]string) {
	columns := strings.Split(head, "|")
	d.line("\n| %s |", strings.Join(columns, " | "))
	d.line("|%s", strings.Repeat("---|", len(columns)))
	for _, row := range rows {
		d.line("| %s |", strings.Join(row, " | "))
	}
	d.line("")
}

func (d *markdown) report(a *Account) {
	d.line("# %s\n", plainly(a.Title()))
	for _, s := range a.Summary(d.zone) {
		d.line("- %s", plainly(s))
	}
	d.line("\nTimes are of the cluster's clock, in the zone %s. Numbers in the column *lines* are %s",
		plainly(wording.ZoneText(a.Last.In(d.zone))), a.Numbers())
	d.open(a)
	d.planned(a)
	if !a.Outside {
		d.phases(a)
	}
	d.line("\n## Nodes")
	var rows [][]string
	for _, n := range a.Nodes {
		if len(n.Maintenance) == 0 {
			continue
		}
		var at []Place
		for _, m := range n.Maintenance {
			at = append(at, m.Lines...)
		}
		first, last := n.Maintenance[0], n.Maintenance[len(n.Maintenance)-1]
		var stages []string
		for _, m := range n.Maintenance {
			stages = append(stages, n.During(m))
		}
		rows = append(rows, []string{plainly(n.Label), d.clock(first.Began), d.clock(last.Ended) + last.endText(), span(n.Took),
			plainly(strings.Join(stages, "; ")),
			plainly(n.Outlier), lines(at...)})
	}
	d.rows(rows, "node|began|ended|took|stages|stands out|lines", "No node went through maintenance.")
	d.projects(a)
	d.actions(a)
	d.line("\n## What needed a person")
	rows = nil
	for _, e := range a.Entries {
		ended := d.clock(e.Settled)
		if !e.Settled.IsZero() && !e.EndSeen {
			ended += " or before"
		}
		rows = append(rows, []string{e.Severity, plainly(e.Label), plainly(e.Reason), d.clock(e.Came), ended, span(e.Lasted),
			plainly(e.Saw()), lines(e.Lines...)})
	}
	d.rows(rows, "level|of|reason|came|settled|lasted|seen to|lines", "Nothing.")
	if len(a.Notes) > 0 {
		d.line("\n## Notes\n")
		for _, n := range a.Notes {
			d.line("- %s %s: %s (%s; line %s)", d.clock(Time{n.At}), plainly(n.On.Label), plainly(n.Text), plainly(n.By), lines(n.Lines...))
		}
	}
	d.line("\n## Where this is from\n")
	for i, f := range a.Files {
		d.line("%d. %s", i+1, code(f))
	}
	for _, seal := range a.Seals {
		d.line("\nThe seal of %s is %s: with `journal verify --seal` it shows whether lines were cut off or written anew since.",
			code(a.SealOf(seal)), code(seal.String()))
	}
	d.line("\n%s of the journal were counted%s. `lockstep journal verify` checks that none was changed; `lockstep journal show` prints "+
		"them.", wording.Count(a.Lines, "line"), skippedText(a.Skipped))
	d.line("\nWhat the journal does not tell: which instances the OpenStack controller shut down by their tags, and how long an instance " +
		"that was moved was slow indeed; it tells how long its migrations took.")
}

// phases are the update's phases, and what stood still in them.
func (d *markdown) phases(a *Account) {
	d.line("\n## Phases")
	var rows [][]string
	for _, p := range a.Phases {
		exact := ""
		switch {
		case p.Reconstructed:
			exact = "reconstructed"
		case !p.Exact:
			exact = "found later"
		}
		rows = append(rows, []string{strconv.Itoa(p.Number) + " " + plainly(p.Title), d.clock(p.Began), d.clock(p.Ended), span(p.Took),
			exact, lines(p.Lines...)})
	}
	d.rows(rows, "phase|began|ended|took||lines", "The journal tells of no phase.")
	d.line("\n## What stood still")
	rows = nil
	for _, s := range a.StoodStillBy() {
		rows = append(rows, []string{strconv.Itoa(s.Phase), plainly(s.Cause), plainly(cmp.Or(s.Label, s.Subject)), plainly(s.Why),
			d.clock(s.Began), d.clock(s.Ended) + s.EndText(), span(s.Took) + s.TimesText(), lines(s.Lines...)})
	}
	d.rows(rows, "phase|cause|about|why|began|ended|took|lines", "Nothing, as far as somebody watched.")
}

// planned is the plan against what came.
func (d *markdown) planned(a *Account) {
	if a.Plan == nil {
		return
	}
	d.line("\n## Plan against actual")
	d.line("\n%s", plainly(a.Plan.Says()))
	plain := func(head []string, rows [][]string) {
		for i := range rows {
			for k := range rows[i] {
				rows[i][k] = plainly(rows[i][k])
			}
		}
		d.table(strings.Join(head, "|"), rows)
	}
	plain(a.planRows(d.clock))
	if len(a.Plan.Whole.Forecasts) > 1 {
		d.line("The forecasts of the whole, when they were given:")
		plain(a.forecastRows(d.clock))
	}
	for _, c := range a.Plan.Changes {
		d.line("- the plan changed %s: %s (line %s)", d.clock(c.At), plainly(c.What), c.Line)
	}
}

func (d *markdown) rows(rows [][]string, head, none string) {
	if len(rows) == 0 {
		d.line("\n%s", none)
		return
	}
	d.table(head, rows)
}

// open is what is left to do, and what went against the documents.
func (d *markdown) open(a *Account) {
	open := a.Open()
	d.line("\n## Left to do\n")
	if len(open)+len(a.Left) == 0 {
		d.line("Nothing, as far as the journal tells.")
	} else {
		for _, e := range open {
			d.line("- %s, %s: %s, since %s (line %s)", e.Severity, plainly(e.Label), plainly(e.Reason), d.clock(e.Came), lines(e.Lines...))
		}
		for _, l := range a.Left {
			d.line("- set back: %s: %s, by %s, %s (line %s)", plainly(l.Of), plainly(l.What), plainly(l.By), d.clock(l.At),
				lines(l.Lines...))
		}
	}
	d.line("\n## Deviations from the documents\n")
	if len(a.Deviations)+len(a.Refused) == 0 {
		d.line("None, as far as the journal tells.")
	} else {
		for _, v := range a.Deviations {
			d.line("- %s: %s, confirmed by %s (line %s)", d.clock(v.At), plainly(v.What), plainly(v.By), v.Line)
		}
		for _, r := range a.Refused {
			d.line("- %s: %s was not let through: %s (%s; line %s)", d.clock(r.At), plainly(r.Title), plainly(r.Why), plainly(r.By), r.Line)
		}
	}
}

func (d *markdown) projects(a *Account) {
	d.line("\n## Instances, by project")
	if len(a.Projects) == 0 {
		d.line("\nNo instance was moved or stopped, as far as the journal tells.")
	}
	for _, p := range a.Projects {
		d.line("\n### %s", plainly(wording.TextOf(p.Name, "project not known")))
		var rows [][]string
		for _, in := range p.Instances {
			var how []string
			var at []Place
			how = append(how, in.Moved()...)
			for _, m := range in.Moves {
				at = append(at, m.Line)
			}
			for _, s := range in.Stopped {
				how = append(how, "stopped by "+s.By+wording.TextIf(s.Started.IsZero(), StartUntold, ""))
				at = append(at, s.Lines...)
			}
			rows = append(rows, []string{plainly(wording.TextOf(in.Name, in.ID)), plainly(strings.Join(how, "; ")), span(in.Slow),
				span(in.Down), lines(at...)})
		}
		d.table("instance|what|live migrations took|down|lines", rows)
	}
}

func (d *markdown) actions(a *Account) {
	d.line("\n## What operators did")
	var rows [][]string
	for _, x := range a.Actions {
		result := x.State
		if x.State == string(core.OperationDone) && !x.Verified {
			result += ", not verified"
		}
		if x.Text != "" && x.State != string(core.OperationDone) {
			result += ": " + x.Text
		}
		if len(x.Items) > 0 {
			done := 0
			for _, i := range x.Items {
				if i.State == string(core.OperationDone) {
					done++
				}
			}
			result += fmt.Sprintf(" (%d of %d)", done, len(x.Items))
		}
		change := ""
		if x.Before != "" || x.After != "" {
			change = wording.TextOf(x.Before, "none") + " → " + wording.TextOf(x.After, "none")
		}
		rows = append(rows, []string{d.clock(x.Confirmed), plainly(x.Title), plainly(x.By + wording.Prefixed(", as ", x.As)),
			plainly(change), plainly(result), span(x.Took), lines(x.Lines...)})
	}
	d.rows(rows, "confirmed|step|by|change|result|took|lines", "Nothing was confirmed.")
}
