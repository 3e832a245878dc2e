package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

var gvrNamespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

const managementRights = "deploy/rbac-management-readonly.yaml"

// fleetClusters are the resources that say of which clusters a list of clusters is made. The others are watched where there are any.
func fleetClusters(project string) []resource {
	return []resource{{source: core.SourceClusters, gvr: gvrClusters, namespace: project, rights: managementRights,
		translate: managedClusterFrom}}
}

// fleetDetails are the resources that say of each cluster what a list shows of it. There are few of them for each cluster, and
// they are small.
func fleetDetails(project string) []resource {
	return []resource{
		{source: core.SourceLCMClusters, gvr: lcm("lcmclusters"), namespace: project, rights: managementRights, translate: lcmClusterFrom},
		{source: core.SourcePlans, gvr: gvrUpdatePlans, namespace: project, rights: managementRights, translate: updatePlanFrom},
		{source: core.SourceGroups, gvr: gvrUpdateGroups, namespace: project, rights: managementRights, translate: machineGroupFrom},
		{source: core.SourceAutoPauses, gvr: kaas("updateautopauses"), namespace: project, rights: managementRights,
			translate: autoPauseFrom},
		{source: core.SourceReboots, gvr: gvrReboots, namespace: project, rights: managementRights, translate: rebootRequestFrom},
	}
}

// fleetMachines are the resources of single machines: hundreds for each cluster, and large. They are watched only in projects in which
// an update, maintenance mode or a graceful reboot is under way.
func fleetMachines(project string) []resource {
	return []resource{
		{source: core.SourceLCMMachines, gvr: lcm("lcmmachines"), namespace: project, rights: managementRights, translate: slimMachineFrom},
		{source: core.SourceDrains, gvr: lcm("lcmclusterstates"), namespace: project, rights: managementRights, translate: drainStateFrom},
	}
}

// fleetItself are the resources that are about the management cluster itself.
func fleetItself() []resource {
	return []resource{
		{source: core.SourceReleases, gvr: kaas("kaasreleases"), rights: managementRights, translate: managementReleaseFrom},
		{source: core.SourceManagementUpgrades, gvr: kaas("mccupgrades"), rights: managementRights, translate: managementUpgradeFrom},
	}
}

// IsManagement asks whether the server is a management cluster: whether it serves Container Cloud's own releases, which no MOSK cluster
// does (docs/mosk.md#where-things-live). Any login may ask this. An error means that it is not known.
func (c *Client) IsManagement(ctx context.Context) (bool, error) {
	body, status, err := c.get(ctx, "/apis/kaas.mirantis.com/v1alpha1")
	switch {
	case status == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, c.withOrigin(Describe(err, "ask whether this is a management cluster"))
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(body, &served); err != nil {
		return false, c.withOrigin(Describe(fmt.Errorf("read the API's resources: %w", err), "ask whether this is a management cluster"))
	}
	return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "kaasreleases" }), nil
}

// FleetPermissions are what a FleetWatcher needs beyond ManagementWatchPermissions where that is given in single projects.
func FleetPermissions() []Permission {
	return []Permission{{"list", gvrNamespaces.Group, gvrNamespaces.Resource, "", ""}}
}

// slimMachineFrom keeps of an LCMMachine what a list of clusters shows: of its state items only those that fail.
func slimMachineFrom(u *unstructured.Unstructured) core.Object {
	m, _ := lcmMachineFrom(u).(*core.LCMMachine)
	var failing []core.StateItem
	for _, i := range m.Items {
		if i.Failing() {
			failing = append(failing, i)
		}
	}
	m.Items = failing
	return m
}

// FleetOptions are those of a FleetWatcher.
type FleetOptions struct {
	WatchOptions
	// Projects are looked into where the login may neither list clusters in all namespaces nor list the namespaces.
	Projects []string
	Look     time.Duration // how often new projects are looked for where clusters cannot be listed everywhere (1 m)
	// EachDuration is how long the server is asked to keep a watch of one project open, where there is one for each (5 m).
	EachDuration time.Duration
}

// FleetWatcher keeps core informed of what the management cluster knows of all its clusters, as a list of them shows it. It watches
// each kind once, in all namespaces. Where the login may not, it watches the projects that it may look into. Machines, which are many
// and large, are watched only in the projects that SetMachines names.
type FleetWatcher struct {
	client *Client
	sink   func(project string, d core.Delta)
	opts   FleetOptions

	changed chan struct{} // SetMachines has named other projects
	found   chan struct{} // a project has its first cluster

	mu     sync.Mutex
	wide   bool
	wanted []string        // projects whose machines are watched
	having map[string]bool // projects in which a cluster was seen
}

// NewFleetWatcher makes a FleetWatcher that passes its Deltas to sink, from several goroutines, those of one source and project in
// order. The project is empty for what comes from all namespaces. A stream that ends for good tells of its source that it is off, and
// that it has no objects.
func NewFleetWatcher(client *Client, sink func(project string, d core.Delta), opts FleetOptions) *FleetWatcher {
	opts.WatchOptions = opts.WatchOptions.withDefaults()
	orDuration(&opts.Look, time.Minute)
	orDuration(&opts.EachDuration, 5*time.Minute)
	return &FleetWatcher{client: client, sink: sink, opts: opts, changed: make(chan struct{}, 1), found: make(chan struct{}, 1),
		having: map[string]bool{}}
}

// SetMachines names the projects whose machines are watched. It replaces those named before.
func (w *FleetWatcher) SetMachines(projects []string) {
	w.mu.Lock()
	same := slices.Equal(w.wanted, projects)
	w.wanted = slices.Clone(projects)
	w.mu.Unlock()
	if same {
		return
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Run watches until ctx is done, and returns when everything it started has ended.
func (w *FleetWatcher) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	w.sink("", core.Delta{Source: core.SourceClusters, At: time.Now(), State: core.SourceConnecting})
	wide, refused := w.decide(ctx)
	w.setWide(wide)
	wg.Go(func() { w.machines(ctx) })
	for ctx.Err() == nil {
		if wide {
			refused = w.watchAll(ctx)
		} else {
			w.watchProjects(ctx, refused)
		}
		wide = !wide // each ends when the other's time has come
		w.setWide(wide)
	}
}

// watchAll watches the clusters of all projects, until ctx is done or they may no longer be listed: then it returns the refusal.
func (w *FleetWatcher) watchAll(ctx context.Context) (refused *core.APIError) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	doubted := make(chan struct{}, 1)
	resources := slices.Concat(fleetClusters(""), fleetDetails(""), fleetItself())
	base := newWatcher(w.client, resources, func(d core.Delta) {
		w.sink("", d)
		if d.Source == core.SourceClusters && d.State == core.SourceForbidden {
			select {
			case doubted <- struct{}{}:
			default:
			}
		}
	}, w.opts.WatchOptions)
	var wg sync.WaitGroup
	defer func() {
		stop()
		wg.Wait()
		if refused != nil {
			w.forget("", base)
		}
	}()
	wg.Go(func() { base.Run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-doubted: // it may be the watch alone that is refused
			if refused = w.mayListAll(ctx, w.opts.ListTimeout); refused != nil && refused.Kind == core.ErrForbidden {
				return refused
			}
			refused = nil
		}
	}
}

// watchProjects watches the clusters of each project, until ctx is done or they may be listed in all of them.
func (w *FleetWatcher) watchProjects(ctx context.Context, refused *core.APIError) {
	ctx, stop := context.WithCancel(ctx)
	w.sink("", core.Delta{Source: core.SourceClusters, At: time.Now(), State: core.SourceOff, Replace: true})
	base := newWatcher(w.client, fleetItself(), func(d core.Delta) { w.sink("", d) }, w.opts.WatchOptions)
	var wg sync.WaitGroup
	wg.Go(func() { base.Run(ctx) })
	w.projects(ctx, refused)
	stop()
	wg.Wait()
}

// forget tells that nothing is seen any more of what a Watcher watched.
func (w *FleetWatcher) forget(project string, watcher *Watcher) {
	for _, s := range watcher.streams {
		w.sink(project, core.Delta{Source: s.res.source, At: time.Now(), State: core.SourceOff, Replace: true})
	}
}

// decide finds out whether clusters can be listed in all namespaces. It asks until there is an answer, and tells why there is none yet.
func (w *FleetWatcher) decide(ctx context.Context) (wide bool, refused *core.APIError) {
	limit := min(w.opts.SyncDeadline, w.opts.ListTimeout) // what is wrong is said as early as a source says it
	for pause := w.opts.BackoffMin; ctx.Err() == nil; pause = min(2*pause, w.opts.BackoffMax) {
		err := w.mayListAll(ctx, limit)
		switch {
		case err == nil || err.Kind == core.ErrNotFound && !notOfAPI(err): // does it not know clusters, the watch says so, and looks again
			return true, nil
		case err.Kind == core.ErrForbidden:
			return false, err
		}
		wait := max(pause+w.client.opts.Jitter("fleet", pause/5), err.After)
		if err.Kind == core.ErrUnauthorized && w.client.renew() {
			wait = 0
		}
		w.opts.Log.Info("source", "source", core.SourceClusters, "state", core.SourceFailed, "err", errText(err))
		w.sink("", core.Delta{Source: core.SourceClusters, At: time.Now(), State: core.SourceFailed, Err: err, Next: time.Now().Add(wait)})
		if sleep(ctx, wait) != nil {
			break
		}
		limit = w.opts.ListTimeout
	}
	return false, nil
}

// mayListAll is nil where clusters can be listed in all namespaces. Else it says why not.
func (w *FleetWatcher) mayListAll(ctx context.Context, limit time.Duration) *core.APIError {
	asked, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := w.client.resource(gvrClusters, "").List(asked, metav1.ListOptions{Limit: 1})
	e := describeManagement(err, "list clusters.cluster.k8s.io")
	if e != nil && e.Kind == core.ErrForbidden {
		e.Remedy = managementRights + " gives the right, in one project or in all of them."
	}
	return e
}

// branch is what is watched in one project.
type branch struct {
	stop   context.CancelFunc
	ended  chan struct{}
	source []core.SourceID
}

// begin watches resources in a project. Only the FleetWatcher's base asks whether the server is there at all.
func (w *FleetWatcher) begin(ctx context.Context, project string, resources []resource, sink func(core.Delta), place int) *branch {
	opts := w.opts.WatchOptions
	opts.ProbeInterval = 24 * time.Hour
	if !w.isWide() {
		opts.WatchDuration, opts.AbsentRetry = w.opts.EachDuration, 5*w.opts.AbsentRetry
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &branch{stop: cancel, ended: make(chan struct{})}
	for _, r := range resources {
		b.source = append(b.source, r.source)
	}
	watcher := newWatcher(w.client, resources, sink, opts)
	for i, s := range watcher.streams {
		s.behind += time.Duration(place*len(watcher.streams)+i) * apart
	}
	go func() {
		defer close(b.ended)
		watcher.Run(ctx)
	}()
	return b
}

// end stops a branch and forgets what it has told.
func (w *FleetWatcher) end(project string, b *branch) {
	b.stop()
	<-b.ended
	for _, source := range b.source {
		w.sink(project, core.Delta{Source: source, At: time.Now(), State: core.SourceOff, Replace: true})
	}
}

func (w *FleetWatcher) isWide() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wide
}

func (w *FleetWatcher) setWide(wide bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wide = wide
}

// projects watches the clusters of each project that there is, and the rest where there are clusters. It ends with ctx, or when it does
// not know which projects there are and clusters may by now be listed in all of them. While it does not know, the clusters' source of all
// projects says why: what is seen in the configured ones is not the whole.
func (w *FleetWatcher) projects(ctx context.Context, refused *core.APIError) {
	running := map[string][]*branch{}
	end := func(project string) {
		for _, b := range running[project] {
			w.end(project, b)
		}
		delete(running, project)
		w.mu.Lock()
		delete(w.having, project) // one that is made again is as new
		w.mu.Unlock()
	}
	defer func() {
		for _, project := range slices.Sorted(maps.Keys(running)) {
			if ctx.Err() == nil {
				end(project)
				continue
			}
			for _, b := range running[project] {
				b.stop()
				<-b.ended
			}
		}
	}()
	look, told := time.NewTimer(0), false
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.found:
			w.mu.Lock()
			found := slices.Sorted(maps.Keys(w.having))
			w.mu.Unlock()
			for _, project := range found {
				if len(running[project]) == 1 {
					running[project] = append(running[project], w.begin(ctx, project, fleetDetails(project),
						func(d core.Delta) { w.sink(project, d) }, len(running)))
				}
			}
		case <-look.C:
			projects, unlisted := w.listProjects(ctx, refused)
			if unlisted != nil {
				if w.mayListAll(ctx, w.opts.ListTimeout) == nil && ctx.Err() == nil {
					return
				}
			}
			for _, project := range projects {
				if running[project] == nil { // what is said of all projects must not come before it
					w.sink(project, core.Delta{Source: core.SourceClusters, At: time.Now(), State: core.SourceConnecting})
					running[project] = []*branch{w.begin(ctx, project, fleetClusters(project), func(d core.Delta) {
						w.sink(project, d)
						w.clustersCame(project, d)
					}, len(running))}
				}
			}
			switch {
			case unlisted != nil:
				w.sink("", *unlisted)
			case told: // what was said of all of them is over: each speaks for itself
				w.sink("", core.Delta{Source: core.SourceClusters, At: time.Now(), State: core.SourceOff, Replace: true})
			}
			told = unlisted != nil
			for _, project := range slices.Sorted(maps.Keys(running)) {
				if unlisted == nil && !slices.Contains(projects, project) { // it is gone
					end(project)
				}
			}
			look.Reset(w.opts.Look)
		}
	}
}

// clustersCame notes that a project has clusters: the rest of it is watched, too.
func (w *FleetWatcher) clustersCame(project string, d core.Delta) {
	if len(d.Upserts) == 0 {
		return
	}
	w.mu.Lock()
	known := w.having[project]
	w.having[project] = true
	w.mu.Unlock()
	if known {
		return
	}
	select {
	case w.found <- struct{}{}:
	default:
	}
}

// listProjects are the namespaces that there are. Where these cannot be listed, they are the configured ones, if any, and unlisted says of
// the clusters' source why others are not seen.
func (w *FleetWatcher) listProjects(ctx context.Context, refused *core.APIError) (projects []string, unlisted *core.Delta) {
	list, err := w.client.listAll(ctx, resource{gvr: gvrNamespaces})
	if err == nil {
		for _, u := range list {
			projects = append(projects, u.GetName())
		}
		slices.Sort(projects)
		return projects, nil
	}
	told := *err
	told.Server = core.ServerManagement
	if err.Kind == core.ErrForbidden {
		told = *refused
		told.Message = refused.Message + "; nor may namespaces be listed, to look into each"
		told.Remedy = "Name your clusters with their projects in the configuration (clusters), or ask for " + managementRights + "."
	}
	state := core.SourceFailed
	if told.Kind == core.ErrForbidden {
		state = core.SourceForbidden
	}
	return w.opts.Projects, &core.Delta{Source: core.SourceClusters, At: time.Now(), State: state, Err: &told,
		Next: time.Now().Add(w.opts.Look)}
}

// machines watches the machines of the projects that SetMachines names.
func (w *FleetWatcher) machines(ctx context.Context) {
	running := map[string]*branch{}
	defer func() {
		for _, b := range running {
			b.stop()
			<-b.ended
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.changed:
		}
		w.mu.Lock()
		wanted := w.wanted
		w.mu.Unlock()
		for _, project := range slices.Sorted(maps.Keys(running)) {
			if !slices.Contains(wanted, project) {
				w.end(project, running[project])
				delete(running, project)
			}
		}
		for _, project := range wanted {
			if running[project] == nil {
				running[project] = w.begin(ctx, project, fleetMachines(project), func(d core.Delta) { w.sink(project, d) }, len(running))
			}
		}
	}
}
