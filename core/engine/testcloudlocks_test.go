package engine

import (
	"context"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/scene"
)

// lockOf returns the lock that a reference names. The caller holds c.mu.
func (c *testCloud) lockOf(ref core.Ref) (*core.WorkloadLock, error) {
	all := []*core.WorkloadLock{c.clusterLock}
	for _, l := range c.locks {
		all = append(all, l)
	}
	for _, l := range all {
		if l.Kind == ref.Kind && l.Name == ref.Name {
			if ref.UID != "" && ref.UID != l.UID {
				return nil, conflict("the UID of %s is %s", ref.Name, l.UID)
			}
			return l, nil
		}
	}
	return nil, &core.APIError{Kind: core.ErrNotFound, Call: "get lock", Status: 404}
}

func (c *testCloud) requestOf(ref core.Ref) (*core.MaintenanceRequest, error) {
	var found *core.MaintenanceRequest
	if c.cluster != nil && c.cluster.Kind == ref.Kind && c.cluster.Name == ref.Name {
		found = c.cluster
	}
	for _, r := range c.requests {
		if r.Kind == ref.Kind && r.Name == ref.Name {
			found = r
		}
	}
	switch {
	case found == nil:
		return nil, &core.APIError{Kind: core.ErrNotFound, Call: "get request", Status: 404}
	case ref.UID != "" && ref.UID != found.UID:
		return nil, conflict("the UID of %s is %s", ref.Name, found.UID)
	}
	return found, nil
}

// maybe does a write, or only checks whether it could be done.
func (c *testCloud) maybe(dryRun bool, action, object string, do func(dryRun bool) error) error {
	if dryRun {
		c.mu.Lock()
		defer c.mu.Unlock()
		return do(true)
	}
	return c.write(action, object, func() error { return do(false) })
}

func (c *testCloud) Lock(_ context.Context, ref core.Ref) (*core.WorkloadLock, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.lockOf(ref)
	if err != nil {
		return nil, err
	}
	cp := *l
	return &cp, nil
}

func (c *testCloud) setLock(s core.SetLock, dryRun bool) error {
	ref, was, to := s.Lock, s.Was, s.To
	return c.maybe(dryRun, "set-lock", ref.Name+"="+string(to.State), func(dryRun bool) error {
		l, err := c.lockOf(ref)
		switch {
		case err != nil:
			return err
		case l.RawState != was:
			return conflict("the state is %s", l.RawState)
		case !dryRun:
			if c.onLock != nil {
				c.onLock(l, to.State)
			}
			l.RawState, l.Message = to.State, to.Message
			if to.Release != "" {
				l.Release = to.Release
			}
		}
		return nil
	})
}

func (c *testCloud) setInnerState(s core.SetInnerState, dryRun bool) error {
	ref, was, to := s.Lock, s.Was, s.To
	return c.maybe(dryRun, "set-inner", ref.Name+"="+to, func(dryRun bool) error {
		l, err := c.lockOf(ref)
		switch {
		case err != nil:
			return err
		case l.InnerState != was:
			return conflict("inner_state is %s", l.InnerState)
		case !dryRun:
			l.InnerState = to
		}
		return nil
	})
}

func (c *testCloud) createLock(n core.NewLock, dryRun bool) error {
	return c.maybe(dryRun, "create-lock", n.Name, func(dryRun bool) error {
		if _, err := c.lockOf(n.Ref()); err == nil {
			return conflict("%s exists", n.Name)
		}
		if !dryRun {
			c.lastID++
			l := &core.WorkloadLock{Meta: core.Meta{Name: n.Name, UID: "lock-" + wording.Itoa(c.lastID), Created: worldTime}, Kind: n.Kind,
				Controller: n.Controller, Node: n.Node, Release: n.Release,
				NodeDeletionRequestSupported: n.Node != ""}
			if n.Node == "" {
				c.clusterLock = l
			} else {
				c.locks[n.Node] = l
			}
		}
		return nil
	})
}

func (c *testCloud) Request(_ context.Context, ref core.Ref) (*core.MaintenanceRequest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.requestOf(ref)
	if err != nil {
		return nil, err
	}
	cp := *r
	return &cp, nil
}

func (c *testCloud) Requests(context.Context) ([]*core.MaintenanceRequest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*core.MaintenanceRequest
	if c.cluster != nil {
		out = append(out, new(*c.cluster))
	}
	for _, r := range c.requests {
		out = append(out, new(*r))
	}
	return out, nil
}

func (c *testCloud) ControllerDeployment(context.Context) (*core.Deployment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rockoon == nil {
		return nil, nil
	}
	cp := *c.rockoon
	return &cp, nil
}

func (c *testCloud) createRequest(n core.NewRequest, dryRun bool) error {
	return c.maybe(dryRun, "create-request", n.Name, func(dryRun bool) error {
		if _, err := c.requestOf(n.Ref()); err == nil {
			return conflict("%s exists", n.Name)
		}
		if !dryRun {
			c.lastID++
			r := &core.MaintenanceRequest{Meta: core.Meta{Name: n.Name, UID: "request-" + wording.Itoa(c.lastID), Created: worldTime,
				Finalizers: scene.HeldBy}, Kind: n.Kind, Node: n.Node,
				Release: n.Release, Scope: n.Scope, MadeBy: core.MadeByLockstep}
			if n.Kind == core.KindClusterMaintenanceRequest {
				c.cluster = r
			} else {
				c.requests[n.Node] = r
			}
		}
		return nil
	})
}

func (c *testCloud) delete(ref core.Ref, dryRun bool) error {
	return c.maybe(dryRun, "delete", ref.Name, func(dryRun bool) error {
		if ref.Kind == core.KindNodeWorkloadLock {
			l, err := c.lockOf(ref)
			switch {
			case err != nil || dryRun:
				return err
			case len(l.Finalizers) > 0:
				l.Deleting = worldTime
			default:
				delete(c.locks, l.Node)
			}
			return nil
		}
		if _, err := c.requestOf(ref); err != nil {
			return err
		}
		if !dryRun {
			if c.cluster != nil && c.cluster.Name == ref.Name && c.cluster.Kind == ref.Kind {
				c.cluster = nil
			}
			for node, r := range c.requests {
				if r.Name == ref.Name && r.Kind == ref.Kind {
					delete(c.requests, node)
				}
			}
		}
		return nil
	})
}

func (c *testCloud) DeletionRequest(_ context.Context, name, uid string) (*core.NodeNotice, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.deletions {
		if d.Name == name && d.UID == uid {
			return d, nil
		}
	}
	return nil, nil
}

func (c *testCloud) NotReadyPods(_ context.Context, namespace, node string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onAsked != nil {
		c.onAsked()
	}
	return c.notReady[namespace+"/"+node], nil
}

func (c *testCloud) StatefulSet(_ context.Context, namespace, name string) (*core.StatefulSet, []*core.DaemonPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noQuorum != nil {
		return nil, nil, c.noQuorum
	}
	for _, set := range c.stateful {
		if set.Namespace != namespace || set.Name != name {
			continue
		}
		var pods []*core.DaemonPod
		for _, p := range c.daemons.pods {
			if p.Owner == set.UID {
				cp := *p
				pods = append(pods, &cp)
			}
		}
		return set, pods, nil
	}
	return nil, nil, nil
}

func (c *testCloud) addFinalizer(a core.AddFinalizer, dryRun bool) error {
	ref, finalizer := a.Object, a.Finalizer
	return c.maybe(dryRun, "add-finalizer", ref.Name, func(dryRun bool) error {
		r, err := c.requestOf(ref)
		switch {
		case err != nil:
			return err
		case !r.Deleting.IsZero() || slices.Contains(r.Finalizers, finalizer):
			return conflict("it has that finalizer, or is being removed")
		case !dryRun:
			r.Finalizers = append(slices.Clone(r.Finalizers), finalizer)
		}
		return nil
	})
}

func (c *testCloud) removeFinalizer(a core.RemoveFinalizer, dryRun bool) error {
	ref, finalizer := a.Object, a.Finalizer
	return c.maybe(dryRun, "remove-finalizer", ref.Name, func(dryRun bool) error {
		if ref.Kind == core.KindNodeWorkloadLock {
			l, err := c.lockOf(ref)
			switch {
			case err != nil:
				return err
			case !slices.Contains(l.Finalizers, finalizer):
				return conflict("it has not that finalizer")
			case !dryRun:
				delete(c.locks, l.Node)
			}
			return nil
		}
		r, err := c.requestOf(ref)
		switch {
		case err != nil:
			return err
		case !slices.Contains(r.Finalizers, finalizer):
			return conflict("it has not that finalizer")
		case dryRun:
			return nil
		}
		r.Finalizers = slices.DeleteFunc(slices.Clone(r.Finalizers), func(f string) bool { return f == finalizer })
		if !r.Deleting.IsZero() && len(r.Finalizers) == 0 {
			delete(c.requests, r.Node)
		}
		return nil
	})
}

func (c *testCloud) NodeLocks(context.Context) ([]*core.WorkloadLock, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*core.WorkloadLock
	for _, l := range c.locks {
		cp := *l
		out = append(out, &cp)
	}
	return out, nil
}
