// Package cli is Lockstep's command line: the commands, their flags and exit codes, and the wiring of the rooms.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
)

// The exit codes of every command.
const (
	exitFine      = 0 // status, plan: nothing needs you; journal verify: nothing is damaged
	exitError     = 1 // it could not be done, or the cluster could not be read
	exitAttention = 2 // status, plan: something needs a person; journal verify: a line is damaged
)

// exitWith ends the program with an exit code, without an error message.
type exitWith int

func (e exitWith) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the command that args name and returns the exit code. SIGINT, SIGTERM and SIGHUP (the ssh session is gone) all end it
// in order: nothing new is begun, the operator lease is given back, the journal gets its last line. What takes too long for that is ended
// by the next SIGINT or SIGTERM at once.
func Main(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	return begin(options{sole: true}, args, stdin, stdout, stderr)
}

func begin(p options, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	ctx, stop := untilSignalled(context.Background())
	defer stop()
	return execute(ctx, p, args, stdin, stdout, stderr)
}

// execute runs the command that args name, where p says until the flags do, and returns the exit code.
func execute(ctx context.Context, p options, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	p.Stderr = stderr
	root := newRoot(&p, stdin)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	completeInPlainBash(root)
	refuseUnknownWords(root)
	err := root.ExecuteContext(ctx)
	var code exitWith
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &code):
		return int(code)
	}
	printError(stderr, err)
	return exitError
}

// refuseUnknownWords has `help` and `completion` fail on a word that they do not know, as every other command does.
func refuseUnknownWords(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("unknown command %q for %q", strings.Join(args, " "), cmd.Root().Name())
				}
				return nil
			}
		case "completion":
			cmd.Args = cobra.NoArgs
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// plugin is the name by which kubectl finds the program: it then is "kubectl lockstep".
const plugin = "kubectl-lockstep"

// calledAs is what the help calls the program that was started under a name.
func calledAs(name string) map[string]string {
	if name = strings.TrimSuffix(filepath.Base(name), ".exe"); name != plugin {
		return nil
	}
	return map[string]string{cobra.CommandDisplayNameAnnotation: strings.Replace(plugin, "-", " ", 1)}
}

func newRoot(o *options, stdin *os.File) *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Watch a MOSK cluster update live, and take part in it step by confirmed step",
		Long: `Lockstep shows the whole update of a MOSK cluster on one screen: phases, nodes, locks, and the instances of each node.
It says what needs a person now, proposes the next step with the commands that it stands for, does it when you
confirm, verifies from the cluster that it happened, and keeps the record.

Without a command it opens the dashboard on the current kubeconfig context and the cloud that OS_CLOUD names.
It is read-only until you arm it (--write, or the key w).`,
		Annotations:   calledAs(os.Args[0]),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return dashboard(cmd.Context(), *o, stdin, cmd.OutOrStdout())
		},
	}
	o.addTo(root)
	root.AddCommand(newStatus(o), newCheck(o), newClusters(o), newOwners(o), newPlan(o), newWatch(o), newExporter(o), newSnapshot(o),
		newJournal(o), newReport(o), newHandover(o), newNote(o), newNotes(o),
		newDemo(o, stdin), newReplay(o, stdin), newExport(), newSim(stdin), newConfig(o), newVersion())
	return root
}

// options are the flags, and what follows from them and the configuration. Those of the connection hold for every command.
type options struct {
	session.Place

	clusters bool
	single   bool // no list of clusters, even on a management cluster
	write    bool
	actAs    []string // the controllers of --act-as
	theme    string
	ascii    bool
	record   string // file or folder
	logFile  string

	configFile string
	config     config // from the file, after configure

	log  *session.Log // nil: the file that the flags name, to which client-go writes, too
	sole bool         // the process runs nothing else, so that a command that goes on for hours may set its memory and processors
}

func (o *options) addTo(root *cobra.Command) {
	p := root.PersistentFlags()
	p.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the MOSK cluster (default $KUBECONFIG, then ~/.kube/config)")
	p.StringVar(&o.Context, "context", "", "kubeconfig context (default: the current one)")
	p.StringVar(&o.OSCloud, "os-cloud", "", "`name` of the cloud in clouds.yaml (default $OS_CLOUD, then the OS_* environment)")
	p.BoolVar(&o.OSFromCluster, "os-from-cluster", false,
		"read clouds.yaml from the secret openstack-identity-credentials in the namespace openstack-external")
	p.StringVar(&o.LeaseNamespace, "lease-namespace", "",
		"`namespace` of the operator Lease (default: the configuration's, else \"default\")")
	addManagement(&o.Management, p)
	p.StringVar(&o.configFile, "config", "",
		"configuration `file` (default $LOCKSTEP_CONFIG, then lockstep/config.yaml in $XDG_CONFIG_HOME or ~/.config)")
	p.StringVar(&o.logFile, "log-file", "", "`file` for Lockstep's own log (default: lockstep.log in the state folder)")
	p.StringVar(&o.Operator, "as-operator", "",
		"your `name`, for the screen, the operator Lease and the journal (default: the configuration's operator)")
	_ = root.RegisterFlagCompletionFunc("context", contextWords(func() string { return o.Kubeconfig }))
	_ = root.RegisterFlagCompletionFunc("management-context",
		contextWords(func() string { return cmp.Or(o.Management.Kubeconfig, o.Kubeconfig) }))
	_ = root.RegisterFlagCompletionFunc("os-cloud", cloudWords)
	f := root.Flags()
	f.BoolVar(&o.clusters, "clusters", false,
		"open the list of all clusters of the management cluster: that of --management-context, else that of --context")
	f.BoolVar(&o.single, "no-clusters", false, "open the cluster's own dashboard, even where the cluster is a management cluster")
	f.BoolVar(&o.ReadOnly, "read-only", false, "writing cannot be armed in this run")
	f.BoolVar(&o.write, "write", false, "arm writing from the start; each step is still confirmed by itself")
	o.addActAs(root)
	o.addScreen(root)
	o.addRecord(root)
	root.MarkFlagsMutuallyExclusive("read-only", "write")
	root.MarkFlagsMutuallyExclusive("clusters", "no-clusters")
	for _, one := range []string{"write", "act-as", "os-cloud", "os-from-cluster",
		"record"} { // of one cluster: each would hold for all of them
		root.MarkFlagsMutuallyExclusive("clusters", one)
	}
	root.MarkFlagsMutuallyExclusive("os-cloud", "os-from-cluster")
}

// addActAs adds the flag by which Lockstep plays application controllers.
func (o *options) addActAs(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&o.actAs, "act-as", nil,
		"play the application controller of this `name`, by confirmed steps; it must not run itself (may be repeated)")
}

// addScreen adds the flags of the commands that open the dashboard.
func (o *options) addScreen(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.theme, "theme", "",
		"`name` of the theme: auto, dark, light or mono; or a theme file (default $LOCKSTEP_THEME, then the configuration's)")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters only")
}

// configure reads the configuration, and completes the place by it. Flags override it.
func (o *options) configure() error {
	var err error
	if o.config, err = loadConfig(o.configFile); err != nil {
		return err
	}
	o.LeaseNamespace = cmp.Or(o.LeaseNamespace, o.config.LeaseNamespace)
	name, ok := core.OperatorName(cmp.Or(o.Operator, o.config.Operator))
	if !ok {
		return fmt.Errorf("--as-operator: want %s", nameWanted)
	}
	o.Operator = name
	if file := &o.config.Management.Kubeconfig; *file != "" && !filepath.IsAbs(*file) {
		*file = filepath.Join(o.config.folder, *file)
	}
	o.Management = o.Management.Or(o.config.Management)
	o.Version = programVersion()
	o.Settings, o.Events, o.Alertmanager = o.config.settings(), o.config.Events, o.config.Alertmanager
	return nil
}

// open opens a session on the place. What it plays is looked up here: a list of clusters changes it for each of them.
func (o *options) open(ctx context.Context, log *session.Log) (*session.Session, error) {
	var err error
	if o.Settings.ActAs, o.Selectors, err = o.played(); err != nil {
		return nil, err
	}
	return session.Open(ctx, o.Place, log)
}

// openLog is the log of this call.
func (o *options) openLog() (*session.Log, error) {
	if o.log != nil {
		return o.log, nil
	}
	return session.OpenLog(o.logFile)
}
