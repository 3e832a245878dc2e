package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OpenStack holds the settings of the OpenStack controller (docs/mosk.md#settings). Zero fields take the defaults given
// here.
type OpenStack struct {
	Deployment  string   // name of the OpenStackDeployment; default osh-dev
	Version     string   // OpenStack's own release; default antelope
	Services    []string // service keys of the deployment; default the usual ones of a MOSK cloud
	Migrations  int      // instance_migrate_concurrency, per host; default 1
	MaxCompute  int      // nwl_parallel_max_compute; default 30
	MaxGateway  int      // nwl_parallel_max_gateway; default 1
	IgnoreZones bool     // respect_nova_az = false; default is to respect them
	KeepSwitch  bool     // automated_openvswitch_restart = false
	Fabric      bool     // Tungsten Fabric is the network back end: there are no Neutron agents
	OVN         bool     // ml2/ovn is the network back end
	SkipServers bool     // ndr_skip_instance_check: delete a node even with instances on it
	SkipVolumes bool     // ndr_skip_volume_check: delete a node even with volumes on it
	LooksOnce   bool     // it looks once whether a returning node's services report, and ignores what it sees, as Rockoon from 1.2 on does

	NodeLabels map[string]string // labels of the roles as KEY=VALUE, if the Deployment's variable changes the usual ones
}

func (o OpenStack) withDefaults() OpenStack {
	if o.Deployment == "" {
		o.Deployment = "osh-dev"
	}
	if o.Version == "" {
		o.Version = "antelope"
	}
	if len(o.Services) == 0 {
		o.Services = defaultServices
	}
	o.Migrations = max(o.Migrations, 1)
	if o.MaxCompute == 0 {
		o.MaxCompute = 30
	}
	if o.MaxGateway == 0 {
		o.MaxGateway = 1
	}
	return o
}

const openstackController = "openstack"

// rockoon is the OpenStack controller: one run of its pod, which keeps the settings it was started with. As with kopf,
// it serves every maintenance request in a separate handler that is retried every minute until it succeeds. Its memory
// is on the objects.
type rockoon struct {
	*env
	OpenStack
	release string     // OSCTL_CLUSTER_RELEASE of this run
	version string     // of the controller that runs
	roles   roleLabels // from the Deployment

	looked map[string]string // each node's state when its lock was last checked; only keepLocks uses it

	internal chan struct{} // holds a value while the in-process lock on the count of nodes in maintenance is held
}

// supervisor runs the controller's pod according to its Deployment: not at all with no replicas, and restarted when the
// template changes.
type supervisor struct {
	*env
	OpenStack
}

// podSpec is what determines a run of the controller's pod.
type podSpec struct {
	replicas         int32
	release, version string
	roles            string // the setting of the role labels
}

func podSpecOf(d *appsv1.Deployment) podSpec {
	spec := podSpec{replicas: 1}
	if d.Spec.Replicas != nil {
		spec.replicas = *d.Spec.Replicas
	}
	spec.release, spec.roles = releaseOf(d.Spec.Template.Spec.Containers), variableOf(d.Spec.Template.Spec.Containers, rolesVariable)
	for _, container := range d.Spec.Template.Spec.Containers {
		if i := strings.LastIndexByte(container.Image, ':'); i >= 0 {
			spec.version = container.Image[i+1:]
		}
	}
	return spec
}

func (s *supervisor) run(ctx context.Context, armed func()) {
	changed, stop := s.view.subscribe(statelessResource)
	defer stop()
	for first := true; ctx.Err() == nil; {
		d := s.view.deployment(rockoonNamespace, rockoonDeployment)
		if d == nil {
			s.pause(ctx, 0, changed)
			continue
		}
		spec := podSpecOf(d)
		roles, invalid := readRoles(spec.roles)
		if spec.replicas == 0 || spec.release == "" || invalid != nil || s.crashes(d) {
			if spec.release == "" {
				s.log.Warn("the controller cannot start: its Deployment names no release", "variable", releaseVariable)
			}
			if invalid != nil {
				s.log.Warn("the controller cannot start", "error", invalid)
			}
			armed() // LCM finds the locks in the state of the last run
			first = false
			s.pause(ctx, 0, changed)
			continue
		}
		run, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		r := &rockoon{env: s.env, OpenStack: s.OpenStack, release: spec.release, version: spec.version, roles: roles,
			internal: make(chan struct{}, 1)}
		begins := time.Duration(0) // a pod from before the simulation started long ago
		if !first {
			begins = s.timing.RockoonStart
		}
		first = false
		group.Go(func() { r.run(run, begins, armed) })
		for ctx.Err() == nil {
			if d := s.view.deployment(rockoonNamespace, rockoonDeployment); d == nil || podSpecOf(d) != spec || s.crashes(d) {
				break
			}
			s.pause(ctx, 0, changed)
		}
		cancel()
		group.Wait()
	}
}

// crashes tells whether no pod of the controller runs, because all of them crash.
func (s *supervisor) crashes(d *appsv1.Deployment) bool {
	return d.Status.ReadyReplicas == 0 && s.troubles.are(TroublePods, func(one *trouble) bool { return one.Workload == rockoonDeployment })
}

// run is one run of the pod. Its containers start at different speeds: the maintenance handlers serve at once, the one
// that applies the OpenStackDeployment begins after a while.
func (r *rockoon) run(ctx context.Context, begins time.Duration, armed func()) {
	var group sync.WaitGroup
	group.Go(func() {
		r.loop(ctx, "rockoon node", func(ctx context.Context) (time.Duration, error) {
			err := r.keepLocks(ctx)
			if err == nil {
				armed()
			}
			return time.Minute, err
		}, nodesResource, nodeLocks, nodeNotices, clusterLocks)
	})
	group.Go(func() {
		if r.clock.Sleep(ctx, begins) != nil {
			return
		}
		r.loop(ctx, "rockoon osdpl", func(ctx context.Context) (time.Duration, error) {
			return 30 * time.Second, r.applyDeployment(ctx)
		}, deployments)
	})
	group.Go(func() {
		r.loop(ctx, "rockoon health", func(ctx context.Context) (time.Duration, error) {
			return max(r.timing.HealthPeriod, time.Millisecond), r.updateHealth(ctx)
		})
	})
	group.Go(func() {
		if r.clock.Sleep(ctx, begins) != nil {
			return
		}
		r.loop(ctx, "rockoon tempest", r.serveTempest, osdplResource)
	})
	group.Go(func() {
		r.loop(ctx, "rockoon node status", r.clearDeadNodes, nodesResource)
	})
	for _, s := range []service{
		{resource: nodeRequests, changed: handler{"node_maintenance_request_change_handler", r.nodeRequested},
			deleted: handler{"node_maintenance_request_delete_handler", r.nodeReturned}},
		{resource: clusterRequests, changed: handler{"cluster_maintenance_request_change_handler", r.clusterRequested},
			deleted: handler{"cluster_maintenance_request_delete_handler", r.clusterReturned}},
		{resource: nodeDeletions, changed: handler{"node_deletion_request_change_handler", r.deletionRequested}},
		{resource: nodeLocks, deleted: handler{"node_workloadlock_request_delete_handler", r.lockDeleted}},
		{resource: nodeNotices, deleted: handler{"node_disable_notification_delete_handler", r.noticeDeleted}},
	} {
		group.Go(func() { r.serve(ctx, s) })
	}
	group.Wait()
}

// running returns the release and the version of the controller that its Deployment requests now.
func (e *env) running(ctx context.Context) (podSpec, error) {
	d, err := e.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
	if err != nil {
		return podSpec{}, fmt.Errorf("read deployment %s/%s: %w", rockoonNamespace, rockoonDeployment, err)
	}
	spec := podSpecOf(d)
	if spec.release == "" {
		return podSpec{}, fmt.Errorf("deployment %s/%s names no %s", rockoonNamespace, rockoonDeployment, releaseVariable)
	}
	return spec, nil
}

// clusterLockName and nodeLockName build the names as Rockoon does (docs/mosk.md#locks).
func (r *rockoon) clusterLockName() string         { return "openstack-" + r.Deployment }
func (r *rockoon) nodeLockName(node string) string { return "openstack-" + node }
func (r *rockoon) myClusterLock() lock             { return r.clusterLock(r.clusterLockName()) }
func (r *rockoon) myNodeLock(node string) lock     { return r.nodeLock(r.nodeLockName(node)) }
func (r *rockoon) stamped(text string) string      { return pyTime(r.clock.Now()) + " " + text }
func (r *rockoon) say(text string) map[string]any {
	return map[string]any{"errorMessage": r.stamped(text)}
}
func (r *rockoon) tell(ctx context.Context, l lock, text string) error {
	_, err := l.patchStatus(ctx, r.say(text))
	return err
}
