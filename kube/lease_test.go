package kube

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// lease is that of an operator of the cluster.
func (c *cluster) lease(identity string) *Lease {
	return NewLease(c.client(kubeapi.Operator), LeaseOptions{Identity: identity})
}

// keep runs a lease until the test ends.
func keep(t *testing.T, l *Lease) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// until asks again and again, since a lease reports nothing by itself.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (c *cluster) leaseSpec() fields {
	u, err := c.admin.Resource(gvrLeases).Namespace("default").Get(c.t.Context(), leaseName, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return fields(u.Object).at("spec")
}

func conflict(err error) bool {
	e := Describe(err, "")
	return e != nil && e.Kind == core.ErrConflict
}

const (
	ann = "ann@jump/1/aa"
	bob = "bob@jump/2/bb"
)

func TestLeaseGoesFromHandToHand(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob)
		keep(t, a)
		keep(t, b)
		if a.Held() || a.Holder() != "" {
			t.Error("a lease that nobody took is held")
		}
		if err := a.Acquire(t.Context(), ""); err != nil || !a.Held() || a.Holder() != "ann@jump" {
			t.Fatalf("ann: %v, held %v, holder %q", err, a.Held(), a.Holder())
		}
		until(t, "bob sees ann", func() bool { return b.Holder() == "ann@jump" })
		err := b.Acquire(t.Context(), "")
		if !conflict(err) || !strings.Contains(err.Error(), "ann@jump holds it") || b.Held() {
			t.Fatalf("bob got it: %v", err)
		}
		renewed := c.leaseSpec().text("renewTime")
		until(t, "a renewal", func() bool { return c.leaseSpec().text("renewTime") != renewed })

		if err := a.Release(t.Context()); err != nil || a.Held() {
			t.Fatalf("release: %v", err)
		}
		until(t, "nobody holds it", func() bool { return a.Holder() == "" && b.Holder() == "" })
		if err := b.Acquire(t.Context(), ""); err != nil || !b.Held() {
			t.Fatalf("bob, after the release: %v", err)
		}
		until(t, "ann sees bob", func() bool { return a.Holder() == "bob@jump" })
		spec := c.leaseSpec()
		if n, _ := spec.number("leaseTransitions"); n != 1 || spec.text("holderIdentity") != bob {
			t.Errorf("the lease is %v", spec)
		}
		if err := a.Release(t.Context()); err != nil || !b.Held() || c.leaseSpec().text("holderIdentity") != bob {
			t.Errorf("ann released what was bob's: %v", err)
		}
	})
}

func TestLeaseIsTakenOverAndTheOldHolderKnowsAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob)
		keep(t, a)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := b.Acquire(t.Context(), "ann@jump"); err != nil || !b.Held() {
			t.Fatalf("take over: %v", err)
		}
		until(t, "ann has lost it", func() bool { return !a.Held() && a.Holder() == "bob@jump" })
	})
}

// A lease that was taken just now needs no renewal.
func TestALeaseIsRenewedWhenItIsTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		keep(t, a)
		for range 2 { // taken anew by the same one, too
			if err := a.Acquire(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			taken := c.leaseSpec().text("renewTime")
			time.Sleep(a.opts.Renew - time.Second)
			if now := c.leaseSpec().text("renewTime"); now != taken {
				t.Errorf("it was taken at %s, and renewed at %s already", taken, now)
			}
			time.Sleep(2 * time.Second)
			if c.leaseSpec().text("renewTime") == taken {
				t.Error("it was not renewed")
			}
		}
	})
}

// Who looks at the lease learns what its holder does. Who has given it back does nothing more, and what is no account is none.
func TestTheLeaseSaysWhatItsHolderDoes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob)
		keep(t, a)
		keep(t, b)
		at := time.Date(2026, 11, 23, 2, 10, 0, 0, time.UTC)
		said := core.Doing{Said: true, Now: "live-migrate web-1", Since: at, Last: "live-migrate web-1", LastAt: at}
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		until(t, "bob sees ann", func() bool { return b.Holder() == "ann@jump" })
		if d := b.Does(); d.Said {
			t.Errorf("ann said nothing yet: %+v", d)
		}
		a.Tell(said)
		until(t, "bob sees what ann does", func() bool { return b.Does() == said })
		if d := a.Does(); d.Said {
			t.Errorf("to herself ann is no other: %+v", d)
		}
		// Whoever looks now knows what was begun some seconds ago.
		time.Sleep(a.opts.Renew + time.Second)
		said.Now, said.Last = "stop web-2", "stop web-2"
		a.Tell(said)
		time.Sleep(tellAfter + time.Second)
		b.LookNow()
		time.Sleep(time.Second)
		if d := b.Does(); d != said {
			t.Errorf("bob sees %+v", d)
		}
		if err := a.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "nobody does anything", func() bool { return b.Holder() == "" && !b.Does().Said })
		if err := b.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		until(t, "ann sees bob", func() bool { return a.Holder() == "bob@jump" })
		if d := a.Does(); d.Said {
			t.Errorf("bob has not said anything: %+v", d)
		}
	})
	for _, raw := range []string{"", "{", `"x"`, `{"said":true,"now":"` + strings.Repeat("x", mostDoing) + `"}`} {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetAnnotations(map[string]string{doingAnnotation: raw})
		if d := doingOf(object); d.Said {
			t.Errorf("%.20q says %+v", raw, d)
		}
	}
}

// Between two renewals only the server knows. A server that does not answer takes the lease from nobody.
func TestWhoArmsAnewAsksTheServerWhoseTheLeaseIs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := b.Acquire(t.Context(), "ann@jump"); err != nil {
			t.Fatal(err)
		}
		if err := a.Acquire(t.Context(), ""); !conflict(err) || a.Held() {
			t.Errorf("the lease that was taken over counts as held: %v", err)
		}
		if err := b.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.Acquire(t.Context(), ""); err != nil || !a.Held() || c.leaseSpec().text("holderIdentity") != ann {
			t.Errorf("a free lease is not taken: %v, %v", err, c.leaseSpec())
		}
		if err := b.Acquire(t.Context(), ""); !conflict(err) {
			t.Errorf("two hold the lease: %v", err)
		}
	})
}

func TestWhoseTheLeaseIsIsAskedOfTheServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob) // nobody renews
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(t.Context()); err != nil || !a.Held() {
			t.Errorf("ours: %v, held %v", err, a.Held())
		}
		back := c.AddFault(kubeapi.Fault{Match: ours, Code: 500})
		if err := a.Confirm(t.Context()); err == nil || conflict(err) || !a.Held() {
			t.Errorf("while the server does not answer: %v, held %v", err, a.Held())
		}
		back()
		if err := b.Acquire(t.Context(), "ann@jump"); err != nil {
			t.Fatal(err)
		}
		if !a.Held() {
			t.Fatal("ann knows before she has asked")
		}
		if err := a.Confirm(t.Context()); !conflict(err) || !strings.Contains(err.Error(), "bob@jump holds it") || a.Held() {
			t.Errorf("taken over: %v, held %v", err, a.Held())
		}
		if err := b.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(t.Context()); !conflict(err) || !strings.Contains(err.Error(), "nobody holds it") {
			t.Errorf("given back by another: %v", err)
		}
	})
}

func TestOneOfManyGetsTheLease(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		var leases []*Lease
		for _, name := range []string{"a@x/1", "b@x/2", "c@x/3", "d@x/4", "e@x/5"} {
			leases = append(leases, c.lease(name))
		}
		var wg sync.WaitGroup
		errs := make([]error, len(leases))
		for i, l := range leases {
			wg.Go(func() { errs[i] = l.Acquire(t.Context(), "") })
		}
		wg.Wait()
		winner := c.leaseSpec().text("holderIdentity")
		for i, l := range leases {
			if won := l.opts.Identity == winner; won != l.Held() || won != (errs[i] == nil) || !won && !conflict(errs[i]) {
				t.Errorf("%s: held %v, %v; the lease says %s", l.opts.Identity, l.Held(), errs[i], winner)
			}
		}
	})
}

// TestTakeOverIsFromTheHolderThatWasSeen: another who was quicker is not pushed out by the same confirmation.
func TestTakeOverIsFromTheHolderThatWasSeen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, quicker := c.lease(ann), c.lease("eve@jump/3/cc")
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		b := c.lease(bob)
		intercept(t, b.client, &between{matches: method(http.MethodPut), before: func() {
			if err := quicker.Acquire(t.Context(), "ann@jump"); err != nil {
				t.Error(err)
			}
		}})
		for range 2 { // the second time she has it from the beginning
			if err := b.Acquire(t.Context(), "ann@jump"); !conflict(err) || !strings.Contains(err.Error(), "eve@jump") || b.Held() {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestLeaseOfADeadHolderExpiresAfterItWasSeenUnchanged(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		dead := c.lease(ann) // nobody renews it
		if err := dead.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		b := c.lease(bob)
		seen := time.Now()
		if err := b.Acquire(t.Context(), ""); !conflict(err) {
			t.Fatalf("a lease that was looked at once is taken for expired: %v", err)
		}
		keep(t, b)
		until(t, "bob has it", func() bool { return b.Acquire(t.Context(), "") == nil })
		if took := time.Since(seen); took < b.opts.Expiry || took > b.opts.Expiry+b.opts.Look {
			t.Errorf("it took %v", took)
		}
	})
}

// A renewal that fails now and then, as while API servers are updated, is made again in time: writing stays armed, and a batch goes on.
func TestALeaseOutlastsAnAnswerThatIsLost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		keep(t, a)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			c.AddFault(kubeapi.Fault{Match: ours, Verb: "update", Code: []int{503, 0}[i%2], Hang: i%2 == 1, Times: 1})
			for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
				if !a.Held() {
					t.Fatalf("it is not held %s after one renewal failed", time.Since(began))
				}
			}
		}
	})
}

// A server that answers every call, however slowly, takes the lease from nobody: neither while it is renewed, nor while many ask before
// their writes whose it is.
func TestASlowServerTakesTheLeaseFromNobody(t *testing.T) {
	for name, tt := range map[string]struct {
		slow    time.Duration
		writers int
	}{
		"one second, ten writers": {time.Second, 10}, "three seconds, four writers": {3 * time.Second, 4},
		"five seconds, one writer":  {5 * time.Second, 1},
		"five seconds, two writers": {5 * time.Second, 2}, "six seconds, nobody writes": {6 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				a := c.lease(ann)
				keep(t, a)
				c.AddFault(kubeapi.Fault{Match: ours, Delay: tt.slow})
				if err := a.Acquire(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var writers sync.WaitGroup
				for range tt.writers {
					writers.Go(func() {
						for ctx.Err() == nil {
							soon, done := context.WithTimeout(ctx, 30*time.Second)
							if err := a.Confirm(soon); err != nil && ctx.Err() == nil {
								t.Errorf("it is not confirmed: %v", err)
							}
							done()
							_ = sleep(ctx, 100*time.Millisecond)
						}
					})
				}
				for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(50 * time.Millisecond) {
					if !a.Held() {
						t.Errorf("it is not held after %s", time.Since(began))
						break
					}
				}
				cancel()
				writers.Wait()
			})
		})
	}
}

// A server that becomes slow all at once can cost the lease, as a renewal is cut off before its answer. It is held again each time.
func TestALeaseIsHeldAgainAtAServerThatHasBecomeSlow(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		keep(t, a)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		c.AddFault(kubeapi.Fault{Match: ours, Delay: 7 * time.Second})
		time.Sleep(a.opts.Distrust)
		until(t, "held again", a.Held)
		for began := time.Now(); time.Since(began) < time.Minute && a.Held(); time.Sleep(50 * time.Millisecond) {
		}
		until(t, "held again", a.Held)
	})
}

// The renewal that stands in for a question finds, as the question does, that another has the lease by now.
func TestARenewalBeforeAWriteDoesNotTakeTheLeaseBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a, b := c.lease(ann), c.lease(bob) // nobody renews
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(a.opts.Renew - time.Second)
		before := c.leaseSpec().text("renewTime")
		if err := a.Confirm(t.Context()); err != nil || c.leaseSpec().text("renewTime") == before {
			t.Fatalf("it is not renewed: %v", err)
		}
		time.Sleep(a.opts.Renew - time.Second)
		if err := b.Acquire(t.Context(), "ann@jump"); err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(t.Context()); !conflict(err) || !strings.Contains(err.Error(), "bob@jump holds it") || a.Held() {
			t.Errorf("taken over: %v, held %v", err, a.Held())
		}
		if holder := c.leaseSpec().text("holderIdentity"); holder != bob || !b.Held() {
			t.Errorf("the lease says %q", holder)
		}
	})
}

// Each writer has answers of its own: an answer that another waits for may have been given before the lease was taken over.
func TestEachQuestionAboutTheLeaseHasAnAnswerOfItsOwn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		confirmed := make(chan error, 5)
		confirm := func() { confirmed <- a.Confirm(t.Context()) }
		intercept(t, a.client, &between{matches: method(http.MethodGet), before: func() {
			go confirm()
			synctest.Wait()
		}})
		asked := len(c.Requests())
		_ = a.turn.take(t.Context()) // a renewal is under way
		for range 4 {
			go confirm()
		}
		time.Sleep(time.Second)
		a.turn.give()
		for range 5 {
			if err := <-confirmed; err != nil {
				t.Error(err)
			}
		}
		verbs := map[string]int{}
		for _, r := range c.Requests()[asked:] {
			verbs[r.Verb]++
		}
		if verbs["get"] != 5 || verbs["list"] != 5 {
			t.Errorf("the server was asked %v", verbs)
		}
	})
}

func TestLeaseThatCannotBeRenewedIsNotHeld(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		keep(t, a)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		back := c.AddFault(kubeapi.Fault{Match: ours, Code: 500})
		failing := time.Now()
		until(t, "not held", func() bool { return !a.Held() })
		if took := time.Since(failing); took < a.opts.Distrust-a.opts.Renew || took > a.opts.Distrust+time.Second {
			t.Errorf("it took %v", took)
		}
		if holder := a.Holder(); holder != "" && !a.Held() {
			t.Errorf("nobody else has it, and %q is said to be in the way", holder)
		}
		back()
		until(t, "held again, since nobody took it", a.Held)
	})
}

func TestLeaseThatIsDeletedIsLost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		keep(t, a)
		if err := a.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		c.delete(gvrLeases, "default", leaseName)
		until(t, "lost", func() bool { return !a.Held() && a.Holder() == "" })
	})
}

func TestLeaseSurvivesAForeignEditAndALostAnswer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		a := c.lease(ann)
		intercept(t, a.client, &between{matches: method(http.MethodPost), lose: true})
		if err := a.Acquire(t.Context(), ""); err != nil || !a.Held() {
			t.Fatalf("the answer to the creation was lost: %v", err)
		}
		c.update(gvrLeases, "default", leaseName, func(l map[string]any) {
			l["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
		})
		if a.tend(t.Context()); !a.Held() {
			t.Error("a label was added, and the lease is lost")
		}
		if err := a.Release(t.Context()); err != nil || c.leaseSpec().text("holderIdentity") != "" {
			t.Errorf("release: %v", err)
		}
	})
}

func TestLeaseThatMayNotBeRead(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "eve"}}})
		l := NewLease(c.client("eve"), LeaseOptions{Identity: "eve@jump/1/ee"})
		l.tend(t.Context())
		if l.Holder() != "" || l.Held() {
			t.Errorf("holder %q, held %v", l.Holder(), l.Held())
		}
		if e := Describe(l.Acquire(t.Context(), ""), ""); e == nil || e.Kind != core.ErrForbidden ||
			!strings.Contains(e.Remedy, "leases.coordination.k8s.io in namespace default") {
			t.Errorf("got %+v", e)
		}
	})
}

func TestIdentityNamesPersonMachineAndProcess(t *testing.T) {
	for who, want := range map[string]string{"": userAtHost(), "anna (root@jump01 from 10.0.0.7)": "anna (root@jump01 from 10.0.0.7)"} {
		one, two := identity(who), identity(who)
		if one == two || strings.Count(one, "/") < 2 || displayed(one) != want {
			t.Errorf("%q and %q", one, two)
		}
	}
}

// A lease that is requested again while it is being given back stays ours: what counts as held is held on the server too.
func TestLeaseThatIsTakenWhileItIsGivenBackStays(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		l := c.lease(ann)
		if err := l.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		_ = l.turn.take(t.Context()) // a renewal is under way
		released := make(chan error)
		go func() { released <- l.Release(t.Context()) }()
		synctest.Wait() // it waits for its turn
		if l.Held() {
			t.Error("a lease that is being given back is held")
		}
		l.mu.Lock()
		l.wanted = true // as Acquire does once it has its turn, before the other
		l.held, l.renewed = true, time.Now()
		l.mu.Unlock()
		l.turn.give()
		if err := <-released; err != nil {
			t.Error(err)
		}
		if got := c.leaseSpec().text("holderIdentity"); !l.Held() || got != ann {
			t.Errorf("held: %v, and the server says %q", l.Held(), got)
		}
	})
}

// A namespace that is not there is said so: nobody else writes to a lease there.
func TestALeaseInNoNamespace(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.AddFault(kubeapi.Fault{Match: ours, Verb: "create", Code: 404, Message: `namespaces "lmc" not found`})
		err := c.lease(ann).Acquire(t.Context(), "")
		if e := Describe(err, ""); e == nil || e.Kind != core.ErrNotFound || e.Message != `namespaces "lmc" not found` ||
			!strings.Contains(e.Remedy, "leaseNamespace") {
			t.Errorf("%v", err)
		}
	})
}
