package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// EvacuationPlan is a forecast of what the maintenance of nodes does to the instances on them. Nothing moves by it.
type EvacuationPlan struct {
	Cluster string    `json:"cluster"`
	Made    time.Time `json:"made"` // by the wall clock
	AsOf    time.Time `json:"asOf"` // the cluster's time of the facts
	Whole   bool      `json:"whole"`
	AtOnce  int       `json:"nodesAtOnce"`

	Nodes     []NodeEvacuation    `json:"nodes"` // in the order of their maintenance
	Counts    EvacuationCounts    `json:"counts"`
	Speed     MigrationSpeed      `json:"speed"`
	Time      *Span               `json:"evacuationSeconds"` // of all waves; nil when no speed is known
	Slow      *Span               `json:"evacuationSecondsSlow"`
	Rounds    *NodePace           `json:"nodePace,omitempty"`  // of whole maintenances; nil when too few were seen
	Unknown   []EvacuationUnknown `json:"unknown"`             // what could not be checked
	Closed    []ClosedHost        `json:"closedHosts"`         // hosts that take nothing
	LeftOut   []string            `json:"nodesDone,omitempty"` // labels of nodes that the update is through with
	Otherwise []string            `json:"notes"`               // what no API tells
}

// NodeEvacuation is the forecast for one node.
type NodeEvacuation struct {
	Node  string        `json:"node"`
	Label string        `json:"label"`
	Zone  string        `json:"zone"`
	Mode  MigrationMode `json:"mode"`
	Wave  int           `json:"wave"` // nodes of one wave are in maintenance at the same time; from 1

	Instances  []InstanceEvacuation `json:"instances"` // what needs a person first
	Counts     EvacuationCounts     `json:"counts"`
	AtOnce     int                  `json:"instancesAtOnce"`           // how many are moved at the same time
	ByLockstep bool                 `json:"movedByLockstep,omitempty"` // Lockstep plays the OpenStack controller there
	Time       *Span                `json:"evacuationSeconds"`
	Slow       *Span                `json:"evacuationSecondsSlow"`
	Spare      *SpareHost           `json:"oneMoreHostDown,omitempty"` // nil when the room is not known, or nothing finds any
	Notes      []string             `json:"notes,omitempty"`
}

// EvacuationCounts counts instances by their fates.
type EvacuationCounts struct {
	Instances int `json:"instances"`
	Blocks    int `json:"blocks"`
	MayFail   int `json:"mayFail"`
	Unknown   int `json:"notKnown"`
	Moves     int `json:"moves"`
	GoesDown  int `json:"goesDown"`
	Stays     int `json:"stays"`
}

// SpareHost tells whether what leaves a node still finds room when one more host is lost: the one with the most free memory.
type SpareHost struct {
	Host string `json:"host"` // the label of the host that is taken for lost
	Fits bool   `json:"fits"`
	Left int    `json:"withoutRoom"` // how many instances find room with it, and none without it
}

// ClosedHost is a host to which nothing is scheduled.
type ClosedHost struct {
	Host string `json:"host"` // its label
	Why  string `json:"why"`
}

// EvacuationUnknown is something that the plan could not check.
type EvacuationUnknown struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Means string `json:"means"` // what can be wrong with the plan because of it
}

// Fate is what becomes of an instance when its host goes into maintenance.
type Fate string

// The fates, the worst first.
const (
	FateBlocks  Fate = "blocks"    // it holds the node's lock until somebody acts
	FateMayFail Fate = "may fail"  // it is to move, and there is a known reason why that may not work, or may hurt
	FateUnknown Fate = "not known" // it is to move, and what would stop it could not be checked
	FateMoves   Fate = "moves"     // it is live-migrated
	FateDown    Fate = "goes down" // it goes down with the host, and comes back with it
	FateStays   Fate = "stays"     // nothing runs that the host could take down
)

// fateRank sorts instances.
var fateRank = map[Fate]int{FateBlocks: 0, FateMayFail: 1, FateUnknown: 2, FateMoves: 3, FateDown: 4, FateStays: 5}

// InstanceEvacuation is the forecast for one instance on one node.
type InstanceEvacuation struct {
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	Project string             `json:"project"`
	Status  string             `json:"status"`
	Flavor  string             `json:"flavor"`
	RAMMiB  int                `json:"memoryMiB"`
	Locked  bool               `json:"locked,omitempty"`
	Action  MaintenanceAction  `json:"action"`
	Origin  ActionOrigin       `json:"origin"`
	Fate    Fate               `json:"fate"`
	Target  string             `json:"target,omitempty"`      // label of the host that has room for it in this forecast
	From    string             `json:"arrivedFrom,omitempty"` // label of the node from which it came earlier in this plan
	Time    *Span              `json:"seconds,omitempty"`
	Reasons []EvacuationReason `json:"reasons"` // the worst first; of one that just moves they may be empty
}

// EvacuationReason is why an instance has its fate.
type EvacuationReason struct {
	Kind   BlockerKind     `json:"kind"`
	Level  EvacuationLevel `json:"level"`
	Text   string          `json:"text"`
	Remedy string          `json:"remedy,omitempty"`
}

// EvacuationLevel is how bad a reason is.
type EvacuationLevel string

// The levels, the worst first.
const (
	LevelBlocks  EvacuationLevel = "blocks"
	LevelRisk    EvacuationLevel = "risk"
	LevelUnknown EvacuationLevel = "unknown"
	LevelNote    EvacuationLevel = "note"
)

var levelRank = map[EvacuationLevel]int{LevelBlocks: 0, LevelRisk: 1, LevelUnknown: 2, LevelNote: 3}

// fateOfLevel is what a reason of a level makes of an instance that is to move.
var fateOfLevel = map[EvacuationLevel]Fate{LevelBlocks: FateBlocks, LevelRisk: FateMayFail, LevelUnknown: FateUnknown, LevelNote: FateMoves}

// Span is a duration that JSON has in whole seconds.
type Span time.Duration

// MarshalJSON writes whole seconds.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(int64(time.Duration(s).Seconds())) }

// String is "12 m", "2 h 41 m".
func (s Span) String() string { return spanText(time.Duration(s)) }

// Clear tells whether nothing in the plan needs a person: everything moves, goes down or stays by the rules, and all of it
// could be checked.
func (p *EvacuationPlan) Clear() bool {
	return p.Counts.Blocks+p.Counts.MayFail+p.Counts.Unknown+len(p.Unknown) == 0
}

func (c *EvacuationCounts) add(f Fate) {
	c.Instances++
	switch f {
	case FateBlocks:
		c.Blocks++
	case FateMayFail:
		c.MayFail++
	case FateUnknown:
		c.Unknown++
	case FateMoves:
		c.Moves++
	case FateDown:
		c.GoesDown++
	case FateStays:
		c.Stays++
	}
}

// ResolveNodes finds nodes by their labels or names. A name that no node has, or several have, is an error.
func (s *Snapshot) ResolveNodes(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		var found []string
		for _, known := range s.NodeNames() {
			if known == name {
				found = []string{known}
				break
			}
			if s.Label(known) == name {
				found = append(found, known)
			}
		}
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("there is no node %q", name)
		case 1:
			if !slices.Contains(out, found[0]) {
				out = append(out, found[0])
			}
		default:
			return nil, fmt.Errorf("%q is the name of %d nodes: %s", name, len(found), strings.Join(found, ", "))
		}
	}
	return out, nil
}

// evacuated are the nodes that a plan is for, in the order of their maintenance, and the labels of those that the update is
// through with.
func (s *Snapshot) evacuated(r EvacuationRequest) (nodes, done []string) {
	if len(r.Nodes) > 0 {
		for _, n := range r.Nodes {
			if s.Nodes[n] != nil && !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	} else {
		for _, n := range s.NodeNames() {
			v, _ := s.NodeView(n)
			switch {
			case !s.Nodes[n].Is(RoleCompute):
			case v.Stage == StageDone:
				done = append(done, tidy(s.Label(n)))
			default:
				nodes = append(nodes, n)
			}
		}
	}
	place := map[string]int{}
	for i, n := range r.Order {
		if _, ok := place[n]; !ok {
			place[n] = i + 1
		}
	}
	rank := func(n string) int {
		if at, ok := place[n]; ok {
			return at
		}
		return len(r.Order) + 1
	}
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(s.Label(a), s.Label(b)), strings.Compare(a, b))
	})
	return nodes, done
}

// EvacuationHosts are the hosts whose instances a plan asks about, and the traits that their flavors require. No hosts
// means all of them.
func (s *Snapshot) EvacuationHosts(r EvacuationRequest) (hosts, traits []string) {
	for _, n := range r.Nodes {
		hosts = append(hosts, s.HostOf(n))
	}
	seen := map[string]bool{}
	for _, in := range s.Instances {
		for key, value := range in.Flavor.ExtraSpecs {
			if trait, ok := traitOf(key); ok && (value == "required" || value == "forbidden") {
				seen[trait] = true
			}
		}
	}
	for t := range seen {
		traits = append(traits, t)
	}
	slices.Sort(traits)
	return hosts, traits
}

// PlanEvacuation makes the forecast. It is a pure function: the order in which facts and nodes are handed to it makes no
// difference. Nodes are taken in waves, as many at once as asked for: what leaves a node lands on other hosts, and leaves
// again when these have their turn; a node takes instances again when its wave is over. It is an error when a plan is asked
// for of which nothing is known.
func PlanEvacuation(s *Snapshot, f EvacuationFacts, r EvacuationRequest) (EvacuationPlan, error) {
	nodes, done := s.evacuated(r)
	if !s.known(SourceInstances) {
		return EvacuationPlan{}, errors.New("the instances are not known" + becauseOf(s.Sources[SourceInstances].Err))
	}
	if len(nodes) == 0 && len(done) == 0 {
		return EvacuationPlan{}, errors.New("no compute node is known")
	}
	e := newEvacuation(s, &f, nodes, max(r.AtOnce, 1))
	p := EvacuationPlan{Cluster: tidy(s.Cluster), Made: r.Made, AsOf: s.Now, Whole: len(r.Nodes) == 0, AtOnce: max(r.AtOnce, 1),
		Nodes: []NodeEvacuation{}, Speed: e.speed, Unknown: e.unknowns(), Closed: e.room.closed(s, nodes), LeftOut: done, Otherwise: append(slices.Clone(evacuationNotes), e.disks.note())}
	if f.PinnedZones == nil {
		p.Otherwise = append(p.Otherwise, "Which zone an instance is bound to Nova tells from 2.96 on: here each is taken to be bound to the zone that it is in.")
	}
	if e.speed.Observations > 0 {
		p.Time, p.Slow = new(Span), new(Span)
	}
	p.Rounds = nodePaceOf(s)
	for wave, first := 1, 0; first < len(nodes); wave, first = wave+1, first+p.AtOnce {
		some := e.wave(wave, nodes[first:min(first+p.AtOnce, len(nodes))])
		var longest, slowest Span
		for _, n := range some {
			for _, in := range n.Instances {
				p.Counts.add(in.Fate)
			}
			if n.Time != nil {
				longest, slowest = max(longest, *n.Time), max(slowest, *n.Slow)
			}
		}
		if p.Time != nil {
			*p.Time, *p.Slow = *p.Time+longest, *p.Slow+slowest
		}
		p.Nodes = append(p.Nodes, some...)
	}
	return p, nil
}

func becauseOf(err *APIError) string {
	if err == nil {
		return ""
	}
	return ": " + tidy(err.Error())
}

// evacuationNotes are what no API tells, whoever asks.
var evacuationNotes = []string{
	"It is a forecast: Nova's scheduler chooses hosts one by one, by weights and filters of its own.",
	"CPU models, NUMA cells, huge pages and the state of devices on the target hosts are not in any list.",
}

// evacuation is a forecast in the making.
type evacuation struct {
	s      *Snapshot
	facts  *EvacuationFacts
	atOnce int
	room   *room
	speed  MigrationSpeed
	disks  hostDisks

	groups    map[string]*ServerGroup // by instance ID
	volumes   map[string][]*Volume    // by instance ID
	ports     map[string][]*Port      // by instance ID
	computes  map[string]bool         // hosts of nova-compute
	at        map[string]string       // by instance ID: the host where it is by now, when it moved in this plan
	arrived   map[string][]string     // by host: instances that came to it in this plan
	cameFrom  map[string]string       // by instance ID: the label of the node that it left last
	unchecked []uncheckedFacts
}

func newEvacuation(s *Snapshot, f *EvacuationFacts, nodes []string, atOnce int) *evacuation {
	e := &evacuation{s: s, facts: f, atOnce: atOnce, speed: speedOf(s), disks: s.disks(), groups: map[string]*ServerGroup{}, volumes: map[string][]*Volume{},
		ports: map[string][]*Port{}, computes: map[string]bool{}, at: map[string]string{}, arrived: map[string][]string{}, cameFrom: map[string]string{}}
	for i := range f.ServerGroups {
		for _, id := range f.ServerGroups[i].Members {
			if g := e.groups[id]; g == nil || f.ServerGroups[i].ID < g.ID {
				e.groups[id] = &f.ServerGroups[i]
			}
		}
	}
	for i := range f.Volumes {
		for _, id := range f.Volumes[i].Instances {
			e.volumes[id] = append(e.volumes[id], &f.Volumes[i])
		}
	}
	for _, list := range e.volumes {
		slices.SortFunc(list, func(a, b *Volume) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID)) })
	}
	for i := range f.Ports {
		e.ports[f.Ports[i].Instance] = append(e.ports[f.Ports[i].Instance], &f.Ports[i])
	}
	for _, list := range e.ports {
		slices.SortFunc(list, func(a, b *Port) int {
			return cmp.Or(strings.Compare(a.VNICType, b.VNICType), strings.Compare(a.ID, b.ID))
		})
	}
	for host := range s.Services {
		e.computes[host] = true
	}
	e.room = newRoom(s, f, e.groups)
	for _, u := range uncheckedRules {
		m := f.missing(u.what)
		switch {
		case m != nil:
			u.err = m.Err
		case u.what == FactsRoom && e.room.unknown:
			u.err = s.Sources[SourceComputeServices].Err
		default:
			continue
		}
		e.unchecked = append(e.unchecked, u)
	}
	return e
}

// leaver is an instance that has to leave a node, and finds a host or a reason.
type leaver struct {
	*InstanceEvacuation
	instance *Instance
	from     string // host
	need     []int  // by class of the room
	wants    []want
	host     *roomHost // nil when there is none for it
	homeless bool      // there is none for it once one more host is lost
}

// wave plans nodes that are in maintenance at the same time.
func (e *evacuation) wave(number int, names []string) []NodeEvacuation {
	out := make([]NodeEvacuation, 0, len(names))
	var leavers []*leaver
	for _, name := range names {
		e.room.close(e.s.HostOf(name), true)
	}
	for _, name := range names {
		n, leave := e.node(name)
		n.Wave = number
		out = append(out, n)
		leavers = append(leavers, leave...)
	}
	lost := e.room.withOneLess(leavers)
	e.room.place(leavers)
	for i := range out {
		n := &out[i]
		host, found, left := e.s.HostOf(n.Node), 0, 0
		var mine []*leaver
		for _, l := range leavers {
			if l.from != host {
				continue
			}
			mine = append(mine, l)
			if l.host != nil {
				found++
				if l.homeless {
					left++
				}
			}
		}
		if lost != nil && found > 0 {
			n.Spare = &SpareHost{Host: e.label(lost.name), Fits: left == 0, Left: left}
		}
		e.finish(n, mine)
	}
	for _, l := range leavers {
		if l.host == nil {
			continue // it is still where it was
		}
		e.at[l.instance.ID], e.cameFrom[l.instance.ID] = l.host.name, e.label(l.from)
		e.arrived[l.from] = slices.DeleteFunc(e.arrived[l.from], func(id string) bool { return id == l.instance.ID })
		e.arrived[l.host.name] = append(e.arrived[l.host.name], l.instance.ID)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Instances, func(a, b InstanceEvacuation) int { return fateRank[a.Fate] - fateRank[b.Fate] })
		e.room.close(e.s.HostOf(out[i].Node), false)
	}
	return out
}

// label is what people call the node of a host.
func (e *evacuation) label(host string) string { return tidy(e.s.Label(e.nodeOf(host))) }

func (e *evacuation) nodeOf(host string) string {
	if n := e.s.NodeOfHost(host); n != nil {
		return n.Name
	}
	return host
}

// node is the forecast for the instances that are on a node when its turn comes, and those of them that have to leave it.
func (e *evacuation) node(name string) (NodeEvacuation, []*leaver) {
	m := e.s.maintenanceOf(name)
	n := NodeEvacuation{Node: name, Label: tidy(e.s.Label(name)), Mode: MigrationMode(tidy(string(m.mode))),
		AtOnce: e.s.pace(name), ByLockstep: e.s.playsOn(ControllerOpenStack, name)}
	if svc := e.s.Services[m.host]; svc != nil {
		n.Zone = tidy(svc.Zone)
	}
	switch {
	case !m.compute:
		n.Notes = append(n.Notes, "It is no compute node: the OpenStack controller moves nothing off it.")
	case !m.reboot:
		n.Notes = append(n.Notes, "Its request has the scope drain: the host does not reboot, and its instances stay.")
	}
	var on []*Instance
	for _, in := range e.s.ByHost[m.host] {
		if _, left := e.at[in.ID]; !left {
			on = append(on, in)
		}
	}
	for _, id := range e.arrived[m.host] {
		on = append(on, e.s.Instances[id])
	}
	slices.SortFunc(on, func(a, b *Instance) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID)) })
	n.Instances = make([]InstanceEvacuation, len(on)) // never grown: leavers point into it
	var leave []*leaver
	for i, in := range on {
		x := &n.Instances[i]
		moves := e.instance(x, in, m)
		x.From = e.cameFrom[in.ID]
		if moves {
			leave = append(leave, &leaver{InstanceEvacuation: x, instance: in, from: m.host, need: e.room.needOf(in), wants: e.room.wantsOf(in)})
		}
	}
	return n, leave
}

// instance is what the rules make of an instance; true when it has to find another host.
func (e *evacuation) instance(x *InstanceEvacuation, in *Instance, m hostMaintenance) (leaves bool) {
	v := InstanceView{Instance: in}
	v.Action, v.Origin = EffectiveAction(in.Tags, m.mode)
	*x = InstanceEvacuation{ID: in.ID, Name: tidy(in.Name), Project: tidy(e.s.Project(in.ProjectID)), Status: tidy(in.Status), Flavor: tidy(in.Flavor.Name),
		RAMMiB: in.Flavor.RAMMiB, Locked: in.Locked, Action: v.Action, Origin: v.Origin, Reasons: []EvacuationReason{}}
	say := func(kind BlockerKind, level EvacuationLevel, text, remedy string) {
		x.Reasons = append(x.Reasons, EvacuationReason{kind, level, text, remedy})
	}
	word, safe := safeAsItStands(in)
	switch {
	case !m.compute || !m.reboot:
		x.Fate = FateStays
		return false
	case safe:
		x.Fate = FateStays
		say(KindState, LevelNote, word+": nothing runs that the host could take down", "")
		return false
	case v.Action == ActionPowerOff:
		x.Fate = FateDown
		say(KindAction, LevelNote, "goes down with the host and comes back with it ("+originText(v)+")", "")
		return false
	case e.s.moving(in) && in.Host == m.host:
		x.Fate = FateMoves
		say(KindState, LevelNote, "is on its way already: "+tidy(e.s.movingText(in)), "")
		return false
	}
	c := evacuationCase{e: e, in: in, host: m.host, action: v.Action, origin: v.Origin, mode: m.mode}
	for _, r := range evacuationRules {
		level, text := r.find(&c)
		if text == "" {
			continue
		}
		remedy := r.remedy
		if r.kind == KindState {
			remedy = nothingMoves[in.Status]
		}
		say(r.kind, level, text, remedy)
	}
	for _, u := range e.unchecked {
		if u.matters == nil || u.matters(&c) {
			say(u.kind, LevelUnknown, u.what+": not checked", "")
		}
	}
	x.Fate = worst(x.Reasons)
	// What nothing can live-migrate needs no room by this plan; what somebody has to move by hand does.
	for _, r := range x.Reasons {
		if r.Level == LevelBlocks && r.Kind != KindAction {
			return false
		}
	}
	return true
}

func originText(v InstanceView) string {
	if v.Origin == OriginTag {
		return "its tag"
	}
	return "the node's mode"
}

// finish writes what the placing found into the node's forecast.
func (e *evacuation) finish(n *NodeEvacuation, mine []*leaver) {
	if e.speed.Observations > 0 {
		n.Time, n.Slow = new(Span), new(Span)
	}
	for _, l := range mine {
		if l.host != nil {
			l.Target = e.label(l.host.name)
		}
		l.Fate = worst(l.Reasons)
	}
	var usuals, slows []Span
	for i := range n.Instances {
		x := &n.Instances[i]
		slices.SortStableFunc(x.Reasons, func(a, b EvacuationReason) int { return levelRank[a.Level] - levelRank[b.Level] })
		if x.Fate == FateMoves || x.Fate == FateMayFail || x.Fate == FateUnknown {
			if usual, slow, ok := e.speed.of(x.RAMMiB); ok {
				x.Time = new(usual)
				usuals, slows = append(usuals, usual), append(slows, slow)
			}
		}
		n.Counts.add(x.Fate)
	}
	if n.Time != nil {
		*n.Time, *n.Slow = makespan(usuals, n.AtOnce), makespan(slows, n.AtOnce)
	}
}

// worst is the fate of an instance that is to move, by its reasons.
func worst(reasons []EvacuationReason) Fate {
	fate := FateMoves
	for _, r := range reasons {
		if f := fateOfLevel[r.Level]; fateRank[f] < fateRank[fate] {
			fate = f
		}
	}
	return fate
}

// unknowns are what the plan could not check, in words.
func (e *evacuation) unknowns() []EvacuationUnknown {
	out := []EvacuationUnknown{}
	for _, u := range e.unchecked {
		why := "not asked"
		if u.err != nil {
			why = tidy(u.err.Error())
		}
		out = append(out, EvacuationUnknown{What: u.what, Why: why, Means: u.means})
	}
	for _, id := range []SourceID{SourceComputeServices, SourceNodes, SourceMigrations} {
		src := e.s.Sources[id]
		if src.State == SourceLive && e.s.known(id) {
			continue
		}
		why := string(src.State)
		if src.Err != nil {
			why = tidy(src.Err.Error())
		}
		out = append(out, EvacuationUnknown{What: string(id), Why: why, Means: sourceMeans[id]})
	}
	return out
}

// sourceMeans is what can be wrong with a plan when a source of the Snapshot is not live.
var sourceMeans = map[SourceID]string{
	SourceComputeServices: "which hosts are enabled and up may be otherwise",
	SourceNodes:           "the nodes' modes may be otherwise",
	SourceMigrations:      "how fast this cloud migrates is not known, nor what moves already",
}
