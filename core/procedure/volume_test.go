package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// Text R leads to what Cinder shows, how to look, and the operator's own way.
func TestTextROffersTheService(t *testing.T) {
	const (
		cannotDisable = "Can not disable block-storage service on a host to be deleted"
		cannotEnable  = "Can not enable block-storage service on the host cmp-01."
	)
	for _, tt := range []struct {
		name, text string
		given      func(sc scene.Scene)
		sees       string
		want       []string // the steps on the service, as in the outline
	}{
		{"cannot disable", cannotDisable, func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") },
			"Cinder answers Lockstep: cinder-volume lvm is enabled",
			[]string{"ready: disable cinder-volume lvm of cmp-01 | it is enabled, up"}},
		{"cannot disable, and it is disabled by now", cannotDisable,
			func(sc scene.Scene) { scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance) },
			"Cinder answers Lockstep: cinder-volume lvm is disabled: OSDPL: Node is under maintenance", nil},
		{"cannot enable", cannotEnable, func(sc scene.Scene) {
			scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance)
			scene.OutOf(sc.VolumeService("cmp-01@old"), "a dead disk")
			sc.NodeRequest("cmp-01").Deleting = scene.Noon
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, "cinder-volume lvm is disabled: OSDPL: Node is under maintenance",
			[]string{"ready: enable cinder-volume lvm of cmp-01 | it is disabled: OSDPL: Node is under maintenance, up"}},
		{"Cinder answers nobody", cannotDisable, func(sc scene.Scene) { sc.Source(core.SourceVolumeServices, core.SourceFailed) },
			"neither does Cinder answer Lockstep: volume services: failed since 1 h", nil},
		{"Cinder refuses Lockstep", cannotDisable, func(sc scene.Scene) { sc.Source(core.SourceVolumeServices, core.SourceForbidden) },
			"cinder-volume is not known: forbidden", nil},
		{"Cinder is none", cannotDisable, func(sc scene.Scene) { sc.Source(core.SourceVolumeServices, core.SourceAbsent) },
			"the cloud's catalog has no Cinder", nil},
		{"it has none", cannotDisable, func(scene.Scene) {}, "knows no cinder-volume on the node", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			l := sc.Maintained("cmp-01", tt.text)
			tt.given(sc)
			if got := Seen(sc.Snapshot, l, progress.ReadLockMessage(l.Message)); !strings.Contains(got, tt.sees) {
				t.Errorf("seen is %q, want %q", got, tt.sees)
			}
			p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			var got []string
			looks := false
			for i, line := range scene.Outline(p) {
				if strings.Contains(line, " cinder-volume ") {
					got = append(got, line)
				}
				looks = looks || slices.Contains(p.Steps[i].Commands, "openstack volume service list --service cinder-volume --host cmp-01 --long")
			}
			if !slices.Equal(got, tt.want) || !looks {
				t.Errorf("got  %q\nwant %q, and how to look: %v", got, tt.want, looks)
			}
		})
	}
}
