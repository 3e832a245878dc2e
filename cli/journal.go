package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

func newJournal(p *options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "List the journals on this machine",
		Long: `Prints the files of each journal in the state folder: one journal for each cluster, with a file for each update, the
newest last. For each file it says which update it tells of, from when to when, and how many lines it has. What stands in
a journal is explained in docs/journal.md. No server is asked.

The journals of rehearsals lie in a folder of their own. They are listed where the kubeconfig is that of a simulated cluster.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listJournals(cmd.OutOrStdout(), p.journals(), output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newJournalShow(p), newJournalVerify(p), newJournalMerge(p))
	return cmd
}

// journalsDocument is what `lockstep journal -o json` prints.
type journalsDocument struct {
	Format   int             `json:"format"` // of the document: 2; the first called it version
	Journals []listedJournal `json:"journals"`
}

// listedJournal is one journal in the JSON of `journal`.
type listedJournal struct {
	Journal string               `json:"journal"`
	Files   []engine.JournalFile `json:"files"`
}

func listJournals(w io.Writer, paths []string, output string) error {
	if output != formatText && output != formatJSON {
		return fmt.Errorf("-o is %q; it takes text or json", output)
	}
	all := []listedJournal{}
	for _, path := range paths {
		files, err := engine.JournalFiles(path)
		if err != nil {
			return err
		}
		all = append(all, listedJournal{path, files})
	}
	if output == formatJSON {
		if err := printJSON(w, journalsDocument{2, all}); err != nil {
			return fmt.Errorf("print the journals: %w", err)
		}
		return nil
	}
	for _, j := range all {
		for _, f := range j.Files {
			if _, err := fmt.Fprintf(w, "%s\n  %s\n", oneLine(f.Path), oneLine(holds(f))); err != nil {
				return fmt.Errorf("print the journals: %w", err)
			}
		}
	}
	return nil
}

// holds says what a file of a journal tells of: "update 21.0 → 21.0.1, 2026-11-22 22:00 to 2026-11-23 03:10, 1204 lines".
func holds(f engine.JournalFile) string {
	text := "no update"
	for i, u := range f.Updates {
		if i == 0 {
			text = ""
		} else {
			text += ", "
		}
		text += wording.Update(u.From, u.Release)
		if u.Ended.IsZero() {
			text += " (it has not ended)"
		}
	}
	if !f.From.IsZero() {
		text += ", " + f.From.Local().Format(minutes) + " to " + wording.StampText(f.To)
	}
	return text + ", " + wording.Count(f.Lines, "line") + ", " + bytesText(int(f.Size))
}

// minutes is how a time is printed in lists.
const minutes = "2006-01-02 15:04"

// journals are the newest files of all journals in the state folder.
func (p *options) journals() []string {
	found, _ := filepath.Glob(filepath.Join(session.JournalFolder(p.StateFolder()), "*.jsonl"))
	return found
}

// theseJournals are the journals that are named, or all in the state folder where none is.
func (p *options) theseJournals(paths []string) ([]string, error) {
	if len(paths) == 0 {
		if paths = p.journals(); len(paths) == 0 {
			return nil, fmt.Errorf("there is no journal in %s", session.JournalFolder(p.StateFolder()))
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", path)
		}
		if err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
	}
	return paths, nil
}

func newJournalVerify(p *options) *cobra.Command {
	var (
		output string
		noted  []string
	)
	cmd := &cobra.Command{
		Use:   "verify [FILE...]",
		Short: "Find lines of journals that were changed, taken out, put in, doubled or cut off",
		Long: `Checks that each line of a journal follows the line before, through all its files, and says which line does not and what is
wrong with it. Without FILE it checks all journals in the state folder. It writes nothing, and asks no server.

It cannot see by itself that lines were taken off the end, or that all from some line on were written anew. A seal that was
noted elsewhere shows it: the number and the sum of a line. Each handover and each report has the seal of that moment, and
this command prints that of now. --seal holds one journal against it.

The exit code is 0 when nothing is damaged, 2 when a line is, and 1 when a journal could not be read.`,
		Example: `  lockstep journal verify
  lockstep journal verify mos-4c1d638e.jsonl --seal 184:7c12ab49ab2fc6c8`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.journals(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if output != formatText && output != formatJSON {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			var seals []engine.JournalSeal
			for _, text := range noted {
				seal, err := engine.ParseJournalSeal(text)
				if err != nil {
					return fmt.Errorf("--seal: %w", err)
				}
				seals = append(seals, seal)
			}
			paths, err := p.theseJournals(paths)
			if err != nil {
				return err
			}
			if len(seals) > 0 && len(paths) > 1 {
				return fmt.Errorf("a seal is of one journal; name the one that is meant:\n  %s", strings.Join(paths, "\n  "))
			}
			return verifyJournals(cmd.OutOrStdout(), paths, seals, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	cmd.Flags().StringArrayVar(&noted, "seal", nil, "a `seal` of the journal that was noted before: NUMBER:SUM (may be repeated)")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("seal", cobra.NoFileCompletions)
	return cmd
}

// verifiedJournal is one journal in the JSON of `journal verify`.
type verifiedJournal struct {
	Journal string `json:"journal"`
	Intact  bool   `json:"intact"`
	engine.JournalVerification
}

// verifiedDocument is what `lockstep journal verify -o json` prints.
type verifiedDocument struct {
	Format   int               `json:"format"` // of the document: 2; the first called it version
	Journals []verifiedJournal `json:"journals"`
}

func verifyJournals(w io.Writer, paths []string, seals []engine.JournalSeal, output string) error {
	all, damaged := []verifiedJournal{}, false
	for _, path := range paths {
		v, err := engine.VerifyJournal(path, seals...)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		intact := len(v.Findings) == 0
		damaged = damaged || !intact
		all = append(all, verifiedJournal{path, intact, v})
	}
	var err error
	if output == formatJSON {
		err = printJSON(w, verifiedDocument{2, all})
	} else {
		err = printVerified(w, all)
	}
	if err != nil {
		return fmt.Errorf("print what was found: %w", err)
	}
	if damaged {
		return exitWith(exitAttention)
	}
	return nil
}

func printVerified(w io.Writer, all []verifiedJournal) error {
	for _, v := range all {
		state := "intact"
		if !v.Intact {
			state = "DAMAGED"
		}
		if _, err := fmt.Fprintf(w, "%s: %s, %s in %s\n", oneLine(v.Journal), state, wording.Count(v.Lines, "line"),
			wording.Count(len(v.Files), "file")); err != nil {
			return err
		}
		for _, f := range v.Findings {
			if _, err := fmt.Fprintf(w, "  %s, line %d: %s: %s\n", oneLine(f.File), f.Line, f.Damage, oneLine(f.Text)); err != nil {
				return err
			}
		}
		notes := v.Notes
		if v.Unlinked > 0 {
			notes = append(notes, wording.Count(v.Unlinked, "line")+" of an older version: nothing tells whether they were changed")
		}
		if v.Seq > 0 {
			notes = append(notes, fmt.Sprintf("its seal is %s (the last line is number %d, sha256 %s)",
				engine.JournalSeal{Seq: v.Seq, Sum: v.Last}, v.Seq, v.Last))
		}
		for _, n := range notes {
			if _, err := fmt.Fprintf(w, "  %s\n", oneLine(n)); err != nil {
				return err
			}
		}
	}
	return nil
}
