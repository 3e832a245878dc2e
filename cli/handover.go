package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/handover"
	"lockstep/core/record"
	"lockstep/core/wording"
)

// handoverPrinters are the forms of the handover.
var handoverPrinters = map[string]func(io.Writer, handover.Handover) error{
	formatText: func(w io.Writer, h handover.Handover) error { return printLines(w, h.Text(time.Local, false)) },
	"md":       func(w io.Writer, h handover.Handover) error { return printLines(w, h.Text(time.Local, true)) },
	formatJSON: func(w io.Writer, h handover.Handover) error { return printJSON(w, h) },
}

func printLines(w io.Writer, lines []string) error {
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, core.Redact(oneLine(l))); err != nil {
			return err
		}
	}
	return nil
}

func newHandover(p *options) *cobra.Command {
	var (
		output string
		wait   patience
	)
	cmd := &cobra.Command{
		Use:   "handover [JOURNAL...]",
		Short: "Print a note for the next shift",
		Long: `Takes one look at the update, reads the journal, and prints a note for the next shift that reads in a minute: where the update
stands, what is open and why, what runs, what was promised to whom, what is to be set back, what comes next, what went wrong
and is over, and what to look at first. JOURNAL names more journals, of colleagues on other machines, say. Nothing is changed.

The exit code is 0 when nothing needs you, 2 when something does, and 1 when the cluster could not be read.`,
		Example: `  lockstep handover -o md > handover.md`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			print, ok := handoverPrinters[output]
			if !ok {
				return fmt.Errorf("-o is %q; it takes text, md or json", output)
			}
			if len(paths) > 0 {
				if _, err := p.theseJournals(paths); err != nil {
					return err
				}
			}
			return writeHandover(cmd.Context(), *p, wait.of(cmd), paths, print, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text, md or json")
	_ = cmd.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{formatText, "md", formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	wait.addTo(cmd)
	return cmd
}

func writeHandover(ctx context.Context, p options, wait patience, more []string, print func(io.Writer, handover.Handover) error,
	out, trouble io.Writer) error {
	var h handover.Handover
	var snap *core.Snapshot
	if err := glance(ctx, p, wait, func(s *session.Session, _ options, left time.Duration) error {
		snap = look(ctx, s.Engine, left)
		account, skipped, err := accountFor(append([]string{s.JournalPath}, more...), snap)
		if err != nil {
			fmt.Fprintf(trouble, "lockstep: %s: the note is without what it has\n", oneLine(err.Error()))
		}
		if skipped > 0 {
			fmt.Fprintf(trouble, "lockstep: %s no record: the note is without them\n",
				wording.Count(skipped, "line")+" of the journals"+wording.Verb(skipped, " is", " are"))
		}
		h = handover.Of(snap, account)
		return nil
	}); err != nil {
		return err
	}
	if err := cannotSee(snap); err != nil {
		return err
	}
	if err := print(out, h); err != nil {
		return fmt.Errorf("print the handover: %w", err)
	}
	if h.NeedsSomebody() {
		return exitWith(exitAttention)
	}
	return nil
}

// accountFor is the account of the update that runs, or ran last, and how many lines of the journals are no records. Where the journals
// tell of no update, it is of none; nil without journals.
func accountFor(paths []string, s *core.Snapshot) (a *record.Account, skipped int, err error) {
	var there []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		return nil, 0, nil
	}
	r, skipped, err := record.Read(there)
	if err != nil {
		return nil, skipped, err
	}
	known := r.Updates()
	if len(known) == 0 || s.History.Update.UID != "" && known[len(known)-1].UID != s.History.Update.UID {
		return r.Changes(), skipped, nil // of an earlier one at most
	}
	a, err = r.Account("")
	return a, skipped, err
}

// handoverOf is the note for the next shift, in lines, for the screen.
func handoverOf(s *session.Session, snap *core.Snapshot) ([]string, error) {
	account, _, err := accountFor([]string{s.JournalPath}, snap)
	return handover.Of(snap, account).Text(time.Local, false), err
}
