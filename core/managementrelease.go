package core

import (
	"strings"
	"time"
)

// ManagementRelease is a KaaSRelease: a release of the management cluster itself (docs/mosk.md#management-releases).
type ManagementRelease struct {
	Meta
	Version  string   // "2.30.0"
	Active   bool     // the management cluster has this release
	Supports []string // names of the supported ClusterReleases
}

// ManagementUpgrade is the MCCUpgrade: when the management cluster updates itself (docs/mosk.md#management-releases).
type ManagementUpgrade struct {
	Meta
	Next    string    // the version that is next; empty when there is none
	Due     time.Time // when it is installed; zero when not known
	Message string
}

// UpgradeName is the name that an MCCUpgrade must have.
const UpgradeName = "mcc-upgrade"

// joinReleases adds the management cluster's own release and upgrade.
func (m *Management) joinReleases(objects []Object) {
	for _, r := range ofType[*ManagementRelease](objects) {
		if r.Active && (m.Release == nil || NewerVersion(r.Version, m.Release.Version)) {
			m.Release = r
		}
	}
	for _, u := range ofType[*ManagementUpgrade](objects) {
		if u.Name == UpgradeName {
			m.Upgrade = u
		}
	}
}

// NewerVersion tells whether a version such as "2.30.1" is newer than another one.
func NewerVersion(a, b string) bool {
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
