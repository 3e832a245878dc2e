package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"lockstep/core"
	"lockstep/core/wording"
)

// statusTable is how `lockstep status` prints for a person.
type statusTable struct {
	all     bool // every node and every entry, not only those that matter
	details bool // what each entry rests on, and what can be done by hand
	width   int  // columns of the terminal; 0: lines are as long as they are
}

// tableOn is the table for out: a terminal has a width; a pipe's reader takes whole lines.
func tableOn(out io.Writer, all, details bool) statusTable {
	t := statusTable{all: all, details: details}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			t.width = width
		}
	}
	return t
}

// nodeMatters tells whether a node is worth a row: something happens there, or something is wrong. Of 500 nodes that wait for
// their turn or are done, only the number is printed.
func nodeMatters(v *core.NodeView, needing map[string]bool) bool {
	return v.Active() || len(v.Problems) > 0 || needing[v.Name] || v.Node == nil || v.Node.Ready != "True" || v.Node.Cordoned
}

// nodesNeedingYou are the nodes with an entry of "Needs you" that is more than a notice, about themselves or about something on them.
func nodesNeedingYou(all []core.Attention) map[string]bool {
	needing := map[string]bool{}
	for _, a := range all {
		if a.Severity == core.SeverityNotice {
			continue
		}
		if a.Subject.Kind == core.KindNode {
			needing[a.Subject.Name] = true
		}
		if a.Node != "" { // it is about the node's machine, a lock or an instance
			needing[a.Node] = true
		}
	}
	return needing
}

// head prints the update as a whole: how it stands, how far it is, how long it has taken, and the nodes by their stages.
func (t statusTable) head(out io.Writer, s Status) {
	u := s.Update
	title := core.RehearsalOf(s.Cluster, s.Simulated)
	switch {
	case u.To != "" && u.From != u.To:
		title += ": " + orUnknown(u.From) + " → " + u.To
	case cmp.Or(u.To, u.Release) != "":
		title += ": " + cmp.Or(u.To, u.Release)
	}
	fmt.Fprintf(out, "%s   as of %s\n\n", title, wording.StampText(s.AsOf))
	var rows [][]string
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, []string{label, text})
		}
	}
	add("Assessment", u.Assessment)
	if u.Running && u.Nodes > 0 {
		add("Completion", fmt.Sprintf("%d of %d nodes, %d %%", u.Done, u.Nodes, 100*u.Done/u.Nodes))
	}
	if u.Running && u.Started != nil {
		text := span(time.Duration(u.Elapsed)*time.Second) + " since " + clockOf(*u.Started, s.AsOf)
		if u.Baseline > 0 {
			text += "; the documents allow " + span(time.Duration(u.Baseline)*time.Second) + ", one node after the other"
		}
		add("Elapsed", text)
	}
	add("End", u.End)
	add("Plan", u.Plan)
	add("Offered", u.Offered)
	add("Nodes", stagesText(s.Nodes))
	if len(rows) > 0 {
		t.columns(out, rows, 1)
		fmt.Fprintln(out)
	}
}

// clockOf is the time of day in the operator's zone, with the day unless that is the day of the page.
func clockOf(t, page time.Time) string {
	t, page = t.Local(), page.Local()
	if t.Year() != page.Year() || t.YearDay() != page.YearDay() {
		return t.Format("Mon 2 Jan 15:04")
	}
	return t.Format("15:04")
}

// stagesText counts the nodes by their stages: "31 done, 2 evacuating, 10 queued".
func stagesText(nodes []StatusNode) string {
	var stages []string
	count := map[string]int{}
	for _, n := range nodes {
		if count[n.Stage]++; count[n.Stage] == 1 {
			stages = append(stages, n.Stage)
		}
	}
	for i, stage := range stages {
		stages[i] = fmt.Sprintf("%d %s", count[stage], stage)
	}
	return strings.Join(stages, ", ")
}

// needDetails are the lines below an entry: what it rests on, what to do by hand, and where the documents speak of it.
func (t statusTable) needDetails(a StatusAttention) [][]string {
	var out [][]string
	add := func(mark, text string) {
		if text != "" {
			out = append(out, []string{"", "", "", "", mark + text})
		}
	}
	if d := a.Diagnosis; d != nil {
		add("cause: ", d.Cause)
		add("→ ", d.Remedy)
		add("! ", d.Forbidden)
		if d.Issue != "" {
			add("", "known issue "+d.Issue+" of the release notes")
		}
	}
	add("→ ", a.Hint)
	for _, e := range a.Evidence {
		add("- ", e)
	}
	for _, c := range a.Commands {
		add("$ ", c)
	}
	add("", a.Page)
	return out
}

// mostShown is how many entries and how many nodes the table has; --all has every one.
const mostShown = 20

// needs prints what needs a person.
func (t statusTable) needs(out io.Writer, s Status) {
	rows := [][]string{{"NEEDS YOU", "LEVEL", "IMPACT", "SINCE", "REASON"}}
	subjects := map[string]string{}
	shown := s.NeedsYou
	if !t.all {
		shown = shown[:min(len(shown), mostShown)]
	}
	aside := [][]string{{"SET ASIDE", "LEVEL", "IMPACT", "UNTIL", "REASON"}}
	for _, a := range shown {
		if n := a.Aside; n != nil {
			until := "?"
			if n.Until != nil {
				until = clockOf(*n.Until, s.AsOf)
			}
			aside = append(aside, []string{a.Subject, a.Severity, a.Impact, until, n.Text + " (" + n.By + "): " + a.Reason})
			continue
		}
		subjects[a.ID] = a.Subject
		if cause := subjects[a.Cause]; cause != "" { // which stands above
			a.Reason += " (because of " + cause + ")"
		}
		rows = append(rows, []string{a.Subject, a.Severity, a.Impact, since(s.AsOf, a.Since, a.About, a.Later), a.Reason})
		if t.details {
			rows = append(rows, t.needDetails(a)...)
		}
	}
	if len(rows) > 1 {
		t.columns(out, rows, 4, 0)
	} else {
		fmt.Fprintln(out, "Nothing needs you now.")
	}
	if len(aside) > 1 {
		fmt.Fprintln(out)
		t.columns(out, aside, 4, 0)
	}
	if n := len(s.NeedsYou) - len(shown); n > 0 {
		fmt.Fprintf(out, "%d more, less urgent (--all shows them)\n", n)
	}
	if !t.details {
		t.columns(out, [][]string{{"--details adds what each rests on, its cause, what to do, and the documents' page"}}, 0)
	}
}

// nodes prints those that matter, and counts the others by their stages.
func (t statusTable) nodes(out io.Writer, s Status) {
	rows := [][]string{{"NODE", "ROLES", "STAGE", "FOR", "MODE", "LOCKS", "INSTANCES", "BLOCKING"}}
	if t.width > 0 && t.width < 100 {
		rows[0][6], rows[0][7] = "INST", "BLOCK"
	}
	var stages []string // in the order of the nodes
	left := map[string]int{}
	cut := 0
	for _, n := range s.Nodes {
		if !t.all && n.matters && len(rows) > mostShown {
			cut++
			continue
		}
		if !t.all && !n.matters {
			if left[n.Stage]++; left[n.Stage] == 1 {
				stages = append(stages, n.Stage)
			}
			continue
		}
		roles := make([]string, len(n.Roles))
		for i, r := range n.Roles {
			roles[i] = string(r)
		}
		var locks []string
		for c, state := range n.Locks {
			locks = append(locks, c+":"+state)
		}
		slices.Sort(locks)
		rows = append(rows, []string{n.Label, strings.Join(roles, ","), n.Stage, since(s.AsOf, n.Since, n.About, n.Later), n.Mode,
			strings.Join(locks, " "), number(n.Instances), number(n.Blocking)})
	}
	if len(rows) > 1 {
		t.columns(out, rows, 1, 2, 5, 0)
	}
	if cut > 0 {
		fmt.Fprintf(out, "%d more where something happens or is wrong (--all shows them)\n", cut)
	}
	if len(stages) == 0 {
		return
	}
	sum, counts := 0, make([]string, len(stages))
	for i, stage := range stages {
		sum += left[stage]
		counts[i] = fmt.Sprintf("%d %s", left[stage], stage)
	}
	more, nodes := "", "nodes"
	if len(rows) > 1 {
		more = "more "
	}
	if sum == 1 {
		nodes = "node"
	}
	fine := "nothing is wrong there"
	if s.blind() {
		fine = "nothing wrong is known there"
	}
	fmt.Fprintf(out, "%d %s%s: %s; %s (--all shows them)\n", sum, more, nodes, strings.Join(counts, ", "), fine)
}

// ofNewerReleases are the resources that MOSK releases before theirs do not have.
var ofNewerReleases = []core.SourceID{core.SourceDeletionRequests, core.SourceDisableNotices}

// blind tells whether something about nodes and what runs on them is not seen now.
func (s *Status) blind() bool {
	return slices.ContainsFunc(s.Sources, func(src StatusSource) bool {
		id, state := core.SourceID(src.ID), core.SourceState(src.State)
		seen := state == core.SourceLive || state == core.SourceAbsent && (id.MayBeAbsent() || slices.Contains(ofNewerReleases, id)) ||
			state == core.SourceForbidden && id == core.SourceOpenStackDeployment // which is for operators alone
		return !seen && (id.Server() == core.ServerKubernetes || id.Server() == core.ServerOpenStack)
	})
}

// columns prints rows in columns. Where they are wider than the terminal, cells of the columns in give are wrapped, in that order.
func (t statusTable) columns(out io.Writer, rows [][]string, give ...int) {
	const gap = 2
	widths, least := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
			for _, word := range words(cell) {
				least[i] = max(least[i], ansi.StringWidth(strings.TrimRight(word, " ")))
			}
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for _, i := range give {
		if over := total - t.width; t.width > 0 && over > 0 {
			narrower := min(over, widths[i]-least[i])
			widths[i] -= narrower
			total -= narrower
		}
	}
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 1
		for i, cell := range row {
			cells[i] = broken(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for line := range height {
			var b strings.Builder
			for i, cell := range cells {
				text := ""
				if line < len(cell) {
					text = cell[line]
				}
				b.WriteString(text + strings.Repeat(" ", widths[i]-ansi.StringWidth(text)+gap))
			}
			fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
		}
	}
}

// longestWord is where a word without a place to break is broken: a name of a hundred letters.
const longestWord = 24

// words are the parts of a cell between which it may be wrapped, each with its separator.
func words(cell string) []string {
	var parts []string
	from, n := 0, 0
	for i, r := range cell {
		n++
		if r == ' ' || r == ',' || r == ':' || n == longestWord {
			end := i + len(string(r))
			parts, from, n = append(parts, cell[from:end]), end, 0
		}
	}
	if from < len(cell) {
		parts = append(parts, cell[from:])
	}
	return parts
}

// broken is a cell wrapped to lines of at most width columns.
func broken(cell string, width int) []string {
	if ansi.StringWidth(cell) <= width {
		return []string{cell}
	}
	var lines []string
	line := ""
	for _, word := range words(cell) {
		if line != "" && ansi.StringWidth(line+strings.TrimRight(word, " ")) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), ""
		}
		line += word
	}
	return append(lines, strings.TrimRight(line, " "))
}
