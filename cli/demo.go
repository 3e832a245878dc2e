package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/sim"
	"lockstep/sim/scenario"
)

func newDemo(o *options, stdin *os.File) *cobra.Command {
	var (
		flags  simFlags
		list   bool
		wrong  bool
		output string
	)
	cmd := &cobra.Command{
		Use:   "demo [SCENARIO]",
		Short: "Open the dashboard on a simulated cloud",
		Long: `Starts a simulated MOSK cluster and OpenStack cloud on loopback, with an update under way, and opens the dashboard on
it. Everything is as on a real cluster, except for the clock, which runs faster. Nothing outside this process is touched.

With --from it simulates your own cloud, as "lockstep snapshot" wrote it, or as a recording (--record) shows it: from the moment at
which all had been seen, or from --at. Then the simulated controllers go on with the update by themselves.`,
		Example: `  lockstep demo
  lockstep demo no-valid-host
  lockstep demo --from mos.yaml --speed 300
  lockstep demo --from mos.lockrec --at 02:15`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return scenario.List(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if cmd.Flags().Changed("scenario") || flags.from != "" {
					return fmt.Errorf("the scenario is named twice: %q, and by --scenario or --from", args[0])
				}
				flags.scenario = args[0]
			}
			if list {
				return listScenarios(cmd.OutOrStdout(), output)
			}
			if cmd.Flags().Changed("output") {
				return errors.New("--output goes with --list")
			}
			if wrong {
				return listFaults(cmd.OutOrStdout())
			}
			so, err := flags.options(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := canShow(stdin, cmd.OutOrStdout(), "`lockstep sim` serves the same cloud to commands"); err != nil {
				return err
			}
			return demo(cmd.Context(), *o, so, cmd.ErrOrStderr())
		},
	}
	flags.addTo(cmd, 60)
	cmd.Flags().BoolVar(&list, "list", false, "list the scenarios and what each teaches")
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format` of the list: text or json")
	cmd.Flags().BoolVar(&wrong, "faults", false, "list what can go wrong with the servers, for --fault and for the panel (f4)")
	o.addActAs(cmd)
	o.addScreen(cmd)
	o.addRecord(cmd)
	return cmd
}

// patient is the greatest number of nodes of a simulated cloud that starts in a moment.
const patient = 100

// curtain is how long the story of a demo waits for the first lists at most.
const curtain = time.Minute

// demo opens the dashboard on a simulated cloud. A large one takes some seconds to start; stderr says so.
func demo(ctx context.Context, o options, so sim.Options, stderr io.Writer) (err error) {
	if err := o.configure(); err != nil {
		return err
	}
	log, err := session.OpenLog(o.logFile)
	if err != nil {
		return err
	}
	defer log.Close()
	dir, err := os.MkdirTemp("", "lockstep-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer os.RemoveAll(dir)
	so.Dir, so.Log, so.Paused = dir, log.Logger, true
	if n := len(so.Scenario.Nodes); n > patient {
		fmt.Fprintf(stderr, "Starting a simulated cloud of %d nodes and %d instances …\n", n, len(so.Scenario.Instances))
		session.LimitStart(n)
	}
	cloud, err := sim.Start(ctx, so)
	if err != nil {
		return fmt.Errorf("start the simulated cloud: %w", err)
	}
	defer cloud.Close()
	so.Scenario.Instances = nil // the cloud has them now, and a fleet has 100,000
	cloudsYAML, err := os.ReadFile(cloud.CloudsYAMLPath)
	if err != nil {
		return fmt.Errorf("read the simulated cloud's clouds.yaml: %w", err)
	}
	// The demo has a place and files of its own, whatever the flags and the environment say: it must never touch a real cluster.
	o.Place = session.Place{Name: simCluster(cloud.Scenario), Kubeconfig: cloud.KubeconfigPath, OSCloud: cloud.CloudName,
		CloudsYAML: cloudsYAML, Management: simManagement(cloud), Alertmanager: o.Alertmanager,
		Version: o.Version, Operator: o.Operator, LeaseNamespace: "default", Settings: o.Settings, Events: o.Events,
		Journal: dir, RecordPath: o.record, MustRecord: o.record != "",
		Clock: cloud.Clock.Now, Pace: so.Speed, InProcess: true}
	if manyClusters(cloud.Scenario) {
		for flag, given := range map[string]bool{"--act-as": len(o.actAs) > 0, "--record": o.record != ""} {
			if given {
				return errors.New(flag + " goes with one cluster, and this scenario has several")
			}
		}
		return demoClusters(ctx, o, cloud, log)
	}
	// The story begins when the screen shows the cloud: nothing of it is missed, and the controllers of a fleet do not compete with its
	// first lists. It does not wait for a server that is silent.
	var begin *time.Timer
	o.Begin = func() {
		if begin.Stop() {
			cloud.Clock.Resume()
		}
	}
	s, err := o.open(ctx, log)
	if err != nil {
		return err
	}
	begin = time.AfterFunc(curtain, cloud.Clock.Resume)
	defer begin.Stop()
	title, notice := simTitle(cloud.Scenario, so.Speed)
	return (&screen{Session: s, title: title, notice: notice + " (f4: the panel)", rehearsal: &rehearsal{cloud}}).show(ctx, o)
}
