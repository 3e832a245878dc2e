package attention

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// Of is what needs a person now, most urgent first. Empty means: nothing needs you.
func Of(s *core.Snapshot) []core.Attention {
	return derived.Of(s, derive)
}

var derived core.Derivation[[]core.Attention]

func derive(s *core.Snapshot) []core.Attention {
	f := &facts{s: s, request: s.ClusterRequest(), estimate: progress.EstimatesOf(s)}
	for _, rule := range rules {
		rule(f)
	}
	f.oneUrgent()
	f.causes()
	f.oneUrgent() // a cause became as urgent as what follows from it
	f.sort()
	f.complete()
	return f.found
}

// ByID is the entry with that ID; false when there is none now.
func ByID(s *core.Snapshot, id string) (core.Attention, bool) {
	all := Of(s)
	i := slices.IndexFunc(all, func(a core.Attention) bool { return a.ID == id })
	if i < 0 {
		return core.Attention{}, false
	}
	return all[i], true
}

// Following are the entries that only follow from the one with that ID, in their order.
func Following(s *core.Snapshot, id string) []core.Attention {
	var out []core.Attention
	for _, a := range Of(s) {
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
	(*facts).deployments,
	(*facts).clusterFails,
	(*facts).overrides,
	(*facts).acting,
	(*facts).controllerAway,
	(*facts).roleLabels,
	(*facts).outages,
	(*facts).machines, // before what may only be their consequence
	(*facts).managementOutdated,
	(*facts).updatePlan,
	(*facts).lcmStuck,
	(*facts).rebootsLeft,
	(*facts).maintenanceMode,
	(*facts).betweenReleases,
	(*facts).phasesOverdue,
	(*facts).nodes,
	(*facts).instances,
	(*facts).ownMigrations, // after what tells of nodes and instances in maintenance
	(*facts).tagsLeft,
	(*facts).afterUpdate,
	(*facts).operations,
	(*facts).writing,
	(*facts).sources,
}

// facts is what the rules share, and what they found.
type facts struct {
	s        *core.Snapshot
	request  *core.MaintenanceRequest // the cluster's
	estimate progress.Estimates
	told     []string // what the management cluster says of a machine and has an entry of its own
	found    []core.Attention

	age map[string]time.Time // of causes, by ID: since when the oldest of what follows from them is so
}

func (f *facts) add(a core.Attention) {
	a.ID = string(a.Rule)
	if a.Key != "" {
		a.ID += "/" + a.Key
	}
	f.found = append(f.found, a)
}

// since turns a wall time of a source or of Lockstep itself into the cluster's time, in which ages are told.
func (f *facts) since(wall time.Time) core.Since {
	if wall.IsZero() {
		return core.Since{}
	}
	return core.Since{At: f.s.Now.Add(-f.s.Wall.Sub(wall)), Exact: true}
}

// long tells whether something lasts for longer than the limit; a limit that is not known is 0, and never over.
func (f *facts) long(since time.Time, limit time.Duration) bool {
	return !since.IsZero() && limit > 0 && f.s.Now.Sub(since) > limit
}

func clusterProcedure() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureCluster} }
