package progress

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lockstep/core"
)

// BesideUpdate is what the cluster's maintenance request is for when it is not for an update: "maintenance mode", "a graceful
// reboot". Empty when there is no request, when an update runs, or when the management cluster does not say.
func BesideUpdate(s *core.Snapshot) string {
	m := s.Management
	if m == nil || m.Cluster == nil || s.ClusterRequest() == nil {
		return ""
	}
	if p := m.Plan(); p != nil && p.UnderWay() {
		return ""
	}
	switch {
	case m.Cluster.Wanted() || m.Cluster.InMaintenance:
		return "maintenance mode"
	case m.Reboot != nil:
		return "a graceful reboot"
	}
	return ""
}

// UpdateRequest is the cluster's maintenance request if LCM made it for an update; nil otherwise.
func UpdateRequest(s *core.Snapshot) *core.MaintenanceRequest {
	if r := s.ClusterRequest(); r != nil && !r.ByHand() && BesideUpdate(s) == "" {
		return r
	}
	return nil
}

// Update is the running update as a whole, or else the last one.
func Update(s *core.Snapshot) core.Update {
	return update.Of(s, updateOf)
}

var update core.Derivation[core.Update]

func updateOf(s *core.Snapshot) core.Update {
	cmr := UpdateRequest(s)
	h := s.History.Update
	u := core.Update{Known: s.Known(core.SourceClusterRequests), Running: cmr != nil, Beside: BesideUpdate(s)}
	u.ByHand = cmr == nil && s.ClusterRequest() != nil && u.Beside == ""
	switch {
	case cmr != nil:
		u.Started = core.Since{At: cmr.Created, Exact: true}
		u.To = cmp.Or(cmr.Release, requestedRelease(s))
		if h.UID == cmr.UID {
			u.To = cmp.Or(u.To, h.Release)
			u.From = h.From
		}
	case h.UID != "":
		u.Started = core.Since{At: h.Started, Exact: true} // the creation of its request
		u.From, u.To, u.EndSeen = h.From, h.Release, h.EndSeen
	}
	if u.From == "" && u.To != "" {
		u.From = otherRelease(s, u.To)
	}
	for _, p := range Phases(s) {
		if p.ID == core.PhaseMasters || p.ID == core.PhaseWorkers {
			u.Done += p.Done // not from the nodes' stages: without the request they show nothing
		}
	}
	for _, p := range Phases(s) {
		if u.Phase.ID == 0 || p.State != core.PhasePending {
			u.Phase = p
		}
		if p.State != core.PhaseDone && p.State != core.PhasePending {
			break
		}
	}
	for _, v := range NodeViews(s) {
		if v.Node == nil {
			continue
		}
		u.Nodes++
		switch {
		case v.Stage == core.StageWaiting:
			u.Waiting++
		case v.Active() && v.Stage != core.StageQueued && v.Stage != core.StageFailed:
			u.Moving++
		}
	}
	if cmr != nil {
		u.Finish, u.Spread = estimate(s, cmr.UID)
	}
	return u
}

// requestedRelease is the release that the nodes' requests are for.
func requestedRelease(s *core.Snapshot) string {
	for _, name := range s.NodeNames() {
		if r := s.NodeRequest(name); r != nil && r.Release != "" {
			return r.Release
		}
	}
	return ""
}

// otherRelease is the release, other than the target, that a lock of the OpenStack controller still has: the update's starting
// point. The documents do not say what other controllers write there (docs/mosk.md#locks).
func otherRelease(s *core.Snapshot, target string) string {
	other := func(l *core.WorkloadLock) bool {
		return l.Controller == core.ControllerOpenStack && l.Release != "" && !SameRelease(l.Release, target)
	}
	for _, l := range s.ClusterLocks {
		if other(l) {
			return l.Release
		}
	}
	for _, name := range s.NodeNames() {
		for _, l := range s.NodeLocks[name] {
			if other(l) {
				return l.Release
			}
		}
	}
	return ""
}

// SameRelease tells whether two texts name one release: requests can omit what follows the plus (docs/mosk.md#requests).
func SameRelease(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"+") || strings.HasPrefix(b, a+"+")
}

// Pace is how fast nodes go through their maintenance.
type Pace struct {
	Middle time.Duration // for one node
	spread time.Duration // how much the nodes differ
	atOnce float64       // how many go at the same time, at least 1
}

// PaceOf is the pace of the rounds that ended; false when there are fewer than two, which do not make a pace.
func PaceOf(rounds []core.Round) (Pace, bool) {
	if len(rounds) < 2 {
		return Pace{}, false
	}
	slices.SortFunc(rounds, func(a, b core.Round) int { return a.Started.Compare(b.Started) })
	took := make([]time.Duration, len(rounds))
	var all, covered time.Duration
	var until time.Time
	for i, r := range rounds {
		took[i] = r.Ended.Sub(r.Started)
		all += took[i]
		if r.Ended.After(until) {
			covered += r.Ended.Sub(core.Later(r.Started, until))
			until = r.Ended
		}
	}
	slices.Sort(took)
	n := len(took)
	p := Pace{Middle: took[n/2], atOnce: max(float64(all)/float64(covered), 1)}
	// The quartiles say how much the rounds differ; with few rounds they span the whole range.
	p.spread = max((took[n*3/4]-took[n/4])/2, p.Middle/10)
	return p, true
}

// An end is worth showing when it is known to within half of the time that is left, or half an hour.
const (
	spreadOfRest = 2
	spreadSmall  = 30 * time.Minute
)

// estimate is when the update will have finished the nodes at this cluster's own pace. For masters and for workers it takes the
// middle duration of the rounds that ended, times the nodes that are left, less what the nodes in maintenance have behind them,
// over the number that went at the same time. The masters' pace does not count for workers once workers have their own.
func estimate(s *core.Snapshot, update string) (time.Time, time.Duration) {
	type part struct {
		ended []core.Round
		left  int
		under []time.Duration // how long each node in maintenance has been in it
		now   int             // how many go at the same time now; a node that returns has made room for the next
	}
	var masters, workers part
	now := s.Second()
	for _, v := range NodeViews(s) {
		if v.Node == nil {
			continue
		}
		p := &workers
		if v.Node.Is(core.RoleMaster) {
			p = &masters
		}
		if r := s.History.Rounds[v.Node.UID]; r.Update == update && r.Ended.After(r.Started) {
			p.ended = append(p.ended, r)
		}
		if v.Stage == core.StageDone {
			continue
		}
		p.left++
		if v.Request != nil && v.Stage != core.StageQueued {
			p.under = append(p.under, now.Sub(v.Request.Created))
			if v.Stage != core.StageReturning {
				p.now++
			}
		}
	}
	if Phases(s)[core.PhaseMasters-1].State == core.PhaseDone {
		masters.left = 0 // they may leave no trace of their own
	}
	var rest, spread time.Duration
	for _, part := range []part{masters, workers} {
		if part.left == 0 {
			continue
		}
		p, ok := PaceOf(part.ended)
		if !ok {
			if p, ok = PaceOf(slices.Concat(masters.ended, workers.ended)); !ok {
				return time.Time{}, 0
			}
		}
		p.atOnce = max(p.atOnce, float64(part.now)) // now that more go at once
		todo := time.Duration(part.left) * p.Middle
		for _, d := range part.under {
			todo -= min(max(d, 0), p.Middle)
		}
		rest += time.Duration(float64(todo) / p.atOnce)
		spread += time.Duration(float64(part.left) * float64(p.spread) / p.atOnce)
	}
	if spread == 0 || spread > max(rest/spreadOfRest, spreadSmall) {
		return time.Time{}, 0 // no node is left, or the estimate is too vague
	}
	return now.Add(rest), spread
}
