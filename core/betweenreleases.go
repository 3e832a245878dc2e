package core

import "time"

// semiUpdated is how long a cluster may be between two releases (docs/mosk.md#phases): longer is a risk for its workloads.
const semiUpdated = 24 * time.Hour

// betweenSince is since when the cluster is between two releases: since the update's request was made, or its plan was begun, which lasts
// over the pauses between its steps; zero while it is not.
func (s *Snapshot) betweenSince() time.Time {
	var since time.Time
	if r := s.updateRequest(); r != nil {
		since = r.Created
	}
	if p := s.Management.Plan(); p != nil && p.UnderWay() && !p.Started.IsZero() {
		since = earlier(since, p.Started)
	}
	return since
}

// betweenReleases is an update that lasts for longer than a day.
func (f *attentionFacts) betweenReleases() {
	since := f.s.betweenSince()
	if !f.long(since, semiUpdated) {
		return
	}
	f.add(Attention{Rule: RuleBetweenReleases, Severity: SeverityWarning, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: oneLine(textOf(f.s.Cluster, "cluster"), 40),
		Since: Since{At: since, Exact: true}, Resolve: clusterProcedure(),
		Reason: "between two releases for more than a day: a risk for the workloads",
		Detail: "A MOSK cluster is not made to run half updated: once begun, an update is to be completed as soon as possible. " +
			"To put its phases off for longer than one day may corrupt workloads. Users should not write to cloud resources meanwhile."})
}
