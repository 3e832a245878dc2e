package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
)

func TestManagementReleases(t *testing.T) {
	for _, tt := range []struct {
		manifest string
		want     core.Object
		read     func(string) core.Object
	}{
		{`{metadata: {name: kaas-2-30-0, labels: {kaas.mirantis.com/active: "true"}}, spec: {version: 2.30.0, supportedClusterReleases: ` +
			`[{name: mosk-17-4-0-25-1, version: 17.4.0}, {version: odd}, 3]}}`,
			&core.ManagementRelease{Meta: core.Meta{Name: "kaas-2-30-0"}, Version: "2.30.0", Active: true, Supports: []string{"mosk-17-4-0-25-1"}},
			func(m string) core.Object { return managementReleaseFrom(object(t, m)) }},
		{`{metadata: {name: kaas-2-29-0}, spec: none}`, &core.ManagementRelease{Meta: core.Meta{Name: "kaas-2-29-0"}},
			func(m string) core.Object { return managementReleaseFrom(object(t, m)) }},
		{`{metadata: {name: mcc-upgrade}, status: {nextRelease: {version: 2.31.0, date: "2026-03-16T12:00:00Z"}, message: later}}`,
			&core.ManagementUpgrade{Meta: core.Meta{Name: "mcc-upgrade"}, Next: "2.31.0", Due: date(2026, 3, 16, 12, 0, 0), Message: "later"},
			func(m string) core.Object { return managementUpgradeFrom(object(t, m)) }},
		{`{metadata: {name: mcc-upgrade}, status: {nextRelease: {date: "0001-01-01T00:00:00Z"}}}`,
			&core.ManagementUpgrade{Meta: core.Meta{Name: "mcc-upgrade"}},
			func(m string) core.Object { return managementUpgradeFrom(object(t, m)) }},
	} {
		if diff := cmp.Diff(tt.want, tt.read(tt.manifest)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.manifest, diff)
		}
	}
}
