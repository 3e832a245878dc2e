package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core/record"
	"lockstep/kube"
)

// reportPrinters are the forms of the report.
var reportPrinters = map[string]func(io.Writer, *record.Account) error{
	"md":       func(w io.Writer, a *record.Account) error { return record.Markdown(w, a, time.Local) },
	"html":     func(w io.Writer, a *record.Account) error { return record.HTML(w, a, time.Local) },
	formatJSON: func(w io.Writer, a *record.Account) error { return printJSON(w, a) },
}

func newReport(p *options) *cobra.Command {
	var (
		output, release, file string
		force, outside        bool
	)
	cmd := &cobra.Command{
		Use:   "report [FILE...]",
		Short: "Report an update from start to end, from the journal",
		Long: `Reports an update for the customer and for the post-mortem: its phases and nodes, what stood still and why, each
project's instances, what operators did and who confirmed it, what needed a person, what went against the documents, and
what is left to do. Each number is counted from lines of the journal, and names them. The page of -o html has a timeline,
and needs no network. With --outside, and where the journal tells of no update, it reports the maintenance since the last
update: graceful reboots, maintenance mode.

Without FILE it reads the journal in the state folder; where that has journals of several clusters, say which. Several files
are read as one: the journals of operators on several machines, say. No server is asked, and nothing is changed.`,
		Example: `  lockstep report -o html --file report.html
  lockstep report --update 21.0.0+25.2 anna.jsonl bert.jsonl`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.journals(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			print, ok := reportPrinters[output]
			if !ok {
				return fmt.Errorf("-o is %q; it takes md, html or json", output)
			}
			if file != "" && file != outputfile.Stdout {
				if err := outputfile.Check("--file", file, force); err != nil {
					return err
				}
			}
			paths, err := p.oneJournal(paths)
			if err != nil {
				return err
			}
			r, skipped, err := record.Read(paths)
			if err != nil {
				return err
			}
			account := func() (*record.Account, error) { return r.Account(release) }
			if outside {
				account = r.AccountOutside
			}
			a, err := account()
			if err != nil {
				return err
			}
			a.Skipped = skipped
			var text bytes.Buffer
			if err := print(&text, a); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
			if cmp.Or(file, outputfile.Stdout) != outputfile.Stdout {
				return outputfile.Write(file, text.Bytes(), force)
			}
			if _, err := cmd.OutOrStdout().Write(text.Bytes()); err != nil {
				return fmt.Errorf("print the report: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "md", "`format`: md, html or json")
	flags.StringVar(&release, "update", "", "the update to this `release`; without it the last one")
	flags.BoolVar(&outside, "outside", false, "the maintenance since the last update: graceful reboots, maintenance mode")
	cmd.MarkFlagsMutuallyExclusive("update", "outside")
	flags.StringVar(&file, "file", "", "write it to this `file`, not to standard output")
	flags.BoolVar(&force, "force", false, "replace the file when it exists")
	_ = cmd.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{"md", "html", formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneJournal are the journals that are named; or that of the cluster which --context or --kubeconfig names; or the only one in the state
// folder.
func (p *options) oneJournal(paths []string) ([]string, error) {
	named := len(paths) > 0
	if !named && (p.Context != "" || p.Kubeconfig != "") {
		path, err := p.journalByContext()
		return []string{path}, err
	}
	paths, err := p.theseJournals(paths)
	if err != nil || named || len(paths) == 1 {
		return paths, err
	}
	return nil, fmt.Errorf("there are journals of several clusters; name the one that is meant, or its cluster by --context:\n  %s",
		strings.Join(paths, "\n  "))
}

// journalByContext is the journal of the cluster that the kubeconfig's context leads to. It asks no server.
func (p *options) journalByContext() (string, error) {
	client, err := kube.Load(p.KubeOptions())
	if err != nil {
		return "", err
	}
	path := session.JournalPath(p.StateFolderOf(client.Simulated), client.ClusterName, client.Server)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("cluster %s at %s has no journal %s; name the file that is meant:\n  %s", client.ClusterName, client.Server, path,
			strings.Join(p.journals(), "\n  "))
	}
	return path, nil
}
