package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/engine"
)

func newStatus(p *options) *cobra.Command {
	var (
		output  string
		all     bool
		details bool
		wait    patience
	)
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Take one look at the update and print it",
		Long: `Takes one look at the update and prints one page that can be sent to a colleague: how it stands, how far it is, how long
it has taken and when it will be over, what needs you, the phases, and the nodes where something happens or is wrong.
JSON and YAML have everything.

The exit code is 0 when nothing needs you, or all that does is set aside, 2 when something does, and 1 when the cluster could not be read.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print, ok := statusPrinters[output]
			if !ok {
				return fmt.Errorf("-o is %q; it takes table, json or yaml", output)
			}
			if output == "table" {
				print = tableOn(cmd.OutOrStdout(), all, details).print
			}
			return status(cmd.Context(), *p, wait.of(cmd), details, print, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "`format`: table, json or yaml")
	cmd.Flags().BoolVar(&all, "all", false, "list everything in the table, also nodes where nothing happens")
	cmd.Flags().BoolVar(&details, "details", false,
		"show what each entry rests on, its known cause (also by logs), commands to look or act by hand, and the documents' page")
	wait.addTo(cmd)
	return cmd
}

// statusYAML is the status as YAML, whose writer leaves the marks that change the order of a text.
func statusYAML(s Status) ([]byte, error) {
	raw, err := core.JSONForYAML(s)
	if err == nil {
		raw, err = yaml.JSONToYAML(raw)
	}
	return bytes.Map(func(r rune) rune {
		if r != '\n' && core.Invisible(r) {
			return unicode.ReplacementChar
		}
		return r
	}, raw), err
}

var statusPrinters = map[string]func(io.Writer, Status) error{
	"table": statusTable{}.print,
	"json":  func(w io.Writer, s Status) error { return printJSON(w, s) },
	"yaml": func(w io.Writer, s Status) error {
		b, err := statusYAML(s)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	},
}

func status(ctx context.Context, p options, wait patience, details bool, print func(io.Writer, Status) error, out io.Writer) error {
	var snap *core.Snapshot
	var needs []core.Attention
	if err := glance(ctx, p, wait, func(s *session.Session, _ options, left time.Duration) error {
		snap = look(ctx, s.Engine, left)
		needs = attention.Of(snap)
		if details {
			needs = askLogs(ctx, s.Looker, needs)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := cannotSee(snap); err != nil {
		return err
	}
	st := statusOf(snap, needs)
	if err := print(out, st); err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if now, _ := attention.Now(needs); len(now) > 0 {
		return exitWith(exitAttention)
	}
	return nil
}

// mostAsked is how many logs a status reads, for the most urgent entries.
const mostAsked = 5

// askLogs reads the logs that alone can tell why some of the entries stand, and returns the entries with what they tell. A log that
// cannot be read tells nothing.
func askLogs(ctx context.Context, looker core.Looker, all []core.Attention) []core.Attention {
	all = slices.Clone(all) // the Snapshot's own
	asked := 0
	for i := range all {
		for _, s := range all[i].Suspects {
			if asked++; asked > mostAsked {
				return all
			}
			if line, found, _ := s.Find(ctx, looker); found {
				all[i] = s.Told(all[i], line)
				break
			}
		}
	}
	return all
}

// glance runs a session that cannot write while see runs. see gets the options, completed by the configuration, and the
// rest of the time to wait.
func glance(ctx context.Context, p options, wait patience, see func(s *session.Session, p options, left time.Duration) error) error {
	p.OneLook = true
	return visit(ctx, p, wait, see)
}

// visit is glance with a journal that can be written, unless it is for one look.
func visit(ctx context.Context, p options, wait patience, see func(s *session.Session, p options, left time.Duration) error) error {
	began := time.Now()
	if err := p.configure(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p.ReadOnly = true
	if wait.named {
		p.LoginFor = max(wait.wait, 1)
	}
	p.Own = p.ForCommands()
	s, err := p.open(ctx, log)
	if err != nil {
		return err
	}
	if p.Stderr != nil {
		for _, n := range s.Notices {
			fmt.Fprintln(p.Stderr, oneLine(n))
		}
	}
	left := wait.wait
	if wait.named {
		left = max(left-time.Since(began), 0)
	}
	runCtx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.Run(runCtx) })
	err = see(s, p, left)
	stop()
	running.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// look waits until every source has answered or failed, and no longer than wait. A failure that may pass is not the end. What has not
// answered by then has failed: nobody may take it for a cloud in which nothing is wrong.
func look(ctx context.Context, e *engine.Engine, wait time.Duration) *core.Snapshot {
	return lookAt(ctx, e, wait, everySource)
}

func everySource(core.SourceID) bool { return true }

// lookAt is look for those sources alone.
func lookAt(ctx context.Context, e *engine.Engine, wait time.Duration, these func(core.SourceID) bool) *core.Snapshot {
	snapshots, stop := e.Subscribe()
	defer stop()
	deadline, until := time.After(wait), time.Now().Add(wait)
	for {
		select {
		case snap := <-snapshots:
			if answered(snap, until, these) {
				return snap
			}
		case <-deadline:
			return unanswered(ctx, e, snapshots)
		case <-ctx.Done():
			return e.Snapshot()
		}
	}
}

// unanswered tells the Engine which sources have not answered by now, and returns a Snapshot that says so.
func unanswered(ctx context.Context, e *engine.Engine, snapshots <-chan *core.Snapshot) *core.Snapshot {
	silent := func(s *core.Snapshot) (ids []core.SourceID) {
		for id, src := range s.Sources {
			if src.State == core.SourceConnecting {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for _, id := range silent(e.Snapshot()) {
		e.Apply(core.Delta{Source: id, State: core.SourceFailed, Err: noAnswer(id.Server(), "read "+string(id))})
	}
	give := time.After(time.Second)
	for {
		select {
		case snap := <-snapshots:
			if len(silent(snap)) == 0 {
				return snap
			}
		case <-give: // there is always one within a second; one that connects again since has told why before
			return e.Snapshot()
		case <-ctx.Done():
			return e.Snapshot()
		}
	}
}

// noAnswer is the error of a server that was silent for as long as somebody waited.
func noAnswer(server core.Server, call string) *core.APIError {
	who := map[core.Server]string{core.ServerKubernetes: "the Kubernetes API", core.ServerOpenStack: "OpenStack",
		core.ServerManagement: "the management cluster"}[server]
	return &core.APIError{Kind: core.ErrTimeout, Server: server, Call: call,
		Message: cmp.Or(who, string(server)) + " has not answered in time",
		Remedy:  "Try a longer --wait, and see the log."}
}

func answered(s *core.Snapshot, deadline time.Time, these func(core.SourceID) bool) bool {
	for id, src := range s.Sources {
		if these(id) && src.AnswersYet(deadline) {
			return false
		}
	}
	return len(s.Sources) > 0
}

// cannotSee is why nothing at all is known about the cluster's nodes and locks; nil when something is.
func cannotSee(s *core.Snapshot) error {
	var first error
	for _, id := range []core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceClusterRequests} {
		src := s.Sources[id]
		if !src.AsOf.IsZero() {
			return nil
		}
		if first == nil && src.Err != nil {
			first = src.Err
		}
	}
	if first == nil {
		first = noAnswer(core.ServerKubernetes, "look at the cluster")
	}
	return first
}
