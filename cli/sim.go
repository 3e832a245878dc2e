package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/sim"
	"lockstep/sim/kubeapi"
)

// simCommand is `lockstep sim`.
type simCommand struct {
	simFlags
	dir                   string
	envFile               string
	user                  string
	kubernetes, openstack uint16 // ports
}

// simUsers are the users of the simulated cluster for whom a kubeconfig can be written.
var simUsers = []string{kubeapi.Admin, kubeapi.Operator, kubeapi.Readonly}

func newSim(stdin *os.File) *cobra.Command {
	var f simCommand
	cmd := &cobra.Command{
		Use:   "sim [-- COMMAND [ARG]...]",
		Short: "Serve a simulated cloud to other tools",
		Long: `Starts a simulated MOSK cluster and OpenStack cloud on loopback, with an update under way, and serves it until it is
interrupted. It prints what other tools need as shell commands; everything else goes to standard error.

With a COMMAND it runs the command, with the cloud in its environment, and ends with it:

  lockstep sim -- kubectl get nodes
  lockstep sim --speed 60 -- k9s
  lockstep sim -- bash

Without one, another shell can use the cloud through a file:

  lockstep sim --env-file /tmp/sim.env &
  . /tmp/sim.env

The clock runs in real time unless --speed says otherwise. Lockstep then follows the cloud's clock, which the kubeconfig tells it
to do; other tools compute ages by yours.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return fmt.Errorf("%q is not a flag of lockstep sim; a command to run comes after --: lockstep sim -- %s", args[0],
					strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			so, err := f.simOptions(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), so, args, stdin, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.addTo(cmd, 1)
	p := cmd.Flags()
	p.StringVar(&f.user, "user", kubeapi.Operator, "whose kubeconfig is written: `"+strings.Join(simUsers, "|")+"`")
	p.StringVar(&f.dir, "dir", "", "`folder` for kubeconfig and clouds.yaml (default: a new one, removed at the end)")
	p.StringVar(&f.envFile, "env-file", "", "`file` to write the shell commands to, too, once the cloud can be used; removed at the end")
	p.Uint16Var(&f.kubernetes, "kubernetes-port", 0, "`port` of the Kubernetes API (default: a free one)")
	p.Uint16Var(&f.openstack, "openstack-port", 0, "`port` of the OpenStack APIs (default: a free one)")
	// It fails only for an unknown flag.
	_ = cmd.RegisterFlagCompletionFunc("user", cobra.FixedCompletions(simUsers, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// simOptions are the options of the cloud that the flags name.
func (f *simCommand) simOptions(stderr io.Writer) (sim.Options, error) {
	so, err := f.options(stderr)
	if err != nil {
		return so, err
	}
	if !slices.Contains(simUsers, f.user) {
		return so, fmt.Errorf("--user is %q; there are %s", f.user, strings.Join(simUsers, ", "))
	}
	so.User, so.Dir = f.user, f.dir
	so.KubernetesAddress, so.OpenStackAddress = loopback(f.kubernetes), loopback(f.openstack)
	return so, f.keepOffOtherFiles()
}

func loopback(port uint16) string {
	if port == 0 {
		return ""
	}
	return "127.0.0.1:" + strconv.Itoa(int(port))
}

// keepOffOtherFiles refuses to overwrite a file: it might be the kubeconfig of a real cluster.
func (f *simCommand) keepOffOtherFiles() error {
	paths := []string{f.envFile}
	if f.dir != "" {
		paths = append(paths, filepath.Join(f.dir, "kubeconfig"), filepath.Join(f.dir, "clouds.yaml"))
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); path != "" && err == nil {
			return fmt.Errorf("%s exists already; it is not overwritten", path)
		}
	}
	return nil
}

// run serves the cloud until ctx is done, or until the command has ended.
func (f *simCommand) run(ctx context.Context, so sim.Options, command []string, stdin *os.File, stdout, stderr io.Writer) (err error) {
	cloud, err := sim.Start(context.WithoutCancel(ctx), so)
	if err != nil {
		return err
	}
	written := []string{f.envFile}
	if f.dir != "" {
		written = append(written, cloud.KubeconfigPath, cloud.CloudsYAMLPath)
	}
	defer func() { err = errors.Join(err, cloud.Close(), remove(written)) }()

	env := simEnvironment(cloud)
	if f.envFile != "" {
		if err := os.WriteFile(f.envFile, []byte(exports(env)), 0o600); err != nil {
			return fmt.Errorf("write the shell commands: %w", err)
		}
	}
	fmt.Fprintf(stderr, "lockstep sim: %s (%s), %s.\n", cloud.Scenario.Name, oneLine(cloud.Scenario.Title), speedText(so.Speed))
	for _, s := range so.Faults {
		fmt.Fprintf(stderr, "lockstep sim: goes wrong: %s\n", s)
	}
	if len(command) > 0 {
		return runCommand(command, env, stdin, stdout, stderr)
	}
	fmt.Fprintf(stderr, "lockstep sim: Kubernetes at %s as %s, OpenStack at %s. It is served until it is interrupted.\n", cloud.Kube.URL(),
		so.User, cloud.OpenStack.AuthURL())
	if _, err := io.WriteString(stdout, exports(env)); err != nil {
		return fmt.Errorf("print the shell commands: %w", err)
	}
	<-ctx.Done()
	return nil
}

func speedText(speed float64) string {
	if speed == 1 {
		return "in real time"
	}
	return fmt.Sprintf("%g times as fast as real time", speed)
}

// remove removes files, if they exist.
func remove(paths []string) error {
	var errs []error
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("clean up: %w", err))
		}
	}
	return errors.Join(errs...)
}

// simEnvironment is the variables by which other tools find the cloud, as NAME=VALUE.
func simEnvironment(cloud *sim.Cloud) []string {
	return []string{
		"KUBECONFIG=" + absolute(cloud.KubeconfigPath),
		"OS_CLIENT_CONFIG_FILE=" + absolute(cloud.CloudsYAMLPath),
		"OS_CLOUD=" + cloud.CloudName,
	}
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// exports are the shell commands that set the variables.
func exports(env []string) string {
	var b strings.Builder
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, shellWord(value))
	}
	return b.String()
}

// shellWord is a text as a shell reads it as one word.
func shellWord(s string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+="
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
