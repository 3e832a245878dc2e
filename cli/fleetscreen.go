package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/kube"
	"lockstep/sim"
	"lockstep/sim/scenario"
	"lockstep/tui"
)

// fleetScreen is the list of the clusters of a management cluster, and the dashboard of the one that is open. One is open at a time:
// before the list is shown again, its session has ended, and with it its lease.
type fleetScreen struct {
	options   options
	log       *session.Log
	title     string
	notice    string
	rehearsal tui.Rehearsal // behind the demo's panel; nil on real clusters
}

// onManagement tells whether the cluster of the flags is the management cluster that is named beside it. It asks no server.
func (p *options) onManagement() bool {
	if !p.Management.Configured() {
		return false
	}
	cluster, err := kube.Load(p.KubeOptions())
	if err != nil {
		return false
	}
	management, err := kube.Load(p.ManagementOptions())
	return err == nil && cluster.Server == management.Server
}

// probing is how long the server may take to say whether it is a management cluster. It delays the screen.
const probing = 2 * time.Second

// ofOneCluster is the flag that is about one cluster; empty when there is none. In a list of clusters it would hold for all of them, or for
// none.
func (p *options) ofOneCluster() string {
	for _, f := range []struct {
		flag  string
		given bool
	}{{"--write", p.write}, {"--act-as", len(p.actAs) > 0}, {"--os-cloud", p.OSCloud != ""}, {"--os-from-cluster", p.OSFromCluster},
		{"--record", p.record != ""}} {
		if f.given {
			return f.flag
		}
	}
	return ""
}

// opensList tells whether the dashboard begins with the list of clusters: where the flags say so, where the cluster is the management
// cluster that is named beside it, and where nothing is said and the server is one. The server is not asked where a credential plugin might
// ask a person for that, nor where a flag is about one cluster.
func (p *options) opensList(ctx context.Context, log *session.Log) bool {
	switch {
	case p.clusters || !p.single && p.onManagement():
		return true
	case p.single || p.Management.Configured() || p.ofOneCluster() != "":
		return false
	}
	client, err := kube.Load(p.KubeOptions())
	if err != nil || client.Asks() != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	is, err := client.IsManagement(ctx)
	if err != nil {
		log.Info("whether this is a management cluster is not known", "error", err)
	}
	return is
}

// run shows the list until the operator leaves, or ctx is done.
func (f *fleetScreen) run(ctx context.Context) error {
	watch, err := openFleet(ctx, f.options, f.log)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { watch.run(watching) })
	if watch.client.Simulated && f.options.Clock == nil {
		f.title += " (simulated)"
	}
	defer func() { stop(); running.Wait() }()
	desk := &fleetDesk{fleetWatch: watch, config: &f.options.config, log: f.log, by: session.WhoRuns(f.options.Operator).String()}
	list := tui.NewClusters(desk)
	notice := f.notice
	for {
		id, err := f.list(ctx, list, notice)
		if err != nil || id == nil {
			return err
		}
		notice = ""
		back, err := f.open(ctx, desk, *id)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, new(session.KeptTerminal)):
			return err
		case err != nil:
			f.log.Warn("open a cluster", "cluster", id.String(), "error", err)
			list.Say(oneLine(fmt.Sprintf("%s could not be opened: %v", id.Called(), err)))
		case !back:
			return nil
		}
	}
}

// list shows the list until a cluster is chosen; nil when the operator leaves.
func (f *fleetScreen) list(ctx context.Context, list *tui.Clusters, notice string) (*fleet.ID, error) {
	look, err := lookOf(f.options)
	if err != nil {
		return nil, err
	}
	restore, err := f.log.RedirectStderr()
	if err != nil {
		return nil, fmt.Errorf("redirect standard error to the log: %w", err)
	}
	defer restore()
	look.Title, look.Notice, look.Version = f.title, notice, programVersion()
	look.Rehearsal = f.rehearsal
	id, err := tui.RunClusters(ctx, look, list)
	if errors.Is(err, context.Canceled) {
		return nil, nil
	}
	return id, err
}

// open shows the dashboard of a cluster, and tells whether the operator came back to the list. What the session began has ended then,
// and the lease is given back.
func (f *fleetScreen) open(ctx context.Context, desk *fleetDesk, id fleet.ID) (back bool, err error) {
	p, err := f.placeOf(desk.fleetWatch, id, desk.take(id))
	if err != nil {
		return false, err
	}
	s, err := p.open(ctx, f.log)
	if err != nil {
		return false, err
	}
	front := screen{Session: s, title: f.title, notice: "esc leads back to the list of clusters", rehearsal: f.rehearsal, called: listedAs(id),
		back: func() { back = true }}
	err = front.show(ctx, p)
	return back, err
}

// listedAs is a cluster's name as the list shows it, in one: "prod/mos".
func listedAs(id fleet.ID) string {
	if id.Project == "" {
		return id.Called()
	}
	return oneLine(id.String())
}

// placeOf are the options of one cluster's session; login is what was read of it on the management cluster, nil for nothing. Nothing there
// comes from what names another cluster or cloud: neither the flags nor $OS_CLOUD.
func (f *fleetScreen) placeOf(watch *fleetWatch, id fleet.ID, login *kube.Given) (options, error) {
	p := f.options
	a, err := p.config.accessOf(id, watch.seen())
	if err != nil {
		return p, err
	}
	m := session.Management{Kubeconfig: p.Kubeconfig, Context: watch.client.ContextName}
	if p.Management.Configured() {
		m = p.Management
	}
	switch {
	case a.configured():
		login = nil
	case login == nil:
		return p, errors.New(noAccess)
	}
	if m.Namespace, m.Cluster = id.Project, id.Name; a.Kubeconfig != "" || login != nil && !watch.client.Scattered {
		m.Kubeconfig = cmp.Or(m.Kubeconfig, watch.client.File) // it is not in the cluster's own file
	}
	p.Management = m
	p.Kubeconfig, p.Context, p.Given = cmp.Or(a.Kubeconfig, p.Kubeconfig), a.Context, login
	if login != nil {
		p.Kubeconfig = "" // what names the management cluster's file is said with its commands
	}
	p.OSCloud, p.OSFromCluster, p.write, p.actAs = a.OSCloud, a.OSFromCluster, false, nil
	if p.Clock == nil { // the files of a rehearsal are gone when it ends
		if p.Own = p.ForCommands(); login != nil {
			p.Own.Kubeconfig = kube.ClusterLoginSecret(id.Name) // what a person calls the file made of it
		}
	}
	if a.OSCloud == "" && !a.OSFromCluster {
		p.NoCloud = "the configuration names no cloud for " + id.Called()
	}
	client, err := kube.Load(p.KubeOptions())
	if err != nil {
		return p, err
	}
	if client.Server == watch.client.Server {
		return p, &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerKubernetes, Call: "open " + id.Called(),
			Message: client.Origin() + " is the management cluster itself", Remedy: "Name the cluster's own context."}
	}
	if client.Simulated != watch.client.Simulated { // a rehearsal leads to nothing real
		text := client.Origin() + " is real, and the management cluster is simulated"
		if client.Simulated {
			text = client.Origin() + " is simulated, and the management cluster is not"
		}
		return p, &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerKubernetes, Call: "open " + id.Called(), Message: text,
			Remedy: "Open it by itself, with --no-clusters."}
	}
	if watch.follows != nil {
		p.Clock, p.Pace = watch.clock, watch.pace
	}
	return p, nil
}

const noAccess = "the configuration's section clusters names no context for it"

// fleetDesk is what the list of clusters shows, and reads where the operator asks for it.
type fleetDesk struct {
	*fleetWatch
	config *config
	log    *session.Log
	by     string // who reads

	mu    sync.Mutex
	login *kube.Given // of the cluster that is to be opened next; nil: none was read
	whose fleet.ID
}

// Access implements tui.ClusterDesk.
func (d *fleetDesk) Access(id fleet.ID) tui.ClusterAccess {
	a, err := d.config.accessOf(id, d.seen())
	switch {
	case err != nil:
		return tui.ClusterAccess{Lack: err.Error()}
	case a.configured():
		return tui.ClusterAccess{How: a.text()}
	case id.Project == "":
		return tui.ClusterAccess{Lack: noAccess + ", and its project is not known"}
	}
	cloud := "not configured: instances are not seen"
	switch {
	case a.OSCloud != "":
		cloud = "the cloud " + a.OSCloud + " of clouds.yaml, as it is configured"
	case a.OSFromCluster:
		cloud = "from the cluster's own Secret, as it is configured (osFromCluster)"
	}
	as := "context " + d.client.ContextName
	if d.client.File != "" {
		as += " of " + d.client.File
	}
	return tui.ClusterAccess{How: a.text(), Login: &tui.ClusterLogin{Secret: kube.ClusterLoginSecret(id.Name), Namespace: id.Project, As: as,
		OpenStack: cloud, Asked: a.FromManagement}}
}

// ReadLogin implements tui.ClusterDesk.
func (d *fleetDesk) ReadLogin(ctx context.Context, id fleet.ID) error {
	secret := kube.ClusterLoginSecret(id.Name)
	login, err := d.client.ClusterLogin(ctx, id.Project, id.Name)
	if err != nil {
		d.log.Warn("read the login of a cluster", "cluster", id.String(), "secretName", secret, "error", err)
		return err
	}
	d.log.Info("read the login of a cluster", "cluster", id.String(), "secretName", secret, "by", d.by)
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil { // nobody waits for it any more
		return ctx.Err()
	}
	d.login, d.whose = login, id
	return nil
}

// take returns the login of a cluster that was read for it, once. Opening it again reads it again.
func (d *fleetDesk) take(id fleet.ID) *kube.Given {
	d.mu.Lock()
	defer d.mu.Unlock()
	login := d.login
	if d.whose != id {
		login = nil
	}
	d.login, d.whose = nil, fleet.ID{}
	return login
}

// manyClusters tells whether a scenario is about more than one cluster.
func manyClusters(s *scenario.Scenario) bool {
	return s.Management != nil && len(s.Management.Others) > 0
}

// simClusters says how the clusters of a simulated management cluster are opened: the one that has servers by its Secret there, and one
// whose context is missing because nobody lets us look into its project.
func simClusters(cloud *sim.Cloud) map[string]access {
	m := cloud.Scenario.Management
	all := map[string]access{m.Project + "/" + cloud.Scenario.Cluster: {OSCloud: cloud.CloudName}}
	for _, o := range m.Others {
		if o.Hidden {
			all[o.Project+"/"+o.Name] = access{Context: o.Name}
		}
	}
	return all
}

// demoClusters opens the list of clusters on a simulated management cluster. The story begins at once.
func demoClusters(ctx context.Context, p options, cloud *sim.Cloud, log *session.Log) error {
	p.config.Clusters = simClusters(cloud)
	title, notice := simTitle(cloud.Scenario, p.Pace)
	p.InProcess = true
	f := &fleetScreen{options: p, log: log, title: title, notice: notice + " (f4: the panel)", rehearsal: &rehearsal{cloud}}
	cloud.Clock.Resume()
	return f.run(ctx)
}
