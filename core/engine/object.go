package engine

import (
	"context"
	"slices"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// objectChecker checks a change of one lock or request.
type objectChecker struct {
	before   func(context.Context) error // asks right before the write what has to hold; nil: the dry-run asks all of it
	look     func(context.Context) outcome
	from, to string
}

func (w *objectChecker) check(ctx context.Context) error {
	if w.before == nil {
		return nil
	}
	return w.before(ctx)
}

func (w *objectChecker) outcome(ctx context.Context, _ sent) outcome { return w.look(ctx) }

func (w *objectChecker) values() (string, string) { return w.from, w.to }

func checkSetLock(e *Engine, step core.Step, c core.SetLock) checker {
	return &objectChecker{
		from: "state " + wording.TextOf(wording.OneLine(string(c.Was), 40), "(not set)"), to: c.To.String(),
		before: e.lastLook(step),
		look: func(ctx context.Context) outcome {
			l, err := e.cfg.Kubernetes.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return lockSeen(c, l)
		},
	}
}

func checkInnerState(e *Engine, st core.Step, c core.SetInnerState) checker {
	return &objectChecker{
		from: step.InnerText(c.Was), to: step.InnerText(c.To),
		before: e.lastLook(st),
		look: func(ctx context.Context) outcome {
			l, err := e.cfg.Kubernetes.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return seen(l.InnerState == c.To, "the lock has "+step.InnerText(l.InnerState))
		},
	}
}

func checkCreateLock(e *Engine, _ core.Step, c core.CreateLock) checker {
	return &objectChecker{
		from: "not there", to: "lock of " + wording.OneLine(c.Lock.Controller, 60),
		look: func(ctx context.Context) outcome {
			l, err := e.cfg.Kubernetes.Lock(ctx, c.Lock.Ref())
			if err != nil {
				return outcome{err: err}
			}
			if l.Release != c.Lock.Release {
				return seen(false, "the lock is there, without its release")
			}
			return seen(l.Controller == c.Lock.Controller && l.Node == c.Lock.Node, "the lock is there")
		},
	}
}

func checkCreateRequest(e *Engine, step core.Step, c core.CreateRequest) checker {
	return &objectChecker{
		from: "not there", to: requestText(c.Request.Scope, c.Request.Release),
		before: e.lastLook(step),
		look: func(ctx context.Context) outcome {
			r, err := e.cfg.Kubernetes.Request(ctx, c.Request.Ref())
			if err != nil {
				return outcome{err: err}
			}
			return requestSeen(c.Request, r)
		},
	}
}

func checkAddFinalizer(e *Engine, _ core.Step, c core.AddFinalizer) checker {
	return &objectChecker{
		from: "not held", to: "held by " + c.Finalizer,
		look: func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			if err != nil {
				return outcome{err: err}
			}
			return seen(slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+wording.TextOf(wording.Some(at.Finalizers, 3), "nobody"))
		},
	}
}

func checkRemoveFinalizer(e *Engine, step core.Step, c core.RemoveFinalizer) checker {
	return &objectChecker{
		from: "held by " + c.Finalizer, to: "let go",
		before: e.lastLook(step),
		look: func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			switch {
			case err != nil && isGone(err):
				return outcome{state: core.OperationDone, text: "it is gone"}
			case err != nil:
				return outcome{err: err}
			}
			return seen(!slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+wording.TextOf(wording.Some(at.Finalizers, 3), "nobody"))
		},
	}
}

func checkDeleteObject(e *Engine, step core.Step, c core.DeleteObject) checker {
	return &objectChecker{
		from: "there", to: "deleted",
		before: e.lastLook(step),
		look:   func(ctx context.Context) outcome { return e.deletion(ctx, c.Object) },
	}
}

// requestSeen is the outcome of creating a request.
func requestSeen(asked core.NewRequest, r *core.MaintenanceRequest) outcome {
	if !r.ByHand() || r.Node != asked.Node {
		return seen(false, "another request is there")
	}
	if r.Scope != asked.Scope || r.Release != asked.Release {
		return seen(false, "another request is there: "+requestText(r.Scope, r.Release))
	}
	return seen(true, "the request is there")
}

// lockSeen is the outcome of setting a lock. A changed state shows that the write was made, whatever else the controller has written
// since. Where the state stays the same, the text and the release have to show it.
func lockSeen(c core.SetLock, l *core.WorkloadLock) outcome {
	says := "the lock says " + wording.TextOf(wording.OneLine(string(l.RawState), 40), "no state")
	text := l.Message == c.To.Message
	if !text {
		says += wording.TextIf(l.Message == "", ", without the text", ", with another text: "+wording.OneLine(l.Message, 200))
	}
	release := c.To.Release == "" || l.Release == c.To.Release
	if !release {
		says += wording.TextIf(l.Release == "", ", at no release", ", at release "+wording.OneLine(l.Release, 40))
	}
	return seen(l.RawState == c.To.State && (text && release || c.Was != c.To.State), says)
}

// seen is the outcome of a write whose result shows at once.
func seen(done bool, text string) outcome {
	if done {
		return outcome{state: core.OperationDone, text: text}
	}
	return outcome{state: core.OperationVerifying, text: text}
}

// deletion is the outcome of deleting an object. A finalizer keeps the object until its controllers are through with it, so the
// deletion counts as done as soon as it has begun.
func (e *Engine) deletion(ctx context.Context, ref core.Ref) outcome {
	at, err := e.metaOf(ctx, ref)
	switch {
	case err != nil && isGone(err):
		return outcome{state: core.OperationDone, text: "it is gone"}
	case err != nil:
		return outcome{err: err}
	case !at.Deleting.IsZero():
		return outcome{state: core.OperationDone, text: "it is being removed: it goes when its controllers are through with it"}
	}
	return outcome{state: core.OperationVerifying, text: "it is still there"}
}

// metaOf reads the metadata of a lock or a request from the server.
func (e *Engine) metaOf(ctx context.Context, ref core.Ref) (core.Meta, error) {
	switch ref.Kind {
	case core.KindClusterMaintenanceRequest, core.KindNodeMaintenanceRequest:
		r, err := e.cfg.Kubernetes.Request(ctx, ref)
		if err != nil {
			return core.Meta{}, err
		}
		return r.Meta, nil
	case core.KindNode:
		n, err := e.cfg.Kubernetes.Node(ctx, ref)
		if err != nil {
			return core.Meta{}, err
		}
		return n.Meta, nil
	}
	l, err := e.cfg.Kubernetes.Lock(ctx, ref)
	if err != nil {
		return core.Meta{}, err
	}
	return l.Meta, nil
}

func requestText(scope core.Scope, release string) string {
	text := "request"
	if scope != "" {
		text += ", scope " + wording.OneLine(string(scope), 20)
	}
	if release != "" {
		text += ", release " + wording.OneLine(release, 60)
	}
	return text
}
