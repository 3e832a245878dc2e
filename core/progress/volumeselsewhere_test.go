package progress

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// Volumes on nodes' own disks are listed for all such nodes when they are few, and for those in maintenance when they are many.
func TestWhichHostsVolumesAreListed(t *testing.T) {
	sc := scene.Healthy()
	scene.WithOwnDisks(sc)
	if got := HostsWithVolumesToWatch(sc.Again().Snapshot); !slices.Equal(got, []string{"cmp-01"}) {
		t.Errorf("of few: %q", got)
	}
	for i := range ownDisksWatched {
		name := fmt.Sprintf("edge-%02d", i)
		sc.Node(name, core.RoleCompute)
		sc.VolumeServices[name] = []*core.VolumeService{{Host: name + "@lvm", Enabled: true, Up: true}}
	}
	if got := HostsWithVolumesToWatch(sc.Again().Snapshot); len(got) != 0 {
		t.Errorf("of many at rest: %q", got)
	}
	sc.Maintained("edge-07", "")
	sc.Deletions["cmp-01"] = &core.NodeNotice{Node: "cmp-01"}
	if got := HostsWithVolumesToWatch(sc.Again().Snapshot); !slices.Equal(got, []string{"cmp-01", "edge-07"}) {
		t.Errorf("of many: %q", got)
	}
}
