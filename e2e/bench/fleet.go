package main

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Fleet is the size of a cluster and its cloud, and what happens in it.
type Fleet struct {
	Nodes      int // three of them are masters, the others computes
	Instances  int // on the computes, evenly
	Maintained int // computes that are in maintenance
	Rate       int // changes a second
	Migrations int // live migrations at a time, under change
}

// locksPerNode is how many controllers hold a lock on each node.
const locksPerNode = 3

// Locks is how many NodeWorkloadLocks the fleet has.
func (f Fleet) Locks() int { return f.Nodes * locksPerNode }

// Name tells the fleets apart: the number of nodes.
func (f Fleet) Name() string { return strconv.Itoa(f.Nodes) }

// String is what the tables call the fleet.
func (f Fleet) String() string {
	return fmt.Sprintf("%d nodes, %d instances, %d locks", f.Nodes, f.Instances, f.Locks())
}

// probeEvery is the mean time between two changes of rows on the screen, which are looked for there: at most half of all changes.
func (f Fleet) probeEvery() time.Duration {
	return max(300*time.Millisecond, 2*time.Second/time.Duration(f.Rate))
}

// fleets are those of the tables.
var fleets = []Fleet{
	{Nodes: 50, Instances: 1_500, Maintained: 4, Rate: 2, Migrations: 4},
	{Nodes: 500, Instances: 15_000, Maintained: 12, Rate: 20, Migrations: 24},
	{Nodes: 2_000, Instances: 100_000, Maintained: 20, Rate: 200, Migrations: 40},
}

// fleetNamed finds a fleet by its number of nodes.
func fleetNamed(name string) (Fleet, error) {
	for _, f := range fleets {
		if f.Name() == name {
			return f, nil
		}
	}
	return Fleet{}, fmt.Errorf("there is no fleet of %q nodes; there are %v", name, fleetNames())
}

func fleetNames() []string {
	var names []string
	for _, f := range fleets {
		names = append(names, f.Name())
	}
	return names
}

// controllerNames are a controller's name, and what the names of its locks begin with.
type controllerNames struct{ name, prefix string }

// The controllers that hold a lock on each node.
var controllers = []controllerNames{{"openstack", "openstack-"}, {"ceph", "ceph-"}, {"tungstenfabric", "tf-"}}

// The releases and kubelets before and after the update.
const (
	releaseFrom, releaseTo = "17.4.0+25.1", "21.0.0+25.2"
	kubeletFrom, kubeletTo = "v1.30.14", "v1.31.9"
)

// Migration modes of a node.
const (
	modeLive   = "live"
	modeManual = "manual"
	modeSkip   = "skip"
)

// modes are the migration modes in the order in which the changes set them.
var modes = []string{modeLive, modeManual, modeSkip}

// machine is one node of a fleet at the start.
type machine struct {
	Node       string // its Kubernetes name, and its host's in Nova
	Short      string // its machine's name
	Rack       string
	Master     bool
	Mode       string // of migrations
	Done       bool   // it is updated
	Maintained bool   // it is in maintenance
}

// lock is the name of the lock that the i-th of the controllers holds on the node.
func (m machine) lock(i int) string { return controllers[i].prefix + m.Node }

// state is that of the i-th controller's lock: in maintenance all but the OpenStack controller have released the node.
func (m machine) state(i int) string {
	if m.Maintained && i > 0 {
		return stateInactive
	}
	return stateActive
}

// masters is how many nodes are masters and OpenStack controllers.
const masters = 3

// computesPerRack is how many computes share a rack.
const computesPerRack = 20

// machines are the fleet's nodes: the masters, then the computes; the first third of these is updated, and those in maintenance
// follow. It is the same list each time.
func (f Fleet) machines() []machine {
	all := make([]machine, f.Nodes)
	for i := range all {
		m := machine{Node: "kaas-node-" + identifier("node", i), Mode: modeLive}
		if m.Master = i < masters; m.Master {
			m.Short, m.Done = fmt.Sprintf("ctl-%02d", i+1), true
			all[i] = m
			continue
		}
		k, computes := i-masters, f.Nodes-masters
		m.Short, m.Rack = fmt.Sprintf("cmp-%04d", k+1), fmt.Sprintf("r%03d", k/computesPerRack+1)
		switch done := computes / 3; {
		case k < done:
			m.Done = true
		case k < done+f.Maintained:
			m.Maintained = true
		case k%12 == 0:
			m.Mode = modeManual
		case k%12 == 6:
			m.Mode = modeSkip
		}
		all[i] = m
	}
	return all
}

// identifier is a UUID that belongs to a kind of thing and a number.
func identifier(kind string, i int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s-%d", kind, i))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // version 4
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// guestID and guestName are those of the fleet's i-th instance.
func guestID(i int) string   { return identifier("server", i) }
func guestName(i int) string { return fmt.Sprintf("vm-%06d", i+1) }

// guest is one instance of a fleet at the start.
type guest struct {
	ID, Name, Project, Flavor, Status string
	Tags                              []string
	Host                              string
}

// projects is how many projects the instances belong to.
const projects = 40

// guests are the fleet's instances, one after the other on each compute. It is the same list each time.
func (f Fleet) guests() []guest {
	computes := slices.DeleteFunc(f.machines(), func(m machine) bool { return m.Master })
	all := make([]guest, f.Instances)
	for i := range all {
		g := guest{ID: guestID(i), Name: guestName(i), Project: fmt.Sprintf("team-%02d", i*7%projects+1),
			Flavor: flavors[i%len(flavors)].Name, Status: "ACTIVE", Host: computes[i%len(computes)].Node}
		switch i % 20 {
		case 3:
			g.Status = "SHUTOFF"
		case 7:
			g.Tags = []string{"openstack.lcm.mirantis.com:maintenance_action=notify"}
		case 11:
			g.Tags = []string{"openstack.lcm.mirantis.com:maintenance_action=poweroff", "backup=daily"}
		}
		all[i] = g
	}
	return all
}
