package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/core/progress"
)

// planFlags are the flags of `lockstep plan`.
type planFlags struct {
	output string
	out    string
	force  bool
	all    bool
	atOnce int
	window string

	atOnceNamed bool // --at-once was given
	wait        patience
	timeout     time.Duration
}

func newPlan(p *options) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [NODE...]",
		Short: "Forecast what the maintenance of nodes does to their instances, before anything moves",
		Long: `Forecasts the evacuation of nodes, or of all compute nodes that the update has yet to go through: what happens to each
instance, which ones block their node and why, whether the other hosts have room (also with one more host lost), and
how long it takes, judged by the migrations that this cloud has completed. Nothing moves.

With --window it says how long the update takes, and divides what is left of it over nights of that window, node by
node: by the documents' formula, the update plan's estimates, the pace seen in this update and earlier ones, and the
evacuation of each node. --window "" takes the window of the configuration.

Nodes are taken one by one, or --at-once together: in the order of the update groups where the management cluster is
named, otherwise by name. What could not be read (a forbidden list, a missing service) is reported, and counts as not
known.

The exit code is 0 when everything moves, goes down or stays by itself, 2 when something blocks its node, may fail or
could not be checked, and 1 when there is no plan. With --window it is 0 when everything fits into the nights and nothing
has to be said against them, else 2.`,
		Example: `  lockstep plan
  lockstep plan cmp-04 cmp-05 --at-once 2
  lockstep plan --window 22:00-06:00
  lockstep plan -o markdown --out plan.md`,
		ValidArgsFunction: fromCluster(p, nodesRest, computeWords),
		RunE: func(cmd *cobra.Command, nodes []string) error {
			f.wait = f.wait.of(cmd)
			if cmd.Flags().Changed("window") {
				f.atOnceNamed = cmd.Flags().Changed("at-once")
				return window(cmd.Context(), *p, f, nodes, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if _, ok := planPrinters[f.output]; !ok {
				return fmt.Errorf("-o is %q; it takes table, markdown or json", f.output)
			}
			if f.atOnce < 1 {
				return fmt.Errorf("--at-once is %d; it takes a number from 1", f.atOnce)
			}
			return plan(cmd.Context(), *p, f, nodes, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "table", "`format`: table, markdown or json")
	flags.StringVar(&f.out, "out", "", "`file` to write instead of standard output; only you may read it")
	flags.BoolVar(&f.force, "force", false, "replace the file when it exists")
	flags.BoolVar(&f.all, "all", false, "list every instance in the table, not only those that need somebody")
	flags.IntVar(&f.atOnce, "at-once", 1, "how many `nodes` are in maintenance at the same time")
	flags.StringVar(&f.window, "window", "", "how long the update takes, over nights of this `window` (22:00-06:00, your time)")
	f.wait.addTo(cmd)
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long OpenStack may take to tell of room, groups and devices")
	return cmd
}

// planPrinters write a plan; all is for the table.
var planPrinters = map[string]func(w io.Writer, p *evacuation.Forecast, all bool) error{
	"table": printPlanTable,
	"markdown": func(w io.Writer, p *evacuation.Forecast, _ bool) error {
		_, err := io.WriteString(w, p.Markdown())
		return err
	},
	"json": func(w io.Writer, p *evacuation.Forecast, _ bool) error {
		raw, err := p.JSON()
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	},
}

func plan(ctx context.Context, at options, f planFlags, nodes []string, stdout, stderr io.Writer) error {
	if f.out != "" {
		if err := outputfile.Check("--out", f.out, f.force); err != nil {
			return err
		}
	}
	var p evacuation.Forecast
	if err := glance(ctx, at, f.wait, func(s *session.Session, at options, left time.Duration) (err error) {
		p, err = planOn(ctx, s, at, f, left, nodes, stderr)
		return err
	}); err != nil {
		return err
	}
	if err := writePlan(&p, f, stdout); err != nil {
		return err
	}
	if !p.Clear() {
		return exitWith(exitAttention)
	}
	return nil
}

// planOn waits for the sources, finds the nodes, and has the engine make the plan.
func planOn(ctx context.Context, s *session.Session, at options, f planFlags, left time.Duration, names []string,
	stderr io.Writer) (evacuation.Forecast, error) {
	snap := look(ctx, s.Engine, left)
	if err := cannotSee(snap); err != nil {
		return evacuation.Forecast{}, err
	}
	nodes, err := evacuation.ResolveNodes(snap, names)
	if err != nil {
		return evacuation.Forecast{}, err
	}
	r := evacuation.Request{Nodes: nodes, AtOnce: f.atOnce}
	var missing []core.MissingFacts
	r.Order, missing = updateOrder(ctx, at, snap, s.Log, stderr)
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	p, err := s.Engine.ForecastEvacuation(ctx, r, progressOn(stderr))
	if errors.Is(err, context.DeadlineExceeded) {
		return p, fmt.Errorf("OpenStack did not tell in %s of room, groups and devices; try a longer --timeout", f.timeout)
	}
	for _, m := range missing {
		p.Unknown = append(p.Unknown, evacuation.Unknown{What: "order of the update", Why: oneLine(m.Err.Error()),
			Means: "the nodes are in the order of their names"})
	}
	return p, err
}

// updateOrder asks the management cluster, if one is configured, for the order in which the update takes the nodes.
func updateOrder(ctx context.Context, at options, snap *core.Snapshot, log *session.Log, stderr io.Writer) ([]string, []core.MissingFacts) {
	inv := &core.Inventory{}
	for _, name := range snap.NodeNames() {
		inv.Nodes = append(inv.Nodes, core.InventoryNode{Node: snap.Nodes[name]})
	}
	t := inventoryTaker{options: at, log: log, stderr: stderr}
	t.management(ctx, inv)
	return progress.UpdateOrder(inv.Management), inv.Missing
}

// progressOn shows a person at a terminal what has been read.
func progressOn(w io.Writer) core.InventoryProgress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var printing sync.Mutex
	return func(what string, n int) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintf(f, "  read %d %s\n", n, what)
	}
}

// writePlan prints the plan, or writes it to a file and says so.
func writePlan(p *evacuation.Forecast, f planFlags, stdout io.Writer) error {
	return writeOut(f, stdout, p.Headline(), func(w io.Writer) error { return planPrinters[f.output](w, p, f.all) })
}

// writeOut prints something, or writes it to the file of --out and says so with its headline.
func writeOut(f planFlags, stdout io.Writer, headline string, print func(io.Writer) error) error {
	if f.out == "" || f.out == outputfile.Stdout {
		if err := print(stdout); err != nil {
			return fmt.Errorf("print the plan: %w", err)
		}
		return nil
	}
	var content bytes.Buffer
	if err := print(&content); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	if err := outputfile.Write(f.out, content.Bytes(), f.force); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "Wrote %s. %s\n", f.out, oneLine(headline))
	return err
}
