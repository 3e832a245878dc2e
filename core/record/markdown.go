package record

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	_, err := io.WriteString(w, core.Redact(d.String()))
	return err
}

type markdown struct {
	strings.Builder
	zone *time.Location
}

func (d *markdown) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// plainly escapes what Markdown, or HTML in it, would read as markup.
func plainly(s string) string {
	s = wording.OneLine(s, 2000)
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`,
		"#", `\#`, "&", "&amp;", "~", `\~`, "!", `\!`).Replace(s)
}

// code is text in a code span; what would end the span is replaced.
func code(s string) string { return "`" + strings.ReplaceAll(wording.OneLine(s, 2000), "`", "'") + "`" }

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

// Lines are the numbers of a thing's lines in the journal, a few of them: "17, 18".
func Lines(places []Place) string { return lines(places...) }

// lines are the numbers of a thing's lines in the journal, a few of them.
func lines(places ...Place) string {
	const most = 6
	var out []string
	for i, p := range places {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(places)-most))
			break
		}
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// String is "17", the number of the line in the journal. It is "2:17" where the account is of several journals: number 17 in the second
// file; and where the line has no number: the 17th line of that file.
func (p Place) String() string {
	switch {
	case p.Seq > 0 && p.several:
		return fmt.Sprintf("%d:%d", p.File+1, p.Seq)
	case p.Seq > 0:
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d:%d", p.File+1, p.Line)
}

// Numbers says what the numbers of lines are.
func (a *Account) Numbers() string {
	text := "those of the journal's lines"
	if len(a.Seals) > 1 {
		text += ": 2:17 is number 17 in the second of the files that are named at the end"
	}
	return text + "."
}

// SealOf is what a seal is called: by its file, with the file's number where there are several.
func (a *Account) SealOf(s Seal) string {
	name := filepath.Base(s.File)
	if i := slices.Index(a.Files, s.File); len(a.Seals) > 1 && i >= 0 {
		name = strconv.Itoa(i+1) + ", " + name
	}
	return name
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

// Title is what the report is of: "mos: update 21.0.0 → 21.0.1", "mos: graceful reboots, no update".
func (a *Account) Title() string {
	if a.Outside {
		var what []string
		for _, x := range a.Actions {
			if w := asksFor[core.IntentKind(x.Kind)]; w != "" && !slices.Contains(what, w) {
				what = append(what, w)
			}
		}
		if len(what) == 0 {
			return a.Cluster + ": maintenance outside an update"
		}
		return a.Cluster + ": " + wording.Some(what, 3) + ", no update"
	}
	return a.Cluster + ": " + wording.Update(a.From, a.To)
}

// Summary is the update in a few sentences.
func (a *Account) Summary(zone *time.Location) []string {
	at := func(t Time) string { return t.In(zone).Format("2006-01-02 15:04") }
	var out []string
	switch {
	case a.Running():
		out = append(out, fmt.Sprintf("It began %s and has not ended, as far as the journal tells (%s).", at(a.Began), at(a.Last)))
	case a.EndSeen:
		out = append(out, fmt.Sprintf("It began %s, ended %s, and took %s.", at(a.Began), at(a.Ended), Span(a.Took)))
	case a.EndReconstructed:
		out = append(out, fmt.Sprintf("It began %s. Nobody watched when it ended: by its plan it was complete %s, after %s.", at(a.Began),
			at(a.Ended), Span(a.Took)))
	default:
		out = append(out, fmt.Sprintf("It began %s. Nobody watched when it ended: it was over by %s, after %s at most.",
			at(a.Began), at(a.Ended), Span(a.Took)))
	}
	done := 0
	for _, n := range a.Nodes {
		if n.Took > 0 {
			done++
		}
	}
	c := a.Counts()
	stood := ""
	if !a.Outside {
		stood = " It stood still for " + Span(a.StoodStill()) + "."
	}
	out = append(out, fmt.Sprintf("%s went through maintenance, of %d.", wording.Count(done, "node"), len(a.Nodes)),
		fmt.Sprintf("%s moved, by %s and %d cold; %s failed. Operators stopped or shelved %s.", wording.Count(c.Moved, "instance"),
			wording.Count(c.Live, "live migration"), c.Cold, wording.Count(c.Failed, "migration"), wording.Count(c.Stopped, "instance")),
		fmt.Sprintf("Operators confirmed %s; %s failed.%s", wording.Count(len(a.Actions), "step"),
			wording.Count(c.FailedSteps, "step"), stood))
	if n := a.NodesOutside; n > 0 {
		out = append(out, wording.Count(n, "node")+" went through maintenance outside it, before or after: \"lockstep report --outside\" "+
			"tells of what was since.")
	}
	return out
}

// Counts are what the summary counts.
type Counts struct {
	Moved   int `json:"instancesMoved"` // instances that at least one migration has moved
	Live    int `json:"liveMigrations"` // that moved an instance
	Cold    int `json:"coldMigrations"` // the same; evacuations and resizes, too
	Failed  int `json:"failedMigrations"`
	Stopped int `json:"instancesStopped"`

	FailedSteps int `json:"failedSteps"` // failed, or of unknown end
}

// Counts counts the account.
func (a *Account) Counts() Counts {
	var c Counts
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			moved := false
			for _, m := range in.Moves {
				switch {
				case m.Failed():
					c.Failed++
				case m.Live():
					c.Live++
					moved = true
				default:
					c.Cold++
					moved = true
				}
			}
			if moved {
				c.Moved++
			}
			if len(in.Stopped) > 0 {
				c.Stopped++
			}
		}
	}
	for _, x := range a.Actions {
		if x.State == string(core.OperationFailed) || x.State == string(core.OperationUnknown) {
			c.FailedSteps++
		}
	}
	return c
}

// StoodStill is for how long the update did not go on, in seconds. Times in which it stood still for several reasons count once.
func (a *Account) StoodStill() float64 {
	type stretch struct{ from, to time.Time }
	var all []stretch
	for _, s := range a.Standstills {
		all = append(all, stretch{s.Began.Time, cmp.Or(s.Ended.Time, a.Last.Time)})
	}
	slices.SortFunc(all, func(x, y stretch) int { return x.from.Compare(y.from) })
	var total time.Duration
	var upTo time.Time
	for _, s := range all {
		if s.from.Before(upTo) {
			s.from = upTo
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			upTo = s.to
		}
	}
	return total.Seconds()
}

// Standstills are several times in which the update did not go on for the same reason, one soon after the other. It began with the first,
// and ended with the last; what it took is the sum of them.
type Standstills struct {
	Standstill
	Times int
}

// standstillsBetween is how long the update may go on between two standstills that are told as one.
const standstillsBetween = 5 * time.Minute

// StoodStillBy are the standstills as they are told: those with the same reason that came soon after one another stand once.
func (a *Account) StoodStillBy() []Standstills {
	var out []Standstills
	for _, s := range a.Standstills {
		i := len(out) - 1
		for ; i >= 0; i-- {
			if o := out[i]; o.Phase == s.Phase && o.Cause == s.Cause && o.Subject == s.Subject && o.Why == s.Why && !o.Ended.IsZero() &&
				s.Began.Sub(o.Ended.Time) < standstillsBetween {
				break
			}
		}
		if i < 0 {
			out = append(out, Standstills{s, 1})
			continue
		}
		o := &out[i]
		o.Ended, o.Took, o.Times, o.Lines = s.Ended, o.Took+s.Took, o.Times+1, slices.Concat(o.Lines, s.Lines)
	}
	return out
}

// TimesText is ", 11 times", where there are several.
func (s Standstills) TimesText() string {
	if s.Times < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times", s.Times)
}

func (d *markdown) report(a *Account) {
	d.line("# %s\n", plainly(a.Title()))
	for _, s := range a.Summary(d.zone) {
		d.line("- %s", plainly(s))
	}
	name, _ := a.Last.In(d.zone).Zone()
	d.line("\nTimes are of the cluster's clock, in the zone %s. Numbers in the column *lines* are %s", plainly(name), a.Numbers())
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
			d.clock(s.Began), d.clock(s.Ended), span(s.Took) + s.TimesText(), lines(s.Lines...)})
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

// Open are the entries that nobody has settled, the most severe first. That a Lockstep was disarmed is no matter of the update, and the
// next one that runs there may be a colleague's.
func (a *Account) Open() []Entry {
	var open []Entry
	for _, e := range a.Entries {
		if e.Settled.IsZero() && e.Rule != string(core.RuleDisarmed) {
			open = append(open, e)
		}
	}
	slices.SortStableFunc(open, func(x, y Entry) int { return severityRank(y.Severity) - severityRank(x.Severity) })
	return open
}

// During is how long the node was in each stage of a maintenance, in their order: "queued 6 m, evacuating 4 m". A stage that it was in
// several times stands once.
func (n Node) During(m Maintenance) string {
	var order []string
	took := map[string]float64{}
	for _, s := range n.Stages {
		rests := s.Stage == string(core.StageIdle) || s.Stage == string(core.StageDone)
		if rests || s.Took <= 0 || s.Began.Before(m.Began.Time) || !m.Ended.IsZero() && !s.Began.Before(m.Ended.Time) {
			continue
		}
		if _, had := took[s.Stage]; !had {
			order = append(order, s.Stage)
		}
		took[s.Stage] += s.Took
	}
	order = slices.DeleteFunc(order, func(stage string) bool { return took[stage] < 1 })
	for i, stage := range order {
		order[i] = stage + " " + Span(took[stage])
	}
	return strings.Join(order, ", ")
}

// endText says how its end is known, behind the time.
func (m Maintenance) endText() string {
	switch {
	case m.Ended.IsZero() || m.EndSeen:
		return ""
	case m.Reconstructed:
		return ", reconstructed"
	}
	return " or before"
}

func skippedText(n int) string {
	if n == 0 {
		return ""
	}
	return ", and " + wording.Count(n, "line") + wording.Verb(n, " was", " were") + " not understood"
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
				how = append(how, "stopped by "+s.By)
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
