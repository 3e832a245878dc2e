package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
)

// noteAsked is what the flags of `lockstep note` ask for.
type noteAsked struct {
	text, node, instance, entry, until string
	aside                              bool
	done                               string
}

func newNote(p *options) *cobra.Command {
	var (
		asked  noteAsked
		output string
		wait   patience
	)
	cmd := &cobra.Command{
		Use:   "note [TEXT]",
		Short: "Write a note or a promise about a node, an instance, an entry of \"Needs you\", or the update",
		Long: `Writes a note into the journal: for colleagues, for the next shift, and for oneself. With --until it reminds at that time, as an
entry of "Needs you", until it is done. With --aside an entry waits for somebody else until then: it comes back at its time, when it
becomes more severe, or when it is about something else. Nothing is written to the cluster.

The node, the instance or the entry is looked up first; a note about the update asks no server.`,
		Example: `  lockstep note "owner of vm-17 informed, will stop it himself" --instance vm-17 --until 03:00
  lockstep note "bert asks the owners" --entry node-waits/5c1d --until +45m --aside
  lockstep note --done 9f3a71c0`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != formatText && output != formatJSON {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			asked.text = strings.Join(args, " ")
			return writeNote(cmd.Context(), *p, wait.of(cmd), asked, output, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	f.StringVar(&asked.node, "node", "", "the `node` that it is about, by its name or label")
	f.StringVar(&asked.instance, "instance", "", "the `instance` that it is about, by its ID, or its name where one alone has it")
	f.StringVar(&asked.entry, "entry", "", "the `entry` of \"Needs you\" that it is about, by its ID (status -o json has it)")
	f.StringVar(&asked.until, "until", "", "`when` to be reminded: 03:00, or +45m")
	f.BoolVar(&asked.aside, "aside", false, "the entry waits for somebody else until then")
	f.StringVar(&asked.done, "done", "", "mark the note with this `ID` as done")
	_ = cmd.RegisterFlagCompletionFunc("node", fromCluster(p, nodesRest, nodeWords))
	_ = cmd.RegisterFlagCompletionFunc("instance", fromCluster(p, instancesRest, instanceWords))
	_ = cmd.RegisterFlagCompletionFunc("entry", fromCluster(p, everySource, entryWords))
	cmd.MarkFlagsMutuallyExclusive("node", "instance", "entry", "done")
	cmd.MarkFlagsMutuallyExclusive("until", "done")
	cmd.MarkFlagsMutuallyExclusive("aside", "done")
	wait.addTo(cmd)
	return cmd
}

func writeNote(ctx context.Context, p options, wait patience, asked noteAsked, output string, out io.Writer) error {
	switch {
	case asked.done != "" && asked.text != "":
		return errors.New("--done takes no text: the note keeps its own")
	case asked.done == "" && strings.TrimSpace(asked.text) == "":
		return errors.New("a note needs a text")
	case asked.aside && asked.entry == "":
		return errors.New("--aside needs --entry: only an entry of \"Needs you\" is set aside")
	case asked.aside && asked.until == "":
		return errors.New("--aside needs --until: an entry is only set aside until a time")
	}
	p.AboutJournal = true
	return visit(ctx, p, wait, func(s *session.Session, _ options, left time.Duration) error {
		snap := s.Engine.Snapshot()
		if asked.node+asked.instance+asked.entry != "" {
			snap = look(ctx, s.Engine, left)
			if err := cannotSee(snap); err != nil && asked.instance == "" {
				return err
			}
			if err := instancesKnown(snap); err != nil && asked.instance != "" {
				return err
			}
		}
		n, err := asked.note(snap)
		if err != nil {
			return err
		}
		kept, err := s.Engine.Note(ctx, n)
		if err != nil {
			return err
		}
		if output == formatJSON {
			err = printJSON(out, notesDocument{2, snap.Cluster, []core.Note{kept}})
		} else {
			_, err = fmt.Fprintln(out, noteLine(kept))
		}
		if err != nil {
			return fmt.Errorf("print the note: %w", err)
		}
		return nil
	})
}

// note is what is asked for as a note, with what it is about as the Snapshot knows it.
func (q noteAsked) note(s *core.Snapshot) (core.Note, error) {
	if q.done != "" {
		return core.Note{ID: q.done, Done: true}, nil
	}
	n := core.Note{Text: q.text, On: core.NoteOn{Label: "the update"}}
	if q.until != "" {
		at, err := forecast.ParseMoment(q.until, s.Now)
		if err != nil {
			return n, fmt.Errorf("--until: %w", err)
		}
		n.Until = at
	}
	switch {
	case q.node != "":
		for _, name := range s.NodeNames() {
			if name == q.node || s.Label(name) == q.node {
				n.On = core.NoteOn{Node: name, Label: s.Label(name)}
				return n, nil
			}
		}
		return n, fmt.Errorf("no node is called %q", oneLine(q.node))
	case q.instance != "":
		in, err := instanceCalled(s, q.instance)
		if err != nil {
			return n, err
		}
		n.On = core.NoteOn{Instance: in.ID, Label: in.Name}
	case q.entry != "":
		a, ok := attention.Listed(s, q.entry)
		if !ok {
			return n, fmt.Errorf("no entry of \"Needs you\" has the ID %q now", oneLine(q.entry))
		}
		n.On = core.NoteOn{Entry: a.ID, Label: a.Label}
		if q.aside {
			if why := attention.WhyNotAside(a); why != "" {
				return n, errors.New(why)
			}
			n = attention.SetAside(n, a, n.Until)
		}
	}
	return n, nil
}

// instanceCalled is the instance with the ID, or the only one with the name.
func instanceCalled(s *core.Snapshot, name string) (*core.Instance, error) {
	if in := s.Instances.At(name); in != nil {
		return in, nil
	}
	var found *core.Instance
	for _, host := range s.ByHost {
		for _, in := range host {
			if in.Name != name {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("several instances are called %q: name it by its ID", oneLine(name))
			}
			found = in
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no instance is called %q, and none has it as its ID", oneLine(name))
	}
	return found, nil
}

func newNotes(p *options) *cobra.Command {
	var (
		output string
		all    bool
	)
	cmd := &cobra.Command{
		Use:   "notes",
		Short: "List the notes and promises of the journal",
		Long: `Lists the notes that are not done, the oldest first; --all lists also those of this update that are done. It reads the journal, and
waits for no server.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != formatText && output != formatJSON {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			return listNotes(cmd.Context(), *p, output, all, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	cmd.Flags().BoolVar(&all, "all", false, "list also notes that are done")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// notesDocument is what `lockstep notes -o json` prints, and `lockstep note -o json` of the one note.
type notesDocument struct {
	Format  int         `json:"format"` // of the document: 2; the first called it version
	Cluster string      `json:"cluster"`
	Notes   []core.Note `json:"notes"`
}

func listNotes(ctx context.Context, p options, output string, all bool, out io.Writer) error {
	p.AboutJournal = true
	return glance(ctx, p, patience{}, func(s *session.Session, _ options, _ time.Duration) error {
		snap := s.Engine.Snapshot()
		notes := []core.Note{}
		for _, n := range snap.Notes {
			if all || !n.Done {
				notes = append(notes, n)
			}
		}
		var err error
		if output == formatJSON {
			err = printJSON(out, notesDocument{2, snap.Cluster, notes})
		} else {
			err = printNotes(out, notes, snap.Now)
		}
		if err != nil {
			return fmt.Errorf("print the notes: %w", err)
		}
		return nil
	})
}

func printNotes(out io.Writer, notes []core.Note, now time.Time) error {
	if len(notes) == 0 {
		_, err := fmt.Fprintln(out, "There are no notes.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAT\tON\tUNTIL\tBY\tNOTE")
	for _, n := range notes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(n.ID), n.At.Local().Format("Jan 2 15:04"), oneLine(n.On.Label), untilText(n, now),
			oneLine(n.By), oneLine(n.Text))
	}
	return w.Flush()
}

// untilText is until when a note is good: "03:00, aside".
func untilText(n core.Note, now time.Time) string {
	switch {
	case n.Done:
		return "done"
	case n.Until.IsZero():
		return "-"
	}
	text := dayClock(n.Until, now)
	switch {
	case !now.Before(n.Until):
		text += ", past"
	case n.Aside:
		text += ", aside"
	}
	return text
}

// noteLine says that a note was kept.
// dayClock is a moment in the operator's zone, with its day where that is not the day of now.
func dayClock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("2006-01-02 15:04")
	}
	return at.Format("15:04")
}

func noteLine(n core.Note) string {
	text := "noted on " + oneLine(n.On.Label) + " as " + oneLine(n.ID)
	switch {
	case n.Done:
		return "done: " + oneLine(n.Text)
	case n.Aside:
		text += "; set aside until " + dayClock(n.Until, n.At)
	case !n.Until.IsZero():
		text += "; reminds at " + dayClock(n.Until, n.At)
	}
	return text
}
