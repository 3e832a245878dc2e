package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
)

// Two operators whose configurations name different namespaces for the lease would both hold one. So each looks for leases of its
// name in the other namespaces: before it takes its own, again once it has it (of two that come at the same time, at least one then
// sees the other), and before every write.

// elsewhereLease is an operator lease in another namespace, as it was seen.
type elsewhereLease struct {
	holder           string
	version          string
	seenFrom, seenTo time.Time // for how long it has looked like this
}

// LeaseElsewherePermission is the right to find operators whose lease is in another namespace. Without it they are not found.
func LeaseElsewherePermission() Permission {
	return Permission{Verb: "list", Group: gvrLeases.Group, Resource: gvrLeases.Resource, Name: leaseName}
}

// lookElsewhere looks for operator leases in all other namespaces.
func (l *Lease) lookElsewhere(ctx context.Context) *core.APIError {
	if err := l.others.take(ctx); err != nil {
		return Describe(err, "list leases "+leaseName+" in all namespaces")
	}
	defer l.others.give()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := l.client.resource(gvrLeases, "").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + leaseName})
	if err != nil {
		return Describe(err, "list leases "+leaseName+" in all namespaces")
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.elsewhere
	l.elsewhere = map[string]elsewhereLease{}
	for i := range list.Items {
		object := &list.Items[i]
		namespace := object.GetNamespace()
		holder := fields(object.Object).at("spec").text("holderIdentity")
		if namespace == l.opts.Namespace || holder == "" || object.GetName() != leaseName {
			continue
		}
		e := elsewhereLease{holder: holder, version: object.GetResourceVersion(), seenFrom: now, seenTo: now}
		if b, ok := before[namespace]; ok && b.version == e.version {
			e.seenFrom = b.seenFrom
		}
		l.elsewhere[namespace] = e
	}
	return nil
}

// heldElsewhere is why nothing may be written while another operator holds the lease of another namespace; nil when nobody is known
// to. A lease that was unchanged for so long that its holder must be gone does not count.
func (l *Lease) heldElsewhere() *core.APIError {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, namespace := range slices.Sorted(maps.Keys(l.elsewhere)) {
		e := l.elsewhere[namespace]
		if e.seenTo.Sub(e.seenFrom) >= l.opts.Expiry {
			continue
		}
		return &core.APIError{
			Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: l.call("take"),
			Message: fmt.Sprintf("%s holds the lease of another namespace, %s (%s)", displayed(e.holder), namespace, e.holder),
			Remedy: fmt.Sprintf("Operators of one cluster must have one lease: start with --lease-namespace %s, or have them start with %s. "+
				"If they are gone for good, theirs expires by itself in half a minute.", namespace, l.opts.Namespace),
		}
	}
	return nil
}

// nobodyElsewhere returns an error when another operator holds the lease of another namespace. When the login may not list leases
// of all namespaces, it finds nobody and logs that once. A server that does not answer is an error.
func (l *Lease) nobodyElsewhere(ctx context.Context) *core.APIError {
	switch err := l.lookElsewhere(ctx); {
	case err == nil:
		return l.heldElsewhere()
	case err.Kind == core.ErrForbidden:
		l.cannotSee.Do(func() {
			l.opts.Log.Warn("operators whose lease is in another namespace cannot be seen", "need", LeaseElsewherePermission().String())
		})
		return nil
	default:
		return err
	}
}

// releaseTimeout limits the attempt, at the end, to give back what the server may think is ours.
const releaseTimeout = 3 * time.Second

// giveBackUnasked gives back a lease that was taken by a request whose answer was lost, after Acquire reported a failure: nobody
// here counts on it, and it would keep others out. The request can arrive late. The caller has the turn, and has looked.
func (l *Lease) giveBackUnasked(ctx context.Context, seen leaseState) {
	l.mu.Lock()
	unsure, over := !l.unsure.IsZero(), elapsed(time.Now(), l.unsure) > l.opts.Expiry
	l.mu.Unlock()
	if !unsure {
		return
	}
	if seen.holder == l.opts.Identity {
		if err := l.giveBack(ctx, seen); err != nil {
			l.opts.Log.Warn("the operator lease was not given back after its answer was lost", "err", err)
			return // in the next turn
		}
		over = true
	}
	if over {
		l.mu.Lock()
		l.unsure, l.wanted = time.Time{}, false
		l.mu.Unlock()
	}
}
