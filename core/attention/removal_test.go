package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A removal can be held up without a maintenance request for the node (docs/mosk.md#deletion-requests, #texts).
func TestRemovalThatIsHeldUp(t *testing.T) {
	const (
		instancesLeft = "Some servers {'" + scene.IDA +
			"': 'ACTIVE'} are still present on host cmp-01. Blocking node removal unless they removed or migrated."
		volumesLeft = "Some volumes ['v'] are still present on host cmp-01. Blocking node removal unless they removed or migrated."
	)
	says := func(sc scene.Scene, text string) {
		sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Created: scene.Ago(30 * time.Minute)}, Kind: core.KindNodeDeletionRequest,
			Node: "cmp-01"}
		sc.NodeLock("cmp-01", core.ControllerOpenStack).Message = "2026-03-14 11:59:00.0 " + text
	}
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		want  string // a part of the reason; empty: nothing needs a person
		since time.Time
	}{
		{"asked for, and nothing is left on it", func(sc scene.Scene) { says(sc, ""); sc.Emptied("cmp-01") }, "", time.Time{}},
		{"asked for, and nothing said yet", func(sc scene.Scene) { says(sc, "") },
			"the node is to be removed, and instances are left on it: web-1", scene.Ago(30 * time.Minute)},
		{"S", func(sc scene.Scene) { says(sc, instancesLeft) },
			"the node is to be removed, and instances are left on it: " + core.ShortID(scene.IDA), scene.Ago(30 * time.Minute)},
		{"S, with a name for the instance", func(sc scene.Scene) {
			says(sc, instancesLeft)
			sc.Instances.Put(&core.Instance{ID: scene.IDA, Name: "db-2"})
		}, "instances are left on it: db-2", scene.Ago(30 * time.Minute)},
		{"S, and the host is empty by now", func(sc scene.Scene) { says(sc, instancesLeft); sc.Emptied("cmp-01") }, "", time.Time{}},
		{"S, and nobody knows the instances", func(sc scene.Scene) {
			says(sc, instancesLeft)
			sc.Emptied("cmp-01")
			sc.Source(core.SourceInstances, core.SourceOff)
		}, "instances are left on it", scene.Ago(30 * time.Minute)},
		{"T", func(sc scene.Scene) { says(sc, volumesLeft) }, "volumes are left on it", scene.Ago(30 * time.Minute)},
		{"T, left behind on a lock that let go", func(sc scene.Scene) {
			says(sc, volumesLeft)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, "", time.Time{}},
		{"T, left behind after the removal was taken back", func(sc scene.Scene) { says(sc, volumesLeft); delete(sc.Deletions, "cmp-01") }, "",
			time.Time{}},
		{"L", func(sc scene.Scene) { says(sc, "Can not disable compute service on a host to be deleted") }, "nova-compute could not be disabled",
			scene.Ago(30 * time.Minute)},
		{"a quorum, in the bookkeeping only", func(sc scene.Scene) {
			says(sc, "")
			sc.Emptied("cmp-01")
			sc.Deletions["cmp-01"].Kept = core.Bookkeeping{Marked: true, Change: scene.Failed(170, "The node cmp-01 is hard locked by mariadb.")}
		}, "the StatefulSet of mariadb cannot do without the node", scene.Ago(30 * time.Minute)},
		{"U, when the node is gone", func(sc scene.Scene) {
			sc.Lock("ghost", core.ControllerOpenStack, core.LockInactive).Message = "2026-03-14 11:59:00.0 The node ghost is hard locked by mariadb."
		}, "the StatefulSet of mariadb cannot do without the node", scene.Ago(time.Minute)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			var got []core.Attention
			for _, a := range Of(sc.Snapshot) {
				if a.Subject.Kind != core.KindSource {
					got = append(got, a)
				}
			}
			if tt.want == "" {
				if len(got) > 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if len(got) != 1 || !strings.HasPrefix(got[0].ID, "node-removal/") || got[0].Severity != core.SeverityWarning ||
				!strings.Contains(got[0].Reason, tt.want) {
				t.Fatalf("%+v, want %q", got, tt.want)
			}
			if !got[0].Since.At.Equal(tt.since) {
				t.Errorf("since %v, want %v", got[0].Since.At, tt.since)
			}
		})
	}
}

func TestRemovalInAMaintenanceIsSaidOnce(t *testing.T) {
	sc := scene.Healthy()
	sc.Deletions["cmp-01"] = &core.NodeNotice{Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
	sc.Maintained("cmp-01", "Some volumes ['v'] are still present on host cmp-01. Blocking node removal unless they removed or migrated.")
	got := Of(sc.Snapshot)
	if len(got) != 1 || !strings.HasPrefix(got[0].ID, "node-waits/") {
		t.Errorf("%+v", got)
	}
}
