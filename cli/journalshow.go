package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/outputfile"
	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

// journalFilter says which lines of a journal are wanted. A zero field wants all.
type journalFilter struct {
	node, instance, by string
	kinds              []string
	since, until       string // a time of the operator's zone
	last               int
	all                bool // those that tell again what another line tells, too

	from, to time.Time
}

func newJournalShow(p *options) *cobra.Command {
	var (
		output string
		f      journalFilter
	)
	cmd := &cobra.Command{
		Use:   "show [FILE...]",
		Short: "Print what stands in journals, one line each",
		Long: `Prints the lines of a journal with all its files, or of the files that are named; without FILE, of the journal of the cluster
that --context names, or of the only one in the state folder. They come in the order of the times that they tell, which is not that in
which they were written: what must last before it is told, and what was reconstructed, stands further down in the file. Several journals
are printed as one. What several lines tell, as more
than one operator saw it, or as it was found and then reconstructed, is printed once; --all prints every line. Times are yours as text,
and UTC in JSON, which has each line as it stands in the journal. It writes nothing, and asks no server.

Give the journals of one cluster only: those of several clusters are mixed.`,
		Example: `  lockstep journal show --node cmp-07 --since 22:00
  lockstep journal show --kind grant,verified -o json | jq .title`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.journals(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if output != formatText && output != formatJSON {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			if err := f.read(time.Now()); err != nil { // before anything is read; what day is meant the journals tell
				return err
			}
			paths, err := p.oneJournal(paths)
			if err != nil {
				return err
			}
			return showJournals(cmd.OutOrStdout(), cmd.ErrOrStderr(), paths, f, output)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	flags.StringVar(&f.node, "node", "", "only what is about this `node`, by its name in Kubernetes or that of its machine")
	flags.StringVar(&f.instance, "instance", "", "only what is about the instance with this `ID`, or this name")
	flags.StringVar(&f.by, "by", "", "only what those recorded whose name has this `text` in it")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only lines of these `kinds` (docs/journal.md)")
	flags.StringVar(&f.since, "since", "", "only from this `time` on: 15:04, \"2006-01-02 15:04\", or as show prints it")
	flags.StringVar(&f.until, "until", "", "only up to this `time`")
	flags.BoolVar(&f.all, "all", false, "every line, also those that tell again what another line tells")
	flags.IntVarP(&f.last, "last", "n", 0, "only the last `number` of lines")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// read reads the filter's times. A time of day is that before now, which is the cluster's.
func (f *journalFilter) read(now time.Time) error {
	var daytime []*time.Time // those that were given as a time of day
	for _, t := range []struct {
		flag, text string
		into       *time.Time
	}{{"--since", f.since, &f.from}, {"--until", f.until, &f.to}} {
		if t.text == "" {
			continue
		}
		at, err := time.ParseInLocation(wording.MomentForm, t.text, now.Location()) // as show prints it
		if err == nil && t.flag == "--until" {
			at = at.Add(time.Second - 1) // the line that was printed with this time is among those up to it
		}
		if err != nil {
			at, err = time.ParseInLocation(minutes, t.text, now.Location())
		}
		if err != nil {
			at, err = time.ParseInLocation("15:04", t.text, now.Location())
			at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1) // the night before
			}
			daytime = append(daytime, t.into)
		}
		if err != nil {
			return fmt.Errorf("%s is %q; it takes 15:04, \"2006-01-02 15:04\", or a time as show prints it", t.flag, t.text)
		}
		*t.into = at
	}
	if len(daytime) > 0 && daytime[0] == &f.from && !f.to.IsZero() && f.from.After(f.to) { // 22:00 to 02:00, read at 23:00
		f.from = f.from.AddDate(0, 0, -1)
	}
	if f.last < 0 {
		return fmt.Errorf("-n is %d; it takes a number of lines", f.last)
	}
	return nil
}

// knows refuses a kind that neither this version nor one of the lines knows: a newer version may have written them.
func (f *journalFilter) knows(lines []engine.JournalLine) error {
	var known []string
	for _, k := range engine.RecordKinds() {
		known = append(known, string(k))
	}
	for _, kind := range f.kinds {
		if !slices.Contains(known, kind) && !slices.ContainsFunc(lines, func(l engine.JournalLine) bool { return string(l.Kind) == kind }) {
			return fmt.Errorf("--kind is %q; the kinds are %s", kind, strings.Join(known, ", "))
		}
	}
	return nil
}

// wants tells whether a line is wanted. The label is what people call the line's node; empty where that is its name.
func (f *journalFilter) wants(l engine.JournalLine, label string) bool {
	switch {
	case l.Again && !f.all,
		f.node != "" && l.Node != f.node && label != f.node,
		f.instance != "" && !slices.Contains(l.Instances(), f.instance) && l.InstanceName() != f.instance,
		f.by != "" && !strings.Contains(l.By, f.by),
		len(f.kinds) > 0 && !slices.Contains(f.kinds, string(l.Kind)),
		!f.from.IsZero() && l.When().Before(f.from),
		!f.to.IsZero() && l.When().After(f.to):
		return false
	}
	return true
}

// showJournals prints the lines that are wanted.
func showJournals(out, trouble io.Writer, paths []string, f journalFilter, output string) error {
	w := bufio.NewWriter(out)
	var lines []engine.JournalLine
	labels := map[string]string{} // of nodes, by their names in Kubernetes
	skipped, readErr := engine.ReadInOrder(paths, func(l engine.JournalLine) {
		if l.Label != "" && l.Node != "" {
			labels[l.Node] = l.Label
		}
		lines = append(lines, l)
	})
	if err := f.read(clusterNow(lines, time.Now())); err != nil {
		return err
	}
	if !f.from.IsZero() && !f.to.IsZero() && f.from.After(f.to) {
		return fmt.Errorf("--since %s is after --until %s", wording.MomentText(f.from), wording.MomentText(f.to))
	}
	if err := f.knows(lines); err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(l engine.JournalLine) bool { return !f.wants(l, labels[l.Node]) })
	if f.last > 0 {
		lines = lines[max(len(lines)-f.last, 0):]
	}
	var names []string
	for name, label := range labels {
		names = append(names, name, label)
	}
	called := strings.NewReplacer(names...)
	var err error
	for _, l := range lines {
		if output == formatJSON {
			err = printJSONLine(w, shownLine{l.File, l.Line, l.Seq, l.Record})
		} else {
			_, err = fmt.Fprintf(w, "%s %-10s %s%s\n", wording.MomentText(l.When()), l.Kind, oneLine(called.Replace(l.Says())), by(l))
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("print the journal: %w", err)
	}
	if skipped > 0 {
		fmt.Fprintf(trouble, "lockstep: %s not understood: cut off by a crash, or written by a newer version\n",
			wording.Count(skipped, "line")+wording.Verb(skipped, " was", " were"))
	}
	return readErr
}

// clusterNow is what time it is in the cluster that the lines are of: by this machine's clock, and by how far the two were apart in the
// last run. A line is written when what it tells was seen, or later, so none of them is ahead of it.
func clusterNow(lines []engine.JournalLine, now time.Time) time.Time {
	var last engine.JournalLine
	for _, l := range lines {
		if l.Wall.After(last.Wall) {
			last = l
		}
	}
	ahead, known := time.Duration(0), false
	for _, l := range lines {
		if l.Run == last.Run && !l.At.IsZero() && !l.Wall.IsZero() && (!known || l.At.Sub(l.Wall) > ahead) {
			ahead, known = l.At.Sub(l.Wall), true
		}
	}
	now = now.Add(ahead)
	for _, l := range lines {
		now = core.Later(now, l.When().In(now.Location()))
	}
	return now
}

// shownLine is a line of a journal in JSON: the record as it stands there, and where.
type shownLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Seq  int64  `json:"seq,omitempty"`
	engine.Record
}

// by is who wrote the line, where a person did what it tells.
func by(l engine.JournalLine) string {
	switch l.Kind {
	case engine.RecordStart, engine.RecordStop, engine.RecordArm, engine.RecordDisarm, engine.RecordGrant, engine.RecordControl,
		engine.RecordNote, engine.RecordIdentity:
		return " (" + oneLine(l.By) + ")"
	}
	return ""
}

func newJournalMerge(p *options) *cobra.Command {
	var (
		output string
		force  bool
	)
	cmd := &cobra.Command{
		Use:   "merge -o FILE FILE...",
		Short: "Make one journal of those of several operators",
		Long: `Writes one journal of several of the same cluster: in the order of the times that they tell, with everything that was
done, and what more than one of them saw once. What a newer version has written stays, even if this one does not know it. The
lines of the new journal are tied to one another as in any other; those of the old ones stay as they are, and only those are
the evidence. It asks no server.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			paths, err := p.theseJournals(paths)
			if err != nil {
				return err
			}
			if err := outputfile.Check("-o", output, force); err != nil {
				return err
			}
			var content bytes.Buffer
			encode := engine.EncodeJournal(func(line []byte) error { _, err := content.Write(line); return err })
			lines := 0
			skipped, err := engine.ReadOnce(paths, func(l engine.JournalLine) {
				if encode(l) == nil {
					lines++
				}
			})
			if err != nil {
				return err
			}
			if output == outputfile.Stdout {
				if skipped > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s not understood, and left out.\n",
						wording.Count(skipped, "line")+wording.Verb(skipped, " was", " were"))
				}
				_, err = cmd.OutOrStdout().Write(content.Bytes())
				return err
			}
			if err := outputfile.Write(output, content.Bytes(), force); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s: %s of %s; %s not understood.\n", oneLine(output), wording.Count(lines, "line"),
				wording.Count(len(paths), "journal"), wording.Count(skipped, "line")+wording.Verb(skipped, " was", " were"))
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; - is standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file when it exists")
	_ = cmd.MarkFlagRequired("output") // the flag is there
	return cmd
}
