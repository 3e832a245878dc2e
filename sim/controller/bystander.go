package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Bystander plays the owners of locks found on a live cluster that no other controller here owns. It releases each lock
// some time after the request for its node or for the cluster, and takes the lock back when the request is over. It
// neither creates nor deletes locks. A lock in the state failed stays failed until the request is over: its owner needs
// a person.
type Bystander struct {
	ClusterLocks []string      // names
	NodeLocks    []string      // names
	Takes        time.Duration // from a request to the release; default one minute
}

type bystander struct {
	*env
	Bystander
	from time.Time // when it began to look: a lock held longer than Takes was held for a reason
}

func (b *bystander) run(ctx context.Context, armed func()) {
	if b.Takes == 0 {
		b.Takes = time.Minute
	}
	b.from = b.clock.Now()
	b.loop(ctx, "bystander", func(ctx context.Context) (time.Duration, error) {
		armed()
		var due dueTime
		var failed error
		for _, list := range []struct {
			resource, requests schema.GroupVersionResource
			names              []string
		}{{clusterLocks, clusterRequests, b.ClusterLocks}, {nodeLocks, nodeRequests, b.NodeLocks}} {
			requests, err := b.requests(ctx, list.requests)
			if err != nil {
				return 0, err
			}
			for _, name := range list.names {
				next, err := b.serve(ctx, lock{env: b.env, resource: list.resource, name: name}, requests)
				failed = errors.Join(failed, err)
				due.add(next)
			}
		}
		return due.in(b.clock.Now()), failed
	}, clusterRequests, nodeRequests, clusterLocks, nodeLocks)
}

// serve sets one lock to the state its owner would set now, and returns when to look again; zero means at the next
// change.
func (b *bystander) serve(ctx context.Context, l lock, requests []unstructured.Unstructured) (time.Time, error) {
	object := b.view.object(l.resource, l.name)
	if object == nil {
		return time.Time{}, nil
	}
	var request *unstructured.Unstructured
	for i := range requests {
		if r := &requests[i]; requestNode(r) == lockNode(object) && !deleting(r) {
			request = r
		}
	}
	state := lockState(object)
	switch {
	case request == nil && (state == stateActive || state == ""):
		return time.Time{}, nil
	case request == nil:
		return time.Time{}, b.settle(ctx, l, stateActive, nil)
	case state != stateActive && state != "":
		return time.Time{}, nil
	}
	asked := request.GetCreationTimestamp().Time
	if asked.Before(b.from) {
		asked = b.from
	}
	if due := asked.Add(b.Takes); b.clock.Now().Before(due) {
		return due, nil
	}
	return time.Time{}, b.settle(ctx, l, stateInactive, map[string]any{"release": requestRelease(request)})
}

func (b *bystander) settle(ctx context.Context, l lock, state string, more map[string]any) error {
	if err := l.setState(ctx, state, more); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("settle lock %s: %w", l.name, err)
	}
	return nil
}

// Calls tells whether the controllers here would give this name to the lock of a controllerName, on a node or (with an
// empty node) on the cluster. OpenStack's lock is named after its deployment, Tungsten Fabric's after its operator.
func Calls(controllerName, name, node, deployment, operator string) bool {
	switch controllerName {
	case openstackController:
		return node != "" && name == "openstack-"+node || node == "" && name == "openstack-"+deployment
	case cephController:
		return node != "" && name == cephNodeLock(node) || node == "" && name == cephClusterLock
	case fabricController:
		return node != "" && name == "tf-"+node || node == "" && name == "tf-"+operator
	}
	return false
}
