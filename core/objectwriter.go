package core

import (
	"context"
	"slices"
)

// objectChecker asks about one lock or request.
type objectChecker struct {
	before   func(context.Context) error // what has to hold, asked right before; nil: the dry-run tells all
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

func checkSetLock(e *Engine, step Step, c SetLock) checker {
	return &objectChecker{
		from: "state " + textOf(oneLine(string(c.Was), 40), "(not set)"), to: c.To.String(),
		before: e.actCheck(step),
		look: func(ctx context.Context) outcome {
			l, err := e.cfg.Kubernetes.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return lockSeen(c, l)
		},
	}
}

func checkInnerState(e *Engine, step Step, c SetInnerState) checker {
	return &objectChecker{
		from: innerText(c.Was), to: innerText(c.To),
		before: e.actCheck(step),
		look: func(ctx context.Context) outcome {
			l, err := e.cfg.Kubernetes.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return seen(l.InnerState == c.To, "the lock has "+innerText(l.InnerState))
		},
	}
}

func checkCreateLock(e *Engine, _ Step, c CreateLock) checker {
	return &objectChecker{
		from: "not there", to: "lock of " + oneLine(c.Lock.Controller, 60),
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

func checkCreateRequest(e *Engine, _ Step, c CreateRequest) checker {
	return &objectChecker{
		from: "not there", to: requestText(c.Request.Scope, c.Request.Release),
		look: func(ctx context.Context) outcome {
			r, err := e.cfg.Kubernetes.Request(ctx, c.Request.Ref())
			if err != nil {
				return outcome{err: err}
			}
			return requestSeen(c.Request, r)
		},
	}
}

func checkAddFinalizer(e *Engine, _ Step, c AddFinalizer) checker {
	return &objectChecker{
		from: "not held", to: "held by " + c.Finalizer,
		look: func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			if err != nil {
				return outcome{err: err}
			}
			return seen(slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+textOf(some(at.Finalizers, 3), "nobody"))
		},
	}
}

func checkRemoveFinalizer(e *Engine, step Step, c RemoveFinalizer) checker {
	return &objectChecker{
		from: "held by " + c.Finalizer, to: "let go",
		before: e.actCheck(step),
		look: func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			switch {
			case err != nil && isGone(err):
				return outcome{state: OperationDone, text: "it is gone"}
			case err != nil:
				return outcome{err: err}
			}
			return seen(!slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+textOf(some(at.Finalizers, 3), "nobody"))
		},
	}
}

func checkDeleteObject(e *Engine, step Step, c DeleteObject) checker {
	return &objectChecker{
		from: "there", to: "deleted",
		before: e.actCheck(step),
		look:   func(ctx context.Context) outcome { return e.deletion(ctx, c.Object) },
	}
}

// requestSeen is the outcome of a request that was made.
func requestSeen(asked NewRequest, r *MaintenanceRequest) outcome {
	if !r.ByHand() || r.Node != asked.Node {
		return seen(false, "another request is there")
	}
	if r.Scope != asked.Scope || r.Release != asked.Release {
		return seen(false, "the request is there, and is another: "+requestText(r.Scope, r.Release))
	}
	return seen(true, "the request is there")
}

// lockSeen is the outcome of a lock that was set. A change of the state shows that the write came through, whatever its
// controller has written beside it since; where the state stays, only the text and the release do.
func lockSeen(c SetLock, l *WorkloadLock) outcome {
	says := "the lock says " + textOf(oneLine(string(l.RawState), 40), "no state")
	text := l.Message == c.To.Message
	if !text {
		says += textIf(l.Message == "", ", without the text", ", with another text: "+oneLine(l.Message, 200))
	}
	release := c.To.Release == "" || l.Release == c.To.Release
	if !release {
		says += textIf(l.Release == "", ", at no release", ", at release "+oneLine(l.Release, 40))
	}
	return seen(l.RawState == c.To.State && (text && release || c.Was != c.To.State), says)
}

// seen is the outcome of a write that shows at once.
func seen(done bool, text string) outcome {
	if done {
		return outcome{state: OperationDone, text: text}
	}
	return outcome{state: OperationVerifying, text: text}
}

// deletion tells how a deletion goes. A finalizer keeps the object until the controllers are through with it: that it is on
// its way is all that was asked for.
func (e *Engine) deletion(ctx context.Context, ref Ref) outcome {
	at, err := e.metaOf(ctx, ref)
	switch {
	case err != nil && isGone(err):
		return outcome{state: OperationDone, text: "it is gone"}
	case err != nil:
		return outcome{err: err}
	case !at.Deleting.IsZero():
		return outcome{state: OperationDone, text: "it is being removed: it goes when its controllers are through with it"}
	}
	return outcome{state: OperationVerifying, text: "it is still there"}
}

// metaOf reads a lock or a request from the server itself.
func (e *Engine) metaOf(ctx context.Context, ref Ref) (Meta, error) {
	switch ref.Kind {
	case KindClusterMaintenanceRequest, KindNodeMaintenanceRequest:
		r, err := e.cfg.Kubernetes.Request(ctx, ref)
		if err != nil {
			return Meta{}, err
		}
		return r.Meta, nil
	}
	l, err := e.cfg.Kubernetes.Lock(ctx, ref)
	if err != nil {
		return Meta{}, err
	}
	return l.Meta, nil
}

func innerText(state string) string { return "inner_state=" + textOf(oneLine(state, 40), "(not set)") }

func requestText(scope Scope, release string) string {
	text := "request"
	if scope != "" {
		text += ", scope " + oneLine(string(scope), 20)
	}
	if release != "" {
		text += ", release " + oneLine(release, 60)
	}
	return text
}
