package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/evacuation"
	"lockstep/core/wording"
)

// exitUnseen is check's exit code when nothing fails, but something that could stop an update is not known.
const exitUnseen = 3

// checkFlags are the flags of `lockstep check`.
type checkFlags struct {
	output  string
	verbose bool
	noRoom  bool
	against string
	wait    patience
	timeout time.Duration
}

func newCheck(p *options) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether the cluster is fit for an update, and afterwards what the update broke",
		Long: `Goes through MOSK's own procedure and what must be at rest before an update: the management cluster's release, locks,
requests, finalizers and modes, nodes, OpenStack, Ceph, quorums, instances in states in which nothing moves them, and
room for what has to leave each node. Each point passes, warns, fails or is not known, with what suffers, what speaks
against it, and what to do. Nothing is changed.

Each check outside of an update is kept in the state folder. After an update the check is compared with the last one
before it, and says what the update broke; a point that was not known then is compared with the last check in which it was.
--against compares with a file that -o json wrote.

The exit code is 0 when nothing stops an update, 2 when something does, 3 when nothing that is known does but something
that could is not known, and 1 when the cluster could not be read.`,
		Example: `  lockstep check
  lockstep check -v
  lockstep check -o json > before.json; …; lockstep check --against before.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.output != "table" && f.output != "json" {
				return fmt.Errorf("-o is %q; it takes table or json", f.output)
			}
			f.wait = f.wait.of(cmd)
			return check(cmd.Context(), *p, f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "table", "`format`: table or json")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show all of each point: also those that pass, every finding, and the commands")
	flags.BoolVar(&f.noRoom, "no-room", false, "do not ask OpenStack whether the instances of each node have room elsewhere")
	flags.StringVar(&f.against, "against", "", "compare with the check in this `file`, made with -o json")
	f.wait.addTo(cmd)
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long OpenStack may take to tell of room, groups and devices")
	return cmd
}

func check(ctx context.Context, at options, f checkFlags, stdout, stderr io.Writer) error {
	var earlier *checklist.Report
	if f.against != "" {
		r, err := readCheck(f.against)
		if err != nil {
			return fmt.Errorf("--against: %w", err)
		}
		earlier = &r
	}
	var c checklist.Compared
	if err := glance(ctx, at, f.wait, func(s *session.Session, at options, left time.Duration) error {
		snap := look(ctx, s.Engine, left)
		if err := cannotSee(snap); err != nil {
			return err
		}
		c.Report = checklist.Of(snap, roomOf(ctx, s, at, f, snap, stderr))
		if earlier == nil {
			if r, ok := (checkStore{s.ChecksFolder}).Before(c.Report); ok {
				earlier = &r
			}
		}
		if ctx.Err() != nil { // what an interrupted look has not seen would be compared with after the update
			return ctx.Err()
		}
		if err := (checkStore{s.ChecksFolder}).Keep(c.Report); err != nil {
			fmt.Fprintln(stderr, oneLine("this check was not kept for later: "+err.Error()))
		}
		return nil
	}); err != nil {
		return err
	}
	if f.against != "" && earlier.Cluster != c.Cluster { // one that was kept is of this cluster, by whatever name
		return fmt.Errorf("--against: %s is a check of the cluster %q; this one is %q", f.against, oneLine(earlier.Cluster), c.Cluster)
	}
	c = c.Report.With(earlier)
	if err := printCheck(stdout, c, f); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	switch {
	case len(c.Stopping()) > 0:
		return exitWith(exitAttention)
	case len(c.Unseen()) > 0:
		return exitWith(exitUnseen)
	}
	return nil
}

// roomOf asks OpenStack what the point about room needs.
func roomOf(ctx context.Context, s *session.Session, at options, f checkFlags, snap *core.Snapshot, stderr io.Writer) checklist.Room {
	if f.noRoom {
		return checklist.Room{Why: "it was not asked for (--no-room)"}
	}
	r := evacuation.Request{AtOnce: 1}
	r.Order, _ = updateOrder(ctx, at, snap, s.Log, stderr)
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	p, err := s.Engine.ForecastEvacuation(ctx, r, progressOn(stderr))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return checklist.Room{Why: fmt.Sprintf("OpenStack did not tell of it in %s", f.timeout)}
	case err != nil:
		return checklist.Room{Why: oneLine(err.Error())}
	}
	return checklist.Room{Forecast: &p}
}

// readCheck reads a check that -o json wrote.
func readCheck(path string) (checklist.Report, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return checklist.Report{}, err
	}
	r, err := checklist.Read(raw)
	if err != nil {
		return checklist.Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func printCheck(out io.Writer, c checklist.Compared, f checkFlags) error {
	if f.output == "json" {
		return printJSON(out, c)
	}
	t := tableOn(out, f.verbose, f.verbose)
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\nAs of %s.\n\n", oneLine(c.Headline()), wording.StampText(c.AsOf))
	rows := [][]string{{"VERDICT", "POINT", "IMPACT", "WHAT"}}
	passed := 0
	for i, p := range c.Points {
		if together := unseenAlike(c.Points, i, f.verbose); together != nil {
			if len(together) > 1 {
				rows = append(rows, []string{verdictWord(p.Verdict), wording.Count(len(together), "point"), string(p.Impact),
					oneLine(p.Unknown + " (" + wording.Some(together, len(together)) + ")")})
			}
			continue
		}
		impact := string(p.Impact)
		if p.Verdict == checklist.Pass {
			if passed++; !f.verbose {
				continue
			}
			impact = ""
		}
		rows = append(rows, []string{verdictWord(p.Verdict), p.ID, impact, oneLine(p.Text())})
		rows = append(rows, checkDetails(p, f.verbose)...)
	}
	t.columns(&text, rows, 3)
	if passed > 0 && !f.verbose {
		fmt.Fprintf(&text, "%d more pass (-v shows them)\n", passed)
	}
	printSince(&text, t, c)
	if len(c.NotCompared) > 0 {
		fmt.Fprintf(&text, "\nNot compared, as it was not known, or not wholly, before: %s.\n", oneLine(strings.Join(c.NotCompared, ", ")))
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	return nil
}

// unseenAlike names the points that are not known for the reason of the point at i, and of its impact: they are one line of the table,
// where the first of them stands. An empty list means that another one stands for it, nil that the point has a line of its own, as
// all have where everything is shown.
func unseenAlike(points []checklist.Point, i int, everything bool) []string {
	p := points[i]
	if everything || p.Verdict != checklist.Unknown {
		return nil
	}
	var ids []string
	for j, q := range points {
		if q.Verdict != checklist.Unknown || q.Unknown != p.Unknown || q.Impact != p.Impact {
			continue
		}
		if j < i {
			return []string{}
		}
		ids = append(ids, q.ID)
	}
	if len(ids) == 1 {
		return nil
	}
	return ids
}

// verdictWord is a verdict as the table has it: what fails stands out.
func verdictWord(v checklist.Verdict) string {
	if v == checklist.Fail {
		return "FAIL"
	}
	return string(v)
}

// checkDetails are the lines below a point: what to do, and with everything also why, each finding and the commands.
func checkDetails(p checklist.Point, everything bool) [][]string {
	var out [][]string
	add := func(mark, text string) {
		if text != "" {
			out = append(out, []string{"", "", "", mark + oneLine(text)})
		}
	}
	if p.Verdict != checklist.Pass && p.Verdict != checklist.Unknown {
		add("→ ", p.Remedy)
	}
	if !everything {
		return out
	}
	if p.Verdict != checklist.Pass {
		add("must be: ", p.Title)
	}
	add("why: ", p.Why)
	if len(p.Findings) > 1 {
		for _, f := range p.Findings {
			add("- ", f.Text()+remedyOf(f))
		}
	}
	if p.Verdict != checklist.Unknown {
		add("not known: ", p.Unknown)
	}
	for _, command := range p.Commands {
		add("$ ", command)
	}
	add("", p.Page)
	return out
}

func remedyOf(f checklist.Finding) string {
	if f.Remedy == "" {
		return ""
	}
	return " → " + f.Remedy
}

// printSince says in what the check differs from an earlier one.
func printSince(out io.Writer, t statusTable, c checklist.Compared) {
	if c.Against == nil {
		if !c.Began.IsZero() {
			fmt.Fprintln(out, "\nNo check from before the update is kept here, with which to compare.")
		}
		return
	}
	when := wording.StampText(*c.Against)
	if len(c.Since) == 0 {
		what := "Nothing has changed"
		if len(c.NotCompared) > 0 {
			what = "Nothing that could be compared has changed"
		}
		fmt.Fprintf(out, "\n%s since the check of %s.\n", what, when)
		return
	}
	worse := 0
	for _, d := range c.Since {
		if d.Broke() {
			worse++
		}
	}
	says := "nothing is worse"
	if worse > 0 {
		says = wording.Count(worse, "point") + wording.Verb(worse, " is worse", " are worse")
	}
	fmt.Fprintf(out, "\nSince the check of %s %s:\n", when, says)
	rows := [][]string{{"POINT", "WAS", "IS", "WHAT"}}
	for _, d := range c.Since {
		var parts []string
		if d.Broke() {
			parts = append(parts, "worse")
		}
		for _, x := range d.New {
			parts = append(parts, "+ "+x.Text())
		}
		for _, x := range d.Mended {
			parts = append(parts, "- "+x.Text())
		}
		if d.Against != nil {
			parts = append(parts, "compared with "+wording.StampText(*d.Against))
		}
		rows = append(rows, []string{d.ID, verdictWord(d.Was), verdictWord(d.Now), oneLine(strings.Join(parts, "; "))})
	}
	t.columns(out, rows, 3)
}
