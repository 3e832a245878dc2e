package core

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Update is the update that runs, or ran last, as a whole.
func (s *Snapshot) Update() Update {
	cmr := s.updateRequest()
	h := s.History.Update
	u := Update{Known: s.known(SourceClusterRequests), Running: cmr != nil, Beside: s.besideUpdate()}
	u.ByHand = cmr == nil && s.ClusterRequest() != nil && u.Beside == ""
	switch {
	case cmr != nil:
		u.Started = Since{At: cmr.Created, Exact: true}
		u.To = cmp.Or(cmr.Release, s.requestedRelease())
		if h.UID == cmr.UID {
			u.To = cmp.Or(u.To, h.Release)
			u.From = h.From
		}
	case h.UID != "":
		u.Started = Since{At: h.Started, Exact: true} // its request's creation
		u.From, u.To, u.EndSeen = h.From, h.Release, h.EndSeen
	}
	if u.From == "" && u.To != "" {
		u.From = s.otherRelease(u.To)
	}
	for _, p := range s.Phases() {
		if p.ID == PhaseMasters || p.ID == PhaseWorkers {
			u.Done += p.Done // not by the nodes' stages: those tell nothing any more once the request is gone
		}
	}
	for _, p := range s.Phases() {
		if u.Phase.ID == 0 || p.State != PhasePending {
			u.Phase = p
		}
		if p.State != PhaseDone && p.State != PhasePending {
			break
		}
	}
	for _, v := range s.NodeViews() {
		if v.Node == nil {
			continue
		}
		u.Nodes++
		switch {
		case v.Stage == StageWaiting:
			u.Waiting++
		case v.Active() && v.Stage != StageQueued && v.Stage != StageFailed:
			u.Moving++
		}
	}
	if cmr != nil {
		u.Finish, u.Spread = s.estimate(cmr.UID)
	}
	return u
}

// requestedRelease is the release that the nodes' requests are for.
func (s *Snapshot) requestedRelease() string {
	for _, name := range s.NodeNames() {
		if r := s.NodeRequest(name); r != nil && r.Release != "" {
			return r.Release
		}
	}
	return ""
}

// otherRelease is the release that a lock of the OpenStack controller still carries although another one is the target:
// where the update comes from. What other controllers write there is not documented (docs/mosk.md#locks).
func (s *Snapshot) otherRelease(target string) string {
	other := func(l *WorkloadLock) bool {
		return l.Controller == ControllerOpenStack && l.Release != "" && !sameRelease(l.Release, target)
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

// sameRelease tells whether two texts name one release: requests can leave away what comes after the plus (docs/mosk.md#requests).
func sameRelease(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"+") || strings.HasPrefix(b, a+"+")
}

// pace is how fast nodes go through their maintenance.
type pace struct {
	middle time.Duration // of one node
	spread time.Duration // how far apart the nodes are
	atOnce float64       // how many went at the same time, from 1
}

// paceOf is the pace of rounds that ended; false when they are fewer than two, which is no pace.
func paceOf(rounds []Round) (pace, bool) {
	if len(rounds) < 2 {
		return pace{}, false
	}
	slices.SortFunc(rounds, func(a, b Round) int { return a.Started.Compare(b.Started) })
	took := make([]time.Duration, len(rounds))
	var all, covered time.Duration
	var until time.Time
	for i, r := range rounds {
		took[i] = r.Ended.Sub(r.Started)
		all += took[i]
		if r.Ended.After(until) {
			covered += r.Ended.Sub(later(r.Started, until))
			until = r.Ended
		}
	}
	slices.Sort(took)
	n := len(took)
	p := pace{middle: took[n/2], atOnce: max(float64(all)/float64(covered), 1)}
	// The quartiles say how far apart the rounds are; with few of them that is the whole range.
	p.spread = max((took[n*3/4]-took[n/4])/2, p.middle/10)
	return p, true
}

// An end means something when it is known to a half of the time that is left, or to half an hour.
const (
	spreadOfRest = 2
	spreadSmall  = 30 * time.Minute
)

// estimate is when the update will be through its nodes by this cluster's own pace: for masters and for workers, the middle
// duration of the rounds that ended, times the nodes that are left, less what those in maintenance have behind them, over
// how many went at the same time. Masters are no measure for workers while workers are measured themselves.
func (s *Snapshot) estimate(update string) (time.Time, time.Duration) {
	type part struct {
		ended []Round
		left  int
		under []time.Duration // for how long those that are in maintenance are in it
		now   int             // how many of them go at the same time now; one that returns has made room for the next
	}
	var masters, workers part
	for _, v := range s.NodeViews() {
		if v.Node == nil {
			continue
		}
		p := &workers
		if v.Node.Is(RoleMaster) {
			p = &masters
		}
		if r := s.History.Rounds[v.Node.UID]; r.Update == update && r.Ended.After(r.Started) {
			p.ended = append(p.ended, r)
		}
		if v.Stage == StageDone {
			continue
		}
		p.left++
		if v.Request != nil && v.Stage != StageQueued {
			p.under = append(p.under, s.Now.Sub(v.Request.Created))
			if v.Stage != StageReturning {
				p.now++
			}
		}
	}
	if s.Phases()[PhaseMasters-1].State == PhaseDone {
		masters.left = 0 // they can leave no trace of their own
	}
	var rest, spread time.Duration
	for _, part := range []part{masters, workers} {
		if part.left == 0 {
			continue
		}
		p, ok := paceOf(part.ended)
		if !ok {
			if p, ok = paceOf(slices.Concat(masters.ended, workers.ended)); !ok {
				return time.Time{}, 0
			}
		}
		p.atOnce = max(p.atOnce, float64(part.now)) // more at once from now on
		todo := time.Duration(part.left) * p.middle
		for _, d := range part.under {
			todo -= min(max(d, 0), p.middle)
		}
		rest += time.Duration(float64(todo) / p.atOnce)
		spread += time.Duration(float64(part.left) * float64(p.spread) / p.atOnce)
	}
	if spread == 0 || spread > max(rest/spreadOfRest, spreadSmall) {
		return time.Time{}, 0 // no node is left; or it says next to nothing
	}
	return s.Now.Add(rest), spread
}
