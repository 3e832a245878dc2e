package progress

import (
	"cmp"
	"regexp"
	"strings"

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
		u.To = cmp.Or(cmr.Release, saidOf(s).requested)
		if h.UID == cmr.UID {
			u.To = cmp.Or(u.To, h.Release)
			u.From = h.From
		}
	case h.UID != "":
		u.Started = core.Since{At: h.Started, Exact: true} // the creation of its request
		u.From, u.To, u.EndSeen = h.From, h.Release, h.EndSeen
	}
	if u.From == "" && u.To != "" {
		u.From = cmp.Or(otherRelease(s, u.To), ReleaseBefore(s, u.To))
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
		switch stageInUpdate(s, cmr, v) {
		case core.StageIdle, core.StageDone, core.StageQueued, core.StageFailed:
		case core.StageWaiting:
			u.Waiting++
		default:
			u.Moving++
		}
	}
	return u
}

// ReleaseBefore is the release from which the management cluster says that an update leads to the target: by the update plan, else by the
// Cluster. Empty when it does not say.
func ReleaseBefore(s *core.Snapshot, target string) string {
	if s.Management == nil || target == "" {
		return ""
	}
	leads := func(to string) bool { return to != "" && SameRelease(ReleaseOf(to), target) }
	if plan := s.Management.Plan(); plan != nil && plan.Source != "" && leads(plan.Target) &&
		(plan.UnderWay() || plan.Status == core.PlanCompleted) {
		return ReleaseOf(plan.Source)
	}
	if c := s.Management.Cluster; c != nil && leads(c.Target) && c.Release != "" && c.Release != c.Target {
		return ReleaseOf(c.Release)
	}
	return ""
}

// clusterRelease is the name of a ClusterRelease: mosk-21-0-0-25-2.
var clusterRelease = regexp.MustCompile(`^[a-z]+-(\d{1,5}-\d{1,5}-\d{1,5})-(\d{1,5}(?:-\d{1,5})+)$`)

// ReleaseOf is a ClusterRelease as locks and requests name it: 21.0.0+25.2 of mosk-21-0-0-25-2 (docs/mosk.md#names-and-releases). A name
// in another form stays as it is.
func ReleaseOf(name string) string {
	if g := clusterRelease.FindStringSubmatch(name); g != nil {
		return strings.ReplaceAll(g[1], "-", ".") + "+" + strings.ReplaceAll(g[2], "-", ".")
	}
	return name
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
	for _, release := range saidOf(s).releases {
		if !SameRelease(release, target) {
			return release
		}
	}
	return ""
}

// Release is the release that the cluster is at by the lock of the OpenStack controller; empty when there is no such lock, or it does not
// say.
func Release(s *core.Snapshot) string {
	for _, l := range s.ClusterLocks {
		if l.Controller == core.ControllerOpenStack && l.Release != "" {
			return l.Release
		}
	}
	return ""
}

// SameRelease tells whether two texts name one release: requests can omit what follows the plus (docs/mosk.md#requests).
func SameRelease(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"+") || strings.HasPrefix(b, a+"+")
}
