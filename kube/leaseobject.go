package kube

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// leaseState is a Lease object as it was read; zero when there is none.
type leaseState struct {
	object *unstructured.Unstructured
	holder string
	doing  core.Doing // of the holder
}

// doingAnnotation of the lease is what its holder does, as JSON. It is for colleagues to read, and nothing rests on it.
const doingAnnotation = "lockstep/doing"

// mostDoing is how long that may be to be read, in bytes.
const mostDoing = 4 << 10

// doingOf is what a lease's holder says it does; nothing said where it says nothing, or what cannot be read.
func doingOf(object *unstructured.Unstructured) core.Doing {
	var d core.Doing
	raw := object.GetAnnotations()[doingAnnotation]
	if raw == "" || len(raw) > mostDoing || json.Unmarshal([]byte(raw), &d) != nil {
		return core.Doing{}
	}
	return d
}

// setDoing writes what we do into our lease, or takes out what somebody did.
func setDoing(object *unstructured.Unstructured, d core.Doing) {
	annotations := object.GetAnnotations()
	delete(annotations, doingAnnotation)
	if raw, err := json.Marshal(d); err == nil && d.Said && len(raw) <= mostDoing {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[doingAnnotation] = string(raw)
	}
	object.SetAnnotations(annotations)
}

func (s leaseState) version() string {
	if s.object == nil {
		return ""
	}
	return s.object.GetResourceVersion()
}

func (l *Lease) call(verb string) string {
	return verb + " lease " + leaseName + " in namespace " + l.opts.Namespace
}

// look reads the lease from the server itself. The caller has the turn.
func (l *Lease) look(ctx context.Context) (leaseState, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var state leaseState
	object, err := l.client.resource(gvrLeases, l.opts.Namespace).Get(ctx, leaseName, metav1.GetOptions{})
	if err != nil {
		if e := l.client.describe(err, l.call("get")); e.Kind != core.ErrNotFound {
			return state, e
		}
	} else {
		state = leaseState{object: object, holder: fields(object.Object).at("spec").text("holderIdentity"), doing: doingOf(object)}
	}
	l.note(state)
	return state, nil
}

// note remembers what was seen, and since when it is unchanged.
func (l *Lease) note(state leaseState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.seenFrom.IsZero() || state.version() != l.last.version() {
		l.seenFrom = now
	}
	l.seenTo = now
	l.last = state
}

// take writes our name and the time into the lease as it was seen: the server refuses when it has changed since. The
// caller has the turn.
func (l *Lease) take(ctx context.Context, seen leaseState) *core.APIError {
	sent := time.Now()
	stamp := sent.UTC().Format(metav1.RFC3339Micro)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvrLeases.GroupVersion().String(),
		"kind":       "Lease",
		"metadata":   map[string]any{"name": leaseName, "namespace": l.opts.Namespace},
	}}
	if seen.object != nil {
		object = seen.object.DeepCopy()
	}
	spec := fields(object.Object).at("spec")
	if spec == nil {
		spec = fields{}
		object.Object["spec"] = map[string]any(spec)
	}
	if seen.holder != l.opts.Identity {
		spec["holderIdentity"] = l.opts.Identity
		spec["acquireTime"] = stamp
		if seen.object != nil {
			transitions, _ := spec.number("leaseTransitions")
			spec["leaseTransitions"] = int64(transitions) + 1
		}
	}
	spec["renewTime"] = stamp
	l.mu.Lock()
	doing := l.doing
	l.mu.Unlock()
	setDoing(object, doing)
	spec["leaseDurationSeconds"] = max(int64(l.opts.Expiry/time.Second), 1)

	written, err := l.write(ctx, object, seen.object == nil)
	if err != nil {
		return err
	}
	l.note(leaseState{object: written, holder: l.opts.Identity})
	l.mu.Lock()
	defer l.mu.Unlock()
	// Release may have been called meanwhile: then the lease is given back as soon as this turn is over.
	l.held = l.wanted
	l.renewed, l.told, l.slow = sent, doing, elapsed(time.Now(), sent)
	if l.untold = (time.Time{}); l.doing != doing {
		l.untold = sent
	}
	return nil
}

// giveBack takes our name out of the lease as it was seen. The object stays: its next holder then needs no right to create.
func (l *Lease) giveBack(ctx context.Context, seen leaseState) *core.APIError {
	object := seen.object.DeepCopy()
	// The API knows no empty holder, only none.
	delete(fields(object.Object).at("spec"), "holderIdentity")
	setDoing(object, core.Doing{})
	written, err := l.write(ctx, object, false)
	if err != nil {
		return err
	}
	l.note(leaseState{object: written})
	return nil
}

func (l *Lease) write(ctx context.Context, object *unstructured.Unstructured, create bool) (*unstructured.Unstructured, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	leases := l.client.resource(gvrLeases, l.opts.Namespace)
	if create {
		written, err := leases.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		return written, l.client.describe(err, l.call("create"))
	}
	written, err := leases.Update(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager})
	return written, l.client.describe(err, l.call("update"))
}
