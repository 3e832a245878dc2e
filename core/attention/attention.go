package attention

import (
	"cmp"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// Of returns what needs a person now, the most urgent first; empty when nothing does. It is made once per Snapshot.
func Of(s *core.Snapshot) []core.Attention {
	return wholes.Of(s, func(s *core.Snapshot) []core.Attention {
		of := derived.After(s, derive)
		f := of.facts(s)
		f.found = slices.Clone(of.all)
		f.explain()
		return f.found
	})
}

// List is Of without what the entries rest on and what can be done about them: no Evidence, no Commands and no Suspects. It is what a
// list shows, and all that most ask for: the rest takes a fifth to two fifths of the time that the entries take.
func List(s *core.Snapshot) []core.Attention {
	return derived.After(s, derive).all
}

var (
	derived core.Derivation[entries]
	wholes  core.Derivation[[]core.Attention]
)

// entries is what needs a person, and what was found at each node.
type entries struct {
	all      []core.Attention
	at       core.ByNode[nodeFinds]
	holders  holders
	blocking core.ByNode[[]core.InstanceView] // of the nodes in maintenance
}

// facts are what the rules share, before any of them has looked.
func (e *entries) facts(s *core.Snapshot) *facts {
	return &facts{s: s, request: s.ClusterRequest(), estimate: progress.EstimatesOf(s), blockers: map[string][]core.InstanceView{},
		maintained: e.blocking, at: e.at}
}

func derive(s *core.Snapshot, earlier entries) entries {
	now := entries{blocking: blockingIn(s, earlier.blocking)}
	f := now.facts(s)
	f.found = make([]core.Attention, 0, len(earlier.all)+len(earlier.all)/8)
	f.at = f.lookAtNodes(earlier.at)
	f.gather()
	f.holders = holdersAt(f.at, earlier.at, earlier.holders)
	for _, rule := range rules {
		rule(f)
	}
	f.oneUrgent()
	f.causes()
	f.oneUrgent() // a cause is now as urgent as what follows from it
	f.complete()
	f.setAside() // by their causes, too
	f.raise()
	f.sort()
	now.at, now.holders, now.all = f.at, f.holders, f.found
	return now
}

// Urgent is how many of the entries are urgent, without those that are set aside.
func Urgent(all []core.Attention) int {
	n := 0
	for _, a := range all {
		if a.Aside == nil && a.Severity == core.SeverityUrgent {
			n++
		}
	}
	return n
}

// Now are the entries that need a person now: those that are not set aside. Both lists are parts of all.
func Now(all []core.Attention) (now, aside []core.Attention) {
	i := slices.IndexFunc(all, func(a core.Attention) bool { return a.Aside != nil })
	if i < 0 {
		return all, nil
	}
	return all[:i], all[i:]
}

// ByID returns the entry with the ID; false when there is none now.
func ByID(s *core.Snapshot, id string) (core.Attention, bool) { return byID(Of(s), id) }

// Listed is ByID, of List.
func Listed(s *core.Snapshot, id string) (core.Attention, bool) { return byID(List(s), id) }

func byID(all []core.Attention, id string) (core.Attention, bool) {
	i := slices.IndexFunc(all, func(a core.Attention) bool { return a.ID == id })
	if i < 0 {
		return core.Attention{}, false
	}
	return all[i], true
}

// Following returns the entries of List whose Cause is the entry with the ID, in their order.
func Following(s *core.Snapshot, id string) []core.Attention {
	var out []core.Attention
	for _, a := range List(s) {
		if a.Cause == id && id != "" {
			out = append(out, a)
		}
	}
	return out
}

// rules is the table of what needs a person: each rule looks at the whole Snapshot and adds what it finds.
var rules = []func(*facts){
	(*facts).clusterLocks,
	(*facts).clusterLockGone,
	(*facts).clusterLockLeft,
	(*facts).deployments,
	(*facts).clusterFails,
	(*facts).clusterUnseen,
	(*facts).overrides,
	(*facts).acting,
	(*facts).controllerAway,
	(*facts).roleLabels,
	(*facts).outages,
	(*facts).machines, // before what may only follow from them
	(*facts).managementOutdated,
	(*facts).updatePlan,
	(*facts).lcmStuck,
	(*facts).rebootsLeft,
	(*facts).maintenanceMode,
	(*facts).betweenReleases,
	(*facts).phasesOverdue,
	(*facts).nodes,
	(*facts).quorumGoes,
	(*facts).instances,
	(*facts).ownMigrations, // after nodes and instances in maintenance
	(*facts).tagsLeft,
	(*facts).afterUpdate,
	(*facts).silencesGone,
	(*facts).operations,
	(*facts).writing,
	(*facts).sources,
	(*facts).promises,
}

// facts is what the rules share, and what they found.
type facts struct {
	s        *core.Snapshot
	request  *core.MaintenanceRequest // the cluster's
	estimate progress.Estimates
	at       core.ByNode[nodeFinds]
	told     []string // texts of the management cluster that an entry has already
	found    []core.Attention
	lowered  map[string]bool // by ID: it is a warning because its node has another urgent entry

	some    []foundAt // the nodes with entries, in the order in which nodes are shown
	holders holders   // the nodes with instances that will hold them

	age map[string]time.Time // by ID of a cause: since when the oldest entry that follows from it is so

	maintained core.ByNode[[]core.InstanceView]
	blockers   map[string][]core.InstanceView // by other node: blocking, as it was asked for; shared with those who look at single nodes
}

// blockingIn are the instances that block a node's lock, of each node in maintenance: these nodes are looked at in each Snapshot, and
// a full one has fifty of them.
func blockingIn(s *core.Snapshot, earlier core.ByNode[[]core.InstanceView]) core.ByNode[[]core.InstanceView] {
	var blocking progress.Blocking
	return core.DeriveByNode(s, earlier, nil, maintained.AfterFew(s, nodesWithRequest), nil,
		func(s *core.Snapshot, name string) ([]core.InstanceView, bool) {
			before, _ := earlier.Get(name)
			return blocking.On(s, name, before), false
		})
}

var maintained core.Derivation[[]string]

// nodesWithRequest are the names of the nodes that have a request, in order; the earlier list where it is the same.
func nodesWithRequest(s *core.Snapshot, earlier []string) []string {
	var names []string
	for name, requests := range s.NodeRequests {
		if len(requests) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if slices.Equal(names, earlier) {
		return earlier
	}
	return names
}

// blocking are the instances on a node that block its lock; nothing of the list must be changed. Many rules ask for them.
func (f *facts) blocking(node string) []core.InstanceView {
	if views, _ := f.maintained.Get(node); views != nil {
		return views
	}
	views, known := f.blockers[node]
	if !known {
		views = progress.BlockingInstances(f.s, node)
		f.blockers[node] = views
	}
	return views
}

func (f *facts) add(a core.Attention) {
	a.ID = string(a.Rule)
	a.Impact, a.Page = cmp.Or(a.Impact, consequences[a.Rule].impact), consequences[a.Rule].page
	if a.Key != "" {
		a.ID += "/" + a.Key
	}
	f.found = append(f.found, a)
}

// since turns a wall time, of a source or of Lockstep itself, into the cluster's time, in which ages are shown.
func (f *facts) since(wall time.Time) core.Since {
	if wall.IsZero() {
		return core.Since{}
	}
	return core.Since{At: f.s.OfWall(wall), Exact: true}
}

// long tells whether something lasts longer than the limit. A limit of 0 is not known, and never exceeded.
func (f *facts) long(since time.Time, limit time.Duration) bool {
	return !since.IsZero() && limit > 0 && f.s.Longer(since, limit)
}

func clusterProcedure() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureCluster} }
