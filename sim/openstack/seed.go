package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// UserSpec describes a user for AddUser.
type UserSpec struct {
	Name, Password string
	Email          string   // "" for none
	Project        string   // name of the project the roles are in
	Roles          []string // admin, member, reader
	DefaultProject bool     // tokens without a scope get the scope Project
}

// FlavorSpec describes a flavor for AddFlavor.
type FlavorSpec struct {
	ID         string // "" to derive it from the name
	Name       string
	VCPUs      int
	RAM        int // MiB
	Disk       int // GiB
	ExtraSpecs map[string]string
}

// HostSpec describes a compute host for AddHost.
type HostSpec struct {
	Name  string
	Zone  string // availability zone; "" for nova, the default one
	VCPUs int
	RAM   int // MiB
	Disk  int // GiB

	Traits []string // in addition to those of every host
}

// GroupSpec describes a server group for AddServerGroup.
type GroupSpec struct {
	ID            string // "" to derive it from the name
	Name, Project string
	Policy        string // affinity, anti-affinity, soft-affinity, soft-anti-affinity
	MaxPerHost    int    // the most members of an anti-affinity group on a host; 0 means 1
}

// VolumeSpec describes a volume that is attached to an instance.
type VolumeSpec struct {
	Name      string
	Host      string // name of the host whose own disks hold it; "" for Ceph
	Encrypted bool
}

// ServerSpec describes an instance for AddServer.
type ServerSpec struct {
	ID      string // "" to derive it from the name
	Name    string
	Project string // name; "" for demo
	Host    string // name; "" only for SHELVED_OFFLOADED and ERROR
	Flavor  string // name or ID

	// Status is ACTIVE (the default), SHUTOFF, PAUSED, SUSPENDED, ERROR, RESCUE, SHELVED, SHELVED_OFFLOADED, BUILD or
	// VERIFY_RESIZE.
	Status string
	// PowerState is Nova's number; nil for the usual one of Status.
	PowerState *int
	// PreviousHost is the source of a VERIFY_RESIZE server, to which a revert would move it.
	PreviousHost string
	// Fault is shown with the status ERROR.
	Fault string

	Tags         []string
	Zone         string // the availability zone that the user requested: no migration may leave it
	Locked       bool
	LockedReason string
	Metadata     map[string]string
	Description  string
	Group        string       // name or ID of its server group
	Network      string       // name; "" for private
	Port         string       // its port's binding:vnic_type; "" for normal
	Volumes      []VolumeSpec // attached in addition to the boot volume
	ImageID      string       // "" if booted from a volume
	Created      time.Time    // virtual; zero: now
	Behaviour    Behaviour
}

// Failure says how often something fails, and with which text.
type Failure struct {
	Times int     // how many times; negative: always
	Text  string  // the text of Nova's instance action or fault, if it has one
	At    float64 // the progress at which it happens, 0 to 1
}

// due tells whether the next attempt fails, and counts it.
func (f *Failure) due() bool {
	if f.Times > 0 {
		f.Times--
		return true
	}
	return f.Times < 0
}

// Behaviour is how an instance differs from a normal one.
type Behaviour struct {
	// FailLive makes live migrations fail: record failed, the server stays ACTIVE on its host. At 0 the target refuses
	// it with the text; later the text goes to the log of the source, which no API shows.
	FailLive       Failure
	FailCold       Failure // cold migrations on the source: record error, the server returns to its previous state
	FailFinish     Failure // cold migrations on the target: the server goes to ERROR there
	FailStop       Failure // os-stop: answered with 202, the server does not change
	NeverConverges bool    // the guest dirties memory faster than it can be copied
	NoValidHost    bool    // no other host is suitable
	LocalDisk      bool    // its disk is copied too
}

// normal is the Behaviour of almost all instances. It never changes: no Failure of it is ever due.
var normal Behaviour

func behaviourOf(b Behaviour) *Behaviour {
	if b == normal {
		return &normal
	}
	return &b
}

// AddProject adds a project in the domain Default and returns its ID. The name must be new.
func (c *Cloud) AddProject(name string) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	if c.projectByName(name) != nil {
		return "", fmt.Errorf("openstack: add project %q: it exists", name)
	}
	return c.addProject(name).id, nil
}

// AddUser adds a user in the domain Default and returns its ID. The name must be new, the project must exist.
func (c *Cloud) AddUser(spec UserSpec) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	if c.userByName(spec.Name) != nil {
		return "", fmt.Errorf("openstack: add user %q: it exists", spec.Name)
	}
	p := c.projectByName(spec.Project)
	if p == nil {
		return "", fmt.Errorf("openstack: add user %q: no project %q", spec.Name, spec.Project)
	}
	for _, r := range spec.Roles {
		if !slices.Contains(roleNames, r) {
			return "", fmt.Errorf("openstack: add user %q: no role %q", spec.Name, r)
		}
	}
	return c.addUser(spec, p).id, nil
}

// AddFlavor adds a flavor and returns its ID.
func (c *Cloud) AddFlavor(spec FlavorSpec) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	if spec.ID == "" {
		spec.ID = c.uuid("flavor", spec.Name)
	}
	if c.flavorBy(spec.ID) != nil || c.flavorBy(spec.Name) != nil {
		return "", fmt.Errorf("openstack: add flavor %q: it exists", spec.Name)
	}
	spec.ExtraSpecs = maps.Clone(spec.ExtraSpecs)
	f := &flavor{FlavorSpec: spec, number: len(c.flavorOrder) + 1}
	c.flavors[f.ID] = f
	c.flavorOrder = append(c.flavorOrder, f)
	return f.ID, nil
}

// AddServerGroup adds a server group and returns its ID.
func (c *Cloud) AddServerGroup(spec GroupSpec) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	p := c.projectByName(cmp.Or(spec.Project, "demo"))
	if p == nil {
		return "", fmt.Errorf("openstack: add server group %q: no project %q", spec.Name, spec.Project)
	}
	if spec.ID == "" {
		spec.ID = c.uuid("group", spec.Name)
	}
	g := &group{id: spec.ID, name: spec.Name, policy: cmp.Or(spec.Policy, "anti-affinity"), project: p, userID: c.ownerOf(p),
		most: spec.MaxPerHost}
	c.groups = append(c.groups, g)
	return g.id, nil
}

// AddServer adds an instance and returns its ID. It is placed on its host even if the scheduler would not have chosen
// it.
func (c *Cloud) AddServer(spec ServerSpec) (string, error) {
	now := c.lock()
	defer c.mu.Unlock()
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("openstack: add server %q: "+format, append([]any{spec.Name}, args...)...)
	}
	p := c.projectByName(cmp.Or(spec.Project, "demo"))
	if p == nil {
		return fail("no project %q", spec.Project)
	}
	f := c.flavorBy(spec.Flavor)
	if f == nil {
		return fail("no flavor %q", spec.Flavor)
	}
	state, ok := seededStates[cmp.Or(spec.Status, "ACTIVE")]
	if !ok {
		return fail("no such status %q", spec.Status)
	}
	h := c.hosts[spec.Host]
	if h != nil && h.compute == nil {
		return fail("%s is no compute host", spec.Host)
	}
	if h == nil && (spec.Host != "" || state.vm != vmOffloaded && state.vm != vmError) {
		return fail("no host %q", spec.Host)
	}
	var inGroup *group
	if i := slices.IndexFunc(c.groups, func(g *group) bool { return g.name == spec.Group || g.id == spec.Group }); i >= 0 && spec.Group != "" {
		inGroup = c.groups[i]
	} else if spec.Group != "" {
		return fail("no server group %q", spec.Group)
	}
	previous := c.hosts[spec.PreviousHost]
	if state.vm == vmResized && (previous == nil || previous.compute == nil) {
		return fail("VERIFY_RESIZE needs a previous host, and %q is none", spec.PreviousHost)
	}
	if spec.ID == "" {
		spec.ID = c.uuid("server", spec.Name)
	}
	if c.servers[spec.ID] != nil {
		return fail("ID %s exists", spec.ID)
	}
	if spec.Created.IsZero() {
		spec.Created = now
	}
	c.lastSrv++
	launched := spec.Created.UTC().Add(12 * time.Second)
	if launched.After(now) && !spec.Created.After(now) { // a seed may be from the history that the clock has yet to go through
		launched = now
	}
	s := &server{
		id: spec.ID, name: spec.Name, number: c.lastSrv, project: p, userID: c.ownerOf(p), flavor: f,
		vm: state.vm, power: state.power, zone: spec.Zone, tags: slices.Clone(spec.Tags), metadata: maps.Clone(spec.Metadata),
		locked: spec.Locked, lockedReason: spec.LockedReason, description: spec.Description,
		imageID: spec.ImageID, network: cmp.Or(spec.Network, "private"), vnic: spec.Port, address: guestAddress(c.lastSrv),
		created: spec.Created.UTC(), launched: launched, updated: launched,
		behaviour: behaviourOf(spec.Behaviour),
	}
	if s.imageID == "" && s.behaviour.LocalDisk {
		s.imageID = c.uuid("image", s.name) // one that was deleted since
	}
	s.fromVolume = s.imageID == ""
	if spec.PowerState != nil {
		s.power = *spec.PowerState
	}
	if s.vm == vmBuilding {
		s.task, s.launched = "spawning", time.Time{}
	}
	if s.vm == vmError {
		text := cmp.Or(spec.Fault, "Build of instance "+s.id+" aborted: volume "+s.id+" did not finish being created")
		s.fault = &fault{code: 500, message: text, created: s.updated}
	}
	for _, v := range spec.Volumes {
		if err := c.attach(s, v); err != nil {
			return fail("%w", err)
		}
	}
	if inGroup != nil {
		s.group = inGroup
		inGroup.members = append(inGroup.members, s)
	}
	c.servers[s.id] = s
	c.order = append(c.order, s)
	c.unsorted = true
	if h != nil {
		c.place(s, h)
		claim(h, s, f, 1)
	}
	s.seeded, s.bornOn = true, h
	if s.vm == vmResized {
		c.seedResized(s, previous)
	}
	return s.id, nil
}

// seededStates holds the states for each seeded status.
var seededStates = map[string]struct {
	vm    string
	power int
}{
	"ACTIVE": {vmActive, powerRunning}, "SHUTOFF": {vmStopped, powerShutdown}, "PAUSED": {vmPaused, powerPaused},
	"SUSPENDED": {vmSuspended, powerShutdown}, "ERROR": {vmError, powerRunning}, "RESCUE": {vmRescued, powerRunning},
	"SHELVED": {vmShelved, powerShutdown}, "SHELVED_OFFLOADED": {vmOffloaded, powerShutdown},
	"BUILD": {vmBuilding, powerNoState}, "VERIFY_RESIZE": {vmResized, powerRunning},
}

// seedResized gives a server in VERIFY_RESIZE the migration that it waits for.
func (c *Cloud) seedResized(s *server, source *host) {
	s.priorVM = vmActive
	m := c.newMigration(s.updated, s, "migration", s.userID, s.project.id)
	m.source, m.dest, m.claimed = source, s.host, true
	m.set(s.updated, "finished")
	claim(source, s, s.flavor, 1)
	s.migration = m
}

// DeleteServer removes an instance as its owner would, at once. An unknown ID is an error.
func (c *Cloud) DeleteServer(id string) error {
	now := c.lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	if s == nil || s.deleted {
		return fmt.Errorf("openstack: delete server: no server %q", id)
	}
	c.destroy(now, s)
	return nil
}

// SetBehaviour changes the Behaviour of an instance, from its next action on. An unknown ID is an error.
func (c *Cloud) SetBehaviour(id string, b Behaviour) error {
	c.lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	if s == nil || s.deleted {
		return fmt.Errorf("openstack: set behaviour: no server %q", id)
	}
	s.behaviour = behaviourOf(b)
	return nil
}

// SetTags replaces the tags of an instance, as its owner would. An unknown ID is an error.
func (c *Cloud) SetTags(id string, tags ...string) error {
	c.lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	if s == nil || s.deleted {
		return fmt.Errorf("openstack: set tags: no server %q", id)
	}
	s.tags = slices.Clone(tags)
	return nil
}

// ServerState is the state of an instance, for tests and for the simulated machines.
type ServerState struct {
	ID, Name, Project, Host string
	Status, VMState, Task   string
	PowerState              int
	Locked                  bool
	Tags                    []string
}

// Server returns the state of an instance; false if the ID is unknown.
func (c *Cloud) Server(id string) (ServerState, bool) {
	c.lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	if s == nil || s.deleted {
		return ServerState{}, false
	}
	return s.state(), true
}

// ServerNamed returns the state of the newest instance with a name, and whether there is one. It looks at the whole
// cloud at once: a client that asks one host after the other may miss an instance that moves meanwhile.
func (c *Cloud) ServerNamed(name string) (ServerState, bool) {
	c.lock()
	defer c.mu.Unlock()
	var newest *server
	for _, s := range c.servers {
		if s.name == name && !s.deleted && (newest == nil || newestFirst(s, newest) < 0) {
			newest = s
		}
	}
	if newest == nil {
		return ServerState{}, false
	}
	return newest.state(), true
}

// ServersOn returns the states of the instances on a host, newest first; none for an unknown host.
func (c *Cloud) ServersOn(hostName string) []ServerState {
	c.lock()
	defer c.mu.Unlock()
	h := c.hosts[hostName]
	if h == nil {
		return nil
	}
	var states []ServerState
	for _, s := range c.serversOn(h) {
		states = append(states, s.state())
	}
	return states
}

func (s *server) state() ServerState {
	st := ServerState{ID: s.id, Name: s.name, Project: s.project.name, Status: s.status(), VMState: s.vm, Task: s.task,
		PowerState: s.power, Locked: s.locked, Tags: slices.Clone(s.tags)}
	if s.host != nil {
		st.Host = s.host.Name
	}
	return st
}

func (c *Cloud) projectByName(name string) *project {
	for _, p := range c.projects {
		if p.name == name || p.id == name {
			return p
		}
	}
	return nil
}

func (c *Cloud) userByName(name string) *user {
	for _, u := range c.users {
		if u.name == name {
			return u
		}
	}
	return nil
}

// ownerOf is the user who owns what is seeded into a project: preferably a user who may create instances, not one with
// read access only.
func (c *Cloud) ownerOf(p *project) string {
	if owner := c.owners[p]; owner != "" {
		return owner
	}
	if c.owners == nil {
		c.owners = map[*project]string{}
	}
	c.owners[p] = c.findOwner(p)
	return c.owners[p]
}

func (c *Cloud) findOwner(p *project) string {
	best, makes := "", false
	for id, u := range c.users {
		if len(u.roles[p.id]) == 0 {
			continue
		}
		if may := slices.Contains(u.roles[p.id], "member"); best == "" || may && !makes || may == makes && id < best {
			best, makes = id, may
		}
	}
	if best != "" {
		return best
	}
	return c.userByName("admin").id
}

func (c *Cloud) flavorBy(nameOrID string) *flavor {
	if f := c.flavors[nameOrID]; f != nil {
		return f
	}
	for _, f := range c.flavorOrder {
		if f.Name == nameOrID {
			return f
		}
	}
	return nil
}

func guestAddress(n int) string {
	return fmt.Sprintf("10.%d.%d.%d", 100+n>>16&0x7f, n>>8&0xff, n&0xff)
}
