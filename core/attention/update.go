package attention

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// semiUpdated is how long a cluster may be between two releases before its workloads are at risk (docs/mosk.md#phases).
const semiUpdated = 24 * time.Hour

// betweenSince is since when the cluster is between two releases: since the update's request was created, or its plan began, which also
// covers the pauses between its steps. It is zero while the cluster is not between releases.
func betweenSince(s *core.Snapshot) time.Time {
	var since time.Time
	if r := progress.UpdateRequest(s); r != nil {
		since = r.Created
	}
	if p := s.Management.Plan(); p != nil && p.UnderWay() && !p.Started.IsZero() {
		since = core.Earlier(since, p.Started)
	}
	return since
}

// betweenReleases finds an update that takes longer than a day.
func (f *facts) betweenReleases() {
	since := betweenSince(f.s)
	if !f.long(since, semiUpdated) {
		return
	}
	f.add(core.Attention{Rule: core.RuleBetweenReleases, Severity: core.SeverityWarning,
		Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: wording.OneLine(wording.TextOf(f.s.Cluster, "cluster"), 40),
		Since: core.Since{At: since, Exact: true}, Resolve: clusterProcedure(),
		Reason: "between two releases for more than a day: a risk for the workloads",
		Detail: "A MOSK cluster is not made to run half updated: complete the update as soon as possible. Delaying its phases for more than " +
			"one day may corrupt workloads. Users should not write to cloud resources meanwhile."})
}

// phasesOverdue finds phases that take much longer than the documents allow, if no lock says why. Slow nodes have rules of their own.
func (f *facts) phasesOverdue() {
	for _, p := range progress.Phases(f.s) {
		if p.State != core.PhaseStuck || p.ID == core.PhaseServices && slices.ContainsFunc(f.found, func(a core.Attention) bool {
			return a.Severity >= core.SeverityWarning && a.Subject.Kind == core.KindClusterWorkloadLock
		}) {
			continue
		}
		if p.Overdue != "" {
			f.add(core.Attention{Rule: core.RulePhase, Key: wording.Itoa(int(p.ID)), Phase: p.ID, Severity: core.SeverityWarning,
				Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: "phase " + wording.Itoa(int(p.ID)),
				Reason: p.Title + ": " + p.Overdue, Since: p.Late, Resolve: clusterProcedure()})
		}
	}
}
