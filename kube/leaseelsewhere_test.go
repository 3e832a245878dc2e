package kube

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// leaseIn is the lease of an operator whose configuration names another namespace.
func (c *cluster) leaseIn(namespace, identity string) *Lease {
	return NewLease(c.client(kubeapi.Admin), LeaseOptions{Namespace: namespace, Identity: identity})
}

// Two operators with different namespaces for the lease do not both get one, and are told what to do.
func TestALeaseInAnotherNamespaceIsFound(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.leaseIn(namespaceOpenStack, bob)
		keep(t, a)
		keep(t, b)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		until(t, "bob sees ann", func() bool { return b.Holder() == "ann@jump (in namespace default)" })
		for _, from := range []string{"", "ann@jump (in namespace default)"} {
			err := b.Acquire(t.Context(), from)
			if e := Describe(err, ""); !conflict(err) || !strings.Contains(e.Remedy, "--lease-namespace default") || b.Held() {
				t.Errorf("bob got another one: %v", err)
			}
		}
		time.Sleep(time.Minute) // hers is renewed
		if err := b.Acquire(t.Context(), ""); !conflict(err) {
			t.Errorf("bob got another one: %v", err)
		}
		if err := a.Confirm(t.Context()); err != nil {
			t.Errorf("ann may not write: %v", err)
		}
		if err := a.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Acquire(t.Context(), ""); err != nil || !b.Held() {
			t.Errorf("after the release: %v", err)
		}
	})
}

// Of operators who come at the same time in different namespaces at most one gets a lease.
func TestOfManyNamespacesOneAtMostIsHeld(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		leases := []*Lease{c.lease(ann), c.leaseIn(namespaceOpenStack, bob), c.leaseIn(namespaceRockoon, "eve@jump/3/cc")}
		for range 10 {
			var wg sync.WaitGroup
			for _, l := range leases {
				wg.Go(func() { _ = l.Acquire(t.Context(), "") }) // it does not matter which one is refused
			}
			wg.Wait()
			held := 0
			for _, l := range leases {
				if l.Held() {
					held++
				}
				if err := l.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if held > 1 {
				t.Fatalf("%d hold one", held)
			}
			time.Sleep(time.Second)
		}
	})
}

// A lease of another namespace whose holder is gone for good expires. One that comes later blocks every write.
func TestALeaseInAnotherNamespaceExpires(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		dead, b := c.leaseIn(namespaceOpenStack, ann), c.lease(bob) // nobody renews hers
		if err := dead.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		keep(t, b)
		if err := b.Acquire(t.Context(), ""); !conflict(err) {
			t.Fatalf("a lease that was looked at once is taken for expired: %v", err)
		}
		until(t, "bob has his", func() bool { return b.Acquire(t.Context(), "") == nil })
		if err := b.Confirm(t.Context()); err != nil || b.Holder() != "bob@jump" {
			t.Errorf("bob may not write: %v, %q", err, b.Holder())
		}
		dead.tend(t.Context()) // she was not dead
		if err := b.Confirm(t.Context()); !conflict(err) {
			t.Errorf("bob may write: %v", err)
		}
		if err := dead.Confirm(t.Context()); !conflict(err) {
			t.Errorf("ann may write: %v", err)
		}
	})
}

// A login that may not list leases in all namespaces still gets its own.
func TestLeaseOfALoginThatSeesOneNamespace(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		l := c.lease(ann)
		c.AddFault(kubeapi.Fault{Match: ours, Verb: "list", Resource: "leases", Code: http.StatusForbidden})
		if err := l.Acquire(t.Context(), ""); err != nil || !l.Held() {
			t.Fatalf("%v, held %v", err, l.Held())
		}
		if err := l.Confirm(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// When the answer to the request that took the lease is lost, and so is every later look at it, the lease is not held: nobody may
// write. It is given back as soon as the server answers, and when Lockstep leaves.
func TestALeaseTakenByALostAnswerIsGivenBack(t *testing.T) {
	for name, leave := range map[string]bool{"the server is back": false, "Lockstep leaves": true} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				a, b := c.lease(ann), c.lease(bob)
				var back func()
				intercept(t, a.client, &between{matches: method(http.MethodPost), lose: true, before: func() {
					back = c.AddFault(kubeapi.Fault{Match: ours, Verb: "get", Code: http.StatusInternalServerError, User: kubeapi.Operator})
				}})
				if err := a.Acquire(t.Context(), ""); err == nil || a.Held() {
					t.Fatalf("it is held: %v", err)
				}
				if got := c.leaseSpec().text("holderIdentity"); got != ann {
					t.Fatalf("the server has no lease of hers: %q", got)
				}
				back()
				if leave {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					a.Run(ctx)
				} else {
					keep(t, a)
					until(t, "it is given back", func() bool { return c.leaseSpec().text("holderIdentity") == "" })
				}
				if err := b.Acquire(t.Context(), ""); err != nil || !b.Held() {
					t.Errorf("it keeps others out: %v", err)
				}
				time.Sleep(2 * time.Minute)
				if got := c.leaseSpec().text("holderIdentity"); got != bob {
					t.Errorf("hers is given back once more: %q", got)
				}
			})
		})
	}
}
