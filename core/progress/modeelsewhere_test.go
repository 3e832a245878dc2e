package progress

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/scene"
)

// The agents of nodes that are no computes and have a mode are asked for what they serve, and no others.
func TestWhichAgentsAreAskedForWhatTheyServe(t *testing.T) {
	sc := scene.Healthy()
	sc.Mode("gtw-01", core.ModeManual)
	sc.Mode("cmp-01", core.ModeManual)
	if hosts := HostsWithRoutersToWatch(sc.Again().Snapshot); !slices.Equal(hosts, []string{"gtw-01"}) {
		t.Errorf("asked for are %q", hosts)
	}
}
