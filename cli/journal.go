package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockstep/core/engine"
	"lockstep/core/wording"
)

func newJournal(p *place) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "List the journals on this machine",
		Long: `Prints the path of each journal in the state folder: one for each cluster. What stands in a journal is explained in
docs/journal.md. No server is asked.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, path := range p.journals() {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), oneLine(path)); err != nil {
					return fmt.Errorf("print the journals: %w", err)
				}
			}
			return nil
		},
	}
	cmd.AddCommand(newJournalVerify(p))
	return cmd
}

// journals are the newest files of all journals in the state folder.
func (p *place) journals() []string {
	found, _ := filepath.Glob(filepath.Join(journalFolder(cmp.Or(p.journal, stateFolder())), "*.jsonl"))
	return found
}

func newJournalVerify(p *place) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "verify [FILE...]",
		Short: "Find lines of journals that were changed, taken out, put in, doubled or cut off",
		Long: `Checks that each line of a journal follows the line before, through all its files, and says which line does not and what is
wrong with it. Without FILE it checks all journals in the state folder. It writes nothing, and asks no server.

It cannot see that lines were taken off the end. Note the last number and sum, and compare them.

The exit code is 0 when nothing is damaged, 2 when a line is, and 1 when a journal could not be read.`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.journals(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if output != formatText && output != formatJSON {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			if len(paths) == 0 {
				if paths = p.journals(); len(paths) == 0 {
					return fmt.Errorf("there is no journal in %s", journalFolder(cmp.Or(p.journal, stateFolder())))
				}
			}
			return verifyJournals(cmd.OutOrStdout(), paths, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// verifiedJournal is one journal in the JSON of `journal verify`.
type verifiedJournal struct {
	Journal string `json:"journal"`
	Intact  bool   `json:"intact"`
	engine.JournalVerification
}

func verifyJournals(w io.Writer, paths []string, output string) error {
	all, damaged := []verifiedJournal{}, false
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("read the journal: %s is not a file", path)
		}
		v, err := engine.VerifyJournal(path)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		intact := len(v.Findings) == 0
		damaged = damaged || !intact
		all = append(all, verifiedJournal{path, intact, v})
	}
	var err error
	if output == formatJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		err = enc.Encode(struct {
			Version  int               `json:"version"`
			Journals []verifiedJournal `json:"journals"`
		}{1, all})
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
			notes = append(notes, fmt.Sprintf("the last line is number %d, sha256 %s", v.Seq, v.Last))
		}
		for _, n := range notes {
			if _, err := fmt.Fprintf(w, "  %s\n", oneLine(n)); err != nil {
				return err
			}
		}
	}
	return nil
}
