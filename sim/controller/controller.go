// Package controller holds the controllers that move a MOSK cluster through an update: LCM, the OpenStack controller
// (Rockoon), Ceph, Tungsten Fabric and a small kubelet. They are ordinary clients of a Kubernetes API server and of an
// OpenStack cloud and do not know who serves them: in the demo it is the simulated cloud, in end-to-end tests a real
// kube-apiserver and a real Nova.
//
// Every controller is level-triggered: its next action follows from the current state in the API. So each may be
// stopped and restarted at any point, and an API that is unavailable for a while only delays it. All time is a
// clock.Clock's.
package controller

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gophercloud/gophercloud/v2"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/sim/clock"
)

// Machines are the hosts under the cluster. A controller that reboots a node switches its machine off and on again, so
// that everything on it (hypervisor, agents) goes down with it. The host is the name of the Kubernetes node.
type Machines interface {
	PowerOff(host string)
	PowerOn(host string)
}

// Options say which controllers run and against what. Config and Clock are required.
type Options struct {
	Config  *rest.Config               // the MOSK cluster's API server, with the rights of an administrator
	Compute *gophercloud.ServiceClient // Nova, as administrator; needed when OpenStack is set
	Network *gophercloud.ServiceClient // Neutron, as administrator; nil: no network agents to wait for
	Volume  *gophercloud.ServiceClient // Cinder, as administrator; nil: no host has volumes of its own

	Clock    *clock.Clock
	Timing   Timing       // zero fields take their defaults
	Machines Machines     // nil: only the node goes down
	Seed     uint64       // of all random choices
	Log      *slog.Logger // nil: silence

	Update     *Update     // the update that LCM plays; nil: there is no LCM
	Management *Management // the cluster that tells LCM what to do; nil: LCM plays the update without one
	OpenStack  *OpenStack  // the OpenStack controller's settings; nil: it does not run
	Ceph       bool        // whether the Ceph controller runs
	Fabric     string      // name of the TFOperator, for example openstack-tf; empty: the TF controller does not run
	LocksKept  bool        // Populate arms no locks: they already exist
	Load       Load        // for Populate; nil: it sends requests
	Loaded     *Loaded     // for Populate with Load: what it has loaded before; nil: nothing, and it is not asked for again
	KubeletOff bool        // leave nodes' conditions and pods alone, for a cluster that has kubelets

	Others   []ThirdParty  // application controllers unknown to Lockstep
	Troubles []Trouble     // what goes wrong, and when
	PodLogs  PodLogs       // nil: pods have no logs
	Found    Bystander     // locks of a live cluster with owners that are not simulated
	Sets     []FoundSet    // StatefulSets of a live cluster, instead of the usual ones; none: the usual ones
	Daemons  []FoundDaemon // pods of a live cluster's DaemonSets that were old or down
	// Kubernetes names of a live cluster's nodes whose network agents were silent. They stay silent until the pod of
	// their Open vSwitch agent is deleted.
	Silent []string
	Off    []string // Kubernetes names of nodes whose machines are off at the start, until LCM reboots them
}

// env holds what all controllers of one Run share.
type env struct {
	kube    kubernetes.Interface
	dyn     dynamic.Interface
	view    *view
	clock   *clock.Clock
	timing  Timing
	log     *slog.Logger
	compute *gophercloud.ServiceClient
	network *gophercloud.ServiceClient
	volume  *gophercloud.ServiceClient

	load     Load     // nil except in Populate
	loaded   *Loaded  // nil where pods are not loaded
	machines Machines // nil: only the node goes down
	troubles *troubles
	podLogs  PodLogs // nil: pods have no logs
	dice     *dice

	workloads []workload // what runs on the cluster
	roles     roleLabels // of the nodes
}

// dice make the random choices. Each series has a name, so that one handler's numbers do not depend on when other
// handlers draw.
type dice struct {
	seed  uint64
	mu    sync.Mutex
	drawn map[string]uint64 // how many series a name has had
}

// chance returns the next series of random numbers for a name.
func (e *env) chance(name string) *rand.Rand {
	e.dice.mu.Lock()
	defer e.dice.mu.Unlock()
	e.dice.drawn[name]++
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(e.dice.seed^h.Sum64(), e.dice.drawn[name]))
}

// newEnv checks the options and makes the environment that the controllers share.
func newEnv(opts Options) (*env, error) {
	if opts.Config == nil || opts.Clock == nil {
		return nil, errors.New("controllers: a rest.Config and a clock are required")
	}
	config := rest.CopyConfig(opts.Config)
	config.QPS = -1 // virtual time may run a thousand times faster than the limiter's
	if config.UserAgent == "" {
		config.UserAgent = "lockstep-sim-controllers"
	}
	kube, dyn, err := Clients(config)
	if err != nil {
		return nil, fmt.Errorf("controllers: %w", err)
	}
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &env{
		kube: kube, dyn: dyn, view: newView(kube, dyn), clock: opts.Clock, timing: opts.Timing.withDefaults(), log: log,
		compute: opts.Compute, network: opts.Network, volume: opts.Volume, machines: opts.Machines,
		dice: &dice{seed: opts.Seed, drawn: map[string]uint64{}}, workloads: withSets(opts.Sets),
		podLogs: opts.PodLogs,
	}
	if e.roles = defaultRoles; opts.OpenStack != nil {
		e.roles = rolesWith(opts.OpenStack.NodeLabels)
		e.workloads = e.roles.selected(e.workloads)
	}
	e.troubles = newTroubles(e, opts.Troubles, slices.Concat(membersDown(opts.Sets), daemonsDown(opts.Daemons), agentsSilent(opts.Silent)))
	return e, nil
}

// Run runs the controllers until ctx is done and returns when their last goroutine has ended; a cancelled ctx is not an
// error. The controllers retry everything that fails, so Run returns only errors about Options.
func Run(ctx context.Context, opts Options) error {
	if opts.OpenStack != nil && opts.Compute == nil {
		return errors.New("controllers: the OpenStack controller needs a Nova client")
	}
	e, err := newEnv(opts)
	if err != nil {
		return err
	}
	cluster := ""
	if opts.Update != nil {
		cluster = opts.Update.Cluster
	}
	manage, err := newManagement(e, cluster, opts.Management)
	if err != nil {
		return err
	}

	var group sync.WaitGroup
	group.Go(func() { e.view.run(ctx) })
	if !e.view.synced(ctx) {
		group.Wait()
		return nil
	}
	if e.troubles.begin(ctx) != nil {
		group.Wait()
		return nil
	}
	hosts := newHosts(e.clock, opts.Machines, func() { e.view.changed(nodesResource) })
	for _, name := range opts.Off {
		hosts.edit(name, func(host *host) { host.off, host.since = true, e.clock.Now().Add(-e.timing.NodeGrace) })
	}
	if !opts.KubeletOff {
		k := newKubelet(e, hosts)
		k.watched = true
		// pods that are down from the start must be down before any controller looks
		if e.troubles.are(TroublePods, func(*trouble) bool { return true }) {
			if _, err := k.step(ctx); err != nil && ctx.Err() == nil {
				e.log.Warn("will try again", "controller", "kubelet", "error", err)
			}
		}
		group.Go(func() { k.run(ctx) })
	}

	// LCM acts on "all locks are inactive", which is also true when there are no locks. So it starts after every
	// application controller has looked at the cluster once.
	var armed []<-chan struct{}
	start := func(run func(context.Context, func())) {
		ready := make(chan struct{})
		armed = append(armed, ready)
		group.Go(func() { run(ctx, sync.OnceFunc(func() { close(ready) })) })
	}
	if opts.OpenStack != nil {
		start((&supervisor{env: e.logging(opts.PodLogs), OpenStack: opts.OpenStack.withDefaults()}).run)
	}
	if opts.Ceph {
		start((&ceph{env: e}).run)
	}
	if opts.Fabric != "" {
		start((&fabric{env: e, operator: opts.Fabric}).run)
	}
	if found := opts.Found; len(found.ClusterLocks)+len(found.NodeLocks) > 0 {
		start((&bystander{env: e, Bystander: found}).run)
	}
	for _, other := range opts.Others {
		start((&thirdParty{env: e, ThirdParty: other}).run)
	}
	group.Go(func() { e.troubles.run(ctx) })
	if opts.Update != nil {
		if manage != nil {
			group.Go(func() { manage.view.run(ctx) })
		}
		group.Go(func() {
			for _, ready := range armed {
				select {
				case <-ready:
				case <-ctx.Done():
					return
				}
			}
			if manage != nil && !manage.view.synced(ctx) {
				return
			}
			(&lcm{env: e, Update: opts.Update.withDefaults(), hosts: hosts, management: manage, seed: opts.Seed}).run(ctx)
		})
	}
	group.Wait()
	return nil
}
