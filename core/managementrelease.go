package core

import (
	"slices"
	"strings"
	"time"
)

// ManagementRelease is a KaaSRelease: a release of the management cluster itself (docs/mosk.md#management-releases).
type ManagementRelease struct {
	Meta
	Version  string   // "2.30.0"
	Active   bool     // it is the one that the management cluster has
	Supports []string // names of the ClusterReleases that it supports
}

// ManagementUpgrade is the MCCUpgrade: when the management cluster updates itself (docs/mosk.md#management-releases).
type ManagementUpgrade struct {
	Meta
	Next    string    // the version that waits; empty when none does
	Due     time.Time // when it is installed; zero when that is not told
	Message string
}

// upgradeName is the name that an MCCUpgrade must have.
const upgradeName = "mcc-upgrade"

// joinReleases adds what the management cluster says of itself.
func (m *Management) joinReleases(objects []Object) {
	for _, r := range ofType[*ManagementRelease](objects) {
		if r.Active && (m.Release == nil || newerVersion(r.Version, m.Release.Version)) {
			m.Release = r
		}
	}
	for _, u := range ofType[*ManagementUpgrade](objects) {
		if u.Name == upgradeName {
			m.Upgrade = u
		}
	}
}

// newerVersion tells whether a version such as "2.30.1" is newer than another one.
func newerVersion(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			if len(x[i]) != len(y[i]) {
				return len(x[i]) > len(y[i])
			}
			return x[i] > y[i]
		}
	}
	return len(x) > len(y)
}

// managementVersion is what is known of the version of the management cluster, which has to be the latest before a MOSK cluster is updated
// (docs/mosk.md#before-the-update).
type managementVersion struct {
	text    string // in a few words
	known   bool   // whether it is the latest is known
	latest  bool
	problem string // why the update should wait; empty when nothing stands against it
}

func (s *Snapshot) managementVersion() managementVersion {
	m := s.Management
	switch {
	case m == nil || m.Release == nil:
		why := s.whyUnknown(SourceReleases)
		if s.known(SourceReleases) {
			why = "no KaaSRelease is marked as active"
		}
		return managementVersion{text: "not known: " + why}
	case !s.known(SourceReleases):
		return managementVersion{text: "not known: " + s.whyUnknown(SourceReleases)}
	}
	v := managementVersion{text: "Container Cloud " + oneLine(m.Release.Version, 40)}
	if p := m.Plan(); p != nil && !p.UnderWay() && p.Status != PlanCompleted && p.Target != "" && len(m.Release.Supports) > 0 && !slices.Contains(m.Release.Supports, p.Target) {
		lacks := "does not list " + oneLine(p.Target, 60) + " among the releases that it supports"
		v.known, v.problem = true, "it "+lacks
		v.text += ", which " + lacks
		return v
	}
	switch up := m.Upgrade; {
	case !s.known(SourceManagementUpgrades):
		v.text += "; whether a newer one waits is not known: " + s.whyUnknown(SourceManagementUpgrades)
	case up == nil:
		v.text += "; whether a newer one waits is not known: there is no MCCUpgrade"
	case up.Next == "" || !newerVersion(up.Next, m.Release.Version):
		v.text, v.known, v.latest = v.text+", and no newer one waits", true, true
	default:
		v.known, v.problem = true, oneLine(up.Next, 40)+" waits for it"
		v.text += "; " + oneLine(up.Next, 40) + " waits"
		if !up.Due.IsZero() {
			v.text += ", due " + up.Due.Local().Format("2006-01-02 15:04")
		}
	}
	return v
}

// versionStep is the management cluster's version as what comes before an update; none once one runs.
func (s *Snapshot) versionStep() []Step {
	if s.ClusterRequest() != nil || !s.known(SourceClusterRequests) {
		return nil
	}
	if p := s.Management.Plan(); p != nil && p.UnderWay() {
		return nil
	}
	v := s.managementVersion()
	st := Step{ID: "cluster/management-version", Target: Ref{Kind: KindCluster, Name: s.Cluster}, Label: s.Cluster, Title: "the management cluster is at its latest version",
		State: StepWaiting, Status: v.text,
		Why: "MOSK's procedure wants it first: a MOSK cluster can be updated once the management cluster runs the latest version, which it installs by itself. " +
			"An outdated MOSK cluster keeps it from that.",
		Commands: []string{s.Place.kubectl("get", "kaasreleases", "-l", labelReleaseActive), s.Place.kubectl("get", "mccupgrades", upgradeName, "-o", "yaml")}}
	switch {
	case v.latest:
		st.State = StepDone
	case !v.known:
		st.State = StepLater
		st.Why = join(st.Why, "Look in the management console.")
	case s.Management.Upgrade != nil && s.Management.Upgrade.Message != "":
		st.Why = join(st.Why, "It says: "+oneLine(s.Management.Upgrade.Message, mostRead)+".")
	}
	return []Step{st}
}

// labelReleaseActive marks the KaaSRelease that the management cluster has.
const labelReleaseActive = "kaas.mirantis.com/active"

// managementOutdated is an update that can be begun, while the management cluster is not at its latest version.
func (f *attentionFacts) managementOutdated() {
	m := f.s.Management
	p := m.Plan()
	if f.request != nil || p == nil || p.UnderWay() || p.Status == PlanCompleted {
		return
	}
	v := f.s.managementVersion()
	if v.problem == "" {
		return
	}
	f.add(Attention{Rule: RuleManagementOutdated, Severity: SeverityNotice, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "management", Resolve: clusterProcedure(),
		Reason: "before the update to " + oneLine(p.Target, 60) + ": the management cluster runs " + v.text,
		Detail: "MOSK's procedure wants the management cluster at its latest version first; it updates itself."})
}
