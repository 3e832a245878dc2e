package forecast

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Section is a titled part of what is said about the time: a table, and sentences below it.
type Section struct {
	Title string
	Head  []string // of the table; nil when there is none
	Rows  [][]string
	Good  []string // sentences: what is well
	Bad   []string // what is wrong
	Lines []string // the others
}

// Document is all that is said about how long the update takes, and until when.
type Document struct {
	Cluster  string
	AsOf     time.Time // the cluster's time
	Headline string    // in a sentence
	Sections []Section
	Split    *Split // nil when no window was asked for

	formula  Formula
	parts    []Part
	record   Record
	foretold []core.Foretold
	update   string // the UID of the one that runs or ran last
	whole    Moment
	nodesEnd Moment
}

// Ask says what a Document is about.
type Ask struct {
	Request           // the window; without one, nothing is divided
	Before  time.Time // "can we stop before?"; zero: not asked
}

// NewDocument says how long the update takes, and until when.
func NewDocument(s *core.Snapshot, ask Ask) Document {
	f := Of(s)
	d := Document{Cluster: core.Tidy(s.CalledCluster()), AsOf: s.Second(), formula: FormulaOf(s), parts: f.Parts, record: Kept(s),
		whole: f.Whole, nodesEnd: f.NodesEnd, foretold: foretold(s), update: s.History.Update.UID}
	d.Headline = headline(s, f)
	d.Sections = append(d.Sections, untilSection(s, f))
	if !ask.Before.IsZero() && f.Running {
		d.Sections = append(d.Sections, stopSection(s, ask.Before))
	}
	if !ask.Window.IsZero() {
		split := SplitNights(s, ask.Request)
		d.Split = &split
		if d.Headline = split.headline(s); f.Running {
			whole := headline(s, f)
			if after, cut := strings.CutPrefix(whole, "The "); cut {
				whole = "the " + after
			}
			d.Headline += " Without the window: " + whole
		}
		d.Sections = append(d.Sections, split.sections(s)...)
	}
	d.Sections = append(d.Sections, stepsSection(s, f), goodSection(s, d.record))
	if f.Running {
		d.Sections = append(d.Sections, restSection(s))
	}
	d.Sections = append(d.Sections, d.formula.section())
	return d
}

func headline(s *core.Snapshot, f *Forecast) string {
	switch {
	case !s.Known(core.SourceClusterRequests):
		return "Whether an update runs is not known: " + s.WhyUnknown(core.SourceClusterRequests) + "."
	case !s.Known(core.SourceNodes):
		return "How long the update takes is not known: " + s.WhyUnknown(core.SourceNodes) + "."
	case !f.Running && planUnderWay(s):
		return "The update's plan is under way, and the cluster has no maintenance request: it comes, or has gone."
	case !f.Running:
		return "No update runs."
	case f.Whole.At.IsZero():
		return "Nothing is left of the update."
	}
	return "The update is over " + MomentText(s, f.Whole) + ", " + Assumed(s) + "."
}

// Assumed is what a forecast takes for granted of people, as a clause. Only a plan has steps that somebody commences.
func Assumed(s *core.Snapshot) string {
	if s.Management.Plan() == nil {
		return "if nobody is waited for"
	}
	return "if each step is commenced at once and nobody is waited for"
}

func planUnderWay(s *core.Snapshot) bool {
	plan := s.Management.Plan()
	return plan != nil && plan.UnderWay()
}

// untilSection is when the part that runs, its phase, all nodes and the whole end.
func untilSection(s *core.Snapshot, f *Forecast) Section {
	sec := Section{Title: "Until when"}
	if !f.Running && !s.Known(core.SourceClusterRequests) {
		return sec // the first line says why
	}
	if !f.Running {
		var length time.Duration
		for _, p := range f.Parts {
			switch {
			case p.State == PartDone:
			case p.Nodes == 0:
				length += p.Length.Usual
			default:
				length += time.Duration(float64(p.Length.Usual)*float64(p.Left)/max(p.flow.atOnce, 1)) + p.tail.Usual
			}
		}
		what, take := "No update runs. The parts below of the next one", "take"
		if planUnderWay(s) {
			what, take = "What is left of the plan", "takes"
		}
		if length > 0 {
			sec.Lines = append(sec.Lines, what+", one after the other without a rest, "+take+" about "+wording.SpanText(length)+".")
		}
		return sec
	}
	for _, p := range f.Parts {
		if p.State == PartRuns && !p.End.At.IsZero() && p.End != f.Whole && p.End != f.NodesEnd {
			sec.Lines = append(sec.Lines, wording.Sentence(p.Title+": until "+MomentText(s, p.End)))
		}
	}
	if !f.NodesEnd.At.IsZero() {
		text := "All nodes are through " + MomentText(s, f.NodesEnd) + "."
		if !f.NodesEnd.Means(s) {
			text += wording.TextIf(f.NodesEnd.Unlearned > 0, " No pace is known yet for some of them: two nodes make one.",
				" The nodes differ too much for that to mean anything yet.")
		}
		sec.Lines = append(sec.Lines, text)
	}
	var late, waits []string
	for _, p := range f.Parts {
		if p.Late {
			late = append(late, p.Title)
		}
	}
	for _, n := range f.Nodes {
		if n.Late {
			late = append(late, n.Label)
		}
		if Waits(s, n.Node) {
			waits = append(waits, n.Label)
		}
	}
	if len(late) > 0 {
		sec.Bad = append(sec.Bad, wording.Some(late, 6)+wording.Verb(len(late), " takes", " take")+" longer than forecast: the end moves on.")
	}
	if len(waits) > 0 {
		sec.Bad = append(sec.Bad, wording.Some(waits, 6)+wording.Verb(len(waits), " waits", " wait")+
			" for you, now or when the turn comes: no forecast knows for how long.")
	}
	sec.Lines = append(sec.Lines, BetweenText(s))
	return sec
}

func stopSection(s *core.Snapshot, before time.Time) Section {
	sec := Section{Title: "Can it rest before " + clockText(s, before) + "?"}
	stop := StopBefore(s, before)
	texts := stop.Texts(s)
	if stop.Last != nil || stop.Over {
		sec.Good, sec.Lines = texts[:1], texts[1:]
	} else if len(texts) > 0 {
		sec.Bad, sec.Lines = texts[:1], texts[1:]
	}
	return sec
}

// stepsSection has, for each part, what the documents and the plan allow, what was learned, and its end.
func stepsSection(s *core.Snapshot, f *Forecast) Section {
	sec := Section{Title: "Steps", Head: []string{"step", "state", "documents", "plan", "taken here", "ends"}}
	for _, p := range f.Parts {
		taken, ends := p.takenText(), "-"
		if !p.End.At.IsZero() {
			ends = momentText(s, p.End)
		}
		if p.State == PartDone {
			ends = wording.TextIf(p.Took > 0, "took "+wording.SpanText(p.Took), "done")
		}
		state := string(p.State)
		switch {
		case p.Nodes == 0 || p.State == PartDone:
		case p.Left == p.Nodes:
			state += ", " + wording.Count(p.Nodes, "node")
		default:
			state += fmt.Sprintf(", %d of %d left", p.Left, p.Nodes)
		}
		sec.Rows = append(sec.Rows, []string{core.Tidy(p.Title), state, spanOr(p.Documents), spanOr(p.Planned), taken, ends})
	}
	return sec
}

// takenText is what the forecast takes for a part.
func (p *Part) takenText() string {
	if p.State == PartDone || p.Nodes > 0 && p.Left == 0 {
		return "-"
	}
	what := "run"
	if p.Nodes > 0 {
		what = "node"
	}
	text := p.Length.Text(what)
	if p.Nodes > 0 {
		text = "each " + text
		if p.AtOnce > 1 {
			text += fmt.Sprintf("; %d at a time", p.AtOnce)
		}
		if p.tail.Usual > 0 {
			text += "; then " + wording.SpanText(p.tail.Usual)
		}
	}
	return text
}

func spanOr(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return wording.SpanText(d)
}

// mostRests is how many points between nodes the table has; an update can have hundreds.
const mostRests = 12

func restSection(s *core.Snapshot) Section {
	sec := Section{Title: "Where it can rest", Head: []string{"after", "reached", "next", "what keeps it there"}}
	rests := Rests(s)
	shown, left := 0, 0
	for _, r := range rests {
		if r.Node {
			if shown++; shown > mostRests {
				left++
				continue
			}
		}
		sec.Rows = append(sec.Rows, []string{core.Tidy(r.After), wording.TextIf(r.At.At.After(s.Second()), momentText(s, r.At), "now"),
			core.Tidy(r.Next), core.Tidy(r.How)})
	}
	if left > 0 {
		sec.Lines = append(sec.Lines, fmt.Sprintf("And %s more between nodes.", wording.Count(left, "point")))
	}
	if len(rests) == 0 {
		sec.Head = nil
		sec.Lines = []string{"Nowhere: nothing is known that keeps what is left from going on to its end."}
	}
	sec.Lines = append(sec.Lines, "It cannot rest inside a node, nor inside a step that is for the whole cluster; "+
		"a step that has begun cannot be cancelled.")
	return sec
}

// section is the formula as a table.
func (f Formula) section() Section {
	sec := Section{Title: "The documents' maintenance window", Lines: f.Ambiguous}
	if !f.Inputs.Known {
		return sec
	}
	sec.Head = []string{"stage", "minutes", "here", "takes"}
	for _, r := range f.Rows {
		sec.Rows = append(sec.Rows, []string{r.Stage, r.Term, r.Numbers, wording.SpanText(r.Takes)})
	}
	sec.Rows = append(sec.Rows, []string{"sum", "", "", wording.SpanText(f.Sum)})
	in := f.Inputs
	sec.Lines = append([]string{fmt.Sprintf("D = %s on a compute, NC = %s, NG = %s, NKC = %s, NKM = %s.",
		wording.Count(in.Density, "instance"),
		wording.Count(in.Computes, "compute"), wording.Count(in.Gateways, "gateway"), wording.Count(in.Masters, "master"),
		wording.Count(in.Workers, "worker"))}, sec.Lines...)
	return sec
}

func (sp *Split) headline(s *core.Snapshot) string {
	nodes := 0
	for _, n := range sp.Nights {
		for _, it := range n.Items {
			if it.Node != "" {
				nodes++
			}
		}
	}
	if len(sp.Nights) == 0 && len(sp.Unfit) == 0 {
		return "Nothing is left to be planned."
	}
	left := 0
	for _, u := range sp.Unfit {
		left += max(len(u.Nodes), 1)
	}
	if len(sp.Nights) == 0 {
		return "Nothing fits into the window " + sp.Window.String() + "."
	}
	text := fmt.Sprintf("%s of %s for %s, the last one on %s", wording.Count(len(sp.Nights), "night"), sp.Window, wording.Count(nodes, "node"),
		dayText(sp.Nights[len(sp.Nights)-1].From))
	if left > 0 {
		text += "; " + wording.Itoa(left) + wording.Verb(left, " thing fits", " things fit") + " into none"
	}
	return text + "."
}

// sections are the nights, what goes on now, and what is to be known of it.
func (sp *Split) sections(s *core.Snapshot) []Section {
	out := []Section{{Title: "Nights of " + sp.Window.String(), Bad: sp.Warnings}}
	if len(sp.Warnings) == 0 {
		out[0].Good = []string{"Nothing speaks against it."}
	}
	if len(sp.Running) > 0 {
		sec := Section{Title: "Under way now", Head: []string{"what", "since", "ends", "by"}}
		for _, it := range sp.Running {
			sec.Rows = append(sec.Rows, []string{core.Tidy(it.Title), wording.ClockText(it.Start.At), momentText(s, it.End), it.byText()})
		}
		out = append(out, sec)
	}
	for i, n := range sp.Nights {
		free := freeText(n.Free())
		sec := Section{Title: fmt.Sprintf("Night %d: %s, %s to %s, %s", i+1, dayText(n.From), wording.ClockText(n.From), wording.ClockText(n.To),
			free), Head: []string{"what", "begins", "ends", "at the latest", "by"}}
		for _, it := range n.Items {
			by := it.byText()
			if it.Block > 0 {
				by += "; " + wording.Count(it.Block, "instance") + wording.Verb(it.Block, " blocks it", " block it")
			}
			if it.Waits {
				by += "; waits for you"
			}
			sec.Rows = append(sec.Rows, []string{core.Tidy(it.Title), wording.ClockText(it.Start.At), wording.ClockText(it.End.At),
				wording.ClockText(it.End.Until()), by})
		}
		out = append(out, sec)
	}
	return append(out, Section{Title: "What the nights rest on", Lines: sp.Notes})
}

func (it Item) byText() string {
	if it.Basis == BasisNone {
		return "its time is not known"
	}
	return string(it.Basis)
}

// Clear tells whether the window asked for takes the whole update without a warning.
func (d *Document) Clear() bool { return d.Split == nil || len(d.Split.Warnings) == 0 }

// Markdown is the document for a ticket or a chat.
func (d *Document) Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# How long, and until when: %s\n", cell(d.Cluster))
	line("%s\n", cell(d.Headline))
	line("As of %s.", wording.StampText(d.AsOf))
	for _, sec := range d.Sections {
		line("\n## %s\n", cell(sec.Title))
		for _, text := range sec.Good {
			line("- **%s**", cell(text))
		}
		for _, text := range sec.Bad {
			line("- **%s**", cell(text))
		}
		if len(sec.Head) > 0 {
			if len(sec.Good)+len(sec.Bad) > 0 {
				line("")
			}
			line("| %s |", strings.Join(sec.Head, " | "))
			line("|%s", strings.Repeat("---|", len(sec.Head)))
			for _, row := range sec.Rows {
				cells := make([]string, len(row))
				for i, c := range row {
					cells[i] = cell(c)
				}
				line("| %s |", strings.Join(cells, " | "))
			}
			if len(sec.Lines) > 0 {
				line("")
			}
		}
		for _, text := range sec.Lines {
			line("- %s", cell(text))
		}
	}
	return b.String()
}

// cell escapes a text so that it stays plain text in Markdown.
func cell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;").Replace(s)
}

// FileName is a name for a file with the document, with the extension kind ("md", "json").
func (d *Document) FileName(kind string) string {
	return fmt.Sprintf("window-%s.%s", d.AsOf.UTC().Format("20060102T150405Z"), kind)
}

// freeText is how much of a night is free, in whole minutes: no night is told by seconds.
func freeText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "full"
	case d < 2*time.Minute:
		return "1 m free"
	}
	return wording.SpanText(d) + " free"
}
