package core

import (
	"context"
	"slices"
	"time"
)

// objectWriter changes, makes or deletes one lock or request.
type objectWriter struct {
	dryRun, do func(context.Context) error
	before     func(context.Context) error // what has to hold besides, asked right before; may be nil
	look       func(context.Context) outcome
	from, to   string
}

func (w *objectWriter) check(ctx context.Context) error {
	if w.before != nil {
		if err := w.before(ctx); err != nil {
			return err
		}
	}
	return w.dryRun(ctx)
}

func (w *objectWriter) write(ctx context.Context) error { return w.do(ctx) }

func (w *objectWriter) outcome(ctx context.Context, _ time.Time) outcome { return w.look(ctx) }

func (w *objectWriter) values() (string, string) { return w.from, w.to }

// objectWriter makes the writer of a change of a lock or a request.
func (e *Engine) objectWriter(step Step, c Change) *objectWriter {
	k := e.cfg.Kubernetes
	w := &objectWriter{dryRun: e.dryRunOf(c)}
	switch c := c.(type) {
	case SetLock:
		w.from, w.to = "state "+textOf(oneLine(string(c.Was), 40), "(not set)"), c.To.String()
		w.before = e.actCheck(step)
		w.do = func(ctx context.Context) error { return k.SetLock(ctx, c.Lock, c.Was, c.To, false) }
		w.look = func(ctx context.Context) outcome {
			l, err := k.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return lockSeen(c, l)
		}
	case SetInnerState:
		w.before = e.actCheck(step)
		w.from, w.to = innerText(c.Was), innerText(c.To)
		w.do = func(ctx context.Context) error { return k.SetInnerState(ctx, c.Lock, c.Was, c.To, false) }
		w.look = func(ctx context.Context) outcome {
			l, err := k.Lock(ctx, c.Lock)
			if err != nil {
				return outcome{err: err}
			}
			return seen(l.InnerState == c.To, "the lock has "+innerText(l.InnerState))
		}
	case CreateLock:
		w.from, w.to = "not there", "lock of "+oneLine(c.Lock.Controller, 60)
		w.do = func(ctx context.Context) error { return k.CreateLock(ctx, c.Lock, false) }
		w.look = func(ctx context.Context) outcome {
			l, err := k.Lock(ctx, c.Lock.Ref())
			if err != nil {
				return outcome{err: err}
			}
			if l.Release != c.Lock.Release {
				return seen(false, "the lock is there, without its release")
			}
			return seen(l.Controller == c.Lock.Controller && l.Node == c.Lock.Node, "the lock is there")
		}
	case CreateRequest:
		w.from, w.to = "not there", requestText(c.Request.Scope, c.Request.Release)
		w.do = func(ctx context.Context) error { return k.CreateRequest(ctx, c.Request, false) }
		w.look = func(ctx context.Context) outcome {
			r, err := k.Request(ctx, c.Request.Ref())
			if err != nil {
				return outcome{err: err}
			}
			return requestSeen(c.Request, r)
		}
	case AddFinalizer:
		w.from, w.to = "not held", "held by "+c.Finalizer
		w.do = func(ctx context.Context) error { return k.AddFinalizer(ctx, c.Object, c.Finalizer, false) }
		w.look = func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			if err != nil {
				return outcome{err: err}
			}
			return seen(slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+textOf(some(at.Finalizers, 3), "nobody"))
		}
	case RemoveFinalizer:
		w.before = e.actCheck(step)
		w.from, w.to = "held by "+c.Finalizer, "let go"
		w.do = func(ctx context.Context) error { return k.RemoveFinalizer(ctx, c.Object, c.Finalizer, false) }
		w.look = func(ctx context.Context) outcome {
			at, err := e.metaOf(ctx, c.Object)
			switch {
			case err != nil && isGone(err):
				return outcome{state: OperationDone, text: "it is gone"}
			case err != nil:
				return outcome{err: err}
			}
			return seen(!slices.Contains(at.Finalizers, c.Finalizer), "it is held by "+textOf(some(at.Finalizers, 3), "nobody"))
		}
	case DeleteObject:
		w.before = e.actCheck(step)
		w.from, w.to = "there", "deleted"
		w.do = func(ctx context.Context) error { return k.Delete(ctx, c.Object, false) }
		w.look = func(ctx context.Context) outcome { return e.deletion(ctx, c.Object) }
	}
	return w
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
