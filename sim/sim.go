// Package sim is a whole simulated MOSK cloud in one process: a Kubernetes API server and an OpenStack cloud on
// loopback, and the controllers that move them through a cluster update, all on one virtual clock. Users are clients of
// its two servers, as with real ones.
package sim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"lockstep/sim/alertmanager"
	"lockstep/sim/clock"
	"lockstep/sim/controller"
	"lockstep/sim/crds"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
	"lockstep/sim/switchboard"
)

// Options say which cloud to start. The zero value is the default scenario in real time.
type Options struct {
	Scenario *scenario.Scenario // nil: scenario.Default
	Speed    float64            // virtual seconds per real second; not positive: 1
	Seed     uint64             // of all random choices; 0: the scenario's
	Dir      string             // where kubeconfig and clouds.yaml go; empty: a temporary folder, removed by Close
	User     string             // of the kubeconfig: kubeapi.Admin, Operator (the default) or Readonly
	Start    time.Time          // the virtual time at which the scenario starts; zero: now
	Timing   controller.Timing  // of the controllers; zero fields take their defaults
	Log      *slog.Logger       // of the controllers; nil: silence
	Paused   bool               // the clock and the controllers wait until the clock's Resume

	// Network is where the servers listen and the controllers reach them, instead of the machine's network; nil:
	// loopback.
	Network *lan.Network

	KubernetesAddress string // to listen on, as host:port; empty: a free port of 127.0.0.1
	OpenStackAddress  string // the same

	Faults []fault.Setting // switched on once the cloud runs, in addition to the scenario's

	// WhileOff is called when LCM has switched a machine of the simulated OpenStack off, with the name of its node, and the
	// machine stays off at least until it returns; nil: its reboot takes its time. Close waits for it.
	WhileOff func(node string)

	// Kube is an API server to use instead of the simulated one, with an administrator's rights. It needs the definitions of
	// sim/crds and must not have been seeded before. Start writes no kubeconfig for it.
	Kube *rest.Config
	// Management is the API server of a management cluster to use instead of a simulated one, with an administrator's
	// rights and the definitions of crds.Management. Without a management cluster in the scenario, or with Kube alone,
	// there is none: LCM then runs the whole update by itself.
	Management *rest.Config
	// CloudsYAML is the path of a clouds.yaml with a cloud to use instead of the simulated OpenStack, and ExternalCloud
	// its name there, with an administrator's rights. Its hosts have the names of the scenario's nodes; it keeps its
	// instances, and nothing there goes down with a node.
	CloudsYAML, ExternalCloud string

	ControllersOff bool // only the servers, for a caller that runs the controllers of ControllerOptions itself
}

// hurries tells whether the cloud's clock runs at another speed than the machine's.
func (o Options) hurries() bool { return o.Speed > 0 && o.Speed != 1 }

// CloudName is the cloud in the clouds.yaml that Start writes: the administrator's.
const CloudName = "sim"

// Cloud is a running simulation.
type Cloud struct {
	Clock          *clock.Clock
	Scenario       *scenario.Scenario
	KubeconfigPath string // empty with Options.Kube
	CloudsYAMLPath string
	CloudName      string               // in the clouds.yaml
	Kube           *kubeapi.Server      // nil with Options.Kube
	Management     *kubeapi.Server      // nil with Options.Management, and without a management cluster
	OpenStack      *openstack.Cloud     // nil with Options.CloudsYAML
	Alertmanager   *alertmanager.Server // of StackLight; nil with Options.Kube
	Faults         *switchboard.Switchboard

	network *lan.Network // nil: the machine's
	admin   *rest.Config
	manage  *rest.Config       // of the management cluster; nil if there is none
	run     controller.Options // the options of the controllers
	ownDir  string             // removed by Close
	session *controller.Connection
	stop    context.CancelFunc
	done    chan struct{} // closed when the controllers have ended
	err     error         // of the controllers, valid after done

	governor sync.WaitGroup
	others   sync.WaitGroup // what moves the other clusters of the management cluster

	closing sync.Once
	closed  error
}

// Start starts a cloud in the state of its scenario. It runs until ctx is done or Close is called; Close must be called
// in any case.
func Start(ctx context.Context, opts Options) (*Cloud, error) {
	story := opts.Scenario
	if story == nil {
		var err error
		if story, err = scenario.Load(scenario.Default); err != nil {
			return nil, fmt.Errorf("start the simulated cloud: %w", err)
		}
	}
	c := &Cloud{Scenario: story, CloudName: CloudName, network: opts.Network, done: make(chan struct{})}
	ctx, c.stop = context.WithCancel(ctx)
	if err := c.start(ctx, opts); err != nil {
		close(c.done) // the controllers start last, so they do not run here
		return nil, errors.Join(fmt.Errorf("start the simulated cloud: %w", err), c.Close())
	}
	return c, nil
}

func (c *Cloud) start(ctx context.Context, opts Options) error {
	start := opts.Start
	if start.IsZero() {
		start = time.Now()
	}
	seed := cmp.Or(opts.Seed, c.Scenario.Seed, 1)
	// The clock starts paused in the past: advancing it plays the history.
	c.Clock = clock.New(start.Add(-c.Scenario.History.Age.Of()), opts.Speed)
	if opts.Speed > 1 && opts.Network == nil { // at real speed, the clock must match real time; virtual time never lags
		c.governor.Go(func() { c.Clock.Govern(ctx) })
	}
	c.Clock.Pause()
	seeded, err := c.startServers(ctx, opts, seed, start)
	defer func() { _ = seeded() }() // which ends by itself
	if err != nil {
		return err
	}
	if err := c.writeFiles(opts); err != nil {
		return err
	}
	cloudsYAML, err := os.ReadFile(c.CloudsYAMLPath)
	if err != nil {
		return fmt.Errorf("read the clouds.yaml: %w", err)
	}
	c.run = ControllerOptions(c.Scenario)
	c.run.Config, c.run.Clock, c.run.Timing, c.run.Log, c.run.Seed = c.AdminConfig(), c.Clock, opts.Timing, opts.Log, seed
	if c.network != nil {
		c.run.Config.Transport = c.near("controllers")
	}
	if c.run.Management = managementOptions(c.Scenario, c.manage, start); c.run.Management != nil {
		if c.Management != nil {
			c.run.Management.PodLogs = c.Management
			if err := seedLCM(c.Management); err != nil {
				return err
			}
		}
		if err := seedManagement(ctx, c.seeding(), c.Scenario); err != nil {
			return err
		}
	}
	var load controller.Load
	seeding := c.AdminConfig()
	if c.Kube != nil {
		load, seeding = c.Kube.Load, c.Kube.DirectConfig(kubeapi.Admin)
	}
	seeding.UserAgent = "lockstep-sim" // client-go's contains the program's name, but a replay must be the same in every program
	if err := seedKubernetes(ctx, seeding, load, c.Clock, c.Scenario, start, cloudsYAML, seeded); err != nil {
		return err
	}
	if err := seeded(); err != nil {
		return err
	}
	if c.run.Management != nil {
		if err := controller.PopulateManagement(ctx, c.seeding(), managementPast(c.Scenario, start)); err != nil {
			return err
		}
		if err := seedBudgets(ctx, seeding, c.Scenario); err != nil {
			return err
		}
	}
	foundMigrations(c.OpenStack, c.Scenario)
	if c.session, err = controller.Connect(ctx, c.CloudsYAMLPath, c.CloudName, c.near("controllers")); err != nil {
		return err
	}
	if err := c.startFaults(opts, seed, start); err != nil {
		return err
	}
	run := &c.run
	foundOwners(c.Scenario, run)
	run.Compute, run.Network, run.Volume = c.session.Compute, c.session.Network, c.session.Volume
	if c.Kube != nil {
		run.PodLogs = c.Kube
	}
	if c.OpenStack != nil {
		run.Machines = machines{c.OpenStack, opts.WhileOff}
	}
	if err := c.seedOthers(start); err != nil {
		return err
	}
	if err := c.startAlertmanager(ctx, seed, start); err != nil {
		return err
	}
	if c.Kube != nil && opts.Network == nil {
		c.report(ctx)
	}
	if !opts.Paused {
		c.Clock.Resume()
	}
	if opts.ControllersOff {
		close(c.done)
		return nil
	}
	c.others.Go(func() { c.moveOthers(ctx) })
	go func() {
		defer close(c.done)
		if c.Clock.Sleep(ctx, time.Nanosecond) != nil { // a paused clock holds the controllers, too
			return
		}
		c.err = controller.Run(ctx, *run)
	}()
	return nil
}

// seeding returns the options of the controllers with a shorter way to the management cluster, if that is simulated.
func (c *Cloud) seeding() controller.Options {
	run := c.run
	if c.Management != nil {
		management := *run.Management
		management.Config, management.Load = c.Management.DirectConfig(kubeapi.Admin), c.Management.Load
		run.Management = &management
	}
	return run
}

// Transport returns the transport of a client with that name to the servers; nil: the machine's network.
func (c *Cloud) Transport(name string) *http.Transport {
	if c.network == nil {
		return nil
	}
	return c.network.Transport(name)
}

// near returns how a part of the simulation with that name reaches the simulated servers; nil: over the machine's network.
func (c *Cloud) near(name string) http.RoundTripper {
	if c.network == nil {
		return nil
	}
	return c.network.Near(name)
}

// adminOf is a client configuration with all rights on a simulated server, for parts of the simulation and for tests.
func (c *Cloud) adminOf(server *kubeapi.Server) *rest.Config {
	config := server.RESTConfig(kubeapi.Admin)
	if c.network != nil {
		config.Transport = c.near("admin")
	}
	return config
}

// random is the source of a server's tokens and UIDs. On a simulated network, it depends on the seed.
func (c *Cloud) random(seed uint64, server string) io.Reader {
	if c.network == nil {
		return nil
	}
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, server)))
}

// Connect logs in to OpenStack as its administrator, for tests and for code that acts as the cloud itself.
func (c *Cloud) Connect(ctx context.Context) (*controller.Connection, error) {
	return controller.Connect(ctx, c.CloudsYAMLPath, c.CloudName, c.near("admin"))
}

// startServers starts the servers that the options do not provide, and begins to seed the simulated OpenStack: seeded waits for that. The
// clock must not move before.
func (c *Cloud) startServers(ctx context.Context, opts Options, seed uint64, start time.Time) (seeded func() error, err error) {
	seeded = func() error { return nil }
	if c.admin = opts.Kube; c.admin == nil {
		c.Kube, err = kubeapi.New(kubeapi.Options{Clock: c.Clock, Address: opts.KubernetesAddress, Network: opts.Network,
			NoManagers: opts.Network != nil, Random: c.random(seed, "kubernetes"), CRDs: crds.All(), ClusterName: c.Scenario.Cluster,
			TellClock: opts.hurries()})
		if err != nil {
			return seeded, err
		}
		if err := c.Kube.Start(ctx); err != nil {
			return seeded, err
		}
		c.admin = c.adminOf(c.Kube)
	}
	if err := c.startManagement(ctx, opts, seed); err != nil {
		return seeded, err
	}
	if opts.CloudsYAML != "" {
		c.CloudsYAMLPath, c.CloudName = opts.CloudsYAML, opts.ExternalCloud
		return seeded, nil
	}
	options := openstackOptions(c.Clock, seed, c.Scenario)
	if c.Kube != nil {
		options.ComputeLog = func(host, text string) {
			c.Kube.WriteLog("openstack", "nova-compute-default", host, "nova-compute", text)
		}
	}
	options.Address, options.Network, options.Random = opts.OpenStackAddress, opts.Network, c.random(seed, "openstack")
	cloud, err := openstack.New(options)
	if err != nil {
		return seeded, err
	}
	if err := cloud.Start(ctx); err != nil {
		return seeded, err
	}
	c.OpenStack = cloud
	done := make(chan error, 1)
	go func() { done <- seedOpenStack(cloud, c.Scenario, start) }()
	return sync.OnceValue(func() error { return <-done }), nil
}

// startManagement starts the API server of the management cluster, if the scenario has one and the options provide
// none.
func (c *Cloud) startManagement(ctx context.Context, opts Options, seed uint64) error {
	if c.manage = opts.Management; c.manage != nil || c.Scenario.Management == nil || opts.Kube != nil {
		return nil
	}
	var err error
	c.Management, err = kubeapi.New(kubeapi.Options{Clock: c.Clock, Network: opts.Network, NoManagers: opts.Network != nil,
		Random: c.random(seed, "management"), CRDs: crds.Management(), ClusterName: ManagementContext, Users: managementUsers(c.Scenario),
		TellClock: opts.hurries()})
	if err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	if err := c.Management.Start(ctx); err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	c.manage = c.adminOf(c.Management)
	return nil
}

// writeFiles writes the kubeconfig and the clouds.yaml of the simulated servers; only their owner may read them.
func (c *Cloud) writeFiles(opts Options) error {
	if c.Kube == nil && c.OpenStack == nil {
		return nil
	}
	dir := opts.Dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "lockstep-sim-"); err != nil { // 0700
			return fmt.Errorf("make a folder for the credentials: %w", err)
		}
		c.ownDir = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for the credentials: %w", err)
	}
	if c.Kube != nil {
		c.KubeconfigPath = filepath.Join(dir, "kubeconfig")
		if err := writeKubeconfig(c.KubeconfigPath, cmp.Or(opts.User, kubeapi.Operator), c.Kube, c.Management); err != nil {
			return err
		}
	}
	if c.OpenStack != nil {
		c.CloudsYAMLPath = filepath.Join(dir, "clouds.yaml")
		return c.OpenStack.WriteCloudsYAML(c.CloudsYAMLPath)
	}
	return nil
}

// looksOnce tells whether an OpenStack controller of a version, as 1.2.4, looks at a returning node's services once and goes on in any
// case (docs/mosk.md#agents).
func looksOnce(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return err == nil && (major > 1 || major == 1 && minor >= 2)
}

// ControllerOptions returns the options for a scenario's controllers, without the clients and the clock, which the
// caller adds: so the same controllers can also run on a real API server and a real cloud.
func ControllerOptions(s *scenario.Scenario) controller.Options {
	storage := false
	for _, n := range s.Nodes {
		storage = storage || n.Has(scenario.RoleStorage)
	}
	return controller.Options{
		Seed: s.Seed, Troubles: troubles(s), Others: strangers(s), Sets: foundSets(s), Daemons: foundDaemons(s), Silent: foundSilent(s),
		Update: &controller.Update{
			Cluster: s.Cluster, Release: s.Release.To, KubeletVersion: s.Kubelet.To, ControllerVersion: s.Rockoon.To,
			Masters: s.Masters(), Workers: s.Workers(), Concurrency: s.Update.Concurrency, Scope: s.Update.Scope,
		},
		OpenStack: &controller.OpenStack{
			Deployment: s.Cloud.Deployment, Version: s.Cloud.Version, Services: s.Cloud.Services, Migrations: s.Cloud.Migrations,
			MaxCompute: s.Cloud.MaxCompute, MaxGateway: s.Cloud.MaxGateway, IgnoreZones: s.Cloud.IgnoreZones, Fabric: s.Cloud.Fabric != "",
			OVN: s.Cloud.OVN, LooksOnce: looksOnce(s.Rockoon.To),
			NodeLabels: s.Cloud.NodeLabels,
		},
		Ceph:   storage,
		Fabric: s.Cloud.Fabric,
	}
}

// Controllers returns the options of this cloud's controllers, for a caller that runs them itself with
// Options.ControllersOff.
func (c *Cloud) Controllers() controller.Options { return c.run }

// ManagementConfig is a client configuration with all rights on the management cluster; nil if there is none.
func (c *Cloud) ManagementConfig() *rest.Config {
	if c.manage == nil {
		return nil
	}
	return rest.CopyConfig(c.manage)
}

// AdminConfig is a client configuration with all rights, for tests and for code that acts as the cluster itself.
func (c *Cloud) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// Wait waits until the controllers have ended; they end with Start's context or with Close.
func (c *Cloud) Wait() error {
	<-c.done
	return c.err
}

// Close ends the controllers and both servers and removes the temporary folder of Start. It may be called more than
// once.
func (c *Cloud) Close() error {
	c.closing.Do(func() {
		c.stop()
		c.governor.Wait()
		c.others.Wait()
		if c.Faults != nil {
			c.Faults.Close()
		}
		errs := []error{c.Wait()}
		if c.session != nil {
			c.session.Close()
		}
		if c.OpenStack != nil {
			errs = append(errs, c.OpenStack.Close())
		}
		if c.Management != nil {
			c.Management.Close()
		}
		if c.Kube != nil {
			c.Kube.Close()
		}
		if c.ownDir != "" {
			errs = append(errs, os.RemoveAll(c.ownDir))
		}
		c.closed = errors.Join(errs...)
	})
	return c.closed
}
