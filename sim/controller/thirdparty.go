package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ThirdParty is an application controller that does not belong to MOSK: the lock API is open, and LCM waits for every
// lock (docs/mosk.md#other-applications).
type ThirdParty struct {
	Name     string        // controllerName of its locks
	Cluster  string        // the cluster's name, the prefix of its ClusterWorkloadLock; empty: no such lock
	Nodes    []string      // Kubernetes names of the nodes with its lock
	Takes    time.Duration // from a node's request to its release; the way back takes at most half a minute
	Progress []string      // its messages meanwhile, in this order
	Failing  []string      // Kubernetes names of the nodes where it fails
	Error    string        // its message then
	Times    int           // how often it fails on such a node before it succeeds; negative: always
	Silent   bool          // it never answers
}

// thirdParty plays a ThirdParty. For each node it remembers when the work began and how often it failed.
type thirdParty struct {
	*env
	ThirdParty
	begun  map[string]time.Time
	failed map[string]int
}

func (p *thirdParty) nodeLockName(node string) string { return node + "-" + p.Name }
func (p *thirdParty) clusterLockName() string         { return p.Cluster + "-" + p.Name }

func (p *thirdParty) run(ctx context.Context, armed func()) {
	p.begun, p.failed = map[string]time.Time{}, map[string]int{}
	p.loop(ctx, p.Name, func(ctx context.Context) (time.Duration, error) {
		if err := p.keepLocks(ctx); err != nil {
			return 0, err
		}
		armed()
		if p.Silent {
			return 0, nil
		}
		if err := p.serveCluster(ctx); err != nil {
			return 0, err
		}
		return p.serveNodes(ctx)
	}, clusterRequests, nodeRequests, clusterLocks, nodeLocks, nodesResource)
}

func (p *thirdParty) keepLocks(ctx context.Context) error {
	release, _, err := p.deployedRelease(ctx)
	if err != nil {
		return err
	}
	if p.Cluster != "" {
		if _, err := p.clusterLock(p.clusterLockName()).ensure(ctx, map[string]any{"controllerName": p.Name}, nil, release); err != nil {
			return err
		}
	}
	nodes := p.view.nodes()
	for _, name := range p.Nodes {
		if nodes[name] == nil {
			continue
		}
		spec := map[string]any{"controllerName": p.Name, "nodeName": name}
		if _, err := p.nodeLock(p.nodeLockName(name)).ensure(ctx, spec, nil, release); err != nil {
			return err
		}
	}
	return p.dropLocks(ctx, p.Name, func(node string) bool { return nodes[node] != nil && slices.Contains(p.Nodes, node) })
}

// dropLocks deletes a controller's locks on nodes where it no longer has a workload.
func (e *env) dropLocks(ctx context.Context, controllerName string, wanted func(node string) bool) error {
	for _, lock := range e.view.objects(nodeLocks) {
		if lockController(lock) != controllerName || wanted(lockNode(lock)) || deleting(lock) {
			continue
		}
		if err := e.nodeLock(lock.GetName()).delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *thirdParty) serveCluster(ctx context.Context) error {
	if p.Cluster == "" {
		return nil
	}
	requests, err := p.requests(ctx, clusterRequests)
	if err != nil {
		return err
	}
	l := p.clusterLock(p.clusterLockName())
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	state := stateActive
	if len(requests) > 0 && !deleting(&requests[0]) {
		state = stateInactive
	}
	if lockState(object) == state {
		return nil
	}
	return l.setState(ctx, state, nil)
}

// serveNodes moves every lock on whose time has come, and returns when the next is due.
func (p *thirdParty) serveNodes(ctx context.Context) (time.Duration, error) {
	locks, err := p.locksOf(ctx, nodeLocks, p.Name)
	if err != nil {
		return 0, err
	}
	var due dueTime
	for i := range locks {
		next, err := p.serveNode(ctx, &locks[i])
		if err != nil {
			return 0, err
		}
		due.add(next)
	}
	return due.in(p.clock.Now()), nil
}

func (p *thirdParty) serveNode(ctx context.Context, object *unstructured.Unstructured) (time.Time, error) {
	name, now := lockNode(object), p.clock.Now()
	request, err := p.requestFor(ctx, name)
	if err != nil {
		return time.Time{}, err
	}
	l := p.nodeLock(object.GetName())
	if request == nil || deleting(request) {
		node := p.view.nodes()[name]
		delete(p.begun, name)
		delete(p.failed, name)
		if lockState(object) == stateActive || node == nil || nodeReady(node).Status != corev1.ConditionTrue {
			return time.Time{}, nil
		}
		return time.Time{}, l.setState(ctx, stateActive, map[string]any{"errorMessage": nil, "inactivationProgress": nil})
	}
	if lockState(object) != stateActive { // released; or failed, until the lock is armed again
		delete(p.begun, name)
		return time.Time{}, nil
	}
	if p.begun[name].IsZero() {
		p.begun[name] = now
	}
	end := p.begun[name].Add(p.Takes)
	if now.Before(end) {
		return p.report(ctx, l, object, now.Sub(p.begun[name]), p.begun[name])
	}
	if slices.Contains(p.Failing, name) && (p.Times < 0 || p.failed[name] < p.Times) {
		p.failed[name]++
		delete(p.begun, name)
		return time.Time{}, l.setState(ctx, stateFailed, map[string]any{"errorMessage": p.Error})
	}
	return time.Time{}, l.setState(ctx, stateInactive, map[string]any{"errorMessage": nil,
		"inactivationProgress": map[string]any{"description": "done", "percentage": 100}})
}

// report writes the progress of the work on a node, and returns when the next message is due.
func (p *thirdParty) report(ctx context.Context, l lock, object *unstructured.Unstructured, elapsed time.Duration,
	begun time.Time) (time.Time, error) {
	if len(p.Progress) == 0 {
		return begun.Add(p.Takes), nil
	}
	steps := time.Duration(len(p.Progress))
	i := min(int(elapsed*steps/p.Takes), len(p.Progress)-1)
	next := begun.Add(p.Takes * time.Duration(i+1) / steps)
	if text(object, "status", "inactivationProgress", "description") == p.Progress[i] && text(object, "status", "errorMessage") == "" {
		return next, nil
	}
	_, err := l.patchStatus(ctx, map[string]any{"errorMessage": nil,
		"inactivationProgress": map[string]any{"description": p.Progress[i], "percentage": 100 * i / len(p.Progress)}})
	return next, err
}
