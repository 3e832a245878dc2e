package core

import (
	"cmp"
	"slices"
	"time"
)

// Update is the update that runs, or ran last, as a whole.
func (s *Snapshot) Update() Update {
	cmr := s.ClusterRequest()
	h := s.History.Update
	u := Update{Running: cmr != nil}
	switch {
	case cmr != nil:
		u.Started = Since{At: cmr.Created, Exact: true}
		u.To = cmp.Or(cmr.Release, s.requestedRelease())
		if h.UID == cmr.UID {
			u.To = cmp.Or(u.To, h.Release)
			u.From = h.From
		}
	case h.UID != "":
		u.Started = Since{At: h.Started}
		u.From, u.To = h.From, h.Release
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
		if v.Active() && v.Stage != StageQueued {
			u.Moving++
		}
	}
	if cmr != nil {
		u.Finish, u.Spread = s.estimate(cmr.UID, u)
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

// otherRelease is a release that locks still carry although another one is the target: where the update comes from.
func (s *Snapshot) otherRelease(target string) string {
	for _, l := range s.ClusterLocks {
		if l.Release != "" && l.Release != target {
			return l.Release
		}
	}
	for _, name := range s.NodeNames() {
		for _, l := range s.NodeLocks[name] {
			if l.Release != "" && l.Release != target {
				return l.Release
			}
		}
	}
	return ""
}

// estimate is when the update will be through its nodes by this cluster's own pace: the middle duration of the rounds that
// ended, times what is left, over how many nodes move at once. Fewer than two rounds are no pace.
func (s *Snapshot) estimate(update string, u Update) (time.Time, time.Duration) {
	var took []time.Duration
	for _, r := range s.History.Rounds {
		if r.Update == update && !r.Ended.IsZero() && r.Ended.After(r.Started) {
			took = append(took, r.Ended.Sub(r.Started))
		}
	}
	left := u.Nodes - u.Done
	if len(took) < 2 || left <= 0 {
		return time.Time{}, 0
	}
	slices.Sort(took)
	middle := took[len(took)/2]
	rounds := (left + max(u.Moving, 1) - 1) / max(u.Moving, 1)
	rest := time.Duration(rounds) * middle
	// The quartiles say how far apart the rounds are; with few of them that is the whole range.
	spread := (took[len(took)*3/4] - took[len(took)/4]) / 2
	return s.Now.Add(rest), time.Duration(rounds) * max(spread, middle/10)
}
