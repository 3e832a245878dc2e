package session

import (
	"context"
	"errors"
	"fmt"
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
)

// Session is one run against one cluster: the adapters, the engine, and what goes between them.
type Session struct {
	Engine    *engine.Engine
	Log       *Log
	OpenStack *nova.Client // nil when there is no cloud
	Looker    core.Looker  // of logs, events and objects

	Journal      *engine.Journal // nil when none is written
	JournalPath  string          // also where it is only read
	ChecksFolder string          // of the cluster's checks that were made earlier

	Simulated bool        // the cluster is: the session touches nothing real, and calls nobody by a command
	NotLoaded error       // why the kubeconfig could not be used; nil: it could
	Notices   []string    // about this machine, for the operator
	Troubles  chan string // what became of the journal, the recording or Events, for the operator

	watcher *kube.Watcher // nil when the kubeconfig could not be used
	managed *kube.Watcher // of the management cluster; nil when there is none
	kube    *kube.Client  // nil when the kubeconfig could not be used
	lease   *kube.Lease
	poller  *nova.Poller      // nil when there is no cloud
	alerts  *kube.AlertPoller // nil when Alertmanager is not asked
	clock   *SimulatedClock   // nil: the cluster has this machine's, or the place has another one
	down    []core.Delta      // the states of sources without an adapter
	focus   atomic.Pointer[string]

	selectors map[string]labels.Selector // of the nodes of the controllers that are played
	cleansUp  bool                       // the OpenStack controller is played: volume claims are watched, too

	begin     func() // what waits until the first lists are in; nil: nothing
	inProcess bool   // the cloud runs in this process

	recorder  *recording.Recorder // nil when nothing is recorded
	recordsTo string              // its first file
	announcer *kube.Announcer     // nil: no Events are made

	listedAgain chan struct{} // told when thousands of objects were listed after the first lists, for a moment
}

// Open loads the credentials and makes the session's parts. It asks no server, so none can delay it, but a simulated one for its
// clock; it waits only for a credential plugin that may ask a person. A server that cannot be used is not an error: its sources say so,
// and the rest works.
func Open(ctx context.Context, p Place, log *Log) (*Session, error) {
	s := &Session{Log: log, Troubles: make(chan string, mostTold), listedAgain: make(chan struct{}, 1), begin: p.Begin,
		inProcess: p.InProcess, selectors: p.Selectors}
	if log.opened != "" {
		s.Notices = append(s.Notices, log.opened)
	}
	cfg := engine.Config{
		Cluster:  p.Name,
		Operator: WhoRuns(p.Operator).String(),
		Version:  p.Version,
		Own:      p.Own,
		Settings: p.Settings,
		Sources:  Sources(),
		NewID:    p.Line.NewID,
		Log:      log.Logger,
		OnFocus:  func(node string) { s.focus.Store(&node) },
		Stops:    &core.StopFinder{Find: checklist.Stops},
		OnWrite:  s.nudge,
		OnStage:  s.nudge,
		Trouble:  s.Tell,
	}
	if p.ReadOnly {
		cfg.Barred = "Lockstep was started with --read-only"
	}
	s.cleansUp = slices.ContainsFunc(p.Settings.ActAs, func(a core.ActAs) bool { return a.Controller == core.ControllerOpenStack })
	if s.cleansUp {
		cfg.Sources = append(cfg.Sources, kube.ClaimSources()...)
	}
	client, err := s.openKubernetes(ctx, p, &cfg)
	if err != nil {
		return nil, err
	}
	s.Simulated = client != nil && client.Simulated
	var notice string
	if s.clock, notice = p.FollowClock(ctx, log, client); notice != "" {
		s.Notices = append(s.Notices, notice)
	}
	if cfg.Clock = p.Clock; p.Pace > 1 {
		cfg.PollEvery, cfg.Settle = 300*time.Millisecond, 6*time.Second
	}
	management, err := s.openManagement(ctx, p, &cfg)
	if err != nil {
		return nil, err
	}
	s.Looker = kube.NewLooker(client, management)
	s.openOpenStack(p, client, &cfg)
	s.openAlertmanager(p, client, &cfg)
	s.openAnnouncer(p, client, management, &cfg)
	if err := s.openJournal(ctx, p, client, &cfg); err != nil {
		return nil, err
	}
	if err := s.record(p, &cfg); err != nil {
		return nil, err
	}
	s.Engine = engine.New(cfg)
	s.watch(p, client, management)
	s.watchAlerts(p, client)
	return s, nil
}

func (s *Session) openKubernetes(ctx context.Context, p Place, cfg *engine.Config) (*kube.Client, error) {
	client, err := kube.Load(p.KubeOptions())
	if err != nil && p.AboutJournal {
		return nil, err // no cluster has the journal that would be opened
	}
	if err != nil {
		s.NotLoaded = err
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
	if err := p.GetCredentials(ctx, s.Log, client, "Kubernetes"); err != nil {
		return nil, err
	}
	cfg.Kubernetes, cfg.Writers.Kubernetes = kube.NewChecker(client), kube.NewWriter(client)
	s.kube = client
	s.lease = kube.NewLease(client, kube.LeaseOptions{Namespace: p.LeaseNamespace, Who: cfg.Operator, Identity: p.Line.Holder,
		Log: s.Log.Logger})
	cfg.LockTimes = func(ctx context.Context) (map[string]time.Time, error) {
		times, err := client.LockTimes(ctx)
		select {
		case s.listedAgain <- struct{}{}:
		default:
		}
		return times, err
	}
	cfg.Lease = &checkedLease{Lease: s.lease, access: kube.NewAccess(client),
		needs: func() []kube.Permission { return s.writeNeeds(p.LeaseNamespace) }}
	return client, nil
}

// openAnnouncer has Events made, where the configuration wants them and something can be confirmed.
func (s *Session) openAnnouncer(p Place, client, management *kube.Client, cfg *engine.Config) {
	if !p.Events || client == nil || p.ReadOnly || p.OneLook {
		return
	}
	s.announcer = kube.NewAnnouncer(client, kube.AnnouncerOptions{Management: management, Log: s.Log.Logger, Trouble: func(text string) {
		select {
		case s.Troubles <- text:
		default: // the screen has enough to tell
		}
	}})
	cfg.Announce = engine.Announce{Do: s.announcer.Announce, On: s.announcer.On}
}

func (s *Session) openOpenStack(p Place, client *kube.Client, cfg *engine.Config) {
	if p.NoCloud != "" {
		s.unavailable(openStackSources(), &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: "find the cloud",
			Message: p.NoCloud, Remedy: "Say osCloud or osFromCluster for this cluster, in the configuration's section clusters."})
		return
	}
	o := p.NovaOptions(s.Log)
	if p.OSFromCluster {
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
	s.OpenStack = nova.Connect(config)
	cfg.OpenStack, cfg.Writers.OpenStack, cfg.Evacuation = nova.NewChecker(s.OpenStack), nova.NewWriter(s.OpenStack, nil), s.OpenStack
}

// openJournal opens the journal, and reads what still counts. A single look only reads it. A journal that cannot be used is an error only
// where the journal is all that it is about; elsewhere it bars writing.
func (s *Session) openJournal(ctx context.Context, p Place, client *kube.Client, cfg *engine.Config) error {
	folder := p.StateFolderOf(s.Simulated)
	if p.Journal == "" {
		s.keepPrivate(folder)
	}
	path := s.journalOf(ctx, folder, cfg.Cluster, client)
	s.JournalPath = path
	s.ChecksFolder = filepath.Join(folder, "checks", strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	s.keepPrivate(filepath.Dir(path), path)
	var skipped int
	var err error
	if p.OneLook {
		cfg.Follower, cfg.Past, skipped, err = engine.OpenFollower(path)
		cfg.Lives = func(run string) (string, bool) { return engine.RunLives(path, run) }
	} else if s.Journal, err = engine.OpenJournal(path, p.journalOptions(cfg)); err == nil {
		cfg.Journal = s.Journal
		cfg.Past, skipped = s.Journal.Past()
		if err := s.Journal.NoLocks(); err != nil {
			s.notice("do not open a second window: " + err.Error() + ", so windows cannot see one another. Set XDG_STATE_HOME to use another folder")
		}
	}
	if skipped > 0 {
		s.Log.Warn("lines of the journal were not understood", "journal", path, "lines", skipped)
	}
	if err != nil {
		s.Log.Warn("the journal cannot be used", "journal", path, "error", err)
		if cfg.Barred == "" {
			cfg.Barred = "the record cannot be kept: " + err.Error()
		}
		if p.AboutJournal {
			return fmt.Errorf("the journal cannot be used: %w", err)
		}
	}
	return nil
}

func (p *Place) journalOptions(cfg *engine.Config) engine.JournalOptions {
	o := engine.JournalOptions{Who: fmt.Sprintf("%s, process %d", cfg.Operator, os.Getpid())}
	if p.Line.NewID != nil {
		o.Run = p.Line.NewID()
	}
	return o
}

// notice logs what the operator has to know about this machine, and keeps it for the screen.
func (s *Session) notice(text string) {
	s.Log.Warn(text)
	s.Notices = append(s.Notices, text)
}

// unavailable records why sources have no adapter.
func (s *Session) unavailable(sources []core.SourceID, err error) {
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

func (s *Session) watch(p Place, client, management *kube.Client) {
	watch := kube.WatchOptions{Log: s.Log.Logger, Selectors: s.selectors, Claims: s.cleansUp}
	if p.Pace > 1 {
		watch = Hurried(watch)
	}
	if client != nil {
		s.watcher = kube.NewWatcher(client, s.Engine.Apply, watch)
	}
	if management != nil {
		s.managed = kube.NewManagementWatcher(management, p.Management.Namespace, s.Engine.Apply, watch)
	}
	if s.OpenStack != nil {
		s.poller = nova.NewPoller(s.OpenStack, s.Engine.Apply, nova.PollOptions{Pace: p.Pace, Log: s.Log.Logger})
	}
}

// Hurried returns the watcher's times for a cluster whose clock runs faster than real time: half a minute on a real cluster must
// not become half an hour of a simulated one.
func Hurried(o kube.WatchOptions) kube.WatchOptions {
	o.SyncDeadline, o.ListTimeout = 4*time.Second, 5*time.Second
	o.AbsentRetry, o.RefusalGrace = 2*time.Second, 3*time.Second
	o.BackoffMin, o.BackoffMax = 300*time.Millisecond, 2*time.Second
	o.ProbeInterval, o.ProbeTimeout = 3*time.Second, 2*time.Second
	o.WatchDuration, o.SilenceAllowed = 6*time.Second, 2*time.Second
	o.TouchInterval = time.Second
	return o
}

// Sources are all sources of a session. With a played OpenStack controller those of kube.ClaimSources come on top.
func Sources() []core.SourceID {
	return slices.Concat(kube.Sources(), core.ManagementSources(), openStackSources(), []core.SourceID{core.SourceAlertmanager})
}

// openStackSources are the sources that nova's poller fills.
func openStackSources() []core.SourceID {
	return []core.SourceID{core.SourceComputeServices, core.SourceInstances, core.SourceMigrations, core.SourceNetworkAgents,
		core.SourceProjects,
		core.SourceVolumeServices, core.SourceVolumes}
}

// nudge makes the pollers look at once, after a write.
func (s *Session) nudge() {
	if s.poller != nil {
		s.poller.Nudge()
	}
	if s.alerts != nil {
		s.alerts.Nudge()
	}
}

// Run works until ctx is done, and returns when the lease is given back and the journal closed.
func (s *Session) Run(ctx context.Context) {
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
		wg.Go(func() { s.clock.Run(adapters) })
	}
	wg.Go(func() { s.steer(adapters) })
	if s.Journal != nil {
		wg.Go(func() { s.identify(adapters) })
	}
	wg.Go(func() {
		for _, d := range s.down {
			s.Engine.Apply(d)
		}
	})
	if err := s.Engine.Run(ctx); err != nil {
		s.Log.Error("run", "error", err)
	}
	stopAdapters()
	wg.Wait()
	if s.recorder != nil {
		if err := s.recorder.Close(); err != nil {
			s.recordingTold(err.Error())
		}
	}
	if s.OpenStack != nil {
		s.OpenStack.Close()
	}
	if s.Journal != nil {
		s.closeJournal()
	}
}

// closeWithin is how long the end waits for the journal: a disk that hangs must not keep the program from ending.
const closeWithin = 10 * time.Second

func (s *Session) closeJournal() {
	closed := make(chan error, 1)
	go func() { closed <- s.Journal.Close() }()
	var err error
	select {
	case err = <-closed:
	case <-time.After(closeWithin):
		err = errors.New("the disk does not answer")
	}
	if err != nil {
		s.Log.Error("close the journal", "error", err)
		s.Tell("the journal " + s.Journal.Path() + " did not end in good order: " + err.Error())
	}
}

// steer tells the pollers where to look: at the hosts in maintenance, and at the node on the operator's screen.
func (s *Session) steer(ctx context.Context) {
	snapshots, stop := s.Engine.Subscribe()
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
func (s *Session) steerBy(snap *core.Snapshot, focus string) {
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
