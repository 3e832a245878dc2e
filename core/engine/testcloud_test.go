package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/derivedtest"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/scene"
)

// testCloud is a cluster and a cloud of three computes behind the engine's ports. It keeps every write that reached it.
type testCloud struct {
	compared    bool      // what the engine derives from its Snapshots is compared with what is derived anew
	since       time.Time // since when the cluster's clock goes; zero: it stands still
	mu          sync.Mutex
	annotations map[string]map[string]string // by node
	uids        map[string]string            // of the nodes
	instances   map[string]*core.Instance
	blind       int                          // so many lists of a host's instances are answered as if the host had none
	migrations  map[string][]*core.Migration // newest last
	blindTo     map[string]int               // so many lists of a host's or an instance's migrations are answered as if there were none
	services    map[string]*core.ComputeService
	volumes     map[string]*core.VolumeService // by what Cinder calls their hosts
	locks       map[string]*core.WorkloadLock  // the openstack lock, by node
	requests    map[string]*core.MaintenanceRequest
	cluster     *core.MaintenanceRequest // the cluster's; nil when nobody asks for it
	clusterLock *core.WorkloadLock
	notReady    map[string][]string // pods, by namespace/node
	stateful    []*core.StatefulSet // their pods are among those of daemons
	unlisted    []core.SourceID     // sources of which nothing is told
	noQuorum    error               // the answer to a query for a StatefulSet; nil: it is answered
	osdpl       *core.OpenStackStatus
	rockoon     *core.Deployment
	pods        *core.NodePods // of cmp-1; nil: all ready
	agents      []*core.NetworkAgent
	roles       map[string][]core.Role // of the nodes that are not computes
	dead        map[string]bool        // nodes whose kubelets do not report
	deletions   []*core.NodeNotice
	onDisks     map[string][]core.Volume // of the nodes' own
	disablings  []*core.NodeNotice
	lastID      int

	writes []string

	lives func(run string) (string, bool) // whether another run on the journal lives; nil: by its locks

	held       bool
	holder     string
	doing      core.Doing // what the holder of the lease does
	leaseErr   error
	unsure     error                     // the answer to who holds the lease; nil: it is told
	onRelease  func(ctx context.Context) // called when the lease is given back, to make the server slow
	takenBy    string                    // somebody else who has the lease by now, unknown to Lockstep
	fail       map[string]*core.APIError // by action: what its next call answers
	lose       map[string]bool           // by action: it is done, and its answer is lost
	unseen     *core.APIError            // what the server says when it is asked for an instance; nil: it shows it
	migrating  bool                      // live migrations stay under way until finish, evacuations for good
	failMoves  bool                      // live migrations are accepted and then fail
	lateAborts bool                      // a migration ends before it can be aborted
	follows    bool                      // the OpenStack controller begins another migration as soon as one has ended
	failFirst  int                       // this many of the next ones fail
	onWrite    func(action string)
	confirms   bool                                          // cold migrations are confirmed at once, as with Nova's resize_confirm_window
	onAsked    func()                                        // called when nova-compute or the pods are asked for, with the cloud's lock
	onLock     func(l *core.WorkloadLock, to core.LockState) // called when a lock is set; the caller holds the cloud's lock
	daemons    testDaemons
	testClaims
}

const failText = "No valid host was found. There are not enough hosts available."

func newTestCloud() *testCloud {
	c := &testCloud{
		annotations: map[string]map[string]string{}, uids: map[string]string{}, instances: map[string]*core.Instance{},
		migrations: map[string][]*core.Migration{}, services: map[string]*core.ComputeService{}, volumes: map[string]*core.VolumeService{},
		locks:    map[string]*core.WorkloadLock{},
		requests: map[string]*core.MaintenanceRequest{}, fail: map[string]*core.APIError{}, lose: map[string]bool{},
	}
	for _, name := range []string{"cmp-1", "cmp-2", "cmp-3"} {
		c.annotations[name] = map[string]string{core.AnnotationMigrationMode: "manual"}
		c.uids[name] = "uid-" + name
		c.services[name] = &core.ComputeService{ID: "svc-" + name, Host: name, Enabled: true, Up: true, Zone: "nova", Updated: worldTime}
		c.locks[name] = &core.WorkloadLock{Meta: core.Meta{Name: "openstack-" + name, UID: "lock-" + name, Created: worldTime.Add(-time.Hour)},
			Kind: core.KindNodeWorkloadLock, Controller: core.ControllerOpenStack, Node: name, RawState: core.LockActive,
			InnerState: core.InnerInactive}
	}
	c.locks["cmp-1"].InnerState = core.InnerActive
	c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr-1", Created: worldTime.Add(-10 * time.Minute),
		Finalizers: scene.HeldBy},
		Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS, Release: "21.0.0+25.2"}
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		c.add(name, "cmp-1")
	}
	c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime.Add(-time.Hour),
		Finalizers: scene.HeldBy}, Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2"}
	c.clusterLock = &core.WorkloadLock{Meta: core.Meta{Name: "openstack-osh", UID: "cwl", Created: worldTime.Add(-time.Hour)},
		Kind:       core.KindClusterWorkloadLock,
		Controller: core.ControllerOpenStack, RawState: core.LockInactive}
	return c
}

func (c *testCloud) add(name, host string) {
	c.instances["id-"+name] = &core.Instance{ID: "id-" + name, Name: name, Host: host, Status: "ACTIVE", VMState: "active",
		Power:     core.PowerRunning,
		TagsKnown: true, Zone: "nova", SharedFlavor: &core.Flavor{Name: "m1", VCPUs: 2, RAMMiB: 4096, DiskGiB: 20}, Created: worldTime,
		Updated: worldTime}
}

// deltas are the whole cloud, as the adapters report it.
func (c *testCloud) deltas(now time.Time) []core.Delta {
	c.mu.Lock()
	defer c.mu.Unlock()
	var nodes, locks, requests, instances, services, migrations []core.Object
	for name, uid := range c.uids {
		nodes = append(nodes, &core.Node{Meta: core.Meta{Name: name, UID: uid, Created: worldTime.Add(-time.Hour)},
			Roles: []core.Role{core.RoleCompute}, Ready: c.ready(name),
			ReadySince: readySince, Annotations: maps.Clone(c.annotations[name])})
		if roles := c.roles[name]; roles != nil {
			nodes[len(nodes)-1].(*core.Node).Roles = roles
		}
		if l := c.locks[name]; l != nil {
			cp := *l
			locks = append(locks, &cp)
		}
		s := *c.services[name]
		services = append(services, &s)
	}
	for _, r := range c.requests {
		cp := *r
		requests = append(requests, &cp)
	}
	for _, in := range c.instances {
		cp := *in
		instances = append(instances, &cp)
	}
	for _, ms := range c.migrations {
		for _, m := range ms {
			cp := *m
			migrations = append(migrations, &cp)
		}
	}
	var cluster []core.Object
	if c.cluster != nil {
		cp := *c.cluster
		cluster = append(cluster, &cp)
	}
	cwl := *c.clusterLock
	var pods []core.Object
	for _, name := range []string{"cmp-1", "cmp-2", "cmp-3"} {
		p := core.NodePods{Node: name}
		if c.pods != nil && c.pods.Node == name {
			p = *c.pods
		}
		p.NodeReadySince = readySince
		pods = append(pods, &p)
	}
	var osdpl, rockoon, agents []core.Object
	if c.osdpl != nil {
		cp := *c.osdpl
		osdpl = append(osdpl, &cp)
	}
	if c.rockoon != nil {
		rockoon = append(rockoon, c.rockoon)
	}
	for _, a := range c.agents {
		agents = append(agents, a)
	}
	for name, l := range c.locks {
		if _, ok := c.uids[name]; !ok { // of a node that has left the cluster
			cp := *l
			locks = append(locks, &cp)
		}
	}
	for name, svc := range c.services {
		if _, ok := c.uids[name]; !ok {
			cp := *svc
			services = append(services, &cp)
		}
	}
	var deletions, disablings []core.Object
	for _, d := range c.deletions {
		deletions = append(deletions, d)
	}
	for _, d := range c.disablings {
		disablings = append(disablings, d)
	}
	var onDisks []core.Object
	for name := range c.uids {
		onDisks = append(onDisks, &core.HostVolumes{Host: name, Volumes: c.onDisks[name]})
	}
	all := map[core.SourceID][]core.Object{
		core.SourceNodes: nodes, core.SourceNodeLocks: locks, core.SourceNodeRequests: requests, core.SourceClusterRequests: cluster,
		core.SourceClusterLocks: {&cwl},
		core.SourceVolumes:      onDisks, core.SourceDeletionRequests: deletions, core.SourceDisableNotices: disablings,
		core.SourceOpenStackStatus: osdpl, core.SourceOpenStackController: rockoon, core.SourceNodePods: pods,
		core.SourceInstances: instances, core.SourceComputeServices: services, core.SourceMigrations: migrations,
		core.SourceNetworkAgents: agents, core.SourceProjects: nil,
		core.SourceVolumeServices: c.volumeServices(),
	}
	maps.Copy(all, c.daemons.objects())
	for _, set := range c.stateful {
		all[core.SourceStatefulSets] = append(all[core.SourceStatefulSets], set)
	}
	maps.Copy(all, c.claimObjects())
	for _, id := range c.unlisted {
		delete(all, id)
	}
	var out []core.Delta
	for id, objects := range all {
		out = append(out, core.Delta{Source: id, State: core.SourceLive, Replace: true, Upserts: objects, At: now})
	}
	return out
}

// write is the only way into the cloud: it records the write, and answers as the test wants it.
func (c *testCloud) write(action, object string, do func() error) error {
	if c.onWrite != nil {
		c.onWrite(action)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, action+" "+object)
	if err := c.fail[action]; err != nil {
		delete(c.fail, action)
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if c.lose[action] {
		delete(c.lose, action)
		return &core.APIError{Kind: core.ErrTimeout, Call: action, Message: "no answer in time"}
	}
	return nil
}

func (c *testCloud) written() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.writes)
}

// Write implements ChangeWriter.
func (c *testCloud) Write(_ context.Context, p Permit, change core.Change) error {
	if err := TakePermit(p, change, core.ServerKubernetes); err != nil {
		return err
	}
	return c.make(change, false)
}

// DryRun implements DryRunner.
func (c *testCloud) DryRun(_ context.Context, change core.Change) error { return c.make(change, true) }

// make makes a change of the cluster or the cloud, or only checks whether it could be made.
func (c *testCloud) make(change core.Change, dryRun bool) error {
	switch change := change.(type) {
	case core.SetNodeAnnotation:
		return c.setNodeAnnotation(change, dryRun)
	case core.SetLock:
		return c.setLock(change, dryRun)
	case core.SetInnerState:
		return c.setInnerState(change, dryRun)
	case core.CreateLock:
		return c.createLock(change.Lock, dryRun)
	case core.CreateRequest:
		return c.createRequest(change.Request, dryRun)
	case core.DeleteObject:
		return c.delete(change.Object, dryRun)
	case core.AddFinalizer:
		return c.addFinalizer(change, dryRun)
	case core.RemoveFinalizer:
		return c.removeFinalizer(change, dryRun)
	case core.RestartPod:
		return c.deletePod(change.Pod, dryRun)
	case core.DeletePod:
		return c.deletePod(change.Pod, dryRun)
	case core.DeleteClaim:
		return c.deleteClaim(change.Claim, dryRun)
	case core.SetTempest:
		return c.setTempest(change, dryRun)
	case core.InstanceAction:
		return c.act(change)
	case core.SetMaintenanceTags:
		return c.setTags(change)
	case core.SetComputeService:
		return c.setComputeService(change)
	case core.SetVolumeService:
		return c.setVolumeService(change)
	}
	return NoSuchChange(change, core.ServerKubernetes)
}

// act performs an action of Nova on an instance.
func (c *testCloud) act(a core.InstanceAction) error {
	do := map[core.IntentKind]func(id string) error{
		core.IntentLiveMigrate: c.liveMigrate, core.IntentColdMigrate: c.coldMigrate, core.IntentConfirmResize: c.confirmResize,
		core.IntentRevertResize: c.revertResize, core.IntentStop: c.stop, core.IntentStart: c.start, core.IntentResume: c.resume,
		core.IntentShelve:   c.shelve,
		core.IntentUnshelve: c.unshelve, core.IntentEvacuate: c.evacuate, core.IntentResetState: c.resetState,
		core.IntentAbortMigration: c.abortMigration,
		core.IntentForceComplete:  c.forceComplete,
	}[a.Do]
	if do == nil {
		return NoSuchChange(a, core.ServerOpenStack)
	}
	return do(a.Instance.UID)
}

func conflict(format string, args ...any) error {
	return &core.APIError{Kind: core.ErrConflict, Call: "test", Message: fmt.Sprintf(format, args...), Status: 409}
}

func (c *testCloud) setNodeAnnotation(a core.SetNodeAnnotation, dryRun bool) error {
	ref, key, old, new := a.Node, a.Key, a.Old, a.New
	do := func() error {
		if c.uids[ref.Name] != ref.UID {
			return conflict("the UID of %s is %s", ref.Name, c.uids[ref.Name])
		}
		v, set := c.annotations[ref.Name][key]
		if set != (old != nil) || set && v != *old {
			return conflict("%s is %q", key, v)
		}
		if dryRun {
			return nil
		}
		if new == nil {
			delete(c.annotations[ref.Name], key)
		} else {
			c.annotations[ref.Name][key] = *new
		}
		return nil
	}
	if dryRun {
		c.mu.Lock()
		defer c.mu.Unlock()
		return do()
	}
	return c.write("annotate", ref.Name+"="+wording.TextOr(new, "-"), do)
}

func (c *testCloud) NodeAnnotation(_ context.Context, ref core.Ref, key string) (*string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.uids[ref.Name]; !there {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerKubernetes, Call: "get node " + ref.Name}
	}
	if v, ok := c.annotations[ref.Name][key]; ok {
		return &v, nil
	}
	return nil, nil
}

// ready is the Ready condition of a node. mu is held.
func (c *testCloud) ready(name string) string {
	if c.dead[name] {
		return "Unknown"
	}
	return "True"
}

func (c *testCloud) Node(_ context.Context, ref core.Ref) (*core.Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid, there := c.uids[ref.Name]
	if !there {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerKubernetes, Call: "get node " + ref.Name}
	}
	return &core.Node{Meta: core.Meta{Name: ref.Name, UID: uid}, Ready: c.ready(ref.Name)}, nil
}

func (c *testCloud) Instance(_ context.Context, id string) (*core.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unseen != nil {
		return nil, c.unseen
	}
	in := c.instances[id]
	if in == nil {
		return nil, &core.APIError{Kind: core.ErrNotFound, Call: "show instance", Status: 404}
	}
	cp := *in
	return &cp, nil
}

func (c *testCloud) InstancesOf(_ context.Context, host string) ([]*core.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*core.Instance
	if c.blind > 0 {
		c.blind--
		return nil, nil
	}
	for _, in := range c.instances {
		if in.Host == host {
			cp := *in
			out = append(out, &cp)
		}
	}
	return out, nil
}

func (c *testCloud) MigrationsOf(_ context.Context, id string) ([]*core.Migration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*core.Migration
	if c.overlooks(id) {
		return nil, nil
	}
	for _, m := range c.migrations[id] {
		cp := *m
		out = append(out, &cp)
	}
	slices.Reverse(out)
	return out, nil
}

func (c *testCloud) MigrationsOn(_ context.Context, host string) ([]*core.Migration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*core.Migration
	if c.overlooks(host) {
		return nil, nil
	}
	for _, ms := range c.migrations {
		for _, m := range ms {
			if m.SourceHost == host || m.DestHost == host {
				cp := *m
				out = append(out, &cp)
			}
		}
	}
	return out, nil
}

// overlooks tells whether a list of migrations is answered as if there were none. The caller holds the lock.
func (c *testCloud) overlooks(of string) bool {
	if c.blindTo[of] == 0 {
		return false
	}
	c.blindTo[of]--
	return true
}

// action is one of Nova's actions: it needs the instance to be at rest.
func (c *testCloud) action(name, id string, do func(*core.Instance) error) error {
	return c.write(name, id, func() error {
		in := c.instances[id]
		if in == nil {
			return &core.APIError{Kind: core.ErrNotFound, Call: name, Status: 404}
		}
		if in.TaskState != "" && name != "abort" && name != "force" {
			return conflict("Cannot '%s' instance %s while it is in task_state %s", name, id, in.TaskState)
		}
		return do(in)
	})
}

func (c *testCloud) liveMigrate(id string) error {
	return c.action("live-migrate", id, func(in *core.Instance) error {
		c.lastID++
		m := &core.Migration{ID: c.lastID, InstanceID: id, Type: core.MigrationLive, Status: "running", SourceHost: in.Host, DestHost: "cmp-2",
			Created: worldTime}
		c.migrations[id] = append(c.migrations[id], m)
		in.Status, in.TaskState = "MIGRATING", "migrating"
		if !c.migrating {
			c.finish(id)
		}
		return nil
	})
}

// finish ends the migration of an instance. The caller holds the lock.
func (c *testCloud) finish(id string) {
	in, ms := c.instances[id], c.migrations[id]
	if in == nil || in.TaskState != "migrating" {
		return
	}
	m := ms[len(ms)-1]
	in.Status, in.TaskState = "ACTIVE", ""
	if c.follows {
		defer c.follow(id)
	}
	if c.failMoves || c.failFirst > 0 {
		c.failFirst--
		m.Status, m.Failure = "error", failText
		return
	}
	m.Status, in.Host = "completed", m.DestHost
}

func (c *testCloud) coldMigrate(id string) error {
	return c.action("cold-migrate", id, func(in *core.Instance) error {
		c.lastID++
		c.migrations[id] = append(c.migrations[id],
			&core.Migration{ID: c.lastID, InstanceID: id, Type: core.MigrationCold, Status: "finished", SourceHost: in.Host, DestHost: "cmp-2",
				Created: worldTime})
		in.Status, in.VMState, in.Host = "VERIFY_RESIZE", "resized", "cmp-2"
		if c.confirms {
			in.Status, in.VMState, c.migrations[id][len(c.migrations[id])-1].Status = "ACTIVE", "active", "confirmed"
		}
		return nil
	})
}

func (c *testCloud) confirmResize(id string) error {
	return c.action("confirm", id, func(in *core.Instance) error {
		in.Status, in.VMState = "ACTIVE", "active"
		c.decided(id, "confirmed")
		return nil
	})
}

func (c *testCloud) revertResize(id string) error {
	return c.action("revert", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Host = "ACTIVE", "active", "cmp-1"
		c.decided(id, "reverted")
		return nil
	})
}

// decided ends the newest migration of an instance. The caller holds the lock.
func (c *testCloud) decided(id, status string) {
	if ms := c.migrations[id]; len(ms) > 0 {
		ms[len(ms)-1].Status = status
	}
}

func (c *testCloud) stop(id string) error {
	return c.action("stop", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
		return nil
	})
}

func (c *testCloud) start(id string) error {
	return c.action("start", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Power = "ACTIVE", "active", core.PowerRunning
		return nil
	})
}

func (c *testCloud) resetState(id string) error {
	return c.write("reset-state", id, func() error {
		in := c.instances[id]
		in.Status, in.VMState, in.TaskState = "ACTIVE", "active", ""
		return nil
	})
}

func (c *testCloud) evacuate(id string) error {
	return c.action("evacuate", id, func(in *core.Instance) error {
		if svc := c.services[in.Host]; svc.Up {
			return conflict("Compute service of %s is still in use.", in.Host)
		}
		if c.migrating {
			c.lastID++
			c.migrations[id] = append(c.migrations[id], &core.Migration{ID: c.lastID, InstanceID: id, Type: core.MigrationEvacuation,
				Status: "accepted", SourceHost: in.Host, DestHost: "cmp-2", Created: worldTime})
			in.Status, in.TaskState = "REBUILD", "rebuilding"
			return nil
		}
		in.Host, in.Status, in.VMState, in.Power = "cmp-2", "ACTIVE", "active", core.PowerRunning
		return nil
	})
}

func (c *testCloud) resume(id string) error {
	return c.action("resume", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Power = "ACTIVE", "active", core.PowerRunning
		return nil
	})
}

func (c *testCloud) shelve(id string) error {
	return c.action("shelve", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Power, in.Host = "SHELVED_OFFLOADED", "shelved_offloaded", core.PowerShutdown, ""
		return nil
	})
}

func (c *testCloud) unshelve(id string) error {
	return c.action("unshelve", id, func(in *core.Instance) error {
		in.Status, in.VMState, in.Power, in.Host = "ACTIVE", "active", core.PowerRunning, "cmp-2"
		return nil
	})
}

func (c *testCloud) setTags(t core.SetMaintenanceTags) error {
	id, tags := t.Instance.UID, t.All
	return c.write("tags", id+" "+strings.Join(tags, " "), func() error {
		c.instances[id].Tags = slices.Clone(tags)
		return nil
	})
}

func (c *testCloud) abortMigration(id string) error {
	return c.action("abort", id, func(in *core.Instance) error {
		if c.lateAborts {
			c.finish(id)
			return nil
		}
		ms := c.migrations[id]
		ms[len(ms)-1].Status = "cancelled"
		in.Status, in.TaskState = "ACTIVE", ""
		if c.follows {
			c.follow(id)
		}
		return nil
	})
}

// follow begins another migration of an instance, as the OpenStack controller does. The caller holds the lock.
func (c *testCloud) follow(id string) {
	in := c.instances[id]
	c.lastID++
	c.migrations[id] = append(c.migrations[id],
		&core.Migration{ID: c.lastID, InstanceID: id, Type: core.MigrationLive, Status: "running", SourceHost: in.Host, DestHost: "cmp-3",
			Created: worldTime})
	in.Status, in.TaskState = "MIGRATING", "migrating"
}

func (c *testCloud) forceComplete(id string) error {
	return c.action("force", id, func(*core.Instance) error { c.finish(id); return nil })
}

func (c *testCloud) ComputeService(_ context.Context, host string) (*core.ComputeService, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onAsked != nil {
		c.onAsked()
	}
	s := c.services[host]
	if s == nil {
		return nil, &core.APIError{Kind: core.ErrNotFound, Call: "show compute service", Status: 404}
	}
	cp := *s
	return &cp, nil
}

func (c *testCloud) setComputeService(s core.SetComputeService) error {
	id, enabled, reason := s.Service.UID, s.Enabled, s.Reason
	return c.write("service", fmt.Sprintf("%s %v", id, enabled), func() error {
		for _, s := range c.services {
			if s.ID == id {
				s.Enabled, s.DisabledReason = enabled, reason
			}
		}
		return nil
	})
}

func (c *testCloud) Acquire(_ context.Context, from string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaseErr != nil {
		return c.leaseErr
	}
	if c.holder != "" && !c.held && c.holder != from {
		return &core.APIError{Kind: core.ErrConflict, Call: "take the operator lease", Message: c.holder + " holds it"}
	}
	c.held, c.holder = true, "anna@jump01"
	return nil
}

func (c *testCloud) Looked() bool { return true }

func (c *testCloud) Held() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

func (c *testCloud) Confirm(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.takenBy != "" {
		c.held, c.holder = false, c.takenBy
		return &core.APIError{Kind: core.ErrConflict, Call: "take the operator lease", Message: c.takenBy + " holds it"}
	}
	return c.unsure
}

func (c *testCloud) Holder() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holder
}

func (c *testCloud) Does() core.Doing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return core.Doing{}
	}
	return c.doing
}

func (c *testCloud) LookNow() {}

func (c *testCloud) Tell(d core.Doing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doing = d
}

func (c *testCloud) Release(ctx context.Context) error {
	if c.onRelease != nil {
		c.onRelease(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held, c.holder = false, ""
	return nil
}

// bench is an Engine at work on a testCloud, in the bubble of its test.
type bench struct {
	t      testing.TB
	cloud  *testCloud
	engine *Engine
	path   string
	cancel context.CancelFunc
	ended  chan struct{}

	durable atomic.Int64 // bytes of the journal

	recorded *recordedRun // nil when the cloud is not compared
}

func newBench(t testing.TB, dir string, cloud *testCloud) *bench {
	t.Helper()
	return newBenchWith(t, dir, cloud, core.DefaultSettings())
}

func newBenchWith(t testing.TB, dir string, cloud *testCloud, settings core.Settings) *bench {
	t.Helper()
	b := &bench{t: t, cloud: cloud, path: filepath.Join(dir, "journal.jsonl"), ended: make(chan struct{})}
	var past []Record
	if _, err := ReadJournal(b.path, func(r Record) { past = append(past, r) }); err != nil {
		t.Fatal(err)
	}
	journal, err := OpenJournal(b.path, JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	journal.sync = b.synced
	clock := func() time.Time { return worldTime }
	if !cloud.since.IsZero() {
		clock = func() time.Time { return worldTime.Add(time.Since(cloud.since)) }
	}
	cfg := Config{Cluster: "mos", Operator: "anna@jump01", Settings: settings, Journal: journal, Past: past,
		Kubernetes: cloud, OpenStack: cloud, Writers: Writers{Kubernetes: cloud, OpenStack: cloud}, Lease: cloud, Clock: clock,
		Lives: cloud.lives}
	if cloud.compared {
		b.recorded = recordRun(t, dir, &cfg, 0)
	}
	b.engine = New(cfg)
	if cloud.compared {
		b.recorded.published(b.engine.Snapshot())
		b.engine.published = func(s *core.Snapshot) {
			b.recorded.published(s)
			for _, d := range derivedtest.Differ(s) {
				t.Errorf("Snapshot %d: %s", s.Revision, d)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		defer close(b.ended)
		if err := b.engine.Run(ctx); err != nil {
			t.Error(err)
		}
		journal.Close()
	}()
	b.sync()
	return b
}

// synced takes as long as the slowest part of a journal on a disk, and notes how much would survive a power cut.
func (b *bench) synced(*os.File) error {
	info, err := os.Stat(b.path)
	if err == nil {
		b.durable.Store(info.Size())
	}
	return err
}

// end stops the engine, as leaving the program does.
func (b *bench) end() {
	b.cancel()
	<-b.ended
	if b.recorded != nil {
		b.recorded.compare()
	}
}

// sync tells the engine the whole state of the cloud, and returns when the engine has taken it in.
func (b *bench) sync() {
	for _, d := range b.cloud.deltas(time.Now()) {
		b.engine.Apply(d)
	}
	b.engine.call(b.engine.drain)
}

func (b *bench) arm() {
	b.t.Helper()
	if err := b.engine.Arm(context.Background(), ""); err != nil {
		b.t.Fatal(err)
	}
}

// confirm grants a step as it stands now, executes it, and returns the operation's ID.
func (b *bench) confirm(i core.Intent) (string, error) {
	step := step.Plan(b.engine.Snapshot(), i)
	g, err := b.engine.Grant(step, step.Type)
	if err != nil {
		return "", err
	}
	return b.engine.Execute(context.Background(), g)
}

func (b *bench) operation(id string) core.Operation {
	for _, op := range b.engine.Snapshot().Operations {
		if op.ID == id {
			return op
		}
	}
	return core.Operation{}
}

// patience is how long a test waits for anything.
const patience = 10 * time.Minute

// await waits until an operation is as wanted.
func (b *bench) await(id string, want func(core.Operation) bool) core.Operation {
	b.t.Helper()
	deadline := time.After(patience)
	snapshots, stop := b.engine.Subscribe()
	defer stop()
	for {
		if op := b.operation(id); op.ID != "" && want(op) {
			return op
		}
		select {
		case <-snapshots:
		case <-deadline:
			b.t.Fatalf("operation %s is %+v", id, b.operation(id))
		}
	}
}

func (b *bench) awaitEnd(id string) core.Operation {
	b.t.Helper()
	return b.await(id, func(op core.Operation) bool { return op.State.Ended() })
}

func (b *bench) journal() []Record {
	<-b.engine.scribe.written()
	var out []Record
	if _, err := ReadJournal(b.path, func(r Record) { out = append(out, r) }); err != nil {
		b.t.Fatal(err)
	}
	return out
}
