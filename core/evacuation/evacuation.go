package evacuation

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// NewForecast makes a forecast. It is a pure function; the order of facts and nodes makes no difference. Nodes are taken in waves of
// r.AtOnce: what leaves a node goes to other hosts, and leaves them in turn; a node takes instances again when its wave is over. When
// the instances or the compute nodes are not known, it returns an error.
func NewForecast(s *core.Snapshot, f core.EvacuationFacts, r Request) (Forecast, error) {
	nodes, done := evacuated(s, r)
	if !s.Known(core.SourceInstances) {
		return Forecast{}, errors.New("the instances are not known" + becauseOf(s.Sources[core.SourceInstances].Err))
	}
	if len(nodes) == 0 && len(done) == 0 {
		return Forecast{}, errors.New("no compute node is known")
	}
	e := newEvacuation(s, &f, nodes, max(r.AtOnce, 1))
	p := Forecast{Cluster: core.Tidy(s.CalledCluster()), Made: r.Made, AsOf: s.Now, Whole: len(r.Nodes) == 0, AtOnce: max(r.AtOnce, 1),
		Nodes: []NodeForecast{}, Speed: e.speed, Unknown: e.unknowns(), Closed: e.room.closed(s, nodes), LeftOut: done,
		Otherwise: append(slices.Clone(notes), e.disks.note())}
	if f.PinnedZones == nil {
		p.Otherwise = append(p.Otherwise,
			"Which zone an instance is bound to Nova tells from 2.96 on: here each is taken to be bound to the zone that it is in.")
	}
	if f.HostByHost != nil {
		p.Otherwise = append(p.Otherwise, "Placement could not be asked for all hosts at once, and was asked for one after the other: "+
			core.Tidy(f.HostByHost.Error()))
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

func becauseOf(err *core.APIError) string {
	if err == nil {
		return ""
	}
	return ": " + core.Tidy(err.Error())
}

// notes say what no API tells.
var notes = []string{
	"It is a forecast: Nova's scheduler chooses hosts one by one, by weights and filters of its own.",
	"CPU models, NUMA cells, huge pages and the state of devices on the target hosts are not in any list.",
	"What an image asks for beyond pinned CPUs (hw_numa_nodes, hw_mem_page_size, hw_tpm_version, hw_mem_encryption) is not looked at: " +
		"flavors are.",
}

// evacuation is a forecast in the making.
type evacuation struct {
	s      *core.Snapshot
	facts  *core.EvacuationFacts
	atOnce int
	room   *room
	speed  MigrationSpeed
	disks  hostDisks

	groups    map[string]*core.ServerGroup // by instance ID
	volumes   map[string][]*core.Volume    // by instance ID
	ports     map[string][]*core.Port      // by instance ID
	computes  map[string]bool              // hosts of nova-compute
	at        map[string]string            // by instance ID: the host where it is by now, when it moved in this forecast
	arrived   map[string][]string          // by host: instances that came to it in this forecast
	cameFrom  map[string]string            // by instance ID: the label of the node that it left last
	unchecked []uncheckedFacts
}

func newEvacuation(s *core.Snapshot, f *core.EvacuationFacts, nodes []string, atOnce int) *evacuation {
	e := &evacuation{s: s, facts: f, atOnce: atOnce, speed: speedOf(s), disks: disks(s), groups: map[string]*core.ServerGroup{},
		volumes: map[string][]*core.Volume{},
		ports:   map[string][]*core.Port{}, computes: map[string]bool{}, at: map[string]string{}, arrived: map[string][]string{},
		cameFrom: map[string]string{}}
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
		slices.SortFunc(list, func(a, b *core.Volume) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
		})
	}
	for i := range f.Ports {
		e.ports[f.Ports[i].Instance] = append(e.ports[f.Ports[i].Instance], &f.Ports[i])
	}
	for _, list := range e.ports {
		slices.SortFunc(list, func(a, b *core.Port) int {
			return cmp.Or(strings.Compare(a.VNICType, b.VNICType), strings.Compare(a.ID, b.ID))
		})
	}
	for host := range s.Services {
		e.computes[host] = true
	}
	e.room = newRoom(s, f, e.groups)
	for _, u := range uncheckedRules {
		m := f.MissingOf(u.what)
		switch {
		case m != nil:
			u.err = m.Err
		case u.what == core.FactsRoom && e.room.unknown:
			u.err = s.Sources[core.SourceComputeServices].Err
		default:
			continue
		}
		e.unchecked = append(e.unchecked, u)
	}
	return e
}

// leaver is an instance that has to leave a node; it finds a host, or a reason why not.
type leaver struct {
	*InstanceForecast
	instance *core.Instance
	from     string // host
	need     []int  // by class of the room
	wants    []want
	host     *roomHost // nil when there is none for it
	homeless bool      // there is none for it once one more host is lost
}

// wave makes the forecast for nodes that are in maintenance at the same time.
func (e *evacuation) wave(number int, names []string) []NodeForecast {
	out := make([]NodeForecast, 0, len(names))
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
		slices.SortStableFunc(out[i].Instances, func(a, b InstanceForecast) int { return fateRank[a.Fate] - fateRank[b.Fate] })
		e.room.close(e.s.HostOf(out[i].Node), false)
	}
	return out
}

// label is the label of a host's node.
func (e *evacuation) label(host string) string { return core.Tidy(e.s.Label(e.nodeOf(host))) }

func (e *evacuation) nodeOf(host string) string {
	if n := e.s.NodeOfHost(host); n != nil {
		return n.Name
	}
	return host
}

// node is the forecast for the instances on a node when its turn comes, with those that have to leave it.
func (e *evacuation) node(name string) (NodeForecast, []*leaver) {
	m := progress.MaintenanceOf(e.s, name)
	n := NodeForecast{Node: name, Label: core.Tidy(e.s.Label(name)), Mode: core.MigrationMode(core.Tidy(string(m.Mode))),
		AtOnce: pace(e.s, name), ByLockstep: progress.PlaysOn(e.s, core.ControllerOpenStack, name)}
	if svc := e.s.Services[m.Host]; svc != nil {
		n.Zone = core.Tidy(svc.Zone)
	}
	switch {
	case !m.Compute:
		n.Notes = append(n.Notes, "It is not a compute node: the OpenStack controller moves nothing off it.")
	case !m.Reboot:
		n.Notes = append(n.Notes, "Its request has the scope drain: the host does not reboot, and its instances stay.")
	}
	n.Notes = append(n.Notes, wording.Sentences(progress.QuorumShort(e.s, name))...)
	var on []*core.Instance
	for _, in := range e.s.ByHost[m.Host] {
		if _, left := e.at[in.ID]; !left {
			on = append(on, in)
		}
	}
	for _, id := range e.arrived[m.Host] {
		on = append(on, e.s.Instances.At(id))
	}
	slices.SortFunc(on, func(a, b *core.Instance) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	n.Instances = make([]InstanceForecast, len(on)) // never grown: leavers point into it
	var leave []*leaver
	for i, in := range on {
		x := &n.Instances[i]
		moves := e.instance(x, in, m)
		x.From = e.cameFrom[in.ID]
		if moves {
			leave = append(leave, &leaver{InstanceForecast: x, instance: in, from: m.Host, need: e.room.needOf(in), wants: e.room.wantsOf(in)})
		}
	}
	return n, leave
}

// instance applies the rules to an instance; true when it has to find another host.
func (e *evacuation) instance(x *InstanceForecast, in *core.Instance, m progress.HostMaintenance) (leaves bool) {
	v := core.InstanceView{Instance: in}
	v.Action, v.Origin = core.EffectiveAction(in.Tags, m.Mode)
	*x = InstanceForecast{ID: in.ID, Name: core.Tidy(in.Name), Project: core.Tidy(e.s.Project(in.ProjectID)), Status: core.Tidy(in.Status),
		Flavor: core.Tidy(in.Flavor().Name),
		RAMMiB: in.Flavor().RAMMiB, Locked: in.Locked, Action: v.Action, Origin: v.Origin, Reasons: []Reason{}}
	say := func(kind ReasonKind, level Level, text, remedy string) {
		x.Reasons = append(x.Reasons, Reason{kind, level, text, remedy})
	}
	word, safe := core.SafeAsItStands(in)
	switch {
	case !m.Compute || !m.Reboot:
		x.Fate = FateStays
		return false
	case safe:
		x.Fate = FateStays
		say(KindState, LevelNote, word+": nothing runs that the host could take down", "")
		return false
	case v.Action == core.ActionPowerOff:
		x.Fate = FateDown
		say(KindAction, LevelNote, "goes down with the host and comes back with it ("+originText(v)+")", "")
		return false
	case progress.Moving(e.s, in) && in.Host == m.Host:
		x.Fate = FateMoves
		say(KindState, LevelNote, "is on its way already: "+core.Tidy(progress.MovingText(e.s, in)), "")
		return false
	}
	c := candidate{e: e, in: in, host: m.Host, action: v.Action, origin: v.Origin, mode: m.Mode}
	for _, r := range rules {
		level, text := r.find(&c)
		if text == "" {
			continue
		}
		remedy := r.remedy
		if r.kind == KindState {
			remedy = progress.NothingMoves[in.Status]
		}
		say(r.kind, level, text, remedy)
	}
	for _, u := range e.unchecked {
		if u.matters == nil || u.matters(&c) {
			say(u.kind, LevelUnknown, u.what+": not checked", "")
		}
	}
	x.Fate = worst(x.Reasons)
	// An instance that cannot be live-migrated needs no room in this forecast; one that a person has to move does.
	for _, r := range x.Reasons {
		if r.Level == LevelBlocks && r.Kind != KindAction {
			return false
		}
	}
	return true
}

func originText(v core.InstanceView) string {
	if v.Origin == core.OriginTag {
		return "its tag"
	}
	return "the node's mode"
}

// finish writes the placement into the node's forecast.
func (e *evacuation) finish(n *NodeForecast, mine []*leaver) {
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
		slices.SortStableFunc(x.Reasons, func(a, b Reason) int { return levelRank[a.Level] - levelRank[b.Level] })
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

// worst is the fate of an instance that is to move, by the worst of its reasons.
func worst(reasons []Reason) Fate {
	fate := FateMoves
	for _, r := range reasons {
		if f := fateOfLevel[r.Level]; fateRank[f] < fateRank[fate] {
			fate = f
		}
	}
	return fate
}

// unknowns are the things that the forecast could not check.
func (e *evacuation) unknowns() []Unknown {
	out := []Unknown{}
	for _, u := range e.unchecked {
		why := "not asked"
		if u.err != nil {
			why = core.Tidy(u.err.Error())
		}
		out = append(out, Unknown{What: u.what, Why: why, Means: u.means})
	}
	for _, id := range []core.SourceID{core.SourceComputeServices, core.SourceNodes, core.SourceMigrations} {
		src := e.s.Sources[id]
		if src.State == core.SourceLive && e.s.Known(id) {
			continue
		}
		why := string(src.State)
		if src.Err != nil {
			why = core.Tidy(src.Err.Error())
		}
		out = append(out, Unknown{What: string(id), Why: why, Means: sourceMeans[id]})
	}
	return out
}

// sourceMeans is what can be wrong with a forecast when a source of the Snapshot is not live.
var sourceMeans = map[core.SourceID]string{
	core.SourceComputeServices: "which hosts are enabled and up may be otherwise",
	core.SourceNodes:           "the nodes' modes may be otherwise",
	core.SourceMigrations:      "how fast this cloud migrates is not known, nor what moves already",
}
