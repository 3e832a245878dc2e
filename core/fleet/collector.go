package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
)

// stream is one stream of facts: a source in a project, or (an empty project) in all of them.
type stream struct {
	source  core.SourceID
	project string
}

// held is an object's place: its stream and its key there.
type held struct {
	stream stream
	key    string
}

// Collector puts together what the management cluster tells. It keeps the row of a cluster until something about the cluster changes,
// or while LCM may be at work on its machines, the time. It is not safe for concurrent use.
type Collector struct {
	name    string // of the management cluster where it does not tell it itself
	known   []ID   // clusters that the operator knows of; an empty project: any
	sources map[stream]core.Source
	owner   map[held]ID
	objects map[ID]map[held]core.Object
	common  map[held]core.Object // the management cluster's own releases
	self    map[held]*core.ManagedCluster

	rows  map[ID]Row
	made  map[ID]time.Time // wall time at which the row was made
	dirty map[ID]bool
	all   bool // all rows are to be made anew
}

// NewCollector makes a Collector for the management cluster that the operator knows by a name. Each of the clusters that the operator
// knows of has a row, also when it cannot be seen. An ID without a project is any cluster of that name.
func NewCollector(name string, known ...ID) *Collector {
	return &Collector{name: name, known: known, sources: map[stream]core.Source{}, owner: map[held]ID{},
		objects: map[ID]map[held]core.Object{}, common: map[held]core.Object{}, self: map[held]*core.ManagedCluster{},
		rows: map[ID]Row{}, made: map[ID]time.Time{}, dirty: map[ID]bool{}}
}

// Apply takes news of a source in one project, or (an empty one) in all of them.
func (c *Collector) Apply(project string, d core.Delta) {
	st := stream{d.Source, project}
	src := c.sources[st]
	if src.ID == "" {
		src = core.Source{ID: d.Source, State: core.SourceConnecting, Since: d.At}
	}
	if d.State != "" {
		if d.State != src.State || !sameTrouble(d.Err, src.Err) {
			c.touchAll(st)
		}
		if d.State != src.State {
			src.Since = d.At
		}
		src.State, src.Err, src.Next = d.State, d.Err, d.Next
	}
	if d.Replace || d.Touch || len(d.Upserts) > 0 || len(d.Deletes) > 0 {
		src.AsOf = d.At
	}
	c.sources[st] = src
	if d.Replace {
		for h := range c.owner {
			if h.stream == st {
				c.drop(h)
			}
		}
		maps.DeleteFunc(c.common, func(h held, _ core.Object) bool { return h.stream == st })
		maps.DeleteFunc(c.self, func(h held, _ *core.ManagedCluster) bool { return h.stream == st })
	}
	for _, o := range d.Upserts {
		c.put(held{st, o.Key()}, o)
	}
	for _, key := range d.Deletes {
		h := held{st, key}
		c.drop(h)
		delete(c.common, h)
		delete(c.self, h)
	}
}

func sameTrouble(a, b *core.APIError) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Kind == b.Kind && a.Message == b.Message)
}

// Forget drops the streams of a source in a project: nobody watches it any more.
func (c *Collector) Forget(project string, source core.SourceID) {
	st := stream{source, project}
	c.Apply(project, core.Delta{Source: source, Replace: true})
	c.touchAll(st)
	delete(c.sources, st)
}

// touchAll has the rows made anew that a stream is about.
func (c *Collector) touchAll(st stream) {
	if st.project == "" {
		c.all = true
		return
	}
	for id := range c.objects {
		if id.Project == st.project {
			c.dirty[id] = true
		}
	}
}

// put keeps an object with the cluster that it belongs to.
func (c *Collector) put(h held, o core.Object) {
	if m, ok := o.(*core.ManagedCluster); ok {
		if delete(c.self, h); m.Manages != "" {
			c.drop(h)
			c.self[h] = m
			return
		}
	}
	id, ok := idOf(o)
	if !ok {
		c.common[h] = o
		return
	}
	if was, known := c.owner[h]; known && was != id {
		c.drop(h)
	}
	if c.objects[id] == nil {
		c.objects[id] = map[held]core.Object{}
	}
	c.owner[h], c.objects[id][h], c.dirty[id] = id, o, true
}

func (c *Collector) drop(h held) {
	id, known := c.owner[h]
	if !known {
		return
	}
	delete(c.owner, h)
	delete(c.objects[id], h)
	c.dirty[id] = true
	if len(c.objects[id]) == 0 {
		delete(c.objects, id)
		delete(c.rows, id)
		delete(c.made, id)
	}
}

// idOf is the cluster that an object belongs to; false for what belongs to the management cluster itself.
func idOf(o core.Object) (ID, bool) {
	switch o := o.(type) {
	case *core.ManagedCluster:
		return ID{o.Namespace, o.Name}, true
	case *core.LCMCluster:
		return ID{o.Namespace, o.Name}, true
	case *core.AutoPause:
		return ID{o.Namespace, o.Name}, true
	case *core.RebootRequest:
		return ID{o.Namespace, o.Name}, true
	case *core.UpdatePlan:
		return ID{o.Namespace, o.Cluster}, true
	case *core.MachineGroup:
		return ID{o.Namespace, o.Cluster}, true
	case *core.LCMMachine:
		return ID{o.Namespace, o.Cluster}, true
	case *core.DrainState:
		return ID{o.Namespace, o.Cluster}, true
	}
	return ID{}, false
}

// View is all clusters of a management cluster at one moment. It is immutable.
type View struct {
	Name     string // of the management cluster
	Version  string // of its release: "2.30.0"; empty: not known
	Waits    string // a newer version that waits for it; empty: none is known
	Now      time.Time
	Rows     []Row         // by what needs a person, then by what is under way or not known, then by name
	Sources  []core.Source // of each kind the one in the worst state, in the order of core.ManagementSources
	Denied   []Denied      // projects into which nobody lets us look, by name
	Failed   []Denied      // projects whose clusters could not be listed, or not of late, by name; an empty one: all projects
	Part     *Part         // of the projects, where it is not known which there are; nil: it is known
	Listed   bool          // the clusters of all projects are known, but for those that are Denied
	Complete bool          // all streams have answered, those of the machines in the projects of Watched, too
}

// Denied is a project whose clusters could not be listed.
type Denied struct {
	Project string
	Err     *core.APIError
}

// Part is what was looked into where it is not known which projects there are.
type Part struct {
	Projects []string       // by name
	Err      *core.APIError // why the others are not known
}

// ageEvery is how often the row of a cluster on whose machines LCM may be at work is made anew although nothing was heard of it: ends and
// ages move with the time.
const ageEvery = 2 * time.Second

// View makes the rows. now is the clusters' time, wall that of Lockstep's own clock.
func (c *Collector) View(now, wall time.Time) *View {
	v := &View{Name: c.name, Now: now, Complete: true}
	for id, objects := range c.objects {
		old, known := c.rows[id]
		if !known || c.all || c.dirty[id] || old.Moves() && wall.Sub(c.made[id]) >= ageEvery {
			c.made[id] = wall
			c.rows[id] = rowOf(c.factsOf(id, objects, now, wall))
		}
	}
	clear(c.dirty)
	c.all = false
	for id, r := range c.rows {
		if c.real(id) {
			v.Rows = append(v.Rows, r)
		}
	}
	c.health(v)
	c.unseen(v)
	slices.SortFunc(v.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Worst(), a.Worst()), -cmp.Compare(rank(&a), rank(&b)), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Project, b.Project))
	})
	c.ofItself(v)
	return v
}

// real tells whether a cluster is one of the list: its Cluster is there, or that cannot be known.
func (c *Collector) real(id ID) bool {
	for h := range c.objects[id] {
		if h.stream.source == core.SourceClusters {
			return true
		}
	}
	for _, project := range []string{"", id.Project} {
		if src, ok := c.sources[stream{core.SourceClusters, project}]; ok && src.State == core.SourceLive {
			return false // the objects of the management cluster itself, or what is left of a cluster that has gone
		}
	}
	for _, m := range c.self {
		if m.Namespace == id.Project && m.Name == id.Name {
			return false
		}
	}
	return true
}

// unseen adds the clusters that the operator knows of and that are not among those seen, once it is known which those are.
func (c *Collector) unseen(v *View) {
	seen := func(id ID) bool {
		return slices.ContainsFunc(v.Rows, func(r Row) bool { return r.Name == id.Name && (id.Project == "" || r.Project == id.Project) })
	}
	if !v.Complete {
		return
	}
	for _, id := range c.known {
		if seen(id) {
			continue
		}
		miss := Missing{What: core.SourceClusters, Why: "it is not among the clusters that are seen here"}
		if src, _ := c.source(core.SourceClusters, id.Project); src.Err != nil {
			miss.Err, miss.Why = src.Err, src.Err.Cause()
		}
		v.Rows = append(v.Rows, Row{ID: id, State: StateUnknown, Missing: []Missing{miss}})
	}
}

// source is what tells of a project: its own stream, or that of all projects where it has none that runs. false: neither is there.
func (c *Collector) source(id core.SourceID, project string) (core.Source, bool) {
	all, ok := c.sources[stream{id, ""}]
	if own, has := c.sources[stream{id, project}]; has && (own.State != core.SourceOff || !ok) {
		return own, true
	}
	return all, ok
}

// rank is how far up a row belongs among those of one urgency: what is not known may be anything but quiet.
func rank(r *Row) int {
	switch {
	case r.State.UnderWay():
		return 2
	case r.State == StateScheduled || r.State == StateUnknown || len(r.Missing) > 0:
		return 1
	}
	return 0
}

func (c *Collector) factsOf(id ID, objects map[held]core.Object, now, wall time.Time) facts {
	f := facts{id: id, now: now, wall: wall, sources: map[core.SourceID]core.Source{}}
	for _, h := range slices.SortedFunc(maps.Keys(objects), func(a, b held) int {
		return cmp.Or(strings.Compare(string(a.stream.source), string(b.stream.source)), strings.Compare(a.key, b.key))
	}) {
		f.objects = append(f.objects, objects[h])
	}
	for _, source := range core.ManagementSources() {
		if src, ok := c.source(source, id.Project); ok {
			f.sources[source] = src
		}
	}
	return f
}

// ofItself fills in what is known of the management cluster itself.
func (c *Collector) ofItself(v *View) {
	for _, m := range c.self {
		v.Name, v.Version = cmp.Or(m.Name, v.Name), Version(m.Manages)
	}
	objects := slices.Collect(maps.Values(c.common))
	slices.SortFunc(objects, func(a, b core.Object) int { return strings.Compare(a.Key(), b.Key()) })
	m := core.JoinManagement(core.ManagementPlace{}, nil, objects...)
	if m.Release != nil {
		v.Version = Version(m.Release.Version)
	}
	if m.Upgrade != nil && m.Upgrade.Next != "" && (v.Version == "" || core.NewerVersion(m.Upgrade.Next, v.Version)) {
		v.Waits = Version(m.Upgrade.Next)
	}
}

// health sums up the streams: of each kind the worst, and the projects that could not be looked into.
func (c *Collector) health(v *View) {
	worst := map[core.SourceID]core.Source{}
	v.Part = c.part()
	for st, src := range c.sources {
		if st.source == core.SourceClusters && src.State == core.SourceForbidden && (st.project != "" || v.Part != nil) {
			if st.project != "" {
				v.Denied = append(v.Denied, Denied{st.project, src.Err})
			}
			continue // it is said by itself
		}
		switch {
		case src.State == core.SourceConnecting:
			v.Complete = false
		case st.source == core.SourceClusters && (src.State == core.SourceFailed || src.State == core.SourceStale):
			v.Failed = append(v.Failed, Denied{st.project, src.Err})
		}
		old, ok := worst[st.source]
		if !ok || badness(src.State) > badness(old.State) || badness(src.State) == badness(old.State) && src.AsOf.Before(old.AsOf) {
			worst[st.source] = src
		}
	}
	for _, id := range core.ManagementSources() {
		if src, ok := worst[id]; ok {
			v.Sources = append(v.Sources, src)
		}
	}
	v.Complete, v.Listed = v.Complete && c.answered(v), c.listed()
	for _, list := range [][]Denied{v.Denied, v.Failed} {
		slices.SortFunc(list, func(a, b Denied) int { return strings.Compare(a.Project, b.Project) })
	}
}

// part is what is looked into while the stream of all projects says why it is not known which there are; nil where that is known, or
// nothing is looked into.
func (c *Collector) part() *Part {
	all := c.sources[stream{core.SourceClusters, ""}]
	if all.Err == nil || all.State != core.SourceForbidden && all.State != core.SourceFailed {
		return nil
	}
	p := &Part{Err: all.Err}
	for st, src := range c.sources {
		if st.source == core.SourceClusters && st.project != "" && src.State != core.SourceOff {
			p.Projects = append(p.Projects, st.project)
		}
	}
	if len(p.Projects) == 0 {
		return nil
	}
	slices.Sort(p.Projects)
	return p
}

// listed tells whether all clusters have been listed that may be.
func (c *Collector) listed() bool {
	some := false
	for st, src := range c.sources {
		if st.source != core.SourceClusters {
			continue
		}
		switch src.State {
		case core.SourceLive, core.SourceStale: // what was seen is kept
			some = true
		case core.SourceOff:
		case core.SourceForbidden:
			if st.project == "" {
				return false
			}
		default:
			return false
		}
	}
	return some
}

// answered tells whether the clusters are known, and of each what there is to know of it.
func (c *Collector) answered(v *View) bool {
	known := func(source core.SourceID, project string) bool {
		src, ok := c.source(source, project)
		return ok && src.State != core.SourceConnecting && src.State != core.SourceOff
	}
	some := false
	for st, src := range c.sources {
		some = some || st.source == core.SourceClusters && src.State != core.SourceOff
	}
	for i := range v.Rows {
		r := &v.Rows[i]
		if !known(core.SourcePlans, r.Project) || r.Moves() && !known(core.SourceLCMMachines, r.Project) {
			return false
		}
	}
	return some
}

func badness(s core.SourceState) int {
	return slices.Index([]core.SourceState{core.SourceOff, core.SourceAbsent, core.SourceLive, core.SourceConnecting, core.SourceForbidden,
		core.SourceStale, core.SourceFailed}, s)
}

// Count is how many rows are under way, and how many have something urgent.
func (v *View) Count() (underWay, urgent int) {
	for i := range v.Rows {
		if v.Rows[i].State.UnderWay() {
			underWay++
		}
		if v.Rows[i].Worst() == core.SeverityUrgent {
			urgent++
		}
	}
	return underWay, urgent
}

// Watched are the projects in which LCM may be at work on machines: there these are worth their bytes. They are in order.
func (v *View) Watched() []string {
	var out []string
	for i := range v.Rows {
		if v.Rows[i].Moves() {
			out = append(out, v.Rows[i].Project)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
