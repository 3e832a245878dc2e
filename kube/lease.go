package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// The operator lease: one for a cluster.
const (
	leaseName             = "lockstep-operator"
	defaultLeaseNamespace = "default"
)

// LeaseOptions are the operator lease's place and times. A zero field means its default.
type LeaseOptions struct {
	Namespace string // "default"
	Who       string // the person, without a slash; user@host
	Identity  string // of this process; who/pid/random

	Renew    time.Duration // how often a held lease is renewed (10 s)
	Look     time.Duration // how often the holder of one that is not held is looked up (15 s)
	Expiry   time.Duration // another's lease has expired when we saw no change of it for this long (30 s)
	Distrust time.Duration // ours no longer counts when no renewal succeeded for this long (20 s); less than Expiry

	Log *slog.Logger // nil logs nothing
}

// Lease keeps two operators from acting on one cluster at once: a coordination.k8s.io/v1 Lease, taken by create, or by update with
// its resourceVersion, so that one of two operators who reach for it gets it. Time is measured by what this process saw, never by
// comparing clocks. It is not a fence: a call that left before the lease was lost still arrives, so every write has its own
// preconditions. It implements engine.OperatorLease.
type Lease struct {
	client *Client
	opts   LeaseOptions
	kick   chan struct{}
	turn   turn // one exchange with the server about our lease at a time
	others turn // one look for those of other namespaces at a time: a renewal does not wait for it

	mu       sync.Mutex
	held     bool
	wanted   bool          // Acquire was called since the last Release: the server may think that we hold it
	renewed  time.Time     // when the last renewal that succeeded was sent
	slow     time.Duration // how long the answer to the last renewal that succeeded took
	last     leaseState    // as last seen
	seenFrom time.Time     // when it was first seen so
	seenTo   time.Time     // when it was last seen so
	doing    core.Doing    // what we do, for others
	told     core.Doing    // what the lease says of it
	untold   time.Time     // since when we do what the lease does not say; zero: it says it
	unsure   time.Time     // when Acquire sent a request to take it, lost the answer and gave up; zero: none

	elsewhere map[string]elsewhereLease // by namespace
	cannotSee sync.Once                 // logged that others' namespaces are not seen
}

var _ engine.OperatorLease = (*Lease)(nil)

// NewLease makes a Lease that is not held. It stays held, and Holder is known, only while Run runs.
func NewLease(client *Client, opts LeaseOptions) *Lease {
	if opts.Namespace == "" {
		opts.Namespace = defaultLeaseNamespace
	}
	if opts.Identity == "" {
		opts.Identity = identity(opts.Who)
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	orDuration(&opts.Renew, 10*time.Second)
	orDuration(&opts.Look, 15*time.Second)
	orDuration(&opts.Expiry, 30*time.Second)
	orDuration(&opts.Distrust, 20*time.Second)
	return &Lease{client: client, opts: opts, kick: make(chan struct{}, 1), turn: newTurn(), others: newTurn()}
}

// identity is who we are to other operators: who/pid/random.
func identity(who string) string {
	if who == "" {
		who = userAtHost()
	}
	random := make([]byte, 4)
	rand.Read(random) // never fails
	return fmt.Sprintf("%s/%d/%s", who, os.Getpid(), hex.EncodeToString(random))
}

func userAtHost() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return name + "@" + host
}

// Run renews the lease while it is held, and otherwise looks up its holder, until ctx is done. Then it gives back what the server
// may still think is ours.
func (l *Lease) Run(ctx context.Context) {
	byTurns(ctx, l.kick, l.tend)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := l.Release(ctx); err != nil {
		l.opts.Log.Warn("give the operator lease back", "err", err)
	}
}

// tellAfter is how long after a change of what we do the lease says so. Much of a batch changes in that time, and what is being done comes
// first.
const tellAfter = 2500 * time.Millisecond

// tend does what is due, and returns when to call it again.
func (l *Lease) tend(ctx context.Context) time.Duration {
	if l.turn.take(ctx) != nil {
		return l.opts.Look // it is over
	}
	held, rest := l.due()
	if held && rest > 0 {
		l.turn.give()
		return rest // it was taken just now
	}
	if !held {
		// A login that may not read leases does not learn who holds this one. That is not a failure.
		if state, err := l.look(ctx); err == nil {
			l.giveBackUnasked(ctx, state)
		}
		l.turn.give()
		_ = l.lookElsewhere(ctx)
		return l.opts.Look
	}
	soon, cancel := l.inTime(ctx)
	renewed := l.renew(soon)
	cancel()
	l.turn.give()
	if !renewed {
		_, rest = l.due()
		return max(rest, l.opts.Renew/5)
	}
	_, rest = l.due()
	elsewhere, done := context.WithTimeout(ctx, max(rest, l.opts.Renew/5)) // the next renewal does not wait for it
	_ = l.lookElsewhere(elsewhere)                                         // so that one of a dead holder is known to have expired
	done()
	// From the renewal on, not from now on: the lease counts for Distrust, and one answer may be lost, or slow.
	_, rest = l.due()
	return max(rest, 0)
}

// due tells whether the lease is held, and in how long it is to be renewed. A slow server is asked that much earlier.
func (l *Lease) due() (held bool, rest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	rest = l.opts.Renew - elapsed(now, l.renewed) - l.slow
	if !l.untold.IsZero() {
		rest = min(rest, tellAfter-elapsed(now, l.untold)) // others are to know it soon
	}
	return l.held, rest
}

// inTime limits a renewal so that an answer that does not come leaves time to ask again. It does not where the limit of a call leaves that,
// or where no time is left for it in any case, nor for a server that is known to be slow.
func (l *Lease) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	first, again := l.opts.Renew*6/10, l.opts.Renew/5
	l.mu.Lock()
	left := l.opts.Distrust - elapsed(time.Now(), l.renewed)
	slow := l.slow > l.opts.Renew/4
	l.mu.Unlock()
	if left >= callTimeout+again || left < first+again || slow {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, first)
}

// renew writes the lease again, and tells whether it is ours still. The caller has the turn.
func (l *Lease) renew(ctx context.Context) bool {
	l.mu.Lock()
	state := l.last
	l.mu.Unlock()
	for range 2 {
		err := l.take(ctx, state)
		if err == nil {
			return true
		}
		if err.Kind != core.ErrConflict && err.Kind != core.ErrNotFound {
			l.opts.Log.Warn("the operator lease was not renewed", "err", err)
			return false
		}
		// Another write came first. If the lease still names us (our answer was lost, a label was added), go on with it as it is
		// now.
		now, err := l.look(ctx)
		if err != nil {
			l.opts.Log.Warn("the operator lease was not renewed", "err", err)
			return false
		}
		if now.holder != l.opts.Identity {
			l.lost()
			l.opts.Log.Warn("the operator lease is lost", "holder", now.holder)
			return false
		}
		state = now
	}
	return false
}

// Acquire implements engine.OperatorLease. If another operator than the one named holds it, or takes it meanwhile, that is ErrConflict.
func (l *Lease) Acquire(ctx context.Context, from string) error {
	if err := l.turn.take(ctx); err != nil {
		return Describe(err, l.call("take"))
	}
	defer l.turn.give()
	// A lease that counts as held is requested as well: another operator may have taken it over and given it back since the last
	// renewal.
	if err := l.nobodyElsewhere(ctx); err != nil {
		return err
	}
	var seen string
	for attempt := range 4 {
		state, err := l.look(ctx)
		if err != nil {
			return err
		}
		if attempt == 0 {
			seen = state.holder
		}
		free := state.holder == "" || state.holder == l.opts.Identity || l.expired()
		if !free && (displayed(state.holder) != from || state.holder != seen) {
			l.lost()
			return l.heldBy(state.holder)
		}
		l.mu.Lock()
		l.wanted, l.unsure = true, time.Time{}
		l.mu.Unlock()
		err = l.take(ctx, state)
		if err != nil && err.Uncertain() {
			// Our name has a random part: if it is there, our call succeeded.
			if now, lookErr := l.look(ctx); lookErr == nil && now.holder == l.opts.Identity {
				continue
			}
			l.mu.Lock()
			l.unsure = time.Now()
			l.mu.Unlock()
			l.LookNow() // if it is ours, it is given back
		}
		switch {
		case err == nil:
			if err := l.nobodyElsewhere(ctx); err != nil {
				l.mu.Lock()
				l.held, l.unsure = false, time.Now()
				mine := l.last
				l.mu.Unlock()
				l.giveBackUnasked(ctx, mine)
				return err
			}
			l.LookNow()
			return nil
		case err.Kind == core.ErrNotFound && state.object == nil: // of the namespace, not of the lease
			err.Remedy = "Check the namespace of the lease: leaseNamespace in the configuration, or --lease-namespace."
			return err
		case err.Kind != core.ErrConflict && err.Kind != core.ErrNotFound:
			return err
		}
	}
	return &core.APIError{
		Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: l.call("take"),
		Message: "others keep writing to the lease", Remedy: "Try again.",
	}
}

func (l *Lease) heldBy(holder string) *core.APIError {
	return &core.APIError{
		Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: l.call("take"),
		Message: fmt.Sprintf("%s holds it (%s)", displayed(holder), holder),
		Remedy:  "Talk to them. If they are gone for good, it expires by itself in half a minute, or it can be taken over.",
	}
}

// Held implements engine.OperatorLease.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held && elapsed(time.Now(), l.renewed) < l.opts.Distrust
}

// Confirm implements engine.OperatorLease: another operator can take it over between two renewals.
func (l *Lease) Confirm(ctx context.Context) error {
	if err := l.prove(ctx); err != nil {
		return err
	}
	err := l.nobodyElsewhere(ctx)
	if err != nil && err.Kind != core.ErrConflict {
		err = l.nobodyElsewhere(ctx) // one answer may be lost
	}
	if err != nil {
		return err
	}
	return nil
}

// prove asks the server whether the lease is ours. Where it is to be renewed soon, the renewal is the question: the server takes it only
// while the lease is as we have seen it last, with our name.
func (l *Lease) prove(ctx context.Context) *core.APIError {
	if err := l.turn.take(ctx); err != nil {
		return Describe(err, l.call("get"))
	}
	defer l.turn.give()
	now := time.Now()
	l.mu.Lock()
	ours := l.held && l.last.holder == l.opts.Identity
	soon := ours && elapsed(now, l.renewed)+l.slow > l.opts.Renew/2
	l.mu.Unlock()
	if soon && l.renew(ctx) {
		return nil
	}
	state, err := l.look(ctx)
	if err != nil {
		state, err = l.look(ctx) // one answer may be lost
	}
	if err != nil {
		return err
	}
	if state.holder == l.opts.Identity {
		return nil
	}
	l.lost()
	l.opts.Log.Warn("the operator lease is lost", "holder", state.holder)
	if state.holder == "" {
		return &core.APIError{Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: l.call("take"), Message: "nobody holds it",
			Remedy: "Arm writing again."}
	}
	return l.heldBy(state.holder)
}

// lost notes that the server shows another holder.
func (l *Lease) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.wanted = false, false
}

// elapsed is the time from t to now by the clock that has gone further: the monotonic one stands still while a machine sleeps,
// and the wall clock can be set back.
func elapsed(now, t time.Time) time.Duration {
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// Holder implements engine.OperatorLease. It is also empty when the login may not read the lease, when the lease still has our own name,
// which we could not renew or give back, and when another's has expired: then nobody else is in the way.
func (l *Lease) Holder() string {
	held, expired := l.Held(), l.expired()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.holder != "" && (l.last.holder != l.opts.Identity && !expired || held) {
		return displayed(l.last.holder)
	}
	for _, namespace := range slices.Sorted(maps.Keys(l.elsewhere)) {
		if e := l.elsewhere[namespace]; e.seenTo.Sub(e.seenFrom) < l.opts.Expiry {
			return displayed(e.holder) + " (in namespace " + namespace + ")"
		}
	}
	return ""
}

// Looked implements engine.OperatorLease.
func (l *Lease) Looked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.seenTo.IsZero()
}

// Does implements engine.OperatorLease.
func (l *Lease) Does() core.Doing {
	if l.Held() || l.expired() {
		return core.Doing{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.holder == "" || l.last.holder == l.opts.Identity {
		return core.Doing{}
	}
	return l.last.doing
}

// Tell implements engine.OperatorLease.
func (l *Lease) Tell(d core.Doing) {
	l.mu.Lock()
	l.doing = d
	news := l.held && d != l.told && l.untold.IsZero()
	if news {
		l.untold = time.Now()
	}
	l.mu.Unlock()
	if news {
		l.LookNow() // which only sets the time of the next renewal: the lease is ours
	}
}

// LookNow implements engine.OperatorLease.
func (l *Lease) LookNow() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// displayed is the part of an identity that means something to people, "user@host".
func displayed(identity string) string {
	who, _, _ := strings.Cut(identity, "/")
	return who
}

// expired tells whether the lease was unchanged for so long, while we could see it, that its holder must be gone.
func (l *Lease) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.holder != "" && l.seenTo.Sub(l.seenFrom) >= l.opts.Expiry
}

// Release implements engine.OperatorLease. It leaves a lease that is not ours alone.
func (l *Lease) Release(ctx context.Context) error {
	l.mu.Lock()
	wanted := l.wanted
	l.held, l.wanted, l.unsure = false, false, time.Time{} // at once: nothing is to be written any more, whatever the server answers
	l.mu.Unlock()
	if !wanted {
		return nil
	}
	if err := l.turn.take(ctx); err != nil {
		return Describe(err, l.call("give back"))
	}
	defer l.turn.give()
	l.mu.Lock()
	again := l.wanted
	l.mu.Unlock()
	if again {
		return nil // taken again while this waited for its turn: giving it back would let another operator take what we count as ours
	}
	for attempt := 0; ; attempt++ {
		state, err := l.look(ctx)
		if err != nil {
			return err
		}
		if state.holder != l.opts.Identity {
			return nil
		}
		err = l.giveBack(ctx, state)
		if err == nil {
			return nil
		}
		if err.Kind != core.ErrConflict || attempt > 0 {
			return err
		}
	}
}
