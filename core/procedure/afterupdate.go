package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// afterRow is one point: its sources say when it can be told, open says what is left.
type afterRow struct {
	id, title, why string
	sources        []core.SourceID
	open           func(*core.Snapshot) []core.Left
}

// afterRows are the points (docs/mosk.md#after-the-update).
var afterRows = []afterRow{
	{"request", "the cluster's maintenance request is gone", "LCM removes it when every application has been updated.",
		[]core.SourceID{core.SourceClusterRequests}, openRequests},
	{"node-requests", "no node has a maintenance request", "LCM removes each when its node is back.",
		[]core.SourceID{core.SourceNodeRequests}, openNodeRequests},
	{"by-hand", "no maintenance request made by hand is left", "LCM removes its own requests only; this one is withdrawn by whoever made it.",
		[]core.SourceID{core.SourceClusterRequests, core.SourceNodeRequests}, openByHand},
	{"cluster-locks", "every cluster lock is active again", "Its controller takes it back when the request is gone.",
		[]core.SourceID{core.SourceClusterLocks}, openClusterLocks},
	{"node-locks", "every node's locks are active again", "The controllers take them back when the node serves again.",
		[]core.SourceID{core.SourceNodeLocks}, openNodeLocks},
	{"nodes", "every node is Ready", "", []core.SourceID{core.SourceNodes}, openNodes},
	{"cordons", "no node is cordoned", "LCM uncordons what it cordoned; another cordon is somebody's own.",
		[]core.SourceID{core.SourceNodes}, openCordons},
	{"versions", "every node runs the same Kubernetes", "A node with an older kubelet was left out, or its turn has not come.",
		[]core.SourceID{core.SourceNodes}, openVersions},
	{"compute", "no compute service was left disabled",
		"The maintenance disables it, and the OpenStack controller enables only what it disabled itself.",
		[]core.SourceID{core.SourceComputeServices}, openDisabled},
	{"compute-up", "every enabled compute service is up", "", []core.SourceID{core.SourceComputeServices}, openDown},
	{"volumes", "no volume service was left disabled",
		"The maintenance disables those on nodes' own disks, and the OpenStack controller enables only what it disabled itself.",
		[]core.SourceID{core.SourceVolumeServices}, openVolumesOut},
	{"volumes-up", "every enabled volume service is up", "", []core.SourceID{core.SourceVolumeServices}, openVolumesDown},
	{"agents", "every network agent is alive", "Neutron marks an agent dead when it has not reported for 75 s.",
		[]core.SourceID{core.SourceNetworkAgents}, openAgents},
	{"openstack", "OpenStack is APPLIED", "", []core.SourceID{core.SourceOpenStackStatus}, openDeployments},
	{"health", "every component of OpenStack is Ready", "", []core.SourceID{core.SourceOpenStackStatus}, openHealth},
	{"daemonsets", "the DaemonSets are up to date and ready",
		"Those that replace their pods themselves; those with OnDelete have points of their own.",
		[]core.SourceID{core.SourceDaemonSets, core.SourceFabricSets}, openDaemonSets},
}

var afterPoints core.Derivation[[]core.AfterPoint]

// AfterUpdate are the points to settle once an update is over.
func AfterUpdate(s *core.Snapshot) []core.AfterPoint {
	return afterPoints.Of(s, deriveAfterPoints)
}

// AfterUpdateLeft is how many points of a finished update are not done; over tells whether an update was seen to end and
// none runs now.
func AfterUpdateLeft(s *core.Snapshot) (left int, over bool) {
	if s.ClusterRequest() != nil || s.History.Update.Ended.IsZero() || !s.Known(core.SourceClusterRequests) {
		return 0, false
	}
	for _, p := range AfterUpdate(s) {
		if !p.Done() {
			left++
		}
	}
	return left, true
}

func deriveAfterPoints(s *core.Snapshot) []core.AfterPoint {
	points := make([]core.AfterPoint, 0, len(afterRows)+8)
	rows, notConnected := afterRows, step.NotConnected(s)
	if src := s.Sources[core.SourceClusters]; src.ID != "" && src.State != core.SourceOff { // one is configured, whether it answers or not
		rows = slices.Concat(rows, afterManagementRows)
	}
	for _, row := range rows {
		if s.NoCinder() && slices.Contains(row.sources, core.SourceVolumeServices) {
			continue
		}
		p := core.AfterPoint{ID: row.id, Title: row.title, Why: row.why}
		if slices.ContainsFunc(row.sources, func(id core.SourceID) bool { return id.Server() == core.ServerManagement }) {
			p.Unknown = notConnected
		}
		for _, id := range row.sources {
			if s.Sources[id].State == core.SourceAbsent && id.Server() == core.ServerManagement {
				continue // an older release has no such kind, and so none of it is left
			}
			if !s.Known(id) {
				p.Unknown = string(id) + ": " + s.WhyUnknown(id)
			}
		}
		if p.Unknown == "" {
			p.Open = row.open(s)
		}
		if row.id == "compute" {
			p.Note = ownReasons(s)
		}
		points = append(points, p)
	}
	for _, v := range progress.DaemonViews(s) {
		if !v.Set.OnDelete || v.Set.Desired == 0 && len(v.Pods) == 0 { // no node has its role
			continue
		}
		p := core.AfterPoint{ID: "old/" + v.Set.UID, Title: "no old pod of " + v.Short(), Pods: v.Set.UID,
			Why: "Its update strategy is OnDelete: an update changes the template and leaves the pods alone.", Unknown: v.Unknown}
		for _, pod := range v.Old {
			p.Open = append(p.Open, core.Left{Of: wording.OneLine(s.Label(pod.Node), 64)})
		}
		points = append(points, p)
	}
	own := []core.AfterPoint{
		{ID: "annotations", Title: "Lockstep's migration modes are set back", Open: openChanges(s),
			Why: "Those that Lockstep set: a mode that was meant for this update counts in the next one too."},
		{ID: "attempts", Title: "Lockstep's numbers of migration attempts are set back", Open: ChangedAttempts(s),
			Why: "Those that Lockstep set: a number that was meant for this update counts in the next one too."},
		{ID: "tags", Title: "Lockstep's maintenance tags are set back", Open: instancesLeft(TagsToRestore(s)),
			Why: "Those that Lockstep set: a tag that was meant for this update counts in the next one too."},
		{ID: "stopped", Title: "what Lockstep stopped or shelved is back", Open: instancesLeft(StoppedInstances(s)),
			Why: "An instance that was stopped or shelved stays down until somebody brings it back."},
		{ID: "migrations", Title: "what Lockstep cold-migrated is confirmed or reverted", Open: progress.OpenCold(s),
			Why: "An instance in VERIFY_RESIZE is neither migrated nor stopped by anybody, and its old host keeps its files and its place."},
	}
	if !s.Known(core.SourceInstances) {
		why := string(core.SourceInstances) + ": " + s.WhyUnknown(core.SourceInstances)
		if len(s.History.Tags) > 0 {
			own[2].Unknown = why
		}
		if len(s.History.Stopped) > 0 {
			own[3].Unknown = why
		}
		if len(s.History.Cold) > 0 {
			own[4].Unknown = why
		}
	}
	if s.Known(core.SourceAlertmanager) && s.Alertmanager != nil {
		own = append(own, core.AfterPoint{ID: "silences", Title: "Lockstep's silences have expired", Open: openSilences(s),
			Why: "Those that Lockstep made before the update ended: they hide what the update may have broken."})
	}
	return append(points, own...)
}
