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

	"lockstep/cli/inventory"
	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/kube"
	"lockstep/nova"
	"lockstep/sim/scenario"
)

// snapshotFlags are the flags of `lockstep snapshot`.
type snapshotFlags struct {
	output       string
	force        bool
	pseudonymise bool
}

func newSnapshot(p *options) *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Write an inventory of the live cloud, to rehearse its update on",
		Long: `Reads the cluster and OpenStack once, changes nothing, and writes what a rehearsal of the update needs: nodes, locks,
requests, StatefulSets, pods of DaemonSets that are old or down, silent network agents, the update plan and groups,
instances with flavors, tags and zones, aggregates and server groups. Then "lockstep demo --from FILE" rebuilds the cloud
in the simulation, as it was. The file's head says what it leaves out: the rehearsal has its own volumes, runs of
Tempest and the like.

Names and IDs are kept; --pseudonymise replaces all of them. User data, metadata, addresses and key pairs of
instances, Secrets and ConfigMaps are never recorded.

The exit code is 0 when everything was read, 2 when something could not be read (the file says what, and why), and 1 when
no file was written.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return snapshot(cmd.Context(), *p, f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` to write; - is standard output")
	flags.BoolVar(&f.force, "force", false, "replace the file when it exists")
	flags.BoolVar(&f.pseudonymise, "pseudonymise", false, "replace every name and ID with a made-up one")
	_ = cmd.MarkFlagRequired("output") // the flag is there
	return cmd
}

func snapshot(ctx context.Context, p options, f snapshotFlags, stdout, stderr io.Writer) error {
	if err := outputfile.Check("-o", f.output, f.force); err != nil {
		return err
	}
	if err := p.configure(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	t := inventoryTaker{options: p, flags: f, log: log, stderr: stderr}
	inv, err := t.take(ctx)
	if err != nil {
		return err
	}
	s := inventory.Scenario(inv, programVersion())
	if f.pseudonymise {
		inventory.Pseudonymise(s)
	}
	var file bytes.Buffer
	name := f.output
	if name == outputfile.Stdout || f.pseudonymise { // a path may name the cloud
		name = "FILE"
	}
	if err := s.Write(&file, inventory.Header(s, name)...); err != nil {
		return err
	}
	content := []byte(core.Redact(file.String()))      // a lock's message may contain a URL with a secret
	if _, err := scenario.Parse(content); err != nil { // a file that cannot be read again is useless
		return fmt.Errorf("the inventory does not fit the file's format: %w", err)
	}
	report := stdout
	if f.output == outputfile.Stdout {
		report = stderr
		if _, err := stdout.Write(content); err != nil {
			return fmt.Errorf("write the inventory: %w", err)
		}
	} else if err := outputfile.Write(f.output, content, f.force); err != nil {
		return err
	}
	return reportSnapshot(report, stderr, s, inv.Missing, f.output, len(content))
}

// reportSnapshot says what was written and what is missing.
func reportSnapshot(w, stderr io.Writer, s *scenario.Scenario, missing []core.MissingFacts, output string, size int) error {
	where := "Wrote " + output
	if output == outputfile.Stdout {
		where = "Wrote the inventory"
	}
	fmt.Fprintf(w, "%s: %s, %s.\n", where, inventory.Contents(s), bytesText(size))
	for _, a := range s.Found.Assumed {
		fmt.Fprintf(w, "  assumed: %s: %s\n", oneLine(a.Field), oneLine(a.Why))
	}
	for _, m := range missing {
		fmt.Fprintf(stderr, "  COULD NOT BE READ: %s: %s\n", oneLine(m.What), oneLine(m.Err.Error()))
		if m.Err.Remedy != "" {
			fmt.Fprintf(stderr, "    %s\n", oneLine(m.Err.Remedy))
		}
	}
	if output != outputfile.Stdout {
		fmt.Fprintf(w, "Rehearse it: lockstep demo --from %s\n", output)
	}
	if len(missing) > 0 {
		return exitWith(exitAttention)
	}
	return nil
}

func bytesText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)/1024)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// inventoryTaker reads the clouds that the flags name.
type inventoryTaker struct {
	options
	flags  snapshotFlags
	log    *session.Log
	stderr io.Writer

	printing sync.Mutex
}

// take reads everything that can be read. It fails when that yields neither a node nor a compute host.
func (t *inventoryTaker) take(ctx context.Context) (*core.Inventory, error) {
	client, err := kube.Load(t.KubeOptions())
	if err != nil {
		return nil, err
	}
	inv := &core.Inventory{Taken: time.Now(), Cluster: client.ClusterName, Server: client.Server}
	login := t.login(ctx, client, inv)
	var cluster, cloud []core.MissingFacts
	var reading sync.WaitGroup
	if login {
		reading.Go(func() {
			inv.ClusterInventory, cluster = client.Inventory(ctx, t.progress)
			inv.ApplyRoleLabels(t.config.settings().RoleLabels)
		})
	}
	reading.Go(func() { inv.CloudInventory, cloud = t.cloud(ctx, client) })
	reading.Wait()
	inv.Missing = append(append(inv.Missing, cluster...), cloud...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(inv.Nodes) == 0 && len(inv.Services) == 0 {
		if len(inv.Missing) > 0 {
			return nil, inv.Missing[0].Err
		}
		return nil, errors.New("there is nothing to write: the cluster has no nodes and OpenStack no compute services")
	}
	t.management(ctx, inv)
	return inv, ctx.Err()
}

// login lets a credential plugin ask on the terminal, and notes all of Kubernetes as missing when the login fails.
func (t *inventoryTaker) login(ctx context.Context, client *kube.Client, inv *core.Inventory) bool {
	err := t.options.Login(ctx, t.log, client, "Kubernetes")
	var api *core.APIError
	if !errors.As(err, &api) {
		return true
	}
	t.log.Warn("log in to Kubernetes", "error", err)
	for _, id := range kube.InventorySources() {
		inv.Missing = append(inv.Missing, core.MissingFacts{What: string(id), Err: api})
	}
	return false
}

func (t *inventoryTaker) cloud(ctx context.Context, client *kube.Client) (core.CloudInventory, []core.MissingFacts) {
	none := func(err error) (core.CloudInventory, []core.MissingFacts) {
		var api *core.APIError
		if !errors.As(err, &api) {
			api = &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: "log in to OpenStack", Message: err.Error(),
				Err: err}
		}
		return core.CloudInventory{}, []core.MissingFacts{{What: "all of OpenStack", Err: api}}
	}
	o := t.NovaOptions(t.log)
	if t.OSFromCluster {
		o.Secret = client.OpenStackCredentials
	}
	config, err := nova.Load(o)
	if err != nil {
		return none(err)
	}
	cloud := nova.Connect(config)
	defer cloud.Close()
	return cloud.Inventory(ctx, t.progress)
}

// management reads update plan and groups, if a management cluster is configured.
func (t *inventoryTaker) management(ctx context.Context, inv *core.Inventory) {
	if !t.options.Management.Configured() {
		return
	}
	miss := func(err error) {
		var api *core.APIError
		if errors.As(err, &api) {
			inv.Missing = append(inv.Missing, core.MissingFacts{What: "update plan and groups", Err: api})
		}
	}
	client, err := kube.Load(t.ManagementOptions())
	if err != nil {
		miss(err)
		return
	}
	if err := t.options.Login(ctx, t.log, client, "the management cluster"); err != nil {
		miss(err)
		return
	}
	var nodes []string
	for _, n := range inv.Nodes {
		nodes = append(nodes, n.Name)
	}
	var missing []core.MissingFacts
	inv.Management, missing = client.ManagementInventory(ctx, t.options.Management.Namespace, nodes, t.progress)
	inv.Missing = append(inv.Missing, missing...)
}

// progress shows a waiting person what has been read.
func (t *inventoryTaker) progress(what string, n int) {
	t.printing.Lock()
	defer t.printing.Unlock()
	if f, ok := t.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(f, "  read %d %s\n", n, what)
	}
}
