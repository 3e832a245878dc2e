package core

import "slices"

// AfterPoint is one point of the list of what there is to see to once an update is over: derived from what is known, and
// done when the cluster says so.
type AfterPoint struct {
	ID      string
	Title   string // as a sentence that is true when nothing is left: "no node is cordoned"
	Why     string
	Open    []string // what is left, by name; none when the point is done
	Note    string   // what is worth knowing though nothing is left; may be empty
	Unknown string   // why it cannot be told; empty when it can

	// Pods is the DaemonSet's UID of a point about old pods.
	Pods string
}

// Done tells whether nothing is left of the point.
func (p AfterPoint) Done() bool { return p.Unknown == "" && len(p.Open) == 0 }

// afterRow is a row of the list: it says by its sources when it can be told, and what is left.
type afterRow struct {
	id, title, why string
	sources        []SourceID
	open           func(*Snapshot) []string
}

// afterRows is the list (docs/mosk.md#after-the-update).
var afterRows = []afterRow{
	{"request", "the cluster's maintenance request is gone", "LCM removes it when every application has been updated.",
		[]SourceID{SourceClusterRequests}, (*Snapshot).openRequests},
	{"node-requests", "no node has a maintenance request", "LCM removes each when its node is back.",
		[]SourceID{SourceNodeRequests}, (*Snapshot).openNodeRequests},
	{"by-hand", "no maintenance request made by hand is left", "LCM removes its own requests only; this one is withdrawn by who made it.",
		[]SourceID{SourceClusterRequests, SourceNodeRequests}, (*Snapshot).openByHand},
	{"cluster-locks", "every cluster lock is active again", "Its controller takes it back when the request is gone.",
		[]SourceID{SourceClusterLocks}, (*Snapshot).openClusterLocks},
	{"node-locks", "every node's locks are active again", "The controllers take them back when the node serves again.",
		[]SourceID{SourceNodeLocks}, (*Snapshot).openNodeLocks},
	{"nodes", "every node is Ready", "", []SourceID{SourceNodes}, (*Snapshot).openNodes},
	{"cordons", "no node is cordoned", "LCM uncordons what it cordoned; another cordon is somebody's own.",
		[]SourceID{SourceNodes}, (*Snapshot).openCordons},
	{"versions", "every node runs the same Kubernetes", "A node with an older kubelet was left out, or its turn has not come.",
		[]SourceID{SourceNodes}, (*Snapshot).openVersions},
	{"compute", "no compute service was left disabled", "The maintenance disables it, and the OpenStack controller enables only what it disabled itself.",
		[]SourceID{SourceComputeServices}, (*Snapshot).openDisabled},
	{"compute-up", "every enabled compute service is up", "", []SourceID{SourceComputeServices}, (*Snapshot).openDown},
	{"volumes", "no volume service was left disabled", "The maintenance disables those on nodes' own disks, and the OpenStack controller enables only what it disabled itself.",
		[]SourceID{SourceVolumeServices}, (*Snapshot).openVolumesOut},
	{"volumes-up", "every enabled volume service is up", "", []SourceID{SourceVolumeServices}, (*Snapshot).openVolumesDown},
	{"agents", "every network agent is alive", "Neutron marks an agent dead when it has not reported for 75 s.",
		[]SourceID{SourceNetworkAgents}, (*Snapshot).openAgents},
	{"openstack", "OpenStack is APPLIED", "", []SourceID{SourceOpenStackStatus}, (*Snapshot).openDeployments},
	{"health", "every component of OpenStack is Ready", "", []SourceID{SourceOpenStackStatus}, (*Snapshot).openHealth},
	{"daemonsets", "the DaemonSets are up to date and ready", "Those that replace their pods themselves; those with OnDelete have points of their own.",
		[]SourceID{SourceDaemonSets, SourceFabricSets}, (*Snapshot).openDaemonSets},
}

var afterPoints Derivation[[]AfterPoint]

// AfterUpdate are the points to see to once an update is over.
func (s *Snapshot) AfterUpdate() []AfterPoint {
	return afterPoints.Of(s, (*Snapshot).afterPoints)
}

// AfterUpdateLeft is how many points of a finished update are not done; over tells whether an update was seen to end and
// none runs now.
func (s *Snapshot) AfterUpdateLeft() (left int, over bool) {
	if s.ClusterRequest() != nil || s.History.Update.Ended.IsZero() || !s.known(SourceClusterRequests) {
		return 0, false
	}
	for _, p := range s.AfterUpdate() {
		if !p.Done() {
			left++
		}
	}
	return left, true
}

func (s *Snapshot) afterPoints() []AfterPoint {
	points := make([]AfterPoint, 0, len(afterRows)+8)
	rows := afterRows
	if s.notConnected() == "" {
		rows = slices.Concat(rows, afterManagementRows)
	}
	for _, row := range rows {
		if s.noCinder() && slices.Contains(row.sources, SourceVolumeServices) {
			continue
		}
		p := AfterPoint{ID: row.id, Title: row.title, Why: row.why}
		for _, id := range row.sources {
			if s.Sources[id].State == SourceAbsent && id.Server() == ServerManagement {
				continue // an older release has no such kind, and so none of it is left
			}
			if !s.known(id) {
				p.Unknown = string(id) + ": " + s.whyUnknown(id)
			}
		}
		if p.Unknown == "" {
			p.Open = row.open(s)
		}
		if row.id == "compute" {
			p.Note = s.ownReasons()
		}
		points = append(points, p)
	}
	for _, v := range s.DaemonViews() {
		if !v.Set.OnDelete || v.Set.Desired == 0 && len(v.Pods) == 0 { // no node has its role
			continue
		}
		p := AfterPoint{ID: "old/" + v.Set.UID, Title: "no old pod of " + v.Short(), Pods: v.Set.UID,
			Why: "Its update strategy is OnDelete: an update changes the template and leaves the pods alone.", Unknown: v.Unknown}
		for _, pod := range v.Old {
			p.Open = append(p.Open, oneLine(s.Label(pod.Node), 64))
		}
		points = append(points, p)
	}
	own := []AfterPoint{
		{ID: "annotations", Title: "Lockstep's migration modes are set back", Open: s.openChanges(),
			Why: "Those that Lockstep set: a mode that was meant for this update counts in the next one too."},
		{ID: "attempts", Title: "Lockstep's numbers of migration attempts are set back", Open: s.openTries(),
			Why: "Those that Lockstep set: a number that was meant for this update counts in the next one too."},
		{ID: "tags", Title: "Lockstep's maintenance tags are set back", Open: instanceLabels(s.taggedInstances()),
			Why: "Those that Lockstep set: a tag that was meant for this update counts in the next one too."},
		{ID: "stopped", Title: "what Lockstep stopped or shelved is back", Open: instanceLabels(s.stoppedInstances()),
			Why: "An instance that was stopped or shelved stays down until somebody brings it back."},
		{ID: "migrations", Title: "what Lockstep cold-migrated is confirmed or reverted", Open: s.openCold(),
			Why: "An instance in VERIFY_RESIZE is neither migrated nor stopped by anybody, and its old host keeps its files and its place."},
	}
	if !s.known(SourceInstances) {
		why := string(SourceInstances) + ": " + s.whyUnknown(SourceInstances)
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
	return append(points, own...)
}
