package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/engine"
	"lockstep/core/progress"
	"lockstep/core/recording"
	"lockstep/kube"
	"lockstep/nova"
	"lockstep/tui"
)

// session is one run against one cluster: the adapters, the engine, and what goes between them.
type session struct {
	engine *engine.Engine
	log    *log

	watcher *kube.Watcher // nil when the kubeconfig could not be used
	managed *kube.Watcher // of the management cluster; nil when there is none
	kube    *kube.Client  // nil when the kubeconfig could not be used
	lease   *kube.Lease
	poller  *nova.Poller      // nil when there is no cloud
	alerts  *kube.AlertPoller // nil when Alertmanager is not asked
	client  *nova.Client
	journal *engine.Journal // nil when none is written
	kept    string          // the journal's path, also where it is only read
	notices []string        // about this machine, for the operator

	simulated bool            // the cluster is: the session touches nothing real, and calls nobody by a command
	clock     *simulatedClock // nil: the cluster has this machine's, or the place has another one

	unloaded error // why the kubeconfig could not be used; nil: it could

	looker core.Looker // of logs, events and objects

	down  []core.Delta // the states of sources without an adapter
	focus atomic.Pointer[string]

	selectors map[string]labels.Selector // of the nodes of the controllers that are played
	cleansUp  bool                       // the OpenStack controller is played: volume claims are watched, too

	rehearsal tui.Rehearsal // behind the demo's panel; nil on a real cloud
	checks    checkStore    // the checks of the cluster that were made earlier
	called    string        // the cluster as the list of clusters calls it; empty: it was not opened from one
	back      func()        // told that the operator goes back to the list of clusters; nil: there is none
	begin     func()        // what waits until the first lists are in; nil: nothing

	recorder      *recording.Recorder // nil when nothing is recorded
	recordsTo     string              // its first file
	announcer     *kube.Announcer     // nil: no Events are made
	recordTrouble chan string         // what became of the journal, the recording or Events, for the operator

	listedAgain chan struct{} // told when thousands of objects were listed after the first lists, for a moment
}

// place is what a session runs on: the operator's own cluster, or a simulated one.
type place struct {
	options
	name      string            // the cluster's name; empty: the one in the kubeconfig
	clock     func() time.Time  // nil: the wall clock
	pace      float64           // how much faster than real time the cluster's clock runs; 0 means 1
	own       core.ClusterPlace // what commands must name that are run by hand; empty: the shell reaches the cluster by itself
	journal   string            // folder; empty: the state folder
	noCloud   string            // why no cloud of OpenStack is looked for; empty: one is
	oneLook   bool              // the journal is read, and not written
	ofJournal bool              // it is about the cluster's journal: without the cluster, or the journal, there is nothing to do
	given     *kube.Given       // the cluster's login where it is in no file; nil: the kubeconfig has it
	limit     int64             // of one file of it, in bytes; 0: the usual one
	line      line              // to the servers; zero: the usual way
	// cloudsYAML is the content of the clouds.yaml to use; nil: it is looked for as the openstack client does.
	cloudsYAML []byte
	log        *log // nil: the file that the flags name, to which client-go writes, too

	stderr     io.Writer // for messages before the screen opens; nil: none
	recordPath string    // file or folder of the recording; empty: none

	loginFor time.Duration // how long a credential plugin may take that may ask a person; 0 means three minutes
	unasked  bool          // nobody is asked anything: a credential plugin that may ask a person is not run

	sole bool // the process runs nothing else, so that a command that goes on for hours may set its memory and processors
}

// open loads the credentials and makes the session's parts. It asks no server, so none can delay it, but a simulated one for its
// clock; it waits only for a credential plugin that may ask a person. A server that cannot be used is not an error: its sources say so,
// and the rest works.
func open(ctx context.Context, p place, log *log) (*session, error) {
	s := &session{log: log, recordTrouble: make(chan string, mostTold), listedAgain: make(chan struct{}, 1)}
	if log.opened != "" {
		s.notices = append(s.notices, log.opened)
	}
	cfg := engine.Config{
		Cluster:  p.name,
		Operator: whoRuns(p.operator).String(),
		Version:  programVersion(),
		Own:      p.own,
		Settings: p.config.settings(),
		Sources:  engineSources(),
		NewID:    p.line.newID,
		Log:      log.Logger,
		OnFocus:  func(node string) { s.focus.Store(&node) },
		Stops:    &core.StopFinder{Find: checklist.Stops},
		OnWrite:  s.nudge,
		OnStage:  s.nudge,
		Trouble:  s.tell,
	}
	if p.readOnly {
		cfg.Barred = "Lockstep was started with --read-only"
	}
	acted, selectors, err := p.played()
	if err != nil {
		return nil, err
	}
	cfg.Settings.ActAs, s.selectors = acted, selectors
	if s.cleansUp = slices.ContainsFunc(acted, func(a core.ActAs) bool { return a.Controller == core.ControllerOpenStack }); s.cleansUp {
		cfg.Sources = append(cfg.Sources, kube.ClaimSources()...)
	}
	client, err := s.openKubernetes(ctx, p, &cfg)
	if err != nil {
		return nil, err
	}
	s.simulated = client != nil && client.Simulated
	var notice string
	if s.clock, notice = p.followClock(ctx, log, client); notice != "" {
		s.notices = append(s.notices, notice)
	}
	if cfg.Clock = p.clock; p.pace > 1 {
		cfg.PollEvery, cfg.Settle = 300*time.Millisecond, 6*time.Second
	}
	management, err := s.openManagement(ctx, p, &cfg)
	if err != nil {
		return nil, err
	}
	s.looker = kube.NewLooker(client, management)
	s.openOpenStack(p, client, &cfg)
	s.openAlertmanager(p, client, &cfg)
	s.openAnnouncer(p, client, management, &cfg)
	if err := s.openJournal(ctx, p, client, &cfg); err != nil {
		return nil, err
	}
	if err := s.record(p, &cfg); err != nil {
		return nil, err
	}
	s.engine = engine.New(cfg)
	s.watch(p, client, management)
	s.watchAlerts(p, client)
	return s, nil
}

func (s *session) openKubernetes(ctx context.Context, p place, cfg *engine.Config) (*kube.Client, error) {
	client, err := kube.Load(p.kubeOptions())
	if err != nil && p.ofJournal {
		return nil, err // no cluster has the journal that would be opened
	}
	if err != nil {
		s.unloaded = err
		s.unavailable(kube.Sources(), err)
		if s.cleansUp {
			s.unavailable(kube.ClaimSources(), err)
		}
		if cfg.Cluster == "" {
			cfg.Cluster = "no cluster"
		}
		return nil, nil
	}
	if cfg.Cluster == "" {
		cfg.Cluster, cfg.Simulated = client.ClusterName, client.Simulated
	}
	if err := p.getCredentials(ctx, s.log, client, "Kubernetes"); err != nil {
		return nil, err
	}
	cfg.Kubernetes, cfg.Writers.Kubernetes = kube.NewChecker(client), kube.NewWriter(client)
	s.kube = client
	s.lease = kube.NewLease(client, kube.LeaseOptions{Namespace: p.leaseNamespace, Who: cfg.Operator, Identity: p.line.holder,
		Log: s.log.Logger})
	cfg.LockTimes = func(ctx context.Context) (map[string]time.Time, error) {
		times, err := client.LockTimes(ctx)
		select {
		case s.listedAgain <- struct{}{}:
		default:
		}
		return times, err
	}
	cfg.Lease = &checkedLease{Lease: s.lease, access: kube.NewAccess(client),
		needs: func() []kube.Permission { return s.writeNeeds(p.leaseNamespace) }}
	return client, nil
}

// openAnnouncer has Events made, where the configuration wants them and something can be confirmed.
func (s *session) openAnnouncer(p place, client, management *kube.Client, cfg *engine.Config) {
	if !p.config.Events || client == nil || p.readOnly || p.oneLook {
		return
	}
	s.announcer = kube.NewAnnouncer(client, kube.AnnouncerOptions{Management: management, Log: s.log.Logger, Trouble: func(text string) {
		select {
		case s.recordTrouble <- text:
		default: // the screen has enough to tell
		}
	}})
	cfg.Announce = engine.Announce{Do: s.announcer.Announce, On: s.announcer.On}
}

func (s *session) openOpenStack(p place, client *kube.Client, cfg *engine.Config) {
	if p.noCloud != "" {
		s.unavailable(openStackSources(), &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: "find the cloud",
			Message: p.noCloud, Remedy: "Say osCloud or osFromCluster for this cluster, in the configuration's section clusters."})
		return
	}
	o := p.novaOptions(s.log)
	if p.osFromCluster {
		if client == nil {
			s.unavailable(openStackSources(), &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack,
				Call: "read clouds.yaml from the cluster", Message: "there is no cluster to read it from"})
			return
		}
		o.Secret = client.OpenStackCredentials
	}
	config, err := nova.Load(o)
	if err != nil && len(o.CloudsYAML) == 0 && !errors.Is(err, nova.ErrNotConfigured) {
		config, err = nova.Later(o), nil // its sources say what is wrong, until it is corrected
	}
	if err != nil {
		nova.Unavailable(err, func(d core.Delta) { s.down = append(s.down, d) })
		return
	}
	s.client = nova.Connect(config)
	cfg.OpenStack, cfg.Writers.OpenStack, cfg.Evacuation = nova.NewChecker(s.client), nova.NewWriter(s.client, nil), s.client
}

// openJournal opens the journal, and reads what still counts. A single look only reads it. A journal that cannot be used is an error only
// where the journal is all that it is about; elsewhere it bars writing.
func (s *session) openJournal(ctx context.Context, p place, client *kube.Client, cfg *engine.Config) error {
	folder := p.kept(s.simulated)
	if p.journal == "" {
		s.keepPrivate(folder)
	}
	path := s.journalOf(ctx, folder, cfg.Cluster, client)
	s.kept = path
	s.checks = checkStore{filepath.Join(folder, "checks", strings.TrimSuffix(filepath.Base(path), ".jsonl"))}
	s.keepPrivate(filepath.Dir(path), path)
	var skipped int
	var err error
	if p.oneLook {
		cfg.Follower, cfg.Past, skipped, err = engine.OpenFollower(path)
		cfg.Lives = func(run string) (string, bool) { return engine.RunLives(path, run) }
	} else if s.journal, err = engine.OpenJournal(path, p.journalOptions(cfg)); err == nil {
		cfg.Journal = s.journal
		cfg.Past, skipped = s.journal.Past()
		if err := s.journal.NoLocks(); err != nil {
			s.notice("do not open a second window: " + err.Error() + ", so windows cannot see one another. Set XDG_STATE_HOME to use another folder")
		}
	}
	if skipped > 0 {
		s.log.Warn("lines of the journal were not understood", "journal", path, "lines", skipped)
	}
	if err != nil {
		s.log.Warn("the journal cannot be used", "journal", path, "error", err)
		if cfg.Barred == "" {
			cfg.Barred = "the record cannot be kept: " + err.Error()
		}
		if p.ofJournal {
			return fmt.Errorf("the journal cannot be used: %w", err)
		}
	}
	return nil
}

func (p *place) journalOptions(cfg *engine.Config) engine.JournalOptions {
	o := engine.JournalOptions{Who: fmt.Sprintf("%s, process %d", cfg.Operator, os.Getpid()), Limit: p.limit}
	if p.line.newID != nil {
		o.Run = p.line.newID()
	}
	return o
}

// notice logs what the operator has to know about this machine, and keeps it for the screen.
func (s *session) notice(text string) {
	s.log.Warn(text)
	s.notices = append(s.notices, text)
}

// unavailable records why sources have no adapter.
func (s *session) unavailable(sources []core.SourceID, err error) {
	var api *core.APIError
	if !errors.As(err, &api) {
		api = &core.APIError{Kind: core.ErrConfiguration, Call: "start", Message: err.Error(), Err: err}
	}
	for _, id := range sources {
		own := *api
		own.Server = id.Server()
		s.down = append(s.down, core.Delta{Source: id, State: core.SourceFailed, Err: &own})
	}
}

func (s *session) watch(p place, client, management *kube.Client) {
	watch := kube.WatchOptions{Log: s.log.Logger, Selectors: s.selectors, Claims: s.cleansUp}
	if p.pace > 1 {
		watch = hurried(watch)
	}
	if client != nil {
		s.watcher = kube.NewWatcher(client, s.engine.Apply, watch)
	}
	if management != nil {
		s.managed = kube.NewManagementWatcher(management, p.management.Namespace, s.engine.Apply, watch)
	}
	if s.client != nil {
		s.poller = nova.NewPoller(s.client, s.engine.Apply, nova.PollOptions{Pace: p.pace, Log: s.log.Logger})
	}
}

// hurried returns the watcher's times for a cluster whose clock runs faster than real time: half a minute on a real cluster must
// not become half an hour of a simulated one.
func hurried(o kube.WatchOptions) kube.WatchOptions {
	o.SyncDeadline, o.ListTimeout = 4*time.Second, 5*time.Second
	o.AbsentRetry, o.RefusalGrace = 2*time.Second, 3*time.Second
	o.BackoffMin, o.BackoffMax = 300*time.Millisecond, 2*time.Second
	o.ProbeInterval, o.ProbeTimeout = 3*time.Second, 2*time.Second
	o.WatchDuration, o.SilenceAllowed = 6*time.Second, 2*time.Second
	o.TouchInterval = time.Second
	return o
}

// engineSources are all sources of a session's engine.
func engineSources() []core.SourceID {
	return slices.Concat(kube.Sources(), core.ManagementSources(), openStackSources(), []core.SourceID{core.SourceAlertmanager})
}

// openStackSources are the sources that nova's poller fills.
func openStackSources() []core.SourceID {
	return []core.SourceID{core.SourceComputeServices, core.SourceInstances, core.SourceMigrations, core.SourceNetworkAgents,
		core.SourceProjects,
		core.SourceVolumeServices, core.SourceVolumes}
}

// nudge makes the pollers look at once, after a write.
func (s *session) nudge() {
	if s.poller != nil {
		s.poller.Nudge()
	}
	if s.alerts != nil {
		s.alerts.Nudge()
	}
}

// run works until ctx is done, and returns when the lease is given back and the journal closed.
func (s *session) run(ctx context.Context) {
	var wg sync.WaitGroup
	if s.lease != nil {
		// The lease outlives ctx: the engine gives it back on its way out.
		leaseCtx, stopLease := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() { defer close(done); s.lease.Run(leaseCtx) }()
		defer func() { stopLease(); <-done }()
	}
	adapters, stopAdapters := context.WithCancel(ctx)
	defer stopAdapters()
	if s.watcher != nil {
		wg.Go(func() { s.watcher.Run(adapters) })
	}
	if s.managed != nil {
		wg.Go(func() { s.managed.Run(adapters) })
	}
	if s.poller != nil {
		wg.Go(func() { s.poller.Run(adapters) })
	}
	if s.alerts != nil {
		wg.Go(func() { s.alerts.Run(adapters) })
	}
	if s.announcer != nil {
		wg.Go(func() { s.announcer.Run(adapters) })
	}
	if s.clock != nil {
		wg.Go(func() { s.clock.run(adapters) })
	}
	wg.Go(func() { s.steer(adapters) })
	if s.journal != nil {
		wg.Go(func() { s.identify(adapters) })
	}
	wg.Go(func() {
		for _, d := range s.down {
			s.engine.Apply(d)
		}
	})
	if err := s.engine.Run(ctx); err != nil {
		s.log.Error("run", "error", err)
	}
	stopAdapters()
	wg.Wait()
	if s.recorder != nil {
		if err := s.recorder.Close(); err != nil {
			s.recordingTold(err.Error())
		}
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.journal != nil {
		s.closeJournal()
	}
}

// closeWithin is how long the end waits for the journal: a disk that hangs must not keep the program from ending.
const closeWithin = 10 * time.Second

func (s *session) closeJournal() {
	closed := make(chan error, 1)
	go func() { closed <- s.journal.Close() }()
	var err error
	select {
	case err = <-closed:
	case <-time.After(closeWithin):
		err = errors.New("the disk does not answer")
	}
	if err != nil {
		s.log.Error("close the journal", "error", err)
		s.tell("the journal " + s.journal.Path() + " did not end in good order: " + err.Error())
	}
}

// steer tells the pollers where to look: at the hosts in maintenance, and at the node on the operator's screen.
func (s *session) steer(ctx context.Context) {
	snapshots, stop := s.engine.Subscribe()
	defer stop()
	var glance core.Glance
	var focused string
	for {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			focus := ""
			if f := s.focus.Load(); f != nil {
				focus = *f
			}
			if focus != focused || !glance.Same(snap) {
				focused = focus
				glance = core.GlanceAt(snap, func(snap *core.Snapshot) { s.steerBy(snap, focus) })
			}
		}
	}
}

// steerBy has the slow sources look where this Snapshot says, and at the node that the operator looks at.
func (s *session) steerBy(snap *core.Snapshot, focus string) {
	hosts, moving := progress.HostsToWatch(snap)
	if focus != "" {
		if host := snap.HostOf(focus); !slices.Contains(hosts, host) {
			hosts = append(slices.Clone(hosts), host)
		}
	}
	if s.poller != nil {
		s.poller.SetHosts(hosts, moving)
		s.poller.SetVolumeHosts(progress.HostsWithVolumesToWatch(snap))
		s.poller.SetRouterHosts(progress.HostsWithRoutersToWatch(snap))
	}
	if s.watcher != nil {
		s.watcher.SetPodNodes(progress.NodesWithPodsToWatch(snap))
	}
}
