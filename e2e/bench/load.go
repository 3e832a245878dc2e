package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"golang.org/x/sync/errgroup"

	"lockstep/sim/controller"
)

// lanes is how many requests change things at a time. The changes of one object share a lane, so that the last one stays.
const lanes = 16

// load changes the cluster and the cloud as the controllers, LCM and the users of a cloud do in an update, so many times a second.
type load struct {
	fleet    Fleet
	every    time.Duration // between two changes
	kube     kubernetesAPI
	nova     *controller.Connection // nil without OpenStack
	machines []machine
	spared   map[string]bool // nodes whose modes and states of locks the probes change, by their short names

	chance *rand.Rand
	due    []guest // instances to migrate next
	guests []guest // the others

	done atomic.Int64 // changes that the servers have accepted

	mu     sync.Mutex
	moving map[string]guest // by ID: those whose migration Nova has accepted and that has not been seen to end
	last   final
	errs   []error
}

// final is what the last changes made of each object that was changed.
type final struct {
	modes  map[string]string // by the node's short name
	states map[string]string // of locks, by the node's short name and the controller
	texts  map[string]said   // of the OpenStack controller's locks, by the node's short name
}

// said is the text of a lock: with the ID of an instance, as it is, or with its name, as Lockstep shows it where it knows the instance.
type said struct{ plain, named string }

// newLoad makes the changes of a fleet. Without OpenStack, nova is nil. What the spared nodes show is changed by the probes, whose
// changes are a part of the fleet's rate.
func newLoad(f Fleet, kube kubernetesAPI, nova *controller.Connection, spared map[string]bool) *load {
	rate := float64(f.Rate)
	if len(spared) > 0 {
		rate -= 1 / f.probeEvery().Seconds()
	}
	l := &load{moving: map[string]guest{}, fleet: f,
		every: time.Duration(float64(time.Second) / rate), kube: kube, nova: nova, machines: f.machines(), spared: spared,
		chance: rand.New(rand.NewPCG(uint64(f.Nodes), 1)),
		last:   final{modes: map[string]string{}, states: map[string]string{}, texts: map[string]said{}}}
	if nova == nil {
		return l
	}
	maintained := map[string]bool{}
	for _, m := range l.machines {
		maintained[m.Node] = m.Maintained
	}
	for _, g := range f.guests() {
		if maintained[g.Host] && g.Status == "ACTIVE" {
			l.due = append(l.due, g)
		} else {
			l.guests = append(l.guests, g)
		}
	}
	return l
}

// change is one change of one object.
type change struct {
	object string // those of one object are made in their order
	do     func(context.Context) error
}

// run makes changes until ctx ends. It returns an error if the servers refuse some of them.
func (l *load) run(ctx context.Context) error {
	var working sync.WaitGroup
	work := make([]chan change, lanes)
	for i := range work {
		work[i] = make(chan change, 8)
		working.Go(func() {
			for c := range work[i] {
				// A change that was begun is finished: what it leaves has to be known.
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				if err := c.do(ctx); err == nil {
					l.done.Add(1)
				} else if !errors.Is(err, errNothingChanged) {
					l.failed(err)
				}
				cancel()
			}
		})
	}
	if l.nova != nil {
		working.Go(func() { l.follow(ctx) })
	}
	begun := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		next := begun.Add(time.Duration(i) * l.every)
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			continue
		}
		c := l.next()
		hash := fnv.New32a()
		hash.Write([]byte(c.object))
		select {
		case work[hash.Sum32()%lanes] <- c:
		case <-ctx.Done():
		}
	}
	for _, lane := range work {
		close(lane)
	}
	working.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.errs...)
}

// errNothingChanged is a change that found nothing to do.
var errNothingChanged = errors.New("nothing changed")

func (l *load) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) < 5 { // more of them say nothing new
		l.errs = append(l.errs, err)
	}
}

// accepted notes what an object is, once the server has it.
func (l *load) accepted(err error, note func(*final)) error {
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		note(&l.last)
	}
	return err
}

// next draws the next change: texts of locks half of the time, then states of locks, nodes, and with OpenStack instances and
// migrations for a quarter.
func (l *load) next() change {
	x := l.chance.IntN(100)
	if l.nova != nil {
		switch {
		case x < 5:
			if c, ok := l.migrate(); ok {
				return c
			}
			return l.tag()
		case x < 17:
			return l.tag()
		case x < 25:
			return l.switchPower()
		}
		x = (x - 25) * 100 / 75
	}
	switch {
	case x < 50:
		return l.text()
	case x < 65:
		return l.state()
	case x < 85:
		return l.heartbeat()
	}
	return l.mode()
}

// maintained draws a node in maintenance.
func (l *load) maintained() machine {
	first := slices.IndexFunc(l.machines, func(m machine) bool { return m.Maintained })
	return l.machines[first+l.chance.IntN(l.fleet.Maintained)]
}

// text is what the OpenStack controller writes of its progress.
func (l *load) text() change {
	m, i, begins := l.maintained(), l.chance.IntN(l.fleet.Instances), l.chance.IntN(2) == 0
	text := movingText
	if begins {
		text = startingText
	}
	return change{m.Node, func(ctx context.Context) error {
		err := l.kube.setLock(ctx, nodeLocks, m.lock(0), map[string]any{"errorMessage": pythonTime(time.Now()) + " " + text(guestID(i))})
		return l.accepted(err, func(f *final) { f.texts[m.Short] = said{text(guestID(i)), text(guestName(i))} })
	}}
}

// state is another controller that takes its word back, or gives it again.
func (l *load) state() change {
	m, c, state := l.maintained(), 1+l.chance.IntN(len(controllers)-1), stateInactive
	if l.chance.IntN(2) == 0 {
		state = stateActive
	}
	if l.spared[m.Short] {
		return l.text()
	}
	return change{m.Node, func(ctx context.Context) error { return l.setState(ctx, m, c, state) }}
}

func (l *load) setState(ctx context.Context, m machine, c int, state string) error {
	err := l.kube.setLock(ctx, nodeLocks, m.lock(c), map[string]any{"state": state})
	return l.accepted(err, func(f *final) { f.states[m.Short+" "+controllers[c].name] = state })
}

// stateOf is the state that a lock was given last.
func (l *load) stateOf(m machine, c int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state, changed := l.last.states[m.Short+" "+controllers[c].name]; changed {
		return state
	}
	return m.state(c)
}

// heartbeat is what each kubelet says every few minutes: all is as it was.
func (l *load) heartbeat() change {
	m := l.machines[l.chance.IntN(len(l.machines))]
	return change{m.Node, func(ctx context.Context) error {
		now := time.Now().UTC().Format(time.RFC3339)
		return l.kube.patchNode(ctx, m.Node, map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "lastHeartbeatTime": now}}}}, "status")
	}}
}

// mode is a colleague who sets the migration mode of a node.
func (l *load) mode() change {
	m := l.machines[l.chance.IntN(len(l.machines))]
	for m.Master || m.Maintained || l.spared[m.Short] {
		m = l.machines[l.chance.IntN(len(l.machines))]
	}
	mode := modes[l.chance.IntN(len(modes))]
	return change{m.Node, func(ctx context.Context) error { return l.setMode(ctx, m, mode) }}
}

func (l *load) setMode(ctx context.Context, m machine, mode string) error {
	err := l.kube.patchNode(ctx, m.Node, map[string]any{"metadata": map[string]any{"annotations": map[string]any{modeAnnotation: mode}}})
	return l.accepted(err, func(f *final) { f.modes[m.Short] = mode })
}

// tag is an owner who says what is to become of an instance.
func (l *load) tag() change {
	g, action := l.guests[l.chance.IntN(len(l.guests))], []string{"notify", "poweroff", "live_migrate"}[l.chance.IntN(3)]
	return change{g.ID, func(ctx context.Context) error {
		body := map[string]any{"tags": []string{"openstack.lcm.mirantis.com:maintenance_action=" + action}}
		_, err := l.nova.Compute.Put(ctx, l.nova.Compute.ServiceURL("servers", g.ID, "tags"), body, nil,
			&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
		if err != nil {
			return fmt.Errorf("tag instance %s: %w", g.Name, err)
		}
		return nil
	}}
}

// switchPower is an owner who stops an instance, or starts it again.
func (l *load) switchPower() change {
	g := l.guests[l.chance.IntN(len(l.guests))]
	return change{g.ID, func(ctx context.Context) error {
		for _, action := range []string{"os-stop", "os-start"} { // one of them fits, unless the last one is still under way
			err := l.act(ctx, g, map[string]any{action: nil})
			if !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
				return err
			}
		}
		return errNothingChanged
	}}
}

// migrate is the OpenStack controller that moves an instance off a node in maintenance; false when enough are moving.
func (l *load) migrate() (change, bool) {
	l.mu.Lock()
	moving := len(l.moving)
	l.mu.Unlock()
	if moving >= l.fleet.Migrations || len(l.due) == 0 {
		return change{}, false
	}
	g := l.due[0]
	l.due = l.due[1:]
	return change{g.ID, func(ctx context.Context) error {
		err := l.act(ctx, g, map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}})
		if err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.moving[g.ID] = g
		}
		return err
	}}, true
}

// followEvery is how often the ends of migrations are looked for.
const followEvery = 3 * time.Second

// follow looks for the ends of migrations until ctx ends.
func (l *load) follow(ctx context.Context) {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := l.forgetMoved(ctx); err != nil && ctx.Err() == nil {
			l.failed(err)
		}
	}
}

// forgetMoved looks which migrations have ended.
func (l *load) forgetMoved(ctx context.Context) error {
	l.mu.Lock()
	moving := slices.Collect(maps.Values(l.moving))
	l.mu.Unlock()
	for _, g := range moving {
		var answer struct {
			Server struct {
				Status string `json:"status"`
			} `json:"server"`
		}
		if _, err := l.nova.Compute.Get(ctx, l.nova.Compute.ServiceURL("servers", g.ID), &answer, nil); err != nil {
			return fmt.Errorf("read instance %s: %w", g.Name, err)
		}
		if answer.Server.Status != "MIGRATING" {
			l.mu.Lock()
			delete(l.moving, g.ID)
			l.mu.Unlock()
		}
	}
	return nil
}

func (l *load) act(ctx context.Context, g guest, body map[string]any) error {
	_, err := l.nova.Compute.Post(ctx, l.nova.Compute.ServiceURL("servers", g.ID, "action"), body, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusAccepted}})
	if err != nil {
		return fmt.Errorf("act on instance %s: %w", g.Name, err)
	}
	return nil
}

// undo makes the modes and the states of locks what they were at the start. Texts of locks stay: the next ones replace them.
func (l *load) undo(ctx context.Context) error {
	l.mu.Lock()
	modes, states := maps.Clone(l.last.modes), maps.Clone(l.last.states)
	l.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillers)
	for _, m := range l.machines {
		if _, changed := modes[m.Short]; changed {
			group.Go(func() error { return l.setMode(ctx, m, m.Mode) })
		}
		for c := range controllers[1:] {
			if _, changed := states[m.Short+" "+controllers[1+c].name]; changed {
				group.Go(func() error {
					return l.kube.setLock(ctx, nodeLocks, m.lock(1+c), map[string]any{"state": m.state(1 + c)})
				})
			}
		}
	}
	return group.Wait()
}

// settled waits until no migration is under way, and returns how many instances Nova then has on each host.
func (l *load) settled(ctx context.Context) (map[string]int, error) {
	for {
		if err := l.forgetMoved(ctx); err != nil {
			return nil, err
		}
		l.mu.Lock()
		left := len(l.moving)
		l.mu.Unlock()
		if left == 0 {
			break
		}
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	hosts := map[string]int{}
	for marker := ""; ; {
		url := l.nova.Compute.ServiceURL("servers", "detail") + "?all_tenants=1&limit=1000"
		if marker != "" {
			url += "&marker=" + marker
		}
		var page struct {
			Servers []struct {
				ID   string `json:"id"`
				Host string `json:"OS-EXT-SRV-ATTR:host"`
			} `json:"servers"`
		}
		if _, err := l.nova.Compute.Get(ctx, url, &page, nil); err != nil {
			return nil, fmt.Errorf("list the instances: %w", err)
		}
		if len(page.Servers) == 0 {
			return hosts, nil
		}
		for _, s := range page.Servers {
			hosts[s.Host]++
			marker = s.ID
		}
	}
}
