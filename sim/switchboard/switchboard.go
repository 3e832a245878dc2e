// Package switchboard lets go wrong what package fault lists, while a simulated cloud runs: by flags, by a scenario's clock, or by hand.
//
// It knows the servers. Package fault does not, so that what only reads a scenario comes without them.
package switchboard

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim/clock"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

// Cloud holds the servers of a Switchboard. A nil server has no faults.
type Cloud struct {
	Clock      *clock.Clock
	Kubernetes *kubeapi.Server
	Management *kubeapi.Server
	OpenStack  *openstack.Cloud
	User       string // of both Kubernetes servers: the user whose login expires
	Seed       uint64 // of the random choices by rate
}

// State is the state of one fault of one server on a Switchboard.
type State struct {
	fault.Setting
	On  bool
	Met int // affected requests, or watch events, since it was last switched on
}

// Switchboard switches the faults of a running cloud on and off. Its methods are safe for use by several goroutines.
type Switchboard struct {
	cloud Cloud
	ctx   context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup

	mu       sync.Mutex
	switches map[key]*control
}

type key struct {
	server fault.Server
	kind   string
}

// control is one fault of one server.
type control struct {
	setting fault.Setting
	off     func()       // nil while it is off
	met     atomic.Int64 // atomic, because requests are counted under the servers' locks, without the Switchboard's
	spent   atomic.Bool  // its count is used up

	chance struct {
		sync.Mutex
		*rand.Rand
	}
}

// on tells whether the fault is active; the caller holds the Switchboard's mu.
func (c *control) on() bool { return c != nil && c.off != nil && !c.spent.Load() }

// New returns a Switchboard with everything off.
func New(cloud Cloud) *Switchboard {
	b := &Switchboard{cloud: cloud, switches: map[key]*control{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Close switches everything off and ends all that the Switchboard has started.
func (b *Switchboard) Close() {
	b.stop()
	b.Clear()
	b.ended.Wait()
}

// Has tells whether the server is part of the cloud.
func (b *Switchboard) Has(s fault.Server) bool {
	if s.IsKubernetes() {
		return b.kubernetes(s) != nil
	}
	return b.cloud.OpenStack != nil && slices.Contains(fault.Servers(), s)
}

func (b *Switchboard) kubernetes(s fault.Server) *kubeapi.Server {
	if s == fault.Management {
		return b.cloud.Management
	}
	return b.cloud.Kubernetes
}

// On switches a fault on with the parameters of the setting; it restarts a fault that is already on.
func (b *Switchboard) On(s fault.Setting) error {
	kind, known := fault.Find(s.Kind)
	switch {
	case !known || !kind.Has(s.Server):
		return fmt.Errorf("switch on %s: there is no such fault", s)
	case !b.Has(s.Server):
		return fmt.Errorf("switch on %s: this cloud has no server %s of its own", s, s.Server)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return fmt.Errorf("switch on %s: the cloud has ended", s)
	}
	at := key{s.Server, s.Kind}
	if err := b.turnOff(at); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(b.ctx)
	c := newControl(s, b.cloud.Seed)
	undo, err := b.begin(ctx, c)
	if err != nil {
		cancel()
		return fmt.Errorf("switch on %s: %w", s, err)
	}
	c.off = func() { cancel(); undo() }
	b.switches[at] = c
	if kind.EndsWatches && s.Server.IsKubernetes() && s.Rate == 0 && s.Of == fault.Anything {
		b.kubernetes(s.Server).CutWatches(s.Resource)
	}
	b.limit(ctx, c)
	return nil
}

// limit switches the fault off when its time is over.
func (b *Switchboard) limit(ctx context.Context, c *control) {
	wait := func(sleep func() error) {
		b.ended.Go(func() {
			if sleep() == nil {
				b.over(c)
			}
		})
	}
	if d := c.setting.For; d > 0 {
		until := b.cloud.Clock.Now().Add(d)
		wait(func() error { return b.cloud.Clock.SleepUntil(ctx, until) })
	}
	if d := c.setting.ForReal; d > 0 {
		wait(func() error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
}

// over switches a fault off, unless it was switched in the meantime.
func (b *Switchboard) over(c *control) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := key{c.setting.Server, c.setting.Kind}
	if b.switches[at] == c {
		_ = b.turnOff(at) // it fails only for faults that could not start either
	}
}

// Off switches a fault of a server off; a fault that is off stays off.
func (b *Switchboard) Off(s fault.Server, kind string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turnOff(key{s, kind})
}

func (b *Switchboard) turnOff(at key) error {
	c := b.switches[at]
	if c == nil || c.off == nil {
		return nil
	}
	c.off()
	c.off = nil
	return nil
}

// Toggle switches a fault of a server on or off, with its last parameters.
func (b *Switchboard) Toggle(s fault.Server, kind string) error {
	k, _ := fault.Find(kind)
	set := k.Standard(s)
	set.Kind = kind // an unknown kind, so that On reports it
	b.mu.Lock()
	c := b.switches[key{s, kind}]
	on := c.on()
	if c != nil {
		set = c.setting
	}
	b.mu.Unlock()
	if on {
		return b.Off(s, kind)
	}
	return b.On(set)
}

// Clear switches everything off.
func (b *Switchboard) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := range b.switches {
		_ = b.turnOff(at)
	}
}

// States returns all faults of all servers of the cloud: server by server, in the order of the catalogue.
func (b *Switchboard) States() []State {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []State
	for _, server := range fault.Servers() {
		if !b.Has(server) {
			continue
		}
		for _, k := range fault.Catalogue() {
			if !k.Has(server) {
				continue
			}
			st := State{Setting: k.Standard(server)}
			if c := b.switches[key{server, k.ID}]; c != nil {
				st = State{Setting: c.setting, On: c.on(), Met: int(c.met.Load())}
			}
			all = append(all, st)
		}
	}
	return all
}

func newControl(s fault.Setting, seed uint64) *control {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(string(s.Server) + ":" + s.Kind)) // never fails
	c := &control{setting: s}
	c.chance.Rand = rand.New(rand.NewPCG(seed, sum.Sum64()))
	return c
}

// meets decides whether the fault affects a request, and counts it.
func (c *control) meets(r *http.Request) bool {
	s := c.setting
	if !concerns(s, r) || c.spent.Load() {
		return false
	}
	c.chance.Lock()
	defer c.chance.Unlock()
	if s.Rate > 0 && c.chance.Float64() >= s.Rate {
		return false
	}
	met := c.met.Load()
	if s.Count > 0 && met >= int64(s.Count) {
		return false
	}
	c.met.Add(1)
	c.spent.Store(s.Count > 0 && met+1 == int64(s.Count))
	return true
}

// begin starts a fault and returns a function that ends it; the caller holds mu.
func (b *Switchboard) begin(ctx context.Context, c *control) (undo func(), err error) {
	s := c.setting
	if s.Server.IsKubernetes() {
		return b.beginKubernetes(ctx, c, b.kubernetes(s.Server))
	}
	cloud := b.cloud.OpenStack
	switch s.Kind {
	case "refused":
		return func() { _ = cloud.Refuse(false) }, cloud.Refuse(true)
	case "token-expires":
		cloud.SetTokenLifetime(s.Lifetime)
		cloud.ExpireTokens()
		return func() { cloud.SetTokenLifetime(0) }, nil
	}
	clear := cloud.SetFault(onOpenStack(s, c.meets))
	switch {
	case s.Kind == "clock-skew":
		services := []string{string(s.Server)}
		if s.Server == fault.OpenStack {
			services = []string{string(fault.Identity), string(fault.Compute), string(fault.Network)}
		}
		err = setSkew(cloud, services, s.Skew)
		return func() { clear(); _ = setSkew(cloud, services, 0) }, err
	case s.Server == fault.Identity && s.Of != fault.Writes:
		cloud.ExpireTokens() // nothing asks Keystone while the token is valid
	}
	return clear, nil
}

func setSkew(cloud *openstack.Cloud, services []string, d time.Duration) error {
	var errs []error
	for _, service := range services {
		errs = append(errs, cloud.SetSkew(service, d))
	}
	return errors.Join(errs...)
}

func (b *Switchboard) beginKubernetes(ctx context.Context, c *control, server *kubeapi.Server) (undo func(), err error) {
	s := c.setting
	switch s.Kind {
	case "refused":
		return func() { _ = server.Outage(false) }, server.Outage(true)
	case "token-expires":
		return func() { _ = server.RestoreToken(b.cloud.User) }, server.ExpireToken(b.cloud.User)
	case "watches-end":
		b.ended.Go(func() {
			tick := time.NewTicker(s.Every)
			defer tick.Stop()
			for {
				c.met.Add(int64(server.Watches("")))
				server.CutWatches("")
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
		return func() {}, nil
	}
	remove := server.AddFault(onKubernetes(s, c.meets))
	if s.Kind == "clock-skew" {
		server.SetSkew(s.Skew)
		return func() { remove(); server.SetSkew(0) }, nil
	}
	return remove, nil
}
