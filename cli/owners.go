package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/nova"
)

func newOwners(p *options) *cobra.Command {
	var (
		output string
		every  bool
		wait   patience
	)
	cmd := &cobra.Command{
		Use:   "owners [NODE...]",
		Short: "List whose instances need their owner, with a note to send to each project",
		Long: `Lists the instances that need their owner, on the named nodes or on all that the update has yet to go through,
project by project: what happens to each by its tags and its node's mode, what its owner can do, and the
e-mail addresses that Keystone shows of its owner and of the project's members. As text it is one note for each
project, ready to send. With --all there is a note for each project that has an instance there: nobody is to write to the cloud while the
update runs. Name a node as the dashboard or as Kubernetes does. Nothing is changed.

The exit code is 0 when everything was read, 2 when Keystone did not show something (stderr says what, and why), and 1
when the instances could not be read.`,
		Example: `  lockstep owners
  lockstep owners --all > notes.txt
  lockstep owners cmp-07 cmp-11 -o csv`,
		ValidArgsFunction: fromCluster(p, nodesRest, computeWords),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := ownersPrinters[output]
			if !ok {
				return fmt.Errorf("-o is %q; it takes text, csv or json", output)
			}
			return owners(cmd.Context(), *p, args, every, wait.of(cmd), print, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text, csv or json")
	cmd.Flags().BoolVar(&every, "all", false, "a note for each project that has an instance there, whether or not one needs its owner")
	wait.addTo(cmd)
	return cmd
}

// ownersDocument is what `lockstep owners -o json` prints.
type ownersDocument struct {
	Format   int                   `json:"format"` // of the document: 1
	Cluster  string                `json:"cluster"`
	AsOf     time.Time             `json:"asOf"` // the cluster's time
	Projects []procedure.OwnerNote `json:"projects"`
}

var ownersPrinters = map[string]func(io.Writer, *core.Snapshot, []procedure.OwnerNote) error{
	"text": func(w io.Writer, s *core.Snapshot, notes []procedure.OwnerNote) error {
		text := procedure.OwnersText(s, notes)
		if len(notes) == 0 {
			text = "No instance there needs its owner.\n"
		}
		_, err := io.WriteString(w, text)
		return err
	},
	"csv": func(w io.Writer, _ *core.Snapshot, notes []procedure.OwnerNote) error {
		_, err := io.WriteString(w, procedure.OwnersCSV(notes))
		return err
	},
	"json": func(w io.Writer, s *core.Snapshot, notes []procedure.OwnerNote) error {
		return printJSON(w, ownersDocument{1, oneLine(s.Cluster), s.Now.UTC(), notes})
	},
}

// instancesKnown is why no instance is known; nil where they were read.
func instancesKnown(s *core.Snapshot) error {
	src := s.Sources[core.SourceInstances]
	switch {
	case !src.AsOf.IsZero():
		return nil
	case src.Err != nil:
		return src.Err
	}
	return fmt.Errorf("the instances are not known: %s", src.State)
}

func owners(ctx context.Context, p options, names []string, every bool, wait patience,
	print func(io.Writer, *core.Snapshot, []procedure.OwnerNote) error, out, stderr io.Writer) error {
	return glance(ctx, p, wait, func(s *session.Session, _ options, left time.Duration) error {
		snap := look(ctx, s.Engine, left)
		if err := cannotSee(snap); err != nil {
			return err
		}
		if err := instancesKnown(snap); err != nil {
			return err
		}
		nodes, err := nodesCalled(snap, names)
		if err != nil {
			return err
		}
		notes := procedure.OwnerNotes(snap, nodes, core.Contacts{}, every)
		var missing []core.MissingFacts
		if len(notes) > 0 {
			projects, users := procedure.ContactsToAsk(notes)
			c := ownerDesk{s.OpenStack}.Contacts(ctx, projects, users)
			notes, missing = procedure.OwnerNotes(snap, nodes, c, every), c.Missing
		}
		if err := print(out, snap, notes); err != nil {
			return fmt.Errorf("print the owners: %w", err)
		}
		for _, m := range missing {
			fmt.Fprintf(stderr, "KEYSTONE DOES NOT SHOW %s: %s\n", oneLine(m.What), oneLine(m.Err.Error()))
			if m.Err.Remedy != "" {
				fmt.Fprintf(stderr, "  %s\n", oneLine(m.Err.Remedy))
			}
		}
		if len(missing) > 0 {
			return exitWith(exitAttention)
		}
		return nil
	})
}

// nodesCalled returns the names of the nodes that are named as in the dashboard or as in Kubernetes; without any, those of the
// whole update.
func nodesCalled(s *core.Snapshot, names []string) ([]string, error) {
	if len(names) == 0 {
		return procedure.NodesToTell(s), nil
	}
	var out []string
	for _, called := range names {
		var found []string
		for name, n := range s.Nodes {
			if name == called || n.Label() == called {
				found = append(found, name)
			}
		}
		slices.Sort(found)
		switch {
		case len(found) == 0:
			return nil, fmt.Errorf("the cluster has no node %q", called)
		case len(found) > 1:
			return nil, fmt.Errorf("several nodes are called %q: %s", called, strings.Join(found, ", "))
		}
		if !slices.Contains(out, found[0]) {
			out = append(out, found[0])
		}
	}
	return out, nil
}

// ownerDesk is the backend of the dashboard's page of owners.
type ownerDesk struct {
	client *nova.Client // nil when there is no cloud
}

// Contacts implements tui.OwnerDesk.
func (d ownerDesk) Contacts(ctx context.Context, projects, users []string) core.Contacts {
	if d.client == nil {
		err := &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: "ask Keystone", Message: "no cloud is configured"}
		return core.Contacts{Missing: []core.MissingFacts{{What: "names and e-mail", Err: err}}}
	}
	return d.client.Contacts(ctx, projects, users)
}

// Save implements tui.OwnerDesk: the file is made in the folder that Lockstep was started in.
func (d ownerDesk) Save(name string, content []byte) (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the folder to save in: %w", err)
	}
	suffix := filepath.Ext(name)
	path := filepath.Join(folder, session.FileName(strings.TrimSuffix(name, suffix))+suffix) // the name is cut, not its suffix
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s exists", path)
	}
	return path, outputfile.Write(path, content, false)
}
