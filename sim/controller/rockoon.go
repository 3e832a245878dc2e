package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// OpenStack holds the settings of the OpenStack controller (mosk-facts 4.1, section Config). Fields that are zero take
// the defaults named.
type OpenStack struct {
	Deployment  string   // name of the OpenStackDeployment; default osh-dev
	Version     string   // OpenStack's own release; default antelope
	Services    []string // service keys of the deployment; default the usual ones of a MOSK cloud
	Migrations  int      // instance_migrate_concurrency, per host; default 1
	MaxCompute  int      // nwl_parallel_max_compute; default 30
	MaxGateway  int      // nwl_parallel_max_gateway; default 1
	IgnoreZones bool     // respect_nova_az = false; default is to respect them
	KeepSwitch  bool     // automated_openvswitch_restart = false
	Fabric      bool     // Tungsten Fabric is the network back end: there are no agents of Neutron's
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

// rockoon is the OpenStack controller. As kopf does for the real one, it serves every maintenance request in a handler of
// its own that is tried again every minute until it succeeds.
type rockoon struct {
	*env
	OpenStack

	internal sync.Mutex // the in-process lock around the count of nodes in maintenance
}

const openstackController = "openstack"

// errLater is kopf's TemporaryError: the handler runs again after Timing.Retry. Its text is only logged; what operators
// see was written to the lock before.
type errLater struct{ text string }

func (e errLater) Error() string { return e.text }

func later(format string, args ...any) error { return errLater{fmt.Sprintf(format, args...)} }

func (r *rockoon) run(ctx context.Context, armed func()) {
	var group sync.WaitGroup
	group.Go(func() {
		r.loop(ctx, "rockoon node", func(ctx context.Context) (time.Duration, error) {
			err := r.keepLocks(ctx)
			if err == nil {
				armed()
			}
			return time.Minute, err
		}, nodesResource, nodeLocks, clusterLocks)
	})
	group.Go(func() {
		r.loop(ctx, "rockoon osdpl", func(ctx context.Context) (time.Duration, error) {
			return 30 * time.Second, r.applyDeployment(ctx)
		}, deployments)
	})
	group.Go(func() { r.serve(ctx, nodeRequests, r.nodeRequested, r.nodeReturned) })
	group.Go(func() { r.serve(ctx, clusterRequests, r.clusterRequested, r.clusterReturned) })
	group.Wait()
}

type handler func(context.Context, *unstructured.Unstructured) error

// serve runs one goroutine for each maintenance request of a kind that exists.
func (r *rockoon) serve(ctx context.Context, resource schema.GroupVersionResource, created, deleted handler) {
	var mu sync.Mutex
	serving := map[types.UID]bool{}
	var group sync.WaitGroup
	r.loop(ctx, "rockoon "+resource.Resource, func(ctx context.Context) (time.Duration, error) {
		for _, object := range r.view.objects(resource) {
			uid, name := object.GetUID(), object.GetName()
			mu.Lock()
			busy := serving[uid]
			serving[uid] = true
			mu.Unlock()
			if busy {
				continue
			}
			group.Go(func() {
				r.serveOne(ctx, resource, name, uid, created, deleted)
				mu.Lock()
				delete(serving, uid)
				mu.Unlock()
			})
		}
		return time.Minute, nil
	}, resource)
	group.Wait()
}

// serveOne handles one request from its creation until it is gone.
func (r *rockoon) serveOne(ctx context.Context, resource schema.GroupVersionResource, name string, uid types.UID, created, deleted handler) {
	changed, stop := r.view.subscribe(resource)
	defer stop()
	handled := false
	for ctx.Err() == nil {
		object, err := r.dyn.Resource(resource).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid {
			return
		}
		isDeleting := err == nil && deleting(object)
		switch {
		case err != nil:
		case isDeleting:
			if err = deleted(ctx, object); err == nil {
				if object, err = r.dyn.Resource(resource).Get(ctx, name, metav1.GetOptions{}); err == nil && object.GetUID() == uid {
					err = r.release(ctx, resource, object)
				}
				if err == nil || apierrors.IsNotFound(err) {
					return
				}
			}
		case !handled:
			if err = r.hold(ctx, resource, object); err == nil {
				err = created(ctx, object)
			}
			handled = err == nil
		}
		if err == nil {
			r.pause(ctx, 0, changed)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		r.log.Info("handler will be retried", "resource", resource.Resource, "name", name, "error", err)
		r.waitRetry(ctx, resource, name, isDeleting)
	}
}

// waitRetry waits until the handler is due again. A deletion that was asked for meanwhile is another handler's, which runs
// at once.
func (r *rockoon) waitRetry(ctx context.Context, resource schema.GroupVersionResource, name string, isDeleting bool) {
	due := r.clock.Now().Add(r.timing.Retry)
	changed, stop := r.view.subscribe(resource)
	defer stop()
	for ctx.Err() == nil {
		left := due.Sub(r.clock.Now())
		if left <= 0 {
			return
		}
		if object := r.view.object(resource, name); !isDeleting && (object == nil || deleting(object)) {
			return
		}
		r.pause(ctx, left, changed)
	}
}

// running is the release and the version of the controller that its Deployment runs now.
func (r *rockoon) running(ctx context.Context) (release, version string, err error) {
	d, err := r.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
	if err != nil {
		return "", "", fmt.Errorf("read deployment %s/%s: %w", rockoonNamespace, rockoonDeployment, err)
	}
	for _, container := range d.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if variable.Name == releaseVariable {
				release = variable.Value
			}
		}
		if i := strings.LastIndexByte(container.Image, ':'); i >= 0 {
			version = container.Image[i+1:]
		}
	}
	if release == "" {
		return "", "", fmt.Errorf("deployment %s/%s names no %s", rockoonNamespace, rockoonDeployment, releaseVariable)
	}
	return release, version, nil
}

// clusterLockName and nodeLockName are as Rockoon builds them (mosk-facts 1.1).
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

// keepLocks makes the locks that should be there, brings their release up to date and deletes those of nodes that are gone
// or have lost their roles.
func (r *rockoon) keepLocks(ctx context.Context) error {
	release, _, err := r.running(ctx)
	if err != nil {
		return err
	}
	if seen := r.view.object(clusterLocks, r.clusterLockName()); seen == nil || lockState(seen) == "" {
		if _, err := r.myClusterLock().ensure(ctx, map[string]any{"controllerName": openstackController},
			map[string]string{annotationInner: stateInactive}, release); err != nil {
			return err
		}
	}
	wanted := map[string]bool{}
	for _, node := range r.view.nodes() {
		if len(rolesOf(node)) == 0 {
			continue
		}
		name := r.nodeLockName(node.Name)
		wanted[name] = true
		if seen := r.view.object(nodeLocks, name); seen != nil && lockState(seen) != "" && lockRelease(seen) == release {
			continue
		}
		if err := r.presentNode(ctx, node, release); err != nil {
			return err
		}
	}
	for _, object := range r.view.objects(nodeLocks) {
		if lockController(object) == openstackController && !wanted[object.GetName()] {
			if err := r.nodeLock(object.GetName()).delete(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// presentNode ensures the lock of a node. A lock of another release is one that an older controller left: it is armed
// again, at ours.
func (r *rockoon) presentNode(ctx context.Context, node *corev1.Node, release string) error {
	original, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Node", "spec": node.Spec,
		"metadata": map[string]any{"name": node.Name, "labels": node.Labels},
	})
	if err != nil {
		return fmt.Errorf("describe node %s: %w", node.Name, err)
	}
	l := r.myNodeLock(node.Name)
	object, err := l.ensure(ctx,
		map[string]any{"controllerName": openstackController, "nodeName": node.Name, "nodeDeletionRequestSupported": true},
		map[string]string{annotationInner: stateInactive, annotationOriginal: string(original)}, release)
	if err != nil || lockRelease(object) == release {
		return err
	}
	return l.setState(ctx, stateActive, map[string]any{"release": release})
}

// Roles of a node, in the order in which the controller knows them.
const (
	roleController = "controller"
	roleCompute    = "compute"
	roleGateway    = "gateway"
)

func rolesOf(node *corev1.Node) []string {
	var roles []string
	for _, r := range []struct{ role, label string }{
		{roleController, labelController}, {roleCompute, labelCompute}, {roleGateway, labelGateway},
	} {
		if node.Labels[r.label] == enabled {
			roles = append(roles, r.role)
		}
	}
	return roles
}
