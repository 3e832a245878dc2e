package openstack

import (
	"slices"
	"time"
)

type project struct {
	id, name, description string
}

type user struct {
	id, name, password string
	email              string // an extra attribute in Keystone; empty: not set
	defaultProject     *project
	roles              map[string][]string // role names by project ID
	systemAdmin        bool
}

type appCredential struct {
	id, name, secret string
	user             *user
	project          *project
	roles            []string
}

// token is an issued Keystone token.
type token struct {
	id, auditID     string
	user            *user
	project         *project // nil when unscoped or scoped to the system
	system          bool
	roles           []string
	methods         []string
	appCred         *appCredential
	issued, expires time.Time // real time
}

func (t *token) admin() bool { return slices.Contains(t.roles, "admin") }

func (t *token) projectID() string {
	if t.project == nil {
		return ""
	}
	return t.project.id
}

type flavor struct {
	FlavorSpec
	number int
}

type service struct {
	number       int
	uuid, binary string
	host         *host
	zone         string
	disabled     bool
	reason       string
	forcedDown   bool
	running      bool
	stopped      time.Time // last report of a stopped service
}

type agent struct {
	id, kind, binary string
	host             *host
	down             bool // admin_state_up is false
	running          bool
	stopped          time.Time
	created, started time.Time
}

// host is a machine of the cloud: a compute node, a gateway or a controller.
type host struct {
	HostSpec
	number   int
	uuid     string // of its compute node and resource provider
	address  string
	created  time.Time
	compute  *service // nil if it is not a compute node
	services []*service
	agents   []*agent

	on      bool
	boot    int                 // counts starts and stops, so that a pending start can tell that it is outdated
	guests  []*server           // recorded by the inhibitor at shutdown, to be started again
	waiting []func(t time.Time) // work that waits for nova-compute

	holdAgents, holdCompute bool // do not start with the host

	forgotten bool // its nova-compute service was deleted, and nova-compute has not registered again

	servers map[*server]bool
	live    []*migration // live migrations from this host; the first one runs, the others are queued

	usedCPU, usedRAM, usedDisk int // claims, in vCPUs, MiB and GiB
	claims                     int
}

// ready tells whether nova-compute on the host can work.
func (h *host) ready() bool { return h.on && h.compute != nil && h.compute.running }

type group struct {
	id, name, policy string
	project          *project
	userID           string
	members          []*server
	most             int // the most members on a host, for an anti-affinity group; 0 means 1
}

type fault struct {
	code             int
	message, details string
	created          time.Time
}

// server is an instance.
type server struct {
	id, name     string
	number       int
	project      *project
	userID       string
	host         *host // nil if it has none (shelved and offloaded, deleted, never scheduled)
	flavor       *flavor
	vm, task     string
	power        int
	priorVM      string // the state before a resize, for a revert
	zone         string // the zone that the user requested, if any
	tags         []string
	metadata     map[string]string
	locked       bool
	lockedReason string
	lockedBy     *user // nil if not locked by a known user
	description  string
	imageID      string
	keyName      string
	fromVolume   bool // booted from a volume, see bootVolume
	network      string
	vnic         string // its port's binding:vnic_type; "" for normal
	address      string
	created      time.Time
	launched     time.Time
	terminated   time.Time
	updated      time.Time
	deleted      bool
	fault        *fault
	group        *group
	behaviour    *Behaviour // never nil, and shared by those that are normal
	seeded       bool       // its creation is not recorded yet; actionsOf does it
	bornOn       *host      // where a seeded one was created
	actions      []*action  // newest last; read by Cloud.actionsOf
	migration    *migration
	position     int // in Cloud.order, valid when that is sorted
}

// set puts the server into a state and marks it as changed.
func (s *server) set(now time.Time, vm, task string, power int) {
	s.vm, s.task, s.power, s.updated = vm, task, power, now
}

// setTask changes only the server's task.
func (s *server) setTask(now time.Time, task string) { s.task, s.updated = task, now }

// Power states, as Nova numbers them.
const (
	powerNoState   = 0
	powerRunning   = 1
	powerPaused    = 3
	powerShutdown  = 4
	powerCrashed   = 6
	powerSuspended = 7
)

// States of an instance, as in OS-EXT-STS:vm_state.
const (
	vmActive    = "active"
	vmBuilding  = "building"
	vmPaused    = "paused"
	vmSuspended = "suspended"
	vmStopped   = "stopped"
	vmRescued   = "rescued"
	vmResized   = "resized"
	vmDeleted   = "deleted"
	vmError     = "error"
	vmShelved   = "shelved"
	vmOffloaded = "shelved_offloaded"
)

// taskStatus holds the statuses that depend on the task and the state.
var taskStatus = map[string]map[string]string{
	vmActive: {
		"rebooting": "REBOOT", "reboot_pending": "REBOOT", "reboot_started": "REBOOT",
		"rebooting_hard": "HARD_REBOOT", "reboot_pending_hard": "HARD_REBOOT", "reboot_started_hard": "HARD_REBOOT",
		"rebuilding": "REBUILD", "rebuild_spawning": "REBUILD", "migrating": "MIGRATING",
		"resize_prep": "RESIZE", "resize_migrating": "RESIZE", "resize_migrated": "RESIZE", "resize_finish": "RESIZE",
	},
	vmStopped: {
		"resize_prep": "RESIZE", "resize_migrating": "RESIZE", "resize_migrated": "RESIZE", "resize_finish": "RESIZE",
		"rebuilding": "REBUILD", "rebuild_spawning": "REBUILD",
	},
	vmResized: {"resize_reverting": "REVERT_RESIZE"},
	vmPaused:  {"migrating": "MIGRATING"},
	vmError:   {"rebuilding": "REBUILD", "rebuild_spawning": "REBUILD"},
}

var vmStatus = map[string]string{
	vmActive: "ACTIVE", vmBuilding: "BUILD", vmPaused: "PAUSED", vmSuspended: "SUSPENDED", vmStopped: "SHUTOFF",
	vmRescued: "RESCUE", vmResized: "VERIFY_RESIZE", vmDeleted: "DELETED", vmError: "ERROR", vmShelved: "SHELVED",
	vmOffloaded: "SHELVED_OFFLOADED",
}

// status is what the API shows for the state and the task.
func (s *server) status() string {
	if st := taskStatus[s.vm][s.task]; st != "" {
		return st
	}
	return vmStatus[s.vm]
}

func knownStatus(status string) bool {
	for _, st := range vmStatus {
		if st == status {
			return true
		}
	}
	for _, byTask := range taskStatus {
		for _, st := range byTask {
			if st == status {
				return true
			}
		}
	}
	return false
}

// migration is a record of os-migrations.
type migration struct {
	number           int
	uuid             string
	server           *server
	kind             string // live-migration, migration, resize or evacuation
	status           string
	source, dest     *host
	created, updated time.Time
	oldFlavor        *flavor
	newFlavor        *flavor
	userID           string
	projectID        string

	timer  *event  // the next step; cancelled if something else happens first
	action *action // its instance action
	step   *actionEvent

	wanted  string // the requested host, if any
	forced  bool   // bypasses the scheduler
	claimed bool   // dest holds a claim
	live    *transfer
}

func (m *migration) set(now time.Time, status string) { m.status, m.updated = status, now }

// ended tells whether nothing more follows. A resize that waits to be confirmed (finished) has not ended.
func (m *migration) ended() bool {
	switch m.status {
	case "confirmed", "reverted", "error", "failed", "completed", "cancelled", "done":
		return true
	}
	return false
}

// migrates tells whether a migration from or to a host has not ended.
func (c *Cloud) migrates(h *host) bool {
	return slices.ContainsFunc(c.migs, func(m *migration) bool { return (m.source == h || m.dest == h) && !m.ended() })
}

// inProgress tells whether servers/{id}/migrations still shows a live migration.
func (m *migration) inProgress() bool {
	switch m.status {
	case "queued", "preparing", "running", "post-migrating":
		return true
	}
	return false
}
