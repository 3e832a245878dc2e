package progress

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// Only the agents of nodes that are not computes and have a mode are asked what they serve.
func TestWhichAgentsAreAskedForWhatTheyServe(t *testing.T) {
	sc := scene.Healthy()
	sc.Mode("gtw-01", core.ModeManual)
	sc.Mode("cmp-01", core.ModeManual)
	if hosts := HostsWithRoutersToWatch(sc.Again().Snapshot); !slices.Equal(hosts, []string{"gtw-01"}) {
		t.Errorf("asked for are %q", hosts)
	}
}
