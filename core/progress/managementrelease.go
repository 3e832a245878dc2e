package progress

import (
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// ReleaseState is what is known of the management cluster's version, which has to be the latest before a MOSK cluster is updated
// (docs/mosk.md#before-the-update).
type ReleaseState struct {
	Text    string // in a few words
	known   bool   // it is known whether it is the latest
	latest  bool
	Problem string // why the update should wait; empty when it need not
}

// Latest tells whether it is known to be the latest.
func (r ReleaseState) Latest() bool { return r.latest }

// ManagementVersion is the release of the management cluster, and whether a newer one is available.
func ManagementVersion(s *core.Snapshot) ReleaseState {
	m := s.Management
	switch {
	case m == nil || m.Release == nil:
		why := s.WhyUnknown(core.SourceReleases)
		if s.Known(core.SourceReleases) {
			why = "no KaaSRelease is marked as active"
		}
		return ReleaseState{Text: "not known: " + why}
	case !s.Known(core.SourceReleases):
		return ReleaseState{Text: "not known: " + s.WhyUnknown(core.SourceReleases)}
	}
	v := ReleaseState{Text: "Container Cloud " + wording.OneLine(m.Release.Version, 40)}
	if p := m.Plan(); p != nil && !p.UnderWay() && p.Status != core.PlanCompleted && p.Target != "" && len(m.Release.Supports) > 0 &&
		!slices.Contains(m.Release.Supports, p.Target) {
		lacks := "does not list " + wording.OneLine(p.Target, 60) + " among the releases that it supports"
		v.known, v.Problem = true, "it "+lacks
		v.Text += ", which " + lacks
		return v
	}
	switch up := m.Upgrade; {
	case !s.Known(core.SourceManagementUpgrades):
		v.Text += "; whether a newer one waits is not known: " + s.WhyUnknown(core.SourceManagementUpgrades)
	case up == nil:
		v.Text += "; whether a newer one waits is not known: there is no MCCUpgrade"
	case up.Next == "" || !core.NewerVersion(up.Next, m.Release.Version):
		v.Text, v.known, v.latest = v.Text+", and no newer one waits", true, true
	default:
		v.known, v.Problem = true, wording.OneLine(up.Next, 40)+" waits for it"
		v.Text += "; " + wording.OneLine(up.Next, 40) + " waits"
		if !up.Due.IsZero() {
			v.Text += ", due " + up.Due.Local().Format("2006-01-02 15:04")
		}
	}
	return v
}

// VersionStep is the check of the management cluster's version that comes before an update; none once an update runs.
func VersionStep(s *core.Snapshot) []core.Step {
	if s.ClusterRequest() != nil || !s.Known(core.SourceClusterRequests) {
		return nil
	}
	if p := s.Management.Plan(); p != nil && p.UnderWay() {
		return nil
	}
	v := ManagementVersion(s)
	st := core.Step{ID: "cluster/management-version", Target: core.Ref{Kind: core.KindCluster, Name: s.Cluster}, Label: s.Cluster,
		Title: "the management cluster is at its latest version",
		State: core.StepWaiting, Status: v.Text,
		Why: "MOSK's procedure wants it first: a MOSK cluster can be updated once the management cluster runs the latest version, which it " +
			"installs by itself. An outdated MOSK cluster keeps it from that.",
		Commands: []string{s.Place.Kubectl("get", "kaasreleases", "-l", LabelReleaseActive),
			s.Place.Kubectl("get", "mccupgrades", core.UpgradeName, "-o", "yaml")}}
	switch {
	case v.latest:
		st.State = core.StepDone
	case !v.known:
		st.State = core.StepLater
		st.Why = wording.Join(st.Why, "Look in the management console.")
	case s.Management.Upgrade != nil && s.Management.Upgrade.Message != "":
		st.Why = wording.Join(st.Why, "It says: "+wording.OneLine(s.Management.Upgrade.Message, wording.MostRead)+".")
	}
	return []core.Step{st}
}

// LabelReleaseActive marks the KaaSRelease of the management cluster.
const LabelReleaseActive = "kaas.mirantis.com/active"
